/* SPDX-License-Identifier: GPL-2.0-only */
#include "lib/inspect.h"

#include "state/kernel/slice_state.h"
#include "state/publish/model_private.h"
#include "state/slice/pack.h"
#include "state/store/timeline_private.h"
#include "trace/ctf/ctf_parse.h"
#include "trace/native/native_feed_private.h"
#include "trace/native/native_private.h"

uint64_t timeline_n_events(const struct timeline *tl)
{
	return tl->n_events;
}

size_t model_n_threads(const struct model *m)
{
	const struct slice *s = publisher_slice(m->publisher);

	return s->threads->len - s->slots.free->len;
}

uint64_t native_bytes(const struct native *n)
{
	return n->bytes;
}

struct slice *slice_root(struct slice *s)
{
	g_assert_true(slice_unpack(s, NULL));
	return s->from_start ? s : slice_stitch(slice_new(true, s->step), s);
}

const struct ctf_event_class *ctf_stream_event(const struct ctf_stream_class *sc, uint64_t id)
{
	const struct ctf_stream *s = (const struct ctf_stream *)(const void *)sc;

	return g_hash_table_lookup(s->by_id, &id);
}

char *native_feed_trouble(struct native_feed *f, unsigned trace)
{
	g_mutex_lock(&f->lock);
	const struct feed_trace *t = feed_trace(f, trace);
	char *text = t ? g_strdup(t->trouble) : NULL;
	g_mutex_unlock(&f->lock);
	return text;
}

void native_feed_set_clock(struct native_feed *f, int64_t (*now)(void *data), void *data)
{
	f->now = now;
	f->now_data = data;
}
