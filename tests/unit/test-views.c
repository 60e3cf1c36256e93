/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every view on an empty and on a made-up timeline: columns, sums, filters, order.
 */
#include "lib/sources.h"
#include "lib/cuts.h"
#include "lib/fake_timeline.h"
#include "lib/inspect.h"
#include "lib/traces.h"
#include "state/publish/model.h"
#include "state/store/coarsen.h"
#include "base/limits.h"
#include "views/needs.h"
#include "views/outliers.h"
#include "views/causes.h"
#include "views/extent.h"
#include "views/overview.h"
#include "views/common.h"
#include "views/view.h"
#include "views/waterfall.h"

#include <inttypes.h>
#include <string.h>

static const struct view_query everything = VIEW_QUERY_INIT;

static void test_columns(void)
{
	static const char *const suffix[] = {
		[VALUE_NS] = "_ns", [VALUE_TIME] = "_ns", [VALUE_BYTES] = "_bytes",
		[VALUE_RATIO] = "_ratio", [VALUE_HEX64] = "_id",
	};
	for (size_t i = 0; view_all[i]; i++) {
		const struct view *v = view_all[i];
		g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
		unsigned flexible = 0;
		g_assert_true(view_find(v->id) == v);
		for (size_t c = 0; c < v->n_columns; c++) {
			const struct column *col = &v->columns[c];
			const char *want = (size_t)col->kind < G_N_ELEMENTS(suffix) ?
				suffix[col->kind] : NULL;
			g_assert_true(g_hash_table_add(seen, (gpointer)col->id));
			g_assert_true(!want || g_str_has_suffix(col->id, want));
			g_assert_nonnull(col->help);
			g_assert_nonnull(col->title);
			flexible += col->flexible;
			g_assert_true(view_column(v, col->id) == (int)c);
		}
		g_assert_cmpuint(flexible, <=, 1);
		g_assert_true(!v->default_sort || view_column(v, v->default_sort) >= 0);
		g_assert_true(!v->drill || view_find(v->drill));
	}
	g_assert_null(view_find("nothing"));
	g_assert_cmpint(view_column(view_find("syscalls"), "nothing"), ==, -1);
}

/* The ids that the documentation promises, in this order. */
static void test_promised_columns(void)
{
	static const char *const promised[][2] = {
		{ "processes", "host pid tid ppid comm cpu_ns user_ns syscall_ns kernel_ns irq_ns "
		  "runnable_ns blocked_ns unknown_ns syscalls read_bytes write_bytes start_ns exit_ns" },
		{ "syscalls", "host pid tid comm syscall count errors unfinished total_ns busy_ns "
		  "min_ns avg_ns p50_ns p95_ns p99_ns max_ns" },
		{ "files", "host pid comm path kind reads writes read_bytes write_bytes min_ns avg_ns "
		  "p50_ns p95_ns p99_ns max_ns" },
		{ "events", "host name count lost" },
		{ "traces", "trace_id span_id parent_id service name host pid tid begin_ns end_ns "
		  "duration_ns self_ns spans services errors state" },
		{ "spans", "trace_id span_id parent_id kind service name host pid tid begin_ns end_ns "
		  "duration_ns self_ns state errors user_ns syscall_ns kernel_ns irq_ns preempted_ns "
		  "wakeup_ns disk_ns socket_ns pipe_ns futex_ns timer_ns poll_ns fault_ns handoff_ns "
		  "other_ns unknown_ns" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(promised); i++) {
		const struct view *v = view_find(promised[i][0]);
		g_auto(GStrv) ids = g_strsplit(promised[i][1], " ", -1);
		for (size_t c = 0; ids[c]; c++)
			g_assert_cmpstr(v->columns[c].id, ==, ids[c]);
	}
}

static void get_all_cells(const struct view *v, struct rows *rows)
{
	for (guint r = 0; r < rows->rows->len; r++)
		for (size_t c = 0; c < v->n_columns; c++) {
			struct value val = column_value(&v->columns[c], rows->rows->pdata[r], rows);
			g_assert_true(val.kind == VALUE_NONE || val.kind == v->columns[c].kind);
			if (val.kind == VALUE_TEXT)
				g_assert_nonnull(val.s);
		}
}

static void build_every_view(struct timeline *tl)
{
	for (size_t i = 0; view_all[i]; i++)
		for (int by = BY_SYSTEM; by <= BY_THREAD; by++) {
			struct view_query q = everything;
			q.by = by;
			struct rows *rows = view_all[i]->build(tl, &q);
			g_assert_nonnull(rows);
			get_all_cells(view_all[i], rows);
			for (size_t c = 0; c < view_all[i]->n_columns; c++)
				rows_sort(rows, view_all[i], c, c % 2);
			rows_sort(rows, view_all[i], -1, false);
			get_all_cells(view_all[i], rows);
			rows_free(rows);
		}
	rows_free(NULL);
}

static void test_empty(void)
{
	g_autoptr(blk_timeline) tl = timeline_new(0);
	build_every_view(tl);
	g_assert_cmpint(overview_worst_second(tl), ==, TIME_UNKNOWN);
	g_assert_cmpint(overview_next_outlier(tl, 0, 1), ==, TIME_UNKNOWN);
	g_autofree char *missing = view_missing_text(view_find("processes"), tl);
	g_assert_cmpstr(missing, ==, "sched_switch, sched_waking, system calls");
}

static void test_story(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	build_every_view(tl);
	g_assert_null(view_missing_text(view_find("processes"), tl));
	g_autofree char *missing = view_missing_text(view_find("devices"), tl);
	g_assert_cmpstr(missing, ==, "block_rq_insert");
}

static struct value cell(const struct view *v, const struct rows *rows, guint row,
			 const char *id)
{
	int c = view_column(v, id);
	g_assert_cmpint(c, >=, 0);
	return column_value(&v->columns[c], rows->rows->pdata[row], rows);
}

static int64_t sum(const struct view *v, const struct rows *rows, const char *id)
{
	int64_t total = 0;
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value val = cell(v, rows, i, id);
		total += val.kind == VALUE_NONE ? 0 : val.i;
	}
	return total;
}

