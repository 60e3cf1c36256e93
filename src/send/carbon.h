/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to a Graphite server (carbon, plaintext over TCP), for an outbox of lines. Carbon overwrites by time,
 * and does not say what it stored: so after a reconnect the last lines are sent again.
 */
#ifndef BLK_SEND_CARBON_H
#define BLK_SEND_CARBON_H

#include "live/live.h"
#include "send/outbox.h"

/* `server`: borrowed; the connector (live/viewer/connector.h) must know it. What is pushed has whole lines. */
struct outbox *carbon_start(const struct live_url *server);

#endif
