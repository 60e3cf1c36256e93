/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The feed with made-up streams: metadata that grows, lies and begins again, hostile
 * packets, streams that lag, end, are cut off and come back, clocks of one boot.
 */
#include "lib/inspect.h"
#include "lib/made_feed.h"

#include "trace/ctf/ctf_meta.h"

/* ---- metadata ---- */

/* One byte at a time, of text: packets wait until it is enough, and new classes come. */
static void test_grows(void)
{
	struct live l;
	struct made m = { .uuid = 1 };
	made_init(&l);
	g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
	unsigned t = native_feed_add_trace(l.f, "t");
	unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5), NULL);
	for (const char *p = text; *p; p++) {
		g_assert_cmpuint(l.n[0], ==, 0);
		native_feed_metadata(l.f, t, g_bytes_new(p, 1));
		if (strlen(p) > 150)
			g_assert_cmpint(made_drain(&l), ==, SOURCE_AGAIN);
	}
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 5);
	g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
	for (const char *p = more_metadata; *p; p++)
		native_feed_metadata(l.f, t, g_bytes_new(p, 1));
	native_feed_packet(l.f, s, made_packet(&m, 2000, 3000, 300, 7), NULL);
	native_feed_packet(l.f, s, made_packet(&m, 3000, 4000, 0, 2), NULL);
	native_feed_packet(l.f, s, made_packet(&m, 4000, 5000, 1, 30), NULL);
	made_drain(&l);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 7);
	g_assert_cmpuint(l.n[1], ==, 7);
	g_assert_cmpuint(l.n[2], ==, 30);
	g_assert_cmpuint(l.losses->len, ==, 0);
	g_assert_null(native_feed_trouble(l.f, t));
	made_clear(&l);
}

/* A number that begins anew after the last one there is says nothing about lost packets. */
static void test_last_number(void)
{
	struct live l;
	struct made m = { .uuid = 1, .seq = UINT64_MAX };

	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0), s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	for (uint64_t i = 0; i < 3; i++)
		native_feed_packet(l.f, s, made_packet(&m, 1000 + 1000 * i, 1900 + 1000 * i, 0, 5), NULL);
	made_drain(&l);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 15);
	g_assert_cmpuint(l.losses->len, ==, 0);
	made_clear(&l);
}

/* What is wrong is told by line and column; the trace is left out, others go on. */
static void test_wrong_metadata(void)
{
	struct live l;
	struct made m1 = { .uuid = 1 }, m2 = { .uuid = 2, .cpu = 1 };
	static const char wrong[] = "event { id = 2; stream_id = 7;\n name = ; };\n";
	made_init(&l);
	unsigned t1 = made_trace(&l, 1, "ust", BOOT_1, 0), t2 = made_trace(&l, 2, "ust", BOOT_1, 0);
	unsigned s1 = native_feed_add_stream(l.f, t1, "s1", INT64_MAX);
	unsigned s2 = native_feed_add_stream(l.f, t2, "s2", INT64_MAX);
	native_feed_packet(l.f, s1, made_packet(&m1, 1000, 2000, 0, 5), NULL);
	native_feed_packet(l.f, s2, made_packet(&m2, 1000, 2000, 0, 5), NULL);
	made_drain(&l);
	native_feed_metadata(l.f, t1, g_bytes_new_static(wrong, strlen(wrong)));
	native_feed_packet(l.f, s1, made_packet(&m1, 2000, 3000, 0, 5), NULL);
	native_feed_packet(l.f, s2, made_packet(&m2, 2000, 3000, 0, 5), NULL);
	made_drain(&l);
	g_autofree char *trouble = native_feed_trouble(l.f, t1);
	g_assert_nonnull(trouble);
	g_assert_true(g_regex_match_simple("^cannot read metadata: [0-9]+:[0-9]+: ", trouble, 0, 0));
	g_assert_null(native_feed_trouble(l.f, t2));
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 15);
	g_assert_cmpuint(l.losses->len, ==, 1);
	g_assert_cmpuint(made_status(&l).refused, ==, 1);
	made_clear(&l);
}

