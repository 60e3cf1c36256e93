/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader for packets that are pushed instead of read from files. A relay connection pushes metadata,
 * packets and beacons. Records come out as a source, merged by time: the same records that native_range() gives for
 * the same trace on disk.
 *
 *     struct native_feed *f = native_feed_new(rows, n_rows);
 *     unsigned t = native_feed_add_trace(f, "web1/kernel");
 *     native_feed_metadata(f, t, bytes);
 *     unsigned s = native_feed_add_stream(f, t, "chan_0", late_us);
 *     native_feed_packet(f, s, bytes, NULL);	// again and again
 *     native_feed_beacon(f, s, class_id, cycles);
 *     native_feed_end_stream(f, s);
 *     native_feed_end(f);
 *     ... source_next(native_feed_source(f), &batch, &error) ...
 *     native_feed_free(f);
 *
 * Threads: one thread pushes, one takes; both may be the same. Functions of the first group are for the pusher: they
 * copy nothing, decode nothing, and never wait for the taker. The source (source_next(), its tables) is the taker's:
 * all parsing and decoding happens in source_next(), without a lock. Functions of the third group may be called from
 * either thread. Nothing else may run during _new and _free.
 *
 * Everything that is pushed is hostile and is checked before it is used. A packet that does not belong to its stream
 * becomes a loss, as in a file.
 */
#ifndef BLK_TRACE_NATIVE_NATIVE_FEED_H
#define BLK_TRACE_NATIVE_NATIVE_FEED_H

#include "trace/reader.h"

struct native_feed;

/* The rows are borrowed. */
struct native_feed *native_feed_new(const struct blk_subscription *rows, size_t n_rows);
void native_feed_free(struct native_feed *f);	/* frees its source, too; NULL is fine */
typedef struct native_feed blk_native_feed;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_native_feed, native_feed_free)

/*
 * The source is part of the feed, and source_free() frees the feed. source_next() never waits: it returns SOURCE_AGAIN
 * when nothing can be delivered now, and SOURCE_END after native_feed_end(). It never fails. Problems of a trace are
 * reported by native_feed_troubles() and as a loss; the other traces continue. A stream does not become late while
 * source_next() has something to deliver. More than 100 ms between two calls count as 100 ms, as the taker was slow or
 * stopped.
 */
struct source *native_feed_source(struct native_feed *f);

/* ---- for the pusher ---- */

/* Adds a trace, the unit that has metadata. name: for messages (copied). Returns its number: 0, 1, 2, ... */
unsigned native_feed_add_trace(struct native_feed *f, const char *name);

/*
 * Adds metadata: any number of bytes, of packets or plain text, cut anywhere. Complete parts (metadata packets,
 * declarations) are used; the rest waits for more. Packets that were pushed before the metadata can be read wait, too.
 * Takes over the reference to the bytes. When a session is cleared, its metadata may begin again: call
 * native_feed_metadata_restart(), then push all of it. The streams go on.
 */
void native_feed_metadata(struct native_feed *f, unsigned trace, GBytes *bytes);
void native_feed_metadata_restart(struct native_feed *f, unsigned trace);

/* The trace gets no more metadata and no new streams; its streams may go on. Packets that wait for metadata are
 * refused. The trace is freed when its streams have ended. */
void native_feed_end_trace(struct native_feed *f, unsigned trace);

/*
 * Adds a stream to the trace. name: for messages (copied). late_us: how long the other streams wait for this one while
 * it is silent and behind them (INT64_MAX: for ever). They wait ten times as long while data of it still arrives, as
 * when it catches up. They also wait before its first packet. Returns its number: 0, 1, 2, ...
 */
unsigned native_feed_add_stream(struct native_feed *f, unsigned trace, const char *name,
				int64_t late_us);

/* Data of the stream is on its way: it is not silent. */
void native_feed_touch(struct native_feed *f, unsigned stream);

/* A packet's entry in the relay's index. */
struct native_feed_index {
	uint64_t begin, end;		/* cycles */
	uint64_t packet_bits, content_bits;
};
/* Adds a whole packet (header, context, content, padding), in the stream's order. Takes over the reference to the
 * bytes, which must not change. `index` announced the packet; or NULL. Where the two differ one of them is damaged:
 * the feed uses what fits both, and counts the packet as damaged. */
void native_feed_packet(struct native_feed *f, unsigned stream, GBytes *packet,
			const struct native_feed_index *index);

