/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the feed (native_feed*.c only); see native_feed.h:
 *
 *     native_feed.c	what is pushed, as news in an inbox; questions
 *     native_feed_place.c	news taken in: metadata compiled, packets placed in time
 *     native_feed_trouble.c	traces that can't be read, and why
 *     native_feed_merge.c	records in the order of time; who waits for whom, how long
 */
#ifndef BLK_TRACE_NATIVE_NATIVE_FEED_PRIVATE_H
#define BLK_TRACE_NATIVE_NATIVE_FEED_PRIVATE_H

#include "trace/native/native_cursor.h"
#include "trace/native/native_feed.h"

#include "base/limits.h"

enum feed_kind {
	FEED_TRACE, FEED_METADATA, FEED_RESTART, FEED_TRACE_END,
	FEED_STREAM, FEED_TOUCH, FEED_PACKET, FEED_BEACON, FEED_STREAM_END, FEED_STREAM_CUT,
	FEED_END,
};

struct feed_news {
	enum feed_kind kind;
	unsigned number;		/* of trace or stream */
	GBytes *bytes;			/* owned, or NULL */
	char *name;			/* of a trace: owned, or NULL */
	uint64_t class_id, cycles;	/* of a beacon */
	struct native_feed_index index;	/* of a packet; has_index */
	bool has_index;
	int64_t late_us;
	int64_t at_us;			/* when it was taken in */
};

/* One generation of a trace's metadata: packets that came with it are read by it. */
struct feed_meta {
	struct native_meta *m;
	struct native_file file;	/* for packets to point at */
	struct ctf_pieces *pieces;
	unsigned refs;			/* the trace, packets that are not decoded */
};

struct feed_trace {
	unsigned number;
	struct feed_meta *meta;
	int64_t added_us;
	char *name;
	bool usable;			/* packets can be read */
	bool failed, ended;
	bool has_metadata, placed;	/* some came; one packet at least could be read */
	bool decoded;			/* one event at least could be read */
	uint64_t n_packets, n_damaged;	/* that were decoded; of them, those that were not read to the end */
	unsigned n_streams;		/* that have not ended */
	/* under the lock; changed by the taker: */
	char *trouble;			/* why it can't be read; NULL */
	char *partly;			/* why some packets can't; NULL */
};

/* What is known of a stream since its first packet; goes on where another one takes over. */
struct feed_track {
	struct native_stream *st;
	char *key;			/* trace, class, instance; NULL: can't be told again */
	struct native_plan_stream plan;	/* packets that are not decoded, and the one at hand */
	GArray *kept;			/* struct feed_kept: as the plan's */
	size_t cap;			/* of the plan */
	struct feed_meta *hot;		/* of the last packet that was buried */
	size_t n_left, n_buried;	/* of them, the first: decoded; given to the graves */
	struct native_packet before;	/* the last one that was whole; has_before */
	bool has_before, was_cut;
	uint64_t n_refused;		/* packets behind .before that are none */
	bool counts_told;		/* tallies, up to the beacon */
	uint64_t n_damaged, n_ended;	/* of the cursor: what the trace has counted */
	struct native_cursor *cursor;
};

struct feed_kept {
	GBytes *bytes;
	struct feed_meta *meta;
	int64_t at_us;			/* when it came */
};

struct feed_stream {
	unsigned number, slot;
	char *name;
	gsize queued;			/* bytes; atomic */
	/* the taker's */
	struct feed_trace *trace;	/* NULL: gone */
	int64_t late_us;
	int64_t spoke_us;		/* when anything of it came last */
	GQueue news;			/* struct feed_news *: packets, beacons, ends not placed */
	struct feed_track *track;	/* NULL: no packet yet */
	uint32_t n_unplaced;		/* packets that were refused before */
	int64_t beacon_ns;		/* INT64_MIN: none */
	int64_t overtaken_ns;		/* the others went on to here without it; INT64_MIN */
	bool over, cut, gone;
	bool parked;			/* cut, or of a trace that failed; all that came was delivered */
};

/* How long packets wait for metadata that they need, once there is some, and for their host's clock. */
#define FEED_CLASS_US (LIMIT_CLASS_MS * G_TIME_SPAN_MILLISECOND)

/* A stream that lags, but still speaks, may hold the others up so many times longer than
 * one that is silent: who catches up shall not be left behind. */
#define FEED_CATCH_UP 10

