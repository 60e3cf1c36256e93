/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explanations (why.h) of many spans. Each needs the tree of its trace; trees are cached here. Private to src/views/.
 */
#ifndef BLK_VIEWS_VERDICTS_H
#define BLK_VIEWS_VERDICTS_H

#include "views/view.h"
#include "views/why.h"

struct verdicts;

struct verdicts *verdicts_new(const struct timeline *tl);
void verdicts_free(struct verdicts *v);		/* NULL is fine */
struct history *verdicts_history(struct verdicts *v);
/* Explanation of the span; NULL: the span is not in the timeline. Free with g_free(). */
char *verdicts_of(struct verdicts *v, const struct span *s);

/* verdicts_new() as rows->extra, freed with the rows. */
struct verdicts *verdicts_attach(struct rows *rows, const struct timeline *tl);
/* The explanation as a column's value, made at first use. *cached belongs to the row and starts as NULL. */
struct value verdicts_value(struct verdicts *v, const struct rows *rows, const struct span *s,
			    const char **cached);

#endif
