/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A span as shown: one (half of a) named phase of one request, with the kernel's
 * account of its time. Immutable and reference-counted (atomically); an open span
 * is published again when it changes.
 *
 * Its names, annotations and tags are reftexts (base/reftext.h) of which it holds references; never NULL. All other
 * strings are ids of timeline_string().
 *
 * A span that carries both cs/cr and sr/ss is two halves: two struct span of the
 * same ids with kind CLIENT and SERVER, each explained by its own thread.
 */
#ifndef BLK_STATE_STORE_SPAN_H
#define BLK_STATE_STORE_SPAN_H

#include "base/reftext.h"
#include "state/store/part.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum span_kind { SPAN_LOCAL, SPAN_CLIENT, SPAN_SERVER };
enum span_state { SPAN_COMPLETE, SPAN_OPEN, SPAN_PARTIAL };

struct span_annotation {
	int64_t ts;
	const char *event;		/* "cs", "sr", "start", any */
	uint32_t thread;		/* UINT32_MAX: unknown */
};

struct span_tag {
	int64_t ts;
	const char *key, *val;		/* integers as decimal text */
	bool is_int;
};

/* One time off the CPU inside the span. */
struct span_wait {
	int64_t begin_ns;		/* switched out (or the span's begin) */
	int64_t wake_ns;		/* woken; == end_ns when not known */
	int64_t end_ns;			/* on the CPU again (or the span's end) */
	uint32_t thread;		/* who waited */
	uint32_t call;			/* string: the system call, "" outside of one */
	uint32_t file;			/* timeline_file(), UINT32_MAX: none */
	uint32_t waker;			/* timeline_thread(), UINT32_MAX: unknown or an interrupt alone */
	uint32_t waker_irq;		/* string: "irq virtio0" when an interrupt woke it, else ""; with a
					 * waker: the softirq that it raised in its call (cpu.c) */
	uint32_t waker_call;		/* string: what the waker did last or does: "clock_nanosleep" */
	uint32_t behind;		/* who ran longest on its CPU while it was runnable, as waker */
	uint16_t cpu;			/* where it ran again, or SPAN_NO_CPU */
	uint8_t part;			/* enum part: why it was blocked (or PREEMPTED) */
	bool lock;			/* the futex is one of a lock (not of a condition, a thread's end) */
	uint64_t arg;			/* a futex's address; else 0 */
};
#define SPAN_NO_CPU UINT16_MAX		/* not known */

/* A thread that ran on the CPU on whose run queue the span's thread waited meanwhile. */
struct span_neighbour {
	uint32_t thread;		/* timeline_thread() */
	int64_t ns;
};

/* What the span waited for a CPU behind: all of it sums to its preempted and wakeup parts. */
struct span_behind {
	int64_t idle_ns;		/* nobody ran there: the CPU had to wake up */
	int64_t unknown_ns;		/* who ran, or on whose queue it waited, is not known */
	int64_t more_ns;		/* threads that are not kept */
	uint32_t n, n_more;
	struct span_neighbour top[];	/* n: the longest first */
};

/*
 * What others did while the span's thread was blocked, until one of them woke it: its waker,
 * and where that was blocked until a thread woke it, that one. Those of one wait fill it from its
 * begin to its wakeup, one behind the other.
 */
struct chain_link {
	int64_t begin_ns, end_ns;
	uint32_t thread;		/* timeline_thread(); UINT32_MAX: unknown */
	uint32_t call, file, waker, waker_irq;	/* as in struct span_wait; of a single wait */
	uint32_t behind;		/* where it was runnable */
	uint8_t part;			/* enum part: where not on_cpu. PART_UNKNOWN: nobody knows */
	uint8_t depth;			/* 1: it woke the span's thread; 2: it woke that one; ... */
	bool on_cpu;			/* in what mode is not known: .part says nothing */
	bool mixed;			/* it is all this mostly: waits too short to be told are in it */
};

/* System calls inside the span itself (not inside its children), by name. */
struct span_call {
	uint32_t name, count, errors;
	uint32_t file;			/* of the longest, UINT32_MAX: none */
	int64_t total_ns, max_ns;
};

/* System calls kept whole, in order of begin (the 64 longest). */
struct span_slow_call {
	int64_t begin_ns, duration_ns, ret;
	uint32_t name, file, thread;
};

struct span {
	uint64_t trace_id, span_id, parent_id;	/* parent 0: a root */
	enum span_kind kind;
	enum span_state state;
	const char *name, *service, *ip;
	uint32_t port;
	uint32_t host;			/* timeline_host() */
	uint32_t thread;		/* of its begin; UINT32_MAX: unknown */
	int32_t tid, pid;		/* as the trace says; -1 unknown */
	uint32_t errors;		/* tags or annotations named "error"; failed calls do not count */
	int64_t begin_ns;
	int64_t end_ns;			/* of an open span: the last instant known of it */
	int64_t self_ns;		/* duration less what its children cover */
	int64_t part[PART_N];		/* sums to end_ns - begin_ns exactly */
	struct span_annotation *annotations;	/* n_annotations */
	struct span_tag *tags;
	struct span_wait *waits;
	struct span_call *calls;
	struct span_slow_call *slow;
	struct chain_link *hops;		/* in order of begin */
	struct span_behind *behind;	/* NULL: it never waited for a CPU */
	uint32_t n_annotations, n_tags, n_calls, n_hops;
	uint32_t n_waits, n_waits_more, n_slow, n_slow_more;	/* more: than are kept */
	size_t bytes;			/* memory held, about: with its texts up to SPAN_LONG_TEXT, as if no
					 * other span had them; longer ones are the timeline's to count */
	bool whole;			/* private: its arrays lie behind it */
	bool has_long_text;		/* one that .bytes does not count */
	gatomicrefcount refs;		/* private */
};

#define SPAN_LONG_TEXT 64		/* bytes */

static inline int64_t span_duration(const struct span *s)
{
	return s->end_ns - s->begin_ns;
}

/* What a request is to its service: a root, or what another service asked for. */
static inline bool span_is_request(const struct span *s)
{
	return s->parent_id == 0 || s->kind == SPAN_SERVER;
}

/* Is the trace named after `s` rather than after `than`? After a true root, not the server's half
 * of it; the earliest, the longest. */
bool span_is_better_root(const struct span *s, const struct span *than);

struct span *span_ref(struct span *s);
void span_unref(struct span *s);		/* NULL is fine */

/* Calls it for each of the span's texts, as often as the span says it. */
static inline void span_each_text(const struct span *s, void (*visit)(const char *text, void *data), void *data)
{
	visit(s->name, data);
	visit(s->service, data);
	visit(s->ip, data);
	for (uint32_t i = 0; i < s->n_annotations; i++)
		visit(s->annotations[i].event, data);
	for (uint32_t i = 0; i < s->n_tags; i++) {
		visit(s->tags[i].key, data);
		visit(s->tags[i].val, data);
	}
}

#endif
