/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The critical path of one request (or span) as a table: see path.h.
 */
#include "views/path.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/evicted.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/traces.h"

struct path_row {
	struct common c;		/* thread; name, service: of its span */
	struct path_segment p;		/* .span is not valid */
	int64_t at_ns, duration_ns;	/* at_ns: since the beginning of the path */
	uint64_t trace_id, span_id;	/* of its span; 0: no span */
	uint64_t waiter_id;		/* span of the request that waited; without hops the same span */
	const char *waiter_kind;	/* NULL: local */
	const char *what, *mode, *call, *path, *waker, *cpu_holder;
};

#define ROW(row) ((const struct path_row *)(row))

#define WAITS (MISSING_SWITCHES | MISSING_WAKINGS)

static GETTER(get_state)
{
	return value_text(path_state(&ROW(row)->p));
}

static GETTER(get_span_id)
{
	return ROW(row)->trace_id ? value_int(VALUE_HEX64, (int64_t)ROW(row)->span_id) : value_none();
}

static const struct column columns[] = {
	COLUMN_HOST,
	{ .id = "at_ns", .title = "AT", .kind = VALUE_NS, .width = 8, .priority = 2,
	  .help = "when the piece begins, relative to the span", .get = MEMBER(struct path_row, at_ns) },
	COLUMN_TIME("begin_ns", "BEGIN", 0, 0, "when it begins and the piece before it ends",
		    MEMBER(struct path_row, p.begin_ns)),
	COLUMN_N("duration_ns", "DURATION", VALUE_NS, 8, 0,
		 "its length; all pieces sum to the span, or to the trace with its messages",
		 MEMBER(struct path_row, duration_ns)),
	COLUMN_N("hops", "HOPS", VALUE_COUNT, 4, 7, "how many wakers the thread is away from a span of the request",
		 MEMBER(struct path_row, p.depth, .missing = WAITS)),
	COLUMN_ID("pid", "PID", 7, 8, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 5, "thread id", COMMON(tid)),
	COLUMN_T("comm", "THREAD", 15, 0, "the thread's name then", COMMON(comm)),
	COLUMN_T("service", "SERVICE", 10, 6, "of the span that it worked for", COMMON(service)),
	COLUMN_T("name", "SPAN", 12, 1, "the span that it worked for, of whatever trace; null: none known",
		 COMMON(name)),
	COLUMN_FLEX("what", "WHAT", 28, "what it did, on what, and which thread ended that",
		    MEMBER(struct path_row, what)),
	COLUMN_T("state", "STATE", 0, 0, "cpu, or the part that it was blocked or runnable in", get_state),
	COLUMN_T("mode", "MODE", 0, 0, "on a CPU: user, syscall, kernel or irq, the most of it; null: unknown",
		 MEMBER(struct path_row, mode)),
	COLUMN_N("mixed", "MIXED", VALUE_COUNT, 0, 0, "1: mostly in this state, with shorter times in other states",
		 MEMBER(struct path_row, p.mixed, .missing = WAITS)),
	COLUMN_T("syscall", "SYSCALL", 0, 0, "the system call it was blocked in", MEMBER(struct path_row, call)),
	COLUMN_T("path", "ON", 0, 0, "file, socket or pipe it was blocked on", MEMBER(struct path_row, path)),
	COLUMN_T("waker", "WOKEN BY", 0, 0, "thread or interrupt that ended it", MEMBER(struct path_row, waker)),
	COLUMN_T("behind", "BEHIND", 0, 0, "thread that had its CPU while it was runnable",
		 MEMBER(struct path_row, cpu_holder)),
	COLUMN_OPTIONAL("trace_id", "TRACE", VALUE_HEX64, 0, 0, "of the span",
			MEMBER(struct path_row, trace_id, .none = IF_ZERO)),
	COLUMN_OPTIONAL("span_id", "ID", VALUE_HEX64, 0, 0, "the span's id", get_span_id),
	COLUMN_BATCH_ID("waiter_span_id", "span of the request that had to wait for it; without hops the span itself",
			MEMBER(struct path_row, waiter_id)),
	COLUMN_T("waiter_kind", "WAITER", 0, 0, "client or server half of that span, or null",
		 MEMBER(struct path_row, waiter_kind)),
	COLUMN_PART_NS(user, USER) COLUMN_PART_NS(syscall, SYSCALL) COLUMN_PART_NS(kernel, KERNEL)
	COLUMN_PART_NS(irq, IRQ)
	COLUMN_CONTAINER,
};

