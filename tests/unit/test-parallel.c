/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Traces read in pieces: whatever the number of threads and slices, the timeline is
 * the same; errors, an early end and a slow owner; and the preview that comes before.
 */
#include "lib/inspect.h"
#include "lib/sources.h"
#include "lib/fake_pieces.h"
#include "lib/report.h"
#include "lib/traces.h"

#include "run/job.h"
#include "run/parallel.h"
#include "run/preview.h"
#include "state/slice/slice.h"

#include <poll.h>
#include <string.h>

#define LONG_MS 60000		/* longer than anything takes here, even under a sanitizer */
#define STEP INT64_C(1000000000)

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

/* Two tasks by turns on each of two CPUs, a switch every 10 ms, with a call now and then; in the middle, a pause. */
static struct recording *record_paused(unsigned seconds, int64_t pause)
{
	g_autoptr(GString) s = g_string_new(NULL);
	for (unsigned i = 0; i < seconds * 100; i++) {
		int64_t ts = STEP + i * (STEP / 100) + (i < seconds * 50 ? 0 : pause);
		for (unsigned cpu = 0; cpu < 2; cpu++) {
			unsigned prev = 10 * cpu + 1 + i % 2, next = 10 * cpu + 1 + (i + 1) % 2;
			g_string_append_printf(s, "%" G_GINT64_FORMAT " %u sched_switch prev_comm=\"t%u\" "
				"prev_tid=%u prev_prio=20 prev_state=1 next_comm=\"t%u\" next_tid=%u "
				"next_prio=20\n", ts + cpu, cpu, prev, prev, next, next);
			g_string_append_printf(s, "%" G_GINT64_FORMAT " %u syscall_entry_read fd=3 count=9\n",
					       ts + 1000 + cpu, cpu);
			if (i % 4)
				g_string_append_printf(s, "%" G_GINT64_FORMAT " %u syscall_exit_read ret=9\n",
						       ts + 50000 + cpu, cpu);
		}
	}
	return record_script(s->str);
}

static struct recording *record_story(unsigned seconds)
{
	return record_paused(seconds, 0);
}

static bool open_fake(void *data, struct job_trace *ret, GError **error)
{
	(void)error;
	ret->pieces = fake_pieces_trace(data);
	ret->reader = g_strdup("fake");
	return true;
}

static char *report_of_job(struct fake_pieces *f, const struct job_options *options)
{
	struct job *j = job_start(open_fake, f, NULL, options);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status st;
	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &st);
	g_assert_cmpint(st.phase, ==, JOB_DONE);
	g_assert_cmpstr(st.reader, ==, "fake");
	g_assert_cmpuint(st.pieces, <=, MAX(1, options->slices));
	g_assert_cmpuint(st.pieces_done, ==, st.pieces);
	g_assert_cmpfloat(st.progress, ==, 1);
	g_assert_cmpint(st.final_to_ns, ==, INT64_MAX);
	g_assert_cmpuint(st.n_events, ==, timeline_n_events(tl));
	job_free(j);
	g_assert_true(f->freed);
	return report_of_timeline(tl);
}

static char *report_of_whole(const struct recording *r)
{
	struct slice *s = slice_new(true, STEP);
	slice_feed(s, recording_tables(r), recording_event(r, 0), recording_n(r));
	return report_of_slice(s);
}

/* ---- equality ---- */

static void check_equal(struct recording *r, const char *what)
{
	static const struct { unsigned threads, slices; } ways[] = {
		{ 1, 1 }, { 1, 2 }, { 2, 2 }, { 3, 8 }, { 2, 32 }, { 8, 32 },
	};
	struct fake_pieces f;
	fake_pieces_init(&f, r);
	g_autofree char *whole = report_of_whole(r);
	for (size_t i = 0; i < G_N_ELEMENTS(ways) && !g_test_failed(); i++) {
		struct job_options options = {
			.publish_every_ns = 1, .threads = ways[i].threads, .slices = ways[i].slices,
		};
		g_autofree char *title = g_strdup_printf("%s, %u threads, %u slices", what,
							 ways[i].threads, ways[i].slices);
		g_autofree char *got = report_of_job(&f, &options);
		report_assert_equal(title, whole, got);
	}
	fake_pieces_clear(&f);
}

static void test_equal(gconstpointer name)
{
	struct recording *r = traces_record(name);
	if (r)
		check_equal(r, name);
}

static void test_equal_story(void)
{
	check_equal(record_story(5), "story");
}

