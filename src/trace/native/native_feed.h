/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader fed with packets instead of files: whoever gets them (from a relay)
 * pushes metadata, packets and beacons; records come out as a source, merged by time,
 * the same that native_range() gives of the same trace on disk.
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
 * Threads: one pushes, one takes (or one does both). Functions of the first group are
 * the pusher's: they copy nothing, decode nothing, and never wait for the taker. The
 * source (source_next(), its tables) is the taker's: all parsing and decoding happens in
 * source_next(), under no lock. Functions of the third group may be called from either.
 * _new and _free: while nobody else uses it.
 *
 * Everything that is pushed is hostile: what is no packet of its stream is a marked loss,
 * as in a file; nothing is believed before it was checked.
 */
#ifndef BLK_TRACE_NATIVE_NATIVE_FEED_H
#define BLK_TRACE_NATIVE_NATIVE_FEED_H

#include "trace/reader.h"

struct native_feed;

/* The rows are borrowed. */
struct native_feed *native_feed_new(const struct blk_subscription *rows, size_t n_rows);
void native_feed_free(struct native_feed *f);	/* and its source; NULL is fine */
typedef struct native_feed blk_native_feed;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_native_feed, native_feed_free)

/*
 * The source, part of the feed (source_free() of it frees the feed). source_next() never
 * waits: SOURCE_AGAIN when nothing can be delivered now, SOURCE_END after
 * native_feed_end(). It fails never: what is wrong with one trace is told by
 * native_feed_troubles() and a loss, the others go on. The tables are as any source's. Time in which source_next() had
 * something to deliver makes nobody late, nor does more than 100 ms between two calls: the taker was slow, or stopped.
 */
struct source *native_feed_source(struct native_feed *f);

/* ---- the pusher's ---- */

/* A trace: the unit that has metadata. name: for messages (copied). Returns its number: 0, 1, 2,
 * ... */
unsigned native_feed_add_trace(struct native_feed *f, const char *name);

/*
 * More metadata: any number of bytes, packets or plain text, in pieces cut anywhere. What
 * is complete (whole metadata packets, whole declarations) is used; the rest waits for
 * more. Packets pushed before there is enough to read them wait, too. The bytes are taken
 * over (a reference). Clear: a session that is cleared may begin its metadata again:
 * native_feed_metadata_restart() first, then all of it; the streams go on.
 */
void native_feed_metadata(struct native_feed *f, unsigned trace, GBytes *bytes);
void native_feed_metadata_restart(struct native_feed *f, unsigned trace);

/* No more metadata and no new streams; its streams may go on. What waits for metadata is
 * refused then. Lets its memory go when they have ended. */
void native_feed_end_trace(struct native_feed *f, unsigned trace);

/*
 * A stream of that trace. name: to be shown to a person (copied). late_us: the others are
 * held up for it at most so long (INT64_MAX: for ever), when it is silent and behind what
 * they have; ten times as long while it still speaks, as one does that catches up. It holds
 * them from the beginning, before its first packet. Returns its number: 0, 1, 2, ...
 */
unsigned native_feed_add_stream(struct native_feed *f, unsigned trace, const char *name,
				int64_t late_us);

/* Something of the stream is on its way: it is not silent. */
void native_feed_touch(struct native_feed *f, unsigned stream);

struct native_feed_index {
	uint64_t begin, end;		/* cycles */
	uint64_t packet_bits, content_bits;
};
/* A whole packet (header, context, content, padding), in the stream's order. The bytes are taken over (a reference)
 * and must not change. `index`: what announced it; NULL: nothing did. Where both differ, one of them is damaged: what
 * fits both is used, and the packet counts as a damaged one. */
void native_feed_packet(struct native_feed *f, unsigned stream, GBytes *packet,
			const struct native_feed_index *index);

/* No event of the stream before that instant of its clock will come. stream_class: CTF
 * stream id, NATIVE_FEED_ANY_CLASS where it is not known. */
#define NATIVE_FEED_ANY_CLASS UINT64_MAX
void native_feed_beacon(struct native_feed *f, unsigned stream, uint64_t stream_class,
			uint64_t cycles);

/*
 * The stream is over: STREAM_END behind what was pushed.
 *
 * Or it is cut off, by a relay that went away: it holds nobody up, and where a stream that
 * is added later has packets of the same trace (uuid), class and instance, these go on
 * with it: packets that were there already are left out, what is missing between is a
 * loss. End it when nobody will come back.
 */
void native_feed_end_stream(struct native_feed *f, unsigned stream);
void native_feed_cut_stream(struct native_feed *f, unsigned stream);

/* Nothing more will be pushed: the source ends when all was delivered. Streams that have
 * not ended do now. */
void native_feed_end(struct native_feed *f);

/* ---- either ---- */

/* Bytes of packets and metadata that were pushed and are not decoded yet. Whoever pushes
 * bounds it: beyond a limit of its own, only for streams that are wanted. */
uint64_t native_feed_queued(const struct native_feed *f);

/* Is nothing of the stream queued? Then its data may be what the merge waits for; data of
 * others would only wait with theirs. */
bool native_feed_wants(struct native_feed *f, unsigned stream);

/* Waits until something was pushed since the last source_next(), at most so long. For the
 * taker, who would ask again for nothing else. */
void native_feed_wait(struct native_feed *f, int64_t timeout_us);

/* Ends such a wait, and with source_cancel() the source. Any thread. */
void native_feed_wake(struct native_feed *f);

/* Why the first of the traces that can't be read can't, with its name ("cannot read metadata: 12:5: ..."), and how many
 * more there are; also of those of which only some packets can't, which is for good. One line of visible text, g_free;
 * NULL: all can be read. Wrong metadata is for good: its packets are left out from then on. That metadata does not come
 * though packets do, or that no packet is one of the trace, may change. */
char *native_feed_troubles(struct native_feed *f);

/* As of the last source_next(). */
struct native_feed_status {
	int64_t newest_ns;	/* newest instant that any stream has passed; INT64_MIN: none */
	int64_t horizon_ns;	/* what was delivered, all streams have passed; INT64_MIN */
	uint64_t late;		/* events that came too late and were moved to the present */
	int64_t late_from_ns, late_to_ns;	/* true times of these; from > to: none */
	uint64_t refused;	/* packets that were none of the trace */
	uint64_t unplaced;	/* of them, those that are in no loss: no packet of their stream was placed */
	unsigned streams;	/* that have not ended */
	unsigned stalled;	/* of them: those that the others went on without */
	int stalled_stream;	/* one of them, the one behind most; -1 */
	int64_t stalled_ns;	/* what that one has passed; INT64_MIN: nothing yet */
	int waits_for;		/* the stream that holds the others up now; -1 */
	unsigned unreadable;	/* traces that have a trouble, also those that have ended */
	unsigned readable;	/* traces of which something was read, or may be yet: without a trouble */
};
void native_feed_get_status(struct native_feed *f, struct native_feed_status *ret);
char *native_feed_stream_name(struct native_feed *f, unsigned stream);	/* new string */

#endif
