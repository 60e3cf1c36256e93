/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A client of lttng-relayd's viewer protocol. Messages are big-endian and packed; replies come in the order of
 * the requests on a connection. Requests are collected and sent together, so many may be under way:
 *
 *     viewer_ask_index(v, stream); viewer_ask_packet(v, stream, at, len); ...
 *     viewer_flush(v, &error);
 *     viewer_get_index(v, &index, &error); viewer_get_packet(v, ...); ...
 *
 * The caller reads replies in order and bounds what is under way: a relay whose replies are not read stops
 * reading requests.
 *
 * Every call has the connection's time limit and ends when wake_fd becomes readable. Contents of packets and
 * metadata may take longer, as long as bytes arrive. No value of the peer is trusted: lengths and counts are
 * bounded, and text may lack its terminator.
 * Errors: BLK_TRACE_ERROR_CONNECT (connection closed, or silent) and _CORRUPT (invalid answer); afterwards the
 * connection is unusable.
 */
#ifndef BLK_LIVE_VIEWER_VIEWER_H
#define BLK_LIVE_VIEWER_VIEWER_H

#include "live/live.h"
#include "live/viewer/net.h"

#include "base/limits.h"

/* Request: u64 data size, u32 command, u32 version, then the data. No reply header. */
#define VIEWER_HEADER 16
enum viewer_command {
	VIEWER_CONNECT = 1, VIEWER_LIST, VIEWER_ATTACH, VIEWER_NEXT_INDEX, VIEWER_PACKET,
	VIEWER_METADATA, VIEWER_NEW_STREAMS, VIEWER_CREATE, VIEWER_DETACH,
};
/* LTTng released 2.4 first. Nothing changed until 2.15, which has other list entries, and sessions in CTF 2. */
#define VIEWER_MAJOR 2
#define VIEWER_MINOR 15
#define VIEWER_MINOR_NAMES 15	/* from this version on names in the list have lengths */

#define VIEWER_CONNECT_SIZE 20	/* u64 session, u32 major, u32 minor, u32 type (1) */
#define VIEWER_STREAM_SIZE 4371	/* u64 id, u64 trace, u32 metadata, path[4096], name[255] */
#define VIEWER_PATH_SIZE 4096
#define VIEWER_ENTRY_SIZE 339	/* u64 id, u32 timer, clients, streams, host[64], name[255] */
#define VIEWER_ENTRY_NEW_SIZE 32 /* the same numbers, u32 host and name length, u32 format */
#define VIEWER_HOST_SIZE 64
#define VIEWER_NAME_SIZE 255
#define VIEWER_INDEX_SIZE 64	/* seven u64 as in struct viewer_index, u32 status, flags */
#define VIEWER_PACKET_HEAD 12	/* u32 status, length, flags */
#define VIEWER_METADATA_HEAD 12	/* u64 length, u32 status */

static inline uint32_t viewer_u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof v);
	return GUINT32_FROM_BE(v);
}

static inline uint64_t viewer_u64(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return GUINT64_FROM_BE(v);
}

static inline void viewer_put_u32(uint8_t *p, uint32_t v)
{
	v = GUINT32_TO_BE(v);
	memcpy(p, &v, sizeof v);
}

static inline void viewer_put_u64(uint8_t *p, uint64_t v)
{
	v = GUINT64_TO_BE(v);
	memcpy(p, &v, sizeof v);
}

/* A session's format in the list, from 2.15 on. */
enum viewer_format { VIEWER_FORMAT_UNKNOWN, VIEWER_FORMAT_CTF1, VIEWER_FORMAT_CTF2 };

/* One relay session. Its names are raw: use text_visible() to print them. */
struct viewer_session {
	uint64_t id;
	uint32_t timer_us, viewers, streams;
	enum viewer_format format;
	char host[LIMIT_RELAY_NAME_BYTES + 1], name[LIMIT_RELAY_NAME_BYTES + 1];
};

/* A stream that the relay announced. */
struct viewer_stream {
	uint64_t id, trace;	/* the relay's; unique on a connection */
	bool metadata;
	char *name;		/* "ust/uid/0/64-bit/chan_0", safe to print */
};

