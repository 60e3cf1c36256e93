/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CTF 2 metadata: what is refused, and that the message says in which fragment and at what; what is
 * read; and that pieces, cut anywhere, are the same as the whole.
 *
 * In the tables a text is fragments, one a line.
 */
#include <string.h>

#include "lib/ctf_dump.h"
#include "lib/test_traces.h"
#include "trace/reader.h"

#define P "{\"type\":\"preamble\",\"version\":2}\n"
#define T "{\"type\":\"trace-class\"}\n"
#define C "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000000000}\n"
#define D "{\"type\":\"data-stream-class\"}\n"
#define U8 "{\"type\":\"fixed-length-unsigned-integer\",\"length\":8,\"byte-order\":\"little-endian\"}"
#define S8 "{\"type\":\"fixed-length-signed-integer\",\"length\":8,\"byte-order\":\"little-endian\"}"
#define BOOL "{\"type\":\"fixed-length-boolean\",\"length\":8,\"byte-order\":\"little-endian\"}"
#define STRING "{\"type\":\"null-terminated-string\"}"
#define STRUCT(members) "{\"type\":\"structure\",\"member-classes\":[" members "]}"
#define M(name, class) "{\"name\":\"" name "\",\"field-class\":" class "}"
#define E(payload) "{\"type\":\"event-record-class\",\"name\":\"e\",\"payload-field-class\":" payload "}"
/* A field class in the third fragment. */
#define FC(class) P D E(STRUCT(M("a", class)))
/* Properties of a bit array of 8 bits: "length" is the caller's. */
#define INT(more) "{\"type\":\"fixed-length-unsigned-integer\",\"byte-order\":\"little-endian\"," more "}"
#define PATH(path) "\"path\":[" path "]"
#define LEN(path) "\"length-field-location\":{" PATH(path) "}"
#define SEL(path) "\"selector-field-location\":{" PATH(path) "}"
#define BYTES(location) "{\"type\":\"dynamic-length-blob\"," location "}"
#define OPTION(ranges) "{\"field-class\":" U8 ",\"selector-field-ranges\":" ranges "}"
#define VARIANT(selector, options) "{\"type\":\"variant\"," selector ",\"options\":[" options "]}"
#define HEADER(members) P "{\"type\":\"trace-class\",\"packet-header-field-class\":" STRUCT(members) "}\n" D
#define ROLE(type, bits, role) "{\"type\":\"fixed-length-" type "signed-integer\",\"length\":" bits \
	",\"byte-order\":\"little-endian\",\"roles\":[\"" role "\"]}"
#define CLOCK(more) P "{\"type\":\"clock-class\",\"id\":\"c\"," more "}\n" D
#define NAMED(name) P D "{\"type\":\"event-record-class\",\"name\":\"" name "\"}"

/* ---- parsing ---- */

static GByteArray *framed(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GByteArray *out = g_byte_array_new();
	for (char **line = lines; *line; line++) {
		if (!**line)
			continue;
		g_byte_array_append(out, (const guint8 *)"\x1e", 1);
		g_byte_array_append(out, (const guint8 *)*line, (guint)strlen(*line));
		g_byte_array_append(out, (const guint8 *)"\n", 1);
	}
	return out;
}

static struct ctf_meta *parse(const void *bytes, size_t n, GError **error)
{
	/* Memory of exactly that size. */
	g_autofree uint8_t *exact = g_malloc(n + !n);
	struct ctf_meta *m = ctf_meta_new();
	memcpy(exact, bytes, n);
	if (ctf_meta_append(m, exact, n, error))
		return m;
	ctf_meta_free(m);
	return NULL;
}

/* In pieces of `step` bytes, the first of `first`. *ret_rest: there is a rest. */
static struct ctf_meta *parse_pieces(const uint8_t *bytes, size_t n, size_t first, size_t step,
				     bool *ret_rest, GError **error)
{
	struct ctf_meta *m = ctf_meta_new();
	struct ctf_pieces *x = ctf_pieces_new(m);
	bool ok = true;
	for (size_t at = 0, size = first; ok && at < n; at += size, size = step) {
		size = MIN(size, n - at);
		g_autofree uint8_t *piece = g_memdup2(bytes + at, size);
		ok = ctf_pieces_append(x, piece, size, error);
	}
	*ret_rest = ok && ctf_pieces_wait(x);
	ctf_pieces_free(x);
	if (ok)
		return m;
	ctf_meta_free(m);
	return NULL;
}

/* ---- what is refused ---- */

struct refusal {
	const char *name, *text;
	unsigned fragment;
	const char *what;		/* is in the message: a property, a name */
};

