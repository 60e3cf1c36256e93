/* SPDX-License-Identifier: GPL-2.0-only */
/* The user's position: see nav.h. */
#include "ui/nav.h"

#include "base/each.h"
#include "base/intmap.h"
#include "base/timefmt.h"
#include "views/causes.h"
#include "views/narrowing.h"

#include <string.h>

struct place *place_new(const struct view *view, const struct view_query *narrow,
			const char *crumb)
{
	struct place *p = g_new0(struct place, 1);

	p->refs = 1;
	p->view = view;
	p->narrow = *narrow;
	p->narrow.operation = g_strdup(narrow->operation);
	p->narrow.service = g_strdup(narrow->service);
	p->crumb = g_strdup(crumb ? crumb : "");
	p->narrow.by = view->default_by;
	for (int i = 0; i < PANE_N; i++)
		p->table[i] = (struct table)TABLE_INIT;
	p->mark_ns = TIME_UNKNOWN;
	p->select = (struct place_target){ .kind = -1, .pid = -1, .tid = -1 };
	/* Enter on the first screen explains the slowest request. */
	p->pane = view->kind == VIEW_OVERVIEW ? PANE_CAUSES : PANE_MAIN;
	return p;
}

struct view_query place_query(const struct place *p)
{
	struct view_query q = p->narrow;
	unsigned only = view_honours(p->view, q.by);

	/* A trace is narrower than the thread and the operation through which the user came to it. */
	if (query_has_trace(&q) && only & ONLY_TRACE)
		only &= ONLY_TRACE | (p->view->of_span ? ONLY_SPAN : 0);
	query_widen(&q, only);
	return q;
}

struct place *place_new_at_span(uint64_t trace_id, uint64_t span_id, int span_kind, int64_t at_ns)
{
	struct view_query q = VIEW_QUERY_INIT;
	g_autofree char *crumb = g_strdup_printf("%016" G_GINT64_MODIFIER "x", trace_id);

	query_set_trace(&q, trace_id);
	struct place *p = place_new(&view_waterfall, &q, crumb);
	p->select.span = span_id;
	p->select.kind = span_kind;
	p->mark_ns = at_ns;
	return p;
}

void place_take_state(struct place *p, const struct state_kind *kind, void *state)
{
	if (p->state && p->state_kind->clear)
		p->state_kind->clear(p->state);
	g_free(p->state);
	p->state = state;
	p->state_kind = kind;
}

void *place_state(struct place *p, const struct state_kind *kind)
{
	if (!p->state) {
		place_take_state(p, kind, g_malloc0(kind->size));
		if (kind->init)
			kind->init(p->state);
	}
	g_assert(p->state_kind == kind);
	return p->state;
}

void place_set_position(struct place *p, const struct state_kind *kind, const void *state)
{
	if (state && kind->position)
		memcpy(place_state(p, kind), state, kind->position);
}

void place_stale(struct place *p)
{
	g_clear_pointer(&p->rows, rows_free);
	if (p->state && p->state_kind->stale)
		p->state_kind->stale(p->state);
}

struct place *place_ref(struct place *p)
{
	p->refs++;
	return p;
}

void place_unref(struct place *p)
{
	if (!p || --p->refs)
		return;
	place_stale(p);
	g_free((char *)p->narrow.operation);
	g_free((char *)p->narrow.service);
	g_free(p->host);
	g_free(p->crumb);
	g_free(p->search);
	g_free(p->filter);
	for (int i = 0; i < PANE_N; i++) {
		expr_free(p->expr[i]);
		table_clear(&p->table[i]);
	}
	place_take_state(p, NULL, NULL);
	if (p->among)
		intmap_clear(p->among);
	g_free(p->among);
	g_free(p);
}

unsigned place_n_panes(const struct view *v)
{
	return v->kind == VIEW_OVERVIEW ? PANE_PROCESSES + 1 : v->kind == VIEW_PROCESS ? PROCESS_PARTS : 1;
}

