/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model in a run: published bit by bit, with and without forgetting, it tells
 * what one slice of the whole tells.
 */
#include "lib/cuts.h"
#include "lib/inspect.h"
#include "lib/sources.h"
#include "lib/report.h"
#include "lib/traces.h"

#include "state/publish/model.h"

#define STEP INT64_C(1000000000)

static bool has_spans(const struct recording *r)
{
	const struct blk_tables *t = recording_tables(r);
	for (guint i = 0; i < t->classes->len; i++)
		if (slice_row_makes_spans(blk_class(t, i)->row))
			return true;
	return false;
}

static char *report_of_run(const struct recording *r, const struct model_options *options, size_t every)
{
	struct model *m = model_new(options);
	if (options->memory_budget && !has_spans(r))
		model_without_spans(m);		/* forgets more */
	struct timeline *tl = timeline_new(0);
	for (size_t i = 0; i < recording_n(r); i++) {
		struct publication *p = NULL;
		model_feed(m, recording_tables(r), recording_event(r, i), 1);
		if (i % every == 0)
			p = model_publish(m, false);
		if (p)
			timeline_apply(tl, p);
	}
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	char *text = report_of_timeline(tl);
	timeline_free(tl);
	return text;
}

static char *report_of_whole(const struct recording *r)
{
	struct slice *s = slice_new(true, STEP);
	for (size_t i = 0; i < recording_n(r); i++)
		slice_feed(s, recording_tables(r), recording_event(r, i), 1);
	return report_of_slice(s);
}

static void test_run(gconstpointer data)
{
	struct recording *r = traces_record(data);
	if (!r)
		return;
	g_autofree char *whole = report_of_whole(r);
	g_autofree char *once = report_of_run(r, &(struct model_options){ 0 }, G_MAXSIZE);
	report_assert_equal("published once", whole, once);
	g_autofree char *often = report_of_run(r, &(struct model_options){ 0 }, 100);
	report_assert_equal("published often", whole, often);
	g_autofree char *open = report_of_run(r, &(struct model_options){ .provisional = true }, 100);
	report_assert_equal("published while open", whole, open);
	g_autofree char *forgetful = report_of_run(r, &(struct model_options){ .memory_budget = 64 << 20 }, 100);
	report_assert_equal("with forgetting", whole, forgetful);
	g_autofree char *bounded = report_of_run(r, &(struct model_options){ .closing_bytes = 1 }, 100);
	report_assert_equal("closing a second each time", whole, bounded);
	g_autofree char *at_end = report_of_run(r, &(struct model_options){ .at_end = true }, 100);
	report_assert_equal("published at the end", whole, at_end);
	recording_free(r);
}

/* ---- in pieces, as several threads read them ---- */

static void begin_lost(struct slice *s, const struct recording *r, size_t at)
{
	g_autoptr(GPtrArray) open = g_ptr_array_new();
	for (size_t i = 0; i < at; i++) {
		const struct blk_event *e = recording_event(r, i);
		if (e->row == BLK_ROW_LOST_BEGIN)
			g_ptr_array_add(open, (gpointer)e);
		for (guint k = 0; e->row == BLK_ROW_LOST_END && k < open->len; k++) {
			if (((const struct blk_event *)g_ptr_array_index(open, k))->stream != e->stream)
				continue;
			g_ptr_array_remove_index(open, k);
			break;
		}
	}
	for (guint i = 0; i < open->len; i++) {
		const struct blk_event *e = g_ptr_array_index(open, i);
		struct blk_loss loss;
		memcpy(&loss, e->data, sizeof loss);
		slice_begin_lost(s, recording_tables(r), e->stream, &loss);
	}
}

/* Stitches pieces of about n records each, and publishes after each of them. */
static char *report_of_pieces(const struct recording *r, const struct model_options *options, size_t n)
{
	struct model *m = model_new(options);
	struct timeline *tl = timeline_new(0);
	for (size_t from = 0, to; from < recording_n(r); from = to) {
		struct slice *s = slice_new(from == 0, STEP);
		begin_lost(s, r, from);
		to = MIN(from + n, recording_n(r));
		while (to < recording_n(r) && recording_event(r, to)->ts == recording_event(r, to - 1)->ts)
			to++;
		slice_feed(s, recording_tables(r), recording_event(r, from), to - from);
		model_stitch(m, s);
		struct publication *p = model_publish(m, false);
		if (p)
			timeline_apply(tl, p);
	}
	timeline_apply(tl, model_publish(m, true));
	g_assert_cmpint(model_closed_to(m), ==, INT64_MAX);
	model_free(m);
	char *text = report_of_timeline(tl);
	timeline_free(tl);
	return text;
}

