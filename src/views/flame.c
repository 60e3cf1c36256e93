/* SPDX-License-Identifier: GPL-2.0-only */
/* View flame: see flame.h. */
#include "views/flame.h"

#include "base/each.h"
#include "base/intmap.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "state/kernel/syscalls.h"
#include "views/evicted.h"
#include "views/path.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/waited.h"

#include <string.h>

#define ROW(row) ((const struct flame_row *)(row))
#define WAITING "waiting for work"
#define OTHER "other"			/* of a thread: outside of system calls, in no single part */

const char *const flame_kind_name[FLAME_KIND_N] = {
	[FLAME_ALL] = "all", [FLAME_HOST] = "host", [FLAME_OPERATION] = "operation", [FLAME_PHASE] = "phase",
	[FLAME_PROCESS] = "process", [FLAME_THREAD] = "thread", [FLAME_CALL] = "call", [FLAME_PART] = "part",
	[FLAME_IDLE] = "idle",
};

/* ---- frames ---- */

struct flame_builder {
	struct rows *rows;
	GHashTable *index;		/* set of struct flame_row by parent, kind and name */
	struct flame_row *all;
};

static guint frame_hash(const void *v)
{
	const struct flame_row *r = v;
	return (g_str_hash(r->name) * 31 + g_direct_hash(r->parent)) * 31 + r->kind;
}

static gboolean frame_equal(const void *va, const void *vb)
{
	const struct flame_row *a = va, *b = vb;
	return a->parent == b->parent && a->kind == b->kind && !strcmp(a->name, b->name);
}

/* The frame of that name below the parent. At LIMIT_FLAME_DEPTH it is the parent. */
static struct flame_row *frame_of(struct flame_builder *b, struct flame_row *parent, enum flame_kind kind,
				  const char *name)
{
	const struct view_query nothing = VIEW_QUERY_INIT;
	struct flame_row key = { .kind = kind, .name = name, .parent = parent };
	struct flame_row *r = g_hash_table_lookup(b->index, &key);
	if (r)
		return r;
	if (parent && parent->row.depth >= LIMIT_FLAME_DEPTH)
		return parent;
	r = g_new0(struct flame_row, 1);
	r->kind = kind;
	r->name = rows_text(b->rows, name);
	r->parent = parent;
	r->row.depth = parent ? parent->row.depth + 1 : 0;
	r->row.key[0] = key_text(key_int(parent ? parent->row.key[0] : 0, kind), name);
	r->row.drill = nothing;
	if (parent)
		parent->row.expandable = true;
	g_ptr_array_add(b->rows->rows, r);
	g_hash_table_add(b->index, r);
	return r;
}

/* part PART_N: it is unknown which. */
static void add_time(struct flame_row *r, enum part part, int64_t ns)
{
	r->self_ns += ns;
	if (part < PART_N)
		r->part[part] += ns;
}

static void add_part(struct flame_builder *b, struct flame_row *parent, const char *name, enum part part, int64_t ns)
{
	if (ns > 0)
		add_time(frame_of(b, parent, FLAME_PART, name), part, ns);
}

/* ---- requests ---- */

/* "send", or "send@stored" where the service is not the parent's. */
static char *phase_name(const struct tree *t, int root, int node)
{
	const struct span *s = t->nodes[node].span;
	bool same = node != root && !strcmp(t->nodes[t->nodes[node].parent].span->service, s->service);
	return same || !*s->service ? g_strdup(s->name) : g_strdup_printf("%s@%s", s->name, s->service);
}

/* The frames of the nodes below `root`, indexes from it on. Free with g_free(). */
static struct flame_row **frames_of_tree(struct flame_builder *b, const struct tree *t, int root)
{
	int end = tree_end(t, root);
	struct flame_row **frames = g_new(struct flame_row *, end - root);
	for (int i = root; i < end; i++) {
		g_autofree char *name = phase_name(t, root, i);
		frames[i - root] = i == root ? frame_of(b, b->all, FLAME_OPERATION, name) :
			frame_of(b, frames[t->nodes[i].parent - root], FLAME_PHASE, name);
	}
	return frames;
}

