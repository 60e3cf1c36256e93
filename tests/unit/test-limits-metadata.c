/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of metadata: each is reached, in CTF 1.8 or CTF 2, and named where it is exceeded. */
#include "base/json_read.h"
#include "base/limits.h"
#include "lib/limit_test.h"
#include "trace/ctf/ctf_meta.h"
#include "trace/ctf/ctf_parse.h"
#include "trace/ctf/ctf_program.h"
#include "trace/ctf/layouts.h"

#include <string.h>

#define BEGIN \
	"/* CTF 1.8 */\n" \
	"typealias integer { size = 1; align = 1; signed = false; } := bit;\n" \
	"typealias integer { size = 8; align = 8; signed = false; } := u;\n" \
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n" \
	"trace { major = 1; minor = 8; byte_order = le; packet.header := struct { uint32_t magic; }; };\n"

/* ---- CTF 1.8 ---- */

static GString *begin(void)
{
	return g_string_new(BEGIN "stream { id = 0; };\n");
}

static void add_event(GString *text, unsigned id, const char *fields)
{
	g_string_append_printf(text, "event { name = \"e%u\"; id = %u; stream_id = 0; "
			       "fields := struct { %s }; };\n", id, id, fields);
}

/* Is it read? Else asserts what it is refused for. Takes the text over. */
static bool is_read(GString *text, const char *words)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();

	ctf_meta_append(m, text->str, text->len, &error);
	g_string_free(text, true);
	return limit_taken(error, words);
}

/* One event of these fields. Takes them over. */
static bool is_read_event(GString *fields, const char *words)
{
	GString *text = begin();

	add_event(text, 0, fields->str);
	g_string_free(fields, true);
	return is_read(text, words);
}

static bool metadata_bytes(uint64_t n)
{
	GString *text = begin();

	g_string_append(text, "/*");
	gsize filler = n - text->len - 2;
	gsize at = text->len;
	g_string_set_size(text, at + filler);
	memset(text->str + at, ' ', filler);
	g_string_append(text, "*/");
	g_assert_cmpuint(text->len, ==, n);
	return is_read(text, "more than 64 MiB");
}

/* How much of a count the text takes; it is a valid one. */
static uint32_t count_of(const GString *text, size_t field)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	uint32_t n;

	ctf_meta_append(m, text->str, text->len, &error);
	g_assert_no_error(error);
	memcpy(&n, (const char *)m + field, sizeof n);		/* the meta is a parser */
	return n;
}

/* An array is a type. */
static void add_arrays(GString *text, unsigned id, uint64_t n)
{
	g_string_append_printf(text, "struct s%u {", id);
	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(text, "u _%x[1];", (unsigned)i);
	g_string_append(text, "};\n");
}

static bool types(uint64_t n)
{
	const unsigned each = 1024;
	g_autoptr(GString) small = begin();
	uint64_t none = count_of(small, offsetof(struct ctf_parser, n_nodes));
	add_arrays(small, 0, 1);
	uint64_t first = count_of(small, offsetof(struct ctf_parser, n_nodes)) - none;	/* a structure, too */
	add_arrays(small, 1, each);
	uint64_t whole = count_of(small, offsetof(struct ctf_parser, n_nodes)) - none - first;
	GString *text = begin();
	uint64_t left = n - none;

	for (unsigned id = 0; left > 0; id++) {
		uint64_t arrays = left > whole + first ? each : left > whole ? each / 2 : left - (first - 1);
		add_arrays(text, id, arrays);
		left -= first - 1 + arrays;
	}
	return is_read(text, "more than 2097152 types");
}

/* Fields "u f0; u f1; ...". */
static GString *plain_fields(uint64_t n)
{
	GString *fields = g_string_new(NULL);

	for (uint64_t i = 0; i < n; i++)
		g_string_append_printf(fields, "u f%u;", (unsigned)i);
	return fields;
}

static bool type_size(uint64_t n)
{
	return is_read_event(plain_fields(n - 1), "more than 4096 types");	/* and the structure */
}

static bool all_types(uint64_t n)
{
	const uint64_t most = LIMIT_TYPE_SIZE;
	g_autoptr(GString) fields = plain_fields(most - 1);
	GString *text = begin();
	uint64_t left = n - count_of(text, offsetof(struct ctf_parser, all_cost));
	unsigned id = 0;

	g_string_append_printf(text, "struct big { %s };\n", fields->str);
	for (; left > most; left -= most, id++)
		g_string_append_printf(text, "event { name = \"e%u\"; id = %u; stream_id = 0; "
				       "fields := struct big; };\n", id, id);
	g_autoptr(GString) rest = plain_fields(left - 1);
	add_event(text, id, rest->str);
	return is_read(text, "more than 4194304 types");
}

