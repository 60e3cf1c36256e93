/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files, sockets and pipes: calls, bytes and latencies on them.
 */
#include "views/common.h"
#include "views/registry.h"

struct file_row {
	struct common c;		/* name: the path */
	const char *kind;
	uint64_t reads, writes, read_bytes, write_bytes;
};

#define ROW(row) ((const struct file_row *)(row))

static GETTER(get_kind)
{
	return value_text(ROW(row)->kind);
}

static GETTER(get_reads)
{
	return value_int(VALUE_COUNT, ROW(row)->reads);
}

static GETTER(get_writes)
{
	return value_int(VALUE_COUNT, ROW(row)->writes);
}

static GETTER(get_read_bytes)
{
	return value_int(VALUE_BYTES, ROW(row)->read_bytes);
}

static GETTER(get_write_bytes)
{
	return value_int(VALUE_BYTES, ROW(row)->write_bytes);
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("pid", "PID", 7, 6, "process id", get_pid),
	COLUMN_T("comm", "PROCESS", 15, 3, "name, as it was last in the range", get_comm),
	COLUMN_FLEX("path", "PATH", 20, "path as it was passed, peer of a socket, or fd N", get_name),
	COLUMN_T("kind", "KIND", 7, 5, "file, socket, pipe, event, tty, ...", get_kind),
	COLUMN_N("reads", "READS", VALUE_COUNT, 6, 2, "calls that read", get_reads),
	COLUMN_N("writes", "WRITES", VALUE_COUNT, 6, 2, "calls that write", get_writes),
	COLUMN_N("read_bytes", "READ", VALUE_BYTES, 6, 1, "bytes read", get_read_bytes),
	COLUMN_N("write_bytes", "WRITTEN", VALUE_BYTES, 7, 1, "bytes written", get_write_bytes),
	COLUMNS_QUANTILES(7, "call on it"),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 1, "time in all calls on it", get_total),
	COLUMN_ID("tid", "TID", 0, 0, "thread id; null where threads are summed", get_tid),
};

static void add_second(struct row_map *map, const struct second *s)
{
	struct rows *rows = map->rows;
	const struct view_query *q = &rows->query;
	for (uint32_t i = 0; i < s->n_files; i++) {
		const struct file_cell *cell = &s->files[i];
		bool is_new;
		if (!query_wants_thread(q, rows->tl, cell->thread))
			continue;
		uint64_t key = (uint64_t)group_key(rows->tl, q->by, cell->thread) << 32 | cell->file;
		struct file_row *r = row_map_get(map, key, sizeof(*r), &is_new);
		if (is_new) {
			const struct file_info *f = timeline_file(rows->tl, cell->file);
			group_fill(&r->c, rows, cell->thread);
			r->c.name = f ? timeline_string(rows->tl, f->path) : NULL;
			r->kind = f ? file_kind_name[f->kind] : NULL;
			r->c.row.key[0] = key_text(key_text(r->c.row.key[0], r->c.name), r->kind);
		}
		hist_merge(&r->c.latency, &cell->latency);
		r->reads += cell->reads;
		r->writes += cell->writes;
		r->read_bytes += cell->read_bytes;
		r->write_bytes += cell->write_bytes;
	}
}

static int compare(const void *va, const void *vb)
{
	const struct file_row *a = *(const struct file_row *const *)va;
	const struct file_row *b = *(const struct file_row *const *)vb;
	int order = common_compare(&a->c, &b->c);
	return order ? order : g_strcmp0(a->kind, b->kind);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++)
		add_second(&map, timeline_second(tl, i));
	row_map_clear(&map);
	common_finish(map.rows, compare);
	return map.rows;
}

static const char *const needs[] = { NEED_SYSCALLS, NULL };

const struct view view_files = {
	.id = "files", .title = "Files",
	.help = "Files, sockets and pipes by process: how often and how much was read and written, "
		"and how long the calls took.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_ns", .drill = NULL, .needs = needs,
	.default_by = BY_PROCESS, .has_by = true, .on_screen = true, .build = build,
};
