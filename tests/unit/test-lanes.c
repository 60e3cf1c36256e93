/* SPDX-License-Identifier: GPL-2.0-only */
/* The view timeline: rows of steps, cells of lanes, and ranges that no user asks for. */
#include "lib/fake_timeline.h"
#include "lib/sources.h"
#include "state/publish/model.h"
#include "views/lanes.h"

#include <string.h>

static struct rows *build(const struct timeline *tl, enum view_by by, int64_t from, int64_t to, unsigned cells)
{
	struct view_query q = VIEW_QUERY_INIT;

	q.by = by;
	q.from_ns = from;
	q.to_ns = to;
	q.cells = cells;
	return view_timeline.build(tl, &q);
}

static const struct lane_row *lane(const struct rows *rows, const char *name)
{
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct lane_row *r = g_ptr_array_index(rows->rows, i);

		if (!strcmp(r->c.name, name))
			return r;
	}
	g_error("no lane %s", name);
}

/* Without cells: one row for each lane and second, and they sum to the rows with cells. */
static void test_steps(void)
{
	struct timeline *tl = fake_timeline();
	struct rows *steps = build(tl, BY_SYSTEM, FAKE_T0, FAKE_T0 + 4 * FAKE_S, 0);
	struct rows *whole = build(tl, BY_SYSTEM, FAKE_T0, FAKE_T0 + 4 * FAKE_S, 4);
	int64_t run = 0, handler = 0, depth = 0;
	unsigned n = 0;

	for (guint i = 0; i < steps->rows->len; i++) {
		const struct lane_row *r = g_ptr_array_index(steps->rows, i);

		g_assert_cmpint(r->end_ns - r->begin_ns, ==, FAKE_S);
		g_assert_null(r->cells);
		run += r->kind == LANE_CPU && r->cpu == 1 ? r->run_ns : 0;
		handler += r->handler_ns;
		depth += r->depth_ns;
		n += r->kind == LANE_CPU;
	}
	g_assert_cmpuint(n, ==, 8);
	g_assert_cmpint(run, ==, lane(whole, "CPU1")->run_ns);
	g_assert_cmpint(run, ==, 1600 * FAKE_MS);
	g_assert_cmpint(depth, ==, lane(whole, "vda")->depth_ns);
	g_assert_cmpint(handler, ==, 4 * 8 * FAKE_MS);
	rows_free(steps);
	rows_free(whole);
	timeline_free(tl);
}

/* Cells as long as a second, longer and shorter ones. */
static void test_cells(void)
{
	struct timeline *tl = fake_timeline();
	struct rows *rows = build(tl, BY_THREAD, FAKE_T0, FAKE_T0 + 6 * FAKE_S, 6);
	const struct lane_row *cpu = lane(rows, "CPU0"), *w = lane(rows, "thumbd-w3/257");

	for (unsigned i = 0; i < 6; i++) {
		g_assert_cmpint(cpu->cells[i].state, ==, i == 4 ? LANE_NOTHING : LANE_RUNNING);
		g_assert_false(cpu->cells[i].coarse);
		g_assert_cmpint(w->cells[i].state, ==, i == 4 ? LANE_NOTHING : PART_FUTEX);
	}
	g_assert_cmpfloat_with_epsilon(cpu->cells[0].share, 0.5, 1e-9);
	g_assert_cmpint(timeline_thread(tl, cpu->cells[0].thread)->tid, ==, 255);	/* 200 of 500 ms */
	g_assert_cmpint(w->cpu, ==, 1);
	rows_free(rows);
	rows = build(tl, BY_THREAD, FAKE_T0, FAKE_T0 + 6 * FAKE_S, 2);
	g_assert_cmpint(lane(rows, "CPU1")->cells[1].state, ==, LANE_IDLE);
	g_assert_cmpfloat_with_epsilon(lane(rows, "CPU1")->cells[1].share, 0.4, 1e-9);
	g_assert_cmpfloat_with_epsilon(lane(rows, "vda")->cells[0].share, 0.26, 1e-9);
	rows_free(rows);
	rows = build(tl, BY_THREAD, FAKE_T0, FAKE_T0 + 6 * FAKE_S, 60);
	cpu = lane(rows, "CPU0");
	for (unsigned i = 0; i < 60; i++) {
		g_assert_cmpint(cpu->cells[i].state, ==, i / 10 == 4 ? LANE_NOTHING : LANE_RUNNING);
		g_assert_cmpint(cpu->cells[i].coarse, ==, i / 10 != 4);
	}
	rows_free(rows);
	timeline_free(tl);
}

