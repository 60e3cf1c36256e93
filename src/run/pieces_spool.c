/* SPDX-License-Identifier: GPL-2.0-only */
/* A spool as a trace in pieces: opened again when newer packets are needed. See pieces_spool.h. */
#include "run/pieces_spool.h"

#include "live/spool/spool.h"

#define FLUSH_US 2000000		/* longest wait for the spool to be written */
#define INDEX_STEP 65536

struct spool_pieces {
	struct spool *spool;
	const struct blk_subscription *rows;
	size_t n_rows;
	struct native *now;		/* the opened spool; NULL: not opened, or it cannot be */
	int64_t renewed_to;		/* .now has all before this instant, except late packets */
	int64_t begins;			/* the spool's first instant when it was opened */
	bool any;			/* there is an event: .first and .last are valid */
	int64_t first, last;
};

static void forget(struct spool_pieces *k)
{
	g_clear_pointer(&k->now, native_free);
	k->any = false;
	k->renewed_to = INT64_MIN;
}

static bool renew(void *trace, int64_t to, int64_t closed)
{
	struct spool_pieces *k = trace;
	struct spool_status st;
	const char *const paths[] = { spool_path(k->spool), NULL };

	spool_get_status(k->spool, &st);
	bool known = to != INT64_MAX && to <= k->renewed_to && st.from_ns == k->begins;
	if (k->now && known)
		return k->any;
	forget(k);
	spool_flush(k->spool, FLUSH_US);
	spool_get_status(k->spool, &st);
	k->begins = st.from_ns;
	k->now = native_open(paths, k->rows, k->n_rows, NULL);
	while (k->now && native_index(k->now, INDEX_STEP))
		;
	k->any = k->now && native_bounds(k->now, &k->first, &k->last);
	k->renewed_to = closed;
	return k->any;
}

static bool walk_index(G_GNUC_UNUSED void *trace, G_GNUC_UNUSED size_t max)
{
	return false;
}

static bool is_indexed(G_GNUC_UNUSED void *trace)
{
	return true;
}

static double index_progress(G_GNUC_UNUSED void *trace)
{
	return 1;
}

static int64_t known_from(G_GNUC_UNUSED void *trace)
{
	return INT64_MIN;
}

static bool bounds(void *trace, int64_t *ret_from, int64_t *ret_to)
{
	const struct spool_pieces *k = trace;

	*ret_from = k->first;
	*ret_to = k->last;
	return k->any;
}

static uint64_t bytes_between(void *trace, int64_t from, int64_t to)
{
	const struct spool_pieces *k = trace;

	return k->any ? native_bytes_between(k->now, from, to) : 0;
}

static size_t cuts(void *trace, int64_t from, int64_t to, size_t n_pieces, int64_t *ret)
{
	const struct spool_pieces *k = trace;

	return k->any ? native_cuts(k->now, from, to, n_pieces, ret) : 0;
}

static bool has_row(void *trace, bool (*is_wanted)(unsigned row))
{
	const struct spool_pieces *k = trace;

	return !k->now || native_has_row(k->now, is_wanted);
}

static struct outline *outline(void *trace, size_t max_cells)
{
	const struct spool_pieces *k = trace;

	return k->any ? native_outline(k->now, max_cells) : NULL;
}

static struct source *range(void *trace, int64_t from, int64_t to, size_t budget)
{
	const struct spool_pieces *k = trace;

	g_assert(k->now);		/* bounds() was true */
	return native_range(k->now, from, to, budget);
}

static void free_spool(void *trace)
{
	struct spool_pieces *k = trace;

	forget(k);
	spool_unref(k->spool);
	g_free(k);
}

static const struct piece_ops spool_ops = {
	.index = walk_index, .indexed = is_indexed, .index_progress = index_progress,
	.known_from = known_from, .bounds = bounds, .bytes_between = bytes_between, .cuts = cuts,
	.has_row = has_row, .outline = outline, .range = range, .losses = native_range_losses,
	.free = free_spool, .renew = renew,
};

struct pieces pieces_spool(struct spool *s, const struct blk_subscription *rows, size_t n_rows)
{
	struct spool_pieces *k = g_new0(struct spool_pieces, 1);

	k->spool = spool_ref(s);
	k->rows = rows;
	k->n_rows = n_rows;
	k->renewed_to = INT64_MIN;
	return (struct pieces){ .ops = &spool_ops, .trace = k };
}