/* Whatever it is grouped by, the sums are the same; so are those of single seconds. */
static void test_sums(void)
{
	static const char *const checked[][2] = {
		{ "processes", "cpu_ns" }, { "processes", "blocked_ns" }, { "processes", "unknown_ns" },
		{ "processes", "syscalls" }, { "processes", "read_bytes" },
		{ "syscalls", "count" }, { "syscalls", "total_ns" }, { "syscalls", "errors" },
		{ "syscalls", "busy_ns" }, { "files", "write_bytes" }, { "files", "reads" },
		{ "events", "count" }, { "cpus", "run_ns" }, { "devices", "others" },
		{ "devices", "total_ns" }, { "scheduler", "switches" }, { "scheduler", "total_ns" },
		{ "counters", "value" },
	};
	g_autoptr(blk_timeline) tl = fake_timeline();
	for (size_t i = 0; i < G_N_ELEMENTS(checked); i++) {
		const struct view *v = view_find(checked[i][0]);
		int64_t totals[3], seconds = 0;
		for (int by = BY_SYSTEM; by <= BY_THREAD; by++) {
			struct view_query q = everything;
			q.by = by;
			struct rows *rows = v->build(tl, &q);
			totals[by] = sum(v, rows, checked[i][1]);
			rows_free(rows);
		}
		g_assert_cmpint(totals[BY_SYSTEM], >, 0);
		g_assert_cmpint(totals[BY_PROCESS], ==, totals[BY_SYSTEM]);
		g_assert_cmpint(totals[BY_THREAD], ==, totals[BY_SYSTEM]);
		if (view_has_by(v, BY_CONTAINER)) {
			struct view_query q = everything;
			q.by = BY_CONTAINER;
			struct rows *rows = v->build(tl, &q);
			g_assert_cmpint(sum(v, rows, checked[i][1]), ==, totals[BY_SYSTEM]);
			rows_free(rows);
		}
		for (int s = 0; s < 6; s++) {
			struct view_query q = everything;
			q.from_ns = FAKE_T0 + s * FAKE_S;
			q.to_ns = q.from_ns + FAKE_S;
			struct rows *rows = v->build(tl, &q);
			seconds += sum(v, rows, checked[i][1]);
			rows_free(rows);
		}
		g_assert_cmpint(seconds, ==, totals[BY_SYSTEM]);
	}
}

#define FIRST_PID 0xeffffffcu
#define FIRST_UTS 0xeffffffeu

/* One cell of each kind that has a thread, told n times. */
static void add_kernel_cells(struct second *s, uint32_t host, uint32_t t, uint32_t name, unsigned n)
{
	s->scheds = g_renew(struct sched_cell, s->scheds, s->n_scheds + 1);
	s->scheds[s->n_scheds++] = (struct sched_cell){ .thread = t, .switches = n };
	s->wakers = g_renew(struct waker_cell, s->wakers, s->n_wakers + 1);
	s->wakers[s->n_wakers++] = (struct waker_cell){ .thread = t, .waker = ID_NONE, .irq = name, .count = n };
	s->stolen = g_renew(struct stolen_cell, s->stolen, s->n_stolen + 1);
	s->stolen[s->n_stolen++] = (struct stolen_cell){ .thread = t, .code = 1, .name = name, .count = n };
	s->counts = g_renew(struct count_cell, s->counts, s->n_counts + 2);
	s->counts[s->n_counts++] = (struct count_cell){ .thread = t, .host = host, .name = name,
							.kind = COUNT_PROBE, .value = n };
	s->counts[s->n_counts++] = (struct count_cell){ .thread = t, .host = host, .name = name,
							.kind = COUNT_EVENT, .value = n };
	s->dev_users = g_renew(struct dev_user_cell, s->dev_users, s->n_dev_users + 1);
	s->dev_users[s->n_dev_users++] = (struct dev_user_cell){ .thread = t, .host = host, .name = name,
								 .requests[BLOCK_READ] = n };
}

/* Two processes in one container, one in its namesake on another host, one of the kernel's
 * first namespaces, one set apart by its hostname alone, and two that nothing is known of. */
static struct timeline *contained(void)
{
	struct fake *f = fake_new();
	uint32_t other = fake_host(f, "web2"), read = fake_string(f, "read");
	uint32_t file = fake_file(f, 0, FILE_REGULAR, "/etc/hosts");
	static const char *const events[] = {
		"sched_switch", "sched_waking", "irq_handler_entry", "block_rq_issue",
		"block_rq_complete", "syscall_entry_read",
	};
	const struct { uint32_t host; int32_t pid; uint32_t pid_ns, uts_ns; } threads[] = {
		{ 0, 10, 4026532500, FIRST_UTS }, { 0, 11, 4026532500, 0 },
		{ other, 10, 4026532500, 0 }, { 0, 12, FIRST_PID, FIRST_UTS },
		{ 0, 13, FIRST_PID, 4026532600 }, { 0, 14, 0, 0 }, { 0, -1, 0, 0 },
	};
	for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
		uint32_t t = fake_thread(f, threads[i].host, threads[i].pid, 10 + (int32_t)i, "sh");
		if (threads[i].pid >= 0)
			fake_ns(f, t, threads[i].pid_ns, 0, threads[i].uts_ns);
		fake_call(fake_second(f, 0), t, read, 1u << i, 10);
		fake_io(fake_second(f, 0), t, file, 1u << i, 0, 1, 10);
		fake_cell(fake_second(f, 0), t)->part[PART_USER] = 1 << i;
		add_kernel_cells(fake_second(f, 0), threads[i].host, t, read, 1u << i);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(events); i++) {
		fake_class(f, events[i]);
		fake_event(fake_second(f, 0), 0, fake_string(f, events[i]), 1);
		fake_event(fake_second(f, 0), other, fake_string(f, events[i]), 1);
	}
	return fake_done(f);
}

/* "web1 host 8, ...": of every row its container and a number. */
static char *by_container(const struct timeline *tl, const char *view, const char *column,
			  const char *filter)
{
	const struct view *v = view_find(view);
	struct view_query q = everything;
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GError) error = NULL;
	struct expr *expr = filter ? view_expr(v, filter, &error) : NULL;
	g_assert_no_error(error);
	q.by = BY_CONTAINER;
	struct rows *rows = v->build(tl, &q);
	rows_filter(rows, v, expr);
	for (guint i = 0; i < rows->rows->len; i++) {
		struct value name = cell(v, rows, i, "container");
		g_string_append_printf(text, "%s%s %s %" G_GINT64_FORMAT, i ? ", " : "",
				       cell(v, rows, i, "host").s,
				       name.kind == VALUE_NONE ? "-" : name.s,
				       cell(v, rows, i, column).i);
	}
	rows_free(rows);
	expr_free(expr);
	return g_string_free(g_steal_pointer(&text), false);
}

static void test_containers(void)
{
	static const char *const counted[][2] = {
		{ "processes", "user_ns" }, { "syscalls", "count" }, { "files", "reads" },
		{ "io", "reads" }, { "scheduler", "switches" }, { "wakers", "count" },
		{ "interrupts", "count" }, { "counters", "value" }, { "events", "count" },
		{ "devices", "reads" },
	};
	g_autoptr(blk_timeline) tl = contained();
	for (size_t i = 0; i < G_N_ELEMENTS(counted); i++) {
		g_autofree char *all = by_container(tl, counted[i][0], counted[i][1], NULL);
		g_autofree char *one = by_container(tl, counted[i][0], counted[i][1],
						    "container == host");
		g_assert_cmpstr(all, ==, "web1 - 96, web1 host 8, web1 pid:4026532500 3, "
				"web1 uts:4026532600 16, web2 pid:4026532500 4");
		g_assert_cmpstr(one, ==, "web1 host 8");
	}
}

