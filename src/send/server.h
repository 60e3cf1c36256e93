/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Answers GET /metrics with the text of totals, in the format that Accept asks for; on a thread of its own. Clients are
 * not trusted: the bytes that one sends, the time until it has its answer, and the number of connections are bounded
 * (limits.h), and all share one text for each state of the totals. One connection, one request.
 */
#ifndef BLK_SEND_SERVER_H
#define BLK_SEND_SERVER_H

#include "send/totals.h"

struct server;

/* Takes ownership of `fd` (listener.h). `names` (host_names.h), `totals`: borrowed. NULL: *error. */
struct server *server_start(int fd, char **names, struct totals *totals, GError **error);
void server_stop(struct server *s);		/* ends its thread, within some ms; NULL is fine */

#endif
