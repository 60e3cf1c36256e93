/* SPDX-License-Identifier: GPL-2.0-only */
/* A rule over operations: see rule.h. */
#include "views/rule.h"

#include "base/limits.h"
#include "base/timefmt.h"
#include "views/history.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_EVERY_NS (60 * NS_PER_S)

enum subject { SUBJECT_QUANTILE, SUBJECT_MAX, SUBJECT_COUNT, SUBJECT_ERRORS };
enum comparison { CMP_GT, CMP_GE, CMP_LT, CMP_LE };

static const struct metric {
	const char *word;
	enum subject subject;
	double q;
} metrics[] = {
	{ "p50", SUBJECT_QUANTILE, 0.5 }, { "p75", SUBJECT_QUANTILE, 0.75 },
	{ "p90", SUBJECT_QUANTILE, 0.9 }, { "p95", SUBJECT_QUANTILE, 0.95 },
	{ "p99", SUBJECT_QUANTILE, 0.99 }, { "max", SUBJECT_MAX, 1 },
	{ "count", SUBJECT_COUNT, 0 }, { "errors", SUBJECT_ERRORS, 0 },
};

struct rule {
	char *text;
	const struct metric *metric;
	char *operation;		/* NULL: any operation */
	enum comparison cmp;
	double value;			/* ns, a multiple of the median, or a count */
	bool times_usual;
	unsigned run;			/* consecutive seconds */
	int64_t every_ns;
	unsigned so_far;
	int64_t true_at;		/* instant of the last report; TIME_UNKNOWN: none */
};

/* --- reading --- */

static bool fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool fail(GError **error, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error_literal(error, g_quark_from_static_string("blk-rule"), 0, text);
	return false;
}

/* Reads the next word, and where it began: a quoted text, a run of < > =, or other letters. NULL: end of the text,
 * or a quote is not closed (*error). */
static char *next_word(const char **text, bool *ret_quoted, GError **error)
{
	const char *s = *text + strspn(*text, " \t,");
	size_t n;

	*ret_quoted = *s == '\'' || *s == '"';
	if (!*s)
		return NULL;
	if (*ret_quoted) {
		const char *end = strchr(s + 1, *s);
		if (!end) {
			fail(error, "the quote before \"%s\" is not closed", s + 1);
			return NULL;
		}
		*text = end + 1;
		return g_strndup(s + 1, (size_t)(end - s - 1));
	}
	n = strspn(s, "<>=");
	if (n == 0)
		n = strcspn(s, " \t,<>=");
	*text = s + n;
	return g_strndup(s, n);
}

/* Reads the next word; an error if there is none. */
static char *need_word(const char **text, const char *what, bool *ret_quoted, GError **error)
{
	g_autoptr(GError) why = NULL;
	char *word = next_word(text, ret_quoted, &why);
	if (!word && why)
		g_propagate_error(error, g_steal_pointer(&why));
	else if (!word)
		fail(error, "%s is missing; an example of a rule: p99 of thumbnail > 3 x usual", what);
	return word;
}

static bool read_subject(struct rule *r, const char **text, GError **error)
{
	bool quoted;
	g_autofree char *metric = need_word(text, "what is measured", &quoted, error);
	if (!metric)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(metrics); i++)
		if (g_str_equal(metrics[i].word, metric))
			r->metric = &metrics[i];
	if (!r->metric)
		return fail(error, "'%s' is not one of p50, p75, p90, p95, p99, max, count, errors", metric);
	g_autofree char *of = need_word(text, "\"of OPERATION\"", &quoted, error);
	if (!of)
		return false;
	if (!g_str_equal(of, "of"))
		return fail(error, "'of' must follow %s, not '%s'", metric, of);
	char *operation = need_word(text, "the operation", &quoted, error);
	if (!operation)
		return false;
	if (!quoted && g_str_equal(operation, "any"))
		g_clear_pointer(&operation, g_free);
	r->operation = operation;
	return true;
}

static bool read_comparison(struct rule *r, const char **text, GError **error)
{
	static const char *const words[] = {
		[CMP_GT] = ">", [CMP_GE] = ">=", [CMP_LT] = "<", [CMP_LE] = "<=",
	};
	bool quoted;
	g_autofree char *word = need_word(text, "a comparison (>)", &quoted, error);
	if (!word)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_equal(words[i], word)) {
			r->cmp = (enum comparison)i;
			return true;
		}
	return fail(error, "'%s' is not one of >, >=, <, <=; an operation of several words needs quotes",
		    word);
}

