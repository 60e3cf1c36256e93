/* SPDX-License-Identifier: GPL-2.0-only */
/* Columns, rows and details of the call log: see logview.h. */
#include "views/logview.h"

#include "base/call_event.h"
#include "base/each.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/logline.h"

#include <string.h>

struct log_row {
	struct row row;
	struct calllog_line *line;
	const char *at, *what, *comm, *name;	/* visible text */
};

#define LINE(r) (((const struct log_row *)(r))->line)

static GETTER(get_duration)
{
	const struct calllog_line *l = LINE(row);
	return l->entry_ns != CALLLOG_UNKNOWN && l->exit_ns != CALLLOG_UNKNOWN
		? value_int(VALUE_NS, l->exit_ns - l->entry_ns) : value_none();
}

static GETTER(get_end_ns)
{
	const struct calllog_line *l = LINE(row);
	return l->kind == CALLLOG_CALL && l->exit_ns != CALLLOG_UNKNOWN ? value_int(VALUE_TIME, l->exit_ns) :
									value_none();
}

static GETTER(get_error)
{
	const struct calllog_line *l = LINE(row);
	return l->has_ret && call_failed(l->ret) ? value_text(calllog_errno(-l->ret))
							   : value_none();
}

static const struct column columns[] = {
	COLUMN_T("at", "TIME", 18, 0, "the instant", MEMBER(struct log_row, at)),
	COLUMN_T("comm", "THREAD", 15, 1, "name of the thread", MEMBER(struct log_row, comm, .none = IF_ZERO)),
	COLUMN_ID("tid", "TID", 7, 2, "thread id", MEMBER_OF(struct log_row, line, tid)),
	COLUMN_ID("cpu", "CPU", 3, 3, "where it ran", MEMBER_OF(struct log_row, line, cpu)),
	COLUMN_N("duration_ns", "TOOK", VALUE_NS, 7, 2, "how long the call took", get_duration),
	{ .id = "text", .title = "CALL OR EVENT", .kind = VALUE_TEXT, .width = 24,
	  .align = ALIGN_LEFT, .flexible = true, .drawing = DRAW_CALL,
	  .help = "the call as strace shows it, or the event with its fields",
	  .get = MEMBER(struct log_row, what) },
	COLUMN_T("name", "NAME", 0, 0, "call or event", MEMBER(struct log_row, name)),
	COLUMN_T("kind", "KIND", 0, 0, "call, event, user, loss",
		 MEMBER_OF(struct log_row, line, kind, .words = calllog_kind_name)),
	COLUMN_ID("pid", "PID", 0, 0, "process id", MEMBER_OF(struct log_row, line, pid)),
	COLUMN_ID("ret", "RET", 0, 0, "what a call returned",
		  MEMBER_OF(struct log_row, line, ret, .known = offsetof(struct calllog_line, has_ret))),
	COLUMN_T("error", "ERROR", 0, 0, "its error, as ENOENT", get_error),
	COLUMN_TIME("time_ns", "NS", 0, 0, "the instant, ns since the epoch", MEMBER_OF(struct log_row, line, ts)),
	COLUMN_TIME("exit_ns", "END", 0, 0, "when a call returned, ns since the epoch", get_end_ns),
};

static void row_free(void *p)
{
	struct log_row *r = p;
	calllog_line_unref(r->line);
	g_free(r);
}

static void add_row(struct rows *rows, struct calllog_line *l)
{
	struct log_row *r = g_new0(struct log_row, 1);
	char at[TIMEFMT_LEN];
	const struct view_query nothing = VIEW_QUERY_INIT;
	r->line = calllog_line_ref(l);
	r->at = rows_text(rows, timefmt_clock_ns(at, l->ts));
	r->what = rows_take_text(rows, logline_what(l, false));
	r->comm = rows_take_text(rows, text_visible(l->comm));
	r->name = rows_take_text(rows, text_visible(l->name));
	r->row.drill = nothing;
	r->row.key[0] = (uint64_t)l->ts;
	r->row.key[1] = (uint64_t)l->cpu << 32 ^ (uint32_t)l->tid ^ (uint64_t)g_str_hash(l->name) << 16;
	r->row.marked = l->kind == CALLLOG_LOSS || (l->has_ret && call_failed(l->ret));
	r->row.state = l->kind == CALLLOG_LOSS ? ROW_BAD : ROW_PLAIN;
	r->row.part = logline_part(l);
	r->row.open = l->kind == CALLLOG_CALL && l->state == LINE_UNFINISHED;
	g_ptr_array_add(rows->rows, r);
}

struct rows *logview_rows(const struct timeline *tl, const struct view_query *query,
			  const GPtrArray *lines)
{
	struct rows *rows = rows_new(tl, query);
	g_ptr_array_set_free_func(rows->rows, row_free);
	for (guint i = 0; lines && i < lines->len; i++)
		add_row(rows, lines->pdata[i]);
	rows->n_before_filter = rows->rows->len;
	return rows;
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	return logview_rows(tl, query, NULL);
}

const struct calllog_line *logview_line(const struct row *row)
{
	return LINE(row);
}

static struct value get_named(const void *row, const struct rows *rows, const char *name)
{
	return logfilter_get(LINE(row), name, rows->text);
}