static const struct refusal refused[] = {
	/* ---- JSON ---- */
	{ "no object", P "[]", 2, "" },
	{ "a number", P "12", 2, "" },
	{ "a text", P "\"type\"", 2, "" },
	{ "null", "null", 1, "" },
	{ "garbage", P "hello", 2, "" },
	{ "garbage behind", P "{\"type\":\"data-stream-class\"} x", 2, "" },
	{ "two objects", P "{\"type\":\"data-stream-class\"}{\"type\":\"data-stream-class\",\"id\":1}", 2, "" },
	{ "one brace more", P "{\"type\":\"data-stream-class\"}}", 2, "" },
	{ "the wrong bracket", P "{\"type\":\"data-stream-class\",\"x\":[}]", 2, "" },
	{ "comma at the end", P "{\"type\":\"data-stream-class\",}", 2, "" },
	{ "comma in an array", P "{\"type\":\"data-stream-class\",\"x\":[1,]}", 2, "byte " },
	{ "no colon", P "{\"type\" \"data-stream-class\"}", 2, "" },
	{ "a key without quotes", P "{type:\"data-stream-class\"}", 2, "" },
	{ "single quotes", P "{'type':'data-stream-class'}", 2, "" },
	{ "a comment", P "{\"type\":\"data-stream-class\" /* x */}", 2, "" },
	{ "the same key twice", P "{\"type\":\"data-stream-class\",\"id\":1,\"id\":2}", 2, "id" },
	{ "the same key, escaped", P "{\"type\":\"data-stream-class\",\"id\":1,\"\\u0069d\":1}", 2, "id" },
	{ "type twice", "{\"type\":\"preamble\",\"type\":\"preamble\",\"version\":2}", 1, "type" },
	{ "number: 01", P "{\"type\":\"data-stream-class\",\"id\":01}", 2, "byte " },
	{ "number: +1", P "{\"type\":\"data-stream-class\",\"id\":+1}", 2, "byte " },
	{ "number: .5", P "{\"type\":\"data-stream-class\",\"id\":.5}", 2, "byte " },
	{ "number: 1.", P "{\"type\":\"data-stream-class\",\"id\":1.}", 2, "byte " },
	{ "number: 1e", P "{\"type\":\"data-stream-class\",\"id\":1e}", 2, "byte " },
	{ "number: 1.5", P "{\"type\":\"data-stream-class\",\"id\":1.5}", 2, "id" },
	{ "number: 1e999", P "{\"type\":\"data-stream-class\",\"id\":1e999}", 2, "id" },
	{ "number: -1e999", P "{\"type\":\"data-stream-class\",\"id\":-1e999}", 2, "id" },
	{ "number: hexadecimal", P "{\"type\":\"data-stream-class\",\"id\":0x10}", 2, "byte " },
	{ "number: NaN", P "{\"type\":\"data-stream-class\",\"id\":NaN}", 2, "byte " },
	{ "number: Infinity", P "{\"type\":\"data-stream-class\",\"id\":Infinity}", 2, "byte " },
	{ "number: -", P "{\"type\":\"data-stream-class\",\"id\":-}", 2, "byte " },
	{ "number: below 0", P "{\"type\":\"data-stream-class\",\"id\":-1}", 2, "id" },
	{ "number: 2^64", P "{\"type\":\"data-stream-class\",\"id\":18446744073709551616}", 2, "id" },
	{ "number: much more", P "{\"type\":\"data-stream-class\",\"id\":99999999999999999999999999999999}", 2,
	  "id" },
	{ "number: a word", P "{\"type\":\"data-stream-class\",\"id\":tru}", 2, "byte " },
	{ "text: half a surrogate pair", NAMED("\\ud83d"), 3, "name" },
	{ "text: the other half", NAMED("\\ude42"), 3, "name" },
	{ "text: halves in the wrong order", NAMED("\\ude42\\ud83d"), 3, "name" },
	{ "text: half and a letter", NAMED("\\ud83dx"), 3, "name" },
	{ "text: half and an escape", NAMED("\\ud83d\\n"), 3, "name" },
	{ "text: NUL", NAMED("a\\u0000b"), 3, "name" },
	{ "text: no such escape", NAMED("\\x41"), 3, "byte " },
	{ "text: no such number", NAMED("\\u00g0"), 3, "byte " },
	{ "text: no UTF-8", NAMED("\xff"), 3, "byte " },
	{ "text: too long UTF-8", NAMED("\xc0\x80"), 3, "byte " },
	{ "text: UTF-8 of half a pair", NAMED("\xed\xa0\xbd"), 3, "byte " },
	{ "text: UTF-8 cut off", NAMED("\xe6\xbc"), 3, "byte " },
	{ "text: UTF-8 above all", NAMED("\xf4\x90\x80\x80"), 3, "byte " },
	{ "text: a tab", NAMED("\t"), 3, "byte " },
	{ "text: NUL in a member's name", P D E(STRUCT(M("a\\u0000", U8))), 3, "name" },

	/* ---- fragments ---- */
	{ "no preamble", D, 1, "preamble" },
	{ "preamble is not first", D P, 1, "preamble" },
	{ "two preambles", P P, 2, "preamble" },
	{ "no version", "{\"type\":\"preamble\"}", 1, "version" },
	{ "version 1", "{\"type\":\"preamble\",\"version\":1}", 1, "version" },
	{ "version 3", "{\"type\":\"preamble\",\"version\":3}", 1, "version" },
	{ "version as text", "{\"type\":\"preamble\",\"version\":\"2\"}", 1, "version" },
	{ "version null", "{\"type\":\"preamble\",\"version\":null}", 1, "version" },
	{ "uuid of 15", "{\"type\":\"preamble\",\"version\":2,\"uuid\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14]}",
	  1, "uuid" },
	{ "uuid of 17", "{\"type\":\"preamble\",\"version\":2,"
	  "\"uuid\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}", 1, "uuid" },
	{ "uuid of 256", "{\"type\":\"preamble\",\"version\":2,"
	  "\"uuid\":[256,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]}", 1, "uuid" },
	{ "uuid of -1", "{\"type\":\"preamble\",\"version\":2,\"uuid\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,-1]}"
	  , 1, "uuid" },
	{ "uuid as text", "{\"type\":\"preamble\",\"version\":2,"
	  "\"uuid\":\"aa852396-23a2-4849-a854-f8ff37b4fbf0\"}", 1, "uuid" },
	{ "an extension", "{\"type\":\"preamble\",\"version\":2,\"extensions\":{\"my.org\":{\"piano\":true}}}",
	  1, "piano" },
	{ "extensions are no object", "{\"type\":\"preamble\",\"version\":2,\"extensions\":[]}", 1, "extensions" },
	{ "attributes are no object", "{\"type\":\"preamble\",\"version\":2,\"attributes\":1}", 1, "attributes" },
	{ "no type", P "{}", 2, "type" },
	{ "type as number", P "{\"type\":1}", 2, "type" },
	{ "unknown type", P "{\"type\":\"sonata\"}", 2, "'type'" },
	{ "two trace classes", P T T, 3, "trace-class" },
	{ "trace class late", P D T, 3, "trace-class" },
	{ "environment is no object", P "{\"type\":\"trace-class\",\"environment\":[]}", 2, "environment" },
	{ "environment of null", P "{\"type\":\"trace-class\",\"environment\":{\"abc\":null}}", 2, "environment" },
	{ "packet header is no structure", P "{\"type\":\"trace-class\",\"packet-header-field-class\":" U8 "}",
	  2, "packet-header-field-class" },
	{ "alias without name", P "{\"type\":\"field-class-alias\",\"field-class\":" U8 "}", 2, "name" },
	{ "alias without class", P "{\"type\":\"field-class-alias\",\"name\":\"a\"}", 2, "field-class" },
	{ "alias twice", P "{\"type\":\"field-class-alias\",\"name\":\"abc\",\"field-class\":" U8 "}\n"
	  "{\"type\":\"field-class-alias\",\"name\":\"abc\",\"field-class\":" U8 "}", 3, "alias" },
	{ "alias of itself", P "{\"type\":\"field-class-alias\",\"name\":\"abc\",\"field-class\":\"abc\"}", 2,
	  "alias" },
	{ "alias within itself", P "{\"type\":\"field-class-alias\",\"name\":\"abc\",\"field-class\":" STRUCT(M(
	  "x", "\"abc\"")) "}", 2, "alias" },
	{ "aliases of each other", P "{\"type\":\"field-class-alias\",\"name\":\"abc\","
	  "\"field-class\":\"def\"}\n" "{\"type\":\"field-class-alias\",\"name\":\"def\","
	  "\"field-class\":\"abc\"}", 2, "alias" },
	{ "no such alias", FC("\"abc\""), 3, "alias" },
	{ "alias later", FC("\"abc\"") "\n{\"type\":\"field-class-alias\",\"name\":\"abc\",\"field-class\":" U8
	  "}", 3, "alias" },
	{ "clock without id", P "{\"type\":\"clock-class\",\"frequency\":1}", 2, "id" },
	{ "clock twice", P C "{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":2}", 3, "id" },
	{ "clock without frequency", P "{\"type\":\"clock-class\",\"id\":\"c\"}", 2, "frequency" },
	{ "frequency 0", CLOCK("\"frequency\":0"), 2, "frequency" },
	{ "frequency -0", CLOCK("\"frequency\":-0"), 2, "frequency" },
	{ "frequency -1", CLOCK("\"frequency\":-1"), 2, "frequency" },
	{ "frequency as text", CLOCK("\"frequency\":\"1\""), 2, "frequency" },
	{ "offset is no object", CLOCK("\"frequency\":1,\"offset-from-origin\":1"), 2, "offset-from-origin" },
	{ "cycles of a second", CLOCK("\"frequency\":1000,\"offset-from-origin\":{\"cycles\":1000}"), 2,
	  "cycles" },
	{ "cycles below 0", CLOCK("\"frequency\":1000,\"offset-from-origin\":{\"cycles\":-1}"), 2, "cycles" },
	{ "seconds beyond", CLOCK("\"frequency\":1000,\"offset-from-origin\":{\"seconds\":9223372036854775808}"
	  ), 2, "seconds" },
	{ "seconds too far", CLOCK("\"frequency\":1,\"offset-from-origin\":{\"seconds\":9223372036854775807}"), 2,
	  "offset-from-origin" },
	{ "seconds much too early", CLOCK("\"frequency\":1,"
	  "\"offset-from-origin\":{\"seconds\":-9223372036854775808}"), 2, "offset-from-origin" },
	{ "origin of Mars", CLOCK("\"frequency\":1,\"origin\":\"mars\""), 2, "origin" },
	{ "origin without uid", CLOCK("\"frequency\":1,\"origin\":{\"name\":\"x\"}"), 2, "uid" },
	{ "origin without name", CLOCK("\"frequency\":1,\"origin\":{\"uid\":\"x\"}"), 2, "name" },
	{ "precision below 0", CLOCK("\"frequency\":1,\"precision\":-1"), 2, "precision" },
	{ "stream class twice", P D D, 3, "id" },
	{ "stream class without its clock", P "{\"type\":\"data-stream-class\","
	  "\"default-clock-class-id\":\"abc\"}", 2, "default-clock-class-id" },
	{ "clock later", P "{\"type\":\"data-stream-class\",\"default-clock-class-id\":\"c\"}\n" C, 2,
	  "default-clock-class-id" },
	{ "packet context is no structure", P "{\"type\":\"data-stream-class\",\"packet-context-field-class\":"
	  STRING "}", 2, "packet-context-field-class" },
	{ "event header is no structure", P "{\"type\":\"data-stream-class\","
	  "\"event-record-header-field-class\":7}", 2, "event-record-header-field-class" },
	{ "event before its stream class", P E(STRUCT("")), 2, "data stream class" },
	{ "event of no stream class", P D "{\"type\":\"event-record-class\",\"data-stream-class-id\":1}", 3,
	  "data stream class" },
	{ "event twice", P D E(STRUCT("")) "\n" E(STRUCT("")), 4, "id" },
	{ "payload is no structure", P D E(U8), 3, "payload-field-class" },
	{ "payload is an alias of no structure", P D "{\"type\":\"field-class-alias\",\"name\":\"a\","
	  "\"field-class\":" U8 "}\n" E("\"a\""), 4, "payload-field-class" },
	{ "name as number", P D "{\"type\":\"event-record-class\",\"name\":5}", 3, "name" },

	/* ---- field classes ---- */
	{ "class as number", FC("5"), 3, "field-class" },
	{ "class without type", FC("{}"), 3, "type" },
	{ "class of unknown type", FC("{\"type\":\"sonata\"}"), 3, "'type'" },
	{ "integer without length", FC("{\"type\":\"fixed-length-unsigned-integer\","
	  "\"byte-order\":\"little-endian\"}"), 3, "length" },
	{ "integer without byte order", FC("{\"type\":\"fixed-length-unsigned-integer\",\"length\":8}"), 3,
	  "byte-order" },
	{ "length 0", FC(INT("\"length\":0")), 3, "length" },
	{ "length -8", FC(INT("\"length\":-8")), 3, "length" },
	{ "length 65", FC(INT("\"length\":65")), 3, "length" },
	{ "length 2^40", FC(INT("\"length\":1099511627776")), 3, "length" },
	{ "length as text", FC(INT("\"length\":\"8\"")), 3, "length" },
	{ "length 8.5", FC(INT("\"length\":8.5")), 3, "length" },
	{ "alignment 0", FC(INT("\"length\":8,\"alignment\":0")), 3, "alignment" },
	{ "alignment 3", FC(INT("\"length\":8,\"alignment\":3")), 3, "alignment" },
	{ "alignment -8", FC(INT("\"length\":8,\"alignment\":-8")), 3, "alignment" },
	{ "alignment 2^63", FC(INT("\"length\":8,\"alignment\":9223372036854775808")), 3, "alignment" },
	{ "byte order", FC("{\"type\":\"fixed-length-bit-array\",\"length\":8,\"byte-order\":\"middle\"}"), 3,
	  "byte-order" },
	{ "bit order", FC(INT("\"length\":8,\"bit-order\":\"middle\"")), 3, "bit-order" },
	{ "base 7", FC(INT("\"length\":8,\"preferred-display-base\":7")), 3, "preferred-display-base" },
	{ "mappings are no object", FC(INT("\"length\":8,\"mappings\":[]")), 3, "mappings" },
	{ "mapping to a number", FC(INT("\"length\":8,\"mappings\":{\"abc\":1}")), 3, "mappings" },
	{ "mapping to nothing", FC(INT("\"length\":8,\"mappings\":{\"abc\":[]}")), 3, "mappings" },
	{ "range of one", FC(INT("\"length\":8,\"mappings\":{\"abc\":[[1]]}")), 3, "mappings" },
	{ "range of three", FC(INT("\"length\":8,\"mappings\":{\"abc\":[[1,2,3]]}")), 3, "mappings" },
	{ "range upside down", FC(INT("\"length\":8,\"mappings\":{\"abc\":[[2,1]]}")), 3, "mappings" },
	{ "range of texts", FC(INT("\"length\":8,\"mappings\":{\"abc\":[[\"1\",\"2\"]]}")), 3, "mappings" },
	{ "bit map without flags", FC("{\"type\":\"fixed-length-bit-map\",\"length\":8,"
	  "\"byte-order\":\"big-endian\"}"), 3, "flags" },
	{ "float of 24 bits", FC("{\"type\":\"fixed-length-floating-point-number\",\"length\":24,"
	  "\"byte-order\":\"big-endian\"}"), 3, "length" },
	{ "float of 96 bits and one", FC("{\"type\":\"fixed-length-floating-point-number\",\"length\":161,"
	  "\"byte-order\":\"big-endian\"}"), 3, "length" },
	{ "encoding", FC("{\"type\":\"null-terminated-string\",\"encoding\":\"latin-1\"}"), 3, "encoding" },
	{ "string without length", FC("{\"type\":\"static-length-string\"}"), 3, "length" },
	{ "string of length -1", FC("{\"type\":\"static-length-string\",\"length\":-1}"), 3, "length" },
	{ "string of length 2^63", FC("{\"type\":\"static-length-string\",\"length\":9223372036854775808}"), 3,
	  "length" },
	{ "BLOB without length", FC("{\"type\":\"static-length-blob\"}"), 3, "length" },
	{ "BLOB of length 2^60", FC("{\"type\":\"static-length-blob\",\"length\":1152921504606846976}"), 3,
	  "length" },
	{ "media type as number", FC("{\"type\":\"static-length-blob\",\"length\":1,\"media-type\":1}"), 3,
	  "media-type" },
	{ "members are no array", FC("{\"type\":\"structure\",\"member-classes\":{}}"), 3, "member-classes" },
	{ "member as number", FC(STRUCT("1")), 3, "member-classes" },
	{ "member without name", FC(STRUCT("{\"field-class\":" U8 "}")), 3, "name" },
	{ "member without class", FC(STRUCT("{\"name\":\"x\"}")), 3, "field-class" },
	{ "member twice", FC(STRUCT(M("abc", U8) "," M("abc", U8))), 3, "two members" },
	{ "minimum alignment 12", FC("{\"type\":\"structure\",\"minimum-alignment\":12}"), 3,
	  "minimum-alignment" },
	{ "array without element", FC("{\"type\":\"static-length-array\",\"length\":1}"), 3,
	  "element-field-class" },
	{ "array without length", FC("{\"type\":\"static-length-array\",\"element-field-class\":" U8 "}"), 3,
	  "length" },
	{ "array of 2^60", FC("{\"type\":\"static-length-array\",\"length\":1152921504606846976,"
	  "\"element-field-class\":" U8 "}"), 3, "length" },
	{ "array of arrays of 2^32", FC("{\"type\":\"static-length-array\",\"length\":4294967296,"
	  "\"element-field-class\":" "{\"type\":\"static-length-array\",\"length\":4294967296,"
	  "\"element-field-class\":" U8 "}}"), 3, "length" },
	{ "array: minimum alignment 6", FC("{\"type\":\"static-length-array\",\"length\":1,"
	  "\"minimum-alignment\":6,\"element-field-class\":" U8 "}"), 3, "minimum-alignment" },
	{ "dynamic array without length", FC("{\"type\":\"dynamic-length-array\",\"element-field-class\":" U8
	  "}"), 3, "length-field-location" },
	{ "optional without class", P D E(STRUCT(M("n", BOOL) "," M("o", "{\"type\":\"optional\"," SEL("\"n\"")
	  "}"))), 3, "field-class" },
	{ "optional without selector", FC("{\"type\":\"optional\",\"field-class\":" U8 "}"), 3,
	  "selector-field-location" },
	{ "optional without ranges", P D E(STRUCT(M("n", U8) "," M("o",
	  "{\"type\":\"optional\",\"field-class\":" U8 "," SEL("\"n\"") "}"))), 3, "selector-field-ranges" },
	{ "optional with no range", P D E(STRUCT(M("n", U8) "," M("o", "{\"type\":\"optional\","
	  "\"selector-field-ranges\":[],\"field-class\":" U8 "," SEL("\"n\"") "}"))), 3, "selector-field-ranges" },
	{ "variant without options", P D E(STRUCT(M("n", U8) "," M("v", VARIANT(SEL("\"n\""), "")))), 3,
	  "options" },
	{ "option without ranges", P D E(STRUCT(M("n", U8) "," M("v", VARIANT(SEL("\"n\""), "{\"field-class\":"
	  U8 "}")))), 3, "selector-field-ranges" },
	{ "option without class", P D E(STRUCT(M("n", U8) "," M("v", VARIANT(SEL("\"n\""),
	  "{\"selector-field-ranges\":[[1,2]]}")))), 3, "field-class" },
	{ "options that intersect", P D E(STRUCT(M("n", U8) "," M("v", VARIANT(SEL("\"n\""), OPTION("[[0,5]]")
	  "," OPTION("[[5,9]]"))))), 3, "intersect" },
	{ "options that hold each other", P D E(STRUCT(M("n", S8) "," M("v", VARIANT(SEL("\"n\""), OPTION(
	  "[[-9,9]]") "," OPTION("[[20,20],[-1,-1]]"))))), 3, "intersect" },
	{ "variant of a flag", P D E(STRUCT(M("n", BOOL) "," M("v", VARIANT(SEL("\"n\""), OPTION("[[0,5]]"))))),
	  3, "selector-field-location" },

	/* ---- locations ---- */
	{ "location as text", FC(BYTES("\"length-field-location\":\"n\"")), 3, "length-field-location" },
	{ "location without path", FC(BYTES("\"length-field-location\":{}")), 3, "path" },
	{ "empty path", FC(BYTES(LEN(""))), 3, "path" },
	{ "path ends in null", P D E(STRUCT(M("n", U8) "," M("s", STRUCT(M("d", BYTES(LEN("null"))))))), 3,
	  "path" },
	{ "path of numbers", FC(BYTES(LEN("1"))), 3, "length-field-location" },
	{ "unknown origin", FC(BYTES("\"length-field-location\":{\"origin\":\"sonata\"," PATH("\"a\"") "}")), 3,
	  "origin" },
	{ "location of nothing", FC(BYTES(LEN("\"abc\""))), 3, "length-field-location" },
	{ "location of itself", FC(BYTES(LEN("\"a\""))), 3, "length-field-location" },
	{ "location of what comes later", P D E(STRUCT(M("d", BYTES(LEN("\"n\""))) "," M("n", U8))), 3,
	  "length-field-location" },
	{ "location above all", P D E(STRUCT(M("n", U8) "," M("d", BYTES(LEN("null,\"n\""))))), 3,
	  "length-field-location" },
	{ "location of a later scope", P "{\"type\":\"data-stream-class\","
	  "\"event-record-common-context-field-class\":" STRUCT(M("d", BYTES(
	  "\"length-field-location\":{\"origin\":\"event-record-payload\"," PATH("\"n\"") "}"))) "}\n"
	  E(STRUCT(M("n", U8))), 2, "length-field-location" },
	{ "location of a scope that is not there", FC(BYTES(
	  "\"length-field-location\":{\"origin\":\"packet-context\"," PATH("\"n\"") "}")), 3,
	  "length-field-location" },
	{ "length is a text", P D E(STRUCT(M("n", STRING) "," M("d", BYTES(LEN("\"n\""))))), 3,
	  "length-field-location" },
	{ "length has a sign", P D E(STRUCT(M("n", S8) "," M("d", BYTES(LEN("\"n\""))))), 3,
	  "length-field-location" },
	{ "length is a flag", P D E(STRUCT(M("n", BOOL) "," M("d", BYTES(LEN("\"n\""))))), 3,
	  "length-field-location" },
	{ "length is a structure", P D E(STRUCT(M("n", STRUCT(M("x", U8))) "," M("d", BYTES(LEN("\"n\""))))), 3,
	  "length-field-location" },
	{ "path through an integer", P D E(STRUCT(M("n", U8) "," M("d", BYTES(LEN("\"n\",\"x\""))))), 3,
	  "length-field-location" },
	{ "selector is a number with a point", P D E(STRUCT(M("n",
	  "{\"type\":\"fixed-length-floating-point-number\",\"length\":32,\"byte-order\":\"big-endian\"}") ","
	  M("v", VARIANT(SEL("\"n\""), OPTION("[[0,5]]"))))), 3, "selector-field-location" },

	/* ---- roles ---- */
	{ "roles are no array", FC(INT("\"length\":8,\"roles\":\"packet-magic-number\"")), 3, "roles" },
	{ "unknown role", HEADER(M("m", ROLE("un", "32", "sonata"))), 2, "roles" },
	{ "role with a sign", HEADER(M("m", ROLE("", "32", "data-stream-id"))), 2, "roles" },
	{ "role of another scope", HEADER(M("m", ROLE("un", "32", "packet-total-length"))), 2,
	  "roles" },
	{ "role in a payload", FC(ROLE("un", "8", "event-record-class-id")), 3, "roles" },
	{ "magic number of 16 bits", HEADER(M("m", ROLE("un", "16", "packet-magic-number"))), 2,
	  "roles" },
	{ "magic number is second", HEADER(M("x", U8) "," M("m", ROLE("un", "32", "packet-magic-number"))), 2,
	  "magic number" },
	{ "two magic numbers", HEADER(M("m", ROLE("un", "32", "packet-magic-number")) "," M("n", ROLE("un", "32"
	  , "packet-magic-number"))), 2, "magic number" },
	{ "uuid of 15 bytes", HEADER(M("u", "{\"type\":\"static-length-blob\",\"length\":15,"
	  "\"roles\":[\"metadata-stream-uuid\"]}")), 2, "uuid" },
	{ "uuid as integer", HEADER(M("u", ROLE("un", "64", "metadata-stream-uuid"))), 2, "roles" },
	{ "magic number as BLOB", HEADER(M("u", "{\"type\":\"static-length-blob\",\"length\":4,"
	  "\"roles\":[\"packet-magic-number\"]}")), 2, "roles" },
	{ "time without clock", P "{\"type\":\"data-stream-class\",\"event-record-header-field-class\":"
	  STRUCT(M("t", ROLE("un", "32", "default-clock-timestamp"))) "}", 2, "roles" },
};

