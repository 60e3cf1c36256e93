/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of directories, packets and events: files that are sparse, so that they cost no disk. */
#include "base/limits.h"
#include "lib/sources.h"
#include "lib/limit_test.h"
#include "lib/test_traces.h"
#include "trace/ctf/ctf_index.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_program.h"
#include "trace/ctf/ctf_wanted.h"
#include "trace/ctf/ctf_walk.h"
#include "trace/native/cut.h"
#include "trace/ctf/layouts.h"
#include "trace/native/native.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- directories ---- */

static guint n_found(const char *dir, const char *words)
{
	const char *const paths[] = { dir, NULL };
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) found = trace_find_dirs(paths, NULL, &error);

	return limit_taken(error, words) ? found->len : 0;
}

static bool directory_depth(uint64_t n)
{
	g_autofree char *root = test_temp_dir();
	g_autoptr(GString) path = g_string_new(root);

	for (uint64_t i = 0; i < n; i++)
		g_string_append(path, "/d");
	g_assert_no_errno(g_mkdir_with_parents(path->str, 0700));
	g_string_append(path, "/metadata");
	g_assert_true(g_file_set_contents(path->str, "x", 1, NULL));
	guint found = n_found(root, "no trace");
	test_remove_tree(root);
	return found == 1;
}

/* In memory, where that can be: disks take minutes for so many. */
static char *directory_for_many(void)
{
	char *dir = g_strdup("/dev/shm/blktop-test-XXXXXX");

	if (g_mkdtemp(dir))
		return dir;
	g_free(dir);
	return test_temp_dir();
}

/* The one that is opened counts, too. One of those below has a trace. */
static bool directories(uint64_t n)
{
	g_autofree char *root = directory_for_many();
	char name[32];

	int dir = open(root, O_RDONLY | O_DIRECTORY);
	for (uint64_t i = 1; i < n; i++) {
		g_snprintf(name, sizeof name, "%u", (unsigned)i);
		g_assert_no_errno(mkdirat(dir, name, 0700));
	}
	close(openat(dir, "1/metadata", O_WRONLY | O_CREAT, 0600));
	close(dir);
	bool all = n_found(root, "more than 200000 directories; name fewer") == 1;
	test_remove_tree(root);
	return all;
}

/* ---- a trace of one stream: packets of any size, which are empty but for what is written ---- */

#define METADATA(before, fields) \
	"/* CTF 1.8 */\n" \
	"typealias integer { size = 8; align = 8; } := u8;\n" \
	"typealias integer { size = 16; align = 8; } := u16;\n" \
	"typealias integer { size = 32; align = 8; } := u32;\n" \
	"typealias integer { size = 64; align = 8; } := u64;\n" \
	"trace { major = 1; minor = 8; byte_order = le;\n" \
	"	packet.header := struct { u32 magic; u32 stream_id; }; };\n" \
	"env { domain = \"%s\"; };\n" \
	"clock { name = c; freq = 1000000000; };\n" \
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := ts;\n" \
	"stream { id = 0; event.header := struct { u16 id; ts timestamp; };\n" \
	"	packet.context := struct { ts timestamp_begin; ts timestamp_end;\n" \
	"		u64 content_size; u64 packet_size; " before " }; };\n" \
	"event { id = 0; stream_id = 0; name = \"lttng_statedump_start\"; fields := struct { " fields " }; };\n" \
	"event { id = 1; stream_id = 0; name = \"lttng_statedump_end\"; fields := struct { }; };\n"
#define PACKET_HEADER 40
#define EVENT_HEADER 10

struct made {
	char *dir;
	int fd;				/* of the stream file */
	uint64_t size;
};

static void made_begin(struct made *m, const char *dir, const char *metadata)
{
	g_autofree char *file = g_build_filename(dir, "metadata", NULL);
	g_autofree char *stream = g_build_filename(dir, "stream", NULL);

	*m = (struct made){ .dir = g_strdup(dir) };
	g_assert_no_errno(g_mkdir_with_parents(dir, 0700));
	g_assert_true(g_file_set_contents(file, metadata, -1, NULL));
	m->fd = open(stream, O_RDWR | O_CREAT | O_TRUNC, 0600);
	g_assert_cmpint(m->fd, >=, 0);
}

static void made_end(struct made *m)
{
	close(m->fd);
	g_free(m->dir);
}

static void put(GByteArray *a, uint64_t value, unsigned bytes)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(a, (const guint8 *)&value, bytes);
}

