/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges pieces with uneven edges; see uneven.h. A piece:
 *
 *     stream 0   |-----------------|                 |   before: pre, raw
 *     stream 1      |-----------------|              |   between: a slice
 *                   lo             hi                |   after: post, raw
 *
 * The slice has the instants that all streams cover; the edges are stored until they meet the neighbour's. If no
 * instant is covered by all streams, the whole piece is an edge.
 */
#include "state/slice/uneven.h"

#include "state/slice/slice_state.h"

struct open_loss { unsigned stream; struct blk_loss loss; };

struct uneven {
	int64_t step;
	const struct blk_tables *tables;
	guint n_streams;
	int64_t *begin, *end;		/* for each stream */
	GPtrArray *pre, *post;		/* const struct blk_event *, in order */
	struct slice *mid;		/* of [lo, hi); NULL: all records are in .pre */
	int64_t lo, hi;
	GArray *open;			/* struct open_loss: loss windows that are open at hi */
};

void uneven_free(struct uneven *r)
{
	if (!r)
		return;
	g_free(r->begin);
	g_free(r->end);
	g_ptr_array_unref(r->pre);
	g_ptr_array_unref(r->post);
	g_array_unref(r->open);
	slice_free(r->mid);
	g_free(r);
}

static struct uneven *uneven_alloc(int64_t step, const struct blk_tables *tables, guint n)
{
	struct uneven *r = g_new0(struct uneven, 1);
	r->step = step;
	r->tables = tables;
	r->n_streams = n;
	r->begin = g_new(int64_t, n + 1);
	r->end = g_new(int64_t, n + 1);
	r->pre = g_ptr_array_new();
	r->post = g_ptr_array_new();
	r->open = g_array_new(false, false, sizeof(struct open_loss));
	return r;
}

/* Updates the open loss windows with a record. */
static void track_loss(GArray *open, const struct blk_event *e)
{
	if (e->row == BLK_ROW_LOST_BEGIN) {
		struct open_loss o = { .stream = e->stream };
		memcpy(&o.loss, e->data, sizeof o.loss);
		g_array_append_val(open, o);
	} else if (e->row == BLK_ROW_LOST_END) {
		for (guint i = 0; i < open->len; i++)
			if (g_array_index(open, struct open_loss, i).stream == e->stream) {
				g_array_remove_index(open, i);
				return;
			}
	}
}

static void begin_slice(struct uneven *r, struct slice *s, const GArray *open)
{
	for (guint i = 0; i < open->len; i++) {
		const struct open_loss *o = &g_array_index(open, struct open_loss, i);
		slice_begin_lost(s, r->tables, o->stream, &o->loss);
	}
}

static int event_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct blk_event *x = *(const struct blk_event *const *)a;
	const struct blk_event *y = *(const struct blk_event *const *)b;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->stream == y->stream || x->row == BLK_ROW_HORIZON || y->row == BLK_ROW_HORIZON)
		return 0;
	return strcmp(blk_stream(data, x->stream)->order, blk_stream(data, y->stream)->order);
}

/*
 * Sorts `raw` (takes ownership) and splits it at lo and hi: pre, a slice, post. open: the loss windows open at its
 * first record; on return those open at hi.
 */
static void split(struct uneven *r, GPtrArray *raw, GArray *open, int64_t lo, int64_t hi)
{
	g_assert(lo <= hi);
	struct slice *s = NULL;
	g_ptr_array_sort_with_data(raw, event_order, (gpointer)r->tables);
	for (guint i = 0; i < raw->len; i++) {
		const struct blk_event *e = g_ptr_array_index(raw, i);
		if (e->ts < lo) {
			track_loss(open, e);
			g_ptr_array_add(r->pre, (gpointer)e);
		} else if (e->ts >= hi) {
			g_ptr_array_add(r->post, (gpointer)e);
		} else {
			if (!s) {
				s = slice_new(false, r->step);
				begin_slice(r, s, open);
			}
			track_loss(open, e);
			slice_feed(s, r->tables, e, 1);
		}
	}
	r->mid = s ? s : slice_new(false, r->step);
	r->lo = lo;
	r->hi = hi;
	g_array_append_vals(r->open, open->data, open->len);
	g_ptr_array_unref(raw);
}

