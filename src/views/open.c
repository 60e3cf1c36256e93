/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans that are open at the end of the range (in a live session: now): for how long, and what their thread does
 * then. For spans that ended since, the later events also give the final duration and the end of the wait.
 */
#include "base/sort.h"
#include "views/evicted.h"
#include "views/history.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/why.h"

#include <string.h>

struct open_row {
	struct span_row columns;
	const char *comm, *now, *call, *on, *waker;
	int64_t open_ns, now_ns;	/* now_ns: time in the present state; -1: unknown */
	int64_t usual_ns;
	double x_usual;			/* -1: unknown */
	int64_t end_ns, took_ns;	/* TIME_UNKNOWN: it is open where the trace ends */
};

static const struct column columns[] = {
	COLUMN_SPAN_ID("trace_id", "TRACE", "id of the trace", SPAN_MEMBER(trace_id)),
	COLUMN_BATCH_ID("span_id", "id of the span", SPAN_MEMBER(span_id)),
	COLUMN_BATCH_ID("parent_id", "id of its parent; null: a root", SPAN_MEMBER(parent_id, .none = IF_ZERO)),
	COLUMN_T("kind", "KIND", 6, 11, "client or server half, or null", SPAN_MEMBER(kind, .words = span_kind_name)),
	COLUMN_T("service", "SERVICE", 8, 6, "service it is a phase of", COMMON(service)),
	COLUMN_T("name", "NAME", 12, 0, "name of the span", COMMON(name)),
	COLUMN_HOST_AT(8, 12),
	COLUMN_ID("pid", "PID", 7, 10, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 5, "thread it is on", COMMON(tid)),
	COLUMN_T("comm", "THREAD", 12, 4, "that thread's name", COMMON(comm)),
	COLUMN_TIME("begin_ns", "BEGIN", 12, 7, "when it began", SPAN_MEMBER(begin_ns)),
	COLUMN_N("open_ns", "OPEN FOR", VALUE_NS, 8, 0, "how long it had been open at the range's end",
		 MEMBER(struct open_row, open_ns)),
	COLUMN_N("usual_ns", "USUAL", VALUE_NS, 0, 0, USUAL_HELP,
		 MEMBER(struct open_row, usual_ns, .none = IF_NEGATIVE)),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 3, USUAL_TIMES("how long it is open"),
		 MEMBER(struct open_row, x_usual, .none = IF_NEGATIVE)),
	COLUMN_T("now", "NOW", 9, 0, "what its thread does then: blocked on what, runnable, running",
		 MEMBER(struct open_row, now)),
	COLUMN_N("now_ns", "SINCE", VALUE_NS, 7, 1, "for how long; running: in that call",
		 MEMBER(struct open_row, now_ns, .none = IF_NEGATIVE)),
	COLUMN_T("call", "IN", 15, 2, "the system call it is in", MEMBER(struct open_row, call)),
	COLUMN_FLEX("on", "ON", 14, "file, peer, pipe or futex it waits for", MEMBER(struct open_row, on)),
	COLUMN_T("waker", "ENDED BY", 16, 8, "the thread that ended that wait later, if the trace has it",
		 MEMBER(struct open_row, waker)),
	COLUMN_TIME("end_ns", "END", 0, 0, "when it ended later; null: it is open", MEMBER(struct open_row, end_ns)),
	COLUMN_N("took_ns", "TOOK", VALUE_NS, 7, 9, "how long it took in the end",
		 MEMBER(struct open_row, took_ns)),
	COLUMNS_SAID("the span", span_get_tags, span_get_annotations, span_get_severity),
	COLUMN_CONTAINER,
};

/* --- what a thread does at an instant --- */

struct doing {
	int64_t at;
	const struct span_wait *wait;	/* as recorded in the innermost span */
	const struct span_slow_call *call;
	bool all_waits, all_calls;	/* the spans retain all waits or calls, not only the longest */
	bool still;			/* the wait has not ended where the trace ends */
};

static void look_at(const struct span *s, void *data)
{
	struct doing *d = data;
	bool open = s->state == SPAN_OPEN;
	for (uint32_t i = 0; i < s->n_waits && !d->wait; i++) {
		const struct span_wait *w = &s->waits[i];
		bool still = open && w->end_ns >= s->end_ns;
		if (w->begin_ns < d->at && (w->end_ns >= d->at || still)) {
			d->wait = w;
			d->still = still && w->wake_ns >= w->end_ns;
		}
	}
	for (uint32_t i = 0; i < s->n_slow && !d->call; i++)
		if (s->slow[i].begin_ns < d->at &&
		    s->slow[i].begin_ns + s->slow[i].duration_ns >= d->at)
			d->call = &s->slow[i];
	d->all_waits &= s->n_waits_more == 0;
	d->all_calls &= s->n_slow_more == 0;
}

/* The thread of the last annotation before `at`: a span may move between threads. */
static uint32_t thread_at(const struct span *s, int64_t at)
{
	uint32_t thread = s->thread;
	for (uint32_t i = 0; i < s->n_annotations && s->annotations[i].ts < at; i++)
		if (s->annotations[i].thread != ID_NONE)
			thread = s->annotations[i].thread;
	return thread;
}

