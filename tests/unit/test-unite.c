/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices of several machines: analysed apart, cut anywhere, merged by machine and by time in any order, through files,
 * the report is that of all traces read together, byte for byte.
 *
 * SEED: of the made-up machines. BLKTOP_UNITE_ROUNDS: how often each is cut and merged (default 2, with ALL=1 3).
 */
#include "lib/inspect.h"
#include "lib/report.h"
#include "lib/slices.h"
#include "lib/test_traces.h"
#include "lib/traces.h"

#include "state/slice/pack.h"
#include "state/slice/slice_file.h"
#include "trace/align.h"

#define MOST 4				/* machines */
#define MS INT64_C(1000000)
#define S INT64_C(1000000000)

/* ---- the law ---- */

struct machines {
	const char *name;
	struct recording *all, *one[MOST];	/* read together; each alone */
	unsigned n;
};

static int by_time(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static GArray *random_instants(const struct machines *m, unsigned n)
{
	GArray *cuts = g_array_new(false, false, sizeof(int64_t));
	int64_t ends[] = { INT64_MIN, INT64_MAX };
	g_array_append_vals(cuts, ends, 2);
	for (unsigned i = 1; i < n; i++) {
		size_t at = (size_t)g_test_rand_int_range(0, (gint32)recording_n(m->all));
		int64_t ts = recording_event(m->all, at)->ts + g_test_rand_int_range(0, 2);
		g_array_append_val(cuts, ts);
	}
	g_array_sort(cuts, by_time);
	return cuts;
}

/* The slice of machines [host, end) from cut number `from` to `to`, as a random tree of merges. */
static struct slice *random_tree(const struct machines *m, const GArray *cuts, unsigned host, unsigned end, guint from,
				 guint to)
{
	bool one = end - host == 1, by_time = to - from > 1 && (one || g_test_rand_bit());
	struct slice *s;
	if (by_time) {
		guint at = (guint)g_test_rand_int_range((gint32)from + 1, (gint32)to);
		struct slice *a = random_tree(m, cuts, host, end, from, at);
		s = slice_stitch(a, random_tree(m, cuts, host, end, at, to));
	} else if (!one) {
		unsigned at = (unsigned)g_test_rand_int_range((gint32)host + 1, (gint32)end);
		struct slice *a = random_tree(m, cuts, host, at, from, to);
		struct slice *b = random_tree(m, cuts, at, end, from, to);
		bool other = g_test_rand_bit();
		g_assert_true(packs_before_unite(a, b, NULL));
		g_assert_cmpuint(slice_unite_cells(a, b), <, 1000000);
		s = slice_unite(other ? b : a, other ? a : b);
	} else {
		const struct recording *r = m->one[host];
		s = slices_of(r, slices_record_at(r, g_array_index(cuts, int64_t, from)),
			      slices_record_at(r, g_array_index(cuts, int64_t, to)), false);
	}
	return slices_at_random(s);
}

static void check_law(const struct machines *m)
{
	const char *env = g_getenv("BLKTOP_UNITE_ROUNDS");
	unsigned rounds = env ? (unsigned)g_ascii_strtoull(env, NULL, 10) : g_getenv("ALL") ? 3 : 2;
	g_autofree char *whole = report_of_slice(slices_of(m->all, 0, recording_n(m->all), true));
	for (unsigned i = 0; i < rounds && !g_test_failed(); i++) {
		g_autoptr(GArray) cuts = random_instants(m, i ? (unsigned)g_test_rand_int_range(1, 7) : 1);
		g_autofree char *got = report_of_slice(slice_root(random_tree(m, cuts, 0, m->n, 0, cuts->len - 1)));
		g_autofree char *what = g_strdup_printf("%s, %u machines, %u times", m->name, m->n, cuts->len - 1);
		report_assert_equal(what, whole, got);
	}
}

static void clear_machines(struct machines *m)
{
	recording_free(m->all);
	for (unsigned k = 0; k < m->n; k++)
		recording_free(m->one[k]);
}

/* ---- recordings ---- */

static struct recording *record(const char *const *paths)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	g_autoptr(GError) error = NULL;
	struct source *source = source_open_native(paths, rows, n, &error);
	g_assert_no_error(error);
	struct recording *r = recording_new(source, &error);
	g_assert_no_error(error);
	return r;
}