static bool type_depth(uint64_t n)
{
	GString *fields = g_string_new("u x;");

	/* The payload is a structure, and its innermost field a type. */
	for (uint64_t i = 2; i < n; i++) {
		g_string_prepend(fields, "struct { ");
		g_string_append(fields, "} y;");
	}
	return is_read_event(fields, "nested more than 32 deep");
}

/* An event with n sequences whose lengths are the field `distance` fields before the first. */
static void add_lookups(GString *text, unsigned id, unsigned n, unsigned distance)
{
	g_autoptr(GString) fields = g_string_new("u len;");

	for (unsigned i = 1; i < distance; i++)
		g_string_append_printf(fields, "u f%u;", i);
	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(fields, "u s%u[len];", i);
	add_event(text, id, fields->str);
}

static bool field_lookups(uint64_t n)
{
	const unsigned many = 1000, far = 2000;
	GString *text = begin();
	uint64_t before = count_of(text, offsetof(struct ctf_parser, n_lookups));
	add_lookups(text, 0, many, far);
	uint64_t each = count_of(text, offsetof(struct ctf_parser, n_lookups)) - before, left = n - before - each;
	unsigned id = 1;

	for (; left > each + far; left -= each)
		add_lookups(text, id++, many, far);
	/* One sequence looks at the fields between it and its length. */
	for (; left >= far; left -= far - 1)
		add_lookups(text, id++, 1, far);
	add_lookups(text, id, 1, (unsigned)left + 1);
	return is_read(text, "too many searches for fields");
}

static bool array_bits(uint64_t n)
{
	GString *fields = g_string_new(NULL);

	g_string_printf(fields, "bit a[%" G_GUINT64_FORMAT "];", n);
	return is_read_event(fields, "so big an array");
}

static bool alignment(uint64_t n)
{
	GString *fields = g_string_new(NULL);

	g_string_printf(fields, "integer { size = 8; align = %" G_GUINT64_FORMAT "; } a;", n);
	return is_read_event(fields, "alignment");
}

/* Lengths `from` up to `to`, with a sequence each. */
static void add_lengths(GString *fields, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i < to; i++)
		g_string_append_printf(fields, "u l%u; bit s%u[l%u];", (unsigned)i, (unsigned)i, (unsigned)i);
}

static bool lengths(uint64_t n)
{
	const uint64_t each = 1000;
	static const char *const scopes[] = { "packet.context", "event.header", "event.context" };
	GString *text = g_string_new(BEGIN "stream { id = 0; ");
	uint64_t from = 1;

	for (size_t i = 0; i < G_N_ELEMENTS(scopes); i++, from += each) {
		g_autoptr(GString) fields = g_string_new(NULL);
		add_lengths(fields, from, from + each);
		g_string_append_printf(text, "%s := struct { %s };\n", scopes[i], fields->str);
	}
	g_string_append(text, "};\n");
	g_autoptr(GString) fields = g_string_new(NULL);
	add_lengths(fields, from, n + 1);
	add_event(text, 0, fields->str);
	return is_read(text, "exceeds the number of lengths and tags");
}

static bool path_parts(uint64_t n)
{
	GString *fields = g_string_new("u len;"), *path = g_string_new("len");

	for (uint64_t i = 1; i < n; i++) {
		g_string_prepend(fields, "struct { ");
		g_string_append(fields, "} p;");
		g_string_prepend(path, "p.");
	}
	g_string_append_printf(fields, "u s[%s];", path->str);
	g_string_free(path, true);
	return is_read_event(fields, "a path of so many parts");
}

static bool clocks(uint64_t n)
{
	GString *text = begin();

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(text, "clock { name = c%u; freq = 1000; };\n", i);
	return is_read(text, "clock");
}

static bool event_classes(uint64_t n)
{
	GString *text = begin();

	for (unsigned i = 0; i < n; i++)
		add_event(text, i, "");
	return is_read(text, "more than 100000 events");
}

