/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads packet headers and contexts by their types. The purpose of a field is its role. `cpu_id` has no role in CTF 2
 * and is recognised by name.
 */
#include "trace/ctf/ctf_index.h"

#include "trace/ctf/ctf_bits.h"
#include "trace/ctf/ctf_walk.h"
#include "trace/reader.h"

#include "base/fail.h"
#include "base/limits.h"

#include <inttypes.h>

#define CTF_MAGIC 0xc1fc1fc1
#define MOST_READ (2 * LIMIT_PACKET_HEADER_BYTES)

G_STATIC_ASSERT(LIMIT_PACKET_HEADER_BYTES * 8 <= G_MAXUINT16);	/* ctf_packet.header_bits */

enum known {
	K_MAGIC, K_STREAM, K_INSTANCE, K_BEGIN, K_END, K_CONTENT, K_PACKET, K_SEQ,
	K_DISCARDED, K_CPU, N_KNOWN,
};

static const uint16_t role_of[N_KNOWN] = {
	CTF_ROLE_MAGIC, CTF_ROLE_STREAM_CLASS, CTF_ROLE_STREAM, CTF_ROLE_TIMESTAMP,
	CTF_ROLE_END_TIMESTAMP, CTF_ROLE_CONTENT_SIZE, CTF_ROLE_PACKET_SIZE, CTF_ROLE_SEQUENCE,
	CTF_ROLE_DISCARDED, 0,
};

/* A header being read; positions are bits from the beginning of the packet. */
struct header {
	const struct ctf_meta *meta;
	const uint8_t *bytes;
	uint64_t pos, have;		/* bits */
	uint64_t need;			/* bits that are needed, if there are not enough bytes; else 0 */
	uint64_t *regs;			/* for values of the packet header and context; or NULL */
	uint64_t value[N_KNOWN];
	uint8_t bits[N_KNOWN];		/* width of the value; 0: the packet does not have it */
	uint8_t uuid[16];
	unsigned n_uuid;		/* bytes of the UUID that were read */
	bool in_uuid;
	uint64_t first;			/* time of the first event, cycles */
	unsigned first_bits;		/* width of the first event's time; 0: there is none */
};

static bool wrong(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool wrong(GError **error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (error)
		*error = g_error_new_valist(BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, format,
					    args);
	va_end(args);
	return false;
}

static bool unsupported(GError **error, const char *what, const char *name)
{
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED, "%s: %s", name, what);
}

static void on_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct header *h = data;
	if (h->in_uuid) {
		h->uuid[MIN(h->n_uuid, 15)] = (uint8_t)value;
		h->n_uuid++;
	}
	bool is_cpu = !t->roles && name && !strcmp(name, "cpu_id");
	for (int k = 0; (t->roles || is_cpu) && k < N_KNOWN; k++) {
		if (!(k == K_CPU ? is_cpu : t->roles & role_of[k]))
			continue;
		h->value[k] = value;
		h->bits[k] = (uint8_t)MIN(bits, 64);
	}
}

static void on_begin(void *data, const char *name, const struct ctf_type *t, uint64_t n)
{
	struct header *h = data;
	if (t->roles & CTF_ROLE_UUID) {
		h->in_uuid = true;
		h->n_uuid = 0;
	}
}

static void on_end(void *data, const char *name, const struct ctf_type *t)
{
	struct header *h = data;
	h->in_uuid = false;
}

/* False with *error unset: more bytes are needed. */
static bool read_structure(struct header *h, const struct ctf_type *t, const char *name,
			   GError **error)
{
	static const struct ctf_visitor visitor = {
		.integer = on_integer, .begin = on_begin, .end = on_end,
	};
	uint64_t pos = h->pos;
	if (ctf_walk(t, h->bytes, &pos, h->have, h->regs, &visitor, h)) {
		h->pos = pos;
		return true;
	}
	if (pos <= h->have)
		return wrong(error, "%s: its fields contradict each other", name);
	h->need = pos;
	return false;
}

static bool is_other_uuid(const struct header *h)
{
	return h->meta->has_uuid && h->n_uuid == 16 && memcmp(h->uuid, h->meta->uuid, 16) != 0;
}

static bool check_magic(const struct header *h, GError **error)
{
	if (h->bits[K_MAGIC] && h->value[K_MAGIC] != CTF_MAGIC)
		return wrong(error, "no packet: it begins with 0x%08" PRIx64 ", not with 0x%08x",
			     h->value[K_MAGIC], CTF_MAGIC);
	return true;
}

