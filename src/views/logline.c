/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of the call log in the format of strace. */
#include "views/logline.h"

#include "base/call_event.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "state/kernel/syscalls.h"
#include "views/call_flags.h"

#include <string.h>

#define AT_CWD (-100)
#define POINTER (UINT64_C(1) << 46)	/* the tracer prints many addresses as decimal numbers */

/* Quoted with C escapes; long texts are truncated. */
static void put_quoted(GString *s, const char *text, size_t len)
{
	size_t n = MIN(len, LIMIT_LOG_TEXT_BYTES);
	g_string_append_c(s, '"');
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		if (c == '\n')
			g_string_append(s, "\\n");
		else if (c == '\t')
			g_string_append(s, "\\t");
		else if (c == '"' || c == '\\')
			g_string_append_printf(s, "\\%c", c);
		else
			g_string_append_c(s, c);
	}
	g_string_append(s, n < len ? "\"..." : "\"");
}

static void put_number(GString *s, const struct field *f)
{
	if (f->text)
		g_string_append_printf(s, "%.*s ", (int)MIN(f->len, 64), f->text);
	if (f->text)
		g_string_append_c(s, '(');
	if (f->base == 16)
		g_string_append_printf(s, "0x%" G_GINT64_MODIFIER "x", f->value);
	else if (f->base == 8)
		g_string_append_printf(s, "0%" G_GINT64_MODIFIER "o", f->value);
	else if (f->value >= POINTER && f->value <= INT64_MAX)
		g_string_append_printf(s, "0x%" G_GINT64_MODIFIER "x", f->value);
	else if (f->kind == FIELD_SIGNED)
		g_string_append_printf(s, "%" G_GINT64_FORMAT, (int64_t)f->value);
	else
		g_string_append_printf(s, "%" G_GUINT64_FORMAT, f->value);
	if (f->text)
		g_string_append_c(s, ')');
}

static void put_value(GString *s, const struct field *f)
{
	char buf[G_ASCII_DTOSTR_BUF_SIZE];
	if (f->kind <= FIELD_UNSIGNED)
		put_number(s, f);
	else if (f->kind == FIELD_REAL)
		g_string_append(s, g_ascii_formatd(buf, sizeof buf, "%.9g", f->real));
	else if (f->kind == FIELD_TEXT)
		put_quoted(s, f->text, f->len);
}

/* Names of the flags in an argument of a call. NULL: it has none. */
static char *flags_of(const struct calllog_line *l, const struct field *f)
{
	return l->kind == CALLLOG_CALL && f->kind <= FIELD_UNSIGNED && !f->text
		? call_flags_text(l->machine, l->name, f->name, f->value) : NULL;
}

char *logline_value(const struct calllog_line *l, const struct field *f)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_autofree char *flags = flags_of(l, f);
	put_value(s, f);
	if (flags)
		g_string_append_printf(s, "  %s", flags);
	return text_visible_len(s->str, s->len);
}

/* `fd 5 "path"`; false: the field is no descriptor. */
static bool put_fd(GString *s, const struct field *f, const struct calllog_line *l)
{
	if (l->kind != CALLLOG_CALL || f->kind > FIELD_UNSIGNED || !calllog_is_fd(f->name))
		return false;
	int64_t fd = (int32_t)f->value;
	const char *name = calllog_line_fd(l, fd);
	if (fd == AT_CWD)
		g_string_append_printf(s, "%s AT_FDCWD", f->name);
	else
		g_string_append_printf(s, "%s %" G_GINT64_FORMAT, f->name, fd);
	if (name) {
		g_string_append_c(s, ' ');
		put_quoted(s, name, strlen(name));
	}
	return true;
}

static void put_field(GString *s, const struct field *f, struct fields_cursor *c,
		      const struct calllog_line *l);

/* Prints the members of a structure or list; leaves the cursor after its end. */
static void put_inside(GString *s, bool is_list, struct fields_cursor *c,
		       const struct calllog_line *l)
{
	struct field f;
	unsigned n = 0;
	gsize shown = 0;
	g_string_append(s, is_list ? "[" : "{ ");
	while (fields_next(c, &f) && f.kind != FIELD_END && f.kind != FIELD_MORE) {
		if (n++)
			g_string_append(s, ", ");
		put_field(s, &f, c, l);
		if (n == LIMIT_LOG_ELEMENTS)
			shown = s->len;
	}
	if (n > LIMIT_LOG_ELEMENTS) {
		g_string_truncate(s, shown);
		g_string_append(s, ", ...");
	}
	g_string_append(s, is_list ? "]" : " }");
}

static void put_field(GString *s, const struct field *f, struct fields_cursor *c,
		      const struct calllog_line *l)
{
	if (f->kind == FIELD_MORE)
		g_string_append(s, "...");
	if (f->kind >= FIELD_END || put_fd(s, f, l))
		return;
	g_autofree char *flags = flags_of(l, f);
	if (*f->name)
		g_string_append_printf(s, "%s = ", f->name);
	if (f->kind == FIELD_BEGIN)
		put_inside(s, f->is_list, c, l);
	else if (flags)
		g_string_append(s, flags);
	else
		put_value(s, f);
}

/* All fields of the payload except `without`. */
static void put_fields(GString *s, GBytes *run, const char *without, const struct calllog_line *l)
{
	gsize n;
	const void *bytes = run ? g_bytes_get_data(run, &n) : NULL;
	struct fields_cursor c = fields_of(bytes, bytes ? n : 0);
	struct field f;
	bool any = false;
	while (fields_next(&c, &f)) {
		if (f.scope != FIELD_PAYLOAD || (without && !strcmp(f.name, without)))
			continue;
		if (any)
			g_string_append(s, ", ");
		any = true;
		put_field(s, &f, &c, l);
	}
}

