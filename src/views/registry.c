/* SPDX-License-Identifier: GPL-2.0-only */
/* The list of all views, and whether a trace has the events that a view needs. */
#include "views/registry.h"

#include "views/logview.h"

#include <string.h>

#define VIEW_POINTER_(id) &view_##id,
const struct view *const view_all[] = { VIEW_LIST(VIEW_POINTER_) NULL };

const struct view *view_find(const char *id)
{
	for (size_t i = 0; view_all[i]; i++)
		if (strcmp(view_all[i]->id, id) == 0)
			return view_all[i];
	return strcmp(id, view_log.id) ? NULL : &view_log;
}

bool view_has_calls(const struct timeline *tl)
{
	return timeline_has_calls(tl);
}

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
		return view_has_calls(tl);
	if (strcmp(name, "zipkin:timestamp") == 0 && timeline_has_spans(tl))
		return true;		/* spans may come from traced functions or from rules */
	if (strcmp(name, NEED_PERF) == 0)
		return has_counts(tl, COUNT_PERF);
	if (strcmp(name, NEED_PROBES) == 0)
		return has_counts(tl, COUNT_PROBE);
	if (strcmp(name, "kernel.tid") == 0)
		return !timeline_has_unpaired(tl);
	return timeline_has_event(tl, name);
}

bool view_has_need(const struct timeline *tl, const char *need)
{
	if (strcmp(need, NEED_CALLERS) == 0)
		return !timeline_has_unpaired(tl);
	g_auto(GStrv) names = g_strsplit(need, "|", -1);
	for (size_t i = 0; names[i]; i++)
		if (has_one_need(tl, names[i]))
			return true;
	return false;
}
