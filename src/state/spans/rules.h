/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules: spans from any two events, where a program tells of none itself.
 *
 *     [resize]                            a rule and its name
 *     begin=syscall_entry_openat          the event it begins with
 *     end=syscall_exit_fsync              and ends with; may be the same
 *     begin_if=filename =~ ppm            only where this is true (base/expr.h)
 *     end_if=ret == 0
 *     error_if=ret < 0                    of the end: the span has failed
 *     key=thread                          which begin an end belongs to: fields, `thread`
 *     begin_key= end_key=                 (the default), `cpu`, `host`; where both events
 *                                         name them differently: one each
 *     name=open ${filename}               text with fields of the begin in it; else the rule's
 *     service=${ctx.procname}             the same; else the program's name, if it is told
 *     parent=request                      a rule whose open span is its parent; or `thread`:
 *                                         the innermost open span of the thread, of any source
 *     parent_key=fields                   of the parent's key; without: as by key=thread
 *     nested=yes                          the key may begin again before it ends
 *     tags=dfd, flags                     fields of the begin, kept with the span
 *
 * Fields are those of the payload by their names in the trace ("args[0]" picks one), and of
 * contexts as ctx.tid, ctx.pid, ctx.ppid, ctx.procname, ctx.vpid, ctx.vtid. A group may be
 * called "span NAME" as well: so it is in blktoprc, among other groups.
 *
 * The subscription table (slice.h) is that of the program with what the rules ask for: they
 * are installed once, before anything is opened.
 */
#ifndef BLK_STATE_SPANS_RULES_H
#define BLK_STATE_SPANS_RULES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define BLK_RULES_ERROR (blk_rules_error_quark())
GQuark blk_rules_error_quark(void);

struct rules;
struct rules *rules_new(void);
void rules_free(struct rules *r);		/* NULL is fine */

/*
 * Adds what the text says. false and *error: "FILE:LINE: what is wrong", the first of them;
 * then the rules can only be freed. only_marked: groups not called "span NAME" are of
 * somebody else. A rule of a name that is there already is an error.
 */
bool rules_parse(struct rules *r, const char *file, const char *text, size_t len,
		 bool only_marked, GError **error);
/* After the last text: are the parents that rules name there? */
bool rules_check(const struct rules *r, GError **error);
size_t rules_n(const struct rules *r);

/* Takes them over, and frees those of before; NULL: none. Not while slices or sources are
 * there, nor from two threads. false and *error: an event is asked for too many fields;
 * then none are installed. */
bool rules_install(struct rules *r, GError **error);

struct timeline;
/* The i-th of the installed rules: NULL, or (g_free) "FILE:LINE: [RULE]: no ..." where the
 * trace has not the events that it joins: it made no whole span then. */
char *rules_lacking(size_t i, const struct timeline *tl);
size_t rules_n_installed(void);

#endif
