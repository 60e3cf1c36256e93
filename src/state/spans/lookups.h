/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of rules: an event defines what an id means, and names of spans that begin later use it ("[table NAME]" in
 * doc/spans.md). Annotations carry the definitions and, in their texts, what is to be looked up (rules_table.h,
 * LOOKUP_*); both are taken in order of time, so the last definition before a use counts, whatever the slices were.
 *
 * One thread.
 */
#ifndef BLK_STATE_SPANS_LOOKUPS_H
#define BLK_STATE_SPANS_LOOKUPS_H

#include "state/kernel/annot.h"
#include "state/kernel/slice_state.h"

struct lookups;
struct lookups *lookups_new(struct slice *s);
void lookups_free(struct lookups *l);		/* NULL is fine */

/* Takes a definition (MARK_DEFINE). The oldest of LIMIT_TABLE_ENTRIES definitions is forgotten for it. */
void lookups_define(struct lookups *l, const struct annot *a);

/* Replaces the texts of .looks_up by what they mean now. The hash of a looked-up key is mixed into .trace, which is
 * RULE_NO_KEY if a part of the key is unknown. What no definition has is "?", and is noted among the slice's classes
 * (rule_table_note()). */
void lookups_resolve(struct lookups *l, struct annot *a);

#endif
