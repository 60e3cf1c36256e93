/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds, fills and merges bins (seconds under construction); see bin.h. */
#include "state/kernel/bin.h"

#include "state/kernel/coverage.h"
#include "state/kernel/slice_state.h"

#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"

#define MAX_CELLS_LIKE 65536u

static void new_epochs(struct slice *s, struct bin *b)
{
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		b->epoch[k] = ++s->epochs;
}

static struct bin *bin_new(struct slice *s, int64_t index, int64_t after)
{
	struct bin *b = g_new0(struct bin, 1);
	const struct bin *like = s->bin_last;

	g_assert(after > index);
	b->index = index;
	b->after = after;
	b->begin = index * s->step;
	if (__builtin_mul_overflow(after, s->step, &b->end))
		b->end = INT64_MAX;
	if (index == s->window_from)		/* one bin for all time before the window, one for all time after it */
		b->begin = INT64_MIN;
	if (index == s->window_to)
		b->end = INT64_MAX;
	g_assert(b->begin < b->end);
	new_epochs(s, b);
	/* Allocates as many cells as in the previous bin, plus a quarter, so that tables rarely grow. */
	for (enum cell_kind k = 0; like && k < CELL_KIND_N; k++)
		cell_table_reserve(&b->table[k], built_layout(k),
				   MIN(like->table[k].n + like->table[k].n / 4, MAX_CELLS_LIKE));
	for (unsigned l = 0; l < SLOW_LIST_N; l++) {
		b->slow_from[l] = s->unread_kinds & READS_SLOW ? INT64_MAX : 0;
		b->slow[l] = g_array_new(false, true, sizeof(struct bin_slow));
	}
	return b;
}

static void clear_cells(struct bin *b)
{
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		cell_table_clear(&b->table[k], built_layout(k));
}

void bin_drop_cells(struct slice *s, struct bin *b)
{
	clear_cells(b);
	new_epochs(s, b);
}

void bin_free(struct bin *b)
{
	clear_cells(b);
	for (unsigned l = 0; l < SLOW_LIST_N; l++)
		g_array_unref(b->slow[l]);
	g_free(b);
}

struct bin *bin_add(struct slice *s, int64_t index, int64_t after)
{
	struct bin *b = bin_new(s, index, after);
	g_assert(after > index && !g_hash_table_contains(s->bins, &b->index));
	g_hash_table_insert(s->bins, &b->index, b);
	return b;
}

struct bin *slice_bin(struct slice *s, int64_t ts)
{
	if (s->bin_last && ts >= s->bin_last->begin && ts < s->bin_last->end) {
		s->bin_last->dirty = true;
		return s->bin_last;
	}
	struct time_void v;
	bool is_void = G_UNLIKELY(s->voids->len) && covered_void_at(s, ts, 0, &v);
	int64_t index = (is_void ? v.begin : time_floor(ts, s->step)) / s->step;
	int64_t after = is_void ? v.end / s->step : index + 1;
	index = CLAMP(index, s->window_from, s->window_to);
	bool late = index < s->retained_from;
	if (late)		/* the instant's bin was dropped: the oldest retained one is used */
		index = s->retained_from;
	struct bin *b = g_hash_table_lookup(s->bins, &index);
	if (!b)
		b = bin_add(s, index, MAX(after, index + 1));
	b->dirty = true;
	if (late)
		b->completeness.late++;
	else
		s->bin_last = b;
	return b;
}

uint32_t bin_cell_at(struct slice *s, struct bin *b, enum cell_kind kind, const void *key)
{
	const struct cell_layout *l = built_layout(kind);
	struct cell_table *t = &b->table[kind];
	const char *before = t->cells;
	const char *cell = cell_table_get(t, l, key, NULL);

	if (t->cells != before)
		b->epoch[kind] = ++s->epochs;
	return (uint32_t)((size_t)(cell - t->cells) / l->size);
}

void bin_event(struct slice *s, struct bin *b, uint32_t host, uint32_t name, uint64_t count)
{
	BIN_CELL(s, b, event, .host = host, .name = name)->count += count;
}

/* The map of file cells holds one cell for each (thread, fd): the newest. */
struct built_file_cell *bin_file(struct slice *s, struct bin *b, const struct thread *t, const struct call *call)
{
	struct cell_table *files = &b->table[CELL_file];
	const struct cell_layout *l = built_layout(CELL_file);
	if (!slice_reads(s, CELL_file))
		return (struct built_file_cell *)(void *)s->unread[CELL_file].cells;
	uint64_t key = pair(t->self, (uint32_t)call->fd);
	uint32_t i = intmap_get(&files->map, key);

	if (i != INTMAP_NONE) {
		struct built_file_cell *c = cell_table_at(files, l, i);
		uint64_t lo = MIN(c->seq, call->seq), hi = MAX(c->seq, call->seq);
		uint64_t op = fdop_last(&s->fdops, call->fd);
		if (op <= lo || lo == hi)
			return c;
	}
	intmap_set(&files->map, key, files->n);
	const char *before = files->cells;
	struct built_file_cell fresh = { .thread = t->self, .fd = call->fd, .seq = call->seq };
	struct built_file_cell *c = cell_table_append(files, l, &fresh);
	if (files->cells != before)
		b->epoch[CELL_file] = ++s->epochs;
	return c;
}

