/* SPDX-License-Identifier: GPL-2.0-only */
/* The metadata parser: what it reads, what it refuses and where. */
#include <string.h>

#include "lib/ctf_dump.h"
#include "lib/inspect.h"
#include "lib/test_traces.h"
#include "trace/reader.h"

#define INT8 "integer { size = 8; align = 8; signed = false; }"

/* As the tracers begin: names before the trace block says the byte order. */
#define BEGIN(order) \
	"/* CTF 1.8 */\n" \
	"typealias " INT8 " := uint8_t;\n" \
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n" \
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n" \
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n" \
	"typealias integer { size = 64; align = 8; signed = false; } := unsigned long;\n" \
	"typealias integer { size = 5; align = 1; signed = false; } := uint5_t;\n" \
	"typealias integer { size = 27; align = 1; signed = false; } := uint27_t;\n" \
	"trace {\n\tmajor = 1;\n\tminor = 8;\n" \
	"\tuuid = \"aa852396-23a2-4849-a854-f8ff37b4fbf0\";\n" \
	"\tbyte_order = " order ";\n" \
	"\tpacket.header := struct { uint32_t magic; uint8_t uuid[16]; uint32_t stream_id; };\n};\n"
#define CLOCK \
	"clock { name = \"monotonic\"; uuid = \"77479F4D-08f2-400a-8ad6-9c6ed3cde004\";\n" \
	"\tdescription = \"Monotonic Clock\"; freq = 1000000000; /* Frequency, in Hz */\n" \
	"\toffset = 1795241266596841987;\n};\n" \
	"typealias integer { size = 27; align = 1; signed = false;\n" \
	"\tmap = clock.monotonic.value; } := uint27_clock_monotonic_t;\n" \
	"typealias integer { size = 64; align = 8; signed = false;\n" \
	"\tmap = clock.monotonic.value; } := uint64_clock_monotonic_t;\n"
#define CLOCK_AGAIN \
	"clock { uuid = \"77479f4d-08f2-400a-8ad6-9c6ed3cde004\"; freq = 1000000000; offset = 596841987;\n" \
	"offset_s = 1795241266; name = monotonic; precision = 1; };\n"
#define HEADER \
	"struct event_header_compact {\n" \
	"\tenum : uint5_t { compact = 0 ... 30, extended = 31 } id;\n" \
	"\tvariant <id> {\n" \
	"\t\tstruct { uint27_clock_monotonic_t timestamp; } compact;\n" \
	"\t\tstruct { uint32_t id; uint64_clock_monotonic_t timestamp; } extended;\n" \
	"\t} v;\n} align(8);\n"
#define STREAM "stream { id = 0; event.header := struct event_header_compact; };\n"
#define STREAM_PLAIN "stream { id = 0; };\n"
#define EVENT(body) "event { name = \"e\"; id = 0; stream_id = 0; fields := " body "; };\n"
#define HEADER_DUMP \
	"struct/8{id#1:enum(u5le/1 compact=0..30 extended=31..31) v:variant<#1>{" \
	"compact:struct/1{timestamp:u27le/1@monotonic} " \
	"extended:struct/8{id:u32le/8 timestamp:u64le/8@monotonic}}}"

static struct ctf_meta *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct ctf_meta *m = ctf_meta_new();
	ctf_meta_append(m, text, strlen(text), &error);
	if (error)
		g_test_message("%s", text);
	g_assert_no_error(error);
	return m;
}

static char *parse_error(const char *text, gint *ret_code)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	if (ctf_meta_append(m, text, strlen(text), &error))
		g_test_message("read: %s", text);
	g_assert_nonnull(error);
	g_assert_cmpuint(error->domain, ==, BLK_TRACE_ERROR);
	*ret_code = error->code;
	return g_strdup(error->message);
}

/* ---- types ---- */

