/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How complete a live session is: what is known to be missing of what there was, besides the losses of
 * which the records tell. As of some instant.
 */
#ifndef BLK_BASE_MISSING_H
#define BLK_BASE_MISSING_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct missing {
	int64_t behind_ns;		/* wall clock less the newest instant that is known; < 0: not known, or
					 * the session is over */
	uint64_t left_packets, left_bytes;	/* announced by the relay, and not had: it refused them, or
					 * the connection broke and has not come back */
	uint64_t unread_packets;	/* came, and can't be read, nor can any other of their streams */
	unsigned ended_early;		/* streams that are over, or given up, though their session is not */
	unsigned ends_unknown;		/* streams of processes that exited, of which it is not known whether the
					 * last packet came (buffers per process, relays before LTTng 2.15) */
	bool gave_up;			/* the relay, the session daemon or the path gave up: not all they had
					 * is here */
	char why[256];			/* gave_up: which, and why; one line, fit to be shown */
};

/* Did somebody give up: is there something that did not come? */
bool missing_is_any(const struct missing *m);

/* One line that says what did not come, and why; NULL: nothing is missing. Free with g_free. */
char *missing_text(const struct missing *m);

#endif
