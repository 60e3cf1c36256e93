/* SPDX-License-Identifier: GPL-2.0-only */
/* Places of the views heatmap and distribution: see metric_place.h. */
#include "ui/metric_place.h"

#include "base/each.h"
#include "base/text.h"

static void clear_condition(void *data)
{
	struct metric_condition *c = data;
	g_free(c->text);
}

static void init(void *state)
{
	struct metric_place *m = state;
	m->conditions = g_array_new(false, false, sizeof(struct metric_condition));
	g_array_set_clear_func(m->conditions, clear_condition);
	m->name = g_strdup("");
	m->low_ns = -1;
}

static void clear(void *state)
{
	struct metric_place *m = state;
	metric_query_clear(&m->query);
	metric_query_clear(&m->other);
	g_array_unref(m->conditions);
	heatmap_free(m->heatmap);
	g_free(m->name);
	g_free(m->other_name);
	g_free(m->difference);
}

static const struct state_kind metric_state = { .size = sizeof(struct metric_place), .init = init, .clear = clear };

struct metric_place *place_metric(struct place *p)
{
	return place_state(p, &metric_state);
}

void place_take_metric(struct place *p, struct metric_place *m)
{
	place_take_state(p, &metric_state, m);
}

struct metric_place *metric_place_new(const struct metric *metric)
{
	struct metric_place *m = g_new0(struct metric_place, 1);
	init(m);
	m->query.metric = metric;
	return m;
}

struct metric_place *metric_place_by(const struct metric *metric, const enum metric_field *by, unsigned n_by)
{
	struct metric_place *m = metric_place_new(metric);
	m->query.n_by = MIN(n_by, 1);
	m->query.by[0] = n_by ? by[0] : 0;
	return m;
}

void metric_place_free(struct metric_place *m)
{
	if (m)
		clear(m);
	g_free(m);
}

static char *condition_text(const struct metric_condition *c, const char *field)
{
	g_autofree char *quoted = c->number ? g_strdup(c->text) : expr_quote(c->text);
	return g_strdup_printf("%s == %s", field, quoted);
}

/* false: it is too long for an expression. */
static bool set_where(struct metric_place *m)
{
	g_autoptr(GString) where = g_string_new(NULL);
	ARRAY_EACH(const struct metric_condition, c, m->conditions) {
		g_autofree char *text = condition_text(c, metric_field_words[c->field]);
		g_string_append_printf(where, "%s%s", where->len ? " && " : "", text);
	}
	return metric_query_where(&m->query, where->str, NULL);
}

void metric_place_where(struct metric_place *m, enum metric_field field, struct value value)
{
	struct metric_condition c = { .field = field, .number = value.kind != VALUE_TEXT };
	if (value.kind == VALUE_NONE || !(m->query.metric->fields & ~m->query.metric->call_fields & 1u << field))
		return;
	c.text = c.number ? g_strdup_printf("%" G_GINT64_FORMAT, value.i) : g_strdup(value.s);
	g_array_append_val(m->conditions, c);
	if (!set_where(m)) {
		g_array_set_size(m->conditions, m->conditions->len - 1);
		set_where(m);
		return;
	}
	g_autofree char *shown = text_visible(c.text);
	char *name = g_strdup_printf("%s%s%s%s", m->name, *m->name ? " " : "",
				     field == METRIC_BY_pid ? "pid " : field == METRIC_BY_tid ? "tid " :
				     field == METRIC_BY_cpu ? "CPU " : "", shown);
	g_free(m->name);
	m->name = name;
}

struct metric_place *metric_place_copy(const struct metric_place *from)
{
	struct metric_place *m = metric_place_new(from->query.metric);
	for (guint i = 0; i < from->conditions->len; i++) {
		struct metric_condition c = g_array_index(from->conditions, struct metric_condition, i);
		c.text = g_strdup(c.text);
		g_array_append_val(m->conditions, c);
	}
	g_free(m->name);
	m->name = g_strdup(from->name);
	if (m->conditions->len)
		set_where(m);
	return m;
}

int metric_place_next_by(struct metric_place *m)
{
	uint32_t fields = m->query.metric->fields & ~m->query.metric->call_fields;
	int next = m->query.n_by ? (int)m->query.by[0] + 1 : 0;
	while (next < METRIC_FIELD_N && !(fields & 1u << next))
		next++;
	m->query.n_by = next < METRIC_FIELD_N;
	m->query.by[0] = m->query.n_by ? (enum metric_field)next : 0;
	return m->query.n_by ? next : -1;
}

char *metric_place_log_filter(const struct metric_place *m)
{
	static const struct { enum metric_field field; const char *column; } columns[] = {
		{ METRIC_BY_call, "name" }, { METRIC_BY_pid, "pid" }, { METRIC_BY_tid, "tid" },
		{ METRIC_BY_thread, "comm" }, { METRIC_BY_host, "host" }, { METRIC_BY_span, "name" },
		{ METRIC_BY_service, "service" },
	};
	GString *text = g_string_new(NULL);
	ARRAY_EACH(const struct metric_condition, c, m->conditions)
		for (size_t k = 0; k < G_N_ELEMENTS(columns); k++) {
			g_autofree char *one = condition_text(c, columns[k].column);
			if (columns[k].field == c->field)
				g_string_append_printf(text, " && %s", one);
		}
	return g_string_free(text, false);
}

char *metric_place_title(const struct metric_place *m)
{
	return g_strdup_printf("%s%s%s", m->query.metric->id, *m->name ? " of " : "", m->name);
}