const struct view *place_pane_view(const struct view *v, enum pane pane)
{
	static const struct view *const overview[] = {
		[PANE_SINCE] = &view_overview_since, [PANE_CAUSES] = &view_causes,
		[PANE_OPERATIONS] = &view_overview, [PANE_PROCESSES] = &view_overview_processes,
	};

	g_assert((unsigned)pane < place_n_panes(v));
	if (v->kind == VIEW_PROCESS)
		return process_part_view((enum process_part)pane);
	return v->kind == VIEW_OVERVIEW ? overview[pane] : v;
}

struct focus place_pane(struct place *p, enum pane pane)
{
	g_assert((unsigned)pane < PANE_N);
	const struct process_page *page = p->rows ? process_page_of(p->rows) : NULL;
	const struct overview *o = p->rows && p->view->kind == VIEW_OVERVIEW ?
		overview_of(p->rows) : NULL;

	struct rows *const of_overview[] = {
		[PANE_SINCE] = o ? o->since : NULL, [PANE_CAUSES] = o ? o->causes : NULL,
		[PANE_OPERATIONS] = p->rows, [PANE_PROCESSES] = o ? o->processes : NULL,
	};

	if (o)
		return (struct focus){ &p->table[pane], place_pane_view(p->view, pane), of_overview[pane] };
	if (page)
		return (struct focus){ &p->table[pane], place_pane_view(p->view, pane),
				       page->part[pane] };
	return (struct focus){ &p->table[PANE_MAIN], p->view, p->rows };
}

size_t place_n_lines(struct place *p, enum pane pane)
{
	struct focus f = place_pane(p, pane);

	return table_n_lines(f.table, f.rows);
}

struct focus place_focus(struct place *p)
{
	return place_pane(p, p->pane);
}

const struct row *place_selected(struct place *p)
{
	struct focus f = place_focus(p);

	return table_selected(f.table, f.rows);
}

void nav_init(struct nav *nav)
{
	*nav = (struct nav){
		.stack = g_ptr_array_new_with_free_func((GDestroyNotify)place_unref),
		.left = g_ptr_array_new_with_free_func((GDestroyNotify)place_unref),
		.cursor_ns = TIME_UNKNOWN, .step_ns = NS_PER_S,
		.a_ns = TIME_UNKNOWN, .b_ns = TIME_UNKNOWN,
		.first_ns = TIME_UNKNOWN, .last_ns = TIME_UNKNOWN,
	};
}

void nav_clear(struct nav *nav)
{
	g_clear_pointer(&nav->stack, g_ptr_array_unref);
	g_clear_pointer(&nav->left, g_ptr_array_unref);
}

struct place *nav_top(const struct nav *nav)
{
	return nav->stack->len ? g_ptr_array_index(nav->stack, nav->stack->len - 1) : NULL;
}

/* Same narrowing and same comparison. Hosts are compared by name: their ids differ between timelines. */
static bool same_narrowing(const struct place *a, const struct place *b)
{
	const struct view_query *p = &a->narrow, *q = &b->narrow;

	return p->trace_id == q->trace_id && p->trace_zero == q->trace_zero && p->span_id == q->span_id &&
	       p->span_kind == q->span_kind && p->pid == q->pid && p->tid == q->tid &&
	       p->container == q->container && !g_strcmp0(p->operation, q->operation) &&
	       !g_strcmp0(p->service, q->service) && !g_strcmp0(a->host, b->host) &&
	       p->other_trace == q->other_trace && p->other_span == q->other_span;
}

/* Copies what the new place shall select and mark to a place that is used again. */
static void copy_target(struct place *p, const struct place *from)
{
	p->lateral = from->lateral;
	p->mark_ns = from->mark_ns;
	p->select = from->select;
	place_set_position(p, from->state_kind, from->state);
	p->narrow.host = from->narrow.host;
	if (from->narrow.by != from->view->default_by)
		p->narrow.by = from->narrow.by;
}

/* Returns p, or an equal place that was left before; then p is released. */
static struct place *come_back(struct nav *nav, struct place *p)
{
	for (guint i = nav->left->len; i-- > 0;) {
		struct place *old = g_ptr_array_index(nav->left, i);

		bool same = old->view == p->view && !strcmp(old->crumb, p->crumb) && same_narrowing(old, p);
		if (!same || p->among || old->among)
			continue;
		g_assert(old != p);
		g_ptr_array_steal_index(nav->left, i);
		copy_target(old, p);
		place_unref(p);
		return old;
	}
	return p;
}

