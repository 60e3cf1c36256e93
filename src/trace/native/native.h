/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The native reader: CTF 1.8 and CTF 2 traces, any piece of them at once. It refuses by
 * name what it does not support (BLK_TRACE_ERROR_UNSUPPORTED). babeltrace2
 * (source_open_bt2) is used only on request, and is the tests' referee: records are equal.
 *
 *     struct native *n = native_open(paths, rows, n_rows, &error);
 *     while (native_index(n, 4096)) ...		// only traces without index files
 *     struct source *s = native_range(n, from, to);	// as many as you like, on any thread
 *     ... source_next(s, ...) ...
 *     source_free(s);
 *     native_free(n);
 *
 * Threads: native_open, native_index, native_free and every function below that reads
 * the index belong to one thread at a time; once native_indexed() is true the native is
 * immutable, and native_range() and its sources may be used on any threads at once, a
 * source by one. A source borrows the native.
 */
#ifndef BLK_TRACE_NATIVE_NATIVE_H
#define BLK_TRACE_NATIVE_NATIVE_H

#include "base/outline.h"
#include "trace/reader.h"

struct native;

/* All CTF traces below the paths, as source_open_bt2() takes them: metadata is parsed,
 * event classes compiled, index files read. No event is decoded. */
struct native *native_open(const char *const *paths, const struct blk_subscription *rows,
			   size_t n_rows, GError **error);
void native_free(struct native *n);		/* NULL is fine */
typedef struct native blk_native;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_native, native_free)

/* What could not be read and is left out, one line each ("cannot read stream file ...");
 * borrowed. For the log. */
const char *const *native_warnings(const struct native *n, size_t *ret_n);

/* Packets of files without index: walks at most `max` headers of each; true while there
 * are more to walk. Every range may be read meanwhile that native_known_from() allows. */
bool native_index(struct native *n, size_t max);
bool native_indexed(const struct native *n);
double native_index_progress(const struct native *n);	/* 0..1 */

/* The instant from which on all packets are known; INT64_MIN when all are. */
int64_t native_known_from(const struct native *n);

/* Begin of the first and end of the last known packet, ns. False: no packet. */
bool native_bounds(const struct native *n, int64_t *ret_from, int64_t *ret_to);

/* Does the metadata have an event class of such a row? (It may never come.) */
bool native_has_row(const struct native *n, bool (*is_wanted)(unsigned row));

/* Bytes of packets that overlap [from, to), a border packet's by its share. */
uint64_t native_bytes_between(const struct native *n, int64_t from, int64_t to);

/* Pauses of kernels' sessions (lttng stop and start), as each stream has them: by its .order; from
 * the last event of its packet that ends at last_end (ns); all were paused at `begin`; until its packet
 * that begins at `end`. All packets have to be known. */
typedef void (*native_pause)(void *data, const char *order, int64_t last_end, int64_t begin, int64_t end);
void native_each_pause(const struct native *n, native_pause tell, void *data);

/* Packets whose counter of discarded events is less than that of the packet before (by `fall`), or
 * is not 0 in the stream's first packet (`fall` 0): by the stream's .order and the packet's beginning
 * (ns). */
typedef void (*native_fall)(void *data, const char *order, int64_t begin, uint64_t fall);
void native_each_fall(const struct native *n, native_fall tell, void *data);

/* Hosts (and boots) with a kernel's trace that begins later, or ends earlier, than that of others: from
 * when to when all of theirs tells; INT64_MIN: from the begin on, INT64_MAX: to the end. All packets
 * have to be known, else none is told. */
typedef void (*native_extent)(void *data, const char *host, const char *boot, const char *release,
			      int64_t begin, int64_t end);
void native_each_extent(const struct native *n, native_extent tell, void *data);

/* Where the packets begin that a range from there on reads: no later than `from`. */
int64_t native_read_from(const struct native *n, int64_t from);

/* Instants that cut [from, to) into at most n_pieces of about equal bytes: fills
 * ret[0 .. result - 1], ascending, each in (from, to); result < n_pieces. None is where a
 * CPU of several streams may be losing events on one of them, nor within giant packets: both sides
 * decode what a cut divides. */
size_t native_cuts(const struct native *n, int64_t from, int64_t to, size_t n_pieces,
		   int64_t *ret);

/* Losses and bytes over time in at most max_cells cells; owned by the caller. NULL when
 * nothing is known. */
struct outline *native_outline(const struct native *n, size_t max_cells);

/*
 * The records of all streams with from <= ts < to (INT64_MIN, INT64_MAX: no bound), the
 * same that source_open_bt2() delivers. Damage is no error: what can't be read is a
 * marked loss (events 0, packets 0 or more: unknown). A window of loss that is open at
 * `from` is told by native_range_losses() before the first batch.
 * budget: bytes of buffers this source may use (0: a default); it uses at least one
 * event's worth a stream.
 */
struct source *native_range(struct native *n, int64_t from, int64_t to, size_t budget);

/* For a source of native_range(), before its first batch: the losses open at `from`,
 * and their streams. The array is the source's. */
struct native_loss { unsigned stream; struct blk_loss loss; };
const struct native_loss *native_range_losses(struct source *s, size_t *ret_n);

#endif
