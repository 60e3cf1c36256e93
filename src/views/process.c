/* SPDX-License-Identifier: GPL-2.0-only */
/* The page of one process: see process.h. */
#include "views/process.h"

#include "base/each.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/processes.h"
#include "views/registry.h"

#include <string.h>

struct property_row {
	struct row row;
	const char *fact, *text, *meaning;
};

#define ROW(row) ((const struct property_row *)(row))

static const struct column columns[] = {
	COLUMN_T("fact", "FACT", 16, 0, "a column of the view processes", MEMBER(struct property_row, fact)),
	COLUMN_T("value", "VALUE", 30, 0, "of this process; null: not known", MEMBER(struct property_row, text)),
	COLUMN_FLEX("meaning", "MEANING", 20, "what that is", MEMBER(struct property_row, meaning)),
};

/* --- the parts --- */

static const struct {
	const struct view *view;
	const char *id, *title, *drill, *columns;
	enum view_by by;
} parts[PROCESS_PARTS] = {
	[PROCESS_THREADS] = { &view_processes, "process-threads", "Threads", "syscalls",
		"tid,comm,cpu_ratio,runnable_ratio,blocked_ratio,user_ns,syscall_ns,syscalls,"
		"read_bytes,write_bytes", BY_THREAD },
	[PROCESS_FILES] = { &view_files, "process-files", "Files", "files",
		"fd,path,kind,reads,read_bytes,writes,write_bytes,total_ns,p99_ns,max_ns", BY_PROCESS },
	[PROCESS_CALLS] = { &view_syscalls, "process-calls", "System calls", "slow",
		"syscall,count,errors,unfinished,total_ns,p50_ns,p99_ns,max_ns,busy_ratio",
		BY_PROCESS },
	[PROCESS_SLOW] = { &view_slow, "process-slow", "Slowest calls", NULL,
		"syscall,duration_ns,tid,begin_ns,ret,path", BY_THREAD },
};

const struct view *process_part_view(enum process_part part)
{
	static struct view views[PROCESS_PARTS];
	struct view *v = &views[part];
	if (!v->id) {
		*v = *parts[part].view;
		v->id = parts[part].id;
		v->title = parts[part].title;
		v->drill = parts[part].drill;
		v->default_by = parts[part].by;
		v->arrange = NULL;
	}
	return v;
}

const char *process_part_columns(enum process_part part)
{
	return parts[part].columns;
}

/* --- facts --- */

static char *text_of(struct value v)
{
	char buf[TIMEFMT_LEN];
	switch (v.kind) {
	case VALUE_NONE:
		return NULL;
	case VALUE_NS:
		return g_strdup(timefmt_duration(buf, v.i));
	case VALUE_TIME:
		return g_strdup(timefmt_date_ms(buf, v.i));
	case VALUE_BYTES:
		return g_strdup(timefmt_bytes(buf, (uint64_t)v.i));
	case VALUE_COUNT:
		return g_strdup(timefmt_count(buf, (uint64_t)v.i));
	case VALUE_RATIO:
		return g_strdup_printf("%.1f%%", 100 * v.d);
	case VALUE_TEXT:
		return g_strdup(v.s);
	default:
		return g_strdup_printf("%" G_GINT64_FORMAT, v.i);
	}
}

static void add_fact(struct rows *rows, const char *fact, const char *text, const char *meaning)
{
	struct property_row *r = g_new0(struct property_row, 1);
	r->fact = fact;
	r->text = rows_text(rows, text);
	r->meaning = meaning;
	r->row.key[0] = key_text(0, fact);
	r->row.drill = rows->query;
	g_ptr_array_add(rows->rows, r);
}

const char *process_fact(const struct rows *rows, const char *id)
{
	for (guint i = 0; i < rows->rows->len; i++)
		if (strcmp(ROW(rows->rows->pdata[i])->fact, id) == 0)
			return ROW(rows->rows->pdata[i])->text;
	return NULL;
}

/* If the pid was reused, the process with the most time on a CPU. */
static const struct row *busiest(struct rows *processes)
{
	const struct view *v = &view_processes;
	rows_sort(processes, v, view_column(v, "cpu_ns"), true);
	PTR_EACH(const struct row, row, processes->rows)
		if (row->drill.pid >= 0)
			return row;
	return NULL;
}

static void add_facts(struct rows *rows, const struct rows *processes, const struct row *row,
		      const struct rows *threads)
{
	g_autofree char *n = g_strdup_printf("%u", threads->rows->len);
	for (size_t i = 0; i < view_processes.n_columns; i++) {
		const struct column *c = &view_processes.columns[i];
		g_autofree char *text = text_of(column_value(c, row, processes));
		if (strcmp(c->id, "tid"))
			add_fact(rows, c->id, text, c->help);
	}
	add_fact(rows, "threads", n, "threads that were seen in the range");
}

/* --- build --- */

static void page_free(void *data)
{
	struct process_page *page = data;
	for (int i = 0; i < PROCESS_PARTS; i++)
		rows_free(page->part[i]);
	g_free(page);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct process_page *page = g_new0(struct process_page, 1);
	struct view_query q = *query;
	rows->extra = page;
	rows->free_extra = page_free;
	q.by = BY_PROCESS;
	q.tid = -1;
	struct rows *processes = processes_build(tl, &q);
	const struct row *row = busiest(processes);
	page->pid = row ? row->drill.pid : -1;
	q.pid = row ? row->drill.pid : G_MAXINT32;
	q.host = row ? row->drill.host : query->host;
	rows->query.pid = page->pid;
	for (int i = 0; i < PROCESS_PARTS; i++) {
		q.by = parts[i].by;
		page->part[i] = parts[i].view->build(tl, &q);
	}
	if (row)
		add_facts(rows, processes, row, page->part[PROCESS_THREADS]);
	rows_free(processes);
	rows->n_before_filter = rows->rows->len;
	return rows;
}

const struct process_page *process_page_of(const struct rows *rows)
{
	return rows->free_extra == page_free ? rows->extra : NULL;
}

static const char *const needs[] = { "sched_switch", NEED_SYSCALLS, NULL };

const struct view view_process = {
	.only = ONLY_THREADS & ~ONLY_TID,
	.id = "process", .title = "Process",
	.help = "One process (--only pid=N, else the busiest): facts about it. The screen also has its "
		"threads, files with their bytes, system calls and slowest calls.",
	.kind = VIEW_PROCESS, .columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "fact", .drill = "syscalls", .needs = needs, .on_screen = true,
	.build = build,
};
