/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The viewer protocol, message by message: what is asked is byte for byte what the
 * protocol says, what is answered is understood, and nonsense is refused.
 */
#include "base/limits.h"
#include "lib/fake_relay.h"

static struct viewer *open_relay(struct relay *r, int timeout_ms)
{
	g_autoptr(GError) error = NULL;
	struct live_url url = relay_start(r);
	struct viewer *v = viewer_open(&url, timeout_ms, -1, &error);

	g_assert_no_error(error);
	return v;
}

static void close_relay(struct relay *r, struct viewer *v)
{
	viewer_free(v);
	g_assert_cmpint(g_atomic_int_get(&r->unwanted), ==, 0);
	relay_free(r);
}

static void put_index(uint8_t p[VIEWER_INDEX_SIZE], uint32_t status, uint32_t flags)
{
	for (unsigned i = 0; i < 7; i++)
		viewer_put_u64(p + 8 * i, 0x1000000000 + i);
	viewer_put_u32(p + 56, status);
	viewer_put_u32(p + 60, flags);
}

static void add_of(struct relay *r, enum viewer_command command, uint64_t id, const void *text,
		   size_t len)
{
	uint8_t payload[8];

	viewer_put_u64(payload, id);
	relay_add_answer(r, command, payload, sizeof payload, text, len);
}

static void put_stream(GByteArray *to, uint64_t id, uint64_t trace, bool metadata,
		       const char *path, const char *channel)
{
	uint8_t p[VIEWER_STREAM_SIZE] = { 0 };

	viewer_put_u64(p, id);
	viewer_put_u64(p + 8, trace);
	viewer_put_u32(p + 16, metadata);
	memcpy(p + 20, path, MIN(strlen(path), VIEWER_PATH_SIZE));
	memcpy(p + 20 + VIEWER_PATH_SIZE, channel, MIN(strlen(channel), VIEWER_NAME_SIZE));
	g_byte_array_append(to, p, sizeof p);
}

static GByteArray *streams_reply(uint32_t status, uint32_t n)
{
	GByteArray *a = g_byte_array_new();
	uint8_t p[8];

	viewer_put_u32(p, status);
	viewer_put_u32(p + 4, n);
	g_byte_array_append(a, p, sizeof p);
	return a;
}

/* -- hello and list ---------------------------------------------------------- */

static void test_hello(void)
{
	static const uint8_t wanted[] = {
		0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 0,
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0, 0, 0, 2, 0, 0, 0, VIEWER_MINOR, 0, 0, 0, 1,
	};
	static const struct { uint32_t theirs, both; } minors[] = {
		{ 4, 4 }, { 13, 13 }, { 15, 15 }, { 99, VIEWER_MINOR },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(minors); i++) {
		struct relay *r = relay_new(true);
		relay_add_hello(r, 2, minors[i].theirs);
		struct relay_step *s = &g_array_index(r->steps, struct relay_step, 0);
		s->wanted = g_byte_array_append(g_byte_array_new(), wanted, sizeof wanted);
		struct viewer *v = open_relay(r, 5000);
		g_assert_cmpuint(v->minor, ==, minors[i].both);
		close_relay(r, v);
	}
}

static void put_new_session(GByteArray *to, uint64_t id, const char *host, const char *name,
			    uint32_t format)
{
	uint8_t p[VIEWER_ENTRY_NEW_SIZE] = { 0 };

	viewer_put_u64(p, id);
	viewer_put_u32(p + 8, 200000);
	viewer_put_u32(p + 12, 1);
	viewer_put_u32(p + 16, 7);
	viewer_put_u32(p + 20, (uint32_t)strlen(host));
	viewer_put_u32(p + 24, (uint32_t)strlen(name));
	viewer_put_u32(p + 28, format);
	g_byte_array_append(to, p, sizeof p);
	g_byte_array_append(to, (const uint8_t *)host, (guint)strlen(host));
	g_byte_array_append(to, (const uint8_t *)name, (guint)strlen(name));
}

