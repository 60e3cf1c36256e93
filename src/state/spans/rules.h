/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules make spans from arbitrary events, for programs without tracing of their own. doc/spans.md describes the
 * language:
 *
 *     [resize]                            the rule's name
 *     begin=app:*_entry                   the events that begin a span, as a pattern
 *     end=app:${1}_exit                   the events that end it
 *     begin_if= end_if= error_if=         conditions on these events (base/expr.h)
 *     key= begin_key= end_key=            an end belongs to the beginning with the same key
 *     name= service= tags=                texts, with fields of the begin event
 *     parent= parent_key= nested= async=  where it belongs
 *     link_out= link_in=                  messages that the begin event sends, and takes: NAME(field, ...)
 *     end_link_out= end_link_in=          the same of the end event
 *     every=TEXT                          so many ns after its beginning, the next span with the key is due
 *
 *     end=E duration=FIELD unit=us        instead of begin=: the event of end= is a whole span; duration=0: an instant
 *     [table symbol]                      later names use ${symbol[callback]}
 *     event= if= key= value= scope=       the event that defines an entry, what for, and what it means
 *
 * In files with other groups (blktoprc), a rule's group is called "span NAME". Rules behind a group "preset NAME" are
 * those of the preset (presets.h), and have names of their own.
 *
 * A group "annotation NAME" makes no spans:
 *
 *     [annotation logs]
 *     event=lttng_python:event            events that belong to the innermost open span of their thread
 *     if= text= tags=                     as begin_if=, name= and tags=
 *     severity=int_loglevel scale=python  a field with the severity, and the library that counts it (severity.h)
 *
 * Rules add events and fields to the subscription table (slice.h). So they are installed once, before anything is
 * opened.
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
/* The heads of presets (presets.h) in the texts: struct preset *, owned by the array, which the caller frees. The rules
 * can then only be freed. */
GPtrArray *rules_take_presets(struct rules *r);

/* Takes ownership of the rules and frees those that were installed before; NULL: none. Call it from one thread,
 * while no slice or source exists. false and *error: an event needs more fields than the table has room for; then
 * no rules are installed. */
bool rules_install(struct rules *r, GError **error);

struct timeline;
/* The i-th of the installed rules: NULL, or "FILE:LINE: [RULE]: ..." (g_free) if the trace has no events of a type that
 * the rule needs (of a preset: of the one that ends), or if events of it had no value for a field of a key.
 * Such events begin and end no complete span. */
char *rules_missing_text(size_t i, const struct timeline *tl);
/* Are there spans of other rules than those that are installed, in slices that were made with them? They are left
 * out. */
bool rules_any_absent(const struct timeline *tl);
size_t rules_n_installed(void);
size_t rules_n_own(void);	/* without those of presets */
/* Do the installed rules speak of a trace with these events? The user's own do of any. */
bool rules_any_met(const char *const *events);
/* A digest of the installed rules' lines; "": there are none. Borrowed. */
const char *rules_digest(void);

#endif
