/* SPDX-License-Identifier: GPL-2.0-only */
/* The decomposition of metrics by fields: see metric.h. */
#include "base/sort.h"
#include "views/metric_private.h"

#include "base/address.h"
#include "base/each.h"
#include "base/intmap.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/evicted.h"
#include "views/explanations.h"
#include "views/metric_calls.h"
#include "views/registry.h"
#include "views/waited.h"

#include <string.h>

/* ---- one figure, and the values of its fields ---- */

struct figure {
	const struct metric *metric;
	struct rows *rows;
	int64_t until;			/* names are those before this */
	/* One of them: */
	const char *cell;
	enum waited waited;		/* of .cell, if calls are divided by what they waited for */
	const struct span *span;	/* of .evicted: it has only their names */
	const struct metric_call_sum *call;
	uint32_t call_thread;		/* of .call: its thread, or ID_NONE */
	const struct span_sum *evicted;	/* the sum of evicted spans that .span stands for; or NULL */
	unsigned element;		/* of an array, or the part of a span */
};

static const struct cell_field *figure_field(const struct metric *m)
{
	return &cell_layout((enum cell_kind)m->kind)->fields[m->figure];
}

static int64_t cell_int(const char *cell, const struct cell_field *f, unsigned element)
{
	const char *at = cell + f->offset + (size_t)element * f->size;
	union { uint16_t u16; int16_t i16; uint32_t u32; int32_t i32; int64_t i64; } v;
	memcpy(&v, at, f->size);
	switch ((enum cell_type)f->type) {
	case FIELD_U16: return v.u16;
	case FIELD_I16: return v.i16;
	case FIELD_U32: return v.u32;
	case FIELD_I32: return v.i32;
	case FIELD_U64:
	case FIELD_I64: return v.i64;
	default: g_assert_not_reached();
	}
}

static uint32_t thread_of(const struct figure *x)
{
	if (x->call)
		return x->call_thread;
	if (x->span)
		return x->span->thread;
	const struct cell_field *f = metric_cell_field(cell_layout((enum cell_kind)x->metric->kind), "thread");
	return f ? (uint32_t)cell_int(x->cell, f, 0) : ID_NONE;
}

static uint32_t host_of(const struct figure *x)
{
	const struct thread_info *t = timeline_thread(x->rows->tl, thread_of(x));
	if (t)
		return t->host;
	if (x->span)
		return x->span->host;
	const struct cell_field *f = metric_cell_field(cell_layout((enum cell_kind)x->metric->kind), "host");
	return f ? (uint32_t)cell_int(x->cell, f, 0) : ID_NONE;
}

static struct value text_or_none(const char *text)
{
	return text && *text ? value_text(text) : value_none();
}

/* The thread's name from lines of the log. Seconds have no threads if no view but the log uses the trace's events. */
static struct value name_in_log(const struct figure *x, bool of_process)
{
	const struct metric_calls *calls = x->rows->query.metric->calls;
	const char *name = of_process ? metric_calls_name(calls, x->call->host, x->call->pid) : NULL;
	return text_or_none(name ? name : metric_calls_name(calls, x->call->host, x->call->tid));
}

static struct value of_thread(const struct figure *x, enum metric_field field)
{
	uint32_t id = thread_of(x);
	const struct thread_info *t = timeline_thread(x->rows->tl, id);
	const struct process_info *p = t ? timeline_process(x->rows->tl, t->process) : NULL;
	int32_t tid = t ? t->tid : x->span ? x->span->tid : x->call ? x->call->tid : -1;
	int32_t pid = p ? p->pid : x->span ? x->span->pid : x->call ? x->call->pid : -1;
	uint32_t leader = p && p->leader != ID_NONE ? p->leader : id;
	if (!t && x->call && (field == METRIC_BY_process || field == METRIC_BY_thread))
		return name_in_log(x, field == METRIC_BY_process);
	switch (field) {
	case METRIC_BY_container:
		return t ? text_or_none(container_label(x->rows, t->process)) : value_none();
	case METRIC_BY_process:
		return t ? text_or_none(timeline_comm(x->rows->tl, leader, x->until)) : value_none();
	case METRIC_BY_thread:
		return t ? text_or_none(timeline_comm(x->rows->tl, id, x->until)) : value_none();
	case METRIC_BY_pid:
		return pid < 0 ? value_none() : value_int(VALUE_ID, pid);
	default:
		return tid < 0 ? value_none() : value_int(VALUE_ID, tid);
	}
}

static struct value of_cell(const struct figure *x, enum metric_field field)
{
	const struct timeline *tl = x->rows->tl;
	const struct cell_field *f = metric_meant((enum cell_kind)x->metric->kind, field);
	if (field == METRIC_BY_peer) {
		const struct flow_cell *cell = (const struct flow_cell *)x->cell;
		char text[ADDRESS_MAX];
		address_text(text, cell->flow.family, cell->flow.peer, -1);
		return value_text(rows_text(x->rows, text));
	}
	int64_t n = cell_int(x->cell, f, 0);
	switch (field) {
	case METRIC_BY_file: {
		const struct file_info *file = timeline_file(tl, (uint32_t)n);
		return file ? text_or_none(timeline_string(tl, file->path)) : value_none();
	}
	case METRIC_BY_waker: {
		if ((uint32_t)n == ID_NONE)
			return value_none();
		g_autofree char *label = thread_label_new(tl, (uint32_t)n, x->until);
		return value_text(rows_text(x->rows, label));
	}
	case METRIC_BY_cpu:
		return n == UINT32_MAX ? value_none() : value_int(VALUE_ID, n);
	case METRIC_BY_priority:
		return n == SCHED_PRIO_NONE ? value_none() : value_int(VALUE_ID, n);
	case METRIC_BY_interrupt:
		return !n ? value_none() : text_or_none(timeline_string(tl, (uint32_t)n));
	default:
		return text_or_none(timeline_string(tl, (uint32_t)n));
	}
}

