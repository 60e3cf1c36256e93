/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Phases of operations: spans below a root, summed by service and name over all requests that ended in the range.
 * The root has a row too, with the total. "(self)" is its time outside of its children.
 */
#include "state/store/span_tree.h"
#include "views/evicted.h"
#include "views/history.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/explanations.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"

#include <string.h>

struct phase_row {
	struct common c;
	const char *operation, *operation_service, *kind;
	int64_t known_ns;		/* sum of the row's spans: of partial ones what is known of them */
	int64_t whole_ns;		/* the same of the operation's root spans */
	int64_t self_ns;		/* sum of the self times of the row's spans */
	int64_t parents_ns;		/* sum over the parents of the row's spans, each parent once */
	uint32_t index;			/* number of the row in order of creation */
	GHashTable *calls;		/* string id -> int64_t *; used only while spans are summed */
	uint64_t evicted;		/* number of evicted spans in the row: their system calls are unknown */
	const char *mainly;		/* "writeback 61%"; NULL: unknown */
	const char *calls_text;		/* "futex 53.2ms, read 1.10ms" */
	struct worst_span worst;	/* none for "(self)" */
};

#define ROW(row) ((const struct phase_row *)(row))
#define SELF "(self)"

static GETTER(get_share)
{
	const struct phase_row *r = ROW(row);
	return r->whole_ns > 0 ? value_ratio((double)r->known_ns / r->whole_ns) : value_none();
}

static GETTER(get_share_of_parent)
{
	const struct phase_row *r = ROW(row);
	return r->parents_ns > 0 ? value_ratio((double)r->known_ns / r->parents_ns) : value_none();
}

static GETTER(get_explanation)
{
	return worst_explanation(&((struct phase_row *)row)->worst, rows);
}

/* A share of one part: not shown if no row has one, as of a trace without kernel events. */
#define COLUMN_SHARE(id_, title_, w, help_, get_) \
	{ .id = id_, .title = title_, .kind = VALUE_RATIO, .width = w, .priority = 3, .optional = true, \
	  .descending = true, .help = help_, .get = get_ }

static const struct column columns[] = {
	COLUMN_T("operation", "OPERATION", 12, 9, "name of the root span", MEMBER(struct phase_row, operation)),
	COLUMN_T("operation_service", "OF", 0, 0, "service of the root span",
		 MEMBER(struct phase_row, operation_service)),
	COLUMN_T("service", "SERVICE", 8, 4, "service of the phase", COMMON(service)),
	COLUMN_FLEX("name", "PHASE", 10, "name of the spans; (self): the root less its children",
		    COMMON(name)),
	COLUMN_T("kind", "KIND", 6, 10, "client or server half, or null", MEMBER(struct phase_row, kind)),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 5, 0, "spans that ended in the range, of known duration",
		 COMMON(stat.count)),
	COLUMN_PARTIAL
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 2, "errors in them", COMMON(errors)),
	COLUMN_N("rate", "PER SEC", VALUE_COUNT, 7, 11, "how many a second", get_count_rate),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 12, "sum of their durations", COMMON(stat.total)),
	COLUMN_N("self_ns", "SELF", VALUE_NS, 7, 13, "that less what their children cover",
		 MEMBER(struct phase_row, self_ns)),
	COLUMNS_QUANTILES(6, "one"),
	COLUMN_N("share_ratio", "SHARE%", VALUE_RATIO, 6, 0,
		 "share of the root spans' time that they take; of partial ones what is known", get_share),
	COLUMN_N("parent_ratio", "PARENT%", VALUE_RATIO, 7, 14,
		 "share of their parents' time that they take", get_share_of_parent),
	COLUMNS_PARTS
	COLUMN_T("mainly", "MAINLY", 14, 1, "the kernel state that took most of their time",
		 MEMBER(struct phase_row, mainly, .none = IF_LEFT_OUT)),
	COLUMN_SHARE("user_ratio", "USR%", 4, part_help(USER), get_user_ratio),
	COLUMN_SHARE("syscall_ratio", "SYS%", 4, part_help(SYSCALL), get_syscall_ratio),
	COLUMN_SHARE("runnable_ratio", "RUNQ%", 5, "runnable, waiting for a CPU",
		 get_runq_ratio),
	COLUMN_SHARE("disk_ratio", "DISK%", 5, part_help(DISK), get_disk_ratio),
	COLUMN_SHARE("socket_ratio", "NET%", 4, part_help(SOCKET), get_socket_ratio),
	COLUMN_SHARE("futex_ratio", "FUT%", 4, part_help(FUTEX), get_futex_ratio),
	COLUMN_SHARE("timer_ratio", "TMR%", 4, part_help(TIMER), get_timer_ratio),
	COLUMN_T("calls", "CALLS", 24, 15, "their time by system call, the largest first",
		 MEMBER(struct phase_row, calls_text)),
	COLUMN_BATCH_ID("worst_trace_id", "trace of the longest of them",
			MEMBER_OF(struct phase_row, worst.span, trace_id)),
	COLUMN_BATCH_ID("worst_span_id", "and its span", MEMBER_OF(struct phase_row, worst.span, span_id)),
	COLUMN_T("verdict", "VERDICT", 0, 0, "why the longest of them took so long", get_explanation),
};

