/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connection to a Graphite server (carbon, plaintext over TCP), on a thread of its own. What is pushed waits within a
 * bound while the server is away; above it the oldest lines are dropped, and counted. Carbon overwrites by time, and
 * does not say what it stored: so after a reconnect the last lines are sent again. The calls are the main thread's, and
 * do not block.
 */
#ifndef BLK_SEND_CARBON_H
#define BLK_SEND_CARBON_H

#include "live/live.h"

struct carbon;

/* `server`: borrowed; the connector (live/viewer/connector.h) must know it. */
struct carbon *carbon_start(const struct live_url *server);
/* Takes ownership of `text`, which has whole lines, `n` of them. */
void carbon_push(struct carbon *c, char *text, unsigned n);
bool carbon_has_room(struct carbon *c);		/* is less than half of the bound in use? */
/* Why lines wait, once for each new reason: "cannot connect to ..."; g_free(). NULL: nothing new. */
char *carbon_take_message(struct carbon *c);
uint64_t carbon_dropped(struct carbon *c);	/* lines */
void carbon_end(struct carbon *c);		/* no more lines will come */
/* After carbon_end(): must it be waited for? Until the server took all, or takes nothing for
 * LIMIT_GRAPHITE_END_SECONDS. */
bool carbon_is_busy(struct carbon *c);
/* Drops what waits. Returns the lines that were dropped in all. */
uint64_t carbon_free(struct carbon *c);

#endif