static void put_return(GString *s, const struct calllog_line *l)
{
	const char *error = call_failed(l->ret) ? calllog_errno(-l->ret) : NULL;
	bool address = !strcmp(l->name, "mmap") || !strcmp(l->name, "mremap") || !strcmp(l->name, "brk");
	if (!l->has_ret)
		g_string_append(s, ") = ?");
	else if (error && l->ret > -512)
		g_string_append_printf(s, ") = -1 %s (%s)", error, g_strerror((int)-l->ret));
	else if (error)
		g_string_append_printf(s, ") = -1 %s", error);
	else if (address)
		g_string_append_printf(s, ") = 0x%" G_GINT64_MODIFIER "x", (uint64_t)l->ret);
	else
		g_string_append_printf(s, ") = %" G_GINT64_FORMAT, l->ret);
	if (l->ret_name) {
		g_string_append_c(s, ' ');
		put_quoted(s, l->ret_name, strlen(l->ret_name));
	}
}

/* Is it a system call that the tracer knows only by number? Its six arguments are recorded twice. */
static bool is_numbered(const struct calllog_line *l)
{
	struct field f;
	gsize n;
	const void *bytes = l->args ? g_bytes_get_data(l->args, &n) : NULL;
	return bytes && fields_find(bytes, n, FIELD_PAYLOAD, "id", &f) &&
	       fields_find(bytes, n, FIELD_PAYLOAD, "args", &f);
}

static void put_call(GString *s, const struct calllog_line *l, bool timed)
{
	bool numbered = is_numbered(l);
	bool resumed = l->state == LINE_RESUMED || l->state == LINE_EXIT;
	g_autoptr(GString) results = g_string_new(NULL);
	g_string_append_printf(s, resumed ? "<... %s resumed>" : "%s(", l->name);
	if (l->args)
		put_fields(s, l->args, numbered ? "id" : NULL, l);
	else
		g_string_append_c(s, '?');
	if (!numbered)
		put_fields(results, l->results, "ret", l);
	if (results->len)
		g_string_append_printf(s, " => %s", results->str);
	if (l->state == LINE_PENDING) {
		g_string_append(s, " <unfinished ...>");
		return;
	}
	put_return(s, l);
	if (l->state == LINE_UNFINISHED)
		g_string_append(s, l->lost ? " <lost>" : " <no end seen>");
	else if (l->state == LINE_EXIT)
		g_string_append(s, " <?>");
	else if (timed && l->exit_ns != CALLLOG_UNKNOWN)
		g_string_append_printf(s, " <%" G_GINT64_FORMAT ".%09d>",
				       (l->exit_ns - l->entry_ns) / NS_PER_S,
				       (int)((l->exit_ns - l->entry_ns) % NS_PER_S));
}

static void put_loss(GString *s, const struct calllog_line *l)
{
	char until[TIMEFMT_LEN];
	if (l->loss.silence)
		g_string_append(s, "nothing was traced");
	else if (l->loss.is_part)
		g_string_append(s, "events may be lost here");
	else if (l->loss.events)
		g_string_append_printf(s, "lost %" G_GUINT64_FORMAT " events", l->loss.events);
	else if (l->loss.packets)
		g_string_append_printf(s, "lost %" G_GUINT64_FORMAT " packets", l->loss.packets);
	else
		g_string_append(s, "lost an unknown number of events");
	if (l->cpu != UINT32_MAX)
		g_string_append_printf(s, " of CPU %u", l->cpu);
	g_string_append_printf(s, ", until %s", timefmt_clock_ns(until, l->loss.end_ns));
}

char *logline_what(const struct calllog_line *l, bool timed)
{
	g_autoptr(GString) s = g_string_new(NULL);
	if (l->kind == CALLLOG_CALL) {
		put_call(s, l, timed);
	} else if (l->kind == CALLLOG_LOSS) {
		put_loss(s, l);
	} else {
		g_string_append(s, l->name);
		g_autoptr(GString) fields = g_string_new(NULL);
		put_fields(fields, l->args, NULL, l);
		if (fields->len)
			g_string_append_printf(s, ": %s", fields->str);
	}
	return text_visible_len(s->str, s->len);
}

char logline_part(const struct calllog_line *l)
{
	static const struct { const char *begin; enum part part; } files[] = {
		{ "socket", PART_SOCKET }, { "pipe", PART_PIPE }, { "/", PART_DISK },
	};
	const struct call_info *info = call_info(l->name);
	const char *file = l->fds && l->fds->len ? g_array_index(l->fds, struct calllog_fd, 0).name : "";
	enum part part = info->by_fd ? PART_OTHER : info->cause;

	for (size_t i = 0; info->by_fd && i < G_N_ELEMENTS(files); i++)
		if (g_str_has_prefix(file, files[i].begin))
			part = files[i].part;
	return l->kind == CALLLOG_CALL && part != PART_OTHER ? part_info[part].letter : 0;
}

char *logline_text(const struct calllog_line *l)
{
	char at[TIMEFMT_LEN], tid[16] = "?", cpu[16] = "?";
	g_autofree char *what = logline_what(l, true), *comm = text_visible(l->comm);
	timefmt_clock_ns(at, l->ts);
	if (l->kind == CALLLOG_LOSS)
		return g_strdup_printf("%s --- %s ---", at, what);
	if (l->tid >= 0)
		g_snprintf(tid, sizeof tid, "%d", l->tid);
	if (l->cpu != UINT32_MAX)
		g_snprintf(cpu, sizeof cpu, "%u", l->cpu);
	return g_strdup_printf("%s [%s %s/%s] %s", at, *comm ? comm : "?", tid, cpu, what);
}
