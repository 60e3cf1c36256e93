/* SPDX-License-Identifier: GPL-2.0-only */
/* The table widget, on a view made for it. */
#include "lib/canvas_text.h"
#include "ui/table.h"

#include <string.h>

struct item {
	struct row row;
	const char *name;
	int64_t pid, ns, bytes;
	double share;
};

static struct value get_pid(const struct row *r, const struct rows *rows)
{
	return value_int(VALUE_ID, ((const struct item *)r)->pid);
}

static struct value get_tid(const struct row *r, const struct rows *rows)
{
	return value_none();
}

static struct value get_name(const struct row *r, const struct rows *rows)
{
	return value_text(((const struct item *)r)->name);
}

static struct value get_short(const struct row *r, const struct rows *rows)
{
	return value_text("x");
}

static struct value get_ns(const struct row *r, const struct rows *rows)
{
	int64_t ns = ((const struct item *)r)->ns;

	return ns < 0 ? value_none() : value_int(VALUE_NS, ns);
}

static struct value get_bytes(const struct row *r, const struct rows *rows)
{
	return value_int(VALUE_BYTES, ((const struct item *)r)->bytes);
}

static struct value get_share(const struct row *r, const struct rows *rows)
{
	return value_ratio(((const struct item *)r)->share);
}

static const struct column columns[] = {
	{ "name", "NAME", VALUE_TEXT, 10, 0, ALIGN_LEFT, DRAW_TEXT, true, false, false, false, NULL, false,
	  "its name", .get = get_name },
	{ "pid", "PID", VALUE_ID, 6, 2, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, false,
	  "its pid", .get = get_pid },
	{ "tid", "TID", VALUE_ID, 6, 2, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, false,
	  "its tid", .get = get_tid },
	{ "time_ns", "TIME", VALUE_NS, 7, 0, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, true,
	  "time", .get = get_ns },
	{ "raw_ns", "RAW", VALUE_NS, 0, 0, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, true,
	  "batch only", .get = get_ns },
	{ "read_bytes", "READ", VALUE_BYTES, 6, 5, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, true,
	  "bytes", .get = get_bytes },
	{ "x_ratio", "xUSUAL", VALUE_RATIO, 6, 4, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, true,
	  "factor", .get = get_share },
	{ "cpu_ratio", "CPU%", VALUE_RATIO, 5, 3, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, true,
	  "share", .get = get_share },
};

static struct rows *build(const struct timeline *tl, const struct view_query *q)
{
	return rows_new(tl, q);
}

static const struct view view = {
	.id = "items", .title = "Items", .columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "time_ns", .build = build,
};

static void add(struct rows *rows, uint64_t key, const char *name, int64_t ns)
{
	struct item *i = g_new0(struct item, 1);

	i->row.key[0] = key;
	i->name = name;
	i->ns = ns;
	i->pid = (int64_t)key;
	i->bytes = 4096;
	i->share = 2.84;
	g_ptr_array_add(rows->rows, i);
}

static struct timeline *story;

static struct rows *sample(void)
{
	const struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = rows_new(story, &q);

	add(rows, 1, "one", 1000);
	add(rows, 2, "two", 54700000);
	add(rows, 3, "ev\033[31mil", -1);
	add(rows, 4, "作者の名前は長い", 3000000);
	return rows;
}

/* A table of texts: name, wide, short. What is cut gets the room of what is not; columns do not jump when texts are
 * shorter in the next second. */
static void test_texts_share(void)
{
	static const struct column texts[] = {
		{ "name", "NAME", VALUE_TEXT, 10, 0, ALIGN_LEFT, DRAW_TEXT, true, false, false, false, NULL, false,
		  "", .get = get_name },
		{ "fixed", "FIXED", VALUE_TEXT, 30, 0, ALIGN_LEFT, DRAW_TEXT, false, false, false, false, NULL, false,
		  "", .get = get_short },
		{ "time_ns", "TIME", VALUE_NS, 7, 0, ALIGN_RIGHT, DRAW_TEXT, false, false, false, false, NULL, true,
		  "", .get = get_ns },
	};
	const struct view v = { .id = "texts", .title = "Texts", .columns = texts, .n_columns = G_N_ELEMENTS(texts),
				.default_sort = "time_ns", .build = build };
	const struct view_query q = VIEW_QUERY_INIT;
	struct rows *rows = rows_new(story, &q), *others = rows_new(story, &q);
	struct table t = TABLE_INIT;
	struct table_layout l;

	add(rows, 1, "a name of 24 characters.", 1);
	add(others, 1, "short", 1);
	table_measure(&t, &v, rows);
	table_layout(&t, &v, rows, 50, &l);
	g_assert_cmpuint(l.col[0].width, ==, 24);
	g_assert_cmpuint(l.col[1].width, ==, 30 - (24 - 10));
	table_layout(&t, &v, others, 50, &l);
	g_assert_cmpuint(l.col[0].width, ==, 24);
	table_layout(NULL, &v, others, 50, &l);
	g_assert_cmpuint(l.col[0].width, ==, 10);
	g_assert_cmpuint(l.col[1].width, ==, 30);
	rows_free(rows);
	rows_free(others);
}

