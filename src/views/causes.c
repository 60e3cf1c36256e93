/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests grouped by the cause of their slowness: see causes.h.
 */
#include "views/causes.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/explanations.h"
#include "views/path.h"
#include "views/registry.h"
#include "views/traces.h"
#include "views/usual.h"

#include <string.h>

#define BAR 18			/* letters of the longest bar */

struct cause_row {
	struct common c;		/* name: operation */
	enum cause_state state;
	const char *phase, *phase_service, *culprit;
	enum part part;			/* PART_N: no cause */
	const char *cause, *explanation, *took, *bar;
	double min_x, max_x;
	int64_t excess_ns;
	int64_t lost_ns;		/* how much longer than usual its requests took, together; -1: unknown */
	bool at_least;			/* the root of one of the requests is missing */
	int64_t slowest_ns;		/* used only while rows are built; -1: none yet */
};

#define ROW(row) ((const struct cause_row *)(row))

static const char *const state_words[] = {
	[CAUSE_SLOW] = "slow", [CAUSE_FEW] = NULL, [CAUSE_OPEN] = "open", [CAUSE_NORMAL] = "normal",
};

static GETTER(get_excess)
{
	return ROW(row)->part == PART_N ? value_none() : value_int(VALUE_NS, ROW(row)->excess_ns);
}

static GETTER(get_part)
{
	return value_text(ROW(row)->part == PART_N ? NULL : part_info[ROW(row)->part].id);
}

static GETTER(get_trace)
{
	return query_has_trace(&row->drill) ? value_int(VALUE_HEX64, (int64_t)row->drill.trace_id) : value_none();
}

static const struct column columns[] = {
	COLUMN_N("count", "REQS", VALUE_COUNT, 5, 0, "requests", COMMON(stat.count)),
	COLUMN_PARTIAL
	COLUMN_T("operation", "REQUESTS", 12, 0, "name of their root spans; null: several",
		 MEMBER(struct common, name, .none = IF_ZERO)),
	COLUMN_T("service", "SERVICE", 9, 6, "service of their root spans; null: several", COMMON(service)),
	COLUMN_T("state", "STATE", 6, 9,
		 "slow, normal (below 1.75 times the usual), open; null: too few to know what is usual",
		 MEMBER(struct cause_row, state, .words = state_words)),
	COLUMN_T("took", "TOOK", 15, 1, "the shortest and the longest of them", MEMBER(struct cause_row, took)),
	COLUMN_N("lost_ns", "LOST", VALUE_NS, 6, 4,
		 "how much longer than usual they took, all together: rows are in this order",
		 MEMBER(struct cause_row, lost_ns, .none = IF_NEGATIVE)),
	COLUMN_N("x_usual_ratio", "xUSUAL", VALUE_RATIO, 6, 2,
		 USUAL_TIMES("the slowest"), MEMBER(struct cause_row, max_x, .none = IF_NEGATIVE)),
	{ .id = "states", .title = "TIME", .kind = VALUE_TEXT, .width = BAR, .priority = 3,
	  .align = ALIGN_LEFT, .drawing = DRAW_PARTS,
	  .help = "letters of the parts of their time on the critical path; as long as their mean duration",
	  .get = MEMBER(struct cause_row, bar) },
	COLUMN_FLEX("cause", "CAUSE", 16, "why the slowest took so long", MEMBER(struct cause_row, cause)),
	COLUMN_N("min_ns", "MIN", VALUE_NS, 0, 0, "the shortest", STAT(min)),
	COLUMN_N("p50_ns", "p50", VALUE_NS, 0, 0, "half of them take at most this" PERCENTILE_BOUND, STAT(p50)),
	COLUMN_N("max_ns", "MAX", VALUE_NS, 0, 0, "the longest", STAT(max)),
	COLUMN_N("excess_ns", "EXCESS", VALUE_NS, 0, 0, "time above the usual of this phase and part, of all",
		 get_excess),
	COLUMN_T("phase", "PHASE", 0, 0, "span that the time went to", MEMBER(struct cause_row, phase)),
	COLUMN_T("phase_service", "IN", 0, 0, "its service", MEMBER(struct cause_row, phase_service)),
	COLUMN_T("part", "PART", 0, 0, "what its thread did", get_part),
	COLUMN_T("process", "BY", 0, 0, "process whose thread it waited for; null: none",
		 MEMBER(struct cause_row, culprit)),
	COLUMN_SPAN_ID("trace_id", "TRACE", "the slowest", get_trace),
	COLUMNS_PARTS
	COLUMN_T("verdict", "VERDICT", 0, 0, "why it took so long, as a sentence",
		 MEMBER(struct cause_row, explanation)),
};

