/* SPDX-License-Identifier: GPL-2.0-only */
/* What CPUs, threads, devices and interrupts did in each step or cell of a range: see lanes.h. */
#include "views/lanes.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "state/store/container.h"
#include "views/lane_events.h"
#include "views/registry.h"

#include <string.h>

#define ROW(row) ((const struct lane_row *)(row))

const char *const lane_kind_name[LANE_KIND_N] = {
	[LANE_CPU] = "cpu", [LANE_THREADS] = "thread", [LANE_DEVICE] = "device",
	[LANE_EVENTS] = "events", [LANE_INTERRUPT] = "interrupt",
};

/* ---- sums ---- */

/* Times by a key: threads of a CPU, or CPUs of a thread. */
struct lane_shares {
	struct intmap at;		/* key -> index in .ns */
	GArray *ns;			/* struct lane_share */
};
struct lane_share { uint64_t key; int64_t ns; };

/* Sums of one lane, over a step, a cell or the whole range. */
struct lane_sums {
	bool any;
	int64_t part[PART_N];
	int64_t run_ns, idle_ns, unknown_ns, irq_ns, busy_ns, depth_ns, handler_ns;
	uint32_t depth_max;
	struct lane_shares ran;
	uint64_t events;
	struct lane_shares seen;		/* these by name (a string); .ns is their number */
};

/* What is needed of a lane while it is built. */
struct lane_work {
	struct lane_sums whole, cell;
	int64_t at;			/* index of the cell that .cell is about */
	struct lane_cell *cells;	/* owned by the rows, see struct lanes */
};

struct lanes_builder {
	struct row_map map;
	GArray *work;			/* struct lane_work, by lane_row.work */
	GPtrArray *owned;		/* arrays of cells */
	const struct second *second;	/* the one that is added now */
	int64_t begin_ns;		/* of the first second */
	int64_t from_ns, cell_ns;
	unsigned cells;
	bool containers;		/* lanes of containers are shown beside those of threads */
	int64_t first, last;		/* cells that the second is shown in; first > last: none */
};

static void shares_add(struct lane_shares *s, uint64_t key, int64_t ns)
{
	if (!s->ns)
		s->ns = g_array_new(false, false, sizeof(struct lane_share));
	uint32_t n = s->at.n, i = intmap_add(&s->at, key, s->ns->len);
	struct lane_share fresh = { .key = key };
	if (s->at.n > n)
		g_array_append_val(s->ns, fresh);
	g_array_index(s->ns, struct lane_share, i).ns += ns;
}

static void shares_clear(struct lane_shares *s)
{
	intmap_clear(&s->at);
	if (s->ns)
		g_array_unref(s->ns);
}

static void sums_clear(struct lane_sums *s)
{
	shares_clear(&s->ran);
	shares_clear(&s->seen);
	*s = (struct lane_sums){ .any = false };
}

/* Of two equal times that of the lesser name counts, so that nothing depends on ids. */
static bool is_before(const struct timeline *tl, enum lane_kind kind, uint64_t a, uint64_t b)
{
	const struct thread_info *x, *y;
	if (kind == LANE_EVENTS)
		return strcmp(timeline_string(tl, (uint32_t)a), timeline_string(tl, (uint32_t)b)) < 0;
	if (kind != LANE_CPU)
		return a < b;
	x = timeline_thread(tl, (uint32_t)a);
	y = timeline_thread(tl, (uint32_t)b);
	if (!x || !y)
		return x != NULL;
	return x->tid != y->tid ? x->tid < y->tid : x->start_ns < y->start_ns;
}

/* The key of the longest time; false: there is none. */
static bool longest(const struct timeline *tl, enum lane_kind kind, const struct lane_shares *s, struct lane_share *ret)
{
	bool any = false;
	for (guint i = 0; s->ns && i < s->ns->len; i++) {
		const struct lane_share *x = &g_array_index(s->ns, struct lane_share, i);
		if (x->ns > 0 && (!any || x->ns > ret->ns ||
				  (x->ns == ret->ns && is_before(tl, kind, x->key, ret->key)))) {
			*ret = *x;
			any = true;
		}
	}
	return any;
}

/* A string; ID_NONE: there was no event. */
static uint32_t most_frequent(const struct timeline *tl, const struct lane_sums *s)
{
	struct lane_share most;
	return longest(tl, LANE_EVENTS, &s->seen, &most) ? (uint32_t)most.key : ID_NONE;
}

static void cpu_state(const struct lane_sums *s, uint8_t *ret_state, int64_t *ret_ns)
{
	*ret_state = LANE_UNKNOWN;
	*ret_ns = s->unknown_ns;
	if (s->idle_ns > *ret_ns) {
		*ret_state = LANE_IDLE;
		*ret_ns = s->idle_ns;
	}
	if (s->run_ns >= *ret_ns && s->run_ns) {
		*ret_state = LANE_RUNNING;
		*ret_ns = s->run_ns;
	}
}