static void G_GNUC_PRINTF(2, 3) complain(const struct refusal *r, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	g_test_message("%s: %s: %s", r->name, r->text ? r->text : "", what);
	g_test_fail();
}

/* Words that a terminal can bear, of a code that broken traces give. */
static void check_words(const struct refusal *r, const GError *error)
{
	if (error->domain != BLK_TRACE_ERROR ||
	    (error->code != BLK_TRACE_ERROR_CORRUPT && error->code != BLK_TRACE_ERROR_UNSUPPORTED))
		complain(r, "error %d of another kind: %s", error->code, error->message);
	for (const char *s = error->message; *s; s++)
		if (!g_ascii_isprint(*s))
			complain(r, "byte %02x in '%s'", (unsigned char)*s, error->message);
	if (!*error->message || strlen(error->message) > 600)
		complain(r, "a message of %zu bytes", strlen(error->message));
}

static void check_message(const struct refusal *r, const GError *error)
{
	g_autofree char *number = g_strdup_printf("fragment %u", r->fragment);
	const char *at = strstr(error->message, number);
	check_words(r, error);
	if (!at || g_ascii_isdigit(at[strlen(number)]) || !strstr(error->message, r->what))
		complain(r, "'%s' is not about %s, '%s'", error->message, number, r->what);
}

