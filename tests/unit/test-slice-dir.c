/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Slices of a directory, as they appear: in any order, replaced, damaged, missing; what is given together is the whole
 * trace's.
 */
#include "lib/inspect.h"
#include "lib/report.h"
#include "lib/traces.h"

#include "lib/slices.h"
#include "run/slice_dir.h"
#include "state/publish/model.h"
#include "state/slice/slice_file.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

#define STEP INT64_C(1000000000)
#define PIECES 4
#define PIECE_NS (3 * STEP)

/* Four pieces of 3 s: two CPUs, two threads, calls and a span across borders. */
static struct recording *record(bool spans)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (unsigned i = 0; i < PIECES * 6; i++) {
		unsigned second = 10 + i / 2, odd = i / 2 % 2;
		g_string_append_printf(s, "%u500000000 %u sched_switch prev_comm=\"%c\" prev_tid=%u prev_prio=20 "
				       "prev_state=1 next_comm=\"%c\" next_tid=%u next_prio=20\n", second, i % 2,
				       'a' + odd, 1 + odd, 'b' - odd, 2 - odd);
		if (spans && (i == 3 || i == 20))
			g_string_append_printf(s, "%u600000000 0 u:zipkin:timestamp trace_id=7 span_id=8 "
					       "parent_span_id=0 event=\"%s\" trace_name=\"get\" service_name=\"web\" "
					       "port_no=1 ip=\"::1\" ctx.vtid=1 ctx.vpid=1\n", second,
					       i == 3 ? "sr" : "ss");
	}
	return traces_record_script(s->str);
}

static struct slice *slice_between(const struct recording *r, int64_t from, int64_t to, bool from_start)
{
	struct slice *s = slice_new(from_start, STEP);

	for (size_t i = 0; i < recording_n(r); i++)
		if (recording_event(r, i)->ts >= from && recording_event(r, i)->ts < to)
			slice_feed(s, recording_tables(r), recording_event(r, i), 1);
	return s;
}

static int64_t border(unsigned i)
{
	return i == 0 ? INT64_MIN : i == PIECES ? INT64_MAX : 10 * STEP + (int64_t)i * PIECE_NS;
}

struct fixture {
	char *path;
	struct recording *r;
	struct slice_dir *d;
	int stop;
};

static void set_up(struct fixture *f, gconstpointer spans)
{
	f->path = g_dir_make_tmp("slice-dir-XXXXXX", NULL);
	f->r = record(spans != NULL);
	f->d = slice_dir_new(f->path, STEP, &f->stop, NULL);
	g_assert_nonnull(f->d);
}

static void tear_down(struct fixture *f, gconstpointer unused)
{
	g_autoptr(GDir) dir = g_dir_open(f->path, 0, NULL);

	(void)unused;
	for (const char *name; (name = g_dir_read_name(dir));) {
		g_autofree char *path = g_build_filename(f->path, name, NULL);
		g_assert_cmpint(g_unlink(path), ==, 0);
	}
	g_assert_cmpint(g_rmdir(f->path), ==, 0);
	slice_dir_free(f->d);
	recording_free(f->r);
	g_free(f->path);
}

/* Writes the file with the name; a minute ago, if it is old. */
static void write_file(const struct fixture *f, const char *name, const void *bytes, size_t n, bool old)
{
	g_autofree char *path = g_build_filename(f->path, name, NULL);
	struct timespec times[2] = { { .tv_sec = g_get_real_time() / G_USEC_PER_SEC - 60 } };

	g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
	times[1] = times[0];
	if (old)
		g_assert_cmpint(utimensat(AT_FDCWD, path, times, 0), ==, 0);
}

static void put_range(const struct fixture *f, const char *name, unsigned from, unsigned to, bool old)
{
	g_autoptr(GPtrArray) sources = g_ptr_array_new();
	const struct slice_piece piece = { border(from), border(to), sources };
	g_autoptr(GError) error = NULL;
	struct slice *s = slice_between(f->r, border(from), border(to), false);
	g_autoptr(GByteArray) bytes = slices_bytes(s, &piece, &error);

	g_assert_no_error(error);
	write_file(f, name, bytes->data, bytes->len, old);
	slice_free(s);
}

