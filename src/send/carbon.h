/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to a Graphite server (carbon, plaintext over TCP), for an outbox of lines. Carbon does not say what it
 * stored. Lines count as sent when the server's TCP has acknowledged them, on a connection that outlived its first
 * second (a proxy without its target accepts connections and closes them), or that the server closed after the last
 * line. Others are sent again, after pauses that grow until some count, or dropped. After a reconnect the last lines
 * that counted are sent once more, too: carbon overwrites by time.
 */
#ifndef BLK_SEND_CARBON_H
#define BLK_SEND_CARBON_H

#include "live/live.h"
#include "send/outbox.h"

/* `server`: borrowed; the connector (live/viewer/connector.h) must know it. What is pushed has whole lines. */
struct outbox *carbon_start(const struct live_url *server);

#endif