static const char *cause_of(const struct figure *x)
{
	if (!x->rows->extra)
		explanations_attach(x->rows, x->rows->tl);
	enum part part = explanations_part(x->rows->extra, x->span);
	return part == PART_N ? "none" : part_info[part].id;
}

static struct value of_span(const struct figure *x, enum metric_field field)
{
	const struct trace_info *trace;
	switch (field) {
	case METRIC_BY_service:
		return text_or_none(x->span->service);
	case METRIC_BY_span:
		return text_or_none(x->span->name);
	case METRIC_BY_cause:
		return value_text(cause_of(x));
	case METRIC_BY_error:
		return value_text(x->span->errors ? "yes" : "no");
	default:
		if (x->evicted)			/* see evicted_fields() */
			return text_or_none(x->span->name);
		trace = timeline_find_trace(x->rows->tl, x->span->trace_id);
		return trace && trace->has_root ? text_or_none(trace->root->name) : value_none();
	}
}

static struct value of_call(const struct metric_call_sum *call, enum metric_field field)
{
	switch (field) {
	case METRIC_BY_host:
		return value_text(call->host);
	case METRIC_BY_file:
		return value_text(call->file);
	case METRIC_BY_errno:
		return value_text(call->error);
	case METRIC_BY_cpu:
		return call->cpu == UINT32_MAX ? value_none() : value_int(VALUE_ID, call->cpu);
	default:
		return value_text(call->name);
	}
}

static struct value value_of(const struct figure *x, enum metric_field field)
{
	if (!(x->metric->fields & 1u << field) || (!x->call && x->metric->call_fields & 1u << field))
		return value_none();		/* a bare word is looked for in all fields */
	if (x->call && !(OF_THREAD & 1u << field))
		return of_call(x->call, field);
	if (field == METRIC_BY_host) {
		const struct host_info *h = timeline_host(x->rows->tl, host_of(x));
		return h ? text_or_none(h->name) : value_none();
	}
	if (OF_THREAD & 1u << field)
		return of_thread(x, field);
	if (field == METRIC_BY_waited)
		return value_text(x->waited == WAITED_NOT ? "no" : waited_word[x->waited]);
	if (field == METRIC_BY_part && !x->cell)
		return value_text(part_info[x->element].id);
	if (field == METRIC_BY_part || field == METRIC_BY_direction)
		return value_text(figure_field(x->metric)->element(x->element));
	return x->cell ? of_cell(x, field) : of_span(x, field);
}

static struct value get_value(int field, const void *figure, const void *data)
{
	return value_of(figure, (enum metric_field)field);
}

/* ---- rows ---- */

struct metric_row {
	struct common c;		/* .latency: the single values */
	struct value by[METRIC_SPLITS];
	int64_t sum;
	struct worst_span slowest;	/* of spans */
	double of_all, seconds;		/* sum of all rows; length of the range */
	/* Compared: what it is compared with. .of_all is then that of the differences. */
	struct { struct hist values; struct stat stat; int64_t sum; double seconds; } before;
	struct metric_negative negative, negative_before;
	/* Columns: FIGURE_NONE if not known, as those of .c.stat and .before.stat are then. */
	int64_t count, total, rate, count_before, rate_before, difference;
	double share;			/* -1: not known */
	uint64_t without_values;	/* evicted spans that .sum has and .c.latency has not */
	const char *key;		/* in sums.index */
	bool used;			/* second by second: is in sums.used */
};

#define ROW(row) ((const struct metric_row *)(row))

struct sums {
	struct rows *rows;
	GHashTable *index;		/* values of the fields, as one text -> struct metric_row */
	struct metric_row *only;	/* not split: the row; NULL: none so far */
	GString *key;			/* scratch */
	int64_t until;
	bool before;			/* what comes is of the time that the range is compared with */
	struct intmap threads;		/* of calls: tid -> newest thread of the tid, on any host */
	struct waits *waits;		/* NULL: not needed so far */
	GPtrArray *used;		/* second by second: struct metric_row * of this second; else NULL */
};

static void add_key(GString *key, struct value v)
{
	if (v.kind == VALUE_TEXT)
		g_string_append(key, v.s);
	else if (v.kind != VALUE_NONE)
		g_string_append_printf(key, "\001%" G_GINT64_FORMAT, v.i);
	g_string_append_c(key, v.kind == VALUE_NONE ? '\003' : '\002');
}

/* NULL: it does not count. */
static struct metric_row *row_of(struct sums *sums, const struct figure *x)
{
	const struct metric_query *q = sums->rows->query.metric;
	struct value by[METRIC_SPLITS];
	if (q->where && !expr_match(q->where, get_value, x, NULL))
		return NULL;
	g_string_truncate(sums->key, 0);
	for (unsigned i = 0; i < q->n_by; i++)
		add_key(sums->key, by[i] = value_of(x, q->by[i]));
	struct metric_row *r = q->n_by ? g_hash_table_lookup(sums->index, sums->key->str) : sums->only;
	if (!r) {
		r = common_new(sums->rows, sizeof *r);
		for (unsigned i = 0; i < q->n_by; i++)
			r->by[i] = by[i].kind == VALUE_TEXT ? value_text(rows_text(sums->rows, by[i].s)) : by[i];
		r->c.row.key[0] = key_text(0, sums->key->str);
		char *key = g_strdup(sums->key->str);
		g_hash_table_insert(sums->index, key, r);
		r->key = key;
		sums->only = q->n_by ? NULL : r;
	}
	if (sums->used && !r->used) {
		r->used = true;
		g_ptr_array_add(sums->used, r);
	}
	return r;
}