static void put(const struct fixture *f, unsigned i, bool old)
{
	g_autofree char *name = g_strdup_printf("%c.blkslice", 'z' - (int)i);	/* order of names is not that of time */
	put_range(f, name, i, i + 1, old);
}

/* Takes all that is there now, and merges it with `all` (or NULL); returns their number. */
static unsigned take(struct fixture *f, struct slice **all, bool *ret_more)
{
	unsigned n = 0;

	for (struct slice *s; (s = slice_dir_next(f->d, ret_more)); n++)
		*all = *all ? slice_stitch(*all, s) : slice_stitch(slice_new(true, STEP), s);
	return n;
}

/* The next message has the text; NULL: there is none. */
static void assert_message(const struct fixture *f, const char *what)
{
	g_autofree char *message = slice_dir_message(f->d);

	if (what && (!message || !strstr(message, what)))
		g_error("no '%s' in '%s'", what, message ? message : "");
	if (!what)
		g_assert_cmpstr(message, ==, NULL);
}

static void assert_whole(const struct fixture *f, struct slice *all)
{
	g_autofree char *expected = report_of_slice(slice_between(f->r, INT64_MIN, INT64_MAX, true));
	g_autofree char *got = report_of_slice(all);

	report_assert_equal("slices of a directory", expected, got);
}

/* ---- tests ---- */

/* In pairs, the later one first: it waits for the other. */
static void test_any_order(struct fixture *f, gconstpointer unused)
{
	struct slice *all = NULL;
	bool more;

	(void)unused;
	g_assert_cmpuint(take(f, &all, &more), ==, 0);
	g_assert_true(more);
	put(f, 0, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 1);
	put(f, 2, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 0);
	g_assert_true(more);
	put(f, 1, false);
	put(f, 3, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 3);
	g_assert_false(more);
	assert_message(f, NULL);
	assert_whole(f, all);
}

static void test_at_once(struct fixture *f, gconstpointer unused)
{
	struct slice *all = NULL;
	bool more;

	(void)unused;
	for (unsigned i = 0; i < PIECES; i++)
		put(f, i, true);
	g_assert_cmpuint(take(f, &all, &more), ==, PIECES);
	g_assert_false(more);
	assert_whole(f, all);
}

/* A damaged file, that is replaced by a good one; and files that are none. */
static void test_replaced(struct fixture *f, gconstpointer unused)
{
	struct slice *all = NULL;
	bool more;

	(void)unused;
	write_file(f, "y.blkslice", "BLKSLICE and more", 17, false);
	write_file(f, "y.blkslice.part", "x", 1, false);
	write_file(f, ".hidden.blkslice", "x", 1, false);
	put(f, 0, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 1);
	assert_message(f, "y.blkslice");
	put(f, 1, false);
	put(f, 2, false);
	put(f, 3, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 3);
	assert_whole(f, all);
}

/* Damage behind the summary is found when the file is read. */
static void test_damaged(struct fixture *f, gconstpointer unused)
{
	g_autofree char *path = g_build_filename(f->path, "y.blkslice", NULL), *bytes = NULL;
	struct slice *all = NULL;
	bool more;
	gsize n;

	(void)unused;
	put(f, 0, false);
	put(f, 1, false);
	g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
	bytes[n - 1] ^= 1;
	write_file(f, "y.blkslice", bytes, n, false);
	put(f, 2, true);
	put(f, 3, true);
	g_assert_cmpuint(take(f, &all, &more), ==, 4);		/* one of them is the gap */
	g_assert_false(more);
	assert_message(f, "left out: ");
	assert_message(f, "x.blkslice is missing: nothing is known of 3.0 s");
	assert_message(f, NULL);
	slice_free(all);
}

static int64_t unknown_of(const struct second *s)
{
	int64_t unknown = 0;

	for (uint32_t i = 0; i < s->n_cpus; i++)
		unknown += s->cpus[i].unknown_ns;
	return unknown;
}

