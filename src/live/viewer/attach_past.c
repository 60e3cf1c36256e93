/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What was had over connections that broke. A relay hands a session's packets out from the beginning
 * on, by their indexes; those that were had are passed over, and their bytes not asked for.
 */
#include "live/viewer/attach_private.h"

#include "base/limits.h"

/* A relay may list a stream after it has ended: so many are remembered. */
#define ENDED_REMEMBERED LIMIT_RELAY_STREAMS

struct attach_past *attach_past_new(void)
{
	struct attach_past *p = g_new0(struct attach_past, 1);

	p->had = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	return p;
}

void attach_past_free(struct attach_past *p)
{
	if (!p)
		return;
	g_queue_clear(&p->ended);
	g_hash_table_unref(p->had);
	g_free(p);
}

static struct attach_had *find(struct attach *a, const struct stream *s)
{
	struct attach_had *had = g_hash_table_lookup(a->past->had, &s->id);

	if (had)
		return had;
	had = g_new0(struct attach_had, 1);
	had->id = s->id;
	g_hash_table_insert(a->past->had, &had->id, had);
	return had;
}

unsigned attach_count_vanished(const struct attach *a)
{
	GHashTableIter it;
	gpointer value;
	unsigned n = 0;

	g_hash_table_iter_init(&it, a->past->had);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		const struct attach_had *had = value;
		n += !had->over && had->connection != a->past->connection;
	}
	return n;
}

void attach_sum_owed(const struct attach *a, uint64_t *ret_packets, uint64_t *ret_bytes)
{
	GHashTableIter it;
	gpointer value;

	*ret_packets = a->past->forgotten_packets;
	*ret_bytes = a->past->forgotten_bytes;
	g_hash_table_iter_init(&it, a->past->had);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		*ret_packets += ((struct attach_had *)value)->owed_packets;
		*ret_bytes += ((struct attach_had *)value)->owed_bytes;
	}
}

void attach_recall(struct attach *a, struct stream *s)
{
	bool known = g_hash_table_contains(a->past->had, &s->id);
	struct attach_had *had = find(a, s);

	had->connection = a->past->connection;
	s->had = *had;
	s->since = known && !s->had.end ? a->past->since : 0;
}

/* Sought from the newest on, what is older is left to be. */
static void note_since(struct attach *a, uint64_t begin)
{
	if (a->seek == VIEWER_FROM_LAST)
		a->past->since = a->past->any ? MIN(a->past->since, begin) : begin;
	a->past->any = true;
}

void attach_note_announced(struct attach *a, struct stream *s, const struct viewer_index *x)
{
	struct attach_had *had = find(a, s);

	note_since(a, x->begin);
	if (!s->renewed)		/* what an earlier connection owed comes again */
		had->owed_packets = had->owed_bytes = 0;
	s->renewed = true;
	had->owed_packets++;
	had->owed_bytes += x->packet_bits / 8;
	had->said_begin = x->begin;
	had->said_end = x->end;
}

void attach_note_beacon(struct attach *a, uint64_t end)
{
	note_since(a, end);
}

void attach_note_refused(struct attach *a, const struct stream *s)
{
	struct attach_had *had = find(a, s);

	had->owed_packets--;
	had->owed_bytes -= s->index.packet_bits / 8;
}

void attach_note_had(struct attach *a, const struct stream *s, const struct native_feed_index *x)
{
	struct attach_had *had = find(a, s);

	had->owed_packets--;
	had->owed_bytes -= x->packet_bits / 8;
	had->begin = x->begin;
	had->end = x->end;
}

static void forget_first(struct attach_past *p)
{
	struct attach_had *had = g_queue_pop_head(&p->ended);

	p->forgotten_packets += had->owed_packets;
	p->forgotten_bytes += had->owed_bytes;
	g_hash_table_remove(p->had, &had->id);
}

void attach_note_over(struct attach *a, const struct stream *s)
{
	struct attach_had *had = find(a, s);

	if (had->over)
		return;
	had->over = true;
	g_queue_push_tail(&a->past->ended, had);
	if (a->past->ended.length > ENDED_REMEMBERED)
		forget_first(a->past);
}

bool attach_is_withheld(struct attach *a, const struct stream *s)
{
	return s->had.said_end && !s->had.over && !s->reached;
}

bool attach_is_strange(const struct stream *s)
{
	return s->passed && !s->met;
}

/*
 * Numbers of streams begin anew with the relay, and clocks with the machine: if some packets are older
 * than the last one that was had, that one has to be among them, else they are another stream's. It is
 * known by two times, of which one may have been damaged on the way.
 */
enum attach_known attach_compare(struct stream *s, const struct viewer_index *x)
{
	s->reached = s->reached || x->begin >= s->had.said_begin || x->end >= s->had.said_end;
	if (s->since && x->end <= s->since)
		return ATTACH_HAD;
	s->since = 0;
	if (s->had.end && x->begin <= s->had.begin && x->end <= s->had.end) {
		s->passed = true;
		s->met = s->met || (x->begin == s->had.begin && x->end == s->had.end);
		return ATTACH_HAD;
	}
	s->had.end = 0;
	return attach_is_strange(s) ? ATTACH_STRANGE : ATTACH_NEW;
}
