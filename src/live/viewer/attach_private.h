/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of an attachment (attach.h), for attach*.c only. Everything belongs to the link's thread, except
 * the sink's members and .streams_known_at, which are under the sink's push lock.
 *
 *     attach.c			the thread: attaching, exchanging messages, leaving
 *     attach_request.c		which requests are due
 *     attach_reply.c		what follows from replies; streams
 *     attach_hold.c		received data that is not pushed yet
 *     attach_history.c		what was received over earlier connections
 */
#ifndef BLK_LIVE_VIEWER_ATTACH_PRIVATE_H
#define BLK_LIVE_VIEWER_ATTACH_PRIVATE_H

#include "live/viewer/attach.h"

#define ATTACH_WINDOW 64		/* maximum requests in progress: their bytes fit into any socket buffer */
#define ATTACH_STREAMS_US 500000	/* longest time between two requests for new streams */
#define ATTACH_LEAST_PAUSE_US 2000	/* between two requests for a silent stream: doubled from this on */
#define ATTACH_MOST_PAUSE_US 100000	/* us: a tenth of the live timer, at most this */
/*
 * Watched streams: those of per-process buffers at a relay before 2.15. Such a relay delivers nothing more of
 * a stream once it is closed (lttng-relayd live.c, viewer_get_next_index(): its trace chunk is gone). The
 * consumer closes the stream 1 to 50 ms after its last packet. So watched streams are asked at the pauses
 * below: HOT after a packet of any stream of the process, else WATCH, longer if there are many streams.
 * A process that wrote nothing for some live timers is asked like any other.
 */
#define ATTACH_WATCH_PAUSE_US 4000
#define ATTACH_WATCH_EACH_US 100	/* us: the pause is at least this times the number of watched streams */
#define ATTACH_HOT_PAUSE_US 1000
#define ATTACH_HOT_US 60000
#define ATTACH_WATCH_TIMERS 3
#define ATTACH_APPEAR_US 10000		/* between two requests for new streams while processes begin */
#define ATTACH_FIRST_US 25000		/* the same, before the first stream */
#define ATTACH_LAST_US 250000		/* a stream's last packet arrives at most this long before its end */
#define ATTACH_HUP_US 1500000		/* the relay reports a session's end this long after its streams' ends */
#define ATTACH_PROOF 2			/* valid replies that must follow a reply before it is trusted */
#define ATTACH_MINOR_RETAINS 15		/* relays from this minor version on deliver closed streams */
#define ATTACH_MINOR_PIPELINE 8		/* relays before it answer a packet request with "metadata first" */

struct trace {
	uint64_t id;			/* the relay's */
	unsigned number;		/* in the native feed and the spool */
	bool has_metadata;		/* a metadata stream was announced: .metadata_stream */
	bool metadata_ended;		/* no more metadata will come */
	bool wants;			/* metadata was announced and is not received yet */
	bool asked;			/* a metadata request is in progress */
	unsigned alive;			/* data streams that have not ended */
	unsigned held, held_metadata;	/* entries in the attachment's .held; those of metadata */
	bool had_stream;		/* a data stream was announced */
	bool of_process;		/* per-process buffers: ends when the process exits */
	bool watched;			/* see ATTACH_WATCH_PAUSE_US */
	int64_t active_at;		/* monotonic, us: when it began or last had a packet; 0: long ago */
	uint64_t metadata_stream;	/* the relay's id */
	uint64_t metadata_bytes;	/* received so far */
	bool restarts;			/* the next metadata received is the beginning again */
	bool draining, drained;		/* the session has ended: packets do not wait for metadata after the next
					 * empty reply; all metadata was pushed */
	int64_t due;			/* monotonic, us: no metadata request before */
	int64_t pause;			/* us: between the last request, which brought none, and .due */
};

enum stream_state {
	STREAM_IDLE,			/* until .due */
	STREAM_INDEX,			/* an index request is in progress */
	STREAM_READY,			/* .index is known; its packet waits for free bytes in the queue */
	STREAM_PACKET,			/* pieces of the packet are requested, or to be requested */
	STREAM_ENDED,
};

