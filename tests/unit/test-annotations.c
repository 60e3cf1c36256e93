/* SPDX-License-Identifier: GPL-2.0-only */
/* Annotations by rules: which span has them, their text and severity, and where they are shown. */
#include "export/spans.h"
#include "lib/sources.h"
#include "state/publish/model.h"
#include "state/spans/rules.h"
#include "state/store/timeline.h"
#include "views/registry.h"
#include "views/span_detail.h"
#include "views/spans.h"

#include <string.h>

/* ---- scales ---- */

static void test_scales(void)
{
	static const struct { enum severity_scale scale; int64_t level; const char *word; } levels[] = {
		{ SEVERITY_JUL, 1000, "error" }, { SEVERITY_JUL, 900, "warning" }, { SEVERITY_JUL, 800, "info" },
		{ SEVERITY_JUL, 700, "debug" }, { SEVERITY_JUL, 400, "debug" }, { SEVERITY_JUL, 300, "trace" },
		{ SEVERITY_JUL, 1200, "error" }, { SEVERITY_JUL, 950, "warning" }, { SEVERITY_JUL, 1, "trace" },
		{ SEVERITY_JUL, INT32_MAX, NULL }, { SEVERITY_JUL, INT32_MIN, NULL },
		{ SEVERITY_LOG4J2, 100, "fatal" }, { SEVERITY_LOG4J2, 200, "error" },
		{ SEVERITY_LOG4J2, 300, "warning" },
		{ SEVERITY_LOG4J2, 350, "info" }, { SEVERITY_LOG4J2, 600, "trace" }, { SEVERITY_LOG4J2, 900, "trace" },
		{ SEVERITY_LOG4J2, 50, "fatal" }, { SEVERITY_LOG4J2, 0, NULL }, { SEVERITY_LOG4J2, INT32_MAX, NULL },
		{ SEVERITY_PYTHON, 50, "fatal" }, { SEVERITY_PYTHON, 40, "error" }, { SEVERITY_PYTHON, 35, "warning" },
		{ SEVERITY_PYTHON, 20, "info" }, { SEVERITY_PYTHON, 10, "debug" }, { SEVERITY_PYTHON, 5, "trace" },
		{ SEVERITY_PYTHON, 0, NULL }, { SEVERITY_PYTHON, -1, NULL },
		{ SEVERITY_LTTNG, 0, "fatal" }, { SEVERITY_LTTNG, 3, "error" }, { SEVERITY_LTTNG, 14, "debug" },
		{ SEVERITY_LTTNG, 15, NULL }, { SEVERITY_LTTNG, -1, NULL },
		{ SEVERITY_SYSLOG, 1, "alert" }, { SEVERITY_SYSLOG, 2, "critical" }, { SEVERITY_SYSLOG, 5, "notice" },
		{ SEVERITY_SYSLOG, 7, "debug" }, { SEVERITY_SYSLOG, 8, NULL }, { SEVERITY_SYSLOG, INT64_MAX, NULL },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++)
		g_assert_cmpstr(severity_word(severity_of(levels[i].scale, levels[i].level)), ==, levels[i].word);
	g_assert_cmpstr(severity_word(severity_of_name(SEVERITY_LTTNG, "TRACE_EMERG", 11)), ==, "fatal");
	g_assert_cmpstr(severity_word(severity_of_name(SEVERITY_LTTNG, "debug_line and more", 10)), ==, "debug");
	static const char new_name[] = "LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR";
	g_assert_cmpstr(severity_word(severity_of_name(SEVERITY_LTTNG, new_name, strlen(new_name))), ==, "error");
	g_assert_null(severity_word(severity_of_name(SEVERITY_LTTNG, "TRACE_", 6)));
	g_assert_null(severity_word(severity_of_name(SEVERITY_PYTHON, "", 0)));
	for (unsigned s = 1; s < SEVERITY_END; s++)
		g_assert_nonnull(severity_word((uint8_t)s));
	g_assert_null(severity_word(SEVERITY_END));
}

/* ---- what is wrong with a group ---- */

