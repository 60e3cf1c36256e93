/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of descriptors while a journal goes on (inside src/state/): tables of processes,
 * changed by calls as they come back. */
#ifndef BLK_STATE_JOURNAL_FDS_H
#define BLK_STATE_JOURNAL_FDS_H

#include "state/journal.h"
#include "state/syscalls.h"

struct jfds;
struct jfds *jfds_new(void);
void jfds_free(struct jfds *t);

/* The process's key; threads of no known process have a table of their own. */
static inline int64_t jfds_key(uint32_t host, int32_t tid, int32_t pid)
{
	return (int64_t)((uint64_t)host << 33 | (uint64_t)(pid < 0) << 32 |
			 (uint32_t)(pid < 0 ? tid : pid));
}

GRefString *jfds_name(const struct jfds *t, int64_t process, int64_t fd);	/* borrowed, NULL */
GArray *jfds_all(const struct jfds *t, int64_t process);	/* struct journal_fd, sorted */
void jfds_set(struct jfds *t, int64_t process, int64_t fd, const char *name, bool cloexec);
void jfds_fork(struct jfds *t, int64_t parent, int64_t child);
void jfds_drop(struct jfds *t, int64_t process);

/* close() was entered: the descriptor is gone, and may be another's before it comes back. */
void jfds_close(struct jfds *t, int64_t process, GBytes *args);

/* A call came back: what it did to the descriptors. args, results: runs, or NULL. */
void jfds_call(struct jfds *t, int64_t process, const struct call_info *info, GBytes *args,
	       GBytes *results, int64_t ret);

#endif
