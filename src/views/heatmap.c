/* SPDX-License-Identifier: GPL-2.0-only */
/* View heatmap: see heatmap.h. */
#include "views/heatmap.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/evicted.h"
#include "views/registry.h"

#include <math.h>
#include <string.h>

#define NO_VALUE UINT32_MAX

struct count { unsigned level; uint32_t value; uint64_t n, of_value; };	/* of a cell; .value: in heatmap.values */

/* The seconds of one column. */
struct column_counts {
	uint64_t index;
	size_t first, end;		/* seconds of the timeline */
	int64_t begin_ns, end_ns;
	uint64_t identity;		/* of its seconds; 0: may change */
	int64_t least_ns, most_ns;	/* durations; .most_ns -1: none */
	GArray *counts;			/* struct count, by level; NULL: not counted */
};

struct heatmap {
	unsigned max_columns, max_rows;
	uint64_t serial;		/* of the timeline */
	int bits;
	int64_t begin_ns, cell_ns;
	GArray *columns;		/* struct column_counts, by index */
	GHashTable *numbers;		/* text -> index in .values + 1 */
	GPtrArray *values;		/* char *, owned by .texts; NULL: unknown */
	GStringChunk *texts;
};

static void clear_column(void *data)
{
	struct column_counts *c = data;
	g_clear_pointer(&c->counts, g_array_unref);
}

static GArray *columns_new(void)
{
	GArray *columns = g_array_new(false, true, sizeof(struct column_counts));
	g_array_set_clear_func(columns, clear_column);
	return columns;
}

struct heatmap *heatmap_new(unsigned max_columns, unsigned max_rows)
{
	struct heatmap *h = g_new0(struct heatmap, 1);
	h->max_columns = max_columns;
	h->max_rows = max_rows;
	h->bits = LATENCY_FINEST;
	h->columns = columns_new();
	h->numbers = g_hash_table_new(g_str_hash, g_str_equal);
	h->values = g_ptr_array_new();
	h->texts = g_string_chunk_new(1024);
	return h;
}

void heatmap_free(struct heatmap *h)
{
	if (!h)
		return;
	g_array_unref(h->columns);
	g_hash_table_unref(h->numbers);
	g_ptr_array_unref(h->values);
	g_string_chunk_free(h->texts);
	g_free(h);
}

bool heatmap_is_sized(const struct heatmap *h, unsigned max_columns, unsigned max_rows)
{
	return h->max_columns == max_columns && h->max_rows == max_rows;
}

static uint32_t value_number(struct heatmap *h, struct value v)
{
	g_autofree char *number = v.kind == VALUE_NONE || v.kind == VALUE_TEXT ? NULL :
		g_strdup_printf("%" G_GINT64_FORMAT, v.i);
	const char *text = number ? number : v.kind == VALUE_TEXT ? v.s : "";
	gpointer found = g_hash_table_lookup(h->numbers, text);
	if (!found) {
		char *stored = g_string_chunk_insert(h->texts, text);
		g_ptr_array_add(h->values, *text ? stored : NULL);
		found = GUINT_TO_POINTER(h->values->len);
		g_hash_table_insert(h->numbers, stored, found);
	}
	return GPOINTER_TO_UINT(found) - 1;
}

/* ---- columns of seconds ---- */

/* The length of most seconds: the shortest one that is neither the first nor the last, which coverage may cut. */
static int64_t unit_of(const struct timeline *tl, const struct range *r)
{
	int64_t unit = NS_PER_S;
	for (size_t i = r->first + 1; i + 1 < r->end; i++) {
		const struct second *s = timeline_second(tl, i);
		unit = MIN(unit, s->end_ns - s->begin_ns);
	}
	return MAX(unit, NS_PER_MS);
}

static int64_t aligned(int64_t at, int64_t cell_ns)
{
	return at < INT64_MIN + cell_ns ? at : time_floor(at, cell_ns);
}

static uint64_t cells_before(const struct heatmap *h, int64_t at)
{
	return ((uint64_t)at - (uint64_t)h->begin_ns) / (uint64_t)h->cell_ns;
}