static const struct { const char *fields, *dump; } types[] = {
	{ "struct { }", "struct/1{}" },
	{ "struct { } align(32)", "struct/32{}" },
	{ "struct { integer { size = 32; align = 16; signed = 1; encoding = none; base = 10; } _prev_tid; }",
	  "struct/16{prev_tid:i32le/16}" },
	/* Defaults: aligned to bytes where the size is whole bytes. */
	{ "struct { integer { size = 9; } a; integer { size = 24; } b; integer { size = 64; } c; }",
	  "struct/8{a:u9le/1 b:u24le/8 c:u64le/8}" },
	{ "struct { integer { size = 0x10; byte_order = be; base = 16; signed = true; } a;"
	  " integer { size = 020; byte_order = network; base = hexadecimal; signed = FALSE; } b;"
	  " integer { size = 16; byte_order = le; base = x; signed = TRUE; } c;"
	  " integer { size = 16ULL; byte_order = native; base = 8; signed = 0; } d;"
	  " integer { size = 3; base = b; align = 1; } e; }",
	  "struct/8{a:i16be/8%16 b:u16be/8%16 c:i16le/8%16 d:u16le/8%8 e:u3le/1%2}" },
	{ "struct { unsigned long a, _b; unsigned long __c_length; }",
	  "struct/8{a:u64le/8 b:u64le/8 _c_length:u64le/8}" },
	{ "struct { uint64_clock_monotonic_t t; }", "struct/8{t:u64le/8@monotonic}" },
	{ "struct { string a; string { encoding = UTF8; } b; string { encoding = none; } c; }",
	  "struct/8{a:string b:string c:string}" },
	{ "struct { floating_point { exp_dig = 8; mant_dig = 24; } f;"
	  " floating_point { exp_dig = 11; mant_dig = 53; byte_order = be; align = 64; } d; }",
	  "struct/64{f:f32le/1 d:f64be/64}" },
	/* Text: arrays of 8-bit characters at whole bytes, signed or not. */
	{ "struct { integer { size = 8; signed = 1; encoding = UTF8; } _comm[16];"
	  " integer { size = 8; encoding = ASCII; } b[2]; integer { size = 16; encoding = UTF8; } c[2];"
	  " integer { size = 8; align = 1; encoding = UTF8; } d[2]; " INT8 " e[0]; }",
	  "struct/8{comm:text[16]/8(i8le/8t) b:text[2]/8(u8le/8t) c:array[2]/8(u16le/8t)"
	  " d:array[2]/1(u8le/1t) e:array[0]/8(u8le/8)}" },
	{ "struct { uint16_t a[2][3], b; }",
	  "struct/8{a:array[2]/8(array[3]/8(u16le/8)) b:u16le/8}" },
	/* Sequences: the length anywhere before, also far from its sequence. */
	{ "struct { uint8_t __x_length; uint32_t _x[ __x_length ]; }",
	  "struct/8{_x_length#2:u8le/8 x:seq[#2]/8(u32le/8)}" },
	{ "struct { uint32_t _nfds; uint8_t _fds_length; uint8_t _overflow;"
	  " struct { integer { size = 32; signed = 1; } _fd; } _fds[ _fds_length ]; uint8_t _b[_nfds]; }",
	  "struct/8{nfds#3:u32le/8 fds_length#2:u8le/8 overflow:u8le/8"
	  " fds:seq[#2]/8(struct/8{fd:i32le/8}) b:seq[#3]/8(u8le/8)}" },
	{ "struct { uint8_t n; uint8_t a[n]; uint8_t b[n]; integer { size = 8; encoding = UTF8; } t[n]; }",
	  "struct/8{n#2:u8le/8 a:seq[#2]/8(u8le/8) b:seq[#2]/8(u8le/8) t:textseq[#2]/8(u8le/8t)}" },
	{ "struct { uint8_t n; struct { uint8_t m; uint8_t a[m]; uint8_t b[n]; } s[2]; }",
	  "struct/8{n#3:u8le/8 s:array[2]/8(struct/8{m#2:u8le/8 a:seq[#2]/8(u8le/8)"
	  " b:seq[#3]/8(u8le/8)})}" },
	{ "struct { struct { uint8_t n; } h; uint8_t a[h.n]; uint8_t b[h->n]; }",
	  "struct/8{h:struct/8{n#2:u8le/8} a:seq[#2]/8(u8le/8) b:seq[#2]/8(u8le/8)}" },
	{ "struct { uint8_t n; uint8_t a[event.fields.n]; }",
	  "struct/8{n#2:u8le/8 a:seq[#2]/8(u8le/8)}" },
	/* The nearest field of that name counts. */
	{ "struct { uint8_t n; struct { uint8_t n; uint8_t a[n]; } s; uint8_t b[n]; }",
	  "struct/8{n#3:u8le/8 s:struct/8{n#2:u8le/8 a:seq[#2]/8(u8le/8)} b:seq[#3]/8(u8le/8)}" },
	/* In the event's header there is a register already. */
	{ "struct { variant <stream.event.header.id> { uint8_t compact; struct { } extended; } v; }",
	  "struct/1{v:variant<#1>{compact:u8le/8 extended:struct/1{}}}" },
	{ "struct { uint8_t a[id]; }", "struct/8{a:seq[#1]/8(u8le/8)}" },
	/* Alike up to a brace that does not end them. */
	{ "struct { integer { typealias integer { size = 8; } := x; size = 16; } a;"
	  " integer { typealias integer { size = 8; } := x; size = 32; } b; }",
	  "struct/8{a:u16le/8 b:u32le/8}" },
	{ "struct { integer { /* } */ size = 16; } a; integer { /* } */ size = 32; } b; }",
	  "struct/8{a:u16le/8 b:u32le/8}" },
	/* Enumerations. */
	{ "struct { enum : uint8_t { A, B, C = 7, D, E = 10 ... 12, F, } e; }",
	  "struct/8{e:enum(u8le/8 A=0..0 B=1..1 C=7..7 D=8..8 E=10..12 F=13..13)}" },
	{ "struct { enum : integer { size = 8; signed = 1; } { \"a b\" = -128 ... -2, \"_c\", c = +5 } e; }",
	  "struct/8{e:enum(i8le/8 a b=-128..-2 _c=-1..-1 c=5..5)}" },
	{ "struct { enum : integer { size = 8; byte_order = be; } { \"_unknown\" = 0 ... 5, \"_tcp\" = 6,"
	  " \"_unknown\" = 7 ... 255, } _protocol; variant <_protocol> { struct { }_unknown;"
	  " struct { uint16_t _port; }_tcp; } _h; }",
	  "struct/8{protocol#2:enum(u8be/8 _unknown=0..5 _tcp=6..6 _unknown=7..255)"
	  " h:variant<#2>{unknown:struct/1{} tcp:struct/8{port:u16le/8}}}" },
	{ "struct { enum : uint64_t { all = 0 ... 0xffffffffffffffff } e; enum : uint8_t { } n; }",
	  "struct/8{e:enum(u64le/8 all=0..18446744073709551615) n:enum(u8le/8 )}" },
	{ "struct { enum color : uint8_t { red, green } a; enum color b; }",
	  "struct/8{a:enum(u8le/8 red=0..0 green=1..1) b:enum(u8le/8 red=0..0 green=1..1)}" },
	/* Names that differ by a leading '_' only. */
	{ "struct { uint8_t a; uint8_t _a; uint8_t __a; uint8_t _b; }",
	  "struct/8{a:u8le/8 _a:u8le/8 __a:u8le/8 b:u8le/8}" },
	{ "struct { uint8_t _n; uint8_t n; uint8_t x[_n]; uint8_t y[n]; }",
	  "struct/8{_n#2:u8le/8 n#3:u8le/8 x:seq[#2]/8(u8le/8) y:seq[#3]/8(u8le/8)}" },
	{ "struct { enum : uint8_t { a, _a } t; variant <t> { uint8_t a; uint16_t _a; } v; }",
	  "struct/8{t#2:enum(u8le/8 a=0..0 _a=1..1) v:variant<#2>{a:u8le/8 _a:u16le/8}}" },
	/* Elements without a size. */
	{ "struct { struct { } a[4096]; uint8_t n; struct { uint8_t b[0]; } c[n]; }",
	  "struct/8{a:array[4096]/1(struct/1{}) n#2:u8le/8 c:seq[#2]/8(struct/8{b:array[0]/8(u8le/8)})}" },
	/* Names of types that are known only inside these braces. */
	{ "struct { typealias integer { size = 4; } := uint8_t; uint8_t a; typedef uint8_t pair[2];"
	  " pair b; struct inner { uint8_t x; }; struct inner c; }",
	  "struct/1{a:u4le/1 b:array[2]/1(u4le/1) c:struct/1{x:u4le/1}}" },
	{ "struct { struct pt { uint8_t x; } align(16) p; struct pt q[2]; }",
	  "struct/16{p:struct/16{x:u8le/8} q:array[2]/16(struct/16{x:u8le/8})}" },
	{ "struct { variant opts { uint8_t a; uint16_t b; }; enum : uint8_t { a, b } t;"
	  " variant opts <t> v; variant opts <t> w; }",
	  "struct/8{t#2:enum(u8le/8 a=0..0 b=1..1) v:variant<#2>{a:u8le/8 b:u16le/8}"
	  " w:variant<#2>{a:u8le/8 b:u16le/8}}" },
	{ "struct { enum : uint8_t { a, b } t; variant <t> { struct { enum : uint8_t { c } t;"
	  " variant <t> { uint8_t c; } v; } a; variant <t> { uint8_t a; string b; } b; } v; }",
	  "struct/8{t#2:enum(u8le/8 a=0..0 b=1..1) v:variant<#2>{a:struct/8{t#3:enum(u8le/8 c=0..0)"
	  " v:variant<#3>{c:u8le/8}} b:variant<#2>{a:u8le/8 b:string}}}" },
};

