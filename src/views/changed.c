/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What changed: compares the operations of the range with the same operations in the range before it, or in all
 * other retained time. Shows how much time each operation lost, and in which kernel state.
 *
 * The lost time of an operation is the increase of its average duration times the number of its spans: the
 * additional time that users waited. Parts are averages as well, so they sum to it.
 *
 * Names the phase (spans of one name below those of the operation) whose own time, without its children's, grew most,
 * if it accounts for half of the increase at least. Own times of phases that follow each other sum to the operation's
 * duration.
 *
 * By cause, a row is a phase and a part of the critical paths of an operation's requests (usual.h): a wait for another
 * service is the time of what that service did. The rows of an operation sum to its increase.
 */
#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/evicted.h"
#include "views/explanations.h"
#include "views/history.h"
#include "views/overview.h"
#include "views/registry.h"
#include "views/spans.h"
#include "views/usual.h"

#include "state/store/span_tree.h"

#define LITTLE 10			/* less than a tenth longer is said to be little */
#define LITTLE_OF_ALL 100		/* by cause: of the largest change */

enum when { NOW, BEFORE, WHENS };

struct period {
	struct stat stat;
	struct hist latency;		/* used only while spans are summed */
	int64_t part[PART_N];
	uint64_t errors;
};

struct phase_time {
	const char *service, *name;	/* reftexts of its spans */
	enum span_kind kind;
	int64_t self_ns[WHENS];		/* own time, summed */
};

struct changed_row {
	struct common c;		/* service, name */
	const char *kind, *mainly;
	const char *phase;		/* NULL: none is named */
	int64_t phase_more_ns;		/* of one span of the operation, on average; TIME_UNKNOWN: none is named */
	GArray *phases;			/* struct phase_time; used only while spans are summed; NULL: none */
	struct intmap phase_index;	/* likewise: index in .phases */
	bool phases_unknown;		/* those of some of its spans are evicted, or too many */
	uint32_t operation;		/* of a row by cause: index in an array of struct requests; else ID_NONE */
	enum part part;			/* likewise */
	bool little;			/* likewise: it changed by at most 1/LITTLE_OF_ALL of what changed most */
	struct worst_span worst;	/* of NOW */
	double seconds[WHENS];
	struct period period[WHENS];
};

#define ROW(row) ((const struct changed_row *)(row))

static bool has_both(const struct changed_row *r)
{
	return r->period[NOW].stat.count && r->period[BEFORE].stat.count;
}

static int64_t average(int64_t sum, uint64_t n)
{
	return n ? sum / (int64_t)n : 0;
}

static int64_t part_more(const struct changed_row *r, int p)
{
	return average(r->period[NOW].part[p], r->period[NOW].stat.count) -
	       average(r->period[BEFORE].part[p], r->period[BEFORE].stat.count);
}

static int64_t more(const struct changed_row *r)
{
	return r->period[NOW].stat.avg - r->period[BEFORE].stat.avg;
}

static GETTER(get_lost)
{
	const struct changed_row *r = ROW(row);
	return has_both(r) ? value_int(VALUE_NS, more(r) * (int64_t)r->period[NOW].stat.count) :
		value_none();
}

static GETTER(get_more)
{
	return has_both(ROW(row)) ? value_int(VALUE_NS, more(ROW(row))) : value_none();
}

static GETTER(get_times)
{
	const struct changed_row *r = ROW(row);
	return has_both(r) && r->period[BEFORE].stat.avg > 0 ?
		value_ratio((double)r->period[NOW].stat.avg / r->period[BEFORE].stat.avg) :
		value_none();
}

static GETTER(get_explanation)
{
	return worst_explanation(&((struct changed_row *)row)->worst, rows);
}

static struct value rate(const struct changed_row *r, enum when w)
{
	return r->seconds[w] > 0 ?
		value_int(VALUE_COUNT, r->period[w].stat.count / r->seconds[w] + 0.5) : value_none();
}

