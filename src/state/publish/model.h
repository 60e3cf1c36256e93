/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model: takes batches of records in order of time, follows the machine (tasks, CPUs, system calls, files, block
 * requests, spans), and publishes closed seconds and spans. It is for one run from a trace's beginning to its end, and
 * is built on slices (slice.h).
 *
 *     struct model *m = model_new(&(struct model_options){ 0 });
 *     source = source_open_bt2(paths, slice_subscriptions(&n), n, &error);
 *     while (source_next(source, &batch, &error) == SOURCE_OK) {
 *             model_feed(m, &source->tables, &batch);
 *             give_away(model_publish(m, false));   // now and then
 *     }
 *     give_away(model_publish(m, true));
 *
 * One thread at a time. Never fails: events that it cannot interpret are only counted.
 */
#ifndef BLK_STATE_PUBLISH_MODEL_H
#define BLK_STATE_PUBLISH_MODEL_H

#include "state/slice/slice.h"
#include "state/store/publication.h"

struct model_options {
	int64_t step_ns;	/* length of a "second"; 0: 1 s */
	bool live;		/* an endless run: published data is dropped */
	size_t memory_budget;	/* bytes, estimated: bound on the seconds that can still be corrected, and live on the
				 * names of files. If not 0, a recorded trace drops published data, too */
	bool provisional;	/* live: every publication also has the open second (version 0) */
	size_t span_budget;	/* bytes of unpublished annotations; 0: half of .memory_budget */
	bool at_end;		/* publications are only read at the end: publish late, when memory is full */
	size_t closing_bytes;	/* estimated bytes of the seconds that one publication, not the final one, closes: the
				 * rest is left for the next (model_has_backlog()). 0: no bound */
	bool no_fast_path;	/* as slice_without_fast_path() */
	uint32_t cells;		/* as slice_read_cells() */
};

struct model;
struct model *model_new(const struct model_options *options);
void model_free(struct model *m);			/* NULL is fine */

/* As slice_without_spans(). Call it before anything is fed. */
void model_without_spans(struct model *m);

/* Feeds records of one source, in order of time. `tables` must be the same in every call. */
void model_feed(struct model *m, const struct blk_tables *tables,
		const struct blk_event *ev, size_t n);

/* Merges the next piece, which another thread has read; takes ownership of it. All its events come after the
 * model's. Only the first piece may be from_start. Its step must be the model's. */
void model_stitch(struct model *m, struct slice *s);

/*
 * Returns what was closed since the last call; NULL: nothing new. A second is closed when a record (or a horizon) at
 * or after its end was fed. final: closes everything at the end of coverage; afterwards only call model_free(). The
 * caller owns the publication.
 */
struct publication *model_publish(struct model *m, bool final);

/*
 * Takes ownership of `again`, a publication of the same trace decoded again (slice_finish()). Returns its seconds that
 * begin in [from, to), and its spans that begin or end there, with the model's ids. They replace what was published.
 * It may be called after the final publication. NULL: there is nothing to replace.
 */
struct publication *model_adopt(struct model *m, struct publication *again, int64_t from, int64_t to);

/* The timeline retains no second from before this time (ns; timeline_retained_from()). The next publication lists
 * the threads and processes that ended before it and that no later publication refers to. */
void model_set_retained_from(struct model *m, int64_t ns);

/* Estimated bytes in use, without the seconds of a recorded trace that can be corrected: the caller planned for their
 * bound. Live, the newest three seconds can be corrected however large they are. */
size_t model_bytes(const struct model *m);

/* Was anything dropped because memory was short that could have changed what is published? */
bool model_has_forgotten(const struct model *m);

/* Do annotations exceed the span budget? O(1). */
bool model_has_many_spans(const struct model *m);

/* Would the seconds that can be closed exceed closing_bytes? O(1). */
bool model_has_backlog(const struct model *m);

/* Is the memory budget exceeded (live: were more than 10 s of records fed since the last publication)? The next
 * publication drops the excess. */
bool model_is_full(const struct model *m);

/* Of the records that were fed last, the newest at this time, n had an earlier time of their own (source_late). */
void model_add_late(struct model *m, int64_t at_ns, uint64_t n);

/* Seconds before this instant are closed: published, and changed only by late records. INT64_MIN: none yet;
 * INT64_MAX: all, after the final publication. */
int64_t model_closed_to(const struct model *m);

uint64_t model_n_events(const struct model *m);		/* number of events fed, tallies included */
int64_t model_now(const struct model *m);		/* newest known instant; INT64_MIN: none */

/* Closes everything at the end of coverage, and publishes all. Of a from_start slice, which must not be fed again. The
 * caller frees the publication. */
struct publication *slice_finish(struct slice *s);
/* slice_finish() with coverage up to `until`, to which the trace continues after the slice's last event. */
struct publication *slice_finish_at(struct slice *s, int64_t until);

#endif