static void set_row(struct lane_row *r, const struct timeline *tl, const struct lane_sums *s)
{
	struct lane_share most;
	memcpy(r->c.part, s->part, sizeof r->c.part);
	r->run_ns = s->run_ns;
	r->idle_ns = s->idle_ns;
	r->unknown_ns = s->unknown_ns;
	r->irq_ns = s->irq_ns;
	r->busy_ns = s->busy_ns;
	r->depth_ns = s->depth_ns;
	r->depth_max = s->depth_max;
	r->handler_ns = s->handler_ns;
	r->state = LANE_FIGURE;
	r->who = ID_NONE;
	r->events = s->events;
	r->event = most_frequent(tl, s);
	if (r->kind == LANE_CPU) {
		cpu_state(s, &r->state, &r->state_ns);
		r->total_ns = s->run_ns + s->idle_ns + s->unknown_ns;
	} else if (r->kind == LANE_THREADS) {
		r->state = part_largest(s->part, &r->state_ns, &r->total_ns);
	}
	if (!longest(tl, r->kind, &s->ran, &most))
		return;
	r->who_ns = most.ns;
	if (r->kind == LANE_CPU)
		r->who = (uint32_t)most.key;
	else
		r->cpu = (int32_t)most.key;
}

static struct lane_cell cell_of(const struct timeline *tl, const struct lane_row *r, const struct lane_sums *s,
				int64_t ns)
{
	struct lane_cell c = { .state = LANE_FIGURE, .thread = ID_NONE, .event = ID_NONE };
	struct lane_share most;
	int64_t state_ns, total;

	if (r->by_events) {
		c.state = s->events ? LANE_MARKS : LANE_NOTHING;
		c.event = most_frequent(tl, s);
		c.share = (double)s->events;
		return c;
	}
	switch (r->kind) {
	case LANE_CPU:
		cpu_state(s, &c.state, &state_ns);
		total = s->run_ns + s->idle_ns + s->unknown_ns;
		if (s->irq_ns > total / 2)
			c.state = LANE_IRQ;
		c.share = total ? (double)s->run_ns / (double)total : 0;
		if (longest(tl, r->kind, &s->ran, &most))
			c.thread = (uint32_t)most.key;
		break;
	case LANE_THREADS:
		c.state = part_largest(s->part, &state_ns, &total);
		c.share = total ? (double)state_ns / (double)total : 0;
		if (!total)
			c.state = LANE_NOTHING;
		break;
	default:
		c.share = (double)(r->kind == LANE_DEVICE ? s->depth_ns : s->handler_ns) / (double)MAX(ns, 1);
		if (s->unknown_ns > ns / 2)
			c.state = LANE_UNKNOWN;
	}
	return c;
}

/* ---- lanes ---- */

static struct lane_work *work_of(const struct lanes_builder *b, const struct lane_row *r)
{
	return &g_array_index(b->work, struct lane_work, r->work);
}

/* Stores the cell that was summed. */
static void end_cell(const struct lanes_builder *b, const struct lane_row *r)
{
	struct lane_work *w = work_of(b, r);
	if (w->cell.any)
		w->cells[w->at] = cell_of(b->map.rows->tl, r, &w->cell, b->cell_ns);
	sums_clear(&w->cell);
}

static void begin_lane(struct lanes_builder *b, struct lane_row *r)
{
	struct lane_work w = { .at = b->first };
	r->work = b->work->len;
	r->cpu = -1;
	r->who = ID_NONE;
	if (b->cells) {
		w.cells = g_new(struct lane_cell, b->cells);
		for (unsigned i = 0; i < b->cells; i++)
			w.cells[i] = (struct lane_cell){
				.state = LANE_NOTHING, .thread = ID_NONE, .event = ID_NONE };
		g_ptr_array_add(b->owned, w.cells);
		r->cells = w.cells;
	}
	g_array_append_val(b->work, w);
}

static uint64_t lane_key(enum lane_kind kind, uint64_t key)
{
	return key_int(key_int(0, kind), key);
}

/* The lane of a key. Its sums of this second are added to what the caller gets: those of the whole range, and those of
 * the cell (NULL: none). */
static struct lane_row *lane(struct lanes_builder *b, enum lane_kind kind, uint64_t key, bool *ret_new)
{
	struct lane_row *r = row_map_get(&b->map, lane_key(kind, key), sizeof *r, ret_new);
	if (!*ret_new)
		return r;
	r->kind = kind;
	r->is[kind] = true;
	r->begin_ns = b->second->begin_ns;
	begin_lane(b, r);
	return r;
}

static struct lane_sums *cell_sums(const struct lanes_builder *b, const struct lane_row *r)
{
	struct lane_work *w = work_of(b, r);
	if (!b->cells || b->first > b->last)
		return NULL;
	if (w->at != b->first)
		end_cell(b, r);
	w->at = b->first;
	return &w->cell;
}

#define ADD(b, r, field, value) \
	do { \
		struct lane_sums *cell_ = cell_sums(b, r); \
		work_of(b, r)->whole.field += (value); \
		work_of(b, r)->whole.any = true; \
		if (cell_) { \
			cell_->field += (value); \
			cell_->any = true; \
		} \
	} while (0)

static void add_ran(struct lanes_builder *b, const struct lane_row *r, uint64_t key, int64_t ns)
{
	struct lane_sums *cell = cell_sums(b, r);
	shares_add(&work_of(b, r)->whole.ran, key, ns);
	if (cell)
		shares_add(&cell->ran, key, ns);
}

static uint64_t cpu_key(uint32_t host, uint32_t cpu)
{
	return (uint64_t)host << 32 | cpu;
}

/* Do no events tell what the host's threads did? Then their lanes have what they recorded themselves. */
static bool is_without_kernel(const struct rows *rows, uint32_t host)
{
	return (rows_missing(rows, host) & MISSING_KERNEL) == MISSING_KERNEL;
}