static void test_empty(void)
{
	struct fake_pieces f;
	struct job_options options = { .threads = 2, .slices = 4, .preview = true };
	fake_pieces_init(&f, record_script(""));
	struct job *j = job_start(open_fake, &f, NULL, &options);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status st;
	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &st);
	g_assert_cmpint(st.phase, ==, JOB_DONE);
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 0);
	job_free(j);
	fake_pieces_clear(&f);
}

/* ---- ends that are no end ---- */

static void test_error(void)
{
	struct fake_pieces f;
	struct job_options options = { .threads = 3, .slices = 10 };
	fake_pieces_init(&f, record_story(10));
	f.fail_at = 8 * STEP;
	struct job *j = job_start(open_fake, &f, NULL, &options);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status st;
	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &st);
	g_assert_cmpint(st.phase, ==, JOB_FAILED);
	g_assert_cmpstr(st.message, ==, "the record is scratched");
	g_assert_cmpuint(timeline_n_seconds(tl), >=, 6);	/* what was before it is there */
	job_free(j);
	g_assert_true(f.freed);
	fake_pieces_clear(&f);
}

static void test_cancel(void)
{
	struct fake_pieces f;
	struct job_options options = { .threads = 2, .slices = 10, .publish_every_ns = 1 };
	fake_pieces_init(&f, record_story(10));
	f.hang_at = 8 * STEP;
	struct job *j = job_start(open_fake, &f, NULL, &options);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status st;
	fake_pieces_await_hanging(&f);
	struct pollfd pfd = { .fd = job_fd(j), .events = POLLIN };
	while (timeline_n_seconds(tl) < 5) {
		g_assert_cmpint(poll(&pfd, 1, LONG_MS), ==, 1);
		job_collect(j, tl);
	}
	job_get_status(j, &st);
	g_assert_cmpint(st.phase, ==, JOB_LOADING);
	g_assert_cmpuint(st.pieces, ==, 10);
	g_assert_cmpuint(st.jobs, ==, 2);
	g_assert_cmpint(st.final_to_ns, >=, 6 * STEP);
	job_cancel(j);
	fake_pieces_release(&f);
	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &st);
	g_assert_cmpint(st.phase, ==, JOB_CANCELLED);
	g_assert_cmpuint(timeline_n_seconds(tl), >=, 5);
	job_free(j);
	fake_pieces_clear(&f);
}

static void test_free_early(void)
{
	struct fake_pieces f;
	struct job_options options = { .threads = 3, .slices = 20, .preview = true };
	fake_pieces_init(&f, record_story(4));
	for (int i = 0; i < 20; i++) {
		f.freed = false;
		struct job *j = job_start(open_fake, &f, NULL, &options);
		if (i % 2)
			job_show_range(j, &(struct view_range){ .from_ns = 2 * STEP, .to_ns = 3 * STEP });
		job_free(j);
		g_assert_true(f.freed);
	}
	fake_pieces_clear(&f);
}

/* Who reads faster than it is stitched waits. */
static void test_bounded(void)
{
	struct fake_pieces f;
	struct parallel_plan plan = { .threads = 2, .slices = 40, .step_ns = STEP };
	fake_pieces_init(&f, record_story(10));
	struct pieces trace = fake_pieces_trace(&f);
	struct parallel *p = parallel_start(&trace, &plan);
	g_autoptr(GError) error = NULL;
	struct slice *s, *all = NULL;
	unsigned taken = 0;
	enum parallel_status st;
	g_assert_cmpuint(parallel_n_slices(p), ==, 40);
	int64_t until = g_get_monotonic_time() + LONG_MS * 1000;
	while ((st = parallel_next(p, &s, until, &error)) == PARALLEL_SLICE) {
		g_mutex_lock(&f.lock);
		g_assert_cmpuint(f.n_opened, <=, ++taken + 3);
		g_mutex_unlock(&f.lock);
		all = all ? slice_stitch(all, s) : s;
	}
	g_assert_no_error(error);
	g_assert_cmpint(st, ==, PARALLEL_END);
	g_assert_cmpuint(taken, ==, 40);
	g_assert_cmpuint(slice_n_events(all), ==, parallel_n_events(p));
	g_assert_cmpfloat(parallel_progress(p), ==, 1);
	slice_free(all);
	parallel_free(p);
	fake_pieces_clear(&f);
}

