/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as a trace that can be read in pieces, by the rules of run/pieces.h:
 * for tests of the threads, with the reader left out.
 */
#ifndef BLK_TESTS_FAKE_PIECES_H
#define BLK_TESTS_FAKE_PIECES_H

#include "run/pieces.h"

struct fake_pieces {
	struct recording *records;	/* owned */
	unsigned index_steps;		/* calls of index() until all is known, from the end on */
	int64_t fail_at;		/* INT64_MAX: never; sources fail before this instant */
	int64_t hang_at;		/* INT64_MAX: never; they wait there until released */

	GMutex lock;			/* what follows */
	GCond changed;
	unsigned steps_done;
	unsigned n_opened;		/* ranges */
	unsigned n_open;		/* of these, not freed */
	unsigned n_hanging;
	bool release;
	bool freed;			/* the trace, by its user */
};

void fake_pieces_init(struct fake_pieces *f, struct recording *records);	/* takes them over */
void fake_pieces_clear(struct fake_pieces *f);
struct pieces fake_pieces_trace(struct fake_pieces *f);
/* The same as one that grows: it has all from the beginning. */
struct pieces fake_pieces_growing(struct fake_pieces *f);
void fake_pieces_release(struct fake_pieces *f);	/* who hangs goes on, for ever */
void fake_pieces_await_hanging(struct fake_pieces *f);	/* until somebody hangs */

#endif
