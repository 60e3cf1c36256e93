/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters over lines of the call log. */
#include "views/logline.h"

#include "base/call_event.h"
#include "base/text.h"

#include <string.h>

#define ARG_PREFIX "arg."

struct logfilter {
	struct expr *expr;
	GPtrArray *args;		/* char *: names behind "arg." */
	GStringChunk *chunk;		/* texts of the current line */
	const struct calllog_line *line;
	char *text;			/* text of the current line, made at first use */
};

static struct value get_text(struct logfilter *f)
{
	if (!f->text)
		f->text = logline_text(f->line);
	return value_text(f->text);
}

static struct value get_name(struct logfilter *f)
{
	return value_text(f->line->name);
}

static struct value get_comm(struct logfilter *f)
{
	return *f->line->comm ? value_text(f->line->comm) : value_none();
}

static struct value get_kind(struct logfilter *f)
{
	return value_text(calllog_kind_name[f->line->kind]);
}

static struct value get_state(struct logfilter *f)
{
	return f->line->kind == CALLLOG_CALL ? value_text(calllog_state_name[f->line->state])
					     : value_none();
}

static struct value get_host(struct logfilter *f)
{
	return value_text(f->line->host);
}

static struct value get_tid(struct logfilter *f)
{
	return f->line->tid >= 0 ? value_int(VALUE_ID, f->line->tid) : value_none();
}

static struct value get_pid(struct logfilter *f)
{
	return f->line->pid >= 0 ? value_int(VALUE_ID, f->line->pid) : value_none();
}

static struct value get_cpu(struct logfilter *f)
{
	return f->line->cpu != UINT32_MAX ? value_int(VALUE_ID, f->line->cpu) : value_none();
}

static struct value get_time(struct logfilter *f)
{
	return value_int(VALUE_TIME, f->line->ts);
}

static struct value get_end(struct logfilter *f)
{
	int64_t end = f->line->exit_ns;
	return f->line->kind == CALLLOG_CALL && end != CALLLOG_UNKNOWN ? value_int(VALUE_TIME, end) : value_none();
}

static struct value get_duration(struct logfilter *f)
{
	const struct calllog_line *l = f->line;
	return l->entry_ns != CALLLOG_UNKNOWN && l->exit_ns != CALLLOG_UNKNOWN
		? value_int(VALUE_NS, l->exit_ns - l->entry_ns) : value_none();
}

static struct value get_ret(struct logfilter *f)
{
	return f->line->has_ret ? value_int(VALUE_ID, f->line->ret) : value_none();
}

static struct value get_error(struct logfilter *f)
{
	const struct calllog_line *l = f->line;
	return l->has_ret && call_failed(l->ret) ? value_text(calllog_errno(-l->ret))
							   : value_none();
}

static struct value get_arg(struct logfilter *f, const char *name);

static struct value get_file(struct logfilter *f)
{
	static const char *const paths[] = { "filename", "pathname", "path", NULL };
	const struct calllog_line *l = f->line;
	if (l->fds)
		return value_text(g_array_index(l->fds, struct calllog_fd, 0).name);
	for (unsigned i = 0; paths[i]; i++) {
		struct value v = get_arg(f, paths[i]);
		if (v.kind == VALUE_TEXT)
			return v;
	}
	return value_none();
}

static const struct {
	const char *id, *help;
	struct value (*get)(struct logfilter *f);
	enum value_kind kind;
} columns[] = {
	{ "text", "the line as it is shown", get_text, VALUE_TEXT },	/* bare words match this column */
	{ "name", "call or event", get_name, VALUE_TEXT },
	{ "comm", "name of the thread", get_comm, VALUE_TEXT },
	{ "tid", "the thread", get_tid, VALUE_ID },
	{ "pid", "its process", get_pid, VALUE_ID },
	{ "cpu", "where it ran", get_cpu, VALUE_ID },
	{ "host", "which machine", get_host, VALUE_TEXT },
	{ "kind", "call, event, user, loss", get_kind, VALUE_TEXT },
	{ "state", "of a call: whole, pending, resumed, unfinished, exit, no-return", get_state,
	  VALUE_TEXT },
	{ "time_ns", "the instant, ns since the epoch", get_time, VALUE_TIME },
	{ "exit_ns", "when a call returned, ns since the epoch", get_end, VALUE_TIME },
	{ "duration_ns", "of a call", get_duration, VALUE_NS },
	{ "ret", "what a call returned", get_ret, VALUE_ID },
	{ "error", "the error that it returned: ENOENT", get_error, VALUE_TEXT },
	{ "file", "the file or socket of its descriptor, or its path", get_file, VALUE_TEXT },
};

/* The rest of the path after the field's name or index; NULL: the path does not begin with it. */
static const char *behind(const struct field *f, bool in_list, unsigned index, const char *path)
{
	size_t len = strlen(f->name);
	if (in_list) {
		char number[16];
		len = (size_t)g_snprintf(number, sizeof number, "[%u]", index);
		return strncmp(path, number, len) ? NULL : path + len;
	}
	return len && !strncmp(path, f->name, len) && strchr(".[", path[len]) ? path + len : NULL;
}

static void skip_inside(struct fields_cursor *c)
{
	struct field f;
	for (unsigned depth = 1; depth && fields_next(c, &f);)
		depth += f.kind == FIELD_BEGIN ? 1 : f.kind == FIELD_END ? -1u : 0;
}