static void test_pieces(gconstpointer data)
{
	struct recording *r = traces_record(data);
	if (!r)
		return;
	g_autofree char *whole = report_of_whole(r);
	for (unsigned i = 0; i < 3 && !g_test_failed(); i++) {
		static const unsigned pieces[] = { 2, 7, 40 };
		size_t n = recording_n(r) / pieces[i] + 1;
		g_autofree char *what = g_strdup_printf("%s in %u pieces", (const char *)data, pieces[i]);
		g_autofree char *got = report_of_pieces(r, &(struct model_options){ 0 }, n);
		report_assert_equal(what, whole, got);
		g_autofree char *bounded =
			report_of_pieces(r, &(struct model_options){ .memory_budget = 64 << 20 }, n);
		report_assert_equal("with forgetting", whole, bounded);
	}
	recording_free(r);
}

/* Horizons close seconds in which nothing happens. */
static void test_horizon(void)
{
	g_autoptr(GError) error = NULL;
	size_t n, seconds = 0;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	blk_source *s = source_open_script(
		"1000000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\"\n"
		"1500000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"a\" next_comm=\"swapper/0\"\n"
		"4000000001 0 !horizon\n", subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&(struct model_options){ .live = true });
	struct blk_batch batch;
	while (source_next(s, &batch, &error) == SOURCE_OK)
		model_feed(m, &s->tables, batch.ev, batch.n);
	struct publication *p = model_publish(m, false);
	g_assert_nonnull(p);
	for (guint i = 0; i < p->seconds->len; i++) {
		const struct second *sec = g_ptr_array_index(p->seconds, i);
		g_assert_cmpint(sec->end_ns, <=, 4000000000);
		seconds++;
	}
	g_assert_cmpuint(seconds, ==, 3);
	publication_free(p);
	model_free(m);
	source_free(s);
}

/* Is a second that begins before the instant among those of the publication? Takes it. */
static bool tells_of(struct publication *p, int64_t ns)
{
	bool found = false;
	for (guint i = 0; i < p->seconds->len; i++)
		found |= ((const struct second *)g_ptr_array_index(p->seconds, i))->begin_ns < ns;
	publication_free(p);
	return found;
}

/* A second of a thread of which nobody knows the process is told once, and again when that
 * is known: not with each publication in between. */
static void test_provisional_second(void)
{
	static const bool expected[] = { true, false, true, false };
	g_autoptr(GError) error = NULL;
	size_t n, n_expected = 0;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	blk_source *s = source_open_script(
		"1000000000 0 sched_switch prev_tid=8 prev_state=0 next_tid=7 prev_comm=\"b\" next_comm=\"a\"\n"
		"2500000000 0 sched_switch prev_tid=7 prev_state=0 next_tid=8 prev_comm=\"a\" next_comm=\"b\"\n"
		"3500000000 0 sched_switch prev_tid=8 prev_state=0 next_tid=7 prev_comm=\"b\" next_comm=\"a\"\n"
		"4500000000 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"a\" type=0\n"
		"5500000000 0 sched_switch prev_tid=7 prev_state=0 next_tid=8 prev_comm=\"a\" next_comm=\"b\"\n",
		subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&(struct model_options){ .live = true });
	struct blk_batch batch;
	while (source_next(s, &batch, &error) == SOURCE_OK)
		for (size_t i = 0; i < batch.n && batch.ev[i].row != BLK_ROW_STREAM_END; i++) {
			model_feed(m, &s->tables, batch.ev + i, 1);
			struct publication *p = model_now(m) > 2000000000 ? model_publish(m, false) : NULL;
			if (!p)
				continue;
			g_assert_cmpuint(n_expected, <, G_N_ELEMENTS(expected));
			g_assert_cmpint(tells_of(p, 2000000000), ==, expected[n_expected++]);
		}
	g_assert_cmpuint(n_expected, ==, G_N_ELEMENTS(expected));
	g_assert_false(tells_of(model_publish(m, true), 2000000000));
	model_free(m);
	source_free(s);
}