/* Of more than 292 years the end is in the last column. */
static uint64_t column_at(const struct heatmap *h, int64_t at)
{
	uint64_t column = cells_before(h, at);
	return h->max_columns ? MIN(column, h->max_columns - 1) : column;
}

/* Sets where columns begin and how long they are. True: as before. */
static bool place_columns(struct heatmap *h, const struct timeline *tl, const struct range *r)
{
	const int64_t begin = h->begin_ns, cell = h->cell_ns, unit = unit_of(tl, r);
	const int64_t from = timeline_outline(tl, r->first)->begin_ns;
	const int64_t last = timeline_outline(tl, r->end - 1)->begin_ns;
	uint64_t units = h->max_columns ? ((uint64_t)last - (uint64_t)from) / (uint64_t)unit / h->max_columns : 0;
	do {
		units++;
		h->cell_ns = units > (uint64_t)(INT64_MAX / unit) ? INT64_MAX : (int64_t)units * unit;
		h->begin_ns = aligned(from, h->cell_ns);
	} while (h->max_columns && cells_before(h, last) >= h->max_columns && h->cell_ns < INT64_MAX);
	return begin == h->begin_ns && cell == h->cell_ns;
}

/* Spans may come after their second was closed, and an open second changes: then it is 0. */
static uint64_t add_identity(const struct metric_query *q, uint64_t identity, const struct second *s)
{
	if (!identity || metric_is_of_spans(q->metric) || metric_query_needs_calls(q) || !s->version)
		return 0;
	identity = key_int(key_int(key_int(identity, (uint64_t)s->begin_ns), (uint64_t)s->end_ns), s->version);
	return MAX(identity, 1);
}

/* The columns of the range, not counted. Without a size each second is one. */
static GArray *columns_of(const struct heatmap *h, const struct timeline *tl, const struct metric_query *q,
			  const struct range *r)
{
	GArray *columns = columns_new();
	struct column_counts *c = NULL;
	for (size_t i = r->first; i < r->end; i++) {
		const struct second *s = timeline_second(tl, i);
		uint64_t index = column_at(h, s->begin_ns);
		if (!c || c->index != index || !h->max_columns) {
			struct column_counts new = {
				.index = index, .first = i, .begin_ns = s->begin_ns, .identity = 1, .most_ns = -1,
			};
			g_array_append_val(columns, new);
			c = &g_array_index(columns, struct column_counts, columns->len - 1);
		}
		c->end = i + 1;
		c->end_ns = s->end_ns;
		c->identity = add_identity(q, c->identity, s);
	}
	return columns;
}

/* Takes the counts of columns that did not change from the old ones. */
static void reuse(GArray *columns, GArray *old)
{
	for (guint i = 0, k = 0; i < columns->len; i++) {
		struct column_counts *c = &g_array_index(columns, struct column_counts, i);
		while (k < old->len && g_array_index(old, struct column_counts, k).index < c->index)
			k++;
		if (k == old->len)
			return;
		struct column_counts *o = &g_array_index(old, struct column_counts, k);
		if (o->index != c->index || !c->identity || o->identity != c->identity)
			continue;
		c->counts = g_steal_pointer(&o->counts);
		c->least_ns = o->least_ns;
		c->most_ns = o->most_ns;
	}
}

/* ---- counting ---- */

struct heatmap_counting {
	struct heatmap *h;
	bool split;
	struct column_counts *column;	/* that of the second */
	uint8_t level[HIST_BUCKETS];	/* of a bucket */
	uint64_t total[LATENCY_ROWS_N];
	GHashTable *value_of;		/* metric_value.key -> uint32_t, number of the value */
	GHashTable *counts;		/* level and value, as a pointer -> GUINT_TO_POINTER(n) */
	uint32_t value;			/* of what is being counted */
	int64_t least_ns, most_ns;
};

static gpointer cell_key(unsigned level, uint32_t value)
{
	return (gpointer)((uintptr_t)value << 8 | level);
}

