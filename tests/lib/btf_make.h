/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the kernel's type information for tests: types in order, from number 1 on, then the whole.
 *
 *     struct btf_made m = btf_made_begin();
 *     btf_made_struct(&m, 4, "sk_buff", 2);		// KIND_STRUCT, 2 members, which follow
 *     btf_made_member(&m, "data", 1, 64);		// of type 1, at bit 64
 *     GByteArray *bytes = btf_made_end(&m);
 */
#ifndef TESTS_LIB_BTF_MAKE_H
#define TESTS_LIB_BTF_MAKE_H

#include <glib.h>
#include <string.h>

struct btf_made { GByteArray *types, *texts; };

static inline void btf_made_u32(GByteArray *to, guint32 value)
{
	g_byte_array_append(to, (const guint8 *)&value, 4);
}

static inline struct btf_made btf_made_begin(void)
{
	struct btf_made m = { g_byte_array_new(), g_byte_array_new() };
	g_byte_array_append(m.texts, (const guint8 *)"", 1);
	return m;
}

static inline guint32 btf_made_text(struct btf_made *m, const char *text)
{
	guint32 at = m->texts->len;
	if (!*text)
		return 0;
	g_byte_array_append(m->texts, (const guint8 *)text, (guint)strlen(text) + 1);
	return at;
}

/* kind: 4 struct, 5 union, 1 int; | 0x80: with bit fields. */
static inline void btf_made_struct(struct btf_made *m, guint32 kind, const char *name, guint32 n)
{
	btf_made_u32(m->types, btf_made_text(m, name));
	btf_made_u32(m->types, kind << 24 | n);
	btf_made_u32(m->types, 0);
}

static inline void btf_made_member(struct btf_made *m, const char *name, guint32 type, guint32 bits)
{
	btf_made_u32(m->types, btf_made_text(m, name));
	btf_made_u32(m->types, type);
	btf_made_u32(m->types, bits);
}

static inline GByteArray *btf_made_end(struct btf_made *m)
{
	GByteArray *all = g_byte_array_new();
	btf_made_u32(all, 0x0001eb9f);		/* magic, version, flags */
	btf_made_u32(all, 24);
	btf_made_u32(all, 0);
	btf_made_u32(all, m->types->len);
	btf_made_u32(all, m->types->len);
	btf_made_u32(all, m->texts->len);
	g_byte_array_append(all, m->types->data, m->types->len);
	g_byte_array_append(all, m->texts->data, m->texts->len);
	g_byte_array_unref(m->types);
	g_byte_array_unref(m->texts);
	return all;
}

#endif