static void test_refused(gconstpointer data)
{
	const struct refusal *r = data;
	g_autoptr(GByteArray) bytes = framed(r->text);
	g_autoptr(GError) whole = NULL;
	g_autoptr(blk_ctf_meta) m = parse(bytes->data, bytes->len, &whole);
	if (m)
		complain(r, "read");
	else
		check_message(r, whole);
	for (size_t cut = 1; cut <= bytes->len && !g_test_failed(); cut++) {
		bool rest;
		g_autoptr(GError) error = NULL;
		g_autoptr(blk_ctf_meta) in_two = parse_pieces(bytes->data, bytes->len, cut, bytes->len,
							      &rest, &error);
		/* What is cut off is waited for. */
		if (in_two && !rest)
			complain(r, "read, cut at %zu", cut);
		if (error)
			check_words(r, error);
	}
}

/* ---- what is read ---- */

static const struct { const char *name, *text; } valid[] = {
	{ "least", P D },
	{ "event", P D E(STRUCT(M("a", U8))) },
	{ "a clock again", P C C D },
	{ "unknown properties", "{\"type\":\"preamble\",\"version\":2,\"x\":[1,{\"y\":null}]}\n"
	  "{\"type\":\"data-stream-class\",\"z\":true}\n" E("{\"type\":\"structure\",\"w\":-1e5}") },
	{ "attributes", "{\"type\":\"preamble\",\"version\":2,\"attributes\":{\"a.b,2020\":[[[{}]]]}}\n" D },
	{ "no extension is declared", "{\"type\":\"preamble\",\"version\":2,\"extensions\":{}}\n" D },
	{ "white space",
	  "{\t\"type\" : \"preamble\" ,\r \"version\" :\t2 }\n  {\"type\":\"data-stream-class\"} \t\r\n" },
	{ "escapes", P "{\"\\u0074ype\":\"data-stream\\u002dclass\","
	  "\"name\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude42\"}\n" },
	{ "names", P D E(STRUCT(M("", U8) "," M("a b", U8) "," M("\xc3\xa9", U8) "," M("\xf0\x9f\x99\x82", U8)
	  "," M("_x", U8))) },
	{ "uuid", "{\"type\":\"preamble\",\"version\":2,\"uuid\":[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,255]}\n" D },
	{ "integers as they can be written", P "{\"type\":\"data-stream-class\",\"id\":-0}\n" },
	{ "greatest ids", P "{\"type\":\"data-stream-class\",\"id\":18446744073709551615}\n"
	  "{\"type\":\"event-record-class\",\"id\":18446744073709551615,"
	  "\"data-stream-class-id\":18446744073709551615}" },
	{ "ids twice in two streams", P "{\"type\":\"data-stream-class\","
	  "\"id\":1}\n{\"type\":\"data-stream-class\",\"id\":2}\n" "{\"type\":\"event-record-class\","
	  "\"data-stream-class-id\":1}\n{\"type\":\"event-record-class\",\"data-stream-class-id\":2}" },
	{ "alias of an alias", P "{\"type\":\"field-class-alias\",\"name\":\"a\",\"field-class\":" U8 "}\n"
	  "{\"type\":\"field-class-alias\",\"name\":\"b\",\"field-class\":\"a\"}\n" D E(STRUCT(M("x", "\"b\""))) },
	{ "alias of a scope", P "{\"type\":\"field-class-alias\",\"name\":\"a\",\"field-class\":" STRUCT(M("x",
	  U8)) "}\n" D E("\"a\"") },
	{ "mappings that overlap", FC(INT("\"length\":8,\"mappings\":{\"a\":[[0,10],[5,20]],\"b\":[[7,7]],"
	  "\"\":[[0,255]]}")) },
	{ "mappings of all values", FC("{\"type\":\"variable-length-signed-integer\",\"mappings\":"
	  "{\"a\":[[-9223372036854775808,9223372036854775807]]}}") },
	{ "mapping as UST writes -3 of 8 bits", FC(INT("\"length\":8,"
	  "\"mappings\":{\"a\":[[18446744073709551613,18446744073709551613]]}")) },
	{ "length, back and forth", FC(U8 "}," M("s", STRUCT(M("t", U8))) "," M("d", BYTES(LEN(
	  "\"s\",null,\"a\""))) ",{\"name\":\"e\",\"field-class\":" U8) },
	{ "length of the parent", P D E(STRUCT(M("n", U8) "," M("s", STRUCT(M("d", BYTES(LEN("null,\"n\""
	  )))))))},
	{ "length in an array", P D E(STRUCT(M("r", "{\"type\":\"static-length-array\",\"length\":2,"
	  "\"element-field-class\":" STRUCT(M("n", U8) "," M("d", BYTES(LEN("\"n\"")))) "}"))) },
	{ "options with gaps", P D E(STRUCT(M("n", S8) "," M("v", VARIANT(SEL("\"n\""), OPTION("[[-5,-1],[1,2]]"
	  ) "," OPTION("[[0,0],[3,127]]"))))) },
	{ "optional by flag", P D E(STRUCT(M("n", BOOL) "," M("o", "{\"type\":\"optional\",\"field-class\":"
	  STRING "," SEL("\"n\"") "}"))) },
	{ "a clock far away", CLOCK("\"frequency\":3,"
	  "\"offset-from-origin\":{\"seconds\":-4000000000,\"cycles\":2}") },
	{ "origin of its own", CLOCK("\"frequency\":1,\"origin\":{\"name\":\"\",\"uid\":\"\"}") },
	{ "roles", HEADER(M("m", ROLE("un", "32", "packet-magic-number")) "," M("i", ROLE("un", "7",
	  "data-stream-id"))) },
};

