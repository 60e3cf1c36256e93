/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trace that can be read in pieces: any range of time, by any number of threads. It is a table of functions, with
 * two implementations: the native reader (pieces_native()) and a spool (pieces_spool.h). Tests have more.
 *
 * The functions do what functions of the same name in trace/native/native.h do. Until indexed() is true, one thread
 * calls them; afterwards any thread may call all but free().
 */
#ifndef BLK_RUN_PIECES_H
#define BLK_RUN_PIECES_H

#include "base/outline.h"
#include "trace/native/native.h"

struct piece_ops {
	bool (*index)(void *trace, size_t max);		/* true: there is more to scan */
	bool (*indexed)(void *trace);
	double (*index_progress)(void *trace);
	int64_t (*known_from)(void *trace);
	bool (*bounds)(void *trace, int64_t *ret_from, int64_t *ret_to);
	uint64_t (*bytes_between)(void *trace, int64_t from, int64_t to);
	size_t (*cuts)(void *trace, int64_t from, int64_t to, size_t n_pieces, int64_t *ret);
	bool (*has_row)(void *trace, bool (*is_wanted)(unsigned row));
	struct outline *(*outline)(void *trace, size_t max_cells);
	struct source *(*range)(void *trace, int64_t from, int64_t to, size_t budget);
	char *(*remark)(void *trace);	/* native_remark(), or NULL */
	const struct native_loss *(*losses)(struct source *s, size_t *ret_n);
	void (*free)(void *trace);
	/* For a trace that grows; else NULL. Loads what was received before `to` (INT64_MAX: all), unless it is loaded
	 * already. All before `closed` was received by now. False: there is no event. Ranges must not be in use:
	 * it frees what they borrow. */
	bool (*renew)(void *trace, int64_t to, int64_t closed);
};

struct pieces {
	const struct piece_ops *ops;
	void *trace;
	bool without_spans;		/* spans are not wanted */
	bool with_spans;		/* they are, even if no event makes one, since other slices may have some */
	uint32_t cells;			/* kinds of cells that are wanted, as in slice_read_cells() */
};

/* A trace of the native reader; takes it over. */
struct pieces pieces_native(struct native *n);
/* Opens a trace with the events that slices need. If `counts` is set, or the trace has no kernel, all events are
 * counted by thread, too: without a kernel nothing else is known of threads. */
struct native *pieces_open(const char *const *paths, bool counts, GError **error);
/* Does the trace have a kernel? Also true if the native reader cannot read it. */
bool pieces_have_kernel(const char *const *paths);

static inline void pieces_free(struct pieces *p)
{
	if (p->ops)
		p->ops->free(p->trace);
	p->ops = NULL;
}

/* Will there be no spans: none wanted, or no event that makes one? */
bool pieces_are_without_spans(const struct pieces *p);

/* A slice that knows the losses under way when the source begins; call it before the source's first batch. */
struct slice *pieces_begin_slice(const struct pieces *p, struct source *source, bool from_start,
				 int64_t step_ns);

#endif
