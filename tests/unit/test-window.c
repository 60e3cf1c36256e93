/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Steps finer than a second, and windows decoded out of turn: an exact window says what
 * a whole run with that step says of it, byte for byte; who looks gets it when the main
 * pass is over, and what happened last where nothing happens now.
 */
#include "lib/sources.h"
#include "lib/fake_pieces.h"
#include "lib/report.h"
#include "lib/traces.h"
#include "base/timefmt.h"
#include "run/job.h"
#include "run/preview.h"
#include "run/window.h"
#include "state/publish/model.h"
#include "state/store/coarsen.h"

#include <poll.h>

#define LONG_MS 20000
#define MS NS_PER_MS

static bool go_on(void *data)
{
	(void)data;
	return false;
}

/* A run from the trace's begin until `to` with this step. */
static struct timeline *whole_run(const struct recording *r, int64_t step, int64_t to)
{
	struct timeline *tl = timeline_new(0);
	struct slice *s = slice_new(true, step);
	size_t n = 0;

	while (n < recording_n(r) && recording_event(r, n)->ts < to)
		n++;
	slice_feed(s, recording_tables(r), recording_event(r, 0), n);
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	return tl;
}

static struct timeline *read_window(const struct pieces *p, int64_t from, int64_t to, int64_t step,
				    bool exact)
{
	const struct window_reader reader = { p, go_on, NULL, 0, NULL };

	return window_read(&reader, &(struct decoded_range){ from, to, step, exact }, NULL);
}

/* ---- exact ---- */

/* A window of the trace, and the seconds of a run until a moment after. */
static void check_window(const struct recording *r, const struct pieces *p, int64_t from,
			 int64_t to, int64_t step)
{
	int64_t end = to + WINDOW_BEHIND_NS;
	g_autoptr(blk_timeline) whole = whole_run(r, step, end);
	g_autoptr(blk_timeline) tl = read_window(p, from, to, step, true);
	g_autofree char *expected = report_of_seconds(whole, from, to);
	g_autofree char *got = report_of_seconds(tl, from, to);
	g_autofree char *what = g_strdup_printf("[%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
						") in steps of %" G_GINT64_FORMAT, from, to, step);

	report_assert_equal(what, expected, got);
}

static void check_trace(struct recording *r)
{
	static const int64_t steps[] = { MS, 10 * MS, 100 * MS, NS_PER_S };
	struct fake_pieces f;

	fake_pieces_init(&f, r);
	struct pieces p = fake_pieces_trace(&f);
	int64_t first = recording_event(r, 0)->ts;
	int64_t last = recording_event(r, recording_n(r) - 1)->ts;
	for (int i = 0; i < 8 && !g_test_failed(); i++) {
		int64_t at = first + (int64_t)(g_test_rand_double() * (double)(last - first));
		int64_t step = steps[i % G_N_ELEMENTS(steps)];
		int64_t n = g_test_rand_int_range(1, 12);

		at = time_floor(at, step);
		check_window(r, &p, at, at + n * step, step);
	}
	fake_pieces_clear(&f);
}

static void test_exact(gconstpointer name)
{
	struct recording *r = traces_record(name);

	if (r)
		check_trace(r);
}

/* ---- sums ---- */

/* The steps of a second, made one, are the second. */
static void test_sums(gconstpointer name)
{
	struct recording *r = traces_record(name);
	struct slice *s = slice_new(true, 100 * MS);
	g_autoptr(GPtrArray) fine = NULL;

	if (!r)
		return;
	slice_feed(s, recording_tables(r), recording_event(r, 0), recording_n(r));
	struct publication *p = slice_finish(s);
	fine = p->seconds;
	p->seconds = g_ptr_array_new_with_free_func((GDestroyNotify)second_unref);
	for (guint i = 0, n; i < fine->len; i += n) {
		struct second *const *from = (struct second *const *)&fine->pdata[i];
		int64_t end = time_floor(from[0]->begin_ns, NS_PER_S) + NS_PER_S;
		for (n = 1; i + n < fine->len && from[n]->begin_ns < end; n++)
			;
		g_ptr_array_add(p->seconds, second_coarsen(from, n, NS_PER_S));
	}
	g_autoptr(blk_timeline) tl = timeline_new(0);
	timeline_apply(tl, p);
	g_autoptr(blk_timeline) whole = whole_run(r, NS_PER_S, INT64_MAX);
	g_autofree char *expected = report_of_seconds(whole, INT64_MIN, INT64_MAX);
	g_autofree char *got = report_of_seconds(tl, INT64_MIN, INT64_MAX);
	report_assert_equal(name, expected, got);
	slice_free(s);
	recording_free(r);
}

/* ---- silence ---- */

static struct recording *record_script(const char *text)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	g_autoptr(GError) error = NULL;
	struct source *source = source_open_script(text, rows, n, &error);
	g_assert_no_error(error);
	struct recording *r = recording_new(source, &error);
	g_assert_no_error(error);
	return r;
}

/* One thread runs for ever, from second 1 on; then nothing happens for a minute. */
static struct recording *record_silence(void)
{
	return record_script(
		"1000000000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 "
		"next_comm=\"b\" next_tid=2 next_prio=20\n"
		"61000000000 0 sched_switch prev_comm=\"b\" prev_tid=2 prev_prio=20 prev_state=0 "
		"next_comm=\"a\" next_tid=1 next_prio=20\n");
}

