/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of the machine, when the trace began and again later, as lttng-modules write it (lttng_statedump_*):
 * processes, descriptors, namespaces, interrupts, disks. The caller reads it from /proc.
 *
 *     struct ring_dump *d = ring_dump_new(packets, cycles);
 *     ring_dump_process(d, &process); ...
 *     ring_dump_end(d, cycles);		// gives the packets to the sink, and frees it
 *
 * All texts are copied up to their NUL.
 */
#ifndef BLK_TRACE_RING_RING_DUMP_H
#define BLK_TRACE_RING_RING_DUMP_H

#include "trace/ring/ring_packets.h"

struct ring_dump;
/* Begins at this time (cycles), not before the end of the dump before it. */
struct ring_dump *ring_dump_new(struct ring_packets *p, uint64_t cycles);
void ring_dump_end(struct ring_dump *d, uint64_t cycles);

struct ring_dump_thread {
	int32_t tid, pid, ppid;		/* of the first pid namespace; pid: its process */
	const char *name;		/* comm */
	bool is_kernel;
	uint64_t files;			/* a number that threads with the same descriptors share */
};
void ring_dump_thread(struct ring_dump *d, const struct ring_dump_thread *t);
/* One of the pid namespaces of a thread. level 0: the first one. inum: its inode number. vtid, vpid: its ids there. */
void ring_dump_pid_namespace(struct ring_dump *d, int32_t tid, int32_t vtid, int32_t vpid, int32_t level,
			     uint32_t inum);
enum ring_namespace { RING_CGROUP_NS, RING_UTS_NS };
void ring_dump_namespace(struct ring_dump *d, enum ring_namespace which, int32_t tid, uint32_t inum);
void ring_dump_descriptor(struct ring_dump *d, uint64_t files, int32_t fd, uint32_t flags, const char *filename);
void ring_dump_interrupt(struct ring_dump *d, uint32_t irq, const char *action);
void ring_dump_disk(struct ring_dump *d, uint32_t dev, const char *name);	/* dev: major << 20 | minor */

#endif