static bool read_number(const char *word, double *ret)
{
	char *end;
	*ret = g_ascii_strtod(word, &end);
	return g_ascii_isdigit(*word) && !*end && *ret < 1e15;
}

/* Reads "x usual" after "3", or "usual" after "3x". */
static bool read_usual(struct rule *r, const char *number, bool has_x, const char **text,
		       GError **error)
{
	bool quoted;
	g_autofree char *x = has_x ? NULL : need_word(text, "\"x usual\", or a unit", &quoted, error);
	if (!has_x && !x)
		return false;
	if (x && !g_str_equal(x, "x"))
		return fail(error, "'%s' needs a unit (ms), or 'x usual' after it, not '%s'", number, x);
	g_autofree char *usual = need_word(text, "\"usual\"", &quoted, error);
	if (!usual)
		return false;
	if (!g_str_equal(usual, "usual"))
		return fail(error, "'%s x' needs 'usual' after it, not '%s'", number, usual);
	r->times_usual = true;
	return true;
}

static bool read_value(struct rule *r, const char **text, GError **error)
{
	bool quoted, counts = r->metric->subject >= SUBJECT_COUNT;
	g_autofree char *word = need_word(text, "a value", &quoted, error);
	if (!word)
		return false;
	size_t n = strlen(word);
	bool has_x = n > 1 && word[n - 1] == 'x';
	g_autofree char *number = g_strndup(word, n - has_x);
	int64_t ns;

	if (counts)
		return read_number(word, &r->value) ||
		       fail(error, "%s is compared with a number, not '%s'", r->metric->word, word);
	if (read_number(number, &r->value))
		return read_usual(r, number, has_x, text, error);
	if (!timefmt_parse_duration(word, &ns, NULL) || ns < 0)
		return fail(error, "'%s' is neither a duration (250ms) nor a multiple ('3 x usual')", word);
	r->value = (double)ns;
	return true;
}

static bool read_for(struct rule *r, const char *word, GError **error)
{
	char *end;
	guint64 n = g_ascii_strtoull(word, &end, 10);
	if (!g_ascii_isdigit(*word) || (*end && !g_str_equal(end, "s")) || n < 1 || n > LIMIT_RULE_SECONDS)
		return fail(error, "'for' takes 1 to %d seconds, not '%s'", LIMIT_RULE_SECONDS, word);
	r->run = (unsigned)n;
	return true;
}

static bool read_every(struct rule *r, const char *word, GError **error)
{
	if (timefmt_parse_duration(word, &r->every_ns, NULL) && r->every_ns >= NS_PER_S)
		return true;
	return fail(error, "'every' takes a duration of 1s or more, not '%s'", word);
}

static bool read_rest(struct rule *r, const char **text, GError **error)
{
	g_autoptr(GError) why = NULL;
	bool quoted;
	for (;;) {
		g_autofree char *word = next_word(text, &quoted, &why);
		if (!word && why)
			return fail(error, "%s", why->message);
		if (!word)
			return true;
		bool is_for = g_str_equal(word, "for");
		if (!is_for && !g_str_equal(word, "every"))
			return fail(error, "'%s' is neither 'for SECONDS' nor 'every DURATION'", word);
		g_autofree char *value = need_word(text, is_for ? "seconds" : "a duration", &quoted,
						   error);
		if (!value || !(is_for ? read_for : read_every)(r, value, error))
			return false;
	}
}

struct rule *rule_parse(const char *text, GError **error)
{
	struct rule *r = g_new0(struct rule, 1);
	const char *at = text;

	r->text = g_strdup(text);
	r->run = 1;
	r->every_ns = DEFAULT_EVERY_NS;
	r->true_at = TIME_UNKNOWN;
	if (read_subject(r, &at, error) && read_comparison(r, &at, error) &&
	    read_value(r, &at, error) && read_rest(r, &at, error))
		return r;
	rule_free(r);
	return NULL;
}

void rule_free(struct rule *r)
{
	if (!r)
		return;
	g_free(r->text);
	g_free(r->operation);
	g_free(r);
}

/* --- holding it against a second --- */

struct tested {
	const struct operation_info *info;
	const char *name;
	struct hist duration;
	uint64_t count, errors;
	double value;
};

static void tested_free(void *data)
{
	struct tested *t = data;
	hist_clear(&t->duration);
	g_free(t);
}

