/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes publications from a slice that starts at the trace's beginning: assigns the ids of the registries, makes
 * seconds from bins and spans from annotations. Only for src/state/.
 */
#ifndef BLK_STATE_PUBLISH_PUBLISHER_H
#define BLK_STATE_PUBLISH_PUBLISHER_H

#include "state/kernel/slice_state.h"
#include "state/store/publication.h"

struct publisher;
struct publisher *publisher_new(struct slice *s);	/* borrows the slice */
void publisher_free(struct publisher *p);

/*
 * Publishes what changed: seconds that end at or before `border` (ns), the registry entries that they refer to,
 * and spans. now: the newest instant (ns). PUBLISH_OPEN: also the open second after the border, as version 0 and
 * without what is in progress. PUBLISH_FINAL: all seconds, closed at the end of coverage. NULL before the first
 * event.
 */
enum publish_what { PUBLISH_CLOSED, PUBLISH_OPEN, PUBLISH_FINAL };
struct publication *publisher_publish(struct publisher *p, int64_t border, int64_t now,
				      enum publish_what what);
/* Bounds the memory of open spans (0: no bound). Above the bound, the longest traces are published as they are and
 * given up; their later records count as late. */
void publisher_bound_spans(struct publisher *p, size_t bytes);

/* publish_cells.c: sets the cells of the second from those of the bin. True: the cells are provisional, as a later fact
 * may change them. */
bool publish_cells(struct publisher *p, const struct bin *b, struct second *to);

/* For publish_cells.c: the registry id of a slice's thread; ID_NONE: no thread, or an idle task (*ret_idle). */
uint32_t publisher_thread(struct publisher *p, uint32_t thread, bool *ret_idle);
/* Applies facts about names, and counts waits for locks. final: nothing follows. */
void publisher_update(struct publisher *p, bool final);
struct names *publisher_names(const struct publisher *p);
struct slice *publisher_slice(const struct publisher *p);

/* For endless runs: drops bins that ended before `before` (ns), closed traces, and names and threads that are no
 * longer needed. Later records of dropped bins count as late. */
void publisher_forget(struct publisher *p, int64_t before, int64_t now);

/* Memory of threads and processes in the slice and in the registries (bytes, approximate). */
size_t publisher_registry_bytes(const struct publisher *p);

/* Drops the registry entries of threads and processes that were released before that time (ns), and lists them in pub.
 * The timeline must retain no second from before it. */
void publisher_drop(struct publisher *p, struct publication *pub, int64_t before);

#endif