static void test_garbage_metadata(void)
{
	static const char *const garbage[] = { "this is no metadata at all;", "{\"type\": 1}      ",
					       "\x57\x1d\xd1\x75 packets of nothing that was ever known here" };
	for (size_t i = 0; i < G_N_ELEMENTS(garbage); i++) {
		struct live l;
		struct made m = { .uuid = 1 };
		made_init(&l);
		unsigned t = native_feed_add_trace(l.f, "t");
		unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
		native_feed_metadata(l.f, t, g_bytes_new_static(garbage[i], strlen(garbage[i])));
		native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5), NULL);
		made_drain(&l);
		g_autofree char *trouble = native_feed_trouble(l.f, t);
		g_assert_nonnull(trouble);
		native_feed_end(l.f);
		g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
		g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
		made_clear(&l);
	}
}

/* A trace that has ended, and is retained for what was wrong with it, ends again; metadata comes and begins again. */
static void test_ended(void)
{
	struct live l;

	made_init(&l);
	unsigned t = native_feed_add_trace(l.f, "t");
	native_feed_metadata(l.f, t, g_bytes_new_static("this is no metadata at all;", 27));
	native_feed_end_trace(l.f, t);
	made_drain(&l);
	g_autofree char *trouble = native_feed_trouble(l.f, t);
	g_assert_nonnull(trouble);
	native_feed_end_trace(l.f, t);
	made_drain(&l);
	native_feed_metadata_restart(l.f, t);
	made_drain(&l);
	native_feed_metadata(l.f, t, g_bytes_new_static("more", 4));
	made_drain(&l);
	g_autofree char *still = native_feed_trouble(l.f, t);
	g_assert_cmpstr(still, ==, trouble);
	g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	made_clear(&l);
}

/* A session that is cleared begins its metadata again; its streams go on. */
static void test_restart(void)
{
	struct live l;
	struct made m = { .uuid = 1 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	for (uint64_t i = 1; i <= 20; i++) {
		char *text = made_metadata(1, "ust", BOOT_1, 0);
		native_feed_packet(l.f, s, made_packet(&m, i * 1000, i * 1000 + 900, i % 3 ? 0 : 1, 5), NULL);
		if (i % 2)
			made_drain(&l);
		native_feed_metadata_restart(l.f, t);
		if (i % 5 == 0)
			made_drain(&l);
		native_feed_metadata(l.f, t, g_bytes_new_take(text, strlen(text)));
	}
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 14 * 5);
	g_assert_cmpuint(l.n[2], ==, 6 * 5);
	g_assert_cmpuint(l.losses->len, ==, 0);
	g_assert_cmpuint(l.s->tables.streams->len, ==, 1);
	made_clear(&l);
}

/* ---- hostile packets ---- */

static void damage(GByteArray *a, unsigned how)
{
	static const struct { guint at; uint64_t value; unsigned bytes; } lies[] = {
		{ AT_MAGIC, 0xdeadbeef, 4 }, { AT_UUID, 99, 8 }, { AT_CLASS, 8, 4 },
		{ AT_SIZE, 1, 8 }, { AT_SIZE, G_MAXUINT64 - 7, 8 }, { AT_CONTENT, G_MAXUINT64, 8 },
		{ AT_CONTENT, 3, 8 }, { AT_SIZE, 0, 8 }, { AT_BEGIN, G_MAXUINT64, 8 }, { AT_END, 1, 8 },
		{ AT_EVENTS, 9999, 2 }, { AT_EVENTS + 2, 5, 8 }, { AT_SIZE, 8 * 90, 8 },
	};
	if (how < G_N_ELEMENTS(lies)) {
		uint64_t value = GUINT64_TO_LE(lies[how].value);
		memcpy(a->data + lies[how].at, &value, lies[how].bytes);
		return;
	}
	static const guint cuts[] = { 0, 1, 50, AT_EVENTS - 1, AT_EVENTS, AT_EVENTS + 5, AT_EVENTS + 16 };
	g_byte_array_set_size(a, cuts[how - G_N_ELEMENTS(lies)]);
}

