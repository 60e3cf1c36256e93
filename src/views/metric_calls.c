/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of the log's lines for metrics: see metric_calls.h. */
#include "views/metric_calls.h"

#include "base/call_event.h"
#include "base/limits.h"
#include "base/timefmt.h"
#include "views/logline.h"

#include <string.h>

#define OTHER "(other)"

struct metric_calls {
	const struct metric_query *query;
	int64_t step_ns;
	GPtrArray *sums;		/* struct metric_call_sum *, owned */
	GHashTable *index;		/* the same, by all but .last_ns and .values */
	GHashTable *names;		/* struct line_thread -> interned name: threads of figures, and leaders */
	GStringChunk *texts;		/* interned */
	GStringChunk *scratch;
};

struct line_thread { const char *host; int32_t tid; };		/* .host: interned */

static guint thread_hash(gconstpointer key)
{
	const struct line_thread *t = key;
	return g_direct_hash(t->host) * 31 + (guint)t->tid;
}

static gboolean thread_equal(gconstpointer a, gconstpointer b)
{
	const struct line_thread *x = a, *y = b;
	return x->host == y->host && x->tid == y->tid;
}

static guint sum_hash(gconstpointer key)
{
	const struct metric_call_sum *s = key;
	guint h = g_int64_hash(&s->step_ns) * 31 + (guint)s->tid;
	h = h * 31 + g_direct_hash(s->name);
	h = h * 31 + g_direct_hash(s->file);
	h = h * 31 + g_direct_hash(s->error);
	return h * 31 + s->cpu;
}

static gboolean sum_equal(gconstpointer a, gconstpointer b)
{
	const struct metric_call_sum *x = a, *y = b;
	return x->step_ns == y->step_ns && x->tid == y->tid && x->pid == y->pid && x->cpu == y->cpu &&
	       x->host == y->host && x->name == y->name && x->file == y->file && x->error == y->error;
}

static void sum_free(void *data)
{
	struct metric_call_sum *s = data;
	hist_clear(&s->values);
	g_free(s);
}

struct metric_calls *metric_calls_new(const struct metric_query *q, int64_t step_ns)
{
	struct metric_calls *c = g_new0(struct metric_calls, 1);
	c->query = q;
	c->step_ns = step_ns;
	c->sums = g_ptr_array_new_with_free_func(sum_free);
	c->index = g_hash_table_new(sum_hash, sum_equal);
	c->names = g_hash_table_new_full(thread_hash, thread_equal, g_free, NULL);
	c->texts = g_string_chunk_new(4096);
	c->scratch = g_string_chunk_new(256);
	return c;
}

void metric_calls_free(struct metric_calls *c)
{
	if (!c)
		return;
	g_hash_table_unref(c->index);
	g_hash_table_unref(c->names);
	g_ptr_array_unref(c->sums);
	g_string_chunk_free(c->texts);
	g_string_chunk_free(c->scratch);
	g_free(c);
}

static const char *intern(struct metric_calls *c, const char *text)
{
	return text && *text ? g_string_chunk_insert_const(c->texts, text) : NULL;
}

static const char *text_of(struct metric_calls *c, const struct calllog_line *l, const char *column)
{
	struct value v = logfilter_get(l, column, c->scratch);
	return v.kind == VALUE_TEXT ? intern(c, v.s) : NULL;
}

/* The figure of the line, and the instant at which it counts. False: it has none. */
static bool figure_of(struct metric_calls *c, const struct calllog_line *l, int64_t *ret, int64_t *ret_at)
{
	const struct metric *m = c->query->metric;
	if (!m->event) {
		*ret = l->exit_ns - l->entry_ns;
		*ret_at = l->exit_ns;
		return l->kind == CALLLOG_CALL && l->state != LINE_PENDING && l->entry_ns != CALLLOG_UNKNOWN &&
		       l->exit_ns != CALLLOG_UNKNOWN && l->has_ret;
	}
	if ((l->kind != CALLLOG_EVENT && l->kind != CALLLOG_USER) || !g_str_equal(l->name, m->event))
		return false;
	struct value v = logfilter_get(l, m->event_field, c->scratch);
	*ret = v.i;
	*ret_at = l->ts;
	return v.kind != VALUE_NONE && v.kind != VALUE_TEXT && v.kind != VALUE_RATIO;
}

void metric_negative_add(struct metric_negative *to, const struct metric_negative *x)
{
	if (!x->n)
		return;
	to->min = to->n ? MIN(to->min, x->min) : x->min;
	to->max = to->n ? MAX(to->max, x->max) : x->max;
	to->sum = x->sum < INT64_MIN - to->sum ? INT64_MIN : to->sum + x->sum;
	to->n += x->n;
}

static void note_name(struct metric_calls *c, const struct calllog_line *l)
{
	if (l->tid < 0 || !l->comm || !*l->comm)
		return;
	struct line_thread key = { intern(c, l->host), l->tid };
	const char *was = g_hash_table_lookup(c->names, &key);
	if (was ? strcmp(was, l->comm) : g_hash_table_size(c->names) < LIMIT_METRIC_SUMS)
		g_hash_table_insert(c->names, g_memdup2(&key, sizeof key), (gpointer)intern(c, l->comm));
}

const char *metric_calls_name(const struct metric_calls *c, const char *host, int32_t tid)
{
	const struct line_thread key = { host, tid };
	return g_hash_table_lookup(c->names, &key);
}

void metric_calls_add(struct metric_calls *c, const struct calllog_line *l)
{
	int64_t figure, at;
	g_string_chunk_clear(c->scratch);
	bool has_figure = figure_of(c, l, &figure, &at);
	if (has_figure || l->tid == l->pid)
		note_name(c, l);
	if (!has_figure)
		return;
	struct metric_call_sum key = {
		.step_ns = time_floor(at, c->step_ns), .step_end_ns = time_floor(at, c->step_ns) + c->step_ns,
		.host = intern(c, l->host), .name = intern(c, l->name), .file = text_of(c, l, "file"),
		.error = text_of(c, l, "error"), .tid = l->tid, .pid = l->pid, .cpu = l->cpu,
	};
	if (c->sums->len >= LIMIT_METRIC_SUMS && !g_hash_table_contains(c->index, &key)) {
		key.file = intern(c, OTHER);
		key.error = NULL;
		key.tid = key.pid = -1;
		key.cpu = UINT32_MAX;
	}
	struct metric_call_sum *s = g_hash_table_lookup(c->index, &key);
	if (!s) {
		s = g_memdup2(&key, sizeof key);
		g_ptr_array_add(c->sums, s);
		g_hash_table_add(c->index, s);
	}
	s->last_ns = MAX(s->last_ns, at);
	hist_add(&s->values, figure);
	if (figure < 0)
		metric_negative_add(&s->negative, &(struct metric_negative){ 1, figure, figure, figure });
}

size_t metric_calls_n(const struct metric_calls *c)
{
	return c->sums->len;
}

const struct metric_call_sum *metric_calls_at(const struct metric_calls *c, size_t i)
{
	return c->sums->pdata[i];
}