/* What a container's row opens is all of it, and nothing else. */
static void test_narrowed_to_containers(void)
{
	g_autoptr(blk_timeline) tl = contained();
	const struct view *v = view_find("processes");
	struct view_query q = everything;
	q.by = BY_CONTAINER;
	struct rows *rows = v->build(tl, &q);
	for (guint i = 0; i < rows->rows->len; i++) {
		struct view_query inside = ((const struct row *)rows->rows->pdata[i])->drill;
		g_assert_cmpuint(inside.container, !=, 0);
		inside.by = BY_THREAD;
		struct rows *of = v->build(tl, &inside);
		g_assert_cmpint(sum(v, of, "user_ns"), ==, cell(v, rows, i, "user_ns").i);
		for (guint k = 0; k < of->rows->len; k++) {
			struct value a = cell(v, of, k, "container"), b = cell(v, rows, i, "container");
			g_assert_cmpint(a.kind, ==, b.kind);
			g_assert_true(a.kind == VALUE_NONE || g_str_equal(a.s, b.s));
		}
		rows_free(of);
	}
	rows_free(rows);
}

/* A file that a process has twice, by two threads, in two seconds; of a container's nobody asks. */
static void test_descriptors(void)
{
	struct fake *f = fake_new();
	uint32_t a = fake_thread(f, 0, 100, 100, "a"), b = fake_thread(f, 0, 100, 101, "b");
	uint32_t file = fake_file(f, 0, FILE_REGULAR, "/etc/hosts");
	fake_io(fake_second(f, 0), a, file, 1, 0, 10, 10);
	fake_io(fake_second(f, 1), b, file, 1, 0, 10, 10);
	fake_second(f, 1)->files[0].fd_low = 7;
	fake_second(f, 1)->files[0].fd_high = 9;
	g_autoptr(blk_timeline) tl = fake_done(f);
	static const struct { enum view_by by; unsigned row; int64_t low, high; } cases[] = {
		{ BY_PROCESS, 0, 3, 9 }, { BY_THREAD, 0, 3, 3 }, { BY_THREAD, 1, 7, 9 },
		{ BY_SYSTEM, 0, -1, -1 }, { BY_CONTAINER, 0, -1, -1 },
	};
	const struct view *v = view_find("files");
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct view_query q = everything;
		q.by = cases[i].by;
		struct rows *rows = v->build(tl, &q);
		struct value low = cell(v, rows, cases[i].row, "fd"), high = cell(v, rows, cases[i].row, "fd_last");
		g_assert_cmpint(low.kind == VALUE_NONE ? -1 : low.i, ==, cases[i].low);
		g_assert_cmpint(high.kind == VALUE_NONE ? -1 : high.i, ==, cases[i].high);
		rows_free(rows);
	}
}

/* What its processes say: of two names the first by the alphabet; two containers of one name;
 * one that nothing but the name sets apart; what the machine is called is no name. */
static void test_names_of_containers(void)
{
	static const struct { int32_t pid; uint32_t pid_ns; const char *hostname; } threads[] = {
		{ 10, 4026532500, "web" }, { 11, 4026532500, "app" }, { 12, 4026532500, NULL },
		{ 13, 4026532600, "db" }, { 14, 4026532700, "db" }, { 15, 4026532800, "web1" },
		{ 16, 0, "alone" }, { 17, FIRST_PID, "web1" }, { 18, 0, "web1" },
	};
	struct fake *f = fake_new();
	for (unsigned i = 0; i < G_N_ELEMENTS(threads); i++) {
		uint32_t t = fake_thread(f, 0, threads[i].pid, threads[i].pid, "sh");
		fake_ns(f, t, threads[i].pid_ns, 0, 0);
		if (threads[i].hostname)
			fake_hostname(f, t, threads[i].hostname);
		fake_cell(fake_second(f, 0), t)->part[PART_USER] = 1 << i;
	}
	fake_class(f, "sched_switch");
	fake_class(f, "syscall_entry_read");
	g_autoptr(blk_timeline) tl = fake_done(f);
	g_autofree char *all = by_container(tl, "processes", "user_ns", NULL);
	g_assert_cmpstr(all, ==, "web1 alone 64, web1 app 7, web1 db (pid:4026532600) 8, "
			"web1 db (pid:4026532700) 16, web1 host 384, web1 pid:4026532800 32");
	g_autofree char *one = by_container(tl, "processes", "user_ns", "container == app");
	g_assert_cmpstr(one, ==, "web1 app 7");
	g_autofree char *name = view_container_name(tl, 0, UINT64_C(1) << 32 | 4026532500u);
	g_assert_cmpstr(name, ==, "app");
}

/* One thread, three seconds: every figure by hand. */
static void test_syscall_figures(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 101, "worker"), read = fake_string(f, "read");
	for (unsigned i = 0; i < 3; i++) {
		struct call_cell *c = fake_call(fake_second(f, i), t, read, i + 1, 1000 * (i + 1));
		c->unfinished = i < 2;
		c->errors = 1;
	}
	g_autoptr(blk_timeline) tl = fake_done(f);
	const struct view *v = view_find("syscalls");
	struct view_query q = everything;
	q.by = BY_PROCESS;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	g_assert_cmpint(cell(v, rows, 0, "count").i, ==, 6);
	g_assert_cmpint(cell(v, rows, 0, "errors").i, ==, 3);
	g_assert_cmpint(cell(v, rows, 0, "unfinished").i, ==, 0);
	g_assert_cmpint(cell(v, rows, 0, "total_ns").i, ==, 1000 + 2 * 2000 + 3 * 3000);
	g_assert_cmpint(cell(v, rows, 0, "min_ns").i, ==, 1000);
	g_assert_cmpint(cell(v, rows, 0, "max_ns").i, ==, 3000);
	g_assert_cmpint(cell(v, rows, 0, "avg_ns").i, ==, 14000 / 6);
	g_assert_true(cell(v, rows, 0, "tid").kind == VALUE_NONE);
	rows_free(rows);
	q.from_ns = FAKE_T0;
	q.to_ns = FAKE_T0 + FAKE_S + 1;		/* overlaps two seconds */
	rows = v->build(tl, &q);
	g_assert_cmpint(cell(v, rows, 0, "count").i, ==, 3);
	g_assert_cmpint(cell(v, rows, 0, "unfinished").i, ==, 1);
	rows_free(rows);
}

