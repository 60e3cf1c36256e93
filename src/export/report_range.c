/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables and answers about a range: see report_range.h. */
#include "export/report_range.h"

#include "views/needs.h"
#include "views/questions.h"
#include "views/repairs.h"

#define ROWS 12			/* of a table */
#define CAUSES 20

/* Rows of a view of the range, the largest value of `sort` first. */
static void visit_rows(const struct timeline *tl, const struct report_options *o, const char *title, const char *view,
		       enum view_by by, const char *sort, const char *const *columns, guint max, const char *what,
		       report_table visit, void *data)
{
	const struct view *v = view_find(view);
	struct view_query q = VIEW_QUERY_INIT;

	q.from_ns = o->from_ns;
	q.to_ns = o->to_ns;
	q.by = by;
	struct rows *rows = v->build(tl, &q);
	if (sort)
		rows_sort(rows, v, view_column(v, sort), true);
	visit(data, title, v, rows, columns, max, what);
	rows_free(rows);
}

void report_causes(const struct timeline *tl, const struct report_options *o, report_table visit, void *data)
{
	static const char *const columns[] = { "count", "operation", "took", "x_usual_ratio", "cause", NULL };

	visit_rows(tl, o, "Causes", "causes", BY_SYSTEM, NULL, columns, CAUSES, "causes", visit, data);
}

void report_machine(const struct timeline *tl, const struct report_options *o, report_table visit, void *data)
{
	static const char *const processes[] = {
		"comm", "pid", "cpu_ns", "runnable_ns", "blocked_ns", "syscalls", "read_bytes", "write_bytes", NULL
	};
	static const char *const calls[] = {
		"comm", "pid", "syscall", "count", "errors", "total_ns", "p99_ns", "max_ns", NULL
	};

	visit_rows(tl, o, "Processes", "processes", BY_PROCESS, "cpu_ns", processes, ROWS, "processes", visit, data);
	visit_rows(tl, o, "System calls", "syscalls", BY_PROCESS, "total_ns", calls, ROWS, "rows", visit, data);
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

	for (guint i = 0; i < all->len; i++) {
		const struct question *q = all->pdata[i];
		g_autoptr(GString) text = g_string_new(NULL);
		bool no;
		if (question_is_on_request(q) || (!q->needs[0] && !q->wants[0].need))
			continue;
		bool missing = add_missing(tl, q, text, &no);
		visit(data, q->text, no ? "no" : missing ? "partly" : "yes", missing ? text->str : "-");
	}
}
