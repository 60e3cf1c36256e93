/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metadata parser: any bytes. What it takes must be sound, and the same when it comes
 * in two pieces; what it refuses must say so in words that a terminal can bear.
 *
 * Input: packets, or text; the comment that text begins with may be left out.
 */
#include <string.h>

#include "fuzz/fuzzer.h"
#include "base/limits.h"
#include "lib/ctf_dump.h"
#include "lib/fuzz_metas.h"
#include "lib/inspect.h"

#define BEGIN "/* CTF 1.8 */"

/* ---- is it sound? ---- */

struct check {
	uint32_t n_regs;
	uint64_t n_types;
};

static void check_type(struct check *c, const struct ctf_type *t, int depth);

static void check_fields(struct check *c, const struct ctf_type *t, int depth)
{
	for (uint32_t i = 0; i < t->n_fields; i++) {
		const struct ctf_field *f = &t->field[i];
		g_assert_nonnull(f->name);
		g_assert_cmpuint(f->reg, <, c->n_regs);
		if (f->reg)
			g_assert_true(f->type->kind == CTF_INTEGER || f->type->kind == CTF_ENUM);
		if (t->kind == CTF_STRUCT)
			g_assert_cmpuint(t->align, >=, f->type->align);
		check_type(c, f->type, depth);
	}
}

static void check_leaf(const struct ctf_type *t)
{
	g_assert_cmpuint(t->bits, >, 0);
	g_assert_cmpuint(t->bits, <=, 64);
	if (t->kind == CTF_FLOAT)
		g_assert_true(t->bits == 32 || t->bits == 64);
	for (uint32_t i = 0; t->kind == CTF_ENUM && i < t->n_ranges; i++)
		g_assert_nonnull(t->range[i].label);
}

static void check_type(struct check *c, const struct ctf_type *t, int depth)
{
	g_assert_nonnull(t);
	g_assert_cmpint(depth, <, LIMIT_TYPE_DEPTH);
	g_assert_true(t->align && !(t->align & (t->align - 1)));
	c->n_types++;
	switch ((enum ctf_kind)t->kind) {
	case CTF_INTEGER:
	case CTF_FLOAT:
	case CTF_ENUM:
		check_leaf(t);
		break;
	case CTF_STRING:
		break;
	case CTF_VARIANT:
	case CTF_OPTIONAL:
		g_assert_true(t->tag && t->tag < c->n_regs);
		for (uint32_t i = 0; i < t->n_selects; i++)
			g_assert_cmpuint(t->select[i].option, <, t->n_fields);
		check_fields(c, t, depth + 1);
		break;
	case CTF_STRUCT:
		check_fields(c, t, depth + 1);
		break;
	case CTF_SEQUENCE:
		g_assert_true(t->length_reg && t->length_reg < c->n_regs);
		G_GNUC_FALLTHROUGH;
	case CTF_ARRAY:
		check_type(c, t->element, depth + 1);
		break;
	}
}

static void check_root(struct check *c, const struct ctf_type *t)
{
	uint64_t bits;
	if (!t)
		return;
	g_assert_cmpint(t->kind, ==, CTF_STRUCT);
	check_type(c, t, 0);
	if (ctf_type_fixed(t, &bits))
		g_assert_cmpuint(bits, <, UINT64_C(1) << 60);
}

static void check_meta(const struct ctf_meta *m)
{
	struct check c = { .n_regs = UINT16_MAX };
	check_root(&c, m->packet_header);
	for (guint i = 0; i < m->streams->len; i++) {
		const struct ctf_stream_class *sc = m->streams->pdata[i];
		c.n_regs = sc->n_regs;
		g_assert_true(m->has_trace);
		check_root(&c, sc->packet_context);
		check_root(&c, sc->event_header);
		check_root(&c, sc->event_context);
		for (guint j = 0; j < sc->events->len; j++) {
			const struct ctf_event_class *ec = sc->events->pdata[j];
			g_assert_true(ctf_stream_event(sc, ec->id) == ec);
			g_assert_nonnull(ec->name);
			check_root(&c, ec->context);
			check_root(&c, ec->fields);
		}
	}
	for (guint i = 0; i < m->clocks->len; i++) {
		const struct ctf_clock *k = m->clocks->pdata[i];
		g_assert_true(k->name && k->freq && k->offset < k->freq);
	}
}

/* ---- one input ---- */

static struct ctf_meta *parse(const uint8_t *bytes, size_t n, const uint8_t *rest, size_t n_rest)
{
	g_autoptr(GError) error = NULL;
	struct ctf_meta *m = ctf_meta_new();
	if (ctf_meta_append(m, bytes, n, &error) && ctf_meta_append(m, rest, n_rest, &error)) {
		g_assert_no_error(error);
		check_meta(m);
		return m;
	}
	fuzz_check_error(error);
	ctf_meta_free(m);
	return NULL;
}

/* Cut behind one of its declarations, the text says the same. */
static void check_cut(const struct ctf_meta *m, const char *text, size_t n)
{
	if (m->packetised || memchr(text, '\0', n))
		return;
	g_autoptr(GArray) ends = ctf_boundaries(text);
	if (!ends->len)
		return;
	gsize at = g_array_index(ends, gsize, g_str_hash(text) % ends->len);
	g_autoptr(blk_ctf_meta) cut = parse((const uint8_t *)text, at, (const uint8_t *)text + at,
					    n - at);
	g_assert_nonnull(cut);
	g_autofree char *whole_dump = ctf_dump(m), *cut_dump = ctf_dump(cut);
	g_assert_cmpstr(whole_dump, ==, cut_dump);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t be[4] = { 0x75, 0xd1, 0x1d, 0x57 }, le[4] = { 0x57, 0x1d, 0xd1, 0x75 };
	bool is_whole = size >= 4 && (!memcmp(data, be, 4) || !memcmp(data, le, 4) ||
				      !memcmp(data, BEGIN, 4));
	size_t n_begin = is_whole ? 0 : strlen(BEGIN), n = n_begin + size;
	g_autofree char *text = g_malloc(n + 1);
	memcpy(text, BEGIN, n_begin);
	memcpy(text + n_begin, data, size);
	text[n] = '\0';
	/* The parser gets memory of exactly that size. */
	g_autofree uint8_t *exact = g_malloc(n + !n);
	memcpy(exact, text, n);
	g_autoptr(blk_ctf_meta) m = parse(exact, n, NULL, 0);
	if (m)
		check_cut(m, text, n);
	return 0;
}
