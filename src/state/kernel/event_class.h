/* SPDX-License-Identifier: GPL-2.0-only */
/* What a slice knows about each stream and event class of its source, and an event that is being handled. */
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

/* A stream of the source, with the slice's ids. */
struct stream_info {
	uint32_t host, cpu;	/* .cpu: index in slice.cpus; ID_NONE: no record of the stream yet */
	uint32_t channel;	/* number in slice.channels */
	uint32_t stream_cpu;	/* as in struct blk_stream */
	uint32_t hostname;	/* string: as in struct blk_stream; 0: none */
	bool kernel;
	bool is_unsure;		/* when its next event was is unknown: its clock went back */
	struct cpu *c;		/* the CPU of index .cpu */
	struct cpu *plain;	/* .c, if its events may take the fast path: a kernel stream with a record; else NULL */
};

struct fed_event;
typedef void (*handler)(struct fed_event *f);

enum event_kind { KIND_ANY, KIND_ENTRY, KIND_EXIT, KIND_SWITCH, KIND_WAKE };	/* see fast_path.c */

#define NOWHERE UINT32_MAX
/* Where the fast path finds fields in records of one layout: byte offsets, or NOWHERE. */
struct fast_plan {
	const struct blk_layout *layout;	/* NULL: not examined yet */
	uint64_t flags_mask, flags;	/* value that thread.flags must have before the event */
	uint64_t word_mask, word;	/* value that tstate.word must have */
	uint32_t tid, comm;	/* contexts */
	uint32_t arg;		/* entry: fd; exit: return value; wakeup: tid; switch: prev_tid */
	uint32_t size;		/* entry: requested bytes */
	uint32_t op;		/* entry: the argument that selects the operation */
	bool usual;		/* the contexts are .tid and an inline .comm, and .places is NULL */
	uint8_t comm_repr;	/* form of all names: BLK_TEXT_INLINE or BLK_TEXT_REF; or BLK_NONE */
	uint32_t state, next, prev_comm, next_comm, prev_prio, next_prio;	/* of a switch */
	uint32_t futex[3];	/* entry: address, operation and value; all are plain integers */
	const struct strtab *places;	/* if contexts_any(): the slice's strings; else NULL */
};

/* The fields that every event needs come first, to use few cache lines. */
struct class_info {
	uint64_t count;		/* events not added to slice.count_bin yet */
	uint32_t host;		/* the host of .count */
	uint16_t row;		/* in the subscription table */
	uint8_t kind;		/* enum event_kind */
	bool wants_args;	/* the handler reads arguments of the call */
	bool is_compat;		/* of a 32-bit program's call on a 64-bit machine */
	const struct call_info *info;	/* of .name */
	uint32_t name;		/* string: of the event, or of its system call */
	uint8_t n_counters, call;	/* perf counters in its contexts; enum call_event */
	struct fast_plan plan;
	const struct blk_layout *placeless;	/* a layout for which contexts_any() is false */
	uint32_t event;		/* string: the event's own name */
	handler on;		/* the row's handler */
	uint32_t what;		/* its meaning is the handler's: handlers of several events tell them apart by it */
	uint32_t counter[LIMIT_EVENT_COUNTERS];	/* strings: names of its counters */
};

/* The event that feed.c handles now. */
struct fed_event {
	struct slice *s;
	const struct blk_event *ev;
	struct class_info *cls;
	struct cpu *c;
	int64_t ts;
	uint64_t seq;
	uint32_t cpu, host;	/* indexes in slice.cpus, slice.hosts */
};

#endif