#define N_DAMAGES 20

/* Whatever the third packet is: those around it are read, and it is a loss if it can't be. */
static void test_hostile(void)
{
	for (unsigned how = 0; how < N_DAMAGES; how++) {
		struct live l;
		struct made m = { .uuid = 1 };
		made_init(&l);
		unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
		unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
		for (uint64_t i = 1; i <= 5; i++) {
			GByteArray *a = made_bytes(&m, i * 1000, i * 1000 + 900, 0, 5);
			if (i == 3)
				damage(a, how);
			native_feed_packet(l.f, s, g_byte_array_free_to_bytes(a), NULL);
			if (how % 2)
				made_drain(&l);
		}
		native_feed_end(l.f);
		g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
		g_assert_cmpuint(l.n[0], >=, 20);
		g_assert_cmpuint(l.n[0], <=, 25);
		g_autofree char *troubles = native_feed_troubles(l.f);
		if (l.n[0] < 25) {
			g_assert_cmpuint(l.losses->len, >=, 1);
			g_assert_nonnull(troubles);
		}
		g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
		made_clear(&l);
	}
}

/* The first packet is none: the stream begins with the next, and a loss. */
static void test_hostile_first(void)
{
	for (unsigned how = 0; how < N_DAMAGES; how++) {
		struct live l;
		struct made m = { .uuid = 1 };
		made_init(&l);
		unsigned s = native_feed_add_stream(l.f, made_trace(&l, 1, "ust", BOOT_1, 0), "s", INT64_MAX);
		GByteArray *a = made_bytes(&m, 1000, 1900, 0, 5);
		damage(a, how);
		native_feed_packet(l.f, s, g_byte_array_free_to_bytes(a), NULL);
		made_drain(&l);
		native_feed_packet(l.f, s, made_packet(&m, 2000, 2900, 0, 5), NULL);
		native_feed_end_stream(l.f, s);
		native_feed_packet(l.f, s, made_packet(&m, 3000, 3900, 0, 5), NULL);	/* too late */
		native_feed_end(l.f);
		g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
		g_assert_cmpuint(l.n[0], >=, 5);
		g_assert_cmpuint(l.n[0], <=, 10);
		g_autofree char *troubles = native_feed_troubles(l.f);
		if (l.n[0] < 10) {
			g_assert_cmpuint(l.losses->len, >=, 1);
			g_assert_nonnull(troubles);
		}
		g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
		made_clear(&l);
	}
}

/* Numbers of nothing. */
static void test_no_such(void)
{
	struct live l;
	struct made m = { .uuid = 1 };
	made_init(&l);
	native_feed_packet(l.f, 5, made_packet(&m, 1000, 1900, 0, 5), NULL);
	native_feed_beacon(l.f, 5, 0, 5);
	native_feed_end_stream(l.f, 5);
	native_feed_cut_stream(l.f, 5);
	native_feed_metadata(l.f, 5, g_bytes_new_static("x", 1));
	native_feed_metadata_restart(l.f, 5);
	native_feed_end_trace(l.f, 5);
	unsigned s = native_feed_add_stream(l.f, 9, "s", 0);
	native_feed_packet(l.f, s, made_packet(&m, 1000, 1900, 0, 5), NULL);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_AGAIN);
	g_assert_null(native_feed_trouble(l.f, 5));
	g_assert_false(native_feed_wants(l.f, 99));
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	made_clear(&l);
}

/* ---- who waits for whom ---- */

