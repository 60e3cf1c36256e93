/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cycles of spans: each span names the next one as its parent. At least one of these ids is wrong, and it is unknown
 * which. So no span of a cycle has a known parent, and each has self time of its own.
 */
#ifndef BLK_STATE_STORE_SPAN_CYCLES_H
#define BLK_STATE_STORE_SPAN_CYCLES_H

/* parent[i]: index of the parent of span i, below n; -1: none. Sets -1 for all spans of cycles. Spans below a cycle
 * keep their parents. */
void span_break_cycles(int *parent, int n);

#endif
