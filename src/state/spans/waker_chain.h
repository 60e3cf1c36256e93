/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waker chains: why the thread that a span waited for was slow. A chain shows what the waker did from the beginning of
 * the wait to the wakeup that ended it: its running time and its waits. If another thread ended such a wait, the chain
 * continues with that thread. For time before a thread existed it continues with its creator. So the critical path
 * also covers threads without spans.
 *
 * A chain ends at a wait for a device or the clock, at an interrupt, and at a kernel thread: these only pass a wakeup
 * on. It continues through a softirq that a thread raised (cpu.c). A wait on a file while no block request was
 * outstanding (device_wait.h) was for the thread that had to write: the waker, also a kernel thread, or the thread that
 * submitted the request whose end ended the wait. Time counts as running only if a CPU's log of
 * switches shows it.
 */
#ifndef BLK_STATE_SPANS_WAKER_CHAIN_H
#define BLK_STATE_SPANS_WAKER_CHAIN_H

#include "state/spans/spans_state.h"

/* Finds the waits to follow, by half; segments must be in order. A wait belongs to the innermost half on its thread. */
void chain_find(struct spans *sp);
/* Sets the span's chains: those of the half's waits. */
void chain_follow(struct spans *sp, const struct half *h, struct span *span);

#endif
