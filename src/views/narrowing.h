/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What rows can be narrowed to: one table of the fields of struct view_query that do it. With
 * view.only it is all that --only, the keys of the screen and its breadcrumb know of narrowing.
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
	const char *name;		/* for --only, which does not take those of NULL */
	enum narrowing_kind kind;
	size_t offset;			/* in struct view_query */
	enum view_only only;
};

#define N_NARROWINGS 8
extern const struct narrowing narrowings[N_NARROWINGS];

bool narrowing_is_set(const struct narrowing *n, const struct view_query *q);
/* All that the query is narrowed to: enum view_only. */
unsigned query_narrowed(const struct view_query *q);
/* Unsets what is not in `only` (enum view_only). Texts are the caller's before and after. */
void query_widen(struct view_query *q, unsigned only);
/* "pid=246,tid=257", as --only takes it. g_free. NULL: it is not narrowed, or to what --only cannot say
 * (a host, a container, a text with a comma). */
char *query_only_text(const struct view_query *q);

/* What narrows the rows of a view that are by `by`: enum view_only. */
unsigned view_honours(const struct view *v, enum view_by by);
/* `by`; or what the view's rows must be by instead to be narrowed to the query's thread, process or
 * container (events of the whole system are nobody's). */
enum view_by view_by_narrowed(const struct view *v, enum view_by by, const struct view_query *q);

#endif
