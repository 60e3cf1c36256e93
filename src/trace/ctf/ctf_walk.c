/* SPDX-License-Identifier: GPL-2.0-only */
/* Decodes a field by its type: see ctf_walk.h. LIMIT_TYPE_DEPTH bounds the recursion, .work the time. */
#include "trace/ctf/ctf_walk.h"
#include "trace/ctf/ctf_bits.h"

#include "base/limits.h"

#include <math.h>
#include <string.h>

static const struct ctf_visitor no_visitor;

struct walk {
	const uint8_t *base;
	uint64_t pos, end;
	uint64_t *regs;
	uint64_t need;			/* bits that are needed, if the data ends too early; else 0 */
	uint64_t work;			/* number of values that may still be read */
	const struct ctf_visitor *v;
	void *data;
};

static bool walk_field(struct walk *w, const struct ctf_type *t, const char *name, uint16_t reg);

/* Aligns the position. False: fewer than `bits` bits are left. */
static bool align_and_fit(struct walk *w, uint64_t align, uint64_t bits)
{
	uint64_t pos = ctf_align(w->pos, align);
	if (pos < w->pos || pos > w->end || bits > w->end - pos) {
		w->need = pos < w->pos || bits > G_MAXUINT64 - pos ? G_MAXUINT64 : pos + bits;
		return false;
	}
	w->pos = pos;
	return true;
}

/* Reads a LEB128 number; its value may have at most 64 bits. */
static bool read_var(struct walk *w, bool is_signed, uint64_t *ret, unsigned *ret_bits)
{
	uint64_t v = 0, byte = 0x80;
	unsigned bits = 0;
	for (; byte & 0x80; bits += 7, w->pos += 8) {
		if (!align_and_fit(w, 8, 8))
			return false;
		byte = w->base[w->pos >> 3];
		uint64_t low = byte & 0x7f;
		/* Bits above the 64th may only repeat the sign. */
		bool minus = is_signed && bits >= 63 && v >> 63;
		if (bits == 63 && is_signed)
			minus = low & 1;
		if (bits >= 63 && low != (minus ? 0x7f : bits == 63 && !is_signed ? (low & 1) : 0))
			return false;
		if (bits < 64)
			v |= low << bits;
		if (bits > G_MAXUINT16)
			return false;
	}
	if (is_signed && bits < 64)
		v = (uint64_t)ctf_sign_extend(v, bits);
	*ret = v;
	*ret_bits = bits;
	return true;
}

/* Bit j of a number's value; 0 is the least significant one. */
static unsigned bit_of(const struct ctf_type *t, const uint8_t *base, uint64_t pos, unsigned j)
{
	uint64_t at = pos + (t->big_endian != t->is_reversed ? t->bits - 1u - j : j);
	unsigned in_byte = t->big_endian ? 7 - (at & 7) : at & 7;
	return base[at >> 3] >> in_byte & 1;
}

/* `n` bits of the value from bit `first` on. */
static uint64_t some_bits(const struct ctf_type *t, const uint8_t *base, uint64_t pos,
			  unsigned first, unsigned n)
{
	uint64_t v = 0;
	for (unsigned j = 0; j < n; j++)
		v |= (uint64_t)bit_of(t, base, pos, first + j) << j;
	return v;
}

static bool walk_integer(struct walk *w, const struct ctf_type *t, const char *name, uint16_t reg)
{
	unsigned bits = t->bits;
	uint64_t value;
	if (!align_and_fit(w, t->align, t->bits))
		return false;
	if (t->is_var) {
		if (!read_var(w, t->is_signed, &value, &bits))
			return false;
	} else {
		value = t->is_reversed ? some_bits(t, w->base, w->pos, 0, t->bits)
				       : ctf_bits(w->base, w->pos, t->bits, t->big_endian);
		if (t->is_signed)
			value = (uint64_t)ctf_sign_extend(value, t->bits);
		w->pos += t->bits;
	}
	if (reg != CTF_NO_REG)
		w->regs[reg] = value;
	if (w->v->integer)
		w->v->integer(w->data, name, t, value, bits);
	return true;
}

/* IEEE 754 binary formats that C does not have: 16 bits, and 96 or more. For the latter only the upper 63 bits of
 * the fraction are used, which is more than a double has. */