static void cpus_of(const struct publication *p, int64_t ret[][3])
{
	for (guint i = 0; i < p->seconds->len; i++) {
		const struct second *s = g_ptr_array_index(p->seconds, i);
		for (uint32_t k = 0; k < s->n_cpus; k++) {
			ret[s->cpus[k].host][0] += s->cpus[k].run_ns;
			ret[s->cpus[k].host][1] += s->cpus[k].idle_ns;
			ret[s->cpus[k].host][2] += s->cpus[k].unknown_ns;
		}
	}
}

/* Live, of two hosts: the session of one is gone, and what ran there does not run on for ever. */
static void test_host_over(void)
{
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	blk_source *s = source_open_script(
		"1000000000 0 k@a:sched_switch prev_tid=8 prev_state=0 next_tid=7\n"
		"1000000000 0 k@b:sched_switch prev_tid=8 prev_state=0 next_tid=7\n"
		"2000000000 0 k@a:syscall_entry_getpid ctx.tid=7\n"
		"2000000000 0 k@b:syscall_entry_getpid ctx.tid=7\n"
		"3000000000 0 k@b:syscall_exit_getpid ctx.tid=7 ret=7\n"
		"3000000000 0 k@b:sched_switch prev_tid=7 prev_state=0 next_tid=8\n", subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&(struct model_options){ .live = true });
	struct blk_batch batch;
	int64_t cpus[2][3] = { { 0 } };
	while (source_next(s, &batch, &error) == SOURCE_OK)
		model_feed(m, &s->tables, batch.ev, batch.n);
	struct publication *p = model_publish(m, true);
	cpus_of(p, cpus);
	g_assert_cmpint(cpus[0][0], ==, 1000000000);
	g_assert_cmpint(cpus[0][2], ==, 1000000000);
	g_assert_cmpint(cpus[1][0], ==, 2000000000);
	g_assert_cmpint(cpus[1][2], ==, 0);
	publication_free(p);
	model_free(m);
	source_free(s);
}

/* Live, lttng stop and lttng start: nothing is known of the time in between, whether the streams say at once how far
 * time went or the next events do. Seconds of a short silence are not shown before it is known what it was. */
static void test_pause(void)
{
	static const char script[] =
		"1000000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"1000000000 1 sched_switch prev_tid=7 prev_state=1 next_tid=0\n"
		"2500000000 0 syscall_entry_read ctx.tid=7 fd=3\n"
		"3200000000 0 !horizon\n"
		"4000000000 0 !horizon\n"
		"4000000001 0 !horizon\n"
		"6000000000 1 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=9\n"
		"7000000000 0 sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0\n"
		"8000000000 0 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=7\n";
	static const int64_t closed[] = { 2 * STEP, 2 * STEP, 4 * STEP };	/* after each horizon */
	struct recording *r = traces_record_script(script);
	for (unsigned horizons = 0; horizons < 2; horizons++) {
		struct model *m = model_new(&(struct model_options){ .live = true });
		g_autoptr(blk_timeline) tl = timeline_new(0);
		size_t n = 0;
		for (size_t k = 0; k < recording_n(r); k++) {
			bool horizon = recording_event(r, k)->row == BLK_ROW_HORIZON;
			if (horizon && !horizons)
				continue;
			model_feed(m, recording_tables(r), recording_event(r, k), 1);
			if (!horizon)
				continue;
			struct publication *p = model_publish(m, false);
			if (p)
				timeline_apply(tl, p);
			g_assert_cmpint(model_closed_to(m), ==, closed[n++]);
		}
		timeline_apply(tl, model_publish(m, true));
		int64_t cpus[2][3] = { { 0 } };
		for (size_t i = 0; i < timeline_n_seconds(tl); i++)
			for (uint32_t k = 0; k < timeline_second(tl, i)->n_cpus; k++) {
				const struct cpu_cell *c = &timeline_second(tl, i)->cpus[k];
				cpus[c->cpu][0] += c->run_ns;
				cpus[c->cpu][1] += c->idle_ns;
				cpus[c->cpu][2] += c->unknown_ns;
			}
		g_assert_cmpint(cpus[0][2], ==, 3500000000);
		g_assert_cmpint(cpus[1][2], ==, 3500000000);
		g_assert_cmpint(cpus[0][0], ==, 2500000000);
		g_assert_cmpint(cpus[0][1], ==, 1000000000);
		g_assert_cmpint(cpus[1][0], ==, 2000000000);
		g_assert_cmpint(cpus[1][1], ==, 1500000000);
		model_free(m);
	}
	recording_free(r);
}