/* Pieces of several slices while much is left, single ones in the end; not longer than asked for. */
static void test_joined(void)
{
	static const struct { unsigned most; int64_t most_ns; unsigned n; } expected[] = {
		{ 0, 0, 40 }, { 1, 0, 40 }, { 4, 0, 16 }, { 4, STEP * 5 / 8, 23 },
	};
	struct fake_pieces f;
	fake_pieces_init(&f, record_story(10));
	struct pieces trace = fake_pieces_trace(&f);
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		struct parallel_plan plan = { .threads = 2, .slices = 40, .step_ns = STEP,
			.most = expected[i].most, .most_ns = expected[i].most_ns };
		struct parallel *p = parallel_start(&trace, &plan);
		g_assert_cmpuint(parallel_n_slices(p), ==, expected[i].n);
		parallel_free(p);
	}
	fake_pieces_clear(&f);
}

static void test_plan(void)
{
	struct fake_pieces f;
	fake_pieces_init(&f, record_story(2));
	struct pieces trace = fake_pieces_trace(&f);
	struct parallel_plan plan = parallel_choose(&trace, 4, 0, 0);
	g_assert_cmpuint(plan.slices, ==, 1);		/* too little to be cut */
	g_assert_cmpuint(plan.threads, ==, 1);
	plan = parallel_choose(&trace, 4, 9, 0);
	g_assert_cmpuint(plan.slices, ==, 9);
	g_assert_cmpuint(plan.threads, ==, 4);
	plan = parallel_choose(&trace, 100000, 1000, 0);
	g_assert_cmpuint(plan.threads, ==, 256);
	plan = parallel_choose(&trace, 0, 1000, 0);
	g_assert_cmpuint(plan.threads, ==, MIN(256, g_get_num_processors()));
	fake_pieces_clear(&f);
}

/* Little memory: few seconds a slice. */
static void test_choose_long(void)
{
	struct fake_pieces f;
	fake_pieces_init(&f, record_story(60));
	struct pieces trace = fake_pieces_trace(&f);
	struct parallel_plan plan = parallel_choose(&trace, 2, 0, 24 << 20);
	g_assert_cmpuint(plan.slices, ==, 2);		/* of 48 s at most */
	g_assert_cmpuint(plan.threads, ==, 2);
	plan = parallel_choose(&trace, 1, 0, 24 << 20);
	g_assert_cmpuint(plan.slices, ==, 1);		/* nothing waits for anything */
	plan = parallel_choose(&trace, 2, 0, 1 << 30);
	g_assert_cmpuint(plan.slices, ==, 1);
	plan = parallel_choose(&trace, 0, 1000, 8 << 20);
	g_assert_cmpuint(plan.threads, ==, 1);
	fake_pieces_clear(&f);
}

