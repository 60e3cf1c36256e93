/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory for packets goes round, and what is not filled is zero. */
#include "live/viewer/packets.h"

#include <string.h>

static void check_zeros(const uint8_t *at, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		g_assert_cmpuint(at[i], ==, 0);
}

static void test_goes_round(void)
{
	struct packet_pool *p = packets_new();
	uint8_t *first = packets_take(p, 65536, 40000);

	check_zeros(first, 40000, 65536);
	memset(first, 0xee, 40000);
	GBytes *bytes = packets_to_bytes(first, 65536);
	g_assert_cmpuint(g_bytes_get_size(bytes), ==, 65536);
	uint8_t *second = packets_take(p, 65536, 65536);
	g_assert_true(second != first);		/* somebody has that one */
	memset(second, 0xee, 65536);
	g_bytes_unref(bytes);
	uint8_t *again = packets_take(p, 60000, 100);
	g_assert_true(again == first);
	check_zeros(again, 100, 60000);
	packets_recycle(second);
	packets_recycle(again);
	packets_recycle(NULL);
	again = packets_take(p, 65536, 0);
	check_zeros(again, 0, 65536);
	packets_recycle(again);
	packets_unref(p);
}

static void test_sizes(void)
{
	struct packet_pool *p = packets_new();
	uint8_t *big = packets_take(p, 1 << 20, 10), *small;

	packets_recycle(big);
	small = packets_take(p, 4096, 4096);		/* not for so little */
	g_assert_true(small != big);
	packets_recycle(small);
	uint8_t *other = packets_take(p, 8192, 1);
	g_assert_true(other != small);
	packets_recycle(other);
	g_assert_null(packets_take(p, G_MAXSIZE, 0));
	packets_unref(p);
	packets_unref(NULL);
}

/* The spool, or the merge, may have some when the source is gone. */
static void test_outlived(void)
{
	struct packet_pool *p = packets_new();
	g_autoptr(GBytes) bytes = packets_to_bytes(packets_take(p, 5000, 5000), 5000);

	packets_unref(p);
	g_assert_cmpuint(g_bytes_get_size(bytes), ==, 5000);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/packets/goes-round", test_goes_round);
	g_test_add_func("/packets/sizes", test_sizes);
	g_test_add_func("/packets/outlived", test_outlived);
	return g_test_run();
}
