/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace read by a job, as the program does it: pieces, threads, timeline. Prints
 * "key value" lines.
 *
 * Usage: bench-job whole|first [--threads N] [--slices N] [--memory BYTES]
 *                              [--from NS] [--to NS] TRACE
 *
 *     whole   all of it (from, to): time on the wall, and the peak of memory
 *     first   until the strip of the whole trace and the rows of its last second are there
 */
#include "run/job.h"
#include "trace/native/native.h"
#include "views/view.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define GIVE_UP_MS 60000

static void fail(const char *what)
{
	fprintf(stderr, "bench-job: %s\n", what);
	exit(1);
}

static double now_ms(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* ---- a part of the trace ---- */

static int64_t part_from = INT64_MIN, part_to = INT64_MAX;
static struct piece_ops part_ops;	/* the native reader's, but for these */
static const struct piece_ops *whole_ops;

static struct source *part_range(struct native *n, int64_t from, int64_t to, size_t budget)
{
	return whole_ops->range(n, MAX(from, part_from), MIN(to, part_to), budget);
}

static bool part_bounds(const struct native *n, int64_t *ret_from, int64_t *ret_to)
{
	if (!whole_ops->bounds(n, ret_from, ret_to))
		return false;
	*ret_from = MAX(*ret_from, part_from);
	*ret_to = MIN(*ret_to, part_to);
	return *ret_from < *ret_to;
}

static struct pieces part_of(struct pieces p)
{
	whole_ops = p.ops;
	part_ops = *p.ops;
	part_ops.range = part_range;
	part_ops.bounds = part_bounds;
	return (struct pieces){ .ops = &part_ops, .native = p.native };
}

static bool open_trace(void *path, struct job_trace *ret, GError **error)
{
	const char *const paths[] = { path, NULL };
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct native *n = native_open(paths, rows, n_rows, error);

	if (!n)
		return false;
	ret->pieces = part_of(pieces_native(n));
	return true;
}

static void print_peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("peak_mib %.1f\n", (double)usage.ru_maxrss / 1024);
}

static void run_whole(char *path, const struct job_options *options)
{
	double begin = now_ms(CLOCK_MONOTONIC);
	struct timeline *tl = timeline_new(options->memory);
	struct job *job = job_start(open_trace, path, NULL, options);
	struct job_status status;

	job_wait(job, tl, -1);
	job_get_status(job, &status);
	if (status.phase != JOB_DONE)
		fail(status.message ? status.message : "did not end");
	printf("ms %.3f\ncpu_ms %.3f\nevents %" PRIu64 "\nthreads %u\npieces %u\n",
	       now_ms(CLOCK_MONOTONIC) - begin, now_ms(CLOCK_PROCESS_CPUTIME_ID),
	       status.n_events, status.jobs, status.pieces);
	print_peak();
	job_free(job);
	timeline_free(tl);
}

/* As the screen does: the rows of what the preview is of. */
static size_t build_rows(const struct timeline *tl, int64_t from, int64_t to)
{
	const struct view *v = view_find("processes");
	struct view_query query = VIEW_QUERY_INIT;

	query.from_ns = from;
	query.to_ns = to;
	query.by = v->default_by;
	struct rows *rows = v->build(tl, &query);
	size_t n = rows->rows->len;
	rows_free(rows);
	return n;
}

static void run_first(char *path, struct job_options *options)
{
	double begin = now_ms(CLOCK_MONOTONIC), strip = 0, rows = 0;
	struct timeline *tl = timeline_new(options->memory), *preview = NULL;
	size_t n_rows = 0;
	struct decoded_range w;

	options->preview = true;
	struct job *job = job_start(open_trace, path, NULL, options);
	while ((strip == 0 || rows == 0) && now_ms(CLOCK_MONOTONIC) - begin < GIVE_UP_MS) {
		struct pollfd ring = { .fd = job_fd(job), .events = POLLIN };
		poll(&ring, 1, 100);
		job_collect(job, tl);
		struct outline *outline = strip == 0 ? job_outline(job) : NULL;
		if (outline)
			strip = now_ms(CLOCK_MONOTONIC) - begin;
		if (outline)
			outline_unref(outline);
		if (!preview && (preview = job_take_preview(job, &w))) {
			n_rows = build_rows(preview, w.from_ns, w.to_ns);
			rows = now_ms(CLOCK_MONOTONIC) - begin;
		}
	}
	if (strip == 0 || rows == 0)
		fail(strip == 0 ? "no strip" : "no rows");
	printf("strip_ms %.3f\nrows_ms %.3f\nrows %zu\n", strip, rows, n_rows);
	print_peak();
	job_free(job);
	timeline_free(preview);
	timeline_free(tl);
}

int main(int argc, char **argv)
{
	struct job_options options = { 0 };
	int i = 2;

	for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2) {
		int64_t value = g_ascii_strtoll(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "--threads") == 0)
			options.threads = (unsigned)value;
		else if (strcmp(argv[i], "--slices") == 0)
			options.slices = (unsigned)value;
		else if (strcmp(argv[i], "--memory") == 0)
			options.memory = (size_t)value;
		else if (strcmp(argv[i], "--from") == 0)
			part_from = value;
		else if (strcmp(argv[i], "--to") == 0)
			part_to = value;
		else
			fail("unknown option");
	}
	if (i + 1 != argc)
		fail("usage: bench-job whole|first [OPTION...] TRACE");
	options.model.memory_budget = options.memory / 8;	/* as the screen has it */
	if (strcmp(argv[1], "first") == 0)
		run_first(argv[i], &options);
	else if (strcmp(argv[1], "whole") == 0)
		run_whole(argv[i], &options);
	else
		fail("unknown mode");
	return 0;
}
