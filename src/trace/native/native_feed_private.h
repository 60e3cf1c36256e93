/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The internals of the feed, for native_feed*.c only; see native_feed.h:
 *
 *     native_feed.c		the pushing thread's functions: they put messages into an inbox
 *     native_feed_place.c	handles messages: compiles metadata, places packets in time
 *     native_feed_trouble.c	which traces cannot be read, and why
 *     native_feed_merge.c	delivers records in order of time; how long streams wait for each other
 *
 * "The taker" is the thread that calls source_next().
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

/* What the pusher hands to the taker. A message of a stream waits in feed_stream.waiting until it can be handled. */
struct feed_message {
	enum feed_kind kind;
	unsigned number;		/* of the trace or stream */
	GBytes *bytes;			/* owned, or NULL */
	char *name;			/* owned, or NULL; only of FEED_TRACE */
	uint64_t class_id, cycles;	/* FEED_BEACON; of FEED_STREAM class_id is the trace's number */
	struct native_feed_index index;	/* FEED_PACKET, valid if has_index */
	bool has_index;
	int64_t late_us;		/* FEED_STREAM: see native_feed_add_stream() */
	int64_t at_us;			/* on the clock of native_feed.now_us, when the taker received it */
};

/* One generation of a trace's metadata (see native_feed_metadata_restart()). A packet refers to the generation that
 * it arrived with. Reference counted. */
struct feed_meta {
	struct native_feed *feed;
	struct native_meta *m;
	size_t bytes;			/* its memory, in .feed's .held */
	bool over;			/* no more metadata comes, its streams are closed: in .feed's .beside, too */
	struct native_file file;	/* what the packets' .file points to */
	struct ctf_pieces *pieces;
	unsigned refs;			/* the trace, each packet that is retained, feed_track.last_meta */
};

/* A trace: the streams that share metadata. */
struct feed_trace {
	unsigned number;
	struct feed_meta *meta;		/* the newest; NULL when the trace and its streams have ended */
	int64_t added_us;		/* on the clock of native_feed.now_us */
	char *name;
	bool usable;			/* the metadata is complete enough to read packets */
	bool failed;			/* the metadata is wrong: nothing more is read */
	bool ended;			/* native_feed_end_trace() was called */
	bool has_metadata, placed;	/* some metadata came; at least one packet could be placed in time */
	bool decoded;			/* at least one event could be decoded */
	uint64_t n_packets, n_damaged;	/* decoded packets; those of them that could not be decoded to the end */
	unsigned n_streams;		/* streams that have not ended */
	unsigned n_open;		/* of these, streams that are not closed */
	/* Changed by the taker, under native_feed.lock: */
	char *trouble;			/* why nothing of the trace can be read; NULL: it can be */
	char *partly;			/* why some of its packets cannot be read; NULL */
};

/* The state of a stream from its first packet on. It moves to another struct feed_stream when that one continues a
 * stream that was cut off. */
struct feed_track {
	struct native_stream *st;
	char *key;			/* trace UUID, stream class and instance: by these a cut stream is
					 * recognised; NULL: it cannot be */
	struct native_plan_stream plan;	/* the packets that are retained, in order */
	GArray *packets;		/* struct feed_packet, parallel to plan.packet */
	size_t cap;			/* allocated entries of plan.packet */
	struct feed_meta *last_meta;	/* of the packet that was retired last: the cursor has tables of
						 * its decoder */
	size_t n_decoded, n_retired;	/* first packets of .plan that are decoded; that are retired. n_retired <=
					 * n_decoded */
	struct native_packet previous;	/* the last whole packet; valid if has_previous */
	bool has_previous;
	bool resumed;			/* it was cut off, and another stream continued it */
	uint64_t n_refused;		/* unreadable packets since .previous */
	bool tallies_reported;		/* the current second's counts were delivered, as the beacon has passed its
					 * end */
	uint64_t n_damaged, n_counted;	/* the cursor's counts that were already added to those of the trace */
	struct native_cursor *cursor;
};

/* The bytes of a packet. Records point into them: they are released one batch after the packet was decoded. */
struct feed_packet {
	GBytes *bytes;
	struct feed_meta *meta;
	int64_t at_us;			/* on the clock of native_feed.now_us, when it came */
};