const struct view view_log = {
	.only = ONLY_PID | ONLY_TID,
	.id = "log", .title = "Log", .kind = VIEW_LOG,
	.help = "Every call and event, as strace would print them: entry and exit joined, descriptors "
		"named, events of programs in place. It is read from the trace around the cursor, and "
		"goes on in both directions. As text or JSON lines: blktop log.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns), .on_screen = true, .build = build,
	.has_named = logfilter_has, .get_named = get_named,
};

/* ---- details ---- */

static void add(GPtrArray *to, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void add(GPtrArray *to, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(to, text_visible(text));
}

static void add_fields(GPtrArray *to, const char *title, GBytes *run, const struct calllog_line *l)
{
	gsize n = 0;
	const void *bytes = run ? g_bytes_get_data(run, &n) : NULL;
	struct fields_cursor c = fields_of(bytes, n);
	unsigned depth = 0;
	struct field f;
	if (run)
		add(to, "%s", title);
	while (fields_next(&c, &f)) {
		g_autofree char *value = logline_value(l, &f);
		int indent = 2 + 2 * (int)MIN(depth, 16);
		const char *file = l->kind == CALLLOG_CALL && calllog_is_fd(f.name)
			? calllog_line_fd(l, (int32_t)f.value) : NULL;
		if (f.kind == FIELD_END) {
			depth -= depth > 0;
			continue;
		}
		if (f.kind == FIELD_BEGIN)
			depth++;
		add(to, "%*s%s%s%s%s%s", indent, "", f.kind == FIELD_MORE ? "..." : f.name,
		    *f.name && *value ? " = " : "", value, file ? "  " : "", file ? file : "");
	}
}

GPtrArray *logview_details(const struct calllog_line *l)
{
	GPtrArray *to = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = logline_text(l);
	char at[TIMEFMT_LEN], took[TIMEFMT_LEN];
	g_ptr_array_add(to, g_strdup(text));
	add(to, "%s", "");
	add(to, "%s %s of %s, thread %d of process %d, CPU %d, host %s", calllog_kind_name[l->kind],
	    l->name, *l->comm ? l->comm : "?", l->tid, l->pid, (int)l->cpu, l->host);
	if (l->entry_ns != CALLLOG_UNKNOWN)
		add(to, "entered %s", timefmt_clock_ns(at, l->entry_ns));
	if (l->exit_ns != CALLLOG_UNKNOWN)
		add(to, "came back %s", timefmt_clock_ns(at, l->exit_ns));
	if (l->entry_ns != CALLLOG_UNKNOWN && l->exit_ns != CALLLOG_UNKNOWN)
		add(to, "took %s", timefmt_duration(took, l->exit_ns - l->entry_ns));
	add_fields(to, l->kind == CALLLOG_CALL ? "entry" : "fields", l->args, l);
	add_fields(to, "exit", l->results, l);
	return to;
}

/* Appends a call in progress, and for how long. */
static void add_open(GPtrArray *to, const struct calllog_line *call, int64_t at)
{
	g_autofree char *what = logline_what(call, false);
	char since[TIMEFMT_LEN];
	add(to, "  %-15s %7d  %7s  %s", *call->comm ? call->comm : "?", call->tid,
	    timefmt_duration(since, at - call->entry_ns), what);
}

static void add_thread(GPtrArray *to, const struct calllog_line *l, const struct calllog_window *w)
{
	const struct calllog_line *mine = NULL;
	bool runs = false;
	for (guint i = 0; i < w->lines->len; i++)
		if (((struct calllog_line *)w->lines->pdata[i])->tid == l->tid)
			mine = w->lines->pdata[i];
	for (guint i = 0; i < w->cpus->len; i++)
		runs = runs || (l->tid > 0 && g_array_index(w->cpus, struct calllog_cpu, i).tid == l->tid);
	add(to, "THREAD  %s %d: %s, %s", *l->comm ? l->comm : "?", l->tid,
	    runs ? "on a CPU" : "not known to be on a CPU",
	    mine ? "in a call" : "in no call that is known");
	if (mine)
		add_open(to, mine, w->want.at_ns);
}

GPtrArray *logview_instant(const struct calllog_line *l, const struct calllog_window *w)
{
	GPtrArray *to = logview_details(l);
	add(to, "%s", "");
	if (w->error) {
		add(to, "%s", w->error);
		return to;
	}
	add_thread(to, l, w);
	add(to, "CPUS");
	ARRAY_EACH(const struct calllog_cpu, c, w->cpus) {
		if (c->tid < 0)
			add(to, "  %3u  not known", c->cpu);
		else
			add(to, "  %3u  %s %d", c->cpu, !c->tid ? "idle" : c->comm ? c->comm : "?", c->tid);
	}
	add(to, "CALLS UNDER WAY   %15s  %s", "for", "what");
	for (guint i = 0; i < w->lines->len; i++)
		add_open(to, w->lines->pdata[i], w->want.at_ns);
	add(to, "OPEN DESCRIPTORS of process %d: %u known%s", w->want.pid, w->fds ? w->fds->len : 0,
	    w->names ? "" : "; what was opened earlier was not read");
	for (guint i = 0; w->fds && i < w->fds->len; i++) {
		const struct calllog_fd *fd = &g_array_index(w->fds, struct calllog_fd, i);
		add(to, "  %5d  %s", (int)fd->fd, fd->name);
	}
	return to;
}
