/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Saves a range of a trace (trace/native/cut.h) on a thread of its own.
 *
 *     struct savejob *j = savejob_new(&cut, job_fd(job));
 *     ... the fd becomes readable ...
 *     if (savejob_take(j, &result, &error)) ...	// and savejob_free(j)
 */
#ifndef BLK_RUN_SAVEJOB_H
#define BLK_RUN_SAVEJOB_H

#include "trace/native/cut.h"

struct savejob;
/* Copies what it needs of `cut` (whose .stop is not used). event_fd: an eventfd that is
 * written to when it is done. */
struct savejob *savejob_new(const struct trace_cut *cut, int event_fd);
void savejob_free(struct savejob *j);	/* stops it, which leaves no files; NULL is fine */

const struct trace_cut *savejob_cut(const struct savejob *j);
void savejob_wait(struct savejob *j);	/* until it is done */
/* True, once, when it is done: *ret is filled (.path is the caller's), or *error is set. */
bool savejob_take(struct savejob *j, struct trace_cut_result *ret, GError **error);

#endif
