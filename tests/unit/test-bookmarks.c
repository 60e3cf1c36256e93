/* SPDX-License-Identifier: GPL-2.0-only */
/* Bookmarks: as text, whatever that text is, and set and gone to on the screen. */
#include "lib/fake_timeline.h"
#include "lib/screen_fixture.h"
#include "ui/metric_place.h"
#include "ui/screen_flame.h"
#include "ui/strip.h"
#include "views/bookmarks.h"

#include "base/timefmt.h"

#include <string.h>

/* --- the text --- */

static GPtrArray *parse(const char *text, GError **error)
{
	return bookmarks_parse("file", text, strlen(text), error);
}

static void test_text(void)
{
	static const char note[] = "100 % sl\u00f6w,\n\t=\\ \x1b[31m";
	struct bookmark *b = bookmark_new(view_find("syscalls"));
	g_autoptr(GPtrArray) all = parse("", NULL), again = NULL;
	struct view_query q = VIEW_QUERY_INIT;

	q.pid = 246;
	q.operation = (char *)"a,b\xff\t%41";
	b->at_ns = FAKE_T0;
	b->step_ns = 1000000000;
	b->a_ns = FAKE_T0 - 1;
	b->by = BY_THREAD;
	b->filter = g_strdup("syscall == read && count > 3");
	b->note = g_strdup(note);
	b->host = g_strdup("web2");
	g_assert_true(bookmark_narrow(b, &q));
	g_assert_true(bookmarks_add(all, b));
	g_autofree char *text = bookmarks_text(all, INT64_MIN, INT64_MAX);
	for (const char *c = text; *c; c++)
		g_assert_true(*c == '\n' || *c == '\t' || (guchar)*c >= ' ');
	g_assert_true(g_utf8_validate(text, -1, NULL));
	again = parse(text, NULL);
	g_assert_cmpuint(again->len, ==, 1);
	const struct bookmark *r = again->pdata[0];
	g_assert_true(bookmark_is_same(b, r));
	g_assert_cmpstr(r->note, ==, note);
	g_assert_cmpstr(r->filter, ==, b->filter);
	g_assert_cmpstr(r->host, ==, "web2");
	g_assert_cmpstr(r->narrow.operation, ==, q.operation);
	g_assert_cmpint(r->narrow.pid, ==, 246);
	g_assert_cmpint(r->by, ==, BY_THREAD);
	g_assert_true(r->a_ns == b->a_ns && r->b_ns == TIME_UNKNOWN && r->cursor_ns == TIME_UNKNOWN);
	g_autofree char *where = bookmark_where(r), *twice = bookmarks_text(again, INT64_MIN, INT64_MAX);
	g_assert_cmpstr(where, ==, "web2, pid=246, operation=a,b\\xff\\x09%41, filter syscall == read && count > 3");
	g_assert_cmpstr(twice, ==, text);
	g_autofree char *none = bookmarks_text(again, FAKE_T0 + 1000000000, INT64_MAX);
	g_assert_cmpstr(none, ==, "blktop bookmarks 1\n");
	q.container = 7;
	g_assert_false(bookmark_narrow(b, &q));
}

static void test_text_metric(void)
{
	struct bookmark *b = bookmark_new(view_find("heatmap"));
	g_autoptr(GPtrArray) all = parse("", NULL), again = NULL;

	b->at_ns = FAKE_T0;
	b->metric = metric_find("call.latency", NULL);
	b->split = METRIC_BY_process;
	b->value[METRIC_BY_call] = g_strdup("a=b\t\xff");
	b->value[METRIC_BY_pid] = g_strdup("246");
	b->low_ns = 1000;
	b->frame = UINT64_MAX;
	g_assert_true(bookmarks_add(all, b));
	g_autofree char *text = bookmarks_text(all, INT64_MIN, INT64_MAX);
	again = parse(text, NULL);
	g_assert_cmpuint(again->len, ==, 1);
	struct bookmark *r = again->pdata[0];
	g_assert_true(bookmark_is_same(b, r) && r->metric == b->metric && r->frame == UINT64_MAX);
	g_assert_cmpint(r->split, ==, METRIC_BY_process);
	g_assert_cmpint(r->low_ns, ==, 1000);
	g_assert_cmpstr(r->value[METRIC_BY_call], ==, "a=b\t\xff");
	g_autofree char *where = bookmark_where(r);
	g_assert_cmpstr(where, ==, "call.latency by process, pid=246, call=a=b\\x09\\xff");
	g_free(r->value[METRIC_BY_pid]);
	r->value[METRIC_BY_pid] = g_strdup("247");
	g_assert_false(bookmark_is_same(b, r));
}

