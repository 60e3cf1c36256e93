/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explanations (why.h) of many spans. Each needs the tree of its trace; trees are cached here. Private to src/views/.
 */
#ifndef BLK_VIEWS_EXPLANATIONS_H
#define BLK_VIEWS_EXPLANATIONS_H

#include "views/view.h"
#include "views/why.h"

struct explanations;

struct explanations *explanations_new(const struct timeline *tl);
void explanations_free(struct explanations *v);		/* NULL is fine */
struct history *explanations_history(struct explanations *v);
/* Explanation of the span; NULL: the span is not in the timeline. Free with g_free(). */
char *explanations_of(struct explanations *v, const struct span *s);

/* explanations_new() as rows->extra, freed with the rows. */
struct explanations *explanations_attach(struct rows *rows, const struct timeline *tl);
/* The explanation as a column's value, made at first use. *cached belongs to the row and starts as NULL. */
struct value explanations_value(struct explanations *v, const struct rows *rows, const struct span *s,
			    const char **cached);

#endif
