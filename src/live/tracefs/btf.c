/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the kernel's type information. */
#include "live/tracefs/btf.h"

#include "base/fail.h"
#include "base/limits.h"
#include "live/tracefs/file.h"

#include <string.h>

#define BTF_MAGIC 0xeb9f
#define BTF_HEADER 24			/* bytes, of version 1 */
#define TYPE_BYTES 12			/* of a type, without what follows it */
#define MEMBER_BYTES 12
#define NEST_MAX 8			/* structs without names in each other */

enum { KIND_INT = 1, KIND_ARRAY = 3, KIND_STRUCT, KIND_UNION, KIND_ENUM, KIND_FUNC_PROTO = 13, KIND_VAR, KIND_DATASEC,
       KIND_DECL_TAG = 17, KIND_ENUM64 = 19 };

struct btf {
	const uint8_t *types, *texts;
	uint32_t types_size, texts_size;	/* bytes */
	GArray *at;			/* uint32_t: offset of each type in .types; number 0 is void */
};

static uint32_t u32_at(const uint8_t *at)
{
	uint32_t value;
	memcpy(&value, at, 4);
	return value;
}

static uint32_t kind_of(uint32_t info)
{
	return info >> 24 & 0x1f;
}

/* What follows a type: its members, parameters and the like. */
static uint32_t bytes_behind(uint32_t info)
{
	uint32_t n = info & 0xffff;
	switch (kind_of(info)) {
	case KIND_INT:
	case KIND_VAR:
	case KIND_DECL_TAG:
		return 4;
	case KIND_ARRAY:
		return 12;
	case KIND_STRUCT:
	case KIND_UNION:
	case KIND_DATASEC:
	case KIND_ENUM64:
		return n * MEMBER_BYTES;
	case KIND_ENUM:
	case KIND_FUNC_PROTO:
		return n * 8;
	default:
		return 0;
	}
}

/* A part of the bytes, behind the header. */
static const uint8_t *section(const uint8_t *bytes, size_t n, uint32_t header, uint32_t offset, uint32_t size)
{
	return (uint64_t)header + offset + size <= n ? bytes + header + offset : NULL;
}

static bool index_types(struct btf *b, GError **error)
{
	uint32_t at = 0, nothing = UINT32_MAX;
	g_array_append_val(b->at, nothing);
	while (at < b->types_size) {
		uint32_t left = b->types_size - at;
		uint32_t behind = left < TYPE_BYTES ? 0 : bytes_behind(u32_at(b->types + at + 4));
		if (left < TYPE_BYTES || behind > left - TYPE_BYTES)
			return fail(error, TRACEFS_ERROR, 0, "type %u of the kernel's type information is cut off",
				    b->at->len);
		g_array_append_val(b->at, at);
		at += TYPE_BYTES + behind;
	}
	return true;
}

struct btf *btf_new(const uint8_t *bytes, size_t n, GError **error)
{
	uint16_t magic = 0;
	if (n >= BTF_HEADER)
		memcpy(&magic, bytes, 2);
	if (magic != BTF_MAGIC || bytes[2] != 1 || n > LIMIT_BTF_BYTES) {
		fail(error, TRACEFS_ERROR, 0, "the kernel's type information has another format");
		return NULL;
	}
	g_autoptr(btf) b = g_new0(struct btf, 1);
	uint32_t header = u32_at(bytes + 4);
	b->types_size = u32_at(bytes + 12);
	b->texts_size = u32_at(bytes + 20);
	b->types = section(bytes, n, header, u32_at(bytes + 8), b->types_size);
	b->texts = section(bytes, n, header, u32_at(bytes + 16), b->texts_size);
	b->at = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (!b->types || !b->texts || !b->texts_size || b->texts[b->texts_size - 1]) {
		fail(error, TRACEFS_ERROR, 0, "the kernel's type information is cut off");
		return NULL;
	}
	return index_types(b, error) ? g_steal_pointer(&b) : NULL;
}

void btf_free(struct btf *b)
{
	if (!b)
		return;
	if (b->at)
		g_array_unref(b->at);
	g_free(b);
}

struct btf *btf_of_kernel(char **ret_bytes)
{
	gsize n;
	*ret_bytes = NULL;
	return g_file_get_contents(BTF_PATH, ret_bytes, &n, NULL) ? btf_new((const uint8_t *)*ret_bytes, n, NULL)
								  : NULL;
}

/* The text at this offset, which ends within the bytes; "": none. */
static const char *text_at(const struct btf *b, uint32_t offset)
{
	return offset < b->texts_size ? (const char *)b->texts + offset : "";
}

/* A type by its number; NULL: there is none. */
static const uint8_t *type_at(const struct btf *b, uint32_t number)
{
	return number && number < b->at->len ? b->types + g_array_index(b->at, uint32_t, number) : NULL;
}

/* Looks for the member, also in what has no name. *left: members that may still be looked at. */
static bool find_member(const struct btf *b, const uint8_t *type, const char *name, unsigned depth, uint32_t *left,
			uint64_t *ret_bits)
{
	uint32_t info = u32_at(type + 4), n = info & 0xffff;
	bool has_bitfields = info >> 31;
	for (uint32_t i = 0; i < n && *left; i++, --*left) {
		const uint8_t *m = type + TYPE_BYTES + i * MEMBER_BYTES;
		uint32_t bits = u32_at(m + 8);
		bool is_bitfield = has_bitfields && bits >> 24;
		const char *text = text_at(b, u32_at(m));
		if (has_bitfields)
			bits &= 0xffffff;
		if (*text) {
			*ret_bits = bits;
			if (!strcmp(text, name))
				return !is_bitfield;
			continue;
		}
		const uint8_t *inner = type_at(b, u32_at(m + 4));
		uint32_t kind = inner ? kind_of(u32_at(inner + 4)) : 0;
		if ((kind == KIND_STRUCT || kind == KIND_UNION) && depth < NEST_MAX &&
		    find_member(b, inner, name, depth + 1, left, ret_bits)) {
			*ret_bits += bits;
			return true;
		}
	}
	return false;
}

bool btf_offset(const struct btf *b, const char *name, const char *member, uint32_t *ret)
{
	uint32_t left = LIMIT_BTF_MEMBERS;
	for (uint32_t i = 1; i < b->at->len; i++) {
		const uint8_t *type = type_at(b, i);
		uint64_t bits;
		if (kind_of(u32_at(type + 4)) != KIND_STRUCT || strcmp(text_at(b, u32_at(type)), name))
			continue;
		if (find_member(b, type, member, 0, &left, &bits) && bits % 8 == 0 && bits / 8 <= INT32_MAX) {
			*ret = (uint32_t)(bits / 8);
			return true;
		}
	}
	return false;
}