/* What all streams of a host boot have in common. */
struct feed_boot {
	struct ctf_clock clock;
	char *host;			/* name in the trace of its kernel; NULL: no such trace was seen; owned */
};

struct feed_stream {
	unsigned number;		/* for the pusher; never reused */
	unsigned slot;			/* index in native_feed.streams and native_source.cursor; reused */
	char *name;
	gsize queued;			/* bytes pushed and not decoded; atomic */
	/* The taker's: */
	struct feed_trace *trace;	/* NULL when .ended */
	int64_t late_us;
	int64_t active_us;		/* the last time that anything of the stream came */
	GQueue waiting;			/* struct feed_message *, owned: packets, beacons and ends that cannot be
					 * handled yet */
	struct feed_track *track;	/* NULL: no packet yet */
	uint32_t n_unplaced;		/* packets refused before the first placed one */
	size_t bytes;			/* once it is closed: its memory, in .held and .beside */
	int64_t cut_us;			/* on the clock of native_feed.clock_us; valid if .cut */
	int64_t beacon_ns;		/* no event before this instant will come; INT64_MIN: not known */
	int64_t overtaken_ns;		/* the merge went on to here without waiting for this stream; INT64_MIN: it
					 * did not */
	bool closed;			/* nothing more is accepted; received data is still delivered */
	bool cut;			/* cut off by native_feed_cut_stream(); may be continued by another stream */
	bool ended;			/* everything was delivered; see native_feed.ended_streams */
	bool parked;			/* not in the heap: all that came was delivered, and it is cut off or its
					 * trace failed */
};

/* How long (us) a packet waits for metadata that is incomplete, or for a trace that may set the clock of its host. */
#define FEED_CLASS_US (LIMIT_CLASS_MS * G_TIME_SPAN_MILLISECOND)

/* A stream that lags but still receives data may delay the others this many times longer than a silent one. So it can
 * catch up. */
#define FEED_CATCH_UP 10

#define FEED_MARKS 128

/* Estimated memory of a message beside its bytes; of a trace and a stream what they will take once they are taken in;
 * of a packet until it is decoded. */
#define FEED_MESSAGE_BYTES 256
#define FEED_TRACE_BYTES (80u << 10)
#define FEED_STREAM_BYTES (4u << 10)
#define FEED_PACKET_BYTES 640
/* Parsed and compiled metadata takes this many times its length. */
#define FEED_PARSED 10

/* Maximum number of ended traces with problems that are retained by name. */
#define FEED_TROUBLED 256

struct native_feed {
	struct native_source s;		/* first: a struct native_feed * is a struct source * */
	uint64_t bound;			/* native_feed_set_bound(); 0: none */
	int64_t (*now)(void *data);	/* us, monotonic; replaced by tests */
	void *now_data;
	gsize queued;			/* bytes pushed and not decoded; atomic */
	gsize beside;			/* estimated bytes of memory: what waits (native_feed_waiting()) beside .queued;
					 * atomic */
	gsize held;			/* estimated bytes of metadata, decoders and streams; atomic */

	GMutex lock;			/* protects what follows, up to the taker's fields */
	GCond pushed;			/* signalled when .inbox is no longer empty, and by native_feed_wake() */
	GArray *inbox;			/* struct feed_message */
	GHashTable *all;		/* number -> struct feed_stream *, owned: all that were not freed */
	unsigned n_traces, n_streams;	/* how many numbers were given out */
	bool woken;			/* native_feed_wake() was called */
	struct native_feed_status status;
	GPtrArray *traces;		/* struct feed_trace *, owned, sorted by number; only the taker changes it */
	unsigned n_troubled;		/* of these, ended traces that are retained for their trouble */
	unsigned freed_unreadable, freed_readable;	/* freed traces, counted as in struct native_feed_status */
	unsigned freed_troubled;	/* freed traces with a trouble of either kind */

