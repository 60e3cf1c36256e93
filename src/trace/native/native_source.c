/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The source of a range: merges the cursors of all streams. The first cursor delivers records for as long as no other
 * cursor has an earlier one.
 */
#include "trace/native/native_cursor.h"

#include "base/open_files.h"
#include "trace/ctf/layouts.h"
#include "trace/native/merge.h"

#define DEFAULT_BUDGET (32u << 20)
#define MIN_WINDOW (16u << 10)
#define FILES_SHARE 8		/* one source may have 1/8 of the files that may be open */
#define MAX_WINDOW (64u << 10)	/* two windows each of several streams fit into the CPU's cache */

/* Refills the first cursor of the heap. False: it can only go on in the next batch. */
static bool refill(struct native_source *s)
{
	g_assert(s->n_heap > 0);
	struct native_cursor *k = s->cursor[s->heap[0].cursor];
	enum native_step step = native_cursor_refill(k);
	s->stalled = step == NATIVE_STALL;
	if (step == NATIVE_END)
		s->heap[0] = s->heap[--s->n_heap];
	else if (step == NATIVE_RECORD)
		s->heap[0].ts = k->ahead[0].ts;
	if (!s->stalled && s->n_heap)
		merge_sift_down(s->heap, s->n_heap, 0);
	return !s->stalled;
}

bool native_take_runs(struct native_source *s)
{
	struct merge_head *const h = s->heap;
	const size_t n = s->n_heap;
	struct blk_event *to = &s->batch[s->n_batch], *const full = &s->batch[BLK_BATCH];
	bool none = false;
	while (to < full) {
		struct native_cursor *k = s->cursor[h->cursor];
		none = !k || k->ahead_at == k->ahead_n;
		if (none)
			break;
		size_t second = merge_second(h, n);
		int64_t limit = INT64_MAX;
		if (second)			/* at equal timestamps the lower rank comes first */
			limit = h[second].ts + (h->rank < h[second].rank && h[second].ts < INT64_MAX);
		const struct blk_event *from = &k->ahead[k->ahead_at];
		const struct blk_event *end = from + MIN((size_t)(k->ahead_n - k->ahead_at),
							 (size_t)(full - to));
		k->emit_batch = s->batch_number;
		do
			*to++ = *from++;
		while (from < end && from->ts < limit);
		k->ahead_at = (unsigned)(from - k->ahead);
		if (k->ahead_at == k->ahead_n)
			continue;
		struct merge_head moved = { from->ts, h->rank, h->cursor };
		if (from == end) {
			merge_sink(h, n, 0, moved);
		} else {
			h[0] = h[second];
			merge_sink(h, n, second, moved);
		}
	}
	s->n_batch = (size_t)(to - s->batch);
	return none;
}

/* Fills the heap with the first records of all streams. No batch is in use yet, so no cursor stalls. */
static void prime(struct native_source *s)
{
	if (s->primed)
		return;
	s->primed = true;
	g_assert(!s->heap && !s->n_batch);
	s->heap = g_new0(struct merge_head, s->n_cursors + 1);
	for (size_t i = 0; i < s->n_cursors; i++) {
		struct native_cursor *k = s->cursor[i];
		if (native_cursor_refill(k) == NATIVE_RECORD)
			s->heap[s->n_heap++] = (struct merge_head){
				k->ahead[0].ts, (uint32_t)i, (uint32_t)i };
	}
	merge_build(s->heap, s->n_heap);
}

static enum source_status range_next(struct source *source, struct blk_batch *ret, GError **error)
{
	struct native_source *s = (struct native_source *)source;
	if (native_is_stopped(s))
		return SOURCE_CANCELLED;
	s->batch_number++;
	s->n_batch = 0;
	prime(s);
	if (s->stalled)
		refill(s);
	while (s->n_heap && s->n_batch < BLK_BATCH)
		if (native_take_runs(s) && !refill(s))
			break;
	if (native_is_stopped(s))
		return SOURCE_CANCELLED;
	if (!s->n_batch)
		return SOURCE_END;
	*ret = (struct blk_batch){ s->batch, s->n_batch };
	return SOURCE_OK;
}

static void range_cancel(struct source *s)
{
	g_atomic_int_set(&((struct native_source *)s)->cancelled, 1);
}

static double range_progress(struct source *source)
{
	const struct native_source *s = (struct native_source *)source;
	return s->bytes ? MIN(1, (double)s->consumed / (double)s->bytes) : 1;
}

void native_source_clear(struct native_source *s)
{
	for (size_t i = 0; i < s->n_cursors; i++) {
		if (s->cursor[i])
			native_cursor_clear(s->cursor[i]);
		g_free(s->cursor[i]);
	}
	g_free(s->cursor);
	g_free(s->heap);
	g_free(s->cls);
	g_hash_table_unref(s->layouts);
	g_array_unref(s->open);
	native_plan_unref(s->plan);
	source_clear(&s->source);
	native_free(s->owned);
}

static void range_free(struct source *source)
{
	native_source_clear((struct native_source *)source);
	g_free(source);
}

static const struct source_ops range_ops = {
	.next = range_next, .cancel = range_cancel, .progress = range_progress, .free = range_free,
};

static void add_extent(void *data, const char *host, const char *boot, const char *release, int64_t begin,
		       int64_t end)
{
	source_host_lasts(data, source_add_host(data, host, boot, release), begin, end);
}

/* What is known of a host does not depend on the range. */
static void add_host(struct source *s, const struct native_stream *st)
{
	unsigned host = source_add_host(s, st->host, st->boot, st->release);
	source_host_machine(s, host, &st->machine);
	if (st->info.domain == BLK_DOMAIN_KERNEL)
		source_has_kernel(s, host);
}

struct source *native_range(struct native *n, int64_t from, int64_t to, size_t budget)
{
	struct native_source *s = g_new0(struct native_source, 1);
	source_init(&s->source, &range_ops);
	s->native = n;
	s->plan = native_plan_take(n);
	s->from = from;
	s->to = to;
	s->bytes = native_plan_bytes(s->plan, from, to);
	s->n_cursors = s->plan->n_streams;
	s->window = (budget ? budget : DEFAULT_BUDGET) / (2 * (s->n_cursors + 1));
	s->window = CLAMP(s->window, MIN_WINDOW, MAX_WINDOW);
	s->few_files = s->n_cursors > open_files_limit() / FILES_SHARE;
	s->cls = g_new(uint32_t, n->classes->len + 1);
	memset(s->cls, 0xff, (n->classes->len + 1) * sizeof *s->cls);
	s->layouts = layouts_new();
	s->open = g_array_new(FALSE, FALSE, sizeof(struct native_loss));
	s->cursor = g_new0(struct native_cursor *, s->n_cursors + 1);
	for (size_t i = 0; i < s->n_cursors; i++) {
		const struct native_stream *st = g_ptr_array_index(n->streams, i);
		if (s->plan->stream[i].n)
			add_host(&s->source, st);
		s->cursor[i] = g_new(struct native_cursor, 1);
		native_cursor_init(s->cursor[i], s, g_ptr_array_index(n->streams, i),
				   &s->plan->stream[i]);
	}
	native_plan_extents(n, s->plan, add_extent, &s->source);
	return &s->source;
}

const struct native_loss *native_range_losses(struct source *source, size_t *ret_n)
{
	struct native_source *s = (struct native_source *)source;
	g_assert(s->batch_number == 0);	/* before the first batch */
	prime(s);
	*ret_n = s->open->len;
	return (const struct native_loss *)s->open->data;
}
