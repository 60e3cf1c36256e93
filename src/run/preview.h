/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A preview decodes what the screen shows and the main pass cannot provide: not read yet, no longer in memory, or in
 * finer steps. It reads the shown range first, then wider windows around it (window.h); each replaces the one before.
 * What the main pass has read already is decoded exactly if that reads not too much. For a live session it also
 * decodes seconds with late events again.
 *
 * preview_show_range(), _take(), _late() and _final_to() may be called on any thread. One thread at a time makes
 * windows: in preview_step(), or after preview_start() on the preview's own thread.
 */
#ifndef BLK_RUN_PREVIEW_H
#define BLK_RUN_PREVIEW_H

#include "base/view_range.h"
#include "run/pieces.h"

struct preview;
struct timeline;
struct publication;

/* Borrows the trace. `ring` is called on the making thread when there is something to take. Until
 * preview_show_range(), the range is the trace's end. */
struct preview *preview_new(struct pieces *p, int64_t step_ns, GFunc ring, void *data);
/* Before preview_start(): bounds the bytes of spans in windows of more than a step; 0, the default: no bound. */
void preview_bound_spans(struct preview *pv, size_t bytes);
size_t preview_bytes(struct preview *pv);	/* of spans in the last window made, estimated */
void preview_free(struct preview *pv);		/* waits for its thread; NULL is fine */

void preview_show_range(struct preview *pv, const struct view_range *range);	/* as job_show_range() */
/* The main pass is final before this instant: windows before it are made only with .again of the range. */
void preview_final_to(struct preview *pv, int64_t instant);
void preview_stop(struct preview *pv);		/* makes no more windows */

/* The newest window that was made, once; NULL: nothing new. */
struct timeline *preview_take(struct preview *pv, struct decoded_range *ret);

/* Makes the next window; false: there is none to make now. Until the trace is indexed, only windows that the index
 * covers. */
bool preview_step(struct preview *pv);
/*
 * Before preview_start(), for a trace that grows: when no window is to be made, the thread decodes seconds with late
 * events again (preview_late(), stale.h) and passes them with their range to the callback (model_adopt()). It uses
 * at most a fifth of a core for this.
 */
typedef void (*preview_redecoded)(void *data, struct publication *again, int64_t from, int64_t to);
void preview_correct(struct preview *pv, preview_redecoded again, void *data);
void preview_late(struct preview *pv, const struct source_late *late);
/* Decodes all seconds with late events again at once; waits at most timeout_us for that. */
void preview_finish(struct preview *pv, int64_t timeout_us);
void preview_start(struct preview *pv);		/* starts its thread */
/* Waits until a window was made or none can be, or until `until_us` (monotonic, us). */
void preview_wait(struct preview *pv, int64_t until_us);

#endif