static void test_silence(void)
{
	struct fake_pieces f;

	fake_pieces_init(&f, record_silence());
	struct pieces p = fake_pieces_trace(&f);
	g_autoptr(blk_timeline) tl = read_window(&p, 40 * NS_PER_S, 42 * NS_PER_S, NS_PER_S, false);
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct second *s = timeline_second(tl, i);
		g_assert_cmpint(s->end_ns - s->begin_ns, ==, NS_PER_S);
		g_assert_cmpuint(s->n_cpus, ==, 1);
		g_assert_cmpint(s->cpus[0].run_ns, ==, NS_PER_S);
	}
	fake_pieces_clear(&f);
}

/* Packets may end seconds after the trace's last event. */
static void test_after_last(void)
{
	struct fake_pieces f;

	fake_pieces_init(&f, record_script("1000000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
					   "1500000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n"));
	struct pieces p = fake_pieces_trace(&f);
	for (int exact = 0; exact <= 1; exact++) {
		g_autoptr(blk_timeline) tl = read_window(&p, 9 * NS_PER_S, 10 * NS_PER_S, NS_PER_S, exact);
		g_assert_cmpuint(timeline_n_seconds(tl), ==, 0);
	}
	fake_pieces_clear(&f);
}

/* ---- the job's side ---- */

static bool open_fake(void *data, struct job_trace *ret, GError **error)
{
	(void)error;
	ret->pieces = fake_pieces_trace(data);
	return true;
}

static struct timeline *await_window(struct job *j, struct timeline *tl, struct decoded_range *ret)
{
	struct timeline *window;
	struct pollfd rings = { .fd = job_fd(j), .events = POLLIN };

	while (!(window = job_take_preview(j, ret))) {
		g_assert_cmpint(poll(&rings, 1, LONG_MS), ==, 1);
		job_collect(j, tl);
	}
	return window;
}

/* When all is read, finer steps are decoded still, and end up exact; and so is what the
 * timeline says it has no longer. */
static void test_again(void)
{
	static const struct view_range looks[] = {
		{ 1000 * MS, 1010 * MS, 10 * MS, true }, { 1700 * MS, 1800 * MS, 100 * MS, true },
		{ 1000 * MS, 2000 * MS, 0, true },
	};
	struct fake_pieces f;
	struct job_options options = { .threads = 1, .preview = true };
	struct decoded_range w;

	struct recording *r = record_silence();
	fake_pieces_init(&f, r);
	struct job *j = job_start(open_fake, &f, NULL, &options);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	g_assert_true(job_wait(j, tl, LONG_MS));
	for (size_t i = 0; i < G_N_ELEMENTS(looks); i++) {
		struct timeline *window = NULL;
		job_show_range(j, &looks[i]);
		do {
			if (window)
				timeline_free(window);
			window = await_window(j, tl, &w);
		} while (!w.exact || w.step_ns != (looks[i].step_ns ? looks[i].step_ns : NS_PER_S));
		g_assert_cmpint(w.from_ns, <=, looks[i].from_ns);
		g_assert_cmpint(w.to_ns, >=, looks[i].to_ns);
		g_autoptr(blk_timeline) whole = whole_run(r, w.step_ns, INT64_MAX);
		g_autofree char *expected = report_of_seconds(whole, w.from_ns, w.to_ns);
		g_autofree char *got = report_of_seconds(window, w.from_ns, w.to_ns);
		report_assert_equal("again", expected, got);
		timeline_free(window);
	}
	job_free(j);
	g_assert_true(f.freed);
	fake_pieces_clear(&f);
}

/* What was stopped is final as far as it was read, and no further. */
static void test_stopped(void)
{
	struct fake_pieces f;
	struct job_options options = { .threads = 1, .preview = true };
	struct job_status st;

	fake_pieces_init(&f, record_silence());
	f.hang_at = 61 * NS_PER_S;
	struct job *j = job_start(open_fake, &f, NULL, &options);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	fake_pieces_await_hanging(&f);
	job_cancel(j);
	fake_pieces_release(&f);
	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &st);
	g_assert_cmpint(st.phase, ==, JOB_CANCELLED);
	g_assert_cmpint(st.final_to_ns, <, 61 * NS_PER_S);
	job_free(j);
	fake_pieces_clear(&f);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"kernel-ust/trace", "lost/trace", "rotation/trace", "demo/trace",
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		if (traces_too_long(names[i]))
			continue;
		g_autofree char *path = g_strdup_printf("/window/exact/%s", names[i]);
		g_test_add_data_func(path, names[i], test_exact);
	}
	g_test_add_data_func("/window/sums/kernel-ust", "kernel-ust/trace", test_sums);
	g_test_add_data_func("/window/sums/demo", "demo/trace", test_sums);
	g_test_add_func("/window/after-last", test_after_last);
	g_test_add_func("/window/silence", test_silence);
	g_test_add_func("/window/again", test_again);
	g_test_add_func("/window/stopped", test_stopped);
	return g_test_run();
}
