/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints lines of the call log as JSON. */
#include "export/log_json.h"

#include "base/call_event.h"
#include "base/fields.h"
#include "base/json_write.h"

#include <math.h>

static void put_value(struct json_out *b, const char *key, const struct field *f)
{
	char buf[G_ASCII_DTOSTR_BUF_SIZE];
	if (f->kind == FIELD_SIGNED)
		json_put_int(b, key, (int64_t)f->value);
	else if (f->kind == FIELD_UNSIGNED)
		json_put_uint(b, key, f->value);
	else if (f->kind == FIELD_TEXT)
		json_put_text_len(b, key, f->text, f->len);
	else if (f->kind == FIELD_REAL && isfinite(f->real))
		json_put_raw(b, key, g_ascii_formatd(buf, sizeof buf, "%.17g", f->real));
	else
		json_put_null(b, key);
}

static void put_field(struct json_out *b, const struct field *f, struct fields_cursor *c, bool named,
		      struct field *more);

/* Where the run is cut off, *more becomes its FIELD_MORE. */
static void put_inside(struct json_out *b, const char *key, bool is_list, struct fields_cursor *c, struct field *more)
{
	struct field f = { .kind = FIELD_END };
	json_open(b, key, is_list ? '[' : '{');
	while (fields_next(c, &f) && f.kind != FIELD_END && f.kind != FIELD_MORE) {
		put_field(b, &f, c, !is_list, more);
		f.kind = FIELD_END;
	}
	if (f.kind == FIELD_MORE)
		*more = f;
	json_close(b, is_list ? ']' : '}');
}

static void put_field(struct json_out *b, const struct field *f, struct fields_cursor *c, bool named,
		      struct field *more)
{
	const char *key = named ? f->name : NULL;
	if (f->kind == FIELD_BEGIN)
		put_inside(b, key, f->is_list, c, more);
	else
		put_value(b, key, f);
}

/* Prints the fields of a run: those of the payload, or all others. run NULL: null. */
static void put_run(struct json_out *b, const char *key, GBytes *run, bool payload)
{
	gsize n = 0;
	const void *bytes = run ? g_bytes_get_data(run, &n) : NULL;
	struct fields_cursor c = fields_of(bytes, n);
	struct field f, more = { .kind = FIELD_END };
	if (!run) {
		json_put_null(b, key);
		return;
	}
	json_open(b, key, '{');
	while (fields_next(&c, &f)) {
		gsize before = b->out->len;
		bool follows = b->follows;
		if (f.kind == FIELD_MORE)
			more = f;
		else
			put_field(b, &f, &c, true, &more);
		if (f.kind == FIELD_MORE || (f.scope == FIELD_PAYLOAD) != payload) {
			g_string_truncate(b->out, before);
			b->follows = follows;
		}
	}
	if (more.kind == FIELD_MORE && (more.scope == FIELD_PAYLOAD) == payload)
		json_put_uint(b, "...", more.value);
	json_close(b, '}');
}

static void put_fds(struct json_out *b, const struct calllog_line *l)
{
	json_open(b, "fds", '{');
	for (guint i = 0; l->fds && i < l->fds->len; i++) {
		const struct calllog_fd *fd = &g_array_index(l->fds, struct calllog_fd, i);
		char key[24];
		g_snprintf(key, sizeof key, "%" G_GINT64_FORMAT, fd->fd);
		json_put_text(b, key, fd->name);
	}
	json_close(b, '}');
}

static void put_call(struct json_out *b, const struct calllog_line *l)
{
	bool failed = l->has_ret && call_failed(l->ret);
	json_put_text(b, "state", calllog_state_name[l->state]);
	json_put_known(b, "entry_ns", l->entry_ns, l->entry_ns != CALLLOG_UNKNOWN);
	json_put_known(b, "exit_ns", l->exit_ns, l->exit_ns != CALLLOG_UNKNOWN);
	json_put_known(b, "ret", l->ret, l->has_ret);
	json_put_text(b, "error", failed ? calllog_errno(-l->ret) : NULL);
	json_put_bool(b, "lost", l->lost);
	put_run(b, "args", l->args, true);
	put_run(b, "results", l->results, true);
	put_fds(b, l);
	json_put_text(b, "ret_name", l->ret_name);
}

void log_json(GString *out, const struct calllog_line *l)
{
	struct json_out w = { .out = out, .long_escapes = true }, *b = &w;
	json_open(b, NULL, '{');
	json_put_int(b, "time_ns", l->ts);
	json_put_text(b, "kind", calllog_kind_name[l->kind]);
	json_put_text(b, "host", l->host);
	json_put_known(b, "cpu", l->cpu, l->cpu != UINT32_MAX);
	if (l->kind == CALLLOG_LOSS) {
		bool known = l->loss.silence || l->loss.events || l->loss.packets;
		json_put_known(b, "lost_events", (int64_t)l->loss.events, known);
		json_put_known(b, "lost_packets", (int64_t)l->loss.packets, known);
		json_put_int(b, "to_ns", l->loss.end_ns);
	} else {
		json_put_known(b, "pid", l->pid, l->pid >= 0);
		json_put_known(b, "tid", l->tid, l->tid >= 0);
		json_put_text(b, "comm", *l->comm ? l->comm : NULL);
		json_put_text(b, "name", l->name);
		if (l->kind == CALLLOG_CALL)
			put_call(b, l);
		else
			put_run(b, "args", l->args, true);
		put_run(b, "context", l->args, false);
	}
	json_close(b, '}');
}