enum viewer_attach_status {
	VIEWER_ATTACHED = 1, VIEWER_TAKEN, VIEWER_UNKNOWN, VIEWER_NOT_LIVE, VIEWER_BAD_SEEK,
	VIEWER_NO_VIEWER_SESSION,
};
enum viewer_index_status {
	VIEWER_INDEX_OK = 1, VIEWER_INDEX_RETRY, VIEWER_INDEX_HUP, VIEWER_INDEX_ERR,
	VIEWER_INDEX_INACTIVE, VIEWER_INDEX_EOF,
};
enum viewer_packet_status {
	VIEWER_PACKET_OK = 1, VIEWER_PACKET_RETRY, VIEWER_PACKET_ERR, VIEWER_PACKET_EOF,
};
enum viewer_metadata_status {
	VIEWER_METADATA_OK = 1, VIEWER_METADATA_NONE, VIEWER_METADATA_ERR,
};
enum viewer_streams_status {
	VIEWER_STREAMS_OK = 1, VIEWER_STREAMS_NONE, VIEWER_STREAMS_ERR, VIEWER_STREAMS_HUP,
};
enum { VIEWER_FLAG_METADATA = 1, VIEWER_FLAG_STREAMS = 2 };
enum viewer_seek { VIEWER_FROM_BEGINNING = 1, VIEWER_FROM_LAST = 2 };

/* Where a stream's next packet is (OK). Or a beacon (INACTIVE): the stream has no packet before .end, and the other
 * fields have no meaning. */
struct viewer_index {
	uint32_t status, flags;
	uint64_t offset;		/* bytes, in the stream's file */
	uint64_t packet_bits, content_bits;
	uint64_t begin, end;		/* raw cycles */
	uint64_t discarded;		/* events, since the stream began */
	uint64_t class;			/* of the stream */
};

struct viewer {
	struct net net;
	char *relay;		/* "HOST:PORT", safe to print */
	uint32_t minor;		/* the connection uses version 2.minor */
	int timeout_ms;
	GByteArray *requests;	/* not sent yet */
	uint8_t ahead[8192];	/* received, not used yet */
	size_t ahead_at, ahead_n;
};

/* Connects and agrees on a version, all within the time limit. */
struct viewer *viewer_open(const struct live_url *url, int timeout_ms, int wake_fd,
			   GError **error);
void viewer_free(struct viewer *v);		/* closes the connection; NULL is fine */

/* Sessions in the relay's order, an array of struct viewer_session. */
GArray *viewer_list(struct viewer *v, GError **error);

/* Creates a viewer session and attaches it; appends the session's streams as viewer_get_streams() does. No other
 * request may be under way. False: *error. */
bool viewer_attach(struct viewer *v, uint64_t session, enum viewer_seek seek, uint32_t *ret_status,
		   GPtrArray *streams, GError **error);
/* Detaches from the session; waits for the answer. */
bool viewer_detach(struct viewer *v, uint64_t session, GError **error);

void viewer_ask_index(struct viewer *v, uint64_t stream);
/* `len` bytes of one packet, from `offset` of the stream's file. */
void viewer_ask_packet(struct viewer *v, uint64_t stream, uint64_t offset, uint32_t len);
void viewer_ask_metadata(struct viewer *v, uint64_t stream);
void viewer_ask_streams(struct viewer *v, uint64_t session);
bool viewer_flush(struct viewer *v, GError **error);

bool viewer_get_index(struct viewer *v, struct viewer_index *ret, GError **error);
/* `len`: as requested. Fills `into` when the status is OK, else nothing. */
struct viewer_answer { uint32_t status, flags; };
bool viewer_get_packet(struct viewer *v, uint8_t *into, uint32_t len, struct viewer_answer *ret,
		       GError **error);
/* Appends to `into`. */
bool viewer_get_metadata(struct viewer *v, GByteArray *into, uint32_t *ret_status, GError **error);
/* Appends struct viewer_stream * to `streams`. */
bool viewer_get_streams(struct viewer *v, uint32_t *ret_status, GPtrArray *streams, GError **error);

void viewer_stream_free(gpointer stream);

/* "HOST:PORT" for messages, safe to print. */
char *viewer_relay_name(const struct live_url *url);

/* sessions.c: as live_list_sessions(), ended by wake_fd (net.h; -1: none). */
GPtrArray *sessions_list(const struct live_url *url, int timeout_ms, int wake_fd, GError **error);

#endif