static void leave(struct nav *nav, struct place *p)
{
	place_stale(p);
	g_ptr_array_add(nav->left, p);
	if (nav->left->len > NAV_LEFT_MAX)
		g_ptr_array_remove_index(nav->left, 0);
}

void nav_push(struct nav *nav, struct place *p)
{
	if (nav_top(nav))
		place_stale(nav_top(nav));	/* rows of hidden places would become stale */
	g_ptr_array_add(nav->stack, come_back(nav, p));
}

static void leave_all(struct nav *nav)
{
	while (nav->stack->len)
		leave(nav, g_ptr_array_steal_index(nav->stack, nav->stack->len - 1));
}

void nav_reset(struct nav *nav, struct place *root)
{
	leave_all(nav);
	g_ptr_array_add(nav->stack, come_back(nav, root));
}

void nav_open_root(struct nav *nav, struct place *root)
{
	struct nav_way *way = &nav->way;
	unsigned at = 0;

	while (at < way->n && way->view[at] != root->view)
		at++;
	if (at == way->n) {
		if (at == NAV_WAY_MAX)
			memmove(way->view, way->view + 1, --at * sizeof *way->view);
		way->view[at++] = nav_top(nav)->view;
	}
	way->n = at;
	nav_reset(nav, root);
}

bool nav_is_top(const struct nav *nav)
{
	return nav->stack->len < 2 && !nav->way.n;
}

bool nav_pop(struct nav *nav)
{
	const struct view_query all = VIEW_QUERY_INIT;

	g_assert(nav->stack->len > 0);
	if (nav_is_top(nav))
		return false;
	if (nav->stack->len > 1)
		leave(nav, g_ptr_array_steal_index(nav->stack, nav->stack->len - 1));
	else
		nav_reset(nav, place_new(nav->way.view[--nav->way.n], &all, ""));
	return true;
}

void nav_restore(struct nav *nav, const GPtrArray *places, const struct nav_way *way)
{
	g_assert(places->len > 0);
	nav->way = *way;
	leave_all(nav);
	PTR_EACH(struct place, p, places) {
		g_ptr_array_add(nav->stack, place_ref(p));
		g_ptr_array_remove(nav->left, p);
	}
}

bool nav_bounds(const struct nav *nav, const struct timeline *tl, int64_t *ret_first,
		int64_t *ret_last)
{
	if (nav->last_ns == TIME_UNKNOWN)
		return timeline_coverage(tl, ret_first, ret_last);
	*ret_first = nav->first_ns;
	*ret_last = nav->last_ns;
	return true;
}

/* Beginning of the last step of the trace; of the last closed second if its end is unknown. false: none. */
static bool newest(const struct nav *nav, const struct timeline *tl, int64_t *ret)
{
	size_t n = timeline_n_seconds(tl);
	int64_t first, last = nav->last_ns;

	if (last == TIME_UNKNOWN && !n)
		return false;
	if (last == TIME_UNKNOWN && !(nav->step_ns < NS_PER_S &&
				      timeline_coverage(tl, &first, &last)))
		last = timeline_outline(tl, n - 1)->begin_ns;
	*ret = time_floor(last, nav->step_ns);
	return true;
}

/* The same, without what is not over yet: of the last closed second. Before there is one, of the open second. */
static bool newest_closed(const struct nav *nav, const struct timeline *tl, int64_t *ret)
{
	size_t i = timeline_n_seconds(tl);

	while (i > 0 && !timeline_outline(tl, i - 1)->version)
		i--;
	if (i == timeline_n_seconds(tl) || !i)
		return newest(nav, tl, ret);
	*ret = time_floor(timeline_outline(tl, i - 1)->begin_ns, nav->step_ns);
	return true;
}

static int64_t oldest(const struct nav *nav, const struct timeline *tl)
{
	int64_t first = timeline_n_seconds(tl) ? timeline_outline(tl, 0)->begin_ns : INT64_MAX;

	if (nav->last_ns != TIME_UNKNOWN || (nav->first_ns != TIME_UNKNOWN && nav->first_ns < first))
		first = nav->first_ns;
	return time_floor(first, nav->step_ns);
}

