/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Views heatmap and distribution: bounds of rows of durations, cells of one and of several seconds, values that
 * dominate, what is not counted again, empty timelines, hostile durations and times.
 */
#include "lib/fake_timeline.h"
#include "views/distribution.h"
#include "views/heatmap.h"

#define BUCKETS_END (INT64_C(1) << HIST_MAX_BITS)

/* Every bucket is in one row, rows follow each other, and coarse rows are sums of fine ones. */
static void test_bounds(void)
{
	for (int bits = LATENCY_COARSEST; bits <= LATENCY_FINEST; bits++) {
		unsigned last = latency_row(bits, INT64_MAX);
		g_assert_cmpuint(last, <, LATENCY_ROWS_N);
		g_assert_cmpint(latency_row_low(bits, 0), ==, 0);
		g_assert_cmpint(latency_row_high(bits, last), ==, INT64_MAX);
		for (unsigned row = 0; row < last; row++) {
			g_assert_cmpint(latency_row_high(bits, row) + 1, ==, latency_row_low(bits, row + 1));
			g_assert_cmpuint(latency_row(bits, latency_row_low(bits, row)), ==, row);
			g_assert_cmpuint(latency_row(bits, latency_row_high(bits, row)), ==, row);
		}
		for (unsigned b = 0; b < HIST_BUCKETS; b++) {
			unsigned row = latency_row(bits, hist_bucket_low(b));
			g_assert_cmpuint(latency_row(bits, hist_bucket_high(b)), ==, row);
			g_assert_cmpint(hist_bucket_low(b), >=, latency_row_low(bits, row));
			g_assert_cmpint(hist_bucket_high(b), <=, latency_row_high(bits, row));
		}
		for (unsigned row = 0; bits > LATENCY_COARSEST && row <= last; row++) {
			int64_t low = latency_row_low(bits, row), high = latency_row_high(bits, row);
			g_assert_cmpuint(latency_row(bits - 1, low), ==, latency_row(bits - 1, high));
		}
		g_assert_cmpuint(latency_row(bits, -1), ==, 0);
		g_assert_cmpuint(latency_row(bits, INT64_MIN), ==, 0);
		g_assert_cmpuint(latency_row(bits, BUCKETS_END - 1), ==, last);
		g_assert_cmpuint(latency_row(bits, BUCKETS_END), ==, last);
	}
	g_assert_cmpint(latency_rows_fit(1 << 20, (1 << 21) - 1, 4), ==, 2);
	g_assert_cmpint(latency_rows_fit(1 << 20, (1 << 21) - 1, 3), ==, 1);
	g_assert_cmpint(latency_rows_fit(1 << 20, (1 << 21) - 1, 1), ==, 0);
	g_assert_cmpint(latency_rows_fit(0, INT64_MAX, 1), ==, LATENCY_COARSEST);
}

static struct metric_query *calls_by(const char *by)
{
	struct metric_query *q = g_new0(struct metric_query, 1);
	q->metric = metric_find("call.latency", NULL);
	g_assert_true(!by || metric_query_by(q, by, NULL));
	return q;
}

static void query_free(struct metric_query *q)
{
	metric_query_clear(q);
	g_free(q);
}

static struct rows *build(const struct view *v, const struct timeline *tl, const struct metric_query *q,
			  struct heatmap *h)
{
	struct view_query query = VIEW_QUERY_INIT;
	query.metric = q;
	query.heatmap = h;
	return v->build(tl, &query);
}

static const struct heat_cell *cell_at(const struct rows *rows, guint i)
{
	g_assert_cmpuint(i, <, rows->rows->len);
	return rows->rows->pdata[i];
}

static void expect(const struct rows *rows, guint i, unsigned second, int64_t low, uint64_t count, const char *dominant,
		   uint64_t of_it)
{
	const struct heat_cell *c = cell_at(rows, i);
	g_assert_cmpint(c->begin_ns, ==, FAKE_T0 + second * FAKE_S);
	g_assert_cmpint(latency_row_low(heat_grid_of(rows)->bits, c->level), ==, low);
	g_assert_cmpuint(c->count, ==, count);
	g_assert_cmpstr(c->dominant, ==, dominant);
	g_assert_cmpuint(c->dominant_count, ==, of_it);
}

/* n seconds, each with 3 reads of 1 us by a, 4 writes of 1 us by b, a write of 1 ms by a; from 5 on a read of 1 s. */
static struct timeline *made(unsigned n)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 10, 10, "a"), b = fake_thread(f, 0, 20, 20, "b");
	uint32_t read = fake_string(f, "read"), write = fake_string(f, "write");
	for (unsigned i = 0; i < n; i++) {
		struct second *s = fake_second(f, i);
		fake_call(s, a, read, 3, 1024);
		fake_call(s, b, write, 4, 1024);
		fake_call(s, a, write, 1, 1 << 20);
		if (i >= 5)
			fake_call(s, b, read, 1, FAKE_S);
	}
	return fake_done(f);
}

