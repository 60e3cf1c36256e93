/* SPDX-License-Identifier: GPL-2.0-only */
/* Thresholds, read and held against figures: see threshold.h. */
#include "views/threshold.h"

#include "base/fail.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/timefmt.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THRESHOLD g_quark_from_static_string("blk-threshold"), 0

#define DEFAULT_EVERY_NS (60 * NS_PER_S)
#define EXAMPLE "an example: p99 of thumbnail > 3 x usual"

static const struct { const char *word; double quantile; } figures[] = {
	[FIGURE_P50] = { "p50", 0.5 }, [FIGURE_P75] = { "p75", 0.75 }, [FIGURE_P90] = { "p90", 0.9 },
	[FIGURE_P95] = { "p95", 0.95 }, [FIGURE_P99] = { "p99", 0.99 }, [FIGURE_MAX] = { "max", 1 },
	[FIGURE_AVG] = { "avg", 0 }, [FIGURE_COUNT] = { "count", 0 }, [FIGURE_ERRORS] = { "errors", 0 },
	[FIGURE_SUM] = { "sum", 0 },
};

/* ---- reading ---- */

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
			fail(error, THRESHOLD, "the quote before \"%s\" is not closed", s + 1);
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
		fail(error, THRESHOLD, "%s is missing; " EXAMPLE, what);
	return word;
}

static int find_figure(const char *word)
{
	for (int i = 0; i < FIGURE_N; i++)
		if (g_str_equal(figures[i].word, word))
			return i;
	return -1;
}

static const char *all_figures(void)
{
	return "p50, p75, p90, p95, p99, max, avg, count, errors, sum";
}

/* "FIGURE of OPERATION": the metric request.latency, by operation. */
static bool read_operation(struct threshold *t, const char *figure, const char **text, GError **error)
{
	bool quoted, unused;
	int found = find_figure(figure);
	if (found < 0)
		return fail(error, THRESHOLD, "'%s' is neither a metric nor one of %s", figure, all_figures());
	g_autofree char *of = need_word(text, "\"of OPERATION\"", &unused, error);
	if (!of)
		return false;
	if (!g_str_equal(of, "of"))
		return fail(error, THRESHOLD, "'of' must follow %s, not '%s'", figure, of);
	g_autofree char *operation = need_word(text, "the operation", &quoted, error);
	if (!operation)
		return false;
	g_autofree char *too_many = next_word(text, &unused, NULL);
	if (too_many)
		return fail(error, THRESHOLD, "'%s' follows the operation; a name of several words needs quotes",
			    too_many);
	t->of_operation = true;
	t->figure = (enum threshold_figure)found;
	t->query.metric = metric_find("request.latency", NULL);
	bool any = !quoted && g_str_equal(operation, "any"), errors = t->figure == FIGURE_ERRORS;
	g_autofree char *same = any ? NULL : metric_where_text(METRIC_BY_operation, value_text(operation));
	t->where = errors ? g_strconcat("error == yes", same ? " && " : "", same, NULL) : g_strdup(same);
	t->operation = any ? NULL : g_steal_pointer(&operation);
	return (!any || metric_query_by(&t->query, "operation", error)) &&
	       (!t->where || metric_query_where(&t->query, t->where, error));
}

/* Does the word follow at *text? Then it is skipped. */
static bool skip_word(const char **text, const char *word)
{
	const char *s = *text + strspn(*text, " \t");
	size_t n = strlen(word);
	if (!g_str_has_prefix(s, word) || (s[n] && !strchr(" \t", s[n])))
		return false;
	*text = s + n + strspn(s + n, " \t");
	return true;
}

