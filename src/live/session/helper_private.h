/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steward's own side: what runs in its process. And the packets between both: a letter,
 * then text without its end. Requests: 'A' + enum steward_request.
 */
#ifndef BLK_LIVE_SESSION_HELPER_PRIVATE_H
#define BLK_LIVE_SESSION_HELPER_PRIVATE_H

#include "live/session/daemons.h"
#include "live/session/helper.h"

#define HELPER_PACKET 60000
#define HELPER_SESSION_PREFIX "blktop-"
#define HELPER_SNAPSHOT_SUFFIX "-snapshot"

enum {
	HELPER_WORD_DONE = 'd', HELPER_WORD_FAILED = 'f', HELPER_WORD_SAYS = 's',
	HELPER_WORD_COMPLAINS = 'c', HELPER_WORD_EXITED = 'x',
	HELPER_WORD_DOING = 'p',	/* what it does next, of what takes long */
};

/* A client of whoever speaks so at the other end of `fd`; pid: waited for at the end. */
struct session_helper *session_helper_of(int fd, pid_t pid);

G_NORETURN void session_helper_work(const struct session_helper_options *o, int fd);

/* Its state, shared by its files. */
struct follow {
	pid_t program;			/* runs or is held; 0: none, or it ended */
	int go_fd;			/* a byte lets it run; -1 */
	char *output;			/* file with what it printed, or NULL */
	bool told_end;			/* of the process --pid names */
	GHashTable *pids;		/* being tracked; NULL: all processes are traced */
	char *note;			/* file that tells --sweep of the program, or NULL */
};

struct helper_state {
	const struct session_helper_options *o;
	int fd;
	pid_t client;
	int std[3];			/* as they were, for the program */
	struct plan *plan, *snapshot_plan;
	char *snapshot;			/* session that snapshots are taken of, or NULL */
	bool made, made_snapshot, ended;
	struct relay_place relay;
	pid_t sessiond;			/* of ours; 0: it was there */
	char *snapshots_dir;
	unsigned n_snapshots;
	struct follow follow;
};

void helper_say(struct helper_state *w, char word, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The program (helper_follow.c). hold: forks it, to wait for go. */
bool follow_hold(struct helper_state *w, GError **error);
void follow_go(struct helper_state *w);
/* Tracks w->o->pid or the program, with all their children; again for those that are new. */
bool follow_track(struct helper_state *w, GError **error);
bool follow_ended(struct helper_state *w);	/* reaps and tells, once */
void follow_end(struct helper_state *w);		/* ends it, with its process group */
bool follow_has_printed(struct helper_state *w);	/* to its file; an empty one is removed */
/* Below `root`, itself included: of int. For tests. */
GArray *follow_descendants(int root);

/*
 * A followed program outlives blktop and its steward when both are killed and it ignores SIGTERM. The
 * note, a file in `state`, tells a later run which process group that is; the steward removes it.
 * sweep_programs(): the processes that are left of such programs, of struct sweep_program; free with
 * g_ptr_array_unref().
 */
struct sweep_program { int pid; char *name; };
char *sweep_note_program(const char *state, int client, int group);	/* the file; NULL: there is none */
GPtrArray *sweep_programs(const char *state);
/* Ends them, and removes the notes. Appends a line of each to `said`. */
void sweep_end_programs(const char *state, GString *said);

/* What killed runs left in files (helper_sweep.c). Relay directories in `state` of runs that are
 * gone are removed, after the relay daemon of ours that writes there, if it lives; of those of
 * snapshots only empty ones. Appends a line of each to `said`. Call it without their sessions. */
void sweep_files(const char *state, GString *said);

/* Snapshots (helper_snapshot.c). */
void snapshot_take(struct helper_state *w, const char *cause);

#endif