/* A thread that only the state dump names has all seconds from the first closed one on, live as in a recording. */
static void test_silent_thread(void)
{
	static const char script[] =
		"1000000000 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"a\" type=0\n"
		"1500000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		"2600000000 0 sched_switch prev_tid=9 prev_state=1 next_tid=0\n"
		"3600000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=9\n";
	struct recording *r = traces_record_script(script);
	struct model *m = model_new(&(struct model_options){ .live = true });
	g_autoptr(blk_timeline) tl = timeline_new(0);
	for (size_t k = 0; k < recording_n(r); k++) {
		model_feed(m, recording_tables(r), recording_event(r, k), 1);
		struct publication *p = model_publish(m, false);
		if (p)
			timeline_apply(tl, p);
	}
	size_t n = timeline_n_seconds(tl);
	g_assert_cmpuint(n, >=, 2);
	for (size_t i = 0; i < n; i++) {
		const struct second *s = timeline_second(tl, i);
		int64_t unknown = 0;
		for (uint32_t k = 0; k < s->n_threads; k++)
			if (timeline_thread(tl, s->threads[k].thread)->tid == 7)
				unknown += s->threads[k].part[PART_UNKNOWN];
		g_assert_cmpint(unknown, ==, s->end_ns - s->begin_ns);
	}
	model_free(m);
	recording_free(r);
}

/* Live, without a kernel trace: seconds in which no event came are gaps, not unknown time of CPUs. */
static void test_silent_programs(void)
{
#define STAMP "0 u:zipkin:timestamp trace_name=\"r\" service_name=\"s\" trace_id=1 span_id=2 parent_span_id=0 " \
	"event=\"x\" ctx.vpid=7 ctx.vtid=7\n"
	struct recording *r = traces_record_script("1000000000 " STAMP "1500000000 " STAMP "3900000000 0 !horizon\n"
						   "4200000000 " STAMP "7900000000 0 !horizon\n");
	struct model *m = model_new(&(struct model_options){ .live = true });
	g_autoptr(blk_timeline) tl = timeline_new(0);
	for (size_t k = 0; k < recording_n(r); k++) {
		if (recording_event(r, k)->row != BLK_ROW_STREAM_END)
			model_feed(m, recording_tables(r), recording_event(r, k), 1);
		struct publication *p = model_publish(m, false);
		if (p)
			timeline_apply(tl, p);
	}
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 2);
	g_assert_cmpint(timeline_second(tl, 0)->begin_ns, ==, 1000000000);
	g_assert_cmpint(timeline_second(tl, 1)->begin_ns, ==, 4000000000);
	model_free(m);
	recording_free(r);
#undef STAMP
}

/* A CPU goes away while 7 runs, and comes back idle: no switch is in the trace. */
static void test_offline_cpu(void)
{
	struct recording *r = traces_record_script(
		"100 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"200 1 sched_waking ctx.tid=7 tid=9 target_cpu=0\n"
		"250 0 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		"900 1 sched_waking ctx.tid=0 tid=9 target_cpu=0\n"
		"1000 1 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=7\n"
		"1100 0 sched_switch prev_tid=9 prev_state=1 next_tid=0\n");
	int64_t cpus[1][3] = { { 0 } };
	struct slice *slice = cuts_slice(r, 0, recording_n(r), true);
	struct publication *p = slice_finish(slice);
	cpus_of(p, cpus);
	slice_free(slice);
	g_assert_cmpint(cpus[0][0], ==, 850 + 100 + 100);
	g_assert_cmpint(cpus[0][1], ==, 150 + 100);
	g_assert_cmpint(cpus[0][2], ==, 700);
	publication_free(p);
	cuts_check("offline CPU", r);
	recording_free(r);
}

