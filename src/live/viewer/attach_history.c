/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What an attachment received over earlier connections. After a reconnect the relay announces a session's
 * packets from the beginning again. Those that were received are skipped; their bytes are not requested.
 */
#include "live/viewer/attach_private.h"

#include "base/each.h"
#include "base/limits.h"

/* A relay may list ended streams again: at most this many are remembered, the newest ones. */
#define MOST_ENDED LIMIT_RELAY_STREAMS

struct attach_history *attach_history_new(void)
{
	struct attach_history *p = g_new0(struct attach_history, 1);

	p->streams = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	return p;
}

void attach_history_free(struct attach_history *p)
{
	if (!p)
		return;
	g_queue_clear(&p->ended);
	g_hash_table_unref(p->streams);
	g_free(p);
}

static struct attach_received *find(struct attach *a, const struct stream *s)
{
	struct attach_received *r = g_hash_table_lookup(a->history->streams, &s->id);

	if (r)
		return r;
	r = g_new0(struct attach_received, 1);
	r->id = s->id;
	g_hash_table_insert(a->history->streams, &r->id, r);
	return r;
}

unsigned attach_count_vanished(const struct attach *a)
{
	unsigned n = 0;

	TABLE_EACH(each, a->history->streams) {
		const struct attach_received *r = each.value;
		n += !r->ended && r->connection != a->history->connection;
	}
	return n;
}

void attach_sum_outstanding(const struct attach *a, uint64_t *ret_packets, uint64_t *ret_bytes)
{
	*ret_packets = a->history->evicted_packets;
	*ret_bytes = a->history->evicted_bytes;
	TABLE_EACH(each, a->history->streams) {
		*ret_packets += ((struct attach_received *)each.value)->outstanding_packets;
		*ret_bytes += ((struct attach_received *)each.value)->outstanding_bytes;
	}
}

void attach_load_history(struct attach *a, struct stream *s)
{
	bool known = g_hash_table_contains(a->history->streams, &s->id);
	struct attach_received *r = find(a, s);

	r->connection = a->history->connection;
	s->earlier = *r;
	s->since = known && !s->earlier.end ? a->history->since : 0;
}

/* If reading began at the newest packets, older ones are not wanted: .since is the earliest announced instant. */
static void note_since(struct attach *a, uint64_t begin)
{
	if (a->seek == VIEWER_FROM_LAST)
		a->history->since = a->history->any ? MIN(a->history->since, begin) : begin;
	a->history->any = true;
}

void attach_note_announced(struct attach *a, struct stream *s, const struct viewer_index *x)
{
	struct attach_received *r = find(a, s);

	note_since(a, x->begin);
	if (!s->has_new)		/* outstanding packets of earlier connections are announced again */
		r->outstanding_packets = r->outstanding_bytes = 0;
	s->has_new = true;
	r->outstanding_packets++;
	r->outstanding_bytes += x->packet_bits / 8;
	r->announced_begin = x->begin;
	r->announced_end = x->end;
}

void attach_note_beacon(struct attach *a, uint64_t end)
{
	note_since(a, end);
}

void attach_note_refused(struct attach *a, const struct stream *s)
{
	struct attach_received *r = find(a, s);

	r->outstanding_packets--;
	r->outstanding_bytes -= s->index.packet_bits / 8;
}

void attach_note_received(struct attach *a, const struct stream *s, const struct native_feed_index *x)
{
	struct attach_received *r = find(a, s);

	r->outstanding_packets--;
	r->outstanding_bytes -= x->packet_bits / 8;
	r->begin = x->begin;
	r->end = x->end;
}

static void evict_oldest(struct attach_history *p)
{
	struct attach_received *r = g_queue_pop_head(&p->ended);

	p->evicted_packets += r->outstanding_packets;
	p->evicted_bytes += r->outstanding_bytes;
	g_hash_table_remove(p->streams, &r->id);
}

void attach_note_ended(struct attach *a, const struct stream *s)
{
	struct attach_received *r = find(a, s);

	if (r->ended)
		return;
	r->ended = true;
	g_queue_push_tail(&a->history->ended, r);
	if (a->history->ended.length > MOST_ENDED)
		evict_oldest(a->history);
}

bool attach_is_withheld(struct attach *a, const struct stream *s)
{
	return s->earlier.announced_end && !s->earlier.ended && !s->caught_up;
}

bool attach_is_other_stream(const struct stream *s)
{
	return s->skipped && !s->met_last;
}

/*
 * A restarted relay numbers streams from the beginning again, and a rebooted machine restarts its clock. So an id
 * may belong to another stream. It does if older packets are announced, but not the last one received. A packet
 * is older if both its times are, as one of them may have been damaged in transit.
 */
enum attach_known attach_compare(struct stream *s, const struct viewer_index *x)
{
	s->caught_up = s->caught_up || x->begin >= s->earlier.announced_begin || x->end >= s->earlier.announced_end;
	if (s->since && x->end <= s->since)
		return ATTACH_RECEIVED;
	s->since = 0;
	if (s->earlier.end && x->begin <= s->earlier.begin && x->end <= s->earlier.end) {
		s->skipped = true;
		s->met_last = s->met_last || (x->begin == s->earlier.begin && x->end == s->earlier.end);
		return ATTACH_RECEIVED;
	}
	s->earlier.end = 0;
	return attach_is_other_stream(s) ? ATTACH_OTHER_STREAM : ATTACH_NEW;
}
