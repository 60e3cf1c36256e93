/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel says of a process of this machine: proc(5). Any thread. */
#ifndef BLK_LIVE_SESSION_PROC_H
#define BLK_LIVE_SESSION_PROC_H

#include <stdbool.h>

struct proc_stat {
	char name[64];		/* raw: any bytes */
	char state;		/* 'Z': it has ended, and its parent does not know yet */
	int parent, group, session;
};

/* false: there is no such process. */
bool proc_read_stat(int pid, struct proc_stat *ret);
/* Has it ended? One that only its parent has to take note of has. */
bool proc_is_gone(int pid);
/* Calls `each` for every process; those that begin or end meanwhile may be missing. */
void proc_each(void (*each)(int pid, void *data), void *data);

#endif