/* The packet's stream class: by id, or the only one; in CTF 2 that of id 0 if it has no id. */
static const struct ctf_stream_class *stream_class(const struct header *h, GError **error)
{
	const struct ctf_stream_class *sc;

	if (!h->bits[K_STREAM] && h->meta->streams->len == 1)
		return g_ptr_array_index(h->meta->streams, 0);
	if (!h->bits[K_STREAM] && !h->meta->is_ctf2) {
		wrong(error, "there are several stream classes, and the packet does not say of which it is");
		return NULL;
	}
	sc = ctf_meta_stream(h->meta, h->value[K_STREAM]);
	if (!sc)
		wrong(error, "the packet's stream class %" PRIu64 " is not in the metadata",
		      h->value[K_STREAM]);
	return sc;
}

/* Tracers write a size when the packet ends; until then it is 0, or all bits are 1. */
static bool is_written(const struct header *h, enum known k)
{
	return h->value[k] != 0 && h->value[k] != G_MAXUINT64 >> (64 - h->bits[k]);
}

static void on_timestamp(void *data, const char *name, const struct ctf_type *t, uint64_t value,
			 unsigned bits)
{
	struct header *h = data;
	if (!(t->roles & CTF_ROLE_TIMESTAMP))
		return;
	h->first = value;
	h->first_bits = MIN(bits, 64);
}

/* Is there a timestamp of 64 bits in every such header? */
static bool has_full_time(const struct ctf_type *t)
{
	bool has = t->kind == CTF_INTEGER && t->roles & CTF_ROLE_TIMESTAMP && t->bits == 64;
	for (uint32_t i = 0; !has && t->kind == CTF_STRUCT && i < t->n_fields; i++)
		has = has_full_time(t->field[i].type);
	return has;
}

/* The beginning of a packet is the time of its first event if the packet has none. A first event of 64 bits may be
 * earlier than its packet. False: more bytes are needed. left: bits up to the end of the file. */
static bool read_first_event(struct header *h, const struct ctf_stream_class *sc, uint64_t left)
{
	static const struct ctf_visitor visitor = { .integer = on_timestamp };
	enum known size = h->bits[K_CONTENT] ? K_CONTENT : K_PACKET;
	uint64_t pos = h->pos, end = h->bits[size] && is_written(h, size) ? MIN(h->value[size], left) : left;
	if (!sc->event_header || (h->bits[K_BEGIN] && !has_full_time(sc->event_header)))
		return true;
	g_autofree uint64_t *regs = g_new0(uint64_t, MAX(sc->n_regs, h->meta->packet_regs) + 1u);
	if (h->regs)
		memcpy(regs, h->regs, h->meta->packet_regs * sizeof *regs);
	if (!ctf_walk(sc->event_header, h->bytes, &pos, MIN(end, h->have), regs, &visitor, h)) {
		h->first_bits = 0;
		h->need = pos > h->have && pos <= end ? pos : 0;
		return !h->need;
	}
	if (!h->bits[K_BEGIN]) {
		h->value[K_BEGIN] = h->first;
		h->bits[K_BEGIN] = (uint8_t)h->first_bits;
	}
	return true;
}

static bool read_all(struct header *h, uint64_t left, const struct ctf_stream_class **ret_class, GError **error)
{
	const struct ctf_meta *m = h->meta;
	if (m->packet_header && !read_structure(h, m->packet_header, "packet.header", error))
		return false;
	if (!check_magic(h, error))
		return false;
	*ret_class = stream_class(h, error);
	if (!*ret_class)
		return false;
	const struct ctf_type *context = (*ret_class)->packet_context;
	if (context && !read_structure(h, context, "packet.context", error))
		return false;
	if (h->pos > LIMIT_PACKET_HEADER_BYTES * 8)
		return unsupported(error, "is too long", "packet.context");
	return read_first_event(h, *ret_class, left);
}

/* left: whole bytes up to the end of the file, in bits. */
static bool set_sizes(const struct header *h, uint64_t left, struct ctf_packet *p, GError **error)
{
	bool has_packet = h->bits[K_PACKET], has_content = h->bits[K_CONTENT];
	uint64_t packet = has_packet ? h->value[K_PACKET] : left;
	uint64_t content = has_content ? h->value[K_CONTENT] : packet;

	if (!has_packet && has_content)
		packet = content;
	if ((has_packet && !is_written(h, K_PACKET)) ||
	    (!has_packet && has_content && !is_written(h, K_CONTENT))) {
		p->fault = CTF_UNFINISHED;
		packet = content = left;
	} else if (has_content && !is_written(h, K_CONTENT)) {
		p->fault = CTF_UNFINISHED;
		content = packet;
	}
	if (packet % 8)
		return wrong(error, "the packet's size is not a whole number of bytes (%" PRIu64
			     " bits)", packet);
	if (packet / 8 > LIMIT_PACKET_BYTES)
		return wrong(error, "the packet's size of %" PRIu64 " bytes is more than %u MiB", packet / 8,
			     LIMIT_PACKET_BYTES >> 20);
	if (content > packet || content < h->pos)
		return wrong(error, "the packet's content of %" PRIu64 " bits does not fit its "
			     "size of %" PRIu64, content, packet);
	if (packet > left) {
		if (p->fault == CTF_WHOLE)
			p->fault = CTF_CUT_OFF;
		packet = left;
	}
	p->packet_bits = packet;
	p->content_bits = MIN(content, packet);
	g_assert(p->packet_bits <= left);
	return true;
}