static int64_t first_of(const struct recording *r)
{
	return recording_event(r, 0)->ts;
}

/* Moves the clock of a recording's machine, so that it begins at the instant. */
static void move_to(const char *const *paths, int64_t ts)
{
	struct recording *r = record(paths);
	const char *boot = blk_host(recording_tables(r), 0)->boot;
	align_install(boot, align_of(boot) + ts - first_of(r));
	recording_free(r);
}

/* The paths of the recordings, NULL at the end. NULL: one is not there. */
static GPtrArray *paths_of(const char *const *names)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
	for (; *names; names++) {
		char *path = test_trace(*names);
		if (!path) {
			g_ptr_array_unref(paths);
			return NULL;
		}
		g_ptr_array_add(paths, path);
	}
	g_ptr_array_add(paths, NULL);
	return paths;
}

/* Machines that were traced at about the same time: recording i begins `later[i]` after the first one. */
static void check_recordings(const char *name, const char *const *names, const int64_t *later)
{
	g_autoptr(GPtrArray) paths = paths_of(names);
	struct machines m = { .name = name };
	if (!paths)
		return;
	int64_t begin = 0;
	for (unsigned k = 0; names[k]; k++) {
		const char *const one[] = { paths->pdata[k], NULL };
		if (!k) {
			struct recording *r = record(one);
			begin = first_of(r);
			recording_free(r);
		}
		move_to(one, begin + later[k]);
		m.one[m.n++] = record(one);
	}
	m.all = record((const char *const *)paths->pdata);
	check_law(&m);
	clear_machines(&m);
}

#define NAMES(...) (const char *const []){ __VA_ARGS__, NULL }
#define LATER(...) (const int64_t []){ __VA_ARGS__ }

static void test_two(void)
{
	check_recordings("a busy machine and one with spans", NAMES("kernel-small", "kernel-ust/trace"),
			 LATER(0, 2 * S + 17));
}

static void test_losses(void)
{
	check_recordings("losses of two", NAMES("lost/trace", "faults"), LATER(0, -700 * MS));
}

static void test_three(void)
{
	check_recordings("three", NAMES("pause", "lost/trace-overwrite", "ctf2/lost/trace"), LATER(0, S, 3 * S));
}

/* They begin and end together, but for less than 250 ms: none is bounded by its packets. */
static void test_together(void)
{
	check_recordings("together", NAMES("snapshot", "lost/trace"), LATER(0, 100 * MS));
}

static void test_apart(void)
{
	check_recordings("one after the other", NAMES("kernel-ust/trace", "snapshot"), LATER(0, 400 * S));
}

/* A machine with two recordings that are 80 s apart, one of another machine within that time. */
static void test_quiet(void)
{
	g_autoptr(GPtrArray) quiet = paths_of(NAMES("containers", "net"));
	g_autoptr(GPtrArray) paths = paths_of(NAMES("containers", "net", "snapshot"));
	static const int64_t later[] = { 25 * S, 50 * S, 90 * S };
	if (!quiet || !paths)
		return;
	struct recording *r = record((const char *const *)quiet->pdata);
	for (size_t i = 0; i < G_N_ELEMENTS(later) && !g_test_failed(); i++) {
		const char *const other[] = { paths->pdata[2], NULL };
		struct machines m = { .name = "a quiet time", .n = 2 };
		move_to(other, first_of(r) + later[i]);
		m.one[0] = record((const char *const *)quiet->pdata);
		m.one[1] = record(other);
		m.all = record((const char *const *)paths->pdata);
		check_law(&m);
		clear_machines(&m);
	}
	recording_free(r);
}

/* ---- made-up machines ---- */

struct line { int64_t ts; unsigned host, seq; char *text; };

static int line_order(gconstpointer a, gconstpointer b)
{
	const struct line *x = a, *y = b;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->host != y->host ? (x->host < y->host ? -1 : 1) : (x->seq > y->seq) - (x->seq < y->seq);
}

static void clear_line(gpointer p)
{
	g_free(((struct line *)p)->text);
}

static int64_t one_of(GRand *r, const int64_t *from, unsigned n)
{
	return from[g_rand_int_range(r, 0, (gint32)n)];
}

