/* SPDX-License-Identifier: GPL-2.0-only */
/* Compares one span with another span or with the typical span: see compare.h. */
#include "views/compare.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "state/store/span_tree.h"
#include "views/history.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/traces.h"

#include <string.h>

enum side { A, B, SIDES };

struct side_sums {
	uint64_t n;			/* spans */
	int64_t own_ns, whole_ns;	/* own time; time from beginning to end */
	int64_t part[PART_N];		/* of own_ns */
};

struct compare_row {
	struct common c;		/* service, name */
	const char *kind, *mainly;
	bool is_whole;			/* the row of the whole span, with all spans below it */
	uint64_t n_b;			/* number of spans whose mean is b; 0: there is no b */
	struct side_sums side[SIDES];
	int64_t b_ns, b_whole_ns, b_count, delta_ns;	/* means of b, difference; TIME_UNKNOWN: there is no b */
};

#define ROW(row) ((const struct compare_row *)(row))

/* Rounded to the nearest integer; TIME_UNKNOWN: of none. */
static int64_t mean(int64_t sum, uint64_t n)
{
	return n ? (sum + (int64_t)n / 2) / (int64_t)n : TIME_UNKNOWN;
}

static int64_t part_difference(const struct compare_row *r, int part)
{
	return r->side[A].part[part] - mean(r->side[B].part[part], r->n_b);
}

static struct value difference(int64_t a, int64_t b, uint64_t n_b)
{
	return n_b ? value_int(VALUE_NS, a - mean(b, n_b)) : value_none();
}