/* State of the sums: rows by (operation, phase). */
struct phases {
	struct rows *rows;
	GHashTable *index;		/* struct phase_key -> row */
};

struct phase_key {
	const char *operation_service, *operation, *service, *name;
	uint32_t kind;			/* enum span_kind, or KIND_SELF */
	uint32_t depth0;		/* 1: the root span itself */
};
#define KIND_SELF 9

static guint key_hash(const void *v)
{
	const uint32_t *word = v;
	guint hash = 0;
	for (size_t i = 0; i < sizeof(struct phase_key) / sizeof(*word); i++)
		hash = hash * 0x9e3779b1u + word[i] + (hash >> 15);
	return hash;
}

static gboolean key_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct phase_key)) == 0;
}

static struct phase_row *phase_of(struct phases *ph, const struct phase_key *key)
{
	struct phase_row *r = g_hash_table_lookup(ph->index, key);
	if (r)
		return r;
	r = common_new(ph->rows, sizeof(*r));
	r->operation = rows_hold_text(ph->rows, key->operation);
	r->operation_service = rows_hold_text(ph->rows, key->operation_service);
	r->c.service = rows_hold_text(ph->rows, key->service);
	r->c.name = key->kind == KIND_SELF ? SELF : key->name;
	r->kind = key->kind == KIND_SELF ? NULL : span_kind_name[key->kind];
	r->index = ph->rows->rows->len;
	r->calls = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	r->c.row.depth = !key->depth0;
	uint64_t id = key_text(key_text(0, r->operation_service), r->operation);
	id = key_text(key_text(id, r->c.service), r->c.name);
	r->c.row.key[0] = key_int(id, (uint64_t)key->kind << 1 | key->depth0);
	r->c.row.drill.operation = rows_hold_text(ph->rows, key->name);
	r->c.row.drill.service = r->c.service;
	g_hash_table_insert(ph->index, g_memdup2(key, sizeof(*key)), r);
	return r;
}

static struct phase_key key_of(const struct span *root, const struct span *s)
{
	return (struct phase_key){ .operation_service = root->service, .operation = root->name,
		.service = s->service, .name = s->name, .kind = s->kind, .depth0 = root == s };
}

static void add_calls(struct phase_row *r, const struct span *s)
{
	for (uint32_t i = 0; i < s->n_calls; i++) {
		gpointer name = GUINT_TO_POINTER(s->calls[i].name);
		int64_t *sum = g_hash_table_lookup(r->calls, name);
		if (!sum) {
			sum = g_new0(int64_t, 1);
			g_hash_table_insert(r->calls, name, sum);
		}
		*sum += s->calls[i].total_ns;
	}
}

/* Adds the time of a parent once, even if several children have it. seen: (phase, parent). */
static void add_parent(struct phase_row *r, const struct tree *t, int parent, struct intmap *seen)
{
	uint64_t key = (uint64_t)r->index << 32 | (uint32_t)parent;
	if (intmap_get(seen, key) != INTMAP_NONE)
		return;
	intmap_set(seen, key, 1);
	r->parents_ns += span_duration(t->nodes[parent].span);
}

static void add_one(struct phase_row *r, const struct span *s, int64_t ns, const int64_t part[PART_N])
{
	common_add_duration(&r->c, span_has_duration(s), ns, part);
	r->known_ns += ns;
	if (!span_has_duration(s))
		return;
	r->self_ns += s->self_ns;
	add_calls(r, s);
}