struct stream {
	uint64_t id;			/* the relay's */
	struct trace *trace;
	unsigned number;		/* in the native feed and the spool */
	enum stream_state state;
	int64_t due;			/* monotonic, us: no index request before */
	int64_t pause;			/* us: before the next index request */
	int64_t found;			/* monotonic, us: when a packet was last announced; 0: never */
	int64_t index_asked_at;		/* monotonic, us: when the last request for an index was sent */
	int64_t answered;		/* the same of the last one that was answered, or when the stream was
					 * announced */
	bool had_packet, behind;	/* that answer was a packet; so was the one before it: more may have waited */
	unsigned errors;		/* consecutive errors */
	uint8_t *packet;		/* being received; NULL: none */
	uint64_t offset;		/* bytes: of the packet, in the relay's file */
	size_t size, content;		/* bytes of the packet; bytes of it to fetch, at most .size */
	size_t asked, got;		/* bytes requested; bytes received or refused: got <= asked <= content */
	struct native_feed_index index;	/* of the packet */
	bool failed, retry;		/* the relay did not deliver a piece; it may on another request */
	bool index_asked;		/* a request for the index after this packet is in progress */
	unsigned held;			/* entries in the attachment's .held */
	struct attach_received earlier;	/* what earlier connections received; .end 0: nothing, or all of it was
					 * skipped */
	bool caught_up;			/* what an earlier connection announced was announced again */
	bool has_new;			/* a packet was announced that was not received before */
	uint64_t since;			/* as in struct attach_history; 0: all packets are wanted */
	bool skipped, met_last;		/* packets of .earlier were announced again; the last of them was, too */
	uint64_t last_begin, last_end;	/* cycles: of the newest packet announced; 0: none */
	uint64_t quiet_at;		/* cycles: the first beacon after it; 0: none */
};

/* Received data that is not pushed yet (attach.h). If bytes were lost in transit, the following replies are
 * invalid. So the last replies before that point are discarded, and requested again after a reconnect. */
enum held_kind { HELD_METADATA, HELD_PACKET, HELD_BEACON, HELD_END, HELD_CUT };
struct held {
	enum held_kind kind;
	struct trace *trace;
	struct stream *stream;		/* NULL: metadata */
	int64_t at;			/* monotonic, us: when it was received */
	uint64_t reply;			/* the attachment's .n_replies at that time */
	GBytes *bytes;			/* packet or metadata; owned until pushed */
	struct native_feed_index index;	/* of a packet */
	bool restarts;			/* metadata from its beginning again */
	uint64_t class, end;		/* of a beacon: stream class, cycles */
};

enum request_kind { ASKED_INDEX, ASKED_PACKET, ASKED_METADATA, ASKED_STREAMS };
struct request {
	enum request_kind kind;
	void *of;			/* struct stream (INDEX, PACKET), struct trace (METADATA), NULL */
	uint32_t len;			/* bytes of a PACKET */
};

/*
 * Was tracing stopped before the session ended? If so, the tracer flushed a last packet of each stream, even an empty
 * one (LTTng's SWITCH_FLUSH; live timers flush no empty packets). If not, no last packet is empty, and one stream was
 * already quiet when the last packet of another one began. The protocol does not report that a session daemon was
 * killed. Per-process streams do not count: they end with their process.
 */
struct attach_ends {
	bool flushed;			/* the last packet of a stream was empty */
	uint64_t quiet_at;		/* cycles: minimum over all streams; 0: none was quiet */
	uint64_t last_begin;		/* cycles: maximum over all streams */
};

struct attach {
	struct link link;		/* first member: a link is cast to its attachment */
	struct attach_sink *sink;
	enum viewer_seek seek;
	struct attach_history *history;
	struct viewer *v;
	GHashTable *traces;		/* id -> struct trace */
	GPtrArray *streams;		/* struct stream * */
	GPtrArray *announced;		/* struct viewer_stream *: new ones, while there is no room for them */
	struct request asked[ATTACH_WINDOW];	/* in progress, a ring: replies come in the same order */
	unsigned first, n_asked;	/* index of the oldest; number of requests */
	uint64_t n_replies;		/* valid ones so far */
	size_t fetching;		/* bytes of packets that are requested or held */
	int64_t full_at;		/* monotonic, us: when a request last waited for room in the queue */
	GQueue held;			/* struct held *, in order of receipt */
	int64_t streams_asked_at;	/* monotonic, us: when the last request for new streams was sent */
	int64_t streams_known_at;	/* the same, for the last request that was answered */
	unsigned alive;			/* streams that have not ended */
	unsigned n_watched;		/* how many of these are watched */
	bool listed;			/* the streams that existed at the attachment are known */
	int64_t process_began_at;	/* monotonic, us: when a watched process appeared last since then; 0: none */
	unsigned early_ends;		/* streams without per-process buffers that ended, maybe before the session */
	unsigned early_unknown;		/* streams of exited processes whose last packet may be missing, unless the
					 * session was stopped before it ended */
	int64_t early_at;		/* monotonic, us: when the last of these ended */
	struct attach_ends ends;
	guint next_stream;		/* index of the stream to check first */
	int64_t streams_due;		/* monotonic, us: next request for new streams */
	int64_t scan_due;		/* monotonic, us: next attach_ask_due(); 0: at once */
	int64_t progress_reported_at;	/* monotonic, us */
	bool streams_asked;		/* a request for new streams is in progress */
	bool stalled;			/* the relay was asked nothing, or did not answer, for ATTACH_LAST_US since
					 * the last answer to a request for new streams */
	bool session_hup;		/* the relay reported the session's end */
	bool has_peers;			/* other sessions of the host are attached */
	int64_t max_pause, late_us;	/* us: as ATTACH_MOST_PAUSE_US; how long the merge waits for a stream */
	enum link_end end;
	char *why;			/* may be NULL */
};