static bool environment(uint64_t n)
{
	GString *text = begin();
	GString *more = g_string_new("\x1e{\"type\":\"preamble\",\"version\":2}"
				     "\x1e{\"type\":\"trace-class\",\"environment\":{");

	g_string_append(text, "env { a = 0; };\nenv { a = 0;");
	for (unsigned i = 1; i < n; i++) {
		g_string_append_printf(text, " e%u = 1;", i);
		g_string_append_printf(more, "\"e%u\":1,", i);
	}
	g_string_append(text, "};\n");
	g_string_append(more, "\"a\":1}}");
	bool read = is_read(text, "more than 131072 entries");
	g_assert_true(is_read(more, "more than 131072 entries") == read);
	return read;
}

static bool time_seconds(uint64_t n)
{
	static const char *const signs[] = { "", "-" };
	bool read[2];

	for (size_t i = 0; i < G_N_ELEMENTS(signs); i++) {
		GString *text = begin();
		g_string_append_printf(text, "clock { name = c; freq = 1000000000; offset_s = %s%" G_GUINT64_FORMAT
				       "; };\n", signs[i], n);
		read[i] = is_read(text, "offset");
	}
	g_assert_true(read[0] == read[1]);
	return read[0];
}

/* ---- CTF 2 ---- */

#define P "\x1e{\"type\":\"preamble\",\"version\":2}\n"
#define D "\x1e{\"type\":\"data-stream-class\"}\n"
#define U8 "{\"type\":\"fixed-length-unsigned-integer\",\"length\":8,\"byte-order\":\"little-endian\"}"
#define EMPTY "{\"type\":\"structure\"}"

/* One event with the field class, which is taken over. */
static bool is_read_class(GString *class, const char *words)
{
	GString *text = g_string_new(P D);

	g_string_append_printf(text, "\x1e{\"type\":\"event-record-class\",\"name\":\"e\",\"payload-field-class\":"
			       "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"a\",\"field-class\":%s}]}}\n",
			       class->str);
	g_string_free(class, true);
	return is_read(text, words);
}

static bool fragment_bytes(uint64_t n)
{
	GString *text = g_string_new(P);
	gsize before = text->len;

	g_string_append(text, "\x1e{\"type\":\"trace-class\"}");
	while (text->len < before + 1 + n)	/* RS is no part of it */
		g_string_append_c(text, ' ');
	return is_read(text, "fragment 2: is bigger than 4 MiB");
}

static bool json_depth(uint64_t n)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GArray) tokens = json_tokens_new();
	struct json_problem why;

	for (uint64_t i = 0; i < n; i++)
		g_string_append_c(text, '[');
	for (uint64_t i = 0; i < n; i++)
		g_string_append_c(text, ']');
	if (json_scan(text->str, text->len, tokens, &why))
		return true;
	g_assert_nonnull(strstr(why.text, "deep"));
	return false;
}

static bool float_bits(uint64_t n)
{
	GString *class = g_string_new(NULL);

	g_string_printf(class, "{\"type\":\"fixed-length-floating-point-number\",\"length\":%" G_GUINT64_FORMAT
			",\"byte-order\":\"little-endian\"}", n);
	return is_read_class(class, "length");
}

static bool empty_elements(uint64_t n)
{
	GString *class = g_string_new(NULL);

	g_string_printf(class, "{\"type\":\"static-length-array\",\"length\":%" G_GUINT64_FORMAT
			",\"element-field-class\":" EMPTY "}", n);
	return is_read_class(class, "too large");
}

/* Members l0, b0, l1, b1 ...: n lengths with a blob each. */
static char *blobs(const char *scope, uint64_t n)
{
	GString *s = g_string_new(NULL);

	for (unsigned i = 0; i < n; i++)
		g_string_append_printf(s, "%s{\"name\":\"l%u\",\"field-class\":" U8 "},{\"name\":\"b%u\","
				       "\"field-class\":{\"type\":\"dynamic-length-blob\",\"length-field-location\":"
				       "{\"origin\":\"%s\",\"path\":[\"l%u\"]}}}", i ? "," : "", i, i, scope, i);
	return g_string_free(s, false);
}

static bool header_lengths(uint64_t n)
{
	g_autofree char *members = blobs("packet-header", n);
	GString *text = g_string_new(P);

	g_string_append_printf(text, "\x1e{\"type\":\"trace-class\",\"packet-header-field-class\":"
			       "{\"type\":\"structure\",\"member-classes\":[%s]}}\n" D, members);
	return is_read(text, "length");
}

static bool context_lengths(uint64_t n)
{
	g_autofree char *members = blobs("packet-context", n);
	GString *text = g_string_new(P);

	g_string_append_printf(text, "\x1e{\"type\":\"data-stream-class\",\"packet-context-field-class\":"
			       "{\"type\":\"structure\",\"member-classes\":[%s]}}\n", members);
	return is_read(text, "length");
}