/* What follows METRIC: [FIGURE] [by FIELD[,FIELD]] [where EXPRESSION] */
static bool read_metric(struct threshold *t, const char **text, GError **error)
{
	t->figure = t->query.metric->has_values ? FIGURE_P99 : FIGURE_SUM;
	for (int i = 0; i < FIGURE_N; i++)
		if (skip_word(text, figures[i].word)) {
			t->figure = (enum threshold_figure)i;
			break;
		}
	if (t->figure == FIGURE_ERRORS)
		return fail(error, THRESHOLD, "errors are those of an operation: errors of any > 0");
	if (t->figure != FIGURE_SUM && !t->query.metric->has_values)
		return fail(error, THRESHOLD, "%s is a sum and has no %s", t->query.metric->id,
			    figures[t->figure].word);
	if (skip_word(text, "by")) {
		const char *where = strstr(*text, " where "), *end = where ? where : *text + strlen(*text);
		g_autofree char *by = g_strndup(*text, (size_t)(end - *text));
		if (!metric_query_by(&t->query, by, error))
			return false;
		*text = end;
	}
	if (skip_word(text, "where")) {
		t->where = g_strdup(*text);
		if (!metric_query_where(&t->query, t->where, error))
			return false;
		*text += strlen(*text);
	}
	*text += strspn(*text, " \t");
	if (**text)
		return fail(error, THRESHOLD, "'%s' is none of %s, 'by' and 'where'", *text, all_figures());
	if (metric_query_needs_calls(&t->query))
		return fail(error, THRESHOLD, "seconds do not have %s by file, errno or CPU", t->query.metric->id);
	if (metric_query_has(&t->query, METRIC_BY_cause))
		return fail(error, THRESHOLD, "causes depend on what comes later: there is no threshold by cause");
	return true;
}

static bool read_subject(struct threshold *t, GError **error)
{
	const char *at = t->subject;
	bool quoted;
	g_autofree char *word = need_word(&at, "what is measured", &quoted, error);
	if (!word)
		return false;
	const char *id = g_str_equal(word, "losses") ? "loss.events" : word;
	if (!strchr(id, '.'))
		return read_operation(t, word, &at, error);
	t->query.metric = metric_find(id, error);
	return t->query.metric && read_metric(t, &at, error);
}

static bool read_number(const char *word, double *ret)
{
	char *end;
	*ret = g_ascii_strtod(word, &end);
	return g_ascii_isdigit(*word) && !*end && *ret < 1e15;
}

/* Reads "x usual" after "3", or "usual" after "3x". */
static bool read_usual(const char *number, bool has_x, const char **text, GError **error)
{
	bool quoted;
	g_autofree char *x = has_x ? NULL : need_word(text, "\"x usual\", or a unit", &quoted, error);
	if (!has_x && !x)
		return false;
	if (x && !g_str_equal(x, "x"))
		return fail(error, THRESHOLD, "'%s' needs a unit (ms), or 'x usual' after it, not '%s'", number, x);
	g_autofree char *usual = need_word(text, "\"usual\"", &quoted, error);
	if (!usual)
		return false;
	return g_str_equal(usual, "usual") || fail(error, THRESHOLD, "'%s x' needs 'usual' after it, not '%s'", number,
						   usual);
}

static bool read_amount(const struct threshold *t, const char *word, double *ret, GError **error)
{
	enum value_kind unit = threshold_unit(t);
	size_t bytes;
	int64_t ns;
	if (unit == VALUE_BYTES && timefmt_parse_bytes(word, &bytes)) {
		*ret = (double)bytes;
		return true;
	}
	if (unit == VALUE_NS && timefmt_parse_duration(word, &ns, NULL) && ns >= 0) {
		*ret = (double)ns;
		return true;
	}
	return fail(error, THRESHOLD, "'%s' is neither %s nor a multiple ('3 x usual')", word,
		    unit == VALUE_NS ? "a duration (250ms)" : unit == VALUE_BYTES ? "a size (4M)" : "a number");
}