#define PART_DIFFERENCE(id, which) \
	static GETTER(get_##id##_delta) \
	{ \
		const struct compare_row *r = ROW(row); \
		int64_t a = r->side[A].part[PART_##which], b = r->side[B].part[PART_##which]; \
		return part_is_known(rows->missing, PART_##which, a | b) ? difference(a, b, r->n_b) : \
			value_none(); \
	}
PART_LIST(PART_DIFFERENCE)

static GETTER(get_runq_delta)
{
	const struct compare_row *r = ROW(row);
	if (rows->missing & (MISSING_SWITCHES | MISSING_WAKINGS))
		return value_none();
	return difference(part_sum_runnable(r->side[A].part), part_sum_runnable(r->side[B].part),
			  r->n_b);
}

#define COLUMN_DIFFERENCE(id, part) \
	COLUMN_N(#id "_delta_ns", part_title(part), VALUE_NS, SHOWN(PART_##part) ? 7 : 0, 4, \
		 "difference from the other one (negative: less): " part_help(part), get_##id##_delta),
/* The screen shows waiting for a CPU as one column, like the phases do. */
#define SHOWN(part) ((part) == PART_USER || (part) == PART_SYSCALL || (part) == PART_DISK || \
		     (part) == PART_WRITEBACK || (part) == PART_SOCKET || (part) == PART_FUTEX || (part) == PART_TIMER)

static const struct column columns[] = {
	COLUMN_FLEX("name", "PHASE", 12, "name of its spans; (all): from begin to end", COMMON(name)),
	COLUMN_T("service", "SERVICE", 8, 6, "service of the phase", COMMON(service)),
	COLUMN_T("kind", "KIND", 6, 7, "client or server half, or null", MEMBER(struct compare_row, kind)),
	COLUMN_N("delta_ns", "DIFF", VALUE_NS, 7, 0, "how much longer it took (negative: shorter)",
		 MEMBER(struct compare_row, delta_ns)),
	COLUMN_T("mainly", "MAINLY", 16, 1, "the kernel state that differs most", MEMBER(struct compare_row, mainly)),
	COLUMN_N("a_ns", "THIS", VALUE_NS, 7, 2, "what its spans did themselves, here",
		 MEMBER(struct compare_row, side[A].own_ns)),
	COLUMN_N("b_ns", "OTHER", VALUE_NS, 7, 2, "the same of the other one, or what is usual",
		 MEMBER(struct compare_row, b_ns)),
	COLUMN_N("a_whole_ns", "WHOLE", VALUE_NS, 0, 0, "its spans with all below them, here",
		 MEMBER(struct compare_row, side[A].whole_ns)),
	COLUMN_N("b_whole_ns", "WHOLE", VALUE_NS, 0, 0, "the same of the other",
		 MEMBER(struct compare_row, b_whole_ns)),
	COLUMN_N("a_count", "COUNT", VALUE_COUNT, 0, 0, "spans of that phase, here",
		 MEMBER(struct compare_row, side[A].n)),
	COLUMN_N("b_count", "COUNT", VALUE_COUNT, 0, 0, "and of the other", MEMBER(struct compare_row, b_count)),
	PART_LIST(COLUMN_DIFFERENCE)
	COLUMN_N("runnable_delta_ns", "RUNQ", VALUE_NS, 7, 4,
		 "more than there (negative: less): runnable, waiting for a CPU", get_runq_delta),
};

/* --- sums --- */

struct comparing {
	struct rows *rows;
	GHashTable *index;		/* struct phase_id -> row */
};

struct phase_id {
	const char *service, *name;
	uint32_t kind, whole;
};

static guint id_hash(const void *v)
{
	const struct phase_id *id = v;
	return intmap_hash(reftext_pair(id->service, id->name)) ^ id->kind << 1 ^ id->whole;
}

static gboolean id_equal(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct phase_id)) == 0;
}

static struct compare_row *row_of(struct comparing *c, const struct span *s, bool whole)
{
	struct phase_id id = { s->service, s->name, s->kind, whole };
	if (whole)			/* one row, even if the operations of both spans differ */
		id = (struct phase_id){ NULL, NULL, 0, whole };
	struct compare_row *r = g_hash_table_lookup(c->index, &id);
	if (r)
		return r;
	r = common_new(c->rows, sizeof(*r));
	r->is_whole = whole;
	r->c.service = rows_hold_text(c->rows, s->service);
	r->c.name = whole ? "(all)" : s->name;
	r->kind = whole ? NULL : span_kind_name[s->kind];
	r->c.row.key[0] = key_text(key_text(0, r->c.service), r->c.name);
	r->c.row.key[1] = key_int(0, (uint64_t)s->kind << 1 | whole);
	r->c.row.drill.operation = rows_hold_text(c->rows, s->name);
	r->c.row.drill.service = r->c.service;
	r->c.row.drill.span_id = 0;
	r->c.row.drill.span_kind = -1;
	g_hash_table_insert(c->index, g_memdup2(&id, sizeof(id)), r);
	return r;
}

static void add(struct side_sums *to, const struct span *s, const int64_t part[PART_N])
{
	to->n++;
	to->whole_ns += span_duration(s);
	for (int p = 0; p < PART_N; p++) {
		to->part[p] += part[p];
		to->own_ns += part[p];
	}
}

/* The parts of a span without those of its children on the same thread. */
static void own_parts(const struct tree *t, int node, int64_t part[PART_N])
{
	const struct span *s = t->nodes[node].span;
	memcpy(part, s->part, sizeof(s->part));
	for (int c = t->nodes[node].first_child; c >= 0; c = t->nodes[c].next)
		for (int p = 0; p < PART_N && tree_same_thread(s, t->nodes[c].span); p++)
			part[p] = MAX(part[p] - t->nodes[c].span->part[p], 0);
}

static void add_request(struct comparing *c, const struct tree *t, int node, enum side side)
{
	int end = tree_end(t, node);
	add(&row_of(c, t->nodes[node].span, true)->side[side], t->nodes[node].span,
	    t->nodes[node].span->part);
	for (int i = node; i < end; i++) {
		int64_t part[PART_N];
		own_parts(t, i, part);
		add(&row_of(c, t->nodes[i].span, false)->side[side], t->nodes[i].span, part);
	}
}

/* --- the typical span --- */

/* A span with its sort keys, so that sorting 100000 spans does not read each span. */
struct other {
	int64_t duration_ns;
	const struct span *span;
};

static int compare_others(const void *va, const void *vb)
{
	const struct other *x = va, *y = vb;
	const struct span *a = x->span, *b = y->span;
	return ORDER(x->duration_ns, y->duration_ns) ?: ORDER(a->begin_ns, b->begin_ns) ?:
	       ORDER(a->trace_id, b->trace_id) ?: ORDER(a->span_id, b->span_id);
}

static const struct other *other_at(const GArray *others, guint i)
{
	return &g_array_index(others, struct other, i);
}

/* All other ended spans of the operation, shortest first. */
static GArray *others_of(const struct history *h, const struct span *s)
{
	GArray *others = g_array_new(FALSE, FALSE, sizeof(struct other));
	for (size_t i = 0; i < timeline_n_spans(h->tl); i++) {
		const struct span *o = timeline_span(h->tl, i);
		if (o->name == s->name && o->service == s->service && o->kind == s->kind &&
		    span_has_duration(o) &&
		    (o->trace_id != s->trace_id || o->span_id != s->span_id)) {
			struct other other = { span_duration(o), o };
			g_array_append_val(others, other);
		}
	}
	g_array_sort(others, compare_others);
	return others;
}

static guint n_shorter(const GArray *others, int64_t than)
{
	guint n = 0;
	while (n < others->len && other_at(others, n)->duration_ns < than)
		n++;
	return n;
}

/* The quarter of the spans around the usual (history.h), from the first to the third eighth: [*ret_first, + n). If
 * spans were evicted, the retained ones are mostly slow. Then it takes those in that quarter of all spans, or the
 * nearest ones. */
static guint usual_ones(const GArray *others, const struct operation_info *op, guint *ret_first)
{
	guint n = (others->len + 3) / 4, first = others->len / 8;
	if (others->len && op && op->evicted) {
		unsigned low = hist_bucket_index(hist_quantile(&op->duration, 0.125));
		first = MIN(n_shorter(others, hist_bucket_low(low)), others->len - 1);
		n = n_shorter(others, hist_quantile(&op->duration, 0.375) + 1);
		n = n > first ? n - first : 1;
	}
	*ret_first = n > COMPARE_MOST ? first + (n - COMPARE_MOST) / 2 : first;
	return MIN(n, COMPARE_MOST);
}

static uint64_t add_usual(struct comparing *c, const struct history *h, const struct span *s,
			  struct compare *cmp)
{
	g_autoptr(GArray) others = others_of(h, s);
	const struct operation_info *op = history_operation(h, s);
	guint first, n = usual_ones(others, op, &first);
	g_autoptr(blk_tree) t = NULL;	/* tree of the last span; the others are often in the same trace */
	uint64_t taken = 0;
	for (guint i = first; i < first + n; i++) {
		const struct span *o = other_at(others, i)->span;
		if (!t || t->trace_id != o->trace_id) {
			tree_free(t);
			t = timeline_tree_new(h->tl, o->trace_id);
		}
		int node = tree_find(t, o->span_id, o->kind);
		if (node < 0)
			continue;
		add_request(c, t, node, B);
		taken++;
	}
	cmp->n_all = others->len;
	cmp->n_usual = (uint32_t)taken;
	cmp->n_evicted = op ? op->evicted : 0;
	return taken;
}

/* --- words --- */

/* The part that differs most: "futex +53.2ms". *ret_ns: the difference. */
static const char *mainly_of(struct rows *rows, const struct compare_row *r, int64_t *ret_ns)
{
	int most = 0;
	char buf[TIMEFMT_LEN];
	*ret_ns = 0;
	if (!r->n_b)
		return NULL;
	for (int p = 1; p < PART_N; p++)
		if (ABS(part_difference(r, p)) > ABS(part_difference(r, most)))
			most = p;
	*ret_ns = part_difference(r, most);
	if (*ret_ns == 0)
		return NULL;
	return rows_take_text(rows, g_strdup_printf("%s %s%s", part_word(rows->missing, most), *ret_ns > 0 ? "+" : "",
						timefmt_duration(buf, *ret_ns)));
}

/* Sets the explanation: "took 41.1ms longer: lock (thumbd) futex +53.2ms, encode (thumbd) user -3.10ms". */
static void set_explanation(struct rows *rows, const struct compare *cmp)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	char buf[TIMEFMT_LEN];
	if (cmp->b_ns < 0)
		return;
	int64_t more = cmp->a_ns - cmp->b_ns;
	g_string_printf(text, "took %s %s", timefmt_duration(buf, ABS(more)),
			more < 0 ? "less" : "longer");
	for (guint shown = 0; shown < 3; shown++) {
		const struct compare_row *most = NULL;
		PTR_EACH(const struct compare_row, r, rows->rows) {
			if (!r->is_whole && !g_ptr_array_find(order, r, NULL) &&
			    (!most || ABS(r->delta_ns) > ABS(most->delta_ns)))
				most = r;
		}
		/* A phase with less than a tenth of the difference does not explain it. */
		if (!most || ABS(most->delta_ns) * 10 < ABS(more) || !most->delta_ns)
			break;
		g_ptr_array_add(order, (gpointer)most);
		int64_t ns = most->delta_ns;
		g_string_append_printf(text, "%s %s%s%s %s%s", shown ? "," : ":", most->c.name,
				       most->kind ? " " : "", most->kind ? most->kind : "",
				       ns > 0 ? "+" : "", timefmt_duration(buf, ns));
		if (most->mainly)
			g_string_append_printf(text, " (%s)", most->mainly);
	}
	rows->explanation = rows_text(rows, text->str);
}