/* A packet with one event (id < 0: none) at `begin`, of `content` bytes; the rest is a hole. */
static void add_packet(struct made *m, uint64_t begin, uint64_t end, uint64_t content, uint64_t bytes, int id)
{
	g_autoptr(GByteArray) a = g_byte_array_new();

	put(a, 0xc1fc1fc1, 4);
	put(a, 0, 4);
	put(a, begin, 8);
	put(a, end, 8);
	put(a, content * 8, 8);
	put(a, bytes * 8, 8);
	if (id >= 0) {
		put(a, (unsigned)id, 2);
		put(a, begin, 8);
	}
	g_assert_cmpint(pwrite(m->fd, a->data, a->len, (off_t)m->size), ==, a->len);
	m->size += bytes;
	g_assert_no_errno(ftruncate(m->fd, (off_t)m->size));
}

/* Are all n events read? Else one is a loss, or the only stream is left out, with these words. Frees the
 * directory. */
static bool is_whole(char *dir, uint64_t n, const char *words)
{
	const char *const paths[] = { dir, NULL };
	g_autoptr(GError) error = NULL;
	struct source *s = source_open_native(paths, NULL, 0, &error);
	struct { uint64_t events, losses; } r = { 0 };
	struct blk_batch b;

	bool opened = limit_taken(error, words);
	while (opened && source_next(s, &b, NULL) == SOURCE_OK)
		for (size_t i = 0; i < b.n; i++) {
			struct blk_tally tally;
			if (b.ev[i].row == BLK_ROW_TALLY) {
				memcpy(&tally, b.ev[i].data, sizeof tally);
				r.events += tally.count;
			}
			r.losses += b.ev[i].row == BLK_ROW_LOST_END;
		}
	if (opened)
		source_free(s);
	g_assert_cmpuint(r.events + r.losses, ==, opened ? n : 0);
	test_remove_tree(dir);
	g_free(dir);
	return r.events == n;
}

/* The second one of these sizes; each has one event. */
static char *two_packets(const char *fields, uint64_t first, uint64_t content, uint64_t bytes)
{
	g_autofree char *metadata = g_strdup_printf(METADATA("", "%s"), "ust", fields);
	char *dir = test_temp_dir();
	struct made m;

	made_begin(&m, dir, metadata);
	add_packet(&m, 1, 2, first, first, 0);
	add_packet(&m, 3, 4, content, bytes, 0);
	made_end(&m);
	return dir;
}

static bool packet_bytes(uint64_t n)
{
	const uint64_t small = PACKET_HEADER + EVENT_HEADER;

	return is_whole(two_packets("", small, small, n), 2, "");
}

static bool event_bytes(uint64_t n)
{
	g_autofree char *fields = g_strdup_printf("u8 a[%u];", (unsigned)n - EVENT_HEADER);

	return is_whole(two_packets(fields, PACKET_HEADER + n, PACKET_HEADER + n, PACKET_HEADER + n), 2, "");
}

