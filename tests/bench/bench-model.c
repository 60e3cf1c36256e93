/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model alone: the records of a trace are read once into memory, then fed to a
 * rooted slice and finished, as often as asked for. Prints the best ns an event, then
 * what it costs to stitch the same records fed as N slices.
 *
 * Records come in batches that are in the cache, as a reader delivers them: they are
 * touched before the clock starts.
 *
 * Usage: bench-model TRACE_DIR [REPEAT [SLICES]]
 *
 * The native reader's records are taken if it can read the trace.
 */
#include "lib/sources.h"
#include "state/publish/model.h"
#include "state/slice/slice.h"
#include "trace/native/native.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define BATCH 1024
#define STEP INT64_C(1000000000)

struct times { int64_t feed, stitch, finish; };

static volatile uint8_t sink;

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* What the records point at lies in a row, mostly. */
static void touch(const struct blk_event *ev, size_t n)
{
	const uint8_t *last = ev[n - 1].data;
	for (size_t i = 0; i < n; i++)
		sink += ev[i].stream;
	if (!ev->data || !last || last < ev->data || last - ev->data > 1 << 20)
		return;
	for (const uint8_t *p = ev->data; p <= last; p += 64)
		sink += *p;
}

static int64_t feed(struct slice *s, const struct recording *r, size_t from, size_t to)
{
	int64_t sum = 0;
	for (size_t i = from; i < to; i += BATCH) {
		size_t n = MIN((size_t)BATCH, to - i);
		touch(recording_event(r, i), n);
		int64_t begin = now_ns();
		slice_feed(s, recording_tables(r), recording_event(r, i), n);
		sum += now_ns() - begin;
	}
	return sum;
}

static bool has_spans(const struct blk_tables *tables)
{
	for (guint i = 0; i < tables->classes->len; i++)
		if (slice_row_makes_spans(blk_class(tables, i)->row))
			return true;
	return false;
}

/* Fed as `slices` pieces of equal length, stitched from the left. */
static struct times run(const struct recording *r, size_t slices, uint64_t *ret_events)
{
	struct times t = { 0 };
	size_t n = recording_n(r);
	g_autofree struct slice **s = g_new(struct slice *, slices);
	for (size_t i = 0; i < slices; i++) {
		s[i] = slice_new(i == 0, STEP);
		if (!has_spans(recording_tables(r)))
			slice_without_spans(s[i]);
		t.feed += feed(s[i], r, n * i / slices, n * (i + 1) / slices);
	}
	int64_t begin = now_ns();
	for (size_t i = 1; i < slices; i++)
		s[0] = slice_stitch(s[0], s[i]);
	t.stitch = now_ns() - begin;
	begin = now_ns();
	publication_free(slice_finish(s[0]));
	t.finish = now_ns() - begin;
	*ret_events = slice_n_events(s[0]);
	slice_free(s[0]);
	return t;
}

static void bench(const struct recording *r, size_t slices, int repeat)
{
	struct times best = { INT64_MAX, INT64_MAX, INT64_MAX };
	uint64_t events = 1;
	for (int i = 0; i < repeat; i++) {
		struct times t = run(r, slices, &events);
		best.feed = MIN(best.feed, t.feed);
		best.stitch = MIN(best.stitch, t.stitch);
		best.finish = MIN(best.finish, t.finish);
	}
	printf("%" G_GUINT64_FORMAT " events in %zu slices: feed %.1f ns/event, stitch %.2f ms, "
	       "finish %.2f ms\n", events, slices, (double)best.feed / (double)events,
	       (double)best.stitch / 1e6, (double)best.finish / 1e6);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { argc > 1 ? argv[1] : ".", NULL };
	int repeat = argc > 2 ? atoi(argv[2]) : 5;
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct source *source = source_open_native(paths, rows, n_rows, NULL);
	printf("records of the %s reader\n", source ? "native" : "babeltrace2");
	if (!source)
		source = source_open_bt2(paths, rows, n_rows, &error);
	struct recording *r = source ? recording_new(source, &error) : NULL;

	if (!r) {
		fprintf(stderr, "bench-model: %s\n", error ? error->message : "cannot read");
		return 1;
	}
	bench(r, 1, repeat);
	if (argc > 3)
		bench(r, (size_t)MAX(atoi(argv[3]), 1), repeat);
	recording_free(r);
	return 0;
}