/* ---- decoders ---- */

#define WITH_CLOCK \
	BEGIN "clock { name = c; freq = 1000000000; };\n" \
	"typealias integer { size = 64; align = 8; map = clock.c.value; } := stamp;\n" \
	"stream { id = 0; packet.context := struct { stamp timestamp_begin; }; };\n"

static uint32_t number(void *data, const char *name, uint16_t row, const char *counters)
{
	return 0;
}

struct compiled { bool read; uint32_t steps, wanted; };

/* The decoder of the event "e0" with these fields, where one of them is wanted. */
static struct compiled compile(const char *fields, const char *wanted, const char *words)
{
	const struct blk_subscription rows[] = { { .event = "e0", .fields = { wanted } } };
	g_autoptr(GString) text = g_string_new(WITH_CLOCK);
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	g_autoptr(GHashTable) layouts = layouts_new();
	struct blk_matcher *matcher = blk_matcher_new(rows, 1);
	struct compiled ret = { 0 };

	add_event(text, 0, fields);
	ctf_meta_append(m, text->str, text->len, &error);
	g_assert_no_error(error);
	struct ctf_decoder *d = ctf_decoder_new(m->streams->pdata[0], rows, matcher, layouts, number, NULL, &error);
	ret.read = limit_taken(error, words);
	if (ret.read) {
		const struct ctf_class *k = d->classes->pdata[0];
		ret = (struct compiled){ true, k->n_steps, k->wanted };
	}
	ctf_decoder_free(d);
	blk_matcher_free(matcher);
	return ret;
}

static bool is_wanted(const char *fields, const char *wanted)
{
	struct compiled c = compile(fields, wanted, "");
	return c.wanted & 1u << BLK_FIELD0;
}

/* Elements of which one is read by itself have steps of their own. */
static struct compiled compile_strings(uint64_t more)
{
	const unsigned each = 400, elements = 49;
	g_autoptr(GString) fields = g_string_new(NULL);
	g_autofree char *wanted = g_strdup_printf("a[%u].x", elements - 1);

	for (unsigned i = 0; i < more; i++)
		g_string_append_printf(fields, "string t%u;", i);
	g_string_append(fields, "struct { ");
	for (unsigned i = 0; i < each; i++)
		g_string_append_printf(fields, "string s%u;", i);
	g_string_append_printf(fields, "u x; } a[%u];", elements);
	return compile(fields->str, wanted, "is too big");
}

static bool decode_steps(uint64_t n)
{
	uint32_t least = compile_strings(0).steps;

	g_assert_cmpuint(least, <, n);
	struct compiled c = compile_strings(n - least);
	g_assert_true(!c.read || c.steps == n);
	return c.read;
}

static bool unrolled_elements(uint64_t n)
{
	g_autofree char *wanted = g_strdup_printf("a[%u]", (unsigned)n - 1);

	return is_wanted("u a[1000];", wanted);
}

static bool field_depth(uint64_t n)
{
	g_autoptr(GString) fields = g_string_new("u x;"), wanted = g_string_new("x");

	for (uint64_t i = 1; i < n; i++) {
		g_string_prepend(fields, "struct { ");
		g_string_append(fields, "} y;");
		g_string_prepend(wanted, "y.");
	}
	return is_wanted(fields->str, wanted->str);
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "metadata-bytes", metadata_bytes, 0 }, { "fragment-bytes", fragment_bytes, 0 },
		{ "json-depth", json_depth, 0 }, { "types", types, 0 }, { "type-size", type_size, 0 },
		{ "all-types", all_types, 0 }, { "type-depth", type_depth, 0 },
		{ "field-lookups", field_lookups, 0 }, { "array-bits", array_bits, 0 },
		{ "alignment", alignment, 2 * LIMIT_ALIGNMENT }, { "float-bits", float_bits, LIMIT_FLOAT_BITS + 32 },
		{ "empty-elements", empty_elements, 0 }, { "lengths", lengths, 0 },
		{ "header-lengths", header_lengths, 0 }, { "context-lengths", context_lengths, 0 },
		{ "path-parts", path_parts, 0 }, { "clocks", clocks, 0 }, { "event-classes", event_classes, 0 },
		{ "environment", environment, 0 },
		{ "time-seconds", time_seconds, 0 }, { "decode-steps", decode_steps, 0 },
		{ "unrolled-elements", unrolled_elements, 0 }, { "field-depth", field_depth, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
