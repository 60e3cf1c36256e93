/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading without a screen: an input, its job and the timeline. Reading ends with the input, at a signal, or when a
 * relay daemon was unreachable for too long. Main thread only.
 */
#ifndef BLK_APP_READING_H
#define BLK_APP_READING_H

#include "app/exit_code.h"
#include "app/input.h"
#include "state/spans/presets_used.h"
#include "app/read_options.h"
#include "views/metric.h"

/* What the reading is for. */
struct reading_purpose {
	bool prints;			/* a view, from all seconds of a recorded trace */
	bool all_spans;			/* of a recorded trace, without a limit of memory: exports, reports */
	const struct view *view;	/* NULL: none */
	enum view_by by;
	const struct view_query *narrow;	/* traces that it names are not evicted; NULL: none */
	bool counts_threads;		/* events must be counted by thread, also if the view does not need it */
	bool takes_seconds;		/* recorded: seconds are taken as they close (timeline_retain_range()) */
	bool without_spans;		/* make no spans */
	const char *record_to;		/* directory in which the packets of a live session are stored, as a trace; then
					 * signals do not end reading: reading_caught(). NULL: none */
	gint64 record_last_us;		/* with it: what is older is deleted; 0: nothing is */
	bool records_only;		/* with it: no event is decoded */
	uint32_t cells;			/* kinds of cells that are needed, as view.reads; 0: all */
	bool skip_free;			/* the program exits after reading: do not free what was read */
};

struct reading {
	const struct read_options *options;	/* reading_start()'s, not owned */
	bool skip_free;
	struct input *in;
	struct job *job;
	struct timeline *tl;
	bool live;
	bool whole;			/* it was read to its end */
	bool ignores_signals;
	bool waits;			/* --wait: no time limit for relay and session */
	int timeout_ms;			/* --timeout */
	int signal;			/* the signal that ended it, or 0 */
	bool lost_relay;		/* the relay was unreachable for longer than timeout_ms */
	char *reported;			/* the connection's message that was printed last */
	char *reported_warning;		/* the warning that was printed last */
	bool remarked;			/* job_status.remark was printed */
	bool left_out;			/* a slice was left out, which was printed */
	bool without_spans;		/* as in struct reading_purpose */
	struct presets_used presets;	/* what was printed about them */
};

/* EXIT_FINE, or the exit status after a printed error. Catches SIGINT, SIGTERM and SIGHUP until reading_free(). r and
 * o must not move until then. With a recorded trace, spans in the range of --at, --from and --to are evicted last. */
int reading_start(struct reading *r, const struct read_options *o, const struct reading_purpose *purpose);
/* The part of --memory that is for the timeline, in bytes. */
size_t reading_timeline_memory(const struct read_options *o);
void reading_free(struct reading *r);
/* Can the view (NULL: none) have rows of what `by` says? Slices do not count events by thread. False after a printed
 * error. */
bool reading_can_count(const struct input *in, const struct view *view, enum view_by by);
/* Must events be counted by thread for it? */
bool reading_counts_threads(const struct view *view, enum view_by by);
/* Shall nothing be freed? Everything was read and the process exits next (.skip_free): that is faster. */
bool reading_skips_free(const struct reading *r);

/* Waits at most `ms` (-1: until the end). true: reading has ended. Prints messages of the connection. */
bool reading_wait(struct reading *r, int ms);
void reading_stop(struct reading *r);		/* ends it with what was read */

/* The exit status so far: EXIT_FINE; 128 + signal; EXIT_FAILED, or EXIT_INCOMPLETE if a part of a live session was
 * read. Prints why for the latter two. */
int reading_code(struct reading *r);

/* For commands that read without struct reading: catches SIGINT, SIGTERM and SIGHUP until released. reading_caught():
 * the signal that came, or 0. */
void reading_catch_signals(void);
void reading_release_signals(void);
int reading_caught(void);
const int *reading_caught_by(void);	/* where that is stored; read it atomically */

/* Coverage as a half-open range. false: nothing was read. */
bool reading_range(const struct reading *r, int64_t *ret_from, int64_t *ret_to);

/* The range that --at, --from and --to mean in this trace; without them, all of it. EXIT_FINE, or the exit status
 * after a printed error. */
int reading_find_range(const struct reading *r, const struct read_options *o, int64_t *ret_from,
		       int64_t *ret_to);
/* What --against FROM..TO means in this trace, if it was given. False after a printed error. */
bool reading_find_against(const struct reading *r, const struct read_options *o, struct metric_query *metric);
/* The same in a trace with events in [first, end). */
int reading_place_range(const struct read_options *o, int64_t first, int64_t end, int64_t *ret_from,
			int64_t *ret_to);
/* --from and --to alone, which may be outside of the trace. Without them *ret_from and *ret_to stay. */
int reading_place_ends(const struct read_options *o, int64_t first, int64_t end, int64_t *ret_from, int64_t *ret_to);

/* EXIT_INCOMPLETE: relay, session daemon or network gave up. EXIT_LOSS: events were lost, or a part cannot be read.
 * Prints the reason, except losses, which are in the output. */
int reading_loss_code(struct reading *r);

/* What the reader left out; and parts that are damaged without a count of lost events. A line each (g_free); NULL:
 * nothing. */
char *reading_left_out(const struct job_status *st);
char *reading_damaged(const struct completeness *t);

#endif
