/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a feed does: one attachment to one relay session, by our own client of the viewer
 * protocol on a connection of its own. What comes is pushed to a struct native_feed,
 * which all attachments of a live source share.
 *
 * Requests of all streams are under way at once; of one stream the next index is asked
 * for along with the packet, never before it: the relay may go to another file with an
 * index. Metadata that an index announces comes before its packet.
 *
 * An event of a stream that is not known yet must not come behind later ones of the
 * others. The tracer announces a stream before its first event; so what came is held
 * until the relay was asked for new streams after it came, in all sessions of the host.
 *
 * Not more than .queue is asked for beyond what is decoded, unless the merge waits for
 * just this stream: that is what bounds memory, and the relay keeps the rest.
 */
#ifndef BLK_LIVE_VIEWER_ATTACH_H
#define BLK_LIVE_VIEWER_ATTACH_H

#include "live/viewer/feed.h"
#include "live/viewer/packets.h"
#include "live/spool/spool.h"
#include "trace/native/native_feed.h"

#define ATTACH_QUEUE (64u << 20)	/* bytes: attach_sink.queue, unless told */

/* What attachments push to, borrowed by them. */
struct attach_sink {
	GMutex push;			/* around every push: there are several pushers */
	struct native_feed *feed;
	struct packets *packets;	/* where they lie */
	size_t queue;			/* bytes that may wait to be decoded */
	struct spool *spool;		/* or NULL; has the feed's numbers */
	GPtrArray *members;		/* struct attach *: those that are attached */
	int64_t late_us;		/* --late-bound; < 0: by the live timer */
};

/* What was had of a relay session before the connection broke: nothing comes twice, and nothing is left
 * out. The feed's, while one runs; but .owed_* are under the lock. */
struct attach_past {
	GHashTable *had;		/* of struct attach_had *, by its id */
	bool any;			/* something was announced */
	bool open;			/* under the lock: attached to once, and not over */
	unsigned connection;		/* from 1 */
	uint64_t since;			/* cycles; of streams of which nothing was had: what ended before was
					 * there before we were, and is not wanted */
	uint64_t owed_packets, owed_bytes;	/* announced, and not had when the connection ended */
	GQueue ended;			/* struct attach_had * of streams that ended, the oldest first */
	uint64_t forgotten_packets, forgotten_bytes;	/* sums of .owed_* of those that were forgotten */
};
/* Of a stream that is known; times are of packets, in cycles, end 0: there was none. */
struct attach_had {
	uint64_t id;			/* the relay's */
	uint64_t begin, end;		/* the last one that was had */
	uint64_t said_begin, said_end;	/* the last one that was announced */
	uint64_t owed_packets, owed_bytes;	/* announced, and not had */
	unsigned connection;		/* the last one over which the stream was announced */
	bool over;			/* it ended: a relay may announce it again nevertheless */
};
struct attach_past *attach_past_new(void);
void attach_past_free(struct attach_past *p);	/* NULL is fine */

struct attach_options {
	struct attach_sink *sink;
	enum viewer_seek seek;
	struct attach_past *past;	/* borrowed, filled; packets that it has are left out */
};

struct feed *attach_new(struct feed_owner *owner, const struct live_url *url,
			const struct viewer_session *session, const struct attach_options *o);

/* The .run of its struct feed_ops. */
enum feed_end attach_run(struct feed *f, char **why);

#endif
