/* SPDX-License-Identifier: GPL-2.0-only */
/* What is looked at, read first: see preview.h. */
#include "run/preview.h"

#include "base/timefmt.h"
#include "run/worker.h"
#include "state/slice.h"

#define WARM_UP_NS (NS_PER_S / 4)	/* read before a window, not shown */
#define WARM_UP_BYTES (8 << 20)		/* at most */
#define BUFFERS (8 << 20)

/* Around what is looked at: how long, and how many bytes of packets at most. */
static const struct stage { int64_t ns; uint64_t bytes; } stages[] = {
	{ 0, 256 << 20 },		/* just that */
	{ 8 * NS_PER_S, 32 << 20 },
	{ 30 * NS_PER_S, 96 << 20 },
};

struct window { int64_t from, to; };

struct preview {
	struct pieces pieces;		/* borrowed */
	int64_t step;
	GFunc ring;
	void *ring_data;
	GThread *thread;

	GMutex lock;			/* what follows */
	GCond changed;
	bool stop, made;		/* made: at least one window */
	bool idle;			/* nothing to make */
	struct window look;		/* .from TIME_UNKNOWN: the trace's end */
	bool looked_anew;		/* .look has changed since the maker looked */
	guint stage;			/* of stages, the next one to make; their number: all made */
	struct window now;		/* being made, or made last; empty: none */
	int64_t hard_to;
	struct publication *ready;
	struct window ready_window;
};

static bool is_in(const struct window *inner, const struct window *outer)
{
	return inner->from >= outer->from && inner->to <= outer->to;
}

/* ---- which window ---- */

static uint64_t bytes_of(const struct preview *pv, const struct window *w)
{
	return pv->pieces.ops->bytes_between(pv->pieces.trace, w->from, w->to);
}

/* Whole seconds that are looked at, inside the trace; of too much the end. */
static bool looked_at(const struct preview *pv, const struct window *look, struct window *ret)
{
	int64_t from, to;

	if (!pv->pieces.ops->bounds(pv->pieces.trace, &from, &to) || from >= to)
		return false;
	int64_t first = time_floor(from, pv->step), end = time_floor(to - 1, pv->step) + pv->step;
	*ret = (struct window){ end - pv->step, end };
	if (look->from != TIME_UNKNOWN) {
		ret->from = time_floor(CLAMP(look->from, first, end - 1), pv->step);
		ret->to = CLAMP(look->to, ret->from + 1, end);
		ret->to = time_floor(ret->to - 1, pv->step) + pv->step;
	}
	int64_t most = stages[G_N_ELEMENTS(stages) - 1].ns;
	if (most > pv->step)
		ret->from = MAX(ret->from, ret->to - most);
	while (ret->to - ret->from > pv->step && bytes_of(pv, ret) > stages[0].bytes)
		ret->from += time_floor((ret->to - ret->from) / 2, pv->step);
	return true;
}

/* The window of a stage around what is looked at: as long as allowed, both ways alike,
 * and where the trace ends the other way. */
static struct window widen(const struct preview *pv, const struct window *looked,
			   const struct stage *stage)
{
	int64_t from, to, more = stage->ns - (looked->to - looked->from);
	struct window w = *looked;

	if (!pv->pieces.ops->bounds(pv->pieces.trace, &from, &to))
		return w;
	int64_t first = time_floor(from, pv->step), end = time_floor(to - 1, pv->step) + pv->step;
	for (; more >= pv->step; more /= 2) {
		int64_t half = time_floor(more / 2, pv->step);
		w.from = MAX(looked->from - half, first);
		w.to = MIN(looked->to + more - (looked->from - w.from), end);
		w.from = MAX(looked->from - (more - (w.to - looked->to)), first);
		w.from = time_floor(w.from, pv->step);
		if (bytes_of(pv, &w) <= stage->bytes)
			return w;
	}
	return *looked;
}

/* The maker looks, with the lock held: outside of what it makes or has made? */
static bool has_moved(struct preview *pv)
{
	struct window looked;

	if (!pv->looked_anew)
		return false;
	pv->looked_anew = false;
	if (!looked_at(pv, &pv->look, &looked) || is_in(&looked, &pv->now))
		return false;
	pv->now = (struct window){ 0, 0 };
	pv->stage = 0;
	return true;
}

/* The next window to make; with the lock held. */
static bool choose(struct preview *pv, struct window *ret)
{
	struct window looked;

	has_moved(pv);
	if (pv->stop || !looked_at(pv, &pv->look, &looked))
		return false;
	for (; pv->stage < G_N_ELEMENTS(stages); pv->stage++) {
		*ret = pv->stage ? widen(pv, &looked, &stages[pv->stage]) : looked;
		if (pv->stage && is_in(ret, &pv->now))
			continue;		/* no wider than what there is */
		if (ret->to <= pv->hard_to)
			continue;
		return pv->pieces.ops->known_from(pv->pieces.trace) <= ret->from - WARM_UP_NS;
	}
	return false;
}

/* ---- making one ---- */

static bool is_in_vain(struct preview *pv)
{
	g_mutex_lock(&pv->lock);
	bool in_vain = pv->stop || has_moved(pv);
	g_mutex_unlock(&pv->lock);
	return in_vain;
}