static void test_horizon(void)
{
	struct live l;
	struct made a = { .uuid = 1 }, b = { .uuid = 1, .instance = 1, .cpu = 1 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned sa = native_feed_add_stream(l.f, t, "a", INT64_MAX);
	unsigned sb = native_feed_add_stream(l.f, t, "b", INT64_MAX);
	native_feed_packet(l.f, sa, made_packet(&a, 1000, 1100, 0, 10), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 0);	/* b may have something older */
	g_assert_cmpint(made_status(&l).waits_for, ==, (int)sb);
	g_assert_true(native_feed_wants(l.f, sb));
	native_feed_beacon(l.f, sb, 7, 1045);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 5);
	g_assert_cmpint(l.horizon, ==, 1045);
	native_feed_beacon(l.f, sb, NATIVE_FEED_ANY_CLASS, 5000);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 10);
	g_assert_cmpint(l.horizon, ==, 1100);	/* a's packet ends there */
	native_feed_beacon(l.f, sa, 7, 3000000000);
	native_feed_packet(l.f, sb, made_packet(&b, 6000, 6100, 0, 1), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 11);
	g_assert_cmpint(l.horizon, ==, 6100);
	native_feed_end_stream(l.f, sb);
	made_drain(&l);
	g_assert_cmpint(l.horizon, ==, 3000000000);
	g_assert_cmpuint(made_status(&l).streams, ==, 1);
	g_assert_cmpuint(made_status(&l).late, ==, 0);
	made_clear(&l);
}

/* Counted events of a second are told when a beacon says that it is over. */
static void test_tally_by_beacon(void)
{
	struct live l;
	struct made a = { .uuid = 1 };
	made_init(&l);
	unsigned s = native_feed_add_stream(l.f, made_trace(&l, 1, "ust", BOOT_1, 0), "a", INT64_MAX);
	native_feed_packet(l.f, s, made_packet(&a, 500000000, 600000000, 1, 10), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.n[2], ==, 1);	/* the very first */
	native_feed_beacon(l.f, s, 7, 900000000);
	made_drain(&l);
	g_assert_cmpuint(l.n[2], ==, 1);
	native_feed_beacon(l.f, s, 7, 1000000000);
	made_drain(&l);
	g_assert_cmpuint(l.n[2], ==, 10);
	native_feed_packet(l.f, s, made_packet(&a, 1200000000, 1300000000, 1, 4), NULL);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[2], ==, 14);
	made_clear(&l);
}

/* The others wait for a silent stream for its bound, no longer; what it has to say then is
 * moved to the present, and counted. */
static void test_late(void)
{
	struct live l;
	struct made a = { .uuid = 1 }, b = { .uuid = 1, .instance = 1, .cpu = 1 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned sa = native_feed_add_stream(l.f, t, "a", 3000000);
	unsigned sb = native_feed_add_stream(l.f, t, "b", 3000000);
	native_feed_packet(l.f, sa, made_packet(&a, 1000, 1100, 0, 10), NULL);
	native_feed_packet(l.f, sb, made_packet(&b, 1000, 1050, 0, 1), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 7);	/* a's up to 1050, b's one */
	l.now += 60000000;		/* the machine was asleep */
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 7);
	made_pass(&l, 2700000);
	g_assert_cmpuint(l.n[0], ==, 7);
	g_assert_cmpuint(made_status(&l).stalled, ==, 0);
	made_pass(&l, 500000);
	g_assert_cmpuint(l.n[0], ==, 11);
	g_assert_cmpuint(made_status(&l).stalled, ==, 1);
	g_assert_cmpint(made_status(&l).stalled_stream, ==, (int)sb);
	g_assert_cmpint(made_status(&l).stalled_ns, ==, 1050);
	g_autofree char *name = native_feed_stream_name(l.f, sb);
	g_assert_cmpstr(name, ==, "b");
	native_feed_packet(l.f, sb, made_packet(&b, 1060, 1200, 0, 8), NULL);
	native_feed_beacon(l.f, sa, 7, 1101);
	made_drain(&l);
	struct native_feed_status st = made_status(&l);
	g_assert_cmpuint(l.n[0], ==, 16);	/* the rest waits for a */
	g_assert_cmpuint(st.stalled, ==, 0);
	g_assert_cmpuint(st.late, ==, 4);
	g_assert_cmpint(st.late_from_ns, ==, 1060);
	g_assert_cmpint(st.late_to_ns, ==, 1090);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 19);
	made_clear(&l);
}

/* A stream that says something all the time, but always of long ago, is waited for ten
 * times as long: it may catch up. */
