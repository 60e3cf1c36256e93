/* SPDX-License-Identifier: GPL-2.0-only */
/* The pass of the doctor over a live session's records. */
#include "cmd/doctor/doctor_private.h"

/* A live source may report how far it is before there is any stream; then there is a stream, and an event of it. */
static void test_no_stream_yet(void)
{
	struct diagnosis d = { .channels = g_ptr_array_new() };
	struct doctor doc = { .d = &d, .live = true, .heard = g_hash_table_new(g_int64_hash, g_int64_equal) };
	struct blk_tables tables = { g_ptr_array_new(), g_ptr_array_new(), g_ptr_array_new() };
	const struct blk_event horizon = { .ts = 5, .row = BLK_ROW_HORIZON };

	doctor_count_event(&doc, &tables, &horizon);
	g_assert_cmpuint(d.events, ==, 0);
	g_assert_cmpuint(d.channels->len, ==, 0);
	g_ptr_array_unref(tables.streams);
	g_ptr_array_unref(tables.hosts);
	g_ptr_array_unref(tables.classes);
	g_ptr_array_unref(d.channels);
	g_hash_table_unref(doc.heard);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/doctor/no-stream-yet", test_no_stream_yet);
	return g_test_run();
}
