/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Wakeups by waker: threads and interrupts, and the wakeup latencies of the woken threads.
 */
#include "base/sort.h"
#include "views/cell_rows.h"
#include "views/registry.h"

#include <string.h>

struct waker_row {
	struct common c;		/* woken thread; name: its waker */
	const struct process_info *process;	/* of the waker, if its leader is not known; used only while summed */
	struct waker_sum sum;
	int64_t avg_ns;			/* TIME_UNKNOWN: of none */
};

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_FLEX("waker", "WOKEN BY", 14, "the thread, process, container or interrupt that woke it; \"idle\": "
		    "something on an idle CPU that the trace does not show", COMMON(name)),
	COLUMN_ID("pid", "PID", 7, 3, "process that was woken", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 2, "thread that was woken", COMMON(tid)),
	COLUMN_T("comm", "NAME", 16, 0, "name of the woken", COMMON(comm)),
	COLUMN_N("count", "WAKEUPS", VALUE_COUNT, 8, 0, "times it got a CPU after that",
		 MEMBER(struct waker_row, sum.count)),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 8, 3, "until it got a CPU, in all",
		 MEMBER(struct waker_row, sum.total_ns)),
	COLUMN_N("avg_ns", "AVG", VALUE_NS, 8, 2, "until it got a CPU, mean", MEMBER(struct waker_row, avg_ns)),
	COLUMN_N("max_ns", "MAX", VALUE_NS, 8, 1, "until it got a CPU, longest", MEMBER(struct waker_row, sum.max_ns)),
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
	return rows_take_text(rows, g_strdup_printf("%s/%d", *comm ? comm : "?", p->pid));
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

static uint64_t key_of(const struct rows *rows, const void *cell)
{
	const struct waker_cell *c = cell;
	enum view_by by = rows->query.by;

	return (uint64_t)group_key(rows->tl, by, c->thread) << 32 | waker_key(rows->tl, by, c);
}

static void fill(struct rows *rows, void *row, const void *cell)
{
	const struct waker_cell *c = cell;
	struct waker_row *r = row;

	group_fill(&r->c, rows, c->thread);
	r->c.name = waker_name(rows, c);
	r->process = leaderless_of(rows, c);
	r->c.row.key[0] = key_text(r->c.row.key[0], r->process ? leaderless_name(rows, r->process, "") : r->c.name);
}

static void rename_process(struct rows *rows, void *row, const void *cell)
{
	struct waker_row *r = row;

	if (r->process && strcmp(r->c.name, waker_name(rows, cell)))
		r->c.name = leaderless_name(rows, r->process, "");
}

static void end(struct rows *rows, void *row)
{
	struct waker_row *r = row;

	r->process = NULL;
	r->avg_ns = r->sum.count ? r->sum.total_ns / r->sum.count : TIME_UNKNOWN;
}

/* Rows that agree in all names are indistinguishable to the user. */
static int compare(const void *va, const void *vb)
{
	const struct waker_row *a = *(const struct waker_row *const *)va;
	const struct waker_row *b = *(const struct waker_row *const *)vb;
	return common_compare(&a->c, &b->c) ?: ORDER(b->sum.count, a->sum.count) ?:
	       ORDER(b->sum.total_ns, a->sum.total_ns) ?: ORDER(b->sum.max_ns, a->sum.max_ns);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows wakers = {
		.kind = CELL_waker, .size = sizeof(struct waker_row), .sum = offsetof(struct waker_row, sum),
		.key = key_of, .fill = fill, .each = rename_process,
	};
	struct view_query q = *query;

	if (!view_has_by(&view_wakers, q.by))	/* the query may come from a view with other values of `by` */
		q.by = BY_THREAD;
	return cell_rows_build(tl, &q, &wakers, 1, end, compare);
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
