/* SPDX-License-Identifier: GPL-2.0-only */
/* Fields that are floating-point numbers: both readers deliver the numbers that were written, wherever they are. */
#include "lib/sources.h"
#include "lib/test_traces.h"
#include "trace/reader.h"

#include <math.h>
#include <string.h>

/* Fields in the packet: at fixed bytes; not at whole bytes; behind a text, in an array, and in a sequence. */
static const char metadata[] =
	"/* CTF 1.8 */\n"
	"typealias integer { size = 32; align = 8; } := u32;\n"
	"typealias integer { size = 64; align = 8; } := u64;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = le; } := lf;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = le; } := ld;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; byte_order = be; } := bf;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; byte_order = be; } := bd;\n"
	"typealias floating_point { exp_dig = 8; mant_dig = 24; align = 1; byte_order = %s; } := pf;\n"
	"typealias floating_point { exp_dig = 11; mant_dig = 53; align = 1; byte_order = %s; } := pd;\n"
	"trace { major = 1; minor = 8; byte_order = %s;\n"
	"	packet.header := struct { u32 magic; u32 stream_id; }; };\n"
	"clock { name = c; freq = 1000000000; };\n"
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n"
	"stream { id = 0; event.header := struct { u32 id; ts timestamp; };\n"
	"	packet.context := struct { ts timestamp_begin; ts timestamp_end;\n"
	"		u64 content_size; u64 packet_size; }; };\n"
	"event { id = 0; stream_id = 0; name = \"fixed\"; fields := struct { lf a; ld b; bf c; bd d; }; };\n"
	"event { id = 1; stream_id = 0; name = \"packed\"; fields := struct { integer { size = 3; align = 1; } x;\n"
	"	pf a; pd b; integer { size = 5; align = 1; } y; }; };\n"
	"event { id = 2; stream_id = 0; name = \"behind\"; fields := struct { string s; lf a; ld b; bf c; bd d;\n"
	"	lf l[2]; u32 n; ld q[n]; bf w[n]; }; };\n";

enum { FIXED, PACKED, BEHIND };
static const struct blk_subscription rows[] = {
	[FIXED] = { .event = "fixed", .fields = { "a", "b", "c", "d" } },
	[PACKED] = { .event = "packed", .fields = { "a", "b", "x", "y" } },
	[BEHIND] = { .event = "behind", .fields = { "a", "b", "c", "d", "l[1]", "q[1]", "w[0]", "q", "q[2]" } },
};

static const double numbers[] = {
	0, -0.0, 1, -1.5, 0.1, 1e-310, 3.5e38, 1e300, INFINITY, -INFINITY, NAN, 4294967297.25, 1e-45,
};

struct out {
	GByteArray *bytes;
	uint64_t bit;
	bool big_endian;		/* the trace's */
};

/* Adds the `n` bits, in one of the two byte orders: the first bit of a byte is its lowest one in little endian. */
static void put(struct out *o, uint64_t v, unsigned n, bool big_endian)
{
	for (unsigned i = 0; i < n; i++, o->bit++) {
		unsigned in_byte = (unsigned)o->bit % 8;
		if (!in_byte)
			g_byte_array_append(o->bytes, (const uint8_t *)"", 1);
		if (v >> (big_endian ? n - 1 - i : i) & 1)
			o->bytes->data[o->bit / 8] |= (uint8_t)(1u << (big_endian ? 7 - in_byte : in_byte));
	}
}

static void put_single(struct out *o, double d, bool big_endian)
{
	float single = (float)d;
	uint32_t v;
	memcpy(&v, &single, sizeof v);
	put(o, v, 32, big_endian);
}

static void put_double(struct out *o, double d, bool big_endian)
{
	uint64_t v;
	memcpy(&v, &d, sizeof v);
	put(o, v, 64, big_endian);
}

static void put_four(struct out *o, double d)
{
	put_single(o, d, false);
	put_double(o, d, false);
	put_single(o, d, true);
	put_double(o, d, true);
}

static void put_event(struct out *o, unsigned id, uint64_t ts, double d)
{
	put(o, id, 32, o->big_endian);
	put(o, ts, 64, o->big_endian);
	if (id == PACKED) {
		put(o, 5, 3, o->big_endian);
		put_single(o, d, o->big_endian);
		put_double(o, d, o->big_endian);
		put(o, 9, 5, o->big_endian);
		return;
	}
	if (id == BEHIND)
		put(o, 0x616200, 24, true);
	put_four(o, d);
	if (id == FIXED)
		return;
	put_single(o, 7, false);
	put_single(o, d, false);
	put(o, 2, 32, o->big_endian);
	put_double(o, 8, false);
	put_double(o, d, false);
	put_single(o, d, true);
	put_single(o, 9, true);
}