static bool is_listed(const struct span *s)
{
	return span_duration(s) <= 0 || s->part[PART_UNKNOWN] < span_duration(s);
}

static void set_wait(struct open_row *r, struct rows *rows, const struct doing *d)
{
	const struct timeline *tl = rows->tl;
	const struct span_wait *w = d->wait;
	bool woken = w->part != PART_PREEMPTED && w->wake_ns < d->at && !d->still;
	const char *call = timeline_string(tl, w->call), *irq = timeline_string(tl, w->waker_irq);
	const char *object = wait_object(tl, w);
	r->now = part_info[woken ? PART_WAKEUP : w->part].id;
	r->now_ns = d->at - (woken ? w->wake_ns : w->begin_ns);
	r->call = *call ? call : NULL;
	if (object) {
		r->on = rows_text(rows, object);
	} else if (w->arg) {
		r->on = rows_take_text(rows, g_strdup_printf("0x%" G_GINT64_MODIFIER "x", w->arg));
	}
	if (d->still || w->part == PART_PREEMPTED)
		return;
	if (w->waker != ID_NONE)
		r->waker = thread_label(rows, w->waker, w->wake_ns);
	else if (*irq)
		r->waker = irq;
}

static void set_state(struct open_row *r, struct rows *rows, struct history *h, int64_t at)
{
	const struct span *s = r->columns.span;
	uint32_t thread = thread_at(s, at);
	struct doing d = { .at = at, .all_waits = true, .all_calls = true };
	const struct thread_info *t = timeline_thread(rows->tl, thread);
	if (t) {
		const char *comm = timeline_comm(rows->tl, thread, at);
		r->columns.c.tid = t->tid;
		r->comm = *comm ? comm : NULL;
		history_spans_of(h, thread, at - 1, at, look_at, &d);
	}
	/* The span began on another thread and has moved to this one. */
	if (!d.wait)
		look_at(s, &d);
	if (d.wait) {
		set_wait(r, rows, &d);
		return;
	}
	if (!is_listed(s) || !d.all_waits)
		return;
	r->now = "running";
	if (!d.call)
		return;
	const struct file_info *file = timeline_file(rows->tl, d.call->file);
	r->now_ns = at - d.call->begin_ns;
	r->call = timeline_string(rows->tl, d.call->name);
	r->on = file ? timeline_string(rows->tl, file->path) : NULL;
}

/* --- build --- */

static int compare(const void *va, const void *vb)
{
	const struct span_row *ra = *(const struct span_row *const *)va;
	const struct span_row *rb = *(const struct span_row *const *)vb;
	const struct span *a = ra->span, *b = rb->span;
	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(a->trace_id, b->trace_id) ?:
	       ORDER(a->span_id, b->span_id) ?: ORDER(a->kind, b->kind) ?: common_compare(&ra->c, &rb->c);
}

static void free_history(void *h)
{
	history_free(h);
}

/* The end of the range, but at most the last instant of the trace. */
static bool instant_of(const struct timeline *tl, const struct view_query *q, int64_t *ret)
{
	int64_t first, last;
	bool all = q->from_ns == 0 && q->to_ns == 0;
	if (!timeline_coverage(tl, &first, &last) || (!all && (q->from_ns > last || q->to_ns <= first)))
		return false;
	*ret = all || q->to_ns - 1 > last ? last : q->to_ns;
	return true;
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct history *h = history_new(tl);
	int64_t at;
	rows->extra = h;
	rows->free_extra = free_history;
	if (!instant_of(tl, query, &at))
		return rows;
	for (size_t i = 0; i < timeline_n_spans(h->tl); i++) {
		const struct span *s = timeline_span(h->tl, i);
		if (s->begin_ns > at || (s->state != SPAN_OPEN && s->end_ns <= at) ||
		    !query_wants_span(query, tl, s))
			continue;
		struct open_row *r = common_new(rows, sizeof(*r));
		span_row_fill(&r->columns, rows, s);
		r->columns.c.row.open = true;
		r->open_ns = at - s->begin_ns;
		r->now_ns = -1;
		r->usual_ns = history_usual(h, s);
		r->x_usual = r->usual_ns > 0 ? (double)r->open_ns / r->usual_ns : -1;
		r->end_ns = s->state == SPAN_OPEN ? TIME_UNKNOWN : s->end_ns;
		r->took_ns = s->state == SPAN_OPEN ? TIME_UNKNOWN : span_duration(s);
		r->columns.c.row.marked = usual_is_slow(r->usual_ns, r->open_ns);
		set_state(r, rows, h, at);
		r->columns.c.comm = r->comm;
	}
	common_finish(rows, compare);
	evicted_describe_open(rows, at);
	return rows;
}

static const char *const needs[] = { "zipkin:timestamp", "sched_switch", NEED_WAKEUPS, NULL };

const struct view view_open = {
	.only = ONLY_SPANS,
	.id = "open", .title = "Open spans",
	.help = "Spans that are open at the end of the range (in a live session: now): for how long, and "
		"what their thread does at that instant, on what, and since when.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "open_ns", .at_instant = true, .nothing = "no span is open at the end of this range",
	.drill = "waterfall", .needs = needs,
	.on_screen = true, .build = build,
};
