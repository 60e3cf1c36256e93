/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows that are sums of cells: see cell_rows.h. */
#include "views/cell_rows.h"

/* The first key of a cell is its thread, or else its host. */
static bool is_wanted(const struct rows *rows, const struct cell_layout *l, const void *cell)
{
	const struct view_query *q = &rows->query;
	uint32_t id = *(const uint32_t *)cell;

	if (l->fields->role == CELL_IS_THREAD)
		return query_wants_thread(q, rows->tl, id);
	g_assert(l->fields->role == CELL_IS_HOST);
	return q->host == ID_NONE || id == q->host;
}

/* See cell_rows.key. */
static uint64_t own_key(const struct rows *rows, const struct cell_layout *l, const void *cell)
{
	const uint32_t *word = cell;
	uint32_t first = l->fields->role == CELL_IS_THREAD ? group_key(rows->tl, rows->query.by, *word) : *word;

	if (l->key_size == 2 * sizeof *word)
		return (uint64_t)first << 32 | word[1];
	uint64_t key = key_int(1, first);
	for (size_t i = 1; i < l->key_size / sizeof *word; i++)
		key = key_int(key, word[i]);
	return key;
}

/* Adds the cells of a second that the query wants: of its threads, or of its host. */
static void add_cells(struct row_map *map, const struct cell_rows *how, const struct second *s)
{
	const struct cell_layout *l = cell_layout(how->kind);
	uint32_t n;
	const char *cells = second_cells(s, how->kind, &n);

	for (const char *cell = cells; cell < cells + (size_t)n * l->size; cell += l->size) {
		bool is_new;
		if (!is_wanted(map->rows, l, cell) || (how->wants && !how->wants(map->rows, cell)))
			continue;
		uint64_t key = how->key ? how->key(map->rows, cell) : own_key(map->rows, l, cell);
		char *row = row_map_get(map, key, how->size, &is_new);
		if (is_new)
			how->fill(map->rows, row, cell);
		if (how->sum)
			cell_sum_add(how->kind, row + how->sum, cell);
		if (how->each)
			how->each(map->rows, row, cell);
	}
}

struct rows *cell_rows_sum(const struct timeline *tl, const struct view_query *query, const struct cell_rows *how,
			   size_t n)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);

	map.rows->seconds = range.seconds;
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (size_t k = 0; k < n; k++)
			add_cells(&map, &how[k], s);
	}
	row_map_clear(&map);
	return map.rows;
}

struct rows *cell_rows_build(const struct timeline *tl, const struct view_query *query, const struct cell_rows *how,
			     size_t n, void (*end)(struct rows *rows, void *row), GCompareFunc compare)
{
	struct rows *rows = cell_rows_sum(tl, query, how, n);

	for (guint i = 0; end && i < rows->rows->len; i++)
		end(rows, rows->rows->pdata[i]);
	common_finish(rows, compare);
	return rows;
}
