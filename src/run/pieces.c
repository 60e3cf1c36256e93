/* SPDX-License-Identifier: GPL-2.0-only */
/* Traces of the native reader and spools, in pieces: see pieces.h. */
#include "run/pieces.h"

#include "live/spool/spool.h"
#include "state/slice/slice.h"

#define FLUSH_US 2000000		/* longest wait for the spool to be written */
#define INDEX_STEP 65536

/* ---- the native reader ---- */

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

#define NATIVE_OPS \
	.index = native_index, .indexed = native_indexed, .index_progress = native_index_progress, \
	.known_from = native_known_from, .bounds = native_bounds, .bytes_between = native_bytes_between, \
	.cuts = native_cuts, .has_row = native_has_row, .outline = native_outline, .range = native_range, \
	.losses = native_range_losses, .remark = native_remark, .free = native_free

struct pieces pieces_native(struct native *n)
{
	static const struct piece_ops ops = { NATIVE_OPS };

	return (struct pieces){ .ops = &ops, .native = n };
}

/* ---- a spool: opened again when newer packets are needed ---- */

struct spool_reading {
	struct spool *spool;
	const struct blk_subscription *rows;
	size_t n_rows;
	int64_t renewed_to;		/* .native has all before this instant, except late packets */
	int64_t begins;			/* the spool's first instant when it was opened */
};

static void renew(struct pieces *p, int64_t to, int64_t closed)
{
	struct spool_reading *r = p->spool;
	struct spool_status st;
	const char *const paths[] = { spool_path(r->spool), NULL };

	spool_get_status(r->spool, &st);
	if (p->native && to != INT64_MAX && to <= r->renewed_to && st.from_ns == r->begins)
		return;
	native_free(p->native);
	spool_flush(r->spool, FLUSH_US);
	spool_get_status(r->spool, &st);
	r->begins = st.from_ns;
	p->native = native_open(paths, r->rows, r->n_rows, NULL);
	while (p->native && native_index(p->native, INDEX_STEP))
		;
	r->renewed_to = closed;
}

struct pieces pieces_spool(struct spool *s, const struct blk_subscription *rows, size_t n_rows)
{
	static const struct piece_ops ops = { NATIVE_OPS, .renew = renew };
	struct spool_reading *r = g_new0(struct spool_reading, 1);

	*r = (struct spool_reading){ spool_ref(s), rows, n_rows, INT64_MIN, 0 };
	return (struct pieces){ .ops = &ops, .spool = r };
}

void pieces_free(struct pieces *p)
{
	if (p->native)
		p->ops->free(p->native);
	if (p->spool)
		spool_unref(p->spool->spool);
	g_clear_pointer(&p->spool, g_free);
	p->native = NULL;
}

/* ---- slices ---- */

bool pieces_are_without_spans(const struct pieces *p)
{
	return p->without_spans ||
	       (!p->with_spans && p->native && !p->ops->has_row(p->native, slice_row_makes_spans));
}

struct slice *pieces_begin_slice(const struct pieces *p, struct source *source, bool from_start,
				 int64_t step_ns)
{
	struct slice *s = slice_new(from_start, step_ns);
	size_t n;
	const struct native_loss *losses = p->ops->losses(source, &n);

	slice_read_cells(s, p->cells);
	if (pieces_are_without_spans(p))
		slice_without_spans(s);
	for (size_t i = 0; i < n; i++)
		slice_begin_lost(s, &source->tables, losses[i].stream, &losses[i].loss);
	return s;
}