static void bounds(const struct uneven *r, int64_t *lo, int64_t *hi)
{
	*lo = INT64_MIN;
	*hi = INT64_MAX;
	for (guint i = 0; i < r->n_streams; i++) {
		*lo = MAX(*lo, r->begin[i]);
		*hi = MIN(*hi, r->end[i]);
	}
}

/* Makes a slice from the raw records if an instant is covered by all streams. */
static void settle(struct uneven *r, GPtrArray *raw)
{
	g_autoptr(GArray) open = g_array_new(false, false, sizeof(struct open_loss));
	int64_t lo, hi;
	bounds(r, &lo, &hi);
	if (lo < hi) {
		split(r, raw, open, lo, hi);
		return;
	}
	g_ptr_array_unref(r->pre);
	r->pre = raw;
}

struct uneven *uneven_new(int64_t step_ns, const struct blk_tables *tables, const int64_t *begin,
			  const int64_t *end, const struct blk_event *const *ev, size_t n)
{
	struct uneven *r = uneven_alloc(step_ns, tables, tables->streams->len);
	GPtrArray *raw = g_ptr_array_sized_new((guint)n);
	memcpy(r->begin, begin, r->n_streams * sizeof *begin);
	memcpy(r->end, end, r->n_streams * sizeof *end);
	for (size_t i = 0; i < n; i++)
		g_ptr_array_add(raw, (gpointer)ev[i]);
	settle(r, raw);
	return r;
}

static void add_all(GPtrArray *to, const GPtrArray *from)
{
	for (guint i = 0; i < from->len; i++)
		g_ptr_array_add(to, g_ptr_array_index(from, i));
}

static struct slice *take_mid(struct uneven *r)
{
	g_assert(r->mid);
	struct slice *s = r->mid;
	r->mid = NULL;
	return s;
}

struct uneven *uneven_stitch(struct uneven *a, struct uneven *b)
{
	g_assert(a->step == b->step && a->n_streams == b->n_streams && a->tables == b->tables);
	struct uneven *r = uneven_alloc(a->step, a->tables, a->n_streams);
	GPtrArray *raw = g_ptr_array_new();
	memcpy(r->begin, a->begin, r->n_streams * sizeof *r->begin);
	memcpy(r->end, b->end, r->n_streams * sizeof *r->end);
	add_all(raw, a->mid ? a->post : a->pre);
	add_all(raw, b->pre);
	if (!a->mid && !b->mid) {
		settle(r, raw);
	} else {
		int64_t lo, hi;
		bounds(r, &lo, &hi);
		g_autoptr(GArray) open = g_array_new(false, false, sizeof(struct open_loss));
		if (a->mid) {
			g_array_append_vals(open, a->open->data, a->open->len);
			add_all(r->pre, a->pre);
			lo = a->hi;
		}
		split(r, raw, open, lo, b->mid ? b->lo : hi);
		if (b->mid) {
			g_array_set_size(r->open, 0);
			g_array_append_vals(r->open, b->open->data, b->open->len);
			add_all(r->post, b->post);
			r->mid = slice_stitch(r->mid, take_mid(b));
			r->hi = b->hi;
		}
		if (a->mid) {
			r->mid = slice_stitch(take_mid(a), r->mid);
			r->lo = a->lo;
		}
	}
	uneven_free(a);
	uneven_free(b);
	return r;
}

struct slice *uneven_finish(struct uneven *r)
{
	struct slice *s = slice_new(true, r->step);
	for (guint i = 0; i < r->pre->len; i++)
		slice_feed(s, r->tables, g_ptr_array_index(r->pre, i), 1);
	if (r->mid)
		s = slice_stitch(s, take_mid(r));
	if (r->post->len) {
		struct slice *last = slice_new(false, r->step);
		begin_slice(r, last, r->open);
		for (guint i = 0; i < r->post->len; i++)
			slice_feed(last, r->tables, g_ptr_array_index(r->post, i), 1);
		s = slice_stitch(s, last);
	}
	uneven_free(r);
	return s;
}
