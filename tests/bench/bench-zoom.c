/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A zoom step of the timeline: a window of 120 cells of 1 ms is decoded at random instants of a trace, and its lanes
 * are built. Beside it, only reading the same records. Prints the median of each in us.
 *
 * Usage: bench-zoom TRACE_DIR
 */
#include "base/timefmt.h"
#include "run/pieces.h"
#include "run/window.h"
#include "state/publish/model.h"
#include "views/lanes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 40
#define CELLS 120
#define AROUND (NS_PER_S / 4)		/* as window.c reads before and after the window */

static bool go_on(void *data)
{
	return false;
}

static int64_t zoom(const struct pieces *p, const struct decoded_range *w)
{
	const struct window_reader reader = { p, go_on, NULL, 0, NULL };
	int64_t begin = g_get_monotonic_time();
	struct timeline *tl = window_read(&reader, w, NULL);
	struct view_query q = VIEW_QUERY_INIT;

	q.by = BY_THREAD;
	q.from_ns = w->from_ns;
	q.to_ns = w->to_ns;
	q.cells = CELLS;
	rows_free(view_timeline.build(tl, &q));
	int64_t took = g_get_monotonic_time() - begin;
	timeline_free(tl);
	return took;
}

static int64_t only_read(const struct pieces *p, const struct decoded_range *w)
{
	int64_t begin = g_get_monotonic_time();
	struct source *source = p->ops->range(p->native, w->from_ns - AROUND, w->to_ns + AROUND, 8 << 20);
	struct blk_batch batch;

	while (source_next(source, &batch, NULL) == SOURCE_OK)
		;
	source_free(source);
	return g_get_monotonic_time() - begin;
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	const char *const paths[] = { argc > 1 ? argv[1] : "tests/traces/demo/trace", NULL };
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	struct native *native = native_open(paths, rows, n, &error);
	int64_t zooms[STEPS], reads[STEPS], from, to;

	if (!native) {
		fprintf(stderr, "bench-zoom: %s\n", error->message);
		return EXIT_FAILURE;
	}
	struct pieces p = pieces_native(native);
	while (p.ops->index(p.native, 4096))
		;
	if (!p.ops->bounds(p.native, &from, &to))
		return EXIT_FAILURE;
	to -= CELLS * NS_PER_MS;	/* a window is within the trace */
	srand(1);
	for (int i = 0; i < STEPS; i++) {
		int64_t at = time_floor(from + (int64_t)((double)rand() / RAND_MAX * (double)(to - from)), NS_PER_MS);
		struct decoded_range w = { at, at + CELLS * NS_PER_MS, NS_PER_MS, false };

		reads[i] = only_read(&p, &w);
		zooms[i] = zoom(&p, &w);
	}
	qsort(zooms, STEPS, sizeof *zooms, compare);
	qsort(reads, STEPS, sizeof *reads, compare);
	printf("zoom_us %" PRId64 "\nread_us %" PRId64 "\n", zooms[STEPS / 2], reads[STEPS / 2]);
	pieces_free(&p);
	return EXIT_SUCCESS;
}