/* Often none, so that instants are shared; seconds; sometimes more than a minute, once in a while more than a day. */
static int64_t random_pause(GRand *r)
{
	static const int64_t usual[] = { 0, 0, 0, 1, 1000, MS, 30 * MS, 400 * MS, 1700 * MS };
	static const int64_t long_ones[] = { 20 * S, 61 * S, 150 * S, 700 * S, 90000 * S };
	bool is_long = !g_rand_int_range(r, 0, 30);
	return is_long ? one_of(r, long_ones, G_N_ELEMENTS(long_ones)) : one_of(r, usual, G_N_ELEMENTS(usual));
}

/* What a kernel does: two CPUs, threads 1 to THREADS - 1, and the idle task 0. */
#define THREADS 6
struct kernel {
	unsigned host;
	int task[2];			/* by CPU: the thread that runs */
	bool irq[2];			/* a handler runs */
	int64_t lost_to[2];		/* until then, its events are lost */
	bool blocked[THREADS];
	const char *call[THREADS];	/* the system call that the thread is in; NULL: none */
};

static char *annotation(GRand *r, const struct kernel *k, int tid)
{
	static const char *const marks[] = { "sr", "ss", "cs", "cr", "note" };
	return g_strdup_printf("u@h%u:zipkin:timestamp trace_id=%d span_id=%d parent_span_id=0 event=\"%s\" "
			       "trace_name=\"get\" service_name=\"s%u\" port_no=1 ip=\"::1\" ctx.vtid=%d ctx.vpid=%d",
			       k->host, g_rand_int_range(r, 1, 4), g_rand_int_range(r, 1, 5),
			       marks[g_rand_int_range(r, 0, G_N_ELEMENTS(marks))], k->host, tid, tid);
}

/* Another thread that can run; 0: idle. */
static int next_task(GRand *r, const struct kernel *k)
{
	int tid = g_rand_int_range(r, 0, THREADS);
	return k->blocked[tid] || tid == k->task[0] || tid == k->task[1] ? 0 : tid;
}

static char *switch_task(GRand *r, struct kernel *k, int cpu)
{
	int prev = k->task[cpu], next = next_task(r, k), state = prev && g_rand_boolean(r);
	if (prev == next)
		return NULL;
	k->blocked[prev] = state;
	k->task[cpu] = next;
	return g_strdup_printf("k@h%u:sched_switch prev_comm=\"t%d\" prev_tid=%d prev_prio=20 prev_state=%d "
			       "next_comm=\"t%d\" next_tid=%d next_prio=20", k->host, prev, prev, state, next, next);
}

static char *system_call(GRand *r, struct kernel *k, int tid)
{
	const char *call = k->call[tid];
	k->call[tid] = call ? NULL : g_rand_boolean(r) ? "openat" : g_rand_boolean(r) ? "read" : "close";
	if (call)
		return g_strdup_printf("k@h%u:syscall_exit_%s ret=%d ctx.tid=%d", k->host, call,
				       *call == 'o' ? g_rand_int_range(r, 3, 6) : 0, tid);
	return g_strdup_printf("k@h%u:syscall_entry_%s dfd=-100 filename=\"/tmp/f%d\" fd=%d count=100 ctx.tid=%d",
			       k->host, k->call[tid], g_rand_int_range(r, 0, 3), g_rand_int_range(r, 3, 6), tid);
}

static char *wakeup(GRand *r, struct kernel *k)
{
	int tid = g_rand_int_range(r, 1, THREADS);
	if (!k->blocked[tid])
		return NULL;
	k->blocked[tid] = false;
	return g_strdup_printf("k@h%u:sched_waking comm=\"t%d\" tid=%d prio=20 target_cpu=0", k->host, tid, tid);
}

static char *request(GRand *r, const struct kernel *k, int tid)
{
	static const char *const what[] = { "insert", "issue", "complete" };
	return g_strdup_printf("k@h%u:block_rq_%s dev=1 sector=%d nr_sector=8 bytes=4096 rwbs=1 errors=0 tid=%d",
			       k->host, what[g_rand_int_range(r, 0, 3)], 8 * g_rand_int_range(r, 1, 4), tid);
}

static char *interrupt(struct kernel *k, int cpu)
{
	k->irq[cpu] = !k->irq[cpu];
	return g_strdup_printf("k@h%u:irq_handler_%s irq=1 name=\"ahci\" ret=1", k->host,
			       k->irq[cpu] ? "entry" : "exit");
}