static void test_valid(gconstpointer data)
{
	const char *text = data;
	g_autoptr(GByteArray) bytes = framed(text);
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = parse(bytes->data, bytes->len, &error);
	if (!m) {
		g_test_message("%s: %s", text, error->message);
		g_test_fail();
		return;
	}
	g_autofree char *whole = ctf_dump(m);
	for (size_t cut = 1; cut <= bytes->len; cut++) {
		bool rest;
		size_t step = cut & 1 ? bytes->len : 7;
		g_autoptr(blk_ctf_meta) in_two = parse_pieces(bytes->data, bytes->len, cut, step, &rest, &error);
		g_assert_no_error(error);
		g_assert_false(rest);
		g_autofree char *dump = ctf_dump(in_two);
		g_assert_cmpstr(dump, ==, whole);
	}
}

/* ---- bytes that are no text ---- */

#define RS "\x1e"
static const struct { const char *name, *bytes; size_t n; unsigned fragment; } broken[] = {
#define BYTES_OF(s) (s), sizeof(s) - 1
	{ "a separator in a text", BYTES_OF(RS P RS "{\"type\":\"data-\x1estream-class\"}"), 2 },
	{ "NUL in a text", BYTES_OF(RS P RS "{\"type\":\"data-stream-class\",\"name\":\"\0\"}"), 2 },
	{ "NUL between", BYTES_OF(RS P RS "{\"type\":\0\"data-stream-class\"}"), 2 },
	{ "line feed in a text", BYTES_OF(RS P RS "{\"type\":\"data-stream-class\",\"name\":\"\n\"}"), 2 },
	{ "byte order mark", BYTES_OF(RS "\xef\xbb\xbf" P), 1 },
	{ "text before", BYTES_OF(RS P "x" RS D), 1 },
	{ "only a separator", BYTES_OF(RS), 1 },
	{ "cut off", BYTES_OF(RS P RS "{\"type\":\"data-stream-class\""), 2 },
	{ "cut off in a text", BYTES_OF(RS P RS "{\"type\":\"data-"), 2 },
	{ "cut off in an escape", BYTES_OF(RS P RS "{\"type\":\"data\\u00"), 2 },
	{ "cut off in a character", BYTES_OF(RS P RS "{\"type\":\"\xf0\x9f"), 2 },
};

