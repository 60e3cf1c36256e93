/* SPDX-License-Identifier: GPL-2.0-only */
/* See preset_head.h. */
#include "state/spans/preset_head.h"

#include "base/each.h"

#include <string.h>

static GPtrArray *texts_new(void)
{
	return g_ptr_array_new_with_free_func(g_free);
}

struct preset *preset_new(const char *name, const char *file, unsigned line)
{
	struct preset *p = g_new0(struct preset, 1);
	GPtrArray **const lists[] = { &p->detect, &p->events, &p->contexts, &p->kernel, &p->agents, &p->setup,
				      &p->cannot };

	p->name = g_strdup(name);
	p->file = g_strdup(file);
	p->line = line;
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		*lists[i] = texts_new();
	return p;
}

void preset_free(struct preset *p)
{
	if (!p)
		return;
	char *const texts[] = { p->name, p->file, p->title, p->program, p->versions, p->buffers };
	GPtrArray *const lists[] = { p->detect, p->events, p->contexts, p->kernel, p->agents, p->setup, p->cannot };

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
		g_free(texts[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(lists); i++)
		g_ptr_array_unref(lists[i]);
	g_free(p);
}

/* What a text of the head may consist of: it becomes a part of shell commands. */
static bool is_plain(const char *text, const char *also)
{
	for (const char *c = text; *c; c++)
		if (!g_ascii_isalnum(*c) && !strchr(also, *c))
			return false;
	return *text != '\0';
}

static char *check_event(const char *text)
{
	return is_plain(text, "_-.:*|") ? NULL :
		g_strdup_printf("'%s' is not the name of an event, or a pattern", text);
}

static char *check_context(const char *text)
{
	return is_plain(text, "_:") ? NULL : g_strdup_printf("'%s' is not a context", text);
}

static char *check_agent(const char *text)
{
	static const char *const agents[] = { "jul", "log4j", "log4j2", "python", NULL };
	return g_strv_contains(agents, text) ? NULL :
		g_strdup_printf("agents are jul, log4j, log4j2 and python, not '%s'", text);
}

static char *check_buffers(const char *text)
{
	g_auto(GStrv) parts = g_strsplit(text, " x ", 2);
	bool good = parts[0] && parts[1] && is_plain(parts[0], "") && g_ascii_isdigit(*parts[0]) &&
		    strspn(parts[1], "0123456789") == strlen(parts[1]) && *parts[1];
	return good ? NULL : g_strdup_printf("buffers are SIZE x NUMBER, as 1M x 8, not '%s'", text);
}

static char *check_on(const char *text)
{
	return g_str_equal(text, "auto") || g_str_equal(text, "request") ? NULL :
		g_strdup_printf("on takes auto or request, not '%s'", text);
}

#define PRESET_AT(field) offsetof(struct preset, field)
static const struct {
	const char *key;
	size_t list, text;		/* where it is stored; 0: it is none */
	bool is_sentence;		/* of a list: the line is one element, and there may be several lines */
	char *(*check)(const char *text);
} heads[] = {
	{ "title", .text = PRESET_AT(title) }, { "program", .text = PRESET_AT(program) },
	{ "versions", .text = PRESET_AT(versions) },
	{ "detect", .list = PRESET_AT(detect), .check = check_event },
	{ "on", .check = check_on },
	{ "events", .list = PRESET_AT(events), .check = check_event },
	{ "contexts", .list = PRESET_AT(contexts), .check = check_context },
	{ "buffers", .text = PRESET_AT(buffers), .check = check_buffers },
	{ "agents", .list = PRESET_AT(agents), .check = check_agent },
	{ "kernel", .list = PRESET_AT(kernel), .check = check_event },
	{ "setup", .list = PRESET_AT(setup), .is_sentence = true },
	{ "cannot", .list = PRESET_AT(cannot), .is_sentence = true },
};

static char *take_list(GPtrArray *list, char *(*check)(const char *text), const char *value)
{
	g_auto(GStrv) items = g_strsplit(value, ",", -1);

	for (char **item = items; *item; item++) {
		char *wrong = check(g_strstrip(*item));
		if (wrong)
			return wrong;
		g_ptr_array_add(list, g_strdup(*item));
	}
	return NULL;
}

char *preset_take(struct preset *p, const char *key, const char *value)
{
	size_t i = 0;

	while (i < G_N_ELEMENTS(heads) && !g_str_equal(heads[i].key, key))
		i++;
	if (i == G_N_ELEMENTS(heads))
		return g_strdup_printf("a preset has no '%s'", key);
	if (p->seen & 1u << i && !heads[i].is_sentence)
		return g_strdup_printf("[preset %s] has %s= already", p->name, key);
	p->seen |= 1u << i;
	GPtrArray *list = heads[i].list ? G_STRUCT_MEMBER(GPtrArray *, p, heads[i].list) : NULL;
	if (list && !heads[i].is_sentence)
		return take_list(list, heads[i].check, value);
	char *wrong = heads[i].check ? heads[i].check(value) : NULL;
	if (wrong)
		return wrong;
	if (list)
		g_ptr_array_add(list, g_strdup(value));
	else if (heads[i].text)
		G_STRUCT_MEMBER(char *, p, heads[i].text) = g_strdup(value);
	else
		p->on_request = g_str_equal(value, "request");
	return NULL;
}

char *preset_lacks(const struct preset *p)
{
	const char *missing = !p->title ? "title" : !p->program ? "program" : !p->detect->len ? "detect" : NULL;
	return missing ? g_strdup_printf("[preset %s] has no %s", p->name, missing) : NULL;
}

const GPtrArray *preset_records(const struct preset *p)
{
	return p->events->len ? p->events : p->detect;
}

bool preset_is_met(const struct preset *p, const char *const *events)
{
	PTR_EACH(const char, glob, p->detect)
		for (const char *const *e = events; *e; e++)
			if (g_pattern_match_simple(glob, *e))
				return true;
	return false;
}
