/* SPDX-License-Identifier: GPL-2.0-only */
/* The string table: every string once, ids dense, pointers that stay. */
#include "base/limits.h"
#include "base/reftext.h"
#include "base/strtab.h"

#include <stdbool.h>
#include <string.h>

static void test_basics(void)
{
	struct strtab *t = strtab_new();

	g_assert_cmpuint(strtab_n(t), ==, 1);
	g_assert_cmpuint(strtab_add(t, ""), ==, 0);
	g_assert_cmpuint(strtab_add(t, NULL), ==, 0);
	g_assert_cmpuint(strtab_add_len(t, NULL, 5), ==, 0);
	g_assert_cmpuint(strtab_add_len(t, "xyz", 0), ==, 0);
	g_assert_cmpuint(strtab_add(t, "read"), ==, 1);
	g_assert_cmpuint(strtab_add(t, "write"), ==, 2);
	g_assert_cmpuint(strtab_add_len(t, "reader", 4), ==, 1);
	g_assert_cmpuint(strtab_add_len(t, "read\0er", 7), ==, 1);
	g_assert_cmpstr(strtab_get(t, 2), ==, "write");
	g_assert_cmpstr(strtab_get(t, 3), ==, "");
	g_assert_cmpstr(strtab_get(t, UINT32_MAX), ==, "");
	strtab_free(t);
	strtab_free(NULL);
}

static void test_long(void)
{
	g_autofree char *s = g_strnfill(LIMIT_TEXT_BYTES + 100, 'x');
	struct strtab *t = strtab_new();

	uint32_t id = strtab_add(t, s);
	g_assert_cmpuint(strlen(strtab_get(t, id)), ==, LIMIT_TEXT_BYTES);
	s[LIMIT_TEXT_BYTES + 1] = 'y';		/* beyond what is kept */
	g_assert_cmpuint(strtab_add(t, s), ==, id);
	for (int i = 0; i < 100; i++) {		/* several chunks */
		s[0] = (char)('A' + i % 50);
		s[1] = (char)('0' + i / 50);
		strtab_add(t, s);
	}
	g_assert_cmpuint(strtab_n(t), ==, 102);
	g_assert_cmpuint(strtab_bytes(t), >, 102 * LIMIT_TEXT_BYTES - 2 * LIMIT_TEXT_BYTES);
	strtab_free(t);
}

/* Random bytes, against a GHashTable; pointers must not move. */
static void test_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());
	g_autoptr(GHashTable) ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) pointers = g_ptr_array_new();
	struct strtab *t = strtab_new();

	g_hash_table_insert(ids, g_strdup(""), GUINT_TO_POINTER(0));
	g_ptr_array_add(pointers, (void *)strtab_get(t, 0));
	for (int i = 0; i < 100000; i++) {
		char s[12] = "";
		int len = g_rand_int_range(rand, 0, 11);
		for (int j = 0; j < len; j++)
			s[j] = (char)(j < 8 ? g_rand_int_range(rand, 1, 6) :
					      g_rand_int_range(rand, 1, 256));
		gpointer id;
		bool known = g_hash_table_lookup_extended(ids, s, NULL, &id);
			uint32_t got = strtab_add(t, s);
		if (!known) {
			g_assert_cmpuint(got, ==, pointers->len);
			g_hash_table_insert(ids, g_strdup(s), GUINT_TO_POINTER(got));
			g_ptr_array_add(pointers, (void *)strtab_get(t, got));
		} else {
			g_assert_cmpuint(got, ==, GPOINTER_TO_UINT(id));
		}
		g_assert_cmpstr(strtab_get(t, got), ==, s);
	}
	g_assert_cmpuint(strtab_n(t), ==, pointers->len);
	for (uint32_t i = 0; i < pointers->len; i++)
		g_assert_true(strtab_get(t, i) == g_ptr_array_index(pointers, i));
	strtab_free(t);
}

/* What is forgotten goes, and its id is given again; what is used stays. */
static void test_reftexts(void)
{
	enum { N = 3000 };
	struct strtab *t = strtab_new_reftexts();
	uint32_t id[N];
	char s[32];
	size_t most = 0;

	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < N; i++) {
			g_snprintf(s, sizeof s, i % 2 ? "%u.%u" : "a longer one %u.%u", i % 7 ? round : 99, i);
			id[i] = strtab_add(t, s);
			g_assert_cmpuint(strtab_add_len(t, s, strlen(s)), ==, id[i]);
			g_assert_cmpstr(strtab_get(t, id[i]), ==, s);
		}
		const char *held = strtab_take(t, id[1]);
		g_assert_true(held == strtab_get(t, id[1]));
		g_autofree guint8 *used = g_new0(guint8, strtab_n(t));
		for (unsigned i = 0; i < N; i += 7)
			used[id[i]] = 1;
		most = MAX(most, strtab_bytes(t));
		strtab_forget(t, used);
		g_assert_cmpuint(strtab_bytes(t), <, most / 4 * 3);
		for (unsigned i = 0; i < N; i++) {
			g_snprintf(s, sizeof s, i % 2 ? "99.%u" : "a longer one 99.%u", i);
			g_assert_cmpstr(strtab_get(t, id[i]), ==, i % 7 ? "" : s);
		}
		g_snprintf(s, sizeof s, "%u.1", round);
		g_assert_cmpstr(held, ==, s);
		reftext_unref(held);
	}
	g_assert_cmpstr(strtab_get(t, 0), ==, "");
	g_assert_cmpuint(strtab_n(t), ==, N + 1);
	strtab_free(t);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/strtab/basics", test_basics);
	g_test_add_func("/strtab/long", test_long);
	g_test_add_func("/strtab/reftexts", test_reftexts);
	g_test_add_func("/strtab/random", test_random);
	return g_test_run();
}
