/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes what the screen shows before the main pass: see preview.h. */
#include "run/preview.h"

#include "base/timefmt.h"
#include "run/stale.h"
#include "run/window.h"
#include "run/worker.h"

#define WARM_UP_NS (NS_PER_S / 4)	/* read before a window */
#define LONG_US (INT64_C(3600) * G_USEC_PER_SEC)
#define STALE_US 200000			/* between two checks for stale seconds that are due */
#define STALE_PAUSE 4			/* pause after decoding stale seconds, in multiples of its time */
#define STALE_BYTES (64 << 20)		/* most bytes read before stale seconds, for names and open calls */
#define EXACT_BYTES (256 << 20)		/* most bytes read from the trace's beginning on */
#define EXACT_BYTES_SPANS (64 << 20)	/* the same if there are spans: all of them are retained */

/* Windows around the shown range: length, number of steps if these are finer than the main pass's, most bytes of
 * packets. */
static const struct stage { int64_t ns, steps; uint64_t bytes; bool exact; } stages[] = {
	{ VIEW_RANGE_LONGEST_NS, 4096, 256 << 20, false },	/* the shown range itself; at most its end */
	{ 8 * NS_PER_S, 64, 32 << 20, false },
	{ 30 * NS_PER_S, 512, 96 << 20, false },
	{ 30 * NS_PER_S, 512, 96 << 20, true },
};

struct preview {
	struct pieces *pieces;		/* borrowed */
	int64_t step;
	size_t most_spans;		/* bytes of spans in a window; 0: no bound */
	GFunc ring;
	void *ring_data;
	GThread *thread;

	GMutex lock;			/* what follows */
	GCond changed;
	int stop;			/* atomic, too: see source_stop_by() */
	bool made;			/* at least one window was made */
	struct stale *stale;		/* NULL: seconds with late events are not decoded again */
	preview_redecoded redecoded;
	void *redecoded_data;
	int64_t pause_until_us;		/* monotonic; the thread's */
	bool hurry, correcting;
	bool idle;			/* nothing to make */
	struct view_range shown_range;
	bool shown_range_changed;		/* .shown_range has changed since the maker read it */
	guint stage;			/* index of the next stage to make; G_N_ELEMENTS(stages): all made */
	guint halved;			/* how often the shown range was halved, as it had too many spans */
	struct decoded_range now;		/* being made or made last; empty: none */
	int64_t final_to;
	struct timeline *ready;
	struct decoded_range ready_window;
	size_t bytes;			/* of spans in the last window made */
};

static bool is_in(const struct decoded_range *inner, const struct decoded_range *outer)
{
	return inner->step_ns == outer->step_ns && inner->from_ns >= outer->from_ns &&
	       inner->to_ns <= outer->to_ns;
}

/* ---- which window ---- */

static uint64_t bytes_of(const struct preview *pv, const struct decoded_range *w)
{
	return pv->pieces->ops->bytes_between(pv->pieces->native, w->from_ns, w->to_ns);
}

/* The trace's bounds, rounded outwards to whole steps. */
static bool borders(const struct preview *pv, int64_t step, int64_t *ret_first, int64_t *ret_end)
{
	int64_t from, to;

	if (!pieces_bounds(pv->pieces, &from, &to) || from >= to)
		return false;
	*ret_first = time_floor(from, step);
	*ret_end = time_floor(to - 1, step) + step;
	return true;
}

static int64_t longest(const struct preview *pv, const struct stage *stage, int64_t step)
{
	return step < pv->step ? MIN(stage->ns, stage->steps * step) : MAX(stage->ns, step);
}

/* The shown range in whole steps, within the trace; if it is too long, its end. */
static bool choose_range(const struct preview *pv, const struct view_range *shown_range, struct decoded_range *ret)
{
	int64_t first, end, step = shown_range->step_ns > 0 ? shown_range->step_ns : pv->step;

	if (!borders(pv, step, &first, &end))
		return false;
	*ret = (struct decoded_range){ .from_ns = end - step, .to_ns = end, .step_ns = step };
	if (shown_range->from_ns != INT64_MIN) {
		ret->from_ns = time_floor(CLAMP(shown_range->from_ns, first, end - 1), step);
		ret->to_ns = CLAMP(shown_range->to_ns, ret->from_ns + 1, end);
		ret->to_ns = time_floor(ret->to_ns - 1, step) + step;
	}
	int64_t most = longest(pv, &stages[0], step);
	ret->from_ns = MAX(ret->from_ns, ret->to_ns - time_floor(most, step));
	guint halved = pv->halved;
	while (ret->to_ns - ret->from_ns > step && (bytes_of(pv, ret) > stages[0].bytes || halved)) {
		ret->from_ns += MAX(time_floor((ret->to_ns - ret->from_ns) / 2, step), step);
		halved -= halved > 0;
	}
	g_assert(ret->from_ns < ret->to_ns);
	return true;
}

