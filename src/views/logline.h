/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A line of the call log as text, and its values for filters. Texts are safe for a terminal: this module escapes
 * what comes from the trace.
 */
#ifndef BLK_VIEWS_LOGLINE_H
#define BLK_VIEWS_LOGLINE_H

#include "base/expr.h"
#include "base/fields.h"
#include "state/calllog/calllog.h"

/* The event or call without time and thread: `read(fd 5 "x", count = 64) = 64 <0.000012>`,
 * `sched_switch: prev_comm = "a", ...`, `lost 5 events until 14:03:05.123456789`. Flags and operations have names
 * (call_flags.h). timed: with the duration of a call. */
char *logline_what(const struct calllog_line *l, bool timed);
/* The same after time and thread: `14:03:05.123456789 [thumbnailer 1234] `. */
char *logline_text(const struct calllog_line *l);
/* Letter of the part (part.h) that a call's thread is in while it is blocked; 0: no call, or none of those. */
char logline_part(const struct calllog_line *l);
/* The value of one of its fields: `64`, `0x7f00`, `"text"`, `577  O_WRONLY|O_CREAT|O_TRUNC`. */
char *logline_value(const struct calllog_line *l, const struct field *f);

/* Filters over lines (base/expr.h). A bare word matches the line's text. arg.NAME is a field of the call's entry or
 * exit, or of the event; nested ones are arg.a.b and arg.fildes[1]. arg.NAME# is the number of an enumeration. */
struct logfilter;
struct logfilter *logfilter_new(const char *text, GError **error);
void logfilter_free(struct logfilter *f);	/* NULL is fine */
bool logfilter_match(struct logfilter *f, const struct calllog_line *l);
/* The value of a column for a line. Texts are copied into the chunk. */
bool logfilter_has(const char *column);
struct value logfilter_get(const struct calllog_line *l, const char *column, GStringChunk *chunk);

#endif