/* Years of a few packets, by a clock that lies, are a few slices. */
static void test_choose_years(void)
{
	struct fake_pieces f;
	fake_pieces_init(&f, traces_record_script(
		"1000000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"1000000000000000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n"));
	struct pieces trace = fake_pieces_trace(&f);
	struct parallel_plan plan = parallel_choose(&trace, 2, 0, 24 << 20);
	g_assert_cmpuint(plan.slices, ==, 1);
	fake_pieces_clear(&f);
}

/* Two recordings, weeks apart, are about as many slices as one. */
static void test_choose_weeks(void)
{
	struct fake_pieces f;
	fake_pieces_init(&f, record_paused(60, 21 * 86400 * STEP));
	struct pieces trace = fake_pieces_trace(&f);
	struct parallel_plan plan = parallel_choose(&trace, 2, 0, 24 << 20);
	plan.step_ns = STEP;
	g_assert_cmpuint(plan.slices, >, 40);	/* that one of them spans the weeks, and no more */
	struct parallel *p = parallel_start(&trace, &plan);
	g_assert_cmpuint(parallel_n_slices(p), <, plan.slices / 2);
	parallel_free(p);
	fake_pieces_clear(&f);
}

/* ---- what is looked at, before all else ---- */

struct looker {
	struct fake_pieces f;
	struct pieces trace;
	struct preview *pv;
	unsigned n_rung;
};

static void rung(void *data, void *unused)
{
	(void)unused;
	((struct looker *)data)->n_rung++;
}

static void looker_init(struct looker *l, unsigned seconds)
{
	l->n_rung = 0;
	fake_pieces_init(&l->f, record_story(seconds));
	l->trace = fake_pieces_trace(&l->f);
	l->pv = preview_new(&l->trace, STEP, rung, l);
}

static void looker_clear(struct looker *l)
{
	preview_free(l->pv);
	g_assert_cmpuint(l->f.n_open, ==, 0);
	fake_pieces_clear(&l->f);
}

static void look(struct looker *l, int64_t from, int64_t to)
{
	preview_show_range(l->pv, &(struct view_range){ .from_ns = from, .to_ns = to });
}

/* Makes the next window: whole seconds from..to, with their own rows. */
static void expect_window(struct looker *l, int64_t from, int64_t to)
{
	struct decoded_range got;
	int64_t first, last;
	unsigned before = l->n_rung;
	g_assert_true(preview_step(l->pv));
	g_assert_cmpuint(l->n_rung, ==, before + 1);
	g_autoptr(blk_timeline) tl = preview_take(l->pv, &got);
	g_assert_nonnull(tl);
	g_assert_cmpint(got.from_ns, ==, from * STEP);
	g_assert_cmpint(got.to_ns, ==, to * STEP);
	g_assert_false(got.exact);
	g_assert_cmpuint(timeline_n_seconds(tl), ==, to - from);
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		g_assert_cmpint(s->begin_ns, ==, (from + (int64_t)i) * STEP);
		g_assert_cmpuint(s->n_threads, ==, 4);
	}
	g_assert_true(timeline_coverage(tl, &first, &last));
	g_assert_cmpint(first, ==, from * STEP);
	g_assert_cmpuint(timeline_n_events(tl), ==, (to - from) * 550);
	g_assert_null(preview_take(l->pv, &got));
}

/* A request every 10 ms. */
static struct recording *record_requests(unsigned seconds)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (unsigned i = 0; i < seconds * 200; i++)
		g_string_append_printf(s, "%" G_GINT64_FORMAT " 0 u:zipkin:timestamp trace_name=\"r\" "
			"service_name=\"s\" trace_id=%u span_id=%u parent_span_id=0 event=\"%s\" "
			"ctx.vtid=7 ctx.vpid=7\n", STEP + i * (STEP / 200), 1 + i / 2, 1 + i / 2,
			i % 2 ? "ss" : "sr");
	return record_script(s->str);
}

/* Spans take far more memory than packets: windows get no wider than they may hold. */
static void test_preview_spans(void)
{
	struct looker l = { 0 };
	struct decoded_range got;
	g_autoptr(blk_timeline) tl = NULL;

	fake_pieces_init(&l.f, record_requests(20));
	l.trace = fake_pieces_trace(&l.f);
	l.pv = preview_new(&l.trace, STEP, rung, &l);
	preview_bound_spans(l.pv, 1000);		/* not even a second of them */
	g_assert_true(preview_step(l.pv));		/* but one there is in any case */
	tl = preview_take(l.pv, &got);
	g_assert_nonnull(tl);
	g_assert_cmpint(got.from_ns, ==, 20 * STEP);
	g_assert_cmpint(got.to_ns, ==, 21 * STEP);
	g_assert_cmpuint(timeline_n_spans(tl), >=, 100);
	g_assert_cmpuint(preview_bytes(l.pv), ==, timeline_bytes(tl));
	while (preview_step(l.pv))
		g_assert_null(preview_take(l.pv, &got));	/* none is wider */
	look(&l, 2 * STEP, 10 * STEP);			/* of what is asked for the end */
	while (preview_step(l.pv))
		;
	g_autoptr(blk_timeline) end = preview_take(l.pv, &got);
	g_assert_nonnull(end);
	g_assert_cmpint(got.from_ns, ==, 9 * STEP);
	g_assert_cmpint(got.to_ns, ==, 10 * STEP);
	looker_clear(&l);
}

static void test_preview(void)
{
	struct looker l;
	looker_init(&l, 60);			/* the seconds 1 to 60 */
	expect_window(&l, 60, 61);
	expect_window(&l, 53, 61);
	expect_window(&l, 31, 61);
	g_assert_false(preview_step(l.pv));
	look(&l, 40 * STEP + 5, 41 * STEP);	/* that is there already */
	g_assert_false(preview_step(l.pv));
	look(&l, 20 * STEP + 5, 20 * STEP + 7);
	expect_window(&l, 20, 21);
	look(&l, 20 * STEP, 22 * STEP);	/* elsewhere, while it goes on */
	expect_window(&l, 20, 22);
	expect_window(&l, 17, 25);
	look(&l, INT64_MIN + 1, 2 * STEP);	/* before the trace */
	expect_window(&l, 1, 2);
	expect_window(&l, 1, 9);
	look(&l, 3 * STEP, INT64_MAX);	/* too long: the end of it */
	expect_window(&l, 31, 61);
	g_assert_false(preview_step(l.pv));
	preview_final_to(l.pv, 10 * STEP);
	look(&l, 5 * STEP, 6 * STEP);		/* read for good, but not all around */
	expect_window(&l, 1, 31);
	g_assert_false(preview_step(l.pv));
	preview_final_to(l.pv, INT64_MAX);
	look(&l, TIME_UNKNOWN, TIME_UNKNOWN);
	g_assert_false(preview_step(l.pv));
	looker_clear(&l);
}

