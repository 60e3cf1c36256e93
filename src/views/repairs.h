/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lttng commands that record missing events and contexts, for F7, losses and `doctor`. Free texts with g_free();
 * names in commands are quoted for a shell.
 *
 * A need is one of views (registry.h) or the name of an event; "a|b": any of them.
 */
#ifndef BLK_VIEWS_REPAIRS_H
#define BLK_VIEWS_REPAIRS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* "system calls", "perf counters", "spans", "the context vtid (ust)", "sched_waking" (the first). */
char *repair_words(const char *need);
bool repair_is_context(const char *need);	/* "ust.vtid" */
bool repair_is_plural(const char *need);	/* its words are a plural */
bool repair_is_tracepoint(const char *need);	/* the name of an event of the kernel */
const char *repair_domain(const char *need);	/* "kernel", "ust" */

/* "--kernel --session S --channel C". NULL arguments are left out; lttng then uses its current session. */
char *repair_where(const char *domain, const char *session, const char *channel);

/* The commands (char *, owned by the array) that record the need at `where`. The user replaces words such as SYMBOL.
 * Empty for contexts and state dumps. */
GPtrArray *repair_commands(const char *need, const char *where);

/* session: NULL: the current one. */
char *repair_statedump(const char *session);
/* Creates a channel with other buffers. channel NULL: "NAME". discard: discard mode, else overwrite mode. */
char *repair_buffers(const char *domain, const char *session, const char *channel, uint64_t bytes,
		     uint64_t n, bool discard);
/* Records anew what a view needs, also where LTTng's kernel modules are missing. */
#define REPAIR_RECORD "sudo blktop record -o DIR"
/* The same with buffers of so many bytes for each CPU, a power of 2 of 1 MiB or more. */
char *repair_record_buffer(uint64_t bytes);
/* The same where sizes of packets are not known. Constant text. */
const char *repair_for_losses(void);

#endif
