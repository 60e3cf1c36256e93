/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of the native reader (native*.c only); see native.h. */
#ifndef BLK_TRACE_NATIVE_NATIVE_PRIVATE_H
#define BLK_TRACE_NATIVE_NATIVE_PRIVATE_H

#include "trace/ctf/ctf_index.h"
#include "trace/ctf/ctf_program.h"
#include "trace/native/native.h"

#include "base/limits.h"

/* Metadata and what was compiled of it; shared by directories with the same bytes. */
struct native_meta {
	struct ctf_meta *meta;
	GPtrArray *decoders;		/* struct ctf_decoder *, as meta->streams */
	char *uuid;			/* of the trace, text; "" when it has none */
};

struct native_file {
	struct ctf_index *index;	/* NULL: packets that are fed */
	const struct native_meta *m;
	struct native_stream *stream;
};

/* Cycles to ns: one offset a host boot, as the babeltrace2 reader has it. */
struct native_clock {
	uint64_t freq;
	uint64_t base_ns;		/* with the offset's cycles, if freq is 1e9 */
	uint64_t offset;		/* cycles; counted when freq is not 1e9 */
};

static inline int64_t native_ns(const struct native_clock *k, uint64_t cycles)
{
	if (G_LIKELY(k->freq == 1000000000))
		return (int64_t)(k->base_ns + cycles);
	unsigned __int128 all = (unsigned __int128)cycles + k->offset;
	return (int64_t)(k->base_ns + (uint64_t)(all * 1000000000u / k->freq));
}

/* Times that are believed: up to the year 2116, so that any two differ by an int64_t. */
#define NATIVE_MOST_NS (LIMIT_TIME_SECONDS * INT64_C(1000000000))

/* The same of hostile cycles: what is beyond is the bound itself. */
static inline int64_t native_ns_clamped(const struct native_clock *k, uint64_t cycles)
{
	__int128 ns = k->freq == 1000000000 ? (__int128)cycles
					    : ((__int128)cycles + k->offset) * 1000000000 / k->freq;
	ns += (int64_t)k->base_ns;
	return (int64_t)CLAMP(ns, -NATIVE_MOST_NS, NATIVE_MOST_NS);
}

static inline bool native_is_wild(int64_t ns)
{
	return ns <= -NATIVE_MOST_NS || ns >= NATIVE_MOST_NS;
}

/* One stream: its packets may lie in several files (rotation chunks). */
struct native_stream {
	struct blk_stream info;		/* .host is unused; .order owned */
	char *host, *boot, *release;
	char *order_base;
	const struct ctf_clock *ctf_clock;
	struct native_clock clock;
	GPtrArray *files;		/* struct native_file *, borrowed */
};

/* A packet of a stream, placed in time. */
/* Events of old tracers lie up to some microseconds behind their packet's end (more, where the
 * thread that wrote one was preempted meanwhile). What lies further behind is damage. */
#define NATIVE_OVERHANG_NS 10000000

struct native_packet {
	struct ctf_packet p;
	const struct native_file *file;
	const uint8_t *bytes;		/* all of it, where it is in no file; else NULL */
	int64_t begin_ns, end_ns;	/* end_ns INT64_MAX: not known; garbage that is alone: 0 */
	int64_t max_end_ns;		/* of this and all before it */
	int64_t gap_begin_ns;		/* has_gap: the end of the one before */
	uint64_t lost_packets;		/* missing before it; 0 in a silence, see struct blk_loss */
	uint64_t lost_events;		/* by its counter; has_lost, 0: not known how many */
	uint64_t discarded_most;	/* what the counter had risen to, in this and those before it */
	uint32_t n_unread;		/* garbage that was fed: how many packets it stands for; else 0 */
	bool has_lost, has_gap;
	bool is_gap_discarded;		/* events may have been discarded in the gap; .lost_events counts them */
	bool is_pause;			/* the gap is one in which nobody traced, which began at some time */
	bool is_paused;			/* behind the last event of this one */
};

struct native_plan_stream {
	struct native_packet *packet;
	size_t n;
	bool grows;			/* more may come: fed; .packet changes with n */
	bool waits;			/* so may the class of an event that is not known */
};

/* All that is known of packets at one time; immutable, shared with the sources. */
struct native_plan {
	gatomicrefcount refs;
	size_t n_streams;
	struct native_plan_stream *stream;	/* as native.streams */
	int64_t known_from;		/* INT64_MIN: everything */
	uint64_t bytes;
};

struct native {
	GPtrArray *metas;		/* struct native_meta * */
	GHashTable *by_bytes;		/* GBytes of a metadata file -> struct native_meta * */
	GPtrArray *files;		/* struct native_file * */
	GPtrArray *streams;		/* struct native_stream *, in order of equal timestamps */
	GPtrArray *warnings;		/* char * */
	int problem;			/* code of the first one */
	GArray *classes;		/* struct native_class */
	GHashTable *class_names;
	GHashTable *layouts;
	const struct blk_subscription *rows;
	struct blk_matcher *matcher;
	uint64_t bytes;
	bool indexed;
	GMutex lock;
	struct native_plan *plan;	/* the newest; under the lock */
};

struct native_class { char *name, *counters; uint16_t row; };

/* native.c: without any trace. */
struct native *native_new(const struct blk_subscription *rows, size_t n_rows);

/* native_meta.c */
struct native_meta *native_meta_new(void);
void native_meta_free(void *m);

/* Compiles what was appended to m->meta since. Numbers of classes are n's. */
bool native_meta_compile(struct native *n, struct native_meta *m, GError **error);

/* Of the stream class with that id; NULL: there is none. */
const struct ctf_decoder *native_decoder(const struct native_meta *m, uint64_t stream_id);

/* By its first packet. number: takes the place of an instance where there is none. The
 * clock is still to be pinned, to k or to that of another trace of the same boot. */
struct native_stream *native_stream_new(const struct native_meta *m, const struct ctf_decoder *d,
					const struct ctf_packet *first, uint64_t number);
void native_stream_free(void *st);
void native_stream_pin(struct native_stream *st, const struct ctf_clock *k);

/* native_plan.c */
/* Its times, and what was lost since the one before it in the stream (NULL: none). */
void native_packet_place(const struct native_stream *st, struct native_packet *x,
			 const struct native_packet *before);
void native_plan_make(struct native *n);
struct native_plan *native_plan_take(const struct native *n);	/* a reference */
void native_plan_unref(struct native_plan *p);
bool native_stream_whole(const struct native_stream *st);	/* are all its packets known? */
/* Orders by host, then boot. */
int native_compare_hosts(const struct native_stream *x, const struct native_stream *y);
/* native_pauses.c: gaps where nobody traced between the packets of a session. */
void native_place_pauses(const struct native *n, struct native_plan *plan);
/* native_extents.c */
void native_plan_extents(const struct native *n, const struct native_plan *plan, native_extent tell, void *data);
/* The first packet that events from `from` on can depend on; n when there is none. */
size_t native_plan_find(const struct native_plan_stream *s, int64_t from);
uint64_t native_plan_bytes(const struct native_plan *p, int64_t from, int64_t to);

#endif
