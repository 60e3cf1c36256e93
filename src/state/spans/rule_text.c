/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts of rules: see rule_text.h. */
#include "state/spans/rule_text.h"

#include "state/spans/preset_head.h"

#include "base/mix.h"

#include <string.h>

/* ---- names ---- */

static bool is_field(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("_.[]|", *p))
			return false;
	return *name != '\0' && *name != '|';
}

int rule_field(struct rule_event *e, const char *name)
{
	guint i;
	if (!is_field(name) || rule_is_lookup(name))
		return -1;
	if (g_ptr_array_find_with_equal_func(e->fields, name, g_str_equal, &i))
		return (int)i;
	g_ptr_array_add(e->fields, g_strdup(name));
	return (int)e->fields->len - 1;
}

uint64_t rule_hash(uint64_t h, const char *line, size_t n)
{
	h = mix_bytes(h, line, n + 1);	/* with the NUL at its end */
	return h ? h : 1;
}

guint rule_table_number(struct rules *rules, const struct preset *preset, const char *name, const char *file)
{
	for (guint i = 0; i < rules->tables->len; i++) {
		const struct rule_table *t = &g_array_index(rules->tables, struct rule_table, i);
		if (t->preset == preset && g_str_equal(t->name, name))
			return i;
	}
	g_autofree char *whole = g_strdup_printf("%s %s", preset ? preset->name : "", name);
	struct rule_table new = { .name = g_strdup(name), .file = g_strdup(file), .preset = preset,
				  .id = rule_hash(1, whole, strlen(whole)) };
	g_array_append_val(rules->tables, new);
	return rules->tables->len - 1;
}

static bool is_table_name(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!g_ascii_isalnum(*p) && *p != '_' && *p != '-')
			return false;
	return *name != '\0';
}

bool rule_is_lookup(const char *text)
{
	for (const char *open = strchr(text, '['); open; open = strchr(open + 1, '[')) {
		size_t digits = strspn(open + 1, "0123456789");
		if (!digits || open[1 + digits] != ']')
			return true;
	}
	return false;
}

/* Splits at a character outside of brackets. */
static char **split_outside(const char *text, char at)
{
	GPtrArray *parts = g_ptr_array_new();
	int depth = 0;
	const char *from = text;
	for (const char *p = text; *p; p++) {
		depth += (*p == '[') - (*p == ']');
		if (*p == at && depth == 0) {
			g_ptr_array_add(parts, g_strndup(from, (gsize)(p - from)));
			from = p + 1;
		}
	}
	g_ptr_array_add(parts, g_strdup(from));
	g_ptr_array_add(parts, NULL);
	return (char **)g_ptr_array_free(parts, false);
}

char **rule_list(const char *text)
{
	return split_outside(text, ',');
}

/* ---- templates ---- */

void rule_template_clear(struct rule_template *t)
{
	g_clear_pointer(&t->texts, g_ptr_array_unref);
	g_clear_pointer(&t->fields, g_array_unref);
	t->looks_up = false;
}

static void template_init(struct rule_template *t)
{
	rule_template_clear(t);
	t->texts = g_ptr_array_new_with_free_func(g_free);
	t->fields = g_array_new(false, false, sizeof(guint));
}

/* A template that is being written: .text comes before the next field. */
struct writing {
	const struct rule_names *names;
	struct rule_template *t;
	GString *text;
};

static void put_mark(struct writing *w, char mark)
{
	g_string_append_c(w->text, LOOKUP_MARK);
	g_string_append_c(w->text, mark);
}

static char *put_field(struct writing *w, const char *name)
{
	int i = rule_field(w->names->event, name);
	if (i < 0)
		return g_strdup_printf("'%s' is not a field name", name);
	g_ptr_array_add(w->t->texts, g_strdup(w->text->str));
	g_string_truncate(w->text, 0);
	g_array_append_val(w->t->fields, (guint){ (guint)i });
	return NULL;
}

