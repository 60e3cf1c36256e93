/* SPDX-License-Identifier: GPL-2.0-only */
/* Folds the seconds of a slice, and drops all but the slowest traces: see slice_history.h. */
#include "state/slice/slice_history.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/cpu.h"
#include "state/kernel/cpu_runs.h"
#include "state/kernel/slice_state.h"
#include "state/spans/explain.h"

/* ---- seconds ---- */

/* Figures of the last second (CELL_IS_LAST) count only there. */
static void clear_last(struct bin *b)
{
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		const struct cell_layout *l = built_layout(k);
		for (const struct cell_field *f = l->fields; f < l->fields + l->n_fields; f++)
			for (uint32_t i = 0; f->role == CELL_IS_LAST && i < b->table[k].n; i++)
				memset((char *)cell_table_at(&b->table[k], l, i) + f->offset, 0, f->size);
	}
}

/* The folded bin of b, a bin in steps of `step` ns. Whole folded steps in a void are one bin, as in slice_bin(); a
 * void without any belongs to the one where it begins. */
static struct bin *folded_bin(struct slice *s, const struct bin *b)
{
	int64_t index = time_floor(MAX(b->begin, s->first), s->step) / s->step;
	int64_t from = time_floor(b->begin, s->step) / s->step, to = time_floor(b->end, s->step) / s->step;
	from += b->begin > from * s->step;
	bool is_void = b->after > b->index + 1 && from < to && from * s->step <= s->last && to * s->step > s->first;
	struct bin *into = g_hash_table_lookup(s->bins, is_void ? &from : &index);

	return into ? into : bin_add(s, is_void ? from : index, is_void ? to : index + 1);
}

/* Are all instants of the seconds and of the coverage so far from the ends of int64_t that steps do not overflow? */
static bool has_room(const struct slice *s)
{
	GHashTableIter it;
	gpointer value;
	bool fits = s->first > s->last || (s->first > -TIME_MOST_NS && s->last < TIME_MOST_NS);

	g_hash_table_iter_init(&it, s->bins);
	while (fits && g_hash_table_iter_next(&it, NULL, &value)) {
		const struct bin *b = value;
		fits = b->begin > -TIME_MOST_NS && b->end < TIME_MOST_NS;
	}
	return fits;
}

bool slice_fold(struct slice *s, int64_t step)
{
	const struct cell_maps same = { 0 };

	g_assert(!s->count_bin);
	if (step % s->step != 0 || !has_room(s))
		return false;
	s->history = true;
	if (step == s->step)
		return true;
	g_autoptr(GPtrArray) bins = slice_bins_in_order(s);
	g_hash_table_steal_all(s->bins);
	s->bin_last = NULL;
	s->step = step;
	for (guint i = 0; i < bins->len; i++) {
		struct bin *b = g_ptr_array_index(bins, i), *into = folded_bin(s, b);
		if (b->end != into->end)
			clear_last(b);
		bin_merge(s, into, b, &same);
	}
	return true;
}

/* ---- which traces ---- */

struct trace_time { uint64_t id; int64_t begin, end, minute; bool stays; };
struct log_window { int64_t begin, end; };

struct thinning {
	struct slice *s;
	GArray *traces;			/* struct trace_time */
	GHashTable *by_id;		/* uint64_t (in slice.annots) -> index + 1, until .traces is sorted */
	GHashTable *staying;		/* set of uint64_t (in .traces) */
	GArray *windows;		/* struct log_window, in order, apart: logs in them stay */
};

static void find_traces(struct thinning *t)
{
	const GArray *annots = t->s->annots;

	ARRAY_EACH(struct annot, a, annots) {
		if (a->mark != MARK_NONE)
			continue;
		guint at = GPOINTER_TO_UINT(g_hash_table_lookup(t->by_id, &a->trace));
		if (!at) {
			struct trace_time new = { .id = a->trace, .begin = a->ts, .end = a->ts };
			g_array_append_val(t->traces, new);
			g_hash_table_insert(t->by_id, &a->trace, GUINT_TO_POINTER(at = t->traces->len));
		}
		struct trace_time *x = &g_array_index(t->traces, struct trace_time, at - 1);
		x->begin = MIN(x->begin, a->ts);
		x->end = MAX(x->end, a->ts);
		x->minute = time_floor(x->begin, t->s->step);
	}
}

