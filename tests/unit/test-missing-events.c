/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a trace doesn't tell is unknown: recordings without some of their events, as if they
 * had not been enabled. No column may be 0 where the whole recording shows that it isn't; nor
 * because the view sums by something of which the figure is not known.
 */
#include "lib/sources.h"
#include "lib/traces.h"
#include "state/publish/model.h"
#include "ui/app.h"
#include "views/view.h"

#include <string.h>

/* ---- a recording without some events ---- */

struct missing_case {
	const char *name;
	const char *events;		/* patterns of GLib; "perf": the counters in contexts */
};

static const struct missing_case missing_cases[] = {
	{ "switches", "sched_switch" },
	{ "wakings", "sched_waking|sched_wakeup|sched_wakeup_new" },
	{ "migrations", "sched_migrate_task" },
	{ "interrupts", "irq_handler_*|irq_softirq_*|softirq_*|*hrtimer_expire_*|x86_irq_vectors_*" },
	{ "hard interrupts", "irq_handler_*|*hrtimer_expire_*|x86_irq_vectors_*" },
	{ "softirqs", "irq_softirq_*|softirq_*" },
	{ "raises of softirqs", "irq_softirq_raise|softirq_raise" },
	{ "system calls", "syscall_*|sys_*|exit_syscall|compat_*" },
	{ "block requests", "block_*" },
	{ "block inserts", "block_rq_insert" },
	{ "block issues", "block_rq_issue" },
	{ "block completions", "block_rq_complete" },
	{ "block merges", "block_rq_merge|block_bio_*" },
	{ "packets", "net_*|netif_*" },
	{ "packets received", "net_if_receive_skb|netif_receive_skb" },
	{ "packets sent", "net_dev_*" },
	{ "packets taken", "net_dev_xmit" },
	{ "packets queued", "net_dev_queue" },
	{ "page faults", "*page_fault_*" },
	{ "perf counters", "perf" },
	{ "state dump", "lttng_statedump_*" },
	{ "processes", "sched_process_*" },
	{ "spans", "zipkin:*" },
	{ "kernel", "sched_*|irq_*|softirq_*|syscall_*|block_*|net_*|netif_*|lttng_statedump_*|"
		    "*page_fault_*|*hrtimer_*|power_*|timer_*|x86_*" },
};

static bool is_removed(const struct missing_case *l, const char *event)
{
	g_auto(GStrv) patterns = g_strsplit(l ? l->events : "", "|", -1);
	for (size_t i = 0; patterns[i]; i++)
		if (g_pattern_match_simple(patterns[i], event))
			return true;
	return false;
}

static struct timeline *load(const struct recording *r, const struct missing_case *l)
{
	const struct blk_tables *all = recording_tables(r);
	struct blk_tables tables = *all;
	g_autoptr(GPtrArray) classes = g_ptr_array_new();
	g_autofree struct blk_class *left = g_new(struct blk_class, all->classes->len);
	g_autofree bool *removed = g_new(bool, all->classes->len);
	struct model *m = model_new(&(struct model_options){ 0 });
	struct timeline *tl = timeline_new(0);

	for (guint i = 0; i < all->classes->len; i++) {
		left[i] = *blk_class(all, i);
		removed[i] = is_removed(l, left[i].name);
		if (removed[i])
			left[i] = (struct blk_class){ .name = (char *)"gone", .row = G_MAXUINT16 };
		if (is_removed(l, "perf"))
			left[i].counters = NULL;
		g_ptr_array_add(classes, &left[i]);
	}
	tables.classes = classes;
	for (size_t i = 0; i < recording_n(r); i++) {
		const struct blk_event *e = recording_event(r, i);
		bool is_event = e->row < BLK_ROW_FIRST_PSEUDO || e->row == BLK_ROW_TALLY;
		if (!is_event || !removed[e->cls])
			model_feed(m, &tables, e, 1);
	}
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	return tl;
}

/* ---- columns ---- */

struct seen {
	bool zero, more;		/* a row has 0; has something else */
};

static struct rows *build(const struct view *v, const struct timeline *tl, enum view_by by)
{
	struct view_query q = VIEW_QUERY_INIT;
	q.by = by;
	return v->build(tl, &q);
}

