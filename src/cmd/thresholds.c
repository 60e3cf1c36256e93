/* SPDX-License-Identifier: GPL-2.0-only */
/* Thresholds of the command line: see thresholds.h. */
#include "cmd/thresholds.h"

#include "app/messages.h"
#include "cmd/local.h"

#include "base/text.h"
#include "views/alerts.h"

#include <string.h>

static const char *const status_words[] = {
	[CHECK_OK] = "OK", [CHECK_WARNING] = "WARNING", [CHECK_CRITICAL] = "CRITICAL", [CHECK_UNKNOWN] = "UNKNOWN",
};

bool thresholds_begin(const struct shown_options *o, struct alerts **ret)
{
	g_autoptr(GError) error = NULL;
	*ret = o->thresholds ? alerts_new(o->thresholds) : NULL;
	if (!*ret || !o->baseline || alerts_load_baseline(*ret, o->baseline, &error))
		return true;
	log_error("--baseline: %s", error->message);
	return false;
}

bool thresholds_count_threads(const GPtrArray *thresholds)
{
	for (guint i = 0; thresholds && i < thresholds->len; i++) {
		const struct threshold *t = thresholds->pdata[i];
		if (t->query.metric->reads & READS(count))
			return true;
	}
	return false;
}

char *thresholds_report(struct local *running, const struct alert *alert, const char *reason)
{
	g_autofree char *line = g_strndup(reason, strcspn(reason, "\n")), *visible = text_visible(line);
	local_alert(running, alert->threshold, reason);
	log_note("alert: %s", line);
	return g_strdup_printf("alert: %s", visible);
}

bool thresholds_save_baseline(const char *path, const struct alerts *alerts)
{
	g_autoptr(GError) error = NULL;
	if (!path || alerts_save_baseline(alerts, path, &error))
		return true;
	log_error("--save-baseline: %s", error->message);
	return false;
}

/* ---- the line of --check ---- */

/* Text of a trace or of the user in that line: no '|' and no line break. */
static char *plain(const char *text)
{
	char *visible = text_visible(text);
	return g_strdelimit(visible, "|\n", '/');
}

static void add_figure(GString *s, const struct threshold *t, double figure)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];
	bool is_time = threshold_unit(t) == VALUE_NS;
	g_string_append(s, g_ascii_formatd(number, sizeof number, "%.9g", is_time ? figure / 1e9 : figure));
}

/* A limit is a range of good values: above it (10) or below it (10:). A multiple of the usual is none. */
static void add_limit(GString *s, const struct threshold *t, const struct threshold_value *limit)
{
	g_string_append_c(s, ';');
	if (!limit->given || limit->times_usual)
		return;
	add_figure(s, t, limit->number);
	if (t->comparison >= THRESHOLD_LT)
		g_string_append_c(s, ':');
}

/* 'LABEL'=VALUE[UNIT];WARN;CRIT */
static void add_performance(GString *s, const struct alerts *all, const struct threshold *t, unsigned n_before)
{
	double worst;
	enum value_kind unit = threshold_unit(t);
	g_autofree char *label = plain(t->subject);
	if (!alerts_worst(all, t, &worst))
		return;
	g_autoptr(GString) words = g_string_new(label);
	g_string_replace(words, " == ", " is ", 0);
	g_strdelimit(words->str, "'=", '"');
	if (n_before)
		g_string_append_printf(words, " (%u)", n_before + 1);
	g_string_append_printf(s, " '%s'=", words->str);
	add_figure(s, t, worst);
	g_string_append(s, unit == VALUE_NS ? "s" : unit == VALUE_BYTES ? "B" : "");
	add_limit(s, t, &t->warn);
	add_limit(s, t, &t->value);
}

static bool is_worse(const struct alert *a, const struct alert *than)
{
	if (a->state != than->state || a->threshold != than->threshold)
		return a->state > than->state;
	return threshold_is_worse(a->threshold, a->worst, than->worst);
}

enum check_status thresholds_check(FILE *out, const struct alerts *alerts, int64_t from_ns, int64_t to_ns)
{
	const GPtrArray *thresholds = alerts_thresholds(alerts);
	const struct alert *worst = NULL;
	g_autoptr(GString) performance = g_string_new(NULL);
	g_autofree char *words = NULL, *sentence = NULL;
	const struct threshold *unknown = NULL;
	unsigned n = 0;

	for (size_t i = 0; i < alerts_n(alerts); i++) {
		const struct alert *a = alerts_at(alerts, i);
		if (!alert_overlaps(a, from_ns, to_ns))
			continue;
		n++;
		worst = !worst || is_worse(a, worst) ? a : worst;
	}
	for (guint i = 0; i < thresholds->len; i++) {
		const struct threshold *t = thresholds->pdata[i];
		double figure;
		unsigned same = 0;		/* of the same label, before it */
		if (!unknown && !alerts_worst(alerts, t, &figure))
			unknown = t;
		for (guint k = 0; k < i; k++)
			same += g_str_equal(((const struct threshold *)thresholds->pdata[k])->subject, t->subject);
		add_performance(performance, alerts, t, same);
	}
	bool left_out = alerts_left_out(alerts);
	enum check_status status = worst ? worst->state == ALERT_RED ? CHECK_CRITICAL : CHECK_WARNING :
				   unknown || left_out ? CHECK_UNKNOWN : CHECK_OK;
	if (worst)
		sentence = alert_sentence(worst);
	else if (unknown)
		sentence = g_strdup_printf("there was nothing to judge for '%s'", unknown->text);
	else if (left_out)
		sentence = g_strdup("spans were dropped to save memory: their seconds were not judged");
	else
		sentence = g_strdup_printf("%u threshold%s, none reached", thresholds->len,
					   thresholds->len == 1 ? "" : "s");
	words = plain(sentence);
	fprintf(out, "BLKTOP %s: %s", status_words[status], words);
	if (n > 1)
		fprintf(out, " (and %u more)", n - 1);
	fprintf(out, "%s%s\n", performance->len ? " |" : "", performance->str);
	return status;
}
