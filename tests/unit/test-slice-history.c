/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * History: folded seconds are what is counted in minutes at once; the slowest traces stay, with what explains them, in
 * any order of merging.
 */
#include "lib/inspect.h"
#include "lib/report.h"
#include "lib/traces.h"

#include "lib/slices.h"
#include "state/publish/model.h"
#include "state/slice/slice_file.h"
#include "state/slice/slice_history.h"

#include <sys/mman.h>
#include <unistd.h>

#define STEP INT64_C(1000000000)
#define MINUTES 4
#define A_MINUTE 60			/* traces of the script */

/* Through a file: as the program folds. */
static struct slice *through_a_file(struct slice *s)
{
	const struct slice_piece piece = { .from = INT64_MIN, .to = INT64_MAX };
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) bytes = slices_bytes(s, &piece, &error);

	g_assert_no_error(error);
	slice_free(s);
	int fd = memfd_create("slice", MFD_CLOEXEC);
	g_assert_cmpint(write(fd, bytes->data, bytes->len), ==, (ssize_t)bytes->len);
	s = slice_file_read(fd, NULL, &error);
	g_assert_no_error(error);
	close(fd);
	return s;
}

static struct slice *slice_between(const struct recording *r, int64_t from, int64_t to, int64_t step)
{
	struct slice *s = slice_new(false, step);

	for (size_t i = 0; i < recording_n(r); i++)
		if (recording_event(r, i)->ts >= from && recording_event(r, i)->ts < to)
			slice_feed(s, recording_tables(r), recording_event(r, i), 1);
	return through_a_file(s);
}

/* ---- folding ---- */

static void check_fold(const char *name, int64_t step)
{
	struct recording *r = traces_record(name);

	if (!r)
		return;
	g_autofree char *expected = report_of_slice(slice_root(slice_between(r, INT64_MIN, INT64_MAX, step)));
	struct slice *s = slice_between(r, INT64_MIN, INT64_MAX, STEP);
	slice_fold(s, step);
	g_autofree char *got = report_of_slice(slice_root(through_a_file(s)));
	report_assert_equal(name, expected, got);
	recording_free(r);
}

static void test_fold(gconstpointer name)
{
	check_fold(name, 10 * STEP);
	check_fold(name, SLICE_HISTORY_STEP);
}

/* Cut anywhere, folded apart, then merged: the minute at the cut is in both. */
static void test_fold_apart(gconstpointer name)
{
	struct recording *r = traces_record(name);

	if (!r)
		return;
	g_autofree char *expected = report_of_slice(slice_root(slice_between(r, INT64_MIN, INT64_MAX, 10 * STEP)));
	for (int i = 0; i < 4; i++) {
		size_t at = (size_t)g_test_rand_int_range(1, (gint32)recording_n(r));
		int64_t cut = recording_event(r, at)->ts;
		struct slice *a = slice_between(r, INT64_MIN, cut, STEP);
		struct slice *b = slice_between(r, cut, INT64_MAX, STEP);
		slice_fold(a, 10 * STEP);
		slice_fold(b, 10 * STEP);
		g_autofree char *got = report_of_slice(slice_root(through_a_file(slice_stitch(a, b))));
		report_assert_equal(name, expected, got);
	}
	recording_free(r);
}

/* ---- thinning ---- */

#define SPAN "u:zipkin:timestamp trace_id=%u span_id=%u parent_span_id=0 event=\"%s\" trace_name=\"get\" " \
	"service_name=\"web\" port_no=1 ip=\"::1\" ctx.vtid=1 ctx.vpid=1\n"

/* One a second; number i of a minute takes i ms. The thread waits for the other one in each. */
static struct recording *record(void)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (unsigned i = 0; i < MINUTES * A_MINUTE; i++) {
		unsigned second = 600 + i, ms = 1 + i % A_MINUTE;
		g_string_append_printf(s, "%u100000000 0 " SPAN, second, i + 1, i + 1, "sr");
		g_string_append_printf(s, "%u100100000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 "
				       "prev_state=1 next_comm=\"b\" next_tid=2 next_prio=20\n", second);
		g_string_append_printf(s, "%u1%02u500000 0 sched_waking comm=\"a\" tid=1 prio=20 target_cpu=0\n",
				       second, ms - 1);
		g_string_append_printf(s, "%u1%02u600000 0 sched_switch prev_comm=\"b\" prev_tid=2 prev_prio=20 "
				       "prev_state=1 next_comm=\"a\" next_tid=1 next_prio=20\n", second, ms - 1);
		g_string_append_printf(s, "%u1%02u000000 0 " SPAN, second, ms, i + 1, i + 1, "ss");
	}
	return traces_record_script(s->str);
}

static struct timeline *timeline_of(struct slice *s)
{
	struct timeline *tl = timeline_new(0);
	struct slice *rooted = slice_root(s);

	timeline_apply(tl, slice_finish(rooted));
	slice_free(rooted);
	return tl;
}

static const struct span *span_of(const struct timeline *tl, uint64_t id)
{
	const GArray *spans = timeline_trace_spans(tl, id);

	return spans && spans->len ? timeline_span(tl, g_array_index(spans, uint32_t, 0)) : NULL;
}

static unsigned n_of_minute(const struct timeline *tl, unsigned minute)
{
	unsigned n = 0;

	for (unsigned i = 0; i < A_MINUTE; i++)
		n += span_of(tl, minute * A_MINUTE + i + 1) != NULL;
	return n;
}