static void look(const struct view *v, const struct timeline *tl, enum view_by by, struct seen *seen)
{
	struct rows *rows = build(v, tl, by);
	for (size_t c = 0; c < v->n_columns; c++) {
		seen[c] = (struct seen){ false, false };
		for (guint i = 0; i < rows->rows->len; i++) {
			struct value x = column_value(&v->columns[c], rows->rows->pdata[i], rows);
			if (x.kind == VALUE_NONE || x.kind == VALUE_TEXT || x.kind == VALUE_ID)
				continue;
			bool zero = x.kind == VALUE_RATIO ? x.d == 0 : x.i == 0;
			seen[c].zero |= zero;
			seen[c].more |= !zero;
		}
	}
	rows_free(rows);
}

static void check_view(const struct view *v, enum view_by by, const struct timeline *whole,
		       const struct timeline *less, const struct missing_case *l)
{
	g_autofree struct seen *all = g_new(struct seen, v->n_columns);
	g_autofree struct seen *left = g_new(struct seen, v->n_columns);

	look(v, whole, by, all);
	look(v, less, by, left);
	for (size_t c = 0; c < v->n_columns; c++) {
		/* A path that goes less far has no hops, nor what is summed in them: that is so. */
		bool far = g_str_equal(v->columns[c].id, "hops") || g_str_equal(v->columns[c].id, "mixed");
		/* Hard interrupts took nothing from the few slow requests that are summed in *causes*. */
		far |= g_str_equal(v->id, "causes") && g_str_equal(v->columns[c].id, "irq_ns");
		if (!all[c].more || !left[c].zero || left[c].more || far)
			continue;
		g_test_message("without %s, %s by %s: all of %s are 0", l->name, v->id,
			       view_by_words[by], v->columns[c].id);
		g_test_fail();
	}
}

/* Where all rows together have more than 0, those of another sum have, too, or do not know. */
static void check_by(const struct view *v, enum view_by by, const struct timeline *tl)
{
	g_autofree struct seen *all = g_new(struct seen, v->n_columns);
	g_autofree struct seen *other = g_new(struct seen, v->n_columns);

	look(v, tl, v->default_by, all);
	look(v, tl, by, other);
	for (size_t c = 0; c < v->n_columns; c++) {
		/* Of a lane it is that of a CPU, or of a thread in its life. */
		bool differs = g_str_equal(v->id, "timeline") && g_str_equal(v->columns[c].id, "unknown_ns");
		if (!all[c].more || !other[c].zero || other[c].more || differs)
			continue;
		g_test_message("%s by %s: all of %s are 0, and not by %s", v->id, view_by_words[by],
			       v->columns[c].id, view_by_words[v->default_by]);
		g_test_fail();
	}
}

