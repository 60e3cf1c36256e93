/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptor tables: which file a descriptor of a process was at any instant. A table holds every version
 * of every descriptor with its instant; what exec closes and what a fork inherited are part of the
 * lookup. Files are numbers of the caller's. Instants are the numbers of events ("seq"), and changes may
 * come in any order. Only for src/state/.
 */
#ifndef BLK_STATE_NAMES_FDTABLE_H
#define BLK_STATE_NAMES_FDTABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct fdtable;			/* of a process, or of a thread whose process is not known */
struct fdtable *fdtable_new(void);
void fdtable_free(struct fdtable *t);	/* nothing may refer to it: free all of a slice together */

/* Its owner has gone: fdtable_forget() frees it when no copy refers to it. NULL is fine. */
void fdtable_disown(struct fdtable *t);

/* `from` becomes part of `into` and answers as it does from now on. Nothing if they are one already. */
void fdtable_merge(struct fdtable *into, struct fdtable *from);
bool fdtable_is_merged(const struct fdtable *t);

/* The table inherits what the other one has just after seq. */
void fdtable_fork(struct fdtable *child, struct fdtable *parent, uint64_t seq);
void fdtable_exec(struct fdtable *t, uint64_t seq);	/* closes what closes on exec */

struct fd_version {
	uint64_t seq;		/* since just after that event */
	uint32_t file;		/* ID_NONE: closed, or not known */
	bool cloexec;
	bool dumped;		/* by the state dump: if it is the first version, it was so before, too */
};
void fdtable_put(struct fdtable *t, int64_t fd, const struct fd_version *v);
/* Another name of the same file; its close-on-exec flag stays. */
void fdtable_rename(struct fdtable *t, int64_t fd, uint64_t seq, uint32_t file);
void fdtable_dup(struct fdtable *t, int64_t from, int64_t to, uint64_t seq, bool cloexec);
/* Of [first, last], the inherited ones, too. */
void fdtable_close(struct fdtable *t, int64_t first, int64_t last, uint64_t seq);
void fdtable_set_cloexec(struct fdtable *t, int64_t first, int64_t last, uint64_t seq, bool cloexec);

/* The file just after event seq, or ID_NONE. */
uint32_t fdtable_file(const struct fdtable *t, int64_t fd, uint64_t seq);
/* The same, and from when to when (seq, half open) the answer is this one; empty: not known. */
uint32_t fdtable_file_while(const struct fdtable *t, int64_t fd, uint64_t seq, uint64_t *ret_from,
			    uint64_t *ret_to);
bool fdtable_has_own(const struct fdtable *t, int64_t fd);	/* has it any version that is not inherited? */

struct fd_open { int64_t fd; uint32_t file; };
/* All that are open just after seq, by number. g_array_unref() */
GArray *fdtable_open(const struct fdtable *t, uint64_t seq);

/*
 * For runs without end: of what was before event `seq` only the instants `asked` (sorted) will be asked
 * for, and those at which tables of `all` were forked. In this order: fdtable_note_forks(), then
 * fdtable_forget_ended() of each process that ended, at event `last`, then fdtable_forget(), which frees
 * disowned tables and removes them from `all`.
 */
void fdtable_note_forks(const GPtrArray *all);
void fdtable_forget_ended(struct fdtable *t, const GArray *asked, uint64_t last);
void fdtable_forget(GPtrArray *all, const GArray *asked, uint64_t seq);

#endif