static char *loss(GRand *r, struct kernel *k, int cpu, int64_t ts)
{
	k->lost_to[cpu] = ts + g_rand_int_range(r, 0, 2000) * MS;
	return g_strdup_printf("k@h%u:!lost events=3 begin=%" G_GINT64_FORMAT " end=%" G_GINT64_FORMAT, k->host, ts,
			       k->lost_to[cpu]);
}

/* NULL: nothing happens. */
static char *random_event(GRand *r, struct kernel *k, int cpu, int64_t ts)
{
	int tid = k->task[cpu];
	if (ts <= k->lost_to[cpu])
		return NULL;
	switch (g_rand_int_range(r, 0, 30)) {
	case 0: return loss(r, k, cpu, ts);
	case 1: case 2: case 3: return interrupt(k, cpu);
	case 4: case 5: case 6: case 7: case 8: case 9: return wakeup(r, k);
	case 10: case 11: case 12: return request(r, k, tid);
	case 13: case 14: case 15: case 16: case 17: return tid && !k->irq[cpu] ? system_call(r, k, tid) : NULL;
	case 18: case 19: case 20: case 21: return tid && !k->call[tid] && !k->irq[cpu] ? annotation(r, k, tid) : NULL;
	default: return k->irq[cpu] ? NULL : switch_task(r, k, cpu);
	}
}

static bool add_line(GRand *r, GArray *lines, struct kernel *k, int64_t ts)
{
	int cpu = g_rand_int_range(r, 0, 2);
	g_autofree char *event = random_event(r, k, cpu, ts);
	if (!event)
		return false;
	struct line l = { ts, k->host, lines->len, g_strdup_printf("%" G_GINT64_FORMAT " %d %s", ts, cpu, event) };
	g_array_append_val(lines, l);
	return true;
}

/* The lines of one machine, or of all. */
static struct recording *record_lines(const GArray *lines, unsigned host, unsigned n_hosts)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; i < lines->len; i++) {
		const struct line *l = &g_array_index(lines, struct line, i);
		if (host == n_hosts || l->host == host)
			g_string_append_printf(text, "%s\n", l->text);
	}
	return traces_record_script(text->str);
}

static void check_made_up(uint32_t seed)
{
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	g_autoptr(GArray) lines = g_array_new(false, false, sizeof(struct line));
	g_autofree char *name = g_strdup_printf("made-up machines, SEED=%u", seed);
	struct machines m = { .name = name, .n = (unsigned)g_rand_int_range(r, 2, MOST + 1) };
	struct kernel kernels[MOST] = { 0 };
	int64_t ts = 1000 * S;
	unsigned host = 0;
	g_array_set_clear_func(lines, clear_line);
	for (unsigned k = 0; k < MOST; k++)
		kernels[k].host = k;
	for (int n = g_rand_int_range(r, 20, 400); n > 0; n--) {
		ts += random_pause(r);
		if (g_rand_int_range(r, 0, 3))
			host = (unsigned)g_rand_int_range(r, 0, (gint32)m.n);
		add_line(r, lines, &kernels[host], ts);
	}
	for (unsigned k = 0; k < m.n; k++)	/* each has some */
		for (ts += 3 * S; !add_line(r, lines, &kernels[k], ts);)
			;
	g_array_sort(lines, line_order);
	m.all = record_lines(lines, m.n, m.n);
	for (unsigned k = 0; k < m.n; k++)
		m.one[k] = record_lines(lines, k, m.n);
	check_law(&m);
	clear_machines(&m);
}

/* Machines of a script: host k of the lines is "hK". */
static void check_script(const char *name, const char *script, unsigned n)
{
	g_auto(GStrv) lines = g_strsplit(script, "\n", -1);
	struct machines m = { .name = name, .n = n, .all = traces_record_script(script) };
	for (unsigned k = 0; k < n; k++) {
		g_autoptr(GString) own = g_string_new(NULL);
		g_autofree char *mark = g_strdup_printf("@h%u:", k);
		for (char **line = lines; *line; line++)
			if (strstr(*line, mark))
				g_string_append_printf(own, "%s\n", *line);
		m.one[k] = traces_record_script(own->str);
	}
	check_law(&m);
	clear_machines(&m);
}