static void test_always_late(void)
{
	struct live l;
	struct made a = { .uuid = 1 }, b = { .uuid = 1, .instance = 1, .cpu = 1 };
	const uint64_t ms = 1000000;
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned sa = native_feed_add_stream(l.f, t, "a", 1000000);
	unsigned sb = native_feed_add_stream(l.f, t, "b", 1000000);
	for (uint64_t i = 500; i < 800; i++) {	/* b lags by 5 s, then by 15 s */
		uint64_t lag = i < 650 ? 50 : 150, old = (i - lag) * 100 * ms;
		native_feed_packet(l.f, sa, made_packet(&a, i * 100 * ms, i * 100 * ms + 99 * ms, 0, 1), NULL);
		native_feed_packet(l.f, sb, made_packet(&b, old, old + 99 * ms, 0, 1), NULL);
		l.now += 100000;
		made_drain(&l);
		if (i == 649)
			g_assert_cmpuint(made_status(&l).late, ==, 0);
		if (i > 660)
			g_assert_cmpint(l.last, >=, (int64_t)((i - 113) * 100 * ms));
	}
	g_assert_cmpuint(made_status(&l).late, >, 40);
	made_clear(&l);
}

/* A stream of which a packet is on its way is not silent, however long that takes. */
static void test_under_way(void)
{
	for (int touched = 0; touched < 2; touched++) {
		struct live l;
		struct made a = { .uuid = 1 }, b = { .uuid = 1, .instance = 1, .cpu = 1 };
		made_init(&l);
		unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
		unsigned sa = native_feed_add_stream(l.f, t, "a", 1000000);
		unsigned sb = native_feed_add_stream(l.f, t, "b", 1000000);
		native_feed_packet(l.f, sa, made_packet(&a, 1000, 9000, 0, 5), NULL);
		native_feed_packet(l.f, sb, made_packet(&b, 1000, 1100, 0, 5), NULL);
		for (int i = 0; i < 6; i++) {
			if (touched)
				native_feed_touch(l.f, sb);
			made_pass(&l, 500000);
			native_feed_beacon(l.f, sa, 7, (uint64_t)(9001 + i));
		}
		made_drain(&l);
		native_feed_packet(l.f, sb, made_packet(&b, 1200, 1300, 0, 5), NULL);
		made_drain(&l);
		g_assert_cmpuint(made_status(&l).late, ==, touched ? 0 : 5);
		made_clear(&l);
	}
}

/* Whoever takes is slow, or asleep, and gets the other stream's packets only when he wants
 * them: that makes nothing late. */
static void test_slow_taker(void)
{
	struct live l;
	struct made a = { .uuid = 1 }, b = { .uuid = 1, .instance = 1, .cpu = 1 };
	struct blk_batch batch;
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned sa = native_feed_add_stream(l.f, t, "a", 3000000);
	unsigned sb = native_feed_add_stream(l.f, t, "b", 3000000);
	for (uint64_t i = 1; i <= 60; i++)
		native_feed_packet(l.f, sa, made_packet(&a, i * 10000, i * 10000 + 9999, 0, 600), NULL);
	for (uint64_t i = 1; i <= 60;) {
		l.status = source_next(l.s, &batch, NULL);
		for (size_t k = 0; k < batch.n; k++)
			made_take(&l, &batch.ev[k]);
		l.now += 10000000;
		if (native_feed_wants(l.f, sb)) {
			native_feed_packet(l.f, sb, made_packet(&b, i * 10000, i * 10000 + 9999, 0, 600), NULL);
			i++;
		}
	}
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 2 * 60 * 600);
	g_assert_cmpuint(made_status(&l).late, ==, 0);
	made_clear(&l);
}

/* ---- ends, cuts ---- */

