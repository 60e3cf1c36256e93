/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Packet headers: any bytes, read at once and bit by bit as a file would give them,
 * and held against the plain walker.
 *
 * Input: which metadata (fuzz_metas.h), how much longer the file is, the packet.
 */
#include <string.h>

#include "fuzz/fuzzer.h"
#include "lib/fuzz_metas.h"
#include "trace/ctf/ctf_index.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_walk.h"

struct file {
	const struct ctf_meta *meta;
	const uint8_t *bytes;		/* what is there of the packet */
	size_t n;
	uint64_t offset, size;
};

struct outcome {
	bool ok;
	struct ctf_packet p;
	size_t need;
	GError *error;
};

static struct outcome read_packet(const struct file *f, size_t n)
{
	struct outcome o = { 0 };
	/* Memory of exactly that size. */
	g_autofree uint8_t *exact = g_malloc(n + !n);
	memcpy(exact, f->bytes, n);
	o.ok = ctf_packet_read(f->meta, exact, n, f->offset, f->size, &o.p, &o.need, &o.error);
	if (o.ok) {
		g_assert_no_error(o.error);
	} else if (o.error) {
		fuzz_check_error(o.error);
	} else {
		g_assert_cmpuint(o.need, >, n);
		g_assert_cmpuint(o.need, <=, f->size - f->offset);
	}
	return o;
}

/* ---- is it sound? ---- */

static void check_packet(const struct file *f, const struct ctf_packet *p)
{
	g_assert_cmpuint(p->offset, ==, f->offset);
	g_assert_cmpuint(p->packet_bits % 8, ==, 0);
	g_assert_cmpuint(p->packet_bits / 8, <=, f->size - f->offset);
	g_assert_cmpuint(p->content_bits, <=, p->packet_bits);
	g_assert_cmpuint(p->header_bits, >, 0);
	g_assert_cmpuint(p->header_bits, <=, p->content_bits);
	g_assert_cmpuint(p->header_bits, <=, (uint64_t)f->n * 8);
	g_assert_true(p->checked && p->fault != CTF_GARBAGE);
	g_assert_nonnull(ctf_meta_stream(f->meta, p->stream_id));
	g_assert_true(p->has_cpu == (p->cpu != UINT32_MAX));
	if (p->fault == CTF_WHOLE && p->has_begin && p->has_end)
		g_assert_cmpuint(p->begin, <=, p->end);
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
	const struct ctf_packet *p = &a->p, *q = &b->p;
	g_assert_cmpint(a->ok, ==, b->ok);
	g_assert_cmpuint(a->need, ==, b->need);
	if (a->error || b->error)
		g_assert_cmpstr(a->error->message, ==, b->error->message);
	if (!a->ok)
		return;
	g_assert_true(p->packet_bits == q->packet_bits && p->content_bits == q->content_bits);
	g_assert_true(p->begin == q->begin && p->end == q->end && p->discarded == q->discarded);
	g_assert_true(p->seq == q->seq && p->instance == q->instance && p->cpu == q->cpu);
	g_assert_true(p->header_bits == q->header_bits && p->fault == q->fault);
	g_assert_true(p->stream_id == q->stream_id);
}

/* ---- what the walker sees ---- */

struct walked {
	GHashTable *values;		/* name -> uint64_t *; the first of a name counts */
	bool by_roles;			/* CTF 2 */
};

