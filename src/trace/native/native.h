/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader of CTF 1.8 and CTF 2 traces; it can read any range of a trace, and several at once. What it does
 * not support it refuses with a reason (BLK_TRACE_ERROR_UNSUPPORTED). The babeltrace2 reader (source_open_bt2) is used
 * only on request, and as the reference in tests: both give equal records.
 *
 *     struct native *n = native_open(paths, rows, n_rows, &error);
 *     while (native_index(n, 4096)) ...		// only traces without index files
 *     struct source *s = native_range(n, from, to);	// as many as you like, on any thread
 *     ... source_next(s, ...) ...
 *     source_free(s);
 *     native_free(n);
 *
 * Threads: native_open, native_index, native_free and every function below that reads the index belong to one thread
 * at a time. Once native_indexed() is true the native is immutable: native_range() and its sources may then be used on
 * any threads, each source by one. A source borrows the native.
 */
#ifndef BLK_TRACE_NATIVE_NATIVE_H
#define BLK_TRACE_NATIVE_NATIVE_H

#include "base/outline.h"
#include "trace/reader.h"

struct native;

/* Opens all CTF traces below the paths, as source_open_bt2(): parses metadata, compiles event classes, reads index
 * files. No event is decoded. */
struct native *native_open(const char *const *paths, const struct blk_subscription *rows,
			   size_t n_rows, GError **error);
void native_free(struct native *n);		/* NULL is fine */
typedef struct native blk_native;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_native, native_free)

/* What cannot be read and is left out, one line each ("cannot read stream file ..."); borrowed. */
const char *const *native_warnings(const struct native *n, size_t *ret_n);
char *native_left_out(const struct native *n);	/* the first, and the number of the others (g_free); NULL: none */

/* What is unusual, though nothing is left out: unknown attributes, timestamps without a clock, packets of another
 * trace. One line (g_free), or NULL; complete once native_indexed() is true. */
char *native_remark(const struct native *n);

/* Finds the packets of files without an index: reads at most `max` packet headers of each. True: there are more.
 * Meanwhile any range from native_known_from() on may be read. */
bool native_index(struct native *n, size_t max);
bool native_indexed(const struct native *n);
double native_index_progress(const struct native *n);	/* 0..1 */

/* The instant from which on all packets are known; INT64_MIN when all are. */
int64_t native_known_from(const struct native *n);

/* Beginning of the first and end of the last known packet, ns. False: there is no packet. */
bool native_bounds(const struct native *n, int64_t *ret_from, int64_t *ret_to);

/* Are there streams of a kernel? */
bool native_has_kernel(const struct native *n);

/* Does the metadata have an event class of such a row? (The trace may have no such event.) */
bool native_has_row(const struct native *n, bool (*is_wanted)(unsigned row));

/* Bytes of packets that overlap [from, to); packets at the border count in proportion. */
uint64_t native_bytes_between(const struct native *n, int64_t from, int64_t to);

/*
 * Calls back for each pause of a kernel session (lttng stop and start) and each stream. `order` names the stream
 * (blk_stream.order). The stream's pause lasts from the last event of its packet that ends at last_end until its
 * packet that begins at `end`; from `begin` on all streams were paused (ns). All packets must be known.
 */
typedef void (*native_pause)(void *data, const char *order, int64_t last_end, int64_t begin, int64_t end);
void native_each_pause(const struct native *n, native_pause callback, void *data);

/*
 * Calls back for each packet with a lower counter of discarded events than the packet before; `fall` is the
 * difference. Also if the counter is not 0 in the stream's first packet (`fall` is 0 then). `order` identifies the
 * stream; `begin` is the packet's beginning, ns.
 */
typedef void (*native_fall)(void *data, const char *order, int64_t begin, uint64_t fall);
void native_each_fall(const struct native *n, native_fall callback, void *data);

/* Were events discarded in any packet? All packets must be known. */
bool native_has_lost(const struct native *n);

/* Calls back for each stream with its recorded_from and recorded_to (struct blk_stream). `order` identifies it. All
 * packets must be known. */
typedef void (*native_recorded)(void *data, const char *order, int64_t from, int64_t to);
void native_each_recorded(const struct native *n, native_recorded callback, void *data);

/* Calls back for each host (and boot) that has packets, with the beginning of the first one and the end of the last one
 * (ns). All packets must be known, else it makes no call. */
typedef void (*native_extent)(void *data, const char *host, const char *boot, const char *release,
			      int64_t begin, int64_t end);
void native_each_extent(const struct native *n, native_extent callback, void *data);

/* Calls back for each stream with what its trace says about the host's machine. */
typedef void (*native_machine)(void *data, const char *host, const char *boot, const struct machine_evidence *e);
void native_each_machine(const struct native *n, native_machine callback, void *data);

/* The beginning of the first packet that a range from `from` on reads (ns); at most `from`. */
int64_t native_read_from(const struct native *n, int64_t from);

/*
 * Cuts [from, to) into at most n_pieces pieces of about equal bytes: fills ret[0 .. result - 1] with instants,
 * ascending, each inside (from, to); result < n_pieces. There is no cut where a CPU with several streams may lose
 * events on one of them. There is none within huge packets, as both pieces would decode these.
 */
size_t native_cuts(const struct native *n, int64_t from, int64_t to, size_t n_pieces,
		   int64_t *ret);

/* Losses and bytes over time, in at most max_cells cells. The caller owns a reference. NULL: no packet is known. */
struct outline *native_outline(const struct native *n, size_t max_cells);

/*
 * The records of all streams with from <= ts < to (INT64_MIN, INT64_MAX: no bound); the same as source_open_bt2()
 * delivers. Damage is not an error: what cannot be read is a loss (events 0, packets 0 or more: unknown). Losses that
 * begin before `from` are in native_range_losses(). budget: bytes that the source may use for buffers (0: a default);
 * it uses at least the size of one event for each stream.
 */
struct source *native_range(struct native *n, int64_t from, int64_t to, size_t budget);

/* The losses that begin before `from` and end after it, with their streams. Call before the first source_next(). The
 * source owns the array. */
struct native_loss { unsigned stream; struct blk_loss loss; };
const struct native_loss *native_range_losses(struct source *s, size_t *ret_n);

#endif