/* ---- of cells ---- */

static void add_cell(struct sums *sums, const char *cell)
{
	const struct metric *m = sums->rows->query.metric->metric;
	const struct cell_field *f = figure_field(m);
	for (unsigned i = 0; i < f->n; i++) {
		struct figure x = { .metric = m, .rows = sums->rows, .until = sums->until, .cell = cell, .element = i };
		const struct hist *h = (const void *)(cell + f->offset + (size_t)i * f->size);
		if (m->has_values ? !hist_count(h) : !cell_int(cell, f, i))
			continue;
		struct metric_row *r = row_of(sums, &x);
		if (r && m->has_values)
			hist_merge(sums->before ? &r->before.values : &r->c.latency, h);
		else if (r)
			*(sums->before ? &r->before.sum : &r->sum) += cell_int(cell, f, i);
	}
}

/* The figure's share of the calls that waited like that. */
static void add_share(struct sums *sums, const struct call_cell *c, enum waited waited, const struct waits_share *share)
{
	const struct metric *m = sums->rows->query.metric->metric;
	const struct figure x = { .metric = m, .rows = sums->rows, .until = sums->until, .cell = (const void *)c,
				  .waited = waited };
	int64_t sum = m->has_values ? 0 : share->busy_ns;
	bool any = m->has_values ? hist_count(share->latency) > 0 : sum != 0;
	struct metric_row *r = any ? row_of(sums, &x) : NULL;
	if (r && m->has_values)
		hist_merge(sums->before ? &r->before.values : &r->c.latency, share->latency);
	else if (r)
		*(sums->before ? &r->before.sum : &r->sum) += sum;
}

static void add_shares(struct sums *sums, const struct second *s)
{
	struct waits_share shares[WAITED_N];
	if (!sums->waits)
		sums->waits = waits_new(sums->rows->tl);
	for (uint32_t i = 0; i < s->n_calls; i++) {
		waits_divide(sums->waits, s, &s->calls[i], shares);
		for (enum waited w = 0; w < WAITED_N; w++)
			add_share(sums, &s->calls[i], w, &shares[w]);
	}
}

/* Cells of the same key are added first: the values of fields are then looked up once for each key. */
static void add_cells(struct sums *sums, const struct range *range, const struct range *without)
{
	enum cell_kind kind = (enum cell_kind)sums->rows->query.metric->metric->kind;
	const struct cell_layout *l = cell_layout(kind);
	bool divides = metric_query_has(sums->rows->query.metric, METRIC_BY_waited);
	struct cell_table all = { 0 };
	for (size_t i = range->first; i < range->end; i++) {
		uint32_t n = 0;
		bool left_out = without && i >= without->first && i < without->end;
		if (divides && !left_out)
			add_shares(sums, timeline_second(sums->rows->tl, i));
		const char *cells = left_out || divides ? NULL :
			second_cells(timeline_second(sums->rows->tl, i), kind, &n);
		for (uint32_t k = 0; k < n; k++)
			cell_table_add(&all, l, cells + (size_t)k * l->size);
	}
	for (uint32_t i = 0; i < all.n; i++)
		add_cell(sums, cell_table_at(&all, l, i));
	cell_table_clear(&all, l);
}

/* Of one second, whose cells have different keys. */
static void add_second(struct sums *sums, const struct second *s)
{
	enum cell_kind kind = (enum cell_kind)sums->rows->query.metric->metric->kind;
	uint32_t n = 0;
	const char *cells = second_cells(s, kind, &n);
	if (metric_query_has(sums->rows->query.metric, METRIC_BY_waited)) {
		add_shares(sums, s);
		return;
	}
	for (uint32_t k = 0; k < n; k++)
		add_cell(sums, cells + (size_t)k * cell_layout(kind)->size);
}

/* ---- of single calls and events ---- */

/* Threads of a tid: the host's one that had begun at that instant, the newest of them. */
static uint32_t thread_at(struct sums *sums, const struct metric_call_sum *c)
{
	const struct timeline *tl = sums->rows->tl;
	uint32_t best = ID_NONE;
	if (c->tid < 0)
		return ID_NONE;
	for (uint32_t i = intmap_get(&sums->threads, (uint64_t)(uint32_t)c->tid); i != INTMAP_NONE;
	     i = intmap_get(&sums->threads, (uint64_t)i << 32 | UINT32_MAX)) {
		const struct thread_info *t = timeline_thread(tl, i), *than = timeline_thread(tl, best);
		const struct host_info *h = timeline_host(tl, t->host);
		bool begun = t->start_ns == TIME_UNKNOWN || t->start_ns <= c->last_ns;
		bool newer = !than || than->start_ns == TIME_UNKNOWN ||
			     (t->start_ns != TIME_UNKNOWN && t->start_ns > than->start_ns);
		if (begun && newer && c->host && h && g_str_equal(h->name, c->host))
			best = i;
	}
	return best;
}

/* Threads of the same tid form a list: tid -> the last one, and id << 32 | UINT32_MAX -> the one before. */
static void index_threads(struct sums *sums)
{
	const struct timeline *tl = sums->rows->tl;
	if (sums->threads.n)
		return;
	for (uint32_t i = timeline_next_thread(tl, 0); i != ID_NONE; i = timeline_next_thread(tl, i + 1)) {
		uint64_t tid = (uint32_t)timeline_thread(tl, i)->tid;
		uint32_t before = intmap_get(&sums->threads, tid);
		if (before != INTMAP_NONE)
			intmap_set(&sums->threads, (uint64_t)i << 32 | UINT32_MAX, before);
		intmap_set(&sums->threads, tid, i);
	}
}

