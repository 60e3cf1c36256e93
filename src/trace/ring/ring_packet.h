/* SPDX-License-Identifier: GPL-2.0-only */
/* One packet of LTTng's layout under construction: header, context, events with LTTng's large event header. */
#ifndef BLK_TRACE_RING_RING_PACKET_H
#define BLK_TRACE_RING_RING_PACKET_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The stream that the packets belong to; what of it stays from packet to packet. */
struct ring_stream {
	uint8_t uuid[16];
	uint32_t stream_class, instance;
	uint64_t sequence;		/* number of the next packet */
	uint64_t discarded;		/* events, since the beginning */
	bool is_open;			/* a packet is */
	uint8_t *bytes;			/* of the packet; stays for the next one */
	size_t len, room;
	uint64_t begin, last;		/* cycles: of the packet, and of its last event */
};

#define RING_PACKET_HEADER 84		/* bytes before the first event */
#define RING_EVENT_HEADER 14	/* bytes before its context, at most */

/* Begins a packet at this time. None is open. */
void ring_packet_open(struct ring_stream *s, uint64_t begin);
/* Ends it at this time, which is at least that of its last event. The bytes are the caller's. */
GBytes *ring_packet_close(struct ring_stream *s, uint64_t end);
uint8_t *ring_packet_event_any(struct ring_stream *s, unsigned id, uint64_t time, size_t bound);

/* Event ids below are in 16 bits, with 32 bits of the time; this one announces 32 and 64 bits. */
#define RING_EVENT_EXTENDED 65535

/* Where an event with at most `bound` bytes of context and fields goes, behind the header that this writes. */
static inline uint8_t *ring_packet_event(struct ring_stream *s, unsigned id, uint64_t time, size_t bound)
{
	/* 32 bits tell the time if less than 2^32 cycles passed since the event before. */
	if (G_UNLIKELY(id >= RING_EVENT_EXTENDED || time - s->last > UINT32_MAX ||
		       s->room - s->len < bound + RING_EVENT_HEADER))
		return ring_packet_event_any(s, id, time, bound);
	uint8_t *at = s->bytes + s->len;
	uint64_t header = GUINT64_TO_LE(id | time << 16);
	memcpy(at, &header, 8);		/* 6 bytes; there is room for more */
	s->last = time;
	return at + 6;
}

/* The event has n bytes of context and fields. */
static inline void ring_packet_event_done(struct ring_stream *s, const uint8_t *at, size_t n)
{
	s->len = (size_t)(at - s->bytes) + n;
	g_assert(s->len <= s->room);
}

void ring_stream_clear(struct ring_stream *s);

#endif
