/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * POST over HTTP/1.1 for a process that must not create sockets: libsoup's client would, so this one writes to a
 * connection that the connector made (live/viewer/connector.h). Servers are not trusted: the bytes of an answer and the
 * time for it are bounded (limits.h). One thread.
 */
#ifndef BLK_SEND_HTTP_H
#define BLK_SEND_HTTP_H

#include "live/live.h"
#include "live/viewer/net.h"

#include "base/limits.h"

struct http_url {
	struct live_url server;		/* host, port */
	char *path;			/* with what follows '?' */
};

/* Parses http://HOST[:PORT]/PATH; port 80 by default. Free with http_url_clear(), also after an error. */
bool http_url_parse(const char *text, struct http_url *ret, GError **error);
void http_url_clear(struct http_url *url);

struct http {
	const struct http_url *url;	/* borrowed */
	struct net net;			/* .fd -1: not connected */
};

struct http_answer {
	unsigned status;		/* 100 .. 599 */
	int64_t retry_after_s;		/* -1: not given in seconds */
	const char *body;		/* in .bytes, terminated; "" if it has no known length */
	char bytes[LIMIT_ANSWER_BYTES + 1];
};

enum http_result { HTTP_NOT_CONNECTED, HTTP_NO_ANSWER, HTTP_ANSWERED };
/* Connects if there is no connection. `cancel`: an eventfd that ends every wait. Unless HTTP_ANSWERED, *error says
 * why. After HTTP_NO_ANSWER the server may have taken the body or not. */
enum http_result http_post(struct http *h, const char *body, size_t size, int cancel, struct http_answer *ret,
			   GError **error);

#endif