static void test_errors(void)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "[annotation x]\nif=a == 1\n", "f:1: [x] has no event" },
		{ "[annotation x]\nevent=a\nbegin=b\n", "f:3: an annotation has no 'begin'" },
		{ "[x]\nbegin=a\nend=b\nseverity=s\n", "f:4: a rule has no 'severity'" },
		{ "[annotation x]\nevent=a\nseverity=s\n", "f:1: [x]: severity= and scale= belong together" },
		{ "[annotation x]\nevent=a\nscale=jul\n", "f:1: [x]: severity= and scale= belong together" },
		{ "[annotation x]\nevent=a\nscale=java\n", "f:3: 'java' is no scale: there are jul, log4j2, python" },
		{ "[annotation x]\nevent=a\nseverity=${s\n", "f:3: '${s' is not a field name" },
		{ "[annotation x]\nevent=a*\nseverity=${2}\nscale=jul\n", "f:1: [x]: there is no ${2}: event=a* has" },
		{ "[annotation x]\nevent=a*\nevent=b\n", "f:3: [x] has event= already" },
		{ "[annotation x]\nevent=a\n[y]\nbegin=a\nend=b\nparent=x\n", "f:3: [y]: its parent 'x' is not a" },
		{ "[annotation x]\nevent=a\n[x]\nbegin=a\nend=b\n", "f:3: [x]: there is a rule of this name already" },
		{ "[annotation ]\nevent=a\n", "f:1: [annotation ]: a rule needs a name" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct rules *r = rules_new();
		g_assert_false(rules_parse(r, "f", cases[i].text, strlen(cases[i].text), false, &error) &&
			       rules_check(r, &error));
		if (!g_str_has_prefix(error->message, cases[i].says))
			g_error("'%s' does not begin with '%s'", error->message, cases[i].says);
		rules_free(r);
	}
}

/* ---- which span has them ---- */

static struct timeline *timeline_of(const char *rules, const char *script)
{
	g_autoptr(GError) error = NULL;
	struct rules *r = rules_new();
	g_assert_true(rules_parse(r, "rules", rules, strlen(rules), false, &error));
	g_assert_true(rules_check(r, &error));
	g_assert_true(rules_install(r, &error));
	struct timeline *tl = timeline_of_script(script, &(struct model_options){ 0 });
	rules_install(NULL, NULL);
	return tl;
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* "BEGIN name: AT severity text, ...; tags", a line for each span, and what no span has. */
static char *expected(struct timeline *tl)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		GString *line = g_string_new(NULL);
		g_string_append_printf(line, "%03d %s:", (int)s->begin_ns, s->name);
		for (uint32_t k = 0; k < s->n_annotations; k++) {
			const struct span_annotation *a = &s->annotations[k];
			if (a->is_note)
				g_string_append_printf(line, " %d %s '%s'", (int)a->ts,
						       severity_word(a->severity) ?: "-", a->event);
		}
		for (uint32_t k = 0; k < s->n_tags; k++)
			g_string_append_printf(line, " %s=%s", s->tags[k].key, s->tags[k].val);
		g_ptr_array_add(lines, g_string_free(line, false));
	}
	g_ptr_array_sort(lines, by_text);
	g_autofree char *left_out = span_notes_left_out(tl);
	if (left_out)
		g_ptr_array_add(lines, g_strndup(left_out, strcspn(left_out, ":")));
	g_ptr_array_add(lines, NULL);
	timeline_free(tl);
	return g_strjoinv("\n", (char **)lines->pdata);
}

#define CTX " ctx.vtid=7 ctx.vpid=7 ctx.procname=\"p\"\n"
#define OTHER " ctx.vtid=8 ctx.vpid=7 ctx.procname=\"p\"\n"
#define JOB "[job]\nbegin=u:a\nend=u:b\nname=j${id}\nnested=yes\nparent=thread\n"
#define LOG "[annotation log]\nevent=u:log\ntext=${msg}\nseverity=level\nscale=python\n"
#define ZIPKIN(at, what, id, parent) at " 0 u:zipkin:timestamp trace_name=\"req" id "\" service_name=\"s\" " \
	"trace_id=1 span_id=" id " parent_span_id=" parent " event=\"" what "\"" CTX

