/* SPDX-License-Identifier: GPL-2.0-only */
/* Finished system calls: their counts and times, and the facts about descriptors that follow from them. */
#ifndef BLK_STATE_KERNEL_CALLS_H
#define BLK_STATE_KERNEL_CALLS_H

#include "state/kernel/cell_cache.h"
#include "state/kernel/locks.h"
#include "state/kernel/thread_logs.h"

#include "base/call_event.h"

/* exit: the record that ended the thread's pending call c. */
void call_finished(struct slice *s, struct thread *t, struct call *c, const struct rec *exit);
/* The same, but without facts about descriptors. */
void call_counts(struct slice *s, struct thread *t, struct call *c, const struct rec *exit);
/* Counts an entry, or an exit with an error, of a thread whose entries and exits cannot be paired: it stands for others
 * (TID_UNPROVEN). */
void call_unpaired(struct slice *s, struct thread *t, const struct rec *r);
/* Writes facts that hold from the entry on: close() frees the descriptor's number before its exit. */
void call_facts_at_entry(struct slice *s, const struct thread *t, const struct rec *r);
/* Writes facts of an exit without an entry: descriptors that the call made or closed. */
void call_facts_of_exit(struct slice *s, const struct thread *t, const struct rec *exit);
/* Notes in slice.fdops the descriptors that the exit may have changed. The entry may be missing. */
void call_exit_bump(struct slice *s, const struct thread *t, const struct rec *r);
/* Adds the call to the slowest calls of the second, if it is slow enough. */
void call_slow(struct slice *s, struct bin *b, const struct thread *t, const struct call *c, int64_t ts, int64_t ret,
	       enum call_wait wait);
/* For IO_BOTH: counts the bytes written to the target descriptor. */
void call_count_target(struct slice *s, struct bin *b, struct thread *t, const struct call *c,
		       const struct call_info *info, int64_t ts, int64_t ret);
/* Appends the call to the thread's log. */
void call_keep(struct thread *t, const struct call *c, int64_t ts, int64_t ret);

/* What the call waits for. A plain read counts as one of a file that is not regular. restart_syscall counts as not
 * waiting: a slice that begins in the interrupted call does not know which call it continues. info: of c. */
static inline enum call_wait call_wait(const struct call *c, const struct call_info *info)
{
	if (c->restart)
		return CALL_NO_WAIT;
	return info->futex_args ? call_futex_wait(c) : (enum call_wait)info->wait;
}

static inline enum slow_list call_slow_list(const struct call_info *info, enum call_wait wait)
{
	return wait == CALL_NO_WAIT || wait == CALL_WAITS_LOCK ? SLOW_WORKS : wait == CALL_WAITS_EVENT ? SLOW_EVENTS :
	       info->dir == IO_DIR_PLAIN ? SLOW_PLAIN : SLOW_WAITS;
}

/* Did the call transfer an unknown number of bytes? recvmmsg() and sendmmsg() return a number of messages,
 * io_uring_enter() one of requests. */
static inline bool call_is_unsized(const struct call_info *info, int64_t ret)
{
	return ret > 0 && !info->bytes_mask && (info->reads || info->writes);
}

/* asked: bytes that the call requested; -1: unknown. */
static inline void file_count(struct built_file_cell *f, unsigned dir, uint64_t bytes, bool unsized, int64_t asked,
			      bool error, int64_t latency, unsigned bucket)
{
	hist_add_at(&f->latency[dir], latency, bucket);
	f->errors += error;
	if (dir == IO_DIR_PLAIN)
		dir = IO_DIR_READ;
	if (dir <= IO_DIR_WRITE) {
		f->bytes[dir] += bytes;
		f->asked[dir] += asked < 0 ? 0 : (uint64_t)asked;
		f->untold[dir] += asked < 0;
		f->unsized[dir] += unsized;
	}
}

static inline void file_submitted(struct built_file_cell *f, uint64_t requests)
{
	f->submitted += requests;
	f->unsized[IO_DIR_READ]++;
	f->unsized[IO_DIR_WRITE]++;
}

/* bt: from cell_of_thread(); bc: from cell_of_call(); info: of c. */
static inline void call_count(struct slice *s, struct bin *b, struct thread *t,
			      struct built_thread_cell *bt, struct call_cell *bc, const struct call *c,
			      const struct call_info *info, int64_t ts, int64_t ret)
{
	int64_t latency = ts - c->begin;
	unsigned bucket = hist_bucket_index(latency);
	bool error = call_failed(ret);
	enum call_wait wait = call_wait(c, info);
	enum slow_list list = call_slow_list(info, wait);
	hist_add_at(&bc->latency, latency, bucket);
	bc->errors += error;
	if (info->futex_args) {
		struct wait_cell *w = BIN_CELL(s, b, wait, .thread = t->self, .name = c->name, .wait = wait);
		hist_add_at(&w->latency, latency, bucket);
		w->errors += error;
		w->busy_ns += MAX(ts - c->busy_from, 0);
	}
	bt->syscalls++;
	bt->errors += error;
	if (info->has_fd) {	/* all calls that move bytes have a descriptor */
		uint64_t bytes = ret > 0 ? (uint64_t)ret & info->bytes_mask : 0;
		bool unsized = call_is_unsized(info, ret);
		bt->unsized[IO_DIR_READ] += unsized && info->reads;
		bt->unsized[IO_DIR_WRITE] += unsized && info->writes;
		bt->read_bytes += info->reads ? bytes : 0;
		bt->write_bytes += info->writes ? bytes : 0;
		if (c->fd >= 0 && slice_reads(s, CELL_file)) {
			struct built_file_cell *f = cell_of_file(s, b, t, c);
			file_count(f, info->dir, bytes, unsized, c->arg[0], error, latency, bucket);
			if (info->dir == IO_DIR_PLAIN) {
				f->plain_ns += MAX(ts - c->busy_from, 0);
				f->plain_errors += error;
			}
			if (info->submits && ret > 0)
				file_submitted(f, (uint64_t)ret);
		} else if (info->dir == IO_DIR_PLAIN) {
			struct wait_cell *w = BIN_CELL(s, b, wait, .thread = t->self, .name = c->name,
						       .wait = CALL_NO_WAIT);
			hist_add_at(&w->latency, latency, bucket);
			w->errors += error;
			w->busy_ns += MAX(ts - c->busy_from, 0);
		}
		if (info->io == IO_BOTH)
			call_count_target(s, b, t, c, info, ts, ret);
	}
	if (latency >= b->slow_from[list])
		call_slow(s, b, t, c, ts, ret, wait);
}

/* Logs the call if a span may need it: its own, or one that a span's thread waited for. */
static inline void call_log(struct slice *s, struct thread *t, const struct call *c,
			    int64_t ts, int64_t ret)
{
	uint64_t released;
	if (!s->no_spans && (!s->from_start || t->tid == -1 || s->looks_back || thread_was_in_span(t, ts) ||
			     (s->annots->len && call_wakes_futex(c, &released))))
		call_keep(t, c, ts, ret);
	if ((t->woke_ns >= c->begin || t->file_lock) && slice_counts_locks(s))
		lock_call_ended(s, t, c, ts, ret);
}

#endif