/* Without index files the end is known first. */
static void test_preview_unindexed(void)
{
	struct looker l;
	looker_init(&l, 40);
	l.f.index_steps = 4;
	g_assert_false(preview_step(l.pv));
	preview_wait(l.pv, INT64_MAX);		/* there is nothing to wait for */
	l.trace.ops->index(l.trace.native, 1);
	expect_window(&l, 40, 41);
	expect_window(&l, 33, 41);
	g_assert_false(preview_step(l.pv));
	l.trace.ops->index(l.trace.native, 1);
	l.trace.ops->index(l.trace.native, 1);
	g_assert_false(preview_step(l.pv));	/* not the quarter of a second before it */
	l.trace.ops->index(l.trace.native, 1);
	expect_window(&l, 11, 41);
	looker_clear(&l);
}

/* The job's side: outline and preview are there while the main pass has just begun. */
static void test_job_preview(void)
{
	struct fake_pieces f;
	struct job_options options = { .threads = 2, .slices = 8, .preview = true };
	struct decoded_range w;
	fake_pieces_init(&f, record_story(60));
	f.index_steps = 5;
	f.hang_at = 2 * STEP;
	struct job *j = job_start(open_fake, &f, NULL, &options);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	fake_pieces_await_hanging(&f);
	struct outline *o = job_outline(j);
	g_assert_nonnull(o);
	g_assert_true(o->complete);
	g_assert_cmpint(o->to_ns, >, 60 * STEP);
	outline_unref(o);

	struct pollfd pfd = { .fd = job_fd(j), .events = POLLIN };
	struct timeline *preview = NULL;
	do {
		timeline_free(preview);
		while (!(preview = job_take_preview(j, &w))) {
			g_assert_cmpint(poll(&pfd, 1, LONG_MS), ==, 1);
			job_collect(j, tl);
		}
		g_assert_cmpint(w.to_ns, ==, 61 * STEP);
		g_assert_cmpuint(timeline_n_seconds(preview), ==, (w.to_ns - w.from_ns) / STEP);
	} while (w.from_ns > 31 * STEP);
	timeline_free(preview);
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 0);
	fake_pieces_release(&f);
	g_assert_true(job_wait(j, tl, LONG_MS));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 60);
	job_show_range(j, &(struct view_range){ .from_ns = STEP, .to_ns = 2 * STEP });	/* it is there */
	g_assert_null(job_take_preview(j, &w));
	job_free(j);
	fake_pieces_clear(&f);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"kernel-ust/trace", "lost/trace", "lost/trace-overwrite", "lost", "rotation/trace", "demo/trace",
		"ctf2/lost/trace",
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		if (traces_too_long(names[i]))
			continue;
		g_autofree char *path = g_strdup_printf("/parallel/equal/%s", names[i]);
		g_test_add_data_func(path, names[i], test_equal);
	}
	g_test_add_func("/parallel/equal-story", test_equal_story);
	g_test_add_func("/parallel/empty", test_empty);
	g_test_add_func("/parallel/error", test_error);
	g_test_add_func("/parallel/cancel", test_cancel);
	g_test_add_func("/parallel/free-early", test_free_early);
	g_test_add_func("/parallel/bounded", test_bounded);
	g_test_add_func("/parallel/joined", test_joined);
	g_test_add_func("/parallel/plan", test_plan);
	g_test_add_func("/parallel/choose-long", test_choose_long);
	g_test_add_func("/parallel/choose-years", test_choose_years);
	g_test_add_func("/parallel/choose-weeks", test_choose_weeks);
	g_test_add_func("/parallel/preview", test_preview);
	g_test_add_func("/parallel/preview-spans", test_preview_spans);
	g_test_add_func("/parallel/preview-unindexed", test_preview_unindexed);
	g_test_add_func("/parallel/job-preview", test_job_preview);
	return g_test_run();
}
