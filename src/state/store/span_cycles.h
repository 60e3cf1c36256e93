/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Circles of spans, each of which names the next one as its parent. Such names are wrong, and nothing tells which of
 * them: so no span of a circle has a known parent, and each has its own self time.
 */
#ifndef BLK_STATE_STORE_SPAN_CYCLES_H
#define BLK_STATE_STORE_SPAN_CYCLES_H

/* parent[i]: index of the parent of span i, below n; -1: none. Sets -1 for all spans of circles. Spans below a circle
 * keep their parents. */
void span_break_cycles(int *parent, int n);

#endif
