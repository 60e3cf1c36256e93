/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines for Graphite: see graphite.h. */
#include "send/graphite.h"

#include "base/each.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/timefmt.h"

#include <string.h>

#define DEFAULT_NAME "1min.lttng.$by.$values.$datacenter.$host"
#define OTHERS "_other_"
#define AT_ONCE 32			/* seconds between two looks whether there is room */
#define PARCEL_BYTES (16u << 10)	/* about so much is sent, or dropped, at once */

struct sum {				/* of one second and name; several values may have it */
	struct hist values;
	int64_t sum;
	bool without_values;		/* .values lacks evicted spans */
};

struct sent {				/* a metric */
	const struct send_metric *m;
	GHashTable *names;		/* seen so far, at most .most of them */
	int64_t sent_to_ns;
};

struct graphite {
	struct graphite_options o;
	struct outbox *outbox;
	struct sent *sent;
	uint64_t n_evicted;		/* spans that were evicted and are not in what is sent */
	/* While a second is visited: */
	const struct timeline *tl;
	struct sent *now;
	GHashTable *sums;		/* name with "\n" for the figure -> struct sum */
};

static void sum_free(void *data)
{
	struct sum *s = data;
	hist_clear(&s->values);
	g_free(s);
}

/* ---- names ---- */

/* Letters after '$'. */
static size_t variable_length(const char *at)
{
	size_t n = 0;
	while (g_ascii_isalpha(at[n]))
		n++;
	return n;
}

static bool is_word(const char *at, size_t n, const char *word)
{
	return n == strlen(word) && !strncmp(at, word, n);
}

static int field_of(const char *word, size_t n)
{
	if (is_word(word, n, "procname"))
		return METRIC_BY_process;
	if (is_word(word, n, "hostname"))
		return METRIC_BY_host;
	for (int f = 0; f < METRIC_FIELD_N; f++)
		if (is_word(word, n, metric_field_words[f]))
			return f;
	return -1;
}

bool graphite_check_name(const char *name, GError **error)
{
	static const char *const words[] = { "metric", "by", "values", "figure", "datacenter" };
	for (const char *at = strchr(name, '$'); at; at = strchr(at + 1, '$')) {
		size_t n = variable_length(at + 1);
		bool known = field_of(at + 1, n) >= 0;
		for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
			known |= is_word(at + 1, n, words[i]);
		if (known)
			continue;
		return fail(error, BLK_METRIC_ERROR, 0, "unknown variable '$%.*s'", (int)n, at + 1);
	}
	if (*name && strlen(name) <= LIMIT_RULE_LINE_BYTES && !strpbrk(name, " \t\n;"))
		return true;
	return fail(error, BLK_METRIC_ERROR, 0, "a name has no blanks and no ';'");
}

/* A part of a name. Dots would split it; dashboards take others amiss. */
static void append_part(GString *s, const char *text)
{
	size_t n = MIN(strlen(text), LIMIT_LABEL_BYTES);
	for (size_t i = 0; i < n; i++)
		g_string_append_c(s, g_ascii_isalnum(text[i]) || text[i] == '-' || text[i] == '_' ? text[i] : '_');
	if (!n)
		g_string_append_c(s, '-');
}

static void append_value(GString *s, struct value v)
{
	char number[32];
	g_snprintf(number, sizeof number, "%" G_GINT64_FORMAT, v.kind == VALUE_TEXT || v.kind == VALUE_NONE ? 0 : v.i);
	append_part(s, v.kind == VALUE_TEXT ? v.s : v.kind == VALUE_NONE ? "" : number);
}

static bool names_field(const char *template, enum metric_field field)
{
	for (const char *at = strchr(template, '$'); at; at = strchr(at + 1, '$'))
		if (field_of(at + 1, variable_length(at + 1)) == (int)field)
			return true;
	return false;
}

