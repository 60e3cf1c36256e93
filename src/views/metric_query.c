/* SPDX-License-Identifier: GPL-2.0-only */
/* A metric with the fields it is split and filtered by: see metric.h. */
#include "views/metric.h"

#include "base/fail.h"

static const enum value_kind field_kinds[] = {
#define FIELD_KIND(id, kind, title, width, help) kind,
	METRIC_FIELD_LIST(FIELD_KIND)
};

enum value_kind metric_field_kind(enum metric_field field)
{
	return field_kinds[field];
}

static int field_find(const char *word, const void *data)
{
	const struct metric *m = data;
	for (int f = 0; f < METRIC_FIELD_N; f++)
		if (m->fields & 1u << f && g_str_equal(metric_field_words[f], word))
			return f;
	return -1;
}

/* The fields of the metric only. */
static struct text_candidate field_candidate(size_t i, const void *data)
{
	const struct metric *m = data;
	for (size_t f = 0; f < METRIC_FIELD_N; f++)
		if (m->fields & 1u << f && i-- == 0)
			return (struct text_candidate){ .name = metric_field_words[f] };
	return (struct text_candidate){ 0 };
}

static void set_field_error(GError **error, const struct metric *m, const char *word)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_string_printf(text, "%s has no field '%s'", m->id, word);
	const char *like = text_suggest(word, field_candidate, m);
	if (like)
		g_string_append_printf(text, "; did you mean %s?", like);
	g_string_append(text, "; it has");
	for (int f = 0; f < METRIC_FIELD_N; f++)
		if (m->fields & 1u << f)
			g_string_append_printf(text, " %s", metric_field_words[f]);
	g_set_error(error, BLK_METRIC_ERROR, 0, "%s", text->str);
}

static uint32_t all_fields(const struct metric_query *q)
{
	uint32_t fields = q->where_fields;
	for (unsigned i = 0; i < q->n_by; i++)
		fields |= 1u << q->by[i];
	return fields;
}

/* Single lines of the log do not have spans beside them. */
static bool can_combine(const struct metric_query *q, GError **error)
{
	uint32_t fields = all_fields(q);
	bool can = !(fields & 1u << METRIC_BY_waited) || !(fields & q->metric->call_fields);
	if (!can)
		g_set_error(error, BLK_METRIC_ERROR, 0,
			    "%s: the field 'waited' cannot be combined with file, errno and cpu", q->metric->id);
	return can;
}

bool metric_query_by(struct metric_query *q, const char *by, GError **error)
{
	g_auto(GStrv) words = g_strsplit(by, ",", -1);
	q->n_by = 0;
	for (char **word = words; *word; word++) {
		int field = field_find(g_strstrip(*word), q->metric);
		if (field < 0) {
			set_field_error(error, q->metric, *word);
			return false;
		}
		if (q->n_by == METRIC_SPLITS)
			return fail(error, BLK_METRIC_ERROR, 0, "at most %d fields", METRIC_SPLITS);
		if (q->n_by && q->by[0] == (enum metric_field)field)
			return fail(error, BLK_METRIC_ERROR, 0, "'%s' twice", *word);
		q->by[q->n_by++] = field;
	}
	return can_combine(q, error);
}

static enum value_kind kind_of_field(int field, const void *data)
{
	return field_kinds[field];
}

struct parsing { const struct metric *metric; uint32_t *named; };

static int where_field(const char *word, const void *data)
{
	const struct parsing *p = data;
	int field = field_find(word, p->metric);
	*p->named |= field < 0 ? 0 : 1u << field;
	return field;
}

static struct text_candidate where_candidate(size_t i, const void *data)
{
	return field_candidate(i, ((const struct parsing *)data)->metric);
}

bool metric_query_has(const struct metric_query *q, enum metric_field field)
{
	return all_fields(q) & 1u << field;
}

bool metric_query_needs_calls(const struct metric_query *q)
{
	return q->metric && (q->metric->event || all_fields(q) & q->metric->call_fields);
}

bool metric_query_where(struct metric_query *q, const char *where, GError **error)
{
	const struct parsing parsing = { q->metric, &q->where_fields };
	q->where_fields = 0;
	struct expr *e = expr_parse(where, where_field, where_candidate, &parsing, METRIC_FIELD_N, error);
	if (e && !expr_check(e, kind_of_field, NULL, error)) {
		expr_free(e);
		return false;
	}
	expr_free(q->where);
	q->where = e;
	return e != NULL && can_combine(q, error);
}

void metric_query_clear(struct metric_query *q)
{
	expr_free(q->where);
	*q = (struct metric_query){ 0 };
}

char *metric_where_text(enum metric_field field, struct value value)
{
	const char *name = metric_field_words[field];
	if (value.kind == VALUE_NONE)
		return NULL;
	if (value.kind != VALUE_TEXT)
		return g_strdup_printf("%s == %" G_GINT64_FORMAT, name, value.i);
	g_autofree char *quoted = expr_quote(value.s);
	return g_strdup_printf("%s == %s", name, quoted);
}