static bool move_to(struct nav *nav, int64_t at)
{
	bool changed = nav->cursor_ns != at;

	nav->cursor_ns = at;
	return changed;
}

bool nav_seek(struct nav *nav, const struct timeline *tl, int64_t at_ns)
{
	int64_t last;

	at_ns = time_floor(at_ns, nav->step_ns);
	if (newest(nav, tl, &last))
		at_ns = CLAMP(at_ns, oldest(nav, tl), last);
	nav->fixed = false;
	return move_to(nav, at_ns);
}

bool nav_whole(const struct nav *nav, const struct timeline *tl, int64_t *ret_from, int64_t *ret_to)
{
	int64_t last;

	if (!newest(nav, tl, &last))
		return false;
	*ret_from = oldest(nav, tl);
	*ret_to = last + nav->step_ns;
	return true;
}

/* Moves the range A-B, not past the ends of the trace, and the cursor to its beginning. Returns how far it moved. */
static int64_t move_range(struct nav *nav, const struct timeline *tl, int64_t by)
{
	int64_t from, to;

	if (nav_whole(nav, tl, &from, &to))
		by = by < 0 ? MAX(by, MIN(from - nav->a_ns, 0)) : MIN(by, MAX(to - nav->b_ns, 0));
	nav->a_ns += by;
	nav->b_ns += by;
	nav_seek(nav, tl, nav->a_ns);
	return by;
}

bool nav_go(struct nav *nav, const struct timeline *tl, int64_t at_ns)
{
	int64_t from, to;

	if (nav_has_whole_range(nav) && nav_whole(nav, tl, &from, &to) && nav->a_ns <= from && nav->b_ns >= to)
		nav->a_ns = nav->b_ns = TIME_UNKNOWN;
	bool changed = nav_seek(nav, tl, at_ns);

	if (!nav_has_whole_range(nav))
		return changed;
	return move_range(nav, tl, nav->cursor_ns - nav->a_ns) || changed;
}

bool nav_step(struct nav *nav, const struct timeline *tl, int steps)
{
	g_assert(nav_is_step(nav->step_ns));
	int64_t by = steps * nav->step_ns;

	if (nav->cursor_ns == TIME_UNKNOWN)
		return false;
	if (nav_has_whole_range(nav))
		return move_range(nav, tl, by) != 0;
	return nav_seek(nav, tl, nav->cursor_ns + by);
}

void nav_show_all(struct nav *nav, const struct timeline *tl)
{
	int64_t first, end;

	if (!nav_whole(nav, tl, &first, &end))
		return;
	nav->a_ns = time_floor(first, NS_PER_S);
	nav->b_ns = time_floor(end - 1, NS_PER_S) + NS_PER_S;
}

bool nav_tick(struct nav *nav, const struct timeline *tl)
{
	int64_t at;

	if (nav->fixed)
		return false;
	if (nav->mode == NAV_FOLLOW)
		return newest_closed(nav, tl, &at) && move_to(nav, at);
	if (nav->mode == NAV_WORST || nav->cursor_ns == TIME_UNKNOWN) {
		at = nav->reading ? TIME_UNKNOWN : overview_worst_second(tl);
		if (at == TIME_UNKNOWN && !nav->reading && nav->mode == NAV_WORST)
			nav_show_all(nav, tl);	/* nothing says which second matters */
		if (at == TIME_UNKNOWN && !newest(nav, tl, &at))
			return false;
		return move_to(nav, time_floor(at, nav->step_ns));
	}
	return false;
}

bool nav_play(struct nav *nav, const struct timeline *tl)
{
	int64_t last;

	if (nav->mode != NAV_PLAY || !newest_closed(nav, tl, &last))
		return false;
	if (nav->cursor_ns < last && nav_step(nav, tl, 1))
		return true;
	nav->mode = NAV_PAUSED;
	return true;
}

static const int64_t steps[] = {
	NS_PER_MS, 10 * NS_PER_MS, 100 * NS_PER_MS, NS_PER_S, 10 * NS_PER_S, 60 * NS_PER_S,
	600 * NS_PER_S,
};