/* The value of a field of which the template has a variable; a metric that is not split by it has all. */
static void append_field(const struct graphite *g, GString *s, enum metric_field field, const struct value *by)
{
	const struct metric_query *q = &g->now->m->query;
	for (unsigned i = 0; i < q->n_by; i++)
		if (q->by[i] == field) {
			append_value(s, by[i]);
			return;
		}
	bool one_host = !timeline_host(g->tl, 1);
	const struct host_info *h = field == METRIC_BY_host && one_host ? timeline_host(g->tl, 0) : NULL;
	append_part(s, h && h->name ? h->name : "all");
}

static void append_words(const struct graphite *g, GString *s, const char *template, const struct value *by)
{
	static const char *const of_lttng_graph[METRIC_FIELD_N] = { [METRIC_BY_process] = "procname" };
	const struct metric_query *q = &g->now->m->query;
	bool any = false;
	for (unsigned i = 0; i < q->n_by; i++) {
		if (names_field(template, q->by[i]))
			continue;
		if (any)
			g_string_append_c(s, by ? '.' : '_');
		any = true;
		if (by)
			append_value(s, by[i]);
		else
			append_part(s, of_lttng_graph[q->by[i]] ? of_lttng_graph[q->by[i]] :
					metric_field_words[q->by[i]]);
	}
	if (!any)
		g_string_append(s, "all");
}

/* The name of a value's line, with a line break in place of the figure. */
static char *name_of(const struct graphite *g, const struct value *by)
{
	const char *template = g->o.name ? g->o.name : DEFAULT_NAME;
	GString *s = g_string_new(NULL);
	for (const char *at = template; *at; ) {
		size_t n = *at == '$' ? variable_length(at + 1) : 0;
		int field = field_of(at + 1, n);
		if (*at != '$')
			g_string_append_c(s, *at);
		else if (is_word(at + 1, n, "metric"))
			append_part(s, g->now->m->name);
		else if (is_word(at + 1, n, "by"))
			append_words(g, s, template, NULL);
		else if (is_word(at + 1, n, "values"))
			append_words(g, s, template, by);
		else if (is_word(at + 1, n, "datacenter"))
			append_part(s, g->o.datacenter);
		else if (field >= 0)
			append_field(g, s, (enum metric_field)field, by);
		else
			g_string_append_c(s, '\n');	/* figure */
		at += n + 1;
	}
	if (g->now->m->query.metric->has_values && !strchr(s->str, '\n'))
		g_string_append(s, ".\n");
	return g_string_free(s, false);
}

/* ---- lines ---- */

static void append_line(GString *lines, unsigned *n, const char *name, const char *figure, int64_t value, int64_t ns)
{
	const char *at = strchr(name, '\n');
	g_string_append_len(lines, name, at ? at - name : (gssize)strlen(name));
	if (at)
		g_string_append_printf(lines, "%s%s", figure, at + 1);
	g_string_append_printf(lines, " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n", value, ns / NS_PER_S);
	++*n;
}

/* The figures have the names of the columns that batch prints. */
static void append_figures(GString *lines, unsigned *n, const char *name, const struct metric *m, const struct sum *s,
			   int64_t ns)
{
	static const struct { const char *word; double share; } quantiles[] = {
		{ "p50", 0.5 }, { "p95", 0.95 }, { "p99", 0.99 },
	};
	const char *unit = m->unit == VALUE_NS ? "_ns" : m->unit == VALUE_BYTES ? "_bytes" : "";
	char word[32];
	g_snprintf(word, sizeof word, "total%s", unit);
	append_line(lines, n, name, word, s->sum, ns);
	if (!m->has_values || !hist_count(&s->values) || s->without_values)
		return;
	append_line(lines, n, name, "count", (int64_t)hist_count(&s->values), ns);
	for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
		g_snprintf(word, sizeof word, "%s%s", quantiles[i].word, unit);
		append_line(lines, n, name, word, hist_quantile(&s->values, quantiles[i].share), ns);
	}
	g_snprintf(word, sizeof word, "max%s", unit);
	append_line(lines, n, name, word, hist_max(&s->values), ns);
}

