/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of several feeds (the kernel's and the applications' session, say) to
 * batches in the order of time. Nobody is waited for longer than feed_patience();
 * what comes later still is moved to the present and counted.
 */
#include "live/source_live.h"

static void merger_init(struct live *l)
{
	struct merger *m = &l->merger;

	m->retired = g_ptr_array_new();
	m->clocks = bt2_clocks_new();
	m->held = g_ptr_array_new();
	m->held_of = g_ptr_array_new();
	m->losses = g_ptr_array_new_with_free_func(g_free);
	m->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	m->gaps = g_array_new(FALSE, FALSE, sizeof(struct live_gap));
	m->last = INT64_MIN;
}

/* -- entries of the feeds' tables become the source's ----------------------- */

static void map_hosts(struct live *l, struct feed_bt2 *f, GPtrArray *hosts)
{
	for (guint i = 0; i < hosts->len; i++) {
		const struct blk_host *h = g_ptr_array_index(hosts, i);
		uint16_t index = (uint16_t)source_add_host(&l->source, h->name, h->boot,
							   h->kernel_release);
		g_array_append_val(f->host_map, index);
	}
}

static void map_streams(struct live *l, struct feed_bt2 *f, GPtrArray *streams)
{
	for (guint i = 0; i < streams->len; i++) {
		struct blk_stream st = *(struct blk_stream *)g_ptr_array_index(streams, i);
		st.host = g_array_index(f->host_map, uint16_t, st.host);
		uint16_t index = (uint16_t)source_add_stream(&l->source, &st);
		g_array_append_val(f->stream_map, index);
	}
}

static void map_classes(struct live *l, struct feed_bt2 *f, GPtrArray *classes)
{
	for (guint i = 0; i < classes->len; i++) {
		const struct blk_class *c = g_ptr_array_index(classes, i);
		g_autofree char *key = blk_class_key(c->name, c->counters);
		uint32_t known = GPOINTER_TO_UINT(g_hash_table_lookup(l->merger.classes, key));
		if (!known) {
			known = source_add_class(&l->source, c->name, c->row, c->counters) + 1;
			g_hash_table_insert(l->merger.classes, g_steal_pointer(&key),
					    GUINT_TO_POINTER(known));
		}
		known--;
		g_array_append_val(f->class_map, known);
	}
}

/* -- which record is next --------------------------------------------------- */

static struct feed_block *head(const struct feed_bt2 *f)
{
	return g_queue_peek_head((GQueue *)&f->blocks);
}

static struct feed_bt2 *earliest(const struct live *l)
{
	struct feed_bt2 *best = NULL;
	int64_t best_ts = 0;

	for (guint i = 0; i < l->feeds->len; i++) {
		struct feed_bt2 *f = g_ptr_array_index(l->feeds, i);
		const struct feed_block *b = head(f);
		if (b && (!best || b->out.ev[b->at].ts < best_ts)) {
			best = f;
			best_ts = b->out.ev[b->at].ts;
		}
	}
	return best;
}

/* May the earliest record go, or could another feed still have an earlier one? */
static bool may_pass(const struct live *l, const struct feed_bt2 *f, int64_t now)
{
	const struct feed_block *b = head(f);

	for (guint i = 0; i < l->feeds->len; i++) {
		const struct feed_bt2 *other = g_ptr_array_index(l->feeds, i);
		if (other == f || other->feed.end || head(other))
			continue;
		if (b->out.ev[b->at].ts > other->horizon &&
		    now - b->arrived < feed_patience(&other->feed))
			return false;
	}
	return true;
}

/* -- taking ----------------------------------------------------------------- */

static struct blk_event *put(struct merger *m, size_t *n, int64_t ts, uint16_t row, uint16_t stream)
{
	struct blk_event *e = &m->batch[(*n)++];

	m->last = MAX(m->last, ts);
	*e = (struct blk_event){ .ts = m->last, .row = row, .stream = stream };
	return e;
}

/* Ends the streams of feeds that broke off, with what was lost until `end`; as far
 * as there is room. */
