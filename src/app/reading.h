/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading without a screen: an input, its job and the timeline together, ended by
 * the input's end, a signal, or a relay that is gone too long.
 */
#ifndef BLK_APP_READING_H
#define BLK_APP_READING_H

#include "app/input.h"
#include "cli/options.h"

struct reading {
	const struct options *options;	/* reading_start()'s, not owned */
	struct input *in;
	struct job *job;
	struct timeline *tl;
	bool live;
	bool whole;			/* it was read to its end */
	bool waits;			/* --wait: for a relay and a session, however long */
	int timeout_ms;
	int signal;			/* what ended it, or 0 */
	bool lost_relay;		/* the relay was gone longer than timeout_ms */
	char *told;			/* the connection's last message */
	char *told_warning;		/* what is left out of a live session, as it was told last */
};

/* EXIT_FINE, or the program's exit code after the message was printed. Catches
 * SIGINT, SIGTERM and SIGHUP until reading_free(). Both stay where they are until then. Of a
 * recorded trace, spans of --at, --from and --to are evicted last. */
int reading_start(struct reading *r, const struct options *o);
/* Of --memory, what the timeline may hold. */
size_t reading_timeline_memory(const struct options *o);
void reading_free(struct reading *r);
/* Everything was read and the process exits next (options.skip_free): the kernel frees memory faster than we do. */
bool reading_skips_free(const struct reading *r);

/* Waits at most `ms` (-1: until the end); true when the reading has ended. A signal
 * or a lost relay ends it with what was read. Tells about the connection. */
bool reading_wait(struct reading *r, int ms);
void reading_stop(struct reading *r);		/* ends it with what was read */

/* The exit code so far: 128 + signal, EXIT_FINE, or, telling why, EXIT_FAILED; EXIT_INCOMPLETE where
 * a live session was read until then. */
int reading_code(struct reading *r);

/* For who reads on its own: catches SIGINT, SIGTERM and SIGHUP until released; which one
 * came, or 0. */
void reading_catch_signals(void);
void reading_release_signals(void);
int reading_caught(void);
const int *reading_caught_by(void);	/* where it stands, for those who are to stop by it: atomic */

/* Coverage as a half-open range; false while nothing was read. */
bool reading_range(const struct reading *r, int64_t *ret_from, int64_t *ret_to);

/* What --at, --from and --to mean in this trace; without them, all of it. EXIT_FINE, or
 * the program's exit code after the message was printed. */
int reading_find_range(const struct reading *r, const struct options *o, int64_t *ret_from,
		       int64_t *ret_to);
/* The same in a trace with events in [first, end). */
int reading_place_range(const struct options *o, int64_t first, int64_t end, int64_t *ret_from,
			int64_t *ret_to);

/* EXIT_INCOMPLETE where somebody gave up (this is told); EXIT_LOSS where the tracer lost something or
 * (this is told) a part can't be read: what the tracer lost is in the output. */
int reading_loss_code(struct reading *r);

/* What was not read of a trace, and what of it no counter tells: a line each (g_free), NULL:
 * nothing. */
char *reading_left_out(const struct job_status *st);
char *reading_damaged(const struct trust *t);

#endif
