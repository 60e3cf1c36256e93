/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Saves a range of recorded traces as traces: the whole packets of all streams that overlap the range, byte for byte,
 * with metadata and index files. The directories are the same as in the original, below the directory that all traces
 * have in common. A single trace is the new directory itself. The result is LTTng's CTF and can be read by other
 * programs.
 *
 * Damaged packets (cut off, never finished) are left out and counted, as readers disagree on their content. Counters
 * of discarded events are not changed, so the losses in the range are still visible.
 *
 * The new directory is made under a temporary name beside its place (modes 0700, 0600) and renamed when everything is
 * on disk: it exists completely or not at all. File names pass text_filename().
 */
#ifndef BLK_TRACE_NATIVE_CUT_H
#define BLK_TRACE_NATIVE_CUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct trace_cut {
	const char *const *paths;	/* as native_open() takes them */
	int64_t from_ns, to_ns;		/* packets that overlap [from, to) */
	/* Also save the kernel traces' packets with the first state dump, which names processes and descriptors.
	 * Readers report the packets between it and the range as lost. */
	bool statedump;
	/* The range begins at the kernel's last state dump before it, if that is not more than this earlier; then
	 * .statedump is not used. 0: the range is as it is */
	int64_t earlier_ns;
	const char *to;			/* the directory to make; must not be there */
	const int *stop;		/* atomic: stops the work (CANCELLED) once it is not 0; or NULL */
};

struct trace_cut_result {
	char *path;			/* absolute; g_free() */
	unsigned traces, streams;	/* directories; stream files */
	uint64_t packets, bytes;	/* of packets */
	uint64_t damaged;		/* damaged packets in the range, left out */
	unsigned unreadable;		/* stream files that cannot be read, left out */
	bool has_statedump;
	int64_t from_ns, to_ns;		/* beginning of the first packet, end of the last */
};

/* Any thread. Errors (BLK_TRACE_ERROR): those of native_open(); NOT_FOUND: no packet in the range; CORRUPT: a file
 * changed meanwhile; ACCESS: the directory exists or cannot be written; and G_IO_ERROR_CANCELLED. */
bool trace_cut_write(const struct trace_cut *cut, struct trace_cut_result *ret, GError **error);

#endif