/* What is known nowhere: not 0, and no other number either. */
#define CAUSES "disk_ns,socket_ns,pipe_ns,futex_ns,timer_ns,poll_ns,fault_ns"
#define ON_CPU "user_ns,syscall_ns"
static const struct { const char *missing, *view, *columns; } unknowns[] = {
	{ "switches", "processes", "cpu_ns,kernel_ns,irq_ns,runnable_ns,blocked_ns,cpu_ratio,"
				   "runnable_ratio,blocked_ratio," ON_CPU },
	{ "switches", "cpus", "run_ns,idle_ns,irq_ns,run_ratio,irq_ratio" },
	{ "switches", "spans", "irq_ns,preempted_ns,wakeup_ns,runnable_ns,other_ns," ON_CPU "," CAUSES },
	{ "switches", "scheduler", "switches,preemptions,voluntary,moves,count,total_ns,max_ns,"
				   "preempted_count,preempted_ns" },
	{ "switches", "phases", "user_ratio,syscall_ratio,runnable_ratio,disk_ratio" },
	{ "wakings", "processes", "runnable_ns,runnable_ratio" },
	{ "wakings", "spans", "wakeup_ns,runnable_ns" },
	{ "wakings", "scheduler", "count,total_ns,p99_ns" },
	{ "interrupts", "processes", "irq_ns" },
	{ "interrupts", "cpus", "irq_ns,irq_ratio" },
	{ "interrupts", "spans", "irq_ns" },
	{ "raises of softirqs", "interrupts", "raise_count,raise_avg_ns,raise_max_ns" },
	{ "system calls", "processes", "syscalls,read_bytes,write_bytes," ON_CPU },
	{ "system calls", "spans", ON_CPU "," CAUSES },
	{ "system calls", "phases", "user_ratio,syscall_ratio,disk_ratio,socket_ratio" },
	{ "block completions", "devices", "busy_ns,depth_ns,total_ns,p99_ns,depth_max,others" },
	{ "block issues", "devices", "busy_ns,depth_ns,total_ns,p99_ns,queued_ns,others" },
	{ "block inserts", "devices", "queued_ns,queued_ratio,queued_max,queue_total_ns" },
	{ "block merges", "devices", "merges" },
	{ "packets received", "peers", "rx_packets,rx_bytes" },
	{ "packets queued", "peers", "tx_packets,tx_bytes" },
	{ "perf counters", "processes", "faults,ipc_ratio" },
	{ "kernel", "processes", "cpu_ns,kernel_ns,irq_ns,runnable_ns,blocked_ns,syscalls,read_bytes,"
				 "start_ns,exit_ns," ON_CPU },
	{ "kernel", "spans", "irq_ns,preempted_ns,wakeup_ns," ON_CPU "," CAUSES },
};

static void assert_unknown(const struct timeline *tl, const char *view, const char *columns,
			   const char *missing)
{
	const struct view *v = view_find(view);
	g_auto(GStrv) ids = g_strsplit(columns, ",", -1);
	struct rows *rows = build(v, tl, v->default_by);

	for (size_t k = 0; ids[k]; k++) {
		int c = view_column(v, ids[k]);
		g_assert_cmpint(c, >=, 0);
		for (guint i = 0; i < rows->rows->len; i++) {
			struct value x = column_value(&v->columns[c], rows->rows->pdata[i], rows);
			if (x.kind == VALUE_NONE)
				continue;
			g_test_message("without %s, %s: %s has a value", missing, view, ids[k]);
			g_test_fail();
		}
	}
	rows_free(rows);
}

static void test_zeros(gconstpointer name)
{
	struct recording *r = traces_record(name);
	if (!r)
		return;
	g_autoptr(blk_timeline) whole = load(r, NULL);
	for (const struct view *const *v = view_all; *v; v++)
		for (int by = BY_SYSTEM; by < BY_N; by++)
			if (view_has_by(*v, (enum view_by)by))
				check_by(*v, (enum view_by)by, whole);
	for (size_t i = 0; i < G_N_ELEMENTS(missing_cases); i++) {
		g_autoptr(blk_timeline) less = load(r, &missing_cases[i]);
		for (const struct view *const *v = view_all; *v; v++)
			for (int by = BY_SYSTEM; by < BY_N; by++)
				if (view_has_by(*v, (enum view_by)by) || by == (int)(*v)->default_by)
					check_view(*v, (enum view_by)by, whole, less, &missing_cases[i]);
		for (size_t k = 0; k < G_N_ELEMENTS(unknowns); k++)
			if (g_str_equal(unknowns[k].missing, missing_cases[i].name))
				assert_unknown(less, unknowns[k].view, unknowns[k].columns,
					       missing_cases[i].name);
	}
	recording_free(r);
}

/* ---- spans ---- */

static const struct missing_case *missing_case(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(missing_cases); i++)
		if (g_str_equal(missing_cases[i].name, name))
			return &missing_cases[i];
	g_assert_not_reached();
}

/* Parts sum to the duration without them, too; nothing is told that can't be known; and the
 * verdict says what would tell it. */
