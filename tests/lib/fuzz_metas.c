/* SPDX-License-Identifier: GPL-2.0-only */
#include <stdlib.h>
#include <string.h>

#include "lib/fuzz_metas.h"
#include "trace/reader.h"

#define TYPES(order, align32, align64) \
	"/* CTF 1.8 */\n" \
	"typealias integer { size = 8; align = 8; } := u8;\n" \
	"typealias integer { size = 32; align = " align32 "; } := u32;\n" \
	"typealias integer { size = 64; align = " align64 "; } := u64;\n" \
	"trace { major = 1; minor = 8; byte_order = " order ";"

static const char *const made_up[] = {
	/* as LTTng 2.13 on x86 */
	TYPES("le", "8", "8")
	" packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; u64 stream_instance_id; }; };\n"
	"struct pc { u64 timestamp_begin; u64 timestamp_end; u64 content_size; u64 packet_size;\n"
	" u64 packet_seq_num; u64 events_discarded; u32 cpu_id; };\n"
	"stream { id = 0; packet.context := struct pc; };\n"
	"stream { id = 1; packet.context := struct pc; };\n",
	/* as an old one on ARM, with a uuid */
	TYPES("be", "32", "64")
	" uuid = \"01010101-0101-0101-0101-010101010101\";\n"
	" packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; }; };\n"
	"stream { id = 0; packet.context := struct { u64 timestamp_begin; u64 timestamp_end;\n"
	" u64 content_size; u64 packet_size; u32 events_discarded; u32 cpu_id; }; };\n",
	/* odd: narrow sizes, not at whole bytes, arrays, an enumeration */
	TYPES("le", "8", "8")
	" packet.header := struct { integer { size = 32; byte_order = be; } magic; u8 extra[3]; }; };\n"
	"stream { id = 9; packet.context := struct { integer { size = 3; } flags;\n"
	" integer { size = 17; align = 1; } packet_size; integer { size = 15; } content_size;\n"
	" u64 a[2][2]; u64 timestamp_end; enum : u8 { a } cpu_id; } align(64); };\n",
	/* next to nothing */
	TYPES("be", "8", "8") " packet.header := struct { u32 magic; }; };\n"
	"stream { id = 0; };\n",
};

/* CTF 2: a field class of so many bits, with a role. */
#define UINT(order, bits, role) "{\"type\":\"fixed-length-unsigned-integer\",\"byte-order\":\"" order \
	"-endian\",\"length\":" bits ",\"roles\":[\"" role "\"]}"
#define LEB(role) "{\"type\":\"variable-length-unsigned-integer\",\"roles\":[\"" role "\"]}"
#define MEMBER(name, class) "{\"name\":\"" name "\",\"field-class\":" class "}"
#define STRUCT(members) "{\"type\":\"structure\",\"member-classes\":[" members "]}"
#define BEGIN2(header) "\x1e{\"type\":\"preamble\",\"version\":2}" \
	"\x1e{\"type\":\"trace-class\",\"packet-header-field-class\":" header "}" \
	"\x1e{\"type\":\"clock-class\",\"id\":\"c\",\"frequency\":1000000000}"
#define STREAM2(id, context) "\x1e{\"type\":\"data-stream-class\",\"id\":" id \
	",\"default-clock-class-id\":\"c\",\"packet-context-field-class\":" context "}"
#define MAGIC(order) MEMBER("m", UINT(order, "32", "packet-magic-number"))