/* ---- grouping ---- */

/* Name of the process that a cause's wait ended by; NULL: none, or the thread's own process. Of a message: of the
 * thread that ran instead of the one that took it. */
static const char *culprit_of(struct history *h, const struct tree *t, const struct why_cause *c)
{
	uint32_t thread = c->culprit != ID_NONE ? c->culprit : c->waker;
	if (thread == ID_NONE || c->part == PART_TIMER)
		return NULL;
	const struct thread_info *info = timeline_thread(h->tl, thread);
	const struct thread_info *own = timeline_thread(h->tl, t->nodes[c->node].span->thread);
	if (!info || (!c->message && own && info->process == own->process && info->process != ID_NONE))
		return NULL;
	return timeline_comm(h->tl, thread, c->wait ? c->wait->wake_ns : t->nodes[c->node].span->end_ns);
}

static uint64_t key_of(struct history *h, const struct tree *t, const struct span *root, const struct why_cause *c)
{
	const struct span *s = t->nodes[c->node].span;
	uint64_t key = key_text(key_text(key_text(key_text(1, root->service), root->name), s->service), s->name);
	key = key_text(key_int(key, c->part), culprit_of(h, t, c));
	return (c->message ? key_text(key, c->culprit_span) : key) | 1;
}

uint64_t cause_key(struct history *h, const struct span *root)
{
	g_autoptr(blk_tree) t = timeline_tree_new(h->tl, root->trace_id);
	struct why why;
	if (t->root < 0)
		return 0;
	why_find_trace(h, t, &why);
	return why.n ? key_of(h, t, root, &why.cause[0]) : 0;
}

static struct cause_row *row_of(struct row_map *map, uint64_t key, enum cause_state state, const struct trace_row *r)
{
	bool is_new;
	struct cause_row *row = row_map_get(map, key, sizeof *row, &is_new);
	if (is_new) {
		row->c.name = rows_hold_text(map->rows, r->root->name);
		row->c.service = rows_hold_text(map->rows, r->root->service);
		row->c.row.key[0] = key;
		common_host(&row->c, map->rows, r->root->host);
		row->state = state;
		row->part = PART_N;
		row->min_x = row->max_x = -1;
		row->slowest_ns = -1;
		row->lost_ns = state == CAUSE_SLOW ? 0 : -1;
		row->c.parts_unknown = true;
	}
	if (row->c.name && strcmp(row->c.name, r->root->name))
		row->c.name = NULL;
	if (row->c.service && strcmp(row->c.service, r->root->service))
		row->c.service = NULL;
	return row;
}

static void add_request(struct cause_row *row, const struct trace_row *r)
{
	hist_add(&row->c.latency, r->took_ns);
	row->at_least |= !r->has_root;
	row->c.errors += r->c.errors;
	if (r->took_ns > row->slowest_ns) {
		row->slowest_ns = r->took_ns;
		query_set_trace(&row->c.row.drill, r->root->trace_id);
		row->c.row.drill.span_id = 0;
		row->c.row.drill.span_kind = -1;
	}
	if (r->x_usual < 0)
		return;
	row->min_x = row->min_x < 0 ? r->x_usual : MIN(row->min_x, r->x_usual);
	row->max_x = MAX(row->max_x, r->x_usual);
}