static void add_cpu(struct lanes_builder *b, const struct cpu_cell *cell)
{
	struct rows *rows = b->map.rows;
	bool is_new;
	if (b->cells && is_without_kernel(rows, cell->host))
		return;
	struct lane_row *r = lane(b, LANE_CPU, cpu_key(cell->host, cell->cpu), &is_new);
	if (is_new) {
		g_autofree char *name = g_strdup_printf("CPU%u", cell->cpu);
		common_host(&r->c, rows, cell->host);
		r->c.name = rows_text(rows, name);
		r->cpu = (int32_t)cell->cpu;
		r->c.row.key[0] = key_int(key_text(key_int(0, LANE_CPU), r->c.host), cell->cpu);
	}
	ADD(b, r, run_ns, cell->run_ns);
	ADD(b, r, idle_ns, cell->idle_ns);
	ADD(b, r, unknown_ns, cell->unknown_ns);
	ADD(b, r, irq_ns, cell->irq_ns);
}

static void add_ran_on(struct lanes_builder *b, const struct ran_cell *cell)
{
	const struct thread_info *t = timeline_thread(b->map.rows->tl, cell->thread);
	uint32_t at = t ? intmap_get(&b->map.index, lane_key(LANE_CPU, cpu_key(t->host, cell->cpu))) : INTMAP_NONE;
	if (at != INTMAP_NONE)
		add_ran(b, b->map.rows->rows->pdata[at], cell->thread, cell->time_ns);
}

static uint64_t thread_key(const struct lanes_builder *b, uint32_t thread)
{
	return group_key(b->map.rows->tl, b->map.rows->query.by, thread);
}

static const char *lane_name(struct rows *rows, const struct common *c)
{
	g_autofree char *name = NULL;
	int32_t id = rows->query.by == BY_THREAD ? c->tid : c->pid;
	if (rows->query.by == BY_CONTAINER || id < 0)
		return c->container && rows->query.by == BY_CONTAINER ? c->container : "?";
	name = g_strdup_printf("%s/%d", c->comm ? c->comm : "?", id);
	return rows_text(rows, name);
}

static struct lane_row *lane_of_thread(struct lanes_builder *b, uint32_t thread)
{
	struct rows *rows = b->map.rows;
	bool is_new;
	struct lane_row *r = lane(b, LANE_THREADS, thread_key(b, thread), &is_new);
	if (is_new) {
		const struct thread_info *t = timeline_thread(rows->tl, thread);
		group_fill(&r->c, rows, thread);
		r->c.of_threads = true;
		r->by_events = t && is_without_kernel(rows, t->host);
	}
	if (rows->query.by == BY_PROCESS)
		group_name(&r->c, rows, thread, is_new);
	return r;
}

static struct lane_row *lane_of_cpu(struct lanes_builder *b, const struct count_cell *cell)
{
	struct rows *rows = b->map.rows;
	bool is_new;
	struct lane_row *r = lane(b, LANE_EVENTS, cpu_key(cell->host, cell->cpu), &is_new);
	if (!is_new)
		return r;
	g_autofree char *name = cell->cpu == UINT32_MAX ? g_strdup("unknown thread") :
		g_strdup_printf("CPU%u, some thread", cell->cpu);
	common_host(&r->c, rows, cell->host);
	r->c.name = rows_text(rows, name);
	r->c.row.drill.host = cell->host;
	r->cpu = cell->cpu == UINT32_MAX ? -1 : (int32_t)cell->cpu;
	r->c.row.key[0] = key_int(key_text(key_int(0, LANE_EVENTS), r->c.host), cell->cpu);
	r->by_events = true;
	return r;
}

static void add_counted(struct lanes_builder *b, const struct count_cell *cell)
{
	struct rows *rows = b->map.rows;
	if (!is_without_kernel(rows, cell->host) || !lane_counts(rows->tl, &rows->query, cell))
		return;
	struct lane_row *r = cell->thread == ID_NONE ? lane_of_cpu(b, cell) : lane_of_thread(b, cell->thread);
	shares_add(&work_of(b, r)->whole.seen, cell->name, (int64_t)cell->value);
	ADD(b, r, events, cell->value);
	struct lane_sums *cell_sum = cell_sums(b, r);
	if (cell_sum)
		shares_add(&cell_sum->seen, cell->name, (int64_t)cell->value);
}

static void add_thread(struct lanes_builder *b, const struct thread_cell *cell)
{
	const struct thread_info *t = timeline_thread(b->map.rows->tl, cell->thread);
	const struct process_info *process = t ? timeline_process(b->map.rows->tl, t->process) : NULL;
	/* what a CPU ran is no thread then */
	if (t && t->tid < 0 && (!process || process->pid < 0) && is_without_kernel(b->map.rows, t->host))
		return;
	struct lane_row *r = lane_of_thread(b, cell->thread);
	for (int p = 0; p < PART_N; p++)
		if (cell->part[p])
			ADD(b, r, part[p], cell->part[p]);
	work_of(b, r)->whole.any = true;
}

