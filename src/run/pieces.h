/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that can be read in pieces: any range of time, by any number of threads. It is a trace of the native reader,
 * or a spool (live/spool/spool.h), which grows. Until indexed() is true, one thread uses it; afterwards any thread may
 * call all but renew() and pieces_free().
 */
#ifndef BLK_RUN_PIECES_H
#define BLK_RUN_PIECES_H

#include "base/outline.h"
#include "trace/native/native.h"

struct pieces;
struct spool_reading;
struct spool;

/* The functions of trace/native/native.h that pieces are read with. Tests have others, with an object of their own
 * behind struct native. */
struct piece_ops {
	bool (*index)(struct native *n, size_t max);
	bool (*indexed)(const struct native *n);
	double (*index_progress)(const struct native *n);
	int64_t (*known_from)(const struct native *n);
	bool (*bounds)(const struct native *n, int64_t *ret_from, int64_t *ret_to);
	uint64_t (*bytes_between)(const struct native *n, int64_t from, int64_t to);
	size_t (*cuts)(const struct native *n, int64_t from, int64_t to, size_t n_pieces, int64_t *ret);
	bool (*has_row)(const struct native *n, bool (*is_wanted)(unsigned row));
	struct outline *(*outline)(const struct native *n, size_t max_cells);
	struct source *(*range)(struct native *n, int64_t from, int64_t to, size_t budget);
	char *(*remark)(const struct native *n);
	const struct native_loss *(*losses)(struct source *s, size_t *ret_n);
	void (*free)(struct native *n);
	/* For a trace that grows; else NULL. Loads what was received before `to` (INT64_MAX: all), unless it is loaded
	 * already. All before `closed` was received by now. Ranges must not be in use: it frees what they borrow. */
	void (*renew)(struct pieces *p, int64_t to, int64_t closed);
};

struct pieces {
	const struct piece_ops *ops;
	struct native *native;		/* what the functions take; NULL: a spool that is not loaded */
	struct spool_reading *spool;	/* NULL: it does not grow */
	bool without_spans;		/* spans are not wanted */
	bool with_spans;		/* they are, even if no event makes one, since other slices may have some */
	uint32_t cells;			/* kinds of cells that are wanted, as in slice_read_cells() */
};

/* A trace of the native reader; takes it over. */
struct pieces pieces_native(struct native *n);
/* The packets of a live session, as of the last renew(). Takes a reference of the spool; the rows are borrowed. */
struct pieces pieces_spool(struct spool *s, const struct blk_subscription *rows, size_t n_rows);
void pieces_free(struct pieces *p);

/* Opens a trace with the events that slices need. If `counts` is set, or the trace has no kernel, all events are
 * counted by thread, too: without a kernel nothing else is known of threads. */
struct native *pieces_open(const char *const *paths, bool counts, GError **error);
/* Does the trace have a kernel? Also true if the native reader cannot read it. */
bool pieces_have_kernel(const char *const *paths);

/* As native_bounds(). False also if nothing is loaded. */
static inline bool pieces_bounds(const struct pieces *p, int64_t *ret_from, int64_t *ret_to)
{
	return p->native && p->ops->bounds(p->native, ret_from, ret_to);
}

/* Will there be no spans: none wanted, or no event that makes one? */
bool pieces_are_without_spans(const struct pieces *p);

/* A slice that knows the losses under way when the source begins; call it before the source's first batch. */
struct slice *pieces_begin_slice(const struct pieces *p, struct source *source, bool from_start,
				 int64_t step_ns);

#endif