static void test_broken(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(broken); i++) {
		const struct refusal r = { broken[i].name, NULL, broken[i].fragment, "" };
		g_autoptr(GError) error = NULL;
		g_autoptr(blk_ctf_meta) m = parse(broken[i].bytes, broken[i].n, &error);
		if (m)
			complain(&r, "read");
		else
			check_message(&r, error);
	}
}

/* ---- much of it ---- */

static void expect_error(const GString *text, unsigned fragment)
{
	const struct refusal r = { "much", NULL, fragment, "" };
	g_autoptr(GError) error = NULL;
	int64_t begin = g_get_monotonic_time();
	g_autoptr(blk_ctf_meta) m = parse(text->str, text->len, &error);
	g_assert_null(m);
	check_message(&r, error);
	/* Far from what a machine under load takes. */
	g_assert_cmpint(g_get_monotonic_time() - begin, <, 20 * G_USEC_PER_SEC);
}

static void test_deep(void)
{
	static const char *const open[] = { "[", "{\"a\":" };
	for (size_t i = 0; i < G_N_ELEMENTS(open); i++) {
		for (int n = 1000; n <= 1000000; n *= 1000) {
			g_autoptr(GString) text = g_string_new(RS "{\"type\":\"preamble\",\"version\":2,"
				"\"attributes\":{\"x\":");
			for (int k = 0; k < n; k++)
				g_string_append(text, open[i]);
			g_string_append(text, "1");
			for (int k = 0; k < n; k++)
				g_string_append(text, i ? "}" : "]");
			g_string_append(text, "}}");
			expect_error(text, 1);
		}
	}
}