/* A process ends with the last of its threads that is known; one of several is not its end. */
static void test_thread_ends(void)
{
	static const char *const begin =
		"10 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"a\" type=0\n"
		"11 0 lttng_statedump_process_state tid=8 pid=7 ppid=1 name=\"a\" type=0\n"
		"20 0 sched_switch prev_tid=0 prev_state=0 next_tid=8\n"
		"25 0 sched_process_exit tid=8 comm=\"a\"\n"
		"30 0 sched_switch prev_tid=8 prev_state=16 next_tid=7\n";
	static const struct { const char *end; int64_t exit_ns; } cases[] = {
		/* exec by another thread: it goes on as the leader, which ended for it */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=10 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "41 0 sched_process_exit tid=7 comm=\"a\"\n"
		  "42 0 sched_switch prev_tid=7 prev_state=16 next_tid=10\n"
		  "50 0 sched_process_exec tid=7 old_tid=10 filename=\"b\"\n"
		  "60 0 sched_process_exit tid=7 comm=\"b\"\n"
		  "61 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n", 60 },
		{ "50 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n", TIME_UNKNOWN },
		{ "50 0 sched_process_exit tid=7 comm=\"a\"\n"
		  "60 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n", 50 },
		/* A thread becomes the leader, which ends for that; its own tid is no more. */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "45 0 sched_process_exit tid=7 comm=\"a\"\n"
		  "50 0 sched_switch prev_tid=7 prev_state=16 next_tid=9\n"
		  "60 0 sched_process_exec tid=7 old_tid=9 filename=\"/b\"\n"
		  "70 0 sched_process_exit tid=7 comm=\"b\"\n"
		  "80 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n", 70 },
		/* The same, where the leader's end was not told. */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "50 0 sched_switch prev_tid=7 prev_state=1 next_tid=9\n"
		  "60 0 sched_process_exec tid=7 old_tid=9 filename=\"/b\"\n"
		  "70 0 sched_process_exit tid=7 comm=\"b\"\n"
		  "80 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n", 70 },
		/* A pid that is given away again: the process that had it is over, and so are its
		 * threads, whoever is taken for them. */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "50 1 sched_process_fork parent_tid=5 child_tid=7 parent_pid=5 child_pid=7 child_comm=\"c\"\n"
		  "60 1 sched_process_exit ctx.tid=9 tid=9 comm=\"a\"\n", 60 },
		/* A tid that is given away again: who had it is not alive in its process. */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "50 0 sched_process_exit tid=7 comm=\"a\"\n"
		  "60 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n"
		  "70 1 sched_process_fork parent_tid=5 child_tid=9 parent_pid=5 child_pid=9 child_comm=\"c\"\n", 70 },
		/* Since Linux 6.16 the kernel says which thread is the last one: the leader is not, */
		{ "50 0 sched_process_exit tid=7 comm=\"a\" group_dead=0\n", TIME_UNKNOWN },
		/* another one is, and nobody saw the leader end, */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "50 1 sched_process_exit ctx.tid=9 tid=9 comm=\"a\" group_dead=1\n", 50 },
		/* on another CPU one ends at the same time, and is told later, */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "50 0 sched_process_exit tid=7 comm=\"a\" group_dead=1\n"
		  "51 1 sched_process_exit ctx.tid=9 tid=9 comm=\"a\" group_dead=0\n", 51 },
		/* the leader ended for another thread to become it, */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "45 0 sched_process_exit tid=7 comm=\"a\" group_dead=0\n"
		  "50 0 sched_switch prev_tid=7 prev_state=16 next_tid=9\n"
		  "60 0 sched_process_exec tid=7 old_tid=9 filename=\"/b\"\n"
		  "70 0 sched_process_exit tid=7 comm=\"b\" group_dead=1\n", 70 },
		/* the last one's end was lost, and its tid is given away again. */
		{ "40 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
		  "50 0 sched_process_exit tid=7 comm=\"a\" group_dead=0\n"
		  "60 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n"
		  "70 1 sched_process_fork parent_tid=5 child_tid=9 parent_pid=5 child_pid=9 child_comm=\"c\"\n", 70 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *script = g_strconcat(begin, cases[i].end, NULL);
		struct recording *r = traces_record_script(script);
		struct slice *s = slice_new(true, INT64_C(1000000000));
		slice_feed(s, recording_tables(r), recording_event(r, 0), recording_n(r));
		g_autoptr(blk_timeline) tl = timeline_new(0);
		timeline_apply(tl, slice_finish(s));
		const struct process_info *p = timeline_process(tl, timeline_thread(tl, 0)->process);
		g_assert_cmpint(p->pid, ==, 7);
		g_assert_cmpint(p->exit_ns, ==, cases[i].exit_ns);
		slice_free(s);
		recording_free(r);
	}
}

