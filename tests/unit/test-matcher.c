/* SPDX-License-Identifier: GPL-2.0-only */
/* Which row of a subscription table takes an event. */
#include "trace/reader.h"

static const struct blk_subscription rows[] = {
	{ .event = "syscall_entry_*", .fields = { NULL } },		/* 0 */
	{ .event = "sched_switch", .fields = { NULL } },		/* 1 */
	{ .event = "syscall_entry_openat", .fields = { NULL } },	/* 2 */
	{ .event = "syscall_*", .fields = { NULL } },		/* 3 */
	{ .event = "sched_switch", .fields = { NULL } },		/* 4: never, 1 has it */
	{ .event = "zipkin:keyval*", .fields = { NULL } },		/* 5 */
};

static void test_rows(void)
{
	static const struct { const char *event; uint16_t row; } cases[] = {
		{ "sched_switch", 1 },
		{ "sched_switch_more", G_MAXUINT16 },
		{ "sched", G_MAXUINT16 },
		{ "syscall_entry_openat", 2 },		/* exact before prefix */
		{ "syscall_entry_openat2", 0 },		/* longer prefix before shorter */
		{ "syscall_entry_", 0 },
		{ "syscall_exit_read", 3 },
		{ "zipkin:keyval", 5 },
		{ "zipkin:keyval_string", 5 },
		{ "zipkin:key", G_MAXUINT16 },
		{ "", G_MAXUINT16 },
	};
	struct blk_matcher *m = blk_matcher_new(rows, G_N_ELEMENTS(rows));
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		g_assert_cmpuint(blk_matcher_row(m, cases[i].event), ==, cases[i].row);
	blk_matcher_free(m);
}

static void test_everything(void)
{
	static const struct blk_subscription all[] = {
		{ .event = "*", .fields = { NULL } }, { .event = "a", .fields = { NULL } },
	};
	struct blk_matcher *m = blk_matcher_new(all, 2);
	g_assert_cmpuint(blk_matcher_row(m, "a"), ==, 1);
	g_assert_cmpuint(blk_matcher_row(m, "b"), ==, 0);
	g_assert_cmpuint(blk_matcher_row(m, ""), ==, 0);
	blk_matcher_free(m);
	m = blk_matcher_new(NULL, 0);
	g_assert_cmpuint(blk_matcher_row(m, "a"), ==, G_MAXUINT16);
	blk_matcher_free(m);
	blk_matcher_free(NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/matcher/rows", test_rows);
	g_test_add_func("/matcher/everything", test_everything);
	return g_test_run();
}
