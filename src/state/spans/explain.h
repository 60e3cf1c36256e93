/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a span took its time: the parts of its thread's time inside it, and its waits. */
#ifndef BLK_STATE_SPANS_EXPLAIN_H
#define BLK_STATE_SPANS_EXPLAIN_H

#include "state/kernel/thread_logs.h"
#include "state/spans/device_wait.h"
#include "state/spans/spans_state.h"

#define JUST_OUT_NS INT64_C(10000000)	/* limit for "just out of a call": time (ns) from the exit to the wakeup */

/* Fills the span's parts and waits. */
void explain_half(struct spans *sp, const struct half *h, struct span *span);
/* Of an event that is a whole span: its thread when the span began, or from when on it is known, as an annotation of
 * that instant; ret_snap: its counters. False: unknown, or it is another annotation. */
bool explain_back(struct spans *sp, const struct annot *a, struct annot *ret, struct snap *ret_snap);
/* Index of the first of the thread's waits that ends after the instant. Waits are in order of time. */
guint explain_first_wait(struct thread *t, int64_t at);
/* What the thread waited for in [from, to), before it was woken. A wait on a file is PART_WRITEBACK if no request was
 * outstanding for more than half of it, else PART_DISK. ret: see device_wait.h; of other waits, and where it cannot be
 * known, all of it was outstanding. */
enum part explain_part(struct spans *sp, uint32_t thread, const struct wait *w, int64_t from, int64_t to,
		       struct device_wait *ret);
/* The same of the whole wait. What was explained for a span of the trace is not examined again. */
enum part explain_whole(struct spans *sp, uint32_t thread, const struct wait *w, struct device_wait *ret);
/* What [begin, end) has of the wait, as a span stores it, without .cpu_holder. device: as explain_part(). False: they
 * do not overlap. */
bool explain_wait(struct spans *sp, uint32_t thread, const struct wait *w, int64_t begin, int64_t end,
		  struct span_wait *ret, struct device_wait *device);

#endif
