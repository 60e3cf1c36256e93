/* SPDX-License-Identifier: GPL-2.0-only */
/* The native reader as a trace in pieces: see pieces.h. */
#include "run/pieces.h"

#include "state/slice/slice.h"

static bool is_of_kernel(const struct native *n)
{
	return native_has_kernel(n) || native_has_row(n, slice_row_is_kernel);
}

bool pieces_have_kernel(const char *const *paths)
{
	size_t n_rows;
	const struct blk_subscription *rows = slice_subscriptions(&n_rows);
	g_autoptr(blk_native) n = native_open(paths, rows, n_rows, NULL);
	return !n || is_of_kernel(n);
}

struct native *pieces_open(const char *const *paths, bool counts, GError **error)
{
	size_t n_rows;
	const struct blk_subscription *rows = (counts ? slice_subscriptions_counting : slice_subscriptions)(&n_rows);
	struct native *n = native_open(paths, rows, n_rows, error);
	if (!n || counts || is_of_kernel(n))
		return n;
	native_free(n);
	return pieces_open(paths, true, error);
}

static bool walk_index(void *trace, size_t max)
{
	return native_index(trace, max);
}

static bool is_indexed(void *trace)
{
	return native_indexed(trace);
}

static double index_progress(void *trace)
{
	return native_index_progress(trace);
}

static int64_t known_from(void *trace)
{
	return native_known_from(trace);
}

static bool bounds(void *trace, int64_t *ret_from, int64_t *ret_to)
{
	return native_bounds(trace, ret_from, ret_to);
}

static uint64_t bytes_between(void *trace, int64_t from, int64_t to)
{
	return native_bytes_between(trace, from, to);
}

static size_t cuts(void *trace, int64_t from, int64_t to, size_t n_pieces, int64_t *ret)
{
	return native_cuts(trace, from, to, n_pieces, ret);
}

static bool has_row(void *trace, bool (*is_wanted)(unsigned row))
{
	return native_has_row(trace, is_wanted);
}

static struct outline *outline(void *trace, size_t max_cells)
{
	return native_outline(trace, max_cells);
}

static struct source *range(void *trace, int64_t from, int64_t to, size_t budget)
{
	return native_range(trace, from, to, budget);
}

static char *remark(void *trace)
{
	return native_remark(trace);
}

static void free_native(void *trace)
{
	native_free(trace);
}

static const struct piece_ops native_ops = {
	.index = walk_index, .indexed = is_indexed, .index_progress = index_progress,
	.known_from = known_from, .bounds = bounds, .bytes_between = bytes_between, .cuts = cuts,
	.has_row = has_row, .outline = outline, .range = range, .losses = native_range_losses,
	.remark = remark, .free = free_native,
};

struct pieces pieces_native(struct native *n)
{
	return (struct pieces){ .ops = &native_ops, .trace = n };
}