static void add_segment(struct flame_builder *b, struct flame_row *r, const struct path_segment *p)
{
	const struct timeline *tl = b->rows->tl;
	const char *call = timeline_string(tl, p->call);
	if (p->depth) {
		const char *comm = p->thread == ID_NONE ? "" : timeline_comm(tl, p->thread, p->end_ns);
		r = frame_of(b, r, FLAME_THREAD, *comm ? comm : "?");
	}
	if (*call) {
		g_autofree char *name = g_strdup_printf("%s()", call);
		r = frame_of(b, r, FLAME_CALL, name);
	}
	if (p->on_cpu && p->part == PART_UNKNOWN)
		add_part(b, r, path_state(p), PART_N, p->end_ns - p->begin_ns);
	else
		for (unsigned part = 0; part < PART_N; part++)
			add_part(b, r, part_info[part].id, part, path_part_ns(p, part));
}

static void add_request(struct flame_builder *b, struct history *h, const struct tree *t, int root)
{
	bool whole = root == t->root && root == 0 && tree_end(t, root) == t->n;
	g_autoptr(GArray) path = whole ? path_of_trace(h, t) : path_of(h, t, root);
	g_autofree struct flame_row **frames = frames_of_tree(b, t, root);
	ARRAY_EACH(const struct path_segment, p, path)
		add_segment(b, frames[p->via - root], p);
}

/* Requests that ended in the range, or those of the query's trace: roots, or spans of the query's operation. */
static void add_trace(struct flame_builder *b, struct history *h, const struct tree *t, const struct range *range)
{
	const struct view_query *q = &b->rows->query;
	for (int i = 0; i < t->n; i++) {
		const struct span *s = t->nodes[i].span;
		if ((!q->operation && t->nodes[i].parent >= 0) || !query_wants_operation(q, s) ||
		    s->state == SPAN_OPEN || (!query_has_trace(q) && !range_has_span(range, s)))
			continue;
		add_request(b, h, t, i);
		i = tree_end(t, i) - 1;
	}
}

static void add_requests(struct flame_builder *b, const struct range *range)
{
	const struct view_query *q = &b->rows->query;
	g_autoptr(blk_history) h = history_new(b->rows->tl);
	bool one = query_has_trace(q);
	TIMELINE_EACH_TRACE(b->rows->tl, i, one ? INT64_MIN : range->from_ns, one ? INT64_MAX : range->to_ns) {
		const struct trace_info *info = timeline_trace(b->rows->tl, i);
		if (one && q->trace_id != info->trace_id)
			continue;
		g_autoptr(blk_tree) t = timeline_tree_new(b->rows->tl, info->trace_id);
		add_trace(b, h, t, range);
	}
	evicted_describe_missing(b->rows, range, true);
}

/* ---- threads ---- */

struct thread_time {
	uint32_t thread;
	struct flame_row *frame, *idle;	/* .idle: of its waits for work; NULL: none so far */
	int64_t part[PART_N], calls_ns;	/* in the range; of that in system calls */
};

struct threads {
	struct flame_builder *b;
	struct waits *waits;
	struct intmap index;		/* thread -> .times */
	GArray *times;			/* struct thread_time */
};

static const char *name_of_thread(const struct flame_builder *b, uint32_t thread)
{
	int64_t until = b->rows->query.to_ns ? b->rows->query.to_ns : INT64_MAX;
	const char *comm = timeline_comm(b->rows->tl, thread, until);
	return *comm ? comm : "?";
}