static bool packet_header_bytes(uint64_t n)
{
	g_autofree char *more = g_strdup_printf("u8 a[%u];", (unsigned)n - PACKET_HEADER);
	g_autofree char *metadata = g_strdup_printf(METADATA("%s", ""), "ust", more);
	char *dir = test_temp_dir();
	struct made m;

	made_begin(&m, dir, metadata);
	add_packet(&m, 1, 2, n, n, -1);
	uint8_t event[EVENT_HEADER] = { [2] = 1 };
	g_assert_cmpint(pwrite(m.fd, event, sizeof event, (off_t)n), ==, sizeof event);
	uint64_t bits = GUINT64_TO_LE((n + EVENT_HEADER) * 8);
	for (int i = 0; i < 2; i++)
		g_assert_cmpint(pwrite(m.fd, &bits, sizeof bits, PACKET_HEADER - 16 + 8 * i), ==, sizeof bits);
	made_end(&m);
	return is_whole(dir, 1, "packet.context: is too long");
}

/* ---- single events ---- */

#define P "\x1e{\"type\":\"preamble\",\"version\":2}\n"
#define C "\x1e{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000000000}\n"
#define U64(roles) \
	"{\"type\":\"fixed-length-unsigned-integer\",\"length\":64,\"byte-order\":\"little-endian\"" roles "}"
#define D "\x1e{\"type\":\"data-stream-class\",\"default-clock-class-id\":\"c\",\"event-record-header-field-class\":" \
	"{\"type\":\"structure\",\"member-classes\":[{\"name\":\"t\",\"field-class\":" \
	U64(",\"roles\":[\"default-clock-timestamp\"]") "}]}}\n"
#define E(members) "\x1e{\"type\":\"event-record-class\",\"name\":\"e\",\"payload-field-class\":" \
	"{\"type\":\"structure\",\"member-classes\":[" members "]}}\n"
#define LIST(element) "{\"name\":\"l\",\"field-class\":" U64("") "}," \
	"{\"name\":\"a\",\"field-class\":{\"type\":\"dynamic-length-array\",\"element-field-class\":" element "," \
	"\"length-field-location\":{\"path\":[\"l\"]}}}"
#define BIT "{\"type\":\"fixed-length-unsigned-integer\",\"length\":1,\"byte-order\":\"little-endian\"}"

static struct ctf_meta *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct ctf_meta *m = ctf_meta_new();

	ctf_meta_append(m, text, strlen(text), &error);
	g_assert_no_error(error);
	return m;
}

static uint32_t number(void *data, const char *name, uint16_t row, const char *counters)
{
	return 0;
}

/* Single bits are widened: to fewer bytes than they would be in elements of a byte. */
static bool field_bytes(uint64_t n)
{
	const struct blk_subscription rows[] = { { .event = "e", .fields = { "a" } } };
	g_autoptr(blk_ctf_meta) m = parse(P C D E(LIST(BIT)));
	g_autoptr(GHashTable) layouts = layouts_new();
	struct blk_matcher *matcher = blk_matcher_new(rows, 1);
	struct ctf_decoder *d = ctf_decoder_new(m->streams->pdata[0], rows, matcher, layouts, number, NULL, NULL);
	const struct ctf_class *k = d->classes->pdata[0];
	g_autofree uint64_t *bytes = g_malloc0(8 + n / 8 + 8), *regs = g_new0(uint64_t, 4096);
	g_autofree uint8_t *row = g_malloc0(k->row_bytes);
	struct arena arena = { 0 };
	struct ctf_run run = { .regs = regs, .arena = &arena, .row = row };
	struct blk_text text;

	bytes[0] = GUINT64_TO_LE(n);
	g_assert_cmpuint(ctf_class_run(k, (const uint8_t *)bytes, 0, 64 + n, &run), ==, 64 + n);
	memcpy(&text, row + k->layout->slot[BLK_FIELD0].off, sizeof text);
	uint64_t len = text.len;
	g_assert_true(len == n || len == 0);
	arena_clear(&arena);
	ctf_decoder_free(d);
	blk_matcher_free(matcher);
	return len == n;
}

