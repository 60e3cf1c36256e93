/* SPDX-License-Identifier: GPL-2.0-only */
/* See fake_pieces.h. */
#include "lib/sources.h"
#include "lib/fake_pieces.h"

#include <string.h>

#define LONG_US (20 * G_USEC_PER_SEC)

struct fake_range {
	struct source base;
	struct fake_pieces *f;
	size_t at, end;
	GArray *losses;			/* struct native_loss */
};

static size_t first_at(const struct fake_pieces *f, int64_t ts)
{
	size_t lo = 0, hi = recording_n(f->records);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (recording_event(f->records, mid)->ts < ts)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static size_t end_at(const struct fake_pieces *f, int64_t to)
{
	return to == INT64_MAX ? recording_n(f->records) : first_at(f, to);
}

/* ---- the index ---- */

/* What is behind the pointer that the functions take. */
static struct fake_pieces *fake(const struct native *trace)
{
	return (struct fake_pieces *)(uintptr_t)trace;
}

static bool fake_index(struct native *trace, size_t max)
{
	struct fake_pieces *f = fake(trace);
	(void)max;
	g_mutex_lock(&f->lock);
	if (f->steps_done < f->index_steps)
		f->steps_done++;
	bool more = f->steps_done < f->index_steps;
	g_mutex_unlock(&f->lock);
	return more;
}

static double fake_index_progress(const struct native *trace)
{
	struct fake_pieces *f = fake(trace);
	g_mutex_lock(&f->lock);
	double progress = f->index_steps ? (double)f->steps_done / f->index_steps : 1;
	g_mutex_unlock(&f->lock);
	return progress;
}

static bool fake_indexed(const struct native *trace)
{
	return fake_index_progress(trace) >= 1;
}

static int64_t fake_known_from(const struct native *trace)
{
	struct fake_pieces *f = fake(trace);
	size_t n = recording_n(f->records);
	double known = fake_index_progress(trace);
	return known >= 1 || !n ? INT64_MIN
		: recording_event(f->records, (size_t)((1 - known) * (double)(n - 1)))->ts;
}

static bool fake_bounds(const struct native *trace, int64_t *ret_from, int64_t *ret_to)
{
	struct fake_pieces *f = fake(trace);
	size_t n = recording_n(f->records);
	if (!n)
		return false;
	*ret_from = recording_event(f->records, 0)->ts;
	*ret_to = recording_event(f->records, n - 1)->ts + 1;
	return true;
}

static uint64_t fake_bytes(const struct native *trace, int64_t from, int64_t to)
{
	struct fake_pieces *f = fake(trace);
	return (end_at(f, to) - first_at(f, from)) * sizeof(struct blk_event);
}

static size_t fake_cuts(const struct native *trace, int64_t from, int64_t to, size_t n_pieces, int64_t *ret)
{
	struct fake_pieces *f = fake(trace);
	size_t begin = first_at(f, from), end = end_at(f, to), n = 0;
	for (size_t i = 1; i < n_pieces; i++) {
		size_t at = begin + (end - begin) * i / n_pieces;
		int64_t ts = at < end ? recording_event(f->records, at)->ts : INT64_MAX;
		if (ts > from && ts < to && (!n || ts > ret[n - 1]))
			ret[n++] = ts;
	}
	return n;
}

static bool fake_has_row(const struct native *trace, bool (*is_wanted)(unsigned row))
{
	const struct fake_pieces *f = fake(trace);
	const struct blk_tables *tables = recording_tables(f->records);
	for (guint i = 0; i < tables->classes->len; i++)
		if (is_wanted(blk_class(tables, i)->row))
			return true;
	return false;
}

static struct outline *fake_outline(const struct native *trace, size_t max_cells)
{
	int64_t from, to;
	(void)max_cells;
	if (!fake_bounds(trace, &from, &to))
		return NULL;
	struct outline *o = g_new0(struct outline, 1);
	g_atomic_ref_count_init(&o->refs);
	o->from_ns = MAX(from, fake_known_from(trace));
	o->to_ns = to;
	o->step_ns = to - from;
	o->begin_ns = from;
	o->complete = fake_indexed(trace);
	o->n = 1;
	o->cell = g_new0(struct outline_cell, 1);
	o->bytes = o->cell->bytes = fake_bytes(trace, from, to);
	return o;
}

/* ---- ranges ---- */

static void hang(struct fake_pieces *f)
{
	g_mutex_lock(&f->lock);
	f->n_hanging++;
	g_cond_broadcast(&f->changed);
	while (!f->release)
		g_cond_wait(&f->changed, &f->lock);
	f->n_hanging--;
	g_mutex_unlock(&f->lock);
}

static enum source_status range_next(struct source *s, struct blk_batch *ret, GError **error)
{
	struct fake_range *r = (struct fake_range *)s;
	if (r->at == r->end)
		return SOURCE_END;
	ret->ev = recording_event(r->f->records, r->at);
	ret->n = MIN(r->end - r->at, BLK_BATCH);
	int64_t last = ret->ev[ret->n - 1].ts;
	if (r->f->fail_at >= ret->ev->ts && r->f->fail_at <= last) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, "the record is scratched");
		return SOURCE_ERROR;
	}
	if (r->f->hang_at >= ret->ev->ts && r->f->hang_at <= last)
		hang(r->f);
	r->at += ret->n;
	return SOURCE_OK;
}