/* The slowest of each minute, whole, with the same explanation. */
static void test_slowest(void)
{
	struct recording *r = record();
	struct slice *s = slice_between(r, INT64_MIN, INT64_MAX, STEP);

	slice_fold(s, SLICE_HISTORY_STEP);
	slice_thin(s, 5, false, false);
	g_assert_true(slice_is_history(s));
	g_assert_cmpuint(slice_n_thinned(s), ==, MINUTES * (A_MINUTE - 5));
	struct timeline *thin = timeline_of(through_a_file(s));
	struct timeline *whole = timeline_of(slice_between(r, INT64_MIN, INT64_MAX, STEP));
	for (unsigned minute = 0; minute < MINUTES; minute++) {
		g_assert_cmpuint(n_of_minute(thin, minute), ==, 5);
		for (unsigned i = A_MINUTE - 5; i < A_MINUTE; i++) {
			const struct span *a = span_of(thin, minute * A_MINUTE + i + 1);
			const struct span *b = span_of(whole, minute * A_MINUTE + i + 1);
			g_assert_nonnull(a);
			g_assert_cmpint(span_duration(a), ==, span_duration(b));
			g_assert_cmpmem(a->part, sizeof a->part, b->part, sizeof b->part);
			g_assert_cmpuint(a->n_waits, >, 0);
			g_assert_cmpuint(a->n_waits, ==, b->n_waits);
		}
	}
	timeline_free(thin);
	timeline_free(whole);
	recording_free(r);
}

/* Thinned apart, merged, and thinned again: as if it had been thinned at once. */
static void test_apart(void)
{
	struct recording *r = record();
	struct slice *once = slice_between(r, INT64_MIN, INT64_MAX, STEP);

	slice_fold(once, SLICE_HISTORY_STEP);
	slice_thin(once, 5, false, false);
	g_autofree char *expected = report_of_slice(slice_root(through_a_file(once)));
	for (int i = 0; i < 6; i++) {
		int64_t cut = 600 * STEP + (int64_t)g_test_rand_double_range(1e9, 239e9);
		struct slice *a = slice_between(r, INT64_MIN, cut, STEP);
		struct slice *b = slice_between(r, cut, INT64_MAX, STEP);
		slice_fold(a, SLICE_HISTORY_STEP);
		slice_fold(b, SLICE_HISTORY_STEP);
		slice_thin(a, 5, false, true);
		slice_thin(b, 5, true, false);
		struct slice *both = slice_stitch(through_a_file(a), through_a_file(b));
		slice_thin(both, 5, false, false);
		g_assert_cmpuint(slice_n_thinned(both), ==, MINUTES * (A_MINUTE - 5));
		g_autofree char *got = report_of_slice(slice_root(through_a_file(both)));
		report_assert_equal("thinned apart", expected, got);
	}
	recording_free(r);
}

/* Minutes without events: their time is that of the whole; instants at the ends of time are refused. */
static void test_voids(void)
{
	static const char script[] =
		"100000000000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 next_comm=\"b\" "
		"next_tid=2 next_prio=20\n"
		"600000000000 0 sched_switch prev_comm=\"b\" prev_tid=2 prev_prio=20 prev_state=1 next_comm=\"a\" "
		"next_tid=1 next_prio=20\n"
		"690500000000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 next_comm=\"b\" "
		"next_tid=2 next_prio=20\n";
	struct recording *r = traces_record_script(script);
	struct slice *s = slice_between(r, INT64_MIN, INT64_MAX, STEP);
	int64_t busy[2] = { 0 };

	g_assert_false(slice_fold(s, 1500 * STEP / 1000));
	g_assert_true(slice_fold(s, SLICE_HISTORY_STEP));
	struct timeline *tl[2] = {
		timeline_of(slice_between(r, INT64_MIN, INT64_MAX, STEP)), timeline_of(through_a_file(s)),
	};
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < timeline_n_seconds(tl[k]); i++) {
			const struct second *x = timeline_second(tl[k], i);
			for (uint32_t c = 0; c < x->n_cpus; c++)
				busy[k] += x->cpus[c].run_ns;
		}
		timeline_free(tl[k]);
	}
	g_assert_cmpint(busy[0], >, 0);
	g_assert_cmpint(busy[0], ==, busy[1]);
	recording_free(r);
}

int main(int argc, char **argv)
{
	/* Cuts of the others would need the losses that are open there. */
	static const char *const lossless[] = { "kernel-small", "kernel-ust", "block", "net", NULL };
	static const char *const names[] = { "kernel-small", "kernel-ust", "lost", "block", "net", "pause",
					     "rotation" };

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *fold = g_strdup_printf("/slice-history/fold/%s", names[i]);
		g_autofree char *apart = g_strdup_printf("/slice-history/fold-apart/%s", names[i]);
		g_autofree char *name = g_strdup_printf("%s/trace", names[i]);
		if (traces_too_long(name))
			continue;
		g_test_add_data_func_full(fold, g_strdup(name), test_fold, g_free);
		if (g_strv_contains(lossless, names[i]))
			g_test_add_data_func_full(apart, g_strdup(name), test_fold_apart, g_free);
	}
	g_test_add_func("/slice-history/slowest", test_slowest);
	g_test_add_func("/slice-history/apart", test_apart);
	g_test_add_func("/slice-history/voids", test_voids);
	return g_test_run();
}
