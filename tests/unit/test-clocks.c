/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far clocks are apart, from calls of which the truth is known: two hosts in a script,
 * read once, and again when they were moved.
 */
#include "lib/sources.h"
#include "app/host_clocks.h"
#include "state/publish/model.h"
#include "trace/align.h"
#include "trace/reader.h"
#include "views/clocks.h"
#include "views/view.h"

#include <string.h>

#define T0 INT64_C(1795241315000000000)
#define MS INT64_C(1000000)

static struct timeline *read_script(const char *text)
{
	return timeline_of_script(text, &(struct model_options){ 0 });
}

static void note(GString *to, int64_t at, const char *host, unsigned id, const char *event)
{
	g_string_append_printf(to, "%" G_GINT64_FORMAT " 0 u@%s:zipkin:timestamp trace_name=\"call\" "
			       "service_name=\"on-%s\" port_no=1 ip=\"10.0.0.1\" trace_id=%u span_id=%u "
			       "parent_span_id=0 event=\"%s\" ctx.vpid=7 ctx.vtid=7\n", at, host, host, id, id,
			       event);
}

/* A call at the true instant `at`: so long there, at work, and back; `ahead` is the clock of
 * the called one, by the caller's. */
static void call(GString *to, unsigned id, const char *from, const char *host, int64_t at,
		 int64_t there, int64_t work, int64_t back, int64_t ahead)
{
	note(to, at, from, id, "cs");
	note(to, at + there + ahead, host, id, "sr");
	note(to, at + there + work + ahead, host, id, "ss");
	note(to, at + there + work + back, from, id, "cr");
}

static uint32_t host_of(const struct timeline *tl, const char *name)
{
	for (uint32_t i = 0; i < timeline_n_hosts(tl); i++)
		if (g_str_equal(timeline_host(tl, i)->name, name))
			return i;
	return ID_NONE;
}

static bool between(const struct timeline *tl, const char *from, const char *to, int64_t *ret_offset,
		    int64_t *ret_error)
{
	g_autoptr(blk_clocks) k = clocks_new(tl);
	return clocks_between(k, host_of(tl, from), host_of(tl, to), ret_offset, ret_error);
}

static void test_exact(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t offset, error;
	call(text, 1, "a", "b", T0, 2 * MS, 5 * MS, 4 * MS, 700 * MS);
	call(text, 2, "a", "b", T0 + 50 * MS, 6 * MS, 1 * MS, 1 * MS, 700 * MS);
	g_autoptr(blk_timeline) tl = read_script(text->str);
	g_assert_cmpuint(timeline_n_spans(tl), ==, 4);
	g_assert_true(between(tl, "a", "b", &offset, &error));
	/* High: 702 of the first; low: 699 of the second. */
	g_assert_cmpint(offset, ==, 700 * MS + MS / 2);
	g_assert_cmpint(error, ==, 3 * MS / 2);
	g_assert_true(between(tl, "b", "a", &offset, &error));
	g_assert_cmpint(offset, ==, -700 * MS - MS / 2);
	g_autoptr(blk_clocks) k = clocks_new(tl);
	g_autofree char *said = clocks_sentence(k);
	g_assert_cmpstr(said, ==, "clocks: b is 700.500ms +-1.50ms ahead of a (2 calls)");
}

/* Whatever the delays are, the interval holds the truth. */
static void test_holds_truth(void)
{
	for (int round = 0; round < 60; round++) {
		g_autoptr(GString) text = g_string_new(NULL);
		int64_t ahead = g_test_rand_int_range(-1000000000, 1000000000), offset, error;
		int n = g_test_rand_int_range(1, 12);
		ahead *= round % 5 == 4 ? 3000 : 1;
		for (int i = 0; i < n; i++) {
			bool turned = g_test_rand_bit();
			int64_t way[3];
			for (int w = 0; w < 3; w++)
				way[w] = g_test_rand_int_range(0, 1 << g_test_rand_int_range(1, 26));
			call(text, (unsigned)i + 1, turned ? "b" : "a", turned ? "a" : "b", T0 + i * 300 * MS,
			     way[0], way[1], way[2], turned ? -ahead : ahead);
		}
		/* A caller's clock is the true one in call(): where b calls, all is seen by b's. */
		g_autoptr(blk_timeline) tl = read_script(text->str);
		g_assert_true(between(tl, "a", "b", &offset, &error));
		g_assert_cmpint(ABS(offset - ahead), <=, error);
		g_autoptr(blk_clocks) k = clocks_new(tl);
		const struct clock_link *l = &g_array_index(k->links, struct clock_link, 0);
		g_assert_cmpint(l->low_ns, <=, l->high_ns);
		g_assert_cmpuint(l->pairs, ==, (guint64)n);
	}
}