static void count_bucket(void *data, unsigned bucket, uint64_t n)
{
	struct heatmap_counting *c = data;
	unsigned level = c->level[bucket];
	c->total[level] += n;
	if (!c->split)
		return;
	gpointer key = cell_key(level, c->value);
	uint64_t before = GPOINTER_TO_SIZE(g_hash_table_lookup(c->counts, key));
	g_hash_table_insert(c->counts, key, GSIZE_TO_POINTER(before + n));
}

/* Is it the one that dominates, before `than`? Of equal ones the first by name. */
static bool dominates(const struct heatmap *h, const struct count *than, uint64_t n, uint32_t value)
{
	if (than->of_value != n || than->value == NO_VALUE)
		return n > than->of_value;
	const char *a = h->values->pdata[value], *b = h->values->pdata[than->value];
	return g_strcmp0(a, b) < 0;
}

/* The column is complete. */
static void close_column(struct heatmap_counting *c)
{
	struct count best[LATENCY_ROWS_N];
	for (unsigned level = 0; level < LATENCY_ROWS_N; level++)
		best[level] = (struct count){ .level = level, .value = NO_VALUE, .n = c->total[level] };
	TABLE_EACH(each, c->counts) {
		struct count *to = &best[(uintptr_t)each.key & 0xff];
		uint32_t value = (uint32_t)((uintptr_t)each.key >> 8);
		if (dominates(c->h, to, GPOINTER_TO_SIZE(each.value), value)) {
			to->value = value;
			to->of_value = GPOINTER_TO_SIZE(each.value);
		}
	}
	g_hash_table_remove_all(c->counts);
	c->column->counts = g_array_new(false, false, sizeof(struct count));
	for (unsigned level = 0; level < LATENCY_ROWS_N; level++)
		if (best[level].n)
			g_array_append_val(c->column->counts, best[level]);
	memset(c->total, 0, sizeof c->total);
	c->column->least_ns = c->least_ns;
	c->column->most_ns = c->most_ns;
	c->most_ns = -1;
}

static uint32_t number_of(struct heatmap_counting *c, const struct metric_value *value)
{
	gpointer found = g_hash_table_lookup(c->value_of, value->key);
	if (!found) {
		found = GUINT_TO_POINTER(value_number(c->h, value->by[0]) + 1);
		g_hash_table_insert(c->value_of, g_strdup(value->key), found);
	}
	return GPOINTER_TO_UINT(found) - 1;
}

static void count_value(void *data, const struct second *s, const struct metric_value *value)
{
	struct heatmap_counting *c = data;
	if (value->key && hist_count(value->values)) {
		c->value = c->split ? number_of(c, value) : NO_VALUE;
		hist_foreach(value->values, count_bucket, c);
		c->least_ns = c->most_ns < 0 ? hist_min(value->values) : MIN(c->least_ns, hist_min(value->values));
		c->most_ns = MAX(c->most_ns, hist_max(value->values));
	}
	if (value->key || s->end_ns != c->column->end_ns)
		return;
	close_column(c);
	c->column++;
}

/* Counts all columns that are not. */
static void count_columns(struct heatmap *h, const struct timeline *tl, const struct metric_query *q, GArray *columns)
{
	g_autofree struct heatmap_counting *c = g_new0(struct heatmap_counting, 1);
	c->h = h;
	c->split = q->n_by > 0;
	c->most_ns = -1;
	c->value_of = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	c->counts = g_hash_table_new(NULL, NULL);
	G_STATIC_ASSERT(LATENCY_ROWS_N <= UINT8_MAX);
	for (unsigned b = 0; b < HIST_BUCKETS; b++)
		c->level[b] = (uint8_t)latency_row(h->bits, hist_bucket_low(b));
	for (guint i = 0, end; i < columns->len; i = MAX(end, i + 1)) {
		c->column = &g_array_index(columns, struct column_counts, i);
		for (end = i; end < columns->len && !g_array_index(columns, struct column_counts, end).counts;)
			end++;
		if (end > i)
			metric_each_second(tl, q, c->column->first,
					   g_array_index(columns, struct column_counts, end - 1).end, count_value, c);
	}
	g_hash_table_unref(c->value_of);
	g_hash_table_unref(c->counts);
}

