/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes to traces that keep most of them as they are: what readers do about parts that contradict
 * each other, not about noise. For fuzz targets (fuzz-trace, fuzz-live) and for tests that run the
 * program on damaged recordings. Everything is a function of the input and of the random numbers.
 *
 *     mutate.c		several changes; files
 *     mutate_packets.c	packet headers, packets, index files
 *     mutate_events.c	events within packets
 *     mutate_meta.c	metadata of both formats
 *     mutate_json.c	JSON
 */
#ifndef BLK_TEST_MUTATE_H
#define BLK_TEST_MUTATE_H

#include "lib/bundle.h"

/* One to some changes of a trace, in its packets, events, index files, metadata, and between files. */
void mutate_trace(struct bundle *b, GRand *r);

/* The same of an input of the fuzzer, which is a bundle: its new size. */
size_t mutate_bundle_input(uint8_t *data, size_t size, size_t max_size, unsigned seed);
/* Of two: parts of the second take the place of parts of the first, or are added to it. */
size_t mutate_bundle_cross(const uint8_t *one, size_t n_one, const uint8_t *two, size_t n_two, uint8_t *out,
			   size_t max_size, unsigned seed);

/* ---- parts of it ---- */

/* Another number: one that is close, a limit, or any. */
uint64_t mutate_number(GRand *r, uint64_t old);
/* 0 .. n-1; n > 0 */
unsigned mutate_pick(GRand *r, unsigned n);

/* One change in a field of a header of LTTng's packets (lttng_packet.h). `other`: another packet,
 * or NULL; both of LTTNG_HEADER bytes at least. */
void mutate_header(uint8_t *packet, const uint8_t *other, GRand *r);

/* One change in or of events of the packet that begins at that byte and has `size` bytes.
 * metadata: of the trace. Its length, and what its header says of it, may change. */
void mutate_events(GByteArray *bytes, guint at, guint size, const GByteArray *metadata, GRand *r);

/* One change of metadata, packets or not; `other`: that of another trace, or NULL. */
void mutate_metadata(GByteArray *bytes, const GByteArray *other, GRand *r);

/* One to three changes of JSON texts that are separated by 0x1e. */
void mutate_json(GString *s, GRand *r);

/* Puts `bytes` there in the place of n bytes. */
void mutate_splice(GByteArray *to, guint at, guint n, const void *bytes, guint n_bytes);

/* ---- within mutate*.c ---- */

/* Stream files, index files and metadata, of any trace of the bundle; NULL: there is none. */
enum mutate_kind { MUTATE_STREAM, MUTATE_INDEX, MUTATE_METADATA, MUTATE_ANY };
struct bundle_file *mutate_file(const struct bundle *b, enum mutate_kind kind, GRand *r);
/* The metadata of the trace that the file is of; NULL. */
struct bundle_file *mutate_metadata_of(const struct bundle *b, const struct bundle_file *f);

void mutate_packets(struct bundle *b, GRand *r);
void mutate_index(struct bundle *b, GRand *r);
/* Where packets begin in a stream file: guint. */
GArray *mutate_packets_of(const GByteArray *bytes);
/* Writes the stream's index file anew, of its packet headers. */
void mutate_rebuild_index(struct bundle *b, const struct bundle_file *stream);

#endif
