/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model: eats batches of records in time order, knows the machine (tasks,
 * CPUs, system calls, files, block requests, spans), and publishes closed seconds
 * and spans. The form for one run from a trace's beginning to its end; pieces that
 * are stitched are in slice.h, and this is built on them.
 *
 *     struct model *m = model_new(&(struct model_options){ 0 });
 *     source = source_open_bt2(paths, model_subscriptions(&n), n, &error);
 *     while (source_next(source, &batch, &error) == SOURCE_OK) {
 *             model_feed(m, &source->tables, &batch);
 *             give_away(model_publish(m, false));   // now and then
 *     }
 *     give_away(model_publish(m, true));
 *
 * One thread at a time. Never fails: what it can't interpret it counts.
 */
#ifndef BLK_STATE_SLICE_MODEL_H
#define BLK_STATE_SLICE_MODEL_H

#include "state/store/publication.h"
#include "state/slice/slice.h"

struct model_options {
	int64_t step_ns;	/* length of a "second"; 0: 1 s */
	bool live;		/* a run without end: forget what the publications hold */
	size_t memory_budget;	/* not 0: the same for a recorded trace, so that what is kept
				 * inside the model does not grow with the trace's length:
				 * about so many bytes of seconds that can be corrected */
	bool provisional;	/* live: every publication has the open second, too (version 0) */
	size_t span_budget;	/* annotations that wait to be published; 0: half of that */
	bool at_end;		/* nobody looks meanwhile: seconds are published when memory
				 * asks for it, and at the end */
	bool no_fast_path;		/* as slice_without_plain() */
	uint32_t cells;		/* as slice_read_cells() */
};

struct model;
struct model *model_new(const struct model_options *options);
void model_free(struct model *m);			/* NULL is fine */

/* The subscription table of all handlers, and how many rows it has. Static. */
const struct blk_subscription *model_subscriptions(size_t *ret_n);

/* As slice_subscriptions_counting(). */
const struct blk_subscription *model_subscriptions_counting(size_t *ret_n);

/* As slice_without_spans(): before anything is fed. */
void model_without_spans(struct model *m);

/* Records in time order of one source. `tables` must be the same at every call. */
void model_feed(struct model *m, const struct blk_tables *tables,
		const struct blk_event *ev, size_t n);

/* The next piece, read elsewhere: consumed. All its events come after what the model
 * has; the first one may be rooted, the others must not be. Its step: the model's. */
void model_stitch(struct model *m, struct slice *s);

/*
 * What has been closed since the last call: NULL when nothing is new. A second is
 * closed when a record at or after its end was fed (or a horizon passed it).
 * final: closes everything at the end of coverage; afterwards only model_free().
 * The caller owns the publication.
 */
struct publication *model_publish(struct model *m, bool final);

/*
 * An account of the same trace that was read again, in order (slice_finish(); taken over): its seconds that
 * begin in [from, to), and the spans that begin or end there, take the place of what was published, in
 * the model's ids. Also after the final publication. NULL: nothing of it is of use.
 */
struct publication *model_adopt(struct model *m, struct publication *again, int64_t from, int64_t to);

/* The timeline retains no second from before that time (ns; timeline_retained_from()). The next publication lists the
 * threads and processes that ended before, and to which no later publication refers. */
void model_kept_from(struct model *m, int64_t ns);

/* Bytes it holds, about, without the seconds that can be corrected, which have a bound of their own. */
size_t model_bytes(const struct model *m);

/* Do more annotations wait to be published than is good? Costs nothing. */
bool model_has_many_spans(const struct model *m);

/* Is more kept than memory_budget (live: have ten seconds and more been fed since the last
 * publication)? Then the next publication forgets what is too much. */
bool model_is_full(const struct model *m);

/* Seconds before this instant are closed: published, unless something late corrects
 * them. INT64_MIN: none yet; INT64_MAX: all, after the final publication. */
int64_t model_closed_to(const struct model *m);

uint64_t model_n_events(const struct model *m);		/* events fed, with tallies */
int64_t model_now(const struct model *m);		/* newest instant known; INT64_MIN: none */

#endif