/* Does the call's step belong to the range? The first one may be cut by the trace's beginning. */
static bool range_has_step(const struct range *r, const struct metric_call_sum *c)
{
	return r && c->step_end_ns > r->from_ns && c->step_ns < r->to_ns;
}

static void add_call(struct sums *sums, const struct metric_call_sum *c)
{
	struct figure x = {
		.metric = sums->rows->query.metric->metric, .rows = sums->rows, .until = sums->until, .call = c,
		.call_thread = thread_at(sums, c),
	};
	struct metric_row *r = row_of(sums, &x);
	if (!r)
		return;
	hist_merge(sums->before ? &r->before.values : &r->c.latency, &c->values);
	metric_negative_add(sums->before ? &r->negative_before : &r->negative, &c->negative);
}

static void add_calls(struct sums *sums, const struct range *range, const struct range *without)
{
	const struct metric_calls *calls = sums->rows->query.metric->calls;
	index_threads(sums);
	for (size_t i = 0; i < metric_calls_n(calls); i++) {
		const struct metric_call_sum *c = metric_calls_at(calls, i);
		if (range_has_step(range, c) && !range_has_step(without, c))
			add_call(sums, c);
	}
}

/* ---- of spans ---- */

static bool is_root(const struct timeline *tl, const struct span *s)
{
	const struct trace_info *t = timeline_find_trace(tl, s->trace_id);
	return t && t->has_root && t->root == s;
}

static void add_span(struct sums *sums, const struct span *s)
{
	const struct metric *m = sums->rows->query.metric->metric;
	enum span_figure figure = (enum span_figure)m->figure;
	bool parts = figure == REQUEST_TIME || figure == SPAN_TIME;
	for (unsigned i = 0; i < (parts ? PART_N : 1); i++) {
		struct figure x = { .metric = m, .rows = sums->rows, .until = sums->until, .span = s, .element = i };
		struct metric_row *r = parts && !s->part[i] ? NULL : row_of(sums, &x);
		int64_t ns = parts ? s->part[i] : figure == SPAN_SELF ? s->self_ns : span_duration(s);
		if (!r)
			continue;
		hist_add(sums->before ? &r->before.values : &r->c.latency, ns);
		if (!sums->before)
			worst_add(&r->slowest, s, ns);
	}
}

/* ---- of evicted spans ---- */

static bool is_of_requests(const struct metric *m)
{
	return m->figure == REQUEST_LATENCY || m->figure == REQUEST_TIME;
}

/* The fields that sums of evicted spans have. The name of a request is that of its operation. */
static uint32_t evicted_fields(const struct metric *m)
{
	return FIELD(service) | FIELD(span) | FIELD(error) | FIELD(part) |
	       (is_of_requests(m) ? FIELD(operation) : 0);
}

/* Has the metric sums of evicted spans? They are then counted as exactly as the spans. */
static bool is_summed(const struct metric_query *q)
{
	uint32_t fields = q->where_fields;
	for (unsigned i = 0; i < q->n_by; i++)
		fields |= 1u << q->by[i];
	bool has_words = q->where && expr_has_words(q->where);
	return !has_words && !(fields & ~evicted_fields(q->metric));
}

static bool is_sum_wanted(const struct metric *m, const struct span_sum *s)
{
	bool wanted = is_of_requests(m) ? s->key.of == SUM_TRACE && (s->key.top || s->key.others) :
		      s->key.of == SUM_SPAN;
	return wanted && (!s->key.partial || s->key.others);
}

/* Single values are known of durations only. */
static void add_evicted_values(struct metric_row *r, const struct metric *m, const struct span_sum *s, int64_t ns,
			       bool before)
{
	bool has_values = m->figure == REQUEST_LATENCY || m->figure == SPAN_LATENCY;
	if (has_values) {
		hist_merge(before ? &r->before.values : &r->c.latency, &s->duration);
	} else {
		*(before ? &r->before.sum : &r->sum) += ns;
		r->without_values += s->count;
	}
	if (!before && has_values)
		worst_add_evicted(&r->slowest, hist_max(&s->duration));
}

static void add_evicted_sum(struct sums *sums, const struct span_sum *s)
{
	const struct metric *m = sums->rows->query.metric->metric;
	const struct span like = {
		.service = s->key.service, .name = s->key.name, .kind = s->key.kind, .errors = s->key.failed,
		.thread = ID_NONE, .host = ID_NONE, .pid = -1, .tid = -1,
	};
	bool parts = m->figure == REQUEST_TIME || m->figure == SPAN_TIME;
	for (unsigned i = 0; i < (parts ? PART_N : 1); i++) {
		struct figure x = { .metric = m, .rows = sums->rows, .until = sums->until, .span = &like, .evicted = s,
				    .element = i };
		struct metric_row *r = parts && !s->part[i] ? NULL : row_of(sums, &x);
		if (r)
			add_evicted_values(r, m, s, parts ? s->part[i] : s->self_ns, sums->before);
	}
}

