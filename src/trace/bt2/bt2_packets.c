/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks packet headers of LTTng's stream files before babeltrace2 reads them: it aborts the process on impossible
 * sizes, and its message for a file that was cut off is unclear. Other tracers have other headers; these are not
 * checked.
 */
#include <unistd.h>

#include "base/disk.h"
#include "base/fail.h"
#include "base/fd.h"
#include "base/files.h"
#include "trace/bt2/bt2_open.h"
#include "trace/ctf/ctf_index.h"

#define HEADER_BYTES 512		/* holds LTTng's packet header, and the header of the first event */

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

static bool corrupt(GError **error, const char *file, uint64_t at, const char *fault)
{
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
		    "cannot read stream file '%s': the packet at byte %" G_GUINT64_FORMAT ": %s", file,
		    at, fault);
}

static bool walk_packets(const struct ctf_meta *meta, int fd, const char *file, uint64_t size,
			 struct bt2_sizes *add, GError **error)
{
	uint8_t bytes[HEADER_BYTES];
	struct ctf_packet p;
	for (uint64_t at = 0; at < size; at += p.packet_bits / 8) {
		g_autoptr(GError) why = NULL;
		size_t n = MIN(sizeof bytes, size - at), need;
		if (!disk_read_at(fd, bytes, n, at))
			return corrupt(error, file, at, "it cannot be read");
		if (!ctf_packet_read(meta, bytes, n, at, size, &p, &need, &why))
			return corrupt(error, file, at, why ? why->message : "its header is too long");
		if (p.fault != CTF_WHOLE)
			return corrupt(error, file, at, p.fault == CTF_CUT_OFF ? "it is cut off" :
				       "it was never finished (was the tracer killed?)");
		add_packet(add, p.stream_id, p.begin, p.packet_bits / 8);
	}
	return true;
}

bool bt2_check_packets(const char *file, uint64_t size, const struct ctf_meta *meta, struct bt2_sizes *add,
		       GError **error)
{
	g_autoptr(GError) why = NULL;
	auto_fd fd = files_open_input(file, &why);
	if (fd < 0) {
		bool denied = g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
			      g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_PERM);
		return fail(error, BLK_TRACE_ERROR, denied ? BLK_TRACE_ERROR_ACCESS :
				    BLK_TRACE_ERROR_NOT_FOUND, "%s", why->message);
	}
	return !meta || walk_packets(meta, fd, file, size, add, error);
}