static void test_deep_classes(void)
{
	g_autoptr(GString) text = g_string_new(RS P RS D RS
		"{\"type\":\"event-record-class\",\"payload-field-class\":");
	g_autoptr(GString) end = g_string_new("}");
	for (int i = 0; i < 100; i++) {
		g_string_append(text, "{\"type\":\"structure\",\"member-classes\":[{\"name\":\"a\","
			"\"field-class\":");
		g_string_append(end, "}]}");
	}
	g_string_append(text, U8);
	for (int i = 0; i < 100; i++)
		g_string_append(text, "}]}");
	g_string_append_c(text, '}');
	expect_error(text, 3);
}

/* 2^40 fields, by aliases of aliases. */
static void test_many_by_aliases(void)
{
	g_autoptr(GString) text = g_string_new(RS P RS "{\"type\":\"field-class-alias\",\"name\":\"a0\","
		"\"field-class\":" U8 "}\n");
	for (int i = 1; i <= 40; i++)
		g_string_append_printf(text, RS "{\"type\":\"field-class-alias\",\"name\":\"a%d\","
			"\"field-class\":{\"type\":\"structure\","
				       "\"member-classes\":[" M("x", "\"a%d\"") "," M("y", "\"a%d\"") "]}}\n",
					i, i - 1, i - 1);
	g_string_append(text, RS D RS E("\"a40\""));
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = parse(text->str, text->len, &error);
	g_assert_null(m);
	g_assert_cmpuint(error->domain, ==, BLK_TRACE_ERROR);
	g_assert_nonnull(strstr(error->message, "fragment "));
}