/* The text of a cell says what the figures are. */
static void test_text(void)
{
	struct timeline *tl = fake_timeline();
	struct rows *rows = build(tl, BY_THREAD, FAKE_T0, FAKE_T0 + FAKE_S, 1);
	g_autofree char *cpu = lane_text(rows, lane(rows, "CPU1"));
	g_autofree char *disk = lane_text(rows, lane(rows, "vda"));
	g_autofree char *thread = lane_text(rows, lane(rows, "kworker/0:1/17"));

	g_assert_cmpstr(cpu, ==, "thumbd-w3/257 220ms 22%, others 180ms 18%, idle 600ms 60%, including irq 4.00ms 0%");
	g_assert_cmpstr(disk, ==, "0.26 requests at it on average, at most 4, busy 230ms 23%");
	g_assert_true(g_str_has_suffix(thread, ", on CPU1"));
	rows_free(rows);
	timeline_free(tl);
}

/* Threads of containers are below lanes of the containers, which are the rows of view_timeline by container. */
static void test_containers(void)
{
	const struct model_options options = { .at_end = true };
	struct timeline *tl = timeline_of_script(
		"10 0 lttng_statedump_process_state tid=50 pid=50 ppid=1 name=\"sh\" type=0\n"
		"11 0 lttng_statedump_process_pid_ns tid=50 ns_inum=4026532500 ns_level=1 vpid=7\n"
		"12 0 lttng_statedump_process_state tid=60 pid=60 ppid=1 name=\"ls\" type=0\n"
		"13 0 lttng_statedump_process_pid_ns tid=60 ns_inum=4026531836 ns_level=0 vpid=60\n"
		"20 0 sched_switch prev_tid=0 prev_state=0 next_tid=50\n"
		"40 0 sched_switch prev_tid=50 prev_state=1 next_tid=60\n"
		"50 0 sched_switch prev_tid=60 prev_state=1 next_tid=0\n", &options);
	struct rows *rows = build(tl, BY_THREAD, 0, 100, 10), *by = build(tl, BY_CONTAINER, 0, 100, 10);
	const struct lane_row *below = NULL;
	unsigned n = 0, threads = 0;

	for (guint i = 0; i < rows->rows->len; i++) {
		const struct lane_row *r = g_ptr_array_index(rows->rows, i);

		if (r->kind != LANE_THREADS)
			continue;
		below = r->is_container ? r : below;
		g_assert_nonnull(below);
		g_assert_cmpstr(r->c.container, ==, below->c.container);
		if (!r->is_container) {
			threads++;
			continue;
		}
		g_assert_true(!memcmp(r->c.part, lane(by, r->c.name)->c.part, sizeof r->c.part));
		n++;
	}
	g_assert_cmpuint(n, ==, 2);
	g_assert_cmpuint(threads, ==, 2);
	rows_free(rows);
	rows_free(by);
	timeline_free(tl);
}

/* A thread that waits for a lock: who woke it, and where it was not woken yet, who does next. */
static void test_wakers(void)
{
	struct timeline *tl = timeline_of_script(
		"10 0 sched_switch prev_tid=0 prev_state=0 next_tid=50 prev_comm=\"s\" next_comm=\"a\"\n"
		"20 0 syscall_entry_futex ctx.tid=50 uaddr=4096 op=0 val=0\n"
		"40 0 sched_switch prev_tid=50 prev_state=1 next_tid=60 prev_comm=\"a\" next_comm=\"b\"\n"
		"2000000010 0 sched_waking tid=50 prio=20 target_cpu=0\n"
		"2000000050 0 sched_switch prev_tid=60 prev_state=1 next_tid=50 "
		"prev_comm=\"b\" next_comm=\"a\"\n"
		"2000000060 0 syscall_exit_futex ret=0\n"
		"2000000070 0 sched_switch prev_tid=50 prev_state=1 next_tid=0\n",
		&(struct model_options){ .at_end = true });
	struct rows *first = build(tl, BY_THREAD, 0, FAKE_S, 1);
	struct rows *last = build(tl, BY_THREAD, 2 * FAKE_S, 3 * FAKE_S, 1);
	g_autofree char *waits = lane_text(first, lane(first, "a/50")), *ends = lane_text(last, lane(last, "a/50"));

	g_assert_nonnull(strstr(waits, "futex 1.00s 100%, next woken by b/60 within 2.00s"));
	g_assert_nonnull(strstr(ends, ", woken by b/60"));
	rows_free(first);
	rows_free(last);
	timeline_free(tl);
}