/* The lane of the thread's container. */
static void add_container(struct lanes_builder *b, const struct thread_cell *cell)
{
	struct rows *rows = b->map.rows;
	uint64_t key = key_int(group_key(rows->tl, BY_CONTAINER, cell->thread), BY_CONTAINER);
	enum view_by by = rows->query.by;
	bool is_new;
	struct lane_row *r = lane(b, LANE_THREADS, key, &is_new);
	rows->query.by = BY_CONTAINER;		/* for group_fill() */
	if (is_new) {
		group_fill(&r->c, rows, cell->thread);
		r->c.of_threads = r->is_container = true;
	}
	rows->query.by = by;
	for (int p = 0; p < PART_N; p++)
		if (cell->part[p])
			ADD(b, r, part[p], cell->part[p]);
	work_of(b, r)->whole.any = true;
}

static bool is_in_container(const struct timeline *tl, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	return t && container_of(timeline_process(tl, t->process)) > CONTAINER_HOST;
}

/* Are any of the threads that are shown in a container? */
static bool any_in_container(const struct timeline *tl, const struct view_query *q, const struct range *range)
{
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_threads; k++)
			if (is_in_container(tl, s->threads[k].thread) &&
			    query_wants_thread(q, tl, s->threads[k].thread))
				return true;
	}
	return false;
}

static void add_ran_by(struct lanes_builder *b, const struct ran_cell *cell)
{
	uint32_t at = intmap_get(&b->map.index, lane_key(LANE_THREADS, thread_key(b, cell->thread)));
	if (at != INTMAP_NONE)
		add_ran(b, b->map.rows->rows->pdata[at], cell->cpu, cell->time_ns);
}

static void add_device(struct lanes_builder *b, const struct dev_cell *cell)
{
	struct rows *rows = b->map.rows;
	bool is_new;
	struct lane_row *r = lane(b, LANE_DEVICE, cpu_key(cell->host, cell->dev), &is_new);
	if (is_new) {
		common_host(&r->c, rows, cell->host);
		r->c.name = common_device(rows, cell->host, cell->dev, cell->name);
		r->c.row.key[0] = key_int(key_text(key_int(0, LANE_DEVICE), r->c.host), cell->dev);
	}
	ADD(b, r, busy_ns, cell->busy_ns);
	ADD(b, r, depth_ns, cell->depth_ns);
	ADD(b, r, unknown_ns, cell->unknown_ns);
	struct lane_sums *cell_sum = cell_sums(b, r), *whole = &work_of(b, r)->whole;
	whole->depth_max = MAX(whole->depth_max, cell->depth_max);
	if (cell_sum)
		cell_sum->depth_max = MAX(cell_sum->depth_max, cell->depth_max);
}

static void add_interrupt(struct lanes_builder *b, const struct irq_cell *cell)
{
	struct rows *rows = b->map.rows;
	bool is_new;
	struct lane_row *r = lane(b, LANE_INTERRUPT, cpu_key(cell->host, cell->code), &is_new);
	if (is_new) {
		common_host(&r->c, rows, cell->host);
		r->c.name = timeline_string(rows->tl, cell->name);
		r->c.row.key[0] = key_int(key_text(key_int(0, LANE_INTERRUPT), r->c.host), cell->code);
	}
	ADD(b, r, handler_ns, cell->self_ns);
}

static bool of_machine(const struct view_query *q)
{
	return q->by == BY_SYSTEM || q->by == BY_CPU;
}

/* Which lanes are there: rows of batch mode are of the kind that --by names, the screen has all. */
static void add_second(struct lanes_builder *b, const struct second *s)
{
	const struct view_query *q = &b->map.rows->query;
	const struct timeline *tl = b->map.rows->tl;
	bool machine = of_machine(q) || b->cells, all = q->by != BY_CPU && machine;
	b->second = s;
	for (uint32_t i = 0; machine && i < s->n_cpus; i++)
		if (q->host == ID_NONE || s->cpus[i].host == q->host)
			add_cpu(b, &s->cpus[i]);
	for (uint32_t i = 0; machine && i < s->n_rans; i++)
		add_ran_on(b, &s->rans[i]);
	for (uint32_t i = 0; !of_machine(q) && i < s->n_threads; i++)
		if (query_wants_thread(q, tl, s->threads[i].thread)) {
			add_thread(b, &s->threads[i]);
			if (b->containers)
				add_container(b, &s->threads[i]);
		}
	for (uint32_t i = 0; !of_machine(q) && i < s->n_rans; i++)
		if (query_wants_thread(q, tl, s->rans[i].thread))
			add_ran_by(b, &s->rans[i]);
	for (uint32_t i = 0; !of_machine(q) && i < s->n_counts; i++)
		add_counted(b, &s->counts[i]);
	for (uint32_t i = 0; all && i < s->n_devs; i++)
		if (q->host == ID_NONE || s->devs[i].host == q->host)
			add_device(b, &s->devs[i]);
	for (uint32_t i = 0; all && i < s->n_irqs; i++)
		if (q->host == ID_NONE || s->irqs[i].host == q->host)
			add_interrupt(b, &s->irqs[i]);
}

/* ---- rows ---- */

static void end_lanes(struct lanes_builder *b, guint from)
{
	struct rows *rows = b->map.rows;
	for (guint i = from; i < rows->rows->len; i++) {
		struct lane_row *r = rows->rows->pdata[i];
		struct lane_work *w = work_of(b, r);
		if (r->kind == LANE_THREADS)
			r->c.name = r->is_container ? r->c.container ? r->c.container : "?" : lane_name(rows, &r->c);
		r->grouped = b->containers;
		set_row(r, rows->tl, &w->whole);
		if (b->cells)
			r->begin_ns = b->begin_ns;
		r->end_ns = b->second->sums_end_ns;
		if (!b->cells)
			r->c.row.key[0] = key_int(r->c.row.key[0], (uint64_t)r->begin_ns);
		else
			end_cell(b, r);
		sums_clear(&w->whole);
	}
}