static void test_drift(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t offset, error;
	call(text, 1, "a", "b", T0, MS, MS, MS, 0);
	call(text, 2, "a", "b", T0 + 500 * MS, MS / 10, MS, MS / 10, 20 * MS);
	call(text, 3, "a", "b", T0 + 900 * MS, MS, MS, MS, 40 * MS);
	g_autoptr(blk_timeline) tl = read_script(text->str);
	g_assert_true(between(tl, "a", "b", &offset, &error));
	g_assert_cmpint(offset, ==, 20 * MS);
	g_assert_cmpint(error, ==, 19 * MS);
	g_autoptr(blk_clocks) k = clocks_new(tl);
	g_autofree char *said = clocks_sentence(k);
	g_assert_nonnull(strstr(said, "contradictory: drift"));
}

/* A minute of calls of a clock that goes so much faster. */
static struct timeline *read_drifting(double ppm, int64_t ahead, bool turned)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (unsigned i = 0; i <= 600; i++) {
		int64_t at = (int64_t)i * 100 * MS, now = ahead + (int64_t)(ppm / 1e6 * (double)at);
		int64_t there = g_test_rand_int_range(20000, 900000), back = g_test_rand_int_range(20000, 900000);
		if (turned && i % 2)
			call(text, i + 1, "b", "a", T0 + at + now, there, MS, back, -now);
		else
			call(text, i + 1, "a", "b", T0 + at, there, MS, back, now);
	}
	return read_script(text->str);
}

/* It is found, and what is said of the offset holds at both ends. */
static void test_steady_drift(void)
{
	for (int round = 0; round < 6; round++) {
		double ppm = round % 2 ? 50 : -120;
		int64_t ahead = round < 3 ? 30 * MS : -3000 * MS, gained = (int64_t)(ppm * 60000);
		g_autoptr(blk_timeline) tl = read_drifting(ppm, ahead, round % 3 == 1);
		g_autoptr(blk_clocks) k = clocks_new(tl);
		const struct clock_link *l = &g_array_index(k->links, struct clock_link, 0);
		g_assert_true(l->drifts);
		g_assert_cmpfloat(l->drift_low_ppm, <=, ppm + 0.01);
		g_assert_cmpfloat(l->drift_high_ppm, >=, ppm - 0.01);
		g_assert_cmpfloat(l->drift_high_ppm - l->drift_low_ppm, <, 10);
		g_assert_cmpint(ABS(l->offset_ns - ahead - gained / 2), <, MS / 10);
		g_assert_cmpint(ABS(l->offset_ns - ahead), <=, l->error_ns + 1000);
		g_assert_cmpint(ABS(l->offset_ns - ahead - gained), <=, l->error_ns + 1000);
		g_autofree char *said = clocks_sentence(k);
		g_assert_nonnull(strstr(said, (ppm > 0) == (ahead > 0) ? ", gaining " : ", losing "));
		/* Ways there and back are never less than none, at any instant. */
		for (size_t i = 0; i + 1 < timeline_n_spans(tl); i += 2) {
			const struct span *x = timeline_span(tl, i), *y = timeline_span(tl, i + 1);
			struct clock_gap gap = x->kind == SPAN_CLIENT ? clocks_gap(k, x, y) : clocks_gap(k, y, x);
			if (x->span_id != y->span_id)
				continue;
			g_assert_cmpint(gap.there_ns, >=, -gap.error_ns - 1000);
			g_assert_cmpint(gap.back_ns, >=, -gap.error_ns - 1000);
			g_assert_cmpint(gap.error_ns, <, MS / 5);
		}
	}
}