/* Adds the evicted spans that ended in [from_ns, to_ns), or those of other times that ended there in part. */
static void add_evicted(struct sums *sums, int64_t from_ns, int64_t to_ns, const struct range *without,
			struct evicted *e)
{
	const struct metric_query *q = sums->rows->query.metric;
	struct range range = { .end = 1, .from_ns = from_ns, .to_ns = to_ns };
	bool summed = is_summed(q);
	TIMELINE_EACH_SUM(sums->rows->tl, at, from_ns, to_ns) {
		const struct span_sum *s = at.sum;
		bool apart = !without || s->end_ns <= without->from_ns || s->begin_ns >= without->to_ns;
		if (!is_sum_wanted(q->metric, s) ||
		    (!apart && s->begin_ns >= without->from_ns && s->end_ns <= without->to_ns))
			continue;
		struct evicted one = { 0 };
		if (evicted_counts(&one, &range, s) && summed && apart)
			add_evicted_sum(sums, s);
		else
			one = (struct evicted){ .left_out = one.counted + one.left_out };
		e->counted += one.counted;
		e->left_out += one.left_out;
	}
}

static void describe_evicted(struct rows *rows, const struct metric *m, const struct evicted *e)
{
	evicted_describe(rows, e, is_of_requests(m) ? "requests" : "spans", NULL);
}

/* What the values of the range have of the evicted spans. */
static struct evicted count_evicted(const struct timeline *tl, const struct metric_query *q, int64_t from_ns,
				    int64_t to_ns)
{
	const struct metric *m = q->metric;
	bool has_values = m->figure == REQUEST_LATENCY || m->figure == SPAN_LATENCY;
	struct range range = { .end = 1, .from_ns = from_ns, .to_ns = to_ns };
	struct evicted e = { 0 };
	if (m->kind != OF_SPANS)
		return e;
	TIMELINE_EACH_SUM(tl, at, from_ns, to_ns)
		if (is_sum_wanted(m, at.sum))
			evicted_counts(&e, &range, at.sum);
	if (!is_summed(q) || !has_values)
		e = (struct evicted){ .left_out = e.counted + e.left_out };
	return e;
}

uint64_t metric_left_out(const struct timeline *tl, const struct metric_query *q, int64_t from_ns, int64_t to_ns)
{
	return count_evicted(tl, q, from_ns, to_ns).left_out;
}

void metric_describe_evicted(struct rows *rows, const struct metric_query *q, const struct range *range)
{
	struct evicted e = count_evicted(rows->tl, q, range->from_ns, range->to_ns);
	if (q->metric->kind == OF_SPANS)
		describe_evicted(rows, q->metric, &e);
}

static bool is_wanted(const struct timeline *tl, const struct metric *m, const struct span *s)
{
	return span_has_duration(s) && (!is_of_requests(m) || is_root(tl, s));
}

/* Spans that ended in the range. */
static void add_spans(struct sums *sums, const struct range *range, const struct range *without)
{
	const struct timeline *tl = sums->rows->tl;
	const struct metric *m = sums->rows->query.metric->metric;
	TIMELINE_EACH_SPAN(tl, i, range->from_ns, range->to_ns) {
		const struct span *s = timeline_span(tl, i);
		if (range_has_span(range, s) && !(without && range_has_span(without, s)) && is_wanted(tl, m, s))
			add_span(sums, s);
	}
	struct evicted e = { 0 };
	if (range->end > range->first)
		add_evicted(sums, range->from_ns, range->to_ns, without, &e);
	describe_evicted(sums->rows, m, &e);
}

static void add_range(struct sums *sums, const struct range *range, const struct range *without)
{
	const struct metric_query *q = sums->rows->query.metric;
	if (metric_query_needs_calls(q))
		add_calls(sums, range, without);
	else if (q->metric->kind == OF_SPANS)
		add_spans(sums, range, without);
	else
		add_cells(sums, range, without);
}

/* Sums what the range is compared with. Returns its length, in seconds. */
static double add_before(struct sums *sums, const struct range *now)
{
	const struct view_query *query = &sums->rows->query;
	const struct metric_query *q = query->metric;
	struct view_query other = *query;
	bool history = q->against == METRIC_HISTORY;
	other.from_ns = other.to_ns = 0;	/* all */
	if (q->against == METRIC_BEFORE) {
		other.from_ns = now->from_ns - (now->to_ns - now->from_ns);
		other.to_ns = now->from_ns;
	} else if (q->against == METRIC_RANGE) {
		other.from_ns = q->against_from_ns;
		other.to_ns = q->against_to_ns;
	}
	struct range before = range_of(sums->rows->tl, &other);
	sums->before = true;
	if (before.end > before.first)
		add_range(sums, &before, history ? now : NULL);
	return before.end > before.first ? before.seconds - (history ? now->seconds : 0) : 0;
}

/* ---- the view ---- */

/* The sum of a second. */
static double now_rate(const struct metric_row *r)
{
	return (double)r->sum / r->seconds;
}

static double rate_before(const struct metric_row *r)
{
	return r->before.seconds > 0 ? (double)r->before.sum / r->before.seconds : 0;
}

static double difference(const struct metric_row *r)
{
	return now_rate(r) - rate_before(r);
}

static int compare_fields(const struct metric_row *x, const struct metric_row *y)
{
	for (unsigned i = 0; i < METRIC_SPLITS; i++) {
		int order = value_compare(x->by[i], y->by[i]);
		if (order)
			return order;
	}
	return 0;
}

static int compare_sums(const void *a, const void *b)
{
	const struct metric_row *x = *(void *const *)a, *y = *(void *const *)b;
	return ORDER(y->sum, x->sum) ?: compare_fields(x, y);
}

static int compare_differences(const void *a, const void *b)
{
	const struct metric_row *x = *(void *const *)a, *y = *(void *const *)b;
	double dx = ABS(difference(x)), dy = ABS(difference(y));
	return ORDER(dy, dx) ?: compare_fields(x, y);
}

/* Of values among which are negative ones, percentiles are not known. */
static void add_negative(struct stat *s, const struct metric_negative *x)
{
	if (!x->n)
		return;
	s->total += x->sum;
	s->avg = s->total / (int64_t)s->count;
	s->min = x->min;
	s->max = x->n == s->count ? x->max : s->max;
	s->p50 = s->p95 = s->p99 = FIGURE_NONE;
}