/* The rows that the picture has room for. */
static int bits_of(const struct heatmap *h, const GArray *columns)
{
	int64_t least = INT64_MAX, most = -1;
	ARRAY_EACH(const struct column_counts, c, columns) {
		least = c->most_ns < 0 ? least : MIN(least, c->least_ns);
		most = MAX(most, c->most_ns);
	}
	return most < 0 || !h->max_rows ? LATENCY_FINEST : latency_rows_fit(least, most, h->max_rows);
}

/* Adds rows of durations that are one from now on. Which values dominate does not follow from those of fine rows. */
static void coarsen(struct heatmap *h, int from_bits)
{
	for (guint i = 0; i < h->columns->len; i++) {
		GArray *counts = g_array_index(h->columns, struct column_counts, i).counts;
		guint n = 0;
		for (guint k = 0; k < counts->len; k++) {
			struct count c = g_array_index(counts, struct count, k);
			struct count *last = n ? &g_array_index(counts, struct count, n - 1) : NULL;
			c.level = latency_row(h->bits, latency_row_low(from_bits, c.level));
			if (last && last->level == c.level)
				last->n += c.n;
			else
				g_array_index(counts, struct count, n++) = c;
		}
		g_array_set_size(counts, n);
	}
}

static void update(struct heatmap *h, const struct timeline *tl, const struct metric_query *q, const struct range *r)
{
	GArray *old = h->columns;
	bool same = timeline_facts(tl)->serial == h->serial;
	same = place_columns(h, tl, r) && same;
	h->serial = timeline_facts(tl)->serial;
	h->columns = columns_of(h, tl, q, r);
	if (same)
		reuse(h->columns, old);
	g_array_unref(old);
	count_columns(h, tl, q, h->columns);
	int bits = bits_of(h, h->columns), before = h->bits;
	h->bits = bits;
	if (bits == before)
		return;
	if (!q->n_by && bits < before) {
		coarsen(h, before);
		return;
	}
	for (guint i = 0; i < h->columns->len; i++)
		clear_column(&g_array_index(h->columns, struct column_counts, i));
	count_columns(h, tl, q, h->columns);
}

/* ---- the view ---- */

unsigned heat_step(const struct heat_grid *g, uint64_t n)
{
	double share = g->most > 1 ? log((double)n) / log((double)g->most) : 1;

	return 1 + (unsigned)CLAMP(share * (HEAT_STEPS - 0.03), 0, HEAT_STEPS - 1.0);
}

uint64_t heat_step_least(const struct heat_grid *g, unsigned step)
{
	uint64_t n = (uint64_t)exp(log((double)g->most) * (step - 1) / (HEAT_STEPS - 0.03));

	for (n = MAX(n, 1); n <= g->most && heat_step(g, n) < step; n++)
		;
	return n <= g->most && heat_step(g, n) == step ? n : 0;
}

const struct heat_grid *heat_grid_of(const struct rows *rows)
{
	return rows->extra;
}

static void free_grid(void *data)
{
	struct heat_grid *g = data;
	g_array_unref(g->values);
	g_free(g);
}

static struct heat_grid *grid_new(const struct metric_query *q)
{
	struct heat_grid *g = g_new0(struct heat_grid, 1);
	g->metric = q;
	g->values = g_array_new(false, false, sizeof(struct heat_value));
	return g;
}

static int compare_values(const void *a, const void *b)
{
	const struct heat_value *x = a, *y = b;
	return ORDER(y->count, x->count) ?: g_strcmp0(x->text, y->text);
}

