/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is written to tracefs' dynamic_events for probes of blktop's own, which record what an event only points to:
 * names of files, addresses of sockets, headers of packets, descriptors. The transcoder knows their fields by name
 * (trace/ring/ring_rules.h). Source: Documentation/trace/eprobetrace.rst, kprobetrace.rst.
 *
 * Made from the formats of events, which are hostile input in tests: a name that is no plain word makes no probe.
 */
#ifndef BLK_LIVE_TRACEFS_PROBE_TEXT_H
#define BLK_LIVE_TRACEFS_PROBE_TEXT_H

#include "live/tracefs/btf.h"
#include "trace/ring/ring_format.h"

/* Offsets of members of the kernel's structs. */
struct probe_offsets {
	bool has_packets;		/* members of sk_buff */
	uint32_t head, data, network_header, protocol, data_len;
	bool has_files;			/* f_inode of file, i_mode of inode */
	uint32_t inode, mode;
	bool has_sockets;		/* private_data of file, sk of socket, members of sock_common */
	uint32_t private_data, sk, family, port, v4, v6;
};
/* b: NULL: nothing is known. */
void probe_offsets_find(struct probe_offsets *o, const struct btf *b);

/* A probe that records what `format` does, and what that points to; g_free. Its name is that of the event. group: of
 * the probe. NULL: the event points to nothing that is wanted, or the kernel stores it already (Linux 7.0). */
char *probe_text(const char *group, const struct ring_format *format, const struct probe_offsets *o);
/* A probe where a descriptor gets its file, named RING_PROBE_INSTALL; g_free. */
char *probe_text_install(const char *group, const struct probe_offsets *o);
/* The filter of that probe that selects pipes and sockets; NULL: offsets are missing, and all descriptors are
 * recorded. */
const char *probe_install_filter(const struct probe_offsets *o);

#endif
