/* SPDX-License-Identifier: GPL-2.0-only */
/* Values as bytes: what is read is what was written, bytes are those of doc/slices.md, and wrong ones are refused. */
#include "base/coder.h"
#include "base/deflate.h"
#include "base/hist.h"

#include <glib.h>
#include <string.h>

static const int64_t extremes[] = {
	INT64_MIN, INT64_MAX, 0, 1, -1, INT64_MIN + 1, INT64_MAX - 1, 63, 64, -64, -65, INT64_C(1795241378723474901),
	INT64_C(-4611686018427387905), INT64_C(4611686018427387904), 5,
};
#define N G_N_ELEMENTS(extremes)

struct all { int64_t i[N], ts[N]; uint64_t u[N], seq[N]; uint32_t id[3]; char *text; GArray *ids; };

static void code_all(struct coder *c, struct all *a)
{
	for (size_t i = 0; i < N; i++) {
		code_i64(c, &a->i[i]);
		code_ts(c, &a->ts[i]);
		code_u64(c, &a->u[i]);
		code_seq(c, &a->seq[i]);
	}
	code_id(c, &a->id[0], 10, false);
	code_id(c, &a->id[1], 10, true);
	code_id(c, &a->id[2], UINT32_MAX, true);
	code_text(c, &a->text);
	code_ids(c, &a->ids, 1000);
}

static void fill(struct all *a)
{
	static const uint32_t ids[] = { 999, 0, 500, 501, 499 };
	for (size_t i = 0; i < N; i++) {
		a->i[i] = extremes[i];
		a->ts[i] = extremes[i] == INT64_MIN || extremes[i] == INT64_MAX ? extremes[i] : extremes[i] / 3;
		a->u[i] = a->seq[i] = (uint64_t)extremes[i];
	}
	a->id[0] = 9;
	a->id[1] = UINT32_MAX;
	a->id[2] = UINT32_MAX - 1;
	a->text = g_strdup("a text");
	a->ids = g_array_new(false, false, sizeof(uint32_t));
	g_array_append_vals(a->ids, ids, G_N_ELEMENTS(ids));
}

static void clear(struct all *a)
{
	g_free(a->text);
	if (a->ids)
		g_array_unref(a->ids);
}

static void test_round_trip(void)
{
	struct all a = { 0 }, b = { 0 };
	g_autoptr(GByteArray) out = g_byte_array_new();
	struct coder w = { .out = out };
	fill(&a);
	code_all(&w, &a);
	struct coder r = { .at = out->data, .end = out->data + out->len };
	code_all(&r, &b);
	g_assert_null(r.fault);
	g_assert_true(r.at == r.end);
	g_assert_cmpmem(&a, offsetof(struct all, text), &b, offsetof(struct all, text));
	g_assert_cmpstr(a.text, ==, b.text);
	g_assert_cmpmem(a.ids->data, a.ids->len * 4, b.ids->data, b.ids->len * 4);
	clear(&b);
	for (guint n = 0; n < out->len; n++) {		/* cut off anywhere */
		struct all c = { 0 };
		struct coder cut = { .at = out->data, .end = out->data + n };
		code_all(&cut, &c);
		g_assert_nonnull(cut.fault);
		clear(&c);
	}
	clear(&a);
}

/* Rows of two sets, one with values that are left out and a rest; and values in no row. */
static void code_rows(struct coder *c, uint64_t v[9])
{
	coder_columns_begin(c);
	code_u64(c, &v[0]);
	for (unsigned i = 0; i < 2; i++) {
		coder_row(c, 2);
		code_u64(c, &v[1 + i]);
		code_u64(c, &v[3 + i]);
	}
	coder_row(c, 1);
	coder_skip(c);
	code_u64(c, &v[5]);
	coder_rest(c);
	code_u64(c, &v[6]);
	code_u64(c, &v[7]);
	coder_row(c, 0);
	code_u64(c, &v[8]);
	coder_columns_end(c);
}

