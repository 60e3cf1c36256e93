/* SPDX-License-Identifier: GPL-2.0-only */
/* See ctf_walk.h. Depth is bounded by the parser (CTF_MAX_DEPTH), work by `work`. */
#include "trace/ctf_walk.h"
#include "trace/ctf_bits.h"

/* Values of no size (empty structures, sequences of length 0) that one walk may have,
 * beside one value a bit. */
#define MAX_EMPTY (1u << 20)

static const struct ctf_visitor nobody;

struct walk {
	const uint8_t *base;
	uint64_t pos, end;
	uint64_t *regs;
	uint64_t work;			/* values that may still come */
	const struct ctf_visitor *v;
	void *data;
};

static bool walk_field(struct walk *w, const struct ctf_type *t, const char *name, uint16_t reg);

/* To the alignment, and are there `bits` more? */
static bool align_and_fit(struct walk *w, uint64_t align, uint64_t bits)
{
	uint64_t pos = ctf_align(w->pos, align);
	if (pos < w->pos || pos > w->end || bits > w->end - pos)
		return false;
	w->pos = pos;
	return true;
}

static bool walk_integer(struct walk *w, const struct ctf_type *t, const char *name, uint16_t reg)
{
	if (!align_and_fit(w, t->align, t->bits))
		return false;
	uint64_t value = ctf_bits(w->base, w->pos, t->bits, t->big_endian);
	if (t->is_signed)
		value = (uint64_t)ctf_sign_extend(value, t->bits);
	w->pos += t->bits;
	if (reg != CTF_NO_REG)
		w->regs[reg] = value;
	if (w->v->integer)
		w->v->integer(w->data, name, t, value);
	return true;
}

static bool walk_float(struct walk *w, const struct ctf_type *t, const char *name)
{
	if (!align_and_fit(w, t->align, t->bits))
		return false;
	uint64_t bits = ctf_bits(w->base, w->pos, t->bits, t->big_endian);
	double value;
	if (t->bits == 32) {
		uint32_t half = (uint32_t)bits;
		float single;
		memcpy(&single, &half, sizeof single);
		value = (double)single;
	} else {
		memcpy(&value, &bits, sizeof value);
	}
	w->pos += t->bits;
	if (w->v->real)
		w->v->real(w->data, name, t, value);
	return true;
}

static bool walk_string(struct walk *w, const struct ctf_type *t, const char *name)
{
	if (!align_and_fit(w, MAX(t->align, 8), 8))
		return false;
	const char *text = (const char *)w->base + w->pos / 8;
	const char *nul = memchr(text, '\0', (w->end - w->pos) / 8);
	if (!nul)
		return false;
	w->pos += (uint64_t)(nul + 1 - text) * 8;
	if (w->v->text)
		w->v->text(w->data, name, t, text, (uint64_t)(nul - text));
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
	/* An array without elements is aligned all the same. */
	if (!align_and_fit(w, MAX(t->align, t->element->align), 0))
		return false;
	if (is_plain_text(w, t)) {
		if (n > (w->end - w->pos) / 8)
			return false;
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

static bool in_range(const struct ctf_type *e, const struct ctf_range *r, uint64_t value)
{
	if (e->is_signed)
		return (int64_t)value >= (int64_t)r->lo && (int64_t)value <= (int64_t)r->hi;
	return value >= r->lo && value <= r->hi;
}

/* Options are called as the tag's labels are, but for the leading '_' of names. */
static uint32_t find_option(const struct ctf_type *t, const char *label, uint32_t before)
{
	for (uint32_t i = 0; i < before; i++) {
		const char *name = t->field[i].name;
		if (!strcmp(name, label) || (label[0] == '_' && !strcmp(name, label + 1)))
			return i;
	}
	return before;
}

uint32_t ctf_variant_option(const struct ctf_type *t, uint64_t tag)
{
	uint32_t option = t->n_fields;	/* the first option that any range selects */
	for (uint32_t i = 0; i < t->tag_type->n_ranges; i++)
		if (in_range(t->tag_type, &t->tag_type->range[i], tag))
			option = find_option(t, t->tag_type->range[i].label, option);
	return option;
}

static bool walk_variant(struct walk *w, const struct ctf_type *t, const char *name)
{
	uint32_t option = ctf_variant_option(t, w->regs[t->tag]);
	if (option == t->n_fields)
		return false;
	if (w->v->begin)
		w->v->begin(w->data, name, t, option);
	const struct ctf_field *f = &t->field[option];
	if (!walk_field(w, f->type, f->name, f->reg))
		return false;
	if (w->v->end)
		w->v->end(w->data, name, t);
	return true;
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
		.work = end - *pos + MAX_EMPTY, .v = v ? v : &nobody, .data = data,
	};
	bool ok = walk_field(&w, t, NULL, CTF_NO_REG);
	*pos = w.pos;
	return ok;
}