static int slowest_first(gconstpointer a, gconstpointer b)
{
	const struct trace_time *x = a, *y = b;
	uint64_t dx = (uint64_t)x->end - (uint64_t)x->begin, dy = (uint64_t)y->end - (uint64_t)y->begin;

	return ORDER(x->minute, y->minute) ?: ORDER(dy, dx) ?: ORDER(x->id, y->id);
}

/* The slowest of each step, and those that touch an end which has a neighbour: they may go on there. */
static void choose_traces(struct thinning *t, unsigned most, bool has_left, bool has_right)
{
	unsigned n = 0;

	if (!t->traces->len)
		return;
	int64_t first_end = time_floor(t->s->first, t->s->step) + t->s->step, last = time_floor(t->s->last, t->s->step);
	g_array_sort(t->traces, slowest_first);
	for (guint i = 0; i < t->traces->len; i++) {
		struct trace_time *x = &g_array_index(t->traces, struct trace_time, i);
		n = i && x->minute == (x - 1)->minute ? n + 1 : 0;
		x->stays = n < most || (has_left && x->begin < first_end) || (has_right && x->end >= last);
		if (x->stays)
			g_hash_table_add(t->staying, &x->id);
		t->s->n_thinned += !x->stays;
	}
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct log_window *x = a, *y = b;
	return ORDER(x->begin, y->begin);
}

static void make_windows(struct thinning *t)
{
	guint n = 0;

	ARRAY_EACH(const struct trace_time, x, t->traces) {
		struct log_window w = { MAX(x->begin, INT64_MIN + JUST_OUT_NS) - JUST_OUT_NS,
				    MIN(x->end, INT64_MAX - JUST_OUT_NS) + JUST_OUT_NS };
		if (x->stays)
			g_array_append_val(t->windows, w);
	}
	g_array_sort(t->windows, by_begin);
	for (guint i = 0; i < t->windows->len; i++) {
		struct log_window w = g_array_index(t->windows, struct log_window, i);
		struct log_window *last = n ? &g_array_index(t->windows, struct log_window, n - 1) : NULL;
		if (last && w.begin <= last->end)
			last->end = MAX(last->end, w.end);
		else
			g_array_index(t->windows, struct log_window, n++) = w;
	}
	g_array_set_size(t->windows, n);
}

/* The first window that ends at the instant or later; NULL: none. */
static const struct log_window *window_from(const struct thinning *t, int64_t ts)
{
	size_t at = FIRST_INDEX(i, t->windows->len, g_array_index(t->windows, struct log_window, i).end >= ts);

	return at < t->windows->len ? &g_array_index(t->windows, struct log_window, at) : NULL;
}

static bool is_in_window(const struct thinning *t, int64_t begin, int64_t end)
{
	const struct log_window *w = window_from(t, begin);
	return w && w->begin <= end;
}

/* ---- annotations ---- */

/* Drops those of other traces, and marks. Returns the new number of each, or ID_NONE (g_free). */
static uint32_t *thin_annots(struct thinning *t)
{
	GArray *all = t->s->annots;
	uint32_t *map = g_new(uint32_t, all->len + 1);
	struct strtab *texts = strtab_new_reftexts();
	guint n = 0;

	for (guint i = 0; i < all->len; i++) {
		struct annot a = g_array_index(all, struct annot, i);
		bool stays = a.mark == MARK_NONE && g_hash_table_contains(t->staying, &a.trace);
		map[i] = stays ? n : ID_NONE;
		if (!stays)
			continue;
		uint32_t *const ids[] = { &a.name, &a.service, &a.ip, &a.key, &a.val };
		for (size_t k = 0; k < G_N_ELEMENTS(ids); k++)
			*ids[k] = strtab_add(texts, strtab_get(t->s->texts, *ids[k]));
		g_array_index(all, struct annot, n++) = a;
	}
	g_array_set_size(all, n);
	strtab_free(t->s->texts);
	t->s->texts = texts;
	return map;
}

/* ---- logs ---- */

