/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of the native reader that are not events: streams, tallies, losses. They are the same as those of
 * bt2_convert.c. A record outside the range belongs to a neighbouring range. A loss that begins before the range and
 * ends in it is in native_source.open.
 */
#include "trace/native/native_cursor.h"


struct arena *native_arena(struct native_cursor *k)
{
	if (k->turn_batch != k->source->batch_number) {
		k->turn ^= 1;
		k->turn_batch = k->source->batch_number;
		arena_reset(&k->arena[k->turn]);
	}
	return &k->arena[k->turn];
}

void native_queue_event(struct native_cursor *k, const struct blk_event *e)
{
	if (k->queue_n == k->queue_cap) {
		k->queue_cap = MAX(16, k->queue_cap * 2);
		k->queue = g_renew(struct blk_event, k->queue, k->queue_cap);
	}
	k->queue[k->queue_n++] = *e;
}

static void queue_record(struct native_cursor *k, int64_t ts, uint16_t row, const void *data)
{
	if (ts < k->source->from || ts >= k->source->to)
		return;
	native_queue_event(k, &(struct blk_event){
		.ts = ts, .row = row, .stream = k->index, .data = data,
	});
}

void native_ensure_added(struct native_cursor *k, int64_t ts)
{
	struct native_source *s = k->source;
	if (G_LIKELY(k->index != G_MAXUINT16) || ts >= s->to)
		return;
	const struct native_stream *st = k->stream;
	struct blk_stream info = st->info;
	info.host = source_add_host(&s->source, st->host, st->boot, st->release);
	native_plan_recorded(st, k->plan, &info.recorded_from, &info.recorded_to);
	source_host_machine(&s->source, info.host, &st->machine);
	k->index = source_add_stream(&s->source, &info);
	queue_record(k, MAX(ts, s->from), BLK_ROW_STREAM_ADD, NULL);
}

static void flush_tallies(struct native_cursor *k)
{
	const struct native_source *s = k->source;
	for (guint i = 0; i < k->counted->len; i++) {
		uint32_t cls = g_array_index(k->counted, uint32_t, i);
		g_assert(k->counts[cls] > 0 && s->cls[cls] != UINT32_MAX && k->index != G_MAXUINT16);
		struct blk_tally *t = arena_alloc(native_arena(k), sizeof *t);
		*t = (struct blk_tally){
			.second = k->second, .count = k->counts[cls], .last_ns = k->tally_last,
		};
		k->counts[cls] = 0;
		native_queue_event(k, &(struct blk_event){
			.ts = MIN(k->last_ts, s->to - 1), .row = BLK_ROW_TALLY, .stream = k->index,
			.cls = s->cls[cls], .data = (uint8_t *)t,
		});
	}
	g_array_set_size(k->counted, 0);
}

void native_next_second(struct native_cursor *k, int64_t ts)
{
	flush_tallies(k);
	k->second = ts / NS_PER_S - (ts % NS_PER_S < 0);
	k->second_end = k->second < G_MAXINT64 / NS_PER_S ? (k->second + 1) * NS_PER_S : G_MAXINT64;
}

void native_end_second(struct native_cursor *k)
{
	flush_tallies(k);
	k->second_end = G_MININT64;
}

void native_tally_first(struct native_cursor *k)
{
	flush_tallies(k);
	k->tally_reported = true;
}

void native_queue_loss(struct native_cursor *k, const struct blk_loss *loss)
{
	struct native_source *s = k->source;
	g_assert(loss->begin_ns <= loss->end_ns);
	if (loss->begin_ns >= s->to || loss->end_ns < s->from)
		return;
	native_ensure_added(k, MAX(loss->begin_ns, s->from));
	if (loss->begin_ns < s->from) {
		struct native_loss open = { k->index, *loss };
		g_array_append_val(s->open, open);
	}
	struct blk_loss *l = arena_alloc(native_arena(k), sizeof *l);
	*l = *loss;
	queue_record(k, l->begin_ns, BLK_ROW_LOST_BEGIN, l);
	queue_record(k, l->end_ns, BLK_ROW_LOST_END, l);
}

void native_queue_end(struct native_cursor *k, bool stream_ends)
{
	if (k->index == G_MAXUINT16)
		return;
	flush_tallies(k);
	if (stream_ends && !k->stream->files->len)
		source_stream_recorded(&k->source->source, k->index, MAX(k->last_ts, k->end_ns));
	if (stream_ends)
		queue_record(k, MAX(k->last_ts, k->source->from), BLK_ROW_STREAM_END, NULL);
}
