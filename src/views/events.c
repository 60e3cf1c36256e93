/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events by name, also those that nothing interprets.
 */
#include "views/common.h"
#include "views/registry.h"

struct event_row {
	struct common c;
	uint64_t count;
	double seconds;
};

#define ROW(row) ((const struct event_row *)(row))

static GETTER(get_event_count)
{
	return value_int(VALUE_COUNT, ROW(row)->count);
}

/* Which class lost an event is in no trace. */
static GETTER(get_lost)
{
	return value_none();
}

static GETTER(get_rate)
{
	return value_int(VALUE_COUNT, ROW(row)->count / ROW(row)->seconds + 0.5);
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_FLEX("name", "EVENT", 20, "name of the event", get_name),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 9, 0, "how many were read", get_event_count),
	COLUMN_N("lost", "LOST", VALUE_COUNT, 6, 2,
		 "how many were lost; null: the tracer does not say of which kind they were", get_lost),
	COLUMN_N("rate", "PER SEC", VALUE_COUNT, 8, 1, "how many a second", get_rate),
};

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t e = 0; e < s->n_events; e++) {
			const struct event_cell *cell = &s->events[e];
			uint64_t key = (uint64_t)cell->host << 32 | cell->name;
			bool is_new;
			if (query->host != ID_NONE && cell->host != query->host)
				continue;
			struct event_row *r = row_map_get(&map, key, sizeof(*r), &is_new);
			const struct host_info *host = timeline_host(tl, cell->host);
			r->c.host = host ? host->name : NULL;
			r->c.name = timeline_string(tl, cell->name);
			if (is_new)
				r->c.row.key[0] = key_text(key_text(0, r->c.host), r->c.name);
			r->count += cell->count;
			r->seconds = range.seconds;
		}
	}
	row_map_clear(&map);
	common_finish(map.rows, NULL);
	return map.rows;
}

const struct view view_events = {
	.id = "events", .title = "Events",
	.help = "Events by name, also those that blktop only counts.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "count", .on_screen = true, .build = build,
};
