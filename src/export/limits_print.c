/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the limits as text, CSV and JSON: see limits_print.h. */
#include "export/limits_print.h"

#include "base/json_write.h"
#include "base/limits.h"

#include <string.h>

/* ---- text ---- */

static void print_text(FILE *out)
{
	const char *group = NULL;
	const struct limit *l;

	for (size_t i = 0; (l = limits_at(i)); i++) {
		g_autofree char *value = g_strdup_printf("%" G_GUINT64_FORMAT " %s", l->value, l->unit);
		if (!group || strcmp(group, l->group))
			fprintf(out, "%s%s\n", group ? "\n" : "", l->group);
		group = l->group;
		fprintf(out, "  %-22s  %-20s  %s; more: %s (%s)\n", l->id, value, l->what, l->above, l->why);
	}
}

/* ---- as rows: CSV and others ---- */

#define TEXT_GETTER(field) \
	static struct value get_##field(const struct row *row, const struct rows *rows) \
	{ \
		return value_text(((const struct limit *)(const void *)row)->field); \
	}
TEXT_GETTER(id)
TEXT_GETTER(unit)
TEXT_GETTER(group)
TEXT_GETTER(what)
TEXT_GETTER(above)
TEXT_GETTER(why)

static struct value get_value(const struct row *row, const struct rows *rows)
{
	return value_int(VALUE_COUNT, (int64_t)((const struct limit *)(const void *)row)->value);
}

static void print_rows(FILE *out, enum rows_format format)
{
	static const struct column columns[] = {
		{ .id = "id", .kind = VALUE_TEXT, .get = get_id },
		{ .id = "value", .kind = VALUE_COUNT, .get = get_value },
		{ .id = "unit", .kind = VALUE_TEXT, .get = get_unit },
		{ .id = "group", .kind = VALUE_TEXT, .get = get_group },
		{ .id = "limits", .kind = VALUE_TEXT, .get = get_what },
		{ .id = "above", .kind = VALUE_TEXT, .get = get_above },
		{ .id = "why", .kind = VALUE_TEXT, .get = get_why },
	};
	const struct view view = { .id = "limits", .columns = columns, .n_columns = G_N_ELEMENTS(columns) };
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	const struct limit *l;

	for (size_t i = 0; (l = limits_at(i)); i++)
		g_ptr_array_add(all, (gpointer)l);
	rows_print(out, &view, &(struct rows){ .rows = all }, format, true);
}

/* ---- JSON ---- */

static void print_json(FILE *out)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct json_out w = { .out = text }, *b = &w;
	const struct limit *l;

	json_open(b, NULL, '{');
	json_put_text(b, "blktop", BLKTOP_VERSION);
	json_open(b, "limits", '[');
	for (size_t i = 0; (l = limits_at(i)); i++) {
		json_open(b, NULL, '{');
		json_put_text(b, "id", l->id);
		json_put_int(b, "value", (int64_t)l->value);
		json_put_text(b, "unit", l->unit);
		json_put_text(b, "group", l->group);
		json_put_text(b, "limits", l->what);
		json_put_text(b, "above", l->above);
		json_put_text(b, "why", l->why);
		json_close(b, '}');
	}
	json_close(b, ']');
	json_close(b, '}');
	fprintf(out, "%s\n", text->str);
}

void limits_print(FILE *out, enum rows_format format)
{
	if (format == FORMAT_TEXT)
		print_text(out);
	else if (format == FORMAT_JSON)
		print_json(out);
	else
		print_rows(out, format);
}
