/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recorded trace that can be read in pieces: any stretch of time, by as many
 * threads as there are. What a job needs of such a trace, as a table of functions:
 * the program has the native reader's (pieces_native()), tests have scripts.
 *
 * The functions mean what their namesakes in trace/native/native.h mean, and the rules for
 * threads are the same: once indexed() is true, everything but free() may be called
 * on any thread; until then one thread calls.
 */
#ifndef BLK_RUN_PIECES_H
#define BLK_RUN_PIECES_H

#include "base/outline.h"
#include "trace/native/native.h"

struct piece_ops {
	bool (*index)(void *trace, size_t max);		/* more to walk? */
	bool (*indexed)(void *trace);
	double (*index_progress)(void *trace);
	int64_t (*known_from)(void *trace);
	bool (*bounds)(void *trace, int64_t *ret_from, int64_t *ret_to);
	uint64_t (*bytes_between)(void *trace, int64_t from, int64_t to);
	size_t (*cuts)(void *trace, int64_t from, int64_t to, size_t n_pieces, int64_t *ret);
	bool (*has_row)(void *trace, bool (*is_wanted)(unsigned row));
	struct outline *(*outline)(void *trace, size_t max_cells);
	struct source *(*range)(void *trace, int64_t from, int64_t to, size_t budget);
	const struct native_loss *(*losses)(struct source *s, size_t *ret_n);
	void (*free)(void *trace);
	/* Of a trace that grows (NULL: it does not): makes known what came before `to`, when it
	 * did not at a time when all before `to` had come; INT64_MAX: all that came. All before
	 * `closed` has come now. False: nothing is known. Frees what ranges borrow. */
	bool (*renew)(void *trace, int64_t to, int64_t closed);
};

struct pieces {
	const struct piece_ops *ops;
	void *trace;
	bool without_spans;		/* nobody asks for them */
	uint32_t cells;			/* kinds that are read, as in slice_read_cells() */
};

/* The native reader's trace, which is taken over. */
struct pieces pieces_native(struct native *n);

static inline void pieces_free(struct pieces *p)
{
	if (p->ops)
		p->ops->free(p->trace);
	p->ops = NULL;
}

/* Can no event of the trace make spans, or does nobody ask for them? */
bool pieces_lack_spans(const struct pieces *p);

/* A slice with what is open when the source begins; call before its first batch. */
struct slice *pieces_begin_slice(const struct pieces *p, struct source *source, bool from_start,
				 int64_t step_ns);

#endif