/* Adds "(self)": the parts of the root without those of its children on the same thread. */
static void add_self(struct phases *ph, const struct tree *t, int root)
{
	const struct span *s = t->nodes[root].span;
	struct phase_key key = key_of(s, s);
	key.kind = KIND_SELF;
	key.depth0 = 0;
	struct phase_row *r = phase_of(ph, &key);
	int64_t part[PART_N];
	tree_self_parts(t, root, part);
	add_one(r, s, s->self_ns, part);
	r->parents_ns += span_duration(s);
}

static void add_operation(struct phases *ph, const struct tree *t, int root)
{
	const struct span *top = t->nodes[root].span;
	int end = tree_end(t, root);
	struct intmap seen = { 0 };
	for (int i = root; i < end; i++) {
		const struct span *s = t->nodes[i].span;
		struct phase_key key = key_of(top, s);
		if (s->state == SPAN_OPEN)
			continue;
		struct phase_row *r = phase_of(ph, &key);
		add_one(r, s, span_duration(s), s->part);
		r->c.errors += s->errors;
		if (i > root && t->nodes[i].parent >= root)
			add_parent(r, t, t->nodes[i].parent, &seen);
		if (span_has_duration(s))
			worst_add(&r->worst, s, span_duration(s));
	}
	intmap_clear(&seen);
	add_self(ph, t, root);
}

/* With no operation in the query, the roots of traces are counted. */
static void add_trace(struct phases *ph, const struct tree *t, const struct range *range)
{
	const struct view_query *q = &ph->rows->query;
	for (int i = 0; i < t->n; i++) {
		const struct span *s = t->nodes[i].span;
		bool wanted = q->operation ? query_wants_operation(q, s) :
			t->nodes[i].parent < 0 && query_wants_operation(q, s);
		if (!wanted || s->state == SPAN_OPEN || !range_has_span(range, s))
			continue;
		add_operation(ph, t, i);
		i = tree_end(t, i) - 1;
	}
}

static bool is_wanted(const struct rows *rows, const struct span_sum *s)
{
	return (s->key.of == SUM_PHASE || s->key.of == SUM_SELF) &&
	       evicted_wanted(rows, s, s->key.operation_service, s->key.operation);
}

static void add_sum(struct phases *ph, const struct span_sum *s)
{
	struct phase_row *r = phase_of(ph, &(struct phase_key){
		.operation_service = s->key.operation_service, .operation = s->key.operation,
		.service = s->key.service, .name = s->key.name, .depth0 = s->key.top,
		.kind = s->key.of == SUM_SELF ? KIND_SELF : s->key.kind });
	common_add_sum(&r->c, s);
	r->known_ns += hist_sum(&s->duration) + s->partial_ns;
	r->parents_ns += s->parents_ns;
	r->self_ns += s->self_ns;
	r->evicted += s->count;
	worst_add_evicted(&r->worst, hist_max(&s->duration));
}

/* Is it a sum of inner spans of the queried operation? Only phases below roots are summed, so it is reported as left
 * out. */
static bool is_inner(const struct phases *ph, const struct span_sum *s)
{
	const struct rows *rows = ph->rows;
	return rows->query.operation && s->key.of == SUM_PHASE && !s->key.others && !s->key.top &&
	       evicted_wanted(rows, s, s->key.service, s->key.name) && !is_wanted(rows, s);
}

/* Call it after the retained spans are added: it needs the longest of them. */
static void add_evicted(struct phases *ph, const struct range *range)
{
	const struct timeline *tl = ph->rows->tl;
	struct evicted e = { 0 }, inner = { 0 };
	if (query_has_trace(&ph->rows->query))
		return;
	TIMELINE_EACH_SUM(tl, at, range->from_ns, range->to_ns) {
		const struct span_sum *s = at.sum;
		if (is_inner(ph, s))
			evicted_counts(&inner, range, s);
		/* SUM_SELF counts the same spans as their phases: do not report them twice */
		struct evicted none = { 0 };
		if (is_wanted(ph->rows, s) &&
		    evicted_counts(s->key.of == SUM_SELF ? &none : &e, range, s))
			add_sum(ph, s);
	}
	e.left_out += inner.counted + inner.left_out;
	evicted_describe(ph->rows, &e, "spans", "system calls");
}

