/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whom a span waited for a CPU behind: made events, of which the truth is known, whole and
 * cut anywhere.
 */
#include "base/limits.h"
#include "lib/sources.h"
#include "lib/cuts.h"
#include "lib/traces.h"
#include "views/neighbours.h"
#include "views/why.h"

#include "state/publish/model.h"
#include "state/store/publication.h"
#include "state/store/timeline.h"

#include <string.h>

/* Thread 7 is the span's, from 100 to 1000; it runs on CPU 0 first. */
#define BEGIN \
	"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=7 prev_comm=\"swapper/0\" next_comm=\"serve\"\n" \
	"11 1 sched_switch prev_tid=5 prev_state=1 next_tid=0 prev_comm=\"x\" next_comm=\"swapper/1\"\n" \
	"100 0 u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 " \
	"parent_span_id=0 event=\"sr\" ctx.vtid=7 ctx.vpid=7\n"
#define END(cpu) \
	"1000 " cpu " u:zipkin:timestamp trace_name=\"req\" service_name=\"s\" trace_id=1 span_id=2 " \
	"parent_span_id=0 event=\"ss\" ctx.vtid=7 ctx.vpid=7\n" \
	"1100 " cpu " sched_switch prev_tid=7 prev_state=1 next_tid=0 prev_comm=\"serve\" next_comm=\"swapper\"\n"
#define SWITCH(at, cpu, prev, state, next) \
	at " " cpu " sched_switch prev_tid=" prev " prev_state=" state " next_tid=" next \
	" prev_comm=\"t" prev "\" next_comm=\"t" next "\"\n"

struct expected { const char *label; int64_t ns; };
struct story {
	const char *name, *script;
	struct expected rows[8];
	const char *explanation;		/* or NULL */
};

static void check_rows(const struct timeline *tl, const struct story *x)
{
	g_autoptr(blk_tree) t = timeline_tree_new(tl, 1);
	const struct span *s = t->nodes[t->root].span;
	g_autoptr(GArray) rows = neighbours_of(tl, s);
	int64_t sum = 0;
	for (guint i = 0; i < rows->len; i++) {
		const struct neighbour_row *r = &g_array_index(rows, struct neighbour_row, i);
		const struct expected *want = &x->rows[i];
		sum += r->ns;
		if (!want->label || strcmp(r->label, want->label) || r->ns != want->ns)
			g_test_message("%s: row %u: %s %" G_GINT64_FORMAT, x->name, i, r->label, r->ns);
		g_assert_nonnull(want->label);
		g_assert_cmpstr(r->label, ==, want->label);
		g_assert_cmpint(r->ns, ==, want->ns);
	}
	g_assert_null(x->rows[rows->len].label);
	g_assert_cmpint(sum, ==, part_sum_runnable(s->part));
	if (!x->explanation)
		return;
	struct history *h = history_new(tl);
	struct why why;
	why_find(h, t, t->root, &why);
	g_autofree char *text = why_sentence(h, t, t->root, &why);
	g_assert_cmpstr(text, ==, x->explanation);
	history_free(h);
}

static void test_story(gconstpointer data)
{
	const struct story *x = data;
	struct recording *r = traces_record_script(x->script);
	size_t n = recording_n(r);
	struct timeline *tl = timeline_new(0);
	struct slice *s = cuts_slice(r, 0, n, true);
	timeline_apply(tl, slice_finish(s));
	slice_free(s);
	check_rows(tl, x);
	timeline_free(tl);
	cuts_check(x->name, r);
	recording_free(r);
}

/* A span of thread 20. */
#define PART(at, trace, event) \
	at " 0 u:zipkin:timestamp trace_name=\"part\" service_name=\"t\" trace_id=" trace " span_id=3 " \
	"parent_span_id=2 event=\"" event "\" ctx.vtid=20 ctx.vpid=20\n"
#define NO_CALLS "(500ns of 900ns); and ran 400ns (the trace has no system calls) (+400ns)"