static void test_cut(void)
{
	struct live l;
	struct made a = { .uuid = 1, .instance = 3 }, other = { .uuid = 1, .instance = 4, .cpu = 1 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned s = native_feed_add_stream(l.f, t, "a", INT64_MAX);
	unsigned so = native_feed_add_stream(l.f, t, "other", INT64_MAX);
	GBytes *first = made_packet(&a, 1000, 1900, 0, 5);
	native_feed_packet(l.f, s, g_bytes_ref(first), NULL);
	native_feed_packet(l.f, so, made_packet(&other, 1000, 9000, 0, 5), NULL);
	native_feed_cut_stream(l.f, s);
	native_feed_end_trace(l.f, t);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 10);
	g_assert_cmpint(l.horizon, ==, 9000);	/* nobody waits for the one that was cut off */
	t = made_trace(&l, 1, "ust", BOOT_1, 0);
	s = native_feed_add_stream(l.f, t, "a again", INT64_MAX);
	native_feed_packet(l.f, s, first, NULL);	/* was there */
	a.seq += 3;
	native_feed_packet(l.f, s, made_packet(&a, 9500, 9900, 0, 5), NULL);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 15);
	g_assert_cmpuint(l.losses->len, ==, 1);
	struct blk_loss loss = g_array_index(l.losses, struct blk_loss, 0);
	g_assert_cmpuint(loss.packets, ==, 3);
	g_assert_cmpint(loss.begin_ns, ==, 1900);
	g_assert_cmpint(loss.end_ns, ==, 9500);
	g_assert_cmpuint(l.s->tables.streams->len, ==, 2);
	made_clear(&l);
}

static void test_discarded(void)
{
	struct live l;
	struct made a = { .uuid = 1 };
	made_init(&l);
	unsigned s = native_feed_add_stream(l.f, made_trace(&l, 1, "ust", BOOT_1, 0), "a", INT64_MAX);
	native_feed_packet(l.f, s, made_packet(&a, 1000, 1900, 0, 5), NULL);
	a.discarded = 12;
	native_feed_packet(l.f, s, made_packet(&a, 2000, 2900, 0, 5), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.losses->len, ==, 2);		/* at once, not with the next packet */
	struct blk_loss between = g_array_index(l.losses, struct blk_loss, 0);
	struct blk_loss loss = g_array_index(l.losses, struct blk_loss, 1);
	g_assert_true(between.is_part && !between.events);
	g_assert_cmpint(between.begin_ns, ==, 1900);
	g_assert_cmpint(between.end_ns, ==, 2000);
	g_assert_true(!loss.is_part);
	g_assert_cmpuint(loss.events, ==, 12);
	g_assert_cmpint(loss.begin_ns, ==, 2040);
	g_assert_cmpint(loss.end_ns, ==, 2900);
	made_clear(&l);
}

/* An event of 42 bytes may not have fitted behind the fourth of five of 14 bytes, with 16 to the packet's end. */
static void test_discarded_inside(void)
{
	static const char large[] = "event { id = 9; stream_id = 7; name = \"large\"; fields := struct { u64 a; u64 b; "
				    "u64 c; u64 d; }; };\n";
	static const int64_t begin[] = { 1900, 2020, 2030, 2040 }, end[] = { 2000, 2030, 2040, 2900 };
	struct live l;
	struct made a = { .uuid = 1 };

	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0), s = native_feed_add_stream(l.f, t, "a", INT64_MAX);
	native_feed_metadata(l.f, t, g_bytes_new_static(large, strlen(large)));
	native_feed_packet(l.f, s, made_packet(&a, 1000, 1900, 0, 5), NULL);
	a.discarded = 12;
	native_feed_packet(l.f, s, made_packet(&a, 2000, 2900, 0, 5), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 10);
	g_assert_cmpuint(l.losses->len, ==, G_N_ELEMENTS(begin));
	for (guint i = 0; i < l.losses->len; i++) {
		struct blk_loss loss = g_array_index(l.losses, struct blk_loss, i);
		g_assert_cmpint(loss.begin_ns, ==, begin[i]);
		g_assert_cmpint(loss.end_ns, ==, end[i]);
		g_assert_cmpuint(loss.events, ==, i == 3 ? 12 : 0);
		g_assert_true(loss.is_part == (i < 3));
		if (i) {		/* all of one window */
			g_assert_cmpint(loss.begin_ns - loss.earlier_ns, ==, 2020);
			g_assert_cmpint(loss.end_ns + loss.later_ns, ==, 2900);
		}
	}
	made_clear(&l);
}