static bool event_counters(uint64_t n)
{
	g_autofree char *before = g_strdup_printf(METADATA("", ""), "ust");
	g_autoptr(GString) text = g_string_new(before);
	struct ctf_wanted wanted[LIMIT_EVENT_COUNTERS];
	unsigned found;

	g_string_append(text, "event { id = 2; stream_id = 0; name = \"e\"; context := struct { ");
	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(text, "u64 perf_c%u; ", (unsigned)i);
	g_string_append(text, "}; };\n");
	g_autoptr(blk_ctf_meta) m = parse(text->str);
	const struct ctf_stream_class *sc = m->streams->pdata[0];
	g_free(ctf_wanted_counters(sc, sc->events->pdata[2], wanted, &found));
	g_assert_cmpuint(found, ==, MIN(n, LIMIT_EVENT_COUNTERS));
	return found == n;
}

/* The list is one of them. */
static bool empty_steps(uint64_t n)
{
	g_autoptr(blk_ctf_meta) m = parse(P C D E(LIST("{\"type\":\"structure\"}")));
	const struct ctf_stream_class *sc = m->streams->pdata[0];
	const struct ctf_event_class *ec = sc->events->pdata[0];
	const struct ctf_type *list = ec->fields->field[1].type;
	g_autofree uint64_t *regs = g_new0(uint64_t, sc->n_regs);
	uint64_t pos = 0;

	regs[list->length_reg] = n - 1;
	return ctf_walk(list, (const uint8_t *)"", &pos, 0, regs, NULL, NULL);
}

/* ---- the state dump ---- */

#define SECOND UINT64_C(1000000000)

/* A dump of the kernel from 1 s to 9 s, between which another trace writes; then the range. */
static bool statedump_bytes(uint64_t n)
{
	const uint64_t small = 4096;
	g_autofree char *root = test_temp_dir(), *out = g_build_filename(root, "out", NULL);
	g_autofree char *in = g_build_filename(root, "in", NULL), *kernel = g_build_filename(in, "kernel", NULL);
	g_autofree char *ust = g_build_filename(in, "ust", NULL), *text = g_strdup_printf(METADATA("", ""), "kernel");
	g_autofree char *other = g_strdup_printf(METADATA("", ""), "ust");
	struct made k, u;

	made_begin(&k, kernel, text);
	add_packet(&k, 1 * SECOND, 2 * SECOND, PACKET_HEADER + EVENT_HEADER, small, 0);
	add_packet(&k, 9 * SECOND, 9 * SECOND + 1, PACKET_HEADER + EVENT_HEADER, small, 1);
	add_packet(&k, 20 * SECOND, 21 * SECOND, PACKET_HEADER, small, -1);
	made_end(&k);
	made_begin(&u, ust, other);
	uint64_t between = n - 2 * small;
	add_packet(&u, 3 * SECOND, 4 * SECOND, PACKET_HEADER, between / 2, -1);
	add_packet(&u, 5 * SECOND, 6 * SECOND, PACKET_HEADER, between - between / 2, -1);
	made_end(&u);

	const char *const paths[] = { in, NULL };
	struct trace_cut cut = { .paths = paths, .from_ns = 20 * (int64_t)SECOND, .to_ns = 21 * (int64_t)SECOND,
				 .statedump = true, .to = out };
	struct trace_cut_result r = { 0 };
	g_autoptr(GError) error = NULL;
	trace_cut_write(&cut, &r, &error);
	g_assert_no_error(error);
	g_assert_cmpuint(r.packets, ==, r.has_statedump ? 3 : 1);
	g_free(r.path);
	test_remove_tree(root);
	return r.has_statedump;
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "directory-depth", directory_depth, 0 }, { "directories", directories, 0 },
		{ "packet-bytes", packet_bytes, 0 }, { "packet-header-bytes", packet_header_bytes, 0 },
		{ "event-bytes", event_bytes, 0 }, { "field-bytes", field_bytes, 0 },
		{ "event-counters", event_counters, 0 }, { "empty-steps", empty_steps, 0 },
		{ "statedump-bytes", statedump_bytes, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
