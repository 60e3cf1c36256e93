/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A piece of recorded traces as traces of their own: whole packets, byte for byte, of
 * all streams, that overlap a range; with metadata and index files, in directories as
 * they were below what all of them share (so one trace is the directory itself). Other
 * programs read the result as what it is: LTTng's CTF.
 *
 * Packets that are broken (cut off, never finished) are left out and counted, for no
 * tool agrees on what is in them. Counters go on as they were: what the tracer lost
 * in the range still shows.
 *
 * Made under another name beside its place, 0700 and 0600, and renamed when all of it is
 * on the disk: it is there whole or not at all. Names are made of the traces' by
 * text_filename().
 */
#ifndef BLK_TRACE_NATIVE_CUT_H
#define BLK_TRACE_NATIVE_CUT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct trace_cut {
	const char *const *paths;	/* as native_open() takes them */
	int64_t from_ns, to_ns;		/* packets that overlap [from, to) */
	/* The kernel traces' packets with the first state dump, too, which names processes
	 * and descriptors. What lies between it and the range is missing then: readers
	 * tell it as lost packets. */
	bool statedump;
	const char *to;			/* the directory to make; must not be there */
	const int *stop;		/* atomic: not 0: give up (CANCELLED); or NULL */
};

struct trace_cut_result {
	char *path;			/* absolute; g_free() */
	unsigned traces, streams;	/* directories, files */
	uint64_t packets, bytes;	/* of packets */
	uint64_t damaged;		/* packets of the range left out */
	unsigned unreadable;		/* stream files left out, as nobody can read them */
	bool has_statedump;
	int64_t from_ns, to_ns;		/* begin of the first, end of the last packet */
};

/* On any thread. Errors (BLK_TRACE_ERROR): those of native_open(); NOT_FOUND: no packet
 * in the range; CORRUPT: a file changed meanwhile; ACCESS: it is there already, or
 * can't be written; and G_IO_ERROR_CANCELLED. */
bool trace_cut_write(const struct trace_cut *cut, struct trace_cut_result *ret, GError **error);

#endif
