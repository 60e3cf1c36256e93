/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model alone: the records of a trace are read once into memory, then fed to a
 * rooted slice and finished, as often as asked for. Prints the best ns an event.
 *
 * Usage: bench-model TRACE_DIR [REPEAT]
 */
#include "state/slice.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	const char *const paths[] = { argc > 1 ? argv[1] : ".", NULL };
	int repeat = argc > 2 ? atoi(argv[2]) : 5;
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	struct source *source = source_open_bt2(paths, rows, n_rows, &error);
	struct recording *r = source ? recording_new(source, &error) : NULL;
	int64_t best = INT64_MAX, best_finish = INT64_MAX;
	uint64_t events = 0;

	if (!r) {
		fprintf(stderr, "bench-model: %s\n", error ? error->message : "cannot read");
		return 1;
	}
	for (int i = 0; i < repeat; i++) {
		struct slice *s = slice_new(true, 1000000000);
		int64_t begin = g_get_monotonic_time();
		slice_feed(s, recording_tables(r), recording_event(r, 0), recording_n(r));
		int64_t fed = g_get_monotonic_time();
		publication_free(slice_finish(s));
		int64_t finished = g_get_monotonic_time();
		events = slice_n_events(s);
		best = MIN(best, fed - begin);
		best_finish = MIN(best_finish, finished - fed);
		slice_free(s);
	}
	printf("%" G_GUINT64_FORMAT " events: feed %.1f ns/event, finish %.1f ms\n", events,
	       (double)best * 1e3 / (double)events, (double)best_finish / 1e3);
	recording_free(r);
	return 0;
}