/* The window of a stage around the shown range: as long as the stage allows, equally in both directions, unless the
 * trace ends there. */
static struct decoded_range widen(const struct preview *pv, const struct decoded_range *chosen,
				const struct stage *stage)
{
	int64_t first, end, step = chosen->step_ns;
	int64_t more = longest(pv, stage, step) - (chosen->to_ns - chosen->from_ns);
	struct decoded_range w = *chosen;

	if (!borders(pv, step, &first, &end))
		return w;
	for (; more >= step; more /= 2) {
		int64_t half = time_floor(more / 2, step);
		w.from_ns = MAX(chosen->from_ns - half, first);
		w.to_ns = MIN(chosen->to_ns + time_floor(more, step) -
			      (chosen->from_ns - w.from_ns), end);
		w.from_ns = MAX(chosen->from_ns - (more - (w.to_ns - chosen->to_ns)), first);
		w.from_ns = time_floor(w.from_ns, step);
		if (bytes_of(pv, &w) <= stage->bytes)
			return w;
	}
	return *chosen;
}

/* For a trace that grows, the main pass provides the newest range; windows are made only with look.again, in closed
 * seconds. */
static bool is_served(const struct preview *pv)
{
	return !pv->pieces->ops->renew || (pv->shown_range.again && pv->shown_range.to_ns <= pv->final_to);
}

/* Is the shown range outside of the current window? Lock held; called by the maker. */
static bool has_moved(struct preview *pv)
{
	struct decoded_range chosen;

	if (!pv->shown_range_changed || !is_served(pv))
		return false;
	pv->shown_range_changed = false;
	if (!choose_range(pv, &pv->shown_range, &chosen) || is_in(&chosen, &pv->now))
		return false;
	pv->now = (struct decoded_range){ 0 };
	pv->stage = 0;
	return true;
}

/* The main pass has read all before the window: is that little enough to decode it again? */
static bool is_worth_exactness(const struct preview *pv, const struct decoded_range *w)
{
	uint64_t most = pieces_are_without_spans(pv->pieces) ? EXACT_BYTES : EXACT_BYTES_SPANS;

	return pv->shown_range.again && w->to_ns <= pv->final_to && !pv->now.exact &&
	       pv->pieces->ops->bytes_between(pv->pieces->native, INT64_MIN, w->to_ns) <= most;
}

/* Is the window of this stage to be made? */
static bool is_wanted(const struct preview *pv, const struct stage *stage,
		      struct decoded_range *w)
{
	if (stage->exact) {
		if (is_in(w, &pv->now))
			*w = pv->now;
		w->exact = true;
		return is_worth_exactness(pv, w);
	}
	if (stage > stages && is_in(w, &pv->now))
		return false;			/* not wider than the current window */
	return pv->shown_range.again || w->to_ns > pv->final_to;
}

/* Chooses the next window to make. Lock held. */
static bool choose(struct preview *pv, struct decoded_range *ret)
{
	struct decoded_range chosen;

	has_moved(pv);
	if (pv->stop || !is_served(pv) || !choose_range(pv, &pv->shown_range, &chosen))
		return false;
	for (; pv->stage < G_N_ELEMENTS(stages); pv->stage++) {
		const struct stage *stage = &stages[pv->stage];
		*ret = pv->stage ? widen(pv, &chosen, stage) : chosen;
		if (is_wanted(pv, stage, ret))
			return pv->pieces->ops->known_from(pv->pieces->native) <=
			       ret->from_ns - WARM_UP_NS;
		if (stage->exact && pv->shown_range.again && pv->final_to < ret->to_ns)
			return false;		/* the index may cover it later */
	}
	return false;
}

/* ---- making one ---- */

static bool is_obsolete(void *data)
{
	struct preview *pv = data;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	return pv->stop || has_moved(pv);
}

