/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From a rooted slice to publications: ids for the registries, seconds from bins,
 * spans from annotations. Only for src/state/.
 */
#ifndef BLK_STATE_PUBLISH_PUBLISHER_H
#define BLK_STATE_PUBLISH_PUBLISHER_H

#include "state/slice/slice_state.h"
#include "state/store/publication.h"

struct publisher;
struct publisher *publisher_new(struct slice *s);	/* borrows the slice */
void publisher_free(struct publisher *p);

/*
 * What is new: seconds that end at or before `border` and have changed, everything
 * they refer to, spans. `now`: newest instant. OPEN: the second behind the border, too, as
 * far as it goes: without what is in progress, which is charged at its end or at a border.
 * FINAL: all seconds, closed at the end of coverage. NULL before the first event.
 */
enum publish_what { PUBLISH_CLOSED, PUBLISH_OPEN, PUBLISH_FINAL };
struct publication *publisher_publish(struct publisher *p, int64_t border, int64_t now,
				      enum publish_what what);
/* Bound on what is kept of spans that are not over (0: none): above it the longest traces are
 * published as they are and given up; what still comes for them counts as late. */
void publisher_bound_spans(struct publisher *p, size_t bytes);

/* publish_cells.c: the bin's cells, in the registries' ids, into the second. Something in them may
 * be known better later: true. */
bool publish_cells(struct publisher *p, const struct bin *b, struct second *to);

/* For publish_cells.c: the registry's id of a slice's thread;
 * ID_NONE for none and for idle tasks, which *ret_idle tells. */
uint32_t publisher_thread(struct publisher *p, uint32_t thread, bool *ret_idle);
struct names *publisher_names(const struct publisher *p);
struct slice *publisher_slice(const struct publisher *p);

/* For runs without end: forgets bins that ended before the instant (what is late for
 * them is counted), closed traces, and the logs nobody needs any more. */
void publisher_forget(struct publisher *p, int64_t before, int64_t now);

/* Bytes that threads and processes take, about: in the slice, and their registry entries. */
size_t publisher_registry_bytes(const struct publisher *p);

/* Drops the registry entries of threads and processes that were released before that time (ns), and lists them in pub.
 * The timeline must retain no second from before it. */
void publisher_drop(struct publisher *p, struct publication *pub, int64_t before);

#endif
