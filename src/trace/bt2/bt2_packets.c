/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks packet headers of LTTng's stream files before babeltrace2 reads them: it aborts the process on impossible
 * sizes, and its message for a file that was cut off is unclear. Other tracers have other headers; these are not
 * checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/fail.h"
#include "base/files.h"
#include "trace/bt2/bt2_open.h"

#define PACKET_MAGIC 0xc1fc1fc1u
#define INDEX_MAGIC 0xc1f1dcc1u
#define MAX_CHECKED 8192	/* packets that are checked in a file that has an index */

void bt2_sizes_init(struct bt2_sizes *z)
{
	*z = (struct bt2_sizes){
		.packets = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL)
	};
}

void bt2_sizes_clear(struct bt2_sizes *z)
{
	g_clear_pointer(&z->packets, g_hash_table_unref);
}

static uint64_t packet_key(uint64_t stream_class, uint64_t begin)
{
	return begin ^ stream_class << 56;
}

uint64_t bt2_sizes_packet(const struct bt2_sizes *z, uint64_t stream_class, uint64_t begin)
{
	uint64_t key = packet_key(stream_class, begin);
	return GPOINTER_TO_SIZE(g_hash_table_lookup(z->packets, &key));
}

static void add_packet(struct bt2_sizes *z, uint64_t stream_class, uint64_t begin, uint64_t bytes)
{
	uint64_t key = packet_key(stream_class, begin);
	/* Packets that begin at the same time on several CPUs count once: this is only for the progress. */
	if (g_hash_table_replace(z->packets, g_memdup2(&key, sizeof key), GSIZE_TO_POINTER(bytes)))
		z->indexed += bytes;
}

bool bt2_add_index(struct bt2_sizes *z, const char *dir, const char *name)
{
	struct { uint32_t magic, major, minor, entry_bytes; } h;
	struct { uint64_t offset, packet_bits, content_bits, begin, end, discarded, class; } e;
	g_autofree char *file = g_strdup_printf("%s/index/%s.idx", dir, name);
	int fd = files_open_input(file, NULL);
	if (fd < 0)
		return false;
	bool ok = disk_read_at(fd, &h, sizeof h, 0) && GUINT32_FROM_BE(h.magic) == INDEX_MAGIC &&
		GUINT32_FROM_BE(h.entry_bytes) >= sizeof e;
	uint64_t step = ok ? GUINT32_FROM_BE(h.entry_bytes) : 0;
	for (uint64_t at = sizeof h; ok && disk_read_at(fd, &e, sizeof e, at); at += step)
		add_packet(z, GUINT64_FROM_BE(e.class), GUINT64_FROM_BE(e.begin),
			   GUINT64_FROM_BE(e.packet_bits) / 8);
	close(fd);
	return ok;
}

unsigned bt2_packet_header_bytes(const char *metadata, size_t n)
{
	static const char context[] = "_t timestamp_end;\n\tuint64_t content_size;\n"
				      "\tuint64_t packet_size;\n";
	static const char header[] = "\tpacket.header := struct {\n\t\tuint32_t magic;\n"
				     "\t\tuint8_t  uuid[16];\n\t\tuint32_t stream_id;\n";
	static const char instance[] = "\t\tuint64_t stream_instance_id;\n\t};";
	const char *p = memmem(metadata, n, header, sizeof header - 1);
	if (!p || !memmem(metadata, n, context, sizeof context - 1))
		return 0;
	p += sizeof header - 1;
	size_t rest = metadata + n - p;
	if (rest > sizeof instance && !memcmp(p, instance, sizeof instance - 1))
		return 32;
	return rest > 3 && !memcmp(p, "\t};", 3) ? 24 : 0;
}

/* What follows the header that bt2_packet_header_bytes() found, in the trace's byte order. */
struct bt2_packet {
	uint32_t stream_class;
	uint64_t begin, end, content_bits, packet_bits;
	bool good_magic;
};

static struct bt2_packet parse_packet(const uint8_t *bytes, unsigned header_bytes)
{
	struct bt2_packet p;
	uint32_t magic;
	uint64_t context[4];
	memcpy(&magic, bytes, 4);
	memcpy(&p.stream_class, bytes + 20, 4);
	memcpy(context, bytes + header_bytes, sizeof context);
	bool swapped = magic != PACKET_MAGIC;
	for (int i = 0; swapped && i < 4; i++)
		context[i] = GUINT64_SWAP_LE_BE(context[i]);
	p.good_magic = !swapped || magic == GUINT32_SWAP_LE_BE(PACKET_MAGIC);
	if (swapped)
		p.stream_class = GUINT32_SWAP_LE_BE(p.stream_class);
	p.begin = context[0];
	p.end = context[1];
	p.content_bits = context[2];
	p.packet_bits = context[3];
	return p;
}

static bool corrupt(GError **error, const char *file, uint64_t at, const char *fault)
{
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
		    "cannot read stream file '%s': the packet at byte %" G_GUINT64_FORMAT " %s", file,
		    at, fault);
}

static bool check_packet(const struct bt2_packet *p, const char *file, uint64_t at, uint64_t left,
			 GError **error)
{
	if (!p->good_magic)
		return corrupt(error, file, at, "does not begin with the magic number");
	if (!p->packet_bits || !p->content_bits)
		return corrupt(error, file, at, "was never finished (was the tracer killed?)");
	if (p->packet_bits > G_MAXINT64 || p->content_bits > p->packet_bits || p->packet_bits % 8)
		return corrupt(error, file, at, "has impossible sizes");
	if (p->packet_bits / 8 > left)
		return corrupt(error, file, at, "is cut off");
	return true;
}

static bool walk_packets(int fd, const char *file, uint64_t size, unsigned header_bytes,
			 struct bt2_sizes *add, GError **error)
{
	unsigned n = 0;
	for (uint64_t at = 0; at < size && (add || n < MAX_CHECKED); n++) {
		uint8_t bytes[32 + 4 * 8];
		ssize_t need = header_bytes + 4 * 8, got = pread(fd, bytes, need, at);
		if (got < 0)
			return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
				    "cannot read stream file '%s': %s", file, g_strerror(errno));
		if (got < need)
			return corrupt(error, file, at, "is cut off");
		struct bt2_packet p = parse_packet(bytes, header_bytes);
		if (!check_packet(&p, file, at, size - at, error))
			return false;
		if (add)
			add_packet(add, p.stream_class, p.begin, p.packet_bits / 8);
		at += p.packet_bits / 8;
	}
	return true;
}

bool bt2_check_packets(const char *file, uint64_t size, unsigned header_bytes,
		       struct bt2_sizes *add, GError **error)
{
	g_autoptr(GError) why = NULL;
	int fd = files_open_input(file, &why);
	if (fd < 0) {
		bool denied = g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
			      g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_PERM);
		return fail(error, BLK_TRACE_ERROR, denied ? BLK_TRACE_ERROR_ACCESS :
				    BLK_TRACE_ERROR_NOT_FOUND, "%s", why->message);
	}
	bool ok = !header_bytes || walk_packets(fd, file, size, header_bytes, add, error);
	close(fd);
	return ok;
}
