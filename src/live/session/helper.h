/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steward: a process of its own that makes a session on this machine and destroys what
 * it made when its client (blktop) leaves, however that ends: it learns of it by the end of
 * their connection, so a crash and kill -9 are no exceptions. It alone calls liblttng-ctl,
 * which blocks, prints and knows no time limit. It also starts the daemons that nobody runs,
 * and the program that is to be followed.
 *
 *     s = steward_new(&options, &error);			// before the first thread
 *     text = steward_ask(s, HELPER_LOOK, NULL, ms, &error);	// what it would do
 *     url = steward_ask(s, HELPER_BEGIN, NULL, ms, &error);
 *     steward_tell(s, HELPER_GO, NULL);			// the viewer is there
 *     while ((kind = steward_take(s, &text)) != HELPER_NOTHING) ...	// never waits
 *     text = steward_ask(s, HELPER_END, NULL, ms, &error);
 *     steward_free(s);
 *
 * One thread.
 */
#ifndef BLK_LIVE_SESSION_HELPER_H
#define BLK_LIVE_SESSION_HELPER_H

#include "live/session/plan.h"

struct session_helper_options {
	const char *session;		/* its name; the snapshot session's: NAME-snapshot */
	bool watch_only;		/* no session of its own: for snapshots beside another relay */
	uint32_t timer_us;
	const struct blk_subscription *rows;
	size_t n_rows;
	bool spans_only, calls_only, functions, keep;
	int loglevel;			/* -1: all */
	char **counters, **probes;	/* or NULL */
	int pid;			/* to be followed, with its children; 0: none */
	char **program;			/* to be run and followed; NULL: none */
	bool on_screen;			/* the program's output must not reach the terminal */
	const char *state;		/* directory for what is written */
	const char *log;		/* where the library's words go; NULL: nowhere */
	const char *snapshot;		/* session whose snapshots are taken; "new": one of its own;
					 * NULL: none */
};

enum session_helper_request { HELPER_LOOK, HELPER_BEGIN, HELPER_GO, HELPER_SNAPSHOT, HELPER_SWEEP,
		       HELPER_END };

enum session_helper_answer {
	HELPER_NOTHING,	/* nothing now */
	HELPER_SAYS,		/* a line for the user */
	HELPER_COMPLAINS,	/* the same, of something that went wrong */
	HELPER_EXITED,		/* the program ended: "3", as a shell has it; a line follows */
	HELPER_GONE,		/* the steward is no more; told once */
};

/* Forks; there must not be any other thread. */
struct session_helper *session_helper_new(const struct session_helper_options *o, GError **error);

/*
 * Asks and waits for the answer; at most timeout_ms (-1: for ever) since it was asked, or since
 * the steward said last what it does next: what goes on may take as long as it does, and what
 * hangs is named in *error. What is told meanwhile is kept for steward_take().
 * Freed by the caller; NULL and *error: it failed.
 *
 *   LOOK	what it would do: lines for the user. Nothing is made or started.
 *   BEGIN	makes and starts: "URL\nDOMAINS\nSNAPSHOT\n": where to attach, to how many relay
 *		sessions, and the session that snapshots are taken of (may be empty)
 *   SWEEP	destroys the sessions of blktops that are gone: what it did
 *   END	destroys what it made, unless it is to be kept: what is left, and how to end it
 */
char *session_helper_ask(struct session_helper *s, enum session_helper_request what, const char *text, int timeout_ms,
		  GError **error);
/* Not waited for. GO: lets the program run. SNAPSHOT: text is the cause, in lines. */
void session_helper_tell(struct session_helper *s, enum session_helper_request what, const char *text);
enum session_helper_answer session_helper_take(struct session_helper *s, char **ret_text);

/* Lets go: the steward destroys what it made. Waits some seconds for it. NULL is fine. */
void session_helper_free(struct session_helper *s);

/* Of "blktop-PID": the PID; 0: no such name. For names made by us. */
int session_helper_pid_of(const char *session);

#endif
