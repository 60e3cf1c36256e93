/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The view flame and its screen: times of frames, names that are not safe, folded lines; moving, zooming, and sizes.
 */
#include "lib/fake_timeline.h"
#include "lib/screen_fixture.h"

#include "export/export.h"
#include "ui/nav.h"
#include "views/flame.h"

#include <stdlib.h>
#include <string.h>

static struct rows *build(const struct timeline *tl, enum view_by by)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.by = by;
	return view_find("flame")->build(tl, &q);
}

static struct flame_row *row_at(const struct rows *rows, guint i)
{
	return rows->rows->pdata[i];
}

/* The frame with that path; NULL: there is none. */
static struct flame_row *find(struct rows *rows, const char *path)
{
	for (guint i = 0; i < rows->rows->len; i++)
		if (!strcmp(flame_path(rows, row_at(rows, i)), path))
			return row_at(rows, i);
	return NULL;
}

static void check_total(struct rows *rows, const char *path, int64_t ns)
{
	const struct flame_row *r = find(rows, path);
	if (!r)
		g_test_message("no frame %s", path);
	g_assert_nonnull(r);
	g_assert_cmpint(r->total_ns, ==, ns);
}

/* Each frame has its own time and that of its children, which follow it. */
static void check_sums(const struct rows *rows)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct flame_row *r = row_at(rows, i);
		int64_t below = 0, parts = 0;
		for (guint k = i + 1; k < r->end; k++) {
			g_assert_cmpint(row_at(rows, k)->row.depth, >, r->row.depth);
			below += row_at(rows, k)->parent == r ? row_at(rows, k)->total_ns : 0;
		}
		for (int p = 0; p < PART_N; p++)
			parts += r->part[p];
		g_assert_cmpint(r->total_ns, ==, r->self_ns + below);
		g_assert_cmpint(parts, <=, r->total_ns);
		g_assert_cmpint(r->total_ns, >, 0);
	}
}

/* A request of 10 ms: 4 ms in a phase of another service, that waited 3 ms for a lock whose holder slept. */
static struct timeline *one_request(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 100, 101, "worker"), b = fake_thread(f, 0, 100, 102, "hol;der\n");
	struct span *root, *phase;

	fake_cell(fake_second(f, 0), a)->part[PART_USER] = FAKE_S;
	root = fake_span(f, &(struct fake_span){ 1, 1, 0, SPAN_LOCAL, "get;it", "web", a, 0, 10 * FAKE_MS,
						 SPAN_COMPLETE });
	phase = fake_span(f, &(struct fake_span){ 1, 2, 1, SPAN_LOCAL, "lock", "db", a, 2 * FAKE_MS, 6 * FAKE_MS,
						  SPAN_COMPLETE });
	fake_wait(phase, PART_FUTEX, 2 * FAKE_MS, 5 * FAKE_MS, 0, b, fake_string(f, "futex"));
	fake_wait(root, PART_FUTEX, 2 * FAKE_MS, 5 * FAKE_MS, 0, b, fake_string(f, "futex"));
	fake_link(phase, b, PART_TIMER, 2 * FAKE_MS, 5 * FAKE_MS)->call = fake_string(f, "nanosleep");
	return fake_done(f);
}

static void test_requests(void)
{
	struct timeline *tl = one_request();
	struct rows *rows = build(tl, BY_SYSTEM);

	check_sums(rows);
	g_assert_cmpint(row_at(rows, 0)->total_ns, ==, 10 * FAKE_MS);
	check_total(rows, "get:it@web", 10 * FAKE_MS);
	check_total(rows, "get:it@web;user", 6 * FAKE_MS);
	check_total(rows, "get:it@web;lock@db", 4 * FAKE_MS);
	check_total(rows, "get:it@web;lock@db;user", FAKE_MS);
	check_total(rows, "get:it@web;lock@db;hol:der\\x0a;nanosleep();timer", 3 * FAKE_MS);
	g_assert_cmpint(flame_mainly(row_at(rows, 0)), ==, PART_USER);
	rows_free(rows);
	timeline_free(tl);
}

static void test_folded(void)
{
	struct timeline *tl = one_request();
	struct rows *rows = build(tl, BY_SYSTEM);
	const struct view *v = view_find("flame");
	g_autofree char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	g_assert_true(rows_can_fold(v) && !rows_can_fold(view_find("path")) && !rows_can_fold(view_find("spans")));
	g_assert_true(rows_print(out, v, rows, FORMAT_FOLDED, true));
	fclose(out);
	g_assert_cmpstr(text, ==, "get:it@web;user 6000000\n"
			"get:it@web;lock@db;hol:der\\x0a;nanosleep();timer 3000000\n"
			"get:it@web;lock@db;user 1000000\n");
	rows_free(rows);
	timeline_free(tl);
}

/* 1 s: 300 ms in read, 500 ms user; 200 ms are not known to be in a part. A thread without calls: its parts. */
static void test_threads(void)
{
	struct fake *f = fake_new();
	uint32_t b = fake_thread(f, 0, 100, 100, "server"), a = fake_thread(f, 0, 100, 101, "worker");
	struct second *s = fake_second(f, 0);
	fake_call(s, a, fake_string(f, "read"), 1, 300 * FAKE_MS)->busy_ns = 300 * FAKE_MS;
	fake_cell(s, a)->part[PART_USER] = 500 * FAKE_MS;
	fake_cell(s, a)->part[PART_SOCKET] = 300 * FAKE_MS;
	fake_cell(s, a)->part[PART_WAKEUP] = 200 * FAKE_MS;
	fake_cell(s, b)->part[PART_TIMER] = 900 * FAKE_MS;
	fake_cell(s, b)->part[PART_IRQ] = 100 * FAKE_MS;
	struct timeline *tl = fake_done(f);
	struct rows *rows = build(tl, BY_SYSTEM);	/* there are no spans */

	check_sums(rows);
	g_assert_cmpstr(row_at(rows, 0)->name, ==, "all threads");
	g_assert_cmpint(row_at(rows, 0)->total_ns, ==, 2 * FAKE_S);
	check_total(rows, "server;worker;read()", 300 * FAKE_MS);
	check_total(rows, "server;worker;other", 200 * FAKE_MS);
	check_total(rows, "server;server;timer", 900 * FAKE_MS);
	rows_free(rows);
	rows = build(tl, BY_PROCESS);
	check_sums(rows);
	check_total(rows, "server", 2 * FAKE_S);
	g_assert_nonnull(find(rows, "server;read()"));
	rows_free(rows);
	timeline_free(tl);
}

