/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks the events of a page of the kernel's ring buffer. */
#include "trace/ring/ring_page.h"

#include "base/fail.h"
#include "base/limits.h"
#include "trace/ring/ring_format.h"

/* Bits of a page's commit word: include/linux/ring_buffer.h, kernel/trace/ring_buffer.c (RB_MISSED_EVENTS,
 * RB_MISSED_STORED). */
#define COMMIT_SIZE_MASK ((1u << 27) - 1)
#define COMMIT_AFTER_LOSS (1u << 31)
#define COMMIT_HAS_NUMBER (1u << 30)

/* type_len of an event's first word: 1 to RING_DATA_WORDS is the length in words. */
enum { TYPE_LENGTH_FOLLOWS = 0, TYPE_PADDING = 29, TYPE_TIME_EXTEND = 30, TYPE_TIME_STAMP = 31 };
#define DELTA_BITS 27
#define STAMP_BITS 59			/* of an absolute time; the upper bits are those of the time before */

bool ring_layout_parse(struct ring_layout *l, struct ring_machine machine, const char *text, size_t len, GError **error)
{
	g_autoptr(ring_fields) fields = ring_fields_parse(text, len, machine.long_size, error);
	if (!fields)
		return false;
	const struct ring_field *commit = ring_fields_find(fields, "commit"), *data = ring_fields_find(fields, "data");
	if (!commit || !data || (commit->size != 4 && commit->size != 8) || commit->offset < sizeof(uint64_t) ||
	    data->offset < commit->offset + commit->size || data->offset > 64 || data->size > LIMIT_RING_PAGE_BYTES)
		return fail(error, RING_ERROR, 0,
			    "the ring buffer's header_page has no usable fields 'commit' and 'data'");
	*l = (struct ring_layout){ .machine = machine, .commit_offset = commit->offset, .commit_size = commit->size,
				   .data_offset = data->offset, .page_size = data->offset + data->size };
	return true;
}

bool ring_page_open(struct ring_page *page, const struct ring_layout *l, const uint8_t *bytes, size_t n)
{
	if (n < l->data_offset)
		return false;
	uint64_t commit = ring_number(l->machine, bytes + l->commit_offset, l->commit_size);
	size_t size = commit & COMMIT_SIZE_MASK, room = n - l->data_offset;
	if (size > room)
		return false;
	*page = (struct ring_page){
		.machine = l->machine, .at = bytes + l->data_offset, .end = bytes + l->data_offset + size,
		.limit = bytes + n,
		.time = ring_number(l->machine, bytes, sizeof(uint64_t)),
		.is_after_loss = commit & COMMIT_AFTER_LOSS,
	};
	if (page->is_after_loss && commit & COMMIT_HAS_NUMBER && room - size >= l->machine.long_size) {
		page->n_lost = ring_number(l->machine, page->end, l->machine.long_size);
		page->n_lost_known = true;
	}
	return page->time <= RING_LAST_TIME;
}

static enum ring_next damaged(struct ring_page *page)
{
	page->at = page->end;
	return RING_DAMAGED;
}

enum ring_next ring_page_next_any(struct ring_page *page, struct ring_event *event)
{
	while (page->end - page->at >= 4) {
		const uint8_t *at = page->at;
		size_t rest = (size_t)(page->end - at) - 4;
		uint32_t word = (uint32_t)ring_number(page->machine, at, 4);
		unsigned type = page->machine.big_endian ? word >> DELTA_BITS : word & 31;
		uint64_t delta = page->machine.big_endian ? word & ((1u << DELTA_BITS) - 1) : word >> 5;
		uint64_t second = rest >= 4 ? ring_number(page->machine, at + 4, 4) : 0;

		if (type == TYPE_PADDING && !delta)
			break;		/* the rest of the page is empty */
		bool has_second = type == TYPE_LENGTH_FOLLOWS || type > RING_DATA_WORDS;
		if (has_second && rest < 4)
			return damaged(page);
		if (type == TYPE_TIME_STAMP) {
			uint64_t mask = ((uint64_t)1 << STAMP_BITS) - 1;
			uint64_t time = (page->time & ~mask) | ((delta + (second << DELTA_BITS)) & mask);
			if (time < page->time)
				return damaged(page);
			page->time = time;
			page->at += 8;
			continue;
		}
		if (type == TYPE_TIME_EXTEND) {
			page->time += delta + (second << DELTA_BITS);
			page->at += 8;
			continue;
		}
		page->time += delta;
		/* A length that follows counts its own word; of padding it counts what is behind the first word. */
		size_t length = type == TYPE_LENGTH_FOLLOWS || type == TYPE_PADDING ? second : 4 * type;
		if (length > rest || (has_second && length < 4))
			return damaged(page);
		page->at += 4 + ((length + 3) & ~(size_t)3);
		if (page->at > page->end)
			page->at = page->end;
		if (type == TYPE_PADDING)
			continue;
		size_t skip = type == TYPE_LENGTH_FOLLOWS ? 8 : 4, used = type == TYPE_LENGTH_FOLLOWS ? 4 : 0;
		if (length - used < RING_EVENT_MIN || page->time > RING_LAST_TIME)
			return damaged(page);
		*event = (struct ring_event){ .payload = at + skip, .size = (uint32_t)(length - used),
					      .readable = (uint32_t)(page->limit - at - skip), .time = page->time };
		return RING_EVENT;
	}
	return RING_END;
}
