/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's type information: members in structs without names, bit fields, this kernel's own, and damage. */
#include "live/tracefs/btf.h"

#include "lib/btf_make.h"

#include <string.h>

/* struct a { int x; union { struct { int y; int z:3; }; int v; }; }; struct b { int x; struct a inner; }; */
static GByteArray *make(void)
{
	struct btf_made m = btf_made_begin();
	btf_made_struct(&m, 1, "int", 0);
	btf_made_u32(m.types, 32);
	btf_made_struct(&m, 4, "a", 2);
	btf_made_member(&m, "x", 1, 0);
	btf_made_member(&m, "", 3, 64);
	btf_made_struct(&m, 5, "", 2);
	btf_made_member(&m, "", 4, 0);
	btf_made_member(&m, "v", 1, 0);
	btf_made_struct(&m, 0x84, "", 3);
	btf_made_member(&m, "y", 1, 32);
	btf_made_member(&m, "z", 1, 3u << 24 | 64);
	btf_made_member(&m, "odd", 1, 67);
	btf_made_struct(&m, 4, "b", 2);
	btf_made_member(&m, "x", 1, 0);
	btf_made_member(&m, "inner", 2, 128);
	return btf_made_end(&m);
}

static const struct { const char *name, *member; gint64 offset; } members[] = {
	{ "a", "x", 0 }, { "a", "y", 12 }, { "a", "v", 8 }, { "b", "inner", 16 }, { "b", "x", 0 },
	{ "a", "z", -1 }, { "a", "odd", -1 }, { "b", "y", -1 }, { "a", "int", -1 }, { "int", "x", -1 }, { "", "y", 4 },
	{ "c", "x", -1 },
};

static void test_members(void)
{
	g_autoptr(GByteArray) bytes = make();
	g_autoptr(GError) error = NULL;
	g_autoptr(btf) b = btf_new(bytes->data, bytes->len, &error);
	g_assert_no_error(error);
	for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
		uint32_t offset = 77;
		bool found = btf_offset(b, members[i].name, members[i].member, &offset);
		g_assert_cmpint(found, ==, members[i].offset >= 0);
		g_assert_cmpint(offset, ==, found ? members[i].offset : 77);
	}
}

/* Asks for all members: whatever the bytes say, nothing outside of them is read, which the sanitizer sees. */
static bool look(const guint8 *bytes, size_t n)
{
	g_autofree guint8 *copy = g_memdup2(bytes, n);		/* exactly as long as it is */
	g_autoptr(GError) error = NULL;
	g_autoptr(btf) b = btf_new(copy, n, &error);
	g_assert_true(b || error);
	for (size_t i = 0; b && i < G_N_ELEMENTS(members); i++) {
		uint32_t offset;
		if (btf_offset(b, members[i].name, members[i].member, &offset))
			g_assert_cmpuint(offset, <=, G_MAXINT32);
	}
	return b;
}

static void test_damaged(void)
{
	static const guint8 values[] = { 0, 1, 3, 4, 5, 0x7f, 0x80, 0xff };
	g_autoptr(GByteArray) bytes = make();
	for (guint n = 0; n < bytes->len; n++)
		g_assert_false(look(bytes->data, n));
	g_assert_true(look(bytes->data, bytes->len));
	for (guint at = 0; at < bytes->len; at++) {
		guint8 was = bytes->data[at];
		for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
			bytes->data[at] = values[i];
			look(bytes->data, bytes->len);
		}
		bytes->data[at] = was;
	}
}

/* A struct without a name that is in itself, twice, would never end. */
static void test_circle(void)
{
	struct btf_made m = btf_made_begin();
	btf_made_struct(&m, 4, "a", 2);
	btf_made_member(&m, "", 2, 0);
	btf_made_member(&m, "", 2, 8);
	btf_made_struct(&m, 4, "", 3);
	btf_made_member(&m, "", 2, 0xffffffff);
	btf_made_member(&m, "", 2, 0xffffffff);
	btf_made_member(&m, "x", 2, 0xfffffff8);
	g_autoptr(GByteArray) bytes = btf_made_end(&m);
	g_autoptr(btf) b = btf_new(bytes->data, bytes->len, NULL);
	uint32_t offset;
	g_assert_nonnull(b);
	g_assert_false(btf_offset(b, "a", "nothing", &offset));
	btf_offset(b, "a", "x", &offset);
}

static void test_kernel(void)
{
	g_autofree char *text = NULL;
	gsize n;
	if (!g_file_get_contents(BTF_PATH, &text, &n, NULL)) {
		g_test_skip("this kernel has no type information");
		return;
	}
	g_autoptr(GError) error = NULL;
	g_autoptr(btf) b = btf_new((const uint8_t *)text, n, &error);
	g_assert_no_error(error);
	uint32_t prev, next, head, data, len, protocol, family;
	g_assert_true(btf_offset(b, "list_head", "next", &next) && btf_offset(b, "list_head", "prev", &prev));
	g_assert_cmpuint(next, ==, 0);
	g_assert_cmpuint(prev, ==, sizeof(long));
	g_assert_true(btf_offset(b, "sk_buff", "head", &head) && btf_offset(b, "sk_buff", "data", &data));
	g_assert_cmpuint(data, ==, head + sizeof(long));
	g_assert_true(btf_offset(b, "sk_buff", "len", &len) && btf_offset(b, "sk_buff", "protocol", &protocol));
	g_assert_true(btf_offset(b, "sock_common", "skc_family", &family));
	g_assert_cmpuint(family, ==, 16);		/* behind the addresses, the hash and the ports */
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/btf/members", test_members);
	g_test_add_func("/btf/damaged", test_damaged);
	g_test_add_func("/btf/circle", test_circle);
	g_test_add_func("/btf/kernel", test_kernel);
	return g_test_run();
}
