/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A span: a named phase of one request, with the parts of its thread's time, its waits and its system calls.
 * A span is immutable and has an atomic reference count. An open span is published again when it changes.
 *
 * Names, annotations and tags are reftexts (base/reftext.h), to which the span holds references; never NULL. All other
 * strings are ids of timeline_string(). Times are ns; threads and files are ids of the registries (registry.h).
 *
 * A span with cs/cr and sr/ss annotations is two halves: two struct span with the same ids and the kinds
 * SPAN_CLIENT and SPAN_SERVER, each explained by its own thread.
 */
#ifndef BLK_STATE_STORE_SPAN_H
#define BLK_STATE_STORE_SPAN_H

#include "base/reftext.h"
#include "state/store/part.h"
#include "state/store/registry.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum span_kind { SPAN_LOCAL, SPAN_CLIENT, SPAN_SERVER };
/* PARTIAL: closed, but its beginning or end is missing or wrong, or events were lost in it, or a clock went back. */
enum span_state { SPAN_COMPLETE, SPAN_OPEN, SPAN_PARTIAL };

struct span_annotation {
	int64_t ts;
	const char *event;		/* "cs", "sr", "start", any */
	uint32_t thread;		/* ID_NONE: unknown */
	bool is_note;			/* by a rule for annotations: .event is any text, also "cs" */
	uint8_t severity;		/* of a note: see severity.h */
};

struct span_tag {
	int64_t ts;
	const char *key, *val;		/* integers as decimal text */
	bool is_int;
};

/* A message that the span took from another one, which is not its parent by this: a link by a rule (rules.h). Also when
 * a late span was due: see span_late(). */
struct span_link {
	int64_t out_ns, in_ns;		/* when it was sent, and taken, each by its host's clock */
	uint64_t trace_id, span_id;	/* of the span that sent it */
	const char *name;		/* of the link */
	int64_t every_ns;		/* only of span_late(); else 0 */
	/* What the thread that took it did from .out_ns to .in_ns (ns): ran, was runnable, was blocked; the rest is
	 * unknown. */
	int64_t ran_ns, runnable_ns, blocked_ns;
	uint32_t cpu_holder;		/* thread that ran longest on its CPU while it was runnable; ID_NONE: unknown,
					 * or the CPU was idle for longer */
	bool unsure;			/* events were lost meanwhile: a later message may have had the same key */
};

/* An interval off the CPU inside the span. */
struct span_wait {
	int64_t begin_ns;		/* switched out, or the span's beginning */
	int64_t wake_ns;		/* woken; end_ns when unknown */
	int64_t end_ns;			/* on a CPU again, or the span's end */
	uint32_t thread;		/* the thread that waited */
	uint32_t call;			/* string: the system call; "": not in a call */
	uint32_t file;			/* ID_NONE: none */
	uint32_t waker;			/* thread; ID_NONE: unknown, or an interrupt alone */
	uint32_t waker_irq;		/* string: "irq virtio0" when an interrupt woke it, else ""; with a waker:
					 * the softirq that the waker raised in its call (cpu.c) */
	uint32_t waker_call;		/* string: the waker's current or latest system call */
	uint32_t cpu_holder;		/* the thread that ran longest on its CPU while it was runnable; ID_NONE:
					 * unknown */
	uint32_t stopper;		/* PART_STOPPED: thread that sent the signal; ID_NONE: unknown */
	uint16_t cpu;			/* where it ran again, or SPAN_NO_CPU */
	uint8_t part;			/* enum part: why it was blocked (or PREEMPTED); of DISK and WRITEBACK the one
					 * with more of the time */
	bool lock;			/* the futex belongs to a lock (not to a condition, or to a thread's end), which
					 * the waker released if it is known */
	bool joined;			/* it waited on a futex for the waker's end */
	uint64_t arg;			/* a futex's address; else 0 */
};
#define SPAN_NO_CPU UINT16_MAX		/* unknown */

/* A thread that ran on a CPU while the span's thread waited in that CPU's run queue. */
struct span_neighbour {
	uint32_t thread;
	int64_t ns;
};

/* Which threads ran while the span's thread was runnable. All times sum to the span's preempted and wakeup parts. */
struct span_runqueue {
	int64_t idle_ns;		/* no thread ran: the CPU had to wake up */
	int64_t unknown_ns;		/* the running thread, or the CPU, is unknown */
	int64_t more_ns;		/* threads that are not in .top */
	uint32_t n, n_more;		/* threads in .top; others */
	struct span_neighbour top[];	/* n, the longest first */
};

/*
 * One link of a waker chain: what another thread did while the span's thread was blocked. That thread is the waker.
 * While the waker was blocked itself, it is the thread that woke the waker, and so on. The links of one wait cover it
 * without gaps, from its beginning to its wakeup.
 */
struct chain_link {
	int64_t begin_ns, end_ns;
	uint32_t thread;		/* ID_NONE: unknown */
	uint32_t call, file, waker, waker_irq;	/* as in struct span_wait; set if the link is a single wait */
	uint32_t cpu_holder;		/* as in struct span_wait, for time in which it was runnable */
	uint8_t part;			/* enum part, if not .on_cpu; PART_UNKNOWN: unknown */
	uint8_t depth;			/* 1: it woke the span's thread; 2: it woke that waker; ... */
	bool on_cpu;			/* it was running, in an unknown mode: .part is not valid */
	bool mixed;			/* includes waits too short for links of their own; fields describe most of
					 * it */
};