static bool close_gaps(struct live *l, size_t *n, int64_t end)
{
	struct merger *m = &l->merger;
	guint done = 0;

	for (; done < m->gaps->len && *n + 3 <= BLK_BATCH; done++) {
		const struct live_gap *gap = &g_array_index(m->gaps, struct live_gap, done);
		if (gap->lost && end > gap->begin) {
			struct blk_loss *loss = g_new0(struct blk_loss, 1);
			g_ptr_array_add(m->losses, loss);
			loss->begin_ns = gap->begin;
			loss->end_ns = end;
			struct blk_event *e = put(m, n, gap->begin, BLK_ROW_LOST_BEGIN, gap->stream);
			e->data = (uint8_t *)loss;
			e = put(m, n, end, BLK_ROW_LOST_END, gap->stream);
			e->data = (uint8_t *)loss;
		}
		put(m, n, MIN(end, m->last), BLK_ROW_STREAM_END, gap->stream);
	}
	g_array_remove_range(m->gaps, 0, done);
	return !m->gaps->len;
}

static void note_stream(struct feed_bt2 *f, uint16_t row, uint16_t stream)
{
	if (row == BLK_ROW_STREAM_ADD) {
		g_array_append_val(f->open, stream);
		return;
	}
	for (guint i = 0; i < f->open->len; i++) {
		if (g_array_index(f->open, uint16_t, i) == stream) {
			g_array_remove_index_fast(f->open, i);
			return;
		}
	}
}

static void take_record(struct live *l, struct feed_bt2 *f, const struct blk_event *from, size_t *n)
{
	struct merger *m = &l->merger;
	struct blk_event e = *from;

	if (e.row == BLK_ROW_HORIZON)
		return;			/* the merged one is computed */
	e.stream = g_array_index(f->stream_map, uint16_t, e.stream);
	if (e.row < BLK_ROW_FIRST_PSEUDO || e.row == BLK_ROW_TALLY)
		e.cls = g_array_index(f->class_map, uint32_t, e.cls);
	if (e.row == BLK_ROW_STREAM_ADD || e.row == BLK_ROW_STREAM_END)
		note_stream(f, e.row, e.stream);
	if (e.ts < m->last) {
		m->late += e.row < BLK_ROW_FIRST_PSEUDO;
		e.ts = m->last;
	}
	m->last = e.ts;
	m->batch[(*n)++] = e;
}

/* Takes the feed's next record; false: there is no room to do so. */
static bool take(struct live *l, struct feed_bt2 *f, size_t *n)
{
	struct merger *m = &l->merger;
	struct feed_block *b = head(f);
	const struct blk_event *e = &b->out.ev[b->at];

	if (m->gaps->len && !close_gaps(l, n, e->ts))
		return false;
	if (*n == BLK_BATCH)
		return false;
	if (!b->at) {
		map_hosts(l, f, b->hosts);
		map_streams(l, f, b->streams);
		map_classes(l, f, b->classes);
	}
	take_record(l, f, e, n);
	f->feed.queued--;
	if (++b->at == b->out.n) {
		g_queue_pop_head(&f->blocks);
		g_ptr_array_add(m->held, b);
		g_ptr_array_add(m->held_of, f);
	}
	return true;
}

/* -- the whole --------------------------------------------------------------- */

/* What the batch before pointed into may be filled again. */
static void give_back(struct live *l)
{
	struct merger *m = &l->merger;

	for (guint i = 0; i < m->held->len; i++)
		feed_recycle(g_ptr_array_index(m->held_of, i), g_ptr_array_index(m->held, i));
	if (m->held->len)
		g_cond_broadcast(&l->owner.taken);
	g_ptr_array_set_size(m->held, 0);
	g_ptr_array_set_size(m->held_of, 0);
	g_ptr_array_set_size(m->losses, 0);
}

/* Feeds that ended and have nothing left: what they left open becomes gaps. */
static void retire(struct live *l)
{
	for (guint i = 0; i < l->feeds->len;) {
		struct feed_bt2 *f = g_ptr_array_index(l->feeds, i);
		if (!f->feed.reaped || head(f)) {
			i++;
			continue;
		}
		for (guint k = 0; k < f->open->len; k++) {
			struct live_gap gap = {
				.stream = g_array_index(f->open, uint16_t, k),
				.begin = f->horizon, .lost = f->feed.end != FEED_SESSION_OVER,
			};
			g_array_append_val(l->merger.gaps, gap);
		}
		g_ptr_array_add(l->merger.retired, f);
		g_ptr_array_remove_index_fast(l->feeds, i);
	}
}