static void test_types(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(types); i++) {
		g_autofree char *text = g_strconcat(BEGIN("le") CLOCK HEADER STREAM
						    "event { name = \"e\"; id = 0; stream_id = 0; fields := ",
						    types[i].fields, "; };", NULL);
		g_autoptr(blk_ctf_meta) m = parse(text);
		const struct ctf_event_class *e = ctf_stream_event(ctf_meta_stream(m, 0), 0);
		g_autoptr(GString) dump = g_string_new(NULL);
		ctf_dump_type(dump, e->fields);
		g_assert_cmpstr(dump->str, ==, types[i].dump);
	}
}

static void test_byte_order(void)
{
	for (int big = 0; big < 2; big++) {
		g_autoptr(blk_ctf_meta) m = parse(big ? BEGIN("be") CLOCK HEADER STREAM
						      EVENT("struct { uint16_t a; enum : uint8_t { x } b; }")
						      : BEGIN("le") CLOCK HEADER STREAM
						      EVENT("struct { uint16_t a; enum : uint8_t { x } b; }"));
		const struct ctf_stream_class *sc = ctf_meta_stream(m, 0);
		const struct ctf_event_class *e = ctf_stream_event(sc, 0);
		g_assert_cmpint(m->big_endian, ==, big);
		g_assert_cmpint(e->fields->field[0].type->big_endian, ==, big);
		g_assert_cmpint(e->fields->field[1].type->big_endian, ==, big);
		g_assert_cmpint(sc->event_header->field[0].type->big_endian, ==, big);
		g_assert_cmpint(m->packet_header->field[0].type->big_endian, ==, big);
	}
}

/* Registers begin anew in each stream class, though both use the same type. */
static void test_streams(void)
{
	g_autoptr(blk_ctf_meta) m = parse(
		BEGIN("le") CLOCK HEADER
		"stream { id = 7; event.context := struct { uint8_t n; uint8_t a[n]; };"
		" packet.context := struct { uint64_t content_size; };"
		" event.header := struct event_header_compact; };" STREAM
		"event { id = 3; name = plain.name; stream_id = 7; loglevel = 13;"
		" model.emf.uri = \"http://example.org/\";"
		" context := struct { uint8_t m; uint8_t b[m]; };"
		" fields := struct { uint8_t c[m]; uint8_t d[n]; uint8_t e[stream.event.context.n];"
		" uint8_t f[event.context.m]; }; };"
		"event { id = 3; name = \"same id, other stream\"; stream_id = 0; };");
	g_autofree char *dump = ctf_dump(m);
	const char *streams = strstr(dump, "stream 7");
	g_assert_cmpstr(streams, ==,
		"stream 7 regs 4\n"
		"packet.context struct/8{content_size:u64le/8}\n"
		"event.header " HEADER_DUMP "\n"
		"event.context struct/8{n#2:u8le/8 a:seq[#2]/8(u8le/8)}\n"
		"event 3 'plain.name'\n"
		" context struct/8{m#3:u8le/8 b:seq[#3]/8(u8le/8)}\n"
		" fields struct/8{c:seq[#3]/8(u8le/8) d:seq[#2]/8(u8le/8) e:seq[#2]/8(u8le/8)"
		" f:seq[#3]/8(u8le/8)}\n"
		"stream 0 regs 2\n"
		"packet.context -\n"
		"event.header " HEADER_DUMP "\n"
		"event.context -\n"
		"event 3 'same id, other stream'\n"
		" context -\n"
		" fields -\n");
	g_assert_null(ctf_meta_stream(m, 1));
	g_assert_null(ctf_stream_event(ctf_meta_stream(m, 7), 0));
}

static void test_blocks(void)
{
	int64_t number;
	g_autoptr(blk_ctf_meta) m = parse(
		BEGIN("le") CLOCK
		"env { hostname = \"a\\\"b\\\\\\n\\x41\\102\"; tracer_major = 2; minus = -3; };"
		"clock { name = other; freq = 3000000000; offset_s = -5; offset = 7000000001; precision = 10;"
		" absolute = TRUE; };"
		"callsite { name = \"x\"; func = \"f\"; ip = 0x77; deep { a = { 1; }; }; };"
		"// a comment of C++\n"
		"typealias struct { uint8_t x; } := a b c;"
		"typedef a b c pair[2];"
		"stream { id = 1; event.context := struct { pair p; a b c q; }; };");
	g_assert_cmpstr(ctf_meta_env(m, "hostname"), ==, "a\"b\\\nAB");
	g_assert_null(ctf_meta_env(m, "tracer_major"));
	g_assert_null(ctf_meta_env(m, "nothing"));
	g_assert_true(ctf_meta_env_number(m, "tracer_major", &number));
	g_assert_cmpint(number, ==, 2);
	g_assert_true(ctf_meta_env_number(m, "minus", &number));
	g_assert_cmpint(number, ==, -3);
	g_assert_false(ctf_meta_env_number(m, "hostname", &number));
	const struct ctf_clock *c = m->clocks->pdata[0];
	g_assert_cmpstr(c->uuid, ==, "77479f4d-08f2-400a-8ad6-9c6ed3cde004");
	g_assert_cmpint(c->offset_s, ==, 1795241266);
	g_assert_cmpuint(c->offset, ==, 596841987);
	c = m->clocks->pdata[1];
	g_assert_cmpstr(c->name, ==, "other");
	g_assert_cmpstr(c->uuid, ==, "");
	g_assert_cmpint(c->offset_s, ==, -3);
	g_assert_cmpuint(c->offset, ==, 1000000001);
	g_assert_true(c->absolute);
	g_assert_cmpuint(m->uuid[0], ==, 0xaa);
	g_assert_cmpuint(m->uuid[15], ==, 0xf0);
	g_assert_nonnull(ctf_type_field(m->packet_header, "magic"));
	g_assert_null(ctf_type_field(m->packet_header, "magi"));
	g_autoptr(GString) dump = g_string_new(NULL);
	ctf_dump_type(dump, ctf_meta_stream(m, 1)->event_context);
	g_assert_cmpstr(dump->str, ==,
			"struct/8{p:array[2]/8(struct/8{x:u8le/8}) q:struct/8{x:u8le/8}}");
}