/* A request that is open, or not known to be slow. */
static void add_normal(struct cause_row *row, const struct trace_row *r)
{
	if (r->root->state != SPAN_PARTIAL) {
		add_request(row, r);
		return;
	}
	row->c.partial++;
	row->c.errors += r->c.errors;
}

/* The first one of a row is its slowest: that one's words are the row's. */
static void explain(struct cause_row *row, struct row_map *map, struct history *h, const struct tree *t,
		    const struct why *why)
{
	const struct why_cause *c = &why->cause[0];
	g_autoptr(GArray) shares = path_shares(t, PATH_TRACE);
	ARRAY_EACH(const struct path_share, s, shares)
		row->c.part[s->part] += s->ns;
	row->c.parts_unknown = false;
	row->excess_ns += c->excess_ns;
	if (row->cause)
		return;
	const struct span *s = t->nodes[c->node].span;
	g_autofree char *brief = why_short(h, t, t->root, why), *whole = why_sentence(h, t, t->root, why);
	const char *culprit = culprit_of(h, t, c);
	row->cause = rows_text(map->rows, brief ? brief : "");
	row->explanation = rows_text(map->rows, whole ? whole : "");
	row->phase = rows_hold_text(map->rows, s->name);
	row->phase_service = rows_hold_text(map->rows, s->service);
	row->part = c->part;
	row->culprit = culprit ? rows_text(map->rows, culprit) : NULL;
}

static void add_slow(struct row_map *map, struct history *h, const struct trace_row *r, bool examine)
{
	enum cause_state state = r->usual_ns < 0 ? CAUSE_FEW : CAUSE_SLOW;
	g_autoptr(blk_tree) t = examine ? timeline_tree_new(h->tl, r->root->trace_id) : NULL;
	struct why why = { 0 };
	if (t && t->root >= 0)
		why_find_trace(h, t, &why);
	uint64_t key = why.n ? key_of(h, t, r->root, &why.cause[0]) : 0;
	struct cause_row *row = row_of(map, key << 2 | state, state, r);
	add_request(row, r);
	if (state == CAUSE_SLOW)
		row->lost_ns += r->took_ns - r->usual_ns;
	row->c.row.marked |= r->is_slow;
	if (why.n)
		explain(row, map, h, t, &why);
}

/* Is it slow, or is that unknown? What is known of a partial one may be enough. */
static bool may_be_slow(const struct trace_row *r)
{
	return r->usual_ns < 0 ? span_has_duration(r->root) : !usual_includes(r->usual_ns, r->took_ns);
}

static int compare_slower(const void *va, const void *vb)
{
	const struct trace_row *a = *(const struct trace_row *const *)va, *b = *(const struct trace_row *const *)vb;
	return ORDER(b->took_ns, a->took_ns) ?: ORDER(a->root->trace_id, b->root->trace_id);
}

/* The part's letters, in the order of enum part; the whole bar is as long as the mean, `longest` being BAR letters. */
static const char *bar_of(struct rows *rows, const struct cause_row *r, int64_t longest)
{
	int64_t sum = 0, before = 0;
	char text[BAR + 1];
	unsigned n = 0;
	for (int p = 0; p < PART_N; p++)
		sum += r->c.part[p];
	if (sum <= 0 || longest <= 0)
		return NULL;
	double cells = MAX((double)r->c.stat.avg / (double)longest * BAR, 1);
	for (int p = 0; p < PART_N; p++) {
		before += r->c.part[p];
		unsigned to = (unsigned)((double)before / (double)sum * cells + 0.5);
		while (n < to && n < BAR)
			text[n++] = part_info[p].letter;
	}
	text[n] = '\0';
	return rows_text(rows, text);
}

