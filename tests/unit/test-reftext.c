/* SPDX-License-Identifier: GPL-2.0-only */
/* Texts that are held once: found again while somebody has them, by any thread, and gone afterwards. */
#include "base/limits.h"
#include "base/reftext.h"

#include <string.h>

static void test_basics(void)
{
	const char *a = reftext_new("abc"), *b = reftext_new_len("abcdef", 3);
	g_assert_true(a == b);
	g_assert_cmpstr(a, ==, "abc");
	g_assert_cmpuint(reftext_len(a), ==, 3);
	g_assert_cmpuint(reftext_bytes(a), >, 3);
	reftext_unref(a);
	g_assert_cmpstr(b, ==, "abc");
	g_assert_true(reftext_ref(b) == b);
	reftext_unref_n(b, 2);
	g_assert_true(reftext_new(NULL) == reftext_new_len("x", 0));
	g_assert_cmpstr(reftext_new(""), ==, "");
	g_assert_cmpuint(reftext_len(reftext_new("")), ==, 0);
	reftext_unref(reftext_new(""));
	reftext_unref(NULL);
	g_assert_null(reftext_ref(NULL));
	g_assert_cmpuint(reftext_bytes(NULL), ==, 0);
}

static void test_long(void)
{
	g_autofree char *s = g_strnfill(2 * LIMIT_TEXT_BYTES, 'x');
	const char *text = reftext_new(s), *same = reftext_new_len(s, 2 * LIMIT_TEXT_BYTES);
	g_assert_cmpuint(strlen(text), ==, LIMIT_TEXT_BYTES);
	g_assert_true(text == same);
	reftext_unref_n(text, 2);
	text = reftext_new_len("a\0b", 3);
	g_assert_cmpuint(reftext_len(text), ==, 1);
	reftext_unref(text);
}

static void test_pairs(void)
{
	const char *a = reftext_new("a"), *b = reftext_new("b");
	g_assert_true(reftext_pair(a, b) == reftext_pair(a, b));
	g_assert_true(reftext_pair(a, b) != reftext_pair(b, a));
	g_assert_true(reftext_pair(a, a) != reftext_pair(b, b));
	g_assert_true(reftext_pair(NULL, a) != reftext_pair(a, NULL));
	reftext_unref(a);
	reftext_unref(b);
}

/* Many at once, so that tables grow and shrink. */
static void test_many(void)
{
	enum { N = 50000 };
	g_autofree const char **all = g_new(const char *, N);
	char s[32];
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < N; i++) {
			g_snprintf(s, sizeof s, "text %d", i);
			all[i] = reftext_new(s);
		}
		for (int i = 0; i < N; i++) {
			g_snprintf(s, sizeof s, "text %d", i);
			const char *again = reftext_new(s);
			g_assert_true(again == all[i]);
			reftext_unref_n(again, 2);
		}
	}
}

/* All have and drop the same few, so that the last reference goes while others look for the text. */
static gpointer have_and_drop(gpointer data)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(GPOINTER_TO_UINT(data));
	const char *had[8] = { NULL };
	char s[16];
	for (int i = 0; i < 200000; i++) {
		guint at = g_rand_int(rand) % G_N_ELEMENTS(had);
		g_snprintf(s, sizeof s, "%d", g_rand_int_range(rand, 0, 12));
		const char *text = reftext_new(s);
		g_assert_cmpstr(text, ==, s);
		for (size_t k = 0; k < G_N_ELEMENTS(had); k++)
			g_assert_true(!had[k] || (had[k] == text) == !strcmp(had[k], s));
		reftext_unref(had[at]);
		had[at] = text;
	}
	for (size_t k = 0; k < G_N_ELEMENTS(had); k++)
		reftext_unref(had[k]);
	return NULL;
}

static void test_threads(void)
{
	GThread *threads[4];
	for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
		threads[i] = g_thread_new("texts", have_and_drop, GUINT_TO_POINTER(i + 1));
	for (guint i = 0; i < G_N_ELEMENTS(threads); i++)
		g_thread_join(threads[i]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/reftext/basics", test_basics);
	g_test_add_func("/reftext/long", test_long);
	g_test_add_func("/reftext/pairs", test_pairs);
	g_test_add_func("/reftext/many", test_many);
	g_test_add_func("/reftext/threads", test_threads);
	return g_test_run();
}
