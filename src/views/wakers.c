/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wakeups by waker: threads and interrupts, and the wakeup latencies of the woken threads.
 */
#include "views/common.h"
#include "views/registry.h"

#include <string.h>

struct waker_row {
	struct common c;		/* woken thread; name: its waker */
	const struct process_info *process;	/* of the waker, if its leader is not known; used only while summed */
	uint64_t count;
	int64_t total_ns, max_ns;
};

#define ROW(row) ((const struct waker_row *)(row))

static GETTER(get_wait_avg)
{
	const struct waker_row *r = ROW(row);
	return r->count ? value_int(VALUE_NS, r->total_ns / (int64_t)r->count) : value_none();
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_FLEX("waker", "WOKEN BY", 14, "the thread, process, container or interrupt that woke it; \"idle\": "
		    "something on an idle CPU that the trace does not show", COMMON(name)),
	COLUMN_ID("pid", "PID", 7, 3, "process that was woken", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 2, "thread that was woken", COMMON(tid)),
	COLUMN_T("comm", "NAME", 16, 0, "name of the woken", COMMON(comm)),
	COLUMN_N("count", "WAKEUPS", VALUE_COUNT, 8, 0, "times it got a CPU after that",
		 MEMBER(struct waker_row, count)),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 8, 3, "until it got a CPU, in all", MEMBER(struct waker_row, total_ns)),
	COLUMN_N("avg_ns", "AVG", VALUE_NS, 8, 2, "until it got a CPU, mean", get_wait_avg),
	COLUMN_N("max_ns", "MAX", VALUE_NS, 8, 1, "until it got a CPU, longest", MEMBER(struct waker_row, max_ns)),
	COLUMN_CONTAINER,
};

/* Keys outside those of group_key(), which set the highest bit only together with a host's number, or are ID_NONE. */
#define WAKER_IDLE UINT32_C(0xbfffffff)
#define WAKER_IRQ UINT32_C(0xc0000000)
#define ID_BITS UINT32_C(0x1fffffff)	/* bits of a string id without its kind */

/* Interrupts have one key for each name, whatever they wake. */
static uint32_t waker_key(const struct timeline *tl, enum view_by by, const struct waker_cell *c)
{
	if (c->irq)
		return WAKER_IRQ | (c->irq & ~ID_BITS ? ID_BITS + 1 : 0) | (c->irq & ID_BITS);
	return c->idle ? WAKER_IDLE : group_key(tl, by, c->waker);
}

/* The name of a process without a known leader. comm: that of all its threads that woke; "": they differ. */
static const char *leaderless_name(struct rows *rows, const struct process_info *p, const char *comm)
{
	g_autofree char *label = g_strdup_printf("%s/%d", *comm ? comm : "?", p->pid);
	return rows_text(rows, label);
}

static const char *waker_name(struct rows *rows, const struct waker_cell *c)
{
	const struct timeline *tl = rows->tl;
	int64_t until = rows->query.to_ns ? rows->query.to_ns : INT64_MAX;
	if (c->irq)
		return timeline_string(tl, c->irq);
	if (c->idle)
		return "idle";
	const struct thread_info *t = timeline_thread(tl, c->waker);
	const struct process_info *p = t ? timeline_process(tl, t->process) : NULL;
	if (!t)
		return NULL;
	if (rows->query.by == BY_SYSTEM)
		return "threads";
	if (rows->query.by == BY_CONTAINER)
		return container_label(rows, t->process);
	if (rows->query.by == BY_THREAD || !p)
		return thread_label(rows, c->waker, until);
	if (p->leader == ID_NONE)
		return leaderless_name(rows, p, timeline_comm(tl, c->waker, until));
	return thread_label(rows, p->leader, until);
}

/* The waking process, if its leader is not known. NULL: it is, or another kind of waker. */
static const struct process_info *leaderless_of(const struct rows *rows, const struct waker_cell *c)
{
	bool by_process = rows->query.by == BY_PROCESS && !c->irq && !c->idle;
	const struct thread_info *t = by_process ? timeline_thread(rows->tl, c->waker) : NULL;
	const struct process_info *p = t ? timeline_process(rows->tl, t->process) : NULL;
	return p && p->leader == ID_NONE ? p : NULL;
}

static void add_cell(struct row_map *map, const struct waker_cell *c)
{
	struct rows *rows = map->rows;
	enum view_by by = rows->query.by;
	uint64_t key = (uint64_t)group_key(rows->tl, by, c->thread) << 32 |
		       waker_key(rows->tl, by, c);
	bool is_new;
	struct waker_row *r = row_map_get(map, key, sizeof(*r), &is_new);
	if (is_new) {
		group_fill(&r->c, rows, c->thread);
		r->c.name = waker_name(rows, c);
		r->process = leaderless_of(rows, c);
		r->c.row.key[0] = key_text(r->c.row.key[0],
					   r->process ? leaderless_name(rows, r->process, "") : r->c.name);
	} else if (r->process && strcmp(r->c.name, waker_name(rows, c))) {
		r->c.name = leaderless_name(rows, r->process, "");
	}
	r->count += c->count;
	r->total_ns += c->total_ns;
	r->max_ns = MAX(r->max_ns, c->max_ns);
}

/* Rows that agree in all names are indistinguishable to the user. */
static int compare(const void *va, const void *vb)
{
	const struct waker_row *a = *(const struct waker_row *const *)va;
	const struct waker_row *b = *(const struct waker_row *const *)vb;
	int order = common_compare(&a->c, &b->c);
	if (!order)
		order = (a->count < b->count) - (a->count > b->count);
	if (!order)
		order = (a->total_ns < b->total_ns) - (a->total_ns > b->total_ns);
	return order ? order : (a->max_ns < b->max_ns) - (a->max_ns > b->max_ns);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	if (!view_has_by(&view_wakers, query->by))	/* the query may come from a view with other values of `by` */
		map.rows->query.by = BY_THREAD;
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_wakers; k++)
			if (query_wants_thread(query, tl, s->wakers[k].thread))
				add_cell(&map, &s->wakers[k]);
	}
	row_map_clear(&map);
	for (guint i = 0; i < map.rows->rows->len; i++)
		((struct waker_row *)map.rows->rows->pdata[i])->process = NULL;
	common_finish(map.rows, compare);
	return map.rows;
}

static const char *const needs[] = { "sched_switch", "sched_waking|sched_wakeup", NULL };

const struct view view_wakers = {
	.only = ONLY_THREADS,
	.id = "wakers", .title = "Wakers",
	.help = "Which thread or interrupt woke which thread, how often, and how long the woken thread "
		"then waited for a CPU. Who ends a wait for a lock had it.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "count", .needs = needs, .default_by = BY_THREAD, .by_values = BY_THREADS | 1 << BY_CONTAINER,
	.on_screen = true, .reads = READS(waker), .build = build,
};