static void test_columns(void)
{
	static const uint8_t bytes[] = {
		4, 65, 1, 66, 2, 0x80, 1, 3, 0x81, 1, 2, 50, 58, 55, 56, 57, 128, 100, 51, 53, 54,
	};
	uint64_t v[9] = { 50, 12800, 51, 53, 54, 55, 56, 57, 58 }, got[9] = { 0 };
	g_autoptr(GByteArray) out = g_byte_array_new();
	struct coder w = { .out = out };
	code_rows(&w, v);
	g_assert_cmpmem(out->data, out->len, bytes, sizeof bytes);
	struct coder r = { .at = bytes, .end = bytes + sizeof bytes };
	code_rows(&r, got);
	g_assert_null(r.fault);
	g_assert_true(r.at == r.end);
	g_assert_cmpmem(v, sizeof v, got, sizeof got);
	for (guint n = 0; n < out->len; n++) {		/* cut off anywhere */
		struct coder cut = { .at = bytes, .end = bytes + n };
		code_rows(&cut, got);
		g_assert_nonnull(cut.fault);
	}
	for (guint n = 0; n < 11; n++) {		/* other numbers of columns, of one, of its bytes */
		uint8_t wrong[sizeof bytes];
		memcpy(wrong, bytes, sizeof bytes);
		wrong[n]++;
		struct coder c = { .at = wrong, .end = wrong + sizeof wrong };
		code_rows(&c, got);
		g_assert_true(c.fault || c.at != c.end);
	}
}

/* Ids are written by the order in which they are used. */
static void test_used_ids(void)
{
	static const uint32_t ids[] = { 7, 0, 3, 7, 9 }, expected[] = { 1, 0, 2, 1, 3 }, used[] = { 0, 7, 3, 9 };
	g_autoptr(GByteArray) out = g_byte_array_new();
	struct coder w = { .out = out };
	struct coder_ids all;
	coder_ids_init(&all, 10);
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
		uint32_t id = ids[i];
		code_used_id(&w, &id, 10, &all);
		g_assert_cmpuint(id, ==, ids[i]);
	}
	g_assert_null(w.fault);
	g_assert_cmpmem(all.used->data, all.used->len * sizeof *used, used, sizeof used);
	struct coder r = { .at = out->data, .end = out->data + out->len };
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++) {
		uint32_t id = 0;
		code_used_id(&r, &id, all.used->len, NULL);
		g_assert_cmpuint(id, ==, expected[i]);
	}
	g_assert_null(r.fault);
	g_assert_true(r.at == r.end);
	uint32_t beyond = 10;
	code_used_id(&w, &beyond, 10, &all);
	g_assert_nonnull(w.fault);
	coder_ids_clear(&all);
}

static void check_bytes(const GByteArray *out, const char *hex)
{
	g_autoptr(GString) got = g_string_new(NULL);
	for (guint i = 0; i < out->len; i++)
		g_string_append_printf(got, "%02x", out->data[i]);
	g_assert_cmpstr(got->str, ==, hex);
}

/* As documented, so that others can read them. */
static void test_bytes(void)
{
	g_autoptr(GByteArray) out = g_byte_array_new();
	struct coder c = { .out = out };
	uint64_t u = 300, seq[] = { 5, 3 };
	int64_t i = -3, ts[] = { INT64_MIN, 100, 99, INT64_MAX };
	uint32_t none = UINT32_MAX, id = 4;
	char *text = (char *)"hi";
	code_u64(&c, &u);			/* ac 02 */
	code_i64(&c, &i);			/* 05 */
	for (int k = 0; k < 4; k++)
		code_ts(&c, &ts[k]);		/* 00, 2 + 200, 2 + 1, 01 */
	code_seq(&c, &seq[0]);			/* 0a */
	code_seq(&c, &seq[1]);			/* 03 */
	code_id(&c, &none, 9, true);		/* 00 */
	code_id(&c, &id, 9, true);		/* 05 */
	code_id(&c, &id, 9, false);		/* 04 */
	code_text(&c, &text);			/* 02 68 69 */
	check_bytes(out, "ac02" "05" "00" "ca01" "03" "01" "0a" "03" "00" "05" "04" "026869");
}

#define REFUSED(bytes, call) do { \
	struct coder c = { .at = (const uint8_t *)(bytes), .end = (const uint8_t *)(bytes) + sizeof(bytes) - 1 }; \
	call; \
	g_assert_nonnull(c.fault); \
} while (0)

static void refused_ids(struct coder *c)
{
	GArray *ids = NULL;
	code_ids(c, &ids, 9);
	g_assert_null(ids);
}