static void test_layout(void)
{
	struct rows *rows = sample();
	struct table_layout l;

	table_layout(NULL, &view, rows, 80, &l);
	g_assert_cmpuint(l.n, ==, 6);		/* no tid: nobody has one; no raw */
	g_assert_cmpuint(l.col[0].x, ==, 1);
	g_assert_cmpuint(l.col[0].width, ==, 16);	/* its longest text; the rest stays free */
	for (unsigned width = 1; width < 200; width++) {
		table_layout(NULL, &view, rows, width, &l);
		for (unsigned i = 0; i < l.n; i++) {
			g_assert_cmpuint(l.col[i].x + l.col[i].width, <=, width);
			g_assert_true(i == 0 || l.col[i].x > l.col[i - 1].x + l.col[i - 1].width);
		}
	}
	/* Room goes to the text that is cut, also that of a column whose texts are short. */
	table_layout(NULL, &view, rows, 50, &l);
	g_assert_cmpuint(l.n, ==, 6);
	g_assert_cmpuint(l.col[0].width, ==, 50 - 1 - (7 + 8 + 7 + 7 + 6));
	g_assert_cmpuint(table_wanted(NULL, &view, rows), ==, 1 + 17 + 7 + 8 + 7 + 7 + 6);
	test_texts_share();
	/* Priorities: READ (5) goes first, then xUSUAL (4), CPU% (3), PID (2). */
	table_layout(NULL, &view, rows, 44, &l);
	g_assert_cmpuint(l.n, ==, 5);
	table_layout(NULL, &view, rows, 20, &l);
	g_assert_cmpuint(l.n, ==, 2);
	g_assert_cmpuint(l.col[1].column, ==, 3);
	rows_free(rows);
}

static void check_cell(unsigned column, struct value v, unsigned width, const char *expected)
{
	g_autofree char *text = table_cell(&columns[column], v, width);

	g_assert_cmpstr(text, ==, expected);
}

static void test_cells(void)
{
	check_cell(3, value_none(), 7, "-");
	check_cell(3, value_int(VALUE_NS, 54700000), 7, "54.7ms");
	check_cell(1, value_int(VALUE_ID, 123456), 6, "123456");
	check_cell(5, value_int(VALUE_BYTES, 4096), 6, "4.0K");
	check_cell(6, value_ratio(2.84), 6, "2.8x");
	check_cell(7, value_ratio(0.415), 5, "41.5");
	check_cell(0, value_text("a\033b"), 10, "a\\x1bb");
	check_cell(0, value_int(VALUE_HEX64, 0x7f8efb3a8bed4f37), 8, "7f8efb3a");
	check_cell(0, value_int(VALUE_HEX64, 0x0f8efb3a8bed4f37), 16, "0f8efb3a8bed4f37");
	check_cell(3, value_bound(VALUE_NS, 20000000, true), 7, ">20.0ms");
	check_cell(3, value_bound(VALUE_NS, 20000000, false), 7, "20.0ms");
	check_cell(0, value_int(VALUE_HEX64, 0xf1), 8, "000000f1");
	check_cell(0, value_int(VALUE_HEX64, 0xffffffff), 8, "ffffffff");
	check_cell(0, value_int(VALUE_HEX64, INT64_C(0x100000000)), 8, "00000001");
}

static void test_selection(void)
{
	struct table t = TABLE_INIT;
	struct rows *rows = sample();

	table_apply(&t, &view, rows, NULL);
	/* Until the user moves it is the first place. */
	g_assert_cmpuint(table_selected(&t, rows)->key[0], ==, 2);
	table_move(&t, rows, 100);
	g_assert_cmpuint(t.cursor, ==, 3);
	table_move(&t, rows, -1);
	g_assert_cmpuint(t.cursor, ==, 2);
	/* From then on it is the thing, wherever it goes. */
	uint64_t key = table_selected(&t, rows)->key[0];
	t.sort = 0;
	t.descending = true;
	rows_free(rows);
	rows = sample();
	add(rows, 9, "zzz", 1);
	table_apply(&t, &view, rows, NULL);
	g_assert_cmpuint(table_selected(&t, rows)->key[0], ==, key);
	/* It went away: the cursor stays about where it was. */
	g_ptr_array_set_size(rows->rows, 1);
	table_apply(&t, &view, rows, NULL);
	g_assert_cmpuint(t.cursor, ==, 0);
	g_ptr_array_set_size(rows->rows, 0);
	table_apply(&t, &view, rows, NULL);
	g_assert_null(table_selected(&t, rows));
	table_move(&t, rows, 1);
	rows_free(rows);
}

