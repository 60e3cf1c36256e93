/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completes a filter that is being typed (base/expr.h): the name of a column, an operator after it, a value that the
 * column has in the rows. Values are quoted where the filter needs it; those with characters that cannot be shown are
 * left out.
 */
#ifndef BLK_VIEWS_COMPLETION_H
#define BLK_VIEWS_COMPLETION_H

#include "views/view.h"

struct completion {
	size_t from;			/* offset in the text: from here to the cursor is replaced */
	char *with;			/* as far as all candidates agree; NULL: nothing to add */
	char *candidates;		/* the first of several, for the user: "comm, cpu_ns, ..."; NULL: one or none */
};

/* text: UTF-8; at: offset of the cursor. rows: not filtered. Free the result with completion_clear(). */
struct completion completion_find(const struct view *v, const struct rows *rows, const char *text, size_t at);
void completion_clear(struct completion *c);

#endif