/* Below `r`. */
static struct flame_row *frame_of_thread(struct flame_builder *b, struct flame_row *r, uint32_t thread)
{
	const struct timeline *tl = b->rows->tl;
	const struct thread_info *t = timeline_thread(tl, thread);
	const struct process_info *p = t ? timeline_process(tl, t->process) : NULL;
	const struct host_info *host = t ? timeline_host(tl, t->host) : NULL;
	const char *process = name_of_thread(b, p && p->leader != ID_NONE ? p->leader : thread);
	if (timeline_n_hosts(tl) > 1)
		r = frame_of(b, r, FLAME_HOST, host ? host->name : "?");
	r = frame_of(b, r, FLAME_PROCESS, process);
	return b->rows->query.by == BY_PROCESS ? r : frame_of(b, r, FLAME_THREAD, name_of_thread(b, thread));
}

static struct thread_time *time_of(struct threads *t, uint32_t thread)
{
	uint32_t i = intmap_get(&t->index, thread);
	if (i == INTMAP_NONE) {
		struct thread_time fresh = { .thread = thread, .frame = frame_of_thread(t->b, t->b->all, thread) };
		i = t->times->len;
		g_array_append_val(t->times, fresh);
		intmap_set(&t->index, thread, i);
	}
	return &g_array_index(t->times, struct thread_time, i);
}

/* The part that a thread blocked in the call is in; PART_N: it depends on the descriptor. */
static enum part part_of_call(const char *name)
{
	const struct call_info *info = call_info(name);
	return info->by_fd || info->cause == PART_OTHER ? PART_N : (enum part)info->cause;
}

static void add_call(struct threads *t, struct thread_time *time, const char *call, int64_t ns, bool for_work)
{
	struct flame_builder *b = t->b;
	if (ns <= 0)
		return;
	if (for_work && !time->idle)
		time->idle = frame_of_thread(b, frame_of(b, b->all, FLAME_IDLE, WAITING), time->thread);
	g_autofree char *name = g_strdup_printf("%s()", call);
	add_time(frame_of(b, for_work ? time->idle : time->frame, FLAME_CALL, name), part_of_call(call), ns);
	time->calls_ns += ns;
}

static void add_second(struct threads *t, const struct second *s)
{
	struct waits_share shares[WAITED_N];
	struct flame_builder *b = t->b;
	const struct timeline *tl = b->rows->tl;
	for (uint32_t i = 0; i < s->n_threads; i++) {
		const struct thread_cell *c = &s->threads[i];
		if (!query_wants_thread(&b->rows->query, tl, c->thread))
			continue;
		struct thread_time *time = time_of(t, c->thread);
		for (int p = 0; p < PART_N; p++)
			time->part[p] += c->part[p];
	}
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct call_cell *c = &s->calls[i];
		const char *call = timeline_string(tl, c->name);
		if (c->busy_ns <= 0 || !query_wants_thread(&b->rows->query, tl, c->thread))
			continue;
		struct thread_time *time = time_of(t, c->thread);
		waits_divide(t->waits, s, c, shares);
		int64_t idle = shares[WAITED_FOR_WORK].busy_ns;
		add_call(t, time, call, idle, true);
		add_call(t, time, call, c->busy_ns - idle, false);
	}
}

/* The time outside of system calls. Of a thread with calls, only some parts are known to be outside of them. */
static void add_rest(struct flame_builder *b, const struct thread_time *t)
{
	static const enum part outside[] = { PART_USER, PART_KERNEL, PART_FAULT };
	unsigned missing = b->rows->missing;
	int64_t left = -t->calls_ns;
	for (int p = 0; p < PART_N; p++)
		left += t->part[p];
	for (int p = 0; !t->calls_ns && p < PART_N; p++)
		add_part(b, t->frame, part_word_of_threads(missing, p), p, t->part[p]);
	for (size_t i = 0; t->calls_ns && i < G_N_ELEMENTS(outside); i++) {
		int64_t ns = CLAMP(t->part[outside[i]], 0, MAX(left, 0));
		add_part(b, t->frame, part_word(missing, outside[i]), outside[i], ns);
		left -= ns;
	}
	if (t->calls_ns)
		add_part(b, t->frame, OTHER, PART_OTHER, left);
}

