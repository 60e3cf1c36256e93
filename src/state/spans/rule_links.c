/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses links of rules; see rule_links.h. */
#include "state/spans/rule_links.h"

#include "state/spans/rule_text.h"

#include "base/each.h"
#include "base/limits.h"

#include <string.h>

static void clear_link(void *p)
{
	struct rule_link *l = p;

	g_free(l->name);
	g_array_unref(l->key.fields);
	rule_template_clear(&l->text);
}

GArray *rule_links_new(void)
{
	GArray *links = g_array_new(false, false, sizeof(struct rule_link));

	g_array_set_clear_func(links, clear_link);
	return links;
}

static bool is_name(const char *name)
{
	for (const char *p = name; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("_-.", *p))
			return false;
	return *name != '\0';
}

static char *take_texts(const struct rule_names *of, struct rule_link *l, const GString *texts)
{
	char *wrong = texts->len ? rule_template_read(of, &l->text, texts->str) : NULL;

	if (wrong || !l->text.looks_up || l->out)
		return wrong;
	return g_strdup_printf("'%s': what is taken cannot be named by entries of tables", l->name);
}

static char *take_fields(const struct rule_names *of, struct rule_link *l, const char *text)
{
	g_auto(GStrv) names = rule_list(text);
	g_autoptr(GString) texts = g_string_new(NULL);
	struct rule_event *e = of->event;

	for (char **n = names; *n; n++) {
		const char *name = g_strstrip(*n);
		bool host = g_str_equal(name, "host");
		if (strstr(name, "${")) {
			g_string_append_printf(texts, "%s%c", name, LOOKUP_BETWEEN);
			continue;
		}
		if (rule_is_lookup(name))
			return g_strdup_printf("'%s': links name entries of tables as texts: ${%s}", name, name);
		int i = host ? 0 : rule_field(e, name);
		guint number = (guint)MAX(i, 0);
		if (i < 0)
			return g_strdup_printf("'%s' is not a field name", name);
		l->by_host |= host;
		if (!host)
			g_array_append_val(l->key.fields, number);
	}
	return l->key.fields->len || texts->len ? take_texts(of, l, texts) :
	       g_strdup_printf("link %s has no field other than host", l->name);
}

char *rule_links_take(const struct rule_names *of, bool out, const char *text)
{
	struct rule_event *e = of->event;

	for (unsigned n = 1;; n++) {
		size_t len = strcspn(text, "("), all = strcspn(text, ")");
		if (!text[len] || !text[all] || all < len)
			return g_strdup_printf("'%s' is not NAME(FIELD, ...)", text);
		if (n > LIMIT_RULE_LINKS)
			return g_strdup_printf("an event sends or takes at most %d links", LIMIT_RULE_LINKS);
		struct rule_link l = { .name = g_strstrip(g_strndup(text, len)), .out = out,
				       .key.fields = g_array_new(false, false, sizeof(guint)) };
		g_array_append_val(e->links, l);
		if (!is_name(l.name))
			return g_strdup_printf("'%s' is not a name of a link", l.name);
		g_autofree char *fields = g_strndup(text + len + 1, all - len - 1);
		char *wrong = take_fields(of, &g_array_index(e->links, struct rule_link, e->links->len - 1), fields);
		if (wrong)
			return wrong;
		text += all + 1;
		text += strspn(text, " \t");
		if (!*text)
			return NULL;
		if (*text != ',')
			return g_strdup_printf("after ')' comes ',' or nothing, not '%s'", text);
		text += 1 + strspn(text + 1, " \t");
	}
}