static void test_names(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 100, "before");
	uint32_t stray = fake_thread(f, 0, -1, 7, "stray");
	fake_rename(f, t, FAKE_T0 + 1500 * FAKE_MS, "after");
	for (unsigned i = 0; i < 2; i++) {
		fake_cell(fake_second(f, i), t)->part[PART_USER] = 5;
		fake_cell(fake_second(f, i), stray)->part[PART_USER] = 6;
	}
	fake_class(f, "sched_switch");
	g_autoptr(blk_timeline) tl = fake_done(f);
	const struct view *v = view_find("processes");
	struct view_query q = everything;
	q.by = BY_THREAD;
	q.from_ns = FAKE_T0;
	q.to_ns = FAKE_T0 + FAKE_S;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 2);
	g_assert_true(cell(v, rows, 0, "pid").kind == VALUE_NONE);
	g_assert_cmpint(cell(v, rows, 0, "tid").i, ==, 7);
	g_assert_cmpstr(cell(v, rows, 1, "comm").s, ==, "before");
	g_assert_true(cell(v, rows, 1, "syscalls").kind == VALUE_NONE);
	g_assert_true(cell(v, rows, 1, "user_ns").kind == VALUE_NONE);
	g_assert_cmpint(cell(v, rows, 1, "cpu_ns").i, ==, 5);
	rows_free(rows);
	q.to_ns = FAKE_T0 + 2 * FAKE_S;
	rows = v->build(tl, &q);
	g_assert_cmpstr(cell(v, rows, 1, "comm").s, ==, "after");
	rows_free(rows);
	q.by = BY_SYSTEM;
	rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	g_assert_true(cell(v, rows, 0, "comm").kind == VALUE_NONE);
	g_assert_cmpint(cell(v, rows, 0, "cpu_ns").i, ==, 22);
	rows_free(rows);
}

/* Without scheduler and calls nothing is zero: it is unknown. */
static void test_unknown(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 100, "ust");
	fake_cell(fake_second(f, 0), t)->part[PART_UNKNOWN] = FAKE_S;
	fake_span(f, &(struct fake_span){ .trace = 1, .id = 1, .name = "a", .service = "s",
		.thread = ID_NONE, .begin = 5, .end = 25 });
	g_autoptr(blk_timeline) tl = fake_done(f);
	const struct view *v = view_find("processes");
	struct rows *rows = v->build(tl, &everything);
	g_assert_true(cell(v, rows, 0, "cpu_ns").kind == VALUE_NONE);
	g_assert_true(cell(v, rows, 0, "read_bytes").kind == VALUE_NONE);
	g_assert_cmpint(cell(v, rows, 0, "unknown_ns").i, ==, FAKE_S);
	rows_free(rows);
	v = view_find("spans");
	rows = v->build(tl, &everything);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	g_assert_true(cell(v, rows, 0, "user_ns").kind == VALUE_NONE);
	g_assert_cmpint(cell(v, rows, 0, "unknown_ns").i, ==, 20);
	g_assert_true(cell(v, rows, 0, "parent_id").kind == VALUE_NONE);
	g_assert_true(cell(v, rows, 0, "kind").kind == VALUE_NONE);
	g_assert_true(cell(v, rows, 0, "pid").kind == VALUE_NONE);
	rows_free(rows);
}

/* As titles have them, without the unit; no other column's id, and not one of two. */
static void test_without_unit(void)
{
	static const struct { const char *view, *name, *id; } cases[] = {
		{ "spans", "duration", "duration_ns" }, { "spans", "duration_ns", "duration_ns" },
		{ "processes", "cpu", NULL },	/* cpu_ns, cpu_ratio */
		{ "processes", "pid", "pid" },	/* not pid_ns */
		{ "spans", "dura", NULL }, { "spans", "", NULL }, { "spans", "_ns", NULL },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct view *v = view_find(cases[i].view);
		int c = view_column(v, cases[i].name);
		g_assert_cmpstr(c < 0 ? NULL : v->columns[c].id, ==, cases[i].id);
	}
	struct expr *e = view_expr(view_find("spans"), "duration > 100ms", NULL);
	g_assert_nonnull(e);
	expr_free(e);
}

static void test_filter_and_sort(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	g_autoptr(GError) error = NULL;
	const struct view *v = view_find("syscalls");
	struct view_query q = everything;
	q.by = BY_PROCESS;
	struct rows *rows = v->build(tl, &q);
	guint n = rows->rows->len;
	struct expr *e = view_expr(v, "comm == thumbd && count > 0", &error);
	g_assert_no_error(error);
	rows_filter(rows, v, e);
	expr_free(e);
	g_assert_cmpuint(rows->n_before_filter, ==, n);
	g_assert_cmpuint(rows->rows->len, ==, 2);
	rows_sort(rows, v, view_column(v, "count"), true);
	g_assert_cmpint(cell(v, rows, 0, "count").i, >=, cell(v, rows, 1, "count").i);
	rows_sort(rows, v, view_column(v, "count"), false);
	g_assert_cmpint(cell(v, rows, 0, "count").i, <=, cell(v, rows, 1, "count").i);
	rows_free(rows);
	g_assert_null(view_expr(v, "nothing > 3", &error));
	g_assert_nonnull(error);
}

static void test_narrowing(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("processes");
	struct view_query q = everything;
	q.by = BY_THREAD;
	q.pid = 246;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 5);
	const struct row *first = rows->rows->pdata[0];
	struct view_query drilled = first->drill;
	rows_free(rows);
	g_assert_cmpint(drilled.pid, ==, 246);
	g_assert_cmpint(drilled.tid, ==, 246);
	v = view_find("spans");
	q = everything;
	q.operation = "lock";
	q.service = "thumbd";
	rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, FAKE_GOOD + 4);
	rows_free(rows);
}

static void test_traces(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("traces");
	struct view_query q = everything;
	struct rows *rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, FAKE_GOOD + 4);
	rows_sort(rows, v, view_column(v, "begin_ns"), true);
	g_assert_cmpint(cell(v, rows, 0, "trace_id").i, ==, (int64_t)FAKE_OPEN);
	g_assert_cmpstr(cell(v, rows, 0, "state").s, ==, "open");
	g_assert_cmpstr(cell(v, rows, 1, "state").s, ==, "complete");
	g_assert_cmpint(cell(v, rows, 1, "services").i, ==, 2);
	g_assert_cmpint(cell(v, rows, 1, "spans").i, ==, 8);
	rows_free(rows);
	q.from_ns = FAKE_T0 + 5 * FAKE_S;	/* only the open one is in the last second */
	q.to_ns = q.from_ns + FAKE_S;
	rows = v->build(tl, &q);
	g_assert_cmpuint(rows->rows->len, ==, 1);
	rows_free(rows);
}