static double wide_float(const struct ctf_type *t, const uint8_t *base, uint64_t pos)
{
	/* A format of k bits has round(4 log2 k) - 13 exponent bits; 16 bits have 5. */
	unsigned k = t->bits, n_exp = k == 16 ? 5 : (unsigned)lround(4 * log2(k)) - 13;
	unsigned n_frac = k - 1 - n_exp, shown = MIN(n_frac, 63);
	int64_t bias = ((int64_t)1 << (n_exp - 1)) - 1;
	int64_t exponent = (int64_t)some_bits(t, base, pos, n_frac, n_exp);
	uint64_t frac = some_bits(t, base, pos, n_frac - shown, shown);
	bool minus = bit_of(t, base, pos, k - 1);
	double value;
	if (exponent == (bias << 1 | 1))
		value = frac ? NAN : INFINITY;
	else if (exponent)
		value = ldexp(1 + ldexp((double)frac, -(int)shown),
			      (int)CLAMP(exponent - bias, -100000, 100000));
	else
		value = ldexp((double)frac, (int)MAX(1 - bias, -100000) - (int)shown);
	return minus ? -value : value;
}

static double read_float(const struct ctf_type *t, const uint8_t *base, uint64_t pos)
{
	if (t->bits != 32 && t->bits != 64)
		return wide_float(t, base, pos);
	uint64_t bits = t->is_reversed ? some_bits(t, base, pos, 0, t->bits)
				       : ctf_bits(base, pos, t->bits, t->big_endian);
	double value;
	if (t->bits == 32) {
		uint32_t half = (uint32_t)bits;
		float single;
		memcpy(&single, &half, sizeof single);
		value = (double)single;
	} else {
		memcpy(&value, &bits, sizeof value);
	}
	return value;
}

static bool walk_float(struct walk *w, const struct ctf_type *t, const char *name)
{
	if (!align_and_fit(w, t->align, t->bits))
		return false;
	if (w->v->real)
		w->v->real(w->data, name, t, read_float(t, w->base, w->pos));
	w->pos += t->bits;
	return true;
}

static unsigned unit_of(const struct ctf_type *t)
{
	return t->encoding == CTF_UTF8 ? 1 : t->encoding <= CTF_UTF16BE ? 2 : 4;
}

/* Number of bytes before the first zero code unit; n: it is missing. */
static uint64_t text_length(const struct ctf_type *t, const char *s, uint64_t n)
{
	static const char zero[4];
	unsigned unit = unit_of(t);
	const char *nul = unit == 1 ? memchr(s, '\0', n) : NULL;
	if (unit == 1)
		return nul ? (uint64_t)(nul - s) : n;
	for (uint64_t i = 0; i + unit <= n; i += unit)
		if (!memcmp(s + i, zero, unit))
			return i;
	return n;
}

/* Reads one code unit. */
static uint32_t unit_at(const struct ctf_type *t, const char *s)
{
	bool be = t->encoding == CTF_UTF16BE || t->encoding == CTF_UTF32BE;
	return (uint32_t)ctf_bits((const uint8_t *)s, 0, unit_of(t) * 8, be);
}

void ctf_text_utf8(const struct ctf_type *t, const char *bytes, uint64_t n, GString *ret)
{
	unsigned unit = unit_of(t);
	n = text_length(t, bytes, MIN(n, G_MAXINT32));
	if (unit == 1) {
		g_string_append_len(ret, bytes, (gssize)n);
		return;
	}
	for (uint64_t i = 0; i + unit <= n; i += unit) {
		uint32_t c = unit_at(t, bytes + i);
		if (unit == 2 && c >= 0xd800 && c < 0xdc00 && i + 4 <= n) {
			uint32_t low = unit_at(t, bytes + i + 2);
			if (low >= 0xdc00 && low < 0xe000) {
				c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
				i += 2;
			}
		}
		g_string_append_unichar(ret, g_unichar_validate(c) ? c : 0xfffd);
	}
}

