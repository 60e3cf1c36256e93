/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the limits as text, CSV and JSON: see limits_print.h. */
#include "export/limits_print.h"

#include "base/json_write.h"
#include "base/limits.h"
#include "views/common.h"

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

/* ---- as rows ---- */

static void print_rows(FILE *out, enum rows_format format)
{
	static const struct column columns[] = {
		{ .id = "id", .kind = VALUE_TEXT, .get = MEMBER(struct limit, id) },
		{ .id = "value", .kind = VALUE_COUNT, .get = MEMBER(struct limit, value) },
		{ .id = "unit", .kind = VALUE_TEXT, .get = MEMBER(struct limit, unit) },
		{ .id = "group", .kind = VALUE_TEXT, .get = MEMBER(struct limit, group) },
		{ .id = "limits", .kind = VALUE_TEXT, .get = MEMBER(struct limit, what) },
		{ .id = "above", .kind = VALUE_TEXT, .get = MEMBER(struct limit, above) },
		{ .id = "why", .kind = VALUE_TEXT, .get = MEMBER(struct limit, why) },
	};
	const struct view view = { .id = "limits", .columns = columns, .n_columns = G_N_ELEMENTS(columns) };
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	g_autoptr(GString) text = g_string_new(NULL);
	const struct rows rows = { .rows = all };
	struct json_out b = { .out = text };
	const struct limit *l;

	for (size_t i = 0; (l = limits_at(i)); i++)
		g_ptr_array_add(all, (gpointer)l);
	if (format != FORMAT_JSON) {
		rows_print(out, &view, &rows, format, true);
		return;
	}
	json_open(&b, NULL, '{');
	json_put_text(&b, "blktop", BLKTOP_VERSION);
	json_open(&b, "limits", '[');
	rows_print_objects(out, &b, &view, &rows);
	fputs("]}\n", out);
}

void limits_print(FILE *out, enum rows_format format)
{
	if (format == FORMAT_TEXT)
		print_text(out);
	else
		print_rows(out, format);
}