static void test_cells(void)
{
	struct timeline *tl = made(6);
	struct metric_query *q = calls_by("process"), *plain = calls_by(NULL);
	struct rows *rows = build(&view_heatmap, tl, q, NULL);
	g_assert_cmpuint(rows->rows->len, ==, 6 * 2 + 1);
	expect(rows, 0, 0, 1024, 7, "b", 4);
	expect(rows, 1, 0, 1 << 20, 1, "a", 1);
	expect(rows, 12, 5, 939524096, 1, "b", 1);
	g_assert_cmpuint(heat_grid_of(rows)->total, ==, 6 * 8 + 1);
	g_assert_cmpuint(heat_grid_of(rows)->most, ==, 7);
	g_assert_cmpuint(heat_grid_of(rows)->values->len, ==, 2);
	g_assert_cmpstr(g_array_index(heat_grid_of(rows)->values, struct heat_value, 0).text, ==, "b");
	rows_free(rows);
	rows = build(&view_heatmap, tl, plain, NULL);
	expect(rows, 0, 0, 1024, 7, NULL, 0);
	rows_free(rows);
	query_free(q);
	query_free(plain);
	timeline_free(tl);
}

/* Of equal values the first by name, whichever came first. */
static void test_equal_values(void)
{
	struct fake *f = fake_new();
	uint32_t read = fake_string(f, "read");
	for (int i = 5; i > 0; i--) {
		g_autofree char *name = g_strdup_printf("p%d", i);
		fake_call(fake_second(f, 0), fake_thread(f, 0, i, i, name), read, 2, 5000);
	}
	struct timeline *tl = fake_done(f);
	struct metric_query *q = calls_by("process");
	struct rows *rows = build(&view_heatmap, tl, q, NULL);
	expect(rows, 0, 0, 4096, 10, "p1", 2);
	rows_free(rows);
	query_free(q);
	timeline_free(tl);
}

/* A picture has the same sums as single seconds, at any size. */
static void test_picture(void)
{
	struct timeline *tl = made(40);
	struct metric_query *q = calls_by("process");
	struct rows *single = build(&view_heatmap, tl, q, NULL);
	for (unsigned columns = 1; columns < 60; columns += columns < 8 ? 1 : 7)
		for (unsigned height = 1; height < 60; height = height * 2 + 1) {
			struct heatmap *h = heatmap_new(columns, height);
			struct rows *rows = build(&view_heatmap, tl, q, h);
			const struct heat_grid *g = heat_grid_of(rows);
			g_assert_cmpuint(g->n_columns, <=, columns);
			g_assert_cmpuint(g->total, ==, heat_grid_of(single)->total);
			for (guint i = 0; i < rows->rows->len; i++) {
				const struct heat_cell *c = cell_at(rows, i);
				uint64_t sum = 0;
				for (guint k = 0; k < single->rows->len; k++) {
					const struct heat_cell *s = cell_at(single, k);
					bool within = s->begin_ns >= c->begin_ns && s->begin_ns < c->end_ns;
					int64_t low = latency_row_low(LATENCY_FINEST, s->level);
					sum += within && latency_row(g->bits, low) == c->level ? s->count : 0;
				}
				g_assert_cmpuint(c->count, ==, sum);
				g_assert_cmpuint(c->column, <, g->n_columns);
			}
			rows_free(rows);
			heatmap_free(h);
		}
	rows_free(single);
	query_free(q);
	timeline_free(tl);
}

/* Seconds that come later, and those that were corrected, are counted; the picture is as one that is new. */
static void test_again(void)
{
	struct timeline *tl = made(10);
	struct metric_query *q = calls_by("process");
	struct heatmap *h = heatmap_new(20, 30);
	rows_free(build(&view_heatmap, tl, q, h));
	for (unsigned n = 3; n < 30; n += 9) {
		struct publication *p = publication_new();
		struct second *s = second_new(FAKE_T0 + n * FAKE_S, FAKE_T0 + (n + 1) * FAKE_S);
		s->version = 2;
		fake_call(s, 0, 0, 5, 77000 * (int64_t)n);
		second_seal(s);
		g_ptr_array_add(p->seconds, s);
		timeline_apply(tl, p);
		struct heatmap *fresh = heatmap_new(20, 30);
		struct rows *a = build(&view_heatmap, tl, q, h), *b = build(&view_heatmap, tl, q, fresh);
		g_assert_cmpuint(a->rows->len, ==, b->rows->len);
		for (guint i = 0; i < a->rows->len; i++) {
			const struct heat_cell *x = cell_at(a, i), *y = cell_at(b, i);
			g_assert_cmpint(x->begin_ns, ==, y->begin_ns);
			g_assert_cmpuint(x->level, ==, y->level);
			g_assert_cmpuint(x->count, ==, y->count);
			g_assert_cmpstr(x->dominant, ==, y->dominant);
		}
		rows_free(a);
		rows_free(b);
		heatmap_free(fresh);
	}
	heatmap_free(h);
	query_free(q);
	timeline_free(tl);
}