/* Nothing is known of the time of a missing slice, and all of it is lost; the others are as they are. */
static void test_gap(struct fixture *f, gconstpointer unused)
{
	struct slice *all = NULL;
	struct timeline *tl = timeline_new(0);
	bool more;

	(void)unused;
	put(f, 0, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 1);
	put(f, 2, true);
	put(f, 3, true);
	g_assert_cmpuint(take(f, &all, &more), ==, 3);
	timeline_apply(tl, slice_finish(all));
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		bool lost = s->begin_ns >= border(1) && s->begin_ns < border(2);
		g_assert_cmpint(s->completeness.lost_ns, >=, lost ? STEP - 1 : 0);
		if (lost)
			g_assert_cmpint(unknown_of(s), >=, 2 * (STEP - 1));
		else if (s->begin_ns > border(2) + STEP)
			g_assert_cmpint(unknown_of(s), ==, 0);
	}
	slice_free(all);
	timeline_free(tl);
	assert_message(f, "x.blkslice is missing: nothing is known of 3.0 s");
}

static void test_too_late(struct fixture *f, gconstpointer unused)
{
	struct slice *all = NULL;
	bool more;

	(void)unused;
	put(f, 1, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 1);
	put(f, 0, false);
	put_range(f, "both.blkslice", 1, 3, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 0);
	assert_message(f, "z.blkslice: other slices of its time are shown already");
	assert_message(f, "both.blkslice: other slices of its time are shown already");
	put(f, 2, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 1);
	slice_free(all);
}

static void test_misfits(struct fixture *f, gconstpointer unused)
{
	struct slice *all = NULL;
	bool more;

	(void)unused;
	slice_dir_free(f->d);
	f->d = slice_dir_new(f->path, 10 * STEP, &f->stop, NULL);
	put(f, 0, false);
	g_assert_cmpuint(take(f, &all, &more), ==, 0);
	assert_message(f, "it was made with another --step");
}

static void test_some_without_spans(struct fixture *f, gconstpointer unused)
{
	g_autoptr(GPtrArray) sources = g_ptr_array_new();
	const struct slice_piece piece = { border(1), border(2), sources };
	struct slice *all = NULL, *s = slice_new(false, STEP);
	bool more;

	(void)unused;
	slice_without_spans(s);
	g_autoptr(GByteArray) bytes = slices_bytes(s, &piece, NULL);
	slice_free(s);
	write_file(f, "y.blkslice", bytes->data, bytes->len, true);
	put(f, 0, true);
	g_assert_cmpuint(take(f, &all, &more), ==, 1);
	assert_message(f, "with-spans");
	slice_free(all);
}

/* Chunks, not files: nothing is changed by looking for both. */
static void test_nothing(struct fixture *f, gconstpointer unused)
{
	bool more;

	(void)unused;
	write_file(f, "20261121T060829+0000-20261121T060832+0000-0", "x", 1, false);
	write_file(f, "20261121T060831+0000-20261121T060834+0000-1", "x", 1, false);
	g_assert_null(slice_dir_next(f->d, &more));
	g_assert_true(more);
	assert_message(f, "-0");
	g_assert_null(slice_dir_files(f->path));
	put(f, 0, false);
	g_auto(GStrv) files = slice_dir_files(f->path);
	g_assert_cmpuint(g_strv_length(files), ==, 1);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*test)(struct fixture *f, gconstpointer); } tests[] = {
		{ "any-order", test_any_order }, { "at-once", test_at_once }, { "replaced", test_replaced },
		{ "damaged", test_damaged }, { "gap", test_gap }, { "too-late", test_too_late },
		{ "misfits", test_misfits },
		{ "some-without-spans", test_some_without_spans }, { "nothing", test_nothing },
	};

	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		for (int spans = 0; spans < 2; spans++) {
			g_autofree char *name = g_strdup_printf("/slice-dir/%s/%s", tests[i].name,
								spans ? "spans" : "kernel");
			g_test_add(name, struct fixture, GINT_TO_POINTER(spans), set_up, tests[i].test, tear_down);
		}
	return g_test_run();
}
