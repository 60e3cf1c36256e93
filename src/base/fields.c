/* SPDX-License-Identifier: GPL-2.0-only */
/* Encodes and decodes runs of fields: see fields.h. They do not leave the process, so the format is not portable. */
#include "base/fields.h"

#include "base/limits.h"

#include <string.h>

/* Precedes name (with its NUL), value and text. */
struct field_head {
	uint8_t kind, scope, base;
	uint8_t is_list : 1, has_text : 1;
	uint32_t name_size, len;
	uint64_t value;			/* or the bits of .real */
};

void fields_begin(struct fields_run *r)
{
	if (!r->bytes)
		r->bytes = g_byte_array_new();
	g_byte_array_set_size(r->bytes, 0);
	r->full = false;
}

void fields_clear(struct fields_run *r)
{
	if (r->bytes)
		g_byte_array_unref(r->bytes);
	*r = (struct fields_run){ 0 };
}

static void append(struct fields_run *r, const struct field_head *h, const char *name, const char *text)
{
	g_byte_array_append(r->bytes, (const uint8_t *)h, sizeof *h);
	g_byte_array_append(r->bytes, (const uint8_t *)name, h->name_size);
	if (h->len)
		g_byte_array_append(r->bytes, (const uint8_t *)text, h->len);
}

/* Counts a field that is left out. */
static void leave_out(struct fields_run *r, const struct field *f)
{
	struct field_head h;

	memcpy(&h, r->bytes->data + r->more, sizeof h);
	h.value += f->kind == FIELD_TEXT ? f->len : f->bytes;
	memcpy(r->bytes->data + r->more, &h, sizeof h);
}

void fields_put(struct fields_run *r, const struct field *f)
{
	const char *name = f->name ? f->name : "";
	struct field_head h = {
		.kind = f->kind, .scope = f->scope, .base = f->base, .is_list = f->is_list,
		.has_text = f->text != NULL, .name_size = (uint32_t)strlen(name) + 1,
		.len = f->text ? f->len : 0, .value = f->value,
	};
	g_assert(r->bytes);		/* fields_begin() was called */
	if (r->full) {
		leave_out(r, f);
		return;
	}
	if (f->kind == FIELD_REAL)
		memcpy(&h.value, &f->real, sizeof h.value);
	if ((uint64_t)r->bytes->len + sizeof h + h.name_size + h.len <= LIMIT_LOG_EVENT_BYTES) {
		append(r, &h, name, f->text);
		return;
	}
	r->more = r->bytes->len;
	r->full = true;
	append(r, &(struct field_head){ .kind = FIELD_MORE, .scope = f->scope, .name_size = 1 }, "", NULL);
	leave_out(r, f);
}

bool fields_next(struct fields_cursor *c, struct field *ret)
{
	struct field_head h;
	if ((size_t)(c->end - c->at) < sizeof h)
		return false;
	memcpy(&h, c->at, sizeof h);
	c->at += sizeof h;
	g_assert(h.name_size && (uint64_t)(c->end - c->at) >= (uint64_t)h.name_size + h.len);
	*ret = (struct field){
		.kind = h.kind, .scope = h.scope, .base = h.base, .is_list = h.is_list,
		.name = (const char *)c->at, .value = h.value,
		.text = h.has_text ? (const char *)c->at + h.name_size : NULL, .len = h.len,
	};
	if (h.kind == FIELD_REAL)
		memcpy(&ret->real, &h.value, sizeof ret->real);
	c->at += h.name_size + h.len;
	return true;
}

bool fields_find(const void *bytes, size_t n, enum field_scope scope, const char *name,
		 struct field *ret)
{
	struct fields_cursor c = fields_of(bytes, n);
	unsigned depth = 0;
	while (fields_next(&c, ret)) {
		if (!depth && ret->scope == scope && !strcmp(ret->name, name))
			return true;
		if (ret->kind == FIELD_BEGIN)
			depth++;
		else if (ret->kind == FIELD_END && depth)
			depth--;
	}
	return false;
}

bool fields_is_length(const char *name)
{
	return name && *name == '_' && g_str_has_suffix(name, "_length");
}
