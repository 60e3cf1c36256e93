/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lttng command lines that record what is missing: the one wording of all, for facts of
 * a view, losses, and --doctor. Texts are free with g_free; names are quoted for a shell.
 *
 * A need is as views have it (registry.h) or a name of an event; "a|b": any of them.
 */
#ifndef BLK_VIEWS_REPAIRS_H
#define BLK_VIEWS_REPAIRS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* "system calls", "perf counters", "the context vtid (ust)", "sched_waking" (the first). */
char *repair_words(const char *need);
bool repair_is_context(const char *need);	/* "ust.vtid" */
bool repair_is_plural(const char *need);	/* words that are many things */
bool repair_is_tracepoint(const char *need);	/* the name of an event of the kernel */
const char *repair_domain(const char *need);	/* "kernel", "ust" */

/* "--kernel --session S --channel C"; what is NULL is left out: lttng's current session. */
char *repair_where(const char *domain, const char *session, const char *channel);

/* What records it there (char *, freed with it). SYMBOL and the like are the user's to fill
 * in. None of contexts and state dumps. */
GPtrArray *repair_commands(const char *need, const char *where);

/* session: NULL: the current one. */
char *repair_statedump(const char *session);
/* A channel with other buffers. channel: NULL: "NAME". discard: not overwritten. */
char *repair_buffers(const char *domain, const char *session, const char *channel, uint64_t bytes,
		     uint64_t n, bool discard);
/* The same where nothing more is known: a command as one would type it. Constant text. */
const char *repair_for_losses(bool kernel);

#endif