#define NO_ID BEGIN("le") CLOCK \
	"stream { event.header := struct { uint64_t timestamp; };" \
	" packet.context := struct { uint32_t timestamp_end; }; };"

/* One stream and one event need no ids. Timestamps that name no clock have the only one. */
static void test_no_ids(void)
{
	static const char *const texts[] = {
		NO_ID "event { name = e; };",
		NO_ID "event { name = e; stream_id = 0; };",
		BEGIN("le") CLOCK "event { name = e; };"	/* before its stream */
		"stream { id = 9; event.header := struct { uint64_t timestamp; };"
		" packet.context := struct { uint32_t timestamp_end; }; };",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(blk_ctf_meta) m = parse(texts[i]);
		const struct ctf_stream_class *sc = ctf_meta_stream(m, i == 2 ? 9 : 0);
		g_assert_cmpuint(sc->events->len, ==, 1);
		g_assert_cmpuint(ctf_stream_event(sc, 0)->id, ==, 0);
		const struct ctf_type *ts = sc->event_header->field[0].type;
		g_assert_cmpuint(ts->roles, ==, CTF_ROLE_TIMESTAMP);
		g_assert_true(ts->clock == m->clocks->pdata[0]);
		g_assert_true(sc->packet_context->field[0].type->clock == ts->clock);
		g_assert_cmpuint(m->remark[CTF_REMARK_CLOCK].n, ==, 0);
	}
}

/* Without a clock timestamps count nanoseconds; with several it is not known which one they mean. */
static void test_no_clock(void)
{
	g_autoptr(blk_ctf_meta) m = parse(
		BEGIN("le") "stream { event.header := struct { uint32_t timestamp; }; };"
		"event { name = e; };");
	const struct ctf_type *ts = ctf_meta_stream(m, 0)->event_header->field[0].type;
	g_assert_cmpuint(ts->clock->freq, ==, 1000000000);
	g_assert_cmpint(ts->clock->offset_s, ==, 0);
	g_assert_cmpuint(m->remark[CTF_REMARK_CLOCK].n, ==, 1);
	g_assert_nonnull(strstr(m->remark[CTF_REMARK_CLOCK].first, "nanoseconds"));
	g_autoptr(blk_ctf_meta) two = parse(
		BEGIN("le") "clock { name = a; }; clock { name = b; };"
		"stream { event.header := struct { uint32_t timestamp; }; };");
	g_assert_cmpuint(ctf_meta_stream(two, 0)->event_header->field[0].type->roles, ==, 0);
}

/* A clock may be declared again, in any form. */
static void test_clock_again(void)
{
	g_autoptr(blk_ctf_meta) m = parse(
		BEGIN("le") CLOCK CLOCK_AGAIN
		"typealias integer { size = 64; map = clock.monotonic.value; } := t;" CLOCK_AGAIN
		"stream { event.header := struct { t timestamp; }; };");
	g_assert_cmpuint(m->clocks->len, ==, 1);
	g_assert_true(ctf_meta_stream(m, 0)->event_header->field[0].type->clock == m->clocks->pdata[0]);
}

/* What is not known is skipped, and the first is named. */
static void test_unknown_attributes(void)
{
	g_autoptr(blk_ctf_meta) m = parse(
		"trace { major = 1; minor = 8; byte_order = le; color = \"red; }\"; x.y = -1; };"
		"stream { id = 3; typealias integer { size = 8; zz = aa; } := u8; a = u8; };"
		"event { name = e; stream_id = 3; more := struct { variant { string a; } v; }; n = 0x10; };"
		"clock { name = c; leap = maybe; };");
	g_assert_cmpuint(ctf_meta_stream(m, 3)->events->len, ==, 1);
	g_assert_cmpuint(m->remark[CTF_REMARK_ATTRIBUTE].n, ==, 7);
	g_assert_cmpstr(m->remark[CTF_REMARK_ATTRIBUTE].first, ==, "1:48: unknown attribute 'color' of trace");
}

