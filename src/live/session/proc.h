/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the state of processes of this machine from proc(5). Any thread. */
#ifndef BLK_LIVE_SESSION_PROC_H
#define BLK_LIVE_SESSION_PROC_H

#include <stdbool.h>

struct proc_stat {
	char name[64];		/* any bytes: not safe to print */
	char state;		/* as in proc(5); 'Z': zombie */
	int parent, group, session;
};

/* false: the process does not exist. */
bool proc_read_stat(int pid, struct proc_stat *ret);
/* Has it ended? True also for a zombie. */
bool proc_has_ended(int pid);
/* Calls `each` for every process; processes that begin or end meanwhile may be missing. */
void proc_each(void (*each)(int pid, void *data), void *data);

/* Why the running kernel cannot be traced by LTTng, and the remedy (g_free); NULL: its modules are loaded, or can be.
 * Needs no session daemon. `root`: the directory that has sys/ and lib/, "" for this machine; `release`: uname -r. */
char *proc_no_tracer(const char *root, const char *release);

#endif
