/* SPDX-License-Identifier: GPL-2.0-only */
/* The schema of cells: what its tables say, and what follows from them, against plain sums. */
#include "state/store/cell_sum.h"
#include "state/store/publication.h"

#include <string.h>

#define ROUNDS 200
#define KEYS 5

/* Fields lie one behind another as C lays them out, keys first, histograms last, each described. */
static void check_layout(const struct cell_layout *l)
{
	size_t end = 0, hists = 0;

	g_assert_cmpuint(l->n_keys, >, 0);
	for (unsigned i = 0; i < l->n_fields; i++) {
		const struct cell_field *f = &l->fields[i];
		bool is_key = i < l->n_keys, is_hist = i >= (unsigned)l->n_fields - l->n_hists;
		g_assert_cmpuint(f->offset, >=, end);
		g_assert_cmpuint(f->offset, <, end + 8);	/* nothing but padding between them */
		g_assert_cmpint(f->role < CELL_IS_SUM, ==, is_key);
		g_assert_cmpint(f->role == CELL_IS_HIST, ==, is_hist);
		g_assert_cmpint(f->type == FIELD_HIST, ==, is_hist);
		g_assert_cmpuint(strlen(f->help), >, 4);
		g_assert_true(is_key == (f->unit == VALUE_NONE));
		for (unsigned k = 0; f->element && k < f->n; k++)
			g_assert_nonnull(f->element(k));
		g_assert_true(f->n == 1 || f->element);
		end = f->offset + (size_t)f->n * f->size;
		hists += is_hist;
		if (is_key)
			g_assert_cmpuint(end, <=, l->key_size);
	}
	g_assert_cmpuint(hists, ==, l->n_hists);
	g_assert_cmpuint(end, <=, l->size);
	g_assert_cmpuint(l->size, <, end + 8);
}

static void test_layouts(void)
{
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		check_layout(cell_layout(k));
		check_layout(built_layout(k));
	}
}

/* Any cell of a few keys; its figures are small. */
static void fill(GRand *r, const struct cell_layout *l, char *cell)
{
	memset(cell, 0, l->size);
	for (unsigned i = 0; i < l->n_fields; i++) {
		const struct cell_field *f = &l->fields[i];
		for (unsigned k = 0; k < f->n; k++) {
			char *at = cell + f->offset + (size_t)k * f->size;
			int32_t v = g_rand_int_range(r, 0, i < l->n_keys ? KEYS : 1000);
			if (f->type == FIELD_HIST)
				for (; v > 0; v -= 100)
					hist_add((struct hist *)(void *)at, v * 1000);
			else		/* the low byte of any number */
				at[G_BYTE_ORDER == G_BIG_ENDIAN ? f->size - 1 : 0] = (char)v;
		}
	}
}

static int64_t value_of(const struct cell_field *f, const char *cell, unsigned k)
{
	const void *at = cell + f->offset + (size_t)k * f->size;

	switch (f->type) {
	case FIELD_U32: return *(const uint32_t *)at;
	case FIELD_I32: return *(const int32_t *)at;
	case FIELD_HIST: return hist_sum(at);
	default: return *(const int64_t *)at;
	}
}

/* The value beside the greatest of the next figure; of equal ones the least. */
static int64_t at_greatest(const struct cell_layout *l, const GPtrArray *cells, const char *key,
			   const struct cell_field *f)
{
	int64_t most = INT64_MIN, at = 0;

	for (guint i = 0; i < cells->len; i++) {
		const char *c = g_ptr_array_index(cells, i);
		int64_t v = value_of(f, c, 0), m = value_of(f + 1, c, 0);
		if (memcmp(c, key, l->key_size) || m < most || (m == most && v >= at))
			continue;
		most = m;
		at = v;
	}
	return at;
}

