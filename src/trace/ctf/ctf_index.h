/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the packets of one stream file are: from LTTng's index file beside it
 * (DIR/index/NAME.idx), or by a walk over the packet headers. Nothing is mapped; reads
 * are pread(2) of the open file.
 *
 * Index files (lttng-tools, src/common/index/ctf-index.h): big endian, a header of
 * magic 0xC1F1DCC1, major, minor, entry length; entries of 56 bytes (1.0: offset in
 * bytes, packet and content size in bits, begin, end in cycles, discarded events,
 * stream id) or 72 (1.1: and stream instance id, packet sequence number). An entry that
 * does not fit the file, or the packet header behind it when it is read, is not
 * believed: the rest of that file is walked. An index may lack the last packets.
 *
 * Broken files are read as far as they are whole. A last packet that the file does not
 * hold entirely, or whose sizes were never written (content or packet size 0, or end 0:
 * a crash, a buffer that was not flushed), is kept with its .fault: its events up to the
 * damage can still be read ("salvage"). Behind a header that is no header nothing is.
 */
#ifndef BLK_TRACE_CTF_CTF_INDEX_H
#define BLK_TRACE_CTF_CTF_INDEX_H

#include "trace/ctf/ctf_meta.h"

enum ctf_fault {
	CTF_WHOLE,
	CTF_CUT_OFF,		/* the file ends in it */
	CTF_UNFINISHED,		/* its sizes or end were never written */
	CTF_GARBAGE,		/* no packet: bytes up to the file's end nobody can read */
};

struct ctf_packet {
	uint64_t offset;		/* in the file, bytes */
	uint64_t packet_bits;		/* CUT_OFF, UNFINISHED, GARBAGE: up to the file's end */
	uint64_t content_bits;		/* <= packet_bits */
	uint64_t begin, end;		/* cycles; UNFINISHED: end may be 0 */
	uint64_t discarded;		/* events, cumulative, as the packet says */
	uint64_t seq;			/* running packet number */
	uint64_t instance;		/* stream instance id */
	uint32_t cpu;			/* UINT32_MAX when the packet does not say, and in
					 * entries whose header was not read yet */
	uint16_t header_bits;		/* where the first event's header may begin (before its
					 * alignment); 0: header not read yet */
	uint8_t fault;			/* enum ctf_fault */
	bool has_seq : 1, has_discarded : 1, has_instance : 1, has_cpu : 1, has_begin : 1,
	     has_end : 1, checked : 1;	/* checked: the header itself was read */
	uint8_t discarded_bits;		/* width of the counter: 32 or 64 (it wraps) */
	uint64_t stream_id;		/* stream class */
};

/*
 * Reads the packet header and context at the start of `bytes` (n of them are there, of
 * a packet at `offset` in a file of file_size bytes). False: *error says what is wrong
 * (CORRUPT; it is no packet of this trace: magic, uuid, unknown stream class), or, with
 * *ret_need > n, that more bytes are needed. Sizes are checked; sets .fault.
 */
bool ctf_packet_read(const struct ctf_meta *m, const uint8_t *bytes, size_t n, uint64_t offset,
		     uint64_t file_size, struct ctf_packet *ret, size_t *ret_need, GError **error);

/* Sets the registers of the packet header and context at `base`, which end before bit
 * `end`: as many as the stream class has. */
void ctf_packet_registers(const struct ctf_meta *m, const struct ctf_stream_class *sc,
			  const uint8_t *base, uint64_t end, uint64_t *regs);

struct ctf_index;

/*
 * Opens dir/name (and dir/index/name.idx when it is there). The meta is borrowed.
 * Reads the index file, if any, and the header of the first packet; the rest of a file
 * without index is left to ctf_index_walk(). Errors: ACCESS, NOT_FOUND, CORRUPT (not
 * even one packet header can be read; an empty file is fine and has no packets).
 */
struct ctf_index *ctf_index_open(const struct ctf_meta *m, const char *dir, const char *name,
				 GError **error);
void ctf_index_free(struct ctf_index *x);	/* NULL is fine */

/*
 * Walks at most `max` packet headers more. Where all packets are of one size so far
 * (checked at the newest end), backwards from the file's end, so that the newest are
 * known first; else forwards. True while there is more to do. The packets known are
 * always a part without holes of the file's newest, or of its oldest packets.
 */
bool ctf_index_walk(struct ctf_index *x, size_t max);
/* The index file was found to lie: forgets it; the packets are to be walked. Reads the
 * first packet's header. */
void ctf_index_distrust(struct ctf_index *x);
bool ctf_index_complete(const struct ctf_index *x);
double ctf_index_progress(const struct ctf_index *x);	/* 0..1 of the file's bytes known */

/* By offset; valid until the next ctf_index_walk(). */
const struct ctf_packet *ctf_index_packets(const struct ctf_index *x, size_t *ret_n);

/* Reads the packet's own header (one pread) and fills what an index entry lacks (cpu,
 * header_bits), in *p. False: the header says something else than the index (CORRUPT). */
bool ctf_index_check(const struct ctf_index *x, struct ctf_packet *p, GError **error);

/*
 * The file's descriptor, borrowed, for pread; opened again if it rests, -1 where that
 * fails. One thread. A trace may have more files than a process may hold open: one that
 * is not being read rests.
 */
int ctf_index_fd(const struct ctf_index *x);
void ctf_index_close_file(struct ctf_index *x);
/* A descriptor of the caller's own, or -1. Any thread. */
int ctf_index_reopen(const struct ctf_index *x);
/* Whoever copied the packets needs them no more: ctf_index_packets() has none then. */
void ctf_index_forget_packets(struct ctf_index *x);

uint64_t ctf_index_size(const struct ctf_index *x);	/* of the file when it was opened, bytes */
const char *ctf_index_name(const struct ctf_index *x);	/* path of the stream file */
bool ctf_index_has_file(const struct ctf_index *x);	/* an index file was used */

#endif