struct made { const char *name, *rules, *script, *expected; };
static const struct made made[] = {
	{ "innermost", JOB LOG,
	  "10 0 u:u:a id=1" CTX "20 0 u:u:log msg=\"one\" level=40" CTX "30 0 u:u:a id=2" CTX
	  "35 1 u:u:log msg=\"elsewhere\" level=20" OTHER
	  "40 0 u:u:log msg=\"two\" level=20" CTX "50 0 u:u:b" CTX "60 0 u:u:log msg=\"three\" level=1000" CTX
	  "70 0 u:u:b" CTX "80 0 u:u:log msg=\"late\" level=10" CTX,
	  "010 j1: 20 error 'one' 60 fatal 'three'\n030 j2: 40 info 'two'\n2 events of annotations belong to no span" },
	{ "blkkin", LOG,
	  "5 0 u:u:log msg=\"early\"" CTX ZIPKIN("10", "sr", "1", "0") "20 0 u:u:log msg=\"cs\" level=30" CTX
	  ZIPKIN("30", "start", "2", "1") "40 0 u:u:log msg=\"end\"" CTX ZIPKIN("50", "end", "2", "1")
	  ZIPKIN("60", "ss", "1", "0"),
	  "010 req1: 20 warning 'cs'\n030 req2: 40 - 'end'\n1 events of annotations belong to no span" },
	{ "function", LOG,
	  "10 0 u:lttng_ust_cyg_profile:func_entry addr=16" CTX "20 0 u:u:log msg=\"m\" level=0" CTX
	  "30 0 u:lttng_ust_cyg_profile:func_exit addr=16" CTX,
	  "010 0x10: 20 - 'm'" },
	{ "pattern", JOB "[annotation t]\nevent=lttng_ust_tracelog:TRACE_*\ntext=${event} ${msg}\nseverity=${1}\n"
	  "scale=lttng\nif=line > 5\ntags=func\n",
	  "10 0 u:u:a id=1" CTX "20 0 u:lttng_ust_tracelog:TRACE_EMERG line=9 msg=\"m\" func=\"f\"" CTX
	  "25 0 u:lttng_ust_tracelog:TRACE_DEBUG_UNIT line=6 msg=\"n\" func=\"g\"" CTX
	  "30 0 u:lttng_ust_tracelog:TRACE_ERR line=5 msg=\"not this\" func=\"h\"" CTX "50 0 u:u:b" CTX,
	  "010 j1: 20 fatal 'TRACE_EMERG m' 25 debug 'TRACE_DEBUG_UNIT n' func=f func=g" },
	/* The tags of one that belongs to no span belong to none. Without text=, the name of the group. */
	{ "alone", JOB "[annotation note]\nevent=u:log\ntags=msg\n",
	  "5 0 u:u:log msg=\"x\"" CTX "10 0 u:u:a id=1" CTX "12 0 u:u:log msg=\"y\"" CTX "20 0 u:u:b" CTX,
	  "010 j1: 12 - 'note' msg=y\n1 events of annotations belong to no span" },
	/* An event that begins a span, or ends one, is of that span. */
	{ "own", JOB "[annotation at]\nevent=u:*\ntext=${event}\n",
	  "10 0 u:u:a id=1" CTX "20 0 u:u:a id=2" CTX "30 0 u:u:b" CTX "40 0 u:u:b" CTX,
	  "010 j1: 10 - 'a' 40 - 'b'\n020 j2: 20 - 'a' 30 - 'b'" },
	{ "other-end", "[job]\nbegin=u:a\nend=u:b\nkey=id\n" LOG,
	  "10 0 u:u:a id=1" CTX "20 1 u:u:b id=1" OTHER "30 0 u:u:log msg=\"m\" level=10" CTX,
	  "010 job:\n1 events of annotations belong to no span" },
	/* Its thread is that of the kernel's switches. */
	{ "kernel", "[job]\nbegin=syscall_entry_read\nend=syscall_exit_read\n"
	  "[annotation disk]\nevent=block_rq_issue\ntext=sector ${sector}\n",
	  "5 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
	  "10 0 syscall_entry_read fd=3\n20 0 block_rq_issue dev=1 sector=8 rwbs=0 nr_sector=8 bytes=4096\n"
	  "25 0 syscall_exit_read ret=1\n30 0 block_rq_issue dev=1 sector=9 rwbs=0 nr_sector=8 bytes=4096\n",
	  "010 job: 20 - 'sector 8'\n1 events of annotations belong to no span" },
	{ "no-thread", JOB LOG, "10 0 u:u:a id=1" CTX "20 0 u:u:log msg=\"m\" level=10\n" "30 0 u:u:b" CTX,
	  "010 j1:\n1 events of annotations belong to no span" },
};

static void test_made(gconstpointer data)
{
	const struct made *m = data;
	g_autofree char *got = expected(timeline_of(m->rules, m->script));
	g_assert_cmpstr(got, ==, m->expected);
}

/* A log does not make a span partial, an error, or one that has ended. */
static void test_harmless(void)
{
	static const char log[] = "20 0 u:u:log msg=\"error\" level=40" CTX "21 0 u:u:log msg=\"end\" level=40" CTX;
	g_autofree char *script = g_strconcat(ZIPKIN("10", "sr", "1", "0"), log, NULL);
	struct timeline *tl = timeline_of(LOG, script);
	const struct span *s = timeline_span(tl, 0);

	g_assert_cmpuint(timeline_n_spans(tl), ==, 1);
	g_assert_cmpuint(s->errors, ==, 0);
	g_assert_cmpuint(s->state, !=, SPAN_COMPLETE);
	timeline_free(tl);
}

/* ---- where they are shown ---- */

static char *column_of(const struct view *v, const struct timeline *tl, const char *column)
{
	struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	struct value value = column_value(&v->columns[view_column(v, column)], rows->rows->pdata[0], rows);
	char *text = value.kind == VALUE_TEXT ? g_strdup(value.s) : NULL;
	rows_free(rows);
	return text;
}