static void add_threads(struct flame_builder *b, const struct range *range)
{
	g_autoptr(blk_waits) w = waits_new(b->rows->tl);
	struct threads t = { .b = b, .waits = w, .times = g_array_new(FALSE, FALSE, sizeof(struct thread_time)) };
	for (size_t i = range->first; i < range->end; i++)
		add_second(&t, timeline_second(b->rows->tl, i));
	for (guint i = 0; i < t.times->len; i++)
		add_rest(b, &g_array_index(t.times, struct thread_time, i));
	g_array_unref(t.times);
	intmap_clear(&t.index);
}

/* ---- the tree ---- */

/* Most time first. */
static int compare_siblings(const struct flame_row *a, const struct flame_row *b)
{
	return ORDER(b->total_ns, a->total_ns) ?: ORDER(a->kind, b->kind) ?: strcmp(a->name, b->name);
}

static int compare(const void *va, const void *vb)
{
	const struct flame_row *a = *(const struct flame_row *const *)va, *b = *(const struct flame_row *const *)vb;
	int deeper = (int)a->row.depth - (int)b->row.depth;
	while (a->row.depth > b->row.depth)
		a = a->parent;
	while (b->row.depth > a->row.depth)
		b = b->parent;
	if (a == b)
		return deeper;		/* the parent before its descendants */
	while (a->parent != b->parent) {
		a = a->parent;
		b = b->parent;
	}
	return compare_siblings(a, b);
}

static void place_siblings(GPtrArray *rows)
{
	g_autofree int64_t *next = g_new0(int64_t, LIMIT_FLAME_DEPTH + 2);	/* by depth */
	PTR_EACH(struct flame_row, r, rows) {
		r->begin_ns = next[r->row.depth];
		next[r->row.depth] += r->total_ns;
		next[r->row.depth + 1] = r->begin_ns;
	}
}

/* Frames without time are left out. */
static void finish(struct flame_builder *b)
{
	GPtrArray *rows = b->rows->rows;
	g_autofree bool *keep = g_new(bool, rows->len + 1);
	for (guint i = rows->len; i-- > 0;) {		/* parents were made before their children */
		struct flame_row *r = rows->pdata[i];
		r->total_ns += r->self_ns;
		keep[i] = r->total_ns > 0;
		if (!r->parent)
			continue;
		r->parent->total_ns += r->total_ns;
		for (int p = 0; p < PART_N; p++)
			r->parent->part[p] += r->part[p];
	}
	rows_keep(b->rows, keep);
	g_ptr_array_sort(rows, compare);
	place_siblings(rows);
	for (guint i = rows->len; i-- > 0;) {
		struct flame_row *r = rows->pdata[i];
		r->end = MAX(r->end, i + 1);
		if (r->parent)
			r->parent->end = MAX(r->parent->end, r->end);
	}
	b->rows->tree = true;
	b->rows->n_before_filter = rows->len;
}

/* Is it about threads? Traces, operations and services have requests only. */
static bool is_of_threads(const struct timeline *tl, const struct view_query *q)
{
	bool of_requests = query_has_trace(q) || q->operation || q->service;
	bool narrowed = q->pid >= 0 || q->tid >= 0 || q->host != ID_NONE || q->container;
	return !of_requests && (q->by != BY_SYSTEM || narrowed || !timeline_facts(tl)->has_spans);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct range range = range_of(tl, query);
	struct flame_builder b = { .rows = rows_new(tl, query), .index = g_hash_table_new(frame_hash, frame_equal) };
	bool of_threads = is_of_threads(tl, query);
	b.all = frame_of(&b, NULL, FLAME_ALL, of_threads ? "all threads" : "all requests");
	if (of_threads)
		add_threads(&b, &range);
	else
		add_requests(&b, &range);
	g_hash_table_unref(b.index);
	finish(&b);
	return b.rows;
}