/* Drops waits outside of the windows; the annotations' numbers of waits follow. */
static void thin_waits(const struct thinning *t, struct thread *x)
{
	g_autofree uint32_t *before = g_new(uint32_t, x->waits.len + 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->waits.len; i++) {
		const struct wait w = *vec_at(&x->waits, struct wait, i);
		before[i] = n;
		if (is_in_window(t, w.begin, w.end))
			*vec_at(&x->waits, struct wait, n++) = w;
	}
	before[x->waits.len] = n;
	for (guint i = 0; x->annots && i < x->annots->len; i++) {
		uint32_t id = g_array_index(x->annots, uint32_t, i);
		struct snap *snap = g_array_index(t->s->annots, struct annot, id).snap;
		uint64_t at = snap && snap->wait_index > x->waits_base ? snap->wait_index - x->waits_base : 0;
		if (snap)
			snap->wait_index = before[MIN(at, x->waits.len)];
	}
	x->waits.len = n;
	x->waits_base = 0;
	x->wait_hint = 0;
}

static void thin_calls(const struct thinning *t, struct thread *x)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->calls.len; i++) {
		const struct done_call c = *vec_at(&x->calls, struct done_call, i);
		if (is_in_window(t, c.begin, c.end))
			*vec_at(&x->calls, struct done_call, n++) = c;
	}
	x->calls.len = n;
	x->call_hint = 0;
}

/* An entry holds until the next one. */
static void thin_queued(const struct thinning *t, struct thread *x)
{
	struct vec *all = &x->sched.queued;
	uint32_t n = 0;

	for (uint32_t i = 0; i < all->len; i++) {
		const struct queued q = *vec_at(all, struct queued, i);
		if (is_in_window(t, q.ts, i + 1 < all->len ? vec_at(all, struct queued, i + 1)->ts : INT64_MAX))
			*vec_at(all, struct queued, n++) = q;
	}
	all->len = n;
	x->sched.queued_hint = 0;
}

static void thin_record(struct rec *r, const uint32_t *map)
{
	if ((r->type == REC_SPAN || r->type == REC_MARK) && r->id != ID_NONE)
		r->id = map[r->id];
}

static void thin_thread(const struct thinning *t, struct thread *x, const uint32_t *map)
{
	struct rec *r;
	guint n = 0;

	for (guint i = 0; x->annots && i < x->annots->len; i++) {
		uint32_t id = map[g_array_index(x->annots, uint32_t, i)];
		if (id != ID_NONE)
			g_array_index(x->annots, uint32_t, n++) = id;
	}
	if (x->annots)
		g_array_set_size(x->annots, n);
	for (guint i = 0; (r = thread_pending(x, i)); i++)
		thin_record(r, map);
	thin_record(&x->initial_exit, map);
	thin_waits(t, x);
	thin_calls(t, x);
	vec_free(&x->charged);		/* only marks need it */
	thin_queued(t, x);
}

/* What ran between the windows is unknown. The first entry stays (cpu_runs.h). */
static void thin_runs(const struct thinning *t, struct cpu *c)
{
	struct vec all = c->runs;
	bool gap = false;

	c->runs = (struct vec){ 0 };
	for (uint32_t i = 0; i < all.len; i++) {
		const struct run r = *vec_at(&all, struct run, i);
		int64_t end = i + 1 < all.len ? vec_at(&all, struct run, i + 1)->ts : INT64_MAX;
		bool stays = !i || is_in_window(t, r.ts, end);
		if (stays || !gap)
			*vec_add(&c->runs, struct run) = (struct run){ r.ts, stays ? r.thread : ID_NONE };
		gap = !stays;
	}
	c->run_hint = 0;
	vec_free(&all);
}

void slice_thin(struct slice *s, unsigned most, bool has_left, bool has_right)
{
	struct thinning t = {
		.s = s, .traces = g_array_new(false, false, sizeof(struct trace_time)),
		.by_id = g_hash_table_new(g_int64_hash, g_int64_equal),
		.staying = g_hash_table_new(g_int64_hash, g_int64_equal),
		.windows = g_array_new(false, false, sizeof(struct log_window)),
	};

	s->history = true;
	find_traces(&t);
	choose_traces(&t, most, has_left, has_right);
	make_windows(&t);
	g_autofree uint32_t *map = thin_annots(&t);
	for (guint i = 0; i < s->threads->len; i++)
		thin_thread(&t, g_ptr_array_index(s->threads, i), map);
	for (guint i = 0; i < s->cpus->len; i++)
		thin_runs(&t, cpu_at(s, i));
	g_array_unref(t.traces);
	g_hash_table_unref(t.by_id);
	g_hash_table_unref(t.staying);
	g_array_unref(t.windows);
}

bool slice_is_history(const struct slice *s)
{
	return s->history;
}

uint64_t slice_n_thinned(const struct slice *s)
{
	return s->n_thinned;
}
