/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A gate stands between one babeltrace2 graph and the relay: the graph connects to
 * 127.0.0.1, the gate to the relay, and passes the viewer protocol's requests and
 * replies on. That answers what babeltrace2's live source leaves open:
 *
 * - it lists once and attaches to every relay session of a name or to none: the
 *   gate shows each graph exactly one relay session, so one that appears later
 *   gets a graph of its own and nobody is attached twice;
 * - it waits for ever for a silent relay, and cannot be interrupted: the gate has
 *   time limits, and closing it ends the graph at once;
 * - it believes every length it is told: the gate checks them;
 * - it never hears of new streams while the known ones are idle, and stumbles over
 *   some replies: the gate mends them (mend.h);
 * - it begins at the newest data, always: the gate asks the relay to begin elsewhere;
 * - it knows IPv4 only, and pays 40 ms for every reply: not through the gate.
 */
#ifndef BLK_LIVE_GATE_H
#define BLK_LIVE_GATE_H

#include "live/viewer.h"

enum gate_end {
	GATE_OPEN,		/* still passing */
	GATE_CLOSED,		/* the graph hung up, or gate_close() */
	GATE_LOST,		/* the relay went away or does not answer */
	GATE_TAKEN,		/* another viewer is attached */
	GATE_GONE,		/* the session is not there any more */
	GATE_REFUSED,		/* the relay will not have us: message says why */
};

struct gate;

/* Connects to the relay (within timeout_ms, ended early by wake_fd) and begins to
 * listen. wake_fd also closes the gate later on; it is borrowed. */
struct gate *gate_open(const struct live_url *relay, const struct viewer_session *session,
		       enum viewer_seek seek, int timeout_ms, int wake_fd, GError **error);
/* What to give to babeltrace2. */
const char *gate_url(const struct gate *g);
/* Data streams handed to the graph so far. Any thread. */
unsigned gate_streams(struct gate *g);
/* Hangs up and waits for the gate's thread; tells how it ended and why (to be
 * freed; NULL where there is nothing to say). */
enum gate_end gate_close(struct gate *g, char **ret_why);
void gate_free(struct gate *g);		/* NULL is fine; closes */

#endif
