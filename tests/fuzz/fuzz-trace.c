/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole traces, of which parts contradict each other: streams, index files, metadata. The native reader
 * and the model read each; records come in the order of time. Of some, what pieces of it come to is
 * what the whole does; of few (one of 100), all views, exports, a report, the log and what is saved.
 *
 * Input: files (lib/bundle.h). The mutator knows packets, events, index files and metadata
 * (lib/mutate.h); seeds are recordings made small (tests/tools/make-seed).
 */
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzzer.h"
#include "base/timefmt.h"
#include "export/log_json.h"
#include "lib/fuzz_model.h"
#include "lib/inspect.h"
#include "lib/mutate.h"
#include "lib/report.h"
#include "lib/test_traces.h"
#include "run/logsource.h"
#include "run/pieces.h"
#include "state/slice/slice.h"
#include "trace/native/cut.h"
#include "trace/native/native.h"

#define MEMORY (1u << 20)		/* of a timeline that has to forget */
#define PIECES 4
#define MANY 100			/* one of so many inputs is looked at as a whole */
#define SOME 10

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_WARNING | (GLogLevelFlags)G_LOG_FATAL_MASK);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate_bundle_input(data, size, max_size, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *one, size_t n_one, const uint8_t *two, size_t n_two, uint8_t *out,
				 size_t max_size, unsigned seed)
{
	return mutate_bundle_cross(one, n_one, two, n_two, out, max_size, seed);
}

/* ---- opening ---- */

static void check_error(const GError *error)
{
	g_assert_nonnull(error);
	g_assert_cmpuint(error->domain, ==, BLK_TRACE_ERROR);
	g_assert_true(g_utf8_validate(error->message, -1, NULL));
	for (const char *s = error->message; *s; s++)
		g_assert_true((unsigned char)*s >= ' ' && *s != 0x7f);
}

/* Headers are walked in steps; what is known meanwhile can be asked for. */
static void walk_index(struct native *n, uint64_t hash)
{
	size_t step = fuzz_one_of(hash >> 8, SOME) ? 1 : 4096;
	while (native_index(n, step)) {
		int64_t from, to;
		g_assert_false(native_indexed(n));
		g_assert_cmpfloat(native_index_progress(n), <=, 1);
		if (native_bounds(n, &from, &to))
			g_assert_cmpint(from, <=, to);
		outline_unref(native_outline(n, 16));
	}
	g_assert_true(native_indexed(n));
	g_assert_cmpint(native_known_from(n), ==, INT64_MIN);
}

static struct native *open_trace(const char *dir, uint64_t hash)
{
	const char *const paths[] = { dir, NULL };
	g_autoptr(GError) error = NULL;
	size_t n_rows;
	const struct blk_subscription *rows = fuzz_one_of(hash >> 16, SOME) ? slice_subscriptions_counting(&n_rows)
									    : slice_subscriptions(&n_rows);
	struct native *n = native_open(paths, rows, n_rows, &error);
	if (!n) {
		check_error(error);
		return NULL;
	}
	walk_index(n, hash);
	return n;
}

/* ---- the whole, and pieces ---- */

static void read_whole(struct native *n, struct fuzz_model *m)
{
	struct fuzz_taken taken = { .last = INT64_MIN, .see = fuzz_model_see, .data = m };
	struct source *s = native_range(n, INT64_MIN, INT64_MAX, 0);
	const struct pieces p = pieces_native(n);
	if (pieces_are_without_spans(&p))
		model_without_spans(m->model);
	g_assert_cmpint(fuzz_take(s, &taken, G_MAXINT), ==, SOURCE_END);
	source_free(s);
	fuzz_model_finish(m);
}

static void feed_slice(void *slice, const struct blk_tables *tables, const struct blk_batch *batch)
{
	slice_feed(slice, tables, batch->ev, batch->n);
}

static void read_pieces(struct native *n, struct fuzz_model *m)
{
	struct pieces p = pieces_native(n);
	int64_t cuts[PIECES] = { 0 }, from, to;
	size_t n_cuts = native_bounds(n, &from, &to) ? native_cuts(n, from, to, PIECES, cuts) : 0;
	for (size_t i = 0; i <= n_cuts; i++) {
		int64_t begin = i ? cuts[i - 1] : INT64_MIN, end = i < n_cuts ? cuts[i] : INT64_MAX;
		g_assert_cmpint(begin, <, end);
		struct source *s = native_range(n, begin, end, 0);
		struct slice *slice = pieces_begin_slice(&p, s, i == 0, NS_PER_S);
		struct fuzz_taken taken = { .last = begin, .see = feed_slice, .data = slice };
		g_assert_cmpint(fuzz_take(s, &taken, G_MAXINT), ==, SOURCE_END);
		g_assert_cmpint(taken.last, <, end);
		source_free(s);
		model_stitch(m->model, slice);
		fuzz_model_publish(m);
	}
	fuzz_model_finish(m);
}