static void test_many_events(void)
{
	g_autoptr(GString) text = g_string_new(RS P RS D);
	for (int i = 0; i <= 100000; i++)
		g_string_append_printf(text, RS "{\"type\":\"event-record-class\",\"id\":%d}", i + 1000);
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = parse(text->str, text->len, &error);
	g_assert_null(m);
	g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED);
	g_assert_nonnull(strstr(error->message, "100000 event record classes"));
}

static void test_long(void)
{
	g_autoptr(GString) text = g_string_new(RS P RS "{\"type\":\"data-stream-class\",\"name\":\"");
	g_string_set_size(text, text->len + (70u << 20));
	memset(text->str + text->len - (70u << 20), 'x', 70u << 20);
	g_string_append(text, "\"}");
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = parse(text->str, text->len, &error);
	g_assert_null(m);
	g_assert_nonnull(error);
}

/* One fragment that never ends: its pieces are not kept for ever. */
static void test_endless(void)
{
	g_autofree char *piece = g_strnfill(1 << 20, 'x');
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	struct ctf_pieces *x = ctf_pieces_new(m);
	const char *begin = RS "{\"type\":\"preamble\",\"attributes\":\"";
	bool ok = ctf_pieces_append(x, begin, strlen(begin), &error);
	for (int i = 0; ok && i < 200; i++)
		ok = ctf_pieces_append(x, piece, 1 << 20, &error);
	g_assert_false(ok);
	g_assert_nonnull(error);
	ctf_pieces_free(x);
}

/* ---- recordings ---- */

static const char *const traces[] = {
	"ctf2/demo/trace/kernel", "ctf2/demo/trace/ust/uid/0/64-bit", "ctf2/lost/trace/kernel",
	"ctf2/ust-both/ctf-2/ust/uid/0/64-bit",
};

static void test_recording(gconstpointer name)
{
	g_autofree char *dir = test_trace(name);
	if (!dir)
		return;
	g_autofree char *file = g_build_filename(dir, "metadata", NULL);
	g_autofree char *bytes = NULL;
	g_autoptr(GError) error = NULL;
	gsize n;
	bool rest;
	g_assert_true(g_file_get_contents(file, &bytes, &n, NULL));
	g_autoptr(blk_ctf_meta) m = parse(bytes, n, &error);
	g_assert_no_error(error);
	g_autofree char *whole = ctf_dump(m);
	for (size_t step = 1; step < 100000; step = step * 7 + 3) {
		g_autoptr(blk_ctf_meta) cut = parse_pieces((const uint8_t *)bytes, n, step, step, &rest, &error);
		g_assert_no_error(error);
		g_assert_false(rest);
		g_autofree char *dump = ctf_dump(cut);
		g_assert_cmpstr(dump, ==, whole);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
		g_autofree char *path = g_strdup_printf("/ctf-meta2/refused/%s", refused[i].name);
		g_test_add_data_func(path, &refused[i], test_refused);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(valid); i++) {
		g_autofree char *path = g_strdup_printf("/ctf-meta2/read/%s", valid[i].name);
		g_test_add_data_func(path, valid[i].text, test_valid);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(traces); i++) {
		g_autofree char *path = g_strdup_printf("/ctf-meta2/recording/%s", traces[i]);
		g_test_add_data_func(path, traces[i], test_recording);
	}
	g_test_add_func("/ctf-meta2/broken", test_broken);
	g_test_add_func("/ctf-meta2/deep", test_deep);
	g_test_add_func("/ctf-meta2/deep-classes", test_deep_classes);
	g_test_add_func("/ctf-meta2/aliases", test_many_by_aliases);
	g_test_add_func("/ctf-meta2/many-events", test_many_events);
	g_test_add_func("/ctf-meta2/long", test_long);
	g_test_add_func("/ctf-meta2/endless", test_endless);
	return g_test_run();
}
