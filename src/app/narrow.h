/* SPDX-License-Identifier: GPL-2.0-only */
/* --only and --against: what a printed view is narrowed to and compared with. */
#ifndef BLK_APP_NARROW_H
#define BLK_APP_NARROW_H

#include "state/store/timeline.h"
#include "views/view.h"

/*
 * only: "trace=1e9873c2aa104f01,span=...,pid=246,tid=256,service=thumbd,operation=thumbnail", any of them; ids in
 * hex; NULL: everything. against: "usual" or "before" (the defaults of the views), "quiet", "history", or "TRACE" or
 * "TRACE:SPAN" in hex; NULL: the default. `ret` owns texts: narrow_clear() it. On an error ret is clear.
 */
bool narrow_parse(struct view_query *ret, const char *only, const char *against, GError **error);
/* Replaces trace ids of 32 digits by those that the timeline uses for them. */
void narrow_resolve(struct view_query *q, const struct timeline *tl);
/* Protects the named traces from eviction, also before they are read. */
void narrow_keep(const struct view_query *q, struct timeline *tl);
/* Can the view be narrowed to everything that is set? Else it would print more rows than requested. */
bool narrow_fits(const struct view_query *q, const struct view *v, GError **error);
/* Are the named traces and spans, also those to compare with, in the timeline? Else the result would be an empty
 * table. */
bool narrow_is_there(const struct view_query *q, const struct timeline *tl, GError **error);
void narrow_clear(struct view_query *q);

#endif