/* The cells that a second is shown in: all that it covers, or the one that has its middle. */
static void place_second(struct lanes_builder *b, const struct second *s)
{
	int64_t from = b->from_ns, to = from + b->cells * b->cell_ns;
	int64_t begin = MAX(s->begin_ns, from), end = MIN(s->end_ns, to);
	b->first = 0;
	b->last = -1;
	if (begin >= end)
		return;
	b->first = (begin - from) / b->cell_ns;
	b->last = (end - 1 - from) / b->cell_ns;
	if (s->end_ns - s->begin_ns <= b->cell_ns)
		b->first = b->last = (begin + (end - begin) / 2 - from) / b->cell_ns;
}

/* A second that is longer than a cell gives all cells that it covers the same figures. */
static void spread(struct lanes_builder *b)
{
	const struct timeline *tl = b->map.rows->tl;
	int64_t first = b->first, last = b->last, ns = b->second->sums_end_ns - b->second->begin_ns;
	PTR_EACH(const struct lane_row, r, b->map.rows->rows) {
		struct lane_work *w = work_of(b, r);
		if (!w->cell.any || w->at != first)
			continue;
		struct lane_cell c = cell_of(tl, r, &w->cell, ns);
		c.coarse = true;
		for (int64_t k = first; k <= last; k++)
			w->cells[k] = c;
		sums_clear(&w->cell);
	}
}

/* Spans in the cells of lanes that have nothing but events. A later one is inside an earlier one, or follows it. */
static void add_spans(struct lanes_builder *b)
{
	const struct timeline *tl = b->map.rows->tl;
	int64_t to = b->from_ns + b->cells * b->cell_ns;
	TIMELINE_EACH_SPAN(tl, i, b->from_ns, to) {
		const struct span *s = timeline_span(tl, i);
		uint32_t at = s->thread == ID_NONE || s->begin_ns >= to || s->end_ns < b->from_ns ? INTMAP_NONE :
			intmap_get(&b->map.index, lane_key(LANE_THREADS, thread_key(b, s->thread)));
		struct lane_row *r = at == INTMAP_NONE ? NULL : b->map.rows->rows->pdata[at];
		if (!r || !r->by_events || !span_has_duration(s))
			continue;
		const char *name = rows_text(b->map.rows, s->name);
		int64_t first = (MAX(s->begin_ns, b->from_ns) - b->from_ns) / b->cell_ns;
		int64_t last = MIN((MIN(s->end_ns, to) - b->from_ns) / b->cell_ns, (int64_t)b->cells - 1);
		for (int64_t k = first; k <= last; k++)
			work_of(b, r)->cells[k].span = name;
	}
}

static void sum_groups(const struct rows *rows)
{
	PTR_EACH(const struct lane_row, group, rows->rows) {
		for (guint k = 0; group->is_container && k < rows->rows->len; k++) {
			struct lane_row *r = rows->rows->pdata[k];
			if (r->grouped && !g_strcmp0(r->c.container, group->c.container) &&
			    !g_strcmp0(r->c.host, group->c.host))
				r->group_ns = part_sum_cpu(group->c.part);
		}
	}
}

static int compare(const void *va, const void *vb)
{
	const struct lane_row *a = *(const struct lane_row *const *)va;
	const struct lane_row *b = *(const struct lane_row *const *)vb;
	bool threads = a->kind == LANE_THREADS;
	int order = ORDER(a->kind, b->kind) ?: g_strcmp0(a->c.host, b->c.host);
	if (!order && a->kind == LANE_CPU)
		order = ORDER(a->cpu, b->cpu);
	if (!order && threads && a->grouped)
		order = ORDER(b->group_ns, a->group_ns) ?: g_strcmp0(a->c.container, b->c.container);
	if (!order && threads)
		order = ORDER(b->is_container, a->is_container);
	/* on the screen first what ran, or recorded most */
	if (!order && a->cells && a->by_events && b->by_events)
		order = ORDER(b->events, a->events);
	if (!order && threads && a->cells)
		order = ORDER(part_sum_cpu(b->c.part), part_sum_cpu(a->c.part));
	return order ?: common_compare(&a->c, &b->c) ?: ORDER(a->begin_ns, b->begin_ns);
}

static void free_cells(void *owned)
{
	g_ptr_array_unref(owned);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct lanes_builder b = { .map = { .rows = rows_new(tl, query) } };
	struct range range = range_of(tl, query);
	int64_t span;
	guint done = 0;

	b.work = g_array_new(false, false, sizeof(struct lane_work));
	b.owned = g_ptr_array_new_with_free_func(g_free);
	b.map.rows->extra = b.owned;
	b.map.rows->free_extra = free_cells;
	if (query->cells && !__builtin_sub_overflow(query->to_ns, query->from_ns, &span) && span >= query->cells) {
		b.cells = query->cells;
		b.cell_ns = span / query->cells;
		b.from_ns = query->from_ns;
		b.containers = (query->by == BY_THREAD || query->by == BY_PROCESS) &&
			any_in_container(tl, query, &range);
	}
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(tl, i);
		b.begin_ns = i == range.first ? s->begin_ns : b.begin_ns;
		if (b.cells)
			place_second(&b, s);
		add_second(&b, s);
		if (b.cells && b.first < b.last)
			spread(&b);
		if (b.cells)
			continue;
		end_lanes(&b, done);
		done = b.map.rows->rows->len;
		row_map_clear(&b.map);
	}
	end_lanes(&b, done);
	if (b.cells)
		add_spans(&b);
	sum_groups(b.map.rows);
	row_map_clear(&b.map);
	g_array_unref(b.work);
	common_finish(b.map.rows, compare);
	return b.map.rows;
}

