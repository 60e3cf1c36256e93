/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads a recorded trace to propose rules for spans (state/spans/suggest.h), at once or on a thread of its own.
 *
 *     struct suggestjob *j = suggestjob_new(paths, by_bt2, names, job_fd(job));
 *     ... the fd becomes readable ...
 *     if (suggestjob_take(j, &found)) ...		// and suggestjob_free(j)
 */
#ifndef BLK_RUN_SUGGESTJOB_H
#define BLK_RUN_SUGGESTJOB_H

#include "state/spans/suggest.h"

/* names: of the trace's events, NULL-terminated; stop (or NULL): not 0 stops soon (atomic). struct suggestion *, maybe
 * none; free with g_ptr_array_unref(). NULL: stopped, or *error. */
GPtrArray *suggestjob_read(const char *const *paths, bool by_bt2, const char *const *names, const int *stop,
			   GError **error);

struct suggestjob;
/* Copies its arguments. event_fd: an eventfd that is written to when it is done. */
struct suggestjob *suggestjob_new(const char *const *paths, bool by_bt2, const char *const *names, int event_fd);
void suggestjob_free(struct suggestjob *j);	/* stops it; NULL is fine */
/* True, once, when it is done: *ret is the caller's. False, too, if it failed. */
bool suggestjob_failed(const struct suggestjob *j);	/* nothing will come */
bool suggestjob_take(struct suggestjob *j, GPtrArray **ret);

#endif