static void test_overview(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	const struct view *v = view_find("overview");
	struct view_query q = everything;
	q.from_ns = FAKE_T0 + 3 * FAKE_S;
	q.to_ns = q.from_ns + FAKE_S;
	g_assert_cmpint(overview_worst_second(tl), ==, q.from_ns);
	struct rows *rows = v->build(tl, &q);
	const struct overview *o = overview_of(rows);
	g_assert_nonnull(o);
	struct extent_strip *strip = extent_strip_new(&(struct extent){ .main = tl, .final_to_ns = INT64_MAX });
	g_assert_cmpuint(strip->n, ==, 6);
	g_assert_true(strip->points[4].gap && strip->points[2].lost && strip->points[3].outlier);
	g_assert_cmpfloat(strip->points[4].figure[GRAPH_REQUESTS], ==, -1);
	g_assert_cmpint(strip->points[3].begin_ns, ==, overview_worst_second(tl));
	extent_strip_free(strip);
	g_assert_cmpuint(o->n_cpus, ==, 2);
	g_assert_true(o->cpu_ratio > 0.4 && o->cpu_ratio < 0.5);
	g_assert_cmpstr(o->device, ==, "vda");
	g_assert_cmpint(o->runq_p99_ns, ==, 3 * FAKE_MS);
	g_assert_cmpuint(o->causes->rows->len, >=, 3);
	g_assert_cmpuint(o->processes->rows->len, ==, 5);
	g_assert_cmpuint(rows->rows->len, ==, 2);	/* thumbnail, and send of stored */
	get_all_cells(&view_causes, o->causes);
	get_all_cells(&view_overview_processes, o->processes);
	g_autofree char *why = overview_why(o, o->causes->rows->pdata[0]);
	g_assert_true(strstr(why, " requests took ") && strstr(why, "x the usual: "));
	g_assert_cmpuint(o->n_gauges, ==, 3);
	g_assert_cmpstr(o->gauges[0].name, ==, "CPU0");
	g_assert_cmpstr(o->gauges[2].name, ==, "vda");
	rows_free(rows);
}

static void test_outliers(void)
{
	g_autoptr(blk_timeline) tl = fake_timeline();
	int64_t bad = FAKE_T0 + 3 * FAKE_S;
	g_assert_cmpint(overview_next_outlier(tl, FAKE_T0, 1), ==, bad);
	g_assert_cmpint(overview_next_outlier(tl, bad, 1), ==, TIME_UNKNOWN);
	g_assert_cmpint(overview_next_outlier(tl, bad + 2 * FAKE_S, -1), ==, bad);
	g_assert_cmpint(overview_next_outlier(tl, bad + 5, -1), ==, TIME_UNKNOWN);
}

/* ---- waits for work and waits while working ---- */

static void add_half_call(GString *s, int64_t at, const char *half, const char *call, int tid)
{
	g_string_append_printf(s, "%" PRId64 " %d syscall_%s_%s ctx.tid=%d ctx.pid=%d%s\n", at, tid, half, call,
			       tid, tid, g_str_equal(half, "exit") ? " ret=0" : "");
}

static void add_mark(GString *s, int64_t at, int span, const char *event)
{
	g_string_append_printf(s, "%" PRId64 " 0 u:zipkin:timestamp trace_name=\"req\" "
			       "service_name=\"s\" trace_id=1 span_id=%d parent_span_id=0 event=\"%s\" "
			       "ctx.vtid=7 ctx.vpid=7\n", at, span, event);
}

/* Two seconds, each with 70 short reads among as many long waits of an event loop, and with a long wait of each of some
 * kinds. Then thread 7 sleeps: in a span, if with_span; and polls outside of it. */
static struct timeline *waiting_timeline(bool with_span)
{
	static const char *const kinds[] = { "accept4", "wait4", "rt_sigtimedwait", "nanosleep", "pselect6_time64" };
	g_autoptr(GString) s = g_string_new(NULL);

	for (int64_t at = 0; at < 2 * FAKE_S; at += FAKE_S) {
		for (int k = 0; k < (int)G_N_ELEMENTS(kinds); k++)
			add_half_call(s, at + 1 + k, "entry", kinds[k], 20 + k);
		for (int i = 0; i < 70; i++) {
			int64_t from = at + i * 10 * FAKE_MS + 10;
			add_half_call(s, from, "entry", "epoll_wait", 8);
			add_half_call(s, from + 1, "entry", "read", 7);
			add_half_call(s, from + FAKE_MS, "exit", "read", 7);
			add_half_call(s, from + 9 * FAKE_MS, "exit", "epoll_wait", 8);
		}
		for (int k = 0; k < (int)G_N_ELEMENTS(kinds); k++)
			add_half_call(s, at + 750 * FAKE_MS + k, "exit", kinds[k], 20 + k);
		if (with_span)
			add_mark(s, at + 760 * FAKE_MS, 2 + (int)(at / FAKE_S), "sr");
		add_half_call(s, at + 770 * FAKE_MS, "entry", "clock_nanosleep", 7);
		add_half_call(s, at + 790 * FAKE_MS, "exit", "clock_nanosleep", 7);
		if (with_span)
			add_mark(s, at + 800 * FAKE_MS, 2 + (int)(at / FAKE_S), "ss");
		add_half_call(s, at + 810 * FAKE_MS, "entry", "poll", 7);
		add_half_call(s, at + 860 * FAKE_MS, "exit", "poll", 7);
	}
	return timeline_of_script(s->str, &(struct model_options){ .at_end = true });
}

static const char *text_in(const struct rows *rows, guint i, const char *column)
{
	const struct view *v = view_find("slow");
	struct value value = column_value(&v->columns[view_column(v, column)], rows->rows->pdata[i], rows);
	return value.kind == VALUE_NONE ? NULL : value.s;
}

/* Waits for work take no place of other calls, in a second and in several that are folded; what waits in a span does
 * not count as one. */
