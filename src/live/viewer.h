/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The viewer protocol of lttng-relayd: big-endian, packed, strict request and
 * reply on one connection. And a small client of our own: connect, list.
 */
#ifndef BLK_LIVE_VIEWER_H
#define BLK_LIVE_VIEWER_H

#include "live/live.h"
#include "live/net.h"

/* Request: u64 data size, u32 command, u32 version, then the data. No reply header. */
#define VIEWER_HEADER 16
enum viewer_command {
	VIEWER_CONNECT = 1, VIEWER_LIST, VIEWER_ATTACH, VIEWER_NEXT_INDEX, VIEWER_PACKET,
	VIEWER_METADATA, VIEWER_NEW_STREAMS, VIEWER_CREATE, VIEWER_DETACH,
};
#define VIEWER_MAJOR 2
#define VIEWER_MINOR 4		/* what babeltrace2 2.0 speaks: entries as below */

#define VIEWER_CONNECT_SIZE 20	/* u64 session, u32 major, u32 minor, u32 type (1) */
#define VIEWER_STREAM_SIZE 4371	/* u64 id, u64 trace, u32 metadata, path[4096], name[255] */
#define VIEWER_ENTRY_SIZE 339	/* u64 id, u32 timer, clients, streams, host[64], name[255] */
#define VIEWER_HOST_SIZE 64
#define VIEWER_NAME_SIZE 255

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

/* One session as the relay knows it. */
struct viewer_session {
	uint64_t id;
	uint32_t timer_us, viewers, streams;
	char host[VIEWER_HOST_SIZE + 1], name[VIEWER_NAME_SIZE + 1];
};

struct viewer {
	struct net net;
	char *relay;		/* "HOST:PORT", fit to be shown */
	uint32_t minor;		/* the relay's version 2.minor */
	int timeout_ms;
};

/* Connects and shakes hands, all within the time limit. */
struct viewer *viewer_open(const struct live_url *url, int timeout_ms, int wake_fd,
			   GError **error);
/* Sessions in the relay's order, an array of struct viewer_session. After an error
 * the connection is of no use any more. */
GArray *viewer_list(struct viewer *v, GError **error);
void viewer_free(struct viewer *v);		/* NULL is fine */

/* "HOST:PORT" for messages, fit to be shown. */
char *viewer_relay_name(const struct live_url *url);

#endif
