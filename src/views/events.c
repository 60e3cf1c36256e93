/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events by name, including those that blktop does not interpret. Also by second; and by process and thread if the
 * trace was read for that.
 */
#include "views/counted.h"
#include "views/registry.h"

/* Always unknown: a trace does not record which class lost an event. */
static GETTER(get_lost)
{
	return value_none();
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_FLEX("name", "EVENT", 20, "name of the event", COMMON(name)),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 9, 0, "how many were read", COUNTED(value)),
	COLUMN_OPTIONAL("lost", "LOST", VALUE_COUNT, 6, 2,
			"how many were lost; null: the tracer does not say of which kind they were", get_lost),
	COLUMN_N("rate", "PER SEC", VALUE_COUNT, 8, 1, "how many a second", COUNTED(rate)),
	COLUMN_N("share_ratio", "SHARE", VALUE_RATIO, 6, 5,
		 "share of all events; by process, second and the like of this event's",
		 COUNTED(share, .none = IF_NEGATIVE)),
	COLUMN_ID("pid", "PID", 7, 3, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 3, "thread id", COMMON(tid)),
	COLUMN_OPTIONAL("comm", "NAME", VALUE_TEXT, 16, 0, "process or thread; null: not known",
			COMMON(comm)),
	COLUMN_OPTIONAL("at_ns", "SECOND", VALUE_TIME, 12, 0, "by second: when it begins",
			COUNTED(second_ns)),
	COLUMN_CONTAINER,
	{ .id = "over_time", .title = "OVER TIME", .kind = VALUE_TEXT, .width = COUNTED_STEPS, .priority = 8,
	  .align = ALIGN_LEFT, .optional = true, .drawing = DRAW_SPARK, .get = COUNTED(over_time),
	  .help = "its counts in up to 20 steps of the range: digits up to 8, the largest of its counts; 0: none" },
};

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	return counted_build(tl, query, true);
}

const struct view view_events = {
	.idle = "idle",
	.only = ONLY_THREADS, .narrows_threads_only = true,
	.id = "events", .title = "Events",
	.help = "Events by name, also those that blktop only counts; by second, too. By process, "
		"thread or container they are counted only when that is asked for before the trace is read: "
		"--view events --by process.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "count", .default_by = BY_SYSTEM, .by_values = BY_THREADS | 1 << BY_SECOND | 1 << BY_CONTAINER,
	.by_counted = 1 << BY_PROCESS | 1 << BY_THREAD | 1 << BY_CONTAINER,
	.on_screen = true, .reads = READS(event) | READS(count), .build = build,
};