/* Total order: longest first, then by begin and CPU. */
static int slow_compare(gconstpointer pa, gconstpointer pb)
{
	const struct bin_slow *a = pa, *b = pb;
	return ORDER(b->duration, a->duration) ?: ORDER(a->begin, b->begin) ?: ORDER(a->cpu, b->cpu);
}

void bin_slow(struct bin *b, const struct bin_slow *c)
{
	GArray *a = b->slow[c->list];
	guint at = a->len;
	g_assert(at <= LIMIT_SECOND_CALLS);
	while (at > 0 && slow_compare(c, &g_array_index(a, struct bin_slow, at - 1)) < 0)
		at--;
	if (at == LIMIT_SECOND_CALLS)
		return;
	g_array_insert_vals(a, at, c, 1);
	if (a->len > LIMIT_SECOND_CALLS)
		g_array_set_size(a, LIMIT_SECOND_CALLS);
	if (a->len == LIMIT_SECOND_CALLS)
		b->slow_from[c->list] = g_array_index(a, struct bin_slow, a->len - 1).duration;
}

guint bin_n_slow(const struct bin *b)
{
	guint n = 0;
	for (unsigned l = 0; l < SLOW_LIST_N; l++)
		n += b->slow[l]->len;
	return n;
}

/* ---- merging slices ---- */

static void map_slow(struct bin_slow *c, const struct cell_maps *maps)
{
	c->thread = maps->thread ? maps->thread[c->thread] : c->thread;
	c->name = maps->string ? maps->string[c->name] : c->name;
	c->seq += maps->seq_add;
}

/* Maps the cells' ids to those of another slice. File cells are removed from the map. Later charges then get new
 * cells, which the publisher adds to these. */
static void map_kind(struct bin *b, enum cell_kind kind, const struct cell_maps *maps)
{
	const struct cell_layout *l = built_layout(kind);
	struct cell_table *t = &b->table[kind];

	for (uint32_t i = 0; i < t->n; i++)
		cell_map(l, cell_table_at(t, l, i), maps);
	if (kind == CELL_file)
		intmap_clear(&t->map);
	else
		cell_table_index(t, l);
}

void bin_adopt(struct slice *s, struct bin *b, const struct cell_maps *maps)
{
	g_assert(!g_hash_table_contains(s->bins, &b->index));	/* the table's key is in the bin itself */
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		map_kind(b, k, maps);
	BIN_EACH_SLOW(b, x)
		map_slow(x, maps);
	new_epochs(s, b);
	b->dirty = true;
	g_hash_table_insert(s->bins, &b->index, b);
}

static void merge_kind(struct bin *into, struct bin *from, enum cell_kind kind, const struct cell_maps *maps)
{
	const struct cell_layout *l = built_layout(kind);

	for (uint32_t i = 0; i < from->table[kind].n; i++) {
		void *cell = cell_table_at(&from->table[kind], l, i);
		cell_map(l, cell, maps);
		if (kind == CELL_file)		/* not added: the same fd may be another file; histograms move */
			cell_table_append(&into->table[kind], l, cell);
		else
			cell_table_add(&into->table[kind], l, cell);
	}
	if (kind == CELL_file)
		from->table[kind].n = 0;
}

void bin_merge(struct slice *s, struct bin *into, struct bin *from, const struct cell_maps *maps)
{
	g_assert(into != from);
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		merge_kind(into, from, k, maps);
	new_epochs(s, into);
	BIN_EACH_SLOW(from, x) {
		map_slow(x, maps);
		bin_slow(into, x);
	}
	completeness_add(&into->completeness, &from->completeness);
	into->dirty = true;
	bin_free(from);
}

/* ---- ends of voids ---- */

/* A share of all cells: `ns` that end `after_ns` before the bin's end. */
static void add_share(struct bin *into, struct bin *from, int64_t after_ns, int64_t ns)
{
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		const struct cell_layout *l = built_layout(k);
		g_autofree void *part = g_malloc(l->size);
		for (uint32_t i = 0; i < from->table[k].n; i++) {
			if (!cell_share(l, part, cell_table_at(&from->table[k], l, i), after_ns, ns))
				continue;
			if (k == CELL_file)	/* as in merge_kind() */
				cell_table_append(&into->table[k], l, part);
			else
				cell_table_add(&into->table[k], l, part);
		}
	}
}

void bin_divide(struct slice *s, struct bin *from)
{
	int64_t end = from->after * s->step;

	for (int64_t at = from->index * s->step; at < end;) {
		struct bin *into = slice_bin(s, at);
		int64_t to = MIN(into->after * s->step, end);
		bool first = at == from->index * s->step;
		add_share(into, from, end - to, first ? INT64_MAX : to - at);	/* what is too much, too */
		new_epochs(s, into);
		if (to == end) {
			BIN_EACH_SLOW(from, x)
				bin_slow(into, x);
			completeness_add(&into->completeness, &from->completeness);
		}
		at = to;
	}
	from->table[CELL_file].n = 0;		/* their histograms were moved */
	bin_free(from);
}