static void test_no_drift(void)
{
	g_autoptr(blk_timeline) tl = read_drifting(0, 5 * MS, true);
	g_autoptr(blk_clocks) k = clocks_new(tl);
	const struct clock_link *l = &g_array_index(k->links, struct clock_link, 0);
	g_assert_false(l->drifts);
	g_assert_cmpfloat(l->drift_low_ppm, <=, 0);
	g_assert_cmpfloat(l->drift_high_ppm, >=, 0);
	g_autofree char *said = clocks_sentence(k);
	g_assert_nonnull(strstr(said, ", drift below "));
}

/* On request, and only what is significant; again, where something is left of it. */
static void test_move(void)
{
	g_autoptr(GString) text = g_string_new(NULL), other = g_string_new(NULL);
	g_autofree char *moved = NULL, *again = NULL, *none = NULL, *one = NULL;
	for (unsigned i = 0; i < 4; i++) {
		call(text, i + 1, "a", "b", T0 + i * 20 * MS, MS, 5 * MS, MS, 70 * MS);
		call(other, i + 1, "a", "b", T0 + i * 20 * MS, MS, 5 * MS, MS, MS / 2);
	}
	g_autoptr(blk_timeline) near = read_script(other->str);
	g_assert_false(hosts_move(near, &none));
	g_assert_nonnull(strstr(none, "b is not moved: it agrees with that of a"));
	g_assert_cmpint(align_of("boot-of-b"), ==, 0);
	g_autoptr(blk_timeline) before = read_script(text->str);
	g_assert_true(hosts_move(before, &moved));
	g_assert_cmpstr(moved, ==, "the clock of b is moved back by 70.000ms +-1.00ms, to that of a");
	g_assert_cmpint(align_of("boot-of-b"), ==, -70 * MS);
	g_autoptr(blk_timeline) after = read_script(text->str);
	g_assert_false(hosts_move(after, &again));
	align_install("boot-of-b", -80 * MS);	/* it was moved by what was wrong */
	g_autoptr(blk_timeline) wrong = read_script(text->str);
	g_free(g_steal_pointer(&again));
	g_assert_true(hosts_move(wrong, &again));
	g_assert_cmpint(align_of("boot-of-b"), ==, -70 * MS);
	align_install("boot-of-b", 0);
	g_autoptr(blk_timeline) empty = timeline_new(0);
	g_assert_false(hosts_move(empty, &one));
	g_assert_nonnull(strstr(one, "only one clock"));
}

/* What took longer than its caller waited bounds nothing; what is not whole, neither. */
static void test_says_nothing(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t offset, error;
	call(text, 1, "a", "b", T0, MS, 9 * MS, -3 * MS, 0);
	note(text, T0, "a", 2, "cs");
	note(text, T0 + MS, "b", 2, "sr");
	note(text, T0 + 9 * MS, "c", 3, "sr");
	note(text, T0 + 9 * MS, "c", 3, "ss");
	g_autoptr(blk_timeline) tl = read_script(text->str);
	g_assert_false(between(tl, "a", "b", &offset, &error));
	g_assert_false(between(tl, "a", "c", &offset, &error));
	g_assert_true(between(tl, "a", "a", &offset, &error));
	g_assert_false(between(tl, "a", "nobody", &offset, &error));
	g_autoptr(blk_clocks) k = clocks_new(tl);
	g_autofree char *said = clocks_sentence(k);
	g_assert_nonnull(strstr(said, "no calls"));
	g_autoptr(blk_timeline) empty = timeline_new(0);
	g_autoptr(blk_clocks) none = clocks_new(empty);
	g_assert_null(clocks_sentence(none));
}

/* Over a host between them; errors add up. */
static void test_three(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t offset, error;
	call(text, 1, "a", "b", T0, MS, MS, MS, 5 * MS);
	call(text, 2, "a", "b", T0 + 20 * MS, MS, MS, MS, 5 * MS);
	call(text, 3, "b", "c", T0 + 40 * MS, 2 * MS, MS, 2 * MS, -30 * MS);
	g_autoptr(blk_timeline) tl = read_script(text->str);
	g_assert_true(between(tl, "a", "c", &offset, &error));
	g_assert_cmpint(offset, ==, -25 * MS);
	g_assert_cmpint(error, ==, 3 * MS);
	g_autoptr(blk_clocks) k = clocks_new(tl);
	const struct clock *first = &g_array_index(k->clocks, struct clock, 0);
	const struct clock *last = &g_array_index(k->clocks, struct clock, 2);
	g_assert_cmpstr(first->host, ==, "a");
	g_assert_cmpint(first->offset_ns, ==, 0);
	g_assert_cmpint(last->offset_ns, ==, -25 * MS);
}