static void set_span(struct path_row *r, struct rows *rows, const struct span *s)
{
	r->p.span = NULL;		/* the span may be evicted before the rows */
	r->c.service = r->c.name = NULL;
	if (!s)
		return;
	r->c.name = rows_hold_text(rows, s->name);
	r->c.service = rows_hold_text(rows, s->service);
	r->trace_id = s->trace_id;
	r->span_id = s->span_id;
	query_set_trace(&r->c.row.drill, s->trace_id);
	r->c.row.drill.span_id = s->span_id;
	r->c.row.drill.span_kind = (int)s->kind;
}

static void add_segment(struct rows *rows, const struct tree *t, const struct path_segment *p, const struct span *of)
{
	const struct timeline *tl = rows->tl;
	const struct file_info *f = timeline_file(tl, p->file);
	const char *irq = timeline_string(tl, p->waker_irq), *call = timeline_string(tl, p->call);
	struct path_row *r = common_new(rows, sizeof(*r));
	g_autofree char *words = path_words(tl, p);
	enum view_by by = rows->query.by;
	rows->query.by = BY_THREAD;	/* each segment is on one thread, whatever the query says */
	group_fill(&r->c, rows, p->thread);
	rows->query.by = by;
	r->c.row.drill = (struct view_query)VIEW_QUERY_INIT;
	query_set_trace(&r->c.row.drill, of->trace_id);
	r->at_ns = p->begin_ns - of->begin_ns;
	r->duration_ns = p->end_ns - p->begin_ns;
	r->p = *p;
	r->c.parts_unknown = p->on_cpu && p->part == PART_UNKNOWN;
	for (unsigned part = 0; part < PATH_MODES; part++)
		r->c.part[part] = path_part_ns(p, part);
	set_span(r, rows, p->span);
	r->waiter_id = t->nodes[p->via].span->span_id;
	r->waiter_kind = span_kind_name[t->nodes[p->via].span->kind];
	r->c.row.key[0] = key_int(r->c.row.key[0], (uint64_t)p->begin_ns);
	r->c.comm = p->thread == ID_NONE ? NULL : timeline_comm(tl, p->thread, p->end_ns);
	r->what = rows_text(rows, words);
	r->mode = p->on_cpu && p->part != PART_UNKNOWN ? part_info[p->part].id : NULL;
	r->call = *call ? call : NULL;
	r->path = f ? timeline_string(tl, f->path) : NULL;
	r->waker = p->waker != ID_NONE ? thread_label(rows, p->waker, p->end_ns) : *irq ? irq : NULL;
	r->cpu_holder = p->cpu_holder != ID_NONE ? thread_label(rows, p->cpu_holder, p->end_ns) : NULL;
}

/* By time. */
static int compare(const void *va, const void *vb)
{
	const struct path_row *a = *(const struct path_row *const *)va;
	const struct path_row *b = *(const struct path_row *const *)vb;
	return ORDER(a->p.begin_ns, b->p.begin_ns);
}

/* ns: what the path sums to. */
static void add_sentences(struct rows *rows, struct history *h, const struct tree *t, int node, int64_t ns)
{
	const struct span *s = t->nodes[node].span;
	char took[TIMEFMT_LEN];
	struct why why;
	if (node == t->root)
		why_find_trace(h, t, &why);
	else
		why_find(h, t, node, &why);
	g_autofree char *sentence = why_sentence(h, t, node, &why);
	g_autofree char *about = g_strdup_printf("%s of %s, %08x: %s", s->name,
		s->service, value_short_id(s->trace_id),
		timefmt_duration(took, ns));
	rows->explanation = rows_text(rows, sentence ? sentence : "within the usual of its operation");
	rows->about = rows_text(rows, about);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	uint64_t trace_id = query_has_trace(query) ? query->trace_id : traces_slowest(tl, query);
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, trace_id);
	int node = query->span_id ? tree_find(t, query->span_id, query->span_kind) : t->root;
	if (node >= 0) {
		g_autoptr(GArray) path = node == t->root ? path_of_trace(h, t) : path_of(h, t, node);
		int64_t ns = 0;
		ARRAY_EACH(const struct path_segment, p, path) {
			add_segment(rows, t, p, t->nodes[node].span);
			ns += p->end_ns - p->begin_ns;
		}
		add_sentences(rows, h, t, node, ns);
	}
	common_finish(rows, compare);
	struct range range = range_of(tl, query);
	evicted_describe_missing(rows, &range, true);	/* the slowest trace of the range may have been evicted */
	return rows;
}

static const char *const needs[] = { "zipkin:timestamp", "sched_switch", "sched_waking|sched_wakeup", NULL };

const struct view view_path = {
	.only = ONLY_SPANS, .of_span = true,
	.id = "path", .title = "Critical path",
	.help = "The critical path of one request: where its thread was blocked on other threads, and "
		"what these did, with or without spans. All pieces sum to its duration.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "at_ns", .drill = "waterfall", .needs = needs, .default_by = BY_THREAD,
	.on_screen = true, .build = build,
};
