/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Metadata that grows by a little again and again is parsed and compiled in time linear to its length: four times the
 * pieces take about four times the CPU time, not sixteen times.
 */
#include "lib/made_feed.h"

#include <string.h>
#include <time.h>

#define FEW 6000
#define TIMES 4
#define MOST (2 * TIMES)		/* times the CPU time; quadratic work takes TIMES * TIMES */
#define TRIES 4				/* other processes disturb the caches */

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Piece i of n. */
typedef char *(*piece_of)(int i, int n);

static char *event(int i, int n)
{
	return g_strdup_printf("event { id = %d; stream_id = 7; name = \"e%d\"; fields := struct { u32 n; }; };\n",
			       i + 10, i);
}

static char *env_block(int i, int n)
{
	return g_strdup_printf("env { name%d = \"%d\"; };\n", i, i);
}

static char *same_env(int i, int n)
{
	return g_strdup_printf("env { release = \"%d.x\"; domain = \"%s\"; };\n", i, i % 2 ? "ust" : "kernel");
}

static char *alias(int i, int n)
{
	return g_strdup_printf("typealias integer { size = 8; align = 8; } := t%d;\n", i);
}

static char *stream(int i, int n)
{
	return g_strdup_printf("stream { id = %d; event.header := struct { u16 id; ts timestamp; }; };\n", i + 10);
}

/* First events of streams that are not declared, then these streams. */
static char *orphan(int i, int n)
{
	int half = n / 2;

	return i >= half ? stream(i - half, n) : g_strdup_printf(
		"event { id = 1; stream_id = %d; name = \"e%d\"; fields := struct { u32 n; }; };\n", i + 10, i);
}

static char *blank(int i, int n)
{
	return g_strnfill(40, ' ');
}

/* One declaration that never ends. */
static char *part(int i, int n)
{
	return g_strdup(i ? " u8 a; /* } ; */ u8 b; " : "struct x { ");
}

static char *comment(int i, int n)
{
	return g_strdup(i ? "* ; '{\" / " : "/* ");
}

static char *event2(int i, int n)
{
	return g_strdup_printf("\x1e{\"type\":\"event-record-class\",\"id\":%d,\"data-stream-class-id\":7,"
			       "\"name\":\"e%d\"}", i + 10, i);
}

static char *alias2(int i, int n)
{
	return g_strdup_printf("\x1e{\"type\":\"field-class-alias\",\"name\":\"t%d\",\"field-class\":"
			       "{\"type\":\"null-terminated-string\"}}", i);
}

static char *stream2(int i, int n)
{
	return g_strdup_printf("\x1e{\"type\":\"data-stream-class\",\"id\":%d,\"default-clock-class-id\":\"c\","
			       "\"event-record-header-field-class\":{\"type\":\"structure\",\"member-classes\":["
			       "{\"name\":\"t\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\","
			       "\"length\":64,\"byte-order\":\"little-endian\","
			       "\"roles\":[\"default-clock-timestamp\"]}}]}}", i + 10);
}

static char *part2(int i, int n)
{
	return g_strdup(i ? "{\"a\":\"}\\\"\"}, " : "\x1e{\"type\":\"preamble\",\"version\":2,\"a\":[ ");
}

static char *blank2(int i, int n)
{
	return g_strnfill(40, '\n');
}

static const char begin2[] =
	"\x1e{\"type\":\"preamble\",\"version\":2}"
	"\x1e{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000000000}"
	"\x1e{\"type\":\"data-stream-class\",\"id\":7,\"default-clock-class-id\":\"c\","
	"\"event-record-header-field-class\":{\"type\":\"structure\",\"member-classes\":["
	"{\"name\":\"id\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":16,"
	"\"byte-order\":\"little-endian\",\"roles\":[\"event-record-class-id\"]}},"
	"{\"name\":\"t\",\"field-class\":{\"type\":\"fixed-length-unsigned-integer\",\"length\":64,"
	"\"byte-order\":\"little-endian\",\"roles\":[\"default-clock-timestamp\"]}}]}}";

static const struct growing { const char *name; piece_of piece; bool is_ctf2, alone; } growing[] = {
	{ "events", event, false, false }, { "env", env_block, false, false }, { "same-env", same_env, false, false },
	{ "typealias", alias, false, false }, { "streams", stream, false, false },
	{ "events-before-streams", orphan, false, false }, { "blank", blank, false, false },
	{ "one-declaration", part, false, false }, { "one-comment", comment, false, false },
	{ "ctf2-events", event2, true, false }, { "ctf2-aliases", alias2, true, false },
	{ "ctf2-streams", stream2, true, false }, { "ctf2-one-fragment", part2, true, true },
	{ "ctf2-blank", blank2, true, false },
};

/* CPU time of n pieces, while packets wait and others are decoded. */
static int64_t take(const struct growing *g, int n)
{
	struct made m = { .uuid = 1, .instance = 1 }, waits = { .uuid = 1, .instance = 2 };
	g_autoptr(GPtrArray) pieces = g_ptr_array_new_with_free_func(g_free);
	struct live l;

	for (int i = 0; i < n; i++)
		g_ptr_array_add(pieces, g->piece(i, n));
	made_init(&l);
	unsigned t = native_feed_add_trace(l.f, "t");
	g_autofree char *text = g->is_ctf2 ? g_strdup(g->alone ? "" : begin2) : made_metadata(1, "kernel", BOOT_1, 0);
	native_feed_metadata(l.f, t, g_bytes_new(text, strlen(text)));
	unsigned s = native_feed_add_stream(l.f, t, "s", INT64_MAX);
	unsigned other = native_feed_add_stream(l.f, t, "other", INT64_MAX);
	native_feed_packet(l.f, other, made_packet(&waits, 1, 1000000000, 9, 5), NULL);
	int64_t from = cpu_ns();
	for (guint i = 0; i < pieces->len; i++) {
		const char *piece = g_ptr_array_index(pieces, i);
		native_feed_metadata(l.f, t, g_bytes_new_static(piece, strlen(piece)));
		if (i % 8 == 0)
			native_feed_packet(l.f, s, made_packet(&m, 1000 + i, 1001 + i, 0, 1), NULL);
		made_drain(&l);
	}
	int64_t took = cpu_ns() - from;
	g_autofree char *why = native_feed_troubles(l.f);
	g_assert_true(g->is_ctf2 || !why);
	g_assert_true(!why || !strstr(why, "cannot read metadata"));
	made_clear(&l);
	return took;
}

static void test_growing(const void *data)
{
	const struct growing *g = data;
	int64_t few = 0, many = 0;

	for (int i = 0; i < TRIES; i++) {
		few = take(g, FEW);
		many = take(g, FEW * TIMES);
		g_test_message("%d pieces: %.1f ms; %d times as many: %.1f ms", FEW, (double)few / 1e6, TIMES,
			       (double)many / 1e6);
		if (many < MOST * few)
			return;
	}
	g_error("%s: %d times the pieces take %.1f times the time", g->name, TIMES, (double)many / (double)few);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(growing); i++) {
		g_autofree char *path = g_strdup_printf("/growing/%s", growing[i].name);
		g_test_add_data_func(path, &growing[i], test_growing);
	}
	return g_test_run();
}
