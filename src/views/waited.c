/* SPDX-License-Identifier: GPL-2.0-only */
/* Waits for work, and waits while working: see waited.h. */
#include "views/waited.h"

#include "base/call_event.h"
#include "base/intmap.h"
#include "state/kernel/syscalls.h"
#include "views/history.h"

#include <string.h>

const char *const waited_word[WAITED_N] = {
	[WAITED_WORKING] = "while working", [WAITED_UNKNOWN] = "unknown", [WAITED_FOR_WORK] = "for work",
};

#define NAME_MIXED 0x100u		/* in waits.names: calls of that name differ in what they wait for */

struct waits {
	const struct timeline *tl;
	struct history *history;
	struct intmap names;		/* string -> what calls of that name wait for */
	const struct second *second;	/* the second of the following; NULL: none */
	struct intmap cells, calls;	/* thread and name -> index in .waits, in .slow: the first one */
	GArray *next_cell, *next_call;	/* uint32_t, by index: the next one of that thread and name; INTMAP_NONE */
	struct hist sum[WAITED_N];	/* owned: what the shares of the last cell point to, if not to the cell's own */
};

struct waits *waits_new(const struct timeline *tl)
{
	struct waits *w = g_new0(struct waits, 1);
	w->tl = tl;
	w->history = history_new(tl);
	w->next_cell = g_array_new(false, false, sizeof(uint32_t));
	w->next_call = g_array_new(false, false, sizeof(uint32_t));
	return w;
}

static void clear_sums(struct waits *w)
{
	for (enum waited i = 0; i < WAITED_N; i++)
		hist_clear(&w->sum[i]);
}

void waits_free(struct waits *w)
{
	if (!w)
		return;
	clear_sums(w);
	history_free(w->history);
	intmap_clear(&w->names);
	intmap_clear(&w->cells);
	intmap_clear(&w->calls);
	g_array_unref(w->next_cell);
	g_array_unref(w->next_call);
	g_free(w);
}

/* ---- the rule ---- */

/* The end of the time (ns) in which the span's own thread works for it. */
static int64_t end_on_thread(const struct span *s)
{
	int64_t last = s->begin_ns;
	bool others = false;
	for (uint32_t i = 0; i < s->n_annotations; i++) {
		const struct span_annotation *a = &s->annotations[i];
		if (a->thread == s->thread) {
			last = MAX(last, a->ts);
			others = false;
		} else if (a->thread != ID_NONE) {
			others = true;
		}
	}
	return others ? MIN(last, s->end_ns) : s->end_ns;
}

struct instant {
	int64_t at;
	bool in_span;
};

static void look_at_span(const struct span *s, void *data)
{
	struct instant *x = data;
	x->in_span |= s->begin_ns <= x->at && x->at < end_on_thread(s);
}

/* Of a call outside of spans of its thread. */
static enum waited outside(const struct waits *w, uint32_t thread, enum call_wait wait, int64_t begin_ns)
{
	if (!timeline_has_spans_of(w->tl, thread))
		return wait == CALL_WAITS_EVENT ? WAITED_FOR_WORK : WAITED_UNKNOWN;
	int64_t spans_from = timeline_facts(w->tl)->requests_from;
	bool has_all = (spans_from == TIME_UNKNOWN || begin_ns >= spans_from) && !timeline_facts(w->tl)->n_thinned;
	return has_all && wait != CALL_WAITS_UNKNOWN ? WAITED_FOR_WORK : WAITED_UNKNOWN;
}

enum waited waits_of_call(struct waits *w, uint32_t thread, enum call_wait wait, int64_t begin_ns)
{
	struct instant x = { .at = begin_ns };
	if (wait == CALL_NO_WAIT)
		return WAITED_NOT;
	if (wait == CALL_WAITS_LOCK)
		return WAITED_WORKING;
	history_spans_of(w->history, thread, begin_ns, begin_ns + 1, look_at_span, &x);
	return x.in_span ? WAITED_WORKING : outside(w, thread, wait, begin_ns);
}

/* ---- sums ---- */

static uint64_t pair(uint32_t thread, uint32_t name)
{
	return (uint64_t)thread << 32 | name;
}

static uint32_t kind_of_name(struct waits *w, uint32_t name)
{
	uint32_t kind = intmap_get(&w->names, name);
	if (kind != INTMAP_NONE)
		return kind;
	const struct call_info *info = call_info(timeline_string(w->tl, name));
	kind = info->futex_args || info->dir == IO_DIR_PLAIN ? NAME_MIXED : info->wait;
	intmap_set(&w->names, name, kind);
	return kind;
}

/* Entry i, which is the first one of its thread and name so far. */
static void index_entry(struct intmap *first, GArray *next, uint32_t i, uint32_t thread, uint32_t name)
{
	g_array_index(next, uint32_t, i) = intmap_get(first, pair(thread, name));
	intmap_set(first, pair(thread, name), i);
}

