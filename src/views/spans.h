/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Columns of a span, which the views spans and waterfall share. Private to src/views/.
 */
#ifndef BLK_VIEWS_SPANS_H
#define BLK_VIEWS_SPANS_H

#include "views/common.h"

#include "base/limits.h"
#include "state/store/severity.h"

struct span_row {
	struct common c;		/* name, service, host, pid, tid, parts, errors */
	struct span *span;		/* referenced by the rows */
	const char *tags, *marks, *explanation, *neighbour, *linked;	/* made at first use */
	int64_t neighbour_ns;		/* made with .neighbour, if that is a name */
};

extern const char *const span_state_name[];	/* by enum span_state */
extern const char *const span_kind_name[];	/* by enum span_kind; NULL: local */

/* Makes the rows hold a reference to a span, which may be evicted or replaced while the rows are shown. */
void rows_hold_span(struct rows *rows, const struct span *s);
/* Sets the columns of a span and calls rows_hold_span(). */
void span_row_fill(struct span_row *r, struct rows *rows, const struct span *s);
bool query_wants_span(const struct view_query *q, const struct timeline *tl,
		      const struct span *s);
/* Has the span the query's operation (name) and service? NULL there means any. */
bool query_wants_operation(const struct view_query *q, const struct span *s);

/* Appends a blank and a word of two parts. False: it appended an ellipsis instead, because the text would exceed
 * LIMIT_WORDS_BYTES. */
bool span_add_word(GString *to, const char *word, const char *rest);
/* The annotation's text, after its severity if it has one: "error: cannot open it". Free with g_free(). */
char *span_annotation_text(const struct span_annotation *a);
/* The severity of the most severe annotation; SEVERITY_NONE: none has one. */
uint8_t span_severity(const struct span *s);
/* How many events of annotations no span has, and why (g_free); NULL: none. */
char *span_notes_left_out(const struct timeline *tl);
/* The span that sent the message; NULL: the timeline does not have it. */
const struct span *span_linked(const struct timeline *tl, const struct span_link *l);
/* "NAME in SERVICE", or the id of the span that the timeline does not have (g_free). */
char *span_link_label(const struct timeline *tl, const struct span_link *l);

/* Append tags ("user=7 size=12") or annotations ("start encode end") up to LIMIT_WORDS_BYTES, then an ellipsis. */
void span_add_tags(GString *to, const struct span *s);
void span_add_annotations(GString *to, const struct span *s);

GETTER(span_get_duration);
GETTER(span_get_parent_state);
GETTER(span_get_tags);
GETTER(span_get_annotations);
GETTER(span_get_severity);
GETTER(span_get_explanation);	/* the rows have explanations_attach() */

#define COLUMN_SPAN_ID(id_, title_, help_, get_) \
	{ .id = id_, .title = title_, .kind = VALUE_HEX64, .width = 16, .priority = 8, \
	  .help = help_, .get = get_ }
/* A member of the row's span. */
#define SPAN_MEMBER(name, ...) MEMBER_OF(struct span_row, span, name, __VA_ARGS__)
#define COLUMN_BATCH_ID(id_, help_, get_) \
	{ .id = id_, .title = id_, .kind = VALUE_HEX64, .help = help_, .get = get_ }

/* Columns of tags and annotations, for filters and searches. */
#define COLUMNS_SAID(whose, tags_, annotations_, severity_) \
	COLUMN_T("tags", "TAGS", 0, 0, "tags of " whose ", key=value", tags_), \
	COLUMN_T("annotations", "ANNOTATIONS", 0, 0, "annotations of " whose ", by time", \
		 annotations_), \
	COLUMN_T("severity", "SEVERITY", 0, 0, "the most severe annotation of " whose ": fatal, alert, critical, " \
		 "error, warning, notice, info, debug or trace", severity_)
#define COLUMN_EXPLANATION(get_) \
	COLUMN_T("verdict", "VERDICT", 0, 0, "why it took so long, as a sentence", get_)

/* Shown if a parent is missing. */
#define COLUMN_PARENT_STATE \
	COLUMN_OPTIONAL("parent_state", "PARENT IS", VALUE_TEXT, 9, 6, \
			"missing: the trace has no span with the id parent_id; else null", span_get_parent_state)

/* All columns of a span, in the order of batch output. */
#define COLUMNS_SPAN \
	COLUMN_SPAN_ID("trace_id", "TRACE", "id of the trace", SPAN_MEMBER(trace_id)), \
	COLUMN_SPAN_ID("span_id", "SPAN", "id of the span", SPAN_MEMBER(span_id)), \
	COLUMN_SPAN_ID("parent_id", "PARENT", "id of its parent; null: a root", \
		       SPAN_MEMBER(parent_id, .none = IF_ZERO)), \
	COLUMN_T("kind", "KIND", 6, 5, "client or server half, or null", \
		 SPAN_MEMBER(kind, .words = span_kind_name)), \
	COLUMN_T("service", "SERVICE", 10, 2, "service it is a phase of", COMMON(service)), \
	COLUMN_FLEX("name", "NAME", 14, "name of the span", COMMON(name)), \
	COLUMN_T("host", "HOST", 8, 9, "host of the trace", COMMON(host)), \
	COLUMN_ID("pid", "PID", 7, 7, "process id", COMMON(pid)), \
	COLUMN_ID("tid", "TID", 7, 6, "thread it began on", COMMON(tid)), \
	COLUMN_TIME("begin_ns", "BEGIN", 12, 3, "when it began", SPAN_MEMBER(begin_ns)), \
	COLUMN_TIME("end_ns", "END", 0, 0, "when it ended; if unknown, the last known of it", \
		    SPAN_MEMBER(end_ns)), \
	COLUMN_N("duration_ns", "DURATION", VALUE_NS, 8, 0, "how long it took (at least, if its end is unknown)", \
		 span_get_duration), \
	COLUMN_N("self_ns", "SELF", VALUE_NS, 7, 1, "less what its children cover", SPAN_MEMBER(self_ns)), \
	COLUMN_T("state", "STATE", 8, 4, "complete, open or partial", \
		 SPAN_MEMBER(state, .words = span_state_name)), \
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 4, "tags and annotations named error", \
		 COMMON(errors))

#endif
