/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop map and blktop reduce: see map.h. */
#include "cmd/map.h"

#include "app/reading.h"
#include "app/messages.h"

#include "base/timefmt.h"
#include "export/export.h"

#include <inttypes.h>

struct to_write { struct slice *s; const struct slice_piece *piece; uint64_t size; };

static bool write_to(int fd, void *data, GError **error)
{
	struct to_write *x = data;
	return slice_file_write(x->s, x->piece, fd, &x->size, error);
}

bool map_write_slice(struct slice *s, const struct slice_piece *piece, const struct output_options *output,
		     char **ret_path, uint64_t *ret_size, GError **error)
{
	struct to_write x = { s, piece, 0 };
	bool ok = export_write_by(output->path, write_to, &x, output->force, ret_path, error);

	*ret_size = x.size;
	return ok;
}

/* What was written: "wrote X: 12 MiB, 60234 events". */
static int write_slice(const struct output_options *output, struct slice *s, const struct slice_piece *piece)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	char text[TIMEFMT_LEN];
	uint64_t size;

	if (!map_write_slice(s, piece, output, &path, &size, &error))
		return log_failure(error);
	fprintf(stderr, "wrote %s: %s, %" PRIu64 " events\n", path, timefmt_bytes(text, size), slice_n_events(s));
	return EXIT_FINE;
}

/* Writes the slice and frees it. NULL: nothing was made. */
static int finish(const struct output_options *output, struct slice *s, struct slice_piece *piece, const GError *error)
{
	int signal = reading_caught(), code = EXIT_FAILED;

	if (s)
		code = write_slice(output, s, piece);
	else if (signal)
		code = EXIT_SIGNAL + signal;
	else
		log_error("%s", error ? error->message : "cannot read it");
	slice_free(s);
	slice_piece_clear(piece);
	return code;
}

/* --from and --to; without them the range is unchanged. There may be no event in the range: other hosts have some. */
static int find_range(const struct read_options *o, int64_t *ret_from, int64_t *ret_to)
{
	g_autoptr(GError) error = NULL;
	int64_t first, end;

	if (!o->from && !o->to)
		return EXIT_FINE;
	if (!map_bounds((const char *const *)o->paths, &first, &end, &error))
		return log_failure(error);
	return reading_place_ends(o, first, end, ret_from, ret_to);
}

int map_write_range(struct map_plan plan, const struct output_options *output)
{
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };
	g_autofree char *warning = NULL, *remark = NULL;

	plan.stop = reading_caught_by();
	struct slice *s = map_read(&plan, &piece, &warning, &remark, &error);
	int code = finish(output, s, &piece, error);

	if (remark)
		log_error("%s", remark);

	if (!warning || code != EXIT_FINE)
		return code;
	log_error("%s", warning);
	return EXIT_LOSS;
}

int map_write(const struct read_options *read, const struct output_options *output, const struct map_options *o)
{
	struct map_plan plan = {
		.paths = (const char *const *)read->paths, .from = INT64_MIN, .to = INT64_MAX,
		.step_ns = read_step(read), .with_spans = o->keep_spans,
	};

	if (read->watch)
		return map_watch(plan, output->path, o);
	int code = find_range(read, &plan.from, &plan.to);
	if (code != EXIT_FINE)
		return code;
	reading_catch_signals();
	code = map_write_range(plan, output);
	reading_release_signals();
	return code;
}

static bool is_wanted(void *data, double progress, uint64_t n)
{
	(void)data, (void)progress, (void)n;
	return !reading_caught();
}

/* What was thinned must not be merged by accident: it is printed. */
static bool has_history(const struct read_options *o)
{
	int64_t step;

	for (char **path = o->paths; *path; path++)
		if (slice_file_is_history(*path, &step)) {
			log_error("%s is history, from which traces were dropped: reduce --history merges it", *path);
			return true;
		}
	return false;
}

int map_reduce(const struct read_options *read, const struct output_options *output, bool to_history)
{
	g_autoptr(GError) error = NULL;
	struct slice_piece piece = { 0 };
	const struct watch watch = { .go_on = is_wanted };

	if (!to_history && has_history(read))
		return EXIT_FAILED;
	reading_catch_signals();
	struct slice *s = (to_history ? slice_file_merge_history : slice_file_merge_packed)
		((const char *const *)read->paths, &piece, &watch, &error);
	int code = finish(output, s, &piece, error);
	reading_release_signals();
	return code;
}