static void test_fixed(void)
{
	static const struct { const char *fields; gint64 bits; } sizes[] = {
		{ "struct { }", 0 },
		{ "struct { integer { size = 3; } a; uint32_t b; }", 40 },
		{ "struct { uint8_t a; integer { size = 32; align = 32; } b; uint8_t c; }", 72 },
		{ "struct { struct { uint8_t a; } align(32) a[3]; uint8_t b; }", 80 },
		{ "struct { uint8_t a; integer { size = 64; align = 64; } b[0]; }", 64 },
		{ "struct { floating_point { exp_dig = 11; mant_dig = 53; } f; enum : uint8_t { a } e; }", 72 },
		{ "struct { string a; }", -1 },
		{ "struct { uint8_t n; struct { uint8_t a[n]; } b; }", -1 },
		{ "struct { enum : uint8_t { a } t; variant <t> { uint8_t a; } v; }", -1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autofree char *text = g_strconcat(BEGIN("le") CLOCK HEADER STREAM
						    "event { name = \"e\"; id = 0; stream_id = 0; fields := ",
						    sizes[i].fields, "; };", NULL);
		g_autoptr(blk_ctf_meta) m = parse(text);
		uint64_t bits = 0;
		bool fixed = ctf_type_fixed(ctf_stream_event(ctf_meta_stream(m, 0), 0)->fields, &bits);
		g_assert_cmpint(fixed ? (gint64)bits : -1, ==, sizes[i].bits);
	}
}

/* ---- refusals ---- */

#define CORRUPT BLK_TRACE_ERROR_CORRUPT
#define UNSUPPORTED BLK_TRACE_ERROR_UNSUPPORTED

/* Texts behind one line of comment: so the first line is 2. */
static const struct { const char *text; int code; const char *error; } refusals[] = {
	{ "x", UNSUPPORTED, "2:1: expected a declaration, not 'x'" },
	{ "\n  ;", UNSUPPORTED, "3:3: expected a declaration, not ';'" },
	{ "/* no end *", CORRUPT, "2:1: a comment without end" },
	{ "/*/", CORRUPT, "2:1: a comment without end" },
	{ "env { a = \"x", CORRUPT, "2:11: an unterminated string" },
	{ "env { a = \"\\q\"; };", UNSUPPORTED, "2:12: no known escape of a string" },
	{ "env { a = \"\\x00\"; };", UNSUPPORTED, "2:12: no known escape of a string" },
	{ "env { a = \"\\777\"; };", UNSUPPORTED, "2:12: no known escape of a string" },
	{ "env { a = 18446744073709551616; };", CORRUPT, "2:11: a number of more than 64 bits" },
	{ "env { a = 9223372036854775808; };", UNSUPPORTED, "2:11: a signed number of more than 64 bits" },
	{ "env { a = 12x; };", UNSUPPORTED, "2:11: not a number" },
	{ "env { a = 0x; };", UNSUPPORTED, "2:11: not a number" },
	{ "env { a = 08; };", UNSUPPORTED, "2:11: not a number" },
	{ "env { a = 'x'; };", UNSUPPORTED, "2:11: a character constant" },
	{ "env { a = 1 };", UNSUPPORTED, "2:13: expected ';', not '}'" },
	{ "env { a = 1; }", CORRUPT, "2:15: expected ';', not the end" },
	{ "env { a @ 1; };", UNSUPPORTED, "2:9: byte 0x40 where none can be" },
	{ "env { a := 1; };", UNSUPPORTED, "2:9: expected '=', not ':='" },
	{ "trace { };", UNSUPPORTED, "2:7: trace without 'major'" },
	{ "trace { major = 2; };", UNSUPPORTED, "2:17: a version of CTF that is not 1.8" },
	{ "trace { major = 1; minor = 9; };", UNSUPPORTED, "2:28: a version of CTF that is not 1.8" },
	{ "trace { major = 1; minor = 8; };", UNSUPPORTED, "2:7: trace without 'byte_order'" },
	{ "trace { byte_order = native; };", CORRUPT, "2:22: a trace of its own byte order" },
	{ "trace { byte_order = middle; };", UNSUPPORTED, "2:22: no known byte order" },
	{ "trace { uuid = \"aa852396-23a2-4849-a854-f8ff37b4fbf\"; };", CORRUPT, "2:16: no uuid" },
	{ "trace { uuid = \"aa85239623a2-4849-a854-f8ff37b4fbf00\"; };", CORRUPT, "2:16: no uuid" },
	{ "trace { color = red; };", UNSUPPORTED, "2:7: trace without 'major'" },
	{ "trace { color red; };", UNSUPPORTED, "2:15: expected '=', not 'red'" },
	{ "trace { color = { red; };", CORRUPT, "2:26: expected a name, not the end" },
	{ "trace { color = red }", UNSUPPORTED, "2:21: expected ';', not '}'" },
	{ "trace { major = 1; major = 1; };", CORRUPT, "2:20: 'major' of trace twice" },
	{ "trace { major = 1; minor = 8; byte_order = le; packet.header := string; };", CORRUPT,
	  "2:65: a header, context or payload that is not a structure" },
	{ "stream { id = 0; };", UNSUPPORTED, "2:1: a stream before the trace block" },
	{ "clock { freq = 1; };", UNSUPPORTED, "2:7: clock without 'name'" },
	{ "clock { name = c; freq = 0; };", CORRUPT, "2:26: clock frequency is 0" },
	{ "clock { name = c; }; clock { name = \"c\"; freq = 2; };", CORRUPT,
	  "2:22: a second clock 'c' that differs from the first" },
	{ "clock { name = c; }; clock { name = c; offset = 1; };", CORRUPT,
	  "2:22: a second clock 'c' that differs from the first" },
	{ "clock { name = c; freq = 1; offset_s = -9223372036854775808; };", UNSUPPORTED,
	  "2:1: a clock whose offset is more than 146 years" },
	{ "clock { name = c; freq = 1; offset_s = 9223372036854775807; offset = 1; };", UNSUPPORTED,
	  "2:1: a clock that begins too late" },
	{ "typealias integer { size = 0; } := x;", CORRUPT, "2:11: an integer that has not 1 to 64 bits" },
	{ "typealias integer { size = 65; } := x;", UNSUPPORTED,
	  "2:11: an integer that has not 1 to 64 bits" },
	{ "typealias integer { align = 8; } := x;", UNSUPPORTED, "2:19: integer without 'size'" },
	{ "typealias integer { size = 8; align = 12; } := x;", CORRUPT,
	  "2:39: an alignment that is not a power of two" },
	{ "typealias integer { size = 8; align = 65536; } := x;", UNSUPPORTED, "2:39: so wide an alignment" },
	{ "typealias integer { size = 8; base = 7; } := x;", UNSUPPORTED, "2:38: no known base" },
	{ "typealias integer { size = 8; encoding = latin1; } := x;", UNSUPPORTED,
	  "2:42: no known encoding" },
	{ "typealias integer { size = 8; signed = maybe; } := x;", UNSUPPORTED,
	  "2:40: no known truth value" },
	{ "typealias integer { size = 8; map = clock.a.value; } := x;", UNSUPPORTED, "2:37: no clock 'a' before this" },
	{ "typealias integer { size = 8; map = a.b; } := x;", UNSUPPORTED,
	  "2:37: a map to anything but clock.NAME.value" },
	{ "typealias integer { size = 8; } := x; typealias string := x;", CORRUPT,
	  "2:59: 'x' is declared twice" },
	{ "typealias string x;", UNSUPPORTED, "2:18: expected ':=', not 'x'" },
	{ "typealias string := struct x;", UNSUPPORTED, "2:21: expected the new name of a type, not 'struct'" },
	{ "typealias a b c := d;", UNSUPPORTED, "2:11: no type 'a b c'" },
	{ "typealias floating_point { exp_dig = 5; mant_dig = 11; } := half;", UNSUPPORTED,
	  "2:11: a floating_point of neither 32 nor 64 bits" },
	{ "struct s { int a; };", UNSUPPORTED, "2:12: no type 'int'" },
	{ "struct s { string a };", UNSUPPORTED, "2:21: expected ';', not '}'" },
	{ "struct s { string int; };", UNSUPPORTED, "2:19: expected a name, not 'int'" },
	{ "struct s { string; };", UNSUPPORTED, "2:18: expected a name, not ';'" },
	{ "struct s { string a; string a; };", CORRUPT, "2:10: two fields 'a'" },
	{ "struct s { string a; string _a; string _a; };", CORRUPT, "2:10: two fields '_a'" },
	{ "struct s { string _a; string _a; };", CORRUPT, "2:10: two fields '_a'" },
	{ "struct s { struct s x; };", UNSUPPORTED, "2:19: no 'struct s'" },
	{ "struct s { }; struct s { };", CORRUPT, "2:22: 'struct s' is declared twice" },
	{ "struct { } align(0);", CORRUPT, "2:18: an alignment that is not a power of two" },
	{ "struct s { struct { } a[4097]; };", UNSUPPORTED, "2:25: so many elements that may have no size" },
	{ "typealias " INT8 " := u; struct s { u a : 3; };", UNSUPPORTED, NULL },
	{ "typealias " INT8 " := u; struct s { u a[0x10000000000]; };", UNSUPPORTED, NULL },
	{ "typealias " INT8 " := u; struct s { u a[65536][65536][65536]; };", UNSUPPORTED, NULL },
	{ "enum e : struct { } { a };", CORRUPT, "2:10: an enum whose type is not an integer" },
	{ "enum e { a };", UNSUPPORTED, "2:8: no type 'int'" },
	{ "enum e;", UNSUPPORTED, "2:6: no 'enum e'" },
	{ "enum : integer { size = 8; } { a = -1 };", UNSUPPORTED, "2:36: expected a number, not '-'" },
	{ "enum : integer { size = 8; } { a = 2 ... 1 };", CORRUPT,
	  "2:32: a range that ends before it begins" },
	{ "enum : integer { size = 8; } { 1 };", UNSUPPORTED, "2:32: expected a label, not '1'" },
	{ "callsite { a { ", CORRUPT, "2:16: expected '}', not the end" },
	{ "variant v", UNSUPPORTED, "2:9: no 'variant v'" },
};

/* Behind a whole trace with a stream: line 22. */
static const struct { const char *fields; int code; const char *error; } bad_fields[] = {
	{ "string", CORRUPT, "22:1: a header, context or payload that is not a structure" },
	{ "struct { uint8_t a[n]; uint8_t n; }", UNSUPPORTED, "22:20: 'n' is not a field before this one" },
	{ "struct { uint8_t a[a]; }", UNSUPPORTED, "22:20: 'a' is not a field before this one" },
	{ "struct { string n; uint8_t a[n]; }", CORRUPT, "22:30: 'n' is not a number" },
	{ "struct { integer { size = 8; signed = 1; } n; uint8_t a[n]; }", CORRUPT,
	  "22:57: 'n' is a signed length" },
	{ "struct { uint8_t t; variant <t> { uint8_t a; } v; }", CORRUPT, "22:30: 't' is not an enumeration" },
	{ "struct { variant v { uint8_t a; }; variant v w; }", CORRUPT, NULL },
	{ "struct { enum : uint8_t { b } t; variant <t> { uint8_t a; } v; }", UNSUPPORTED,
	  "22:43: option 'a' of a variant is never selected by its tag" },
	{ "struct { enum : uint8_t { a, _a } t; variant <t> { uint8_t a; } v; }", UNSUPPORTED,
	  "22:47: the options of a variant differ from its tag's labels by a leading '_'" },
	{ "struct { uint8_t a[trace.packet.header.magic]; }", UNSUPPORTED,
	  "22:20: 'magic' is in the packet's header or context, which a field of an event cannot use here" },
	{ "struct { uint8_t a[stream_id]; }", UNSUPPORTED,
	  "22:20: 'stream_id' is in the packet's header or context, which a field of an event cannot use here" },
	{ "struct { uint8_t a[stream.event.context.c]; }", UNSUPPORTED,
	  "22:20: 'c' is in the header or context of another declaration" },
	{ "struct { uint8_t a[env.x]; }", UNSUPPORTED, "22:20: 'x' is not a field before this one" },
	{ "struct { uint8_t a[a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q]; }", UNSUPPORTED,
	  "22:20: a path of so many parts" },
};

static void check_refusal(const char *text, const char *message, int code, const char *want,
			  int want_code)
{
	if (code != want_code || (want && strcmp(message, want)))
		g_test_fail_printf("%s: %s (%d), not %s (%d)", text, message, code,
				   want ? want : "anything", want_code);
}

static void test_refusals(void)
{
	for (gsize i = 0; i < G_N_ELEMENTS(refusals); i++) {
		g_autofree char *text = g_strconcat("/* CTF 1.8 */\n", refusals[i].text, NULL);
		gint code;
		g_autofree char *message = parse_error(text, &code);
		check_refusal(refusals[i].text, message, code, refusals[i].error, refusals[i].code);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(bad_fields); i++) {
		g_autofree char *text = g_strconcat(
			BEGIN("le") "stream { id = 0; event.context := struct { uint8_t c; }; };\n"
			"\n\n\nevent { name = e;\nid = 0; stream_id = 0; fields :=\n",
			bad_fields[i].fields, "; };", NULL);
		gint code;
		g_autofree char *message = parse_error(text, &code);
		check_refusal(bad_fields[i].fields, message, code, bad_fields[i].error,
			      bad_fields[i].code);
	}
}

static void test_classes_twice(void)
{
	gint code;
	g_autofree char *event = parse_error(BEGIN("le") "stream { id = 0; };"
					     EVENT("struct { }") EVENT("struct { string a; }"), &code);
	g_assert_cmpstr(event, ==, "17:1: another event of id 0");
	g_assert_cmpint(code, ==, CORRUPT);
	g_autofree char *stream = parse_error(BEGIN("le") "stream { id = 0; };\nstream { id = 0; };", &code);
	g_assert_cmpstr(stream, ==, "17:1: a second stream of id 0");
	g_autofree char *size = parse_error(BEGIN("le") "stream { id = 0; packet.context := struct {"
					    " string content_size; }; };", &code);
	g_assert_nonnull(strstr(size, "field 'content_size' does not have the type"));
	g_assert_cmpint(code, ==, UNSUPPORTED);
	g_autofree char *trace = parse_error(BEGIN("le") "trace { };", &code);
	g_assert_cmpstr(trace, ==, "16:1: a second trace block");
	g_autofree char *early = parse_error(BEGIN("le") EVENT("struct { }"), &code);
	g_assert_cmpstr(early, ==, "16:1: an event of stream 0, which is not declared");
	/* Before its stream is where user-space tracing puts it, sometimes. */
	g_autoptr(blk_ctf_meta) before = parse(BEGIN("le") EVENT("struct { }") "stream { id = 0; };");
	g_assert_cmpuint(ctf_meta_stream(before, 0)->events->len, ==, 1);
	g_autoptr(blk_ctf_meta) both = parse(BEGIN("le") EVENT("struct { }") "stream { id = 0; };"
					     EVENT("struct { }"));
	g_assert_cmpuint(ctf_meta_stream(both, 0)->events->len, ==, 1);
	/* Said twice in the same words it is one. */
	g_autoptr(blk_ctf_meta) m = parse(BEGIN("le") "stream { id = 0; };" EVENT("struct { }")
					  EVENT("struct { }"));
	g_assert_cmpuint(ctf_meta_stream(m, 0)->events->len, ==, 1);
}

static void test_no_metadata(void)
{
	static const struct { const char *text; int code; const char *says; } cases[] = {
		{ "trace {", CORRUPT, "1:8: " }, { "u", UNSUPPORTED, "1:1: " },
		{ "{\"type\": \"preamble\"}", CORRUPT, "1:1: " },
		{ "\x1e{}", CORRUPT, "fragment 1: " },
		{ "/* CTF 2.0 */", UNSUPPORTED, "1:1: " }, { "/* CTF 1.9 */", UNSUPPORTED, "1:1: " },
		{ "/* CTF 1.8", CORRUPT, "1:1: " }, { "\x80 no text", CORRUPT, "1:1: " },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		gint code;
		g_autofree char *message = parse_error(cases[i].text, &code);
		g_assert_true(g_str_has_prefix(message, cases[i].says));
		g_assert_cmpint(code, ==, cases[i].code);
	}
}

/* LTTng 2.14.0's kernel metadata is plain text without the comment that says what it is. */
static void test_no_comment(void)
{
	const char *text = BEGIN("le") EVENT("struct { }") "stream { id = 0; };";
	g_assert_true(g_str_has_prefix(text, "/* CTF 1.8 */"));
	g_autoptr(blk_ctf_meta) m = parse(text + strlen("/* CTF 1.8 */"));
	g_assert_cmpuint(ctf_meta_stream(m, 0)->events->len, ==, 1);
}

static void append_repeated(GString *s, const char *what, guint n)
{
	for (guint i = 0; i < n; i++)
		g_string_append(s, what);
}

static void refuse_unsupported(GString *text, const char *why)
{
	gint code;
	g_autofree char *message = parse_error(text->str, &code);
	g_assert_nonnull(strstr(message, why));
	g_assert_cmpint(code, ==, UNSUPPORTED);
	g_string_free(text, TRUE);
}

/* What would take all memory, stack or time is refused. */
static void test_bounds(void)
{
	GString *events = g_string_new(BEGIN("le") "stream { id = 0; };\n");
	for (guint i = 0; i <= 100000; i++)
		g_string_append_printf(events, "event { id = %u; name = e; stream_id = 0; };\n", i);
	refuse_unsupported(events, "more than 100000 events");
	GString *deep = g_string_new("/* CTF 1.8 */ ");
	append_repeated(deep, "struct { ", 100000);
	refuse_unsupported(deep, "nested more than 32 deep");
	GString *array = g_string_new("/* CTF 1.8 */ typealias string := s; struct x { s a");
	append_repeated(array, "[1]", 1000);
	refuse_unsupported(array, "nested more than 32 deep");
	GString *chain = g_string_new("/* CTF 1.8 */ struct a0 { string s; };\n");
	for (guint i = 1; i < 40; i++)
		g_string_append_printf(chain, "struct a%u { struct a%u x; };\n", i, i - 1);
	refuse_unsupported(chain, "nested more than 32 deep");
	GString *doubling = g_string_new("/* CTF 1.8 */ struct a0 { string s; };\n");
	for (guint i = 1; i < 30; i++)
		g_string_append_printf(doubling, "struct a%u { struct a%u x, y; };\n", i, i - 1);
	refuse_unsupported(doubling, "made of more than");
	GString *wide = g_string_new("/* CTF 1.8 */ struct a { string s");
	for (guint i = 1; i < 10000; i++)
		g_string_append_printf(wide, ", s%u", i);
	g_string_append(wide, "; };");
	refuse_unsupported(wide, "made of more than");
	GString *far = g_string_new(BEGIN("le") STREAM_PLAIN);
	for (guint i = 0; i < 200; i++) {
		g_string_append_printf(far, "event { name = e; id = %u; stream_id = 0; fields :="
				       " struct { uint8_t n;", i);
		for (guint j = 0; j < 1000; j++)
			g_string_append_printf(far, "uint8_t a%u[n];", j);
		g_string_append(far, "}; };\n");
	}
	refuse_unsupported(far, "too many searches for fields");
}

static void test_many(void)
{
	GString *text = g_string_new(BEGIN("le") CLOCK HEADER STREAM);
	for (guint i = 0; i < 100000; i++) {
		g_string_append_printf(text, "typealias string := s%u;\n", i);
		g_string_append_printf(text, "event { name = e%u; id = %u; stream_id = 0; fields := struct"
				       " { s%u a; uint8_t n; uint8_t b[n]; }; };\n", i, i * 8, i);
	}
	gint64 begin = g_get_monotonic_time();
	g_autoptr(blk_ctf_meta) m = parse(text->str);
	g_test_message("100000 declarations: %.1f ms", (double)(g_get_monotonic_time() - begin) / 1000);
	g_assert_cmpuint(ctf_meta_stream(m, 0)->events->len, ==, 100000);
	g_assert_cmpstr(ctf_stream_event(ctf_meta_stream(m, 0), 8 * 99999)->name, ==, "e99999");
	g_string_free(text, TRUE);
}

/* ---- packets and pieces ---- */

#define WHOLE \
	BEGIN("be") \
	"env { hostname = \"h; }\"; tracer_major = 2; };\n" CLOCK HEADER STREAM \
	"typedef uint32_t pair[2];\n" \
	EVENT("struct { pair p; uint8_t n; string s[n]; }") \
	"/* ; */ stream { id = 1; event.header := struct event_header_compact; };\n" \
	"event { name = \"f;\"; id = 0; stream_id = 1; fields := struct { pair _p; }; };\n" \
	"callsite { a = 1; };\n" \
	"event { name = g; id = 9; stream_id = 0; };\n"

static void test_packets(void)
{
	g_autoptr(blk_ctf_meta) plain = parse(WHOLE);
	g_autofree char *want = ctf_dump(plain);
	g_assert_false(plain->packetised);
	for (int big = 0; big < 2; big++)
		for (gsize room = 1; room < 5000; room = room * 3 + 1) {
			g_autoptr(GByteArray) bytes = ctf_packetise(WHOLE, big, room);
			g_autoptr(GError) error = NULL;
			g_autoptr(blk_ctf_meta) m = ctf_meta_new();
			ctf_meta_append(m, bytes->data, bytes->len, &error);
			g_assert_no_error(error);
			g_assert_true(m->packetised);
			g_autofree char *got = ctf_dump(m);
			g_assert_cmpstr(got, ==, want);
		}
}

static char *packet_error(const GByteArray *bytes, gsize n)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	return ctf_meta_append(m, bytes->data, n, &error) ? NULL : g_strdup(error->message);
}