/* Finds a field by path: "count", "args.count", "fildes[1]". The recursion is no deeper than the path is long. */
static bool find_path(struct fields_cursor *c, int scope, bool in_list, const char *path,
		      struct field *ret)
{
	for (unsigned i = 0; fields_next(c, ret) && ret->kind != FIELD_END; i++) {
		const char *rest = scope < 0 || ret->scope == scope ? behind(ret, in_list, i, path) : NULL;
		if (ret->kind != FIELD_BEGIN && rest && !*rest)
			return ret->kind != FIELD_MORE;
		if (ret->kind == FIELD_BEGIN && rest && *rest)
			return find_path(c, -1, ret->is_list, rest + (*rest == '.'), ret);
		if (ret->kind == FIELD_BEGIN)
			skip_inside(c);
	}
	return false;
}

static struct value value_of(struct logfilter *f, const struct field *field, bool number)
{
	if (field->kind == FIELD_REAL)
		return value_ratio(field->real);
	if (field->text && !number) {
		g_autofree char *text = g_strndup(field->text, field->len);
		return value_text(g_string_chunk_insert(f->chunk, text));
	}
	if (field->kind > FIELD_UNSIGNED)
		return value_none();
	bool large = field->kind == FIELD_UNSIGNED && field->value > INT64_MAX;
	return value_int(large ? VALUE_HEX64 : VALUE_ID, (int64_t)field->value);
}

/* Searches the fields of the call's entry first, then those of its exit. */
static struct value get_arg(struct logfilter *f, const char *name)
{
	static const int scopes[] = { FIELD_PAYLOAD, FIELD_SPECIFIC, FIELD_COMMON };
	GBytes *runs[] = { f->line->args, f->line->results };
	bool number = g_str_has_suffix(name, "#");
	g_autofree char *path = g_strndup(name, strlen(name) - number);
	for (size_t i = 0; i < G_N_ELEMENTS(runs) * G_N_ELEMENTS(scopes); i++) {
		struct field field;
		gsize n;
		GBytes *run = runs[i / G_N_ELEMENTS(scopes)];
		const void *bytes = run ? g_bytes_get_data(run, &n) : NULL;
		struct fields_cursor c = fields_of(bytes, bytes ? n : 0);
		if (find_path(&c, scopes[i % G_N_ELEMENTS(scopes)], false, path, &field))
			return value_of(f, &field, number);
	}
	return value_none();
}

static int find_column(const char *column)
{
	for (size_t i = 0; i < G_N_ELEMENTS(columns); i++)
		if (!strcmp(columns[i].id, column) || text_is_with_unit(columns[i].id, column))
			return (int)i;	/* no column's id without its unit is the id of another */
	return -1;
}

static bool is_arg(const char *column)
{
	return g_str_has_prefix(column, ARG_PREFIX) && column[strlen(ARG_PREFIX)];
}

bool logfilter_has(const char *column)
{
	return find_column(column) >= 0 || is_arg(column);
}

struct value logfilter_get(const struct calllog_line *l, const char *column, GStringChunk *chunk)
{
	struct logfilter f = { .chunk = chunk, .line = l };
	int i = find_column(column);
	struct value v = i >= 0 ? columns[i].get(&f) : get_arg(&f, column + strlen(ARG_PREFIX));
	if (v.kind == VALUE_TEXT && f.text)
		v = value_text(g_string_chunk_insert(chunk, f.text));
	g_free(f.text);
	return v;
}

static int lookup(const char *column, const void *data)
{
	const struct logfilter *f = data;
	int known = find_column(column);
	if (known >= 0 || !is_arg(column))
		return known;
	g_ptr_array_add(f->args, g_strdup(column + strlen(ARG_PREFIX)));
	return (int)(G_N_ELEMENTS(columns) + f->args->len - 1);
}

static struct text_candidate column_at(size_t i, const void *data)
{
	(void)data;
	if (i >= G_N_ELEMENTS(columns))
		return (struct text_candidate){ 0 };
	return (struct text_candidate){ .name = columns[i].id, .meaning = columns[i].help };
}

static struct value get(int column, const void *row, const void *data)
{
	struct logfilter *f = (struct logfilter *)data;
	(void)row;
	if ((size_t)column < G_N_ELEMENTS(columns))
		return columns[column].get(f);
	return get_arg(f, f->args->pdata[column - (int)G_N_ELEMENTS(columns)]);
}

static enum value_kind kind_of_column(int column, const void *data)
{
	(void)data;
	return (size_t)column < G_N_ELEMENTS(columns) ? columns[column].kind : VALUE_NONE;
}

struct logfilter *logfilter_new(const char *text, GError **error)
{
	struct logfilter *f = g_new0(struct logfilter, 1);
	f->args = g_ptr_array_new_with_free_func(g_free);
	f->chunk = g_string_chunk_new(256);
	f->expr = expr_parse(text, lookup, column_at, f, 1, error);
	if (f->expr && expr_check(f->expr, kind_of_column, f, error))
		return f;
	logfilter_free(f);
	return NULL;
}

void logfilter_free(struct logfilter *f)
{
	if (!f)
		return;
	expr_free(f->expr);
	g_ptr_array_unref(f->args);
	g_string_chunk_free(f->chunk);
	g_free(f->text);
	g_free(f);
}

bool logfilter_match(struct logfilter *f, const struct calllog_line *l)
{
	f->line = l;
	g_string_chunk_clear(f->chunk);
	g_clear_pointer(&f->text, g_free);
	bool ok = expr_match(f->expr, get, l, f);
	g_clear_pointer(&f->text, g_free);
	return ok;
}