/* Only the window is told: the seconds before it were read to begin well. */
static void trim(struct publication *p, const struct window *w)
{
	struct trust trust = { 0 };
	uint64_t n_events = 0;

	for (guint i = p->seconds->len; i > 0; i--) {
		struct second *s = g_ptr_array_index(p->seconds, i - 1);
		if (s->begin_ns < w->from) {
			g_ptr_array_remove_index(p->seconds, i - 1);	/* unrefs it */
			continue;
		}
		trust.lost_events += s->trust.lost_events;
		trust.lost_packets += s->trust.lost_packets;
		trust.soft += s->trust.soft;
		trust.touched = MAX(trust.touched, s->trust.touched);
		for (guint k = 0; k < s->n_events; k++)
			n_events += s->events[k].count;
	}
	p->first_ns = MAX(p->first_ns, w->from);
	p->trust = trust;
	p->n_events = n_events;
}

/* false: somebody looks elsewhere by now. *ret NULL: nothing is in it. */
static bool read_window(struct preview *pv, const struct window *w, struct publication **ret)
{
	struct window warm = { w->from - WARM_UP_NS, w->from };
	if (bytes_of(pv, &warm) > WARM_UP_BYTES)
		warm.from = w->from;
	struct source *source = pv->pieces.ops->range(pv->pieces.trace, warm.from, w->to, BUFFERS);
	struct slice *s = pieces_begin_slice(&pv->pieces, source, true, pv->step);
	struct blk_batch batch;
	bool in_vain;

	*ret = NULL;
	/* What fails here fails again in the main pass, which tells it. */
	while (!(in_vain = is_in_vain(pv)) && source_next(source, &batch, NULL) == SOURCE_OK)
		slice_feed(s, &source->tables, batch.ev, batch.n);
	if (!in_vain && slice_first(s) != INT64_MAX) {
		*ret = slice_finish(s);
		trim(*ret, w);
	}
	if (*ret && (*ret)->seconds->len == 0)
		g_clear_pointer(ret, publication_free);
	slice_free(s);
	source_free(source);
	return !in_vain;
}

bool preview_step(struct preview *pv)
{
	struct window w;

	g_mutex_lock(&pv->lock);
	bool any = choose(pv, &w);
	pv->idle = !any;
	if (any)
		pv->now = w;
	g_cond_broadcast(&pv->changed);
	g_mutex_unlock(&pv->lock);
	if (!any)
		return false;

	struct publication *p;
	bool whole = read_window(pv, &w, &p);
	g_mutex_lock(&pv->lock);
	if (whole)
		pv->stage++;
	if (p) {
		publication_free(pv->ready);
		pv->ready = p;
		pv->ready_window = w;
		pv->made = true;
	}
	g_cond_broadcast(&pv->changed);
	g_mutex_unlock(&pv->lock);
	if (p)
		pv->ring(pv->ring_data, NULL);
	return true;
}

static void *preview_main(void *data)
{
	struct preview *pv = data;

	for (;;) {
		while (preview_step(pv))
			;
		g_mutex_lock(&pv->lock);
		while (!pv->stop && pv->idle)
			g_cond_wait(&pv->changed, &pv->lock);
		bool stop = pv->stop;
		g_mutex_unlock(&pv->lock);
		if (stop)
			return NULL;
	}
}

/* ---- life, and who looks ---- */

struct preview *preview_new(const struct pieces *p, int64_t step_ns, GFunc ring, void *data)
{
	struct preview *pv = g_new0(struct preview, 1);

	pv->pieces = *p;
	pv->step = step_ns;
	pv->ring = ring;
	pv->ring_data = data;
	pv->look.from = pv->hard_to = TIME_UNKNOWN;
	g_mutex_init(&pv->lock);
	g_cond_init(&pv->changed);
	return pv;
}

void preview_start(struct preview *pv)
{
	pv->thread = worker_new("blk-preview", preview_main, pv);
}

void preview_stop(struct preview *pv)
{
	g_mutex_lock(&pv->lock);
	pv->stop = true;
	g_cond_broadcast(&pv->changed);
	g_mutex_unlock(&pv->lock);
}

void preview_free(struct preview *pv)
{
	if (!pv)
		return;
	preview_stop(pv);
	if (pv->thread)
		g_thread_join(pv->thread);
	publication_free(pv->ready);
	g_mutex_clear(&pv->lock);
	g_cond_clear(&pv->changed);
	g_free(pv);
}

void preview_look(struct preview *pv, int64_t from_ns, int64_t to_ns)
{
	g_mutex_lock(&pv->lock);
	if (from_ns != pv->look.from || to_ns != pv->look.to) {
		pv->look = (struct window){ from_ns, to_ns };
		pv->looked_anew = true;
		pv->idle = false;
		g_cond_broadcast(&pv->changed);
	}
	g_mutex_unlock(&pv->lock);
}

void preview_hard_to(struct preview *pv, int64_t instant)
{
	g_mutex_lock(&pv->lock);
	pv->hard_to = MAX(pv->hard_to, instant);
	g_mutex_unlock(&pv->lock);
}

struct publication *preview_take(struct preview *pv, int64_t *ret_from, int64_t *ret_to)
{
	g_mutex_lock(&pv->lock);
	struct publication *p = g_steal_pointer(&pv->ready);
	*ret_from = pv->ready_window.from;
	*ret_to = pv->ready_window.to;
	g_mutex_unlock(&pv->lock);
	return p;
}

void preview_wait(struct preview *pv, int64_t until_us)
{
	g_mutex_lock(&pv->lock);
	while (!pv->stop && !pv->made && !pv->idle)
		if (!g_cond_wait_until(&pv->changed, &pv->lock, until_us))
			break;
	g_mutex_unlock(&pv->lock);
}