static const char *took_of(struct rows *rows, const struct cause_row *r)
{
	char low[TIMEFMT_LEN], high[TIMEFMT_LEN];
	if (!r->c.stat.count)
		return NULL;
	timefmt_duration(low, r->c.stat.min);
	timefmt_duration(high, r->c.stat.max);
	const char *bound = r->at_least ? ">" : "";
	g_autofree char *text = strcmp(low, high) ? g_strdup_printf("%s%s-%s", bound, low, high) :
		g_strconcat(bound, low, NULL);
	return rows_text(rows, text);
}

/* By state; of slow ones the row that lost most first, one without causes last; else the longest. */
static int compare(const void *va, const void *vb)
{
	const struct cause_row *a = *(const struct cause_row *const *)va, *b = *(const struct cause_row *const *)vb;
	return ORDER(a->state, b->state) ?: ORDER(a->part == PART_N, b->part == PART_N) ?:
	       ORDER(b->lost_ns, a->lost_ns) ?: ORDER(b->c.stat.max, a->c.stat.max) ?: common_compare(&a->c, &b->c);
}

static void describe(struct rows *rows, guint n_slow)
{
	if (n_slow <= LIMIT_CAUSES)
		return;
	g_autofree char *text = g_strdup_printf("causes of the %d slowest of %u requests", LIMIT_CAUSES, n_slow);
	rows->about = rows->omitted = rows_text(rows, text);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GPtrArray) slow = g_ptr_array_new();
	struct rows *traces = traces_build(tl, query);
	map.rows->completeness = traces->completeness;
	map.rows->dropped = traces->dropped ? rows_text(map.rows, traces->dropped) : NULL;
	PTR_EACH(struct trace_row, r, traces->rows) {
		enum cause_state state = r->root->state == SPAN_OPEN ? CAUSE_OPEN : CAUSE_NORMAL;
		if (state == CAUSE_NORMAL && may_be_slow(r))
			g_ptr_array_add(slow, r);
		else
			add_normal(row_of(&map, state, state, r), r);
	}
	g_ptr_array_sort(slow, compare_slower);
	for (guint i = 0; i < slow->len; i++)
		add_slow(&map, h, slow->pdata[i], i < LIMIT_CAUSES);
	row_map_clear(&map);
	common_finish(map.rows, compare);
	int64_t longest = 0;
	PTR_EACH(struct cause_row, r, map.rows->rows)
		longest = MAX(longest, r->c.parts_unknown ? 0 : r->c.stat.avg);
	PTR_EACH(struct cause_row, r, map.rows->rows) {
		r->took = took_of(map.rows, r);
		r->bar = r->c.parts_unknown ? NULL : bar_of(map.rows, r, longest);
		r->c.row.open = r->state == CAUSE_OPEN;
	}
	rows_free(traces);
	describe(map.rows, slow->len);
	return map.rows;
}

/* ---- since when ---- */

#define SINCE_STEP_S 16		/* of the first step back; each further one is twice as long */
#define SINCE_WORTH 10		/* a request counts if it lost at least 1/10 of what the worst one of the range lost */

struct slow_root {
	const struct span *root;
	int64_t second_ns, excess_ns;
};

/* The latest second first, in it the largest excess. */
static int compare_later(const void *va, const void *vb)
{
	const struct slow_root *a = va, *b = vb;
	return ORDER(b->second_ns, a->second_ns) ?: ORDER(b->excess_ns, a->excess_ns) ?:
	       ORDER(a->root->trace_id, b->root->trace_id);
}

/* Slow requests whose root ended in [from, to). */
static GArray *slow_roots(struct history *h, int64_t from, int64_t to)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct slow_root));
	TIMELINE_EACH_TRACE(h->tl, i, from, to) {
		const struct trace_info *t = timeline_trace(h->tl, i);
		int64_t usual = t->has_root && span_has_duration(t->root) ? usual_trace_duration(h, t) : -1;
		if (!usual_is_slow(usual, trace_duration(t)) || t->root->end_ns < from || t->root->end_ns >= to)
			continue;
		struct slow_root r = { t->root, time_floor(t->root->end_ns, NS_PER_S), trace_duration(t) - usual };
		g_array_append_val(list, r);
	}
	g_array_sort(list, compare_later);
	return list;
}

