/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes of events: they are found by walking the packet with the trace's metadata, as long as
 * both make sense. Else bytes are changed where events may be.
 */
#include <string.h>

#include "lib/inspect.h"
#include "lib/lttng_packet.h"
#include "lib/mutate.h"
#include "trace/ctf/ctf_index.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_walk.h"

#define MOST_EVENTS 4096

struct event { guint begin, fields, end; };	/* bytes from the packet's begin; whole ones only */

struct packet {
	GByteArray *bytes;
	guint at, size;
	GArray *events;			/* struct event */
	GRand *r;
};

static void see_id(void *data, const char *name, const struct ctf_type *t, uint64_t value, unsigned bits)
{
	if (t->roles & CTF_ROLE_EVENT_CLASS)
		*(uint64_t *)data = value;
}

static bool walk_event(const struct ctf_stream_class *sc, const uint8_t *p, uint64_t *pos, uint64_t end,
		       uint64_t *regs, struct event *ret)
{
	static const struct ctf_visitor visitor = { .integer = see_id };
	uint64_t id = 0;
	ret->begin = (guint)(*pos / 8);
	if (sc->event_header && !ctf_walk(sc->event_header, p, pos, end, regs, &visitor, &id))
		return false;
	const struct ctf_event_class *c = ctf_stream_event(sc, id);
	ret->fields = (guint)(*pos / 8);
	if (!c || (sc->event_context && !ctf_walk(sc->event_context, p, pos, end, regs, NULL, NULL)) ||
	    (c->context && !ctf_walk(c->context, p, pos, end, regs, NULL, NULL)) ||
	    (c->fields && !ctf_walk(c->fields, p, pos, end, regs, NULL, NULL)))
		return false;
	ret->end = (guint)(*pos / 8);
	return ret->end > ret->begin;
}

static void find_events(struct packet *p, const GByteArray *metadata)
{
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	const uint8_t *bytes = p->bytes->data + p->at;
	struct ctf_packet header;
	struct event e;
	size_t need;
	if (!metadata || !ctf_meta_append(m, metadata->data, metadata->len, NULL) ||
	    !ctf_packet_read(m, bytes, p->size, 0, p->size, &header, &need, NULL))
		return;
	const struct ctf_stream_class *sc = ctf_meta_stream(m, header.stream_id);
	g_autofree uint64_t *regs = g_new0(uint64_t, MAX(sc->n_regs, m->packet_regs) + 1u);
	uint64_t pos = header.header_bits, end = MIN(header.content_bits, (uint64_t)p->size * 8);
	ctf_packet_registers(m, sc, bytes, end, regs);
	while (pos < end && p->events->len < MOST_EVENTS && walk_event(sc, bytes, &pos, end, regs, &e))
		g_array_append_val(p->events, e);
}

/* ---- changes ---- */

/* n bytes there become others; as a rule the header says so. */
static void replace(struct packet *p, guint at, guint n, const void *bytes, guint n_bytes)
{
	uint8_t *h = p->bytes->data + p->at;
	uint64_t more = ((uint64_t)n_bytes - n) * 8;
	if (more && mutate_pick(p->r, 8)) {
		lttng_put(h, LTTNG_CONTENT, lttng_get(h, LTTNG_CONTENT) + more);
		lttng_put(h, LTTNG_SIZE, lttng_get(h, LTTNG_SIZE) + more);
	}
	mutate_splice(p->bytes, p->at + at, n, bytes, n_bytes);
}

static const struct event *any_event(const struct packet *p)
{
	return &g_array_index(p->events, struct event, mutate_pick(p->r, p->events->len));
}

static void move_event(struct packet *p)
{
	const struct event *e = any_event(p), *f = any_event(p);
	const uint8_t *bytes = p->bytes->data + p->at;
	g_autofree uint8_t *one = g_memdup2(bytes + e->begin, e->end - e->begin);
	switch (mutate_pick(p->r, 4)) {
	case 0:
		replace(p, e->begin, e->end - e->begin, NULL, 0);
		break;
	case 1:
		replace(p, f->begin, f->end - f->begin, one, e->end - e->begin);
		break;
	case 2:				/* all of this one but its header, which has its time */
		replace(p, f->fields, f->end - f->fields, one + (e->fields - e->begin), e->end - e->fields);
		break;
	default:
		replace(p, f->begin, 0, one, e->end - e->begin);
	}
}

/* Numbers of 1 to 8 bytes become others, or that of another event of the same shape. */
static void change_value(struct packet *p, guint begin, guint end)
{
	uint8_t *bytes = p->bytes->data + p->at;
	guint width = 1u << mutate_pick(p->r, 4);
	if (end - begin < width)
		return;
	guint at = begin + mutate_pick(p->r, end - begin - width + 1);
	uint64_t v = 0;
	memcpy(&v, bytes + at, width);
	v = GUINT64_TO_LE(mutate_number(p->r, GUINT64_FROM_LE(v)));
	memcpy(bytes + at, &v, width);
}

static void copy_value(struct packet *p)
{
	const struct event *e = any_event(p), *f = any_event(p);
	uint8_t *bytes = p->bytes->data + p->at;
	guint n = MIN(e->end - e->fields, f->end - f->fields);
	if (!n)
		return;
	guint at = mutate_pick(p->r, n), most = MIN(n - at, 16);
	memmove(bytes + e->fields + at, bytes + f->fields + at, 1 + mutate_pick(p->r, most));
}

static void change_header_of(struct packet *p)
{
	const struct event *e = any_event(p), *f = any_event(p);
	uint8_t *bytes = p->bytes->data + p->at;
	if (mutate_pick(p->r, 2) && e->fields - e->begin == f->fields - f->begin)
		memmove(bytes + e->begin, bytes + f->begin, f->fields - f->begin);
	else
		change_value(p, e->begin, e->fields);
}

void mutate_events(GByteArray *bytes, guint at, guint size, const GByteArray *metadata, GRand *r)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct event));
	struct packet p = { bytes, at, size, events, r };
	if (size <= LTTNG_HEADER)
		return;
	find_events(&p, metadata);
	for (unsigned n = 1 + mutate_pick(r, 6); n > 0; n--) {
		unsigned how = events->len ? mutate_pick(r, 8) : 8;
		struct event e = events->len ? *any_event(&p) : (struct event){ 0, LTTNG_HEADER, size };
		if (how < 2) {
			move_event(&p);
			return;		/* they are elsewhere now */
		}
		if (how == 2)
			change_header_of(&p);
		else if (how < 5)
			copy_value(&p);
		else
			change_value(&p, e.fields, e.end);
	}
}
