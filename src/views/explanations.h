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

/* What its first cause is of; PART_N: it has none, being within the usual, or it is not in the timeline. */
enum part explanations_part(struct explanations *v, const struct span *s);

/* explanations_new() as rows->extra, freed with the rows. */
struct explanations *explanations_attach(struct rows *rows, const struct timeline *tl);
/* The explanation as a column's value, made at first use. *cached belongs to the row and starts as NULL. */
struct value explanations_value(struct explanations *v, const struct rows *rows, const struct span *s,
			    const char **cached);

/* The longest span of a row. All zero: none yet. */
struct worst_span {
	const struct span *span;	/* NULL: there is none, or it was evicted */
	int64_t ns;			/* its time in the row */
	const char *explanation;	/* private: made at first use */
};
/* Takes the span if it is longer; of equal ones the earlier. */
void worst_add(struct worst_span *w, const struct span *s, int64_t ns);
/* Evicted spans took at most that long. Call it after the retained ones are added. */
void worst_add_evicted(struct worst_span *w, int64_t longest_ns);
/* Call it when all are added: the rows reference the span from then on. */
void worst_hold(const struct worst_span *w, struct rows *rows);
/* Value of a column; null if .span is NULL. The rows have explanations_attach(). */
struct value worst_explanation(struct worst_span *w, const struct rows *rows);

#endif
