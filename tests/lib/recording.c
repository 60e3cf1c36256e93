/* SPDX-License-Identifier: GPL-2.0-only */
/* Records kept in memory: what a source delivers once can be played again. */
#include "lib/sources.h"

struct recording {
	struct source *from;	/* kept for its tables and layouts */
	GArray *events;		/* struct blk_event */
	GPtrArray *blocks;	/* copied rows and texts, a block a batch */
};

/* Bytes of the row that the layout reaches, texts elsewhere not counted. */
static size_t row_bytes(const struct blk_event *e)
{
	size_t end = 0;
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++) {
		const struct blk_slot_layout *l = &e->layout->slot[i];
		size_t size = l->size;
		if (l->repr == BLK_NONE)
			continue;
		if (l->repr == BLK_TEXT_REF || l->repr == BLK_BYTES_REF)
			size = sizeof(struct blk_text);
		else if (l->repr == BLK_TEXT_INLINE)
			size = MIN((size_t)blk_text(e, i).len + 1, l->size);
		end = MAX(end, l->off + size);
	}
	return end;
}

static size_t pseudo_bytes(const struct blk_event *e)
{
	if (e->row == BLK_ROW_LOST_BEGIN || e->row == BLK_ROW_LOST_END)
		return sizeof(struct blk_loss);
	return e->row == BLK_ROW_TALLY ? sizeof(struct blk_tally) : 0;
}

static size_t round_up(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

static bool is_ref(const struct blk_event *e, unsigned slot)
{
	uint8_t repr = e->layout->slot[slot].repr;
	return repr == BLK_TEXT_REF || repr == BLK_BYTES_REF;
}

static size_t copy_bytes(const struct blk_event *e)
{
	if (!e->layout)
		return round_up(pseudo_bytes(e));
	size_t n = round_up(row_bytes(e));
	for (unsigned i = 0; i < BLK_MAX_SLOTS; i++)
		if (is_ref(e, i))
			n += round_up(blk_text(e, i).len);
	return n;
}

/* Copies what e points at to `to`; returns what comes behind it. */
static uint8_t *copy_data(struct blk_event *e, uint8_t *to)
{
	size_t n = e->layout ? row_bytes(e) : pseudo_bytes(e);
	uint8_t *row = to;
	if (n)
		memcpy(row, e->data, n);
	to += round_up(n);
	for (unsigned i = 0; e->layout && i < BLK_MAX_SLOTS; i++) {
		if (!is_ref(e, i))
			continue;
		struct blk_text t = blk_text(e, i);
		if (t.len)
			memcpy(to, t.str, t.len);
		t.str = (char *)to;
		memcpy(row + e->layout->slot[i].off, &t, sizeof t);
		to += round_up(t.len);
	}
	e->data = n || e->layout ? row : NULL;
	return to;
}

static void keep_batch(struct recording *r, const struct blk_batch *batch)
{
	size_t bytes = 0;
	for (size_t i = 0; i < batch->n; i++)
		bytes += copy_bytes(&batch->ev[i]);
	uint8_t *at = g_malloc(bytes + 8);
	g_ptr_array_add(r->blocks, at);
	for (size_t i = 0; i < batch->n; i++) {
		struct blk_event e = batch->ev[i];
		at = copy_data(&e, at);
		g_array_append_val(r->events, e);
	}
}

struct recording *recording_new(struct source *from, GError **error)
{
	struct recording *r = g_new0(struct recording, 1);
	struct blk_batch batch;
	enum source_status status;
	r->from = from;
	r->events = g_array_new(FALSE, FALSE, sizeof(struct blk_event));
	r->blocks = g_ptr_array_new_with_free_func(g_free);
	do {
		status = source_next(from, &batch, error);
		if (status == SOURCE_OK)
			keep_batch(r, &batch);
	} while (status == SOURCE_OK || status == SOURCE_AGAIN);
	if (status == SOURCE_END)
		return r;
	if (status == SOURCE_CANCELLED)
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL,
			    "cannot record the source: it was cancelled");
	recording_free(r);
	return NULL;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	source_free(r->from);
	g_array_unref(r->events);
	g_ptr_array_unref(r->blocks);
	g_free(r);
}

size_t recording_n(const struct recording *r)
{
	return r->events->len;
}

const struct blk_event *recording_event(const struct recording *r, size_t i)
{
	return &g_array_index(r->events, struct blk_event, i);
}

const struct blk_tables *recording_tables(const struct recording *r)
{
	return &r->from->tables;
}
