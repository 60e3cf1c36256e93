/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pairs beginnings and ends of spans whose events have no ids, and finds their parents. Functions nest on their
 * thread; events of rules are joined by keys (rules.h). Annotations of a from_start slice are processed in order, so
 * the result does not depend on cuts.
 */
#ifndef BLK_STATE_SPANS_PAIRS_H
#define BLK_STATE_SPANS_PAIRS_H

#include "state/kernel/annot.h"
#include "state/kernel/slice_state.h"
#include "state/store/second.h"

struct pairs;
/* Called for a span that will not get an end. */
typedef void (*pairs_abandon)(void *data, uint64_t trace, uint64_t span);
struct pairs *pairs_new(struct slice *s, pairs_abandon abandon, void *data);
void pairs_free(struct pairs *p);		/* NULL is fine */
/* Notes that belong to no span, so far. */
struct notes_left_out pairs_left_out(const struct pairs *p);

/* ALONE: it begins a span and its thread is unknown, so the end cannot be identified: abandon it. FOREIGN: it is an
 * end, or a tag of an end, that belongs to no span, or a note on whose thread no span is open, or the innermost one has
 * LIMIT_SPAN_NOTES: ignore it. */
enum pairs_result { PAIRS_TAKEN, PAIRS_ALONE, PAIRS_FOREIGN };

/* Processes the next annotation; a mark gets its trace, span and parent. An end without a beginning, and a
 * beginning without an end, become partial spans. But an end without a beginning is foreign if its rule has begin_if
 * and no end_if. opens, ends: what a BlkKin annotation does, so that other spans can be its children. */
enum pairs_result pairs_take(struct pairs *p, struct annot *a, bool opens, bool ends);

/* Must the annotation wait, since its thread will probably be identified soon? */
bool pairs_must_wait(const struct pairs *p, const struct annot *a, int64_t now);

/* Drops open spans of traces for which evicted() is true. */
void pairs_forget(struct pairs *p, bool (*evicted)(uint64_t trace, void *data), void *data);

/* The name of the annotation's function: "glxgears+0x472b"; "" if it has no address. A reftext, valid until the next
 * call. */
const char *pairs_function(struct pairs *p, const struct annot *a);

#endif