static void renew(struct preview *pv)
{
	g_mutex_lock(&pv->lock);
	int64_t to = pv->shown_range.to_ns, closed = pv->final_to;
	bool served = is_served(pv);
	g_mutex_unlock(&pv->lock);
	if (served)
		pv->pieces->ops->renew(pv->pieces, to, closed);
}

/* The window had too many spans: halves the shown range, or makes no wider window. Lock held. */
static void make_less(struct preview *pv, const struct decoded_range *before)
{
	pv->now = *before;
	if (pv->stage == 0)
		pv->halved++;
	else
		pv->stage = G_N_ELEMENTS(stages);
}

bool preview_step(struct preview *pv)
{
	struct window_reader reader = { pv->pieces, is_obsolete, pv, 0, &pv->stop };
	struct decoded_range w, before;
	bool too_much = false;

	if (pv->pieces->ops->renew)
		renew(pv);
	g_mutex_lock(&pv->lock);
	bool any = choose(pv, &w);
	pv->idle = !any;
	before = pv->now;
	if (any)
		pv->now = w;
	g_cond_broadcast(&pv->changed);
	g_mutex_unlock(&pv->lock);
	if (!any)
		return false;

	if (w.to_ns - w.from_ns > w.step_ns)
		reader.most = pv->most_spans;
	struct timeline *tl = window_read(&reader, &w, &too_much);
	g_mutex_lock(&pv->lock);
	if (too_much)
		make_less(pv, &before);
	if (tl) {
		pv->stage++;
		timeline_free(pv->ready);
		pv->ready = tl;
		pv->ready_window = w;
		pv->bytes = timeline_bytes(tl);
		pv->made = true;
	}
	g_cond_broadcast(&pv->changed);
	g_mutex_unlock(&pv->lock);
	if (tl)
		pv->ring(pv->ring_data, NULL);
	return true;
}

/* ---- seconds with late events ---- */

static bool is_stopping(void *data)
{
	return g_atomic_int_get(&((struct preview *)data)->stop);
}

/* Where reading begins for these seconds: at the trace's beginning, or STALE_BYTES before. */
static int64_t begin_for(const struct preview *pv, const struct decoded_range *w)
{
	int64_t first, end;

	if (!pieces_bounds(pv->pieces, &first, &end) || first >= w->from_ns)
		return INT64_MIN;
	for (int64_t back = w->from_ns - first; back > WARM_UP_NS; back /= 2)
		if (pv->pieces->ops->bytes_between(pv->pieces->native, w->from_ns - back, w->to_ns) <= STALE_BYTES)
			return back == w->from_ns - first ? INT64_MIN : w->from_ns - back;
	return w->from_ns - WARM_UP_NS;
}

/* Does the stored trace still have a part of the window? */
static bool is_retained(const struct preview *pv, const struct decoded_range *w)
{
	int64_t first, end;

	pv->pieces->ops->renew(pv->pieces, INT64_MAX, w->to_ns);
	return pieces_bounds(pv->pieces, &first, &end) && first < w->to_ns && end >= w->from_ns;
}

/* Decodes the next stale seconds that are due; false: none are. */
static bool read_stale(struct preview *pv)
{
	const struct window_reader reader = { pv->pieces, is_stopping, pv, 0, &pv->stop };
	int64_t begin_us = g_get_monotonic_time();
	struct publication *redecoded = NULL;
	struct decoded_range w;

	g_mutex_lock(&pv->lock);
	pv->correcting = pv->stale && !pv->stop && (pv->hurry || begin_us >= pv->pause_until_us) &&
			 stale_take(pv->stale, pv->final_to, pv->hurry, begin_us, &w);
	bool any = pv->correcting;
	g_mutex_unlock(&pv->lock);
	if (!any)
		return false;
	if (is_retained(pv, &w))
		redecoded = window_read_from(&reader, &w, begin_for(pv, &w), NULL);
	if (redecoded)
		pv->redecoded(pv->redecoded_data, redecoded, w.from_ns, w.to_ns);
	int64_t end_us = g_get_monotonic_time();
	pv->pause_until_us = end_us + (end_us - begin_us) * STALE_PAUSE;
	g_mutex_lock(&pv->lock);
	pv->correcting = false;
	g_cond_broadcast(&pv->changed);
	g_mutex_unlock(&pv->lock);
	return true;
}

