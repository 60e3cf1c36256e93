/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The laws of slices, on real recordings: cut anywhere, stitched in any order, the
 * report is the same byte for byte.
 *
 * BLKTOP_LAWS_ROUNDS: how many random cuts of each recording (default 1; with the address sanitizer into up to 32
 * pieces).
 * BLKTOP_LAWS_PIECES: into how many pieces, instead of random numbers.
 * BLKTOP_LAWS_DUMP: a directory for both reports when they differ.
 */
#include "lib/inspect.h"
#include "lib/sources.h"
#include "lib/report.h"
#include "lib/traces.h"

#include "state/publish/model.h"
#include "state/spans/rules.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"
#include "views/needs.h"
#include "views/view.h"

#define STEP INT64_C(1000000000)

/* ---- cutting at instants ---- */

struct open_loss { unsigned stream; struct blk_loss loss; };

/* Windows of lost events that are open before record `at`. */
static GArray *losses_open_at(const struct recording *r, size_t at)
{
	GArray *open = g_array_new(false, false, sizeof(struct open_loss));
	for (size_t i = 0; i < at; i++) {
		const struct blk_event *e = recording_event(r, i);
		if (e->row == BLK_ROW_LOST_BEGIN) {
			struct open_loss o = { .stream = e->stream };
			memcpy(&o.loss, e->data, sizeof o.loss);
			g_array_append_val(open, o);
		} else if (e->row == BLK_ROW_LOST_END) {
			for (guint k = 0; k < open->len; k++)
				if (g_array_index(open, struct open_loss, k).stream == e->stream) {
					g_array_remove_index(open, k);
					break;
				}
		}
	}
	return open;
}

/* The slice of records [from, to). */
static struct slice *slice_of(const struct recording *r, size_t from, size_t to, bool from_start)
{
	struct slice *s = slice_new(from_start, STEP);
	g_autoptr(GArray) lost = from ? losses_open_at(r, from) : NULL;
	for (guint i = 0; lost && i < lost->len; i++) {
		const struct open_loss *o = &g_array_index(lost, struct open_loss, i);
		slice_begin_lost(s, recording_tables(r), o->stream, &o->loss);
	}
	for (size_t i = from; i < to; i++)
		slice_feed(s, recording_tables(r), recording_event(r, i), 1);
	return s;
}

static int size_order(gconstpointer a, gconstpointer b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

/* Record numbers at which an instant begins: 0, n - 1 random ones, the end. */
static GArray *random_cuts(const struct recording *r, unsigned n)
{
	GArray *cuts = g_array_new(false, false, sizeof(size_t));
	size_t zero = 0, end = recording_n(r);
	g_array_append_val(cuts, zero);
	for (unsigned i = 1; i < n && end > 1; i++) {
		size_t at = (size_t)g_test_rand_int_range(1, (gint32)MIN(end, G_MAXINT32));
		while (at < end && recording_event(r, at)->ts == recording_event(r, at - 1)->ts)
			at++;
		g_array_append_val(cuts, at);
	}
	g_array_append_val(cuts, end);
	g_array_sort(cuts, size_order);
	return cuts;
}

/* Stitches neighbours in random order until one is left. */
static struct slice *random_tree(GPtrArray *slices)
{
	while (slices->len > 1) {
		guint i = (guint)g_test_rand_int_range(0, (gint32)slices->len - 1);
		g_ptr_array_index(slices, i) = slice_stitch(g_ptr_array_index(slices, i),
							    g_ptr_array_index(slices, i + 1));
		g_ptr_array_remove_index(slices, i + 1);
	}
	return g_ptr_array_index(slices, 0);
}

static unsigned rounds(void)
{
	const char *env = g_getenv("BLKTOP_LAWS_ROUNDS");
	return env ? (unsigned)g_ascii_strtoull(env, NULL, 10) : 1;
}

static void check_cuts(const char *data, struct recording *r)
{
	g_autofree char *whole = report_of_slice(slice_of(r, 0, recording_n(r), true));
	g_assert_cmpuint(strlen(whole), >, 1000);
	for (unsigned round = 0; round < rounds() && !g_test_failed(); round++) {
		bool many = rounds() == 1 || (round && round % 2 == 0);
		unsigned n = many ? (unsigned)g_test_rand_int_range(2, 33) : round == 0 ? 1 : 2;
		const char *pieces = g_getenv("BLKTOP_LAWS_PIECES");
		if (pieces)
			n = (unsigned)g_ascii_strtoull(pieces, NULL, 10);
		g_autoptr(GArray) cuts = random_cuts(r, n);
		g_autoptr(GPtrArray) slices = g_ptr_array_new();
		bool from_start = g_test_rand_bit();
		for (guint i = 0; i + 1 < cuts->len; i++)
			g_ptr_array_add(slices, slice_of(r, g_array_index(cuts, size_t, i),
							 g_array_index(cuts, size_t, i + 1),
							 from_start && !i));
		g_autofree char *got = report_of_slice(slice_root(random_tree(slices)));
		g_autofree char *what = g_strdup_printf("%s in %u pieces, the first cuts at %zu %zu",
			data, n, g_array_index(cuts, size_t, 1),
			g_array_index(cuts, size_t, MIN(cuts->len - 1, 2)));
		report_assert_equal(what, whole, got);
	}
}

static void test_cuts(gconstpointer data)
{
	struct recording *r = traces_record(data);
	if (!r)
		return;
	check_cuts(data, r);
	recording_free(r);
}

/* Which of all ways to cut a script are tried: in two at each place, and some hundred of the others. All: with ALL=1,
 * as in make check-long. */
#ifdef __SANITIZE_ADDRESS__
#define CUT_STRIDE 23
#else
#define CUT_STRIDE (g_getenv("ALL") ? 1 : 7)
#endif
#define MOST_CUTS 300

static bool is_tried(unsigned cuts, unsigned all)
{
	unsigned stride = CUT_STRIDE == 1 ? 1 : MAX(CUT_STRIDE, all / MOST_CUTS | 1);	/* odd: each place is cut */
	return !(cuts & (cuts - 1)) || cuts % stride == 0;
}

#define SILENCE_NS 20000000
#define LONG_NS 500000000
#define MS "000000"		/* in scripts */

/* Two sessions of one machine, one after the other: what ran at the end of the first one did
 * not run until the second began, wherever in between it is cut. */
static void test_silences(void)
{
	struct recording *r = traces_record("lost");
	g_autofree char *whole = report_of_slice(slice_of(r, 0, recording_n(r), true));
	unsigned found = 0, tried = 0, n_gaps = 0;
	for (size_t i = 1; i < recording_n(r); i++) {
		const struct blk_event *e = recording_event(r, i);
		if (e->row == BLK_ROW_LOST_END && ((const struct blk_loss *)e->data)->silence)
			found++;
		int64_t gap_ns = e->ts - recording_event(r, i - 1)->ts;
		/* of the short ones every third; between the sessions is a long one */
		if (gap_ns < SILENCE_NS || (gap_ns < LONG_NS && CUT_STRIDE > 1 && n_gaps++ % 3))
			continue;
		for (size_t at = MAX(i, 3) - 2; at <= i + 2 && at < recording_n(r) && !g_test_failed();
		     at += MIN(CUT_STRIDE, 4)) {
			if (recording_event(r, at)->ts == recording_event(r, at - 1)->ts)
				continue;
			struct slice *s = slice_stitch(slice_of(r, 0, at, true),
						       slice_of(r, at, recording_n(r), false));
			g_autofree char *got = report_of_slice(slice_root(s));
			g_autofree char *what = g_strdup_printf("lost cut at %zu", at);
			report_assert_equal(what, whole, got);
			tried++;
		}
	}
	g_assert_cmpuint(found, ==, 2);		/* of each CPU */
	g_assert_cmpuint(tried, >, 4);
	recording_free(r);
}

/* The times of all CPUs and threads in each second, as text. */
static char *times_of(const struct recording *r)
{
	struct timeline *tl = timeline_new(0);
	struct model *m = model_new(&(struct model_options){ 0 });
	GString *text = g_string_new(NULL);
	model_feed(m, recording_tables(r), recording_event(r, 0), recording_n(r));
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		int64_t part[PART_N] = { 0 };
		for (uint32_t k = 0; k < s->n_threads; k++)
			for (unsigned p = 0; p < PART_N; p++)
				part[p] += s->threads[k].part[p];
		g_string_append_printf(text, "%" G_GINT64_FORMAT ": ran %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT,
				       s->begin_ns, s->totals.run_ns, s->totals.known_ns);
		for (unsigned p = 0; p < PART_N; p++)
			g_string_append_printf(text, " %s %" G_GINT64_FORMAT, part_info[p].id, part[p]);
		g_string_append_printf(text, ", %" G_GSIZE_FORMAT " spans\n", timeline_n_spans(tl));
	}
	timeline_free(tl);
	return g_string_free(text, false);
}

/* With every event counted by thread; the times of CPUs and threads are what they are without. */
static void test_counting(gconstpointer data)
{
	struct recording *r = traces_record_counting(data), *usual = traces_record(data);
	if (!r)
		return;
	g_autofree char *expected = times_of(usual), *got = times_of(r);
	report_assert_equal(data, expected, got);
	check_cuts(data, r);
	recording_free(usual);
	recording_free(r);
}

/* ---- what one left behind ---- */

/* Cuts it in the ways of CUT_STRIDE; returns the report. */
static char *cuts_of(const char *name, const char *script, bool between)
{
	struct recording *r = traces_record_script(script);
	unsigned never = 0;
	char *whole = report_of_slice(slice_of(r, 0, recording_n(r), true));
	size_t end = recording_n(r);
	g_assert_cmpuint(end, <, 18);
	for (size_t i = 1; between && i < end; i++)
		never |= (unsigned)(recording_event(r, i)->ts == recording_event(r, i - 1)->ts) << (i - 1);
	for (unsigned cuts = 0; cuts < 1u << (end - 1); cuts++) {
		if (cuts & never || !is_tried(cuts, 1u << (end - 1)))
			continue;
		g_autoptr(GPtrArray) slices = g_ptr_array_new();
		for (size_t from = 0, i = 1; i <= end; i++)
			if (i == end || cuts >> (i - 1) & 1) {
				g_ptr_array_add(slices, slice_of(r, from, i, false));
				from = i;
			}
		g_autofree char *got = report_of_slice(slice_root(random_tree(slices)));
		g_autofree char *what = g_strdup_printf("%s cut at %#x", name, cuts);
		report_assert_equal(what, whole, got);
	}
	recording_free(r);
	return whole;
}

static char *every_cut(const char *name, const char *script)
{
	return cuts_of(name, script, false);
}

/* The same between instants only, as the readers cut. */
static char *cut_between(const char *name, const char *script)
{
	return cuts_of(name, script, true);
}

/* What a CPU counts is the task's that leaves it, wherever it is cut; what it counted while
 * events were lost is nobody's; a counter that begins anew goes on from there. */
static void test_counters(void)
{
	g_autofree char *report = every_cut("counters",
		"10 0 sched_switch ctx.perf_cpu_cycles=1000 prev_tid=7 prev_state=0 next_tid=8\n"
		"20 0 x86_exceptions_page_fault_user ctx.tid=8 address=4096\n"
		"25 0 my_probe ctx.tid=8 ip=4711\n"
		"30 0 sched_switch ctx.perf_cpu_cycles=1500 prev_tid=8 prev_state=1 next_tid=0\n"
		"40 0 sched_switch ctx.perf_cpu_cycles=1600 prev_tid=0 prev_state=0 next_tid=7\n"
		"60 0 !lost begin=50 end=60 events=5\n"
		"70 0 sched_switch ctx.perf_cpu_cycles=9600 prev_tid=9 prev_state=1 next_tid=8\n"
		"80 0 sched_switch ctx.perf_cpu_cycles=50 prev_tid=8 prev_state=1 next_tid=7\n"
		"90 0 sched_switch ctx.perf_cpu_cycles=80 prev_tid=7 prev_state=1 next_tid=8\n");
	/* thread 8: 500; idle: 100; nobody: 8000; thread 7: 30 */
	g_assert_nonnull(strstr(report, ",8,,cycles,cpu,500,"));
	g_assert_nonnull(strstr(report, ",,idle,cycles,cpu,100,"));
	g_assert_nonnull(strstr(report, ",,,cycles,cpu,8000,"));
	g_assert_nonnull(strstr(report, ",7,,cycles,cpu,30,"));
	g_assert_nonnull(strstr(report, ",8,,x86_exceptions_page_fault_user,page fault,1,"));
	g_assert_nonnull(strstr(report, ",8,,my_probe,probe,1,"));
}

/* Another task runs and nobody saw the switch: what user space told until then is the old
 * task's, whoever sees only the right half. */
static void test_untold_switch(void)
{
	static const char *const next[] = { "0", "9" };
	for (size_t i = 0; i < G_N_ELEMENTS(next); i++) {
		g_autofree char *script = g_strdup_printf(
			"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
			"20 0 syscall_entry_getpid ctx.tid=7\n"
			"30 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 "
			"span_id=2 parent_span_id=0 event=\"sr\" ctx.vtid=7 ctx.vpid=7\n"
			"45 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 "
			"span_id=2 parent_span_id=0 event=\"ss\" ctx.vtid=7 ctx.vpid=7\n"
			"50 0 irq_softirq_raise ctx.tid=%s vec=1\n"
			"60 0 syscall_entry_read ctx.tid=%s fd=3 count=8\n"
			"65 1 sched_wakeup ctx.tid=5 tid=%s\n"
			"70 0 sched_switch prev_tid=%s prev_state=1 next_tid=8\n"
			"90 0 sched_switch prev_tid=8 prev_state=1 next_tid=7\n",
			next[i], next[i], next[i], next[i]);
		g_autofree char *report = every_cut("untold switch", script);
		g_assert_nonnull(strstr(report, "req"));
	}
}

/* It left its CPU unseen within a call, and something was lost meanwhile: nobody knows whether the exit is
 * that call's. Without the loss it is. */
static void test_untold_loss(void)
{
	static const char *const losses[] = { "", "30 1 !lost begin=30 end=50 events=5\n" };
	for (size_t i = 0; i < G_N_ELEMENTS(losses); i++) {
		g_autofree char *script = g_strdup_printf(
			"5 1 sched_switch prev_tid=8 prev_state=1 next_tid=0\n"
			"10 0 syscall_entry_read ctx.tid=7 fd=3 count=8\n"
			"20 0 syscall_entry_getpid ctx.tid=9\n"
			"%s"
			"60 0 syscall_exit_read ctx.tid=7 ret=8\n"
			"70 0 sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0\n", losses[i]);
		g_autofree char *report = every_cut("untold loss", script);
		if (!strstr(report, ",7,,read,1,") != (i == 1))
			g_error("%zu: %s", i, strstr(report, "\nsyscalls "));
	}
}

/* What a thread does is lost; then its call, its program's events and its switch are seen again. */
static void test_seen_again(void)
{
#define REQ(at, event) at " 1 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 " \
			   "parent_span_id=0 event=\"" event "\" ctx.vtid=9 ctx.vpid=9\n"
	g_autofree char *report = every_cut("seen again",
		"5 1 sched_switch prev_tid=8 prev_state=1 next_tid=9\n"
		"10 1 u:my:b k=2 ctx.vtid=9 ctx.vpid=9\n"
		"20 1 !lost begin=18 end=20 events=5\n"
		"25 1 syscall_entry_read ctx.tid=9 fd=3 count=8\n"
		REQ("30", "sr")
		"40 0 sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=8\n");
	g_assert_nonnull(strstr(report, "req"));
#undef REQ
}

/* Calls at the very instant at which a span begins or ends, in either order. */
static void test_same_instant(void)
{
#define CLOSE(at) at " 1 syscall_entry_close ctx.tid=9 fd=3\n" at " 1 syscall_exit_close ctx.tid=9 ret=0\n"
#define SPAN_AT(at, id, event) at " 1 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=" id \
			       " span_id=4 parent_span_id=0 event=\"" event "\" ctx.vtid=9 ctx.vpid=9\n"
#define RUNS "5 1 sched_switch prev_tid=8 prev_state=1 next_tid=9\n"
	static const struct { const char *script; bool listed; } cases[] = {
		{ RUNS CLOSE("10") SPAN_AT("10", "1", "sr") CLOSE("20") SPAN_AT("20", "1", "ss"), false },
		{ RUNS SPAN_AT("30", "1", "sr") CLOSE("30") SPAN_AT("40", "1", "ss") CLOSE("40"), false },
		{ RUNS SPAN_AT("50", "1", "sr") CLOSE("60") SPAN_AT("60", "2", "sr") SPAN_AT("70", "2", "ss")
		  CLOSE("70") SPAN_AT("80", "1", "ss"), true },
		{ RUNS SPAN_AT("50", "1", "sr") SPAN_AT("60", "2", "sr") CLOSE("60") CLOSE("70")
		  SPAN_AT("70", "1", "ss") SPAN_AT("70", "2", "ss") CLOSE("70"), true },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *report = cut_between("same instant", cases[i].script);
		g_assert_true(cases[i].listed == (strstr(report, "{\"syscall\":\"close\"") != NULL));
	}
#undef RUNS
#undef SPAN_AT
#undef CLOSE
}