static void check_spans(const struct recording *r, const char *without, const char *expected, const char *says)
{
	g_autoptr(blk_timeline) tl = load(r, missing_case(without));
	const struct view *v = view_find("traces");
	struct rows *rows = build(v, tl, BY_SYSTEM);
	int explanation = view_column(v, "verdict"), said = 0;

	g_assert_cmpuint(timeline_n_spans(tl), >, 0);
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		int64_t all = 0;
		for (int p = 0; p < PART_N; p++) {
			all += s->part[p];
			g_assert_true(!s->part[p] || strstr(expected, part_info[p].id));
		}
		g_assert_cmpint(all, ==, span_duration(s));
		for (uint32_t k = 0; k < s->n_waits; k++)
			g_assert_nonnull(strstr(expected, part_info[s->waits[k].part].id));
	}
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value x = column_value(&v->columns[explanation], rows->rows->pdata[i], rows);
		said += x.kind == VALUE_TEXT && strstr(x.s, says);
	}
	g_assert_cmpint(said, >, 0);
	rows_free(rows);
}

static void test_spans(void)
{
	struct recording *r = traces_record("kernel-ust/trace");
	if (!r)
		return;
	check_spans(r, "switches", "handoff unknown", "the trace has no sched_switch events");
	check_spans(r, "kernel", "handoff unknown", "the trace has no sched_switch events");
	check_spans(r, "wakings", "user syscall kernel irq preempted disk writeback socket pipe futex timer poll "
		    "fault other handoff unknown", "(or for a CPU: the trace has no wakeups)");
	check_spans(r, "system calls",
		    "user syscall kernel irq preempted wakeup handoff other unknown",
		    "(the trace has no system calls)");
	recording_free(r);
}

/* ---- several hosts ---- */

static struct value cell(const struct timeline *tl, const char *view, const char *host, const char *column)
{
	const struct view *v = view_find(view);
	struct rows *rows = build(v, tl, v->default_by);
	struct value found = value_none();
	int at = view_column(v, "host"), c = view_column(v, column);
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct row *row = rows->rows->pdata[i];
		struct value x = column_value(&v->columns[c], row, rows);
		if (g_str_equal(column_value(&v->columns[at], row, rows).s, host) && x.kind != VALUE_NONE)
			found = x;
	}
	rows_free(rows);
	return found;
}

/* What one host's trace tells is nothing to know of another's. */
static void test_hosts(void)
{
	static const char script[] =
		"10 0 k@full:sched_switch prev_tid=0 prev_state=0 next_tid=5 next_comm=\"a\"\n"
		"11 0 k@full:sched_waking tid=6 target_cpu=0\n"
		"12 0 k@full:irq_softirq_raise vec=1\n"
		"13 0 k@full:irq_softirq_entry vec=1\n"
		"14 0 k@full:irq_softirq_exit vec=1\n"
		"15 0 k@full:net_dev_queue name=\"eth0\" len=9\n"
		"16 0 k@full:net_dev_xmit name=\"eth0\" len=9 rc=1\n"
		"17 0 k@full:net_if_receive_skb name=\"eth0\" len=9\n"
		"18 0 k@full:syscall_entry_read fd=3 ctx.tid=5 ctx.pid=5\n"
		"19 0 k@full:syscall_exit_read ret=1 ctx.tid=5 ctx.pid=5\n"
		"30 0 k@less:irq_softirq_entry vec=1 ctx.tid=7 ctx.pid=7\n"
		"31 0 k@less:irq_softirq_exit vec=1 ctx.tid=7 ctx.pid=7\n"
		"32 0 k@less:net_if_receive_skb name=\"eth0\" len=9 ctx.tid=7 ctx.pid=7\n"
		"40 0 k@less:sched_process_fork parent_tid=7 child_tid=8 parent_pid=7 child_pid=8 "
		"child_comm=\"c\" ctx.tid=7 ctx.pid=7\n";
	static const struct { const char *view, *column; } expected[] = {
		{ "processes", "cpu_ns" }, { "processes", "runnable_ns" }, { "processes", "blocked_ns" },
		{ "processes", "syscalls" }, { "interrupts", "raise_count" }, { "devices", "writes" },
		{ "devices", "errors" }, { "devices", "write_bytes" },
	};
	struct recording *r = traces_record_script(script);
	g_autoptr(blk_timeline) tl = load(r, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
		g_test_message("%s %s", expected[i].view, expected[i].column);
		g_assert_cmpint(cell(tl, expected[i].view, "full", expected[i].column).kind, !=, VALUE_NONE);
		g_assert_cmpint(cell(tl, expected[i].view, "less", expected[i].column).kind, ==, VALUE_NONE);
	}
	g_assert_cmpint(cell(tl, "devices", "less", "reads").i, ==, 1);
	g_assert_cmpint(cell(tl, "interrupts", "less", "count").i, ==, 1);
	recording_free(r);
}