static void finish_row(struct metric_row *r, double seconds, double seconds_before)
{
	r->seconds = seconds;
	r->before.seconds = seconds_before;
	r->sum += hist_count(&r->c.latency) ? hist_sum(&r->c.latency) : 0;
	r->before.sum += hist_count(&r->before.values) ? hist_sum(&r->before.values) : 0;
	r->before.stat = stat_take(&r->before.values);
	r->sum += r->negative.sum;
	r->before.sum += r->negative_before.sum;
	add_negative(&r->before.stat, &r->negative_before);
}

static int64_t rounded(double d)
{
	return (int64_t)(d < 0 ? d - 0.5 : d + 0.5);
}

/* After common_finish(). Sums saturate: the sum of ids is no figure. Of evicted spans the sum may be known, but not the
 * single values. A figure before is unknown if there was no such time. */
static void set_columns(struct metric_row *r, const struct metric_query *q, double of_all)
{
	struct stat *s = &r->c.stat, *before = &r->before.stat;
	bool has_values = q->metric->has_values, whole = !r->without_values, had_before = r->before.seconds > 0;
	add_negative(s, &r->negative);
	r->total = r->sum == INT64_MAX ? FIGURE_NONE : r->sum;
	r->share = of_all > 0 && r->sum != INT64_MAX ? (double)r->sum / of_all : -1;
	r->count = whole ? (int64_t)s->count : FIGURE_NONE;
	r->rate = q->against != METRIC_ALONE ? (int64_t)(now_rate(r) + 0.5) :
		  has_values && !whole ? FIGURE_NONE :
		  (int64_t)((has_values ? (double)s->count : (double)r->sum) / r->seconds + 0.5);
	if (!whole || !s->count || s->total == INT64_MAX)
		s->min = s->avg = s->p50 = s->p95 = s->p99 = s->max = FIGURE_NONE;
	r->rate_before = had_before ? (int64_t)(rate_before(r) + 0.5) : FIGURE_NONE;
	r->difference = had_before ? rounded(difference(r)) : FIGURE_NONE;
	r->count_before = had_before && whole ? (int64_t)before->count : FIGURE_NONE;
	if (!had_before || !whole || !before->count)
		before->avg = before->p99 = FIGURE_NONE;
}

static void sums_init(struct sums *sums, const struct timeline *tl, const struct view_query *query)
{
	*sums = (struct sums){
		.rows = rows_new(tl, query), .key = g_string_new(NULL),
		.until = query->to_ns ? query->to_ns : INT64_MAX,
		.index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
	};
}

/* Without the rows. */
static void sums_clear(struct sums *sums)
{
	g_clear_pointer(&sums->used, g_ptr_array_unref);
	g_hash_table_unref(sums->index);
	intmap_clear(&sums->threads);
	waits_free(sums->waits);
	g_string_free(sums->key, true);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct range range = range_of(tl, query);
	struct sums sums;
	sums_init(&sums, tl, query);
	bool alone = query->metric->against == METRIC_ALONE;
	add_range(&sums, &range, NULL);
	double before = alone ? 0 : add_before(&sums, &range), of_all = 0;
	GPtrArray *rows = sums.rows->rows;
	PTR_EACH(struct metric_row, r, rows) {
		finish_row(r, range.seconds, before);
		of_all += alone ? (double)r->sum : ABS(difference(r));
	}
	for (guint i = 0; i < rows->len; i++)
		((struct metric_row *)rows->pdata[i])->of_all = of_all;
	common_finish(sums.rows, alone ? compare_sums : compare_differences);
	PTR_EACH(struct metric_row, r, rows)
		set_columns(r, query->metric, of_all);
	sums_clear(&sums);
	return sums.rows;
}

/* ---- second by second ---- */

static int compare_ends(const void *a, const void *b)
{
	const struct span *x = *(void *const *)a, *y = *(void *const *)b;
	return ORDER(x->end_ns, y->end_ns);
}

/* The wanted spans that ended in [from_ns, to_ns), by their ends. */
static GPtrArray *ended_spans(const struct timeline *tl, const struct metric *m, int64_t from_ns, int64_t to_ns)
{
	GPtrArray *spans = g_ptr_array_new();
	TIMELINE_EACH_SPAN(tl, i, from_ns, to_ns) {
		const struct span *s = timeline_span(tl, i);
		if (s->end_ns >= from_ns && s->end_ns < to_ns && is_wanted(tl, m, s))
			g_ptr_array_add(spans, (gpointer)s);
	}
	g_ptr_array_sort(spans, compare_ends);
	return spans;
}

static int compare_steps(const void *a, const void *b)
{
	const struct metric_call_sum *x = *(void *const *)a, *y = *(void *const *)b;
	return ORDER(x->step_ns, y->step_ns);
}

static GPtrArray *calls_by_step(const struct metric_calls *calls)
{
	GPtrArray *sorted = g_ptr_array_new();
	for (size_t i = 0; i < metric_calls_n(calls); i++)
		g_ptr_array_add(sorted, (gpointer)metric_calls_at(calls, i));
	g_ptr_array_sort(sorted, compare_steps);
	return sorted;
}

/* Adds the calls, or spans, of a second. *at: the first one of `sorted` that was not looked at so far. */
static void add_sorted(struct sums *sums, const struct second *s, const GPtrArray *sorted, guint *at)
{
	bool calls = metric_query_needs_calls(sums->rows->query.metric);
	for (; *at < sorted->len; ++*at) {
		const struct metric_call_sum *c = sorted->pdata[*at];
		const struct span *span = sorted->pdata[*at];
		if ((calls ? c->step_ns : span->end_ns) >= s->end_ns)
			return;
		if (calls && c->step_end_ns > s->begin_ns)
			add_call(sums, c);
		else if (!calls && span->end_ns >= s->begin_ns)
			add_span(sums, span);
	}
}