/* From 2.15 on names have lengths, and sessions a format. */
static void test_new_list(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GByteArray) list = g_byte_array_new();
	g_autofree char *longest = g_strnfill(LIMIT_RELAY_NAME_BYTES, 'n');
	g_autoptr(GError) error = NULL;

	put_new_session(list, 5, "web", "spans", 0);
	put_new_session(list, 6, "", longest, 1);
	relay_add_hello(r, 2, 15);
	relay_add_list(r, 2, list);
	struct viewer *v = open_relay(r, 5000);
	g_autoptr(GArray) got = viewer_list(v, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(got->len, ==, 2);
	const struct viewer_session *s = &g_array_index(got, struct viewer_session, 0);
	g_assert_cmpuint(s[0].id, ==, 5);
	g_assert_cmpuint(s[0].timer_us, ==, 200000);
	g_assert_cmpuint(s[0].viewers, ==, 1);
	g_assert_cmpuint(s[0].streams, ==, 7);
	g_assert_cmpstr(s[0].host, ==, "web");
	g_assert_cmpstr(s[0].name, ==, "spans");
	g_assert_cmpint(s[0].format, ==, VIEWER_FORMAT_CTF1);
	g_assert_cmpstr(s[1].host, ==, "");
	g_assert_cmpstr(s[1].name, ==, longest);
	g_assert_cmpint(s[1].format, ==, VIEWER_FORMAT_CTF2);
	close_relay(r, v);
}

static void test_long_name(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GByteArray) list = g_byte_array_new();
	g_autofree char *name = g_strnfill(LIMIT_RELAY_NAME_BYTES + 1, 'n');
	g_autoptr(GError) error = NULL;

	put_new_session(list, 5, "web", name, 0);
	relay_add_hello(r, 2, 15);
	relay_add_list(r, 1, list);
	struct viewer *v = open_relay(r, 5000);
	g_assert_null(viewer_list(v, &error));
	g_assert_nonnull(strstr(error->message, "too long"));
	close_relay(r, v);
}

/* -- attaching --------------------------------------------------------------- */

static void add_attach(struct relay *r, uint64_t session, uint32_t seek, const GByteArray *reply)
{
	uint8_t payload[20] = { 0 }, created[4];

	relay_add_hello(r, 2, 13);
	viewer_put_u32(created, 1);
	relay_add_answer(r, VIEWER_CREATE, NULL, 0, created, sizeof created);
	viewer_put_u64(payload, session);
	viewer_put_u32(payload + 16, seek);
	relay_add_answer(r, VIEWER_ATTACH, payload, sizeof payload, reply->data, reply->len);
}

static void test_attach(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
	g_autoptr(GByteArray) reply = streams_reply(VIEWER_ATTACHED, 2);
	g_autofree char *path = g_strnfill(VIEWER_PATH_SIZE, 'p');
	g_autofree char *channel = g_strnfill(VIEWER_NAME_SIZE, 'c');
	g_autoptr(GError) error = NULL;
	uint32_t status = 0;
	uint8_t bye[4];

	put_stream(reply, 8, 3, false, "ust/uid/0", "chan_\033[0m");
	put_stream(reply, 9, 3, true, path, channel);
	add_attach(r, 77, VIEWER_FROM_BEGINNING, reply);
	viewer_put_u32(bye, 1);
	add_of(r, VIEWER_DETACH, 77, bye, sizeof bye);
	struct viewer *v = open_relay(r, 5000);
	g_assert_true(viewer_attach(v, 77, VIEWER_FROM_BEGINNING, &status, streams, &error));
	g_assert_no_error(error);
	g_assert_cmpuint(status, ==, VIEWER_ATTACHED);
	g_assert_cmpuint(streams->len, ==, 2);
	const struct viewer_stream *a = streams->pdata[0], *b = streams->pdata[1];
	g_assert_cmpuint(a->id, ==, 8);
	g_assert_cmpuint(a->trace, ==, 3);
	g_assert_false(a->metadata);
	g_assert_true(g_str_has_prefix(a->name, "ust/uid/0/chan_"));
	g_assert_null(strchr(a->name, '\033'));
	g_assert_true(b->metadata);
	g_assert_true(g_str_has_suffix(b->name, channel));
	g_assert_true(viewer_detach(v, 77, &error));
	close_relay(r, v);
}

