/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small trace made of a recording, as an input for fuzz-trace (lib/bundle.h):
 *
 *     make-seed DIR OUT SKIP PACKETS BYTES
 *
 * Of each stream file below DIR, PACKETS packets behind the first SKIP (of which it has not as many:
 * its last ones), each cut behind so many of its first events that all of it has at most BYTES bytes;
 * with index files, and with the metadata of the events that are in it. Packets are those of LTTng.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/bundle.h"
#include "lib/ctf_dump.h"
#include "lib/events_ctf.h"
#include "lib/lttng_packet.h"
#include "lib/parsed.h"
#include "trace/ctf/ctf_index_write.h"

#define METADATA_PACKET 4000	/* bytes of text in one packet of metadata */
#define PADDING 16		/* bytes behind the content of a packet */

struct seed {
	const char *dir;
	unsigned skip, packets, events;
	struct bundle *b;
};

/* Ids of event classes that are in it: "STREAM ID". */
static char *class_key(uint64_t stream, uint64_t id)
{
	return g_strdup_printf("%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT, stream, id);
}

static void add(struct seed *s, const char *path, const GByteArray *bytes)
{
	gsize skip = strlen(s->dir);
	const char *below = path + skip;
	while (*below == '/')
		below++;
	if (!bundle_add(s->b, below, bytes->data, bytes->len))
		g_error("%s: no place for it", path);
}

/* ---- streams ---- */

/* The packet as it is up to that bit. */
static void append_packet(GByteArray *out, GByteArray *index, const struct events_stream *st, uint64_t end)
{
	static const uint8_t padding[PADDING];
	guint at = out->len, n = (guint)((end + 7) / 8);
	g_byte_array_append(out, st->bytes, n);
	g_byte_array_append(out, padding, sizeof padding);
	uint64_t bits = (uint64_t)(n + PADDING) * 8;
	lttng_put(out->data + at, LTTNG_CONTENT, end);
	lttng_put(out->data + at, LTTNG_SIZE, bits);
	struct ctf_packet p = st->packet;
	size_t entry = ctf_index_entry_size(&p);
	uint8_t bytes[CTF_INDEX_MOST], header[CTF_INDEX_HEADER];
	p.offset = at;
	p.content_bits = end;
	p.packet_bits = bits;
	if (!index->len) {
		ctf_index_put_header(header, entry);
		g_byte_array_append(index, header, sizeof header);
	}
	ctf_index_put_entry(bytes, entry, &p);
	g_byte_array_append(index, bytes, (guint)entry);
}

static size_t n_packets(const struct ctf_index *x)
{
	size_t n;
	ctf_index_packets(x, &n);
	return n;
}

/* Of one file of the stream, which are read one after another. */
static void cut_file(struct seed *s, struct events_stream *st, guint file, GHashTable *classes)
{
	const struct ctf_index *x = g_ptr_array_index(st->files, file);
	size_t all = n_packets(x), first = MIN(s->skip, all - MIN(all, s->packets));
	g_autoptr(GByteArray) out = g_byte_array_new(), index = g_byte_array_new();
	uint64_t end = 0, offset = UINT64_MAX;
	unsigned n = 0, packets = 0;
	struct events_event e;
	st->file = file;
	st->packet_index = first;
	st->pos = st->end = 0;
	while (packets < s->packets && events_stream_next(st, &e, NULL) && st->file == file) {
		struct digest d = { 0 };
		if (!events_stream_digest(st, &e, &d))
			break;
		n = e.packet_offset == offset ? n + 1 : 1;
		offset = e.packet_offset;
		end = e.end;
		g_hash_table_add(classes, class_key(st->packet.stream_id, e.id));
		if (n < s->events && st->pos < st->end)
			continue;
		append_packet(out, index, st, end);
		packets++;
		st->pos = st->end;	/* on to the next packet */
	}
	const char *path = ctf_index_name(x);
	g_autofree char *dir = g_path_get_dirname(path), *name = g_path_get_basename(path);
	g_autofree char *idx = g_strconcat(dir, "/index/", name, ".idx", NULL);
	add(s, path, out);
	if (packets)
		add(s, idx, index);
}

/* ---- metadata ---- */

static bool is_packetised(const char *bytes)
{
	static const guint8 magic[] = { 0x57, 0x1d, 0xd1, 0x75 };
	return !memcmp(bytes, magic, sizeof magic);
}

static char *text_of(const char *bytes, gsize n)
{
	GString *text = g_string_new(NULL);
	guint32 content, size;
	if (!is_packetised(bytes))
		return g_strndup(bytes, n);
	for (gsize at = 0; at + 37 <= n; at += GUINT32_FROM_LE(size) / 8) {
		memcpy(&content, bytes + at + 24, sizeof content);
		memcpy(&size, bytes + at + 28, sizeof size);
		g_string_append_len(text, bytes + at + 37, GUINT32_FROM_LE(content) / 8 - 37);
	}
	return g_string_free(text, FALSE);
}

/* The first number behind this word. */
static uint64_t number_of(const char *text, const char *word)
{
	g_autofree char *pattern = g_strdup_printf("\\b%s\\s*=\\s*(\\d+)", word);
	g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	if (!g_regex_match(regex, text, 0, &match))
		return 0;
	g_autofree char *digits = g_match_info_fetch(match, 1);
	return g_ascii_strtoull(digits, NULL, 10);
}

static GByteArray *trim_tsdl(const char *bytes, gsize n, GHashTable *classes)
{
	g_autofree char *text = text_of(bytes, n);
	g_autoptr(GArray) ends = ctf_boundaries(text);
	g_autoptr(GString) out = g_string_new(NULL);
	gsize at = 0;
	for (guint i = 0; i < ends->len; i++) {
		gsize end = g_array_index(ends, gsize, i);
		g_autofree char *one = g_strndup(text + at, end - at);
		bool is_event = g_regex_match_simple("^\\s*event\\b", one, 0, 0);
		g_autofree char *key = class_key(number_of(one, "stream_id"), number_of(one, "\\bid"));
		if (!is_event || g_hash_table_contains(classes, key))
			g_string_append(out, one);
		at = end;
	}
	if (is_packetised(bytes))
		return ctf_packetise(out->str, false, METADATA_PACKET);
	GByteArray *plain = g_byte_array_new();
	return g_byte_array_append(plain, (const guint8 *)out->str, (guint)out->len);
}

static uint64_t id_of(struct json_value o, const char *member)
{
	return parsed_has(o, member) ? (uint64_t)parsed_int(o, member) : 0;
}

static GByteArray *trim_json(const char *bytes, gsize n, GHashTable *classes)
{
	g_autofree char *text = g_strndup(bytes, n);
	g_auto(GStrv) fragments = g_strsplit(text + 1, "\x1e", -1);
	GByteArray *out = g_byte_array_new();
	for (char **f = fragments; *f; f++) {
		struct json_value o = parsed(*f);
		if (!strcmp(parsed_text(o, "type"), "event-record-class")) {
			g_autofree char *key = class_key(id_of(o, "data-stream-class-id"), id_of(o, "id"));
			if (!g_hash_table_contains(classes, key))
				continue;
		}
		g_byte_array_append(out, (const guint8 *)"\x1e", 1);
		g_byte_array_append(out, (const guint8 *)*f, (guint)strlen(*f));
	}
	return out;
}

static void cut_trace(struct seed *s, const char *dir)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GHashTable) classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(blk_events_trace) t = events_trace_open(dir, &error);
	g_autofree char *path = g_build_filename(dir, "metadata", NULL);
	g_autofree char *bytes = NULL;
	gsize n;
	if (!t || !g_file_get_contents(path, &bytes, &n, &error))
		g_error("%s", error->message);
	for (guint i = 0; i < t->streams->len; i++) {
		struct events_stream *st = g_ptr_array_index(t->streams, i);
		for (guint file = 0; file < st->files->len; file++)
			cut_file(s, st, file, classes);
	}
	g_autoptr(GByteArray) metadata = *bytes == '\x1e' ? trim_json(bytes, n, classes) : trim_tsdl(bytes, n, classes);
	add(s, path, metadata);
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Of all traces below. */
static void cut_all(struct seed *s, const char *dir)
{
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL);
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	if (g_file_test(metadata, G_FILE_TEST_IS_REGULAR))
		cut_trace(s, dir);
	for (const char *name; d && (name = g_dir_read_name(d));)
		g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, compare_text);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *below = g_build_filename(dir, g_ptr_array_index(names, i), NULL);
		if (g_file_test(below, G_FILE_TEST_IS_DIR) && strcmp(g_ptr_array_index(names, i), "index"))
			cut_all(s, below);
	}
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	if (argc != 6) {
		fputs("make-seed DIR OUT SKIP PACKETS BYTES\n", stderr);
		return 2;
	}
	struct seed s = { argv[1], (unsigned)atoi(argv[3]), (unsigned)atoi(argv[4]), 256, NULL };
	g_autoptr(GByteArray) out = NULL;
	do {
		g_clear_pointer(&out, g_byte_array_unref);
		s.b = bundle_new();
		cut_all(&s, s.dir);
		out = bundle_serialise(s.b);
		bundle_free(s.b);
		s.events = s.events * 3 / 4;
	} while (out->len > (guint)atoi(argv[5]) && s.events);
	if (out->len > (guint)atoi(argv[5]) ||
	    !g_file_set_contents(argv[2], (const char *)out->data, out->len, &error))
		g_error("%s: %s", argv[2], error ? error->message : "it is too big");
	return 0;
}