/* A packet with an event of each class for each number, in a trace of that byte order. */
static char *write_trace(bool big_endian)
{
	char *dir = test_temp_dir();
	g_autofree char *meta = g_build_filename(dir, "metadata", NULL), *file = g_build_filename(dir, "s_0", NULL);
	const char *order = big_endian ? "be" : "le";
	g_autofree char *text = g_strdup_printf(metadata, order, order, order);
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct out o = { bytes, 0, big_endian };
	uint64_t ts = 1000;
	put(&o, 0xc1fc1fc1, 32, big_endian);
	put(&o, 0, 32, big_endian);
	for (unsigned i = 0; i < 4; i++)
		put(&o, 0, 64, big_endian);
	for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++)
		for (unsigned id = FIXED; id <= BEHIND; id++)
			put_event(&o, id, ts++, numbers[i]);
	struct out head = { g_byte_array_new(), 0, big_endian };
	const uint64_t context[] = { 1, ts, o.bit, o.bit };
	for (unsigned i = 0; i < 4; i++)
		put(&head, context[i], 64, big_endian);
	memcpy(bytes->data + 8, head.bytes->data, head.bytes->len);
	g_byte_array_unref(head.bytes);
	g_assert_true(g_file_set_contents(meta, text, -1, NULL));
	g_assert_true(g_file_set_contents(file, (char *)bytes->data, (gssize)bytes->len, NULL));
	return dir;
}

/* The same number to the last bit; any NaN is a NaN. */
static void assert_real(const struct blk_event *e, unsigned field, double want)
{
	double is = blk_real(e, BLK_FIELD0 + field);
	g_assert_true(blk_has(e, BLK_FIELD0 + field));
	g_assert_cmpint(blk_int_or(e, BLK_FIELD0 + field, 77), ==, 77);
	g_assert_cmpuint(blk_text(e, BLK_FIELD0 + field).len, ==, 0);
	if (isnan(want))
		g_assert_true(isnan(is));
	else
		g_assert_cmpmem(&is, sizeof is, &want, sizeof want);
}

static void assert_event(const struct blk_event *e, double d)
{
	double single = (double)(float)d;
	assert_real(e, 0, single);
	assert_real(e, 1, d);
	if (e->row == PACKED) {
		g_assert_cmpint(blk_int(e, BLK_FIELD0 + 2), ==, 5);
		g_assert_cmpint(blk_int(e, BLK_FIELD0 + 3), ==, 9);
		return;
	}
	assert_real(e, 2, single);
	assert_real(e, 3, d);
	if (e->row == FIXED)
		return;
	assert_real(e, 4, single);
	assert_real(e, 5, d);
	assert_real(e, 6, single);
	g_assert_false(blk_has(e, BLK_FIELD0 + 7));	/* an array of them */
	g_assert_false(blk_has(e, BLK_FIELD0 + 8));	/* beyond its end */
}

static void assert_source(struct source *s)
{
	g_autoptr(GError) error = NULL;
	struct blk_batch batch;
	size_t n = 0;
	while (source_next(s, &batch, &error) == SOURCE_OK) {
		for (size_t i = 0; i < batch.n; i++) {
			if (batch.ev[i].row > BEHIND)
				continue;
			g_assert_cmpuint(batch.ev[i].row, ==, n % 3);
			assert_event(&batch.ev[i], numbers[n++ / 3]);
		}
	}
	g_assert_no_error(error);
	g_assert_cmpuint(n, ==, 3 * G_N_ELEMENTS(numbers));
	source_free(s);
}

static void test_readers(const void *big_endian)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = write_trace(GPOINTER_TO_INT(big_endian));
	const char *const paths[] = { dir, NULL };
	struct source *native = source_open_native(paths, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	assert_source(native);
	struct source *bt2 = source_open_bt2((const char **)paths, rows, G_N_ELEMENTS(rows), &error);
	g_assert_no_error(error);
	assert_source(bt2);
	test_remove_tree(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/reals/little-endian", GINT_TO_POINTER(0), test_readers);
	g_test_add_data_func("/reals/big-endian", GINT_TO_POINTER(1), test_readers);
	return g_test_run();
}