static void test_attach_refused(void)
{
	for (uint32_t status = 0; status < 9; status++) {
		struct relay *r = relay_new(true);
		g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
		/* the count is only meant where it was let in */
		g_autoptr(GByteArray) reply = streams_reply(status, status == 1 ? 0 : 1000);
		g_autoptr(GError) error = NULL;
		uint32_t got = 99;

		add_attach(r, 1, VIEWER_FROM_LAST, reply);
		struct viewer *v = open_relay(r, 5000);
		bool ok = viewer_attach(v, 1, VIEWER_FROM_LAST, &got, streams, &error);
		g_assert_cmpint(ok, ==, status >= 1 && status <= 6);
		g_assert_cmpuint(streams->len, ==, 0);
		if (ok)
			g_assert_cmpuint(got, ==, status);
		else
			g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
		close_relay(r, v);
	}
}

static void test_no_place(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GError) error = NULL;
	uint8_t refused[4];
	uint32_t status;

	relay_add_hello(r, 2, 13);
	viewer_put_u32(refused, 2);
	relay_add_answer(r, VIEWER_CREATE, NULL, 0, refused, sizeof refused);
	struct viewer *v = open_relay(r, 5000);
	g_assert_false(viewer_attach(v, 1, VIEWER_FROM_LAST, &status, NULL, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
	close_relay(r, v);
}

static void test_many_streams(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
	g_autoptr(GByteArray) reply = streams_reply(VIEWER_ATTACHED, UINT32_MAX);
	g_autoptr(GError) error = NULL;
	uint32_t status;

	add_attach(r, 1, VIEWER_FROM_LAST, reply);
	struct viewer *v = open_relay(r, 5000);
	g_assert_false(viewer_attach(v, 1, VIEWER_FROM_LAST, &status, streams, &error));
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT);
	g_assert_nonnull(strstr(error->message, "too many streams"));
	close_relay(r, v);
}

/* -- many requests at once ---------------------------------------------------- */

