/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of an attachment (attach*.c only); see attach.h. All of it is the feed's
 * thread's, but for the sink's members.
 *
 *     attach.c		the thread: attaching, talking, leaving
 *     attach_ask.c	which requests are due
 *     attach_take.c	what follows from replies; streams
 *     attach_hold.c	what came and waits: for news of other streams, and to be believed
 *     attach_past.c	what was had over connections that broke
 */
#ifndef BLK_LIVE_VIEWER_ATTACH_PRIVATE_H
#define BLK_LIVE_VIEWER_ATTACH_PRIVATE_H

#include "live/viewer/attach.h"

#define ATTACH_WINDOW 64		/* requests under way: their sum fits any socket buffer */
#define ATTACH_NEWS_US 500000		/* between two questions for new streams, at most */
#define ATTACH_LEAST_PAUSE_US 2000	/* between two questions to a silent stream: from */
#define ATTACH_MOST_PAUSE_US 100000	/* this on, doubled up to a tenth of the live timer */
/*
 * With buffers per process a relay before 2.15 hands out nothing of a stream any more once it is closed
 * (lttng-relayd live.c, viewer_get_next_index(): its trace chunk is gone), and the consumer closes
 * it 1 to 50 ms after its last packet. So streams of processes are asked that often; where one of them
 * has had a packet, more often for a while. Of many streams it is less often, for the relay's sake;
 * of a process that has not written for some live timers, as of any stream.
 */
#define ATTACH_WATCH_PAUSE_US 4000
#define ATTACH_WATCH_EACH_US 100	/* for each of their streams */
#define ATTACH_HOT_PAUSE_US 1000
#define ATTACH_HOT_US 60000
#define ATTACH_WATCH_TIMERS 3
#define ATTACH_APPEAR_US 10000		/* between two questions for new streams while processes begin; */
#define ATTACH_FIRST_US 25000		/* before a first one does */
#define ATTACH_LAST_US 250000		/* a stream's last packet is found so long before its end */
#define ATTACH_HUNG_US 1500000		/* a session's end is known so long after its streams' */
#define ATTACH_PROOF 2			/* replies that made sense behind one that is believed */
#define ATTACH_MINOR_KEEPS 15
#define ATTACH_MINOR_PIPELINE 8		/* relays before it answer a packet with "metadata first" */

struct trace {
	uint64_t id;
	unsigned number;		/* the feed's */
	bool has_metadata, gone;	/* gone: no more metadata will come */
	bool wants, asked;		/* wants: some is announced */
	unsigned alive;			/* its data streams */
	unsigned held;			/* of these: what waits for news */
	bool begun;			/* it had one */
	bool of_process;		/* buffers of one process: gone when that exits */
	bool per_process;		/* and the relay hands out what they held last for a moment alone */
	int64_t wrote;			/* monotonic, us: when it began, or had a packet last; 0: long ago */
	uint64_t metadata_stream, metadata_bytes;
	bool restarts;			/* what comes next of its metadata is its beginning */
	bool last;			/* the session is over: when there is no more, packets wait for none */
	int64_t due;
};

enum stream_state {
	STREAM_RESTS,			/* until .due */
	STREAM_INDEX,			/* has been asked for its next index */
	STREAM_READY,			/* knows its packet, which waits for room */
	STREAM_PACKET,			/* pieces of the packet are under way, or to be asked for */
	STREAM_OVER,
};

struct stream {
	uint64_t id;
	struct trace *trace;
	unsigned number;		/* the feed's */
	enum stream_state state;
	int64_t due, pause;
	int64_t found;			/* monotonic, us: when it had a packet last; 0: never */
	unsigned errors;
	uint8_t *packet;
	uint64_t offset;
	size_t size, content;		/* bytes of the packet; of them to be fetched */
	size_t asked, got;
	struct native_feed_index index;	/* of the packet */
	bool spoilt, again;		/* the relay has not given a piece; but may */
	bool index_asked;		/* of the one after this packet */
	unsigned held;			/* packets that wait for news */
	struct attach_had had;		/* up to here its packets came over earlier connections; .end 0: none
					 * did, or they are passed */
	bool reached;			/* what was announced then is announced again */
	bool renewed;			/* something new was announced */
	uint64_t since;			/* as in struct attach_past; 0: all is wanted */
	bool passed, met;		/* some of these were there again; so was the last one */
	uint64_t last_begin, last_end;	/* of its newest packet, cycles; 0: none yet */
	uint64_t quiet_at;		/* the first beacon behind it; 0: none */
};

/* What came, until it may be pushed. Where bytes were lost on the way, the reply behind them is nonsense:
 * what came just before that is not believed, and is asked for again over the next connection. */
enum held_kind { HELD_METADATA, HELD_PACKET, HELD_BEACON, HELD_END, HELD_CUT };
struct held {
	enum held_kind kind;
	struct trace *trace;
	struct stream *stream;		/* NULL: metadata */
	int64_t at;			/* monotonic, us: when it came */
	uint64_t reply;			/* the attachment's .n_replies then */
	GBytes *bytes;			/* of a packet, of metadata */
	struct native_feed_index index;	/* of a packet */
	bool restarts;			/* of metadata: it is all of it, once more */
	uint64_t class, end;		/* of a beacon */
};

