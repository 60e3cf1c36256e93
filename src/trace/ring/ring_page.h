/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages ("sub-buffers") of the kernel's ring buffer: what read(2) of per_cpu/cpuN/trace_pipe_raw gives, and what files
 * of trace-cmd hold. Sources: kernel/trace/ring_buffer.c, include/linux/ring_buffer.h (Linux 4.4 to 7.2).
 *
 * A page is hostile input: it may come from a file. No function reads outside of it.
 */
#ifndef BLK_TRACE_RING_RING_PAGE_H
#define BLK_TRACE_RING_RING_PAGE_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* How the machine that wrote the pages stores numbers. */
struct ring_machine {
	bool big_endian;
	uint8_t long_size;		/* of a C long and of pointers: 4 or 8 bytes */
	uint8_t user_text;		/* bytes, the most of a text that it stores with a call (ring_rules.h); 0:
					 * unknown */
};

/* Where a page has what, from the text events/header_page. */
struct ring_layout {
	struct ring_machine machine;
	uint32_t commit_offset, commit_size;	/* 4 or 8 bytes */
	uint32_t data_offset;
	uint32_t page_size;		/* bytes of a whole page, with its header */
};

/* Parses the text of events/header_page. page_size is from there too: the caller may replace it, as pages can be
 * larger (buffer_subbuf_size_kb). False: error. */
bool ring_layout_parse(struct ring_layout *l, struct ring_machine machine, const char *text, size_t len,
		       GError **error);

/* An unsigned number of 1, 2, 4 or 8 bytes as the machine stores it. */
static inline uint64_t ring_number(struct ring_machine m, const uint8_t *at, unsigned size)
{
	uint64_t u64;
	uint32_t u32;
	uint16_t u16;
	switch (size) {
	case 1:
		return *at;
	case 2:
		memcpy(&u16, at, 2);
		return m.big_endian ? GUINT16_FROM_BE(u16) : GUINT16_FROM_LE(u16);
	case 4:
		memcpy(&u32, at, 4);
		return m.big_endian ? GUINT32_FROM_BE(u32) : GUINT32_FROM_LE(u32);
	default:
		memcpy(&u64, at, 8);
		return m.big_endian ? GUINT64_FROM_BE(u64) : GUINT64_FROM_LE(u64);
	}
}

struct ring_page {
	struct ring_machine machine;
	const uint8_t *at, *end;	/* the rest of its events */
	const uint8_t *limit;		/* of the page's bytes; at or behind .end */
	uint64_t time;			/* of the event before `at`; at the beginning the page's own (cycles) */
	bool is_after_loss;		/* the kernel overwrote events between the page before and this one */
	bool n_lost_known;		/* ... and says how many */
	uint64_t n_lost;
};

#define RING_LAST_TIME (UINT64_C(1) << 62)	/* cycles: 146 years of ns; later times are damage */

/* Begins to read a page of n bytes, which must stay. False: it is no page (too short, its length or time is wrong). */
bool ring_page_open(struct ring_page *page, const struct ring_layout *l, const uint8_t *bytes, size_t n);

struct ring_event {
	const uint8_t *payload;		/* u16 common_type, u8 flags, u8 preempt count, s32 common_pid, fields */
	uint32_t size;			/* bytes of the payload, with what pads it to 4 bytes; at least 8 */
	uint32_t readable;		/* bytes from the payload to the page's end: reading more than .size is safe */
	uint64_t time;			/* cycles of the buffer's clock */
};
#define RING_EVENT_MIN 8

enum ring_next { RING_EVENT, RING_END, RING_DAMAGED };
enum ring_next ring_page_next_any(struct ring_page *page, struct ring_event *event);

#define RING_DATA_WORDS 28		/* an event's first word: so many words of payload, 27 bits of time behind it */

/* The page's next event. After RING_DAMAGED, the rest of the page cannot be read. */
static inline enum ring_next ring_page_next(struct ring_page *page, struct ring_event *event)
{
	/* Nearly all events are short ones of a little-endian machine. */
	if (page->end - page->at >= 4 + RING_EVENT_MIN && !page->machine.big_endian) {
		uint32_t word = (uint32_t)ring_number(page->machine, page->at, 4), words = word & 31;
		uint64_t time = page->time + (word >> 5);
		if (words >= RING_EVENT_MIN / 4 && words <= RING_DATA_WORDS &&
		    4 + 4 * (ptrdiff_t)words <= page->end - page->at && time <= RING_LAST_TIME) {
			event->payload = page->at + 4;
			event->size = 4 * words;
			event->readable = (uint32_t)(page->limit - event->payload);
			event->time = page->time = time;
			page->at += 4 + 4 * words;
			return RING_EVENT;
		}
	}
	return ring_page_next_any(page, event);
}

#endif