	/* The taker's: */
	GArray *taken;			/* struct feed_message: the messages being handled; swapped with .inbox */
	GPtrArray *streams;		/* struct feed_stream *, by slot; NULL: the slot is free */
	GArray *free_slots;		/* guint: free slots */
	GPtrArray *ended_streams;	/* struct feed_stream * with .ended, freed at the end of the next
						 * feed_take_in() */
	GPtrArray *pending;		/* struct feed_stream * with messages that wait */
	GPtrArray *order;		/* struct feed_stream * with a track, in order of equal timestamps */
	GHashTable *cut;		/* key of the track -> struct feed_stream * that was cut off */
	GQueue cut_order;		/* numbers of streams that were cut off, the oldest first; some have ended */
	GHashTable *boots;		/* clock UUID -> struct feed_boot *, owned */
	GArray *retired;		/* struct feed_packet: decoded in the last batch, whose records may
						 * still be in use */
	GPtrArray *ended_tracks;	/* struct feed_track *: ended in the last batch */
	size_t heap_cap;		/* allocated entries of native_source.heap */
	size_t n_grown;			/* entries of native_source.cls */
	int64_t clock_us;		/* .now() at the last source_next() */
	int64_t now_us;			/* the feed's clock: time in which the merge waited for a stream */
	bool blocked;			/* the last source_next() ended waiting for a stream */
	int64_t newest_ns, last_ns;	/* newest instant that came; last instant that was delivered */
	int64_t reported_horizon_ns;	/* of the last BLK_ROW_HORIZON */
	struct { int64_t at_us, ns; } mark[FEED_MARKS];	/* at time at_us, .newest_ns was ns; oldest first */
	unsigned n_marks;
	int64_t max_late_us;		/* the largest finite late_us of all streams */
	uint64_t late, refused, unplaced;	/* as in struct native_feed_status */
	int64_t late_from_ns, late_to_ns;
	struct source_late recent_late;	/* late events since the last source_take_late() */
	unsigned n_numbers;		/* streams without an instance id are numbered */
	bool ended;			/* native_feed_end() was called */
	bool rebuild;			/* streams were added or removed: the heap must be rebuilt */
};

/* native_feed.c */
/* Frees what the message owns, not the message. */
void feed_message_clear(struct feed_message *x);
gsize feed_message_bytes(const struct feed_message *x);	/* estimated memory beside .bytes */
/* Subtracts bytes that were decoded or refused from .queued; x may be NULL. */
void feed_unqueue(struct native_feed *f, struct feed_stream *x, gsize bytes);
void feed_parsed(struct native_feed *f, gsize bytes);	/* the same for metadata */

/* native_feed_place.c */
void feed_take_in(struct native_feed *f);		/* handles all that was pushed */
void feed_track_free(struct feed_track *t);
void feed_trace_free(void *t);
struct feed_trace *feed_trace(const struct native_feed *f, unsigned number);	/* NULL: there is none, or it was
										 * freed */
void feed_packet_clear(void *packet);
/* All its records were delivered: removes the stream from all lists. It is freed a batch later. */
void feed_stream_end(struct native_feed *f, struct feed_stream *x);
/* Moves the packets that are decoded from the track to native_feed.retired. */
void feed_track_retire(struct native_feed *f, struct feed_stream *x);

/* native_feed_trouble.c, for the taker. */
/* The trace's metadata is wrong: this is final. */
void feed_trouble_metadata(struct native_feed *f, struct feed_trace *t, const GError *error);
/* Reports that a packet was refused, or is doubtful, and why (NULL is fine). */
void feed_trouble_packet(struct native_feed *f, const struct feed_stream *x, const char *why);
/* To be called when the stream's cursor was refilled. Reports a trouble while most packets cannot be decoded to the
 * end. */
void feed_trouble_events(struct native_feed *f, const struct feed_stream *x);
void feed_trouble_resolved(struct native_feed *f, struct feed_trace *t);	/* removes a trouble other than
										 * wrong metadata */
/* To be called for a stream with waiting messages: reports packets that have waited too long for metadata. */
void feed_trouble_wait(struct native_feed *f, const struct feed_stream *x);
void feed_trouble_count(const struct native_feed *f, struct native_feed_status *ret);
/* Of an ended trace: may it be freed? Counts it then. False: it is retained for the name of its trouble. */
bool feed_trouble_may_free(struct native_feed *f, const struct feed_trace *t);

/* native_feed_merge.c */
enum source_status feed_next(struct source *s, struct blk_batch *ret, GError **error);
bool feed_take_late(struct source *s, struct source_late *ret);

#endif