/* LTTng's counter of user space says 0 for a packet now and then, and goes on after it. */
static void test_discarded_goes_back(void)
{
	static const uint64_t counters[] = { 0, 12, 0, 12, 3, 20 };
	struct live l;
	struct made a = { .uuid = 1 };
	made_init(&l);
	unsigned s = native_feed_add_stream(l.f, made_trace(&l, 1, "ust", BOOT_1, 0), "a", INT64_MAX);
	for (unsigned i = 0; i < G_N_ELEMENTS(counters); i++) {
		a.discarded = counters[i];
		native_feed_packet(l.f, s, made_packet(&a, 1000 + 1000 * i, 1900 + 1000 * i, 0, 5), NULL);
	}
	made_drain(&l);
	g_assert_cmpuint(l.losses->len, ==, 4);		/* each with one before its packet */
	struct blk_loss first = g_array_index(l.losses, struct blk_loss, 1);
	struct blk_loss last = g_array_index(l.losses, struct blk_loss, 3);
	g_assert_true(!first.is_part && !last.is_part);
	g_assert_cmpuint(first.events, ==, 12);
	g_assert_cmpint(first.end_ns, ==, 2900);
	g_assert_cmpuint(last.events, ==, 8);
	g_assert_cmpint(last.end_ns, ==, 6900);
	made_clear(&l);
}

/* ---- clocks ---- */

static int64_t first_of(const struct live *l, unsigned cpu)
{
	for (guint i = 0; i < l->ev->len; i++) {
		const struct blk_event *e = &g_array_index(l->ev, struct blk_event, i);
		if (e->row == 0 && blk_stream(&l->s->tables, e->stream)->cpu == cpu)
			return e->ts;
	}
	return 0;
}

/* One offset a boot, the kernel's: also where the applications' trace comes first. */
static void test_clocks(void)
{
	struct live l;
	struct made ust = { .uuid = 1 }, kernel = { .uuid = 2, .cpu = 1 }, other = { .uuid = 3, .cpu = 2 };
	made_init(&l);
	unsigned t1 = made_trace(&l, 1, "ust", BOOT_1, 100), t2 = native_feed_add_trace(l.f, "t");
	unsigned t3 = made_trace(&l, 3, "ust", BOOT_2, 700);
	unsigned s1 = native_feed_add_stream(l.f, t1, "ust", INT64_MAX);
	unsigned s3 = native_feed_add_stream(l.f, t3, "other", INT64_MAX);
	native_feed_packet(l.f, s1, made_packet(&ust, 1000, 1900, 0, 5), NULL);
	native_feed_packet(l.f, s3, made_packet(&other, 1000, 1900, 0, 5), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 0);	/* who knows what the third trace is */
	char *text = made_metadata(2, "kernel", BOOT_1, 300);
	native_feed_metadata(l.f, t2, g_bytes_new_take(text, strlen(text)));
	unsigned s2 = native_feed_add_stream(l.f, t2, "kernel", INT64_MAX);
	native_feed_packet(l.f, s2, made_packet(&kernel, 1000, 1900, 0, 5), NULL);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 15);
	g_assert_cmpint(first_of(&l, 0), ==, 1300);
	g_assert_cmpint(first_of(&l, 1), ==, 1300);
	g_assert_cmpint(first_of(&l, 2), ==, 1700);
	made_clear(&l);
}

static void push_host(struct live *l, struct made *m, const char *domain, const char *boot, const char *host)
{
	g_autofree char *like = made_metadata(m->uuid, domain, boot, 0);
	g_auto(GStrv) parts = g_strsplit(like, "h;{\\\"", 2);
	char *text = g_strjoinv(host, parts);
	unsigned t = native_feed_add_trace(l->f, "t");
	native_feed_metadata(l->f, t, g_bytes_new_take(text, strlen(text)));
	unsigned s = native_feed_add_stream(l->f, t, "s", INT64_MAX);
	native_feed_packet(l->f, s, made_packet(m, 1000, 1900, 0, 5), NULL);
}

