/* SPDX-License-Identifier: GPL-2.0-only */
/* See presets_used.h. */
#include "state/spans/presets_used.h"

#include "state/spans/presets.h"
#include "state/spans/rules.h"

#include "base/each.h"
#include "base/text.h"

/* Those that make spans or annotations only if they are asked for. */
static void add_offer(GString *s, const char *const *events)
{
	g_autoptr(GPtrArray) off = presets_on_offer(events), asked = g_ptr_array_new();

	PTR_EACH(struct preset, p, off)
		if (p->on_request)
			g_ptr_array_add(asked, p);
	if (!asked->len || g_str_equal(presets_chosen(), PRESETS_NONE))
		return;
	g_autofree char *names = presets_names(asked, ",");
	g_string_append_printf(s, "%sthis trace has events of the preset%s %s: --presets %s,%s uses %s",
			       s->len ? "; " : "", asked->len > 1 ? "s" : "", names, presets_chosen(), names,
			       asked->len > 1 ? "them" : "it");
}

char *presets_used_text(const struct timeline *tl)
{
	g_auto(GStrv) events = timeline_event_names(tl);
	g_autoptr(GPtrArray) on = presets_in_use((const char *const *)events);
	GString *s = g_string_new(NULL);

	if (on->len == 1) {
		const struct preset *p = g_ptr_array_index(on, 0);
		g_string_append_printf(s, "preset %s is used: %s (--presets none: without)", p->name, p->title);
	} else if (on->len) {
		g_autofree char *names = presets_names(on, ", ");
		g_string_append_printf(s, "presets %s are used (--presets none: without)", names);
	}
	add_offer(s, (const char *const *)events);
	if (rules_any_absent(tl))
		g_string_append_printf(s, "%sspans are left out: these slices were made with rules or presets that are "
				       "not here", s->len ? "; " : "");
	return g_string_free(s, !s->len);
}

char *presets_used_next(struct presets_used *u, const struct timeline *tl)
{
	size_t n = timeline_n_event_names(tl);
	if (n == u->n_names)
		return NULL;
	u->n_names = n;
	g_autofree char *text = presets_used_text(tl), *line = text ? text_visible(text) : NULL;
	if (!line || !g_strcmp0(line, u->line))
		return NULL;
	g_free(u->line);
	u->line = g_strdup(line);
	return g_steal_pointer(&line);
}

void presets_used_clear(struct presets_used *u)
{
	g_free(u->line);
	*u = (struct presets_used){ 0 };
}
