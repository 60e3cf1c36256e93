/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the packets of one stream file: from LTTng's index file beside it (DIR/index/NAME.idx), or by reading packet
 * headers one after another (a "walk"). Nothing is mapped; all reads are pread(2).
 *
 * Index files (lttng-tools, src/common/index/ctf-index.h) are big endian: a header of magic 0xC1F1DCC1, major, minor,
 * entry length; then entries. An entry of version 1.0 has 56 bytes: offset in bytes, packet and content size in bits,
 * begin and end in cycles, discarded events, stream id. One of version 1.1 has 72: also stream instance id and packet
 * sequence number. An index file may not have the last packets. If an entry does not fit the file or the packet's
 * header, the rest of the index file is ignored and that part is walked.
 *
 * The readable part of a broken file is read. A packet may be cut off by the end of the file. Or its sizes were never
 * written (content or packet size 0, or end 0), after a crash or if a buffer was not flushed. Such a packet has a
 * .fault, and its events up to the damage can still be read. Nothing behind an invalid packet header can be read.
 */
#ifndef BLK_TRACE_CTF_CTF_INDEX_H
#define BLK_TRACE_CTF_CTF_INDEX_H

#include "trace/ctf/ctf_meta.h"

enum ctf_fault {
	CTF_WHOLE,
	CTF_CUT_OFF,		/* the file ends inside the packet */
	CTF_UNFINISHED,		/* a size of it was never written; or, in a packet without the size of its content, its
				 * end */
	CTF_GARBAGE,		/* not a packet: unreadable bytes up to the end of the file */
};

struct ctf_packet {
	uint64_t offset;		/* in the file, bytes */
	uint64_t packet_bits;		/* with a fault: up to the end of the file */
	uint64_t content_bits;		/* <= packet_bits */
	uint64_t begin, end;		/* cycles; .end is valid if .has_end. See ctf_packet_follow() */
	uint64_t first;			/* time of the first event, cycles; valid if .has_first */
	uint64_t discarded;		/* cumulative number of events, from the packet */
	uint64_t seq;			/* running packet number */
	uint64_t instance;		/* stream instance id */
	uint32_t cpu;			/* UINT32_MAX: the packet does not say, or its header was not read yet */
	uint16_t header_bits;		/* beginning of the first event's header, before its alignment; 0: the packet
					 * header was not read yet */
	uint8_t fault;			/* enum ctf_fault */
	bool has_seq : 1, has_discarded : 1, has_instance : 1, has_cpu : 1, has_begin : 1,
	     has_end : 1, checked : 1;	/* checked: the packet header was read */
	bool has_first : 1;		/* .begin and .first have 64 bits, so that .first may be earlier */
	bool other_uuid : 1;		/* it has another trace's UUID */
	uint8_t begin_bits, end_bits;	/* width of the times in the packet */
	bool is_recovered;		/* whole, but its end was never written: the tracer's host or session daemon
					 * crashed, and lttng-crash recovered the packet */
	uint8_t discarded_bits;		/* width of the counter: 32 or 64 (it wraps) */
	uint64_t stream_id;		/* stream class */
};

/*
 * Reads the packet header and context at the beginning of `bytes`; n bytes are available. The packet is at `offset` in
 * a file of file_size bytes. Sizes are checked; sets .fault. False: if *ret_need > n, more bytes are needed. Else
 * *error has the problem. CORRUPT: it is no packet of this trace (magic, unknown stream class).
 */
bool ctf_packet_read(const struct ctf_meta *m, const uint8_t *bytes, size_t n, uint64_t offset,
		     uint64_t file_size, struct ctf_packet *ret, size_t *ret_need, GError **error);

/* Are its times only the lowest bits of the clock? */
static inline bool ctf_packet_is_narrow(const struct ctf_packet *p)
{
	return p->has_begin && p->begin_bits < 64;
}
/* Completes the times of a packet. A packet without events may have no .begin: then it is `from`. Narrow times become
 * the first ones from `from` on that have these lowest bits. `from` is ctf_packet_latest() of the packet before it. */
void ctf_packet_follow(struct ctf_packet *p, uint64_t from);
/* Its end, or its beginning if the end is unknown; cycles. */
static inline uint64_t ctf_packet_latest(const struct ctf_packet *p)
{
	return p->has_end && p->end ? p->end : p->begin;
}

/* Sets the registers of the packet header and context at `base`, which end before bit `end`. The size of regs is
 * the stream class's n_regs. */
void ctf_packet_registers(const struct ctf_meta *m, const struct ctf_stream_class *sc,
			  const uint8_t *base, uint64_t end, uint64_t *regs);

struct ctf_index;

/*
 * Opens dir/name, and dir/index/name.idx if it exists. The meta is borrowed. Reads the index file and the first packet
 * header; ctf_index_walk() reads what the index file does not have. Errors: ACCESS, NOT_FOUND, CORRUPT (no packet
 * header can be read). An empty file is no error and has no packets.
 */
struct ctf_index *ctf_index_open(const struct ctf_meta *m, const char *dir, const char *name,
				 GError **error);
void ctf_index_free(struct ctf_index *x);	/* NULL is fine */

/*
 * Reads at most `max` more packet headers. If all packets seem to have one size it walks backwards from the end of the
 * file, so that the newest packets are known first; otherwise forwards. True: there are more. The known packets are
 * always consecutive, and are the oldest or the newest of the file.
 */
bool ctf_index_walk(struct ctf_index *x, size_t max);
/* The index file is wrong: ignores it, and begins a walk with the first packet header. */
void ctf_index_distrust(struct ctf_index *x);
bool ctf_index_complete(const struct ctf_index *x);
double ctf_index_progress(const struct ctf_index *x);	/* 0..1 of the file's bytes known */

/* The known packets by offset; valid until the next ctf_index_walk(). */
const struct ctf_packet *ctf_index_packets(const struct ctf_index *x, size_t *ret_n);

/* Reads the packet's own header and completes *p with it (cpu, header_bits). False: the header and the index file
 * disagree (CORRUPT). */
bool ctf_index_check(const struct ctf_index *x, struct ctf_packet *p, GError **error);

/* The file's descriptor, borrowed, for pread(2); reopened if it was closed; -1: that failed. One thread. A trace
 * may have more files than a process may open, so close files that are not being read. */
int ctf_index_fd(const struct ctf_index *x);
void ctf_index_close_file(struct ctf_index *x);
/* A descriptor that the caller must close, or -1. Any thread. */
int ctf_index_reopen(const struct ctf_index *x);
/* Frees the packets; ctf_index_packets() returns none from then on. */
void ctf_index_forget_packets(struct ctf_index *x);

uint64_t ctf_index_size(const struct ctf_index *x);	/* of the file when it was opened, bytes */
const char *ctf_index_name(const struct ctf_index *x);	/* path of the stream file */
bool ctf_index_has_file(const struct ctf_index *x);	/* is an index file used? */

#endif