/* No event of the stream before this instant of its clock will come. stream_class: CTF stream id, or
 * NATIVE_FEED_ANY_CLASS if it is not known. */
#define NATIVE_FEED_ANY_CLASS UINT64_MAX
void native_feed_beacon(struct native_feed *f, unsigned stream, uint64_t stream_class,
			uint64_t cycles);

/*
 * native_feed_end_stream() ends the stream: STREAM_END follows the records of what was pushed.
 *
 * native_feed_cut_stream(): the connection to the relay was lost. No other stream waits for this one. A stream that is
 * added later and has packets of the same trace (UUID), stream class and instance continues it: packets that were
 * already received are dropped, missing ones are a loss. End the stream when no reconnect is expected.
 */
void native_feed_end_stream(struct native_feed *f, unsigned stream);
void native_feed_cut_stream(struct native_feed *f, unsigned stream);

/* Nothing more will be pushed. Streams that have not ended end now; the source ends when everything was delivered. */
void native_feed_end(struct native_feed *f);

/* ---- for either thread ---- */

/* Bytes of packets and metadata that were pushed and are not decoded yet. The pusher must bound this: above its
 * limit it should only push to streams for which native_feed_wants() is true. */
uint64_t native_feed_queued(const struct native_feed *f);

/*
 * Estimated bytes of memory that wait in the feed and become free when their records are delivered: what is queued, its
 * messages, and what streams and traces that were ended still hold (metadata, decoders, buffers). Above its limit the
 * pusher should add no traces and streams, and push only what the merge waits for.
 */
uint64_t native_feed_waiting(const struct native_feed *f);

/* While more than this waits, packets that have waited for metadata for LIMIT_METADATA_SECONDS are refused; else they
 * wait for as long as their trace goes on. 0, the default: they always wait. Before the first push. */
void native_feed_set_bound(struct native_feed *f, uint64_t bytes);

/* Estimated bytes of metadata, decoders and buffers of all streams and traces in the feed, without queued packets. */
uint64_t native_feed_bytes(const struct native_feed *f);

/* The number of the stream that the merge waits for; -1: it has something to deliver. */
int native_feed_awaited(struct native_feed *f);

/* Is nothing of the stream queued? Then the merge may be waiting for its data. Data of other streams would only be
 * queued, too. */
bool native_feed_wants(struct native_feed *f, unsigned stream);

/* Waits until something was pushed since the last source_next(), at most timeout_us. For the taker. */
void native_feed_wait(struct native_feed *f, int64_t timeout_us);

/* Ends native_feed_wait(). Any thread. */
void native_feed_wake(struct native_feed *f);

/*
 * Why the first unreadable trace cannot be read, with its name ("cannot read metadata: 12:5: ..."), and how many more
 * there are. Traces of which only some packets cannot be read count, too. One line of printable text, g_free(); NULL:
 * all can be read. Wrong metadata is final: the trace's packets are dropped from then on. Missing metadata, or packets
 * of which none fits the trace, may be resolved later.
 */
char *native_feed_troubles(struct native_feed *f);

/* The state after the last source_next(). */
struct native_feed_status {
	int64_t newest_ns;	/* newest instant that any stream has passed; INT64_MIN: none */
	int64_t horizon_ns;	/* all streams have passed this instant, and all records before it are delivered;
				 * INT64_MIN: none */
	uint64_t late;		/* events that came too late; their records have the instant of the last delivered
				 * record */
	int64_t late_from_ns, late_to_ns;	/* the true times of late events; from > to: none */
	uint64_t refused;	/* packets that do not belong to the trace */
	uint64_t unplaced;	/* of these, packets before the first readable one of their stream: they are in no
				 * loss yet */
	unsigned streams;	/* streams that have not ended */
	unsigned stalled;	/* of these, streams that the merge went on without */
	int stalled_stream;	/* number of the stalled stream that is furthest behind; -1: none */
	int64_t stalled_ns;	/* the instant that it has passed; INT64_MIN: none yet */
	int waits_for;		/* number of the stream that the merge waits for; -1: none */
	unsigned unreadable;	/* traces with a trouble, ended ones included */
	unsigned readable;	/* traces of which something was or may still be read */
};
void native_feed_get_status(struct native_feed *f, struct native_feed_status *ret);
char *native_feed_stream_name(struct native_feed *f, unsigned stream);	/* new string */

#endif
