/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The walk over packet headers of a file without (believable) index. Tracers give all
 * packets of a buffer one size, but for those that a timer flushed: so from the first
 * packet's size on, the newest are found from the file's end backwards, each proven by
 * its own header. Where that stops, the walk goes on forwards from the begin until both
 * meet. Damage is kept as a packet with its .fault.
 */
#include "trace/ctf/ctf_index_private.h"

#define FEWEST_BACKWARD 4		/* packets, for which it is worth it */
#define SMALLEST_SIZE_LOG2 12		/* sub-buffers are powers of two from a page on */
#define LARGEST_SIZE_LOG2 40

static uint64_t bytes_of(const struct ctf_packet *p)
{
	return p->packet_bits / 8;
}

static bool is_header(const struct ctf_index *x, uint64_t offset, uint64_t limit)
{
	struct ctf_packet p;

	return offset < limit && ctf_index_header(x, offset, limit, &p, NULL);
}

/* Where the packet may end that begins at `offset` and does not say: at the next header
 * that follows in a packet's usual distance, or at the limit. */
static uint64_t find_end(const struct ctf_index *x, uint64_t offset, uint64_t limit)
{
	uint64_t left = limit - offset;

	if (x->common)
		return x->common < left && is_header(x, offset + x->common, limit) ?
		       offset + x->common : limit;
	for (int log2 = SMALLEST_SIZE_LOG2; log2 <= LARGEST_SIZE_LOG2; log2++) {
		uint64_t size = (uint64_t)1 << log2;
		if (size >= left)
			break;
		if (is_header(x, offset + size, limit))
			return offset + size;
	}
	return limit;
}

static void end_at(struct ctf_packet *p, uint64_t end)
{
	p->packet_bits = (end - p->offset) * 8;
	p->content_bits = MIN(p->content_bits, p->packet_bits);
}

/* Bytes that nobody can read; begin and end are not known. */
static struct ctf_packet garbage(uint64_t offset, uint64_t end)
{
	uint64_t bits = MIN(end - offset, G_MAXUINT64 / 8) * 8;

	return (struct ctf_packet){ .offset = offset, .packet_bits = bits, .cpu = UINT32_MAX,
				    .fault = CTF_GARBAGE, .checked = true };
}

/* ---- forwards ---- */

static void join(struct ctf_index *x)
{
	for (size_t i = 0; i < x->newest.n; i++)
		packets_push_back(&x->oldest, packets_at(&x->newest, i));
	packets_clear(&x->newest);
	x->oldest_end = x->newest_begin = x->size;
	x->walk = CTF_WALK_DONE;
}

/* The packets behind newest_begin were proven: none before reaches into them. */
static void step_forward(struct ctf_index *x)
{
	uint64_t at = x->oldest_end, limit = x->newest_begin, end;
	struct ctf_packet p;

	if (!ctf_index_header(x, at, limit, &p, NULL)) {
		p = garbage(at, limit);
		end = limit;
	} else {
		end = p.fault == CTF_WHOLE ? at + bytes_of(&p) : limit;
		if (p.fault == CTF_UNFINISHED && bytes_of(&p) < limit - at)
			end = at + bytes_of(&p);
		else if (p.fault == CTF_UNFINISHED)
			end = find_end(x, at, limit);
		if (p.fault != CTF_WHOLE && limit - at <= G_MAXUINT64 / 8)
			end_at(&p, end);
		if (p.fault == CTF_WHOLE && !x->common)
			x->common = bytes_of(&p);
	}
	packets_push_back(&x->oldest, &p);
	x->oldest_end = end;
	if (end == limit)
		join(x);
}

/* ---- backwards ---- */

static void take_newest(struct ctf_index *x, const struct ctf_packet *p)
{
	packets_push_front(&x->newest, p);
	x->newest_begin = p->offset;
}

/* Is there a packet of the usual size before the newest known? Then it is known too. */
static bool step_backward(struct ctf_index *x)
{
	const struct ctf_packet *next = packets_at(&x->newest, 0);
	const struct ctf_packet *first = packets_at(&x->oldest, 0);
	uint64_t at = x->newest_begin - x->common;
	struct ctf_packet p;

	if (!ctf_index_header(x, at, x->newest_begin, &p, NULL) ||
	    p.stream_id != first->stream_id || bytes_of(&p) != x->common ||
	    p.fault == CTF_CUT_OFF)
		return false;
	if (next->fault != CTF_GARBAGE && p.has_begin && p.begin > next->begin)
		return false;
	take_newest(x, &p);
	return true;
}

/* The last packet, or what is left of it, and one before: are sizes uniform? */
static bool begin_backward(struct ctf_index *x)
{
	uint64_t tail = x->size % x->common;
	uint64_t at = x->size - (tail ? tail : x->common);
	struct ctf_packet p;

	if (x->oldest.n != 1 || x->size / x->common < FEWEST_BACKWARD)
		return false;
	const struct ctf_packet *first = packets_at(&x->oldest, 0);
	if (bytes_of(first) != x->common)
		return false;
	if (!ctf_index_header(x, at, x->size, &p, NULL)) {
		if (!tail)
			return false;
		p = garbage(at, x->size);
	} else if (bytes_of(&p) != x->size - at || p.stream_id != first->stream_id) {
		return false;
	}
	take_newest(x, &p);
	if (step_backward(x))
		return true;
	packets_clear(&x->newest);
	x->newest_begin = x->size;
	return false;
}

bool ctf_index_walk(struct ctf_index *x, size_t max)
{
	for (size_t i = 0; i < max && x->walk != CTF_WALK_DONE; i++) {
		if (x->walk == CTF_WALK_UNDECIDED)
			x->walk = x->common && begin_backward(x) ? CTF_WALK_BACKWARD
								 : CTF_WALK_FORWARD;
		else if (x->walk == CTF_WALK_BACKWARD && !step_backward(x))
			x->walk = CTF_WALK_FORWARD;
		if (x->walk == CTF_WALK_FORWARD)
			step_forward(x);
		else if (x->newest_begin == x->oldest_end)
			join(x);
	}
	return x->walk != CTF_WALK_DONE;
}
