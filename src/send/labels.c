/* SPDX-License-Identifier: GPL-2.0-only */
/* Labels of series: see labels.h. */
#include "send/labels.h"

#include "base/limits.h"
#include "base/text.h"

#include <string.h>

void labels_append_escaped(GString *s, const char *text)
{
	for (const char *c = text; *c; c++)
		if (*c == '\n')
			g_string_append(s, "\\n");
		else if (*c == '\\' || *c == '"')
			g_string_append_printf(s, "\\%c", *c);
		else
			g_string_append_c(s, *c);
}

static void append_label(GString *s, enum metric_field field, const char *text)
{
	g_autofree char *visible = text_visible(text);
	size_t n = strlen(visible);
	if (n > LIMIT_LABEL_BYTES) {
		for (n = LIMIT_LABEL_BYTES; n && ((unsigned char)visible[n] & 0xc0) == 0x80; n--)
			;
		visible[n] = '\0';
	}
	g_string_append_printf(s, "%s%s=\"", s->len ? "," : "", metric_field_words[field]);
	labels_append_escaped(s, visible);
	g_string_append_c(s, '"');
}

char *labels_of(const struct metric_query *q, const struct value *by)
{
	GString *s = g_string_new(NULL);
	for (unsigned i = 0; i < q->n_by; i++) {
		char number[32];
		bool is_text = by[i].kind == VALUE_TEXT, is_none = by[i].kind == VALUE_NONE;
		if (!is_text && !is_none)
			g_snprintf(number, sizeof number, "%" G_GINT64_FORMAT, by[i].i);
		append_label(s, q->by[i], is_text ? by[i].s : is_none ? "" : number);
	}
	return g_string_free(s, false);
}

char *labels_of_others(const struct metric_query *q)
{
	GString *s = g_string_new(NULL);
	for (unsigned i = 0; i < q->n_by; i++)
		append_label(s, q->by[i], "(other)");
	return g_string_free(s, false);
}