static double range_progress(struct source *s)
{
	struct fake_range *r = (struct fake_range *)s;
	return r->end ? (double)r->at / (double)r->end : 1;
}

static void range_free(struct source *s)
{
	struct fake_range *r = (struct fake_range *)s;
	g_mutex_lock(&r->f->lock);
	r->f->n_open--;
	g_mutex_unlock(&r->f->lock);
	g_array_unref(r->losses);
	g_free(r);
}

static const struct source_ops range_ops = {
	.next = range_next, .progress = range_progress, .free = range_free,
};

/* Windows of lost events that are open before record `at`. */
static void open_losses(struct fake_range *r)
{
	for (size_t i = 0; i < r->at; i++) {
		const struct blk_event *e = recording_event(r->f->records, i);
		if (e->row == BLK_ROW_LOST_BEGIN) {
			struct native_loss l = { .stream = e->stream };
			memcpy(&l.loss, e->data, sizeof l.loss);
			g_array_append_val(r->losses, l);
		}
		for (guint k = 0; e->row == BLK_ROW_LOST_END && k < r->losses->len; k++) {
			if (g_array_index(r->losses, struct native_loss, k).stream != e->stream)
				continue;
			g_array_remove_index(r->losses, k);
			break;
		}
	}
}

static struct source *fake_range(struct native *trace, int64_t from, int64_t to, size_t budget)
{
	struct fake_pieces *f = fake(trace);
	struct fake_range *r = g_new0(struct fake_range, 1);
	g_assert_cmpuint(budget, >, 0);
	r->base.ops = &range_ops;
	r->base.tables = *recording_tables(f->records);
	r->f = f;
	r->at = first_at(f, from);
	r->end = MAX(r->at, end_at(f, to));
	r->losses = g_array_new(false, false, sizeof(struct native_loss));
	open_losses(r);
	g_mutex_lock(&f->lock);
	f->n_opened++;
	f->n_open++;
	g_mutex_unlock(&f->lock);
	return &r->base;
}

static const struct native_loss *fake_losses(struct source *s, size_t *ret_n)
{
	const struct fake_range *r = (const struct fake_range *)s;
	*ret_n = r->losses->len;
	return (const struct native_loss *)(const void *)r->losses->data;
}

static char *fake_remark(G_GNUC_UNUSED const struct native *trace)
{
	return NULL;
}

static void fake_free(struct native *trace)
{
	struct fake_pieces *f = fake(trace);
	g_mutex_lock(&f->lock);
	g_assert_cmpuint(f->n_open, ==, 0);	/* sources borrow it */
	f->freed = true;
	g_mutex_unlock(&f->lock);
}

/* ---- life ---- */

static const struct piece_ops fake_ops = {
	.index = fake_index, .indexed = fake_indexed, .index_progress = fake_index_progress,
	.known_from = fake_known_from, .bounds = fake_bounds, .bytes_between = fake_bytes,
	.cuts = fake_cuts, .has_row = fake_has_row, .outline = fake_outline, .range = fake_range, .losses = fake_losses,
	.remark = fake_remark, .free = fake_free,
};

void fake_pieces_init(struct fake_pieces *f, struct recording *records)
{
	*f = (struct fake_pieces){ .records = records, .fail_at = INT64_MAX, .hang_at = INT64_MAX };
	g_mutex_init(&f->lock);
	g_cond_init(&f->changed);
}

void fake_pieces_clear(struct fake_pieces *f)
{
	recording_free(f->records);
	g_mutex_clear(&f->lock);
	g_cond_clear(&f->changed);
}

struct pieces fake_pieces_trace(struct fake_pieces *f)
{
	return (struct pieces){ .ops = &fake_ops, .native = (struct native *)f };
}

static void fake_renew(G_GNUC_UNUSED struct pieces *p, G_GNUC_UNUSED int64_t to, G_GNUC_UNUSED int64_t closed)
{
}

struct pieces fake_pieces_growing(struct fake_pieces *f)
{
	static struct piece_ops ops;

	ops = fake_ops;
	ops.renew = fake_renew;
	return (struct pieces){ .ops = &ops, .native = (struct native *)f };
}

void fake_pieces_release(struct fake_pieces *f)
{
	g_mutex_lock(&f->lock);
	f->release = true;
	g_cond_broadcast(&f->changed);
	g_mutex_unlock(&f->lock);
}

void fake_pieces_await_hanging(struct fake_pieces *f)
{
	gint64 until = g_get_monotonic_time() + LONG_US;
	g_mutex_lock(&f->lock);
	while (!f->n_hanging)
		if (!g_cond_wait_until(&f->changed, &f->lock, until))
			break;
	g_assert_cmpuint(f->n_hanging, >, 0);
	g_mutex_unlock(&f->lock);
}