/* Pieces have the events, and the losses, of the whole. FUZZ_LAWS=1 in the environment: and all else. */
static void compare_pieces(struct native *n, const struct fuzz_model *whole)
{
	struct fuzz_model m;
	int64_t first = 0, last = 0, first2 = 0, last2 = 0;
	fuzz_model_begin(&m, &(struct model_options){ 0 }, 0);
	read_pieces(n, &m);
	g_assert_cmpuint(timeline_n_events(whole->timeline), ==, timeline_n_events(m.timeline));
	timeline_coverage(whole->timeline, &first, &last);
	timeline_coverage(m.timeline, &first2, &last2);
	g_assert_cmpint(first, ==, first2);
	g_assert_cmpint(last, ==, last2);
	struct completeness t = timeline_facts(whole->timeline)->completeness, t2 = timeline_facts(m.timeline)->completeness;
	g_assert_cmpuint(t.lost_events, ==, t2.lost_events);
	g_assert_cmpuint(t.lost_packets, ==, t2.lost_packets);
	if (g_getenv("FUZZ_LAWS")) {
		g_autofree char *one = report_of_timeline(whole->timeline), *two = report_of_timeline(m.timeline);
		report_assert_equal("pieces", one, two);
		g_assert_true(!strcmp(one, two));
	}
	fuzz_model_clear(&m);
}

/* ---- what else is made of a trace ---- */

static void see_line(void *data, struct calllog_line *l)
{
	GString *out = data;
	g_string_truncate(out, 0);
	log_json(out, l);
	g_assert_true(g_utf8_validate(out->str, (gssize)out->len, NULL));
	calllog_line_unref(l);
}

static void read_log(const char *dir)
{
	const char *const paths[] = { dir, NULL };
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) line = g_string_new(NULL);
	struct logsource *s = logsource_new(paths, false, &error);
	struct logsource_range range = { .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	struct logsource_result result;
	int64_t from, to;
	if (!s) {
		check_error(error);
		return;
	}
	g_assert_true(logsource_run(s, &range, see_line, line, &result, NULL, &error));
	if (logsource_bounds(s, &from, &to, &error)) {
		g_assert_cmpint(from, <, to);
		range = (struct logsource_range){ .from_ns = from + (to - from) / 2, .to_ns = to, .hold = 4 };
		g_assert_true(logsource_run(s, &range, see_line, line, &result, NULL, &error));
	}
	logsource_free(s);
}

/* A part of it, saved; that is read, too. */
static void save(const char *dir, struct native *n)
{
	const char *const paths[] = { dir, NULL };
	g_autoptr(GError) error = NULL;
	g_autofree char *to = g_strconcat(dir, ".saved", NULL);
	struct trace_cut cut = { .paths = paths, .from_ns = INT64_MIN, .to_ns = INT64_MAX, .statedump = true, .to = to };
	struct trace_cut_result result = { 0 };
	int64_t from, end;
	if (native_bounds(n, &from, &end))
		cut.from_ns = from + (end - from) / 2;
	if (!trace_cut_write(&cut, &result, &error)) {
		check_error(error);
		return;
	}
	g_free(result.path);
	struct native *saved = open_trace(to, 1);
	if (saved) {
		struct fuzz_model m;
		fuzz_model_begin(&m, &(struct model_options){ 0 }, 0);
		read_whole(saved, &m);
		fuzz_model_clear(&m);
		native_free(saved);
	}
	test_remove_tree(to);
}

/* ---- one input ---- */

static void read_trace(const char *dir, uint64_t hash)
{
	struct native *n = open_trace(dir, hash);
	struct fuzz_model m;
	bool all = fuzz_one_of(hash, MANY), forgets = fuzz_one_of(hash >> 24, SOME) && !all;
	if (n) {
		struct model_options options = { .memory_budget = forgets ? MEMORY : 0, .step_ns = hash >> 32 & 1 ? 0 : NS_PER_S / 10 };
		fuzz_model_begin(&m, all ? &(struct model_options){ 0 } : &options, forgets ? MEMORY : 0);
		read_whole(n, &m);
		if (all)
			fuzz_model_show(&m);
		if (all)
			compare_pieces(n, &m);
		if (all)
			save(dir, n);
		fuzz_model_clear(&m);
	}
	if (all)
		read_log(dir);
	native_free(n);
}

/* In memory where that is possible. */
static char *make_dir(void)
{
	static const char *const base = "/dev/shm";
	g_autofree char *template = g_build_filename(access(base, W_OK) ? g_get_tmp_dir() : base, "blktop-fuzz-XXXXXX", NULL);
	char *dir = g_mkdtemp(g_steal_pointer(&template));
	g_assert_nonnull(dir);
	return dir;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(blk_bundle) b = bundle_parse(data, size);
	g_autofree char *dir = make_dir();
	bundle_save(b, dir);
	read_trace(dir, fuzz_hash(data, size));
	test_remove_tree(dir);
	return 0;
}