/* A file of the timeline, by its name. */
static const struct file_info *find_file(const struct timeline *tl, const char *path)
{
	const struct file_info *f;
	for (uint32_t i = 0; (f = timeline_file(tl, i)); i++)
		if (!strcmp(timeline_string(tl, f->path), path))
			return f;
	return NULL;
}

/* What the two ends are comes in an array of the exit: "socket" since lttng-modules 2.6. */
static void test_socketpair(void)
{
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	blk_source *s = source_open_script(
		"1 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\"\n"
		"2 0 syscall_entry_socketpair ctx.tid=7 family=1 type=1 protocol=0\n"
		"3 0 syscall_exit_socketpair ctx.tid=7 ret=0 socket[0]=5 socket[1]=6\n"
		"4 0 syscall_entry_write ctx.tid=7 fd=6 count=10\n"
		"5 0 syscall_exit_write ctx.tid=7 ret=10\n", subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&(struct model_options){ 0 });
	struct blk_batch batch;
	while (source_next(s, &batch, &error) == SOURCE_OK)
		model_feed(m, &s->tables, batch.ev, batch.n);
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, model_publish(m, true));
	const struct file_info *file = find_file(tl, "socketpair");
	g_assert_nonnull(file);
	g_assert_cmpint(file->kind, ==, FILE_SOCKET);
	timeline_free(tl);
	model_free(m);
	source_free(s);
}

/* A long sleep: each publication but the last closes what its bound allows, and none closes a second twice. */
static void test_closing(void)
{
	g_autoptr(GError) error = NULL;
	size_t n, published = 0;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	blk_source *s = source_open_script(
		"1 0 sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"a\" next_comm=\"swapper/0\"\n"
		"30000000001 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" "
			"next_comm=\"a\"\n",
		subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&(struct model_options){ .step_ns = 10000000, .closing_bytes = 20000 });
	struct blk_batch batch;
	while (source_next(s, &batch, &error) == SOURCE_OK)
		model_feed(m, &s->tables, batch.ev, batch.n);
	struct timeline *tl = timeline_new(0);
	while (model_has_backlog(m)) {
		struct publication *p = model_publish(m, false);
		g_assert_cmpuint(p->seconds->len, >, 0);
		g_assert_cmpuint(p->seconds->len, <, 200);
		published += p->seconds->len;
		timeline_apply(tl, p);
	}
	g_assert_cmpuint(published, >=, 2900);
	g_assert_cmpuint(published, ==, timeline_n_seconds(tl));
	timeline_apply(tl, model_publish(m, true));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 3001);
	timeline_free(tl);
	model_free(m);
	source_free(s);
}

/* Live, with a bound: what comes faster than it is published asks for that. */
static void test_live_full(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) script = g_string_new(NULL);
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	for (int i = 1; i <= 60; i++)
		g_string_append_printf(script, "%d500000000 0 sched_switch prev_tid=0 prev_state=0 "
			"next_tid=7 prev_comm=\"swapper/0\" next_comm=\"a\"\n", i);
	blk_source *s = source_open_script(script->str, subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(&(struct model_options){ .live = true, .memory_budget = 1 << 20 });
	unsigned published = 0;
	struct blk_batch batch;
	while (source_next(s, &batch, &error) == SOURCE_OK) {
		for (size_t i = 0; i < batch.n; i++) {
			model_feed(m, &s->tables, &batch.ev[i], 1);
			g_assert_true(!model_is_full(m) || published);
			if (published && !model_is_full(m))
				continue;
			struct publication *p = model_publish(m, false);
			g_assert_false(model_is_full(m));
			published += p != NULL;
			if (p)
				publication_free(p);
		}
	}
	g_assert_cmpuint(published, >=, 5);
	g_assert_cmpuint(published, <=, 8);
	model_free(m);
	source_free(s);
}