static char *put_parts(struct writing *w, const char *text, unsigned depth);

/* "NAME[KEY, KEY]" */
static char *put_table(struct writing *w, const char *text, unsigned depth)
{
	const char *open = strchr(text, '[');
	size_t n = strlen(open);
	g_autofree char *name = g_strndup(text, (gsize)(open - text));
	if (!is_table_name(g_strstrip(name)) || open[n - 1] != ']')
		return g_strdup_printf("'%s' is neither a field nor TABLE[FIELD]", text);
	if (depth == LOOKUP_DEPTH)
		return g_strdup_printf("'%s': more than %d tables within each other", text, LOOKUP_DEPTH);
	g_autofree char *inner = g_strndup(open + 1, n - 2);
	g_auto(GStrv) keys = rule_list(inner);
	char *why = NULL;
	put_mark(w, LOOKUP_TABLE);
	guint number = rule_table_number(w->names->rules, w->names->preset, name, w->names->file);
	g_string_append_printf(w->text, "%" G_GINT64_MODIFIER "x;",
			       g_array_index(w->names->rules->tables, struct rule_table, number).id);
	for (char **k = keys; *k && !why; k++) {
		if (k > keys)
			put_mark(w, LOOKUP_AND);
		why = put_parts(w, g_strstrip(*k), depth + 1);
	}
	put_mark(w, LOOKUP_END);
	return why;
}

/* "ENTRY|ENTRY|field" */
static char *put_parts(struct writing *w, const char *text, unsigned depth)
{
	if (!rule_is_lookup(text))		/* readers choose among the names of a field */
		return put_field(w, text);
	g_auto(GStrv) parts = split_outside(text, '|');
	bool several = parts[1] != NULL;
	char *why = NULL;
	if (several)
		put_mark(w, LOOKUP_FIRST);
	for (char **p = parts; *p && !why; p++) {
		const char *part = g_strstrip(*p);
		if (p > parts)
			put_mark(w, LOOKUP_OR);
		why = rule_is_lookup(part) ? put_table(w, part, depth) : put_field(w, part);
	}
	if (several)
		put_mark(w, LOOKUP_END);
	return why;
}

static char *read_fields(struct writing *w, const char *text)
{
	const char *open;
	while ((open = strstr(text, "${"))) {
		const char *close = strchr(open, '}');
		if (!close)
			return g_strdup_printf("'${' without '}' in '%s'", text);
		g_autofree char *name = g_strndup(open + 2, (gsize)(close - open - 2));
		g_string_append_len(w->text, text, open - text);
		w->t->looks_up |= rule_is_lookup(name);
		char *why = put_parts(w, g_strstrip(name), 0);
		if (why)
			return why;
		text = close + 1;
	}
	g_string_append(w->text, text);
	return NULL;
}

char *rule_template_read(const struct rule_names *n, struct rule_template *t, const char *text)
{
	g_autoptr(GString) rest = g_string_new(NULL);
	struct writing w = { n, t, rest };
	template_init(t);
	if (strchr(text, LOOKUP_MARK))
		return g_strdup("the text has a control character");
	char *why = read_fields(&w, text);
	g_ptr_array_add(t->texts, g_strdup(rest->str));
	return why;
}

char *rule_template_add(const struct rule_names *n, struct rule_template *t, const char *entry)
{
	g_autoptr(GString) rest = g_string_new(NULL);
	struct writing w = { n, t, rest };
	if (!t->texts) {
		template_init(t);
		t->looks_up = true;
	} else {			/* goes on behind its last text */
		guint last = t->texts->len - 1;
		g_string_append(rest, g_ptr_array_index(t->texts, last));
		g_ptr_array_remove_index(t->texts, last);
		put_mark(&w, LOOKUP_AND);
	}
	char *why = put_parts(&w, entry, 0);
	g_ptr_array_add(t->texts, g_strdup(rest->str));
	return why;
}