/* System calls inside the span itself (not inside its children), by name. */
struct span_call {
	uint32_t name, count, errors;
	uint32_t file;			/* of the longest call, ID_NONE: none */
	int64_t total_ns, max_ns;
};

/* One of the 64 longest system calls of the span. They are in order of beginning. */
struct span_slow_call {
	int64_t begin_ns, duration_ns, ret;
	uint32_t name, file, thread;
	uint8_t wait;			/* enum call_wait; of imported spans CALL_NO_WAIT */
};

struct span {
	uint64_t trace_id, span_id, parent_id;	/* parent 0: a root */
	enum span_kind kind;
	enum span_state state;
	const char *name, *service, *ip;
	uint32_t port;
	uint32_t host;
	uint32_t thread;		/* thread that began it; ID_NONE: unknown */
	int32_t tid, pid;		/* as in the trace; -1: unknown */
	uint32_t errors;		/* tags or annotations named "error"; failed system calls do not count */
	int64_t begin_ns;
	int64_t end_ns;			/* of an open span: the latest known instant */
	int64_t self_ns;		/* duration minus the time that its children cover */
	int64_t part[PART_N];		/* ns; sums exactly to end_ns - begin_ns */
	int64_t disk_queue_ns;		/* of part[PART_DISK]: its requests were still in the device's queue */
	struct span_annotation *annotations;	/* n_annotations; likewise the other arrays */
	struct span_tag *tags;
	struct span_link *links;	/* in order of .in_ns; one more if .is_late */
	struct span_wait *waits;
	struct span_call *calls;
	struct span_slow_call *slow;
	struct chain_link *chain;	/* in order of beginning */
	struct span_runqueue *runqueue;	/* NULL: its thread was never runnable */
	uint32_t n_annotations, n_tags, n_links, n_calls, n_chain;
	uint32_t n_waits, n_waits_more, n_slow, n_slow_more;	/* more: those that are not stored */
	size_t bytes;			/* memory, approximate: texts shorter than SPAN_LONG_TEXT count as if no
					 * other span had them; the timeline counts longer ones */
	bool packed;			/* private: the arrays are in the span's own piece of memory */
	bool disk_queue_known;		/* .disk_queue_ns is */
	bool may_end;			/* live: partial, and a later version may have its end */
	bool lost;			/* part of it is unknown, and kernel events of its host were lost meanwhile */
	bool out_of_reach;		/* it began longer before its one event than states of threads are kept */
	bool is_late;			/* see span_late() */
	bool has_long_text;		/* has a text that .bytes does not count */
	gatomicrefcount refs;		/* private */
};

#define SPAN_LONG_TEXT 64		/* bytes */

static inline int64_t span_duration(const struct span *s)
{
	return s->end_ns - s->begin_ns;
}

/* Is its duration known? Of an open or partial span only a lower bound is known. So sums, means and quantiles of
 * durations leave it out, and tables count partial spans apart. */
static inline bool span_has_duration(const struct span *s)
{
	return s->state == SPAN_COMPLETE;
}

/* A request, as its service sees it: a root, or a call from another service. */
static inline bool span_is_request(const struct span *s)
{
	return s->parent_id == 0 || s->kind == SPAN_SERVER;
}

static inline size_t span_n_links(const struct span *s)	/* in .links */
{
	return (size_t)s->n_links + s->is_late;
}

/* Of a span that begins again and again (every= of rules), and began later than it was due: .out_ns is when it was due,
 * .every_ns after the one before it began, and .in_ns when it began; no ids. NULL: it was not late, or that is
 * unknown. */
static inline const struct span_link *span_late(const struct span *s)
{
	return s->is_late ? &s->links[s->n_links] : NULL;
}

/* The first message that it took of its own trace; NULL: none. */
const struct span_link *span_message(const struct span *s);

/* Zipkin's kinds for messages, PRODUCER and CONSUMER, are in this tag of a span of the kinds client and server. */
#define TAG_KIND "blktop.kind"
/* A message: its receiver does not answer, so the two spans need not overlap. */
bool span_is_message(const struct span *s);

/* The clock of spans of files, as in host_info.boot, which trace/align.h moves. Free with g_free(). */
char *span_host_clock(const char *host);
char *span_endpoint_clock(const char *service, const char *ip);	/* of a service at an address, which may be "" */

/* Does `s` rather than `than` give the trace its name? The order is: true roots first, the client half before the
 * server half, the earliest, the longest. */
bool span_is_better_root(const struct span *s, const struct span *than);

/* References are held by publications, by the timeline, by trees (span_tree.h), by imports and by rows of views. The
 * last span_unref() frees. */
struct span *span_ref(struct span *s);
void span_unref(struct span *s);		/* NULL is fine */

/* Visits each text of the span. A text that occurs several times is visited several times. */
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
	for (size_t i = 0; i < span_n_links(s); i++)
		visit(s->links[i].name, data);
}

/* ---- for makers of spans ---- */

struct span *span_new(void);		/* empty, with one reference; its arrays are g_malloc'd */
/* Sets .bytes of the complete span. The span must not change afterwards. */
void span_seal(struct span *s);
/* Returns a sealed copy with one reference; span and arrays are one piece of memory. The copy takes over the
 * references to the texts of `s`, so `s` must not release them. */
struct span *span_pack(const struct span *s);

enum span_id { SPAN_ID_STRING, SPAN_ID_HOST, SPAN_ID_THREAD, SPAN_ID_FILE };
/* Visits each id in the span, ID_NONE included; the visitor may change it. */
void span_each_id(struct span *s, void (*visit)(enum span_id kind, uint32_t *id, void *data), void *data);

#endif