/* No record before this will come; INT64_MIN when that can't be said. */
static int64_t horizon(const struct live *l)
{
	int64_t min = INT64_MAX;

	for (guint i = 0; i < l->feeds->len; i++) {
		const struct feed_bt2 *f = g_ptr_array_index(l->feeds, i);
		const struct feed_block *b = head(f);
		min = MIN(min, b ? b->out.ev[b->at].ts : f->horizon);
	}
	return l->feeds->len ? min : INT64_MIN;
}

/* The next records that may be delivered; 0: none yet. Lock held, except that what the
 * last batch pointed into is given back first. */
static size_t merge(struct live *l)
{
	struct merger *m = &l->merger;
	int64_t now = g_get_monotonic_time(), bound;
	struct feed_bt2 *f;
	size_t n = 0;

	give_back(l);
	while (n < BLK_BATCH) {
		retire(l);
		f = earliest(l);
		if (!f || !may_pass(l, f, now) || !take(l, f, &n))
			break;
	}
	if (!l->feeds->len && l->ended)
		close_gaps(l, &n, m->last);
	bound = horizon(l);
	if (n < BLK_BATCH && bound > m->last)
		put(m, &n, bound, BLK_ROW_HORIZON, 0);
	return n;
}

static bool merger_idle(const struct live *l)
{
	return !l->feeds->len && !l->merger.gaps->len;
}

static enum source_status merger_next(struct live *l, struct blk_batch *ret,
				      G_GNUC_UNUSED GError **error)
{
	int64_t deadline = g_get_monotonic_time() + LIVE_NEXT_US;
	size_t n;

	g_mutex_lock(&l->owner.lock);
	while (!(n = merge(l)) && !g_atomic_int_get(&l->cancelled) && !l->fatal &&
	       !(l->ended && merger_idle(l)) &&
	       g_cond_wait_until(&l->owner.arrived, &l->owner.lock, deadline))
		;
	g_mutex_unlock(&l->owner.lock);
	*ret = (struct blk_batch){ l->merger.batch, n };
	return n ? SOURCE_OK : SOURCE_AGAIN;
}

static struct feed *merger_attach(struct live *l, struct keeper *k, const struct viewer_session *s)
{
	return feed_bt2_new(&l->owner, &k->url, s, l->options.from_beginning ?
			    VIEWER_FROM_BEGINNING : VIEWER_FROM_LAST, l->merger.clocks);
}

static void merger_tell(struct live *l, struct live_status *ret)
{
	ret->late = l->merger.late;
}

static void merger_wake(struct live *l)
{
	g_cond_broadcast(&l->owner.arrived);
}

/* What it has is merged first, and its layouts stay. */
static bool merger_let_go(G_GNUC_UNUSED struct live *l, G_GNUC_UNUSED struct feed *f)
{
	return false;
}

static void merger_clear(struct live *l)
{
	struct merger *m = &l->merger;

	for (guint i = 0; i < m->held->len; i++)
		feed_recycle(g_ptr_array_index(m->held_of, i), g_ptr_array_index(m->held, i));
	for (guint i = 0; i < m->retired->len; i++)
		feed_free(g_ptr_array_index(m->retired, i));
	g_ptr_array_unref(m->retired);
	g_ptr_array_unref(m->held);
	g_ptr_array_unref(m->held_of);
	g_ptr_array_unref(m->losses);
	g_hash_table_unref(m->classes);
	g_array_unref(m->gaps);
	bt2_clocks_unref(m->clocks);
	source_clear(&l->source);
}

const struct live_way merger_way = {
	.init = merger_init, .attach = merger_attach, .next = merger_next, .idle = merger_idle,
	.tell = merger_tell, .wake = merger_wake, .let_go = merger_let_go, .clear = merger_clear,
};
