/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptor tables: which file each descriptor of a process referred to at any event. A table stores every version of
 * every descriptor. A lookup considers what exec closed and what a fork inherited. Processes can share a table. The
 * caller numbers the files. Instants are event numbers ("seq"); changes may come in any order. Only for src/state/.
 */
#ifndef BLK_STATE_NAMES_FDTABLE_H
#define BLK_STATE_NAMES_FDTABLE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct fdtable;			/* of a process, or of a thread of an unknown process */
/* losses: uint64_t seq, in ascending order: events at which descriptors may have changed unseen. What was known before
 * one of them is unknown from it on. The caller may add more later. The table has a reference to the array. */
struct fdtable *fdtable_new(GArray *losses);
void fdtable_free(struct fdtable *t);	/* call it only when nothing refers to it: free all tables of a slice
					 * together */

/* A new table has one owner. fdtable_own() adds one and returns the table. fdtable_disown(): an owner no longer needs
 * it. fdtable_forget() frees a table when it has no owner and no copy refers to it. NULL is fine. */
struct fdtable *fdtable_own(struct fdtable *t);
void fdtable_disown(struct fdtable *t);
bool fdtable_is_shared(const struct fdtable *t);	/* has it several owners? */

/* Moves the content of `from` to `into`. From then on `from` is an alias of `into`. Does nothing if it is one
 * already. */
void fdtable_merge(struct fdtable *into, struct fdtable *from);

/* The child inherits the descriptors that the parent has open just after seq. */
void fdtable_fork(struct fdtable *child, struct fdtable *parent, uint64_t seq);
/* The child got a copy of its parent's table or shares it (clone3): it is not known which. So a descriptor that one of
 * them changes from now on is unknown in the other. fdtable_settle(): the table is not shared any more, since its
 * process called exec or unshare, or ended. */
void fdtable_fork_or_share(struct fdtable *child, struct fdtable *parent, uint64_t seq);
void fdtable_settle(struct fdtable *t);
void fdtable_exec(struct fdtable *t, uint64_t seq);	/* closes descriptors that have the close-on-exec flag */

struct fd_version {
	uint64_t seq;		/* valid just after that event */
	uint32_t file;		/* ID_NONE: closed, or unknown */
	bool cloexec;
	bool dumped;		/* from the state dump: as the first version it also holds for the time before */
};
void fdtable_put(struct fdtable *t, int64_t fd, const struct fd_version *v);
/* Replaces the file by one with a better name; the close-on-exec flag does not change. */
void fdtable_rename(struct fdtable *t, int64_t fd, uint64_t seq, uint32_t file);
void fdtable_dup(struct fdtable *t, int64_t from, int64_t to, uint64_t seq, bool cloexec);
/* Closes the descriptors [first, last], inherited ones included. */
void fdtable_close(struct fdtable *t, int64_t first, int64_t last, uint64_t seq);
void fdtable_set_cloexec(struct fdtable *t, int64_t first, int64_t last, uint64_t seq, bool cloexec);

/* The file just after event seq, or ID_NONE. */
uint32_t fdtable_file(const struct fdtable *t, int64_t fd, uint64_t seq);
/* The same, with the range of events [*ret_from, *ret_to) for which the answer holds; empty: unknown. */
uint32_t fdtable_file_while(const struct fdtable *t, int64_t fd, uint64_t seq, uint64_t *ret_from,
			    uint64_t *ret_to);
bool fdtable_has_own(const struct fdtable *t, int64_t fd);	/* is there a version that is not inherited? */

struct fd_open { int64_t fd; uint32_t file; };
/* All descriptors open just after seq, by number: struct fd_open. Free with g_array_unref(). */
GArray *fdtable_open(const struct fdtable *t, uint64_t seq);

/*
 * For endless runs: frees versions from before event `seq`, except those valid at the events `needed` (sorted) and at
 * forks of tables in `all`. Call in this order: fdtable_note_forks(); fdtable_forget_ended() for each process that
 * ended, with its last event; fdtable_forget(), which also frees disowned tables and removes them from `all`.
 */
void fdtable_note_forks(const GPtrArray *all);
void fdtable_forget_ended(struct fdtable *t, const GArray *needed, uint64_t last);
void fdtable_forget(GPtrArray *all, const GArray *needed, uint64_t seq);
/* For endless runs: drops losses up to event `seq`. Lookups at the events `needed` (sorted) and after `seq` do not
 * change: each depends on the loss before it and on the one after it. */
void fdtable_forget_losses(GArray *losses, const GArray *needed, uint64_t seq);

#endif
