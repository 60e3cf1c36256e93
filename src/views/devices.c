/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block devices: requests, bytes, latency from issue to completion.
 */
#include "views/common.h"
#include "views/registry.h"

struct dev_row {
	struct common c;		/* name: the device's */
	uint32_t dev;
	uint64_t reads, writes, read_bytes, write_bytes;
};

#define ROW(row) ((const struct dev_row *)(row))

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
	COLUMN_FLEX("device", "DEVICE", 10, "the block device, or major:minor", get_name),
	COLUMN_N("reads", "READS", VALUE_COUNT, 7, 0, "requests that read", get_reads),
	COLUMN_N("writes", "WRITES", VALUE_COUNT, 7, 0, "requests that write", get_writes),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 5, 1, "requests that failed", get_errors),
	COLUMN_N("read_bytes", "READ", VALUE_BYTES, 7, 3, "bytes read", get_read_bytes),
	COLUMN_N("write_bytes", "WRITTEN", VALUE_BYTES, 7, 3, "bytes written", get_write_bytes),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 2, "sum of the latencies", get_total),
	COLUMNS_QUANTILES(7, "request, from issue to completion"),
};

static const char *device_name(struct rows *rows, const struct dev_cell *cell)
{
	const char *name = timeline_string(rows->tl, cell->name);
	if (*name)
		return name;
	g_autofree char *numbers = g_strdup_printf("%u:%u", cell->dev >> 20, cell->dev & 0xfffff);
	return rows_text(rows, numbers);
}

static void add_second(struct row_map *map, const struct second *s)
{
	struct rows *rows = map->rows;
	for (uint32_t i = 0; i < s->n_devs; i++) {
		const struct dev_cell *cell = &s->devs[i];
		const struct host_info *host = timeline_host(rows->tl, cell->host);
		uint64_t key = (uint64_t)cell->host << 32 | cell->dev;
		bool is_new;
		if (rows->query.host != ID_NONE && cell->host != rows->query.host)
			continue;
		struct dev_row *r = row_map_get(map, key, sizeof(*r), &is_new);
		r->c.host = host ? host->name : NULL;
		r->c.name = device_name(rows, cell);
		if (is_new)
			r->c.row.key[0] = key_int(key_text(0, r->c.host), cell->dev);
		r->dev = cell->dev;
		r->reads += cell->reads;
		r->writes += cell->writes;
		r->c.errors += cell->errors;
		r->read_bytes += cell->read_bytes;
		r->write_bytes += cell->write_bytes;
		hist_merge(&r->c.latency, &cell->latency);
	}
}

static int compare(const void *va, const void *vb)
{
	const struct dev_row *a = *(const struct dev_row *const *)va;
	const struct dev_row *b = *(const struct dev_row *const *)vb;
	int order = common_compare(&a->c, &b->c);
	return order ? order : (a->dev > b->dev) - (a->dev < b->dev);
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

static const char *const needs[] = { "block_rq_issue", "block_rq_complete", NULL };

const struct view view_devices = {
	.id = "devices", .title = "Devices",
	.help = "Block devices: requests and bytes, and the time from issue to completion.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_ns", .needs = needs, .on_screen = true, .build = build,
};