static void test_slow_waits(void)
{
	for (int with_span = 0; with_span <= 1; with_span++) {
		g_autoptr(blk_timeline) tl = waiting_timeline(with_span);
		struct view_query first = everything;
		first.to_ns = FAKE_S;
		const struct view *v = view_find("slow");
		struct second *both[] = { second_ref((struct second *)timeline_second(tl, 0)),
					  second_ref((struct second *)timeline_second(tl, 1)) };
		g_assert_cmpint(both[0]->totals.slowest_call_ns, ==, FAKE_MS - 1);
		g_assert_cmpuint(both[0]->n_slow, ==, 2 * LIMIT_SECOND_CALLS);
		struct second *folded = second_coarsen(both, 2, 10 * FAKE_S);
		g_assert_cmpuint(folded->n_slow, ==, 2 * LIMIT_SECOND_CALLS);
		for (uint32_t i = 0; i < folded->n_slow; i++)
			g_assert_cmpint(folded->slow[i].list, ==, i < LIMIT_SECOND_CALLS ? SLOW_EVENTS : SLOW_PLAIN);
		for (int i = 0; i < 2; i++)
			second_unref(both[i]);
		second_unref(folded);

		for (int descending = 0; descending <= 1; descending++) {
			struct rows *rows = v->build(tl, &first);
			guint n = 0, at = descending ? 0 : LIMIT_SECOND_CALLS;
			rows_sort(rows, v, view_column(v, v->default_sort), descending);
			g_assert_cmpuint(rows->rows->len, ==, 2 * LIMIT_SECOND_CALLS);
			if (with_span) {
				g_assert_cmpstr(text_in(rows, at, "syscall"), ==, "clock_nanosleep");
				g_assert_cmpstr(text_in(rows, at, "waited"), ==, "while working");
			}
			for (guint i = 0; i < rows->rows->len; i++) {
				bool reads = !g_strcmp0(text_in(rows, i, "syscall"), "read");
				bool worked = reads || (with_span && i == at);
				g_assert_cmpint(worked, ==, i < LIMIT_SECOND_CALLS + (guint)with_span);
				if (!worked)
					g_assert_cmpstr(text_in(rows, i, "waited"), ==, "for work");
				g_assert_true(!reads || !text_in(rows, i, "waited"));
				n += reads;
			}
			g_assert_cmpuint(n, ==, LIMIT_SECOND_CALLS);
			rows_free(rows);
		}
	}
}

/* Calls of one thread each: what it waits for decides, if the process has no spans, and outside of spans. */
static const struct waiting_call {
	const char *call, *arguments;
	const char *alone, *outside, *inside;	/* in a process without spans; in one with spans; in a span */
} waiting_calls[] = {
	{ "epoll_wait", "epfd=3", "for work", "for work", "while working" },
	{ "accept4", "fd=3", "for work", "for work", "while working" },
	{ "recvfrom", "fd=9", "unknown", "for work", "while working" },
	{ "read", "fd=4", "unknown", "for work", "while working" },		/* a socket */
	{ "read", "fd=5", NULL, NULL, NULL },					/* a file */
	{ "read", "fd=9", "unknown", "unknown", "while working" },		/* nobody knows */
	/* A lock, a condition, and a call that wakes. */
	{ "futex", "uaddr=64 op=128 val=2", "while working", "while working", "while working" },
	{ "futex", "uaddr=64 op=137 val=0", "unknown", "for work", "while working" },
	{ "futex", "uaddr=64 op=129 val=1", NULL, NULL, NULL },
	{ "futex_waitv", "", "unknown", "unknown", "while working" },
	{ "restart_syscall", "", NULL, NULL, NULL },
};

/* Each second has all calls once, by thread 7; what: alone, outside, inside. A span of process 7 is in its second 3. */
static struct timeline *calls_timeline(int what, bool cut)
{
	g_autoptr(GString) s = g_string_new(
		"1 7 syscall_entry_socket ctx.tid=7 ctx.pid=7 family=2 type=1\n"
		"2 7 syscall_exit_socket ctx.tid=7 ret=4\n"
		"3 7 syscall_entry_openat ctx.tid=7 ctx.pid=7 dfd=-100 filename=\"/srv/x\"\n"
		"4 7 syscall_exit_openat ctx.tid=7 ret=5\n");
	for (int64_t at = 0; at < 2 * FAKE_S; at += FAKE_S) {
		if (what == 2)
			add_mark(s, at + 10, 2 + (int)(at / FAKE_S), "sr");
		for (int64_t i = 0, t = at + 20; i < (int64_t)G_N_ELEMENTS(waiting_calls); i++, t += 20 * FAKE_MS) {
			const struct waiting_call *c = &waiting_calls[i];
			g_string_append_printf(s, "%" PRId64 " 7 syscall_entry_%s ctx.tid=7 ctx.pid=7 %s\n", t, c->call,
					       c->arguments);
			g_string_append_printf(s, "%" PRId64 " 7 syscall_exit_%s ctx.tid=7 ctx.pid=7 ret=%d\n",
					       t + (i + 1) * FAKE_MS, c->call, i % 2 ? -11 : 0);
		}
		if (what == 2)
			add_mark(s, at + 900 * FAKE_MS, 2 + (int)(at / FAKE_S), "ss");
	}
	if (what == 1) {
		add_mark(s, 2 * FAKE_S + 1, 2, "sr");
		add_mark(s, 2 * FAKE_S + 9, 2, "ss");
	}
	if (!cut)
		return timeline_of_script(s->str, &(struct model_options){ .at_end = true });
	struct recording *r = traces_record_script(s->str);
	size_t half = recording_n(r) / 2;
	struct slice *both = slice_root(slice_stitch(cuts_slice(r, 0, half, true),
						     cuts_slice(r, half, recording_n(r), false)));
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, slice_finish(both));
	slice_free(both);
	recording_free(r);
	return tl;
}

static const char *expected(const struct waiting_call *c, int what)
{
	return what == 0 ? c->alone : what == 1 ? c->outside : c->inside;
}

/* The sums of the view are those of the calls. */
static void assert_sums(const struct rows *rows, const struct view *v, int what, int first, int seconds)
{
	const struct waiting_call *is = &waiting_calls[first];
	uint64_t count = 0, errors = 0;
	int64_t total = 0, max = 0;
	for (int i = 0; i < (int)G_N_ELEMENTS(waiting_calls); i++) {
		const struct waiting_call *c = &waiting_calls[i];
		if (strcmp(c->call, is->call) || g_strcmp0(expected(c, what), expected(is, what)))
			continue;
		count += (uint64_t)seconds;
		errors += i % 2 ? (uint64_t)seconds : 0;
		total += seconds * (i + 1) * FAKE_MS;
		max = (i + 1) * FAKE_MS;
	}
	for (guint i = 0; i < rows->rows->len; i++) {
		if (strcmp(cell(v, (struct rows *)rows, i, "syscall").s, is->call))
			continue;
		struct value waited = cell(v, (struct rows *)rows, i, "waited");
		if (g_strcmp0(waited.kind == VALUE_NONE ? NULL : waited.s, expected(is, what)))
			continue;
		g_assert_cmpint(cell(v, (struct rows *)rows, i, "count").i, ==, (int64_t)count);
		g_assert_cmpint(cell(v, (struct rows *)rows, i, "errors").i, ==, (int64_t)errors);
		g_assert_cmpint(cell(v, (struct rows *)rows, i, "total_ns").i, ==, total);
		g_assert_cmpint(cell(v, (struct rows *)rows, i, "busy_ns").i, ==, total);
		g_assert_cmpint(cell(v, (struct rows *)rows, i, "max_ns").i, ==, max);
		return;
	}
	g_error("%s, %s: no row", is->call, expected(is, what));
}