#define HOSTILE "a\\n\\033[31m\\x00\\xff\\\"</td>"

static void test_shown(void)
{
	struct timeline *tl = timeline_of(JOB LOG,
		"10 0 u:u:a id=1" CTX "20 0 u:u:log msg=\"timeout\" level=30" CTX
		"30 0 u:u:log msg=\"" HOSTILE "\" level=40" CTX "40 0 u:u:log msg=\"plain\"" CTX "50 0 u:u:b" CTX);
	static const enum span_format formats[] = { SPAN_JSON, SPAN_OTLP, SPAN_ZIPKIN, SPAN_PERFETTO };
	static const char *const says[] = {
		"\"event\":\"timeout\",\"severity\":\"warning\"",
		"\"name\":\"timeout\",\"attributes\":[{\"key\":\"blktop.severity\","
		"\"value\":{\"stringValue\":\"warning\"}},"
		"{\"key\":\"blktop.severity_number\",\"value\":{\"intValue\":\"13\"}}]",
		"\"value\":\"warning: timeout\"",
		"\"name\":\"timeout\",\"args\":{\"blktop.severity\":\"warning\"}",
	};
	const struct view *v = view_find("spans");
	g_autofree char *severity = column_of(v, tl, "severity"), *all = column_of(v, tl, "annotations");

	g_assert_cmpstr(severity, ==, "error");
	g_assert_true(g_str_has_prefix(all, "start warning: timeout error: a\n\033"));
	g_assert_true(g_str_has_suffix(all, " plain end"));
	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
		const struct span_selection what = { .trace_id = timeline_span(tl, 0)->trace_id };
		unsigned n;
		g_autofree char *text = span_export(tl, &what, formats[i], &n, NULL);
		g_autofree char *dense = g_strdup(text);
		char *to = dense;
		for (const char *p = text; *p; p++)
			if (*p != ' ' && *p != '\n')
				*to++ = *p;
		*to = '\0';
		g_autofree char *wanted = g_strdup(says[i]);
		to = wanted;
		for (const char *p = says[i]; *p; p++)
			if (*p != ' ')
				*to++ = *p;
		*to = '\0';
		if (!strstr(dense, wanted))
			g_error("%s is not in %s", wanted, text);
		g_assert_true(g_utf8_validate(text, -1, NULL));
		g_assert_null(strchr(text, '\033'));
	}
	timeline_free(tl);
}

/* In the waterfall: at the time cursor, below it, and on the span's page. */
static void test_waterfall(void)
{
	struct timeline *tl = timeline_of(JOB LOG,
		"10 0 u:u:a id=1" CTX "20 0 u:u:log msg=\"slow\" level=30" CTX
		"30 0 u:u:log msg=\"broken\" level=40" CTX
		"40 0 u:u:log msg=\"again\" level=40" CTX "50 0 u:u:log msg=\"fine\" level=20" CTX "60 0 u:u:b" CTX);
	struct view_query q = VIEW_QUERY_INIT;
	q.trace_id = timeline_span(tl, 0)->trace_id;
	struct rows *rows = view_find("waterfall")->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	const struct waterfall_row *row = rows->rows->pdata[0];
	g_autofree char *early = waterfall_instant(rows, row, 15), *later = waterfall_instant(rows, row, 55);
	g_autoptr(GPtrArray) lines = waterfall_detail(rows, row, 10);
	g_autoptr(GPtrArray) page = span_detail(rows, row);
	g_ptr_array_add(lines, NULL);
	g_ptr_array_add(page, NULL);
	g_autofree char *below = g_strjoinv("\n", (char **)lines->pdata), *all = g_strjoinv("\n", (char **)page->pdata);

	g_assert_null(strstr(early, "after"));
	g_assert_true(g_str_has_suffix(later, "; 5ns after \"info: fine\""));
	g_assert_nonnull(strstr(below, "error: broken  at 20ns, of 3 annotations with warnings or errors"));
	g_assert_nonnull(strstr(all, "+10ns  warning: slow"));
	g_assert_nonnull(strstr(all, "+40ns  info: fine"));
	rows_free(rows);
	timeline_free(tl);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/annotations/scales", test_scales);
	g_test_add_func("/annotations/errors", test_errors);
	for (size_t i = 0; i < G_N_ELEMENTS(made); i++) {
		g_autofree char *path = g_strdup_printf("/annotations/made/%s", made[i].name);
		g_test_add_data_func(path, &made[i], test_made);
	}
	g_test_add_func("/annotations/harmless", test_harmless);
	g_test_add_func("/annotations/shown", test_shown);
	g_test_add_func("/annotations/waterfall", test_waterfall);
	return g_test_run();
}