/* ---- columns ---- */

static bool has_states(const struct row *row, const struct rows *rows)
{
	const struct lane_row *r = ROW(row);
	if (row_missing(row, rows) & MISSING_SWITCHES)
		return false;
	return r->kind == LANE_THREADS || r->kind == LANE_CPU;
}

static GETTER(get_state)
{
	static const char *const of_cpu[] = {
		[LANE_RUNNING] = "running", [LANE_IDLE] = "idle", [LANE_IRQ] = "irq", [LANE_UNKNOWN] = "unknown",
	};
	const struct lane_row *r = ROW(row);
	if (!has_states(row, rows) || !r->total_ns)
		return value_none();
	if (r->state >= PART_N)
		return value_text(of_cpu[r->state]);
	return value_text(part_is_two_of_spans(row_missing(row, rows), r->state) ? "file" : part_info[r->state].id);
}

static GETTER(get_state_ns)
{
	return has_states(row, rows) ? value_int(VALUE_NS, ROW(row)->state_ns) : value_none();
}

static GETTER(get_state_ratio)
{
	const struct lane_row *r = ROW(row);
	if (!has_states(row, rows) || !r->total_ns)
		return value_none();
	return value_ratio((double)r->state_ns / (double)r->total_ns);
}

static const struct thread_info *who(const struct row *row, const struct rows *rows)
{
	return ROW(row)->who == ID_NONE ? NULL : timeline_thread(rows->tl, ROW(row)->who);
}

static GETTER(get_who)
{
	return value_text(who(row, rows) ? timeline_comm(rows->tl, ROW(row)->who, ROW(row)->end_ns) : NULL);
}

static GETTER(get_who_tid)
{
	const struct thread_info *t = who(row, rows);
	return t && t->tid >= 0 ? value_int(VALUE_ID, t->tid) : value_none();
}

static GETTER(get_who_ns)
{
	const struct lane_row *r = ROW(row);
	bool known = r->kind == LANE_CPU ? r->who != ID_NONE : r->kind == LANE_THREADS && r->cpu >= 0;
	return known ? value_int(VALUE_NS, r->who_ns) : value_none();
}

static GETTER(get_event)
{
	return value_text(ROW(row)->event == ID_NONE ? NULL : timeline_string(rows->tl, ROW(row)->event));
}

static struct value of_kind(const struct row *row, const struct rows *rows, enum lane_kind kind, unsigned missing,
			    int64_t ns)
{
	bool known = ROW(row)->kind == kind && !(row_missing(row, rows) & missing);
	return known ? value_int(VALUE_NS, ns) : value_none();
}