/* Ids of functions depend on what else begins at the instant. Two halves of a span are of two hosts. */
static void test_same_instant(void)
{
#define FUNCTION(ts, host, what) ts " 0 u@" host ":lttng_ust_cyg_profile:func_" what \
	" addr=4112 ctx.vtid=7 ctx.vpid=7\n"
#define SPAN(ts, host, mark) ts " 0 u@" host ":zipkin:timestamp trace_id=1 span_id=2 parent_span_id=0 " \
	"event=\"" mark "\" trace_name=\"get\" service_name=\"" host "\" port_no=1 ip=\"::1\" ctx.vtid=8 ctx.vpid=8\n"
	check_script("at one instant",
		     FUNCTION("1000", "h0", "entry") FUNCTION("1000", "h1", "entry") FUNCTION("1000", "h2", "entry")
		     SPAN("1000", "h0", "cs") SPAN("1000", "h2", "sr") SPAN("1000", "h1", "note")
		     SPAN("2000", "h0", "cr") SPAN("2000", "h2", "ss")
		     FUNCTION("2000", "h0", "exit") FUNCTION("2000", "h1", "exit") FUNCTION("2000", "h2", "exit"), 3);
}

/* ---- what is refused ---- */

/* A slice file of the script, with steps of a millisecond, in the directory. */
static char *write_slice(const char *dir, const char *name, const char *script)
{
	g_autoptr(GError) error = NULL;
	const struct slice_piece whole = { .from = INT64_MIN, .to = INT64_MAX };
	struct recording *r = traces_record_script(script);
	struct slice *s = slice_new(false, MS);
	slice_feed(s, recording_tables(r), recording_event(r, 0), recording_n(r));
	g_autoptr(GByteArray) bytes = slices_bytes(s, &whole, &error);
	g_assert_no_error(error);
	char *path = g_build_filename(dir, name, NULL);
	g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error);
	g_assert_no_error(error);
	slice_free(s);
	recording_free(r);
	return path;
}

/* A machine is quiet for weeks, and another one is not: each of its threads would have a cell for each millisecond. */
static void test_too_quiet(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) quiet = g_string_new(NULL), busy = g_string_new(NULL);
	g_autofree char *dir = test_temp_dir();
	const int64_t end = 30 * 86400 * S;
	for (int i = 1; i < 20; i++)
		g_string_append_printf(quiet, "%d 0 k@h0:sched_switch prev_tid=%d prev_state=1 next_tid=%d\n", i, i,
				       i + 1);
	g_string_append_printf(quiet, "%" G_GINT64_FORMAT " 0 k@h0:sched_switch prev_tid=20 prev_state=1 next_tid=1\n",
			       end);
	for (int64_t ts = 0; ts < end; ts += 59 * S)
		g_string_append_printf(busy, "%" G_GINT64_FORMAT " 0 k@h1:my_event\n", ts + 1);
	g_autofree char *a = write_slice(dir, "a", quiet->str), *b = write_slice(dir, "b", busy->str);
	const char *const both[] = { a, b, NULL };
	g_assert_null(slice_file_merge(both, NULL, NULL, &error));
	g_assert_nonnull(error);
	g_assert_nonnull(strstr(error->message, "the result would be too large"));
	test_remove_tree(dir);
}

/* Seeds that found a bug: tasks that differ only by their figures; marks after a span's end. */
static void test_found(void)
{
	static const uint32_t seeds[] = { 195517758, 2057088535, 4273137684, 2723720146 };
	for (size_t i = 0; i < G_N_ELEMENTS(seeds); i++)
		check_made_up(seeds[i]);
}

static void test_made_up(void)
{
	const char *seed = g_getenv("SEED");
	unsigned n = g_getenv("ALL") ? 1000 : 12;
	for (unsigned i = 0; i < (seed ? 1 : n) && !g_test_failed(); i++)
		check_made_up(seed ? (uint32_t)g_ascii_strtoull(seed, NULL, 10) : (uint32_t)g_test_rand_int());
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/unite/two", test_two);
	g_test_add_func("/unite/losses", test_losses);
	g_test_add_func("/unite/three", test_three);
	g_test_add_func("/unite/together", test_together);
	g_test_add_func("/unite/apart", test_apart);
	g_test_add_func("/unite/quiet", test_quiet);
	g_test_add_func("/unite/same-instant", test_same_instant);
	g_test_add_func("/unite/too-quiet", test_too_quiet);
	g_test_add_func("/unite/found", test_found);
	g_test_add_func("/unite/made-up", test_made_up);
	return g_test_run();
}