static void test_broken_packets(void)
{
	static const struct { guint at; guint8 value; const char *error; } damage[] = {
		{ 0, 0, "no magic number" }, { 5, 0, "belongs to another trace" },
		{ 24, 1, "impossible sizes" }, { 28, 1, "impossible sizes" },
		{ 27, 200, "impossible sizes" }, { 31, 200, "cut off" },
		{ 32, 1, "compressed, encrypted or with a checksum" },
		{ 33, 1, "compressed, encrypted or with a checksum" },
		{ 34, 1, "compressed, encrypted or with a checksum" },
		{ 35, 2, "a version of CTF that is not 1.8" },
		{ 36, 9, "a version of CTF that is not 1.8" },
	};
	g_autoptr(GByteArray) bytes = ctf_packetise(WHOLE, false, 100);
	for (gsize i = 0; i < G_N_ELEMENTS(damage); i++) {
		guint at = 142 + damage[i].at;
		guint8 was = bytes->data[at];
		bytes->data[at] = damage[i].value;
		g_autofree char *error = packet_error(bytes, bytes->len);
		g_autofree char *want = g_strdup_printf("metadata packet at byte 142: %s", damage[i].error);
		g_assert_cmpstr(error, ==, want);
		bytes->data[at] = was;
	}
	for (gsize n = 1; n < bytes->len; n++) {
		g_autofree char *error = packet_error(bytes, n);
		g_assert_nonnull(error);
	}
}

