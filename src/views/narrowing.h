/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Narrowing of views: one table of the fields of struct view_query that narrow rows. --only, the screen's keys and its
 * breadcrumb use this table and view.only.
 */
#ifndef BLK_VIEWS_NARROWING_H
#define BLK_VIEWS_NARROWING_H

#include "views/view.h"

enum narrowing_kind {
	NARROWING_TRACE,		/* trace_id with trace_zero */
	NARROWING_ID,			/* uint64_t; 0: not set */
	NARROWING_NUMBER,		/* int32_t; -1: not set */
	NARROWING_TEXT,			/* const char *; NULL: not set */
	NARROWING_HOST,			/* uint32_t; ID_NONE: not set */
	NARROWING_CONTAINER,		/* uint64_t; 0: not set */
};

struct narrowing {
	const char *name;		/* for --only; NULL: --only does not have it */
	enum narrowing_kind kind;
	size_t offset;			/* in struct view_query */
	enum view_only only;
};

#define N_NARROWINGS 8
extern const struct narrowing narrowings[N_NARROWINGS];

bool narrowing_is_set(const struct narrowing *n, const struct view_query *q);
/* The one that --only calls so; NULL: there is none. */
const struct narrowing *narrowing_find(const char *name, size_t len);
/* Its value as --only takes it; it must be set. NULL: --only cannot express it. Free with g_free(). */
char *narrowing_text(const struct narrowing *n, const struct view_query *q);
/* Sets it to the value of such a text; texts are copied, and the one before is freed. False: *error. */
bool narrowing_set(const struct narrowing *n, struct view_query *q, const char *text, GError **error);
/* An id of a span or (of_trace) a trace, in hexadecimal digits; 0 is an error. */
bool narrowing_parse_id(const char *text, bool of_trace, uint64_t *ret, GError **error);
/* The narrowings that are set: enum view_only. */
unsigned query_narrowed(const struct view_query *q);
/* Is it narrowed by what only spans have: a trace, a span, a service, an operation? */
static inline bool query_needs_spans(const struct view_query *q)
{
	return query_narrowed(q) & (ONLY_TRACE | ONLY_SPAN | ONLY_SERVICE | ONLY_OPERATION);
}
/* Clears the narrowings that are not in `only` (enum view_only). Does not free texts. */
void query_widen(struct view_query *q, unsigned only);
/* The narrowing as an argument of --only: "pid=246,tid=257". Free with g_free(). NULL: not narrowed, or by something
 * that --only cannot express (a host, a container, a text with a comma). */
char *query_only_text(const struct view_query *q);

/* The narrowings (enum view_only) that the view honours when its rows are by `by`. */
unsigned view_honours(const struct view *v, enum view_by by);
/* `by`, or the value that replaces it so that rows can be narrowed to the query's thread, process or container. (Rows
 * by system cannot.) */
enum view_by view_by_narrowed(const struct view *v, enum view_by by, const struct view_query *q);

#endif
