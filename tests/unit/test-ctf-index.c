/* SPDX-License-Identifier: GPL-2.0-only */
/* Packet headers and indexes: of made-up files with every kind of damage, in both byte
 * orders. test-ctf-index-traces.c has the recordings. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "lib/test_traces.h"
#include "trace/ctf/ctf_index.h"
#include "trace/reader.h"

#define PACKET 4096
#define HEADER_BYTES (32 + 52)
#define EVENT_HEADER_BYTES 12

/* ---- a trace's metadata ---- */

static const char uuid[] = "0123456789abcdef";

static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 8; align = 8; signed = false; } := u8;\n"
	"typealias integer { size = 32; align = ALIGN32; signed = false; } := u32;\n"
	"typealias integer { size = 64; align = ALIGN64; signed = false; } := u64;\n"
	"trace {\n"
	"	major = 1; minor = 8; byte_order = ORDER;\n"
	"	uuid = \"30313233-3435-3637-3839-616263646566\";\n"
	"	packet.header := struct {\n"
	"		u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id;\n"
	"	};\n"
	"};\n"
	"stream {\n"
	"	id = 7;\n"
	"	packet.context := struct {\n"
	"		u64 timestamp_begin; u64 timestamp_end; u64 content_size; u64 packet_size;\n"
	"		u64 packet_seq_num; u64 events_discarded; u32 cpu_id;\n"
	"	};\n"
	"	event.header := struct { u32 id; u64 timestamp; };\n"
	"};\n";

struct made {
	struct ctf_meta *meta;
	bool be;
	unsigned align32, align64;	/* bytes */
};

static void replace(GString *text, const char *from, const char *to)
{
	g_assert_cmpuint(g_string_replace(text, from, to, 0), >, 0);
}

/* `from`, if any, says `to` instead. */
static struct made *made_new(bool be, unsigned align, const char *from, const char *to)
{
	struct made *t = g_new0(struct made, 1);
	g_autoptr(GError) error = NULL;
	GString *text = g_string_new(metadata);

	if (from)
		replace(text, from, to);
	replace(text, "ORDER", be ? "be" : "le");
	replace(text, "ALIGN32", align == 8 ? "8" : "32");
	replace(text, "ALIGN64", align == 8 ? "8" : "64");
	t->meta = ctf_meta_new();
	t->be = be;
	t->align32 = align == 8 ? 1 : 4;
	t->align64 = align == 8 ? 1 : 8;
	ctf_meta_append(t->meta, text->str, text->len, &error);
	g_assert_no_error(error);
	g_string_free(text, TRUE);
	return t;
}

static void made_free(struct made *t)
{
	ctf_meta_free(t->meta);
	g_free(t);
}

/* ---- stream files ---- */

struct spec {			/* of one packet; 0: the usual */
	uint64_t bytes;		/* in the file */
	uint64_t packet_bits, content_bits, end;
	uint32_t magic;
	bool no_sizes, no_content, no_end;
};

static void put(GByteArray *a, uint64_t value, unsigned bytes, unsigned align, bool be)
{
	static const uint8_t zeros[8];

	while (a->len % align)
		g_byte_array_append(a, zeros, 1);
	for (unsigned i = 0; i < bytes; i++) {
		uint8_t b = value >> 8 * (be ? bytes - 1 - i : i);
		g_byte_array_append(a, &b, 1);
	}
}

static void put_packet(GByteArray *file, const struct made *t, const struct spec *s, unsigned i)
{
	g_autoptr(GByteArray) a = g_byte_array_new();
	uint64_t bytes = s->bytes ? s->bytes : PACKET;
	unsigned align = t->align64, align32 = t->align32;
	bool be = t->be;

	put(a, s->magic ? s->magic : 0xc1fc1fc1, 4, align32, be);
	g_byte_array_append(a, (const guint8 *)uuid, 16);
	put(a, 7, 4, align32, be);
	put(a, 3, 8, align, be);
	put(a, 1000 * (i + 1), 8, align, be);
	put(a, s->no_end ? 0 : s->end ? s->end : 1000 * (i + 1) + 900, 8, align, be);
	put(a, s->no_sizes || s->no_content ? 0 : s->content_bits ? s->content_bits : 2000, 8,
	    align, be);
	put(a, s->no_sizes ? 0 : s->packet_bits ? s->packet_bits : bytes * 8, 8, align, be);
	put(a, 50 + i, 8, align, be);
	put(a, 10 * i, 8, align, be);
	put(a, 2, 4, align32, be);
	guint header = a->len;
	g_byte_array_set_size(a, MAX(bytes, header));
	memset(a->data + header, 0x5a, a->len - header);
	g_byte_array_append(file, a->data, bytes);
}

struct fixture {
	char *dir;
	struct made *t;
	GByteArray *file;
	unsigned n;
};

