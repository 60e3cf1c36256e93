/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace directories looked at, and babeltrace2's sources made of them (inside src/trace/). */
#ifndef BLK_TRACE_BT2_BT2_OPEN_H
#define BLK_TRACE_BT2_BT2_OPEN_H

#include <babeltrace2/babeltrace.h>

#include "trace/reader.h"

/* Packet sizes from index files or packet headers: what progress is counted in. */
struct bt2_sizes {
	GHashTable *packets;		/* of (stream class, begin) -> bytes */
	uint64_t indexed, total;	/* bytes: in packets above; of all stream files */
};
void bt2_sizes_init(struct bt2_sizes *z);
void bt2_sizes_clear(struct bt2_sizes *z);
/* Bytes of the packet; 0 when not known. */
uint64_t bt2_sizes_packet(const struct bt2_sizes *z, uint64_t stream_class, uint64_t begin);

/* The packets in the index of stream file `name`; false: it has none. */
bool bt2_add_index(struct bt2_sizes *z, const char *dir, const char *name);

/* Bytes of the packet header if the metadata is LTTng's, whose packets we know how
 * to check; else 0. */
unsigned bt2_packet_header_bytes(const char *metadata, size_t n);

/* Is the stream file readable, and its packets sound (header_bytes 0: not looked at)?
 * `add`: where to add the packets; NULL: nowhere, the file has an index. */
bool bt2_check_packets(const char *file, uint64_t size, unsigned header_bytes,
		       struct bt2_sizes *add, GError **error);

/* What a metadata file is. */
struct bt2_metadata {
	char *uuid;			/* of the trace; "": not known. The caller's to free */
	unsigned header_bytes;		/* as bt2_packet_header_bytes() */
	bool is_ctf2;
};
bool bt2_check_metadata(const char *file, struct bt2_metadata *ret, GError **error);

/* Checks one directory for what babeltrace2 would refuse with an obscure message or
 * none, adds its packets. */
bool bt2_check_dir(const char *dir, struct bt2_sizes *z, struct bt2_metadata *ret, GError **error);

/*
 * One src.ctf.fs component for each trace (directories of equal uuid are chunks of one) in
 * the graph; const bt_component_source *, borrowed. `apart` (strings, owned): uuids whose
 * directories are not taken together. NULL without an error: babeltrace2 refused one more
 * together, whose uuid is in `apart` now: to be called again with a new graph, as one that
 * has failed takes nothing more (it aborts).
 */
GPtrArray *bt2_add_sources(bt_graph *graph, const bt_component_class_source *cls, GPtrArray *dirs,
			   GPtrArray *uuids, GHashTable *apart, GError **error);

#endif
