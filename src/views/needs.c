/* SPDX-License-Identifier: GPL-2.0-only */
/* Events that a view needs: see needs.h. */
#include "views/needs.h"

#include "base/each.h"
#include "state/spans/presets.h"
#include "views/registry.h"
#include "views/repairs.h"

#include <string.h>

static bool has_counts(const struct timeline *tl, enum count_kind kind)
{
	for (size_t i = 0; i < timeline_n_seconds(tl); i++)
		if (timeline_outline(tl, i)->totals.counts & 1u << kind)
			return true;
	return false;
}

static bool has_one_need(const struct timeline *tl, const char *name)
{
	if (strcmp(name, NEED_SYSCALLS) == 0)
		return timeline_facts(tl)->has_calls;
	if (strcmp(name, NEED_SPANS) == 0 && timeline_facts(tl)->has_spans)
		return true;		/* spans may come from traced functions or from rules */
	if (g_str_has_prefix(name, "zipkin:") && !timeline_has_event(tl, NEED_SPANS))
		return strcmp(name, NEED_SPANS) != 0;	/* BlkKin's tags belong to BlkKin's spans */
	if (strcmp(name, NEED_PERF) == 0)
		return has_counts(tl, COUNT_PERF);
	if (strcmp(name, NEED_PROBES) == 0)
		return has_counts(tl, COUNT_PROBE);
	if (strcmp(name, "kernel.tid") == 0)
		return !timeline_facts(tl)->has_unpaired;
	return timeline_has_event(tl, name);
}

bool view_has_need(const struct timeline *tl, const char *need)
{
	if (strcmp(need, NEED_CALLERS) == 0)
		return !timeline_facts(tl)->has_unpaired;
	g_auto(GStrv) names = g_strsplit(need, "|", -1);
	for (size_t i = 0; names[i]; i++)
		if (has_one_need(tl, names[i]))
			return true;
	return false;
}

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

		bool in_words = strcmp(v->needs[i], NEED_COUNTS) == 0 || strcmp(v->needs[i], NEED_SPANS) == 0 ||
				strcmp(v->needs[i], NEED_CALLERS) == 0;
		n->events = in_words ? repair_words(v->needs[i]) : g_strjoinv(" or ", names);
		n->there = view_has_need(tl, v->needs[i]);
		g_ptr_array_add(needs, n);
	}
	return needs;
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

static bool any_of_programs(const char *const *events)
{
	for (; *events; events++)
		if (strchr(*events, ':') && **events != '(')
			return true;
	return false;
}

/* Those that make spans, not only annotations. */
static GPtrArray *of_spans(GPtrArray *presets)
{
	for (guint i = presets->len; i > 0; i--)
		if (!((const struct preset *)presets->pdata[i - 1])->makes_spans)
			g_ptr_array_remove_index(presets, i - 1);
	return presets;
}

/* What makes spans: the preset of a program that is there; else rules for the events that are there; else programs with
 * events that are known. */
static void add_span_commands(GPtrArray *commands, const struct timeline *tl)
{
	g_auto(GStrv) names = timeline_event_names(tl);
	const char *const *events = (const char *const *)names;
	g_autoptr(GPtrArray) met = of_spans(presets_in_use(events)), off = of_spans(presets_on_offer(events));

	bool none = strcmp(presets_chosen(), PRESETS_NONE) == 0;
	PTR_EACH(const struct preset, p, met)
		add_once(commands, g_strdup_printf("blktop --recipe=%s >record.sh && sh record.sh", p->name));
	PTR_EACH(const struct preset, p, off)
		add_once(commands, g_strdup_printf("blktop --presets %s%s%s TRACE", none ? "" : presets_chosen(),
						   none ? "" : ",", p->name));
	if (met->len || off->len)
		return;
	if (any_of_programs(events)) {
		add_once(commands, g_strdup("blktop -b --suggest-rules TRACE >suggested.spans"));
		return;
	}
	g_autoptr(GPtrArray) blkkin = repair_commands(NEED_SPANS, "--userspace");
	add_once(commands, g_strdup(g_ptr_array_index(blkkin, 0)));
	add_once(commands, g_strdup("blktop --list-presets"));
}

GPtrArray *needs_commands(const struct view *v, const struct timeline *tl)
{
	GPtrArray *commands = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GString) tracepoints = g_string_new(NULL);

	for (size_t i = 0; v->needs && v->needs[i]; i++) {
		g_autofree char *where = repair_where(repair_domain(v->needs[i]), NULL, NULL);

		if (view_has_need(tl, v->needs[i]))
			continue;
		if (repair_is_tracepoint(v->needs[i])) {	/* one command enables all tracepoints */
			g_autofree char *name = repair_words(v->needs[i]);
			g_string_append_printf(tracepoints, "%s%s", tracepoints->len ? "," : "", name);
			continue;
		}
		if (strcmp(v->needs[i], NEED_SPANS) == 0) {
			add_span_commands(commands, tl);
			continue;
		}
		g_autoptr(GPtrArray) more = repair_commands(v->needs[i], where);
		for (guint k = 0; k < more->len; k++)
			add_once(commands, g_strdup(g_ptr_array_index(more, k)));
	}
	if (tracepoints->len) {
		g_autoptr(GPtrArray) one = repair_commands(tracepoints->str, "--kernel");
		add_once(commands, g_strdup(g_ptr_array_index(one, 0)));
	}
	return commands;
}

char *view_missing_text(const struct view *v, const struct timeline *tl)
{
	g_autoptr(GString) missing = g_string_new(NULL);
	for (size_t i = 0; v->needs && v->needs[i]; i++) {
		if (view_has_need(tl, v->needs[i]))
			continue;
		g_autofree char *words = repair_words(v->needs[i]);
		g_string_append_printf(missing, "%s%s", missing->len ? ", " : "", words);
	}
	return missing->len ? g_strdup(missing->str) : NULL;
}
