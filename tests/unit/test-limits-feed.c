/* SPDX-License-Identifier: GPL-2.0-only */
/* The times for which packets of a live session wait: by a clock of the test's own. */
#include "base/limits.h"
#include "lib/limit_test.h"
#include "lib/made_feed.h"

#include <string.h>

/* Packets of a trace without metadata, until just before n seconds have passed: may it still come? */
static bool metadata_seconds(uint64_t n)
{
	struct live l;
	struct made m = { .uuid = 1 };

	made_init(&l);
	unsigned t = native_feed_add_trace(l.f, "t"), s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5), NULL);
	made_drain(&l);
	made_pass(&l, (int64_t)n * G_USEC_PER_SEC - 1);
	g_autofree char *trouble = native_feed_troubles(l.f);
	g_assert_true(!trouble || strstr(trouble, "packets came, but no metadata"));
	made_clear(&l);
	return !trouble;
}

/* Packets while metadata of another trace, perhaps of the same boot, has not come: are they held until just
 * before n ms have passed? */
static bool is_held_for_clock(uint64_t n)
{
	struct live l;
	struct made m = { .uuid = 1 };

	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0), s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	native_feed_add_trace(l.f, "without");
	native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5), NULL);
	made_drain(&l);
	made_pass(&l, (int64_t)n * G_TIME_SPAN_MILLISECOND - 1);
	uint64_t delivered = l.n[0];
	made_clear(&l);
	g_assert_true(delivered == 0 || delivered == 5);
	return !delivered;
}

/* The same of events of a class that is not declared yet. */
static bool is_held_for_class(uint64_t n)
{
	struct live l;
	struct made m = { .uuid = 1 };

	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0), s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	made_drain(&l);
	native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 300, 5), NULL);
	made_drain(&l);
	made_pass(&l, (int64_t)n * G_TIME_SPAN_MILLISECOND - 1);
	native_feed_metadata(l.f, t, g_bytes_new_static(more_metadata, strlen(more_metadata)));
	made_drain(&l);
	uint64_t delivered = l.n[1];
	made_clear(&l);
	g_assert_true(delivered == 0 || delivered == 5);
	return delivered == 5;
}

static bool class_ms(uint64_t n)
{
	bool held = is_held_for_clock(n);

	g_assert_true(held == is_held_for_class(n));
	return held;
}

/* Traces whose event classes all have different names, n together. */
static bool all_event_classes(uint64_t n)
{
	const unsigned traces = 4, own = 1;	/* made_metadata() has "said" and "counted"; "said" is in all */
	struct live l;
	uint64_t named = 0;

	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	for (unsigned k = 0; k < traces; k++) {
		GString *text = g_string_new(NULL);
		uint64_t until = k + 1 == traces ? n - 2 * own : (n - 2 * own) * (k + 1) / traces;
		t = k ? made_trace(&l, (int)k + 1, "ust", BOOT_1, 0) : t;
		for (; named < until; named++)
			g_string_append_printf(text, "event { id = %u; stream_id = 7; name = \"e%u\"; fields := "
					       "struct { u8 n; }; };\n", (unsigned)named + 2, (unsigned)named);
		native_feed_metadata(l.f, t, g_string_free_to_bytes(text));
	}
	made_drain(&l);
	g_autofree char *trouble = native_feed_troubles(l.f);
	g_assert_true(!trouble || strstr(trouble, "more than 262144 event classes of different names in all traces"));
	made_clear(&l);
	return !trouble;
}

/* n streams that were cut off: is the first one held for a reconnect? Then its packet that comes again is dropped. */
static bool cut_streams(uint64_t n)
{
	struct live l;

	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	g_autofree unsigned *s = g_new(unsigned, n);
	for (uint64_t i = 0; i < n; i++) {
		struct made m = { .uuid = 1, .instance = i };
		s[i] = native_feed_add_stream(l.f, t, "s", INT64_MAX);
		native_feed_packet(l.f, s[i], made_packet(&m, 1000, 2000, 0, 1), NULL);
	}
	made_drain(&l);
	for (uint64_t i = 0; i < n; i++)
		native_feed_cut_stream(l.f, s[i]);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, n);
	struct made again = { .uuid = 1, .instance = 0 };
	unsigned more = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	native_feed_packet(l.f, more, made_packet(&again, 1000, 2000, 0, 1), NULL);
	made_drain(&l);
	bool held = l.n[0] == n;
	made_clear(&l);
	return held;
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "metadata-seconds", metadata_seconds, 0 }, { "class-ms", class_ms, 0 },
		{ "cut-streams", cut_streams, 0 }, { "all-event-classes", all_event_classes, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