/* What one figure of all cells with that key comes to, by the words of schema.h. */
static int64_t expected(const struct cell_layout *l, const GPtrArray *cells, const char *key,
			const struct cell_field *f, unsigned k)
{
	int64_t sum = 0, most = INT64_MIN, least = INT64_MAX, name = 0;

	if (f->role == CELL_IS_AT_MAX)
		return at_greatest(l, cells, key, f);
	for (guint i = 0; i < cells->len; i++) {
		const char *c = g_ptr_array_index(cells, i);
		if (memcmp(c, key, l->key_size))
			continue;
		int64_t v = value_of(f, c, k);
		sum += v;
		most = MAX(most, v);
		least = MIN(least, v);
		name = v ? v : name;
	}
	return f->role == CELL_IS_MAX || f->role == CELL_IS_LAST ? most : f->role == CELL_IS_MIN ? least :
	       f->role == CELL_IS_NAME ? name : sum;
}

/* names: those too, of which the newest counts. */
static void check_sums(const struct cell_layout *l, const struct cell_table *t, const GPtrArray *cells, bool names)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const char *c = cell_table_at(t, l, i);
		g_assert_true(cell_table_find(t, l, c) == c);
		for (const struct cell_field *f = l->fields + l->n_keys; f < l->fields + l->n_fields; f++)
			for (unsigned k = 0; k < f->n && (names || f->role != CELL_IS_NAME); k++)
				g_assert_cmpint(value_of(f, c, k), ==, expected(l, cells, c, f, k));
	}
}

static void free_cells(const struct cell_layout *l, GPtrArray *cells)
{
	for (guint i = 0; i < cells->len; i++) {
		cell_clear(l, g_ptr_array_index(cells, i));
		g_free(g_ptr_array_index(cells, i));
	}
	g_ptr_array_unref(cells);
}

/* Added one by one, in two halves, and after they were sealed. */
static void test_sums(void)
{
	g_autoptr(GRand) r = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (unsigned round = 0; round < ROUNDS; round++) {
		const struct cell_layout *l = cell_layout(round % CELL_KIND_N);
		struct cell_table all = { 0 }, half[2] = { { 0 }, { 0 } }, both = { 0 };
		GPtrArray *cells = g_ptr_array_new();
		for (int i = g_rand_int_range(r, 0, 60); i > 0; i--) {
			char *cell = g_malloc(l->size);
			fill(r, l, cell);
			g_ptr_array_add(cells, cell);
			cell_table_add(&all, l, cell);
			cell_table_add(&half[i % 2], l, cell);
		}
		check_sums(l, &all, cells, true);
		for (unsigned h = 0; h < 2; h++)
			for (uint32_t i = 0; i < half[h].n; i++) {
				cell_seal(l, cell_table_at(&half[h], l, i));
				cell_table_add(&both, l, cell_table_at(&half[h], l, i));
			}
		g_assert_cmpuint(both.n, ==, all.n);
		check_sums(l, &both, cells, false);	/* the halves mix the order */
		cell_table_clear(&all, l);
		cell_table_clear(&half[0], l);
		cell_table_clear(&half[1], l);
		cell_table_clear(&both, l);
		free_cells(l, cells);
	}
}