/* Pieces, whole declarations each, give what the whole gives. */
static void append_pieces(const char *text, const gsize *ends, gsize n_ends, bool packets,
			  const char *want)
{
	g_autoptr(blk_ctf_meta) m = ctf_meta_new();
	gsize from = 0, all = strlen(text);
	for (gsize i = 0; i <= n_ends; i++) {
		g_autoptr(GError) error = NULL;
		gsize to = i < n_ends ? ends[i] : all;
		g_autofree char *piece = g_strndup(text + from, to - from);
		g_autoptr(GByteArray) bytes = ctf_packetise(piece, true, 64);
		ctf_meta_append(m, packets ? (void *)bytes->data : piece, packets ? bytes->len : to - from,
				&error);
		g_assert_no_error(error);
		from = to;
	}
	g_autofree char *got = ctf_dump(m);
	g_assert_cmpstr(got, ==, want);
}

static void test_pieces(void)
{
	g_autoptr(blk_ctf_meta) m = parse(WHOLE);
	g_autofree char *want = ctf_dump(m);
	g_autoptr(GArray) ends = ctf_boundaries(WHOLE);
	const gsize *end = (const gsize *)(void *)ends->data;
	g_assert_cmpuint(ends->len, ==, 20);
	for (int packets = 0; packets < 2; packets++) {
		append_pieces(WHOLE, end, ends->len, packets, want);
		for (guint i = 0; i < ends->len; i++)
			append_pieces(WHOLE, end + i, 1, packets, want);
	}
}