/* A wait on a file is disk or writeback, if spans can tell these from each other; else all of it is disk. */
static void test_files(void)
{
#define WAITS "10 0 sched_switch prev_tid=0 prev_state=0 next_tid=50 prev_comm=\"s\" next_comm=\"a\"\n" \
	"20 0 syscall_entry_fsync ctx.tid=50 fd=3\n" \
	"40 0 sched_switch prev_tid=50 prev_state=2 next_tid=0 prev_comm=\"a\" next_comm=\"s\"\n"
#define REQUEST "50 0 block_rq_issue dev=8 sector=64 nr_sector=8 bytes=4096 rwbs=1 tid=9\n" \
	"60 0 block_rq_complete dev=8 sector=64 nr_sector=8 rwbs=1 errors=0\n"
#define WOKEN "240 0 sched_waking tid=50 prio=20 target_cpu=0\n" \
	"240 0 sched_switch prev_tid=0 prev_state=1 next_tid=50 prev_comm=\"s\" next_comm=\"a\"\n"
	static const struct { const char *script, *state; } each[] = {
		{ WAITS REQUEST WOKEN, "file" }, { WAITS WOKEN, "disk" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++) {
		struct timeline *tl = timeline_of_script(each[i].script, &(struct model_options){ .at_end = true });
		struct rows *rows = build(tl, BY_THREAD, 0, FAKE_S, 1);
		const struct lane_row *r = lane(rows, "a/50");
		const struct view *v = view_find("timeline");
		g_autofree char *text = lane_text(rows, r), *words = g_strdup_printf("%s 200ns", each[i].state);
		struct value disk = column_value(&v->columns[view_column(v, "disk_ns")], &r->c.row, rows);

		g_assert_nonnull(strstr(text, words));
		struct value file = column_value(&v->columns[view_column(v, "file_ns")], &r->c.row, rows);
		struct value state = column_value(&v->columns[view_column(v, "state")], &r->c.row, rows);

		g_assert_cmpstr(state.s, ==, each[i].state);
		g_assert_cmpint(file.i, ==, 200);
		g_assert_true(i ? disk.i == 200 : disk.kind == VALUE_NONE);
		rows_free(rows);
		timeline_free(tl);
	}
#undef WAITS
}

/* Empty, reversed, one ns, years, and the ends of time: rows are rows, and cells are never outside of their array. */
static void test_hostile(void)
{
	static const struct { int64_t from, to; unsigned cells; } ranges[] = {
		{ FAKE_T0, FAKE_T0, 10 }, { FAKE_T0 + FAKE_S, FAKE_T0, 10 }, { FAKE_T0, FAKE_T0 + 1, 1 },
		{ FAKE_T0 + 5, FAKE_T0 + 105, 100 }, { FAKE_T0, FAKE_T0 + 7, 10 },
		{ FAKE_T0 - 100000000 * FAKE_S, FAKE_T0 + 100000000 * FAKE_S, 4096 },
		{ INT64_MIN, INT64_MAX, 3 }, { INT64_MIN, FAKE_T0 + FAKE_S, 100 }, { FAKE_T0 + FAKE_S, INT64_MAX, 100 },
		{ -5, 5, 10 }, { FAKE_T0 - 3, FAKE_T0 + 6 * FAKE_S + 3, 7 },
	};
	struct timeline *tls[] = { fake_timeline(), timeline_new(0) };

	for (size_t t = 0; t < G_N_ELEMENTS(tls); t++) {
		for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
			struct rows *rows = build(tls[t], BY_THREAD, ranges[i].from, ranges[i].to, ranges[i].cells);

			for (guint k = 0; k < rows->rows->len; k++) {
				const struct lane_row *r = g_ptr_array_index(rows->rows, k);
				g_autofree char *text = lane_text(rows, r);

				g_assert_nonnull(text);
				for (unsigned c = 0; r->cells && c < ranges[i].cells; c++)
					g_assert_cmpint(r->cells[c].state, <=, LANE_NOTHING);
			}
			rows_free(rows);
		}
		timeline_free(tls[t]);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/lanes/steps", test_steps);
	g_test_add_func("/lanes/cells", test_cells);
	g_test_add_func("/lanes/text", test_text);
	g_test_add_func("/lanes/containers", test_containers);
	g_test_add_func("/lanes/wakers", test_wakers);
	g_test_add_func("/lanes/files", test_files);
	g_test_add_func("/lanes/hostile", test_hostile);
	return g_test_run();
}
