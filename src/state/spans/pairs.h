/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which begin an end belongs to, and whose child a span is, where events do not tell
 * ids: functions nest on their thread, what rules name is joined by keys (rules.h).
 * A fold over the annotations of a rooted slice in their order, so that cuts do not
 * matter; only for src/state/.
 */
#ifndef BLK_STATE_SPANS_PAIRS_H
#define BLK_STATE_SPANS_PAIRS_H

#include "state/slice/slice_state.h"
#include "state/spans/annot.h"

struct pairs;
/* The span's end was not seen, and can't be any more. */
typedef void (*pairs_abandon)(void *data, uint64_t trace, uint64_t span);
struct pairs *pairs_new(struct slice *s, pairs_abandon abandon, void *data);
void pairs_free(struct pairs *p);		/* NULL is fine */

/* The next annotation; a mark gets its trace, span and parent. An end without a begin, and
 * a begin without an end, are spans of their own (partial). `opens`, `ends`: what one of
 * BlkKin's does, so that others can be its children. false: it begins a span whose end can't be
 * told from others', as nobody says of which thread it is: to be abandoned. */
bool pairs_take(struct pairs *p, struct annot *a, bool opens, bool ends);

/* Must it wait: its thread will have a name soon? */
bool pairs_must_wait(const struct pairs *p, const struct annot *a, int64_t now);

/* Forgets what is open of traces for which gone() holds. */
void pairs_forget(struct pairs *p, bool (*gone)(uint64_t trace, void *data), void *data);

/* The function that an annotation is of: "glxgears+0x472b"; a reftext, "": it does not say. Valid until the
 * next call. */
const char *pairs_function(struct pairs *p, const struct annot *a);

#endif
