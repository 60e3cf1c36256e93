/* SPDX-License-Identifier: GPL-2.0-only */
/* Checks trace directories and makes babeltrace2's source components of them (inside src/trace/). */
#ifndef BLK_TRACE_BT2_BT2_OPEN_H
#define BLK_TRACE_BT2_BT2_OPEN_H

#include <babeltrace2/babeltrace.h>

#include "trace/ctf/ctf_meta.h"
#include "trace/reader.h"

/* Packet sizes, from packet headers, for the progress. */
struct bt2_sizes {
	GHashTable *packets;		/* (stream class, begin) -> bytes */
	uint64_t indexed, total;	/* bytes of these packets; bytes of all stream files */
};
void bt2_sizes_init(struct bt2_sizes *z);
void bt2_sizes_clear(struct bt2_sizes *z);
/* Bytes of the packet; 0: unknown. */
uint64_t bt2_sizes_packet(const struct bt2_sizes *z, uint64_t stream_class, uint64_t begin);

/* Is the stream file readable, and are its packets sound (meta NULL: not checked)? `add` receives them. */
bool bt2_check_packets(const char *file, uint64_t size, const struct ctf_meta *meta, struct bt2_sizes *add,
		       GError **error);

/* Contents of a metadata file. */
struct bt2_metadata {
	char *uuid;			/* of the trace; "": unknown. Free with g_free */
	struct ctf_meta *meta;		/* owned; NULL: LTTng did not write it, so that packets are not checked */
	bool is_ctf2;
};
bool bt2_check_metadata(const char *file, struct bt2_metadata *ret, GError **error);

/* Checks a directory for what babeltrace2 would refuse with an obscure message or without one; adds its packets. */
bool bt2_check_dir(const char *dir, struct bt2_sizes *z, struct bt2_metadata *ret, GError **error);

/*
 * Adds one src.ctf.fs component to the graph for each trace (directories with equal UUIDs are chunks of one). Returns
 * const bt_component_source *, borrowed. Directories with a UUID in `apart` (owned strings) get one component each.
 * NULL without an error: babeltrace2 refused to join the directories of one more UUID, which was added to `apart`.
 * Then call it again with a new graph, as a failed graph aborts.
 */
GPtrArray *bt2_add_sources(bt_graph *graph, const bt_component_class_source *cls, GPtrArray *dirs,
			   GPtrArray *uuids, GHashTable *apart, GError **error);

#endif