/* ---- columns ---- */

static void append_safe(GString *to, const char *name)
{
	gsize at = to->len;
	text_append_visible(to, name);
	for (; at < to->len; at++)
		if (to->str[at] == ';')
			to->str[at] = ':';
}

const char *flame_path(struct rows *rows, struct flame_row *r)
{
	g_autoptr(GString) path = NULL;
	if (!r->parent)
		return "";
	if (!r->path) {
		path = g_string_new(flame_path(rows, r->parent));
		if (path->len)
			g_string_append_c(path, ';');
		append_safe(path, r->name);
		r->path = rows_text(rows, path->str);
	}
	return r->path;
}

enum part flame_mainly(const struct flame_row *r)
{
	int64_t ns, total;
	enum part p = part_largest(r->part, &ns, &total);
	return total > 0 ? p : PART_N;
}

static GETTER(frame_path)
{
	const char *path = flame_path((struct rows *)rows, (struct flame_row *)row);
	return *path ? value_text(path) : value_none();
}

static struct value share_of(const struct flame_row *r, const struct flame_row *whole)
{
	return whole ? value_ratio((double)r->total_ns / (double)whole->total_ns) : value_none();
}

static GETTER(frame_share)
{
	const struct flame_row *all = ROW(row);
	while (all->parent)
		all = all->parent;
	return share_of(ROW(row), all);
}

static GETTER(frame_share_of_parent)
{
	return share_of(ROW(row), ROW(row)->parent);
}

static GETTER(frame_mainly)
{
	enum part p = flame_mainly(ROW(row));
	return p < PART_N ? value_text(part_word(rows->missing, p)) : value_none();
}

static const struct column columns[] = {
	COLUMN_T("kind", "KIND", 9, 3, "all, host, operation, phase, process, thread, call, part or idle",
		 MEMBER(struct flame_row, kind, .words = flame_kind_name)),
	COLUMN_FLEX("name", "FRAME", 20, "name of the frame", MEMBER(struct flame_row, name)),
	COLUMN_T("path", "PATH", 0, 0, "names down to the frame, joined by ';'; null: the frame of all", frame_path),
	COLUMN_N("depth", "DEPTH", VALUE_COUNT, 0, 0, "how deep the frame is; 0: all", MEMBER(struct row, depth)),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 8, 0, "time in the frame and in all below it",
		 MEMBER(struct flame_row, total_ns)),
	COLUMN_N("self_ns", "SELF", VALUE_NS, 8, 1, "the total without that of the frames below it",
		 MEMBER(struct flame_row, self_ns)),
	COLUMN_N("share_ratio", "SHARE%", VALUE_RATIO, 6, 0, "its share of all", frame_share),
	COLUMN_N("parent_ratio", "PARENT%", VALUE_RATIO, 7, 2, "share of the frame above it", frame_share_of_parent),
	COLUMN_T("mainly", "MAINLY", 9, 1, "the largest part of its time; null: unknown", frame_mainly),
};

static const char *const needs[] = { "sched_switch", NEED_WAKEUPS, NEED_SYSCALLS, NULL };

const struct view view_flame = {
	.only = ONLY_TRACE | ONLY_SERVICE | ONLY_OPERATION | ONLY_THREADS,
	.id = "flame", .title = "Flame", .kind = VIEW_FLAME,
	.help = "Where the time went: of requests by operation, phase, system call and part, along their critical "
		"paths; without spans, or by process or thread, of threads by process, thread, system call and part. "
		"A frame is as wide as its share of the time. Waits of threads for work are one frame beside the "
		"others.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns), .default_sort = "total_ns",
	.nothing = "no request ended and no thread lived in this range", .needs = needs, .by_values = BY_THREADS,
	.on_screen = true, .build = build,
};