static void use_second(struct waits *w, const struct second *s)
{
	if (w->second == s)
		return;
	w->second = s;
	intmap_clear(&w->cells);
	intmap_clear(&w->calls);
	g_array_set_size(w->next_cell, s->n_waits);
	for (uint32_t i = s->n_waits; i-- > 0;)
		index_entry(&w->cells, w->next_cell, i, s->waits[i].thread, s->waits[i].name);
	g_array_set_size(w->next_call, s->n_slow);
	for (uint32_t i = s->n_slow; i-- > 0;)
		index_entry(&w->calls, w->next_call, i, s->slow[i].thread, s->slow[i].name);
}

/* Calls of one cell that wait for the same. */
struct group {
	struct waits *w;
	const struct second *s;
	const struct call_cell *cell;
	enum call_wait wait;
	int64_t busy_ns;
	struct hist rest;		/* owned: calls of which it is not known yet in which share they are */
	int64_t busy[WAITED_N];
	uint64_t failed[WAITED_N];	/* calls that are known one by one and returned an error */
	int64_t shortest;		/* of those that second.slow lists (ns); -1: none */
	enum waited rest_share;
	bool loose;			/* an extreme of .rest was removed */
	bool covered, more;		/* a span covers the second; one has calls that it does not list */
};

static uint32_t first_listed(const struct group *g)
{
	return intmap_get(&g->w->calls, pair(g->cell->thread, g->cell->name));
}

static uint32_t next_listed(const struct group *g, uint32_t i)
{
	return g_array_index(g->w->next_call, uint32_t, i);
}

static bool is_listed(const struct group *g, int64_t begin_ns)
{
	for (uint32_t i = first_listed(g); i != INTMAP_NONE; i = next_listed(g, i))
		if (g->s->slow[i].begin_ns == begin_ns)
			return true;
	return false;
}

static void to_share(struct group *g, enum waited share, int64_t ns, int64_t ret)
{
	g->failed[share] += call_failed(ret);
	g->loose |= hist_remove(&g->rest, ns);
	hist_add(&g->w->sum[share], ns);
}

/* Of a span of the thread: its calls. */
static void add_span(const struct span *span, void *data)
{
	struct group *g = data;
	const struct second *s = g->s;
	uint32_t listed = 0;
	int64_t end = end_on_thread(span);
	g->covered |= span->begin_ns <= s->begin_ns && end >= s->end_ns;
	for (uint32_t i = 0; i < span->n_slow; i++) {
		const struct span_slow_call *c = &span->slow[i];
		int64_t until = c->begin_ns + c->duration_ns;
		if (c->name != g->cell->name || c->thread != g->cell->thread)
			continue;
		listed++;
		if (c->wait != g->wait || until < s->begin_ns || c->begin_ns >= s->end_ns)
			continue;
		g->busy[WAITED_WORKING] += MIN(until, s->end_ns) - MAX(c->begin_ns, s->begin_ns);
		if (until < s->end_ns && !is_listed(g, c->begin_ns))
			to_share(g, WAITED_WORKING, c->duration_ns, c->ret);
	}
	for (uint32_t i = 0; span->n_slow_more && i < span->n_calls; i++)
		g->more |= span->calls[i].name == g->cell->name && span->calls[i].count > listed;
	/* A thread that is in a call cannot begin a span: the pending call was entered after that. */
	if (g->cell->unfinished && span->state == SPAN_OPEN && end >= s->end_ns)
		g->busy[WAITED_WORKING] += s->end_ns - MAX(span->begin_ns, s->begin_ns);
}

static void add_listed(struct group *g)
{
	for (uint32_t i = first_listed(g); i != INTMAP_NONE; i = next_listed(g, i)) {
		const struct slow_call *c = &g->s->slow[i];
		if (c->wait != g->wait)
			continue;
		to_share(g, waits_of_call(g->w, c->thread, g->wait, c->begin_ns), c->duration_ns, c->ret);
		g->shortest = g->shortest < 0 ? c->duration_ns : MIN(g->shortest, c->duration_ns);
	}
}

struct bounds {
	struct hist *of;
	int64_t min, max;		/* of the values that it had before some were removed */
};

static void widen(void *data, unsigned bucket, uint64_t n)
{
	const struct bounds *b = data;
	hist_widen(b->of, MAX(hist_bucket_low(bucket), b->min));
	hist_widen(b->of, MIN(hist_bucket_high(bucket), b->max));
}

/* Sets the extremes of the rest, after some were removed: those of its buckets. It is shorter than all listed calls. */
static void set_bounds(struct group *g, int64_t min, int64_t max)
{
	struct bounds b = { .of = &g->rest, .min = min, .max = g->shortest >= 0 ? MIN(max, g->shortest) : max };
	hist_reset_bounds(&g->rest);
	hist_foreach(&g->rest, widen, &b);
}

