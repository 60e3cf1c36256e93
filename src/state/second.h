/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A closed second: what happened in [begin_ns, end_ns), as cells keyed by the ids
 * of the timeline's registries (thread, file, string, host). Immutable and
 * reference-counted (atomically): made by the worker, read by anybody without
 * locks. What was late or soft makes a new version under the same begin_ns.
 */
#ifndef BLK_STATE_SECOND_H
#define BLK_STATE_SECOND_H

#include "base/hist.h"
#include "state/part.h"
#include "state/syscalls.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct thread_cell {
	uint32_t thread;		/* timeline_thread() */
	int64_t part[PART_N];		/* ns; they sum to its life in the second */
	uint32_t syscalls;		/* system calls finished in this second */
	uint32_t errors;		/* of these, returned an error */
	uint64_t read_bytes, write_bytes;
};

struct call_cell {
	uint32_t thread;
	uint32_t name;			/* string: "read", "futex", "getrandom" */
	uint32_t errors;
	uint32_t unfinished;		/* pending at the second's end (0 or 1) */
	int64_t busy_ns;		/* time spent in it within this second */
	struct hist latency;		/* whole latency of calls finished in this second */
};

struct file_cell {
	uint32_t thread;
	uint32_t file;			/* timeline_file() */
	uint64_t bytes[2];		/* IO_DIR_READ, IO_DIR_WRITE */
	uint64_t asked[2];		/* how many the calls asked for, */
	uint32_t untold[2];		/* except these, which do not tell */
	uint32_t errors;
	int32_t fd_low, fd_high;	/* the descriptors it was used by: from, to; -1: not known */
	struct hist latency[IO_DIR_N];	/* of the calls, by what they do */
};

struct cpu_cell {
	uint32_t host, cpu;
	int64_t run_ns, idle_ns, unknown_ns;	/* sum: coverage within the second */
	int64_t irq_ns;			/* part of run or idle taken by interrupts */
};

#define SCHED_PRIO_NONE INT16_MIN

struct sched_cell {			/* a thread on a CPU at a priority */
	uint32_t thread;
	uint16_t cpu;
	int16_t prio;			/* as told (0: a thread of nice -20), or SCHED_PRIO_NONE */
	uint32_t switches;		/* switched out there */
	uint32_t preemptions;		/* of these, while it could have gone on */
	uint32_t migrations;		/* sched_migrate_task to that CPU */
	uint32_t moves;			/* seen there, after it was seen on another CPU */
	struct hist wakeup;		/* runnable after a wakeup, until on CPU */
	struct hist preempted;		/* runnable after a preemption, until on CPU */
};

struct irq_cell {			/* an interrupt on a CPU, counted when its handler ended */
	uint32_t host, cpu;
	uint32_t code;			/* tells interrupts of a host apart, hard ones before soft ones */
	uint32_t name;			/* string: "irq 34 ahci", "softirq NET_RX" */
	int64_t self_ns;		/* without handlers that interrupted it */
	struct hist time;		/* with them */
	struct hist raise;		/* softirqs: raised until its handler began */
};

struct stolen_cell {			/* what an interrupt took from a thread */
	uint32_t thread, code, name;	/* as in struct irq_cell */
	uint32_t count;
	int64_t self_ns;
};

struct loss_cell {			/* what a stream lost; counted where the loss ends */
	uint32_t host, cpu;		/* cpu: UINT32_MAX where it is unknown */
	int32_t vpid;			/* of buffers of one process; else -1 */
	bool kernel;
	uint32_t count;			/* losses */
	uint64_t events, packets;	/* events 0: not known how many */
	int64_t ns;			/* how long it lasted */
};

/* Events (only where they are counted by thread: slice_subscriptions_counting()), page faults,
 * hits of probes, and what perf counted. */
enum count_kind { COUNT_EVENT, COUNT_FAULT, COUNT_PROBE, COUNT_PERF, COUNT_KIND_N };

struct count_cell {			/* what a thread is counted for */
	uint32_t thread;		/* UINT32_MAX: none, or unknown */
	uint32_t host;
	uint32_t name;			/* string: the event's name, or the counter's as
					 * "cpu_instructions", "thread_cache_misses" */
	uint8_t kind;			/* enum count_kind */
	bool idle;			/* the CPU's idle task */
	uint64_t value;
};

struct waker_cell {			/* who woke a thread; counted when it was on CPU */
	uint32_t thread;
	uint32_t waker;			/* timeline_thread(); UINT32_MAX: none or unknown */
	uint32_t irq;			/* string: the interrupt that woke it, or 0 */
	bool idle;			/* its CPU was idle, no interrupt is known */
	uint32_t count;
	int64_t total_ns, max_ns;	/* until it was on CPU */
};

enum block_dir { BLOCK_READ, BLOCK_WRITE, BLOCK_OTHER, BLOCK_DIR_N };	/* other: flush, discard */

