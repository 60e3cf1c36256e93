/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of trace-cmd (trace.dat), versions 6 and 7, uncompressed or compressed with zlib or zstd. They hold the texts
 * of events' formats and pages of the kernel's ring buffer. Sources: trace-cmd.dat.v6(5), trace-cmd.dat.v7(5).
 *
 * The file is hostile input and may change while it is read: every read is checked. One thread.
 */
#ifndef BLK_TRACE_RING_TRACE_DAT_H
#define BLK_TRACE_RING_TRACE_DAT_H

#include "trace/ring/ring_format.h"
#include "trace/ring/ring_page.h"

struct trace_dat;

/* Is this the beginning of such a file? n: bytes that were read of it. */
bool trace_dat_is(const uint8_t *bytes, size_t n);

/* Reads everything but the pages. Takes over the descriptor, also if it fails. NULL: error. */
struct trace_dat *trace_dat_open(int fd, GError **error);
void trace_dat_free(struct trace_dat *d);	/* NULL is fine */
typedef struct trace_dat trace_dat;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(trace_dat, trace_dat_free)

/* What the file says. Texts belong to it; NULL: it does not say. */
struct trace_dat_info {
	struct ring_layout layout;
	unsigned version;		/* 6 or 7 */
	unsigned n_cpus;
	const char *clock;		/* "local", "mono" */
	const char *uname;		/* "Linux HOST RELEASE VERSION MACHINE" */
	uint64_t id;			/* of the trace: equal in a host's and its guests' files; 0: none */
	bool has_offset;
	int64_t offset_ns;		/* to add to times: option OFFSET, or DATE */
};
const struct trace_dat_info *trace_dat_info(const struct trace_dat *d);

/* The formats, as (struct ring_format *); the caller takes them over. Formats that cannot be read are left out. */
GPtrArray *trace_dat_take_formats(struct trace_dat *d);

/* Events that the kernel overwrote on this CPU (its number), by the file's statistics; 0: none, or it does not say. */
uint64_t trace_dat_overwritten(const struct trace_dat *d, unsigned cpu);

/* Names of threads when recording ended. */
typedef void (*trace_dat_thread)(void *data, int32_t tid, const char *comm);
void trace_dat_threads(const struct trace_dat *d, trace_dat_thread f, void *data);

/* The next pages of a CPU, as whole pages; an empty array: there are none left. NULL: error. `cpu` is an index, from 0
 * to n_cpus - 1; *ret_number: the CPU's number. */
GByteArray *trace_dat_next(struct trace_dat *d, unsigned cpu, unsigned *ret_number, GError **error);

#endif