static void test_waited_rule(void)
{
	const struct view *slow = view_find("slow"), *calls = view_find("syscalls");
	for (int what = 0; what < 6; what++) {
		g_autoptr(blk_timeline) tl = calls_timeline(what % 3, what >= 3);
		struct view_query q = everything;
		q.by = BY_THREAD;
		q.to_ns = 2 * FAKE_S;
		struct rows *rows = slow->build(tl, &q), *sums = calls->build(tl, &q);
		guint seen = 0;
		for (guint k = 0; k < rows->rows->len; k++) {
			int64_t ns = cell(slow, rows, k, "duration_ns").i;
			if (ns % FAKE_MS)
				continue;	/* socket, openat */
			seen++;
			g_assert_cmpstr(text_in(rows, k, "waited"), ==,
					expected(&waiting_calls[ns / FAKE_MS - 1], what % 3));
		}
		g_assert_cmpuint(seen, ==, 2 * G_N_ELEMENTS(waiting_calls));
		for (int i = 0; i < (int)G_N_ELEMENTS(waiting_calls); i++)
			assert_sums(sums, calls, what % 3, i, 2);
		rows_free(rows);
		rows_free(sums);
	}
}

/* WHY names no call that waits, also if a path is known: of accept() that of its socket; and none on a terminal. */
static void test_outlier_waits(void)
{
	static const struct { const char *call, *path; bool waits, named; } cases[] = {
		{ "fsync", "/srv/data", false, true }, { "accept", "/run/x.sock", true, false },
		{ "epoll_wait", "/run/x.sock", true, false }, { "read", "/dev/pts/0", false, false },
		{ "read", "/dev/sda", false, true },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct fake *f = fake_new();
		uint32_t t = fake_thread(f, 0, 7, 7, "server"), name = fake_string(f, cases[i].call);
		struct second *s = fake_second(f, 0);
		fake_waits(s, fake_call(s, t, name, 20, FAKE_MS), CALL_NO_WAIT);
		s->slow = g_new0(struct slow_call, 1);
		s->n_slow = 1;
		s->slow[0] = (struct slow_call){ .thread = t, .name = name,
			.wait = cases[i].waits ? CALL_WAITS_EVENT : CALL_NO_WAIT,
			.file = fake_file(f, 0, FILE_SOCKET, cases[i].path), .begin_ns = s->begin_ns,
			.duration_ns = 500 * FAKE_MS };
		g_autoptr(blk_timeline) tl = fake_done(f);
		struct view_query query = everything;
		query.from_ns = FAKE_T0;
		query.to_ns = FAKE_T0 + FAKE_S;
		struct range range = range_of(tl, &query);
		g_autofree char *text = outliers_text(tl, &range);
		g_assert_true(cases[i].named ? text && strstr(text, cases[i].call) : !text);
	}
}

#define TASK(tid, pid, comm) \
	"2 0 lttng_statedump_process_state tid=" tid " pid=" pid " ppid=1 name=\"" comm "\" type=0\n"
#define SWITCH(at, cpu, prev, state, next) \
	at " " cpu " sched_switch prev_tid=" prev " prev_state=" state " next_tid=" next "\n"
#define WAKES(at, waker) \
	at "0 1 sched_switch prev_tid=0 prev_state=0 next_tid=" waker "\n" at "1 1 sched_waking tid=7\n" \
	at "2 1 sched_switch prev_tid=" waker " prev_state=1 next_tid=0\n" SWITCH(at "3", "0", "0", "0", "7") \
	SWITCH(at "4", "0", "7", "1", "0")

/* The wakers of thread 7 by process, whatever piece of the trace is read first. */
static void assert_waker(const char *script, const char *expected)
{
	struct recording *r = traces_record_script(script);
	const struct view *v = view_find("wakers");
	struct view_query q = everything;
	q.by = BY_PROCESS;
	for (size_t cut = 1; cut < recording_n(r); cut++) {
		struct slice *left = cuts_slice(r, 0, cut, true), *right = cuts_slice(r, cut, recording_n(r), false);
		struct timeline *tl = timeline_new(0);
		struct slice *both = slice_root(slice_stitch(left, right));
		timeline_apply(tl, slice_finish(both));
		slice_free(both);
		struct rows *rows = v->build(tl, &q);
		g_assert_cmpuint(rows->rows->len, ==, 1);
		g_assert_cmpstr(cell(v, rows, 0, "waker").s, ==, expected);
		rows_free(rows);
		timeline_free(tl);
	}
	recording_free(r);
}