static void test_sort(void)
{
	struct table t = TABLE_INIT;
	struct rows *rows = sample();
	bool descending;

	g_assert_cmpint(table_sort_column(&t, &view, &descending), ==, 3);
	g_assert_true(descending);
	table_apply(&t, &view, rows, NULL);
	/* Never a column that is not to be seen. */
	g_assert_cmpint(table_sort_step(&t, &view, rows, 1), ==, 5);
	g_assert_cmpint(table_sort_step(&t, &view, rows, -1), ==, 3);
	for (int i = 0; i < 20; i++)
		g_assert_cmpuint(columns[table_sort_step(&t, &view, rows, 1)].width, >, 0);
	rows_free(rows);
}

static void test_draw(void)
{
	struct table t = TABLE_INIT;
	struct rows *rows = sample();
	struct canvas *c = canvas_new(4, 40);
	struct table_style style = { .glyphs = glyphs_get(false), .match = "wo", .active = true };
	struct box box = { 0, 0, 4, 40 };
	g_autofree char *dump = NULL, *scrolled = NULL;

	t.sort = 1;
	table_apply(&t, &view, rows, NULL);
	g_assert_cmpuint(table_draw(c, box, &t, &view, rows, &style), ==, 1);
	dump = canvas_dump(c);
	g_assert_cmpstr(dump, ==,
			" NAME          PID^    TIME xUSUAL  CPU%\n"
			">one              1  1.00us   2.8x 284.0\n"
			" two              2  54.7ms   2.8x 284.0\n"
			"vev\\x1b[31m~      3       -   2.8x 284.0\n");
	g_assert_cmpint(canvas_cell(c, 2, 2)->role, ==, ROLE_MATCH);
	g_assert_cmpint(canvas_cell(c, 2, 37)->role, ==, ROLE_HEAT + HEAT_LEVELS - 1);
	((struct row *)rows->rows->pdata[1])->last = 2;		/* a wait for work is no load */
	table_draw(c, box, &t, &view, rows, &style);
	g_assert_cmpint(canvas_cell(c, 2, 37)->role, ==, ROLE_TEXT);
	g_assert_cmpint(canvas_cell(c, 1, 1)->role, ==, ROLE_SELECTED);
	canvas_clear(c);
	table_move(&t, rows, 3);
	g_assert_cmpuint(table_draw(c, box, &t, &view, rows, &style), ==, 3);
	scrolled = canvas_line(c, 3);
	g_assert_cmpstr(scrolled, ==, ">作者の名前~      4  3.00ms   2.8x 284.0");
	g_assert_cmpstr(canvas_cell(c, 0, 0)->ch, ==, "^");
	canvas_free(c);
	rows_free(rows);
}

static void test_search(void)
{
	struct rows *rows = sample();

	g_assert_cmpint(table_find(NULL, &view, rows, 0, 1, "ONE"), ==, 0);
	g_assert_cmpint(table_find(NULL, &view, rows, 0, 1, "54.7"), ==, 1);
	g_assert_cmpint(table_find(NULL, &view, rows, 3, -1, "54.7"), ==, 1);
	g_assert_cmpint(table_find(NULL, &view, rows, 0, 1, "名前"), ==, 3);
	g_assert_cmpint(table_find(NULL, &view, rows, 2, 1, "ONE"), ==, -1);
	g_assert_cmpint(table_find(NULL, &view, rows, 4000, 1, "ONE"), ==, -1);
	g_assert_cmpint(table_find(NULL, &view, rows, -1, -1, "ONE"), ==, -1);
	rows_free(rows);
}

int main(int argc, char **argv)
{
	int result;

	g_test_init(&argc, &argv, NULL);
	story = timeline_new(0);
	g_test_add_func("/table/layout", test_layout);
	g_test_add_func("/table/cells", test_cells);
	g_test_add_func("/table/selection", test_selection);
	g_test_add_func("/table/sort", test_sort);
	g_test_add_func("/table/draw", test_draw);
	g_test_add_func("/table/search", test_search);
	result = g_test_run();
	timeline_free(story);
	return result;
}
