/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packet headers and contexts: fixed-size integers by the trace's own types, and a
 * uuid. What else a type may hold is refused: no tracer that is known writes it.
 */
#include "trace/ctf_index.h"

#include "trace/ctf_bits.h"
#include "trace/reader.h"

#include <inttypes.h>

#define CTF_MAGIC 0xc1fc1fc1

enum known {
	K_MAGIC, K_STREAM, K_INSTANCE, K_BEGIN, K_END, K_CONTENT, K_PACKET, K_SEQ,
	K_DISCARDED, K_CPU, N_KNOWN,
};

static const char *const known_name[N_KNOWN] = {
	"magic", "stream_id", "stream_instance_id", "timestamp_begin", "timestamp_end",
	"content_size", "packet_size", "packet_seq_num", "events_discarded", "cpu_id",
};

/* What was read so far; positions are bits from the packet's start. */
struct header {
	const struct ctf_meta *meta;
	const uint8_t *bytes;
	uint64_t pos, have;		/* bits */
	uint64_t need;			/* bits, when the bytes did not reach */
	uint64_t value[N_KNOWN];
	uint8_t bits[N_KNOWN];		/* 0: the packet does not say */
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
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED, "%s: %s", name, what);
	return false;
}

/* Moves to the type's alignment and asks for `bits` more behind it. */
static bool reach(struct header *h, uint64_t align, uint64_t bits)
{
	uint64_t pos = ctf_align(h->pos, MAX(align, 1));

	if (bits > h->have || pos > h->have - bits) {
		h->need = pos + bits;
		return false;
	}
	h->pos = pos;
	return true;
}

static bool is_integer(const struct ctf_type *t)
{
	return (t->kind == CTF_INTEGER || t->kind == CTF_ENUM) && t->bits >= 1 && t->bits <= 64;
}

static bool read_integer(struct header *h, const struct ctf_field *f)
{
	const struct ctf_type *t = f->type;

	if (!reach(h, t->align, t->bits))
		return false;
	for (int k = 0; k < N_KNOWN; k++) {
		if (h->bits[k] || strcmp(f->name, known_name[k]) != 0)
			continue;
		h->value[k] = ctf_bits(h->bytes, h->pos, t->bits, t->big_endian);
		h->bits[k] = t->bits;
		break;
	}
	h->pos += t->bits;
	return true;
}

static bool check_uuid(const struct header *h, GError **error)
{
	if (h->meta->has_uuid && memcmp(h->bytes + h->pos / 8, h->meta->uuid, 16) != 0)
		return wrong(error, "the packet has another trace's uuid");
	return true;
}

/* Arrays are passed over, but for the uuid. */
static bool read_array(struct header *h, const struct ctf_field *f, GError **error)
{
	const struct ctf_type *t = f->type, *element = t->element;

	if (!is_integer(element) || element->bits % MAX(element->align, 1) ||
	    t->length > G_MAXUINT16 / 8)
		return unsupported(error, "an array that is no array of packed integers",
				   f->name);
	uint64_t bits = t->length * element->bits;
	if (!reach(h, MAX(t->align, element->align), bits))
		return false;
	if (strcmp(f->name, "uuid") == 0 && bits == 128 && element->bits == 8 &&
	    h->pos % 8 == 0 && !check_uuid(h, error))
		return false;
	h->pos += bits;
	return true;
}

static uint64_t alignment(const struct ctf_type *t)
{
	uint64_t align = MAX(t->align, 1);

	for (uint32_t i = 0; i < t->n_fields; i++) {
		const struct ctf_type *inner = t->field[i].type;
		if (inner->kind == CTF_ARRAY)
			align = MAX(align, inner->element->align);
		align = MAX(align, inner->align);
	}
	return align;
}

/* False with *error unset: more bytes are needed. */
static bool read_structure(struct header *h, const struct ctf_type *t, const char *name,
			   GError **error)
{
	if (t->kind != CTF_STRUCT)
		return unsupported(error, "is no structure", name);
	if (!reach(h, alignment(t), 0))
		return false;
	for (uint32_t i = 0; i < t->n_fields; i++) {
		const struct ctf_field *f = &t->field[i];
		bool ok;
		if (is_integer(f->type))
			ok = read_integer(h, f);
		else if (f->type->kind == CTF_ARRAY)
			ok = read_array(h, f, error);
		else
			ok = unsupported(error, "only integers and arrays are known there",
					 f->name);
		if (!ok)
			return false;
	}
	return true;
}

