/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event headers: which of the known forms a stream class has, and reading one.
 * LTTng's (lttng-modules, lttng-ring-buffer-client.h: lttng_event_header_size) are an
 * id of 5 or 16 bits with a timestamp of 27 or 32, or, behind the greatest id, a 32-bit
 * id with a whole 64-bit timestamp; parts are aligned in the packet, not in the header.
 */
#include "trace/ctf_header.h"

static bool refuse(const struct ctf_stream_class *sc, const char *what, GError **error)
{
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
		    "the event header of stream class %" G_GUINT64_FORMAT " %s", sc->id, what);
	return false;
}

static bool is_integer(const struct ctf_field *f)
{
	return f && (f->type->kind == CTF_INTEGER || f->type->kind == CTF_ENUM);
}

/* { [id] [timestamp] } with nothing else. */
static bool plain_header(const struct ctf_stream_class *sc, struct ctf_header *h,
			 const struct ctf_clock **clock, GError **error)
{
	const struct ctf_type *t = sc->event_header;
	const struct ctf_field *id = ctf_type_field(t, "id"), *ts = ctf_type_field(t, "timestamp");
	if (t->n_fields != 2 || !is_integer(id) || !is_integer(ts) || !ts->type->clock)
		return refuse(sc, "has a form that is not LTTng's", error);
	h->id_bits = id->type->bits;
	h->id_align = id->type->align;
	h->id_be = id->type->big_endian;
	h->ts_bits = ts->type->bits;
	h->ts_align = ts->type->align;
	h->ts_be = ts->type->big_endian;
	h->ts_first = ts < id;
	*clock = ts->type->clock;
	return true;
}

/* compact = 0 ... N - 1, extended = N. */
static bool enum_fits(const struct ctf_type *e, uint64_t *ret_extended)
{
	if (e->kind != CTF_ENUM || e->n_ranges != 2 || e->is_signed)
		return false;
	const struct ctf_range *a = &e->range[0], *b = &e->range[1];
	*ret_extended = b->lo;
	return !strcmp(a->label, "compact") && !strcmp(b->label, "extended") && !a->lo &&
	       b->lo == b->hi && b->lo && a->hi == b->lo - 1 &&
	       (e->bits == 64 || b->lo < UINT64_C(1) << e->bits);
}

static bool variant_header(const struct ctf_stream_class *sc, struct ctf_header *h,
			   const struct ctf_clock **clock, GError **error)
{
	const struct ctf_type *t = sc->event_header, *v = t->field[1].type;
	const struct ctf_type *id = t->field[0].type;
	if (v->n_fields != 2 || !enum_fits(id, &h->extended) || t->field[0].reg != v->tag)
		return refuse(sc, "has a variant that is not LTTng's", error);
	const struct ctf_type *a = v->field[0].type, *b = v->field[1].type;
	if (strcmp(v->field[0].name, "compact") || strcmp(v->field[1].name, "extended") ||
	    a->kind != CTF_STRUCT || b->kind != CTF_STRUCT || a->n_fields != 1 || b->n_fields != 2)
		return refuse(sc, "has a variant that is not LTTng's", error);
	const struct ctf_field *ts = ctf_type_field(a, "timestamp"), *id2 = ctf_type_field(b, "id");
	const struct ctf_field *ts2 = ctf_type_field(b, "timestamp");
	if (!is_integer(ts) || !is_integer(ts2) || id2 != &b->field[0] || !is_integer(id2) ||
	    !ts->type->clock || ts2->type->clock != ts->type->clock)
		return refuse(sc, "has timestamps of no clock", error);
	*h = (struct ctf_header){
		.has_variant = true, .extended = h->extended,
		.id_bits = id->bits, .id_align = id->align, .id_be = id->big_endian,
		.ts_bits = ts->type->bits, .ts_align = MAX(MAX(a->align, v->align), ts->type->align),
		.ts_be = ts->type->big_endian,
		.id2_bits = id2->type->bits, .id2_be = id2->type->big_endian,
		.id2_align = MAX(MAX(b->align, v->align), id2->type->align),
		.ts2_bits = ts2->type->bits, .ts2_align = ts2->type->align,
		.ts2_be = ts2->type->big_endian,
	};
	*clock = ts->type->clock;
	return true;
}

