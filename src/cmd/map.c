/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop map and blktop reduce: see map.h. */
#include "cmd/map.h"

#include "app/reading.h"
#include "app/messages.h"

#include "base/timefmt.h"
#include "export/export.h"
#include "run/map.h"

#include <inttypes.h>

struct to_write { struct slice *s; const struct slice_piece *piece; uint64_t size; };

static bool write_to(int fd, void *data, GError **error)
{
	struct to_write *x = data;
	return slice_file_write(x->s, x->piece, fd, &x->size, error);
}

bool map_write_slice(struct slice *s, const struct slice_piece *piece, const char *output, bool force, char **ret_path,
		     uint64_t *ret_size, GError **error)
{
	struct to_write x = { s, piece, 0 };
	bool ok = export_write_by(output, write_to, &x, force, ret_path, error);

	*ret_size = x.size;
	return ok;
}

/* What was written: "wrote X: 12 MiB, 60234 events". */
static int write_slice(const char *output, bool force, struct slice *s, const struct slice_piece *piece)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	char text[TIMEFMT_LEN];
	uint64_t size;

	if (!map_write_slice(s, piece, output, force, &path, &size, &error)) {
		log_error("%s", error->message);
		return EXIT_FAILED;
	}
	fprintf(stderr, "wrote %s: %s, %" PRIu64 " events\n", path, timefmt_bytes(text, size), slice_n_events(s));
	return EXIT_FINE;
}

/* Writes the slice and frees it. NULL: nothing was made. */
static int finish(const char *output, bool force, struct slice *s, struct slice_piece *piece, const GError *error)
{
	int signal = reading_caught(), code = EXIT_FAILED;

	if (s)
		code = write_slice(output, force, s, piece);
	else if (signal)
		code = EXIT_SIGNAL + signal;
	else
		log_error("%s", error ? error->message : "cannot read it");
	slice_free(s);
	slice_piece_clear(piece);
	return code;
}

/* --from and --to; without them the range is unchanged. There may be no event in the range: other hosts have some. */
static int find_range(const struct options *o, int64_t *ret_from, int64_t *ret_to)
{
	g_autoptr(GError) error = NULL;
	int64_t first, end;

	if (!o->read.from && !o->read.to)
		return EXIT_FINE;
	if (!map_bounds((const char *const *)o->read.paths, &first, &end, &error)) {
		log_error("%s", error->message);
		return EXIT_FAILED;
	}
	return reading_place_ends(&o->read, first, end, ret_from, ret_to);
}

int map_write_range(const struct options *o, const char *const *paths, int64_t from, int64_t to, const char *output)
{
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };
	const struct map_plan plan = {
		.paths = paths, .from = from, .to = to, .step_ns = read_step(&o->read), .stop = reading_caught_by(),
		.with_spans = o->keep_spans,
	};
	g_autofree char *warning = NULL, *remark = NULL;
	struct slice *s = map_read(&plan, &piece, &warning, &remark, &error);
	int code = finish(output, o->force, s, &piece, error);

	if (remark)
		log_error("%s", remark);

	if (!warning || code != EXIT_FINE)
		return code;
	log_error("%s", warning);
	return EXIT_LOSS;
}

int map_write(const struct options *o)
{
	int64_t from = INT64_MIN, to = INT64_MAX;

	if (o->read.watch)
		return map_watch(o);
	int code = find_range(o, &from, &to);
	if (code != EXIT_FINE)
		return code;
	reading_catch_signals();
	code = map_write_range(o, (const char *const *)o->read.paths, from, to, o->output);
	reading_release_signals();
	return code;
}

static bool is_wanted(void *data, double progress, uint64_t n)
{
	(void)data, (void)progress, (void)n;
	return !reading_caught();
}

/* What was thinned must not be merged by accident: it is printed. */
static bool has_history(const struct options *o)
{
	int64_t step;

	for (char **path = o->read.paths; *path; path++)
		if (slice_file_is_history(*path, &step)) {
			log_error("%s is history, from which traces were dropped: reduce --history merges it", *path);
			return true;
		}
	return false;
}

int map_reduce(const struct options *o)
{
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };
	const struct watch watch = { .go_on = is_wanted };

	if (!o->history && has_history(o))
		return EXIT_FAILED;
	reading_catch_signals();
	struct slice *s = (o->history ? slice_file_merge_history : slice_file_merge_packed)
		((const char *const *)o->read.paths, &piece, &watch, &error);
	int code = finish(o->output, o->force, s, &piece, error);
	reading_release_signals();
	return code;
}