static void add_column(struct rows *rows, struct heatmap *h, const struct column_counts *c, bool split,
		       uint64_t *of_value)
{
	struct heat_grid *g = rows->extra;
	ARRAY_EACH(const struct count, n, c->counts) {
		struct heat_cell *cell = g_new0(struct heat_cell, 1);
		*cell = (struct heat_cell){
			.row = { .key = { (uint64_t)c->begin_ns, n->level }, .drill = VIEW_QUERY_INIT },
			.begin_ns = c->begin_ns, .end_ns = c->end_ns, .column = c->index, .level = n->level,
			.count = n->n, .has_dominant = split, .dominant_count = n->of_value,
			.dominant = split ? rows_text(rows, h->values->pdata[n->value]) : NULL,
		};
		if (split)
			of_value[n->value] += n->n;
		g->total += n->n;
		g->most = MAX(g->most, n->n);
		g_ptr_array_add(rows->rows, cell);
	}
}

static void add_values(struct rows *rows, const struct heatmap *h, const uint64_t *of_value)
{
	struct heat_grid *g = rows->extra;
	for (guint i = 0; i < h->values->len; i++) {
		struct heat_value v = { rows_text(rows, h->values->pdata[i]), of_value[i] };
		if (v.count)
			g_array_append_val(g->values, v);
	}
	g_array_sort(g->values, compare_values);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	const struct metric_query *q = query->metric ? query->metric : metric_query_default(tl);
	struct heatmap *h = query->heatmap ? query->heatmap : heatmap_new(0, 0);
	struct rows *rows = rows_new(tl, query);
	struct range range = range_of(tl, query);
	rows->extra = grid_new(q);
	rows->free_extra = free_grid;
	if (range.end > range.first) {
		update(h, tl, q, &range);
		struct heat_grid *g = rows->extra;
		g_autofree uint64_t *of_value = g_new0(uint64_t, h->values->len + 1);
		g->bits = h->bits;
		g->begin_ns = h->begin_ns;
		g->cell_ns = h->cell_ns;
		g->n_columns = column_at(h, timeline_outline(tl, range.end - 1)->begin_ns) + 1;
		for (guint i = 0; i < h->columns->len; i++)
			add_column(rows, h, &g_array_index(h->columns, struct column_counts, i), q->n_by > 0, of_value);
		add_values(rows, h, of_value);
		metric_describe_evicted(rows, q, &range);
	}
	rows->n_before_filter = rows->rows->len;
	if (h != query->heatmap)
		heatmap_free(h);
	return rows;
}

#define CELL(row) ((const struct heat_cell *)(row))

static GETTER(get_low)
{
	return value_int(VALUE_NS, latency_row_low(heat_grid_of(rows)->bits, CELL(row)->level));
}

static GETTER(get_high)
{
	int64_t high = latency_row_high(heat_grid_of(rows)->bits, CELL(row)->level);
	return high == INT64_MAX ? value_none() : value_int(VALUE_NS, high);
}

static const struct column columns[] = {
	COLUMN_TIME("begin_ns", "BEGIN", 12, 0, "begin of the cell's second", MEMBER(struct heat_cell, begin_ns)),
	COLUMN_TIME("end_ns", "END", 0, 0, "its end", MEMBER(struct heat_cell, end_ns)),
	COLUMNS_LATENCY_ROW(get_low, get_high),
	COLUMN_N("count", "COUNT", VALUE_COUNT, 7, 0, "how many durations the cell has",
		 MEMBER(struct heat_cell, count)),
	COLUMN_FLEX("dominant", "MOSTLY", 16, "the value of the field of --by that most of them have",
		    MEMBER(struct heat_cell, dominant)),
	COLUMN_N("dominant_count", "OF IT", VALUE_COUNT, 7, 1, "how many have that value",
		 MEMBER(struct heat_cell, dominant_count, .known = offsetof(struct heat_cell, has_dominant))),
};

static const char *const needs[] = { NEED_LATENCIES, NEED_LATENCY_CALLERS, NULL };

const struct view view_heatmap = {
	.id = "heatmap", .title = "Heatmap", .kind = VIEW_HEATMAP,
	.help = "How long something took, over time: one cell for each second and row of durations, four rows from 2^n "
		"to 2^(n+1) ns. --metric chooses what (request.latency, else call.latency), --by the field whose most "
		"frequent value is shown.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns), .default_sort = "begin_ns",
	.nothing = "nothing of this metric in the time that is read", .of_metric = true, .needs = needs,
	.on_screen = true, .build = build,
};