static const char *const made_up2[] = {
	/* names mean nothing, roles do */
	BEGIN2(STRUCT(MAGIC("little") "," MEMBER("timestamp_begin", UINT("little", "8", "data-stream-class-id"))
		      "," MEMBER("cpu_id", UINT("little", "64", "data-stream-id"))))
	STREAM2("0", STRUCT(MEMBER("packet_size", UINT("little", "64", "default-clock-timestamp")) ","
			    MEMBER("content_size", UINT("little", "64", "packet-end-default-clock-timestamp")) ","
			    MEMBER("timestamp_end", UINT("little", "32", "packet-content-length")) ","
			    MEMBER("packet_seq_num", UINT("little", "32", "packet-total-length")) ","
			    MEMBER("a", UINT("little", "24", "packet-sequence-number")) ","
			    MEMBER("b", UINT("little", "16", "discarded-event-record-counter-snapshot")))),
	/* LEB128, odd bits, the other order of bits */
	BEGIN2(STRUCT(MAGIC("big") "," MEMBER("i", LEB("data-stream-id"))))
	STREAM2("0", STRUCT(MEMBER("n", LEB("packet-sequence-number")) ","
			    MEMBER("s", "{\"type\":\"fixed-length-unsigned-integer\","
				   "\"byte-order\":\"big-endian\",\"length\":13,"
				   "\"bit-order\":\"first-to-last\","
				   "\"roles\":[\"packet-total-length\"]}") ","
			    MEMBER("cpu_id", "{\"type\":\"fixed-length-unsigned-integer\","
				   "\"byte-order\":\"big-endian\",\"length\":3}") ","
			    MEMBER("b", LEB("default-clock-timestamp")))),
	/* what is optional; no sizes */
	BEGIN2(STRUCT(MEMBER("i", UINT("little", "3", "data-stream-id"))))
	STREAM2("0", STRUCT(MEMBER("f", "{\"type\":\"fixed-length-boolean\","
				   "\"byte-order\":\"little-endian\",\"length\":5}") ","
			    MEMBER("e", "{\"type\":\"optional\","
				   "\"selector-field-location\":{\"path\":[\"f\"]},"
				   "\"field-class\":" UINT("little", "40", "packet-sequence-number") "}"))),
};

static const char *const recorded[] = {
	"kernel-small/trace/kernel", "kernel-ust/trace/ust/uid/0/64-bit",
	"ust-fields/trace/uid/ust/uid/47113/64-bit", "ctf2/lost/trace/kernel",
	"ctf2/ust-both/ctf-2/ust/uid/0/64-bit",
};

static struct ctf_meta *metas[FUZZ_MADE_UP + G_N_ELEMENTS(recorded)];
static unsigned n_metas;

static void add(const char *bytes, gsize n)
{
	g_autoptr(GError) error = NULL;
	struct ctf_meta *m = metas[n_metas++] = ctf_meta_new();
	if (!ctf_meta_append(m, bytes, n, &error))
		g_error("metadata %u: %s", n_metas - 1, error->message);
}

/* What they hold is found from memory pools, which leak checkers do not look into. */
static void free_all(void)
{
	while (n_metas)
		ctf_meta_free(metas[--n_metas]);
}

static void add_all(void)
{
	atexit(free_all);
	G_STATIC_ASSERT(G_N_ELEMENTS(made_up) + G_N_ELEMENTS(made_up2) == FUZZ_MADE_UP);
	for (gsize i = 0; i < G_N_ELEMENTS(made_up); i++)
		add(made_up[i], strlen(made_up[i]));
	for (gsize i = 0; i < G_N_ELEMENTS(made_up2); i++)
		add(made_up2[i], strlen(made_up2[i]));
	g_autofree char *here = g_path_get_dirname(__FILE__);
	for (gsize i = 0; i < G_N_ELEMENTS(recorded); i++) {
		g_autofree char *file = g_build_filename(here, "..", "traces", recorded[i],
							 "metadata", NULL);
		g_autofree char *bytes = NULL;
		gsize n;
		if (g_file_get_contents(file, &bytes, &n, NULL))
			add(bytes, n);
	}
}

const struct ctf_meta *fuzz_meta(unsigned number)
{
	if (!n_metas)
		add_all();
	return metas[number % n_metas];
}

void fuzz_check_error(const GError *error)
{
	g_assert_nonnull(error);
	g_assert_cmpuint(error->domain, ==, BLK_TRACE_ERROR);
	g_assert_true(error->code == BLK_TRACE_ERROR_CORRUPT ||
		      error->code == BLK_TRACE_ERROR_UNSUPPORTED);
	g_assert_true(*error->message);
	for (const char *s = error->message; *s; s++)
		g_assert_true(g_ascii_isprint(*s));
}