/* A CPU that tells nothing until a task that slept elsewhere turns up on it, of which nobody saw
 * the switch (a trace of one process; a stream that begins later): it did not run there since the
 * trace's begin. */
static void test_untold_begin(void)
{
	g_autofree char *report = every_cut("untold begin",
		"1" MS " 1 syscall_entry_read ctx.tid=7 fd=3 count=8\n"
		"2" MS " 1 sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0\n"
		"5" MS " 0 syscall_exit_read ctx.tid=7 ret=8\n"
		"6" MS " 0 syscall_entry_nanosleep ctx.tid=7\n"
		"7" MS " 0 sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0\n");
	/* It ran in [1, 2) ms and from 5 ms on, and waited in between. */
	g_assert_nonnull(strstr(report, ",7,,,3" MS ",1" MS ",2" MS ",,,,3" MS ",0,1,8,"));
	g_assert_nonnull(strstr(report, ",0,2" MS ",0,4" MS ","));	/* CPU 0: 4 ms are not known */
}

/* ---- events of two CPUs in the wrong order ---- */

/* A thread moves from CPU 0 to CPU 1 at 3 ms, and is switched in there before it is switched out here. It was in user
 * mode, or called: its entry is stamped after the exit. %s: the instants of these events. */
static void test_ahead(void)
{
	static const char *const moves[] = {
		"3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3000001 0 sched_switch prev_tid=7 prev_state=256 next_tid=8\n",
		"3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3000000 0 sched_switch prev_tid=7 prev_state=256 next_tid=8\n",
		"3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3000100 1 syscall_exit_read ctx.tid=7 ret=8\n"
		"3000200 0 syscall_entry_read ctx.tid=7 fd=3 count=8\n"
		"3000300 2 sched_migrate_task ctx.tid=0 tid=7 orig_cpu=0 dest_cpu=1\n"
		"3000400 0 sched_switch prev_tid=7 prev_state=256 next_tid=8\n",
		"2999999 2 sched_waking ctx.tid=0 tid=7 target_cpu=1\n"
		"3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3002000 0 sched_switch prev_tid=7 prev_state=1 next_tid=8\n",
		"3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3001000 0 sched_switch prev_tid=7 prev_state=1 next_tid=8\n"
		"3003000 2 sched_waking ctx.tid=0 tid=7 target_cpu=1\n",
		/* on CPU 1 for 500 ns only, and on CPU 2 from then on */
		"3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3000500 1 sched_switch prev_tid=7 prev_state=256 next_tid=0\n"
		"3000600 2 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3000700 0 sched_switch prev_tid=7 prev_state=256 next_tid=8\n",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(moves); i++) {
		g_autofree char *script = g_strdup_printf(
			"1" MS " 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
			"%s"
			"7" MS " %d sched_switch prev_tid=7 prev_state=1 next_tid=0\n"
			"8" MS " 0 sched_switch prev_tid=8 prev_state=1 next_tid=0\n",
			moves[i], i == 5 ? 2 : 1);
		g_autofree char *report = every_cut(moves[i], script);
		/* on a CPU from 1 to 7 ms, then blocked; of the last one 100 ns between two CPUs */
		g_assert_nonnull(strstr(report, i == 5 ? "\nlocalhost,,7,,,5999900," : "\nlocalhost,,7,,,6000000,"));
	}
}

/* A thread is switched in on one CPU after the other within 10 us, and its switch-outs are missing, or some are late:
 * it ran on each CPU until the next one. The last switch, of another CPU, only ends the trace. */
static void test_moves_in_a_row(void)
{
	static const struct { const char *moves, *row; } each[] = {
		{ "3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000500 2 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000600 3 sched_switch prev_tid=0 prev_state=0 next_tid=7\n", "\nlocalhost,,7,,,8000000," },
		/* at equal instants; in a call */
		{ "2000000 0 syscall_entry_read ctx.tid=7 fd=3 count=8\n"
		  "3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000000 2 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000000 3 sched_switch prev_tid=0 prev_state=0 next_tid=7\n", "\nlocalhost,,7,,,8000000," },
		/* the switch-out of CPU 1 comes last, and its instant is that of CPU 2's switch-in */
		{ "3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000500 2 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000600 3 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000700 1 sched_switch prev_tid=7 prev_state=256 next_tid=0\n", "\nlocalhost,,7,,,8000000," },
		/* blocked on the last one */
		{ "3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000500 2 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "3000600 3 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		  "5000600 3 sched_switch prev_tid=7 prev_state=1 next_tid=0\n", "\nlocalhost,,7,,,4000600," },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		g_autofree char *script = g_strdup_printf(
			"1" MS " 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
			"%s"
			"9" MS " 4 sched_switch prev_tid=0 prev_state=0 next_tid=0\n", each[i].moves);
		g_autofree char *report = every_cut(each[i].moves, script);
		if (!strstr(report, each[i].row))
			g_test_message("%zu: %s", i, report);
		g_assert_nonnull(strstr(report, each[i].row));
	}
}

/* Blocked at 3 ms, woken at 5 ms by CPU 1, back at 9 ms. The wakeup is stamped before the switch-out: then it is
 * runnable from that on. Woken after the switch-in: at that instant. */
static void test_woken_out_of_order(void)
{
	static const struct { unsigned before; const char *at, *row; } wakes[] = {	/* .before: this switch */
		{ 1, "2999990", "\nlocalhost,idle,,7,,1,6000000," },
		{ 1, "3000000", "\nlocalhost,idle,,7,,1,6000000," },
		{ 1, "2500000", "\nlocalhost,idle,,7,,1,6000000," },
		{ 2, "5000000", "\nlocalhost,idle,,7,,1,4000000," },
		{ 3, "9002000", "\nlocalhost,idle,,7,,1,0," },
	};
	static const char *const switches[] = {
		"1" MS " 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n",
		"3" MS " 0 sched_switch prev_tid=7 prev_state=1 next_tid=8\n",
		"9" MS " 0 sched_switch prev_tid=8 prev_state=256 next_tid=7\n",
		"12" MS " 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n",
		"13" MS " 1 sched_switch prev_tid=0 prev_state=0 next_tid=0\n",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(wakes); i++) {
		g_autoptr(GString) script = g_string_new(NULL);
		for (unsigned k = 0; k < G_N_ELEMENTS(switches); k++) {
			if (k == wakes[i].before)
				g_string_append_printf(script, "%s 1 sched_waking ctx.tid=0 tid=7 target_cpu=0\n",
						       wakes[i].at);
			g_string_append(script, switches[k]);
		}
		g_autofree char *report = every_cut(wakes[i].at, script->str);
		g_assert_nonnull(strstr(report, wakes[i].row));
	}
}

/* A child runs on CPU 1 before it was forked on CPU 0. */
static void test_child_ahead(void)
{
	struct recording *r = traces_record_script(
		"1" MS " 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"3000000 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		"3000800 1 syscall_exit_clone ctx.tid=9 ret=0\n"
		"3001000 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=9 child_comm=\"a\"\n"
		"3001500 0 sched_wakeup_new ctx.tid=7 tid=9 target_cpu=1\n"
		"7" MS " 1 sched_switch prev_tid=9 prev_state=1 next_tid=0\n"
		"8" MS " 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n");
	g_autofree char *report = report_of_slice(slice_of(r, 0, recording_n(r), true));
	/* born at 3 ms, 4 ms on a CPU, then blocked; nothing is unknown */
	g_assert_nonnull(strstr(report, "\nlocalhost,9,9,7,a,4000000,"));
	g_assert_nonnull(strstr(report, ",1000000,0,,,,3000000,,"));
	recording_free(r);
}

/* Nothing is recorded for minutes, then for five days: of a thread that is seen after that only what
 * was recorded is not known; a call goes on for minutes, and nothing for days. */
static void test_voids(void)
{
	g_autofree char *report = every_cut("voids",
		"1000000000 0 syscall_entry_poll ctx.tid=7\n"
		"2000000000 0 sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0\n"
		"182000000000 0 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=7\n"
		"183000000000 0 syscall_exit_poll ctx.tid=7 ret=0\n"
		"184000000000 0 sched_switch ctx.tid=7 prev_tid=7 prev_state=1 next_tid=0\n"
		"432184000000000 0 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=9\n"
		"432185000000000 0 sched_switch ctx.tid=9 prev_tid=9 prev_state=1 next_tid=0\n");
	/* Blocked for 180 s and 2 s, of which the first were recorded by nobody else. */
	g_assert_nonnull(strstr(report, "\nlocalhost,,7,,,3000000000,1000000000,2000000000,,,,182000000000,0,"));
	/* Not known: the seconds with records, before it was seen. */
	g_assert_nonnull(strstr(report, "\nlocalhost,,9,,,1000000000,1000000000,0,,,,0,5000000000,"));
	g_assert_nonnull(strstr(report, "\nlocalhost,0,4000000000,181000000000,0,"));
}

/* User space tells of itself on a CPU that idles, says the kernel. */
static void test_idle_tells(void)
{
	g_free(every_cut("idle tells",
		"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=50\n"
		"20 0 sched_switch prev_tid=50 prev_state=1 next_tid=0\n"
		"35 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 "
		"span_id=2 parent_span_id=0 event=\"sr\" ctx.vtid=7 ctx.vpid=7 ctx.procname=\"g\" ctx.hostname=\"h\"\n"
		"40 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 "
		"span_id=2 parent_span_id=0 event=\"ss\" ctx.vtid=7 ctx.vpid=7 ctx.procname=\"g\" ctx.hostname=\"h\"\n"
		"50 0 sched_switch prev_tid=0 prev_state=0 next_tid=50\n"
		"60 0 sched_switch prev_tid=50 prev_state=1 next_tid=0\n"));
}

/* A request that was never completed, and its like begun again: whoever saw only the
 * second one through knows that the first is gone. */
static void test_request_again(void)
{
	g_free(every_cut("requests",
		"10 0 block_rq_issue dev=1 sector=8 rwbs=0 nr_sector=8 bytes=4096\n"
		"20 0 block_rq_issue dev=1 sector=8 rwbs=0 nr_sector=8 bytes=512\n"
		"30 0 block_rq_complete dev=1 sector=8 rwbs=0 error=0\n"
		"40 0 block_rq_complete dev=1 sector=8 rwbs=0 error=0\n"
		"50 0 block_rq_issue dev=1 sector=8 rwbs=0 nr_sector=8 bytes=1024\n"
		"60 0 block_rq_complete dev=1 sector=8 rwbs=0 error=0\n"));
}