static void set_times(const struct header *h, struct ctf_packet *p)
{
	p->has_begin = h->bits[K_BEGIN];
	p->has_end = h->bits[K_END];
	p->begin = h->value[K_BEGIN];
	p->end = h->value[K_END];
	p->begin_bits = h->bits[K_BEGIN];
	p->end_bits = h->bits[K_END];
	p->has_first = h->first_bits == 64 && h->bits[K_BEGIN] == 64;
	p->first = h->first;
	if (p->has_begin && p->has_end && p->end)
		p->end = ctf_clock_advance(p->begin, p->end, p->end_bits);
	if (p->has_end && (p->end == 0 || (p->has_begin && p->end < p->begin))) {
		p->is_recovered = p->end == 0 && p->fault == CTF_WHOLE && h->bits[K_CONTENT];
		p->has_end = false;
		if (p->fault == CTF_WHOLE && !h->bits[K_CONTENT])
			p->fault = CTF_UNFINISHED;
	}
}

static void set_rest(const struct header *h, uint64_t stream_id, struct ctf_packet *p)
{
	p->header_bits = h->pos;
	p->checked = true;
	p->other_uuid = is_other_uuid(h);
	p->stream_id = stream_id;
	p->has_seq = h->bits[K_SEQ];
	p->seq = h->value[K_SEQ];
	p->has_discarded = h->bits[K_DISCARDED];
	p->discarded = h->value[K_DISCARDED];
	p->discarded_bits = h->bits[K_DISCARDED];
	p->has_instance = h->bits[K_INSTANCE];
	p->instance = h->value[K_INSTANCE];
	p->has_cpu = h->bits[K_CPU] && h->value[K_CPU] < UINT32_MAX;
	p->cpu = p->has_cpu ? (uint32_t)h->value[K_CPU] : UINT32_MAX;
}

bool ctf_packet_read(const struct ctf_meta *m, const uint8_t *bytes, size_t n, uint64_t offset,
		     uint64_t file_size, struct ctf_packet *ret, size_t *ret_need, GError **error)
{
	uint64_t left = offset < file_size ? MIN(file_size - offset, G_MAXUINT64 / 8) : 0;
	struct header h = { .meta = m, .bytes = bytes, .have = MIN(n, left) * 8 };
	const struct ctf_stream_class *sc = NULL;
	GError *problem = NULL;

	*ret_need = 0;
	/* The first event's header is read, too: the packet's beginning may be its time. */
	h.have = MIN(h.have, (uint64_t)MOST_READ * 8);
	/* In every class, the registers of contexts follow those of the packet header. */
	g_autofree uint64_t *regs = m->packet_regs ? g_new0(uint64_t, m->packet_regs) : NULL;
	h.regs = regs;
	if (!read_all(&h, left * 8, &sc, &problem)) {
		uint64_t need = (h.need + 7) / 8;
		if (!problem && need > left)
			return wrong(error, "the file ends in the packet's header");
		if (!problem && need > n && need <= MOST_READ)
			*ret_need = need;
		else if (!problem)
			return unsupported(error, "is too long", "packet.context");
		else
			g_propagate_error(error, problem);
		return false;
	}
	*ret = (struct ctf_packet){ .offset = offset };
	if (!set_sizes(&h, left * 8, ret, error))
		return false;
	set_times(&h, ret);
	set_rest(&h, sc->id, ret);
	return true;
}

void ctf_packet_follow(struct ctf_packet *p, uint64_t from)
{
	if (!p->has_begin)
		p->begin = from;
	if (!ctf_packet_is_narrow(p))
		return;
	uint64_t more = ctf_clock_advance(from, p->begin, p->begin_bits) - p->begin;
	p->begin += more;
	if (p->has_end && p->end && p->end_bits < 64)
		p->end += more;
}

void ctf_packet_registers(const struct ctf_meta *m, const struct ctf_stream_class *sc,
			  const uint8_t *base, uint64_t end, uint64_t *regs)
{
	uint64_t pos = 0;
	if (m->packet_header && !ctf_walk(m->packet_header, base, &pos, end, regs, NULL, NULL))
		return;
	if (sc->packet_context)
		ctf_walk(sc->packet_context, base, &pos, end, regs, NULL, NULL);
}