/* Programs of the classes begin behind it, on a byte. */
static bool ends_on_byte(const struct ctf_header *h)
{
	uint64_t first = h->ts_first ? h->ts_bits : h->id_bits;
	uint64_t end = h->ts_first ? ctf_align(first, h->id_align) + h->id_bits
				   : ctf_align(first, h->ts_align) + h->ts_bits;
	uint64_t long_end = ctf_align(ctf_align(h->id_bits, h->id2_align) + h->id2_bits, h->ts2_align) +
			    h->ts2_bits;
	return h->align >= 8 && end % 8 == 0 && (!h->has_variant || long_end % 8 == 0);
}

bool ctf_header_compile(const struct ctf_stream_class *sc, struct ctf_header *ret,
			const struct ctf_clock **ret_clock, GError **error)
{
	const struct ctf_type *t = sc->event_header;
	*ret = (struct ctf_header){ 0 };
	if (!t || t->n_fields != 2)
		return refuse(sc, "has a form that is not LTTng's", error);
	bool ok = t->field[1].type->kind == CTF_VARIANT
		? variant_header(sc, ret, ret_clock, error)
		: plain_header(sc, ret, ret_clock, error);
	if (!ok)
		return false;
	ret->align = MAX(t->align, 1);
	if (!ends_on_byte(ret))
		return refuse(sc, "does not end on a byte", error);
	ret->fast_align = MAX(ret->align, MAX(ret->id_align, 1));
	if (ret->has_variant && !ret->id_be && !ret->ts_be && ret->fast_align >= 8) {
		if (ret->id_bits == 5 && ret->ts_bits == 27 && ret->ts_align == 1 &&
		    ret->extended == 31)
			ret->fast = CTF_FAST_COMPACT;
		if (ret->id_bits == 16 && ret->ts_bits == 32 && ret->extended == UINT16_MAX &&
		    ret->ts_align <= MIN(ret->fast_align, 16))
			ret->fast = CTF_FAST_LARGE;
	}
	return true;
}

/* One integer of the header. */
static inline bool take(const uint8_t *base, uint64_t *pos, uint64_t end, uint32_t align,
			unsigned bits, bool be, uint64_t *ret)
{
	uint64_t at = ctf_align(*pos, align);
	if (at > end || end - at < bits)
		return false;
	*ret = ctf_bits(base, at, bits, be);
	*pos = at + bits;
	return true;
}

bool ctf_header_read_slow(const struct ctf_header *h, const uint8_t *base, uint64_t *pos,
			  uint64_t end, uint64_t *clock, uint64_t *id)
{
	uint64_t at = ctf_align(*pos, h->align), ts = 0;
	unsigned ts_bits = h->ts_bits;
	bool ok = !h->ts_first || take(base, &at, end, h->ts_align, h->ts_bits, h->ts_be, &ts);
	ok = ok && take(base, &at, end, h->id_align, h->id_bits, h->id_be, id);
	if (ok && h->has_variant && *id == h->extended) {
		ts_bits = h->ts2_bits;
		ok = take(base, &at, end, h->id2_align, h->id2_bits, h->id2_be, id) &&
		     take(base, &at, end, h->ts2_align, h->ts2_bits, h->ts2_be, &ts);
	} else if (ok && !h->ts_first) {
		ok = take(base, &at, end, h->ts_align, h->ts_bits, h->ts_be, &ts);
	}
	if (!ok)
		return false;
	*clock = ctf_clock_advance(*clock, ts, ts_bits);
	*pos = at;
	return true;
}