static bool belongs(const struct rule *r, const struct span *s, const struct second *second)
{
	if (s->state == SPAN_OPEN || !span_is_request(s))
		return false;
	int64_t end = s->end_ns;
	return end >= second->begin_ns && end < second->end_ns &&
	       (!r->operation || g_str_equal(r->operation, s->name));
}

/* Groups the spans of the second by operation. */
static GHashTable *collect(const struct rule *r, const struct history *h,
			   const struct second *second)
{
	GHashTable *all = g_hash_table_new_full(NULL, NULL, NULL, tested_free);
	for (size_t i = timeline_n_spans(h->tl); i > 0; i--) {
		const struct span *s = timeline_span(h->tl, i - 1);
		if (!belongs(r, s, second))
			continue;
		const struct operation_info *info = history_operation(h, s);
		struct tested *t = info ? g_hash_table_lookup(all, info) : NULL;
		if (!info)
			continue;
		if (!t) {
			t = g_new0(struct tested, 1);
			t->info = info;
			t->name = s->name;
			g_hash_table_insert(all, (gpointer)info, t);
		}
		hist_add(&t->duration, span_duration(s));
		t->count++;
		t->errors += s->errors;
	}
	return all;
}

static double measure(const struct rule *r, struct tested *t)
{
	switch (r->metric->subject) {
	case SUBJECT_COUNT:
		return (double)t->count;
	case SUBJECT_ERRORS:
		return (double)t->errors;
	default:
		return (double)hist_quantile(&t->duration, r->metric->q);
	}
}

/* Does the rule hold? Sets t->value. */
static bool holds(const struct rule *r, struct tested *t)
{
	double limit = r->value;
	t->value = measure(r, t);
	if (r->times_usual) {
		if (t->info->p50 <= 0)
			return false;
		limit *= (double)t->info->p50;
	}
	return r->cmp == CMP_GT ? t->value > limit : r->cmp == CMP_GE ? t->value >= limit :
	       r->cmp == CMP_LT ? t->value < limit : t->value <= limit;
}

/* Of several operations, the one to report: the furthest beyond the limit, then by name. */
static bool is_worse(const struct rule *r, const struct tested *a, const struct tested *b)
{
	if (a->value != b->value)
		return (a->value > b->value) == (r->cmp <= CMP_GE);
	return strcmp(a->name, b->name) < 0;
}

static const struct tested *worst_of(const struct rule *r, GHashTable *all)
{
	const struct tested *worst = NULL;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, all);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		if (holds(r, value) && (!worst || is_worse(r, value, worst)))
			worst = value;
	return worst;
}

static char *cause_of(const struct rule *r, const struct tested *t, const struct second *s)
{
	GString *cause = g_string_new(NULL);
	char value[TIMEFMT_LEN], usual[TIMEFMT_LEN], from[TIMEFMT_LEN], to[TIMEFMT_LEN];

	g_string_append_printf(cause, "%s of %s is ", r->metric->word, t->name);
	if (r->metric->subject >= SUBJECT_COUNT)
		g_string_append_printf(cause, "%.0f", t->value);
	else
		g_string_append(cause, timefmt_duration(value, (int64_t)t->value));
	if (r->times_usual)
		g_string_append_printf(cause, ", %.1f times the usual %s",
				       t->value / (double)t->info->p50,
				       timefmt_duration(usual, t->info->p50));
	g_string_append_printf(cause, "\nrule: %s\nsecond: %s to %s (%" G_GINT64_FORMAT ")", r->text,
			       timefmt_date_ms(from, s->begin_ns), timefmt_clock_ms(to, s->end_ns),
			       s->begin_ns);
	return g_string_free(cause, FALSE);
}

char *rule_check(struct rule *r, const struct timeline *tl, const struct second *s)
{
	g_autoptr(blk_history) h = history_new(tl);
	g_autoptr(GHashTable) all = collect(r, h, s);
	const struct tested *worst = worst_of(r, all);

	if (g_hash_table_size(all) > 0)	/* a second without requests does not interrupt a run */
		r->so_far = worst ? r->so_far + 1 : 0;
	if (!worst || r->so_far < r->run)
		return NULL;
	if (r->true_at != TIME_UNKNOWN && s->end_ns - r->true_at < r->every_ns)
		return NULL;
	r->true_at = s->end_ns;
	return cause_of(r, worst, s);
}