static void test_refused(void)
{
	uint64_t u64;
	uint32_t u32, n;
	uint16_t u16;
	uint8_t u8;
	int32_t i32;
	int64_t i64;
	bool b;
	char *text = NULL;
	const char *bytes;
	REFUSED("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", code_u64(&c, &u64));
	REFUSED("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", code_u64(&c, &u64));
	REFUSED("\x80\x80\x80\x80\x10", code_u32(&c, &u32));
	REFUSED("\x80\x80\x04", code_u16(&c, &u16));
	REFUSED("\x80\x02", code_u8(&c, &u8));
	REFUSED("\x02", code_bool(&c, &b));
	REFUSED("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", (i64 = 0, code_ts(&c, &i64)));
	REFUSED("\x80\x80\x80\x80\x80\x80\x80\x80\x01", code_ns(&c, &i64));
	REFUSED("\x80\x80\x80\x80\x20", (i32 = 0, code_i32(&c, &i32)));
	REFUSED("\x09", code_below(&c, &u8, 9));
	REFUSED("\x09", (u32 = 0, code_id(&c, &u32, 9, false)));
	REFUSED("\x0a", (u32 = 0, code_id(&c, &u32, 9, true)));
	REFUSED("\x05" "text", (code_text(&c, &text), g_free(text)));
	REFUSED("\x03" "a\0b", (code_text(&c, &text), g_free(text)));
	REFUSED("\x03" "abc", code_slice(&c, &bytes, &n, 2));
	REFUSED("\x05" "abcd", code_len(&c, 0, 1, 0));
	REFUSED("\x02\x02\x03", refused_ids(&c));
	REFUSED("\x01\x12", refused_ids(&c));
}

/* A histogram of n values goes through bytes. */
static void check_hist(unsigned n)
{
	struct hist a = { 0 }, b = { 0 };
	g_autoptr(GByteArray) out = g_byte_array_new();
	struct coder w = { .out = out };
	for (unsigned i = 0; i < n; i++)
		hist_add(&a, (int64_t)i * i * 1000003 % INT64_C(20000000000000));
	hist_code(&w, &a);
	struct coder r = { .at = out->data, .end = out->data + out->len };
	hist_code(&r, &b);
	g_assert_null(r.fault);
	g_assert_true(r.at == r.end);
	g_assert_cmpuint(hist_count(&b), ==, n);
	g_assert_true(hist_sum(&a) == hist_sum(&b) && hist_min(&a) == hist_min(&b) && hist_max(&a) == hist_max(&b));
	for (double q = 0.01; q < 1; q += 0.01)
		g_assert_true(hist_quantile(&a, q) == hist_quantile(&b, q));
	hist_merge(&b, &a);
	g_assert_cmpuint(hist_count(&b), ==, 2 * n);
	hist_clear(&a);
	hist_clear(&b);
}

static void test_hist(void)
{
	for (unsigned n = 0; n < 10; n++)
		check_hist(n);
	check_hist(100000);
}

static void test_deflate(void)
{
	g_autoptr(GByteArray) out = g_byte_array_new();
	static uint8_t bytes[200000], again[sizeof bytes + 1];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (uint8_t)(i % 7 ? i / 300 : (size_t)g_test_rand_int());
	deflate_append(out, bytes, sizeof bytes);
	g_assert_cmpuint(out->len, <, sizeof bytes);
	g_assert_true(deflate_restore(out->data, out->len, again, sizeof bytes));
	g_assert_cmpmem(bytes, sizeof bytes, again, sizeof bytes);
	g_assert_false(deflate_restore(out->data, out->len, again, sizeof bytes - 1));
	g_assert_false(deflate_restore(out->data, out->len, again, sizeof bytes + 1));
	g_assert_false(deflate_restore(out->data, out->len - 1, again, sizeof bytes));
	g_byte_array_append(out, bytes, 1);
	g_assert_false(deflate_restore(out->data, out->len, again, sizeof bytes));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/coder/round-trip", test_round_trip);
	g_test_add_func("/coder/columns", test_columns);
	g_test_add_func("/coder/used-ids", test_used_ids);
	g_test_add_func("/coder/bytes", test_bytes);
	g_test_add_func("/coder/refused", test_refused);
	g_test_add_func("/coder/hist", test_hist);
	g_test_add_func("/coder/deflate", test_deflate);
	return g_test_run();
}