static void test_pipeline(void)
{
	struct relay *r = relay_new(true);
	g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
	g_autoptr(GByteArray) fresh = streams_reply(VIEWER_STREAMS_OK, 1);
	g_autoptr(GByteArray) text = g_byte_array_new();
	g_autoptr(GError) error = NULL;
	uint8_t index[VIEWER_INDEX_SIZE], packet[VIEWER_PACKET_HEAD + 20000] = { 0 };
	uint8_t metadata[VIEWER_METADATA_HEAD + 5], asked[20], got[20000];
	struct viewer_answer answer;
	struct viewer_index x;
	uint32_t status;

	relay_add_hello(r, 2, 13);
	put_index(index, VIEWER_INDEX_OK, 3);
	add_of(r, VIEWER_NEXT_INDEX, 42, index, sizeof index);
	viewer_put_u32(packet, VIEWER_PACKET_OK);
	viewer_put_u32(packet + 4, sizeof got);
	for (size_t i = 0; i < sizeof got; i++)
		packet[VIEWER_PACKET_HEAD + i] = (uint8_t)(i * 7);
	viewer_put_u64(asked, 42);
	viewer_put_u64(asked + 8, 0x123456789a);
	viewer_put_u32(asked + 16, sizeof got);
	relay_add_answer(r, VIEWER_PACKET, asked, sizeof asked, packet, sizeof packet);
	viewer_put_u64(metadata, 5);
	viewer_put_u32(metadata + 8, VIEWER_METADATA_OK);
	memcpy(metadata + VIEWER_METADATA_HEAD, "hello", 5);
	add_of(r, VIEWER_METADATA, 43, metadata, sizeof metadata);
	put_stream(fresh, 44, 2, false, "p", "c");
	add_of(r, VIEWER_NEW_STREAMS, 1, fresh->data, fresh->len);

	struct viewer *v = open_relay(r, 5000);
	viewer_ask_index(v, 42);
	viewer_ask_packet(v, 42, 0x123456789a, sizeof got);
	viewer_ask_metadata(v, 43);
	viewer_ask_streams(v, 1);
	g_assert_true(viewer_flush(v, &error));
	g_assert_true(viewer_get_index(v, &x, &error));
	g_assert_cmpuint(x.status, ==, VIEWER_INDEX_OK);
	g_assert_cmpuint(x.flags, ==, VIEWER_FLAG_METADATA | VIEWER_FLAG_STREAMS);
	g_assert_cmpuint(x.offset, ==, 0x1000000000);
	g_assert_cmpuint(x.packet_bits, ==, 0x1000000001);
	g_assert_cmpuint(x.content_bits, ==, 0x1000000002);
	g_assert_cmpuint(x.begin, ==, 0x1000000003);
	g_assert_cmpuint(x.end, ==, 0x1000000004);
	g_assert_cmpuint(x.discarded, ==, 0x1000000005);
	g_assert_cmpuint(x.class, ==, 0x1000000006);
	g_assert_true(viewer_get_packet(v, got, sizeof got, &answer, &error));
	g_assert_cmpuint(answer.status, ==, VIEWER_PACKET_OK);
	g_assert_cmpmem(got, sizeof got, packet + VIEWER_PACKET_HEAD, sizeof got);
	g_assert_true(viewer_get_metadata(v, text, &status, &error));
	g_assert_cmpuint(status, ==, VIEWER_METADATA_OK);
	g_assert_cmpmem(text->data, text->len, "hello", 5);
	g_assert_true(viewer_get_streams(v, &status, streams, &error));
	g_assert_cmpuint(status, ==, VIEWER_STREAMS_OK);
	g_assert_cmpuint(((struct viewer_stream *)streams->pdata[0])->id, ==, 44);
	close_relay(r, v);
}

/* -- nonsense ------------------------------------------------------------------ */

enum message { INDEX, PACKET, METADATA, STREAMS };

/* Asks for one thing; the reply is `text`. */
static bool ask_one(enum message what, const void *text, size_t len, GError **error)
{
	static const struct { enum viewer_command command; size_t size; } commands[] = {
		[INDEX] = { VIEWER_NEXT_INDEX, 8 }, [PACKET] = { VIEWER_PACKET, 20 },
		[METADATA] = { VIEWER_METADATA, 8 }, [STREAMS] = { VIEWER_NEW_STREAMS, 8 },
	};
	struct relay *r = relay_new(false);
	g_autoptr(GPtrArray) streams = g_ptr_array_new_with_free_func(viewer_stream_free);
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct viewer_answer answer;
	struct viewer_index x;
	uint8_t into[16];
	uint32_t status;
	bool ok;

	relay_add_hello(r, 2, 13);
	relay_add_step(r, VIEWER_HEADER + commands[what].size, text, len);
	struct viewer *v = open_relay(r, 5000);
	if (what == INDEX)
		viewer_ask_index(v, 1);
	else if (what == PACKET)
		viewer_ask_packet(v, 1, 0, sizeof into);
	else if (what == METADATA)
		viewer_ask_metadata(v, 1);
	else
		viewer_ask_streams(v, 1);
	g_assert_true(viewer_flush(v, error));
	ok = what == INDEX ? viewer_get_index(v, &x, error)
	   : what == PACKET ? viewer_get_packet(v, into, sizeof into, &answer, error)
	   : what == METADATA ? viewer_get_metadata(v, bytes, &status, error)
	   : viewer_get_streams(v, &status, streams, error);
	if (!ok)
		g_assert_cmpuint(bytes->len, ==, 0);
	close_relay(r, v);
	return ok;
}