/* Live, seconds with many cells: as few as fit can be corrected, at least three. Without a bound, two minutes. */
static void test_live_large_seconds(void)
{
	enum { SECONDS = 60, THREADS = 300 };
	g_autoptr(GString) script = g_string_new(NULL);
	for (int i = 0; i < SECONDS * THREADS; i++)
		g_string_append_printf(script, "%d%09d 0 syscall_entry_getppid ctx.tid=%d\n"
				       "%d%09d 0 syscall_exit_getppid ctx.tid=%d ret=1\n", 1 + i / THREADS,
				       i % THREADS * 1000, 100 + i % THREADS, 1 + i / THREADS, i % THREADS * 1000 + 500,
				       100 + i % THREADS);
	struct recording *r = traces_record_script(script->str);
	size_t most[2] = { 0 };
	for (unsigned bounded = 0; bounded < 2; bounded++) {
		struct model_options options = { .live = true, .memory_budget = bounded ? 1 << 20 : 0 };
		struct model *m = model_new(&options);
		uint64_t calls = 0;
		for (size_t k = 0; k < recording_n(r); k++) {
			model_feed(m, recording_tables(r), recording_event(r, k), 1);
			bool last = k + 1 == recording_n(r);
			struct publication *p = k % THREADS && !last ? NULL : model_publish(m, last);
			for (guint i = 0; p && i < p->seconds->len; i++) {
				const struct second *second = g_ptr_array_index(p->seconds, i);
				for (uint32_t c = 0; c < second->n_calls; c++)
					calls += second->version == 1 ? hist_count(&second->calls[c].latency) : 0;
			}
			g_clear_pointer(&p, publication_free);
			most[bounded] = MAX(most[bounded], model_bytes(m));
		}
		g_assert_cmpuint(calls, ==, SECONDS * THREADS);
		model_free(m);
	}
	g_assert_cmpuint(most[0], >, 4 * most[1]);
	recording_free(r);
}

/* A clock that lies, or a day in which nothing happens: each thread that sleeps meanwhile is charged with
 * all of it, in one second, not in one for each. */
static void test_long_void(void)
{
	g_autoptr(GString) script = g_string_new(NULL);
	const int64_t begin = STEP, day = 80000 * STEP;
	for (int tid = 1; tid <= 100; tid++)
		g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 sched_switch ctx.tid=%d prev_tid=%d "
				       "prev_state=1 next_tid=%d\n", begin + tid, tid, tid, tid + 1);
	g_autofree char *horizon = g_strdup_printf("%s%" G_GINT64_FORMAT " 0 !horizon\n", script->str, day);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 sched_switch ctx.tid=101 prev_tid=101 prev_state=1 "
			       "next_tid=0\n", day);
	/* Then comes an event; or live, where nobody knows what a silent kernel did, a horizon; or the end of a stream
	 * that is told then. */
	const char *const scripts[] = { script->str, horizon, horizon };
	for (size_t i = 0; i < G_N_ELEMENTS(scripts); i++) {
		struct recording *r = traces_record_script(scripts[i]);
		struct model *m = model_new(&(struct model_options){ .live = i > 0 });
		g_autoptr(blk_timeline) tl = timeline_new(0);
		for (size_t k = 0; k < recording_n(r); k++) {
			struct blk_event e = *recording_event(r, k);
			if (e.row == BLK_ROW_STREAM_END)
				e.ts = day;
			if (i == 1 ? e.row != BLK_ROW_STREAM_END : e.row != BLK_ROW_HORIZON)
				model_feed(m, recording_tables(r), &e, 1);
		}
		timeline_apply(tl, model_publish(m, i == 2));
		g_assert_cmpuint(timeline_n_seconds(tl), ==, i < 2 ? 2 : 1);
		const struct second *last = timeline_second(tl, timeline_n_seconds(tl) - 1);
		const int64_t begins[] = { 2 * STEP, day - STEP, begin + 1 };
		g_assert_cmpint(last->begin_ns, ==, begins[i]);
		for (uint32_t k = 0; i == 0 && k < last->n_threads; k++)
			if (timeline_thread(tl, last->threads[k].thread)->tid <= 100)
				g_assert_cmpint(last->threads[k].part[PART_OTHER], ==, day - last->begin_ns);
		model_free(m);
		recording_free(r);
	}
}