/* What is not whole is not taken, and the error says where. */
static void test_damaged(void)
{
#define HEAD "blktop bookmarks 1\n"
	static const struct { const char *text; unsigned line; } all[] = {
		{ "x", 1 }, { "\n", 1 }, { "blktop bookmarks 2\n", 1 }, { HEAD "at=1\tstep=1\tview=files", 1 },
		{ HEAD "\n", 2 }, { HEAD "at=1\tstep=1\tview=files\n\n", 3 },
		{ HEAD "step=1\tview=files\n", 2 }, { HEAD "at=1\tstep=1\tview=nothing\n", 2 },
		{ HEAD "at=1\tstep=0\tview=files\n", 2 }, { HEAD "at=1\tstep=-5\tview=files\n", 2 },
		{ HEAD "at=99999999999999999999\tstep=1\tview=files\n", 2 }, { HEAD "at=1x\tstep=1\tview=files\n", 2 },
		{ HEAD "at=1\tstep=1\ta=5\tb=5\tview=files\n", 2 }, { HEAD "at=1\tstep=1\tview=files\tnote\n", 2 },
		{ HEAD "at=1\tstep=1\tview=files\tnote=%\n", 2 }, { HEAD "at=1\tstep=1\tview=files\tnote=%00\n", 2 },
		{ HEAD "at=1\tstep=1\tview=files\tpid=-2\n", 2 }, { HEAD "at=1\tstep=1\tview=files\ttrace=xyz\n", 2 },
		{ HEAD "at=1\tstep=1\tview=files\tcolour=red\n", 2 }, { HEAD "at=1\tstep=1\tview=files\tby=host\n", 2 },
		{ HEAD "at=1\tstep=1\tview=files\tmetric=call.latency\n", 2 },	/* no view of metrics */
		{ HEAD "at=1\tstep=1\tview=heatmap\tmetric=nothing\n", 2 },
		{ HEAD "at=1\tstep=1\tview=heatmap\tmetric=block.bytes\n", 2 },	/* no durations */
		{ HEAD "at=1\tstep=1\tview=heatmap\tmetric=field:a.b\n", 2 },
		{ HEAD "at=1\tstep=1\tview=heatmap\tsplit=call\n", 2 },
		{ HEAD "at=1\tstep=1\tview=heatmap\tmetric=call.latency\tsplit=file\n", 2 },
		{ HEAD "at=1\tstep=1\tview=heatmap\tmetric=call.latency\tis.pid=x\n", 2 },
		{ HEAD "at=1\tstep=1\tview=heatmap\tmetric=call.latency\tis.span=x\n", 2 },
		{ HEAD "at=1\tstep=1\tview=flame\tframe=0\n", 2 }, { HEAD "at=1\tstep=1\tview=flame\tframe=-1\n", 2 },
		{ HEAD "at=1\tstep=1\tview=files\tpid=\n", 2 }, { HEAD "at=1\tstep=1\tview=files\t=3\n", 2 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *place = g_strdup_printf("file:%u is damaged", all[i].line);

		g_assert_null(parse(all[i].text, &error));
		g_assert_true(g_str_has_prefix(error->message, place));
	}
	g_autoptr(GError) error = NULL;
	g_assert_null(bookmarks_parse("file", HEAD "\0x\n", strlen(HEAD) + 3, &error));
	g_assert_nonnull(error);
}

/* Bytes of a valid text replaced, left out and doubled: it is parsed or refused, and what is parsed is stable. */
static void test_mutated(void)
{
	static const char good[] = HEAD "at=1795241318000000000\tstep=1000000000\ta=1\tb=2\tcursor=3\tview=waterfall"
		"\ttrace=00000000000000ff\tspan=1f\tnote=%41\n"
		"at=4\tstep=1\tlow=9\tview=heatmap\tframe=1f\tmetric=call.latency\tsplit=call\tis.pid=7\tis.call=x\n"
		"at=5\tstep=1\tview=syscalls\tby=thread\tpid=1\ttid=2\tservice=s\toperation=o\tfilter=x\n";
	g_autoptr(GRand) rand = g_rand_new_with_seed(3);
	unsigned taken = 0;

	for (int round = 0; round < 20000; round++) {
		g_autoptr(GString) s = g_string_new(good);
		gsize at = (gsize)g_rand_int_range(rand, 0, (gint32)s->len);
		gssize n = g_rand_int_range(rand, 1, 20);

		switch (g_rand_int_range(rand, 0, 3)) {
		case 0:
			s->str[at] = (char)g_rand_int_range(rand, 0, 256);
			break;
		case 1:
			g_string_erase(s, (gssize)at, MIN(n, (gssize)(s->len - at)));
			break;
		default:
			g_string_insert_c(s, (gssize)at, "\t=\n%-\xff"[g_rand_int_range(rand, 0, 6)]);
		}
		g_autoptr(GPtrArray) all = bookmarks_parse("file", s->str, s->len, NULL);
		if (!all)
			continue;
		taken++;
		g_autofree char *text = bookmarks_text(all, INT64_MIN, INT64_MAX);
		g_autoptr(GPtrArray) again = parse(text, NULL);
		if (!again)
			g_test_message("%s", text);
		g_assert_nonnull(again);
		g_autofree char *twice = bookmarks_text(again, INT64_MIN, INT64_MAX);
		g_assert_cmpstr(twice, ==, text);
	}
	g_assert_cmpuint(taken, >, 1000);
	g_assert_cmpuint(taken, <, 19000);
}

/* --- the screen --- */

static struct { char *text, *refuse; } store;

static void status(void *data, struct ui_status *ret)
{
	*ret = (struct ui_status){ .phase = UI_DONE, .progress = 1, .lag_ns = -1, .index_progress = -1 };
}

static bool read_bookmarks(void *data, char **ret_text, size_t *ret_len, char **ret_message)
{
	*ret_text = g_strdup(store.text);
	*ret_len = store.text ? strlen(store.text) : 0;
	return true;
}

static bool write_bookmarks(void *data, const char *text, char **ret_message)
{
	if (store.refuse) {
		*ret_message = g_strdup(store.refuse);
		return false;
	}
	g_free(store.text);
	store.text = g_strdup(text);
	return true;
}

static void start(struct fixture *f)
{
	static const struct ui_backend backend = {
		.status = status, .read_bookmarks = read_bookmarks, .write_bookmarks = write_bookmarks,
	};

	*f = (struct fixture){ .options = { .at_ns = TIME_UNKNOWN }, .tl = fake_timeline() };
	f->app = app_new(&f->options, &backend, f->tl, true);
	app_resize(f->app, 24, 80);
	app_draw(f->app);
}

static void test_screen(void)
{
	struct fixture f;

	g_clear_pointer(&store.text, g_free);
	start(&f);
	fixture_press(&f, "'");
	g_assert_true(fixture_has(&f, "no bookmarks in this trace: m sets one"));
	fixture_press(&f, "m\033");
	g_assert_null(store.text);
	fixture_press(&f, "4\r5\\syscall == read\r");
	fixture_press(&f, "mslow reads\r");
	g_assert_true(fixture_has(&f, "bookmark set: ' lists 1"));
	fixture_press(&f, "\033\0331bstart\rAm\r");
	g_assert_true(fixture_has(&f, "bookmark set: ' lists 2"));
	fixture_stop(&f);
	/* Another run, which was somewhere else. */
	start(&f);
	fixture_press(&f, "7'");
	g_assert_true(fixture_has(&f, "▶06:08:35  Overview"));
	g_assert_true(fixture_has(&f, " 06:08:38  Syscalls      slow reads   pid=246, filter syscall == read"));
	fixture_press(&f, "j\r");
	g_assert_true(fixture_has(&f, "bookmark 06:08:38: slow reads"));
	g_assert_true(fixture_has(&f, "› Syscalls: pid 246") && fixture_has(&f, "filter syscall == read"));
	fixture_press_key(&f, UI_KEY_ALEFT);
	g_assert_cmpstr(fixture_top(&f)->view->id, ==, "spans");
	fixture_press(&f, "'\r");
	g_assert_true(fixture_top(&f)->view->kind == VIEW_OVERVIEW);
	g_assert_cmpint(f.app->nav.a_ns, ==, FAKE_T0);
	/* The note is offered again; "-" removes. */
	fixture_press(&f, "'j\r");
	fixture_press(&f, "m");
	g_assert_true(fixture_has(&f, "): slow reads"));
	fixture_press(&f, "\025-\r");
	g_assert_true(fixture_has(&f, "bookmark removed: 1 left"));
	fixture_press(&f, "m-\r");
	g_assert_true(fixture_has(&f, "there is no bookmark here to remove"));
	fixture_stop(&f);
}

/* The place in a trace: span, time cursor. */
static void test_waterfall(void)
{
	struct fixture f;
	int64_t mark;

	g_clear_pointer(&store.text, g_free);
	start(&f);
	fixture_press(&f, "jj\rj");
	fixture_press_key(&f, UI_KEY_RIGHT);
	mark = fixture_top(&f)->mark_ns;
	uint64_t trace_id = fixture_top(&f)->narrow.trace_id;
	fixture_press(&f, "mhere\r");
	fixture_stop(&f);
	start(&f);
	fixture_press(&f, "'\r");
	g_assert_true(fixture_has(&f, "began "));
	g_assert_cmpuint(fixture_top(&f)->narrow.trace_id, ==, trace_id);
	g_assert_cmpint(fixture_top(&f)->mark_ns, ==, mark);
	fixture_stop(&f);
}

/* What a heatmap shows: metric, its values, split and row; and the frame of a flame. */
static void test_metric(void)
{
	struct fixture f;

	g_clear_pointer(&store.text, g_free);
	start(&f);
	fixture_press(&f, "5iHj");
	g_assert_cmpstr(place_metric(fixture_top(&f))->query.metric->id, ==, "call.latency");
	g_autofree char *filter = metric_place_log_filter(place_metric(fixture_top(&f)));
	g_auto(GStrv) conditions = g_strsplit(filter, " && ", -1);
	g_assert_cmpuint(g_strv_length(conditions), ==, 3);	/* "", the call, the process */
	int64_t low = place_metric(fixture_top(&f))->low_ns;
	enum metric_field by = place_metric(fixture_top(&f))->query.by[0];
	g_assert_cmpuint(place_metric(fixture_top(&f))->query.n_by, ==, 1);
	fixture_press(&f, "mcalls\r");
	g_assert_true(fixture_has(&f, "bookmark set: ' lists 1"));
	fixture_press(&f, "\033\0331i");
	g_assert_cmpstr(place_metric(fixture_top(&f))->query.metric->id, ==, "request.latency");
	fixture_press(&f, "m\r\033Vj\r");
	uint64_t frame = screen_flame_zoomed(fixture_top(&f));
	g_assert_cmpuint(frame, !=, 0);
	fixture_press(&f, "mflame\r");
	g_assert_true(fixture_has(&f, "bookmark set: ' lists 3"));
	fixture_stop(&f);
	start(&f);
	fixture_press(&f, "'/");
	fixture_press(&f, "\033'\r");
	g_autofree char *again = metric_place_log_filter(place_metric(fixture_top(&f)));
	g_assert_cmpuint(strlen(again), ==, strlen(filter));
	for (char **one = conditions; *one; one++)
		g_assert_nonnull(strstr(again, *one));
	g_assert_cmpint(place_metric(fixture_top(&f))->low_ns, ==, low);
	g_assert_cmpuint(place_metric(fixture_top(&f))->query.n_by, ==, 1);
	g_assert_cmpint(place_metric(fixture_top(&f))->query.by[0], ==, by);
	fixture_press(&f, "'j\r");
	g_assert_cmpstr(place_metric(fixture_top(&f))->query.metric->id, ==, "request.latency");
	fixture_press(&f, "'jj\r");
	g_assert_cmpuint(screen_flame_zoomed(fixture_top(&f)), ==, frame);
	fixture_stop(&f);
}

/* The rows of the screen that have "m" in the column of that instant. */
static unsigned marks_at(struct fixture *f, int64_t at_ns)
{
	unsigned x = STRIP_X + strip_column(f->app, at_ns), n = 0;

	for (unsigned y = 0; y < f->app->canvas->rows; y++)
		n += !strcmp(canvas_cell(f->app->canvas, y, x)->ch, "m");
	return n;
}

/* A second with a bookmark has a mark in the strip, in every view and in the next run. */
static void test_strip(void)
{
	struct fixture f;
	int64_t at;

	g_clear_pointer(&store.text, g_free);
	start(&f);
	fixture_press(&f, "2");
	at = f.app->nav.cursor_ns;
	unsigned before = marks_at(&f, at);
	fixture_press(&f, "mhere\rb-1s\r");
	g_assert_cmpuint(marks_at(&f, at), ==, before + 1);
	fixture_stop(&f);
	start(&f);
	unsigned graph = marks_at(&f, at);
	fixture_press(&f, "bend\r2");
	g_assert_cmpuint(marks_at(&f, at), ==, before + 1);
	fixture_press(&f, "'\rm\025-\r");
	g_assert_true(fixture_has(&f, "bookmark removed: 0 left"));
	g_assert_cmpuint(marks_at(&f, at), ==, before);
	fixture_press(&f, "1");
	g_assert_cmpuint(marks_at(&f, at), ==, graph - 1);
	fixture_stop(&f);
}

static void test_refused(void)
{
	struct fixture f;

	g_free(store.text);
	store.text = g_strdup(HEAD "at=1\tstep=1\tview=files\tnote=\x1b[2J%\n");
	start(&f);
	fixture_press(&f, "m");
	g_assert_true(fixture_has(&f, "the bookmarks file:2 is damaged"));
	g_assert_cmpint(f.app->prompt.kind, ==, PROMPT_NONE);
	fixture_press(&f, "'");
	g_assert_true(fixture_has(&f, "the bookmarks file:2 is damaged"));
	g_free(store.text);
	store.text = g_strdup(HEAD "at=1\tstep=1\tview=files\tfilter=((\tnote=%1b[2J\n");
	fixture_press(&f, "'");
	g_assert_true(fixture_has(&f, "\\x1b[2J"));
	fixture_press(&f, "\r");
	g_assert_true(fixture_has(&f, "the bookmark's filter is not understood"));
	store.refuse = g_strdup("cannot write /x: No space left on device");
	fixture_press(&f, "mnote\r");
	g_assert_true(fixture_has(&f, "No space left on device"));
	g_assert_null(strstr(store.text, "note=note"));
	g_clear_pointer(&store.refuse, g_free);
	g_clear_pointer(&store.text, g_free);
	fixture_stop(&f);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/bookmarks/text", test_text);
	g_test_add_func("/bookmarks/text-metric", test_text_metric);
	g_test_add_func("/bookmarks/damaged", test_damaged);
	g_test_add_func("/bookmarks/mutated", test_mutated);
	g_test_add_func("/bookmarks/screen", test_screen);
	g_test_add_func("/bookmarks/waterfall", test_waterfall);
	g_test_add_func("/bookmarks/metric", test_metric);
	g_test_add_func("/bookmarks/strip", test_strip);
	g_test_add_func("/bookmarks/refused", test_refused);
	return g_test_run();
}
