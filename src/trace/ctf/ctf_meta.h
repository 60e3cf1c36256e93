/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parser of CTF metadata. There are two languages: CTF 1.8 (TSDL), which LTTng 2.0 to 2.16 writes, and CTF 2 (a
 * JSON text sequence; CTF2-SPEC-2.0), which LTTng writes by default since 2.15. What the parser does not support it
 * refuses, with reason and position (BLK_TRACE_ERROR_UNSUPPORTED).
 *
 *     struct ctf_meta *m = ctf_meta_new();
 *     if (!ctf_meta_append(m, bytes, n, &error)) ...	// the whole file, or a live piece
 *     ... m->streams ...
 *     ctf_meta_free(m);
 *
 * The meta owns all structs that it refers to. They are immutable and valid until it is freed: ctf_meta_append() only
 * adds classes and clocks. Several threads may read a meta while no thread appends.
 *
 * LTTng puts a '_' before field names in CTF 1.8. This one '_' is removed, as babeltrace2 does: "_prev_comm" becomes
 * "prev_comm", "__x_length" becomes "_x_length". Names in CTF 2 are not changed.
 */
#ifndef BLK_TRACE_CTF_CTF_META_H
#define BLK_TRACE_CTF_CTF_META_H

#include "trace/ctf/ctf_class.h"

#include "base/machine.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctf_meta *ctf_meta_new(void);
void ctf_meta_free(struct ctf_meta *m);		/* NULL is fine */
typedef struct ctf_meta blk_ctf_meta;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_ctf_meta, ctf_meta_free)

/*
 * Parses more metadata: a whole file, or pieces as a live tracer adds them (whole packets, whole declarations, or
 * whole fragments). The first bytes show the language: 0x1E is CTF 2; the magic number of metadata packets, or text,
 * is CTF 1.8, with or without the comment "CTF 1.8" (LTTng 2.14.0 writes none). Metadata is hostile: depth, size and
 * time are bounded. Errors have line and column of TSDL ("12:5: ..."), or the number of the fragment and the path in
 * it ("fragment 3: field-class.length: ..."). CORRUPT: cut off, garbage, contradictions; UNSUPPORTED: it may be
 * valid. After an error the meta may only be freed.
 */
bool ctf_meta_append(struct ctf_meta *m, const void *bytes, size_t n, GError **error);

/* After an error: is it only a limit of this parser, so that babeltrace2 may read the metadata? */
bool ctf_meta_is_limited(const struct ctf_meta *m);

/*
 * The same for pieces that are cut anywhere. Complete packets and declarations are parsed; the rest waits for the next
 * piece. The meta is borrowed, and only this parser may append to it.
 */
struct ctf_pieces;
struct ctf_pieces *ctf_pieces_new(struct ctf_meta *m);
void ctf_pieces_free(struct ctf_pieces *x);	/* NULL is fine */
bool ctf_pieces_append(struct ctf_pieces *x, const void *bytes, size_t n, GError **error);
bool ctf_pieces_wait(const struct ctf_pieces *x);	/* is an incomplete rest waiting? */
/* Bytes up to the end of the last complete declaration; of packets: of the last one that ends with a complete one. */
size_t ctf_pieces_whole(const struct ctf_pieces *x);

/* Estimated memory of the meta: its types, and the text that it stores. O(1). */
size_t ctf_meta_bytes(const struct ctf_meta *m);

/* The stream class with the id; NULL: it is not declared yet. */
const struct ctf_stream_class *ctf_meta_stream(const struct ctf_meta *m, uint64_t id);
const char *ctf_meta_env(const struct ctf_meta *m, const char *name);	/* NULL: absent, or a number */
bool ctf_meta_env_number(const struct ctf_meta *m, const char *name, int64_t *ret);

/* The classes of all streams in .grown were compiled: empties the list. So metadata that grows by a little is compiled
 * in time linear to its length. */
void ctf_meta_compiled(struct ctf_meta *m);

/* Adds what the metadata says about the machine that was traced: environment, size of `long`. Programs of 32 bits also
 * run on 64-bit kernels, so from user space only a size of 64 counts. `seen` remembers what was added: zero it before
 * the first call for a meta. */
struct ctf_machine_seen { const char *word[3]; };
void ctf_meta_machine(const struct ctf_meta *m, struct ctf_machine_seen *seen, struct machine_evidence *ret);
/* Adds what an event class of the kernel's tracer says: names of system calls, size of `long`, byte order. */
void ctf_event_machine(const struct ctf_event_class *ec, struct machine_evidence *ret);

#endif