/* What CTF 1.8 calls a field of this role; NULL: nothing that is checked. */
static const char *name_of_role(const struct ctf_type *t, const char *name)
{
	static const struct { unsigned role; const char *name; } names[] = {
		{ CTF_ROLE_TIMESTAMP, "timestamp_begin" }, { CTF_ROLE_END_TIMESTAMP, "timestamp_end" },
		{ CTF_ROLE_SEQUENCE, "packet_seq_num" }, { CTF_ROLE_DISCARDED, "events_discarded" },
		{ CTF_ROLE_STREAM, "stream_instance_id" }, { CTF_ROLE_PACKET_SIZE, "packet_size" },
		{ CTF_ROLE_CONTENT_SIZE, "content_size" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		if (t->roles & names[i].role)
			return names[i].name;
	return !t->roles && name && !strcmp(name, "cpu_id") ? name : NULL;
}

static void on_integer(void *data, const char *name, const struct ctf_type *t, uint64_t value,
		       unsigned bits)
{
	struct walked *w = data;
	if (w->by_roles)
		name = name_of_role(t, name);
	if (!name || g_hash_table_contains(w->values, name))
		return;
	/* sizes and times count as they are written, without sign */
	if (bits < 64)
		value &= (UINT64_C(1) << bits) - 1;
	g_hash_table_insert(w->values, (char *)name, g_memdup2(&value, sizeof value));
}

static void check_value(const struct walked *w, const char *name, bool has, uint64_t value)
{
	const uint64_t *want = g_hash_table_lookup(w->values, name);
	if (has != !!want || (has && *want != value))
		g_error("%s: %d %" G_GUINT64_FORMAT ", walked %d %" G_GUINT64_FORMAT, name, has, value,
			!!want, want ? *want : 0);
}

static void check_walk(const struct file *f, const struct ctf_packet *p)
{
	static const struct ctf_visitor visitor = { .integer = on_integer };
	static uint64_t regs[1 << 16];
	uint64_t pos = 0;
	struct walked w = { g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free), f->meta->is_ctf2 };
	const struct ctf_stream_class *sc = ctf_meta_stream(f->meta, p->stream_id);
	bool ok = ctf_walk(f->meta->packet_header, f->bytes, &pos, f->n * 8, regs, &visitor, &w) &&
		  (!sc->packet_context || ctf_walk(sc->packet_context, f->bytes, &pos, f->n * 8, regs,
						   &visitor, &w));
	g_assert_true(ok);
	g_assert_cmpuint(pos, ==, p->header_bits);
	check_value(&w, "timestamp_begin", p->has_begin, p->begin);
	/* the reader drops an end of 0, and one before the beginning */
	if (p->end && (!p->has_begin || p->end >= p->begin))
		check_value(&w, "timestamp_end", p->has_end, p->end);
	check_value(&w, "packet_seq_num", p->has_seq, p->seq);
	check_value(&w, "events_discarded", p->has_discarded, p->discarded);
	check_value(&w, "stream_instance_id", p->has_instance, p->instance);
	if (p->has_cpu)
		check_value(&w, "cpu_id", true, p->cpu);
	const uint64_t *bits = g_hash_table_lookup(w.values, "packet_size");
	if (bits && p->fault == CTF_WHOLE)
		g_assert_cmpuint(p->packet_bits, ==, *bits);
	bits = g_hash_table_lookup(w.values, "content_size");
	if (bits && p->fault == CTF_WHOLE)
		g_assert_cmpuint(p->content_bits, ==, *bits);
	g_hash_table_unref(w.values);
}

/* ---- one input ---- */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2)
		return 0;
	struct file f = {
		.meta = fuzz_meta(data[0]), .bytes = data + 2, .n = size - 2,
		.offset = data[1] % 3 * 4096,
	};
	f.size = f.offset + f.n + (data[1] / 3) * 64;
	struct outcome all = read_packet(&f, f.n);
	if (all.ok) {
		check_packet(&f, &all.p);
		check_walk(&f, &all.p);
	}
	/* As many bytes as it asks for, from none on, lead to the same. */
	for (size_t n = 0;;) {
		struct outcome part = read_packet(&f, n);
		bool more = !part.ok && !part.error && part.need <= f.n;
		if (more)
			n = part.need;
		else
			check_same(&all, &part);
		g_clear_error(&part.error);
		if (!more)
			break;
	}
	g_clear_error(&all.error);
	return 0;
}