static void push_lines(struct graphite *g, GString *lines, unsigned *n)
{
	if (*n)
		outbox_push(g->outbox, g_strdup(lines->str), *n);
	g_string_truncate(lines, 0);
	*n = 0;
}

static void end_second(struct graphite *g, const struct second *second)
{
	unsigned n = 0;
	GString *lines = g_string_new(NULL);
	TABLE_EACH(each, g->sums) {
		append_figures(lines, &n, each.key, g->now->m->query.metric, each.value, second->begin_ns);
		if (lines->len >= PARCEL_BYTES)
			push_lines(g, lines, &n);
	}
	g_hash_table_remove_all(g->sums);
	push_lines(g, lines, &n);
	g_string_free(lines, true);
}

static struct sum *sum_of(struct graphite *g, const struct value *by)
{
	g_autofree char *name = name_of(g, by);
	if (!g_hash_table_contains(g->now->names, name)) {
		if (g_hash_table_size(g->now->names) >= g->o.most) {
			const struct value others[METRIC_SPLITS] = { value_text(OTHERS), value_text(OTHERS) };
			g_free(name);
			name = name_of(g, others);
		} else {
			g_hash_table_add(g->now->names, g_strdup(name));
		}
	}
	struct sum *s = g_hash_table_lookup(g->sums, name);
	if (!s) {
		s = g_new0(struct sum, 1);
		g_hash_table_insert(g->sums, g_steal_pointer(&name), s);
	}
	return s;
}

static void visit(void *data, const struct second *second, const struct metric_value *v)
{
	struct graphite *g = data;
	if (!v->key) {
		end_second(g, second);
		g->n_evicted += v->left_out;
		return;
	}
	if (v->left_out)
		return;			/* no value, rather than one that is too small */
	struct sum *s = sum_of(g, v->by);
	s->without_values |= v->without_values > 0;
	g->n_evicted += v->without_values;
	if (__builtin_add_overflow(s->sum, v->sum, &s->sum))
		s->sum = INT64_MAX;
	hist_merge(&s->values, v->values);
}

/* ---- seconds ---- */

struct graphite *graphite_start(const struct graphite_options *o)
{
	struct graphite *g = g_new0(struct graphite, 1);
	g->o = *o;
	g->sent = g_new0(struct sent, o->metrics->len);
	for (guint i = 0; i < o->metrics->len; i++)
		g->sent[i] = (struct sent){
			.m = o->metrics->pdata[i], .sent_to_ns = INT64_MIN,
			.names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		};
	g->sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, sum_free);
	g->outbox = carbon_start(&g->o.server);
	return g;
}

uint64_t graphite_left_out(const struct graphite *g)
{
	return g->n_evicted;
}

struct outbox *graphite_outbox(struct graphite *g)
{
	return g->outbox;
}

void graphite_stop_waiting(struct graphite *g)
{
	g->o.live = true;
}

uint64_t graphite_free(struct graphite *g)
{
	uint64_t dropped = outbox_free(g->outbox);
	for (guint i = 0; i < g->o.metrics->len; i++)
		g_hash_table_unref(g->sent[i].names);
	g_hash_table_unref(g->sums);
	g_free(g->sent);
	g_free(g);
	return dropped;
}

bool graphite_update(struct graphite *g, const struct timeline *tl, size_t end, int64_t from_ns, int64_t to_ns)
{
	g->tl = tl;
	for (guint i = 0; i < g->o.metrics->len; i++) {
		struct sent *x = g->now = &g->sent[i];
		size_t first = send_first_second(tl, MAX(x->sent_to_ns, from_ns), end);
		while (first < end && timeline_outline(tl, first)->begin_ns < to_ns) {
			if (!g->o.live && !outbox_has_room(g->outbox))
				return false;
			size_t last = MIN(first + AT_ONCE, end);
			while (timeline_outline(tl, last - 1)->begin_ns >= to_ns)
				last--;
			metric_each_second(tl, &x->m->query, first, last, visit, g);
			x->sent_to_ns = timeline_outline(tl, last - 1)->end_ns;
			first = last;
		}
	}
	return true;
}