static const struct story stories[] = {
	{ "same request", BEGIN
	  SWITCH("200", "0", "7", "0", "20") PART("220", "1", "start") PART("680", "1", "end")
	  SWITCH("700", "0", "20", "1", "7") END("0"),
	  { { "t20/20 (same request)", 500 } },
	  "waited 500ns for a CPU, preempted, while t20/20 worked for the same request 500ns " NO_CALLS },
	{ "another request", BEGIN
	  SWITCH("200", "0", "7", "0", "20") PART("220", "9", "start") PART("680", "9", "end")
	  SWITCH("700", "0", "20", "1", "7") END("0"),
	  { { "t20/20", 500 } }, "waited 500ns for a CPU, preempted, behind t20/20 500ns " NO_CALLS },
	{ "the same request at another time", BEGIN
	  SWITCH("110", "0", "7", "0", "20") PART("120", "1", "start") PART("130", "1", "end")
	  SWITCH("140", "0", "20", "1", "7") SWITCH("200", "0", "7", "0", "21") SWITCH("700", "0", "21", "1", "7")
	  END("0"), { { "t21/21", 500 }, { "t20/20 (same request)", 30 } }, NULL },
	{ "no span, but it answers", BEGIN
	  "20 0 syscall_entry_socket family=2 type=1 protocol=0\n30 0 syscall_exit_socket ret=5\n"
	  "150 0 syscall_entry_recvfrom fd=5 size=9\n" SWITCH("200", "0", "7", "1", "20")
	  "250 0 sched_waking tid=7 target_cpu=0\n" SWITCH("750", "0", "20", "1", "7")
	  "760 0 syscall_exit_recvfrom ret=9\n" END("0"), { { "t20/20 (same request)", 500 } }, NULL },
	{ "preempted", BEGIN
	  SWITCH("200", "0", "7", "0", "20") SWITCH("300", "0", "20", "0", "21")
	  SWITCH("350", "0", "21", "0", "20") SWITCH("700", "0", "20", "1", "7") END("0"),
	  { { "t20/20", 450 }, { "t21/21", 50 } }, "waited 500ns for a CPU, preempted, behind "
	  "t20/20 450ns (500ns of 900ns); and ran 400ns (the trace has no system calls) (+400ns)" },
	{ "woken", BEGIN
	  SWITCH("200", "0", "7", "1", "20")
	  "300 1 sched_waking tid=7 target_cpu=0\n"
	  SWITCH("450", "0", "20", "1", "0") SWITCH("500", "0", "0", "0", "7") END("0"),
	  { { "t20/20", 150 }, { "(idle)", 50 } }, NULL },
	{ "moved, told", BEGIN
	  SWITCH("150", "1", "0", "0", "30")
	  SWITCH("200", "0", "7", "0", "20")
	  "400 1 sched_migrate_task tid=7 prio=20 orig_cpu=0 dest_cpu=1\n"
	  SWITCH("600", "1", "30", "1", "7") END("1"),
	  { { "t20/20", 200 }, { "t30/30", 200 } }, NULL },
	{ "moved and back", BEGIN
	  SWITCH("150", "1", "0", "0", "30")
	  SWITCH("200", "0", "7", "1", "20")
	  "300 1 sched_waking tid=7 target_cpu=1\n"
	  "310 1 sched_migrate_task tid=7 prio=20 orig_cpu=1 dest_cpu=0\n"
	  SWITCH("600", "0", "20", "1", "7") END("0"),
	  { { "t20/20", 290 }, { "t30/30", 10 } }, NULL },
	{ "moved, untold", BEGIN
	  SWITCH("150", "1", "0", "0", "30")
	  SWITCH("200", "0", "7", "0", "20")
	  SWITCH("600", "1", "30", "1", "7") END("1"),
	  { { "(unknown)", 400 } }, NULL },
	{ "moved, told by the wakeup", BEGIN
	  SWITCH("150", "1", "0", "0", "30")
	  SWITCH("200", "0", "7", "1", "20")
	  "300 1 sched_waking tid=7 target_cpu=1\n"
	  SWITCH("600", "1", "30", "1", "7") END("1"),
	  { { "t30/30", 300 } }, NULL },
	{ "others were lost", BEGIN
	  SWITCH("200", "0", "7", "1", "20")
	  "400 1 sched_waking tid=7 target_cpu=0\n"
	  "450 0 !lost begin=450 end=500 events=3\n"
	  SWITCH("600", "0", "20", "1", "7") END("0"),
	  { { "(unknown)", 50 } }, NULL },
	{ "woken again after a loss", BEGIN
	  SWITCH("150", "1", "0", "0", "30")
	  SWITCH("200", "0", "7", "1", "20")
	  "300 1 sched_waking tid=7 target_cpu=1\n"
	  "400 0 !lost begin=400 end=450 events=3\n"
	  "500 1 sched_waking tid=7 target_cpu=1\n"
	  SWITCH("600", "1", "30", "1", "7") END("1"),
	  { { "t30/30", 100 }, { "(unknown)", 100 } }, NULL },
	{ "still waits", BEGIN
	  SWITCH("200", "0", "7", "0", "20") SWITCH("900", "0", "20", "0", "21")
	  SWITCH("1000", "0", "21", "0", "20"),
	  { { "t20/20", 700 }, { "t21/21", 100 } },
	  "waited 800ns for a CPU, preempted, behind t20/20 700ns (800ns of 900ns)" },
};

/* More than are kept, and two threads of one process. */
static void test_many(void)
{
	g_autoptr(GString) script = g_string_new(
		"5 1 lttng_statedump_process_state tid=21 pid=20 ppid=1 name=\"pair\" type=0\n"
		"6 1 lttng_statedump_process_state tid=20 pid=20 ppid=1 name=\"pair\" type=0\n" BEGIN);
	int prev = 7;
	for (int i = 0; i < 12; i++) {
		g_string_append_printf(script, "%d 0 sched_switch prev_tid=%d prev_state=0 next_tid=%d "
			"prev_comm=\"%s\" next_comm=\"%s\"\n", 200 + i * (20 + i), prev, 20 + i,
			prev == 7 ? "serve" : "pair", "pair");
		prev = 20 + i;
	}
	g_string_append(script, SWITCH("900", "0", "31", "0", "7") END("0"));
	struct recording *r = traces_record_script(script->str);
	struct slice *s = cuts_slice(r, 0, recording_n(r), true);
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, slice_finish(s));
	const struct span *span = timeline_span(tl, 0);
	g_assert_cmpuint(span->runqueue->n, ==, LIMIT_SPAN_NEIGHBOURS);
	g_assert_cmpuint(span->runqueue->n_more, ==, 4);
	/* 20..31 ran 21, 23, ... 41 ns, the last one 359 */
	g_assert_cmpint(span->runqueue->more_ns, ==, 21 + 23 + 25 + 27);
	g_assert_cmpint(span->runqueue->top[0].ns, ==, 359);
	g_assert_cmpint(span->runqueue->unknown_ns, ==, 0);
	slice_free(s);
	timeline_free(tl);
	recording_free(r);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(stories); i++) {
		g_autofree char *path = g_strdup_printf("/neighbours/%s", stories[i].name);
		g_test_add_data_func(path, &stories[i], test_story);
	}
	g_test_add_func("/neighbours/many", test_many);
	return g_test_run();
}
