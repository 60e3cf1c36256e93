/* SPDX-License-Identifier: GPL-2.0-only */
/* The internals of the native reader, for native*.c only; see native.h. */
#ifndef BLK_TRACE_NATIVE_NATIVE_PRIVATE_H
#define BLK_TRACE_NATIVE_NATIVE_PRIVATE_H

#include "trace/ctf/ctf_index.h"
#include "trace/ctf/ctf_program.h"
#include "trace/native/native.h"

#include "base/limits.h"
#include "base/timefmt.h"

/* Metadata and the decoders compiled from it. Directories with the same metadata bytes share one. */
struct native_meta {
	struct ctf_meta *meta;
	GPtrArray *decoders;		/* struct ctf_decoder *, in the order of meta->streams */
	char *uuid;			/* of the trace, as text; "": it has none */
	struct machine_evidence machine;	/* ctf_meta_machine(), and .events if the trace is a kernel's */
	struct machine_evidence events;	/* ctf_event_machine() */
	struct ctf_machine_seen seen;
	size_t decoder_bytes;		/* ctf_decoder_bytes() of all decoders */
};

/* A stream file, or the stream of pushed packets. */
struct native_file {
	struct ctf_index *index;	/* NULL: the packets are pushed */
	const struct native_meta *m;
	struct native_stream *stream;
	uint64_t first_begin;		/* cycles: beginning of its first packet */
};

/* Converts cycles to ns since the epoch. All streams of a host boot have the same offset, as in the babeltrace2
 * reader. */
struct native_clock {
	uint64_t freq;
	uint64_t base_ns;		/* ns at cycle 0; with the offset's cycles if freq is 1e9 */
	uint64_t offset;		/* cycles to add to each timestamp if freq is not 1e9 */
};

static inline int64_t native_ns(const struct native_clock *k, uint64_t cycles)
{
	if (G_LIKELY(k->freq == 1000000000))
		return (int64_t)(k->base_ns + cycles);
	unsigned __int128 all = (unsigned __int128)cycles + k->offset;
	return (int64_t)(k->base_ns + (uint64_t)(all * 1000000000u / k->freq));
}

/* The same for hostile input: clamped to the range of instants. */
static inline int64_t native_ns_clamped(const struct native_clock *k, uint64_t cycles)
{
	__int128 ns = k->freq == 1000000000 ? (__int128)cycles
					    : ((__int128)cycles + k->offset) * 1000000000 / k->freq;
	ns += (int64_t)k->base_ns;
	return (int64_t)CLAMP(ns, -TIME_MOST_NS, TIME_MOST_NS);
}

static inline bool native_is_out_of_range(int64_t ns)
{
	return ns <= -TIME_MOST_NS || ns >= TIME_MOST_NS;
}

/* One stream; its packets may lie in several files (rotation chunks). */
struct native_stream {
	struct blk_stream info;		/* .host is unused; .order is owned */
	char *host, *boot, *release;
	struct machine_evidence machine;	/* from its trace's metadata */
	char *order_base;
	const struct ctf_clock *ctf_clock;
	struct native_clock clock;
	GPtrArray *files;		/* struct native_file *, borrowed */
};

/* In traces of old tracers, timestamps may exceed their packet's end by some microseconds; by more if the writing
 * thread was preempted meanwhile. An event later than this is damage. */
#define NATIVE_OVERHANG_NS 10000000

/* The first event of a stream may be this much earlier than its packet. */
#define NATIVE_EARLY_NS INT64_C(1000000000)

/* A packet of a stream, placed in time. "Before" is in the order of the stream. */
struct native_packet {
	struct ctf_packet p;
	const struct native_file *file;
	const uint8_t *bytes;		/* the whole packet if it was pushed; NULL: it is in .file */
	int64_t begin_ns, end_ns;	/* end_ns INT64_MAX: not known. begin_ns 0: garbage without a packet before
					 * it */
	int64_t max_end_ns;		/* latest end of this packet and all before it */
	int64_t gap_begin_ns;		/* if has_gap: the end of the packet before */
	uint64_t lost_packets;		/* missing before this packet; 0 in a silence (struct blk_loss) */
	uint64_t lost_events;		/* if has_lost: discarded in this packet; 0: not known how many */
	uint64_t discarded_max;		/* highest value of the discarded counter in this packet and those before */
	uint32_t n_unread;		/* pushed garbage: the number of packets that it represents; else 0 */
	bool has_lost;			/* the discarded counter rose in this packet */
	bool has_gap;			/* packets are missing before it, tracing was off, or see the next one */
	bool is_gap_discarded;		/* events may have been discarded in the gap; .lost_events counts them, too */
	bool is_pause;			/* the gap is a pause of tracing within a session */
	bool is_paused;			/* a pause begins after the last event of this packet */
};