static bool read_value(const struct threshold *t, struct threshold_value *ret, const char **text, GError **error)
{
	bool quoted;
	g_autofree char *word = need_word(text, "a value", &quoted, error);
	if (!word)
		return false;
	size_t n = strlen(word);
	bool has_x = n > 1 && word[n - 1] == 'x';
	g_autofree char *number = g_strndup(word, n - has_x);
	const char *then = *text;

	ret->given = true;
	bool is_number = read_number(number, &ret->number);
	ret->times_usual = is_number && (has_x || skip_word(&then, "x") || threshold_unit(t) == VALUE_NS);
	if (ret->times_usual)
		return read_usual(number, has_x, text, error);
	return (is_number && (threshold_unit(t) == VALUE_COUNT || !ret->number)) ||
	       read_amount(t, word, &ret->number, error);
}

static bool read_for(struct threshold *t, const char *word, GError **error)
{
	char *end;
	guint64 n = g_ascii_strtoull(word, &end, 10);
	if (!g_ascii_isdigit(*word) || (*end && !g_str_equal(end, "s")) || n < 1 || n > LIMIT_THRESHOLD_SECONDS)
		return fail(error, THRESHOLD, "'for' takes 1 to %d seconds, not '%s'", LIMIT_THRESHOLD_SECONDS, word);
	t->seconds = (unsigned)n;
	return true;
}

static bool read_every(struct threshold *t, const char *word, GError **error)
{
	if (timefmt_parse_duration(word, &t->every_ns, NULL) && t->every_ns >= NS_PER_S)
		return true;
	return fail(error, THRESHOLD, "'every' takes a duration of 1s or more, not '%s'", word);
}

static bool read_rest(struct threshold *t, const char **text, GError **error)
{
	g_autoptr(GError) why = NULL;
	bool quoted;
	for (;;) {
		g_autofree char *word = next_word(text, &quoted, &why), *value = NULL;
		if (!word && why)
			return fail(error, THRESHOLD, "%s", why->message);
		if (!word)
			return true;
		bool is_for = g_str_equal(word, "for"), ok;
		if (g_str_equal(word, "warn")) {
			ok = read_value(t, &t->warn, text, error);
		} else if (!is_for && !g_str_equal(word, "every")) {
			return fail(error, THRESHOLD,
				    "'%s' is neither 'warn VALUE', 'for SECONDS' nor 'every DURATION'", word);
		} else {
			value = need_word(text, is_for ? "seconds" : "a duration", &quoted, error);
			ok = value && (is_for ? read_for : read_every)(t, value, error);
		}
		if (!ok)
			return false;
	}
}

/* The last comparison outside of quotes and brackets: those before it belong to an expression. NULL: none, or a quote
 * is not closed (*error). */
static const char *find_comparison(const char *text, GError **error)
{
	const char *found = NULL;
	int depth = 0;
	for (const char *s = text; *s; s++) {
		const char *end = s;
		bool quoted = *s == '"' || *s == '\'';
		for (end += quoted; quoted && *end && *end != *s; end++)
			end += *end == '\\' && end[1];
		if (quoted && !*end) {
			fail(error, THRESHOLD, "the quote before \"%s\" is not closed", s + 1);
			return NULL;
		}
		s = end;
		depth += *s == '(' ? 1 : *s == ')' ? -1 : 0;
		bool begins = s > text && !strchr("<>=!~", s[-1]);
		if (depth == 0 && begins && strchr("<>=", *s))
			found = s;
	}
	if (!found)
		fail(error, THRESHOLD, "a comparison (>) is missing; " EXAMPLE);
	return found;
}

static bool read_comparison(struct threshold *t, const char **text, GError **error)
{
	static const char *const words[] = {
		[THRESHOLD_GT] = ">", [THRESHOLD_GE] = ">=", [THRESHOLD_LT] = "<", [THRESHOLD_LE] = "<=",
	};
	bool quoted;
	g_autofree char *word = need_word(text, "a comparison (>)", &quoted, error);
	if (!word)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_equal(words[i], word)) {
			t->comparison = (enum threshold_comparison)i;
			return true;
		}
	return fail(error, THRESHOLD, "'%s' is not one of >, >=, <, <=", word);
}

