/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters by thread: perf counters, page faults, and hits of kprobes, kretprobes and uprobes.
 */
#include "views/counted.h"
#include "views/registry.h"

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_OPTIONAL("at_ns", "SECOND", VALUE_TIME, 12, 0, "by second: when it begins",
			COUNTED(second_ns)),
	COLUMN_ID("pid", "PID", 7, 2, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 2, "thread id", COMMON(tid)),
	COLUMN_OPTIONAL("comm", "NAME", VALUE_TEXT, 16, 0,
			"process or thread; idle: no task ran; null: not known, as after losses",
			COMMON(comm)),
	COLUMN_FLEX("counter", "COUNTER", 16, "what is counted: a perf counter, an event of the kernel, "
		    "or a probe", COMMON(name)),
	COLUMN_T("kind", "KIND", 10, 4, "cpu, thread (perf counters, of the kernel or of user space), "
		 "page fault, probe", COUNTED(what)),
	COLUMN_N("value", "COUNT", VALUE_COUNT, 8, 0, "how much was counted for it; what a CPU counted "
		 "counts when a thread leaves it", COUNTED(value)),
	COLUMN_N("rate", "PER SEC", VALUE_COUNT, 8, 1, "how much a second", COUNTED(rate)),
	COLUMN_N("share_ratio", "SHARE", VALUE_RATIO, 6, 3, "share of all that this counter counted",
		 COUNTED(share, .none = IF_NEGATIVE)),
	COLUMN_N("ipc_ratio", "IPC", VALUE_RATIO, 6, 5,
		 "of instructions: how many a cycle; 100 % is one", COUNTED(ipc, .none = IF_NEGATIVE)),
	COLUMN_CONTAINER,
};

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	return counted_build(tl, query, false);
}

static const char *const needs[] = { NEED_COUNTS, NULL };

const struct view view_counters = {
	.idle = "all 0",
	.only = ONLY_THREADS,
	.id = "counters", .title = "Counters",
	.help = "Perf counters (contexts such as perf:cpu:instructions), page faults, and hits of "
		"kprobes, kretprobes and uprobes; by process, thread, container, host or second.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "value", .default_by = BY_PROCESS, .by_values = BY_THREADS | 1 << BY_SECOND | 1 << BY_CONTAINER,
	.needs = needs, .decodes_all = true,
	.on_screen = true, .reads = READS(count), .build = build,
};
