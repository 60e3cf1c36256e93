/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How complete a live session is: what is known to be missing, apart from the losses that are records of the trace.
 * The state at one instant.
 */
#ifndef BLK_BASE_MISSING_H
#define BLK_BASE_MISSING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct missing {
	int64_t behind_ns;		/* wall clock minus the newest known instant; < 0: unknown, or the session has
					 * ended */
	uint64_t left_packets, left_bytes;	/* announced by the relay and not received: it refused them, or the
					 * connection broke and was not restored */
	uint64_t unread_packets;	/* received but unreadable, like all packets of their streams */
	unsigned ended_early;		/* streams that ended or were given up before their session */
	unsigned ends_unknown;		/* buffers per process: streams of processes that exited, whose last packet may
					 * not have come (relays before LTTng 2.15), plus times in which a process may
					 * have come and gone unseen */
	bool gave_up;			/* the relay, the session daemon or the connection failed: data is missing */
	char why[256];			/* if gave_up: which failed, and why; one printable line */
};

/* Is anything missing? */
bool missing_is_any(const struct missing *m);

/* One line that says what is missing, and why (g_free); NULL: nothing is. */
char *missing_text(const struct missing *m);

/* One line about .ends_unknown (g_free); NULL: it is 0. It need not mean that events are missing. */
char *missing_unknown_text(const struct missing *m);

#endif