static const char *first_view(const struct timeline *tl)
{
	const struct app app = { .main = (struct timeline *)tl };
	return app_automatic_view(&app);
}

static size_t n_processes(const struct timeline *tl)
{
	struct rows *rows = build(view_find("processes"), tl, BY_PROCESS);
	size_t n = rows->rows->len;
	rows_free(rows);
	return n;
}

/* User space alone, without spans: nobody is on a CPU, and events are what there is to see. */
static void test_unattributed(void)
{
	static const char script[] =
		"10 0 u:app:step ctx.vpid=5 ctx.vtid=6 n=1\n"
		"20 1 u:app:step ctx.vpid=5 ctx.vtid=7 n=2\n";
	g_autofree char *with = g_strconcat(script,
		"30 0 k:sched_switch prev_tid=0 prev_state=0 next_tid=6 next_comm=\"app\"\n"
		"40 0 k:sched_switch prev_tid=6 prev_state=0 next_tid=0 next_comm=\"swapper/0\"\n", NULL);
	struct recording *alone = traces_record_script(script), *both = traces_record_script(with);
	g_autoptr(blk_timeline) less = load(alone, NULL), tl = load(both, NULL), none = timeline_new(0);
	g_assert_cmpuint(n_processes(less), ==, 0);
	g_assert_cmpuint(n_processes(tl), >, 0);
	g_assert_cmpstr(first_view(less), ==, "events");
	g_assert_cmpstr(first_view(tl), ==, "overview");
	g_assert_cmpstr(first_view(none), ==, "overview");
	recording_free(alone);
	recording_free(both);
}

/* How many processes of that second say how long they were on a CPU, or how many calls they made. */
static unsigned n_reported(const struct timeline *tl, int64_t second, const char *column)
{
	const struct view *v = view_find("processes");
	struct view_query q = VIEW_QUERY_INIT;
	q.from_ns = second * INT64_C(1000000000);
	q.to_ns = q.from_ns + INT64_C(1000000000);
	q.by = BY_PROCESS;
	struct rows *rows = v->build(tl, &q);
	unsigned n = 0;
	g_assert_cmpuint(rows->rows->len, >, 0);
	for (guint i = 0; i < rows->rows->len; i++)
		n += column_value(&v->columns[view_column(v, column)], rows->rows->pdata[i], rows).kind != VALUE_NONE;
	rows_free(rows);
	return n;
}

/* Between lttng stop and lttng start nothing is known, of anybody. */
static void test_pause(void)
{
	struct recording *r = traces_record("pause/trace");
	if (!r)
		return;
	g_autoptr(blk_timeline) tl = load(r, NULL);
	for (size_t i = 0; i < 2; i++) {
		const char *column = i ? "syscalls" : "cpu_ns";
		g_assert_cmpuint(n_reported(tl, 1795412228, column), >, 0);
		g_assert_cmpuint(n_reported(tl, 1795412229, column), ==, 0);
		g_assert_cmpuint(n_reported(tl, 1795412231, column), >, 0);
	}
	recording_free(r);
}

int main(int argc, char **argv)
{
	static const char *const traces[] = {
		"kernel-ust/trace", "net/trace", "block/trace", "faults/trace",
	};

	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/missing-events/spans", test_spans);
	g_test_add_func("/missing-events/hosts", test_hosts);
	g_test_add_func("/missing-events/nobody", test_unattributed);
	g_test_add_func("/missing-events/pause", test_pause);
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++) {
		g_autofree char *path = g_strdup_printf("/missing-events/%s", traces[i]);
		g_test_add_data_func(path, traces[i], test_zeros);
	}
	return g_test_run();
}
