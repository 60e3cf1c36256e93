/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a printed view is narrowed to, as the command line says it: --only and --against.
 */
#ifndef BLK_CLI_FILTERS_H
#define BLK_CLI_FILTERS_H

#include "state/store/timeline.h"
#include "views/view.h"

/*
 * only: "trace=1e9873c2aa104f01,span=...,pid=246,tid=256,service=thumbd,operation=thumbnail",
 * any of them; ids in hex. against: "usual" and "before", which is what views do anyway,
 * "history", or "TRACE" or "TRACE:SPAN" in hex. NULL: all, the usual. `ret` owns texts:
 * narrow_clear(). false and *error: what is wrong; then ret is clear.
 */
bool narrow_parse(struct view_query *ret, const char *only, const char *against, GError **error);
/* Ids of 32 digits mean what they do among the traces that were read. */
void narrow_resolve(struct view_query *q, const struct timeline *tl);
/* So that these are there then: never evicted, whichever they will be. */
void narrow_keep(const struct view_query *q, struct timeline *tl);
/* Does the view honour all that is set of `only`? Else it would print more than was asked for. */
bool narrow_fits(const struct view_query *q, const struct view *v, GError **error);
/* Are the traces and spans that it names (also those compared against) in what was read? Else a
 * table without rows would be all that is said. */
bool narrow_is_there(const struct view_query *q, const struct timeline *tl, GError **error);
void narrow_clear(struct view_query *q);

#endif