/* Calls of a thread whose process has spans, some of them in spans. */
static void divide_among_spans(struct group *g)
{
	int64_t min = hist_min(&g->rest), max = hist_max(&g->rest);
	enum waited share = outside(g->w, g->cell->thread, g->wait, g->s->begin_ns - max);
	history_spans_of(g->w->history, g->cell->thread, g->s->begin_ns, g->s->end_ns, add_span, g);
	if (g->covered) {
		g->busy[WAITED_WORKING] = g->busy_ns;
		share = WAITED_WORKING;
	} else {
		add_listed(g);
		g->busy[WAITED_WORKING] = MIN(g->busy[WAITED_WORKING], g->busy_ns);
		share = g->more ? WAITED_UNKNOWN : share;
	}
	g->busy[share] += g->busy_ns - g->busy[WAITED_WORKING];
	if (g->loose)
		set_bounds(g, min, max);
	hist_merge(&g->w->sum[share], &g->rest);
	g->rest_share = share;
}

/* Of the calls of the rest it is known only how many of all failed. */
static void add_errors(const struct group *g, uint64_t errors, struct waits_share *ret)
{
	uint64_t failed = 0;
	for (enum waited i = 0; i < WAITED_N; i++) {
		ret[i].errors += g->failed[i];
		failed += g->failed[i];
	}
	ret[g->rest_share].errors += errors > failed ? errors - failed : 0;
}

/* Adds calls of the cell that wait for the same to the sums. */
static void add_group(struct waits *w, const struct second *s, const struct call_cell *c, enum call_wait wait,
		      const struct waits_share *calls, struct waits_share ret[WAITED_N])
{
	struct group g = { .w = w, .s = s, .cell = c, .wait = wait, .busy_ns = calls->busy_ns, .shortest = -1 };
	if (wait != CALL_NO_WAIT && wait != CALL_WAITS_LOCK && timeline_has_spans_of(w->tl, c->thread)) {
		hist_copy(&g.rest, calls->latency);
		divide_among_spans(&g);
		hist_clear(&g.rest);
	} else {
		enum waited share = waits_of_call(w, c->thread, wait, s->begin_ns);
		hist_merge(&w->sum[share], calls->latency);
		g.busy[share] = calls->busy_ns;
		g.rest_share = share;
	}
	add_errors(&g, calls->errors, ret);
	for (enum waited i = 0; i < WAITED_N; i++)
		ret[i].busy_ns += g.busy[i];
}

/* The cell's rows of second.waits, if they divide all of its calls. Returns their number. */
static uint32_t rows_of(struct waits *w, const struct second *s, const struct call_cell *c,
			const struct wait_cell *ret[CALL_WAIT_N])
{
	uint64_t count = 0;
	uint32_t n = 0;
	memset(ret, 0, CALL_WAIT_N * sizeof *ret);
	for (uint32_t i = intmap_get(&w->cells, pair(c->thread, c->name)); i != INTMAP_NONE;
	     i = g_array_index(w->next_cell, uint32_t, i)) {
		const struct wait_cell *x = &s->waits[i];
		if (x->wait >= CALL_WAIT_N)
			return 0;
		ret[x->wait] = x;
		count += hist_count(&x->latency);
		n++;
	}
	return count == hist_count(&c->latency) ? n : 0;
}

enum waited waits_of_name(struct waits *w, uint32_t name, bool in_span)
{
	uint32_t kind = kind_of_name(w, name);
	return kind == CALL_NO_WAIT ? WAITED_NOT : in_span && kind != NAME_MIXED ? WAITED_WORKING : WAITED_UNKNOWN;
}

void waits_divide(struct waits *w, const struct second *s, const struct call_cell *c,
		  struct waits_share ret[WAITED_N])
{
	const struct wait_cell *rows[CALL_WAIT_N];
	struct waits_share all = { .latency = &c->latency, .errors = c->errors, .busy_ns = c->busy_ns };
	uint32_t kind = kind_of_name(w, c->name);
	enum waited most = WAITED_NOT;
	use_second(w, s);
	clear_sums(w);
	for (enum waited i = 0; i < WAITED_N; i++)
		ret[i] = (struct waits_share){ .latency = &w->sum[i] };
	if (kind != NAME_MIXED) {
		add_group(w, s, c, (enum call_wait)kind, &all, ret);
	} else if (!rows_of(w, s, c, rows)) {
		add_group(w, s, c, CALL_WAITS_UNKNOWN, &all, ret);
	} else {
		for (enum call_wait i = 0; i < CALL_WAIT_N; i++) {
			const struct wait_cell *x = rows[i];
			if (!x)
				continue;
			add_group(w, s, c, i, &(struct waits_share){ .latency = &x->latency, .errors = x->errors,
								     .busy_ns = x->busy_ns }, ret);
			all.busy_ns -= x->busy_ns;
		}
		ret[WAITED_UNKNOWN].busy_ns += MAX(all.busy_ns, 0);
	}
	for (enum waited i = 0; i < WAITED_N; i++)
		most = ret[i].busy_ns > ret[most].busy_ns ? i : most;
	ret[most].unfinished = c->unfinished;
}
