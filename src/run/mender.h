/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes seconds again that events came too late for (source_take_late()): those in which
 * the events were, those in which they were told instead, and those between, which lacked them. Waits until a second is
 * closed and nothing more comes for it, and never takes more than a fifth of a core.
 *
 * One thread notes, one works; the pieces are the worker's.
 */
#ifndef BLK_RUN_MENDER_H
#define BLK_RUN_MENDER_H

#include "run/pieces.h"
#include "state/publish.h"

struct mender;

/* What was read again, given away, and of which range it is (model_adopt()). */
typedef void (*mender_post)(void *data, struct publication *again, int64_t from, int64_t to);

/* Borrows the pieces, of a trace that grows. */
struct mender *mender_new(const struct pieces *kept, int64_t step_ns, mender_post post, void *data);
void mender_free(struct mender *m);		/* NULL is fine */

void mender_note(struct mender *m, const struct source_late *late);
void mender_closed_to(struct mender *m, int64_t instant);	/* as model_closed_to() */
/* What was noted is made at once from now on; waits for that, at most so long. */
bool mender_finish(struct mender *m, int64_t timeout_us);
void mender_stop(struct mender *m);		/* what is being made is in vain */

/* The worker's: makes what is due; false: nothing is. */
bool mender_work(void *mender);

#endif