struct threshold *threshold_parse(const char *text, GError **error)
{
	const char *at = strlen(text) <= LIMIT_RULE_LINE_BYTES ? find_comparison(text, error) : NULL;
	if (!at) {
		if (strlen(text) > LIMIT_RULE_LINE_BYTES)
			fail(error, THRESHOLD, "it is longer than %d bytes", LIMIT_RULE_LINE_BYTES);
		return NULL;
	}
	struct threshold *t = g_new0(struct threshold, 1);
	t->text = g_strstrip(g_strdup(text));
	t->subject = g_strstrip(g_strndup(text, (size_t)(at - text)));
	t->seconds = 1;
	t->every_ns = DEFAULT_EVERY_NS;
	if (read_subject(t, error) && read_comparison(t, &at, error) && read_value(t, &t->value, &at, error) &&
	    read_rest(t, &at, error))
		return t;
	threshold_free(t);
	return NULL;
}

void threshold_free(struct threshold *t)
{
	if (!t)
		return;
	metric_query_clear(&t->query);
	g_free(t->text);
	g_free(t->subject);
	g_free(t->operation);
	g_free(t->where);
	g_free(t);
}

static void free_one(void *threshold)
{
	threshold_free(threshold);
}

GPtrArray *thresholds_new(void)
{
	return g_ptr_array_new_with_free_func(free_one);
}

bool threshold_read_file(GPtrArray *thresholds, const char *path, GError **error)
{
	g_autofree char *bytes = NULL;
	g_auto(GStrv) lines = NULL;
	size_t len;

	if (!files_read_input(path, LIMIT_SETTINGS_BYTES, &bytes, &len, error))
		return false;
	if (memchr(bytes, '\0', len))
		return fail(error, THRESHOLD, "%s: it is not text", path);
	lines = g_strsplit(bytes, "\n", -1);
	for (unsigned n = 1; lines[n - 1]; n++) {
		g_autoptr(GError) why = NULL;
		const char *text = g_strstrip(lines[n - 1]);
		if (!*text || *text == '#')
			continue;
		struct threshold *t = threshold_parse(text, &why);
		if (!t)
			return fail(error, THRESHOLD, "%s:%u: %s", path, n, why->message);
		g_ptr_array_add(thresholds, t);
		if (thresholds->len > LIMIT_THRESHOLDS)
			return fail(error, THRESHOLD, "%s:%u: there are more than %d thresholds", path, n,
				    LIMIT_THRESHOLDS);
	}
	return true;
}

/* ---- held against figures ---- */

enum value_kind threshold_unit(const struct threshold *t)
{
	return t->figure == FIGURE_COUNT || t->figure == FIGURE_ERRORS ? VALUE_COUNT : t->query.metric->unit;
}

bool threshold_counts(const struct threshold *t)
{
	return t->figure >= FIGURE_COUNT;
}

double threshold_figure_of(const struct threshold *t, const struct hist *values, int64_t sum)
{
	uint64_t n = values ? hist_count(values) : 0;
	if (t->figure == FIGURE_SUM)
		return (double)sum;
	if (t->figure == FIGURE_COUNT || t->figure == FIGURE_ERRORS)
		return (double)n;
	if (t->figure == FIGURE_AVG)
		return n ? (double)hist_sum(values) / (double)n : 0;
	return n ? (double)hist_quantile(values, figures[t->figure].quantile) : 0;
}

bool threshold_reached(const struct threshold *t, const struct threshold_value *value, double figure, double usual)
{
	double limit = value->times_usual ? value->number * usual : value->number;
	if (!value->given || (value->times_usual && usual <= 0))
		return false;
	return t->comparison == THRESHOLD_GT ? figure > limit : t->comparison == THRESHOLD_GE ? figure >= limit :
	       t->comparison == THRESHOLD_LT ? figure < limit : figure <= limit;
}

bool threshold_is_worse(const struct threshold *t, double figure, double than)
{
	return t->comparison <= THRESHOLD_GE ? figure > than : figure < than;
}

const char *threshold_figure_word(enum threshold_figure figure)
{
	return figures[figure].word;
}