static bool walk_string(struct walk *w, const struct ctf_type *t, const char *name)
{
	unsigned unit = unit_of(t);
	if (!align_and_fit(w, MAX(t->align, 8), 8))
		return false;
	const char *text = (const char *)w->base + w->pos / 8;
	uint64_t most = (w->end - w->pos) / 8, n = text_length(t, text, most);
	if (most - n < unit) {
		w->need = w->end + unit * 8;
		return false;
	}
	w->pos += (n + unit) * 8;
	if (w->v->text)
		w->v->text(w->data, name, t, text, n);
	return true;
}

static bool walk_members(struct walk *w, const struct ctf_type *t, const char *name)
{
	if (!align_and_fit(w, t->align, 0))
		return false;
	if (w->v->begin)
		w->v->begin(w->data, name, t, t->n_fields);
	for (uint32_t i = 0; i < t->n_fields; i++)
		if (!walk_field(w, t->field[i].type, t->field[i].name, t->field[i].reg))
			return false;
	if (w->v->end)
		w->v->end(w->data, name, t);
	return true;
}

static bool is_plain_text(const struct walk *w, const struct ctf_type *t)
{
	return t->is_text && t->element->bits == 8 && t->element->align <= 8 && w->pos % 8 == 0;
}

static bool walk_elements(struct walk *w, const struct ctf_type *t, const char *name)
{
	uint64_t n = t->kind == CTF_ARRAY ? t->length : w->regs[t->length_reg];
	/* An array without elements is aligned, too. */
	if (!align_and_fit(w, MAX(t->align, t->element->align), 0))
		return false;
	if (is_plain_text(w, t)) {
		if (n > (w->end - w->pos) / 8) {
			w->need = n > G_MAXUINT64 / 16 ? G_MAXUINT64 : w->pos + n * 8;
			return false;
		}
		const char *text = (const char *)w->base + w->pos / 8;
		w->pos += n * 8;
		if (w->v->text)
			w->v->text(w->data, name, t, text, n);
		return true;
	}
	if (w->v->begin)
		w->v->begin(w->data, name, t, n);
	for (uint64_t i = 0; i < n; i++)
		if (!walk_field(w, t->element, NULL, CTF_NO_REG))
			return false;
	if (w->v->end)
		w->v->end(w->data, name, t);
	return true;
}

static bool walk_variant(struct walk *w, const struct ctf_type *t, const char *name)
{
	uint32_t option = ctf_type_option(t, w->regs[t->tag]);
	if (option == t->n_fields)
		return false;
	if (w->v->begin)
		w->v->begin(w->data, name, t, option);
	g_assert(option < t->n_fields);
	const struct ctf_field *f = &t->field[option];
	if (!walk_field(w, f->type, f->name, f->reg))
		return false;
	if (w->v->end)
		w->v->end(w->data, name, t);
	return true;
}

static bool walk_optional(struct walk *w, const struct ctf_type *t, const char *name)
{
	const struct ctf_field *f = &t->field[0];
	return ctf_type_option(t, w->regs[t->tag]) || walk_field(w, f->type, name, f->reg);
}

static bool walk_field(struct walk *w, const struct ctf_type *t, const char *name, uint16_t reg)
{
	if (!w->work)
		return false;
	w->work--;
	switch ((enum ctf_kind)t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
		return walk_integer(w, t, name, reg);
	case CTF_FLOAT:
		return walk_float(w, t, name);
	case CTF_STRING:
		return walk_string(w, t, name);
	case CTF_STRUCT:
		return walk_members(w, t, name);
	case CTF_ARRAY:
	case CTF_SEQUENCE:
		return walk_elements(w, t, name);
	case CTF_VARIANT:
		return walk_variant(w, t, name);
	case CTF_OPTIONAL:
		return walk_optional(w, t, name);
	}
	return false;
}

bool ctf_walk(const struct ctf_type *t, const uint8_t *base, uint64_t *pos, uint64_t end,
	      uint64_t *regs, const struct ctf_visitor *v, void *data)
{
	if (*pos > end)
		return false;
	struct walk w = {
		.base = base, .pos = *pos, .end = end, .regs = regs,
		/* At most one value per bit, and LIMIT_EMPTY_STEPS without size (empty structures or sequences). */
		.work = end - *pos + LIMIT_EMPTY_STEPS, .v = v ? v : &no_visitor, .data = data,
	};
	bool ok = walk_field(&w, t, NULL, CTF_NO_REG);
	*pos = ok || w.need <= end ? w.pos : w.need;
	return ok;
}
