/* SPDX-License-Identifier: GPL-2.0-only */
/* What a view needs: see needs.h. */
#include "views/needs.h"

#include "views/registry.h"

#include <string.h>

static void free_need(gpointer data)
{
	struct need *n = data;

	g_free(n->events);
	g_free(n);
}

GPtrArray *needs_of(const struct view *v, const struct timeline *tl)
{
	GPtrArray *needs = g_ptr_array_new_with_free_func(free_need);

	for (size_t i = 0; v->needs && v->needs[i]; i++) {
		g_auto(GStrv) names = g_strsplit(v->needs[i], "|", -1);
		struct need *n = g_new0(struct need, 1);

		n->events = g_strjoinv(" or ", names);
		n->there = view_has_need(tl, v->needs[i]);
		g_ptr_array_add(needs, n);
	}
	return needs;
}

/* Providers are enabled whole: their events belong together. */
static char *user_space(const char *event)
{
	return g_strdup_printf("lttng enable-event --userspace '%.*s:*'",
			       (int)strcspn(event, ":"), event);
}

static void add_once(GPtrArray *commands, char *command)
{
	for (guint i = 0; i < commands->len; i++) {
		if (g_str_equal(g_ptr_array_index(commands, i), command)) {
			g_free(command);
			return;
		}
	}
	g_ptr_array_add(commands, command);
}

GPtrArray *needs_commands(const struct view *v, const struct timeline *tl)
{
	GPtrArray *commands = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) tracepoints = g_string_new(NULL);

	for (size_t i = 0; v->needs && v->needs[i]; i++) {
		g_autofree char *first = g_strndup(v->needs[i], strcspn(v->needs[i], "|"));

		if (view_has_need(tl, v->needs[i]))
			continue;
		if (g_str_equal(first, NEED_SYSCALLS))
			add_once(commands, g_strdup("lttng enable-event --kernel --syscall --all"));
		else if (strchr(first, ':'))
			add_once(commands, user_space(first));
		else
			g_string_append_printf(tracepoints, "%s%s", tracepoints->len ? "," : "",
					       first);
	}
	if (tracepoints->len)
		add_once(commands, g_strdup_printf("lttng enable-event --kernel %s",
						   tracepoints->str));
	return commands;
}

const char *needs_for_losses(const struct timeline *tl)
{
	if (timeline_has_event(tl, "sched_switch") || view_has_calls(tl))
		return "lttng enable-channel --kernel NAME --subbuf-size=2M --num-subbuf=16";
	return "lttng enable-channel --userspace NAME --subbuf-size=512k --num-subbuf=16";
}