/* Moved by the estimate and read again: nothing is left of it, and no instant is turned. */
static void test_read_again(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	int64_t offset, error, again, same;
	for (unsigned i = 0; i < 4; i++)
		call(text, i + 1, "a", "b", T0 + i * 20 * MS, MS, 5 * MS, (i + 1) * MS, 3600 * 1000 * MS);
	g_autoptr(blk_timeline) before = read_script(text->str);
	g_assert_true(between(before, "a", "b", &offset, &error));
	align_install("boot-of-b", -offset);
	align_install("", 5);
	g_assert_cmpint(align_of("boot-of-b"), ==, -offset);
	g_assert_cmpint(align_of(""), ==, 0);
	g_autoptr(blk_timeline) after = read_script(text->str);
	align_install("boot-of-b", 0);
	g_assert_cmpint(align_of("boot-of-b"), ==, 0);
	g_assert_true(between(after, "a", "b", &again, &same));
	g_assert_cmpint(again, ==, 0);
	g_assert_cmpint(same, ==, error);
	g_assert_cmpuint(timeline_n_spans(after), ==, timeline_n_spans(before));
	int64_t first, last;
	g_assert_true(timeline_coverage(after, &first, &last));
	g_assert_cmpint(last - first, <, 1000 * MS);
}

static void test_gap(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	call(text, 1, "a", "b", T0, 2 * MS, 5 * MS, 4 * MS, 700 * MS);
	g_autoptr(blk_timeline) tl = read_script(text->str);
	const struct span *client = timeline_span(tl, 0), *server = timeline_span(tl, 1);
	g_autoptr(blk_clocks) k = clocks_new(tl);
	struct clock_gap gap = client->kind == SPAN_CLIENT ? clocks_gap(k, client, server) :
		clocks_gap(k, server, client);
	g_assert_cmpint(gap.total_ns, ==, 6 * MS);
	g_assert_cmpint(gap.there_ns, ==, 3 * MS);	/* one call alone: both ways the same */
	g_assert_cmpint(gap.back_ns, ==, 3 * MS);
	g_assert_cmpint(gap.error_ns, ==, 3 * MS);
}

/* The services view tells it. */
static void test_services(void)
{
	g_autoptr(GString) text = g_string_new(NULL);
	call(text, 1, "a", "b", T0, 2 * MS, 5 * MS, 2 * MS, -700 * MS);
	g_autoptr(blk_timeline) tl = read_script(text->str);
	const struct view *v = view_find("services");
	struct view_query q = VIEW_QUERY_INIT;
	g_assert_true(timeline_coverage(tl, &q.from_ns, &q.to_ns));
	q.to_ns++;
	struct rows *rows = v->build(tl, &q);
	bool moved = false;
	g_assert_cmpstr(rows->about, ==, "clocks: a is 700.000ms +-2.00ms ahead of b (1 call)");
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value ns = column_value(&v->columns[view_column(v, "clock_ns")], rows->rows->pdata[i], rows);
		moved |= ns.kind == VALUE_NS && ns.i == -700 * MS;
	}
	g_assert_true(moved);
	rows_free(rows);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/clocks/exact", test_exact);
	g_test_add_func("/clocks/holds-truth", test_holds_truth);
	g_test_add_func("/clocks/drift", test_drift);
	g_test_add_func("/clocks/steady-drift", test_steady_drift);
	g_test_add_func("/clocks/no-drift", test_no_drift);
	g_test_add_func("/clocks/move", test_move);
	g_test_add_func("/clocks/says-nothing", test_says_nothing);
	g_test_add_func("/clocks/three", test_three);
	g_test_add_func("/clocks/read-again", test_read_again);
	g_test_add_func("/clocks/gap", test_gap);
	g_test_add_func("/clocks/services", test_services);
	return g_test_run();
}
