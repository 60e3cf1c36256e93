/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules make spans from pairs of arbitrary events, for programs without tracing of their own.
 *
 *     [resize]                            the rule's name
 *     begin=syscall_entry_openat          the event that begins a span
 *     end=syscall_exit_fsync              the event that ends it; may be the same
 *     begin_if=filename =~ ppm            condition on the begin event (base/expr.h)
 *     end_if=ret == 0                     condition on the end event
 *     error_if=ret < 0                    condition on the end event: the span has failed
 *     key=thread                          an end belongs to the beginning with the same key:
 *                                         fields, `thread` (the default), `cpu`, `host`
 *     begin_key= end_key=                 instead of key=, if the events' field names differ
 *     name=open ${filename}               name of the span, with fields of the begin event;
 *                                         default: the rule's name
 *     service=${ctx.procname}             name of the service; default: the program's name
 *     parent=request                      the parent is an open span of this rule; or `thread`:
 *                                         the innermost open span of the thread, of any source
 *     parent_key=fields                   the parent's key; default: as with key=thread
 *     nested=yes                          the key may begin again before it ends
 *     tags=dfd, flags                     fields of the begin event, stored with the span
 *
 * Payload fields have their names in the trace ("args[0]" is one element). Contexts are ctx.tid,
 * ctx.pid, ctx.ppid, ctx.procname, ctx.vpid, ctx.vtid. A group may also be called "span NAME":
 * in blktoprc, where other groups exist, it must be.
 *
 * Rules add events and fields to the subscription table (slice.h). So they are installed once,
 * before anything is opened.
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
 * Adds the rules in the text. false and *error: "FILE:LINE: what is wrong" for the first error; then the rules can
 * only be freed. only_marked: groups that are not called "span NAME" are ignored. A second rule of the same name is an
 * error.
 */
bool rules_parse(struct rules *r, const char *file, const char *text, size_t len,
		 bool only_marked, GError **error);
/* Call it after the last text: checks that all parents that rules name exist. */
bool rules_check(const struct rules *r, GError **error);
size_t rules_n(const struct rules *r);

/* Takes ownership of the rules and frees those that were installed before; NULL: none. Call it from one thread,
 * while no slice or source exists. false and *error: an event needs more fields than the table has room for; then
 * no rules are installed. */
bool rules_install(struct rules *r, GError **error);

struct timeline;
/* The i-th of the installed rules: NULL, or "FILE:LINE: [RULE]: ..." (g_free) if the trace has no events of a type that
 * the rule needs, or if events of it had no value for a field of a key. Such events begin and end no complete span. */
char *rules_missing_text(size_t i, const struct timeline *tl);
size_t rules_n_installed(void);
/* A digest of the installed rules' lines; "": there are none. Borrowed. */
const char *rules_digest(void);

#endif