enum request_kind { ASKED_INDEX, ASKED_PACKET, ASKED_METADATA, ASKED_STREAMS };
struct request {
	enum request_kind kind;
	void *of;			/* struct stream or trace */
	uint32_t len;
};

/*
 * Was tracing stopped before the session was over? Then each stream's last packet is one that the
 * tracers flushed after the last event, be it empty (LTTng's SWITCH_FLUSH; live timers flush none
 * that are empty). So it was not where one stream was quiet already, and had no packet any more, when
 * another one's last packet had not begun. The protocol says nothing else of a session daemon that was
 * killed. Streams of processes, which end with these, do not count.
 */
struct attach_ends {
	bool flushed;			/* a stream's last packet was empty */
	uint64_t quiet_at;		/* the least of all, cycles; 0: none was */
	uint64_t last_begin;		/* the greatest of all */
};

struct attach {
	struct feed feed;		/* first */
	struct attach_sink *sink;
	enum viewer_seek seek;
	struct attach_past *past;
	struct viewer *v;
	GHashTable *traces;		/* id -> struct trace */
	GPtrArray *streams;		/* struct stream * */
	struct request asked[ATTACH_WINDOW];
	unsigned first, n_asked;
	uint64_t n_replies;		/* that made sense */
	size_t fetching;		/* bytes of packets that are begun, or held */
	int64_t full_at;		/* monotonic, us: when something waited for room last */
	GQueue held;			/* struct held *, in order */
	int64_t news_sent, news_from;	/* when the question was sent that is under way, and the
					 * last one that was answered */
	unsigned alive;			/* streams that are not over */
	unsigned of_processes;		/* of these: traces of one process each */
	bool listed;			/* the streams that were there first are known */
	int64_t appeared;		/* monotonic, us: when the last process began since then; 0 */
	unsigned hung, hung_unknown;	/* streams that ended, at .hung_at the last of them, before their session,
					 * unless that turns out to be over; of exited processes: those
					 * of which the last packet may not have been handed out */
	int64_t hung_at;
	struct attach_ends ends;
	guint turn;			/* the stream that is looked at first */
	int64_t news_due, scan_due, told;
	bool news_asked, hung_up;
	bool in_company;		/* there are other sessions of the host */
	int64_t max_pause, late_us;
	enum feed_end end;
	char *why;
};

/* So long after it was new, or wrote, a process is watched. */
static inline int64_t attach_lately(const struct attach *a)
{
	return MAX(ATTACH_WATCH_TIMERS * (int64_t)a->feed.session.timer_us, 2 * G_USEC_PER_SEC);
}

static inline bool attach_has_window(const struct attach *a)
{
	return a->n_asked < ATTACH_WINDOW;
}

/* attach_ask.c: all that is due, as far as the window goes; when to look again. */
void attach_ask_due(struct attach *a, int64_t now);
void attach_ask_metadata(struct attach *a, struct trace *t);
void attach_ask_pieces(struct attach *a, struct stream *s);	/* of its packet */
/* Of a READY stream; it stays that while there is no room. */
void attach_begin_packet(struct attach *a, struct stream *s);

/* attach_take.c: the next reply. False: *error, or .end and .why, or .why alone: once more. */
bool attach_take(struct attach *a, GError **error);
bool attach_add_streams(struct attach *a, GPtrArray *streams);	/* struct viewer_stream * */
/* Nobody waits for one that is cut: it may come back over another connection. */
void attach_end_stream(struct attach *a, struct stream *s, bool cut);
void attach_end_trace(struct attach *a, struct trace *t);

/* attach_hold.c */
void attach_hold(struct attach *a, const struct held *h);
/* Pushes what came before all sessions of the host were asked for new streams. */
void attach_release(struct attach *a, bool all);
void attach_note_news(struct attach *a);	/* the answer came: releases */
/* The connection broke: forgets what is held and not believed. all: nothing is. */
void attach_disbelieve(struct attach *a, bool all);
void attach_join(struct attach *a, bool attached);

/* attach_past.c: what is had of a stream that is new to this connection; that it was announced, had. */
void attach_recall(struct attach *a, struct stream *s);
void attach_note_announced(struct attach *a, struct stream *s, const struct viewer_index *x);
void attach_note_beacon(struct attach *a, uint64_t end);
void attach_note_had(struct attach *a, const struct stream *s, const struct native_feed_index *x);
void attach_note_refused(struct attach *a, const struct stream *s);	/* the relay does not give it */
void attach_note_over(struct attach *a, const struct stream *s);
/* The stream is over: has the relay kept back what it announced over an earlier connection? One that has
 * closed a stream meanwhile says that it is over, and no more. */
bool attach_is_withheld(struct attach *a, const struct stream *s);
/* Streams that were there over an earlier connection, had not ended, and are not there any more. */
unsigned attach_count_vanished(const struct attach *a);
void attach_sum_owed(const struct attach *a, uint64_t *ret_packets, uint64_t *ret_bytes);
/* Was the packet of the stream's next index had before? */
enum attach_known { ATTACH_NEW, ATTACH_HAD, ATTACH_STRANGE };
enum attach_known attach_compare(struct stream *s, const struct viewer_index *x);
/* The stream has nothing older than the last packet that was had, any more: true: that was of another one. */
bool attach_is_strange(const struct stream *s);

#endif
