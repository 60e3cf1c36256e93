/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables and answers about a range: see report_range.h. */
#include "export/report_range.h"

#include "base/each.h"
#include "views/needs.h"
#include "views/questions.h"
#include "views/repairs.h"

#define ROWS 12			/* of a table */
#define CAUSES 20

void report_rows(const struct timeline *tl, const struct report_options *o, const struct report_table *t,
		 const uint64_t *trace_id, report_visit visit, void *data)
{
	const struct view *v = view_find(t->view);
	struct view_query q = VIEW_QUERY_INIT;

	q.from_ns = o->from_ns;
	q.to_ns = o->to_ns;
	q.by = t->by;
	if (trace_id)
		query_set_trace(&q, *trace_id);
	struct rows *rows = v->build(tl, &q);
	if (t->sort)
		rows_sort(rows, v, view_column(v, t->sort), true);
	visit(data, t, v, rows);
	rows_free(rows);
}

void report_causes(const struct timeline *tl, const struct report_options *o, report_visit visit, void *data)
{
	static const char *const columns[] = { "count", "operation", "took", "x_usual_ratio", "cause", NULL };
	static const struct report_table causes = {
		"Causes", "causes", BY_SYSTEM, NULL, columns, CAUSES, "causes"
	};

	report_rows(tl, o, &causes, NULL, visit, data);
}

void report_machine(const struct timeline *tl, const struct report_options *o, report_visit visit, void *data)
{
	static const char *const processes[] = {
		"comm", "pid", "cpu_ns", "runnable_ns", "blocked_ns", "syscalls", "read_bytes", "write_bytes", NULL
	};
	static const char *const calls[] = {
		"comm", "pid", "syscall", "waited", "count", "errors", "total_ns", "p99_ns", "max_ns", NULL
	};
	static const struct report_table tables[] = {
		{ "Processes", "processes", BY_PROCESS, "cpu_ns", processes, ROWS, "processes" },
		{ "System calls", "syscalls", BY_PROCESS, "total_ns", calls, ROWS, "rows" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(tables); i++)
		report_rows(tl, o, &tables[i], NULL, visit, data);
}

/* ---- what the trace cannot tell ---- */

static bool is_recorded(const struct timeline *tl, const char *need)
{
	const char *const needs[] = { need, NULL };
	const struct view v = { .needs = needs };
	g_autoptr(GPtrArray) found = needs_of(&v, tl);
	return repair_is_context(need) || !found->len || ((const struct need *)found->pdata[0])->there;
}

/* Appends what is missing; false: nothing is. */
static bool add_missing(const struct timeline *tl, const struct question *q, GString *text, bool *ret_no)
{
	*ret_no = false;
	for (size_t i = 0; q->needs[i]; i++) {
		if (is_recorded(tl, q->needs[i]))
			continue;
		g_autofree char *words = repair_words(q->needs[i]);
		*ret_no = true;
		g_string_append_printf(text, "%s%s", text->len ? "; " : "", words);
	}
	for (size_t i = 0; q->wants[i].need; i++) {
		if (is_recorded(tl, q->wants[i].need))
			continue;
		g_autofree char *words = repair_words(q->wants[i].need);
		g_string_append_printf(text, "%s%s: %s", text->len ? "; " : "", words, q->wants[i].unknown);
	}
	return text->len > 0;
}

void report_questions(const struct timeline *tl, report_question visit, void *data)
{
	g_autoptr(GPtrArray) all = questions_all();

	PTR_EACH(const struct question, q, all) {
		g_autoptr(GString) text = g_string_new(NULL);
		bool no;
		if (question_is_on_request(q) || (!q->needs[0] && !q->wants[0].need))
			continue;
		bool missing = add_missing(tl, q, text, &no);
		visit(data, q->text, no ? "no" : missing ? "partly" : "yes", missing ? text->str : "-");
	}
}