/* Visits the sums of the second, and empties them. */
static void visit_second(struct sums *sums, const struct second *s, uint64_t left_out, metric_visit visit, void *data)
{
	const struct metric_value last = { .left_out = left_out };
	PTR_EACH(struct metric_row, r, sums->used) {
		struct metric_value v = {
			.key = r->key, .by = r->by, .values = &r->c.latency, .slowest = r->slowest.span,
			.sum = r->sum + (hist_count(&r->c.latency) ? hist_sum(&r->c.latency) : 0),
			.without_values = r->without_values, .left_out = left_out,
		};
		visit(data, s, &v);
		hist_clear(&r->c.latency);
		r->slowest = (struct worst_span){ 0 };
		r->sum = 0;
		r->without_values = 0;
		r->used = false;
	}
	g_ptr_array_set_size(sums->used, 0);
	visit(data, s, &last);
}

void metric_each_second(const struct timeline *tl, const struct metric_query *q, size_t first, size_t end,
			metric_visit visit, void *data)
{
	if (first >= end)
		return;
	g_autoptr(GPtrArray) sorted = metric_query_needs_calls(q) ? calls_by_step(q->calls) :
		q->metric->kind != OF_SPANS ? NULL :
		ended_spans(tl, q->metric, timeline_outline(tl, first)->begin_ns,
			    timeline_outline(tl, end - 1)->end_ns);
	struct view_query query = VIEW_QUERY_INIT;
	struct sums sums;
	guint at = 0;
	query.metric = q;
	sums_init(&sums, tl, &query);
	sums.used = g_ptr_array_new();
	if (metric_query_needs_calls(q))
		index_threads(&sums);
	for (size_t i = first; i < end; i++) {
		const struct second *s = timeline_second(tl, i);
		struct evicted evicted = { 0 };
		sums.until = s->end_ns;
		if (sorted)
			add_sorted(&sums, s, sorted, &at);
		else
			add_second(&sums, s);
		if (q->metric->kind == OF_SPANS)
			add_evicted(&sums, s->begin_ns, s->end_ns, NULL, &evicted);
		visit_second(&sums, s, evicted.left_out, visit, data);
	}
	sums_clear(&sums);
	rows_free(sums.rows);
}

void metric_each_span(const struct timeline *tl, const struct metric_query *q, int64_t from_ns, int64_t to_ns,
		      metric_visit_span visit, void *data)
{
	struct view_query query = VIEW_QUERY_INIT;
	g_autoptr(GPtrArray) spans = ended_spans(tl, q->metric, from_ns, to_ns);
	struct sums sums;
	query.metric = q;
	sums_init(&sums, tl, &query);
	PTR_EACH(const struct span, s, spans) {
		struct figure x = { .metric = q->metric, .rows = sums.rows, .until = to_ns, .span = s };
		const struct metric_row *r = row_of(&sums, &x);
		if (r)
			visit(data, s, q->metric->figure == SPAN_SELF ? s->self_ns : span_duration(s), r->by);
	}
	sums_clear(&sums);
	rows_free(sums.rows);
}

#define FIELD_GETTER(id, kind, title, width, help) \
	static GETTER(get_##id##_field) { \
		const struct metric_query *q = rows->query.metric; \
		return q->n_by && q->by[0] == METRIC_BY_##id ? ROW(row)->by[0] : ROW(row)->by[1]; \
	}
METRIC_FIELD_LIST(FIELD_GETTER)

static GETTER(get_difference_share)
{
	double all = ROW(row)->of_all;
	return all > 0 && ROW(row)->before.seconds > 0 ? value_ratio(difference(ROW(row)) / all) : value_none();
}

static const struct column field_columns[] = {
#define FIELD_COLUMN(id_, kind_, title_, width_, help_) \
	{ .id = #id_, .title = title_, .kind = kind_, .width = width_, .help = help_, .get = get_##id_##_field, \
	  .align = kind_ == VALUE_TEXT ? ALIGN_LEFT : ALIGN_RIGHT },
	METRIC_FIELD_LIST(FIELD_COLUMN)
};

/* The kind of a column whose unit is that of the metric: its id ends in it, as "total_ns". See use_unit(). */
#define IN_UNIT VALUE_NONE
#define METRIC(name) MEMBER(struct metric_row, name)

static const struct column value_columns[] = {
	COLUMN_N("count", "COUNT", VALUE_COUNT, 7, 0, "how many values", METRIC(count)),
	COLUMN_N("rate", "PER SEC", VALUE_COUNT, 7, 8, "how many a second", METRIC(rate)),
	COLUMN_N("total", "TOTAL", IN_UNIT, 7, 2, "sum of the values", METRIC(total)),
	COLUMN_N("min", "MIN", IN_UNIT, 0, 0, "least value", METRIC(c.stat.min)),
	COLUMN_N("avg", "AVG", IN_UNIT, 7, 5, "mean value", METRIC(c.stat.avg)),
	COLUMN_N("p50", "p50", IN_UNIT, 7, 4, "half of them are at most this" PERCENTILE_BOUND, METRIC(c.stat.p50)),
	COLUMN_N("p95", "p95", IN_UNIT, 7, 6, "95 % of them are at most this" PERCENTILE_BOUND, METRIC(c.stat.p95)),
	COLUMN_N("p99", "p99", IN_UNIT, 7, 2, "99 % of them are at most this" PERCENTILE_BOUND, METRIC(c.stat.p99)),
	COLUMN_N("max", "MAX", IN_UNIT, 7, 1, "greatest value", METRIC(c.stat.max)),
	COLUMN_N("share_ratio", "SHARE%", VALUE_RATIO, 6, 3, "of the sum of all rows",
		 MEMBER(struct metric_row, share, .none = IF_NEGATIVE)),
}, sum_columns[] = {
	COLUMN_N("total", "TOTAL", IN_UNIT, 8, 0, "the sum", METRIC(total)),
	COLUMN_N("rate", "PER SEC", IN_UNIT, 8, 2, "a second", METRIC(rate)),
	COLUMN_N("share_ratio", "SHARE%", VALUE_RATIO, 6, 3, "of the sum of all rows",
		 MEMBER(struct metric_row, share, .none = IF_NEGATIVE)),
};

