/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Prints all that a reader delivers of traces, as JSON lines:
 *
 *     print-events [-b] DIR...
 *
 * -b: with babeltrace2 instead of the native reader.
 *
 * {"ns", "class", "stream", "cpu", "common", "specific", "payload"}: an event; its scopes are null where
 * they have no field. Values: 12 (an integer of base 10), {"int", "base", "label"} (others; an
 * enumeration's), {"real": "0x1.8p+0"}, "text" (bytes that are no UTF-8 as lone surrogates, as
 * Python's surrogateescape has them), {"struct": [["name", value], ...]} (variants too), [value, ...].
 * {"lost", "stream", "events", "packets", "begin", "end"}: a loss.
 * {"streams": [{"cpu", "domain", "vpid", "procname", "host", "order"}]}: the last line.
 *
 * Lengths of sequences are not printed (base/fields.h). Exits with 1 and a message where the trace
 * cannot be read.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/sources.h"
#include "base/fields.h"
#include "trace/native/native.h"

static const struct blk_subscription rows[] = { { .event = "*", .fields = { "*", NULL } } };

static void put_text(const char *s, size_t n)
{
	putchar('"');
	for (const char *end = s + n; s < end;) {
		gunichar c = g_utf8_get_char_validated(s, end - s);
		bool is_text = c != (gunichar)-1 && c != (gunichar)-2;
		if (!is_text)
			printf("\\udc%02x", (unsigned char)*s);
		else if (c < 0x20 || c == 0x7f || c == '"' || c == '\\')
			printf("\\u%04x", c);
		else
			fwrite(s, 1, (size_t)(g_utf8_next_char(s) - s), stdout);
		s = is_text ? g_utf8_next_char(s) : s + 1;
	}
	putchar('"');
}

static void put_key(const char *key, const char *value)
{
	printf("\"%s\": ", key);
	put_text(value ? value : "", value ? strlen(value) : 0);
}

static void put_integer(const struct field *f)
{
	bool is_fast = !f->text && (f->base == 10 || !f->base);
	if (!is_fast)
		fputs("{\"int\": ", stdout);
	if (f->kind == FIELD_SIGNED)
		printf("%" PRId64, (int64_t)f->value);
	else
		printf("%" PRIu64, f->value);
	if (is_fast)
		return;
	printf(", \"base\": %u", f->base ? f->base : 10);
	if (f->text) {
		fputs(", \"label\": ", stdout);
		put_text(f->text, f->len);
	}
	putchar('}');
}

static void put_real(double v)
{
	if (isfinite(v))
		printf("{\"real\": \"%a\"}", v);
	else
		printf("{\"real\": \"%s\"}", isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
}

static void put_value(const struct field *f)
{
	switch (f->kind) {
	case FIELD_SIGNED:
	case FIELD_UNSIGNED:
		put_integer(f);
		break;
	case FIELD_REAL:
		put_real(f->real);
		break;
	case FIELD_TEXT:
		put_text(f->text, f->len);
		break;
	default:
		fprintf(stderr, "print-events: a field of kind %u\n", f->kind);
		break;
	}
}

/* One level of structures and arrays: what closes it. */
struct level {
	bool is_list;
	unsigned n;			/* values so far */
};

static void put_name(struct level *l, const char *name)
{
	if (l->n++)
		fputs(", ", stdout);
	if (l->is_list)
		return;
	putchar('[');
	put_text(name, strlen(name));
	fputs(", ", stdout);
}

static void begin_level(GArray *levels, bool is_list)
{
	struct level l = { .is_list = is_list };
	fputs(is_list ? "[" : "{\"struct\": [", stdout);
	g_array_append_val(levels, l);
}

static void end_level(GArray *levels)
{
	fputs(g_array_index(levels, struct level, levels->len - 1).is_list ? "]" : "]}", stdout);
	g_array_set_size(levels, levels->len - 1);
	if (levels->len && !g_array_index(levels, struct level, levels->len - 1).is_list)
		putchar(']');
}

/* The fields of one scope: a structure. */
static void put_scope(struct blk_text all, enum field_scope scope)
{
	struct fields_cursor c = fields_of(all.str, all.len);
	g_autoptr(GArray) levels = g_array_new(FALSE, FALSE, sizeof(struct level));
	struct field f;
	while (fields_next(&c, &f)) {
		if (f.kind == FIELD_MORE)
			fprintf(stderr, "print-events: an event has more fields than are kept\n");
		if (f.kind == FIELD_MORE || f.scope != scope)
			continue;
		if (!levels->len)
			begin_level(levels, false);
		if (f.kind == FIELD_END) {
			end_level(levels);
			continue;
		}
		struct level *l = &g_array_index(levels, struct level, levels->len - 1);
		put_name(l, f.name);
		if (f.kind == FIELD_BEGIN) {
			begin_level(levels, f.is_list);
		} else {
			put_value(&f);
			if (!l->is_list)
				putchar(']');
		}
	}
	if (!levels->len)
		fputs("null", stdout);
	while (levels->len)
		end_level(levels);
}

static void put_event(const struct blk_tables *t, const struct blk_event *e)
{
	static const char *const scopes[] = { "common", "specific", "payload" };
	const struct blk_stream *s = blk_stream(t, e->stream);
	printf("{\"ns\": %" PRId64 ", ", e->ts);
	put_key("class", blk_class(t, e->cls)->name);
	printf(", \"stream\": %u, \"cpu\": ", e->stream);
	if (s->cpu == UINT32_MAX)
		fputs("null", stdout);
	else
		printf("%u", s->cpu);
	struct blk_text all = blk_text(e, BLK_FIELD0);
	for (unsigned i = 0; i < G_N_ELEMENTS(scopes); i++) {
		printf(", \"%s\": ", scopes[i]);
		put_scope(all, i);
	}
	puts("}");
}

static void put_loss(const struct blk_event *e)
{
	const struct blk_loss *l = (const struct blk_loss *)e->data;
	if (l->silence)
		return;
	printf("{\"lost\": true, \"stream\": %u, \"events\": %" PRIu64 ", \"packets\": %" PRIu64
	       ", \"begin\": %" PRId64 ", \"end\": %" PRId64 "}\n",
	       e->stream, l->events, l->packets, l->begin_ns, l->end_ns);
}

static void put_streams(const struct blk_tables *t)
{
	fputs("{\"streams\": [", stdout);
	for (unsigned i = 0; i < t->streams->len; i++) {
		const struct blk_stream *s = blk_stream(t, i);
		printf("%s{\"cpu\": %d, \"domain\": %u, \"vpid\": %d, ", i ? ", " : "", (int)s->cpu, s->domain,
		       s->vpid);
		put_key("procname", s->vpid_procname);
		fputs(", ", stdout);
		put_key("host", blk_host(t, s->host)->name);
		fputs(", ", stdout);
		put_key("order", s->order);
		putchar('}');
	}
	puts("]}");
}

static bool print_all(struct source *s, GError **error)
{
	struct blk_batch batch;
	enum source_status status;
	while ((status = source_next(s, &batch, error)) == SOURCE_OK) {
		for (size_t i = 0; i < batch.n; i++) {
			const struct blk_event *e = &batch.ev[i];
			if (e->row < BLK_ROW_FIRST_PSEUDO)
				put_event(&s->tables, e);
			else if (e->row == BLK_ROW_LOST_END)
				put_loss(e);
		}
	}
	if (status != SOURCE_END)
		return false;
	put_streams(&s->tables);
	return true;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	bool with_bt2 = argc > 1 && !strcmp(argv[1], "-b");
	if (argc < 2 + with_bt2) {
		fputs("usage: print-events [-b] DIR...\n", stderr);
		return 64;
	}
	const char *const *paths = (const char *const *)argv + 1 + with_bt2;
	g_autoptr(blk_source) s = with_bt2 ? source_open_bt2(paths, rows, G_N_ELEMENTS(rows), &error)
					   : source_open_native(paths, rows, G_N_ELEMENTS(rows), &error);
	if (s && print_all(s, &error))
		return fflush(stdout) ? 1 : 0;
	fprintf(stderr, "print-events: %s\n", error ? error->message : "cancelled");
	return 1;
}
