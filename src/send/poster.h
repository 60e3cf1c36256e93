/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Posts parcels of spans over HTTP, for an outbox: one request a parcel, one at a time. What the server does not take
 * (429, 5xx, no or no valid answer) is posted again after a pause that grows and is partly random, or that the server
 * names; while there is no connection, for ever (the outbox is bounded), else at most LIMIT_FORWARD_TRIES times. What
 * the server refuses is dropped, and counted.
 */
#ifndef BLK_SEND_POSTER_H
#define BLK_SEND_POSTER_H

#include "send/http.h"
#include "send/outbox.h"

/* `url`: borrowed; the connector must know its server. */
struct outbox *poster_start(const struct http_url *url);

#endif