static bool check_magic(const struct header *h, GError **error)
{
	if (!h->bits[K_MAGIC])
		return unsupported(error, "has no magic", "packet.header");
	if (h->value[K_MAGIC] != CTF_MAGIC)
		return wrong(error, "no packet: it begins with 0x%08" PRIx64 ", not with 0x%08x",
			     h->value[K_MAGIC], CTF_MAGIC);
	return true;
}

/* The stream class: by id, or the only one. */
static const struct ctf_stream_class *stream_class(const struct header *h, GError **error)
{
	const struct ctf_stream_class *sc;

	if (!h->bits[K_STREAM] && h->meta->streams->len == 1)
		return g_ptr_array_index(h->meta->streams, 0);
	sc = ctf_meta_stream(h->meta, h->value[K_STREAM]);
	if (!sc)
		wrong(error, "the packet's stream class %" PRIu64 " is not in the metadata",
		      h->value[K_STREAM]);
	return sc;
}

static bool read_all(struct header *h, const struct ctf_stream_class **ret_class, GError **error)
{
	const struct ctf_meta *m = h->meta;

	if (!m->packet_header)
		return unsupported(error, "is missing", "packet.header");
	if (!read_structure(h, m->packet_header, "packet.header", error) ||
	    !check_magic(h, error))
		return false;
	*ret_class = stream_class(h, error);
	if (!*ret_class)
		return false;
	const struct ctf_type *context = (*ret_class)->packet_context;
	if (context && !read_structure(h, context, "packet.context", error))
		return false;
	if (h->pos > G_MAXUINT16)
		return unsupported(error, "is too long", "packet.context");
	if ((h->bits[K_BEGIN] && h->bits[K_BEGIN] != 64) ||
	    (h->bits[K_END] && h->bits[K_END] != 64))
		return unsupported(error, "time of less than 64 bits", "packet.context");
	return true;
}

/* Tracers fill a size in when the packet ends; before, it is 0 or all ones. */
static bool is_written(const struct header *h, enum known k)
{
	return h->value[k] != 0 && h->value[k] != G_MAXUINT64 >> (64 - h->bits[k]);
}

/* left: bits to the end of the file, in whole bytes. */
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
		return wrong(error, "the packet's size is no whole number of bytes (%" PRIu64
			     " bits)", packet);
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
	return true;
}

static void set_times(const struct header *h, struct ctf_packet *p)
{
	p->has_begin = h->bits[K_BEGIN];
	p->has_end = h->bits[K_END];
	p->begin = h->value[K_BEGIN];
	p->end = h->value[K_END];
	if (p->has_end && (p->end == 0 || (p->has_begin && p->end < p->begin))) {
		p->end = 0;
		if (p->fault == CTF_WHOLE)
			p->fault = CTF_UNFINISHED;
	}
}

static void set_rest(const struct header *h, uint64_t stream_id, struct ctf_packet *p)
{
	p->header_bits = h->pos;
	p->checked = true;
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
	uint64_t left = offset < file_size ? file_size - offset : 0;
	/* A header is at most 64 Kibit, so that nothing below can overflow. */
	struct header h = { .meta = m, .bytes = bytes, .have = MIN(n, left) * 8 };
	const struct ctf_stream_class *sc = NULL;
	GError *problem = NULL;

	*ret_need = 0;
	h.have = MIN(h.have, (uint64_t)1 << 20);
	if (!read_all(&h, &sc, &problem)) {
		uint64_t need = (h.need + 7) / 8;
		if (!problem && need > left)
			return wrong(error, "the file ends in the packet's header");
		if (!problem && need > n)
			*ret_need = need;
		else if (!problem)
			return unsupported(error, "is too long", "packet.context");
		else
			g_propagate_error(error, problem);
		return false;
	}
	*ret = (struct ctf_packet){ .offset = offset };
	if (!set_sizes(&h, MIN(left, G_MAXUINT64 / 8) * 8, ret, error))
		return false;
	set_times(&h, ret);
	set_rest(&h, sc->id, ret);
	return true;
}