/* The packets of a stream. */
struct native_plan_stream {
	struct native_packet *packet;
	size_t n;
	bool grows;			/* pushed: more packets may come, and .packet may be reallocated */
	bool waits;			/* metadata may still declare the class of an unknown event id */
};

/* All packets known at one time. Immutable and reference counted; shared by all sources. */
struct native_plan {
	gatomicrefcount refs;
	size_t n_streams;
	struct native_plan_stream *stream;	/* in the order of native.streams */
	int64_t known_from;		/* all packets from this instant on are known; INT64_MIN: all packets */
	uint64_t bytes;			/* of all packets */
};

struct native {
	GPtrArray *metas;		/* struct native_meta * */
	GHashTable *by_bytes;		/* GBytes of a metadata file -> struct native_meta *, borrowed */
	GPtrArray *files;		/* struct native_file * */
	GPtrArray *streams;		/* struct native_stream *, in the order of equal timestamps */
	GPtrArray *warnings;		/* char *, one for each part that was left out */
	GPtrArray *remarks;		/* char *, see native_remark() */
	int problem;			/* BLK_TRACE_ERROR_ code of the first warning */
	GArray *classes;		/* struct native_class, by class number */
	GHashTable *class_names;	/* blk_class_key() -> class number + 1 */
	GHashTable *layouts;
	const struct blk_subscription *rows;
	struct blk_matcher *matcher;
	uint64_t bytes;			/* of all stream files */
	bool indexed;			/* all packets are known: the struct is immutable */
	GMutex lock;
	struct native_plan *plan;	/* the newest; read and replaced under .lock */
};

struct native_class { char *name, *counters; uint16_t row; };

/* native.c: a native without traces, for a feed. */
struct native *native_new(const struct blk_subscription *rows, size_t n_rows);

/* native_meta.c */
struct native_meta *native_meta_new(void);
void native_meta_free(void *m);

/* Compiles the classes that were added to m->meta. Class numbers are those of n. */
bool native_meta_compile(struct native *n, struct native_meta *m, GError **error);

/* Estimated memory of the metadata and its decoders. O(1). */
size_t native_meta_bytes(const struct native_meta *m);

enum blk_domain native_meta_domain(const struct native_meta *m);
const char *native_meta_host(const struct native_meta *m);	/* name of its host; "?": unknown; borrowed */

/* The decoder of the stream class with the id; NULL: none. */
const struct ctf_decoder *native_decoder(const struct native_meta *m, uint64_t stream_id);

/* Is it a packet without an event, and therefore without a time? */
bool native_is_header_only(const struct native_meta *m, const struct ctf_packet *p);

/* A stream, described by its first packet. number: replaces a missing instance id. The caller must pin the clock: to
 * k, the clock of the stream or of another trace of the same boot. */
struct native_stream *native_stream_new(const struct native_meta *m, const struct ctf_decoder *d,
					const struct ctf_packet *first, uint64_t number);
void native_stream_free(void *st);
void native_stream_pin(struct native_stream *st, const struct ctf_clock *k);
/* The stream is of the machine whose kernel's trace has this host name: it has the same boot id. Another name of its
 * own becomes .info.hostname. */
void native_stream_join(struct native_stream *st, const char *host);

/* native_plan.c */
/* Sets the packet's times and the losses between it and the previous packet (NULL: it is the first). */
void native_packet_place(const struct native_stream *st, struct native_packet *x,
			 const struct native_packet *before);
/* Makes a new plan of the packets that are known now. */
void native_plan_make(struct native *n);
struct native_plan *native_plan_take(const struct native *n);	/* returns a reference */
void native_plan_unref(struct native_plan *p);
bool native_stream_whole(const struct native_stream *st);	/* are all its packets known? */
/* Orders by host, then boot. */
int native_compare_hosts(const struct native_stream *x, const struct native_stream *y);
/* native_extents.c: recorded_from and recorded_to of a stream (struct blk_stream). */
void native_plan_recorded(const struct native_stream *st, const struct native_plan_stream *s, int64_t *ret_from,
			  int64_t *ret_to);

/* native_pauses.c: marks the pauses of tracing between packets. */
void native_place_pauses(const struct native *n, struct native_plan *plan);
/* native_extents.c */
void native_plan_extents(const struct native *n, const struct native_plan *plan, native_extent callback, void *data);
/* The first packet whose events may be at or after `from`; s->n: none. */
size_t native_plan_find(const struct native_plan_stream *s, int64_t from);
uint64_t native_plan_bytes(const struct native_plan *p, int64_t from, int64_t to);

#endif
