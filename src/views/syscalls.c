/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System calls by name: count, duration, errors.
 */
#include "base/timefmt.h"
#include "views/common.h"
#include "views/registry.h"

struct call_row {
	struct common c;
	uint64_t unfinished;
	int64_t busy_ns;
	double seconds;
};

#define ROW(row) ((const struct call_row *)(row))

static GETTER(get_unfinished)
{
	return value_int(VALUE_COUNT, ROW(row)->unfinished);
}

static GETTER(get_busy)
{
	return value_int(VALUE_NS, ROW(row)->busy_ns);
}

static GETTER(get_busy_ratio)
{
	return value_ratio(ROW(row)->busy_ns / (ROW(row)->seconds * NS_PER_S));
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("pid", "PID", 7, 4, "process id", get_pid),
	COLUMN_ID("tid", "TID", 7, 8, "thread id; null where threads are summed", get_tid),
	COLUMN_T("comm", "PROCESS", 15, 1, "name, as it was last in the range", get_comm),
	COLUMN_FLEX("syscall", "SYSCALL", 12, "the system call", get_name),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 6, 0, "calls finished", get_count),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 5, 1, "of these, returned an error", get_errors),
	COLUMN_N("unfinished", "PEND", VALUE_COUNT, 5, 7, "pending at the end of the range",
		 get_unfinished),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 2, "sum of the latencies of finished calls",
		 get_total),
	COLUMN_N("busy_ns", "BUSY", VALUE_NS, 0, 0, "time spent in it within the range", get_busy),
	COLUMNS_QUANTILES(7, "call"),
	COLUMN_N("busy_ratio", "BUSY%", VALUE_RATIO, 6, 4,
		 "time spent in it within the range, of one thread's", get_busy_ratio),
	COLUMN_CONTAINER,
};

static void add_second(struct row_map *map, const struct second *s, bool last, double seconds)
{
	struct rows *rows = map->rows;
	const struct view_query *q = &rows->query;
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct call_cell *cell = &s->calls[i];
		bool is_new;
		if (!query_wants_thread(q, rows->tl, cell->thread))
			continue;
		uint64_t key = (uint64_t)group_key(rows->tl, q->by, cell->thread) << 32 | cell->name;
		struct call_row *r = row_map_get(map, key, sizeof(*r), &is_new);
		if (is_new) {
			group_fill(&r->c, rows, cell->thread);
			r->c.name = timeline_string(rows->tl, cell->name);
			r->c.row.key[0] = key_text(r->c.row.key[0], r->c.name);
			r->seconds = seconds;
		}
		hist_merge(&r->c.latency, &cell->latency);
		r->c.errors += cell->errors;
		r->busy_ns += cell->busy_ns;
		if (last)
			r->unfinished += cell->unfinished;
	}
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++)
		add_second(&map, timeline_second(tl, i), i + 1 == range.end, range.seconds);
	row_map_clear(&map);
	common_finish(map.rows, NULL);
	return map.rows;
}

static const char *const needs[] = { NEED_SYSCALLS, NULL };

const struct view view_syscalls = {
	.only = ONLY_THREADS,
	.id = "syscalls", .title = "Syscalls",
	.help = "System calls by name: how many finished and failed, their latencies, and the time "
		"spent in them. A call counts in the second of its exit.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_ns", .drill = "slow", .needs = needs,
	.default_by = BY_PROCESS, .has_by = true, .more_by = 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS(call),
	.build = build,
};
