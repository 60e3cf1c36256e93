/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A line of the journal as text, and its values for filters. Texts are visible text:
 * what the trace says is made safe here.
 */
#ifndef BLK_VIEWS_LOGLINE_H
#define BLK_VIEWS_LOGLINE_H

#include "base/expr.h"
#include "base/fields.h"
#include "state/calllog/calllog.h"

/* What happened, without instant and thread: `read(fd 5 "x", count = 64) = 64 <0.000012>`,
 * `sched_switch: prev_comm = "a", ...`, `lost 5 events until 14:03:05.123456789`. */
char *logline_what(const struct journal_line *l);
/* `14:03:05.123456789 [thumbnailer 1234] ` and that. */
char *logline_text(const struct journal_line *l);
/* One field's value, for a list of them: `64`, `0x7f00`, `"text"`. */
char *logline_value(const struct field *f);

/* Filters over lines (base/expr.h). Bare words are looked for in the line's text; arg.NAME
 * is a field of the call's entry or exit, or of the event, also inside others (arg.a.b,
 * arg.fildes[1]); arg.NAME# an enumeration's number. */
struct logfilter;
struct logfilter *logfilter_new(const char *text, GError **error);
void logfilter_free(struct logfilter *f);	/* NULL is fine */
bool logfilter_match(struct logfilter *f, const struct journal_line *l);
/* One of its columns, of a line; texts go to the chunk. */
bool logfilter_has(const char *column);
struct value logfilter_get(const struct journal_line *l, const char *column, GStringChunk *chunk);

#endif