/* What was handed out stays where it is, as it is. */
static void test_growing(void)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(blk_ctf_meta) m = parse(BEGIN("le") CLOCK HEADER STREAM EVENT("struct { uint8_t a; }"));
	const struct ctf_stream_class *sc = ctf_meta_stream(m, 0);
	const struct ctf_event_class *e = ctf_stream_event(sc, 0);
	const struct ctf_type *fields = e->fields;
	g_assert_cmpuint(sc->n_regs, ==, 2);
	for (guint i = 1; i < 500; i++) {
		g_autofree char *text = g_strdup_printf(
			"event { name = e; id = %u; stream_id = 0; fields := struct { uint8_t n;"
			" uint8_t a[n]; }; };", i);
		ctf_meta_append(m, text, strlen(text), &error);
		g_assert_no_error(error);
	}
	g_assert_true(ctf_meta_stream(m, 0) == sc && ctf_stream_event(sc, 0) == e && e->fields == fields);
	g_assert_cmpuint(sc->events->len, ==, 500);
	g_assert_cmpuint(sc->n_regs, ==, 3);
	g_assert_false(ctf_meta_append(m, "\n\n event { x", 12, &error));
	g_assert_cmpstr(error->message, ==, "35:11: expected '=', not the end");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/ctf-meta/types", test_types);
	g_test_add_func("/ctf-meta/byte-order", test_byte_order);
	g_test_add_func("/ctf-meta/streams", test_streams);
	g_test_add_func("/ctf-meta/blocks", test_blocks);
	g_test_add_func("/ctf-meta/no-ids", test_no_ids);
	g_test_add_func("/ctf-meta/no-clock", test_no_clock);
	g_test_add_func("/ctf-meta/clock-again", test_clock_again);
	g_test_add_func("/ctf-meta/unknown-attributes", test_unknown_attributes);
	g_test_add_func("/ctf-meta/fixed", test_fixed);
	g_test_add_func("/ctf-meta/refusals", test_refusals);
	g_test_add_func("/ctf-meta/classes-twice", test_classes_twice);
	g_test_add_func("/ctf-meta/no-metadata", test_no_metadata);
	g_test_add_func("/ctf-meta/no-comment", test_no_comment);
	g_test_add_func("/ctf-meta/bounds", test_bounds);
	g_test_add_func("/ctf-meta/many", test_many);
	g_test_add_func("/ctf-meta/packets", test_packets);
	g_test_add_func("/ctf-meta/broken-packets", test_broken_packets);
	g_test_add_func("/ctf-meta/pieces", test_pieces);
	g_test_add_func("/ctf-meta/growing", test_growing);
	return g_test_run();
}
