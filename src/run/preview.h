/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the screen shows and the main pass can't tell: not yet, no longer, or not in
 * steps as fine. First just the seconds looked at, then a wider window around them; each
 * is read out of turn (window.h) and replaces the one before. Behind the main pass a
 * window is read once more, exactly, if that is worth its while. Of a live session also what events came
 * too late for.
 *
 * Whoever looks calls from any thread; one thread at a time makes: preview_step(), or
 * after preview_start() the preview's own.
 */
#ifndef BLK_RUN_PREVIEW_H
#define BLK_RUN_PREVIEW_H

#include "base/view_range.h"
#include "run/pieces.h"

struct preview;
struct timeline;
struct publication;

/* Borrows the trace. `ring` is called (on the thread that makes) when there is
 * something to take. Looks at the trace's end until told otherwise. */
struct preview *preview_new(const struct pieces *p, int64_t step_ns, GFunc ring, void *data);
/* Before it is started: windows of more than a step hold at most so many bytes of what spans
 * are made of (0, and when nobody tells: no bound). */
void preview_bound_spans(struct preview *pv, size_t bytes);
size_t preview_bytes(struct preview *pv);	/* what was made last holds, about */
void preview_free(struct preview *pv);		/* waits for its thread; NULL is fine */

void preview_look(struct preview *pv, const struct view_range *look);		/* as job_look() */
/* What lies before this instant needs no preview any more, but again. */
void preview_final_to(struct preview *pv, int64_t instant);
void preview_stop(struct preview *pv);		/* it makes nothing more */

/* The newest window that was made, once; NULL: nothing new. */
struct timeline *preview_take(struct preview *pv, struct decoded_range *ret);

/* Makes the next window; false: there is none to make (now). While the trace is not
 * indexed, only what its index already covers. */
bool preview_step(struct preview *pv);
/*
 * Before it is started, of a trace that grows: where nothing is looked at, its thread reads seconds again that
 * events came too late for (preview_late(), run/stale.h), and gives them away with their range
 * (model_adopt()). It never takes more than a fifth of a core for that.
 */
typedef void (*preview_again)(void *data, struct publication *again, int64_t from, int64_t to);
void preview_correct(struct preview *pv, preview_again again, void *data);
void preview_late(struct preview *pv, const struct source_late *late);
/* What is late by now is read again at once; waits for that, at most so long. */
void preview_finish(struct preview *pv, int64_t timeout_us);
void preview_start(struct preview *pv);		/* a thread that makes all that comes */
/* Waits until something was made, or nothing can be, or the instant (monotonic). */
void preview_wait(struct preview *pv, int64_t until_us);

#endif
