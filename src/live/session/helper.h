/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session helper: a process that makes a tracing session on this machine, and destroys what it made when its
 * client (blktop) ends. It notices that by the end of their connection, so a crash and kill -9 are covered. Only
 * the helper calls liblttng-ctl, which blocks, prints and has no time limits. It also starts the daemons that
 * do not run yet, and the program that is to be followed.
 *
 *     s = session_helper_new(&options, &error);			// before the first thread
 *     text = session_helper_ask(s, HELPER_DESCRIBE, NULL, ms, &error);	// what it would do
 *     url = session_helper_ask(s, HELPER_BEGIN, NULL, ms, &error);
 *     session_helper_send(s, HELPER_GO, NULL);				// the viewer is attached
 *     while ((kind = session_helper_take(s, &text)) != HELPER_NOTHING) ...	// does not block
 *     text = session_helper_ask(s, HELPER_END, NULL, ms, &error);
 *     session_helper_free(s);
 *
 * One thread.
 */
#ifndef BLK_LIVE_SESSION_HELPER_H
#define BLK_LIVE_SESSION_HELPER_H

#include "live/session/plan.h"

struct session_helper_options {
	const char *session;		/* its name; the snapshot session's name is NAME-snapshot */
	bool watch_only;		/* makes no live session: for snapshots and alerts while blktop reads a relay */
	uint32_t timer_us;		/* live timer */
	const struct blk_subscription *rows;
	size_t n_rows;
	bool calls_only, functions;	/* as in struct plan_wish */
	bool program_only;		/* kernel events of followed threads, and what wakes them, only */
	enum plan_tracer kernel;	/* what records the kernel */
	uint64_t kernel_buffer;		/* as in struct plan_wish */
	bool keep;			/* retain the session when the client ends it */
	int loglevel;			/* -1: all */
	char **counters, **probes, **programs, **presets;	/* as in struct plan_wish; or NULL */
	int pid;			/* process to follow, including its children; 0: none */
	char **program;			/* to run and follow; NULL: none */
	bool on_screen;			/* the program's output must not reach the terminal */
	const char *state;		/* directory for files that the helper writes */
	const char *log;		/* file for messages of liblttng-ctl and daemons; NULL: none */
	const char *snapshot;		/* session to take snapshots of; "new": make one; NULL: none */
	char **exec;			/* program and arguments for alerts, or NULL */
};

enum session_helper_request { HELPER_DESCRIBE, HELPER_BEGIN, HELPER_GO, HELPER_SNAPSHOT, HELPER_SWEEP,
		       HELPER_END, HELPER_EXEC, HELPER_STOP };

enum session_helper_answer {
	HELPER_NOTHING,		/* nothing to take */
	HELPER_MESSAGE,		/* a line for the user */
	HELPER_WARNING,	/* a line for the user about an error */
	HELPER_EXITED,		/* the program ended: its exit status as text, as in a shell; a line follows */
	HELPER_LOST,		/* the helper has ended; reported once */
};

/* Forks; call it before the first thread. `o` must stay valid in the child. */
struct session_helper *session_helper_new(const struct session_helper_options *o, GError **error);

/*
 * Sends a request and waits for the answer: at most timeout_ms (-1: for ever) since the request, or since the helper
 * last reported that a step begins. So a long series of steps does not time out, and *error names a step that hangs.
 * Messages that arrive meanwhile are queued for session_helper_take(). The caller owns the answer (g_free()).
 * NULL: the request failed, and *error is set.
 *
 *   DESCRIBE	makes and starts nothing. Answer: lines for the user that describe what BEGIN would do
 *   BEGIN	makes and starts the session. Answer: "URL\nDOMAINS\nSNAPSHOT\nREASON\n": where to attach, number of
 *		relay sessions to expect, session to take snapshots of (may be empty), why the kernel is not traced
 *		(empty: it is)
 *   SWEEP	destroys what remains of blktop processes that have ended. Answer: lines about it
 *   END	destroys what it made, unless .keep. Answer: what remains, and the commands to destroy it
 */
char *session_helper_ask(struct session_helper *s, enum session_helper_request what, const char *text, int timeout_ms,
		  GError **error);
/* After BEGIN: what is needed to read the kernel's own ring buffer; NULL: the kernel is not recorded that way. The
 * caller's: handover_free(). */
struct handover;
struct handover *session_helper_take_kernel(struct session_helper *s);
/* Sends a request without answer. GO: lets the program run. STOP: ends the program and the recording; what was recorded
 * can still be read, and then the source ends. SNAPSHOT: text is the cause, one or more lines.
 * EXEC: runs .exec; text is the reason, likewise. */
void session_helper_send(struct session_helper *s, enum session_helper_request what, const char *text);
enum session_helper_answer session_helper_take(struct session_helper *s, char **ret_text);

/* Closes the connection, so that the helper destroys what it made; waits some seconds for it. NULL is fine. */
void session_helper_free(struct session_helper *s);

/* The PID in a session name "blktop-PID" or "blktop-PID-snapshot"; 0: another name. */
int session_helper_pid_of(const char *session);

#endif
