/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints lines of the call log as JSON. Writes text directly instead of building objects, because a log may have
 * millions of lines. */
#include "export/log_json.h"

#include "base/call_event.h"
#include "base/fields.h"
#include "export/json.h"

#include <math.h>
#include <string.h>

static void put_escaped(GString *out, const char *text)
{
	for (const char *p = text; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);
		if (c == '"' || c == '\\')
			g_string_append_printf(out, "\\%c", (char)c);
		else if (c > 0xffff && !g_unichar_isprint(c))
			g_string_append_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
					       0xdc00 + ((c - 0x10000) & 0x3ff));
		else if (c < 0x20 || (c > 0x7e && !g_unichar_isprint(c)))
			g_string_append_printf(out, "\\u%04x", c);
		else
			g_string_append_len(out, p, g_utf8_next_char(p) - p);
	}
}

static void put_text(GString *out, const char *text, size_t len)
{
	bool plain = true;
	for (size_t i = 0; i < len && plain; i++)
		plain = text[i] >= 0x20 && text[i] < 0x7f && text[i] != '"' && text[i] != '\\';
	g_string_append_c(out, '"');
	if (plain) {
		g_string_append_len(out, text, (gssize)len);
	} else {
		g_autofree char *copy = g_strndup(text, len);
		g_autofree char *valid = json_valid_text(copy);
		put_escaped(out, valid);
	}
	g_string_append_c(out, '"');
}

static void put_key(GString *out, const char *key)
{
	put_text(out, key, strlen(key));
	g_string_append_c(out, ':');
}

static void put_int_or_null(GString *out, const char *key, bool known, int64_t n)
{
	g_string_append_c(out, ',');
	put_key(out, key);
	if (known)
		g_string_append_printf(out, "%" G_GINT64_FORMAT, n);
	else
		g_string_append(out, "null");
}

static void put_text_or_null(GString *out, const char *key, const char *text)
{
	g_string_append_c(out, ',');
	put_key(out, key);
	if (text)
		put_text(out, text, strlen(text));
	else
		g_string_append(out, "null");
}

static void put_value(GString *out, const struct field *f)
{
	char buf[G_ASCII_DTOSTR_BUF_SIZE];
	if (f->kind == FIELD_SIGNED)
		g_string_append_printf(out, "%" G_GINT64_FORMAT, (int64_t)f->value);
	else if (f->kind == FIELD_UNSIGNED)
		g_string_append_printf(out, "%" G_GUINT64_FORMAT, f->value);
	else if (f->kind == FIELD_TEXT)
		put_text(out, f->text, f->len);
	else if (f->kind == FIELD_REAL && isfinite(f->real))
		g_string_append(out, g_ascii_formatd(buf, sizeof buf, "%.17g", f->real));
	else
		g_string_append(out, "null");
}

static void put_field(GString *out, const struct field *f, struct fields_cursor *c, bool named, struct field *more);

/* Where the run is cut off, *more becomes its FIELD_MORE. */
static void put_inside(GString *out, bool is_list, struct fields_cursor *c, struct field *more)
{
	struct field f = { .kind = FIELD_END };
	bool any = false;
	g_string_append_c(out, is_list ? '[' : '{');
	while (fields_next(c, &f) && f.kind != FIELD_END && f.kind != FIELD_MORE) {
		if (any)
			g_string_append_c(out, ',');
		any = true;
		put_field(out, &f, c, !is_list, more);
		f.kind = FIELD_END;
	}
	if (f.kind == FIELD_MORE)
		*more = f;
	g_string_append_c(out, is_list ? ']' : '}');
}

static void put_field(GString *out, const struct field *f, struct fields_cursor *c, bool named, struct field *more)
{
	if (named)
		put_key(out, f->name);
	if (f->kind == FIELD_BEGIN)
		put_inside(out, f->is_list, c, more);
	else
		put_value(out, f);
}