/* The parts are those of threads; of a CPU irq and unknown, of a device unknown. */
#define LANE_PART(id, name) \
	static GETTER(lane_##id) \
	{ \
		if (ROW(row)->kind == LANE_CPU && PART_##name == PART_IRQ) \
			return of_kind(row, rows, LANE_CPU, MISSING_INTERRUPTS | MISSING_SWITCHES, \
					ROW(row)->irq_ns); \
		if (ROW(row)->kind == LANE_CPU && PART_##name == PART_UNKNOWN) \
			return value_int(VALUE_NS, ROW(row)->unknown_ns); \
		if (ROW(row)->kind == LANE_DEVICE && PART_##name == PART_UNKNOWN) \
			return of_kind(row, rows, LANE_DEVICE, MISSING_ISSUES | MISSING_COMPLETIONS, \
					ROW(row)->unknown_ns); \
		return ROW(row)->kind == LANE_THREADS ? get_##id(row, rows) : value_none(); \
	}
PART_LIST(LANE_PART)
static GETTER(lane_file)
{
	return ROW(row)->kind == LANE_THREADS ? get_file(row, rows) : value_none();
}

/* A member that lanes of one kind have. */
#define OF_KIND(name, kind, ...) \
	MEMBER(struct lane_row, name, .known = offsetof(struct lane_row, is[kind]), __VA_ARGS__)
#define OF_CPU(name) OF_KIND(name, LANE_CPU, .missing = MISSING_SWITCHES)
#define OF_DEVICE(name) OF_KIND(name, LANE_DEVICE, .missing = MISSING_ISSUES | MISSING_COMPLETIONS)

#define COLUMN_LANE_PART(id, part) \
	COLUMN_N(#id "_ns", part_title(part), VALUE_NS, 0, 0, part_help(part), lane_##id),

static const struct column columns[] = {
	COLUMN_TIME("begin_ns", "BEGIN", 0, 0, "begin of the step", MEMBER(struct lane_row, begin_ns)),
	COLUMN_TIME("end_ns", "END", 0, 0, "end of the step", MEMBER(struct lane_row, end_ns)),
	COLUMN_HOST,
	COLUMN_T("kind", "KIND", 9, 5, "cpu, thread (also processes and containers), events, device or interrupt",
		 MEMBER(struct lane_row, kind, .words = lane_kind_name)),
	COLUMN_FLEX("lane", "LANE", 16, "CPU0, thumbd/254, vda, irq 34 ahci", COMMON(name)),
	COLUMN_ID("cpu", "CPU", 4, 4, "number of the CPU; of a thread: where it ran longest; null: it did not run",
		  MEMBER(struct lane_row, cpu)),
	COLUMN_ID("pid", "PID", 7, 6, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 6, "thread id; null where threads are summed", COMMON(tid)),
	COLUMN_T("comm", "NAME", 0, 0, "name, as it was last in the range", COMMON(comm)),
	COLUMN_T("state", "STATE", 10, 0, "dominant state: a part of a thread's time; of a CPU running, idle, unknown",
		 get_state),
	COLUMN_N("state_ns", "FOR", VALUE_NS, 7, 1, "time in that state", get_state_ns),
	COLUMN_N("state_ratio", "SHARE", VALUE_RATIO, 6, 1, "its share of all states", get_state_ratio),
	COLUMN_T("who", "WHO", 12, 2, "of a CPU: the thread that ran longest", get_who),
	COLUMN_ID("who_tid", "WHO TID", 0, 0, "its thread id", get_who_tid),
	COLUMN_N("who_ns", "RAN", VALUE_NS, 7, 3, "how long it ran there; of a thread: on the CPU of column cpu",
		 get_who_ns),
	COLUMN_N("run_ns", "RUN", VALUE_NS, 0, 0, "of a CPU: threads ran", OF_CPU(run_ns)),
	COLUMN_N("idle_ns", "IDLE", VALUE_NS, 0, 0, "of a CPU: no thread ran", OF_CPU(idle_ns)),
	COLUMN_N("busy_ns", "BUSY", VALUE_NS, 0, 0, "of a device: a request was at it", OF_DEVICE(busy_ns)),
	COLUMN_N("depth_ns", "DEPTHNS", VALUE_NS, 0, 0, "of a device: requests at it, summed over time",
		 OF_DEVICE(depth_ns)),
	COLUMN_N("depth_max", "DMAX", VALUE_COUNT, 0, 0, "of a device: most requests at it at once",
		 OF_DEVICE(depth_max)),
	COLUMN_N("handler_ns", "HANDLER", VALUE_NS, 0, 0, "of an interrupt: in its handlers, on all CPUs",
		 OF_KIND(handler_ns, LANE_INTERRUPT, .missing = MISSING_INTERRUPTS)),
	PART_LIST(COLUMN_LANE_PART)
	COLUMN_N("file_ns", "FILE", VALUE_NS, 0, 0, FILE_HELP, lane_file),
	COLUMN_N("events", "EVENTS", VALUE_COUNT, 7, 4, "events that it recorded, if the trace has no kernel events",
		 MEMBER(struct lane_row, events, .known = offsetof(struct lane_row, by_events))),
	COLUMN_T("event", "EVENT", 0, 0, "the most frequent of them", get_event),
	COLUMN_CONTAINER,
};

/* ---- the text about a cell ---- */

static void append_share(GString *text, const char *what, int64_t ns, int64_t total)
{
	char buf[TIMEFMT_LEN];
	if (ns > 0)
		g_string_append_printf(text, "%s%s %s %d%%", text->len ? ", " : "", what, timefmt_duration(buf, ns),
				       (int)(100.0 * (double)ns / (double)MAX(total, 1) + 0.5));
}

static void text_of_cpu(GString *text, const struct rows *rows, const struct lane_row *r)
{
	if (r->who != ID_NONE) {
		g_autofree char *label = thread_label_new(rows->tl, r->who, r->end_ns);
		append_share(text, label, r->who_ns, r->total_ns);
	}
	append_share(text, "others", r->run_ns - (r->who == ID_NONE ? 0 : r->who_ns), r->total_ns);
	append_share(text, "idle", r->idle_ns, r->total_ns);
	append_share(text, "unknown", r->unknown_ns, r->total_ns);
	append_share(text, "including irq", r->irq_ns, r->total_ns);
}

static bool is_same_waker(const struct waker_cell *a, const struct waker_cell *b)
{
	return a->waker == b->waker && a->irq == b->irq && a->idle == b->idle;
}

/* Ids depend on where the trace was cut, so they order nothing. */
static gint compare_wakers(gconstpointer va, gconstpointer vb, gpointer data)
{
	const struct timeline *tl = data;
	const struct waker_cell *a = va, *b = vb;
	const struct thread_info *x = timeline_thread(tl, a->waker), *y = timeline_thread(tl, b->waker);
	int order = ORDER(b->count, a->count) ?: ORDER(!x, !y);
	if (order || !x)
		return order ?: strcmp(timeline_string(tl, a->irq), timeline_string(tl, b->irq));
	return ORDER(x->tid, y->tid) ?: ORDER(x->start_ns, y->start_ns);
}

#define WAKERS_NAMED 2
#define LOOKED_AHEAD 512	/* seconds or steps in which the next waker is searched */

/* Adds the wakers of the lane's threads in one second. */
static void add_wakers(GArray *wakers, const struct timeline *tl, const struct second *s, const struct lane_row *r)
{
	for (uint32_t k = 0; k < s->n_wakers; k++) {
		guint at = 0;
		if (!query_wants_thread(&r->c.row.drill, tl, s->wakers[k].thread))
			continue;
		while (at < wakers->len &&
		       !is_same_waker(&g_array_index(wakers, struct waker_cell, at), &s->wakers[k]))
			at++;
		if (at < wakers->len)
			g_array_index(wakers, struct waker_cell, at).count += s->wakers[k].count;
		else
			g_array_append_val(wakers, s->wakers[k]);
	}
}

/* Who woke the lane's threads, the most frequent first, or who woke its thread next, and how much later: whoever ends a
 * wait for a lock held it. */
static void append_wakers(GString *text, const struct rows *rows, const struct lane_row *r)
{
	g_autoptr(GArray) wakers = g_array_new(false, false, sizeof(struct waker_cell));
	struct range range = range_of(rows->tl, &rows->query);
	size_t n = timeline_n_seconds(rows->tl), next = range.end;
	char later[TIMEFMT_LEN];
	for (size_t i = range.first; i < range.end; i++)
		add_wakers(wakers, rows->tl, timeline_second(rows->tl, i), r);
	for (; !wakers->len && r->c.tid >= 0 && next < MIN(n, range.end + LOOKED_AHEAD); next++)
		add_wakers(wakers, rows->tl, timeline_second(rows->tl, next), r);
	g_array_sort_with_data(wakers, compare_wakers, (gpointer)rows->tl);
	for (guint i = 0; i < MIN(wakers->len, WAKERS_NAMED); i++) {
		const struct waker_cell *w = &g_array_index(wakers, struct waker_cell, i);
		g_autofree char *name = w->irq ? g_strdup(timeline_string(rows->tl, w->irq)) :
			w->idle ? g_strdup("an idle CPU") : thread_label_new(rows->tl, w->waker, r->end_ns);
		g_string_append_printf(text, "%s%s", i ? " and " : next > range.end ? ", next woken by " :
				       ", woken by ", name);
		if (w->count > 1)
			g_string_append_printf(text, " %ux", w->count);
	}
	if (wakers->len && next > range.end)
		g_string_append_printf(text, " within %s", timefmt_duration(later,
			timeline_outline(rows->tl, next - 1)->end_ns - r->begin_ns));
}

static void text_of_threads(GString *text, const struct rows *rows, const struct lane_row *r)
{
	int64_t part[PART_N], ns;
	bool named = false;
	memcpy(part, r->c.part, sizeof part);
	for (;;) {
		enum part p = part_largest(part, &ns, NULL);
		if (ns <= 0)
			break;
		append_share(text, part_word_of_threads(row_missing(&r->c.row, rows), p), ns, r->total_ns);
		part[p] = 0;
		if (!named)
			append_wakers(text, rows, r);
		named = true;
	}
	if (r->cpu >= 0)
		g_string_append_printf(text, ", on CPU%d", r->cpu);
}

char *lane_text(const struct rows *rows, const struct lane_row *r)
{
	GString *text = g_string_new(NULL);
	int64_t ns = MAX(r->end_ns - r->begin_ns, 1);
	if (r->by_events) {
		lane_events_text(text, rows, &(struct lane_events){
			&r->c.row.drill, r->kind == LANE_EVENTS, r->cpu < 0 ? UINT32_MAX : (uint32_t)r->cpu });
		return g_string_free(text, FALSE);
	}
	switch (r->kind) {
	case LANE_CPU:
		text_of_cpu(text, rows, r);
		break;
	case LANE_THREADS:
		text_of_threads(text, rows, r);
		break;
	case LANE_DEVICE:
		g_string_append_printf(text, "%.2f requests at it on average, at most %u",
				       (double)r->depth_ns / (double)ns, r->depth_max);
		append_share(text, "busy", r->busy_ns, ns);
		append_share(text, "unknown", r->unknown_ns, ns);
		break;
	default:
		append_share(text, "in its handlers", r->handler_ns, ns);
	}
	return g_string_free(text, FALSE);
}

static const char *const needs[] = { "sched_switch", NEED_WAKEUPS, NULL };

/* Nothing ran, and no request or handler was there. A thread that is blocked on a disk or a lock is not idle. */
static bool is_idle(const struct row *row, const struct rows *rows)
{
	static const unsigned of_idle = 1u << PART_TIMER | 1u << PART_POLL | 1u << PART_OTHER | 1u << PART_STOPPED |
		1u << PART_UNKNOWN | 1u << PART_HANDOFF;
	const struct lane_row *r = ROW(row);
	int64_t ns = r->run_ns + r->irq_ns + r->busy_ns + r->handler_ns;

	for (int p = 0; p < PART_N; p++)
		ns += of_idle >> p & 1 ? 0 : r->c.part[p];
	return !ns && !r->is_container && !r->by_events && !r->events && r->kind != LANE_EVENTS;
}

const struct view view_timeline = {
	.idle = "idle", .is_idle = is_idle,
	.only = ONLY_THREADS, .narrows_threads_only = true,
	.id = "timeline", .title = "Timeline",
	.help = "What each CPU, thread, block device and interrupt did, step by step: who ran, the dominant state "
		"and all parts of the time. Without a kernel's events: what threads recorded, and when.",
	.kind = VIEW_TIMELINE, .columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "begin_ns", .needs = needs,
	.default_by = BY_THREAD, .by_values = BY_THREADS | 1 << BY_CPU | 1 << BY_CONTAINER, .on_screen = true,
	.has_steps = true,
	.reads = READS(thread) | READS(file) | READS(cpu) | READS(ran) | READS(dev) | READS(irq) | READS(waker) |
		READS(count),
	.build = build,
};
