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
	native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5), NULL);
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
		      { "stream {", "no stream class (its process ended before" } };
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct live l;
		struct made m = { .uuid = 1 };
		g_autofree char *text = made_metadata(1, "ust", BOOT_1, 0);
		made_init(&l);
		unsigned t = native_feed_add_trace(l.f, "t");
		unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
		native_feed_metadata(l.f, t, g_bytes_new(text, (gsize)(strstr(text, cases[i].until) - text)));
		native_feed_packet(l.f, s, made_packet(&m, 1000, 2000, 0, 5), NULL);
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
	native_feed_packet(l.f, s2, made_packet(&m, 1000, 2000, 0, 5), NULL);
	native_feed_beacon(l.f, s2, NATIVE_FEED_ANY_CLASS, 3000);
	native_feed_packet(l.f, s1, made_packet(&m, 1000, 2000, 0, 5), NULL);
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
	native_feed_packet(l.f, s, made_packet(&other, 1000, 2000, 0, 5), NULL);
	made_pass(&l, 2000000);
	expect_trouble(&l, "cannot read packets: ", 1, 0);
	native_feed_packet(l.f, s, made_packet(&m, 2000, 3000, 77, 5), NULL);
	made_pass(&l, 2000000);
	expect_trouble(&l, "cannot read events: ", 1, 0);
	native_feed_packet(l.f, s, made_packet(&m, 3000, 4000, 1, 5), NULL);
	native_feed_packet(l.f, s, made_packet(&m, 4000, 5000, 1, 5), NULL);
	made_drain(&l);
	expect_trouble(&l, "cannot read all packets of trace 't': stream 's': ", 0, 1);
	made_clear(&l);
}

/* ---- packets of a stream that differ ---- */

static const char other_class[] =
	"stream { id = 8; event.header := struct { u16 id; ts timestamp; };\n"
	"	packet.context := struct { ts timestamp_begin; ts timestamp_end;\n"
	"		u64 content_size; u64 packet_size; u64 packet_seq_num;\n"
	"		u64 events_discarded; u32 cpu_id; }; };\n"
	"event { id = 0; stream_id = 8; name = \"said\"; fields := struct { u32 n; }; };\n";

struct losses { uint64_t events, packets, damaged; };

static struct losses all_losses(const struct live *l)
{
	struct losses all = { 0 };
	for (guint i = 0; i < l->losses->len; i++) {
		const struct blk_loss *loss = &g_array_index(l->losses, struct blk_loss, i);
		all.events += loss->events;
		all.packets += loss->packets;
		all.damaged += loss->damaged;
	}
	return all;
}

static GBytes *packet_of_class(struct made *m, uint64_t begin, uint32_t class_id)
{
	GByteArray *a = made_bytes(m, begin, begin + 900, 0, 5);
	class_id = GUINT32_TO_LE(class_id);
	memcpy(a->data + AT_CLASS, &class_id, sizeof class_id);
	return g_byte_array_free_to_bytes(a);
}

/* Four packets of one stream, of these classes: all events of known classes come, and each packet of an
 * unknown one is a damaged one, told with the stream's name. */
static void expect_classes(const uint32_t classes[4], unsigned read, unsigned damaged)
{
	struct live l;
	struct made m = { .uuid = 1 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	native_feed_metadata(l.f, t, g_bytes_new_static(other_class, sizeof other_class - 1));
	unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	for (unsigned i = 0; i < 4; i++) {
		native_feed_packet(l.f, s, packet_of_class(&m, 1000 + i * 1000, classes[i]), NULL);
		made_drain(&l);
	}
	made_pass(&l, 2000000);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, read);
	struct losses lost = all_losses(&l);
	g_assert_cmpuint(lost.damaged, ==, damaged);
	g_assert_cmpuint(lost.packets, ==, 0);
	g_assert_cmpuint(made_status(&l).refused, ==, damaged);
	expect_trouble(&l, damaged ? "cannot read all packets of trace 't': stream 's': " : NULL, 0, 1);
	g_assert_cmpuint(native_feed_queued(l.f), ==, 0);
	made_clear(&l);
}

