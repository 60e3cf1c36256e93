/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes spans from a slice's annotations, and explains them with the states, waits and calls of their threads. */
#ifndef BLK_STATE_SPANS_SPANS_H
#define BLK_STATE_SPANS_SPANS_H

#include "state/names/names.h"
#include "state/store/second.h"

struct publication;
struct spans;

/* Returns the registry id of a thread of the slice. */
typedef uint32_t (*spans_thread)(void *data, uint32_t thread);

struct spans *spans_new(struct slice *s, struct names *n, spans_thread thread, void *data);
void spans_free(struct spans *sp);

/*
 * Publishes the spans of all traces that have changed since the last call. now: the newest known instant. final: no
 * more annotations will come. A trace is closed 2 s (SPANS_LINGER_NS) after its root has ended, by event time.
 */
#define SPANS_LINGER_NS INT64_C(2000000000)
void spans_publish(struct spans *sp, struct publication *pub, int64_t now, bool final);

/* Annotations by rules that belong to no span, of all that were published so far. */
struct notes_left_out spans_left_out(const struct spans *sp);

/* See publisher_bound_spans(). */
void spans_bound(struct spans *sp, size_t bytes);

/* Live: drops closed traces, and the entries of thread logs that only they needed. A later annotation of a dropped
 * trace is counted as late. The ids of the newest 250,000 to 500,000 dropped traces are stored. For older traces
 * only the time of their newest annotation is known, and annotations up to that time are late. */
void spans_forget(struct spans *sp, int64_t now);

#endif