/* Sets the line above the table: "7f8efb3a thumbnail 68.4ms against the usual 27.3ms: the mean of 18 of 36 others". */
static void set_about(struct rows *rows, struct compare *cmp, const struct span *a)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char buf[TIMEFMT_LEN];
	g_string_printf(text, "%08x %s %s%s", value_short_id(cmp->trace_id),
			a->name, cmp->a_at_least ? ">" : "", timefmt_duration(buf, cmp->a_ns));
	if (cmp->b_ns < 0)
		g_string_append(text, cmp->usual ? ": no other of that operation has ended" :
				": the other one is not in memory (any more)");
	else if (cmp->usual)
		g_string_append_printf(text, " against the usual %s: the mean of %u of %u others",
				       timefmt_duration(buf, cmp->b_ns), cmp->n_usual, cmp->n_all);
	else
		g_string_append_printf(text, " against %08x %s%s", value_short_id(cmp->other_trace),
				       cmp->b_at_least ? ">" : "",
				       timefmt_duration(buf, cmp->b_ns));
	if (cmp->usual && cmp->n_evicted)
		g_string_append_printf(text, "; %" G_GUINT64_FORMAT " more were dropped for memory",
				       cmp->n_evicted);
	rows->about = rows_text(rows, text->str);
}

/* --- build --- */

