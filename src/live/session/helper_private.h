/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The inside of the session helper (helper.h): what runs in its process, and the packets between the processes. A
 * packet is one letter, then text without terminator. Requests: 'A' + enum session_helper_request.
 *
 *     helper.c			the client's end of the connection
 *     helper_work.c		the helper's main loop and its requests
 *     helper_follow.c		the followed program, and the children of what is followed
 *     helper_output.c		the output of the followed program
 *     helper_snapshot.c	snapshots
 *     helper_exec.c		the program that is run for alerts
 *     helper_kernel.c		the kernel's events by its own ring buffer
 *     helper_sweep.c		what killed runs left
 */
#ifndef BLK_LIVE_SESSION_HELPER_PRIVATE_H
#define BLK_LIVE_SESSION_HELPER_PRIVATE_H

#include "live/session/daemons.h"
#include "live/session/helper.h"

#define HELPER_PACKET 60000		/* most bytes of a packet */
#define HELPER_SESSION_PREFIX "blktop-"
#define HELPER_SNAPSHOT_SUFFIX "-snapshot"

enum {
	HELPER_MSG_DONE = 'd', HELPER_MSG_FAILED = 'f', HELPER_MSG_MESSAGE = 's',
	HELPER_MSG_WARNING = 'c', HELPER_MSG_EXITED = 'x',
	HELPER_MSG_PROGRESS = 'p',	/* the next step of a long request */
	HELPER_MSG_STAYS = 'l',		/* this process stays for a while after END */
	HELPER_MSG_KERNEL = 'k',	/* a part of the handover (live/tracefs/handover.h), with a descriptor */
};

/* A client of the helper at the other end of `fd`. session_helper_free() waits for the process `pid`. */
struct session_helper *session_helper_of(int fd, pid_t pid);

G_NORETURN void session_helper_work(const struct session_helper_options *o, int fd);

/* The followed program or process. */
struct follow {
	pid_t program;			/* child, running or held; 0: none, or it ended */
	int go_fd;			/* a byte written here lets the held program run; -1: none */
	struct program_output *output;	/* NULL: it does not write to the terminal that the screen has */
	bool end_reported;			/* the end of the process of --pid was reported */
	GHashTable *pids;		/* set of tracked pids; NULL: all processes are traced */
	char *note;			/* file that identifies the program for --sweep, or NULL */
};

/* The state of the helper process. */
struct helper_state {
	const struct session_helper_options *o;
	int fd;				/* the connection */
	pid_t client;			/* blktop */
	int std[3];			/* the original standard files, for the program */
	struct plan *plan, *snapshot_plan;
	char *snapshot;			/* session that snapshots are taken of, or NULL */
	struct helper_kernel *kernel;	/* what records the kernel without LTTng; NULL: nothing does */
	char *no_programs; /* why there is no session daemon, though the kernel can be traced; NULL: there is */
	gint64 looked_us;		/* monotonic: when the session daemon was last seen to live */
	bool daemon_lost;		/* it has ended, which was reported */
	bool made, made_snapshot;	/* the live session and the snapshot session exist, and the helper made them */
	bool ended;			/* END was requested */
	struct relay_place relay;
	pid_t sessiond;			/* the session daemon that it started; 0: none */
	char *snapshots_dir;
	unsigned n_snapshots;
	struct follow follow;
	struct { pid_t pid; unsigned n_left_out; } exec;	/* the program that runs for an alert; 0: none */
};

void helper_send(struct helper_state *w, char word, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* helper_follow.c. follow_check(): does what is to be followed exist? It has no effect. follow_hold(): forks the
 * program, which waits for follow_go(). */
bool follow_check(const struct helper_state *w, GError **error);
bool follow_hold(struct helper_state *w, GError **error);
void follow_go(struct helper_state *w);
/* Tracks w->o->pid or the program, and all their children. Call it again for new children. */
bool follow_track(struct helper_state *w, GError **error);
bool follow_ended(struct helper_state *w);	/* reaps the program and reports its end, once */
void follow_end(struct helper_state *w);		/* ends the program and its process group */
/* Array of int: `root` and the processes below it. Public for tests. */
GArray *follow_descendants(int root);

/*
 * helper_output.c: retains the last LIMIT_PROGRAM_OUTPUT_BYTES of what is written to *ret_fd (close-on-exec), in
 * memory. A writer is never blocked for long, and never gets SIGPIPE, also when this process was killed. NULL: *error.
 */
struct program_output *program_output_new(int *ret_fd, GError **error);
/* For the user: a line, and the output (g_free); NULL: there is none. Waits up to two seconds for the last writer. */
char *program_output_text(struct program_output *o, const char *program);
void program_output_free(struct program_output *o);	/* NULL is fine */

/*
 * helper_sweep.c. A followed program outlives blktop and the helper if both are killed and it ignores SIGTERM. The
 * note, a file in `state`, names its process group to a later run; else the helper removes it.
 * sweep_programs(): the remaining processes of such programs, struct sweep_program; free with g_ptr_array_unref().
 */
struct sweep_program { int pid; char *name; };
char *sweep_note_program(const char *state, int client, int group);	/* path; NULL: failed */
GPtrArray *sweep_programs(const char *state);
/* Ends these processes and removes the notes. Appends a line for each to `report`. */
void sweep_end_programs(const char *state, GString *report);

/* Removes directories in `state` of runs that have ended: those of relay daemons, whose daemon is ended first, and
 * empty ones of snapshots. Appends a line for each to `report`. Call it after their sessions were destroyed. */
void sweep_files(const char *state, GString *report);

/* helper_exec.c. Runs o->exec with the lines of the reason in $BLKTOP_ALERT, unless it still runs. Standard files are
 * the helper's: /dev/null, and the log. */
void exec_run(struct helper_state *w, const char *reason);
void exec_reap(struct helper_state *w);		/* reports its end, if that is an error */
void exec_end(struct helper_state *w);		/* waits some seconds for its end, then ends it */

/* helper_kernel.c: begins to record the kernel as the plan says, and sends the client what it needs to read it. stop:
 * ends recording, which the client notices; end: removes everything. tick: call it now and then. */
bool kernel_begin(struct helper_state *w, GError **error);
void kernel_tick(struct helper_state *w);
int kernel_fd(const struct helper_state *w);	/* readable: call kernel_answer(); -1: none */
void kernel_answer(struct helper_state *w);	/* gives the client the state of the machine */
void kernel_stop(struct helper_state *w);
void kernel_end(struct helper_state *w);

/* helper_snapshot.c: takes a snapshot, and writes its cause into a note beside it. */
void snapshot_take(struct helper_state *w, const char *cause);

#endif
