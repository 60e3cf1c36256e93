/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks metadata before babeltrace2 reads it: what babeltrace2 would read for ever, abort on, or refuse with an
 * obscure message. Also finds the trace's UUID.
 */
#include <stdlib.h>

#include "base/each.h"
#include "base/fail.h"
#include "base/files.h"
#include "base/limits.h"
#include "trace/bt2/bt2_mip.h"
#include "trace/bt2/bt2_open.h"
#include "trace/ctf/ctf_meta.h"

#define METADATA_MAGIC 0x75d11d57u
#define CTF2_SEPARATOR 0x1e	/* RS, the record separator before each fragment */

/* The uuid in the trace block of plain-text metadata; "": none. */
static char *text_uuid(const char *text)
{
	static const char pattern[] =
		"\\btrace\\s*\\{[^}]*?\\buuid\\s*=\\s*\"([-0-9a-fA-F]{36})\"";
	g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_DOTALL | G_REGEX_RAW, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	if (!g_regex_match(regex, text, 0, &match))
		return g_strdup("");
	char *uuid = g_match_info_fetch(match, 1);
	for (char *p = uuid; *p; p++)
		*p = g_ascii_tolower(*p);
	return uuid;
}

struct metadata_header {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t checksum, content_bits, packet_bits;
	uint8_t compression, encryption, checksum_scheme, major, minor;
} __attribute__((packed));
G_STATIC_ASSERT(sizeof(struct metadata_header) == 37);

/* What is wrong with packetised metadata; NULL: nothing. babeltrace2 2.0 would read for ever if a packet is cut
 * off. */
static const char *packets_fault(const char *bytes, size_t n)
{
	while (n) {
		struct metadata_header h;
		if (n < sizeof h)
			return "its last packet is cut off";
		memcpy(&h, bytes, sizeof h);
		bool swapped = h.magic != METADATA_MAGIC;
		uint64_t content = (swapped ? GUINT32_SWAP_LE_BE(h.content_bits) : h.content_bits) / 8;
		uint64_t size = (swapped ? GUINT32_SWAP_LE_BE(h.packet_bits) : h.packet_bits) / 8;
		if (swapped && h.magic != GUINT32_SWAP_LE_BE(METADATA_MAGIC))
			return "a packet does not begin with the magic number";
		if (h.compression || h.encryption || h.checksum_scheme)
			return "it is compressed or encrypted";
		if (content < sizeof h || size < content)
			return "a packet's sizes are wrong";
		if (content > n)
			return "its last packet is cut off";
		size = MIN(size, n);
		bytes += size;
		n -= size;
	}
	return NULL;
}

static const char *metadata_fault(const char *bytes, size_t n)
{
	uint32_t magic = 0;
	memcpy(&magic, bytes, MIN(n, sizeof magic));
	if (!n)
		return "it is empty (was the trace recorded to the end?)";
	if (magic == METADATA_MAGIC || magic == GUINT32_SWAP_LE_BE(METADATA_MAGIC))
		return packets_fault(bytes, n);
	if (bytes[0] == CTF2_SEPARATOR)
		return bt2_ctf2_fault();
	if (n < 9 || memcmp(bytes, "/* CTF 1.", 9))
		return "it is not CTF metadata";
	return NULL;
}

/* The 16 numbers of the preamble's uuid; "" if it has none. The preamble is the first
 * fragment. */
static char *ctf2_uuid(const char *text, gsize n)
{
	const char *end = memchr(text + 1, CTF2_SEPARATOR, n - 1);
	g_autofree char *preamble = g_strndup(text + 1, end ? (gsize)(end - text - 1) : n - 1);
	g_autoptr(GRegex) regex = g_regex_new("\"uuid\"\\s*:\\s*\\[((?:\\s*[0-9]{1,3}\\s*,?){16})\\]",
					      G_REGEX_RAW, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	uint8_t uuid[16];
	char found[BT2_UUID_TEXT];
	if (!g_regex_match(regex, preamble, 0, &match))
		return g_strdup("");
	g_autofree char *numbers = g_match_info_fetch(match, 1);
	char *at = numbers;
	for (int i = 0; i < 16; i++) {
		uuid[i] = (uint8_t)strtoul(at, &at, 10);
		at += strspn(at, " \t\r\n,");
	}
	bt2_uuid_text(uuid, found);
	return g_strdup(found);
}

/* The classes as the native reader parses them, for checks. NULL: it refuses the metadata. */
static struct ctf_meta *parse(const char *bytes, gsize n)
{
	g_autoptr(blk_ctf_meta) meta = ctf_meta_new();
	return ctf_meta_append(meta, bytes, n, NULL) ? g_steal_pointer(&meta) : NULL;
}

/* The structure's member with that role; NULL: none. Packet headers and contexts have no nested structures. */
static const struct ctf_type *find_role(const struct ctf_type *t, unsigned role)
{
	for (uint32_t i = 0; t && i < t->n_fields; i++)
		if (t->field[i].type->roles & role)
			return t->field[i].type;
	return NULL;
}

/* babeltrace2 2.1 aborts the process if packets of a stream with a clock have no beginning timestamp. */
static const char *classes_fault(const struct ctf_meta *meta)
{
	for (guint i = 0; BT2_HAS_MIP1 && meta->clocks->len && i < meta->streams->len; i++) {
		const struct ctf_stream_class *sc = meta->streams->pdata[i];
		if (!find_role(sc->packet_context, CTF_ROLE_TIMESTAMP))
			return "babeltrace2 2.1 cannot read streams whose packets have no timestamp";
	}
	return NULL;
}

static bool read_file(const char *file, char **bytes, gsize *n, GError **error)
{
	g_autoptr(GError) reason = NULL;
	if (files_read_input(file, LIMIT_METADATA_BYTES, bytes, n, &reason))
		return true;
	bool denied = g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
		      g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_PERM);
	return fail(error, BLK_TRACE_ERROR, denied ? BLK_TRACE_ERROR_ACCESS : BLK_TRACE_ERROR_NOT_FOUND, "%s",
		    reason->message);
}

bool bt2_check_metadata(const char *file, struct bt2_metadata *ret, GError **error)
{
	g_autofree char *bytes = NULL;
	gsize n;
	if (!read_file(file, &bytes, &n, error))
		return false;
	const char *fault = metadata_fault(bytes, n);
	g_autoptr(blk_ctf_meta) meta = fault ? NULL : parse(bytes, n);
	if (!fault && meta)
		fault = classes_fault(meta);
	if (fault)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
			    "cannot read metadata '%s': %s", file, fault);
	const char *tracer = meta ? ctf_meta_env(meta, "tracer_name") : NULL;
	if (tracer && g_str_has_prefix(tracer, "lttng-"))
		ret->meta = g_steal_pointer(&meta);
	ret->is_ctf2 = bytes[0] == CTF2_SEPARATOR;
	if (ret->is_ctf2 || bytes[0] == '/') {
		ret->uuid = ret->is_ctf2 ? ctf2_uuid(bytes, n) : text_uuid(bytes);
		return true;
	}
	char packed[BT2_UUID_TEXT];
	bt2_uuid_text((const uint8_t *)bytes + offsetof(struct metadata_header, uuid), packed);
	ret->uuid = g_strdup(packed);
	return true;
}
