/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes packets. The layout is declared in ring_packets.c. */
#include "trace/ring/ring_packet.h"

#define CTF_MAGIC 0xc1fc1fc1u
#define ROOM_FIRST 8192

static uint8_t *put(uint8_t *to, uint64_t value, unsigned size)
{
	value = GUINT64_TO_LE(value);
	memcpy(to, &value, size);
	return to + size;
}

void ring_packet_open(struct ring_stream *s, uint64_t begin)
{
	g_assert(!s->is_open);
	if (!s->room)
		s->bytes = g_malloc(s->room = ROOM_FIRST);
	s->is_open = true;
	s->len = RING_PACKET_HEADER;
	s->begin = s->last = begin;
}

GBytes *ring_packet_close(struct ring_stream *s, uint64_t end)
{
	uint8_t *at = put(s->bytes, CTF_MAGIC, 4);
	memcpy(at, s->uuid, sizeof(s->uuid));
	at = put(at + sizeof(s->uuid), s->stream_class, 4);
	at = put(at, s->instance, 8);
	at = put(at, s->begin, 8);
	at = put(at, end, 8);
	at = put(at, s->len * 8, 8);		/* content and packet: the same number of bits */
	at = put(at, s->len * 8, 8);
	at = put(at, s->sequence++, 8);
	at = put(at, s->discarded, 8);
	at = put(at, s->instance, 4);
	g_assert(at - s->bytes == RING_PACKET_HEADER);
	s->is_open = false;
	return g_bytes_new(s->bytes, s->len);
}

uint8_t *ring_packet_event_any(struct ring_stream *s, unsigned id, uint64_t time, size_t bound)
{
	if (s->room - s->len < bound + RING_EVENT_HEADER) {
		s->room = 2 * s->room + bound + RING_EVENT_HEADER;
		s->bytes = g_realloc(s->bytes, s->room);
	}
	uint8_t *at = s->bytes + s->len;
	if (id < RING_EVENT_EXTENDED && time - s->last <= UINT32_MAX)
		at = put(put(at, id, 2), time, 4);
	else
		at = put(put(put(at, RING_EVENT_EXTENDED, 2), id, 4), time, 8);
	s->last = time;
	return at;
}

void ring_stream_clear(struct ring_stream *s)
{
	g_clear_pointer(&s->bytes, g_free);
	s->room = 0;
	s->is_open = false;
}
