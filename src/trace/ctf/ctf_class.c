/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of types: see ctf_class.h. */
#include "trace/ctf/ctf_class.h"

#include "trace/ctf/ctf_bits.h"

#include <string.h>

bool ctf_clock_equal(const struct ctf_clock *a, const struct ctf_clock *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->uuid, b->uuid) && a->freq == b->freq &&
	       a->offset_s == b->offset_s && a->offset == b->offset && a->absolute == b->absolute;
}

const struct ctf_field *ctf_type_field(const struct ctf_type *structure, const char *name)
{
	for (uint32_t i = 0; i < structure->n_fields; i++)
		if (!strcmp(structure->field[i].name, name))
			return &structure->field[i];
	return NULL;
}

uint32_t ctf_type_option(const struct ctf_type *t, uint64_t tag)
{
	for (uint32_t i = 0; i < t->n_selects; i++)
		if (ctf_within(t->tag_is_signed, tag, t->select[i].lo, t->select[i].hi))
			return t->select[i].option;
	return t->n_fields;
}

static bool fixed_struct(const struct ctf_type *t, uint64_t *ret_bits)
{
	uint64_t pos = 0, bits;
	for (uint32_t i = 0; i < t->n_fields; i++) {
		const struct ctf_type *f = t->field[i].type;
		if (!ctf_type_fixed(f, &bits))
			return false;
		pos = ctf_align(pos, f->align) + bits;
	}
	*ret_bits = pos;
	return true;
}

static bool fixed_array(const struct ctf_type *t, uint64_t *ret_bits)
{
	uint64_t bits;
	if (!ctf_type_fixed(t->element, &bits))
		return false;
	*ret_bits = t->length ? ctf_align(bits, t->element->align) * (t->length - 1) + bits : 0;
	return true;
}

bool ctf_type_fixed(const struct ctf_type *t, uint64_t *ret_bits)
{
	switch ((enum ctf_kind)t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		*ret_bits = t->bits;
		return !t->is_var;
	case CTF_STRUCT:
		return fixed_struct(t, ret_bits);
	case CTF_ARRAY:
		return fixed_array(t, ret_bits);
	case CTF_STRING:
	case CTF_SEQUENCE:
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		break;
	}
	return false;
}

static uint64_t add_bits(uint64_t pos, uint64_t bits)
{
	return MIN(pos + MIN(bits, CTF_TOO_LARGE), CTF_TOO_LARGE);
}

uint64_t ctf_type_empty_end(const struct ctf_type *t, uint64_t pos, bool *has_lengths)
{
	uint64_t begin = MIN(ctf_align(pos, t->align), CTF_TOO_LARGE), end = begin, size;

	switch ((enum ctf_kind)t->kind) {
	case CTF_INTEGER:
	case CTF_ENUM:
	case CTF_FLOAT:
		*has_lengths |= t->is_var;
		return add_bits(begin, t->bits);
	case CTF_STRUCT:
		for (uint32_t i = 0; i < t->n_fields; i++)
			end = ctf_type_empty_end(t->field[i].type, end, has_lengths);
		return end;
	case CTF_ARRAY:
		size = ctf_align(ctf_type_empty_end(t->element, begin, has_lengths) - begin, t->element->align);
		return add_bits(begin, size && t->length > CTF_TOO_LARGE / size ? CTF_TOO_LARGE : size * t->length);
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		for (uint32_t i = 0; i < t->n_fields; i++) {
			size = ctf_type_empty_end(t->field[i].type, begin, has_lengths);
			end = MAX(end, size);
		}
		return end;
	case CTF_STRING:
		*has_lengths = true;
		return add_bits(begin, 8);		/* its end */
	case CTF_SEQUENCE:
		*has_lengths = true;
		return begin;
	}
	return begin;
}
