/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sentence of why.h for one span after the other, as rows ask for it: each needs
 * the tree of its trace, which is made once. Private to src/views/.
 */
#ifndef BLK_VIEWS_VERDICTS_H
#define BLK_VIEWS_VERDICTS_H

#include "views/view.h"
#include "views/why.h"

struct verdicts;

struct verdicts *verdicts_new(const struct timeline *tl);
void verdicts_free(struct verdicts *v);		/* NULL is fine */
struct history *verdicts_history(struct verdicts *v);
/* Why the span took so long; NULL: it is not in the timeline. g_free. */
char *verdicts_of(struct verdicts *v, const struct span *s);

/* The same as rows->extra, freed with the rows. */
struct verdicts *verdicts_attach(struct rows *rows, const struct timeline *tl);
/* The same as a column's value, made when it is first asked for: *kept, NULL before, is the
 * row's. */
struct value verdicts_value(struct verdicts *v, const struct rows *rows, const struct span *s,
			    const char **kept);

#endif
