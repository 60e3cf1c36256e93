/* SPDX-License-Identifier: GPL-2.0-only */
/* Sends metrics and spans of a batch run to other programs: /metrics, a file of the same text, Graphite, and servers of
 * spans. Main thread. */
#ifndef BLK_CMD_SENDING_H
#define BLK_CMD_SENDING_H

#include "cli/command.h"

struct sending;

/* If something is sent: opens the sockets of --listen and systemd, before isolate(). False: that failed, which was
 * printed. */
bool sending_open(struct send_options *o);
/* Likewise. False: it failed, which was printed. `o`: borrowed. Owns the socket from here on. */
bool sending_start(const struct send_options *o, bool live, struct sending **ret);
void sending_free(struct sending *s);		/* NULL is fine */
/* Of the seconds, only those that begin in [from_ns, to_ns) are sent; of the traces, those that end there. */
void sending_limit(struct sending *s, int64_t from_ns, int64_t to_ns);
/* Sends those of the first `end` seconds that were not sent yet, as totals_update() does. `ended`: all was read; of a
 * recorded trace it then waits until the servers have taken most of it. */
void sending_update(struct sending *s, const struct timeline *tl, size_t end, bool ended);
/* Traces are about to be evicted (timeline_on_evicting()). */
void sending_evicting(struct sending *s, const struct timeline *tl, const uint64_t *trace_ids, size_t n);
/* Waits for what is on its way to servers. EXIT_FINE, or EXIT_INCOMPLETE after it was printed what was not sent. */
int sending_finish(struct sending *s);
/* Serves what was read until a signal comes (reading_catch_signals()). */
void sending_wait(struct sending *s);

#endif
