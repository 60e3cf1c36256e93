/* SPDX-License-Identifier: GPL-2.0-only */
/* Scripted sources, and recordings of them. */
#include "lib/sources.h"
#include "trace/reader.h"

enum { SWITCH, OPEN, SPAN };
static const struct blk_subscription rows[] = {
	[SWITCH] = { .event = "sched_switch", .fields = { "prev_tid", "next_tid", "prev_comm", NULL } },
	[OPEN] = { .event = "syscall_entry_open*", .fields = { "fd|dfd", "filename", "fildes[1]", NULL } },
	[SPAN] = { .event = "zipkin:timestamp", .fields = { "event", NULL } },
};

static struct recording *record(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct source *s = source_open_script(text, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	struct recording *r = recording_new(s, &error);
	g_assert_no_error(error);
	return r;
}

/* "ts row" of all records, one a line: the shape of a run. */
static char *shape(const struct recording *r)
{
	static const char *const pseudo[] = { "lost-begin", "lost-end", "horizon", "add", "end",
					      "tally" };
	GString *out = g_string_new(NULL);
	for (size_t i = 0; i < recording_n(r); i++) {
		const struct blk_event *e = recording_event(r, i);
		g_string_append_printf(out, "%" G_GINT64_FORMAT " ", e->ts);
		if (e->row >= BLK_ROW_FIRST_PSEUDO)
			g_string_append(out, pseudo[e->row - BLK_ROW_FIRST_PSEUDO]);
		else
			g_string_append_printf(out, "row%d", e->row);
		if (e->row == BLK_ROW_TALLY)
			g_string_append_printf(out, " %s %u", blk_class(recording_tables(r), e->cls)->name,
					       (unsigned)((const struct blk_tally *)e->data)->count);
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

static const struct blk_event *nth(const struct recording *r, uint16_t row, unsigned n)
{
	for (size_t i = 0; i < recording_n(r); i++)
		if (recording_event(r, i)->row == row && !n--)
			return recording_event(r, i);
	g_assert_not_reached();
}

static void assert_text(const struct blk_event *e, unsigned slot, const char *want, size_t len)
{
	struct blk_text t = blk_text(e, slot);
	g_assert_true(blk_has(e, slot));
	g_assert_cmpmem(t.str, t.len, want, len);
}

static void test_values(void)
{
	struct recording *r = record(
		"# a comment\n\n"
		"10 0 sched_switch prev_tid=-1 next_tid=0x10 prev_comm=\"a \\\"b\\\"\\n\\x41\\0c\" ctx.tid=7\n"
		"20 1 syscall_entry_openat dfd=18446744073709551615 filename=\"\" ctx.procname=\"sh\"\n"
		"30 1 syscall_entry_open fildes[1]=5 unknown=3\n");
	const struct blk_event *e = nth(r, SWITCH, 0);
	g_assert_cmpint(blk_int(e, BLK_FIELD0), ==, -1);
	g_assert_cmpint(blk_int(e, BLK_FIELD0 + 1), ==, 16);
	assert_text(e, BLK_FIELD0 + 2, "a \"b\"\nA\0c", 9);
	g_assert_cmpint(blk_int(e, BLK_CTX_TID), ==, 7);
	g_assert_false(blk_has(e, BLK_CTX_PID));
	g_assert_cmpint(blk_int_or(e, BLK_CTX_PID, -5), ==, -5);
	e = nth(r, OPEN, 0);
	g_assert_cmpint(blk_int(e, BLK_FIELD0), ==, -1);	/* keeps its bits */
	assert_text(e, BLK_FIELD0 + 1, "", 0);
	assert_text(e, BLK_CTX_PROCNAME, "sh", 2);
	e = nth(r, OPEN, 1);
	g_assert_false(blk_has(e, BLK_FIELD0));
	g_assert_cmpint(blk_int(e, BLK_FIELD0 + 2), ==, 5);
	recording_free(r);
}

/* Of alternatives the first one counts, whatever comes last in the line. */
static void test_alternatives(void)
{
	struct recording *r = record("10 0 syscall_entry_open fd=3 dfd=4\n"
				     "20 0 syscall_entry_openat dfd=4 fd=3\n"
				     "30 0 syscall_entry_openat2 dfd=4\n");
	g_assert_cmpint(blk_int(nth(r, OPEN, 0), BLK_FIELD0), ==, 3);
	g_assert_cmpint(blk_int(nth(r, OPEN, 1), BLK_FIELD0), ==, 3);
	g_assert_cmpint(blk_int(nth(r, OPEN, 2), BLK_FIELD0), ==, 4);
	recording_free(r);
}

static void test_order(void)
{
	struct recording *r = record("30 0 sched_switch\n"
				     "10 0 syscall_entry_open\n"
				     "30 0 zipkin:timestamp\n"
				     "20 0 sched_switch\n");
	g_autofree char *is = shape(r);
	g_assert_cmpstr(is, ==, "10 add\n10 row1\n20 row0\n30 row0\n30 row2\n30 end\n");
	recording_free(r);
}

static void test_streams(void)
{
	struct recording *r = record("1 0 sched_switch\n"
				     "2 - sched_switch\n"
				     "3 0 u@there:zipkin:timestamp event=\"cs\"\n"
				     "4 0 k@there:sched_switch\n"
				     "5 0 k:sched_switch\n");
	const struct blk_tables *t = recording_tables(r);
	g_assert_cmpuint(t->streams->len, ==, 4);
	g_assert_cmpuint(t->hosts->len, ==, 2);
	const struct blk_stream *s = blk_stream(t, nth(r, SPAN, 0)->stream);
	g_assert_cmpuint(s->domain, ==, BLK_DOMAIN_UST);
	g_assert_cmpstr(blk_host(t, s->host)->name, ==, "there");
	assert_text(nth(r, SPAN, 0), BLK_FIELD0, "cs", 2);
	g_assert_cmpuint(blk_stream(t, nth(r, SWITCH, 1)->stream)->cpu, ==, UINT32_MAX);
	g_assert_cmpuint(nth(r, SWITCH, 0)->stream, ==, nth(r, SWITCH, 3)->stream);
	g_assert_cmpuint(nth(r, SWITCH, 0)->stream, !=, nth(r, SWITCH, 2)->stream);
	recording_free(r);
}

static void test_losses(void)
{
	struct recording *r = record("10 0 sched_switch\n"
				     "40 0 !lost events=3 packets=2 begin=20 end=30\n"
				     "25 0 !horizon\n");
	g_autofree char *is = shape(r);
	g_assert_cmpstr(is, ==, "10 add\n10 row0\n20 lost-begin\n25 horizon\n30 lost-end\n30 end\n");
	const struct blk_loss *l = (const struct blk_loss *)nth(r, BLK_ROW_LOST_END, 0)->data;
	g_assert_cmpuint(l->events, ==, 3);
	g_assert_cmpuint(l->packets, ==, 2);
	g_assert_cmpint(l->begin_ns, ==, 20);
	g_assert_cmpint(l->end_ns, ==, 30);
	recording_free(r);
}

static void test_tallies(void)
{
	struct recording *r = record("100 0 other\n200 0 other a=1\n250 0 sched_switch\n"
				     "300 1 other\n1000000000 0 other\n-1 0 other\n");
	g_autofree char *is = shape(r);
	g_assert_cmpstr(is, ==, "-1 add\n-1 tally other 1\n200 tally other 2\n250 row0\n300 add\n"
				"300 tally other 1\n300 end\n1000000000 tally other 1\n"
				"1000000000 end\n");
	g_assert_cmpint(((const struct blk_tally *)nth(r, BLK_ROW_TALLY, 0)->data)->second, ==, -1);
	g_assert_cmpint(((const struct blk_tally *)nth(r, BLK_ROW_TALLY, 3)->data)->second, ==, 1);
	recording_free(r);
}

static void test_errors(void)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "x 0 sched_switch", "line 1: no time 'x'" },
		{ "\n1", "line 2: no cpu" },
		{ "1 z sched_switch", "no cpu 'z'" },
		{ "1 0", "no event" },
		{ "1 0 !what", "no such directive: '!what'" },
		{ "1 0 sched_switch prev_tid", "no key=value in 'prev_tid'" },
		{ "1 0 sched_switch prev_tid=", "no number after 'prev_tid'" },
		{ "1 0 sched_switch prev_tid=1x", "no number after 'prev_tid'" },
		{ "1 0 sched_switch prev_comm=\"abc", "text without an end" },
		{ "1 0 other x=y", "no number after 'x'" },
		{ "1 0 !lost what=1", "!lost has no 'what'" },
		{ "1 0 !lost begin=5 end=4", "ends before it begins" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(source_open_script(cases[i].text, rows, G_N_ELEMENTS(rows), &error));
		g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
		g_assert_nonnull(strstr(error->message, cases[i].says));
	}
}

static void test_cancel(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_source) s = source_open_script("1 0 sched_switch\n", rows, 1, &error);
	struct blk_batch batch;
	g_assert_cmpfloat(source_progress(s), ==, 0);
	source_cancel(s);
	g_assert_cmpint(source_next(s, &batch, &error), ==, SOURCE_CANCELLED);
	s = (source_free(s), source_open_script("", rows, 1, &error));
	g_assert_cmpint(source_next(s, &batch, &error), ==, SOURCE_END);
	g_assert_cmpfloat(source_progress(s), ==, 1);
	struct source *cancelled = source_open_script("1 0 sched_switch\n", rows, 1, &error);
	source_cancel(cancelled);
	g_assert_null(recording_new(cancelled, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/script/values", test_values);
	g_test_add_func("/script/alternatives", test_alternatives);
	g_test_add_func("/script/order", test_order);
	g_test_add_func("/script/streams", test_streams);
	g_test_add_func("/script/losses", test_losses);
	g_test_add_func("/script/tallies", test_tallies);
	g_test_add_func("/script/errors", test_errors);
	g_test_add_func("/script/cancel", test_cancel);
	return g_test_run();
}
