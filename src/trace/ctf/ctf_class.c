/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of types: see ctf_class.h. */
#include "trace/ctf/ctf_class.h"

#include "trace/ctf/ctf_bits.h"

#include <string.h>

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
