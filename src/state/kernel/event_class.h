/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a slice has learnt of each stream and event class of its source, and one event on its way through a handler.
 */
#ifndef BLK_STATE_KERNEL_EVENT_CLASS_H
#define BLK_STATE_KERNEL_EVENT_CLASS_H

#include "base/limits.h"
#include "trace/event.h"

#include <stdbool.h>
#include <stdint.h>

struct call_info;
struct cpu;
struct slice;
struct strtab;

/* A stream of the source, in the slice's ids. */
struct stream_info {
	uint32_t host, cpu;	/* .cpu: index in slice.cpus; ID_NONE: no record of the stream came yet */
	uint32_t stream_cpu;	/* as in struct blk_stream */
	bool kernel;
	struct cpu *c;		/* of .cpu */
	struct cpu *plain;	/* .c, if its events may take the fast path: a kernel stream with a record; else NULL */
};

struct feed;
typedef void (*handler)(struct feed *f);

enum event_kind { KIND_ANY, KIND_ENTRY, KIND_EXIT, KIND_SWITCH, KIND_WAKE };	/* see fast_path.c */

#define NOWHERE UINT32_MAX
/* Where the fast path finds fields in records of one layout: offsets, or NOWHERE. */
struct plan {
	const struct blk_layout *layout;	/* NULL: not looked at yet */
	uint64_t flags_mask, flags;	/* what thread.flags must be before the event */
	uint64_t word_mask, word;	/* and tstate.word */
	uint32_t tid, comm;	/* contexts */
	uint32_t arg;		/* entry: fd; exit: return value; wakeup: tid; switch: prev_tid */
	uint32_t size;		/* entry: bytes asked for */
	uint32_t op;		/* entry: the argument that decides what the call does */
	bool usual;		/* contexts are .tid and an inline .comm, and .places is NULL */
	uint8_t comm_repr;	/* of all names: BLK_TEXT_INLINE or BLK_TEXT_REF; or BLK_NONE */
	uint32_t state, next, prev_comm, next_comm, prev_prio, next_prio;	/* of a switch */
	uint32_t futex[3];	/* entry: address, operation and value, all plain */
	const struct strtab *places;	/* contexts_any(): the slice's strings; else NULL */
};

/* The fields that each event needs come first: few cache lines. */
struct class_info {
	uint64_t count;		/* events not in slice.count_bin yet */
	uint32_t host;		/* of .count */
	uint16_t row;		/* of the subscription table */
	uint8_t kind;		/* enum event_kind */
	bool wants_args;	/* arguments of the call are read */
	const struct call_info *info;	/* of .name */
	uint32_t name;		/* string: of the event, or of its system call */
	uint8_t n_counters, call;	/* perf counters in its contexts; enum call_event */
	struct plan plan;
	const struct blk_layout *placeless;	/* one that is not contexts_any() */
	uint32_t event;		/* string: the event's own name */
	handler on;		/* of .row */
	uint32_t counter[LIMIT_EVENT_COUNTERS];	/* strings: names of its counters */
};

/* One event on its way through its handler. */
struct feed {
	struct slice *s;
	const struct blk_event *ev;
	struct class_info *cls;
	struct cpu *c;
	int64_t ts;
	uint64_t seq;
	uint32_t cpu, host;	/* indexes in slice.cpus, slice.hosts */
};

#endif