static int compare_rows(const void *va, const void *vb)
{
	const struct compare_row *a = *(const struct compare_row *const *)va;
	const struct compare_row *b = *(const struct compare_row *const *)vb;
	return ORDER(b->is_whole, a->is_whole) ?: common_compare(&a->c, &b->c) ?: g_strcmp0(a->kind, b->kind);
}

/* The node of the requested span, or of the root if span_id is 0. -1: not found. */
static int find_node(const struct tree *t, uint64_t span_id, int kind)
{
	int node = span_id ? tree_find(t, span_id, kind) : t->root;
	return node >= 0 || kind < 0 ? node : tree_find(t, span_id, -1);
}

/* Is the node taken for the root of a request whose root is missing? */
static bool is_rootless(const struct tree *t, int node)
{
	return node == t->root && t->nodes[node].orphan;
}

static uint64_t add_other(struct comparing *c, const struct view_query *q, struct compare *cmp)
{
	g_autoptr(blk_tree) t = timeline_tree_new(c->rows->tl, q->other_trace);
	int node = find_node(t, q->other_span, q->other_kind);
	if (node < 0)
		return 0;
	add_request(c, t, node, B);
	cmp->other_trace = q->other_trace;
	cmp->b_at_least = is_rootless(t, node);
	return 1;
}

static void finish(struct rows *rows, struct compare *cmp, const struct span *a, uint64_t n_b)
{
	PTR_EACH(struct compare_row, r, rows->rows) {
		int64_t ns;
		r->n_b = n_b;
		r->b_ns = mean(r->side[B].own_ns, n_b);
		r->b_whole_ns = mean(r->side[B].whole_ns, n_b);
		r->b_count = mean((int64_t)r->side[B].n, n_b);
		r->delta_ns = n_b ? r->side[A].own_ns - r->b_ns : TIME_UNKNOWN;
		if (r->is_whole && r->side[A].n) {
			cmp->a_ns = r->side[A].whole_ns;
			cmp->b_ns = n_b ? r->b_whole_ns : -1;
		}
		r->mainly = mainly_of(rows, r, &ns);
		query_set_trace(&r->c.row.drill, r->side[A].n ? cmp->trace_id : cmp->other_trace);
	}
	common_finish(rows, compare_rows);
	set_about(rows, cmp, a);
	set_explanation(rows, cmp);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct compare *cmp = g_new0(struct compare, 1);
	uint64_t trace_id = query_has_trace(query) ? query->trace_id : traces_slowest(tl, query);
	g_autoptr(blk_tree) t = timeline_tree_new(tl, trace_id);
	int node = find_node(t, query_has_trace(query) ? query->span_id : 0, query->span_kind);
	rows->extra = cmp;
	rows->free_extra = g_free;
	cmp->b_ns = -1;
	if (node < 0)
		return rows;
	struct comparing c = { .rows = rows, .index = g_hash_table_new_full(id_hash, id_equal,
									    g_free, NULL) };
	const struct span *a = t->nodes[node].span;
	*cmp = (struct compare){ .trace_id = trace_id, .span_id = a->span_id, .span_kind = a->kind,
				 .usual = !query->other_trace, .b_ns = -1,
				 .a_at_least = is_rootless(t, node) };
	add_request(&c, t, node, A);
	g_autoptr(blk_history) h = history_new(tl);
	uint64_t n_b = cmp->usual ? add_usual(&c, h, a, cmp) : add_other(&c, query, cmp);
	g_hash_table_unref(c.index);
	finish(rows, cmp, a, n_b);
	return rows;
}

static const char *const needs[] = { "zipkin:timestamp", "sched_switch", NULL };

const struct view view_compare = {
	.only = ONLY_SPANS, .of_span = true,
	.id = "compare", .title = "Compare",
	.help = "One request compared with another, or with the usual one of its operation: the "
		"differences by phase and by kernel state. A phase has the time of its spans without their "
		"children.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "delta_ns", .drill = "spans", .needs = needs,
	.on_screen = true, .build = build,
};