#define FEED_MARKS 128

/* Traces that are over and could not be read, or not all of it: so many are told apart by name. */
#define FEED_TROUBLED 256

struct native_feed {
	struct native_source s;		/* first */
	int64_t (*now)(void *data);
	void *now_data;
	gsize queued;			/* bytes; atomic */

	GMutex lock;
	GCond pushed;
	GArray *inbox;			/* struct feed_news */
	GHashTable *all;		/* number -> struct feed_stream *: those not freed, owned */
	unsigned n_traces, n_streams;	/* numbers given */
	bool woken;
	struct native_feed_status status;
	GPtrArray *traces;		/* struct feed_trace *, by number, owned; changed by the taker */
	unsigned n_troubled;		/* of them, those that are over */
	unsigned gone_unreadable, gone_readable;	/* of those that were freed, as in the status */
	unsigned gone_troubled;		/* of them, those with a trouble of any kind */

	/* the taker's */
	GArray *taken;			/* struct feed_news: the inbox, being read */
	GPtrArray *streams;		/* struct feed_stream *, by slot; NULL: the slot is free */
	GArray *free_slots;		/* guint */
	GPtrArray *dead;		/* struct feed_stream *: gone, still in .streams */
	GPtrArray *pending;		/* struct feed_stream * with news */
	GPtrArray *order;		/* struct feed_stream * with a track, as ranked */
	GHashTable *cut;		/* key -> struct feed_stream * */
	GHashTable *boots;		/* clock uuid -> struct ctf_clock *, owned */
	GArray *graves;			/* struct feed_kept: of the batch before */
	GPtrArray *gone;		/* struct feed_track *: the same */
	size_t heap_cap, n_grown;
	int64_t clock_us;		/* of the last call */
	int64_t now_us;			/* time spent waiting: not counted is the taker's own */
	bool blocked;			/* the last call ended so */
	int64_t newest_ns, last_ns;	/* that came; that was delivered */
	int64_t told_ns;		/* as horizon */
	struct { int64_t at_us, ns; } mark[FEED_MARKS];	/* what was newest at that time */
	unsigned n_marks;
	int64_t max_late_us;
	uint64_t late, refused, unplaced;
	int64_t late_from_ns, late_to_ns;
	struct source_late fresh;	/* since it was taken last */
	unsigned n_numbers;		/* instances told apart by number */
	bool ended, rebuild;
};

/* native_feed.c */
void feed_news_clear(struct feed_news *x);
void feed_unqueue(struct native_feed *f, struct feed_stream *x, gsize bytes);

/* native_feed_place.c */
void feed_take_in(struct native_feed *f);		/* all that was pushed */
void feed_track_free(struct feed_track *t);
void feed_trace_free(void *t);
struct feed_trace *feed_trace(const struct native_feed *f, unsigned number);	/* NULL: none, or it was freed */
void feed_kept_clear(void *kept);
/* Nothing is left of it. It is freed when nobody may look at it any more. */
void feed_stream_over(struct native_feed *f, struct feed_stream *x);
/* Drops what is decoded of the plan to the graves. */
void feed_track_bury(struct native_feed *f, struct feed_stream *x);

/* native_feed_trouble.c: the taker's. Metadata is wrong, for good. */
void feed_trouble_metadata(struct native_feed *f, struct feed_trace *t, const GError *error);
/* Notes that a packet was refused, or taken with doubts, and why (NULL is fine). */
void feed_trouble_packet(struct native_feed *f, const struct feed_stream *x, const char *why);
/* Notes that the stream's cursor was filled; reported while most packets can't be read to the end. */
void feed_trouble_events(struct native_feed *f, const struct feed_stream *x);
void feed_trouble_over(struct native_feed *f, struct feed_trace *t);	/* but not wrong metadata */
/* The stream has news that wait: for metadata for too long? */
void feed_trouble_wait(struct native_feed *f, const struct feed_stream *x);
void feed_trouble_count(const struct native_feed *f, struct native_feed_status *ret);
/* The trace is over: may it be freed? Counts it then; the first of those with a trouble stay. */
bool feed_trouble_forget(struct native_feed *f, const struct feed_trace *t);

/* native_feed_merge.c */
enum source_status feed_next(struct source *s, struct blk_batch *ret, GError **error);
bool feed_take_late(struct source *s, struct source_late *ret);

#endif