static void expect(enum message what, const void *text, size_t len, bool ok, int code)
{
	g_autoptr(GError) error = NULL;

	g_assert_cmpint(ask_one(what, text, len, &error), ==, ok);
	if (ok)
		g_assert_no_error(error);
	else
		g_assert_error(error, BLK_TRACE_ERROR, code);
}

static void test_statuses(void)
{
	static const struct { enum message what; size_t len, at; uint32_t most; } replies[] = {
		{ INDEX, VIEWER_INDEX_SIZE, 56, VIEWER_INDEX_EOF },
		{ PACKET, VIEWER_PACKET_HEAD, 0, VIEWER_PACKET_EOF },
		{ METADATA, VIEWER_METADATA_HEAD, 8, VIEWER_METADATA_ERR },
		{ STREAMS, 8, 0, VIEWER_STREAMS_HUP },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(replies); i++) {
		uint8_t text[VIEWER_INDEX_SIZE] = { 0 };
		/* OK has a tail: the other tests have it */
		for (uint32_t status = 0; status <= replies[i].most + 1; status++) {
			bool fine = status > 0 && status <= replies[i].most;
			viewer_put_u32(text + replies[i].at, status);
			if (status != 1)
				expect(replies[i].what, text, replies[i].len, fine,
				       BLK_TRACE_ERROR_CORRUPT);
		}
		viewer_put_u32(text + replies[i].at, UINT32_MAX);
		expect(replies[i].what, text, replies[i].len, false, BLK_TRACE_ERROR_CORRUPT);
	}
}

static void test_lengths(void)
{
	uint8_t packet[VIEWER_PACKET_HEAD + 32] = { 0 }, metadata[VIEWER_METADATA_HEAD + 32] = { 0 };
	uint8_t streams[8];

	viewer_put_u32(packet, VIEWER_PACKET_OK);
	viewer_put_u32(packet + 4, 17);
	expect(PACKET, packet, sizeof packet, false, BLK_TRACE_ERROR_CORRUPT);
	viewer_put_u32(packet + 4, 15);
	expect(PACKET, packet, sizeof packet, false, BLK_TRACE_ERROR_CORRUPT);
	viewer_put_u32(packet + 4, 16);
	expect(PACKET, packet, VIEWER_PACKET_HEAD + 15, false, BLK_TRACE_ERROR_CONNECT);
	expect(PACKET, packet, VIEWER_PACKET_HEAD + 16, true, 0);
	viewer_put_u32(metadata + 8, VIEWER_METADATA_OK);
	viewer_put_u64(metadata, UINT64_MAX);
	expect(METADATA, metadata, sizeof metadata, false, BLK_TRACE_ERROR_CORRUPT);
	viewer_put_u64(metadata, LIMIT_METADATA_BYTES);
	expect(METADATA, metadata, sizeof metadata, false, BLK_TRACE_ERROR_CONNECT);
	viewer_put_u64(metadata, 0);
	expect(METADATA, metadata, VIEWER_METADATA_HEAD, true, 0);
	viewer_put_u32(streams, VIEWER_STREAMS_OK);
	viewer_put_u32(streams + 4, LIMIT_RELAY_STREAMS + 1);
	expect(STREAMS, streams, sizeof streams, false, BLK_TRACE_ERROR_CORRUPT);
	viewer_put_u32(streams + 4, 1);
	expect(STREAMS, streams, sizeof streams, false, BLK_TRACE_ERROR_CONNECT);
	viewer_put_u32(streams + 4, 0);
	expect(STREAMS, streams, sizeof streams, true, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} tests[] = {
		{ "hello", test_hello }, { "new-list", test_new_list },
		{ "long-name", test_long_name }, { "attach", test_attach },
		{ "attach-refused", test_attach_refused }, { "no-place", test_no_place },
		{ "many-streams", test_many_streams }, { "pipeline", test_pipeline },
		{ "statuses", test_statuses }, { "lengths", test_lengths },
	};
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++) {
		g_autofree char *path = g_strconcat("/live-protocol/", tests[i].name, NULL);
		g_test_add_func(path, tests[i].run);
	}
	return g_test_run();
}