/* A pid that is given away again: who had it ended, though nobody saw that. */
static void test_born_again(void)
{
	g_autofree char *report = every_cut("born again",
		"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"15 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=9 child_comm=\"a\"\n"
		"20 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		"25 1 syscall_entry_read ctx.tid=9 fd=3 count=8\n"
		"30 1 sched_switch prev_tid=9 prev_state=1 next_tid=0\n"
		"50 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=9 child_comm=\"b\"\n"
		"60 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		"80 1 sched_switch prev_tid=9 prev_state=1 next_tid=0\n");
	g_assert_nonnull(strstr(report, ",9,9,7,a,10,0,10,,,,20,0,0,0,0,15,50,"));
	g_assert_nonnull(strstr(report, ",9,9,7,b,20,0,20,,,,0,0,0,0,0,50,,"));
}

#define FORKED "10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n" \
	"12 0 syscall_entry_clone ctx.tid=7\n14 0 sched_waking tid=8 target_cpu=0\n" \
	"15 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=9 child_comm=\"a\"\n"

/* A new thread is runnable when it was woken, if that is recorded: not since the fork. */
static void test_new_thread(void)
{
	static const struct { const char *script, *row; } each[] = {
		{ FORKED "18 0 sched_wakeup_new tid=9 target_cpu=1\n"
		  "30 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		  "50 1 sched_switch prev_tid=9 prev_state=1 next_tid=0\n", ",9,9,7,a,20,0,20,,,12,3,0," },
		/* in another second */
		{ FORKED "2000000018 0 sched_wakeup_new tid=9 target_cpu=1\n"
		  "2000000030 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		  "2000000050 1 sched_switch prev_tid=9 prev_state=1 next_tid=0\n",
		  ",9,9,7,a,20,0,20,,,12,2000000003,0," },
		{ FORKED "30 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		  "50 1 sched_switch prev_tid=9 prev_state=1 next_tid=0\n", ",9,9,7,a,20,0,20,,,15,0,0," },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		g_autofree char *report = every_cut("new thread", each[i].script);
		if (!strstr(report, each[i].row))
			g_test_message("%s: %s", each[i].row, report);
		g_assert_nonnull(strstr(report, each[i].row));
	}
	g_autofree char *unwoken = every_cut("not woken yet", FORKED "20 0 sched_wakeup_new tid=8 target_cpu=1\n"
		"90 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n");
	g_assert_nonnull(strstr(unwoken, ",9,9,7,a,0,0,0,,,0,75,0,"));
}

/* A child whose fork event was lost returns from a call that its parent made: it was not in it since the trace began,
 * but its parent was. */
static void test_lost_fork(void)
{
	g_autofree char *report = every_cut("lost fork",
		"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"60 0 sched_switch prev_tid=7 prev_state=1 next_tid=9\n"
		"70 0 syscall_exit_vfork ctx.tid=9 ret=0\n"
		"80 0 syscall_entry_exit ctx.tid=9 error_code=0\n"
		"85 0 sched_switch prev_tid=9 prev_state=32 next_tid=8\n"
		"88 0 syscall_exit_clone ctx.tid=8 ret=0\n"
		"89 0 sched_switch prev_tid=8 prev_state=0 next_tid=7\n"
		"90 0 syscall_exit_vfork ctx.tid=7 ret=9\n");
	g_assert_nonnull(strstr(report, "localhost,,7,,vfork,0,0,0,0,80,"));
	g_assert_null(strstr(report, "localhost,,9,,vfork,"));
	g_assert_null(strstr(report, ",clone,"));
}

#define OPENED(at, exit, fd, flags) \
	at " 0 syscall_entry_open filename=\"/f" fd "\" flags=" flags "\n" exit " 0 syscall_exit_open ret=" fd "\n"
#define IOCTL(at, exit, fd, cmd) \
	at " 0 syscall_entry_ioctl fd=" fd " cmd=" cmd " arg=0\n" exit " 0 syscall_exit_ioctl ret=0\n"
#define READ(at, exit, fd) \
	at " 0 syscall_entry_read fd=" fd " count=9\n" exit " 0 syscall_exit_read ret=1\n"
#define EXEC "60 0 syscall_entry_execve filename=\"/x\"\n65 0 syscall_exit_execve ret=0\n"

/* FIOCLEX, FIONCLEX: the numbers depend on the machine, which is not known here. */
static void test_ioctl_cloexec(void)
{
	static const struct { const char *flags, *command; bool stays; } each[] = {
		{ "0", "0x5451", false }, { "02000000", "0x5450", true }, { "0", "0x20006601", false },
		{ "02000000", "0x20006602", true }, { "0", "0x6601", false }, { "02000000", "0x6602", true },
		{ "0", "0x5452", true }, { "02000000", "0x5452", false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		g_autofree char *script = g_strdup_printf(
			"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n" OPENED("20", "22", "3", "%s")
			IOCTL("30", "32", "3", "%s") EXEC READ("70", "72", "3"),
			each[i].flags, each[i].command);
		g_autofree char *report = every_cut("close-on-exec by ioctl", script);
		g_assert_true(!!strstr(report, ",/f3,file,1,") == each[i].stays);
	}
}

#define WORKS(tid, from, to) \
	from " 0 sched_switch prev_tid=0 prev_state=0 next_tid=" tid " next_comm=\"kworker/0:1\"\n" \
	to " 0 sched_switch prev_tid=" tid " prev_state=1 next_tid=0\n"

/* Which threads are the kernel's, where the state dump and forks are lost. Name and parent suggest it; a system call
 * shows the contrary. Without a tid, nothing is known. */
static void test_lost_kinds(void)
{
	g_autofree char *report = every_cut("lost kinds",
		WORKS("5", "20", "30") WORKS("6", "40", "50")
		"60 0 sched_switch prev_tid=0 prev_state=0 next_tid=8 next_comm=\"b\"\n"
		"62 0 sched_waking ctx.tid=8 ctx.pid=8 ctx.ppid=2 tid=5\n"
		"70 0 sched_switch prev_tid=8 prev_state=1 next_tid=0\n"
		"80 0 sched_switch prev_tid=0 prev_state=0 next_tid=6\n"
		"85 0 syscall_entry_futex ctx.tid=6\n"
		"90 0 sched_switch prev_tid=6 prev_state=1 next_tid=0\n"
		"200 0 !lost begin=100 end=200 events=3\n"
		"210 0 irq_handler_entry irq=5\n");
	g_assert_nonnull(strstr(report, ",5,,kworker/0:1,10,0,0,10,"));
	g_assert_nonnull(strstr(report, ",6,,kworker/0:1,20,15,5,"));
	g_assert_nonnull(strstr(report, ",8,8,2,b,10,0,0,10,"));
	g_assert_nonnull(strstr(report, "\nlocalhost,,,,,0,0,0,"));
}

/* The call a thread dies in takes until then, and no longer. */
static void test_last_call(void)
{
	g_autofree char *report = every_cut("last call",
		"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"20 0 syscall_entry_exit_group ctx.tid=7 error_code=0\n"
		"25 0 sched_process_exit tid=7 comm=\"a\"\n"
		"30 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n"
		"80 0 sched_switch prev_tid=0 prev_state=0 next_tid=5\n");
	g_assert_nonnull(strstr(report, "localhost,,7,,exit_group,0,0,0,0,10,"));
}

/* A thread that is no leader becomes it: its own tid ends, the process goes on. */
static void test_other_leader(void)
{
	static const char *const contexts[] = { "", "ctx.tid=7 " };
	for (size_t i = 0; i < G_N_ELEMENTS(contexts); i++) {
		g_autofree char *script = g_strdup_printf(
			"10 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name=\"a\" type=0\n"
			"15 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
			"20 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7 child_comm=\"a\"\n"
			"25 0 sched_switch prev_tid=7 prev_state=1 next_tid=9\n"
			"30 0 syscall_entry_execve ctx.tid=9 filename=\"/b\"\n"
			"35 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
			"40 1 sched_process_exit tid=7 comm=\"a\"\n"
			"45 1 sched_switch prev_tid=7 prev_state=16 next_tid=0\n"
			"50 0 sched_process_exec %stid=7 old_tid=9 filename=\"/b\"\n"
			"55 0 syscall_exit_execve ret=0\n"
			"70 0 sched_process_exit tid=7 comm=\"b\"\n"
			"80 0 sched_switch prev_tid=7 prev_state=16 next_tid=0\n", contexts[i]);
		g_autofree char *report = every_cut("other leader", script);
		g_assert_nonnull(strstr(report, "\nlocalhost,7,7,1,b,30,25,5,0,,,0,0,0,0,0,50,80,,,short,"));
		g_assert_nonnull(strstr(report, "\nlocalhost,7,9,1,a,25,0,25,0,,,0,0,1,0,0,20,50,"));
	}
}

static const char *const block_columns[] = {
	"reads", "writes", "others", "errors", "read_bytes", "write_bytes", "depth_max", "queued_max",
	"total_ns", "max_ns", "queue_total_ns", "queue_max_ns", "busy_ns", "depth_ns", "queued_ns",
	"merges", "partial", "requeues",
};

/* The only device of a script: the columns above, as text. */
static char *device_of(const char *script)
{
	struct recording *r = traces_record_script(script);
	struct timeline *tl = timeline_new(0);
	struct slice *s = slice_of(r, 0, recording_n(r), true);
	timeline_apply(tl, slice_finish(s));
	const struct view *v = view_find("devices");
	struct view_query q = VIEW_QUERY_INIT;
	q.by = BY_SYSTEM;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	g_autoptr(GString) text = g_string_new(NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(block_columns); i++) {
		const struct column *c = &v->columns[view_column(v, block_columns[i])];
		struct value x = column_value(c, rows->rows->pdata[0], rows);
		g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? " " : "",
				       x.kind == VALUE_NONE ? -1 : x.i);
	}
	rows_free(rows);
	timeline_free(tl);
	slice_free(s);
	recording_free(r);
	return g_string_free(g_steal_pointer(&text), false);
}

/* -1: unknown, as merges and requeues are in a trace without their events. */
struct device_case { const char *name, *script, *expected; };
static const struct device_case devices[] = {
	/* 16 sectors complete as 4 + 8 + 4: the rest moves on, and its latency is that of all. */
	{ "parts",
	  "10 0 block_rq_insert dev=1 sector=8 rwbs=1 nr_sector=16 bytes=8192 tid=5\n"
	  "15 0 block_rq_issue dev=1 sector=8 rwbs=1 nr_sector=16 bytes=8192 tid=6\n"
	  "20 0 block_rq_complete dev=1 sector=8 rwbs=1 nr_sector=4 error=0\n"
	  "22 0 block_rq_issue dev=1 sector=100 rwbs=4 nr_sector=8 bytes=4096 tid=5\n"
	  "30 0 block_rq_complete dev=1 sector=12 rwbs=1 nr_sector=8 error=0\n"
	  "35 0 block_rq_complete dev=1 sector=100 rwbs=4 nr_sector=8 error=0\n"
	  "45 0 block_rq_complete dev=1 sector=20 rwbs=1 nr_sector=4 error=-5\n",
	  "1 1 0 1 4096 8192 2 1 43 30 5 5 30 43 5 -1 2 -1" },
	/* Two merges before it is issued, one request is absorbed; then it is sent back once. */
	{ "merges",
	  "10 0 block_rq_insert dev=1 sector=16 rwbs=4 nr_sector=8 bytes=4096 tid=5\n"
	  "12 0 block_rq_insert dev=1 sector=32 rwbs=4 nr_sector=8 bytes=4096 tid=5\n"
	  "14 0 block_bio_frontmerge dev=1 sector=8 rwbs=4 nr_sector=8 tid=5\n"
	  "16 0 block_bio_backmerge dev=1 sector=24 rwbs=4 nr_sector=8 tid=5\n"
	  "18 0 block_rq_merge dev=1 sector=32 rwbs=4 nr_sector=8 tid=5\n"
	  "20 0 block_rq_issue dev=1 sector=8 rwbs=4 nr_sector=32 bytes=16384 tid=5\n"
	  "25 0 block_rq_requeue dev=1 sector=8 rwbs=4 nr_sector=32\n"
	  "28 0 block_rq_issue dev=1 sector=8 rwbs=4 nr_sector=32 bytes=16384 tid=5\n"
	  "40 0 block_rq_complete dev=1 sector=8 rwbs=4 nr_sector=32 error=0\n",
	  "1 0 0 0 16384 0 1 2 17 17 13 13 17 17 19 3 0 1" },
	/* The completion is stamped before the issue: the next one at that sector is not held up. */
	{ "end-ahead",
	  "1000 1 block_rq_complete dev=1 sector=8 rwbs=1 nr_sector=8 error=0\n"
	  "1500 0 block_rq_issue dev=1 sector=8 rwbs=1 nr_sector=8 bytes=4096 tid=5\n"
	  "9000000 0 block_rq_issue dev=1 sector=8 rwbs=1 nr_sector=8 bytes=4096 tid=5\n"
	  "9000040 1 block_rq_complete dev=1 sector=8 rwbs=1 nr_sector=8 error=0\n",
	  "0 2 0 0 0 8192 1 -1 40 40 -1 -1 40 40 -1 -1 0 -1" },
	/* An issue before its insertion, a requeue before its issue, a merge before what it absorbs is inserted. */
	{ "all-ahead",
	  "1000 1 block_rq_issue dev=1 sector=8 rwbs=1 nr_sector=8 bytes=4096 tid=6\n"
	  "1100 0 block_rq_insert dev=1 sector=8 rwbs=1 nr_sector=8 bytes=4096 tid=5\n"
	  "21000 1 block_rq_complete dev=1 sector=8 rwbs=1 nr_sector=8 error=0\n"
	  "30000 0 block_rq_insert dev=1 sector=16 rwbs=1 nr_sector=8 bytes=4096 tid=5\n"
	  "31000 1 block_rq_requeue dev=1 sector=16 rwbs=1 nr_sector=8\n"
	  "31500 0 block_rq_issue dev=1 sector=16 rwbs=1 nr_sector=8 bytes=4096 tid=6\n"
	  "40000 0 block_rq_issue dev=1 sector=16 rwbs=1 nr_sector=8 bytes=4096 tid=6\n"
	  "50000 1 block_rq_complete dev=1 sector=16 rwbs=1 nr_sector=8 error=0\n"
	  "60000 1 block_rq_merge dev=1 sector=32 rwbs=1 nr_sector=8 tid=5\n"
	  "60100 0 block_rq_insert dev=1 sector=32 rwbs=1 nr_sector=8 bytes=4096 tid=5\n"
	  "9000000 0 block_rq_issue dev=1 sector=64 rwbs=1 nr_sector=8 bytes=4096 tid=5\n"
	  "9000040 1 block_rq_complete dev=1 sector=64 rwbs=1 nr_sector=8 error=0\n",
	  "0 3 0 0 0 12288 1 1 30040 20000 10000 10000 30040 30040 10000 1 0 1" },
	/* The second is empty, and the depth at its begin is that of the first. */
	{ "borders",
	  "999999990 0 block_rq_issue dev=1 sector=8 rwbs=2 nr_sector=8 bytes=4096 tid=5\n"
	  "999999995 0 block_rq_issue dev=1 sector=16 rwbs=256 nr_sector=0 bytes=0 tid=5\n"
	  "2000000010 0 block_rq_complete dev=1 sector=8 rwbs=2 nr_sector=8 error=0\n"
	  "2000000020 0 block_rq_complete dev=1 sector=16 rwbs=256 nr_sector=0 error=0\n"
	  "2000000030 0 block_rq_complete dev=1 sector=64 rwbs=1 nr_sector=8 error=0\n"
	  "2000000035 0 block_rq_insert dev=1 sector=64 rwbs=1 nr_sector=8 bytes=4096 tid=7\n"
	  "2000000040 0 block_rq_insert dev=1 sector=72 rwbs=1 nr_sector=8 bytes=4096 tid=7\n",
	  "0 0 2 0 0 0 2 2 2000000045 1000000025 -1 -1 1000000030 2000000045 5 -1 0 -1" },
	/* A write at sector 0, and a flush meanwhile; then the end of an empty write, which was not issued. Of two
	 * flushes at a time, none's latency is known. */
	{ "flushes",
	  "10 0 block_rq_issue dev=1 sector=0 rwbs=33 nr_sector=8 bytes=4096 tid=5\n"
	  "12 0 block_rq_issue dev=1 sector=0 rwbs=1280 nr_sector=0 bytes=0 tid=6\n"
	  "20 0 block_rq_complete dev=1 sector=-1 rwbs=1280 nr_sector=0 error=0\n"
	  "21 0 block_rq_complete dev=1 sector=0 rwbs=33 nr_sector=0 error=0\n"
	  "30 0 block_rq_complete dev=1 sector=0 rwbs=33 nr_sector=8 error=0\n"
	  "40 0 block_rq_issue dev=1 sector=0 rwbs=1280 nr_sector=0 bytes=0 tid=6\n"
	  "45 1 block_rq_issue dev=1 sector=0 rwbs=1280 nr_sector=0 bytes=0 tid=7\n"
	  "50 1 block_rq_complete dev=1 sector=-1 rwbs=1280 nr_sector=0 error=0\n"
	  "60 0 block_rq_complete dev=1 sector=-1 rwbs=1280 nr_sector=0 error=0\n",
	  "0 1 3 0 0 4096 2 -1 28 20 -1 -1 40 53 -1 -1 0 -1" },
	/* Linux 3.6: no completion of the flushes before and after the data. Each ends at the latest when the next one
	 * is issued, or the write that asked for them completes. Until then it is unknown what is at the device. */
	{ "flushes of an old kernel",
	  "10 0 !release 3.6.11-1-ARCH\n"
	  "10 0 block_rq_insert dev=1 sector=8 rwbs=17 nr_sector=8 bytes=0 tid=5\n"
	  "12 0 block_rq_issue dev=1 sector=-1 rwbs=17 nr_sector=0 bytes=0 tid=5\n"
	  "20 0 block_rq_issue dev=1 sector=8 rwbs=17 nr_sector=8 bytes=0 tid=0\n"
	  "30 0 block_rq_complete dev=1 sector=8 rwbs=17 nr_sector=8 errors=0\n"
	  "31 0 block_rq_issue dev=1 sector=-1 rwbs=17 nr_sector=0 bytes=0 tid=0\n"
	  "40 0 block_rq_complete dev=1 sector=8 rwbs=17 nr_sector=0 errors=0\n"
	  "50 0 block_rq_issue dev=1 sector=64 rwbs=17 nr_sector=8 bytes=0 tid=5\n"
	  "57 0 block_rq_complete dev=1 sector=64 rwbs=17 nr_sector=8 errors=0\n",
	  "0 2 2 0 0 8192 1 1 17 10 10 10 7 7 2 -1 0 -1" },
	/* Linux 4.4 reports both. */
	{ "flushes of a later kernel",
	  "10 0 !release 4.4.0\n"
	  "12 0 block_rq_issue dev=1 sector=-1 rwbs=273 nr_sector=0 bytes=0 tid=5\n"
	  "20 0 block_rq_complete dev=1 sector=-1 rwbs=273 nr_sector=0 errors=0\n"
	  "31 0 block_rq_issue dev=1 sector=-1 rwbs=17 nr_sector=0 bytes=0 tid=5\n"
	  "40 0 block_rq_complete dev=1 sector=-1 rwbs=17 nr_sector=0 errors=0\n"
	  "45 0 block_rq_complete dev=1 sector=8 rwbs=17 nr_sector=0 errors=0\n",
	  "0 0 2 0 0 0 1 -1 17 9 -1 -1 17 17 -1 -1 0 -1" },
	/* A backport to an old kernel reports them: known from the first completion of a flush on. */
	{ "flushes of a patched kernel",
	  "10 0 !release 3.10.0\n"
	  "12 0 block_rq_issue dev=1 sector=-1 rwbs=273 nr_sector=0 bytes=0 tid=5\n"
	  "20 0 block_rq_complete dev=1 sector=-1 rwbs=273 nr_sector=0 errors=0\n"
	  "31 0 block_rq_issue dev=1 sector=-1 rwbs=273 nr_sector=0 bytes=0 tid=5\n"
	  "40 0 block_rq_complete dev=1 sector=-1 rwbs=273 nr_sector=0 errors=0\n",
	  "0 0 2 0 0 0 1 -1 9 9 -1 -1 9 9 -1 -1 0 -1" },
};

static void test_device(gconstpointer data)
{
	const struct device_case *c = data;
	g_autofree char *got = device_of(c->script);
	g_assert_cmpstr(got, ==, c->expected);
	g_free(every_cut(c->name, c->script));
}

/* Packets are counted where they are seen; one that the device refuses is none. */
static void test_packets(void)
{
	g_autofree char *report = every_cut("packets",
		"10 0 net_dev_queue name=\"eth0\" len=100\n"
		"20 0 net_dev_xmit name=\"eth0\" len=100 rc=0\n"
		"30 0 net_if_receive_skb name=\"eth0\" len=60\n"
		"40 0 net_dev_xmit name=\"eth0\" len=200 rc=16\n"
		"50 0 netif_receive_skb name=\"lo\" len=7\n");
	g_assert_nonnull(strstr(report, ",net,eth0,1,1,1,60,100,"));
	g_assert_nonnull(strstr(report, ",net,lo,1,0,0,7,0,"));
}

/* Who talks with whom: both ways a row, each end of the loopback one; a fragment has no ports, other
 * protocols none either, and what has no addresses is no flow. */
static void test_peers(void)
{
#define V4(s, d) "network_header.ipv4.saddr=\"" s "\" network_header.ipv4.daddr=\"" d "\" "
#define A "\\x0a\\x00\\x00\\x01"
#define B "\\x0a\\x00\\x00\\x02"
#define TCP(s, d) "network_header.ipv4.protocol=6 network_header.ipv4.transport_header.tcp.source_port=" s \
	" network_header.ipv4.transport_header.tcp.dest_port=" d "\n"
#define UDP(s, d) "network_header.ipv4.transport_header.udp.source_port=" s \
	" network_header.ipv4.transport_header.udp.dest_port=" d "\n"
	g_autofree char *report = every_cut("peers",
		"10 0 net_dev_queue name=\"eth0\" len=100 " V4(A, B) TCP("4000", "80")
		"20 0 net_if_receive_skb name=\"eth0\" len=60 " V4(B, A) TCP("80", "4000")
		"30 1 net_if_receive_skb name=\"eth0\" len=61 " V4(B, A) TCP("80", "4000")
		"40 1 net_dev_queue name=\"eth0\" len=7 " V4(A, B) "network_header.ipv4.protocol=17 "
		"network_header.ipv4.frag_off=8192 " UDP("53", "9000")
		"50 1 net_dev_queue name=\"eth0\" len=8 " V4(A, B) "network_header.ipv4.protocol=17 "
		"network_header.ipv4.frag_off=185 " UDP("1", "2")
		"60 1 net_dev_queue name=\"eth0\" len=9 " V4(A, B) "network_header.ipv4.protocol=1\n"
		"70 0 net_dev_queue name=\"eth0\" len=9\n"
		"80 0 net_if_receive_skb name=\"eth1\" len=5 network_header.ipv6.saddr=\""
		"\\x80\\xfe\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\x02\\0\" network_header.ipv6.daddr=\""
		"\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\x01\\0\" "
		"network_header.ipv6.transport_header.udp.source_port=5 "
		"network_header.ipv6.transport_header.udp.dest_port=6\n");
	g_assert_nonnull(strstr(report, ",eth0,tcp,10.0.0.1:4000,10.0.0.2:80,,2,1,121,100,"));
	g_assert_nonnull(strstr(report, ",eth0,udp,10.0.0.1:53,10.0.0.2:9000,,0,1,0,7,"));
	g_assert_nonnull(strstr(report, ",eth0,udp,10.0.0.1,10.0.0.2,,0,1,0,8,"));
	g_assert_nonnull(strstr(report, ",eth0,icmp,10.0.0.1,10.0.0.2,,0,1,0,9,"));
	g_assert_nonnull(strstr(report, ",eth1,udp,[::1]:6,[fe80::2]:5,,1,0,5,0,"));
	g_assert_nonnull(strstr(report, ",udp,,10.0.0.2,2,0,2,0,15,"));
	g_assert_nonnull(strstr(report, ",net,eth0,2,"));
#undef A
#undef B
#undef V4
#undef TCP
#undef UDP
}

/* A process of a container, as the state dump tells it: the innermost pid namespace counts. */
static void test_containers(void)
{
	g_autofree char *report = every_cut("containers",
		"10 0 lttng_statedump_process_state tid=50 pid=50 ppid=1 name=\"sh\" type=0\n"
		"11 0 lttng_statedump_process_pid_ns tid=50 ns_inum=4026532500 ns_level=1 vpid=7\n"
		"12 0 lttng_statedump_process_pid_ns tid=50 ns_inum=4026531836 ns_level=0 vpid=50\n"
		"13 0 lttng_statedump_process_uts_ns tid=50 ns_inum=4026532501\n"
		"14 0 lttng_statedump_process_cgroup_ns tid=50 ns_inum=4026531835\n"
		"20 0 sched_switch prev_tid=0 prev_state=0 next_tid=50 prev_comm=\"swapper\" next_comm=\"sh\"\n"
		"40 0 sched_switch prev_tid=50 prev_state=1 next_tid=0 prev_comm=\"sh\" next_comm=\"s\"\n");
	g_assert_nonnull(strstr(report, ",pid:4026532500,7,4026532500,4026531835,4026532501,"));
}

/* By contexts of the kernel's events: threads that disagree, one that changes its mind and back.
 * The last one to tell something new counts, and for more than the state dump. */
static void test_containers_reported(void)
{
#define IN(tid, name) "ctx.tid=" tid " ctx.pid=50 ctx.pid_ns=4026532500 ctx.cgroup_ns=4026531835 " \
	"ctx.vpid=7 ctx.hostname=\"" name "\"\n"
	g_autofree char *report = every_cut("containers-told",
		"9 0 lttng_statedump_process_state tid=50 pid=50 ppid=1 name=\"sh\" type=0 ctx.tid=50\n"
		"10 0 lttng_statedump_process_pid_ns tid=50 ns_inum=4026532999 ns_level=1 vpid=9\n"
		"11 0 syscall_entry_read fd=3 " IN("50", "other")
		"12 1 syscall_entry_read fd=3 " IN("51", "web-1")
		"13 0 syscall_exit_read ret=5 " IN("50", "other")
		"14 0 syscall_entry_read fd=3 " IN("50", "third")
		"15 1 syscall_exit_read ret=5 " IN("51", "web-2")
		"16 1 syscall_entry_read fd=3 " IN("51", "web-1")
		"17 0 syscall_exit_read ret=5 " IN("50", "third"));
	g_assert_nonnull(strstr(report, ",web-1,7,4026532500,4026531835,"));
	g_assert_null(strstr(report, ",pid:"));
}

/* A child lives where its parent does, until it tells; the idle task lives nowhere. */
static void test_containers_of_children(void)
{
	g_autofree char *report = every_cut("containers-of-children",
		"8 0 syscall_entry_fork " IN("50", "web-1")
		"9 0 sched_process_fork parent_tid=50 child_tid=60 parent_pid=50 child_pid=60 "
		"child_comm=\"c\" child_ns_inum=4026532500 " IN("50", "web-1")
		"10 0 sched_switch prev_tid=50 prev_state=1 next_tid=60 next_comm=\"c\" " IN("50", "web-1")
		"20 0 sched_switch prev_tid=60 prev_state=1 next_tid=0 next_comm=\"s\" ctx.tid=60\n"
		"21 0 irq_handler_entry irq=1 name=\"x\" ctx.tid=0 ctx.hostname=\"nobody\"\n"
		"22 0 irq_handler_exit irq=1 ctx.tid=0 ctx.hostname=\"nobody\"\n");
	g_assert_nonnull(strstr(report, ",web-1,7,4026532500,4026531835,"));
	g_assert_nonnull(strstr(report, ",web-1,,4026532500,4026531835,"));
	g_assert_null(strstr(report, "nobody"));
}

/* A fork tells the child's pid in its own namespace. */
static void test_pids_of_children(void)
{
	g_autofree char *report = every_cut("pids-of-children",
		"8 0 syscall_entry_fork " IN("50", "web-1")
		"11 1 sched_process_fork parent_tid=50 child_tid=61 parent_pid=50 child_pid=61 child_comm=\"d\" "
		"child_ns_inum=4026532500 vtids[0]=61 vtids[1]=9\n"
		"12 1 sched_switch prev_tid=0 prev_state=0 next_tid=61 next_comm=\"d\"\n"
		"13 1 sched_process_fork parent_tid=61 child_tid=62 parent_pid=61 child_pid=61 child_comm=\"d\" "
		"child_ns_inum=4026532500 vtids[0]=62 vtids[1]=10\n"
		"14 1 sched_process_fork parent_tid=61 child_tid=63 parent_pid=61 child_pid=63 child_comm=\"f\" "
		"child_ns_inum=4026532700 vtids[0]=63 vtids[1]=11 vtids[2]=1\n"
		"15 1 sched_switch prev_tid=61 prev_state=1 next_tid=63 next_comm=\"f\"\n"
		"16 1 sched_switch prev_tid=63 prev_state=1 next_tid=0 next_comm=\"s\"\n");
	g_assert_nonnull(strstr(report, ",9,4026532500,4026531835,"));
	g_assert_nonnull(strstr(report, ",1,4026532700,4026531835,"));	/* the first of its own */
#undef IN
}

/* Whoever is called otherwise than the machine is in a container; of one name are several. */
static void test_containers_by_name(void)
{
	g_autofree char *report = every_cut("containers-by-name",
		"10 0 syscall_entry_read fd=3 ctx.tid=5 ctx.pid=5 ctx.hostname=\"web\" ctx.pid_ns=4026532500\n"
		"11 0 syscall_exit_read ret=1 ctx.tid=5 ctx.pid=5 ctx.hostname=\"web\" ctx.pid_ns=4026532500\n"
		"12 0 syscall_entry_read fd=3 ctx.tid=6 ctx.pid=6 ctx.hostname=\"web\" ctx.pid_ns=4026532600\n"
		"13 0 syscall_exit_read ret=1 ctx.tid=6 ctx.pid=6 ctx.hostname=\"web\" ctx.pid_ns=4026532600\n"
		"14 0 syscall_entry_read fd=3 ctx.tid=7 ctx.pid=7 ctx.hostname=\"db\"\n"
		"15 0 syscall_exit_read ret=1 ctx.tid=7 ctx.pid=7 ctx.hostname=\"db\"\n"
		"16 0 syscall_entry_read fd=3 ctx.tid=8 ctx.pid=8 ctx.hostname=\"localhost\"\n"
		"17 0 syscall_exit_read ret=1 ctx.tid=8 ctx.pid=8 ctx.hostname=\"localhost\"\n");
	g_assert_nonnull(strstr(report, ",web (pid:4026532500),"));
	g_assert_nonnull(strstr(report, ",web (pid:4026532600),"));
	g_assert_nonnull(strstr(report, ",db,"));
	g_assert_nonnull(strstr(report, ",host,"));
}

/* By contexts of user space alone, and beside a kernel that knows who runs. */
static void test_containers_of_user_space(void)
{
#define STAMP(event) "u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 " \
	"parent_span_id=0 event=\"" event "\" ctx.procname=\"web\" "
	g_autofree char *alone = every_cut("containers-user",
		"10 0 " STAMP("sr") "ctx.vtid=7 ctx.vpid=7 ctx.pid_ns=4026532500 ctx.uts_ns=4026532501\n"
		"20 1 " STAMP("a") "ctx.vtid=8 ctx.vpid=7 ctx.pid_ns=4026532500 ctx.uts_ns=4026532501\n"
		"30 1 " STAMP("ss") "ctx.vtid=9 ctx.vpid=9 ctx.pid_ns=4026531836\n");
	g_assert_nonnull(strstr(alone, ",pid:4026532500,"));
	g_assert_nonnull(strstr(alone, ",host,"));
	g_autofree char *beside = every_cut("containers-user-kernel",
		"5 0 sched_switch prev_tid=0 prev_state=0 next_tid=50 next_comm=\"web\" ctx.tid=0\n"
		"6 0 syscall_entry_read fd=3 ctx.tid=50 ctx.pid=50 ctx.procname=\"web\"\n"
		"7 0 syscall_exit_read ret=1 ctx.tid=50 ctx.pid=50 ctx.procname=\"web\"\n"
		"10 0 " STAMP("sr") "ctx.vtid=7 ctx.vpid=7 ctx.pid_ns=4026532500\n"
		"20 0 " STAMP("ss") "ctx.vtid=7 ctx.vpid=7 ctx.pid_ns=4026532500\n"
		"30 0 sched_switch prev_tid=50 prev_state=1 next_tid=0 prev_comm=\"web\" ctx.tid=50\n"
		"40 0 sched_switch prev_tid=0 prev_state=0 next_tid=50 next_comm=\"web\" ctx.tid=0\n");
	g_assert_nonnull(strstr(beside, ",pid:4026532500,7,4026532500,"));
	g_free(every_cut("user-behind-kernel",
		"5 0 sched_switch prev_tid=50 prev_state=1 next_tid=60 next_comm=\"web\" ctx.tid=50 ctx.pid=50\n"
		"6 0 syscall_entry_read fd=3 ctx.tid=60 ctx.pid=60 ctx.procname=\"web\"\n"
		"10 0 " STAMP("sr") "ctx.vtid=91 ctx.vpid=91\n"
		"11 0 u:other:thing ctx.vtid=91 ctx.vpid=91 ctx.procname=\"oops\"\n"
		"20 0 " STAMP("ss") "ctx.vtid=92 ctx.vpid=92\n"
		"1000000025 0 " STAMP("c") "ctx.vtid=93 ctx.vpid=93\n"
		"1000000029 0 " STAMP("c") "ctx.vtid=93 ctx.vpid=93\n"));
	/* A container's session daemon: by its host name, with pids of its own; another thread has tid 7 here. */
	g_autofree char *daemon = every_cut("container-of-daemon",
		"5 0 sched_switch prev_tid=0 prev_state=0 next_tid=50 next_comm=\"web\" ctx.tid=0\n"
		"6 0 syscall_entry_read fd=3 ctx.tid=50 ctx.pid=50 ctx.procname=\"web\"\n"
		"7 0 syscall_exit_read ret=1 ctx.tid=50 ctx.pid=50 ctx.procname=\"web\"\n"
		"8 1 syscall_entry_read fd=3 ctx.tid=7 ctx.pid=7 ctx.procname=\"other\"\n"
		"10 0 u@localhost/3f9c:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 "
		"parent_span_id=0 event=\"sr\" ctx.vtid=7 ctx.vpid=7\n"
		"20 0 u@localhost/3f9c:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 "
		"parent_span_id=0 event=\"ss\" ctx.vtid=7 ctx.vpid=7\n"
		"30 0 sched_switch prev_tid=50 prev_state=1 next_tid=0 prev_comm=\"web\" ctx.tid=50\n");
	g_assert_nonnull(strstr(daemon, ",3f9c,7,"));
	g_assert_null(strstr(daemon, ",web,3f9c,"));
	/* Who ran before the kernel's trace began, and when it was over, it does not know: not these. */
	g_autofree char *around = every_cut("containers-user-around-kernel",
		"4 0 " STAMP("sr") "ctx.vtid=90 ctx.vpid=90 ctx.hostname=\"too-early\"\n"
		"5 0 sched_switch prev_tid=50 prev_state=1 next_tid=60 next_comm=\"web\" ctx.tid=50 ctx.pid=50\n"
		"6 0 syscall_entry_read fd=3 ctx.tid=60 ctx.pid=60 ctx.procname=\"web\"\n"
		"7 0 " STAMP("a") "ctx.vtid=60 ctx.vpid=60 ctx.hostname=\"itself\"\n"
		"8 0 syscall_exit_read ret=1 ctx.tid=60 ctx.pid=60 ctx.procname=\"web\"\n"
		"10 0 " STAMP("b") "ctx.vtid=91 ctx.vpid=91 ctx.hostname=\"too-late\"\n"
		"20 0 " STAMP("ss") "ctx.vtid=92 ctx.vpid=92 ctx.hostname=\"too-late\"\n"
		"25 1 " STAMP("c") "ctx.vtid=93 ctx.vpid=93 ctx.hostname=\"too-late\"\n");
	g_assert_nonnull(strstr(around, ",itself,"));
	g_assert_nonnull(strstr(around, ",60,"));
	g_assert_null(strstr(around, ",too-early,"));
	g_assert_null(strstr(around, ",too-late,"));
#undef STAMP
}

/* ---- a clock that goes back ---- */

/* Where the clock of CPU 0 goes back, calls across that are unknown, and so is what has no time of its own. */
static void test_clock_back(void)
{
	g_autofree char *calls = cut_between("clock-back",
		"5 0 sched_switch prev_tid=0 prev_state=0 next_tid=50 next_comm=\"web\" ctx.tid=0\n"
		"20 0 syscall_entry_read fd=3 ctx.tid=50\n"
		"30 0 !lost back=7\n30 0 syscall_exit_read ret=1 ctx.tid=50\n"
		"30 0 !lost back=6\n30 0 syscall_entry_close fd=3 ctx.tid=50\n"
		"30 0 !lost back=5\n30 0 syscall_exit_close ret=0 ctx.tid=50\n"
		"35 0 syscall_entry_write fd=3 ctx.tid=50\n37 0 syscall_exit_write ret=1 ctx.tid=50\n"
		"50 0 sched_switch prev_tid=50 prev_state=1 next_tid=0 prev_comm=\"web\" ctx.tid=50\n");
	g_assert_nonnull(strstr(calls, ",50,web,write,1,"));
	g_assert_nonnull(strstr(calls, ",50,web,read,0,"));
	g_assert_null(strstr(calls, ",web,read,1,"));
	g_assert_null(strstr(calls, ",web,close,1,"));
}

/* The same for spans. CPU 1 goes on. */
static void test_clock_back_in_spans(void)
{
#define SPAN(id, event) "u:zipkin:timestamp trace_name=\"r\" service_name=\"s\" trace_id=" id " span_id=1 " \
		"parent_span_id=0 event=\"" event "\" ctx.vtid=50 ctx.vpid=50\n"
	g_autofree char *spans = cut_between("clock-back-spans",
		"10 1 " SPAN("1", "sr") "20 0 " SPAN("2", "sr") "25 0 " SPAN("3", "sr") "30 0 " SPAN("3", "ss")
		"30 0 u:!lost back=7\n30 0 " SPAN("4", "sr") "30 0 u:!lost back=6\n30 0 " SPAN("4", "ss")
		"40 0 " SPAN("2", "ss") "40 1 " SPAN("1", "ss"));
#undef SPAN
	g_assert_nonnull(strstr(spans, ",server,s,r,localhost,50,50,10,40,30,30,complete,"));
	g_assert_nonnull(strstr(spans, ",server,s,r,localhost,50,50,20,40,20,20,partial,"));
	g_assert_nonnull(strstr(spans, ",server,s,r,localhost,50,50,25,30,5,5,complete,"));
	g_assert_nonnull(strstr(spans, ",server,s,r,localhost,50,50,30,30,0,0,partial,"));
}

/* ---- spans that events do not tell the ids of ---- */

/* By thread and by key, across threads, with parents, of user space and of the kernel. */
static const char rules_text[] =
	"[file]\nbegin=syscall_entry_openat\nend=syscall_entry_close\nname=${filename}\ntags=flags\n"
	"[slow read]\nbegin=syscall_entry_read\nend=syscall_exit_read\nerror_if=ret < 0\nparent=file\n"
	"[disk]\nbegin=block_rq_issue\nend=block_rq_complete\nkey=dev, sector\nend_if=nr_sector > 0\n"
	"parent=thread\n"
	"[run]\nbegin=sched_switch\nend=sched_switch\nbegin_key=next_tid\nend_key=prev_tid\n"
	"name=${next_comm}\nservice=cpu ${cpu}\nbegin_if=next_tid != 0\nend_if=prev_tid != 0\n"
	"[stamp]\nbegin=zipkin:timestamp\nend=zipkin:timestamp\nname=${payload.event}\nparent=thread\n"
	"[call]\nbegin=syscall_entry_*\nend=syscall_exit_${1}\nname=${1} of ${event}\n";

static void install(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct rules *rules = rules_new();
	g_assert_true(rules_parse(rules, "rules", text, strlen(text), false, &error));
	g_assert_true(rules_check(rules, &error));
	g_assert_true(rules_install(rules, &error));
	g_assert_no_error(error);
}

static void test_ruled(gconstpointer data)
{
	install(rules_text);
	test_cuts(data);
	rules_install(NULL, NULL);
}

/* Events of a log: before, within and after spans of each kind, and of threads that only the kernel knows. */
static void test_annotations(void)
{
#define U(at, event) at " 0 u:" event " ctx.vtid=7 ctx.vpid=7 ctx.procname=\"p\"\n"
#define LOG(at, msg, level) U(at, "my:log msg=\"" msg "\" level=" level)
#define REQ(at, event) U(at, "zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 " \
			     "parent_span_id=0 event=\"" event "\"")
	install("[job]\nbegin=my:a\nend=my:b\nparent=thread\n[call]\nbegin=syscall_entry_*\nend=syscall_exit_${1}\n"
		"[annotation log]\nevent=my:l*\ntext=${event} ${msg}\nseverity=level\nscale=jul\ntags=level\n"
		"[annotation disk]\nevent=block_rq_issue\ntext=sector ${sector}\n");
	g_autofree char *report = every_cut("annotations",
		"5 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
		LOG("6", "early", "800") REQ("10", "sr") LOG("20", "in req", "1000") U("30", "my:a")
		LOG("40", "in job", "900")
		"45 0 syscall_entry_read ctx.tid=7 fd=3 count=8\n"
		"46 0 block_rq_issue dev=1 sector=8 rwbs=0 nr_sector=8 bytes=4096\n"
		"47 0 syscall_exit_read ctx.tid=7 ret=8\n"
		U("50", "my:b") LOG("60", "req again", "0") REQ("70", "ss") LOG("80", "late", "300"));
	rules_install(NULL, NULL);
	static const char *const wanted[] = {
		"annotations without a span 2, over 0", "log in req\"", "log in job\"", "sector 8\"", "log req again\"",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
		if (!strstr(report, wanted[i]))
			g_error("no %s in %s", wanted[i], report);
#undef REQ
#undef LOG
#undef U
}

/* Entries of tables that were defined in earlier pieces, again, and never; of processes and of the host; in names,
 * keys, tags and in each other. */
static void test_tables(void)
{
	install("[table symbol]\nevent=r:register\nkey=callback\nvalue=${text} of ${node[node]}\n"
		"[table node]\nevent=r:node\nkey=node\nvalue=${name}\nscope=host\n"
		"[cb]\nbegin=r:start\nend=r:end\nkey=symbol[callback], n\nname=${symbol[callback]|callback}\n"
		"service=${node[node]}\ntags=n, node[node]\n"
		"[annotation log]\nevent=my:log\ntext=${symbol[callback]}: ${msg}\n");
	g_autofree char *report = every_cut("tables",
		"5 0 u:r:node node=1 name=\"first\" ctx.vpid=7\n"
		"6 0 u:r:register callback=1 text=\"f\" node=1 ctx.vpid=7\n"
		"8 0 u:r:register callback=1 text=\"other\" node=2 ctx.vpid=8\n"
		"10 0 u:r:start callback=1 n=1 node=1 ctx.vpid=7 ctx.vtid=7\n"
		"12 0 u:r:node node=1 name=\"second\" ctx.vpid=8\n"
		"20 0 u:r:end callback=1 n=1 ctx.vpid=7 ctx.vtid=9\n"
		"26 0 u:r:register callback=1 text=\"again\" node=1 ctx.vpid=7\n"
		"34 0 u:r:start callback=1 n=3 node=9 ctx.vpid=7 ctx.vtid=7\n"
		"35 0 u:my:log callback=1 msg=\"hello\" ctx.vpid=7 ctx.vtid=7\n"
		"36 0 u:r:end callback=1 n=3 ctx.vpid=7 ctx.vtid=7\n");
	rules_install(NULL, NULL);
	g_assert_nonnull(strstr(report, ",first,f of first,localhost,7,7,10,20,"));
	g_assert_nonnull(strstr(report, ",?,again of second,localhost,7,7,34,36,"));
	g_assert_nonnull(strstr(report, "n=1 node=first"));
	g_assert_nonnull(strstr(report, "again of second: hello"));
}

/* Messages from one host to two threads of another; the sender ended before, or sends at its end; one is sent again
 * with the same key; one is taken before it was sent, as clocks differ, and one that nothing sent. */
static void test_links(void)
{
	install("[send]\nbegin=p:send\nend=p:sent\nlink_out=msg(topic, stamp)\nname=send ${topic}\n"
		"end_link_out=done(stamp)\n"
		"[take]\nbegin=p:take\nend=p:taken\nlink_in=msg(topic, source)\nparent=link\nname=take ${topic}\n"
		"end_link_in=done(stamp)\n");
#define SEND(at, what, host, topic, stamp) \
	at " 0 u@" host ":p:" what " topic=\"" topic "\" stamp=" stamp " source=" stamp " ctx.vtid=7 ctx.vpid=7\n"
	g_autofree char *report = every_cut("links",
		SEND("10", "send", "a", "x", "1") SEND("12", "sent", "a", "x", "1")
		SEND("20", "take", "b", "x", "1") SEND("24", "taken", "b", "x", "1")
		SEND("30", "take", "b", "x", "1") SEND("34", "taken", "b", "x", "9")	/* fan-out */
		SEND("40", "send", "a", "x", "1") SEND("44", "sent", "a", "x", "1")	/* again */
		SEND("50", "take", "b", "x", "1") SEND("54", "taken", "b", "x", "1")
		SEND("60", "take", "b", "y", "1")				/* another topic */
		SEND("70", "take", "b", "z", "3") SEND("72", "send", "a", "z", "3"));	/* clocks */
#undef SEND
	rules_install(NULL, NULL);
	static const char *const links[] = {
		"\"links\":[{\"name\":\"msg\",", "\"out_ns\":10,\"in_ns\":20,", "\"out_ns\":12,\"in_ns\":24,",
		"\"out_ns\":10,\"in_ns\":30,", "\"out_ns\":40,\"in_ns\":50,", "\"out_ns\":44,\"in_ns\":54,",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(links); i++)
		if (!strstr(report, links[i]))
			g_error("no %s in %s", links[i], strstr(report, "\"traces\""));
	g_assert_null(strstr(report, "\"in_ns\":34"));
	g_assert_null(strstr(report, "\"in_ns\":60"));
	g_assert_null(strstr(report, "\"in_ns\":70"));
}

/* Messages that are sent at an instant, by a name that a table has: defined before, later, again, never. */
static void test_links_by_texts(void)
{
	install("[table id]\nevent=p:init\nkey=handle\nvalue=${a}.${b}\n"
		"[send]\nend=p:send\nduration=0\nname=send ${n}\nend_link_out=msg(${id[handle]}, n)\n"
		"[take]\nbegin=p:take\nend=p:taken\nlink_in=msg(${c}.${d}, n)\nparent=link\nname=take ${n}\n");
#define INIT(at, handle, a, b) at " 0 u:p:init handle=" handle " a=" a " b=" b " ctx.vtid=7 ctx.vpid=7\n"
#define SENDS(at, handle, n) at " 0 u:p:send handle=" handle " n=" n " ctx.vtid=7 ctx.vpid=7\n"
#define TAKES(at, c, d, n) at " 1 u:p:take c=" c " d=" d " n=" n " ctx.vtid=8 ctx.vpid=8\n"
	g_autofree char *report = every_cut("links by texts",
		INIT("10", "1", "3", "4") SENDS("20", "1", "5") TAKES("30", "3", "4", "5") TAKES("31", "34", "0", "5")
		SENDS("40", "2", "6") INIT("41", "2", "3", "5") TAKES("42", "3", "5", "6") SENDS("43", "2", "7")
		TAKES("44", "3", "5", "7") INIT("50", "1", "3", "9") SENDS("51", "1", "8") TAKES("52", "3", "9", "8")
		TAKES("53", "3", "4", "8"));
#undef INIT
#undef SENDS
#undef TAKES
	rules_install(NULL, NULL);
	static const struct { const char *in; bool linked; } each[] = {
		{ "\"out_ns\":20,\"in_ns\":30,", true }, { "\"in_ns\":31,", false }, { "\"in_ns\":42,", false },
		{ "\"out_ns\":43,\"in_ns\":44,", true }, { "\"out_ns\":51,\"in_ns\":52,", true },
		{ "\"in_ns\":53,", false },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++)
		g_assert_true(each[i].linked == (strstr(report, each[i].in) != NULL));
}

/* Spans of one event each, whose beginnings are in earlier pieces: inside others and not, longer than the trace, of
 * threads that the kernel knows. */
static void test_durations(void)
{
	install("[call]\nend=my:call\nduration=d\nname=${event}\nparent=thread\n[job]\nbegin=my:a\nend=my:b\n");
	g_autofree char *report = every_cut("durations",
		"5 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
		"10 0 u:my:a ctx.vtid=7 ctx.vpid=7 ctx.procname=\"p\"\n"
		"20 0 sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"p\" next_comm=\"s\"\n"
		"28 0 sched_waking tid=7\n"
		"30 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"s\" next_comm=\"p\"\n"
		"33 0 syscall_entry_fsync ctx.tid=7 fd=3\n36 0 syscall_exit_fsync ctx.tid=7 ret=0\n"
		"40 0 u:my:call d=25 ctx.vtid=7 ctx.vpid=7 ctx.procname=\"p\"\n"
		"45 0 u:my:call d=36 ctx.vtid=7 ctx.vpid=7 ctx.procname=\"p\"\n"
		"50 0 u:my:b ctx.vtid=7 ctx.vpid=7 ctx.procname=\"p\"\n"
		"60 0 u:my:call d=59 ctx.vtid=7 ctx.vpid=7 ctx.procname=\"p\"\n");
	rules_install(NULL, NULL);
	g_assert_nonnull(strstr(report, ",p,call,localhost,7,7,15,40,25,25,"));
	g_assert_nonnull(strstr(report, ",p,call,localhost,7,7,9,45,36,36,"));
	g_assert_nonnull(strstr(report, ",p,call,localhost,7,7,1,60,59,59,"));
}

/* What the thread that takes a message did while it was on its way: it slept, was woken, waited behind another thread,
 * and ran. */
static void test_ways(void)
{
	install("[send]\nend=p:send\nduration=0\nname=send ${n}\nend_link_out=msg(n)\n"
		"[take]\nbegin=p:take\nend=p:taken\nlink_in=msg(n)\nparent=link\nname=take ${n}\n");
	g_autofree char *report = every_cut("ways",
		"5 1 sched_switch prev_tid=8 prev_state=1 next_tid=9 prev_comm=\"q\" next_comm=\"hog\"\n"
		"10 0 u:p:send n=5 ctx.vtid=7 ctx.vpid=7\n16 1 sched_waking tid=8\n"
		"50 1 sched_switch prev_tid=9 prev_state=0 next_tid=8 prev_comm=\"hog\" next_comm=\"q\"\n"
		"53 1 u:p:take n=5 ctx.vtid=8 ctx.vpid=8\n60 1 u:p:taken ctx.vtid=8 ctx.vpid=8\n"
		"61 0 u:p:send n=6 ctx.vtid=7 ctx.vpid=7\n"
		"70 1 u:p:take n=6 ctx.vtid=8 ctx.vpid=8\n80 1 u:p:taken ctx.vtid=8 ctx.vpid=8\n");
	rules_install(NULL, NULL);
	static const char *const ways[] = {
		"\"out_ns\":10,\"in_ns\":53,\"unsure\":false,\"ran_ns\":3,\"runnable_ns\":34,\"blocked_ns\":6,"
		"\"cpu_holder\":{\"pid\":null,\"tid\":9,", "\"out_ns\":61,\"in_ns\":70,\"unsure\":false,\"ran_ns\":9,"
		"\"runnable_ns\":0,\"blocked_ns\":0,\"cpu_holder\":null",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
		if (!strstr(report, ways[i]))
			g_error("no %s in %s", ways[i], strstr(report, "\"links\":[{"));
}

/* Spans that begin again and again: in time, late, after a lost one, another key, a period that no entry has. */
static void test_every(void)
{
	install("[table period]\nevent=p:init\nkey=h\nvalue=${ns}\n"
		"[tick]\nbegin=p:tick\nend=p:tock\nkey=h, thread\nname=tick\nevery=${period[h]}\n");
#define TICK(at, h) at " 1 u:p:tick h=" h " ctx.vtid=8 ctx.vpid=8\n"
	g_autofree char *report = every_cut("every",
		"1 1 sched_switch prev_tid=0 prev_state=0 next_tid=8 prev_comm=\"s\" next_comm=\"q\"\n"
		"2 1 u:p:init h=5 ns=10 ctx.vtid=8 ctx.vpid=8\n" TICK("10", "5") TICK("20", "5") TICK("31", "5")
		"33 1 sched_switch prev_tid=8 prev_state=0 next_tid=9 prev_comm=\"q\" next_comm=\"hog\"\n"
		"60 1 sched_switch prev_tid=9 prev_state=0 next_tid=8 prev_comm=\"hog\" next_comm=\"q\"\n"
		TICK("63", "5") TICK("64", "6") TICK("90", "6")
		"95 1 u@localhost:!lost begin=91 end=95 events=1\n" TICK("99", "5"));
#undef TICK
	rules_install(NULL, NULL);
	static const char *const lates[] = {
		"\"late\":{\"due_ns\":30,\"late_ns\":1,\"every_ns\":10,\"ran_ns\":1,\"runnable_ns\":0,",
		"\"late\":{\"due_ns\":41,\"late_ns\":22,\"every_ns\":10,\"ran_ns\":3,\"runnable_ns\":19,"
		"\"blocked_ns\":0,\"cpu_holder\":{\"pid\":null,\"tid\":9,",
	};
	guint n = 0;
	for (const char *at = report; (at = strstr(at, "\"late\":{")); at++)
		n++;
	for (size_t i = 0; i < G_N_ELEMENTS(lates); i++)
		if (!strstr(report, lates[i]))
			g_error("no %s in %s", lates[i], strstr(report, "\"late\":{"));
	g_assert_cmpuint(n, ==, G_N_ELEMENTS(lates));
}

/* Functions, with one exit that is missing, and one entry. */
static void test_functions(void)
{
	g_autofree char *report = every_cut("functions",
		"5 0 u:lttng_ust_statedump:bin_info baddr=4096 memsz=4096 path=\"/bin/gears\" ctx.vpid=7\n"
		"10 0 u:lttng_ust_cyg_profile:func_entry addr=4112 ctx.vtid=7 ctx.vpid=7 ctx.procname=\"g\"\n"
		"20 0 u:lttng_ust_cyg_profile:func_entry addr=4128 ctx.vtid=7 ctx.vpid=7 ctx.procname=\"g\"\n"
		"30 1 u:lttng_ust_cyg_profile:func_exit addr=9000 ctx.vtid=8 ctx.vpid=7 ctx.procname=\"h\"\n"
		"50 1 u:lttng_ust_cyg_profile:func_exit addr=4112 ctx.vtid=7 ctx.vpid=7 ctx.procname=\"g\"\n"
		"60 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 "
		"parent_span_id=0 event=\"sr\" ctx.vtid=7 ctx.vpid=7\n"
		"65 0 u:lttng_ust_cyg_profile:func_entry addr=77 ctx.vtid=7 ctx.vpid=7 ctx.procname=\"g\"\n"
		"80 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 "
		"parent_span_id=0 event=\"ss\" ctx.vtid=7 ctx.vpid=7\n");
	g_assert_nonnull(strstr(report, "gears+0x10"));
	g_assert_nonnull(strstr(report, "gears+0x20"));
	g_assert_nonnull(strstr(report, "\"0x4d\""));
	g_assert_nonnull(strstr(report, "\"0x2328\""));
}

/* Exits that do not say of which function: of the innermost one of their thread. */
static void test_functions_fast(void)
{
#define FAST(at, what, ctx) at " 0 u:lttng_ust_cyg_profile_fast:func_" what " " ctx "ctx.procname=\"g\"\n"
	g_autofree char *report = every_cut("functions_fast",
		FAST("10", "exit", "ctx.vtid=7 ") FAST("20", "entry addr=16", "ctx.vtid=7 ")
		FAST("30", "entry addr=17", "ctx.vtid=7 ") FAST("40", "entry addr=18", "ctx.vtid=8 ")
		FAST("50", "exit", "ctx.vtid=7 ") FAST("60", "exit", "ctx.vtid=7 ")
		FAST("70", "exit", "") FAST("80", "exit", "ctx.vtid=8 "));
	static const char *const wanted[] = {
		"g,,localhost,,7,10,10,0,0,partial", "g,0x10,localhost,,7,20,60,40,20,complete",
		"g,0x11,localhost,,7,30,50,20,20,complete", "g,0x12,localhost,,8,40,80,40,40,complete",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++)
		g_assert_nonnull(strstr(report, wanted[i]));
}

#define OPENS(ts, cpu, tid, path, fd) \
	#ts "0 " #cpu " syscall_entry_openat ctx.tid=" #tid " ctx.pid=" #tid \
	" dfd=-100 filename=\"" path "\" flags=0\n" \
	#ts "1 " #cpu " syscall_exit_openat ctx.tid=" #tid " ctx.pid=" #tid " ret=" #fd "\n"
#define WRITES(ts, cpu, tid, fd, bytes) \
	#ts "0 " #cpu " syscall_entry_write ctx.tid=" #tid " ctx.pid=" #tid " fd=" #fd " count=" #bytes "\n" \
	#ts "1 " #cpu " syscall_exit_write ctx.tid=" #tid " ctx.pid=" #tid " ret=" #bytes "\n"
#define CLONES(call) \
	"10 0 " call "\n" \
	"11 0 sched_process_fork ctx.tid=7 ctx.pid=7 parent_tid=7 child_tid=8 parent_pid=7 child_pid=8\n"

/* Who wrote how much to which file: is the line in the report? */
static bool wrote(const char *report, int tid, const char *path, int bytes)
{
	g_auto(GStrv) lines = g_strsplit(report, "\n", -1);
	g_autofree char *file = g_strdup_printf(",%s,", path), *sum = g_strdup_printf(",0,1,0,%d,", bytes);
	g_autofree char *thread = g_strdup_printf(",%d,", tid);
	for (char **l = lines; *l; l++)
		if (strstr(*l, file) && strstr(*l, sum) && strstr(*l, thread))
			return true;
	return false;
}

/* clone() with CLONE_FILES and without CLONE_THREAD: two processes have one descriptor table, until one of them
 * calls exec or unshare(). Without the flag, the child has a copy. */
static void test_shared_files(void)
{
	g_autofree char *shared = every_cut("shared files",
		CLONES("syscall_entry_clone ctx.tid=7 ctx.pid=7 flags=1041")
		OPENS(2, 1, 8, "/of-child", 5) WRITES(3, 0, 7, 5, 33)
		"40 1 sched_process_exec ctx.tid=8 ctx.pid=8 filename=\"x\" tid=8 old_tid=8\n"
		OPENS(5, 1, 8, "/after", 6) WRITES(6, 0, 7, 6, 66));
	g_assert_true(wrote(shared, 7, "/of-child", 33));
	g_assert_true(wrote(shared, 7, "fd 6", 66));
	g_autofree char *options = every_cut("flags in two parts",
		CLONES("syscall_entry_clone ctx.tid=7 ctx.pid=7 flags.options=4") OPENS(2, 1, 8, "/of-child", 5)
		WRITES(3, 0, 7, 5, 33));
	g_assert_true(wrote(options, 7, "/of-child", 33));
	g_autofree char *again = every_cut("in the same second",
		OPENS(0, 0, 7, "/first", 5) CLONES("syscall_entry_clone ctx.tid=7 ctx.pid=7 flags=1041")
		WRITES(2, 0, 7, 5, 22) "30 1 syscall_entry_close ctx.tid=8 ctx.pid=8 fd=5\n"
		OPENS(4, 1, 8, "/second", 5) WRITES(5, 0, 7, 5, 55));
	g_assert_true(wrote(again, 7, "/first", 22));
	g_assert_true(wrote(again, 7, "/second", 55));
	g_autofree char *copied = every_cut("copied files",
		OPENS(0, 0, 7, "/first", 5) CLONES("syscall_entry_clone ctx.tid=7 ctx.pid=7 flags=17")
		"30 1 syscall_entry_close ctx.tid=8 ctx.pid=8 fd=5\n"
		OPENS(4, 1, 8, "/second", 5) WRITES(5, 0, 7, 5, 55));
	g_assert_true(wrote(copied, 7, "/first", 55));
}

/* The flags of clone3() are unknown: what one of both changes afterwards is unknown in the other. */
static void test_maybe_shared_files(void)
{
	g_autofree char *maybe = every_cut("maybe shared",
		OPENS(0, 0, 7, "/first", 5) CLONES("syscall_entry_clone3 ctx.tid=7 ctx.pid=7 uargs=1 size=88")
		WRITES(2, 1, 8, 5, 22) OPENS(3, 1, 8, "/of-child", 6) WRITES(4, 0, 7, 6, 44));
	g_assert_true(wrote(maybe, 8, "/first", 22));
	g_assert_true(wrote(maybe, 7, "fd 6", 44));
	g_autofree char *closed = every_cut("closed by the child",
		OPENS(0, 0, 7, "/first", 5) CLONES("syscall_entry_clone3 ctx.tid=7 ctx.pid=7 uargs=1 size=88")
		"30 1 syscall_entry_close ctx.tid=8 ctx.pid=8 fd=5\n" WRITES(4, 0, 7, 5, 44)
		"50 1 sched_process_exec ctx.tid=8 ctx.pid=8 filename=\"x\" tid=8 old_tid=8\n"
		OPENS(6, 1, 8, "/after", 6));
	g_assert_true(wrote(closed, 7, "fd 5", 44));
}

/* A thread that unshares has its own table; its process has the old one. */
static void test_unshared_files(void)
{
	static const char *const how[] = {
		"30 1 syscall_exit_unshare ctx.tid=9 ctx.pid=7 ret=0\n",
		"30 1 syscall_exit_unshare ctx.tid=9 ctx.pid=7 ret=-1\n",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(how); i++) {
		g_autofree char *script = g_strdup_printf("%s%s%s%s", OPENS(0, 0, 7, "/first", 5)
			"11 0 sched_process_fork parent_tid=7 child_tid=9 parent_pid=7 child_pid=7\n"
			"12 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
			"13 1 syscall_entry_unshare ctx.tid=9 ctx.pid=7 unshare_flags=1024\n", how[i],
			"40 1 syscall_entry_close ctx.tid=9 ctx.pid=7 fd=5\n"
			"50 1 syscall_entry_openat ctx.tid=9 ctx.pid=7 dfd=-100 filename=\"/own\" flags=0\n"
			"51 1 syscall_exit_openat ctx.tid=9 ctx.pid=7 ret=5\n", WRITES(6, 0, 7, 5, 66));
		g_autofree char *report = every_cut("unshare", script);
		g_assert_true(wrote(report, 7, i ? "/own" : "/first", 66));
	}
}

#define LOST "40 0 %s!lost begin=30 end=40 events=5\n"
#define DUPS(ts, cpu, tid, from, to) \
	#ts "0 " #cpu " syscall_entry_dup2 ctx.tid=" #tid " ctx.pid=" #tid " oldfd=" #from " newfd=" #to "\n" \
	#ts "1 " #cpu " syscall_exit_dup2 ctx.tid=" #tid " ctx.pid=" #tid " ret=" #to "\n"
#define FORKS(ts) \
	#ts "5 0 sched_process_fork ctx.tid=7 ctx.pid=7 parent_tid=7 child_tid=8 parent_pid=7 child_pid=8\n"

/* Lost kernel events of a host may have changed each of its descriptors: its file is unknown until told again. */
static void test_files_after_loss(void)
{
	static const struct { const char *what, *script, *domain; int tid; const char *path; int bytes; } cases[] = {
		{ "before the loss", OPENS(1, 0, 7, "/first", 5) WRITES(2, 0, 7, 5, 22) LOST WRITES(5, 0, 7, 5, 55), "",
		  7, "/first", 22 },
		{ "after the loss", OPENS(1, 0, 7, "/first", 5) WRITES(2, 0, 7, 5, 22) LOST WRITES(5, 0, 7, 5, 55), "",
		  7, "fd 5", 55 },
		{ "of another CPU", OPENS(1, 1, 7, "/first", 5) LOST WRITES(5, 1, 7, 5, 55), "", 7, "fd 5", 55 },
		{ "opened in it", OPENS(1, 1, 7, "/first", 5) "35 1 syscall_exit_dup2 ctx.tid=7 ctx.pid=7 ret=9\n" LOST
		  WRITES(5, 1, 7, 9, 55), "", 7, "fd 9", 55 },
		{ "loss of programs", OPENS(1, 0, 7, "/first", 5) LOST WRITES(5, 0, 7, 5, 55), "u:", 7, "/first", 55 },
		{ "of another host", OPENS(1, 0, 7, "/first", 5) LOST WRITES(5, 0, 7, 5, 55), "k@other:",
		  7, "/first", 55 },
		{ "loss before the open", LOST OPENS(5, 0, 7, "/first", 5)
		  WRITES(6, 0, 7, 5, 66), "", 7, "/first", 66 },
		{ "opened again", OPENS(1, 0, 7, "/first", 5) LOST OPENS(5, 0, 7, "/again", 5)
		  WRITES(6, 0, 7, 5, 66), "",
		  7, "/again", 66 },
		{ "dumped again", OPENS(1, 0, 7, "/first", 5) LOST
		  "50 0 lttng_statedump_file_descriptor pid=7 fd=5 filename=\"/dumped\" flags=0\n"
		  WRITES(6, 0, 7, 5, 66), "", 7, "/dumped", 66 },
		{ "dumped after it only", WRITES(2, 0, 7, 5, 22) LOST
		  "50 0 lttng_statedump_file_descriptor pid=7 fd=5 filename=\"/dumped\" flags=0\n", "", 7, "fd 5", 22 },
		{ "inherited before it", OPENS(1, 0, 7, "/first", 5) FORKS(2) LOST
		  WRITES(5, 0, 8, 5, 55), "", 8, "fd 5", 55 },
		{ "inherited after it", OPENS(1, 0, 7, "/first", 5) LOST FORKS(5)
		  WRITES(6, 0, 8, 5, 66), "", 8, "fd 5", 66 },
		{ "told, then inherited", LOST OPENS(5, 0, 7, "/first", 5) FORKS(5) WRITES(6, 0, 8, 5, 66), "",
		  8, "/first", 66 },
		{ "copied before it", OPENS(1, 0, 7, "/first", 5) DUPS(2, 0, 7, 5, 6) LOST WRITES(5, 0, 7, 6, 55), "",
		  7, "fd 6", 55 },
		{ "copied after it", OPENS(1, 0, 7, "/first", 5) LOST DUPS(5, 0, 7, 5, 6) WRITES(6, 0, 7, 6, 66), "",
		  7, "fd 6", 66 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_auto(GStrv) around = g_strsplit(cases[i].script, "%s", 2);
		g_autofree char *script = g_strjoinv(cases[i].domain, around);
		g_autofree char *report = every_cut(cases[i].what, script);
		if (!wrote(report, cases[i].tid, cases[i].path, cases[i].bytes))
			g_test_message("%s: %d has not written %d bytes to %s", cases[i].what, cases[i].tid,
				       cases[i].bytes, cases[i].path);
		g_assert_true(wrote(report, cases[i].tid, cases[i].path, cases[i].bytes));
	}
}

/* A thread that is not the leader calls exec: it continues with the leader's tid. The call counts for the caller. */
static void test_exec_by_thread(void)
{
	g_autofree char *report = every_cut("exec by a thread",
		"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"12 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		"20 1 syscall_entry_execve ctx.tid=9 ctx.pid=7 filename=\"/x\"\n"
		"30 1 sched_switch prev_tid=9 prev_state=2 next_tid=0\n"
		"35 0 sched_process_exit ctx.tid=7 ctx.pid=7 tid=7\n"
		"36 0 sched_switch prev_tid=7 prev_state=32 next_tid=0\n"
		"40 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
		"50 1 sched_process_exec ctx.tid=7 ctx.pid=7 filename=\"/x\" tid=7 old_tid=9\n"
		"60 1 syscall_exit_execve ctx.tid=7 ctx.pid=7 ret=0\n"
		WRITES(7, 1, 7, 1, 77));
	g_auto(GStrv) lines = g_strsplit(report, "\n", -1);
	bool found = false;
	for (char **l = lines; *l; l++)
		found |= strstr(*l, ",9,,execve,1,0,") && strstr(*l, ",40,40,40,40,");
	if (!found)
		g_test_message("%s", report);
	g_assert_true(found);
}

/* The same, and the thread has the leader's tid before the event of it: in an interrupt, and when it sleeps. */
static void test_exec_seen_before(void)
{
	static const char *const before[] = {
		"45" MS " 1 irq_handler_entry ctx.tid=7 irq=3\n47" MS " 1 irq_handler_exit ctx.tid=7 irq=3\n",
		"44" MS " 1 irq_softirq_raise ctx.tid=7 vec=1\n45" MS " 1 irq_softirq_entry ctx.tid=7 vec=1\n"
		"46" MS " 1 irq_softirq_exit ctx.tid=7 vec=1\n",
		"44" MS " 1 sched_switch prev_tid=7 prev_state=1 next_tid=0\n45" MS " 0 sched_waking ctx.tid=0 tid=7\n"
		"46" MS " 1 sched_switch prev_tid=0 prev_state=0 next_tid=7\n",
	};
	static const char *const rows[] = {
		"\nlocalhost,7,7,,x,20" MS ",0,18" MS ",,2" MS ",,0,0,",
		"\nlocalhost,7,7,,x,21" MS ",0,20" MS ",,1" MS ",,0,0,",
		"\nlocalhost,7,7,,x,19" MS ",0,19" MS ",,,1" MS ",1" MS ",0,",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(before); i++) {
		g_autofree char *script = g_strdup_printf(
			"12" MS " 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n"
			"20" MS " 1 syscall_entry_execve ctx.tid=9 ctx.pid=7 filename=\"/x\"\n"
			"%s"
			"50" MS " 1 sched_process_exec ctx.tid=7 ctx.pid=7 filename=\"/x\" tid=7 old_tid=9\n"
			"65" MS " 1 syscall_exit_execve ctx.tid=7 ctx.pid=7 ret=0\n"
			"65" MS " 1 sched_switch prev_tid=7 prev_state=1 next_tid=0\n", before[i]);
		struct recording *r = traces_record_script(script);
		g_autofree char *report = report_of_slice(slice_of(r, 0, recording_n(r), true));
		if (!strstr(report, rows[i]))
			g_test_message("%zu: %s", i, report);
		g_assert_nonnull(strstr(report, rows[i]));
		g_assert_nonnull(strstr(report, "\nlocalhost,7,9,,,"));	/* until then */
		size_t n = recording_n(r), exec = n - 4;	/* not cut just before its event */
		for (size_t at = 1; at < n; at += at + 1 == exec ? 2 : 1) {
			struct slice *whole = slice_stitch(slice_of(r, 0, at, false), slice_of(r, at, n, false));
			g_autofree char *got = report_of_slice(slice_root(whole));
			g_autofree char *what = g_strdup_printf("exec %zu cut at %zu", i, at);
			report_assert_equal(what, report, got);
		}
		recording_free(r);
	}
}

/* ---- figures of scripts ---- */

/* The calls of the thread or process in the report: "getpid 2 1": two, of which one has an unknown latency. */
static char *calls_of(const char *script, enum view_by by, int32_t pid, int32_t tid)
{
	struct recording *r = traces_record_script(script);
	struct slice *s = slice_of(r, 0, recording_n(r), true);
	struct timeline *tl = timeline_new(0);
	const struct view *v = view_find("syscalls");
	g_autoptr(GString) text = g_string_new(NULL);
	bool unpaired = false;

	timeline_apply(tl, slice_finish(s));
	struct view_query q = VIEW_QUERY_INIT;
	q.by = by;
	struct rows *rows = v->build(tl, &q);
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value x[5];
		static const char *const ids[] = { "pid", "tid", "syscall", "count", "total_ns" };
		for (size_t k = 0; k < G_N_ELEMENTS(ids); k++)
			x[k] = column_value(&v->columns[view_column(v, ids[k])], rows->rows->pdata[i], rows);
		unpaired |= x[3].i > 0 && x[4].kind == VALUE_NONE;
		if ((x[0].kind == VALUE_NONE ? -1 : x[0].i) != pid || (x[1].kind == VALUE_NONE ? -1 : x[1].i) != tid)
			continue;
		g_string_append_printf(text, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " ", x[2].s, x[3].i,
				       x[4].kind == VALUE_NONE ? -1 : x[4].i);
	}
	g_autofree char *missing = view_missing_text(v, tl);
	g_assert_cmpstr(missing, ==, unpaired ? "sched_switch or the context tid" : NULL);
	rows_free(rows);
	timeline_free(tl);
	slice_free(s);
	recording_free(r);
	return g_string_free(g_steal_pointer(&text), false);
}

/* ---- calls that restart_syscall continues ---- */

/* How long thread 7 was blocked: "timer 10 poll 20". */
static char *blocked_of(const char *script)
{
	static const char *const ids[] = { "disk", "timer", "poll", "futex", "fault", "stopped", "other", "unknown" };
	struct recording *r = traces_record_script(script);
	struct slice *s = slice_of(r, 0, recording_n(r), true);
	struct timeline *tl = timeline_new(0);
	const struct view *v = view_find("timeline");
	struct view_query q = VIEW_QUERY_INIT;
	GString *text = g_string_new(NULL);

	timeline_apply(tl, slice_finish(s));
	q.by = BY_THREAD;
	struct rows *rows = v->build(tl, &q);
	for (size_t k = 0; k < G_N_ELEMENTS(ids); k++) {
		g_autofree char *id = g_strdup_printf("%s_ns", ids[k]);
		int64_t ns = 0;
		for (guint i = 0; i < rows->rows->len; i++) {
			const void *row = rows->rows->pdata[i];
			if (column_value(&v->columns[view_column(v, "tid")], row, rows).i == 7)
				ns += column_value(&v->columns[view_column(v, id)], row, rows).i;
		}
		if (ns)
			g_string_append_printf(text, "%s%s %" G_GINT64_FORMAT, text->len ? " " : "", ids[k], ns);
	}
	rows_free(rows);
	timeline_free(tl);
	slice_free(s);
	recording_free(r);
	return g_string_free(text, false);
}

#define RUNS(at) at " 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
#define WAITS(at, woken, runs) at " 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n" \
	woken " 0 sched_waking tid=7 target_cpu=0\n" RUNS(runs)
#define CALLS(at, call) at " 0 syscall_entry_" call " ctx.tid=7\n"
#define EXITS(at, call, ret) at " 0 syscall_exit_" call " ret=" ret "\n"
#define INTERRUPTED(call) CALLS("20", call) WAITS("30", "41", "45") EXITS("50", call, "-516")
#define RESTARTED(ret) CALLS("60", "restart_syscall") WAITS("70", "90", "92") EXITS("95", "restart_syscall", ret)
#define AGAIN CALLS("160", "restart_syscall") WAITS("170", "270", "280") EXITS("290", "restart_syscall", "0")

/* What a wait in restart_syscall waits for is known from the call that a signal interrupted, wherever it is cut. */
static void test_restart(void)
{
	static const struct { const char *what, *script, *blocked; } cases[] = {
		{ "nanosleep", INTERRUPTED("nanosleep") RESTARTED("0"), "timer 31" },
		{ "clock_nanosleep", INTERRUPTED("clock_nanosleep") RESTARTED("0"), "timer 31" },
		{ "poll", INTERRUPTED("poll") RESTARTED("0"), "poll 31" },
		{ "futex", INTERRUPTED("futex uaddr=4096 op=0 val=1") RESTARTED("0"), "futex 31" },
		{ "futex of 32 bits", INTERRUPTED("futex_time32 uaddr=4096 op=0 val=1") RESTARTED("0"), "futex 31" },
		{ "restarted twice", INTERRUPTED("nanosleep") RESTARTED("-516") AGAIN, "timer 131" },
		{ "restarted twice, within the first", INTERRUPTED("nanosleep") RESTARTED("-4") AGAIN,
		  "timer 31 other 100" },
		{ "stopped before it", INTERRUPTED("poll") "52 0 sched_switch prev_tid=7 prev_state=4 next_tid=0\n"
		  "55 0 sched_waking tid=7 target_cpu=0\n" RUNS("57") RESTARTED("0"), "poll 31 stopped 3" },
		{ "page fault before it", INTERRUPTED("poll") WAITS("52", "57", "58") RESTARTED("0"),
		  "poll 31 fault 5" },
		{ "a handler ran", INTERRUPTED("nanosleep") CALLS("52", "rt_sigreturn") RESTARTED("0"),
		  "timer 11 other 20" },
		{ "a handler with a call", INTERRUPTED("nanosleep") CALLS("52", "getpid") EXITS("53", "getpid", "7")
		  CALLS("54", "rt_sigreturn") RESTARTED("0"), "timer 11 other 20" },
		{ "another call ended", INTERRUPTED("nanosleep") CALLS("52", "getpid") EXITS("53", "getpid", "-516")
		  RESTARTED("0"), "timer 11 other 20" },
		{ "it was not interrupted", CALLS("20", "nanosleep") WAITS("30", "41", "45")
		  EXITS("50", "nanosleep", "0") RESTARTED("0"), "timer 11 other 20" },
		{ "no such call", CALLS("20", "read fd=3") WAITS("30", "41", "45") EXITS("50", "read", "-516")
		  RESTARTED("0"), "other 31" },
		{ "without the entry", RUNS("25") WAITS("30", "41", "45") EXITS("50", "nanosleep", "-516")
		  RESTARTED("0"), "timer 31" },
		{ "without the exit", CALLS("20", "nanosleep") WAITS("30", "41", "45") RESTARTED("0"),
		  "timer 11 other 20" },
		{ "the exit of another one", CALLS("20", "nanosleep") WAITS("30", "41", "45")
		  EXITS("50", "poll", "-516") RESTARTED("0"), "timer 11 other 20" },
		{ "lost before it", INTERRUPTED("nanosleep") "57 0 !lost begin=53 end=57 events=3\n"
		  RESTARTED("0"), "timer 11 other 20 unknown 4" },
		{ "lost in the call", CALLS("20", "nanosleep") WAITS("30", "41", "45")
		  "48 0 !lost begin=46 end=48 events=3\n" EXITS("50", "nanosleep", "-516") RESTARTED("0"),
		  "timer 31 unknown 2" },
		{ "open", INTERRUPTED("nanosleep") CALLS("60", "restart_syscall")
		  "70 0 sched_switch prev_tid=7 prev_state=1 next_tid=5\n"
		  "90 0 sched_switch prev_tid=5 prev_state=1 next_tid=0\n", "timer 31" },
		{ "preempted in it", INTERRUPTED("futex uaddr=4096 op=0 val=1") CALLS("60", "restart_syscall")
		  "62 0 sched_switch prev_tid=7 prev_state=0 next_tid=0\n" RUNS("64") WAITS("70", "90", "92"),
		  "futex 31" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *blocked = blocked_of(cases[i].script);
		g_test_message("%s: %s", cases[i].what, blocked);
		g_assert_cmpstr(blocked, ==, cases[i].blocked);
		g_free(every_cut(cases[i].what, cases[i].script));
	}
}

/* ---- user-space events with the CPU that their thread has left ---- */

/* The spans of a script: "SPAN TID PID USER UNKNOWN". It is cut before record `at`; 0: it is not. */
static char *spans_of(const char *script, size_t at)
{
	static const char *const ids[] = { "name", "tid", "pid", "user_ns", "unknown_ns" };
	struct recording *r = traces_record_script(script);
	struct slice *s = slice_of(r, 0, at ? at : recording_n(r), true);
	struct timeline *tl = timeline_new(0);
	const struct view *v = view_find("spans");
	struct view_query q = VIEW_QUERY_INIT;
	GString *text = g_string_new(NULL);

	if (at)
		s = slice_stitch(s, slice_of(r, at, recording_n(r), false));
	timeline_apply(tl, slice_finish(s));
	struct rows *rows = v->build(tl, &q);
	for (guint i = 0; i < rows->rows->len; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(ids); k++) {
			struct value x = column_value(&v->columns[view_column(v, ids[k])], rows->rows->pdata[i], rows);
			if (x.kind == VALUE_TEXT)
				g_string_append_printf(text, "%s", x.s);
			else
				g_string_append_printf(text, " %" G_GINT64_FORMAT "%s", x.kind == VALUE_NONE ? -1 : x.i,
						       k + 1 == G_N_ELEMENTS(ids) ? "; " : "");
		}
	rows_free(rows);
	timeline_free(tl);
	slice_free(s);
	recording_free(r);
	return g_string_free(text, false);
}

#define SPAN_EVENT(at, cpu, name, span, parent, event, pid, tid) \
	#at " " #cpu " u:zipkin:timestamp trace_name=\"" name "\" service_name=\"s\" trace_id=1 span_id=" #span \
	" parent_span_id=" #parent " event=\"" event "\" ctx.vpid=" #pid " ctx.vtid=" #tid "\n"

/* Thread 71 of process 7 has moved to CPU 1, and its first event has CPU 0, where thread 5 is in a call or computes. Of
 * a container, the tid of its event is another in the kernel. */
static void test_stale_cpu(void)
{
	static const struct { const char *before, *after, *calls; } fives[] = {
		{ "syscall_entry_read ctx.tid=5 ctx.pid=5 fd=3", "syscall_exit_read ctx.tid=5 ctx.pid=5 ret=0",
		  "read 1 40 " },
		{ "syscall_exit_read ctx.tid=5 ctx.pid=5 ret=0", "syscall_entry_read ctx.tid=5 ctx.pid=5 fd=3",
		  "read 0 0 " },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(fives); i++) {
		g_autofree char *script = g_strdup_printf(
			"1 1 sched_switch prev_tid=0 prev_state=0 next_tid=71\n"
			"5 0 sched_switch prev_tid=0 prev_state=0 next_tid=5\n"
			"10 0 %s\n" SPAN_EVENT(20, 0, "root", 1, 0, "sr", 7, 71)
			SPAN_EVENT(30, 1, "child", 2, 1, "start", 7, 71)
			SPAN_EVENT(40, 1, "child", 2, 1, "end", 7, 71)
			SPAN_EVENT(45, 1, "root", 1, 0, "ss", 7, 71)
			"50 0 %s\n", fives[i].before, fives[i].after);
		g_autofree char *calls = calls_of(script, BY_THREAD, 5, 5);
		g_assert_cmpstr(calls, ==, fives[i].calls);
		for (size_t at = 0; at < 14; at++) {
			g_autofree char *got = spans_of(script, at);
			/* a slice that begins between the switch and the event knows it from the next event on */
			if (!at || strcmp(got, "root 71 7 15 10; child 71 7 10 0; "))
				g_assert_cmpstr(got, ==, "root 71 7 25 0; child 71 7 10 0; ");
		}
	}
	g_autofree char *contained = spans_of(
		"1 1 sched_switch prev_tid=0 prev_state=0 next_tid=71\n"
		"2 1 syscall_entry_getpid ctx.tid=71 ctx.pid=71\n"
		"3 1 syscall_exit_getpid ctx.tid=71 ctx.pid=71 ret=7\n"
		"5 0 sched_switch prev_tid=0 prev_state=0 next_tid=1005\n"
		"10 0 syscall_exit_read ctx.tid=1005 ctx.pid=1005 ret=0\n"
		SPAN_EVENT(20, 0, "root", 1, 0, "sr", 71, 71)
		SPAN_EVENT(45, 0, "root", 1, 0, "ss", 71, 71)
		"60 0 sched_switch prev_tid=1005 prev_state=1 next_tid=0\n", 0);
	g_assert_cmpstr(contained, ==, "root 1005 1005 25 0; ");
}

#define DUMPED(at, tid, vtid, vpid, ns) \
	#at " 2 lttng_statedump_process_pid_ns tid=" #tid " vtid=" #vtid " vpid=" #vpid " ns_level=1 ns_inum=" ns "\n"
#define MOVED SPAN_EVENT(40, 0, "root", 1, 0, "sr", 7, 71) SPAN_EVENT(50, 1, "child", 2, 1, "start", 7, 71) \
	SPAN_EVENT(60, 1, "child", 2, 1, "end", 7, 71) SPAN_EVENT(65, 1, "root", 1, 0, "ss", 7, 71)

/* The same in a container: the kernel's events say which tid a thread has there. */
static void test_stale_cpu_in_container(void)
{
	static const struct { const char *told, *expected; } each[] = {
		{ DUMPED(1, 1005, 5, 5, "4026532501") DUMPED(2, 571, 71, 7, "4026532500"),
		  "root 571 507 25 0; child 571 507 10 0; " },
		{ DUMPED(1, 1005, 5, 5, "4026532501")
		  "2 2 sched_process_fork parent_tid=507 child_tid=571 parent_pid=507 child_pid=507 child_comm=\"a\" "
		  "child_ns_inum=4026532500 vtids[0]=571 vtids[1]=71\n", "root 571 507 25 0; child 571 507 10 0; " },
		/* which thread has the tid 71 there is not known */
		{ DUMPED(1, 1005, 5, 5, "4026532501"), "root 71 7 -1 25; child 571 507 10 0; " },
		/* of another namespace, with the same tid */
		{ DUMPED(1, 1005, 5, 5, "4026532501") DUMPED(2, 571, 71, 7, "4026532500")
		  DUMPED(3, 1071, 71, 9, "4026532501"), "root 571 507 25 0; child 571 507 10 0; " },
		{ DUMPED(1, 1005, 5, 5, "4026532501") DUMPED(2, 571, 71, 7, "4026532500")
		  DUMPED(3, 1071, 71, 7, "4026532501"), "root 71 7 -1 25; child 571 507 10 0; " },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		g_autofree char *script = g_strdup_printf("%s"
			"10 1 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=571\n"
			"12 1 syscall_entry_getpid ctx.tid=571 ctx.pid=507\n"
			"13 1 syscall_exit_getpid ctx.tid=571 ctx.pid=507 ret=7\n"
			"15 0 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=1005\n"
			"20 0 syscall_exit_read ctx.tid=1005 ctx.pid=1005 ret=0\n" MOVED
			"68 1 syscall_entry_getpid ctx.tid=571 ctx.pid=507\n"
			"70 0 syscall_entry_read ctx.tid=1005 ctx.pid=1005 fd=3\n", each[i].told);
		g_autofree char *got = spans_of(script, 0), *calls = calls_of(script, BY_THREAD, 1005, 1005);
		g_test_message("%zu: %s, %s", i, got, calls);
		g_assert_cmpstr(got, ==, each[i].expected);
		g_assert_cmpstr(calls, ==, "read 0 0 ");
	}
}

/* A span begins before any event tells what its thread does. Then it is runnable, runs, and makes a span inside. */
static void test_begins_unknown(void)
{
	static const char script[] =
		SPAN_EVENT(15, 0, "root", 1, 0, "sr", 7, 71)
		"25 1 sched_waking ctx.tid=8 tid=99 target_cpu=1\n"
		"29 1 sched_wakeup ctx.tid=8 tid=71 target_cpu=0\n"
		"30 0 sched_switch ctx.tid=0 prev_tid=0 prev_state=0 next_tid=71\n"
		SPAN_EVENT(32, 0, "child", 2, 1, "start", 7, 71)
		SPAN_EVENT(40, 0, "child", 2, 1, "end", 7, 71)
		SPAN_EVENT(45, 0, "root", 1, 0, "ss", 7, 71)
		"50 0 sched_switch ctx.tid=71 prev_tid=71 prev_state=1 next_tid=0\n";
	g_autofree char *got = spans_of(script, 0);
	g_assert_cmpstr(got, ==, "root 71 7 -1 14; child 71 7 -1 0; ");
	g_free(every_cut("begins unknown", script));
}

static int64_t known_ns(const struct span *s)
{
	return s->end_ns - s->begin_ns - s->part[PART_UNKNOWN];
}

/* Returns how many spans have a child on the same thread. What is known of the child is known of the span, too. */
static unsigned check_children(const struct timeline *tl, const char *what)
{
	unsigned n = 0;
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *child = timeline_span(tl, i);
		for (size_t k = 0; child->thread != ID_NONE && k < timeline_n_spans(tl); k++) {
			const struct span *s = timeline_span(tl, k);
			if (s->span_id != child->parent_id || s->trace_id != child->trace_id || s == child ||
			    s->thread != child->thread || s->state != SPAN_COMPLETE || child->state != SPAN_COMPLETE ||
			    child->begin_ns < s->begin_ns || child->end_ns > s->end_ns)
				continue;
			n++;
			if (known_ns(s) < known_ns(child))
				g_error("%s: of a span %" G_GINT64_FORMAT " ns are known, of its child %"
					G_GINT64_FORMAT, what, known_ns(s), known_ns(child));
		}
	}
	return n;
}

/* A recording that begins anywhere, and may be cut once more. */
static void test_children_known(gconstpointer name)
{
	struct recording *r = traces_record(name);
	unsigned found = 0;
	if (!r)
		return;
	for (int i = 0; i < 12; i++) {
		size_t n = recording_n(r), at = i ? (size_t)g_test_rand_int_range(0, (gint32)(n / 2)) : 0;
		size_t middle = (size_t)g_test_rand_int_range((gint32)at + 1, (gint32)n);
		g_autofree char *what = g_strdup_printf("%s from %zu, cut at %zu", (const char *)name, at, middle);
		struct slice *s = slice_stitch(slice_of(r, at, middle, true), slice_of(r, middle, n, false));
		struct timeline *tl = timeline_new(0);
		timeline_apply(tl, slice_finish(s));
		found += check_children(tl, what);
		timeline_free(tl);
		slice_free(s);
	}
	g_assert_cmpuint(found, >, 0);
	recording_free(r);
}

/* ---- kernels whose switches are not recorded ---- */

struct unswitched { const char *name, *a, *b; enum view_by by; int32_t pid[2], tid[2]; const char *expected[2]; };
static const struct unswitched unswitched[] = {
	/* A process may have several threads: one call of 7 began before b's, one later, and one has an exit. */
	{ "pid", "ctx.pid=7", "ctx.pid=8", BY_PROCESS, { 7, 8 }, { -1, -1 },
	  { "getpid 1 -1 read 2 -1 ", "read 1 -1 " } },
	{ "vpid", "ctx.vpid=7", "ctx.vpid=8", BY_PROCESS, { 7, 8 }, { -1, -1 },
	  { "getpid 1 -1 read 2 -1 ", "read 1 -1 " } },
	{ "procname", "ctx.procname=\"a\"", "ctx.procname=\"b\"", BY_PROCESS, { -1, -1 }, { -1, -1 },
	  { "getpid 1 -1 read 3 -1 ", "getpid 1 -1 read 3 -1 " } },
	{ "no contexts", "", "", BY_PROCESS, { -1, -1 }, { -1, -1 },
	  { "getpid 1 -1 read 3 -1 ", "getpid 1 -1 read 3 -1 " } },
	{ "of a container", "ctx.vpid=7 ctx.vtid=7 ctx.pid_ns=4026532500",
	  "ctx.vpid=7 ctx.vtid=7 ctx.pid_ns=4026532501",
	  BY_PROCESS, { -1, -1 }, { -1, -1 }, { "getpid 1 -1 read 3 -1 ", "getpid 1 -1 read 3 -1 " } },
	{ "tid", "ctx.tid=7", "ctx.tid=8", BY_THREAD, { -1, -1 }, { 7, 8 }, { "getpid 1 5 read 1 20 ", "read 1 20 " } },
	{ "vtid", "ctx.vpid=3 ctx.vtid=7", "ctx.vpid=3 ctx.vtid=8", BY_THREAD, { 3, 3 }, { 7, 8 },
	  { "getpid 1 5 read 1 20 ", "read 1 20 " } },
};

/* Only contexts tell who made a call. Calls are paired if they tell the thread; else their entries are counted. */
static void test_unswitched(gconstpointer data)
{
	const struct unswitched *c = data;
	g_autofree char *script = g_strdup_printf(
		"10 0 !no-switches\n"
		"10 0 syscall_entry_read fd=3 %s\n"
		"20 0 syscall_entry_read fd=3 %s\n"
		"30 1 u:my:event ctx.vtid=9 ctx.vpid=9\n"
		"40 0 syscall_exit_read ret=1 %s\n"
		"45 1 irq_handler_entry irq=3 %s\n"
		"46 1 irq_handler_exit irq=3 %s\n"
		"50 1 syscall_entry_read fd=3 %s\n"
		"70 1 syscall_exit_read ret=1 %s\n"
		"75 0 syscall_entry_getpid %s\n"
		"80 0 syscall_exit_getpid ret=7 %s\n", c->a, c->b, c->b, c->b, c->b, c->a, c->a, c->a, c->a);
	g_free(every_cut(c->name, script));
	for (size_t i = 0; i < G_N_ELEMENTS(c->expected); i++) {
		g_autofree char *got = calls_of(script, c->by, c->pid[i], c->tid[i]);
		g_assert_cmpstr(got, ==, c->expected[i]);
	}
}

#define CALLS_OF_TWO \
	"10 0 syscall_entry_read ctx.pid=7 fd=3\n20 0 syscall_entry_read ctx.pid=8 fd=3\n" \
	"40 0 syscall_exit_read ctx.pid=8 ret=1\n50 0 syscall_exit_read ctx.pid=7 ret=1\n" \
	"52 0 syscall_entry_getpid ctx.pid=7\n54 0 syscall_exit_getpid ctx.pid=7 ret=7\n"
static const struct {
	const char *name, *script;
	struct { int32_t pid, tid; const char *expected; } of[4];
} partly[] = {
	{ "on another CPU", "5 1 sched_switch prev_tid=0 prev_state=0 next_tid=9\n" CALLS_OF_TWO
	  "60 1 syscall_entry_getpid ctx.pid=9\n70 1 syscall_exit_getpid ctx.pid=9 ret=9\n"
	  "90 1 sched_switch prev_tid=9 prev_state=1 next_tid=0\n",
	  { { 7, -1, "getpid 1 -1 read 1 -1 " }, { 8, -1, "read 1 -1 " }, { 9, 9, "getpid 1 10 " } } },
	{ "later", CALLS_OF_TWO "60 0 sched_switch ctx.pid=7 prev_tid=9 prev_state=1 next_tid=8\n"
	  "62 0 syscall_entry_getpid ctx.pid=8\n70 0 syscall_exit_getpid ctx.pid=8 ret=8\n"
	  "90 0 sched_switch ctx.pid=8 prev_tid=8 prev_state=1 next_tid=0\n",
	  { { 7, -1, "getpid 1 -1 read 1 -1 " }, { 8, -1, "read 1 -1 " }, { 8, 8, "getpid 1 8 " }, { 7, 9, "" } } },
	{ "later, from an idle task",
	  "10 0 syscall_entry_read ctx.pid=7 fd=3\n20 0 syscall_exit_read ctx.pid=7 ret=1\n"
	  "60 0 sched_switch prev_tid=0 prev_state=0 next_tid=8\n",
	  { { 7, -1, "read 1 -1 " } } },
	{ "later, from another process", "5 1 lttng_statedump_process_state ctx.pid=3 tid=9 pid=4 ppid=1\n"
	  "10 0 syscall_entry_read ctx.pid=7 fd=3\n20 0 syscall_exit_read ctx.pid=7 ret=1\n"
	  "60 0 sched_switch prev_tid=9 prev_state=1 next_tid=8\n",
	  { { 7, -1, "read 1 -1 " }, { 4, 9, "" } } },
	{ "on all CPUs", "10 0 syscall_entry_read ctx.pid=7 fd=3\n20 0 syscall_exit_read ctx.pid=7 ret=1\n"
	  "60 0 sched_switch ctx.pid=7 prev_tid=9 prev_state=1 next_tid=8\n",
	  { { 7, 9, "read 1 10 " } } },
};

/* Some switches are recorded, and contexts have the pid only. */
static void test_partly_switched(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(partly); i++) {
		g_free(every_cut(partly[i].name, partly[i].script));
		for (size_t k = 0; k < G_N_ELEMENTS(partly[i].of) && partly[i].of[k].expected; k++) {
			g_autofree char *got = calls_of(partly[i].script, BY_THREAD, partly[i].of[k].pid,
							partly[i].of[k].tid);
			g_test_message("%s: of %d/%d", partly[i].name, partly[i].of[k].pid, partly[i].of[k].tid);
			g_assert_cmpstr(got, ==, partly[i].of[k].expected);
		}
	}
}

static void add_identity(void)
{
	static const char *const with_spans[] = { "snapshot/trace", "kernel-ust/trace", "lost/trace" };
	g_test_add_func("/laws/exec-by-thread", test_exec_by_thread);
	g_test_add_func("/laws/exec-seen-before", test_exec_seen_before);
	g_test_add_func("/laws/partly-switched", test_partly_switched);
	g_test_add_func("/laws/stale-cpu", test_stale_cpu);
	g_test_add_func("/laws/stale-cpu-in-container", test_stale_cpu_in_container);
	g_test_add_func("/laws/begins-unknown", test_begins_unknown);
	for (size_t i = 0; i < G_N_ELEMENTS(with_spans); i++) {
		g_autofree char *path = g_strdup_printf("/laws/children-known/%s", with_spans[i]);
		g_test_add_data_func(path, with_spans[i], test_children_known);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(unswitched); i++) {
		g_autofree char *path = g_strdup_printf("/laws/unswitched/%s", unswitched[i].name);
		g_test_add_data_func(path, &unswitched[i], test_unswitched);
	}
}

static void add_calls(void)
{
	g_test_add_func("/laws/last-call", test_last_call);
	g_test_add_func("/laws/restart", test_restart);
}

static void add_laws_of_links(void)
{
	g_test_add_func("/laws/durations", test_durations);
	g_test_add_func("/laws/links", test_links);
	g_test_add_func("/laws/links-by-texts", test_links_by_texts);
	g_test_add_func("/laws/ways", test_ways);
	g_test_add_func("/laws/every", test_every);
}

int main(int argc, char **argv)
{
	static const char *const names[] = {
		"kernel-ust/trace", "lost/trace", "lost/trace-overwrite", "snapshot/trace",
		"rotation/trace", "kernel-small/trace", "live/trace", "demo/trace", "pause/trace",
		"public/uneven-streams", "public/scp_src",
		"public/flipping-endianness", "ctf2/lost/trace", "ctf2/ust-both/ctf-2",
		"mix1/trace", "mix2/trace",
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		if (traces_too_long(names[i]))
			continue;
		g_autofree char *path = g_strdup_printf("/laws/cuts/%s", names[i]);
		g_test_add_data_func(path, names[i], test_cuts);
		g_autofree char *counting = g_strdup_printf("/laws/counting/%s", names[i]);
		if (i < 6 && i != 4)
			g_test_add_data_func(counting, names[i], test_counting);
	}
	static const char *const ruled[] = {
		"kernel-ust/trace", "lost/trace", "snapshot/trace", "kernel-small/trace",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(ruled); i++) {
		g_autofree char *path = g_strdup_printf("/laws/ruled/%s", ruled[i]);
		g_test_add_data_func(path, ruled[i], test_ruled);
	}
	g_test_add_data_func("/laws/cuts/public/glxgears-cyg-profile", "public/glxgears-cyg-profile",
			     test_cuts);
	g_test_add_data_func("/laws/counting/ctf2/lost/trace", "ctf2/lost/trace", test_counting);
	g_test_add_data_func("/laws/ruled/ctf2/ust-both/ctf-2", "ctf2/ust-both/ctf-2", test_ruled);
	g_test_add_func("/laws/silences", test_silences);
	g_test_add_func("/laws/annotations", test_annotations);
	g_test_add_func("/laws/tables", test_tables);
	g_test_add_func("/laws/functions", test_functions);
	g_test_add_func("/laws/functions-fast", test_functions_fast);
	g_test_add_func("/laws/counters", test_counters);
	g_test_add_func("/laws/seen-again", test_seen_again);
	g_test_add_func("/laws/same-instant", test_same_instant);
	g_test_add_func("/laws/untold-switch", test_untold_switch);
	g_test_add_func("/laws/untold-begin", test_untold_begin);
	g_test_add_func("/laws/untold-loss", test_untold_loss);
	g_test_add_func("/laws/voids", test_voids);
	g_test_add_func("/laws/ahead", test_ahead);
	g_test_add_func("/laws/moves-in-a-row", test_moves_in_a_row);
	g_test_add_func("/laws/woken-out-of-order", test_woken_out_of_order);
	g_test_add_func("/laws/child-ahead", test_child_ahead);
	g_test_add_func("/laws/idle-tells", test_idle_tells);
	g_test_add_func("/laws/request-again", test_request_again);
	g_test_add_func("/laws/born-again", test_born_again);
	g_test_add_func("/laws/new-thread", test_new_thread);
	g_test_add_func("/laws/ioctl-cloexec", test_ioctl_cloexec);
	g_test_add_func("/laws/lost-fork", test_lost_fork);
	g_test_add_func("/laws/lost-kinds", test_lost_kinds);
	add_calls();
	g_test_add_func("/laws/other-leader", test_other_leader);
	g_test_add_func("/laws/shared-files", test_shared_files);
	g_test_add_func("/laws/maybe-shared-files", test_maybe_shared_files);
	g_test_add_func("/laws/unshared-files", test_unshared_files);
	g_test_add_func("/laws/files-after-loss", test_files_after_loss);
	add_identity();
	for (size_t i = 0; i < G_N_ELEMENTS(devices); i++) {
		g_autofree char *path = g_strdup_printf("/laws/device/%s", devices[i].name);
		g_test_add_data_func(path, &devices[i], test_device);
	}
	g_test_add_func("/laws/packets", test_packets);
	g_test_add_func("/laws/peers", test_peers);
	g_test_add_func("/laws/containers", test_containers);
	g_test_add_func("/laws/containers-told", test_containers_reported);
	g_test_add_func("/laws/containers-of-children", test_containers_of_children);
	g_test_add_func("/laws/pids-of-children", test_pids_of_children);
	g_test_add_func("/laws/containers-by-name", test_containers_by_name);
	g_test_add_func("/laws/containers-of-user-space", test_containers_of_user_space);
	g_test_add_func("/laws/clock-back", test_clock_back);
	g_test_add_func("/laws/clock-back-spans", test_clock_back_in_spans);
	add_laws_of_links();
	return g_test_run();
}