/* Ids are mapped, numbers are not; ID_NONE stays. */
static void test_map(void)
{
	const uint32_t thread[] = { 10, 11 }, string[] = { 20, 21 }, host[] = { 30, 31 }, file[] = { 40, 41 };
	struct cell_maps maps = { thread, string, host, file, .seq_add = 1000 };
	struct waker_cell w = { .thread = 1, .waker = ID_NONE, .irq = 1, .count = 1 };
	struct file_cell f = { .thread = 0, .file = 1, .fd_low = 1 };
	struct built_file_cell b = { .thread = 1, .fd = 1, .seq = 7 };
	struct dev_cell d = { .host = 1, .dev = 1, .name = 1 };

	cell_map(built_layout(CELL_waker), &w, &maps);
	g_assert_cmpuint(w.thread, ==, 11);
	g_assert_cmpuint(w.waker, ==, ID_NONE);
	g_assert_cmpuint(w.irq, ==, 1);		/* a code */
	g_assert_cmpuint(w.count, ==, 1);
	cell_map(built_layout(CELL_file), &b, &maps);
	g_assert_cmpuint(b.thread, ==, 11);
	g_assert_cmpint(b.fd, ==, 1);
	g_assert_cmpuint(b.seq, ==, 1007);
	maps.published = true;
	w.thread = 0;
	cell_map(cell_layout(CELL_waker), &w, &maps);
	g_assert_cmpuint(w.irq, ==, 21);	/* a name now */
	cell_map(cell_layout(CELL_file), &f, &maps);
	g_assert_cmpuint(f.thread, ==, 10);
	g_assert_cmpuint(f.file, ==, 41);
	g_assert_cmpint(f.fd_low, ==, 1);
	cell_map(cell_layout(CELL_dev), &d, &maps);
	g_assert_cmpuint(d.host, ==, 31);
	g_assert_cmpuint(d.dev, ==, 1);
	g_assert_cmpuint(d.name, ==, 21);
}

/* A sum of many seconds is wider than a cell; it has the least and the greatest of all cells, not of an empty one. */
static void test_cell_sums(void)
{
	struct dev_cell d = { .merges = UINT32_MAX, .depth_max = 3, .busy_ns = 7, .requests = { 1, UINT32_MAX } };
	struct file_cell f = { .fd_low = 5, .fd_high = 6, .submitted = UINT64_MAX, .bytes = { 1, 2 } };
	struct lock_cell l = { .max_ns = 0, .longest_at_ns = 90, .part = { [PART_DISK] = 4 } };
	struct dev_sum of_devs = { 0 };
	struct file_sum of_files = { 0 };
	struct lock_sum of_locks = { 0 };

	hist_add(&d.latency, 1000);
	for (int i = 0; i < 3; i++) {
		cell_sum_add(CELL_dev, &of_devs, &d);
		cell_sum_add(CELL_file, &of_files, &f);
		cell_sum_add(CELL_lock, &of_locks, &l);
		d.depth_max--;
		f.fd_low++;
		f.fd_high++;
		l.longest_at_ns -= 10;
	}
	g_assert_cmpuint(of_devs.n_cells, ==, 3);
	g_assert_cmpint(of_devs.merges, ==, 3 * (int64_t)UINT32_MAX);
	g_assert_cmpint(of_devs.requests[1], ==, 3 * (int64_t)UINT32_MAX);
	g_assert_cmpint(of_devs.depth_max, ==, 3);
	g_assert_cmpint(of_devs.busy_ns, ==, 21);
	g_assert_cmpuint(hist_count(&of_devs.latency), ==, 3);
	g_assert_cmpint(of_files.fd_low, ==, 5);
	g_assert_cmpint(of_files.fd_high, ==, 8);
	g_assert_cmpint(of_files.submitted, ==, -3);		/* a hostile trace can make it wrap around */
	g_assert_cmpint(of_files.bytes[1], ==, 6);
	g_assert_cmpint(of_locks.longest_at_ns, ==, 70);	/* the first of equally long ones */
	g_assert_cmpint(of_locks.part[PART_DISK], ==, 12);
	l.max_ns = 1;
	l.longest_at_ns = 500;
	cell_sum_add(CELL_lock, &of_locks, &l);
	g_assert_cmpint(of_locks.longest_at_ns, ==, 500);
	g_assert_cmpint(of_locks.max_ns, ==, 1);
	hist_clear(&of_devs.latency);
	hist_clear(&d.latency);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/schema/layouts", test_layouts);
	g_test_add_func("/schema/sums", test_sums);
	g_test_add_func("/schema/map", test_map);
	g_test_add_func("/schema/cell-sums", test_cell_sums);
	return g_test_run();
}