struct dev_cell {
	uint32_t host, dev;		/* dev: kernel number, major << 20 | minor */
	uint32_t name;			/* string, "" when unknown */
	uint32_t requests[BLOCK_DIR_N];	/* completed */
	uint64_t bytes[BLOCK_DIR_N];
	uint32_t errors, partial;	/* completions that failed; that left a rest under way */
	uint32_t merges, requeues;
	uint32_t depth_max, queued_max;	/* most requests at the device, and waiting for it */
	int64_t busy_ns;		/* time with a request at the device */
	int64_t depth_ns, queued_ns;	/* requests at it, waiting for it, summed over time */
	struct hist latency, queue;	/* issue -> completion; insert -> issue */
};

struct dev_user_cell {			/* what a thread asked of a block device */
	uint32_t thread;		/* UINT32_MAX: nobody knows */
	uint32_t host, dev, name;
	uint32_t requests[BLOCK_DIR_N], errors;
	uint64_t bytes[BLOCK_DIR_N];
	struct hist latency, queue;
};

struct net_sums {
	uint64_t rx_packets, rx_bytes;
	uint64_t queued_packets, queued_bytes;	/* given to the device's queue */
	uint64_t tx_packets, tx_bytes;		/* taken by the device */
	uint64_t tx_errors;			/* refused by it */
};

struct net_cell {			/* a network device */
	uint32_t host, name;
	struct net_sums sums;
};

/*
 * Who talks with whom, as the headers of packets tell: "local" is the source of a packet that
 * is queued at a device and the destination of one that is received there. Of a packet that is
 * forwarded both are other machines'. Unused bytes are 0, so that flows compare as memory.
 */
enum { FLOW_TCP = 6, FLOW_UDP = 17, FLOW_OTHER = 255 };	/* the protocol's number, if it is told */

struct flow {
	uint8_t family;			/* 4 or 6 */
	uint8_t protocol;		/* FLOW_TCP, ... */
	uint16_t local_port, peer_port;	/* of TCP and UDP */
	uint8_t local[16], peer[16];	/* as they are sent; of IPv4 the first four bytes */
};

struct flow_sums {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;	/* received, queued at the device */
};

struct flow_cell {			/* packets of a flow at a network device */
	uint32_t host, name;
	struct flow flow;
	struct flow_sums sums;
};

struct event_cell {
	uint32_t host;
	uint32_t name;			/* string: the event's name */
	uint64_t count;
};

struct slow_call {			/* one call kept whole */
	uint32_t thread, name, cpu;
	uint32_t file;			/* UINT32_MAX: none */
	int64_t begin_ns, duration_ns, ret;
};

struct trust {
	uint64_t lost_events;		/* ended in this second */
	uint64_t lost_packets;
	uint64_t damaged;		/* packets that were read in part, or not at all: what events they
					 * held is not known */
	uint64_t soft;			/* facts that stay open: unpaired exits, ... */
	uint64_t late;			/* records that came after the second was closed */
	uint32_t touched;		/* losses that overlap this second */
	uint32_t corrected;		/* made again since events came too late for it (correct.h);
					 * of several seconds: how many of them were */
};

/* What is counted; .touched and .corrected are each sum's own. */
static inline void trust_add(struct trust *to, const struct trust *t)
{
	to->lost_events += t->lost_events;
	to->lost_packets += t->lost_packets;
	to->damaged += t->damaged;
	to->soft += t->soft;
	to->late += t->late;
}

struct second {
	int64_t begin_ns, end_ns;	/* end exclusive; the first and last may be cut by coverage */
	uint32_t version;		/* 1, 2, ...: corrected since; 0: still open, shown as far
					 * as it is known (end_ns) */
	int64_t fold_ns;		/* 0; else: several seconds made one of this length, for lack
					 * of room (coarsen.h) */
	struct trust trust;
	struct thread_cell *threads;	uint32_t n_threads;
	struct call_cell *calls;	uint32_t n_calls;
	struct file_cell *files;	uint32_t n_files;
	struct cpu_cell *cpus;		uint32_t n_cpus;
	struct dev_cell *devs;		uint32_t n_devs;
	struct dev_user_cell *dev_users; uint32_t n_dev_users;
	struct net_cell *nets;		uint32_t n_nets;
	struct flow_cell *flows;	uint32_t n_flows;
	struct event_cell *events;	uint32_t n_events;
	struct slow_call *slow;		uint32_t n_slow;	/* slowest first */
	struct sched_cell *scheds;	uint32_t n_scheds;
	struct irq_cell *irqs;		uint32_t n_irqs;
	struct stolen_cell *stolen;	uint32_t n_stolen;
	struct loss_cell *losses;	uint32_t n_losses;
	struct waker_cell *wakers;	uint32_t n_wakers;
	struct count_cell *counts;	uint32_t n_counts;
	struct hist wakeup;		/* of all threads */
	size_t bytes;			/* memory held, about */
	gatomicrefcount refs;		/* private */
};

struct second *second_ref(struct second *s);
void second_unref(struct second *s);		/* NULL is fine */

#endif
