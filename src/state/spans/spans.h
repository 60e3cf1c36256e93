/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans from annotations: halves, threads, explanations. A function of a slice's
 * annotations and threads; only for src/state/.
 */
#ifndef BLK_STATE_SPANS_SPANS_H
#define BLK_STATE_SPANS_SPANS_H

#include "state/names/names.h"

struct publication;
struct spans;

/* How slice ids are published: thread of the slice -> id in the registry. */
typedef uint32_t (*spans_thread)(void *data, uint32_t thread);

struct spans *spans_new(struct slice *s, struct names *n, spans_thread thread, void *data);
void spans_free(struct spans *sp);

/*
 * Publishes the spans of all traces that have changed since the last call. `now`:
 * newest instant known; `final`: nothing more will come. A trace is closed 2 s
 * (SPANS_LINGER_NS) after its root has ended, by event time.
 */
#define SPANS_LINGER_NS INT64_C(2000000000)
void spans_publish(struct spans *sp, struct publication *pub, int64_t now, bool final);

/* See publisher_bound_spans(). */
void spans_bound(struct spans *sp, size_t bytes);

/* Forgets closed traces, and what of the threads' logs only they needed: for runs
 * without end. An annotation that comes for a forgotten trace is dropped and counted as late: of the
 * newest 250,000 to 500,000 by their ids; of older ones, whose ids are not known any more, when it is
 * no newer than they were. */
void spans_forget(struct spans *sp, int64_t now);

#endif
