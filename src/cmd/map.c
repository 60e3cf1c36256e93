/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop map and blktop reduce: see map.h. */
#include "cmd/map.h"

#include "app/reading.h"
#include "cli/messages.h"

#include "base/timefmt.h"
#include "export/export.h"
#include "run/map.h"

#include <inttypes.h>

/* What was written: "wrote X: 12 MiB, 60234 events". */
static int write_slice(const struct options *o, struct slice *s, const struct slice_piece *piece)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	g_autoptr(GByteArray) bytes = slice_file_bytes(s, piece, &error);
	char size[TIMEFMT_LEN];

	if (!bytes || !export_write_file(o->output, (const char *)bytes->data, bytes->len, o->force, &path, &error)) {
		log_error("%s", error->message);
		return EXIT_FAILED;
	}
	fprintf(stderr, "wrote %s: %s, %" PRIu64 " events\n", path, timefmt_bytes(size, bytes->len), slice_n_events(s));
	return EXIT_FINE;
}

/* Writes the slice and frees it. NULL: nothing was made. */
static int finish(const struct options *o, struct slice *s, struct slice_piece *piece, const GError *error)
{
	int signal = reading_caught(), code = EXIT_FAILED;

	reading_release_signals();
	if (s)
		code = write_slice(o, s, piece);
	else if (signal)
		code = EXIT_SIGNAL + signal;
	else
		log_error("%s", error ? error->message : "cannot read it");
	slice_free(s);
	slice_piece_clear(piece);
	return code;
}

/* --from and --to; without them the whole trace, whatever its ends. */
static int find_range(const struct options *o, struct map_plan *plan)
{
	g_autoptr(GError) error = NULL;
	int64_t first, end, from, to;

	plan->from = INT64_MIN;
	plan->to = INT64_MAX;
	if (!o->from && !o->to)
		return EXIT_FINE;
	if (!map_bounds(plan->paths, &first, &end, &error)) {
		log_error("%s", error->message);
		return EXIT_FAILED;
	}
	int code = reading_place_range(o, first, end, &from, &to);
	if (o->from)
		plan->from = from;
	if (o->to)
		plan->to = to;
	return code;
}

int map_write(const struct options *o)
{
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };
	struct map_plan plan = {
		.paths = (const char *const *)o->paths, .step_ns = options_step(o), .stop = reading_caught_by(),
		.with_spans = o->keep_spans,
	};
	int code = find_range(o, &plan);

	if (code != EXIT_FINE)
		return code;
	reading_catch_signals();
	g_autofree char *warning = NULL;
	struct slice *s = map_read(&plan, &piece, &warning, &error);
	code = finish(o, s, &piece, error);
	if (warning && code == EXIT_FINE) {
		log_error("%s", warning);
		code = EXIT_LOSS;
	}
	return code;
}

static bool is_wanted(void *data, double progress, uint64_t n)
{
	(void)data, (void)progress, (void)n;
	return !reading_caught();
}

int map_reduce(const struct options *o)
{
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };
	const struct watch watch = { .go_on = is_wanted };

	reading_catch_signals();
	struct slice *s = slice_file_merge((const char *const *)o->paths, &piece, &watch, &error);
	return finish(o, s, &piece, error);
}