/* us: how long a process is watched after its beginning or its last packet. */
static inline int64_t attach_watch_us(const struct attach *a)
{
	return MAX(ATTACH_WATCH_TIMERS * (int64_t)a->link.session.timer_us, 2 * G_USEC_PER_SEC);
}

static inline bool attach_has_window(const struct attach *a)
{
	return a->n_asked < ATTACH_WINDOW;
}

/* attach_request.c */

/* Adds to the bytes that are requested or held, or subtracts. */
void attach_fetch(struct attach *a, gssize bytes);

/* Sends all requests that are due, as far as the window allows. Sets .scan_due. */
void attach_ask_due(struct attach *a, int64_t now);
void attach_ask_metadata(struct attach *a, struct trace *t);
void attach_ask_pieces(struct attach *a, struct stream *s);	/* of its packet, then the next index */
/* For a READY stream: requests its packet. The stream stays READY while there is no room. */
void attach_begin_packet(struct attach *a, struct stream *s);

/* attach_reply.c */

/* Reads and handles the next reply. False: *error is set; or .end and .why are set; or only .why, which requests a
 * new connection. */
bool attach_receive(struct attach *a, GError **error);
void attach_report_unknown(struct attach *a, unsigned n);	/* streams, as link.ends_unknown */
void attach_report_stall(struct attach *a);	/* .stalled, as one of these, if buffers are per process */
bool attach_add_streams(struct attach *a, GPtrArray *streams);	/* struct viewer_stream * */
bool attach_add_announced(struct attach *a);	/* the same for .announced, if there is room now */
/* cut: the stream may return over another connection; until then the merge does not wait for it. */
void attach_end_stream(struct attach *a, struct stream *s, bool cut);
void attach_end_trace(struct attach *a, struct trace *t);

/* attach_hold.c */
void attach_hold(struct attach *a, const struct held *h);
/* Pushes data that was received before all sessions of the host were asked for new streams. all: pushes all held
 * data. */
void attach_release(struct attach *a, bool all);
void attach_note_streams(struct attach *a);	/* new streams are known: releases */
/* The connection broke: discards held data without ATTACH_PROOF replies after it. all: all held data. */
void attach_discard_unproven(struct attach *a, bool all);
void attach_set_member(struct attach *a, bool attached);	/* adds to or removes from the sink's members */

/* attach_history.c */

/* Loads what earlier connections received of a stream that is new to this connection. */
void attach_load_history(struct attach *a, struct stream *s);
void attach_note_announced(struct attach *a, struct stream *s, const struct viewer_index *x);
void attach_note_beacon(struct attach *a, uint64_t end);
void attach_note_received(struct attach *a, const struct stream *s, const struct native_feed_index *x);
void attach_note_refused(struct attach *a, const struct stream *s);	/* the relay does not deliver it */
void attach_note_ended(struct attach *a, const struct stream *s);
/* For a stream that ended: did the relay withhold packets that it had announced over an earlier connection? A
 * relay that closed the stream meanwhile reports only its end. */
bool attach_is_withheld(struct attach *a, const struct stream *s);
/* Counts streams of earlier connections that had not ended and that this connection did not announce. */
unsigned attach_count_vanished(const struct attach *a);
void attach_sum_outstanding(const struct attach *a, uint64_t *ret_packets, uint64_t *ret_bytes);
/* Was the packet of this index received before? OTHER_STREAM: the relay reused the stream's id. */
enum attach_known { ATTACH_NEW, ATTACH_RECEIVED, ATTACH_OTHER_STREAM };
enum attach_known attach_compare(struct stream *s, const struct viewer_index *x);
/* True: older packets were announced, but not the last received one. So the history is that of another stream. */
bool attach_is_other_stream(const struct stream *s);

#endif