static void *preview_main(void *data)
{
	struct preview *pv = data;

	for (;;) {
		while (preview_step(pv))
			;
		if (read_stale(pv))
			continue;
		gint64 until = g_get_monotonic_time() + (pv->stale ? STALE_US : LONG_US);
		g_mutex_lock(&pv->lock);
		while (!pv->stop && pv->idle && g_cond_wait_until(&pv->changed, &pv->lock, until))
			;
		bool stop = pv->stop;
		g_mutex_unlock(&pv->lock);
		if (stop)
			return NULL;
	}
}

/* ---- the object, and the requests of its owner ---- */

struct preview *preview_new(struct pieces *p, int64_t step_ns, GFunc ring, void *data)
{
	struct preview *pv = g_new0(struct preview, 1);

	pv->pieces = p;
	pv->step = step_ns;
	pv->ring = ring;
	pv->ring_data = data;
	pv->shown_range.from_ns = pv->final_to = INT64_MIN;
	g_mutex_init(&pv->lock);
	g_cond_init(&pv->changed);
	return pv;
}

void preview_bound_spans(struct preview *pv, size_t bytes)
{
	pv->most_spans = bytes;
}

size_t preview_bytes(struct preview *pv)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	size_t bytes = pv->bytes;
	return bytes;
}

void preview_correct(struct preview *pv, preview_redecoded again, void *data)
{
	g_assert(!pv->stale && !pv->thread);	/* its thread reads .stale without the lock */
	pv->stale = stale_new(pv->step);
	pv->redecoded = again;
	pv->redecoded_data = data;
}

void preview_late(struct preview *pv, const struct source_late *late)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	if (pv->stale)
		stale_note(pv->stale, late, g_get_monotonic_time());
}

void preview_finish(struct preview *pv, int64_t timeout_us)
{
	gint64 until = g_get_monotonic_time() + timeout_us;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	pv->hurry = true;
	pv->idle = false;
	g_cond_broadcast(&pv->changed);
	while (pv->stale && !pv->stop && (pv->correcting || !stale_is_empty(pv->stale)))
		if (!g_cond_wait_until(&pv->changed, &pv->lock, until))
			break;
}

void preview_start(struct preview *pv)
{
	g_assert(!pv->thread);
	pv->thread = worker_new("blk-preview", preview_main, pv);
}

void preview_stop(struct preview *pv)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	g_atomic_int_set(&pv->stop, 1);
	g_cond_broadcast(&pv->changed);
}

void preview_free(struct preview *pv)
{
	if (!pv)
		return;
	preview_stop(pv);
	if (pv->thread)
		g_thread_join(pv->thread);
	timeline_free(pv->ready);
	stale_free(pv->stale);
	g_mutex_clear(&pv->lock);
	g_cond_clear(&pv->changed);
	g_free(pv);
}

static bool is_same_range(const struct view_range *a, const struct view_range *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->step_ns == b->step_ns &&
	       a->again == b->again;
}

void preview_show_range(struct preview *pv, const struct view_range *shown_range)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	if (!is_same_range(shown_range, &pv->shown_range)) {
		/* stages that were left to the main pass may be wanted now */
		if (shown_range->again && !pv->shown_range.again && pv->stage == G_N_ELEMENTS(stages))
			pv->stage = 0;
		pv->shown_range = *shown_range;
		pv->halved = 0;
		pv->shown_range_changed = true;
		pv->idle = false;
		g_cond_broadcast(&pv->changed);
	}
}

void preview_final_to(struct preview *pv, int64_t instant)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	int64_t to = pv->pieces->ops->renew ? pv->shown_range.to_ns : pv->now.to_ns;
	if (pv->shown_range.again && pv->final_to < to && instant >= to) {
		pv->idle = false;		/* more may be possible now: an exact window */
		g_cond_broadcast(&pv->changed);
	}
	pv->final_to = MAX(pv->final_to, instant);
}

struct timeline *preview_take(struct preview *pv, struct decoded_range *ret)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	struct timeline *tl = g_steal_pointer(&pv->ready);
	*ret = pv->ready_window;
	return tl;
}

void preview_wait(struct preview *pv, int64_t until_us)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&pv->lock);
	while (!pv->stop && !pv->made && !pv->idle)
		if (!g_cond_wait_until(&pv->changed, &pv->lock, until_us))
			break;
}