static const struct column compared_columns[] = {
	COLUMN_N("rate", "NOW", IN_UNIT, 8, 1, "the sum of a second", METRIC(rate)),
	COLUMN_N("rate_before", "BEFORE", IN_UNIT, 8, 1, "and before", METRIC(rate_before)),
	COLUMN_N("difference", "DIFFERENCE", IN_UNIT, 10, 0, "now, less than before is negative",
		 METRIC(difference)),
	COLUMN_N("share_ratio", "SHARE%", VALUE_RATIO, 7, 0, "of all differences, whatever their sign",
		 get_difference_share),
}, compared_values[] = {
	COLUMN_N("count", "COUNT", VALUE_COUNT, 7, 2, "how many values", METRIC(count)),
	COLUMN_N("count_before", "BEFORE", VALUE_COUNT, 7, 3, "and before", METRIC(count_before)),
	COLUMN_N("avg", "AVG", IN_UNIT, 7, 4, "mean value", METRIC(c.stat.avg)),
	COLUMN_N("avg_before", "BEFORE", IN_UNIT, 7, 5, "and before", METRIC(before.stat.avg)),
	COLUMN_N("p99", "p99", IN_UNIT, 7, 6, "99 % of them are at most this" PERCENTILE_BOUND, METRIC(c.stat.p99)),
	COLUMN_N("p99_before", "BEFORE", IN_UNIT, 7, 7, "and before" PERCENTILE_BOUND, METRIC(before.stat.p99)),
};

static void use_unit(struct column *c, const struct metric *m)
{
	const char *unit = m->unit == VALUE_NS ? "_ns" : m->unit == VALUE_BYTES ? "_bytes" : "";
	if (c->kind != IN_UNIT)
		return;
	g_autofree char *id = g_strconcat(c->id, unit, NULL);
	c->kind = m->unit;
	c->id = g_intern_string(id);
}

static void add_columns(GArray *to, const struct column *columns, size_t n)
{
	g_array_append_vals(to, columns, (guint)n);
}

uint32_t metric_query_reads(const struct metric_query *q, bool *ret_spans)
{
	bool divides = metric_query_has(q, METRIC_BY_waited);
	*ret_spans = metric_is_of_spans(q->metric) || divides;
	return q->metric->reads | (divides ? READS_WAITED : 0);
}

static void set_reads(struct view *v, const struct metric_query *q)
{
	bool spans;
	v->reads = metric_query_reads(q, &spans);
	v->reads_spans = v->reads && spans;
}

struct view *metric_view_new(const struct metric_query *q)
{
	const struct metric *m = q->metric;
	GArray *columns = g_array_new(false, false, sizeof(struct column));
	for (unsigned i = 0; i < q->n_by; i++)
		add_columns(columns, &field_columns[q->by[i]], 1);
	if (q->against != METRIC_ALONE)
		add_columns(columns, compared_columns, G_N_ELEMENTS(compared_columns));
	if (q->against != METRIC_ALONE && m->has_values)
		add_columns(columns, compared_values, G_N_ELEMENTS(compared_values));
	else if (q->against == METRIC_ALONE && m->has_values)
		add_columns(columns, value_columns, G_N_ELEMENTS(value_columns));
	else if (q->against == METRIC_ALONE)
		add_columns(columns, sum_columns, G_N_ELEMENTS(sum_columns));
	for (guint i = 0; i < columns->len; i++)
		use_unit(&g_array_index(columns, struct column, i), m);
	size_t n = columns->len;
	struct view *v = g_new(struct view, 1);
	*v = (struct view){
		.id = m->id, .title = m->id, .help = m->help, .kind = VIEW_TABLE, .n_columns = n,
		.columns = (struct column *)g_array_free(columns, false), .needs = m->needs,
		.decodes_all = m->kind == CELL_count, .build = build,
	};
	set_reads(v, q);
	return v;
}

void metric_view_free(struct view *v)
{
	if (v)
		g_free((struct column *)v->columns);
	g_free(v);
}

struct view *metric_view_of(const struct view *view, const struct metric_query *q)
{
	struct view *v = g_memdup2(view, sizeof *view);
	v->columns = g_memdup2(view->columns, view->n_columns * sizeof *view->columns);
	v->needs = q->metric->needs;
	set_reads(v, q);
	return v;
}

const struct metric_query *metric_query_default(const struct timeline *tl)
{
	static struct metric_query requests, calls;
	static gsize made;
	if (g_once_init_enter(&made)) {
		requests.metric = metric_find("request.latency", NULL);
		calls.metric = metric_find("call.latency", NULL);
		metric_query_where(&calls, "waited != \"for work\"", NULL);
		g_once_init_leave(&made, 1);
	}
	return timeline_facts(tl)->has_spans ? &requests : &calls;
}