static struct value errors(const struct changed_row *r, enum when w)
{
	return r->operation != ID_NONE ? value_none() : value_int(VALUE_COUNT, r->period[w].errors);
}

static GETTER(get_now_errors)
{
	return errors(ROW(row), NOW);
}

static GETTER(get_before_errors)
{
	return errors(ROW(row), BEFORE);
}

static GETTER(get_now_rate)
{
	return rate(ROW(row), NOW);
}

static GETTER(get_before_rate)
{
	return rate(ROW(row), BEFORE);
}

#define PART_MORE(id, which) \
	static GETTER(get_##id##_delta) \
	{ \
		const struct changed_row *r = ROW(row); \
		int64_t ns = part_more(r, PART_##which); \
		return has_both(r) && part_is_known(rows->missing, PART_##which, ns) ? \
			value_int(VALUE_NS, ns) : value_none(); \
	}
PART_LIST(PART_MORE)

#define COLUMN_MORE(id, part) \
	COLUMN_N("avg_" #id "_delta_ns", part_title(part), VALUE_NS, 0, 0, \
		 "change of the time of one request (negative: shorter): " part_help(part), \
		 get_##id##_delta),

#define PERIOD(when, name) MEMBER(struct changed_row, period[when].stat.name, .none = IF_NEGATIVE)

static const struct column columns[] = {
	COLUMN_FLEX("name", "OPERATION", 12, "name of root spans and server halves", COMMON(name)),
	COLUMN_T("service", "SERVICE", 9, 4, "service it belongs to; by cause: of the phase", COMMON(service)),
	COLUMN_T("kind", "KIND", 6, 9, "client or server half, or null", MEMBER(struct changed_row, kind)),
	COLUMN_N("lost_ns", "LOST", VALUE_NS, 7, 0,
		 "how much longer they took, all together (negative: shorter)", get_lost),
	COLUMN_N("avg_delta_ns", "EACH", VALUE_NS, 7, 1, "how much longer one took, on average", get_more),
	COLUMN_N("times_ratio", "TIMES", VALUE_RATIO, 6, 6, "times as long as before, on average",
		 get_times),
	COLUMN_T("mainly", "CAUSE", 16, 0, "the kernel state that most of it went to",
		 MEMBER(struct changed_row, mainly, .none = IF_LEFT_OUT)),
	COLUMN_OPTIONAL("phase", "PHASE", VALUE_TEXT, 10, 4,
			"the phase whose own time grew most, if that is half of EACH or more; by cause: each",
			MEMBER(struct changed_row, phase)),
	COLUMN_N("phase_delta_ns", "+", VALUE_NS, 0, 0, "how much longer that phase took of its own, each, on average",
		 MEMBER(struct changed_row, phase_more_ns)),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 5, 2, "how many ended in the range",
		 MEMBER(struct changed_row, period[NOW].stat.count)),
	COLUMN_N("count_before", "BEFORE", VALUE_COUNT, 6, 3, "and before",
		 MEMBER(struct changed_row, period[BEFORE].stat.count)),
	COLUMN_N("rate", "PER SEC", VALUE_COUNT, 7, 10, "how many a second", get_now_rate),
	COLUMN_N("rate_before", "BEFORE", VALUE_COUNT, 0, 0, "and before", get_before_rate),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 5, "errors in them", get_now_errors),
	COLUMN_N("errors_before", "BEFORE", VALUE_COUNT, 0, 0, "and before", get_before_errors),
	COLUMN_N("avg_ns", "AVG", VALUE_NS, 7, 7, "mean duration", PERIOD(NOW, avg)),
	COLUMN_N("avg_before_ns", "BEFORE", VALUE_NS, 7, 7, "and before", PERIOD(BEFORE, avg)),
	COLUMN_N("p50_ns", "p50", VALUE_NS, 7, 11, "half of them take at most this" PERCENTILE_BOUND, PERIOD(NOW, p50)),
	COLUMN_N("p50_before_ns", "BEFORE", VALUE_NS, 7, 11, "and before" PERCENTILE_BOUND, PERIOD(BEFORE, p50)),
	COLUMN_N("p99_ns", "p99", VALUE_NS, 7, 8, "99 % of them take at most this" PERCENTILE_BOUND, PERIOD(NOW, p99)),
	COLUMN_N("p99_before_ns", "BEFORE", VALUE_NS, 7, 8, "and before" PERCENTILE_BOUND, PERIOD(BEFORE, p99)),
	COLUMN_N("max_ns", "MAX", VALUE_NS, 0, 0, "the longest", PERIOD(NOW, max)),
	COLUMN_N("max_before_ns", "BEFORE", VALUE_NS, 0, 0, "and before", PERIOD(BEFORE, max)),
	PART_LIST(COLUMN_MORE)
	COLUMN_BATCH_ID("worst_trace_id", "trace of the longest of them in the range",
			MEMBER_OF(struct changed_row, worst.span, trace_id)),
	COLUMN_BATCH_ID("worst_span_id", "that span's id", MEMBER_OF(struct changed_row, worst.span, span_id)),
	COLUMN_T("verdict", "VERDICT", 0, 0, "why the longest of them in the range took so long", get_explanation),
};

/* --- sums --- */

struct periods {
	int64_t from[WHENS], to[WHENS];
	double seconds[WHENS];
	bool history;			/* BEFORE is all retained time outside NOW */
	bool quiet;			/* BEFORE is the quiet time before NOW */
};

/* Recorded seconds of what is retained of the interval. Nothing is known of other time. */
static double covered(const struct timeline *tl, int64_t from, int64_t to)
{
	return (double)range_recorded(tl, MAX(from, timeline_retained_from(tl)), to) / NS_PER_S;
}

static struct periods periods_of(const struct timeline *tl, const struct view_query *q)
{
	struct range range = range_of(tl, q);
	int64_t length = range.to_ns - range.from_ns;
	struct periods p = { .history = q->history, .quiet = q->quiet,
			     .from = { range.from_ns, range.from_ns - length },
			     .to = { range.to_ns, range.from_ns } };
	if (p.quiet && !overview_quiet_before(tl, p.from[NOW], p.to[NOW], &p.from[BEFORE], &p.to[BEFORE]))
		p.from[BEFORE] = p.to[BEFORE] = p.from[NOW];
	if (range.end == range.first)
		p.to[NOW] = p.from[NOW];
	p.seconds[NOW] = covered(tl, p.from[NOW], p.to[NOW]);
	p.seconds[BEFORE] = p.history ? covered(tl, INT64_MIN, INT64_MAX) - p.seconds[NOW] :
		covered(tl, p.from[BEFORE], p.to[BEFORE]);
	return p;
}

/* The period in which a span with this end counts; WHENS: none. */
static enum when when_of(const struct periods *p, int64_t end_ns)
{
	if (end_ns >= p->from[NOW] && end_ns < p->to[NOW])
		return NOW;
	if (p->history || (end_ns >= p->from[BEFORE] && end_ns < p->to[BEFORE]))
		return BEFORE;
	return WHENS;
}

/* By name, all spans count; otherwise only requests do. */
static bool is_wanted(const struct view_query *q, const struct timeline *tl, const struct span *s)
{
	return span_has_duration(s) && query_wants_span(q, tl, s) &&
	       (q->by == BY_NAME || s->parent_id == 0 || s->kind == SPAN_SERVER);
}

static struct changed_row *row_of(struct row_map *map, const struct periods *p,
				  const struct span *s)
{
	uint64_t key = reftext_pair(s->service, s->name) + s->kind;
	bool is_new;
	struct changed_row *r = row_map_get(map, key, sizeof(*r), &is_new);
	if (!is_new)
		return r;
	r->c.service = rows_hold_text(map->rows, s->service);
	r->c.name = rows_hold_text(map->rows, s->name);
	r->kind = span_kind_name[s->kind];
	r->c.row.key[0] = key_int(key_text(key_text(0, r->c.service), r->c.name), s->kind);
	r->c.row.drill.operation = r->c.name;
	r->c.row.drill.service = r->c.service;
	r->operation = ID_NONE;
	r->phase_more_ns = TIME_UNKNOWN;
	for (int w = 0; w < WHENS; w++)
		r->seconds[w] = p->seconds[w];
	return r;
}

static void add_span(struct row_map *map, const struct periods *p, const struct span *s)
{
	enum when w = when_of(p, s->end_ns);
	if (w == WHENS)
		return;
	struct changed_row *r = row_of(map, p, s);
	struct period *period = &r->period[w];
	if (w == NOW)
		worst_add(&r->worst, s, span_duration(s));
	hist_add(&period->latency, span_duration(s));
	period->errors += s->errors;
	for (int i = 0; i < PART_N; i++)
		period->part[i] += s->part[i];
}

/* --- evicted spans --- */

/* The period that contains all spans of the sum; WHENS: none does. *ret_any: the sum overlaps at least one period. */
static enum when sum_when(const struct periods *p, const struct span_sum *s, int64_t retained_from,
			  bool *ret_any)
{
	enum when first = when_of(p, s->begin_ns), last = when_of(p, s->end_ns - 1);
	bool before = p->history ? s->end_ns > retained_from :
		s->begin_ns < p->to[BEFORE] && s->end_ns > p->from[BEFORE];
	*ret_any = before || (s->begin_ns < p->to[NOW] && s->end_ns > p->from[NOW]);
	if (s->key.others || !*ret_any || first != last)
		return WHENS;
	/* A sum around NOW begins and ends in BEFORE. With `history`, BEFORE also includes time that is no longer
	 * retained. */
	bool around = first == BEFORE && s->begin_ns < p->from[NOW] && s->end_ns > p->to[NOW];
	return around || (p->history && s->begin_ns < retained_from) ? WHENS : first;
}

static bool is_sum_wanted(const struct rows *rows, const struct span_sum *s)
{
	const struct view_query *q = &rows->query;
	return s->key.of == SUM_SPAN && !s->key.partial && (q->by == BY_NAME || s->key.top || s->key.others) &&
	       (q->span_kind < 0 || q->span_kind == (int)s->key.kind || s->key.others) &&
	       evicted_wanted(rows, s, s->key.service, s->key.name);
}

static void add_sum(struct row_map *map, const struct periods *p, enum when w,
		    const struct span_sum *s)
{
	struct span like = { .service = s->key.service, .name = s->key.name, .kind = s->key.kind };
	struct changed_row *r = row_of(map, p, &like);
	struct period *period = &r->period[w];
	r->phases_unknown = true;
	if (w == NOW)
		worst_add_evicted(&r->worst, hist_max(&s->duration));
	hist_merge(&period->latency, &s->duration);
	period->errors += s->errors;
	for (int i = 0; i < PART_N; i++)
		period->part[i] += s->part[i];
}

static void add_evicted(struct row_map *map, const struct periods *p)
{
	struct rows *rows = map->rows;
	bool narrowed = evicted_are_narrowed(&rows->query);
	int64_t retained_from = timeline_retained_from(rows->tl);
	struct evicted e = { 0 };
	if (query_has_trace(&rows->query) || p->from[NOW] >= p->to[NOW])
		return;
	TIMELINE_EACH_SUM(rows->tl, at, INT64_MIN, INT64_MAX) {
		const struct span_sum *s = at.sum;
		bool any;
		if (!is_sum_wanted(rows, s))
			continue;
		enum when w = sum_when(p, s, retained_from, &any);
		if (w == WHENS || narrowed || rows->query.by == BY_CAUSE) {
			e.left_out += any ? s->count : 0;
			continue;
		}
		e.counted += s->count;
		add_sum(map, p, w, s);
	}
	evicted_describe(rows, &e, "spans", NULL);
}

/* --- phases --- */

static void add_phase(struct changed_row *r, enum when w, const struct span *s)
{
	uint64_t key = reftext_pair(s->service, s->name) + s->kind;
	uint32_t at = intmap_get(&r->phase_index, key);
	if (!r->phases)
		r->phases = g_array_new(FALSE, FALSE, sizeof(struct phase_time));
	if (at == INTMAP_NONE) {
		struct phase_time fresh = { .service = s->service, .name = s->name, .kind = s->kind };
		at = r->phases->len;
		intmap_set(&r->phase_index, key, at);
		g_array_append_val(r->phases, fresh);
	}
	g_array_index(r->phases, struct phase_time, at).self_ns[w] += s->self_ns;
}

/* Adds the spans below node i, which is one of an operation. What ends after it is no part of its duration. */
static void add_below(struct row_map *map, const struct periods *p, const struct tree *t, int i)
{
	const struct span *top = t->nodes[i].span;
	enum when w = when_of(p, top->end_ns);
	if (w == WHENS)
		return;
	struct changed_row *r = row_of(map, p, top);
	r->phases_unknown |= !tree_is_walked(t, i);
	for (int k = i + 1; !r->phases_unknown && k < tree_end(t, i); k++) {
		const struct span *s = t->nodes[k].span;
		if (s->state != SPAN_OPEN && s->end_ns <= top->end_ns)
			add_phase(r, w, s);
	}
}

static void add_phases(struct row_map *map, const struct periods *p)
{
	const struct rows *rows = map->rows;
	for (size_t i = 0; i < timeline_n_traces(rows->tl); i++) {
		const struct trace_info *info = timeline_trace(rows->tl, i);
		bool now = info->begin_ns < p->to[NOW] && info->end_ns >= p->from[NOW];
		bool before = info->begin_ns < p->to[BEFORE] && info->end_ns >= p->from[BEFORE];
		if (!now && !before && !p->history)
			continue;
		g_autoptr(blk_tree) t = timeline_tree_new(rows->tl, info->trace_id);
		for (int k = 0; k < t->n; k++)
			if (is_wanted(&rows->query, rows->tl, t->nodes[k].span))
				add_below(map, p, t, k);
	}
}

static int64_t phase_more(const struct changed_row *r, const struct phase_time *ph)
{
	return average(ph->self_ns[NOW], r->period[NOW].stat.count) -
	       average(ph->self_ns[BEFORE], r->period[BEFORE].stat.count);
}

/* Of phases that grew by the same, the first by name: no ids. */
static bool grew_more(const struct changed_row *r, const struct phase_time *a, const struct phase_time *b)
{
	int64_t x = phase_more(r, a), y = phase_more(r, b);
	int order = ORDER(y, x) ?: g_strcmp0(a->name, b->name) ?: g_strcmp0(a->service, b->service) ?:
		    ORDER(a->kind, b->kind);
	return order < 0;
}

static void name_phase(struct rows *rows, struct changed_row *r)
{
	const struct phase_time *most = NULL;
	for (guint i = 0; r->phases && i < r->phases->len; i++) {
		const struct phase_time *ph = &g_array_index(r->phases, struct phase_time, i);
		if (!most || grew_more(r, ph, most))
			most = ph;
	}
	if (!most || r->phases_unknown || more(r) <= 0 || phase_more(r, most) < (more(r) + 1) / 2)
		return;
	bool elsewhere = most->service && *most->service && g_strcmp0(most->service, r->c.service);
	r->phase = rows_take_text(rows, g_strdup_printf("%s%s%s", most->name, elsewhere ? " in " : "",
						elsewhere ? most->service : ""));
	r->phase_more_ns = phase_more(r, most);
}

/* --- by cause --- */

/* Requests of one operation. */
struct requests {
	uint64_t n[WHENS];
};

struct by_cause {
	struct row_map *map;
	struct history *h;
	const struct periods *periods;
	struct intmap index;		/* of operations: index in .operations */
	GArray *operations;		/* struct requests */
};

static uint32_t operation_of(struct by_cause *c, const struct span *root)
{
	uint64_t key = reftext_pair(root->service, root->name);
	uint32_t at = intmap_get(&c->index, key);
	if (at != INTMAP_NONE)
		return at;
	at = c->operations->len;
	intmap_set(&c->index, key, at);
	g_array_set_size(c->operations, at + 1);
	return at;
}

static struct changed_row *cause_row(struct by_cause *c, const struct span *root, uint32_t operation,
				     const struct share *s)
{
	struct rows *rows = c->map->rows;
	uint64_t key = key_text(key_text(key_text(key_text(2, root->service), root->name), s->service), s->name);
	bool is_new;
	struct changed_row *r = row_map_get(c->map, key_int(key_int(key, s->kind), s->part), sizeof *r, &is_new);
	if (!is_new)
		return r;
	r->c.service = rows_hold_text(rows, s->service);
	r->c.name = rows_hold_text(rows, root->name);
	r->c.row.key[0] = key_int(key_int(key, s->kind), s->part);
	r->c.row.drill.operation = r->c.name;
	r->c.row.drill.service = rows_hold_text(rows, root->service);
	r->kind = span_kind_name[s->kind];
	r->phase = rows_hold_text(rows, s->name);
	r->operation = operation;
	r->part = s->part;
	for (int w = 0; w < WHENS; w++)
		r->seconds[w] = c->periods->seconds[w];
	return r;
}

static void add_request(struct by_cause *c, const struct trace_info *info)
{
	enum when w = when_of(c->periods, info->root->end_ns);
	struct shares shares;
	if (w == WHENS || !info->has_root || !span_has_duration(info->root) ||
	    !query_wants_span(&c->map->rows->query, c->h->tl, info->root))
		return;
	g_autoptr(blk_tree) t = timeline_tree_new(c->h->tl, info->trace_id);
	if (t->root < 0)
		return;
	uint32_t operation = operation_of(c, info->root);
	g_array_index(c->operations, struct requests, operation).n[w]++;
	shares_init(&shares, t, t->root);
	ARRAY_EACH(const struct share, s, shares.list) {
		struct changed_row *r = cause_row(c, info->root, operation, s);
		r->period[w].part[s->part] += s->ns;
		if (w == NOW)
			worst_add(&r->worst, info->root, s->ns);
	}
	shares_clear(&shares);
}

/* The words "timer +60.1ms", and means over the requests of the operation. */
static void finish_cause(struct rows *rows, struct changed_row *r, const struct requests *of)
{
	char buf[TIMEFMT_LEN];
	for (int w = 0; w < WHENS; w++) {
		struct period *p = &r->period[w];
		p->stat = stat_of(&p->latency);
		p->stat.count = of->n[w];
		p->stat.avg = of->n[w] ? average(p->part[r->part], of->n[w]) : -1;
	}
	worst_hold(&r->worst, rows);
	if (!has_both(r))
		return;
	r->phase_more_ns = more(r);
	const char *word = r->part == PART_PREEMPTED ? "runnable" : part_word(rows->missing, r->part);
	timefmt_duration(buf, more(r));
	r->mainly = rows_take_text(rows, g_strdup_printf("%s %s%s", word, more(r) > 0 ? "+" : "", buf));
}

static void add_causes(struct row_map *map, const struct periods *p)
{
	struct rows *rows = map->rows;
	g_autoptr(blk_history) h = history_new(rows->tl);
	g_autoptr(GArray) operations = g_array_new(FALSE, TRUE, sizeof(struct requests));
	struct by_cause c = { .map = map, .h = h, .periods = p, .operations = operations };
	for (size_t i = 0; i < timeline_n_traces(rows->tl); i++)
		add_request(&c, timeline_trace(rows->tl, i));
	intmap_clear(&c.index);
	PTR_EACH(struct changed_row, r, rows->rows)
		finish_cause(rows, r, &g_array_index(operations, struct requests, r->operation));
}

static int64_t lost(const struct changed_row *r)
{
	return has_both(r) ? more(r) * (int64_t)r->period[NOW].stat.count : INT64_MIN;
}

static void mark_little(const struct rows *rows)
{
	int64_t most = 0;

	PTR_EACH(const struct changed_row, r, rows->rows)
		most = has_both(r) ? MAX(most, ABS(lost(r))) : most;
	PTR_EACH(struct changed_row, r, rows->rows)
		r->little = has_both(r) && ABS(lost(r)) <= most / LITTLE_OF_ALL;
}

static bool is_little(const struct row *row, const struct rows *rows)
{
	return ROW(row)->little;
}

static int compare_lost(const void *va, const void *vb)
{
	const struct changed_row *a = *(const struct changed_row *const *)va;
	const struct changed_row *b = *(const struct changed_row *const *)vb;
	return ORDER(lost(b), lost(a));
}

#define CAUSES_SAID 3
#define CAUSES_WORTH 10		/* a row that lost at least 1/10 of what the first one lost is marked */

/* "thumbnail: timer +60.1ms each in store in stored; futex +12.2ms in lock". Marks the rows that lost most. */
static void add_worst_causes(GString *text, const struct rows *rows)
{
	g_autoptr(GPtrArray) sorted = g_ptr_array_new();
	const char *operation = NULL;
	for (guint i = 0; i < rows->rows->len; i++)
		g_ptr_array_add(sorted, rows->rows->pdata[i]);
	g_ptr_array_sort(sorted, compare_lost);
	int64_t most = sorted->len ? lost(sorted->pdata[0]) : 0;
	for (guint i = 0; i < sorted->len && lost(sorted->pdata[i]) > 0; i++) {
		struct changed_row *r = sorted->pdata[i];
		r->c.row.marked = lost(r) >= most / CAUSES_WORTH;
		if (i >= CAUSES_SAID || !r->c.row.marked)
			continue;
		g_string_append(text, i ? "; " : "");
		if (g_strcmp0(operation, r->c.name))
			g_string_append_printf(text, "%s: ", r->c.name);
		g_string_append_printf(text, "%s in %s", r->mainly, r->phase);
		if (r->c.service && *r->c.service && g_strcmp0(r->c.service, r->c.row.drill.service))
			g_string_append_printf(text, " in %s", r->c.service);
		operation = r->c.name;
	}
	if (operation)
		g_string_append(text, " (each, on average)");
}

/* --- words --- */

static void finish_row(struct rows *rows, struct changed_row *r)
{
	int most = 0;
	char buf[TIMEFMT_LEN];
	for (int w = 0; w < WHENS; w++) {
		r->period[w].stat = stat_of(&r->period[w].latency);
		hist_clear(&r->period[w].latency);
	}
	worst_hold(&r->worst, rows);
	if (has_both(r))
		name_phase(rows, r);
	g_clear_pointer(&r->phases, g_array_unref);
	intmap_clear(&r->phase_index);
	if (!has_both(r))
		return;
	for (int p = 1; p < PART_N; p++)
		if (ABS(part_more(r, p)) > ABS(part_more(r, most)))
			most = p;
	int64_t ns = part_more(r, most);
	g_autofree char *text = g_strdup_printf("%s %s%s", part_word(rows->missing, most), ns > 0 ? "+" : "",
						timefmt_duration(buf, ns));
	r->mainly = ns ? rows_text(rows, text) : NULL;
	r->c.row.marked = r->period[NOW].stat.avg >= 2 * r->period[BEFORE].stat.avg;
}

/* "thumbnail takes 4.1ms longer, 312 of them, futex +3.9ms, in store +3.8ms" */
static void add_worst(GString *text, const struct changed_row *r)
{
	char buf[TIMEFMT_LEN];
	g_string_append_printf(text, "%s%s takes %s longer, %" G_GUINT64_FORMAT " of them%s%s",
			       more(r) < r->period[BEFORE].stat.avg / LITTLE ? "little: " : "", r->c.name,
			       timefmt_duration(buf, more(r)), r->period[NOW].stat.count, r->mainly ? ", " : "",
			       r->mainly ? r->mainly : "");
	if (r->phase)
		g_string_append_printf(text, ", in %s +%s", r->phase, timefmt_duration(buf, r->phase_more_ns));
}

/* Explains the operation that lost most. */
static void set_explanation(struct rows *rows, const struct periods *p)
{
	const struct changed_row *worst = NULL;
	bool any = false;
	char from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	g_autoptr(GString) text = g_string_new("against ");
	if (p->history)
		g_string_append(text, "all other history: ");
	else if (p->quiet && p->seconds[BEFORE] > 0)
		g_string_append_printf(text, "the quiet time before, %s-%s: ", timefmt_clock(from, p->from[BEFORE]),
				       timefmt_clock(to, p->to[BEFORE]));
	else if (p->quiet)
		g_string_append(text, "the quiet time before: ");
	else
		g_string_append_printf(text, "%s-%s: ", timefmt_clock(from, p->from[BEFORE]),
				       timefmt_clock(to, p->to[BEFORE]));
	PTR_EACH(const struct changed_row, r, rows->rows) {
		any = any || has_both(r);
		if (has_both(r) && more(r) > 0 && (!worst ||
		    more(r) * (int64_t)r->period[NOW].stat.count >
		    more(worst) * (int64_t)worst->period[NOW].stat.count))
			worst = r;
	}
	if (p->seconds[BEFORE] <= 0)
		g_string_append(text, p->quiet ? "there is none" : "nothing is known of that time");
	else if (!any)
		g_string_append_printf(text, "no operation ended in both, so nothing can be compared%s",
				       p->history ? "" : "; with all other history there may be");
	else if (!worst)
		g_string_append(text, "no operation takes longer");
	else if (worst->operation != ID_NONE)
		add_worst_causes(text, rows);
	else
		add_worst(text, worst);
	rows->explanation = rows_text(rows, text->str);
}

/* --- build --- */

static int compare(const void *va, const void *vb)
{
	const struct changed_row *a = *(const struct changed_row *const *)va;
	const struct changed_row *b = *(const struct changed_row *const *)vb;
	return common_compare(&a->c, &b->c) ?: g_strcmp0(a->kind, b->kind) ?:
	       (a->operation != ID_NONE ? g_strcmp0(a->phase, b->phase) : 0) ?: ORDER(a->part, b->part);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct periods periods = periods_of(tl, query);
	bool by_cause = query->by == BY_CAUSE;
	for (size_t i = 0; !by_cause && i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		if (is_wanted(query, tl, s))
			add_span(&map, &periods, s);
	}
	add_evicted(&map, &periods);
	if (by_cause)
		add_causes(&map, &periods);
	else
		add_phases(&map, &periods);
	row_map_clear(&map);
	for (guint i = 0; !by_cause && i < map.rows->rows->len; i++)
		finish_row(map.rows, map.rows->rows->pdata[i]);
	common_finish(map.rows, compare);
	explanations_attach(map.rows, tl);
	if (by_cause)
		mark_little(map.rows);
	if (map.rows->rows->len)
		set_explanation(map.rows, &periods);
	return map.rows;
}

static const char *const needs[] = { "zipkin:timestamp", "sched_switch", NULL };

const struct view view_changed = {
	.idle = "changed little or not", .is_idle = is_little,
	.only = ONLY_SPANS,
	.id = "changed", .title = "What changed",
	.help = "Compares the operations of the range with the same time before it, with the quiet time before it, or "
		"with all other history: how much longer they take, in which kernel state and in which phase. By name: "
		"every span. By cause: what was longer on the critical paths of requests, in whatever service.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "lost_ns", .drill = "traces", .needs = needs,
	.by_values = 1 << BY_SYSTEM | 1 << BY_NAME | 1 << BY_CAUSE, .on_screen = true, .build = build,
};