static void setup(struct fixture *f, const void *be)
{
	f->dir = test_temp_dir();
	f->t = made_new(be != NULL, 8, NULL, NULL);
	f->file = g_byte_array_new();
}

static void teardown(struct fixture *f, const void *unused)
{
	test_remove_tree(f->dir);
	g_free(f->dir);
	made_free(f->t);
	g_byte_array_unref(f->file);
}

static void add(struct fixture *f, struct spec s)
{
	put_packet(f->file, f->t, &s, f->n++);
}

static void add_many(struct fixture *f, unsigned n)
{
	while (n--)
		add(f, (struct spec){ 0 });
}

static void write_file(struct fixture *f)
{
	g_autofree char *path = g_build_filename(f->dir, "k_0", NULL);

	g_assert_true(g_file_set_contents(path, (char *)f->file->data, f->file->len, NULL));
}

/* An index file of what the walk finds; entries of `length` bytes. */
static GByteArray *make_idx(const struct ctf_packet *p, size_t n, unsigned length)
{
	GByteArray *a = g_byte_array_new();

	put(a, 0xc1f1dcc1, 4, 1, true);
	put(a, 1, 4, 1, true);
	put(a, length > 56, 4, 1, true);
	put(a, length, 4, 1, true);
	for (size_t i = 0; i < n; i++) {
		const uint64_t v[9] = { p[i].offset, p[i].packet_bits, p[i].content_bits,
					p[i].begin, p[i].end, p[i].discarded, p[i].stream_id,
					p[i].instance, p[i].seq };
		guint begin = a->len;
		for (unsigned k = 0; k < MIN(length / 8, 9); k++)
			put(a, v[k], 8, 1, true);
		while (a->len - begin < length)
			put(a, 0xff, 1, 1, true);
	}
	return a;
}

static void write_idx(struct fixture *f, const GByteArray *idx)
{
	g_autofree char *dir = g_build_filename(f->dir, "index", NULL);
	g_autofree char *path = g_build_filename(dir, "k_0.idx", NULL);

	g_mkdir(dir, 0700);
	g_assert_true(g_file_set_contents(path, (char *)idx->data, idx->len, NULL));
}

static struct ctf_index *open_index(struct fixture *f)
{
	GError *error = NULL;
	struct ctf_index *x = ctf_index_open(f->t->meta, f->dir, "k_0", &error);

	g_assert_no_error(error);
	return x;
}

/* Packets follow one another; while there is more to do they end where the file does,
 * or begin where it does. */
static void assert_chain(const struct ctf_index *x)
{
	size_t n;
	const struct ctf_packet *p = ctf_index_packets(x, &n);

	for (size_t i = 1; i < n; i++)
		g_assert_cmpuint(p[i].offset, ==, p[i - 1].offset + p[i - 1].packet_bits / 8);
	for (size_t i = 0; i < n; i++)
		g_assert_cmpuint(p[i].content_bits, <=, p[i].packet_bits);
	if (!n)
		return;
	uint64_t end = p[n - 1].offset + p[n - 1].packet_bits / 8;
	g_assert_true(p[0].offset == 0 || end == ctf_index_size(x));
	if (ctf_index_complete(x)) {
		g_assert_cmpuint(p[0].offset, ==, 0);
		g_assert_cmpuint(end, ==, ctf_index_size(x));
		g_assert_cmpfloat(ctf_index_progress(x), ==, 1);
	}
}

static const struct ctf_packet *walk(struct ctf_index *x, size_t step, size_t *ret_n)
{
	size_t guard = 0;

	assert_chain(x);
	while (ctf_index_walk(x, step)) {
		assert_chain(x);
		g_assert_cmpfloat(ctf_index_progress(x), <=, 1);
		g_assert_cmpuint(guard++, <, 100000);
	}
	assert_chain(x);
	g_assert_true(ctf_index_complete(x));
	return ctf_index_packets(x, ret_n);
}

static void assert_usual(const struct ctf_packet *p, unsigned i)
{
	g_assert_cmpuint(p->begin, ==, 1000 * (i + 1));
	g_assert_cmpuint(p->end, ==, 1000 * (i + 1) + 900);
	g_assert_cmpuint(p->content_bits, ==, 2000);
	g_assert_cmpuint(p->discarded, ==, 10 * i);
	g_assert_cmpuint(p->stream_id, ==, 7);
	g_assert_cmpuint(p->fault, ==, CTF_WHOLE);
	g_assert_true(p->has_begin && p->has_end && p->has_discarded);
}

/* ---- one header ---- */

