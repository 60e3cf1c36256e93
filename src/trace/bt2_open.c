/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening with babeltrace2: directories are checked first, so that what is wrong
 * is said plainly; then grouped into traces by uuid, as one src.ctf.fs component
 * reads one trace, be it in one piece or in rotation chunks.
 */
#include <errno.h>
#include <sys/stat.h>

#include "trace/bt2_clock.h"
#include "trace/bt2_open.h"

#define METADATA_MAGIC 0x75d11d57u
#define LOG_NONE BT_LOGGING_LEVEL_NONE

static bool check_stream_files(const char *dir, unsigned header_bytes, struct bt2_sizes *z,
			       GError **error)
{
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	if (!d) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_ACCESS,
			    "cannot list '%s': %s", dir, g_strerror(errno));
		return false;
	}
	for (const char *name; (name = g_dir_read_name(d));) {
		g_autofree char *file = g_build_filename(dir, name, NULL);
		struct stat st;
		if (name[0] == '.' || !strcmp(name, "metadata") || stat(file, &st) ||
		    !S_ISREG(st.st_mode))
			continue;
		bool indexed = bt2_add_index(z, dir, name);
		z->total += st.st_size;
		if (!bt2_check_packets(file, st.st_size, header_bytes, indexed ? NULL : z, error))
			return false;
	}
	return true;
}

/* The uuid in the trace block of metadata that is plain text; "" if none. */
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

/* What is wrong with packetised metadata; NULL: nothing. babeltrace2 2.0 would
 * read for ever where a packet is cut off. */
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
	if (bytes[0] == 0x1e || bytes[0] == '{' || bytes[0] == '[')
		return "CTF 2 is not supported (CTF 1.8 is)";
	if (n < 9 || memcmp(bytes, "/* CTF 1.", 9))
		return "it is no CTF metadata";
	return NULL;
}

static bool check_metadata(const char *file, char **uuid, unsigned *header_bytes, GError **error)
{
	g_autofree char *bytes = NULL;
	g_autoptr(GError) reason = NULL;
	gsize n;
	if (!g_file_get_contents(file, &bytes, &n, &reason)) {
		bool denied = g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
			      g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_PERM);
		g_set_error(error, BLK_TRACE_ERROR,
			    denied ? BLK_TRACE_ERROR_ACCESS : BLK_TRACE_ERROR_NOT_FOUND,
			    "cannot read '%s': %s", file, denied ? "permission denied"
								 : reason->message);
		return false;
	}
	const char *fault = metadata_fault(bytes, n);
	if (fault) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
			    "cannot read metadata '%s': %s", file, fault);
		return false;
	}
	char packed[BT2_UUID_TEXT];
	bt2_uuid_text((const uint8_t *)bytes + offsetof(struct metadata_header, uuid), packed);
	*header_bytes = bt2_packet_header_bytes(bytes, n);
	*uuid = bytes[0] == '/' ? text_uuid(bytes) : g_strdup(packed);
	return true;
}

bool bt2_check_dir(const char *dir, struct bt2_sizes *z, char **uuid, GError **error)
{
	g_autofree char *metadata = g_build_filename(dir, "metadata", NULL);
	g_autofree char *found = NULL;
	unsigned header_bytes;
	if (!check_metadata(metadata, &found, &header_bytes, error) ||
	    !check_stream_files(dir, header_bytes, z, error))
		return false;
	*uuid = g_steal_pointer(&found);
	return true;
}

static const bt_component_source *add_source(bt_graph *graph, const bt_component_class_source *cls,
					     char **dirs, size_t n)
{
	static gint number;		/* component names have to differ */
	g_autofree char *name = g_strdup_printf("trace-%d", g_atomic_int_add(&number, 1));
	const bt_component_source *source = NULL;
	bt_value *params = bt_value_map_create();
	bt_value *inputs = bt_value_array_create();
	for (size_t i = 0; i < n; i++)
		bt_value_array_append_string_element(inputs, dirs[i]);
	bt_value_map_insert_entry(params, "inputs", inputs);
	if (bt_graph_add_source_component(graph, cls, name, params, LOG_NONE, &source) !=
	    BT_GRAPH_ADD_COMPONENT_STATUS_OK)
		source = NULL;
	bt_value_put_ref(inputs);
	bt_value_put_ref(params);
	return source;
}

/* The directories of one trace together, or, if they refuse that, one by one. */
static bool add_group(bt_graph *graph, const bt_component_class_source *cls, GPtrArray *group,
		      GPtrArray *ret, GError **error)
{
	const bt_component_source *all = add_source(graph, cls, (char **)group->pdata, group->len);
	if (all) {
		g_ptr_array_add(ret, (void *)all);
		return true;
	}
	for (guint i = 0; i < group->len; i++) {
		g_autofree char *what = g_strdup_printf("cannot read trace '%s'",
							(char *)group->pdata[i]);
		const bt_component_source *one = NULL;
		if (group->len > 1) {
			bt_current_thread_clear_error();
			one = add_source(graph, cls, (char **)&group->pdata[i], 1);
		}
		if (!one) {
			bt2_set_error(error, BLK_TRACE_ERROR_CORRUPT, what);
			return false;
		}
		g_ptr_array_add(ret, (void *)one);
	}
	return true;
}

GPtrArray *bt2_add_sources(bt_graph *graph, const bt_component_class_source *cls, GPtrArray *dirs,
			   GPtrArray *uuids, GError **error)
{
	g_autoptr(GPtrArray) sources = g_ptr_array_new();
	g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
	for (guint i = 0; i < dirs->len; i++) {
		g_autoptr(GPtrArray) group = g_ptr_array_new();
		char *uuid = uuids->pdata[i];
		if (uuid[0] && !g_hash_table_add(done, uuid))
			continue;
		g_ptr_array_add(group, dirs->pdata[i]);
		for (guint j = i + 1; uuid[0] && j < dirs->len; j++)
			if (!strcmp(uuids->pdata[j], uuid))
				g_ptr_array_add(group, dirs->pdata[j]);
		if (!add_group(graph, cls, group, sources, error))
			return NULL;
	}
	return g_steal_pointer(&sources);
}
