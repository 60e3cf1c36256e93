/* SPDX-License-Identifier: GPL-2.0-only */
/* The feed with traces that can't be read: which, why, and until when that is reported. */
#include "lib/made_feed.h"

/* Its troubles are these (NULL: none), of so many traces; so many others can be read. */
static void expect_trouble(struct live *l, const char *words, unsigned unreadable, unsigned readable)
{
	g_autofree char *all = native_feed_troubles(l->f);
	g_test_message("%s", all ? all : "no trouble");
	g_assert_true(!words == !all);
	if (words)
		g_assert_nonnull(strstr(all, words));
	g_assert_cmpuint(made_status(l).unreadable, ==, unreadable);
	g_assert_cmpuint(made_status(l).readable, ==, readable);
}

/* Packets come and metadata doesn't: a trouble in the end, which is over when it does. */
static void test_waits(void)
{
	struct live l;
	struct made m = { .uuid = 1 };
	g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
	made_init(&l);
	unsigned t = native_feed_add_trace(l.f, "web1/u\033st");
	unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5));
	made_pass(&l, 4000000);
	expect_trouble(&l, NULL, 0, 0);
	made_pass(&l, 2000000);
	expect_trouble(&l, "cannot read trace 'web1/u\\x1bst': packets came, but no metadata", 1, 0);
	native_feed_metadata(l.f, t, g_bytes_new(text, strlen(text) / 2));
	native_feed_metadata(l.f, t, g_bytes_new(text + strlen(text) / 2, strlen(text) - strlen(text) / 2));
	made_drain(&l);
	expect_trouble(&l, NULL, 0, 1);
	g_assert_cmpuint(l.n[0], ==, 5);
	native_feed_end_stream(l.f, s);
	native_feed_end_trace(l.f, t);
	made_drain(&l);
	expect_trouble(&l, NULL, 0, 1);		/* had some */
	made_clear(&l);
}

/* The same where nothing more will come; and of metadata of which the part in question lacks. */
static void test_at_end(void)
{
	static const struct {
		const char *until, *words;
	} cases[] = { { "/*", "no metadata" }, { "trace {", "only the beginning of the metadata" },
		      { "stream {", "the metadata has no stream class" } };
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct live l;
		struct made m = { .uuid = 1 };
		g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
		made_init(&l);
		unsigned t = native_feed_add_trace(l.f, "t");
		unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
		native_feed_metadata(l.f, t, g_bytes_new(text, (gsize)(strstr(text, cases[i].until) - text)));
		native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5));
		made_drain(&l);
		expect_trouble(&l, NULL, 0, 0);
		native_feed_end(l.f);
		g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
		expect_trouble(&l, cases[i].words, 1, 0);
		made_clear(&l);
	}
}

/* A session that is over has no more metadata: what waits for it is refused, and leaves room for
 * what others still have. */
static void test_trace_ends(void)
{
	struct live l;
	struct made m = { .uuid = 1 };
	made_init(&l);
	unsigned t1 = made_trace(&l, 1, "ust", BOOT_1, 0), t2 = native_feed_add_trace(l.f, "late");
	unsigned s1 = native_feed_add_stream(l.f, t1, "s1", INT64_MAX);
	unsigned s2 = native_feed_add_stream(l.f, t2, "s2", INT64_MAX);
	native_feed_packet(l.f, s2, made_packet(&m, 1000, 2000, 0, 5));
	native_feed_beacon(l.f, s2, NATIVE_FEED_ANY_CLASS, 3000);
	native_feed_packet(l.f, s1, made_packet(&m, 1000, 2000, 0, 5));
	made_drain(&l);
	g_assert_cmpuint(native_feed_queued(l.f), >, 0);
	g_assert_false(native_feed_wants(l.f, s2));
	native_feed_end_trace(l.f, t2);
	made_drain(&l);
	g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
	g_assert_true(native_feed_wants(l.f, s2));
	g_assert_cmpuint(made_status(&l).refused, ==, 1);
	g_assert_cmpuint(l.n[0], ==, 5);
	expect_trouble(&l, "cannot read trace 'late': packets came, but no metadata", 1, 1);
	made_clear(&l);
}

/* Packets of another trace, then one of its own; events of no class, then one of a class. */
static void test_packets(void)
{
	struct live l;
	struct made m = { .uuid = 1 }, other = { .uuid = 9 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	native_feed_packet(l.f, s, made_packet(&other, 1000, 2000, 0, 5));
	made_pass(&l, 2000000);
	expect_trouble(&l, "cannot read packets: ", 1, 0);
	native_feed_packet(l.f, s, made_packet(&m, 2000, 3000, 77, 5));
	made_pass(&l, 2000000);
	expect_trouble(&l, "cannot read events: ", 1, 0);
	native_feed_packet(l.f, s, made_packet(&m, 3000, 4000, 1, 5));
	made_drain(&l);
	expect_trouble(&l, NULL, 0, 1);
	made_clear(&l);
}

/* One that can't be read from the beginning on holds none of the others up, however long it may. */
static void test_holds_none(void)
{
	struct live l;
	struct made m = { .uuid = 1 };
	made_init(&l);
	unsigned t1 = made_trace(&l, 1, "ust", BOOT_1, 0), t2 = native_feed_add_trace(l.f, "bad");
	native_feed_metadata(l.f, t2, g_bytes_new_static("this is no metadata;", 20));
	unsigned s1 = native_feed_add_stream(l.f, t1, "s1", INT64_MAX);
	unsigned s2 = native_feed_add_stream(l.f, t2, "s2", INT64_MAX);
	native_feed_packet(l.f, s2, made_packet(&m, 1000, 2000, 0, 5));
	native_feed_packet(l.f, s1, made_packet(&m, 1000, 2000, 0, 5));
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 5);
	expect_trouble(&l, "cannot read trace 'bad': cannot read metadata: ", 1, 1);
	g_assert_cmpuint(made_status(&l).stalled, ==, 0);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	made_clear(&l);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/feed-trouble/waits", test_waits);
	g_test_add_func("/feed-trouble/at-end", test_at_end);
	g_test_add_func("/feed-trouble/trace-ends", test_trace_ends);
	g_test_add_func("/feed-trouble/packets", test_packets);
	g_test_add_func("/feed-trouble/holds-none", test_holds_none);
	return g_test_run();
}