/* A live session ends where its records end, as if it was recorded, however long its relay says that nothing came. */
static void test_live_end(void)
{
	static const char script[] = "1000000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
				     "1700000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n"
				     "2300000000 0 !horizon\n";
	struct recording *r = traces_record_script(script);
	for (int live = 0; live < 2; live++) {
		struct model *m = model_new(&(struct model_options){ .live = live });
		g_autoptr(blk_timeline) tl = timeline_new(0);
		int64_t first, last;
		for (size_t i = 0; i < recording_n(r); i++) {
			struct blk_event e = *recording_event(r, i);
			if (e.row == BLK_ROW_STREAM_END && live)
				e.ts = 2400000000;
			if (e.row != BLK_ROW_HORIZON || live)
				model_feed(m, recording_tables(r), &e, 1);
		}
		timeline_apply(tl, model_publish(m, true));
		g_assert_true(timeline_coverage(tl, &first, &last));
		g_assert_cmpint(last, ==, 1700000000);
		g_assert_cmpuint(timeline_n_seconds(tl), ==, 1);
		const struct second *s = timeline_second(tl, 0);
		g_assert_cmpuint(s->n_cpus, ==, 1);
		g_assert_cmpint(s->cpus[0].run_ns, ==, 700000000);
		g_assert_cmpint(s->cpus[0].idle_ns + s->cpus[0].unknown_ns, ==, 0);
		model_free(m);
	}
	recording_free(r);
}

/* Live, events without a row that came too late: they are counted, and the coverage still begins where it
 * began; what was before is no time that could be charged. */
static void test_late_tally(void)
{
	static const char script[] = "200000000000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
				     "200001000000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n";
	struct recording *r = traces_record_script(script);
	struct model *m = model_new(&(struct model_options){ .live = true });
	g_autoptr(blk_timeline) tl = timeline_new(0);
	const struct blk_tally tally = { .second = 1, .count = 5, .last_ns = 1500000000 };
	int64_t first, last;
	for (size_t i = 0; i < recording_n(r); i++) {
		struct blk_event e = *recording_event(r, i);
		model_feed(m, recording_tables(r), &e, 1);
		e.row = BLK_ROW_TALLY;
		e.data = (const uint8_t *)&tally;
		e.layout = NULL;
		if (recording_event(r, i)->layout)
			model_feed(m, recording_tables(r), &e, 1);
	}
	timeline_apply(tl, model_publish(m, true));
	g_assert_true(timeline_coverage(tl, &first, &last));
	g_assert_cmpint(first, ==, INT64_C(200000000000000));
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 2);
	g_assert_cmpint(timeline_second(tl, 0)->begin_ns, ==, first);
	g_assert_cmpuint(timeline_n_events(tl), ==, 2 + 2 * 5);
	model_free(m);
	recording_free(r);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"kernel-ust/trace", "demo/trace", "lost/trace", "rotation/trace", "kernel-small/trace",
		"ctf2/lost/trace",
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		if (traces_too_long(names[i]))
			continue;
		g_autofree char *path = g_strdup_printf("/model/run/%s", names[i]);
		g_test_add_data_func(path, names[i], test_run);
		g_autofree char *pieces = g_strdup_printf("/model/pieces/%s", names[i]);
		g_test_add_data_func(pieces, names[i], test_pieces);
	}
	g_test_add_func("/model/horizon", test_horizon);
	g_test_add_func("/model/soft-second", test_provisional_second);
	g_test_add_func("/model/long-void", test_long_void);
	g_test_add_func("/model/late-tally", test_late_tally);
	g_test_add_func("/model/live-end", test_live_end);
	g_test_add_func("/model/host-over", test_host_over);
	g_test_add_func("/model/pause", test_pause);
	g_test_add_func("/model/silent-thread", test_silent_thread);
	g_test_add_func("/model/silent-programs", test_silent_programs);
	g_test_add_func("/model/offline-cpu", test_offline_cpu);
	g_test_add_func("/model/thread-ends", test_thread_ends);
	g_test_add_func("/model/socketpair", test_socketpair);
	g_test_add_func("/model/closing", test_closing);
	g_test_add_func("/model/live-full", test_live_full);
	g_test_add_func("/model/live-large-seconds", test_live_large_seconds);
	return g_test_run();
}