static struct timeline *nested(uint64_t depth)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 100, 101, "worker");
	fake_cell(fake_second(f, 0), a)->part[PART_USER] = FAKE_S;
	for (uint64_t i = 1; i <= depth; i++)
		fake_span(f, &(struct fake_span){ 1, i, i - 1, SPAN_LOCAL, "deeper", "web", a, (int64_t)i * 1000,
						  FAKE_S / 2 - (int64_t)i * 1000, SPAN_COMPLETE });
	return fake_done(f);
}

/* ---- the screen ---- */

static const char *selected(struct fixture *f)
{
	struct place *p = fixture_top(f);
	return ((const struct flame_row *)place_selected(p))->name;
}

static void test_keys(void)
{
	struct fixture f = { 0 };
	fixture_start_on(&f, one_request(), false, "V");
	g_assert_true(fixture_has(&f, "Flame of all requests: 10.0ms"));
	fixture_press(&f, "jj");
	g_assert_cmpstr(selected(&f), ==, "user");
	fixture_press_key(&f, UI_KEY_RIGHT);
	g_assert_cmpstr(selected(&f), ==, "lock@db");
	g_assert_true(fixture_has(&f, "lock@db: 4.00ms, 40% of all, 40% of the frame above, timer 75%"));
	fixture_press_key(&f, UI_KEY_RIGHT);
	g_assert_true(fixture_has(&f, "this is the last frame in its line"));
	fixture_press(&f, "\r");
	g_assert_true(fixture_has(&f, "zoomed to get;it@web") && fixture_has_not(&f, "all requests 100%"));
	fixture_press(&f, "G");
	g_assert_cmpstr(selected(&f), ==, "timer");
	app_resize(f.app, 15, 60);
	app_draw(f.app);
	g_assert_true(fixture_has(&f, "timer: 3.00ms, 30% of all"));	/* the end of a long path */
	app_resize(f.app, 24, 80);
	fixture_press(&f, "g\033");
	g_assert_true(fixture_has(&f, "zoomed to get;it@web (Esc"));
	fixture_press(&f, "\033");
	g_assert_true(fixture_has(&f, "all requests 100%"));
	fixture_press(&f, "\033");
	g_assert_true(fixture_top(&f)->view != view_find("flame"));
	fixture_stop(&f);
}

/* What is zoomed stays so at another time; a time without it shows all. */
static void test_time(void)
{
	struct fixture f = { 0 };
	fixture_start(&f, "Vj\r");
	g_assert_true(fixture_has(&f, "zoomed to"));
	fixture_press(&f, "<");
	g_assert_true(fixture_has(&f, "zoomed to"));
	for (int i = 0; i < 8; i++)
		fixture_press(&f, ">");
	g_assert_true(fixture_has_not(&f, "zoomed to"));
	fixture_press(&f, "jkhl\r");
	fixture_stop(&f);
}

/* A time of which nothing is known is a bar with its letter once, as the legend has it. */
static void test_unknown(void)
{
	struct fake *k = fake_new();
	struct second *s = fake_second(k, 0);
	fake_cell(s, fake_thread(k, 0, 100, 101, "worker"))->part[PART_USER] = FAKE_S;
	fake_cell(s, fake_thread(k, 0, 200, 201, "a-long-name-of-a-thread"))->part[PART_UNKNOWN] = FAKE_S;
	struct fixture f = { 0 };
	fixture_start_on(&f, fake_done(k), false, "V");
	app_resize(f.app, 20, 60);
	app_draw(f.app);
	g_assert_true(fixture_has(&f, "unknown") && fixture_has(&f, "? unknown"));
	g_assert_true(fixture_has_not(&f, "??"));
	fixture_stop(&f);
}

static void test_sizes(void)
{
	static const unsigned sizes[][2] = { { 15, 60 }, { 24, 80 }, { 45, 140 }, { 50, 200 }, { 16, 61 } };
	for (int ascii = 0; ascii < 2; ascii++)
		for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
			struct fixture f = { .options = { .ascii = ascii } };
			fixture_start_on(&f, i % 2 ? nested(240) : one_request(), false, "V");
			app_resize(f.app, sizes[i][0], sizes[i][1]);
			fixture_press(&f, "GgGj\rj\r");
			app_resize(f.app, 24, 80);
			fixture_press(&f, "G\033gj");
			fixture_stop(&f);
		}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_setenv("TZ", "UTC", TRUE);
	g_test_add_func("/flame/requests", test_requests);
	g_test_add_func("/flame/folded", test_folded);
	g_test_add_func("/flame/threads", test_threads);
	g_test_add_func("/flame/keys", test_keys);
	g_test_add_func("/flame/time", test_time);
	g_test_add_func("/flame/unknown", test_unknown);
	g_test_add_func("/flame/sizes", test_sizes);
	return g_test_run();
}