static void test_header(struct fixture *f, const void *unused)
{
	struct ctf_packet p;
	size_t need;

	add_many(f, 2);
	g_assert_true(ctf_packet_read(f->t->meta, f->file->data + PACKET, 200, PACKET,
				      2 * PACKET, &p, &need, NULL));
	assert_usual(&p, 1);
	g_assert_true(p.checked && p.has_seq && p.has_instance && p.has_cpu);
	g_assert_cmpuint(p.seq, ==, 51);
	g_assert_cmpuint(p.instance, ==, 3);
	g_assert_cmpuint(p.cpu, ==, 2);
	g_assert_cmpuint(p.header_bits, ==, HEADER_BYTES * 8);
	g_assert_cmpuint(p.offset, ==, PACKET);
	g_assert_cmpuint(p.packet_bits, ==, PACKET * 8);
	g_assert_cmpuint(p.discarded_bits, ==, 64);
}

/* Fewer bytes than the header has: how many it needs is said, till there are enough. */
static void test_header_needs_more(struct fixture *f, const void *unused)
{
	struct ctf_packet p;
	size_t n = 0, need;
	g_autoptr(GError) error = NULL;

	add_many(f, 1);
	while (!ctf_packet_read(f->t->meta, f->file->data, n, 0, PACKET, &p, &need, &error)) {
		g_assert_no_error(error);
		g_assert_cmpuint(need, >, n);
		g_assert_cmpuint(need, <=, HEADER_BYTES + EVENT_HEADER_BYTES);
		n = need;
	}
	g_assert_cmpuint(n, ==, HEADER_BYTES + EVENT_HEADER_BYTES);
	g_assert_false(ctf_packet_read(f->t->meta, f->file->data, 60, 0, 60, &p, &need, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
	g_assert_cmpuint(need, ==, 0);
}

static void assert_refused(struct fixture *f, int code, const char *says)
{
	g_autoptr(GError) error = NULL;
	struct ctf_packet p;
	size_t need;

	g_assert_false(ctf_packet_read(f->t->meta, f->file->data, f->file->len, 0,
				       f->file->len, &p, &need, &error));
	g_assert_error(error, BLK_TRACE_ERROR, code);
	g_assert_nonnull(strstr(error->message, says));
}

static void change_meta(struct fixture *f, const char *from, const char *to)
{
	bool be = f->t->be;

	made_free(f->t);
	f->t = made_new(be, 8, from, to);
}

static void test_header_refused(struct fixture *f, const void *unused)
{
	add_many(f, 1);
	f->file->data[1] ^= 1;
	assert_refused(f, BLK_TRACE_ERROR_CORRUPT, "no packet");
	f->file->data[1] ^= 1;
	change_meta(f, "id = 7;", "id = 8;");
	assert_refused(f, BLK_TRACE_ERROR_CORRUPT, "stream class 7");
	change_meta(f, "u32 stream_id; u64 stream_instance_id;\n\t};\n};\n",
		    "u32 x; u64 stream_instance_id;\n\t};\n};\nstream { id = 0; };\n");
	assert_refused(f, BLK_TRACE_ERROR_CORRUPT, "several stream classes");
}

static struct ctf_packet read_packet(struct fixture *f, size_t i)
{
	struct ctf_packet p;
	size_t need;

	g_assert_true(ctf_packet_read(f->t->meta, f->file->data + i * PACKET, f->file->len - i * PACKET, i * PACKET,
				      f->file->len, &p, &need, NULL));
	return p;
}

/* A packet of another trace is read; its flag says so. A packet header needs no magic number. */
static void test_header_unusual(struct fixture *f, const void *unused)
{
	add_many(f, 1);
	g_assert_false(read_packet(f, 0).other_uuid);
	f->file->data[5] ^= 1;
	g_assert_true(read_packet(f, 0).other_uuid);
	change_meta(f, "u32 magic;", "u32 other;");
	f->file->data[1] ^= 1;
	struct ctf_packet p = read_packet(f, 0);
	assert_usual(&p, 0);
	f->file->data[5] ^= 1;
	change_meta(f, "u32 magic; u8 uuid[16];", "u32 other[5];");
	p = read_packet(f, 0);
	assert_usual(&p, 0);
}

static void put_times(struct fixture *f, size_t i, uint32_t begin, uint32_t end)
{
	uint8_t *at = f->file->data + i * PACKET + 32;

	begin = f->t->be ? GUINT32_TO_BE(begin) : GUINT32_TO_LE(begin);
	end = f->t->be ? GUINT32_TO_BE(end) : GUINT32_TO_LE(end);
	memcpy(at, &begin, sizeof begin);
	memcpy(at + 8, &end, sizeof end);
}

/* Times of 32 bits continue from packet to packet. */
static void test_narrow_times(struct fixture *f, const void *unused)
{
	size_t n;

	add_many(f, 6);
	change_meta(f, "u64 timestamp_begin; u64 timestamp_end;",
		    "u32 timestamp_begin; u32 x; u32 timestamp_end; u32 y;");
	for (size_t i = 0; i < 6; i++)
		put_times(f, i, 0xfffffff0 + 8 * (uint32_t)i, 0xfffffff7 + 8 * (uint32_t)i);
	write_file(f);
	struct ctf_index *x = open_index(f);
	const struct ctf_packet *p = walk(x, 1, &n);
	g_assert_cmpuint(n, ==, 6);
	for (size_t i = 0; i < n; i++) {
		g_assert_cmpuint(p[i].begin, ==, 0xfffffff0 + 8 * (uint64_t)i);
		g_assert_cmpuint(p[i].end, ==, 0xfffffff7 + 8 * (uint64_t)i);
		g_assert_cmpuint(p[i].fault, ==, CTF_WHOLE);
	}
	ctf_index_free(x);
	put_times(f, 0, 0xfffffff0, 5);
	g_assert_cmpuint(read_packet(f, 0).end, ==, UINT64_C(0x100000005));
}

static void put_first(struct fixture *f, uint64_t first)
{
	first = f->t->be ? GUINT64_TO_BE(first) : GUINT64_TO_LE(first);
	memcpy(f->file->data + HEADER_BYTES + 4, &first, sizeof first);
}

/* The time of the first event is read if it has all bits; it is the beginning of a packet that has none. */
static void test_first_event(struct fixture *f, const void *unused)
{
	add_many(f, 1);
	put_first(f, 990);
	struct ctf_packet p = read_packet(f, 0);
	assert_usual(&p, 0);
	g_assert_true(p.has_first);
	g_assert_cmpuint(p.first, ==, 990);
	change_meta(f, "u64 timestamp_begin;", "u64 x;");
	g_assert_cmpuint(read_packet(f, 0).begin, ==, 990);
	change_meta(f, "u32 id; u64 timestamp;", "u32 id; u32 timestamp; u32 x;");
	g_assert_false(read_packet(f, 0).has_first);
}

/* A packet that is a header only has no event, and may have no time. */
static void test_header_only(struct fixture *f, const void *unused)
{
	add(f, (struct spec){ .content_bits = HEADER_BYTES * 8 });
	change_meta(f, "u64 timestamp_begin; u64 timestamp_end;", "u64 x, y;");
	g_assert_false(read_packet(f, 0).has_begin);
	change_meta(f, "u64 timestamp_begin; u64 timestamp_end; u64 content_size; u64 packet_size;", "u64 a, b, c, d;");
	g_byte_array_set_size(f->file, HEADER_BYTES);
	g_assert_false(read_packet(f, 0).has_begin);
}

static void test_sizes_refused(struct fixture *f, const void *unused)
{
	static const struct spec specs[] = {
		{ .content_bits = PACKET * 8 + 8 },		/* more than the packet */
		{ .content_bits = HEADER_BYTES * 8 - 8 },	/* less than its header */
		{ .packet_bits = PACKET * 8 - 1 },		/* no whole bytes */
		{ .packet_bits = 80, .content_bits = 80 },
		{ .packet_bits = (uint64_t)(LIMIT_PACKET_BYTES + 1) * 8 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(specs); i++) {
		g_byte_array_set_size(f->file, 0);
		add(f, specs[i]);
		assert_refused(f, BLK_TRACE_ERROR_CORRUPT, "size");
	}
}

/* Integers on their own alignment: 64 bits on 64, as ARM's tracer has them. */
static void test_header_aligned(struct fixture *f, const void *be)
{
	struct ctf_packet p;
	size_t need;

	made_free(f->t);
	f->t = made_new(be != NULL, 64, NULL, NULL);
	add_many(f, 1);
	g_assert_true(ctf_packet_read(f->t->meta, f->file->data, PACKET, 0, PACKET, &p, &need,
				      NULL));
	assert_usual(&p, 0);
	g_assert_cmpuint(p.header_bits, ==, 84 * 8);
	g_assert_cmpuint(p.cpu, ==, 2);
}

static void test_huge_offsets(struct fixture *f, const void *unused)
{
	uint64_t size = G_MAXINT64, at = size - HEADER_BYTES;
	struct ctf_packet p;
	size_t need;

	add(f, (struct spec){ .packet_bits = G_MAXUINT64 - 15, .content_bits = G_MAXUINT64 - 15 });
	g_assert_false(ctf_packet_read(f->t->meta, f->file->data, 200, 0, size, &p, &need, NULL));
	g_byte_array_set_size(f->file, 0);
	f->n = 0;
	add(f, (struct spec){ .packet_bits = (uint64_t)LIMIT_PACKET_BYTES * 8 });
	g_assert_true(ctf_packet_read(f->t->meta, f->file->data, 200, 0, size, &p, &need, NULL));
	g_assert_cmpuint(p.packet_bits, ==, (uint64_t)LIMIT_PACKET_BYTES * 8);
	g_assert_true(ctf_packet_read(f->t->meta, f->file->data, 200, at, size, &p, &need, NULL));
	g_assert_cmpuint(p.fault, ==, CTF_CUT_OFF);
	g_assert_cmpuint(p.packet_bits, ==, HEADER_BYTES * 8);
}

/* ---- walks ---- */

/* Backwards in one-packet steps gives what forwards gives. */
static void test_walk(struct fixture *f, const void *unused)
{
	size_t n;

	add_many(f, 40);
	write_file(f);
	for (size_t step = 1; step < 50; step += 7) {
		struct ctf_index *x = open_index(f);
		ctf_index_packets(x, &n);
		g_assert_cmpuint(n, ==, 1);
		ctf_index_walk(x, 1);
		g_assert_cmpuint(ctf_index_packets(x, &n)[n - 1].seq, ==, 50 + 39);
		const struct ctf_packet *p = walk(x, step, &n);
		g_assert_cmpuint(n, ==, 40);
		for (unsigned i = 0; i < n; i++)
			assert_usual(&p[i], i);
		g_assert_false(ctf_index_has_file(x));
		ctf_index_free(x);
	}
}

/* Sizes vary: in the middle, at the end. */
static void test_walk_mixed(struct fixture *f, const void *unused)
{
	for (unsigned odd = 0; odd < 12; odd++) {
		size_t n;
		g_byte_array_set_size(f->file, 0);
		f->n = 0;
		for (unsigned i = 0; i < 12; i++)
			add(f, (struct spec){ .bytes = i == odd ? 2 * PACKET + 512 * odd : 0 });
		write_file(f);
		struct ctf_index *x = open_index(f);
		const struct ctf_packet *p = walk(x, 1, &n);
		g_assert_cmpuint(n, ==, 12);
		for (unsigned i = 0; i < n; i++)
			assert_usual(&p[i], i);
		ctf_index_free(x);
	}
}

static void test_empty(struct fixture *f, const void *unused)
{
	size_t n;

	write_file(f);
	struct ctf_index *x = open_index(f);
	g_assert_true(ctf_index_complete(x));
	g_assert_false(ctf_index_walk(x, 1));
	g_assert_null(ctf_index_packets(x, &n));
	g_assert_cmpuint(n, ==, 0);
	ctf_index_free(x);
}

/* ---- damage ---- */

/* The file is as added; the fault is the last packet's, which begins at `offset`. */
static struct ctf_packet walk_fault(struct fixture *f, size_t n_whole, enum ctf_fault fault)
{
	size_t n;

	write_file(f);
	struct ctf_index *x = open_index(f);
	const struct ctf_packet *p = walk(x, 3, &n);
	g_assert_cmpuint(n, ==, n_whole + 1);
	for (unsigned i = 0; i < n_whole; i++)
		assert_usual(&p[i], i);
	g_assert_cmpuint(p[n_whole].fault, ==, fault);
	struct ctf_packet last = p[n_whole];
	ctf_index_free(x);
	return last;
}

static void test_cut_off(struct fixture *f, const void *unused)
{
	for (unsigned whole = 0; whole < 8; whole++) {
		g_byte_array_set_size(f->file, 0);
		f->n = 0;
		add_many(f, whole + 1);
		g_byte_array_set_size(f->file, whole * PACKET + 3000);
		struct ctf_packet p = walk_fault(f, whole, CTF_CUT_OFF);
		g_assert_cmpuint(p.packet_bits, ==, 3000 * 8);
		g_assert_cmpuint(p.content_bits, ==, 2000);
		g_byte_array_set_size(f->file, whole * PACKET + 100);
		p = walk_fault(f, whole, CTF_CUT_OFF);
		g_assert_cmpuint(p.content_bits, ==, 100 * 8);
		if (!whole)
			continue;
		g_byte_array_set_size(f->file, whole * PACKET + HEADER_BYTES - 1);
		p = walk_fault(f, whole, CTF_GARBAGE);
		g_assert_cmpuint(p.packet_bits, ==, (HEADER_BYTES - 1) * 8);
		g_assert_false(p.has_begin || p.has_end || p.has_cpu);
	}
}

static void test_unfinished(struct fixture *f, const void *unused)
{
	static const struct spec specs[] = {
		{ .no_sizes = true, .no_end = true },
		{ .no_content = true, .no_end = true },
		{ .packet_bits = G_MAXUINT64, .content_bits = G_MAXUINT64, .no_end = true },
		{ .content_bits = G_MAXUINT64 },
	};

	for (size_t s = 0; s < G_N_ELEMENTS(specs); s++) {
		for (unsigned whole = 0; whole < 8; whole++) {
			g_byte_array_set_size(f->file, 0);
			f->n = 0;
			add_many(f, whole);
			add(f, specs[s]);
			struct ctf_packet p = walk_fault(f, whole, CTF_UNFINISHED);
			g_assert_cmpuint(p.packet_bits, ==, PACKET * 8);
			g_assert_cmpuint(p.content_bits, ==, PACKET * 8);
			g_assert_cmpuint(p.begin, ==, 1000 * (whole + 1));
			g_assert_cmpuint(p.seq, ==, 50 + whole);
		}
	}
}

/* lttng-crash recovers packets whose end was never written. What they contain is known. */
static void test_recovered(struct fixture *f, const void *unused)
{
	for (unsigned whole = 0; whole < 8; whole++) {
		g_byte_array_set_size(f->file, 0);
		f->n = 0;
		add_many(f, whole);
		add(f, (struct spec){ .no_end = true });
		struct ctf_packet p = walk_fault(f, whole, CTF_WHOLE);
		g_assert_true(p.is_recovered && !p.has_end);
		g_assert_cmpuint(p.packet_bits, ==, PACKET * 8);
		g_assert_cmpuint(p.content_bits, ==, 2000);
	}
}

/* In the middle: packets behind it are found by the usual size. */
static void test_unfinished_middle(struct fixture *f, const void *unused)
{
	for (unsigned at = 0; at < 10; at++) {
		for (int odd = 0; odd < 2; odd++) {
			size_t n;
			g_byte_array_set_size(f->file, 0);
			f->n = 0;
			for (unsigned i = 0; i < 10; i++)
				add(f, i == at ? (struct spec){ .no_sizes = true, .no_end = true }
					       : (struct spec){ .bytes = i == 8 && odd ? 8192 : 0 });
			write_file(f);
			struct ctf_index *x = open_index(f);
			const struct ctf_packet *p = walk(x, 2, &n);
			g_assert_cmpuint(n, ==, 10);
			for (unsigned i = 0; i < n; i++)
				if (i != at)
					assert_usual(&p[i], i);
			g_assert_cmpuint(p[at].fault, ==, CTF_UNFINISHED);
			ctf_index_free(x);
		}
	}
}

static void test_garbage(struct fixture *f, const void *unused)
{
	for (unsigned whole = 1; whole < 8; whole++) {
		for (unsigned bytes = 1; bytes <= 2 * PACKET; bytes += 2 * PACKET - 1) {
			g_byte_array_set_size(f->file, 0);
			f->n = 0;
			add_many(f, whole);
			g_byte_array_set_size(f->file, whole * PACKET + bytes);
			memset(f->file->data + whole * PACKET, 0x33, bytes);
			struct ctf_packet p = walk_fault(f, whole, CTF_GARBAGE);
			g_assert_cmpuint(p.packet_bits, ==, bytes * 8);
		}
	}
}

/* Not even one header: that is no stream file. */
static void test_no_packet(struct fixture *f, const void *unused)
{
	g_autoptr(GError) error = NULL;

	add(f, (struct spec){ .magic = 0x12345678 });
	write_file(f);
	g_assert_null(ctf_index_open(f->t->meta, f->dir, "k_0", &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "k_0"));
}

static void assert_not_opened(struct fixture *f, int code)
{
	g_autoptr(GError) error = NULL;

	g_assert_null(ctf_index_open(f->t->meta, f->dir, "k_0", &error));
	g_assert_error(error, BLK_TRACE_ERROR, code);
}

static void test_no_file(struct fixture *f, const void *unused)
{
	g_autofree char *path = g_build_filename(f->dir, "k_0", NULL);

	assert_not_opened(f, BLK_TRACE_ERROR_NOT_FOUND);
	g_assert_cmpint(mkfifo(path, 0600), ==, 0);
	assert_not_opened(f, BLK_TRACE_ERROR_CORRUPT);
	g_unlink(path);
	g_assert_cmpint(symlink("/dev/zero", path), ==, 0);
	assert_not_opened(f, BLK_TRACE_ERROR_CORRUPT);
	g_unlink(path);
	g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
	assert_not_opened(f, BLK_TRACE_ERROR_CORRUPT);
}

/* A file of 2^62 bytes with one packet in it; where the file system has such files. */
static void test_sparse(struct fixture *f, const void *unused)
{
	g_autofree char *path = g_build_filename(f->dir, "k_0", NULL);
	size_t n;

	add_many(f, 1);
	write_file(f);
	if (truncate(path, (off_t)1 << 62) != 0 && truncate(path, (off_t)1 << 43) != 0) {
		g_test_skip("no such long files here");
		return;
	}
	struct ctf_index *x = open_index(f);
	const struct ctf_packet *p;
	while (ctf_index_walk(x, 1))
		;
	p = ctf_index_packets(x, &n);
	g_assert_cmpuint(n, ==, 2);
	assert_usual(&p[0], 0);
	g_assert_cmpuint(p[1].fault, ==, CTF_GARBAGE);
	ctf_index_free(x);
}

/* ---- index files ---- */

static void assert_same(const struct ctf_packet *a, const struct ctf_packet *b)
{
	g_assert_cmpuint(a->offset, ==, b->offset);
	g_assert_cmpuint(a->packet_bits, ==, b->packet_bits);
	g_assert_cmpuint(a->content_bits, ==, b->content_bits);
	g_assert_cmpuint(a->begin, ==, b->begin);
	g_assert_cmpuint(a->end, ==, b->end);
	g_assert_cmpuint(a->discarded, ==, b->discarded);
	g_assert_cmpuint(a->stream_id, ==, b->stream_id);
	g_assert_cmpuint(a->fault, ==, b->fault);
}

/* Opens with the index `idx` of n_believed entries that are used, walks the rest, and
 * compares with `truth`. */
static void check_idx(struct fixture *f, GByteArray *idx, const struct ctf_packet *truth,
		      size_t n_truth, size_t n_believed)
{
	size_t n;

	write_idx(f, idx);
	struct ctf_index *x = open_index(f);
	ctf_index_packets(x, &n);
	g_assert_cmpuint(n, ==, MAX(n_believed, 1));
	g_assert_cmpint(ctf_index_has_file(x), ==, n_believed > 0);
	g_assert_cmpint(ctf_index_complete(x), ==, n_believed == n_truth);
	const struct ctf_packet *p = walk(x, 1, &n);
	g_assert_cmpuint(n, ==, n_truth);
	for (size_t i = 0; i < n; i++) {
		struct ctf_packet checked = p[i];
		assert_same(&p[i], &truth[i]);
		g_assert_true(ctf_index_check(x, &checked, NULL));
		g_assert_cmpuint(checked.cpu, ==, 2);
		g_assert_cmpuint(checked.header_bits, ==, HEADER_BYTES * 8);
	}
	ctf_index_free(x);
}

#define N_IDX 9

static struct ctf_packet *idx_setup(struct fixture *f)
{
	size_t n;

	for (unsigned i = 0; i < N_IDX; i++)
		add(f, (struct spec){ .bytes = i % 3 ? 0 : 2 * PACKET });
	write_file(f);
	struct ctf_index *x = open_index(f);
	const struct ctf_packet *p = walk(x, 4, &n);
	g_assert_cmpuint(n, ==, N_IDX);
	struct ctf_packet *truth = g_memdup2(p, n * sizeof *p);
	ctf_index_free(x);
	return truth;
}

static void check_lengths(struct fixture *f, const unsigned *lengths, size_t n_lengths, bool short_fits)
{
	g_autofree struct ctf_packet *truth = idx_setup(f);

	for (size_t i = 0; i < n_lengths; i++) {
		bool fits = lengths[i] >= 72 || short_fits;
		for (size_t n = 0; n <= N_IDX; n++) {
			g_autoptr(GByteArray) idx = make_idx(truth, n, lengths[i]);
			check_idx(f, idx, truth, N_IDX, fits ? n : 0);
			if (n == 0)
				continue;
			g_byte_array_set_size(idx, idx->len - 1);	/* cut off */
			check_idx(f, idx, truth, N_IDX, fits ? n - 1 : 0);
		}
	}
}

static const unsigned lengths[] = { 56, 64, 72, 73, 128 };

/* Entries without packet numbers do not do for packets that have them. */
static void test_idx(struct fixture *f, const void *unused)
{
	check_lengths(f, lengths, G_N_ELEMENTS(lengths), false);
}

/* Packets without numbers, as tracers wrote them before LTTng 2.8. */
static void test_idx_unnumbered(struct fixture *f, const void *be)
{
	made_free(f->t);
	f->t = made_new(be != NULL, 8, "packet_seq_num", "something_else");
	check_lengths(f, lengths, 2, true);
}

static void test_idx_longer(struct fixture *f, const void *unused)
{
	g_autofree struct ctf_packet *truth = idx_setup(f);
	g_autoptr(GByteArray) idx = make_idx(truth, N_IDX, 72);

	g_byte_array_set_size(f->file, truth[N_IDX - 1].offset);
	write_file(f);
	check_idx(f, idx, truth, N_IDX - 1, N_IDX - 1);
	g_byte_array_append(idx, idx->data + 16, 72);
	check_idx(f, idx, truth, N_IDX - 1, N_IDX - 1);
}

static void test_idx_header_wrong(struct fixture *f, const void *unused)
{
	g_autofree struct ctf_packet *truth = idx_setup(f);
	static const unsigned at[] = { 0, 7, 15, 12 };	/* magic, major, entry length */

	for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
		g_autoptr(GByteArray) idx = make_idx(truth, N_IDX, 72);
		idx->data[at[i]] ^= 0x7f;
		check_idx(f, idx, truth, N_IDX, 0);
	}
}

/* Each byte of an entry in turn says something else: that entry is not believed where
 * it does not fit, nor where the header is read and says otherwise. */
static void test_idx_entry_wrong(struct fixture *f, const void *unused)
{
	g_autofree struct ctf_packet *truth = idx_setup(f);

	for (unsigned byte = 0; byte < 72; byte++) {
		for (unsigned entry = 0; entry < N_IDX; entry += N_IDX - 1) {
			g_autoptr(GByteArray) idx = make_idx(truth, N_IDX, 72);
			idx->data[16 + 72 * entry + byte] ^= 0x81;
			check_idx(f, idx, truth, N_IDX, entry);
		}
	}
}

/* Those between first and last are believed until their header is read. */
static void test_idx_checked_late(struct fixture *f, const void *unused)
{
	g_autofree struct ctf_packet *truth = idx_setup(f);
	g_autoptr(GError) error = NULL;
	size_t n;

	truth[4].end -= 1;
	g_autoptr(GByteArray) idx = make_idx(truth, N_IDX, 72);
	write_idx(f, idx);
	struct ctf_index *x = open_index(f);
	struct ctf_packet p = ctf_index_packets(x, &n)[4];
	g_assert_cmpuint(n, ==, N_IDX);
	g_assert_false(p.checked);
	g_assert_false(ctf_index_check(x, &p, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
	ctf_index_distrust(x);
	g_assert_false(ctf_index_has_file(x) || ctf_index_complete(x));
	truth[4].end += 1;
	const struct ctf_packet *all = walk(x, 1, &n);
	g_assert_cmpuint(n, ==, N_IDX);
	for (size_t i = 0; i < n; i++)
		assert_same(&all[i], &truth[i]);
	ctf_index_free(x);
}

/* The clock goes back in the first packet, or its end was never written: the others have an end. */
static void test_idx_first_without_end(struct fixture *f, const void *unused)
{
	const struct spec firsts[] = { { .no_end = true }, { .end = 1 } };
	size_t n;

	for (size_t i = 0; i < G_N_ELEMENTS(firsts); i++) {
		g_byte_array_set_size(f->file, 0);
		f->n = 0;
		add(f, firsts[i]);
		add_many(f, 3);
		write_file(f);
		struct ctf_index *x = open_index(f);
		g_autoptr(GByteArray) idx = make_idx(walk(x, 1, &n), 4, 72);
		ctf_index_free(x);
		write_idx(f, idx);
		x = open_index(f);
		const struct ctf_packet *p = walk(x, 1, &n);
		g_assert_cmpuint(n, ==, 4);
		g_assert_false(p[0].has_end);
		for (unsigned k = 1; k < 4; k++)
			assert_usual(&p[k], k);
		ctf_index_free(x);
	}
}

/* Another trace's index: sizes chain, headers differ from entry 3 on. */
static void test_idx_of_another(struct fixture *f, const void *unused)
{
	g_autofree struct ctf_packet *truth = idx_setup(f);
	g_autofree struct ctf_packet *other = g_memdup2(truth, N_IDX * sizeof *truth);

	for (unsigned i = 3; i < N_IDX; i++)
		other[i].discarded++;
	g_autoptr(GByteArray) idx = make_idx(other, N_IDX, 72);
	check_idx(f, idx, truth, N_IDX, 3);
}

#define CASE(name, function) \
	g_test_add("/ctf-index/little/" name, struct fixture, NULL, setup, function, teardown); \
	g_test_add("/ctf-index/big/" name, struct fixture, "be", setup, function, teardown)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	CASE("header", test_header);
	CASE("header-needs-more", test_header_needs_more);
	CASE("header-refused", test_header_refused);
	CASE("header-unusual", test_header_unusual);
	CASE("narrow-times", test_narrow_times);
	CASE("first-event", test_first_event);
	CASE("header-only", test_header_only);
	CASE("header-aligned", test_header_aligned);
	CASE("sizes-refused", test_sizes_refused);
	CASE("huge-offsets", test_huge_offsets);
	CASE("walk", test_walk);
	CASE("walk-mixed", test_walk_mixed);
	CASE("empty", test_empty);
	CASE("cut-off", test_cut_off);
	CASE("unfinished", test_unfinished);
	CASE("unfinished-middle", test_unfinished_middle);
	CASE("recovered", test_recovered);
	CASE("garbage", test_garbage);
	CASE("no-packet", test_no_packet);
	CASE("no-file", test_no_file);
	CASE("sparse", test_sparse);
	CASE("idx", test_idx);
	CASE("idx-unnumbered", test_idx_unnumbered);
	CASE("idx-longer", test_idx_longer);
	CASE("idx-header-wrong", test_idx_header_wrong);
	CASE("idx-entry-wrong", test_idx_entry_wrong);
	CASE("idx-checked-late", test_idx_checked_late);
	CASE("idx-of-another", test_idx_of_another);
	CASE("idx-first-without-end", test_idx_first_without_end);
	return g_test_run();
}