/* A process whose leader has no event has the name of its threads that woke, if it is one. */
static void test_leaderless(void)
{
	static const char begin[] = TASK("12", "10", "a") TASK("13", "10", "b") TASK("14", "10", "a")
		TASK("7", "7", "woken") SWITCH("5", "0", "7", "1", "0") SWITCH("6", "1", "9", "1", "0");
	const struct { const char *wakes, *label; } cases[] = {
		{ WAKES("1", "12") WAKES("2", "14"), "a/10" },
		{ WAKES("1", "12") WAKES("2", "13"), "?/10" },
		{ WAKES("1", "13") WAKES("2", "12") WAKES("3", "13"), "?/10" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *script = g_strconcat(begin, cases[i].wakes, NULL);
		assert_waker(script, cases[i].label);
	}
}

static int64_t sum_of_column(const struct timeline *tl, const char *view, const char *column)
{
	const struct view *v = view_find(view);
	struct view_query q = everything;
	int64_t sum = 0;
	q.by = BY_THREAD;
	struct rows *rows = v->build(tl, &q);
	for (guint i = 0; i < rows->rows->len; i++)
		sum += cell(v, rows, i, column).i;
	rows_free(rows);
	return sum;
}

/* A new thread's first wait for a CPU: from its wakeup, or from the fork where such wakeups are not recorded. */
static void test_first_wait(void)
{
	static const char begin[] = TASK("7", "7", "a") SWITCH("5", "0", "0", "0", "7") SWITCH("6", "1", "9", "1", "0")
		"10 0 sched_process_fork parent_tid=7 parent_pid=7 child_tid=8 child_pid=8 child_comm=\"b\"\n";
	static const char runs[] = SWITCH("50", "1", "0", "0", "8") SWITCH("60", "1", "8", "0", "0")
		SWITCH("65", "1", "0", "0", "8") "66 0 sched_waking tid=9\n" SWITCH("70", "1", "8", "1", "0")
		SWITCH("71", "1", "0", "0", "9") SWITCH("80", "1", "9", "1", "0");
	const struct { const char *wakeup; int64_t first; } cases[] = {
		{ "30 0 sched_wakeup_new tid=8 target_cpu=1\n", 20 }, { "", 40 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *script = g_strconcat(begin, cases[i].wakeup, runs, NULL);
		struct recording *r = traces_record_script(script);
		struct slice *s = cuts_slice(r, 0, recording_n(r), true);
		struct timeline *tl = timeline_new(0);
		timeline_apply(tl, slice_finish(s));
		slice_free(s);
		g_assert_cmpint(sum_of_column(tl, "scheduler", "total_ns"), ==, cases[i].first + 5);
		g_assert_cmpint(sum_of_column(tl, "scheduler", "preempted_ns"), ==, 5);
		g_assert_cmpint(sum_of_column(tl, "processes", "runnable_ns"), ==, cases[i].first + 10);
		g_assert_cmpint(sum_of_column(tl, "wakers", "count"), ==, 2);
		timeline_free(tl);
		cuts_check("first wait", r);
		recording_free(r);
	}
}

/* A trace that begins and ends within its seconds was recorded from its first to its last event. */
static void test_recorded(void)
{
	struct timeline *tl = timeline_of_script(
		"790000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"1223000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n", &(struct model_options){ 0 });
	static const struct { int64_t from_ms, to_ms, is_ms; } ranges[] = {
		{ 0, 2000, 433 }, { 0, 1000, 210 }, { 1000, 2000, 223 }, { 790, 1223, 433 }, { -5000, 60000, 433 },
		{ 0, 500, 0 }, { 2000, 3000, 0 },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(ranges); i++) {
		int64_t from = ranges[i].from_ms * 1000000, to = ranges[i].to_ms * 1000000;
		g_assert_cmpint(range_recorded(tl, from, to), ==, ranges[i].is_ms * 1000000);
		bool all = ranges[i].is_ms == ranges[i].to_ms - ranges[i].from_ms;
		g_assert_cmpint(range_recorded_part(tl, from, to), ==, all ? 0 : ranges[i].is_ms * 1000000);
		struct view_query q = VIEW_QUERY_INIT;
		q.from_ns = from;
		q.to_ns = to;
		struct range r = range_of(tl, &q);
		if (ranges[i].is_ms)
			g_assert_cmpint((int64_t)(r.seconds * 1000 + 0.5), ==, ranges[i].is_ms);
	}
	/* One event in 210 ms and one in 223 ms: each second has the rate of what was recorded of it. */
	struct view_query by_second = VIEW_QUERY_INIT;
	by_second.by = BY_SECOND;
	const struct view *v = view_find("events");
	struct rows *rows = v->build(tl, &by_second);
	g_assert_cmpuint(rows->rows->len, ==, 2);
	for (guint i = 0; i < 2; i++) {
		const struct column *rate = &v->columns[view_column(v, "rate")];
		const struct column *second = &v->columns[view_column(v, "at_ns")];
		bool first = column_value(second, rows->rows->pdata[i], rows).i < 1000000000;
		g_assert_cmpint(column_value(rate, rows->rows->pdata[i], rows).i, ==, first ? 5 : 4);
	}
	rows_free(rows);
	struct extent_strip *strip = extent_strip_new(&(struct extent){ .main = tl, .final_to_ns = INT64_MAX });
	g_assert_cmpuint(strip->n, ==, 2);
	g_assert_cmpfloat_with_epsilon(strip->points[0].bytes, 1 / 0.210, 1e-6);
	g_assert_cmpfloat_with_epsilon(strip->points[1].bytes, 1 / 0.223, 1e-6);
	extent_strip_free(strip);
	timeline_free(tl);
}

static int64_t recorded_of(const char *script, int64_t from_ms, int64_t to_ms)
{
	struct timeline *tl = timeline_of_script(script, &(struct model_options){ 0 });
	int64_t ns = range_recorded(tl, from_ms * 1000000, to_ms * 1000000);
	timeline_free(tl);
	g_assert_cmpint(ns % 1000000, ==, 0);
	return ns / 1000000;
}

/* Between two recordings of a kernel nothing was recorded. Events may be rare, and an idle machine is quiet. */
static void test_recorded_apart(void)
{
	static const char apart[] =
		"790000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"1223000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n"
		"200000500000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"200001100000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n"
		"400000200000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"400000300000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n";
	static const char quiet[] =
		"790000000 0 sched_switch prev_tid=0 prev_state=0 next_tid=7\n"
		"200223000000 0 sched_switch prev_tid=7 prev_state=1 next_tid=0\n";
	static const char rare[] =
		"790000000 0 sched_process_exec tid=7 old_tid=7 filename=\"a\"\n"
		"200790000000 0 sched_process_exec tid=7 old_tid=7 filename=\"b\"\n";
	/* Of the seconds beside the two voids, CPU 0 is known to be idle. */
	g_assert_cmpint(recorded_of(apart, 0, 1000000000), ==, 1210 + 2000 + 300);
	g_assert_cmpint(recorded_of(apart, 1000, 200001000), ==, 1000 + 1000);
	g_assert_cmpint(recorded_of(apart, 50000, 300000000), ==, 2000);
	g_assert_cmpint(recorded_of(apart, 50000, 60000), ==, 0);
	g_assert_cmpint(recorded_of(quiet, 0, 1000000), ==, 199433);
	g_assert_cmpint(recorded_of(rare, 1000, 200000), ==, 199000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/views/columns", test_columns);
	g_test_add_func("/views/promised-columns", test_promised_columns);
	g_test_add_func("/views/empty", test_empty);
	g_test_add_func("/views/story", test_story);
	g_test_add_func("/views/sums", test_sums);
	g_test_add_func("/views/syscall-figures", test_syscall_figures);
	g_test_add_func("/views/containers", test_containers);
	g_test_add_func("/views/descriptors", test_descriptors);
	g_test_add_func("/views/names-of-containers", test_names_of_containers);
	g_test_add_func("/views/narrowed-to-containers", test_narrowed_to_containers);
	g_test_add_func("/views/names", test_names);
	g_test_add_func("/views/unknown", test_unknown);
	g_test_add_func("/views/without-unit", test_without_unit);
	g_test_add_func("/views/filter-and-sort", test_filter_and_sort);
	g_test_add_func("/views/narrowing", test_narrowing);
	g_test_add_func("/views/traces", test_traces);
	g_test_add_func("/views/overview", test_overview);
	g_test_add_func("/views/outliers", test_outliers);
	g_test_add_func("/views/slow-waits", test_slow_waits);
	g_test_add_func("/views/waited-rule", test_waited_rule);
	g_test_add_func("/views/outlier-waits", test_outlier_waits);
	g_test_add_func("/views/leaderless", test_leaderless);
	g_test_add_func("/views/first-wait", test_first_wait);
	g_test_add_func("/views/recorded", test_recorded);
	g_test_add_func("/views/recorded-apart", test_recorded_apart);
	return g_test_run();
}