static int64_t worst_excess(const GArray *slow)
{
	int64_t worst = 0;
	for (guint i = 0; i < slow->len; i++)
		worst = MAX(worst, g_array_index(slow, struct slow_root, i).excess_ns);
	return worst;
}

/* The keys of slow rows whose cause is known. */
static GHashTable *slow_keys(const struct rows *causes)
{
	GHashTable *keys = g_hash_table_new(g_int64_hash, g_int64_equal);
	PTR_EACH(struct cause_row, r, causes->rows) {
		if (r->state == CAUSE_SLOW && r->part != PART_N)
			g_hash_table_add(keys, &r->c.row.key[0]);
	}
	return keys;
}

/* A walk from the end of the range backwards. */
struct since {
	struct history *h;
	GHashTable *keys;
	int64_t worst_ns, at_ns;	/* .at_ns: the answer so far; TIME_UNKNOWN: none */
	unsigned examined;
	bool too_many;
};

/* Goes through some of the slow requests. True: nothing before them counts. */
static bool go_back(struct since *s, const GArray *slow)
{
	ARRAY_EACH(const struct slow_root, r, slow) {
		if (s->at_ns != TIME_UNKNOWN && s->at_ns - r->second_ns > CAUSES_PAUSE_S * NS_PER_S)
			return true;
		if (r->second_ns == s->at_ns || r->excess_ns < s->worst_ns / SINCE_WORTH)
			continue;
		s->too_many = s->examined++ == LIMIT_SINCE;
		if (s->too_many)
			return true;
		uint64_t key = cause_key(s->h, r->root) << 2 | CAUSE_SLOW;
		if (g_hash_table_contains(s->keys, &key))
			s->at_ns = r->second_ns;
	}
	return false;
}

int64_t causes_since(const struct timeline *tl, const struct rows *causes, bool *ret_earlier)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GHashTable) keys = slow_keys(causes);
	struct since s = { .h = h, .keys = keys, .at_ns = TIME_UNKNOWN };
	int64_t first, last, from = causes->query.from_ns, to = causes->query.to_ns, step = SINCE_STEP_S * NS_PER_S;
	*ret_earlier = false;
	if (!g_hash_table_size(keys) || !timeline_coverage(tl, &first, &last))
		return TIME_UNKNOWN;
	g_autoptr(GArray) shown = slow_roots(h, from, to);
	s.worst_ns = worst_excess(shown);
	bool done = go_back(&s, shown);
	while (!done && from > first &&
	       (s.at_ns == TIME_UNKNOWN || s.at_ns - from <= (CAUSES_PAUSE_S + 1) * NS_PER_S)) {
		to = from;
		from = to - first > step ? to - step : first;
		step *= 2;
		g_autoptr(GArray) slow = slow_roots(h, from, to);
		done = go_back(&s, slow);
	}
	*ret_earlier = s.at_ns != TIME_UNKNOWN && (s.too_many || s.at_ns <= first);
	return s.at_ns;
}

struct cause cause_of(const struct row *row)
{
	const struct cause_row *r = ROW(row);
	return (struct cause){ .state = r->state, .n = r->c.stat.count, .lost_ns = r->lost_ns, .min_ns = r->c.stat.min,
			       .max_ns = r->c.stat.max, .min_x = r->min_x, .max_x = r->max_x,
			       .operation = r->c.name, .explanation = r->explanation,
			       .at_least = r->at_least };
}

static const char *const needs[] = { "zipkin:timestamp", NULL };

const struct view view_causes = {
	.only = ONLY_SPANS & ~ONLY_SPAN,
	.id = "causes", .title = "Causes",
	.help = "Slow requests of the range, grouped by cause: those of one operation that lost their time in the same "
		"phase and kernel state, because of the same process, are one row. The normal ones and the open ones "
		"are one row each.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.drill = "waterfall", .needs = needs,
	.on_screen = true, .build = build,
};