/* A boot is one machine, named by its kernel's trace; containers without one stay apart, and so do other boots. */
static void test_hosts(void)
{
	static const struct { const char *domain, *boot, *host, *is, *container; } traces[] = {
		{ "ust", BOOT_1, "c1", "lab", "c1" }, { "ust", BOOT_1, "c2", "lab", "c2" },
		{ "kernel", BOOT_1, "lab", "lab", NULL }, { "ust", BOOT_1, "lab", "lab", NULL },
		{ "ust", BOOT_2, "c1", "c1", NULL }, { "ust", BOOT_2, "lab", "lab", NULL },
	};
	struct made made[G_N_ELEMENTS(traces)] = { 0 };
	struct live l;
	made_init(&l);
	for (int i = 0; i < (int)G_N_ELEMENTS(traces); i++) {
		made[i].uuid = i + 1;
		made[i].cpu = (uint32_t)i;
		push_host(&l, &made[i], traces[i].domain, traces[i].boot, traces[i].host);
	}
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	const struct blk_tables *t = &l.s->tables;
	g_assert_cmpuint(t->streams->len, ==, G_N_ELEMENTS(traces));
	g_assert_cmpuint(t->hosts->len, ==, 3);
	for (guint i = 0; i < t->streams->len; i++) {
		const struct blk_stream *s = blk_stream(t, i);
		g_assert_cmpstr(blk_host(t, s->host)->name, ==, traces[s->cpu].is);
		g_assert_cmpstr(blk_host(t, s->host)->boot, ==, traces[s->cpu].boot);
		g_assert_cmpstr(s->hostname, ==, traces[s->cpu].container);
	}
	made_clear(&l);
}

/* A trace that never tells what it is holds no clock up for ever. */
static void test_clock_in_time(void)
{
	struct live l;
	struct made ust = { .uuid = 1 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 100);
	native_feed_add_trace(l.f, "t");
	unsigned s = native_feed_add_stream(l.f, t, "ust", INT64_MAX);
	native_feed_packet(l.f, s, made_packet(&ust, 1000, 1900, 0, 5), NULL);
	made_drain(&l);
	g_assert_cmpuint(l.n[0], ==, 0);
	made_pass(&l, 1100000);
	g_assert_cmpuint(l.n[0], ==, 5);
	made_clear(&l);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/feed/metadata/grows", test_grows);
	g_test_add_func("/feed/metadata/wrong", test_wrong_metadata);
	g_test_add_func("/feed/metadata/garbage", test_garbage_metadata);
	g_test_add_func("/feed/metadata/ended", test_ended);
	g_test_add_func("/feed/metadata/restart", test_restart);
	g_test_add_func("/feed/hostile/packets", test_hostile);
	g_test_add_func("/feed/hostile/first", test_hostile_first);
	g_test_add_func("/feed/hostile/numbers", test_no_such);
	g_test_add_func("/feed/merge/horizon", test_horizon);
	g_test_add_func("/feed/merge/tallies", test_tally_by_beacon);
	g_test_add_func("/feed/merge/late", test_late);
	g_test_add_func("/feed/merge/always-late", test_always_late);
	g_test_add_func("/feed/merge/under-way", test_under_way);
	g_test_add_func("/feed/merge/slow-taker", test_slow_taker);
	g_test_add_func("/feed/streams/cut", test_cut);
	g_test_add_func("/feed/streams/discarded", test_discarded);
	g_test_add_func("/feed/streams/discarded-inside", test_discarded_inside);
	g_test_add_func("/feed/streams/last-number", test_last_number);
	g_test_add_func("/feed/streams/discarded-goes-back", test_discarded_goes_back);
	g_test_add_func("/feed/clocks/pinned", test_clocks);
	g_test_add_func("/feed/clocks/in-time", test_clock_in_time);
	g_test_add_func("/feed/hosts", test_hosts);
	return g_test_run();
}
