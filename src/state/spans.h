/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans from annotations: halves, threads, explanations. A function of a slice's
 * annotations and threads; only for src/state/.
 */
#ifndef BLK_STATE_SPANS_H
#define BLK_STATE_SPANS_H

#include "state/names.h"

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
#define JUST_OUT_NS INT64_C(10000000)	/* a waker "just out of" a call came out this long ago */
void spans_publish(struct spans *sp, struct publication *pub, int64_t now, bool final);

/* See publisher_bound_spans(). */
void spans_bound(struct spans *sp, size_t bytes);

/* Forgets closed traces, and what of the threads' logs only they needed: for runs
 * without end. An annotation that comes for a forgotten trace is dropped and counted. */
void spans_forget(struct spans *sp, int64_t now);

/* explain.c: parts and waits of one half, from its annotations in order of time. */
struct half {
	const uint32_t *annots;		/* sorted */
	guint n_annots;
	enum span_kind kind;
	enum span_state state;
	int64_t begin, end;
	uint32_t thread;		/* of its begin, ID_NONE */
	struct span *span;		/* being filled */
	uint64_t id, parent;
};
struct segment { uint32_t thread; int64_t begin, end; size_t half; };	/* for its calls */

void explain_half(struct spans *sp, struct half *h, size_t index, int64_t now, GArray *segments);
/* Of the thread's kept waits, in order of time, the first that ends behind the instant: its index. */
guint explain_first_wait(const struct thread *t, int64_t at);
/* Why the thread was blocked; and the wait as it is kept with a span, as far as it lies in
 * [begin, end) (without .behind; false: it does not). */
enum part explain_part(struct spans *sp, uint32_t thread, const struct wait *w);
bool explain_wait(struct spans *sp, uint32_t thread, const struct wait *w, int64_t begin, int64_t end,
		  struct span_wait *ret);
/* Sorts the segments by thread, then begin. */
void explain_calls(struct spans *sp, GArray *halves, GArray *segments);

/* For explain.c. */
struct slice *spans_slice(struct spans *sp);
struct names *spans_names(struct spans *sp);
uint32_t spans_irq_text(struct spans *sp, uint32_t host, uint32_t code);	/* irq_text() */
uint32_t spans_map_thread(struct spans *sp, uint32_t thread);

/* What a child covers of its parent. */
struct child { uint64_t parent; uint32_t service; bool other_half; int64_t begin, end; };
/* Sets self_ns of the spans of a trace's halves (struct half, sorted by span). `children` is
 * room for struct child that is used again. */
void spans_set_self(GArray *halves, GArray *children);

#endif