/* Prints the fields of a run: those of the payload, or all others. run NULL: null. */
static void put_run(GString *out, const char *key, GBytes *run, bool payload)
{
	gsize n = 0;
	const void *bytes = run ? g_bytes_get_data(run, &n) : NULL;
	struct fields_cursor c = fields_of(bytes, n);
	struct field f, more = { .kind = FIELD_END };
	bool any = false;
	g_string_append_c(out, ',');
	put_key(out, key);
	if (!run) {
		g_string_append(out, "null");
		return;
	}
	g_string_append_c(out, '{');
	while (fields_next(&c, &f)) {
		gsize before = out->len;
		if (any)
			g_string_append_c(out, ',');
		if (f.kind == FIELD_MORE)
			more = f;
		else
			put_field(out, &f, &c, true, &more);
		if (f.kind == FIELD_MORE || (f.scope == FIELD_PAYLOAD) != payload)
			g_string_truncate(out, before);
		else
			any = true;
	}
	if (more.kind == FIELD_MORE && (more.scope == FIELD_PAYLOAD) == payload)
		g_string_append_printf(out, "%s\"...\":%" G_GUINT64_FORMAT, any ? "," : "", more.value);
	g_string_append_c(out, '}');
}

static void put_fds(GString *out, const struct calllog_line *l)
{
	g_string_append(out, ",\"fds\":{");
	for (guint i = 0; l->fds && i < l->fds->len; i++) {
		const struct calllog_fd *fd = &g_array_index(l->fds, struct calllog_fd, i);
		g_string_append_printf(out, "%s\"%" G_GINT64_FORMAT "\":", i ? "," : "", fd->fd);
		put_text(out, fd->name, strlen(fd->name));
	}
	g_string_append_c(out, '}');
}

static void put_call(GString *out, const struct calllog_line *l)
{
	bool failed = l->has_ret && call_failed(l->ret);
	put_text_or_null(out, "state", calllog_state_name[l->state]);
	put_int_or_null(out, "entry_ns", l->entry_ns != CALLLOG_UNKNOWN, l->entry_ns);
	put_int_or_null(out, "exit_ns", l->exit_ns != CALLLOG_UNKNOWN, l->exit_ns);
	put_int_or_null(out, "ret", l->has_ret, l->ret);
	put_text_or_null(out, "error", failed ? calllog_errno(-l->ret) : NULL);
	g_string_append_printf(out, ",\"lost\":%s", l->lost ? "true" : "false");
	put_run(out, "args", l->args, true);
	put_run(out, "results", l->results, true);
	put_fds(out, l);
	put_text_or_null(out, "ret_name", l->ret_name);
}

void log_json(GString *out, const struct calllog_line *l)
{
	g_string_append_printf(out, "{\"time_ns\":%" G_GINT64_FORMAT, l->ts);
	put_text_or_null(out, "kind", calllog_kind_name[l->kind]);
	put_text_or_null(out, "host", l->host);
	put_int_or_null(out, "cpu", l->cpu != UINT32_MAX, l->cpu);
	if (l->kind == CALLLOG_LOSS) {
		bool known = l->loss.silence || l->loss.events || l->loss.packets;
		put_int_or_null(out, "lost_events", known, (int64_t)l->loss.events);
		put_int_or_null(out, "lost_packets", known, (int64_t)l->loss.packets);
		put_int_or_null(out, "to_ns", true, l->loss.end_ns);
	} else {
		put_int_or_null(out, "pid", l->pid >= 0, l->pid);
		put_int_or_null(out, "tid", l->tid >= 0, l->tid);
		put_text_or_null(out, "comm", *l->comm ? l->comm : NULL);
		put_text_or_null(out, "name", l->name);
		if (l->kind == CALLLOG_CALL)
			put_call(out, l);
		else
			put_run(out, "args", l->args, true);
		put_run(out, "context", l->args, false);
	}
	g_string_append_c(out, '}');
}