/* Sums the root rows, then sets the operation's totals in each of its phases. */
static void share_out(struct phases *ph)
{
	TABLE_EACH(each, ph->index) {
		struct phase_key root = *(const struct phase_key *)each.key;
		struct phase_row *r = each.value;
		root.service = root.operation_service;
		root.name = root.operation;
		root.depth0 = 1;
		for (root.kind = SPAN_LOCAL; root.kind <= SPAN_SERVER; root.kind++) {
			const struct phase_row *whole = g_hash_table_lookup(ph->index, &root);
			r->whole_ns += whole ? whole->known_ns : 0;
		}
	}
}

struct call_time {
	const char *name;
	int64_t ns;
};

static int compare_times(const void *va, const void *vb)
{
	const struct call_time *a = va, *b = vb;
	return ORDER(b->ns, a->ns) ?: strcmp(a->name, b->name);
}

static void describe_calls(struct rows *rows, struct phase_row *r)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(struct call_time));
	g_autoptr(GString) text = g_string_new(NULL);
	char buf[TIMEFMT_LEN];
	TABLE_EACH(each, r->calls) {
		struct call_time t = { timeline_string(rows->tl, GPOINTER_TO_UINT(each.key)),
				       *(int64_t *)each.value };
		g_array_append_val(times, t);
	}
	g_array_sort(times, compare_times);
	for (guint i = 0; i < times->len; i++) {
		const struct call_time *t = &g_array_index(times, struct call_time, i);
		g_string_append_printf(text, "%s%s %s", i ? ", " : "", t->name,
				       timefmt_duration(buf, t->ns));
	}
	if (r->evicted)
		g_string_append_printf(text, "%sunknown of %" G_GUINT64_FORMAT " dropped",
				       text->len ? ", " : "", r->evicted);
	r->calls_text = text->len ? rows_text(rows, text->str) : NULL;
	g_clear_pointer(&r->calls, g_hash_table_unref);
}

static int compare(const void *va, const void *vb)
{
	const struct phase_row *a = *(const struct phase_row *const *)va;
	const struct phase_row *b = *(const struct phase_row *const *)vb;
	return g_strcmp0(a->operation_service, b->operation_service) ?: g_strcmp0(a->operation, b->operation) ?:
	       ORDER(a->c.row.depth, b->c.row.depth) ?: common_compare(&a->c, &b->c) ?:
	       g_strcmp0(a->kind, b->kind);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct range range = range_of(tl, query);
	struct phases ph = { .rows = rows_new(tl, query),
		.index = g_hash_table_new_full(key_hash, key_equal, g_free, NULL) };
	const struct history *h = explanations_history(explanations_attach(ph.rows, tl));
	ph.rows->seconds = range.seconds;
	TIMELINE_EACH_TRACE(h->tl, i, range.from_ns, range.to_ns) {
		const struct trace_info *info = timeline_trace(h->tl, i);
		if (query_has_trace(query) && query->trace_id != info->trace_id)
			continue;
		g_autoptr(blk_tree) t = timeline_tree_new(tl, info->trace_id);
		add_trace(&ph, t, &range);
	}
	add_evicted(&ph, &range);
	share_out(&ph);
	g_hash_table_unref(ph.index);
	PTR_EACH(struct phase_row, r, ph.rows->rows) {
		describe_calls(ph.rows, r);
		/* not each state has a column of its own */
		r->mainly = r->c.parts_unknown ? NULL : part_share(ph.rows, ph.rows->missing, r->c.part);
		worst_hold(&r->worst, ph.rows);
	}
	common_finish(ph.rows, compare);
	return ph.rows;
}

static const char *const needs[] = { "zipkin:timestamp", NULL };

const struct view view_phases = {
	.only = ONLY_TRACE | ONLY_SERVICE | ONLY_OPERATION,
	.id = "phases", .title = "Phases", .kind = VIEW_PHASES,
	.help = "The phases of an operation over all its requests that ended in the range: how often, how "
		"long, and the parts of their time. The first row is the operation itself; (self) is the time "
		"outside of its phases.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "share_ratio", .drill = "spans", .needs = needs,
	.on_screen = true, .build = build,
};