static void test_empty(void)
{
	struct timeline *tl = timeline_new(0);
	struct heatmap *h = heatmap_new(80, 20);
	struct rows *rows = build(&view_heatmap, tl, NULL, h);
	g_assert_cmpuint(rows->rows->len, ==, 0);
	g_assert_cmpuint(heat_grid_of(rows)->total, ==, 0);
	rows_free(rows);
	rows = build(&view_distribution, tl, NULL, NULL);
	g_assert_cmpuint(rows->rows->len, ==, 0);
	g_assert_cmpstr(rows->about, ==, "count 0");
	rows_free(rows);
	heatmap_free(h);
	timeline_free(tl);
}

/* Negative and longest durations, and seconds that are centuries apart. */
static void test_hostile(void)
{
	struct timeline *tl = timeline_new(0);
	struct publication *p = publication_new();
	const int64_t begins[] = { INT64_MIN / 2 + 1, -5 * FAKE_S, FAKE_T0, INT64_MAX / 2 - FAKE_S };
	for (size_t i = 0; i < G_N_ELEMENTS(begins); i++) {
		struct second *s = second_new(begins[i], begins[i] + FAKE_S);
		s->version = 1;
		for (int64_t n = 0; n < 2; n++) {
			fake_call(s, 0, 0, 1, INT64_MIN + n);
			fake_call(s, 0, 0, 1, INT64_MAX - n);
		}
		second_seal(s);
		g_ptr_array_add(p->seconds, s);
	}
	timeline_apply(tl, p);
	struct metric_query *q = calls_by("process");
	for (unsigned columns = 1; columns < 200; columns = columns * 3 + 1) {
		struct heatmap *h = heatmap_new(columns, 20);
		struct rows *rows = build(&view_heatmap, tl, q, h);
		g_assert_cmpuint(heat_grid_of(rows)->total, ==, 16);
		g_assert_cmpuint(heat_grid_of(rows)->n_columns, <=, columns);
		g_assert_cmpint(cell_at(rows, 0)->level, ==, 0);
		rows_free(rows);
		heatmap_free(h);
	}
	for (q->against = METRIC_ALONE; q->against <= METRIC_HISTORY; q->against++) {
		struct rows *rows = build(&view_distribution, tl, q, NULL);
		g_assert_cmpuint(distribution_of(rows)->side[0].count, ==, 16);
		g_assert_cmpint(distribution_of(rows)->side[0].max_ns, ==, INT64_MAX);
		rows_free(rows);
	}
	query_free(q);
	timeline_free(tl);
}

static void test_distribution(void)
{
	struct timeline *tl = made(6);
	struct metric_query *q = calls_by(NULL), *other = calls_by(NULL);
	struct view_query query = VIEW_QUERY_INIT;
	g_assert_true(metric_query_where(other, "process == a", NULL));
	query.metric = q;
	query.metric_other = other;
	query.latency_rows = 100;
	struct rows *rows = view_distribution.build(tl, &query);
	const struct distribution *d = distribution_of(rows);
	const struct distribution_row *first = rows->rows->pdata[0];
	const struct distribution_row *last = rows->rows->pdata[rows->rows->len - 1];
	g_assert_cmpuint(d->side[0].count, ==, 49);
	g_assert_cmpuint(d->side[1].count, ==, 24);
	g_assert_cmpint(d->side[0].p50_ns, ==, 1055);		/* the end of the bucket of 1024 */
	g_assert_cmpint(d->side[0].max_ns, ==, FAKE_S);
	g_assert_cmpint(d->side[0].mean_ns, ==, (42 * 1024 + 6 * (1 << 20) + FAKE_S) / 49);
	g_assert_cmpint(first->low_ns, ==, 1024);
	g_assert_cmpint(first->high_ns, ==, 1279);
	g_assert_cmpuint(first->count[0], ==, 42);
	g_assert_cmpuint(first->count[1], ==, 18);
	g_assert_cmpuint(last->count[0], ==, 1);
	g_assert_cmpuint(last->count[1], ==, 0);
	rows_free(rows);
	query_free(q);
	query_free(other);
	timeline_free(tl);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/heatmap/bounds", test_bounds);
	g_test_add_func("/heatmap/cells", test_cells);
	g_test_add_func("/heatmap/equal-values", test_equal_values);
	g_test_add_func("/heatmap/picture", test_picture);
	g_test_add_func("/heatmap/again", test_again);
	g_test_add_func("/heatmap/empty", test_empty);
	g_test_add_func("/heatmap/hostile", test_hostile);
	g_test_add_func("/distribution/sides", test_distribution);
	return g_test_run();
}