static void test_classes(void)
{
	expect_classes((const uint32_t[]){ 7, 7, 7, 7 }, 20, 0);
	expect_classes((const uint32_t[]){ 8, 7, 7, 7 }, 20, 0);
	expect_classes((const uint32_t[]){ 7, 8, 7, 8 }, 20, 0);
	expect_classes((const uint32_t[]){ 9, 7, 7, 7 }, 15, 1);
	expect_classes((const uint32_t[]){ 9, 10, 8, 7 }, 10, 2);
	expect_classes((const uint32_t[]){ 7, 9, 9, 7 }, 10, 2);
	expect_classes((const uint32_t[]){ 7, 7, 7, 9 }, 15, 1);
}

/* A stream of which no packet is one of the trace, beside one that is well. */
static void test_no_packet(void)
{
	struct live l;
	struct made m = { .uuid = 1 }, good = { .uuid = 1, .instance = 1 };
	made_init(&l);
	unsigned t = made_trace(&l, 1, "ust", BOOT_1, 0);
	unsigned s1 = native_feed_add_stream(l.f, t, "good", INT64_MAX);
	unsigned s2 = native_feed_add_stream(l.f, t, "b\033ad", INT64_MAX);
	native_feed_packet(l.f, s1, made_packet(&good, 1000, 1900, 0, 5), NULL);
	for (int i = 0; i < 3; i++)
		native_feed_packet(l.f, s2, packet_of_class(&m, 1000, 9), NULL);
	made_pass(&l, 2000000);
	expect_trouble(&l, "stream 'b\\x1bad': ", 0, 1);
	g_assert_cmpuint(made_status(&l).unplaced, ==, 3);
	native_feed_end(l.f);
	g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
	g_assert_cmpuint(l.n[0], ==, 5);
	g_assert_cmpuint(made_status(&l).unplaced, ==, 3);
	made_clear(&l);
}

/* What the index says of the second of three packets is not what its header says: what can be read of
 * it is, and it is told as damaged; times are those that fit. */
static void test_index(void)
{
	enum { BEGIN, END, CONTENT, SIZE, N_FIELDS };
	for (unsigned how = 0; how <= 2 * N_FIELDS; how++) {
		struct live l;
		struct made m = { .uuid = 1 };
		made_init(&l);
		unsigned s = native_feed_add_stream(l.f, made_trace(&l, 1, "ust", BOOT_1, 0), "s", INT64_MAX);
		for (uint64_t i = 1; i <= 3; i++) {
			GByteArray *a = made_bytes(&m, i * 1000, i * 1000 + 900, 0, 5);
			const guint at[] = { [BEGIN] = AT_BEGIN, [END] = AT_END, [CONTENT] = AT_CONTENT,
					     [SIZE] = AT_SIZE };
			struct native_feed_index x = {
				.begin = i * 1000, .end = i * 1000 + 900, .packet_bits = UINT64_C(8) * a->len,
				.content_bits = UINT64_C(8) * (a->len - 16),
			};
			uint64_t *field[] = { [BEGIN] = &x.begin, [END] = &x.end, [CONTENT] = &x.content_bits,
					      [SIZE] = &x.packet_bits };
			if (i == 2 && how < N_FIELDS)
				*field[how] ^= UINT64_C(1) << (how < CONTENT ? 40 : 7);
			else if (i == 2 && how < 2 * N_FIELDS)
				a->data[at[how - N_FIELDS] + (how < N_FIELDS + CONTENT ? 5 : 1)] ^= 1;
			native_feed_packet(l.f, s, g_byte_array_free_to_bytes(a), &x);
		}
		native_feed_end(l.f);
		g_assert_cmpint(made_drain(&l), ==, SOURCE_END);
		g_assert_cmpuint(all_losses(&l).damaged, ==, how < 2 * N_FIELDS);
		g_assert_cmpuint(all_losses(&l).packets, ==, 0);
		g_assert_cmpuint(l.n[0], >=, how % N_FIELDS >= CONTENT ? 10 : 15);
		g_assert_cmpint(l.last, <=, 3900);
		expect_trouble(&l, how < 2 * N_FIELDS ? "stream 's': " : NULL, 0, 1);
		made_clear(&l);
	}
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
	native_feed_packet(l.f, s2, made_packet(&m, 1000, 2000, 0, 5), NULL);
	native_feed_packet(l.f, s1, made_packet(&m, 1000, 2000, 0, 5), NULL);
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
	g_test_add_func("/feed-trouble/classes", test_classes);
	g_test_add_func("/feed-trouble/no-packet", test_no_packet);
	g_test_add_func("/feed-trouble/index", test_index);
	g_test_add_func("/feed-trouble/holds-none", test_holds_none);
	return g_test_run();
}