bool nav_set_step(struct nav *nav, int64_t step_ns)
{
	int64_t best = steps[0], had = nav->step_ns;

	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
		if (ABS(steps[i] - step_ns) < ABS(best - step_ns))
			best = steps[i];
	}
	nav->step_ns = best;
	if (nav->cursor_ns != TIME_UNKNOWN)
		nav->cursor_ns = time_floor(nav->cursor_ns, best);
	return best != had;
}

bool nav_is_step(int64_t step_ns)
{
	for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
		if (steps[i] == step_ns)
			return true;
	return false;
}

bool nav_change_step(struct nav *nav, const struct timeline *tl, int direction, int64_t finest)
{
	g_assert(direction == 1 || direction == -1);
	int at = 0, n = (int)G_N_ELEMENTS(steps);

	while (at < n - 1 && steps[at] != nav->step_ns)
		at++;
	g_assert(steps[at] == nav->step_ns);
	if (at + direction < 0 || at + direction >= n || steps[at + direction] < finest)
		return false;
	nav->step_ns = steps[at + direction];
	if (nav->cursor_ns != TIME_UNKNOWN)
		nav_seek(nav, tl, nav->cursor_ns);
	return true;
}

void nav_set_end(struct nav *nav, bool end, int64_t at_ns)
{
	*(end ? &nav->b_ns : &nav->a_ns) = at_ns;
	if (nav_has_whole_range(nav) && nav->a_ns >= nav->b_ns)
		*(end ? &nav->a_ns : &nav->b_ns) = TIME_UNKNOWN;
}

bool nav_has_range(const struct nav *nav)
{
	return nav->a_ns != TIME_UNKNOWN || nav->b_ns != TIME_UNKNOWN;
}

bool nav_has_whole_range(const struct nav *nav)
{
	return nav->a_ns != TIME_UNKNOWN && nav->b_ns != TIME_UNKNOWN;
}

void nav_range(const struct nav *nav, int64_t *ret_from, int64_t *ret_to)
{
	int64_t from = nav->a_ns != TIME_UNKNOWN ? nav->a_ns : nav->cursor_ns;
	int64_t to = nav->b_ns != TIME_UNKNOWN ? nav->b_ns : nav->cursor_ns + nav->step_ns;

	if (nav->cursor_ns == TIME_UNKNOWN && !nav_has_whole_range(nav))
		from = to = 0;
	if (from >= to && nav->cursor_ns != TIME_UNKNOWN) {
		from = nav->cursor_ns;
		to = from + nav->step_ns;
	}
	*ret_from = from;
	*ret_to = to;
}

struct view_query query_by_row(const struct view_query *base, const struct row *row)
{
	struct view_query q = *base;
	const struct view_query *d = row ? &row->drill : NULL;

	if (!d)
		return q;
	if (query_has_trace(d)) {
		query_set_trace(&q, d->trace_id);
		q.span_id = d->span_id;
		q.span_kind = d->span_kind;
	}
	if (d->operation)
		q.operation = d->operation;
	if (d->service)
		q.service = d->service;
	if (d->pid >= 0)
		q.pid = d->pid;
	if (d->tid >= 0)
		q.tid = d->tid;
	if (d->host != ID_NONE)
		q.host = d->host;
	if (d->container)
		q.container = d->container;
	return q;
}

struct view_query place_query_beside(struct place *p)
{
	const struct row *row = place_selected(p);
	const struct waterfall_row *w = (const struct waterfall_row *)row;
	struct view_query q = p->narrow;

	if (p->view->kind != VIEW_WATERFALL)
		return q;
	if (w && w->span) {
		const struct thread_info *t = timeline_thread(p->rows->tl, w->span->thread);
		const struct process_info *of = t ? timeline_process(p->rows->tl, t->process) : NULL;

		query_set_trace(&q, w->span->trace_id);
		q.span_id = w->span->span_id;
		q.span_kind = (int)w->span->kind;
		q.host = t ? t->host : ID_NONE;
		q.tid = t ? t->tid : -1;
		q.pid = of ? of->pid : -1;
		q.container = 0;
	}
	return q;
}

struct view_query place_selected_query(struct place *p)
{
	struct view_query q = place_query(p);

	return p->view->kind == VIEW_WATERFALL ? place_query_beside(p) : query_by_row(&q, place_selected(p));
}
