/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An attachment: a link (link.h) that attaches to one relay session by the viewer protocol, on its own connection. It
 * pushes received data to a struct native_feed, which all attachments of a live source share.
 *
 * Requests for many streams are in progress at once. For one stream the next index is requested together with the
 * current packet or later, never before it: with an index the relay may switch to another file. Metadata that an index
 * announces is requested before the packet.
 *
 * No event of a new stream may be delivered after later events of other streams. The tracer announces a stream before
 * the stream's first event. So received data is held until every session of the same host was asked for new streams.
 * The requests must be sent after the data was received.
 *
 * At most .queue bytes are requested beyond what is decoded (enum attach_room). This bounds memory; the relay retains
 * the rest.
 */
#ifndef BLK_LIVE_VIEWER_ATTACH_H
#define BLK_LIVE_VIEWER_ATTACH_H

#include "live/viewer/link.h"
#include "live/viewer/packets.h"
#include "live/spool/spool.h"
#include "trace/native/native_feed.h"

#define ATTACH_QUEUE (64u << 20)	/* bytes: default of attach_sink.queue */

/* Where attachments push to; borrowed by them. */
struct attach_sink {
	GMutex push;			/* held for every push: several threads push */
	struct native_feed *feed;
	struct packet_pool *packets;	/* memory of the packets */
	size_t queue;			/* maximum bytes that wait to be decoded, see attach_has_room() */
	gsize fetching;			/* bytes of packets that all attachments requested or hold; atomic */
	struct spool *spool;		/* NULL: none. Traces and streams have the same numbers as in .feed */
	GPtrArray *members;		/* struct attach *: the attached ones; under .push */
	int64_t late_us;		/* --late-bound; < 0: derived from the live timer */
	int64_t state_every_us;		/* see live_options */
};

/*
 * What was received of a relay session over all its connections, so that after a reconnect no packet is delivered
 * twice or skipped. While a link runs, its thread uses the history; .open and .outstanding_* are under the owner's
 * lock.
 */
struct attach_history {
	GHashTable *streams;		/* id -> struct attach_received */
	bool any;			/* a packet or beacon was announced */
	bool open;			/* was attached once, and the session has not ended */
	unsigned connection;		/* number of the current connection, from 1 */
	uint64_t since;			/* cycles. Packets that end before this instant are from before the first
					 * attachment and not wanted, if their stream has no received packets */
	bool of_process;		/* a stream of per-process buffers was announced */
	unsigned stalls;		/* attach_report_stall(): not reported yet */
	uint64_t outstanding_packets, outstanding_bytes;	/* announced, not received before the connection
								 * ended */
	GQueue ended;			/* struct attach_received * of ended streams, oldest first; borrowed */
	uint64_t evicted_packets, evicted_bytes;	/* sums of .outstanding_* of evicted entries */
};
/* One stream. Times are packet times, in cycles; an end of 0 means: no packet. */
struct attach_received {
	uint64_t id;			/* the relay's */
	uint64_t begin, end;		/* of the last packet received */
	uint64_t announced_begin, announced_end;	/* of the last packet announced */
	uint64_t outstanding_packets, outstanding_bytes;	/* announced, not received */
	unsigned connection;		/* number of the last connection that announced the stream */
	bool ended;			/* a relay may announce an ended stream again */
};
struct attach_history *attach_history_new(void);
void attach_history_free(struct attach_history *p);	/* NULL is fine */

struct attach_options {
	struct attach_sink *sink;
	enum viewer_seek seek;
	struct attach_history *history;	/* borrowed, updated; packets that it contains are skipped */
};

struct link *attach_new(struct link_owner *owner, const struct live_url *url,
			const struct viewer_session *session, const struct attach_options *o);

/* The .run of its struct link_ops. */
enum link_end attach_run(struct link *f, char **why);

/*
 * How much waits: above .queue nothing is requested of a stream that has something queued, and no session is attached;
 * above twice as much only what the merge waits for is requested, and new streams are added later. What waits is what
 * native_feed_waiting() counts, ended sessions included, and what is on its way.
 */
enum attach_room { ATTACH_ROOM, ATTACH_TIGHT, ATTACH_FULL };
enum attach_room attach_room(const struct attach_sink *sink);

#endif
