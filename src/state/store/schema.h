/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The schema of a second. Each kind of cell (figures of one thread, file, CPU, ...) is one list here. The structs are
 * generated from the lists, and so are the tables in schema.c. With these tables, general code finds, adds, maps,
 * publishes, folds, measures and frees cells, and names metrics.
 *
 * To add a figure, add a row here, the handler that counts it, and the view that shows it.
 *
 * A list has keys (K), then figures (F: one value, A: an array), histograms last:
 *
 *     K(type, name, role, help)
 *     F(type, name, role, unit, help)
 *     A(type, name, n, role, unit, function that names an element, help)
 *
 * In a bin (a second under construction), ids are those of its slice, and interrupts are codes instead of names.
 * In a published second, ids are those of the timeline's registries (registry.h).
 */
#ifndef BLK_STATE_STORE_SCHEMA_H
#define BLK_STATE_STORE_SCHEMA_H

#include "base/hist.h"
#include "base/intmap.h"
#include "base/value.h"
#include "state/store/part.h"
#include "state/store/registry.h"

#include <glib.h>
#include <stdbool.h>

/* ---- what the lists refer to ---- */

enum block_dir { BLOCK_READ, BLOCK_WRITE, BLOCK_OTHER, BLOCK_DIR_N };	/* other: flush, discard */

/* What a count_cell counts: events (only with slice_subscriptions_counting()), page faults, probe hits, and perf
 * counters. */
enum count_kind { COUNT_EVENT, COUNT_FAULT, COUNT_PROBE, COUNT_PERF, COUNT_KIND_N };

/* How a call on a descriptor is counted. */
enum io_dir {
	IO_DIR_READ, IO_DIR_WRITE, IO_DIR_SYNC, IO_DIR_OTHER, IO_DIR_N,
	IO_DIR_PLAIN = IO_DIR_N,	/* a read by read or readv; only in bins */
	IO_DIR_BUILT_N
};

/* What the call waits for, as far as the call itself tells. views/waited.h says whether that was work. */
enum call_wait {
	CALL_NO_WAIT,		/* for nothing, or for a device */
	CALL_WAITS_EVENT,	/* for something to do, by its kind: poll, accept, sleep, a signal, a child's end */
	CALL_WAITS_LOCK,	/* on a futex that looks like a lock */
	CALL_WAITS_QUEUE,	/* on any other futex: a condition, a queue, a thread's end */
	CALL_WAITS_DATA,	/* of a socket, pipe, terminal or event descriptor, or of an io_uring */
	CALL_WAITS_UNKNOWN,	/* on a futex whose operation, or for data of a file whose kind, is not known */
	CALL_WAIT_N
};

/* The slowest calls of a second are one list each: a list cannot take places from another one. Of a plain read only
 * publication knows the file, and thus enum call_wait. */
enum slow_list { SLOW_WORKS, SLOW_EVENTS, SLOW_WAITS, SLOW_PLAIN, SLOW_LIST_N };

/* What a lock is. LOCK_LEFT_OUT: any of those beyond LIMIT_SECOND_LOCKS. */
enum lock_kind { LOCK_NONE, LOCK_FUTEX, LOCK_FLOCK, LOCK_RECORD, LOCK_LEFT_OUT };

static inline bool lock_is_of_file(unsigned kind)
{
	return kind == LOCK_FLOCK || kind == LOCK_RECORD;
}

#define SCHED_PRIO_NONE INT16_MIN

/*
 * The two ends of a connection, from packet headers. "local" is the source of a packet that is queued at a device, and
 * the destination of a received packet. For a forwarded packet both ends are other machines. Unused bytes are 0, so
 * that flows can be compared as memory.
 */
enum { FLOW_TCP = 6, FLOW_UDP = 17, FLOW_OTHER = 255 };	/* IP protocol numbers; OTHER: any other, or unknown */

struct flow {
	uint8_t family;			/* 4 or 6 */
	uint8_t protocol;		/* FLOW_TCP etc. */
	uint16_t local_port, peer_port;	/* TCP and UDP, else 0 */
	uint16_t zero;			/* no byte is padding */
	uint8_t local[16], peer[16];	/* network byte order; IPv4: the first four bytes */
};

/* Unresolved time: in a system call that began before this slice, or that was not seen because of a loss. Only the
 * slice before can charge it to a part. Only in bins. */
enum {
	PART_UNRESOLVED_RUN = PART_N,		/* on a CPU, in a call from before the slice or in none */
	PART_UNRESOLVED_BLOCK,		/* blocked, likewise */
	PART_LOST_RUN,			/* the same after a loss: the next call record resolves it */
	PART_LOST_BLOCK,
	PART_RESTART_BLOCK,		/* blocked in a restart_syscall: its cause is that of an unresolved call */
	PART_SLICE_N
};

/* The kinds of unresolved time, and their parts. In a restart_syscall, time on a CPU is not unresolved. */
enum unresolved { UNRESOLVED_INITIAL, UNRESOLVED_LOST, UNRESOLVED_RESTART, UNRESOLVED_N };
static inline unsigned unresolved_run(enum unresolved u)
{
	return u == UNRESOLVED_INITIAL ? PART_UNRESOLVED_RUN : u == UNRESOLVED_LOST ? PART_LOST_RUN : PART_SYSCALL;
}
static inline unsigned unresolved_block(enum unresolved u)
{
	return u == UNRESOLVED_INITIAL ? PART_UNRESOLVED_BLOCK :
	       u == UNRESOLVED_LOST ? PART_LOST_BLOCK : PART_RESTART_BLOCK;
}
/* The kind of a part; UNRESOLVED_N: time in it is resolved. */
static inline enum unresolved unresolved_of(unsigned part)
{
	return part < PART_N ? UNRESOLVED_N : part <= PART_UNRESOLVED_BLOCK ? UNRESOLVED_INITIAL :
	       part <= PART_LOST_BLOCK ? UNRESOLVED_LOST : UNRESOLVED_RESTART;
}

/* ---- the lists ---- */

#define THREAD_CELL_OF(n_parts, K, F, A) \
	K(uint32_t, thread, THREAD, "the thread") \
	F(uint32_t, syscalls, SUM, COUNT, "system calls that ended in this second") \
	F(uint32_t, errors, SUM, COUNT, "of these, returned an error") \
	A(uint32_t, unsized, 2, SUM, COUNT, name_of_io, "calls that transferred an unknown number of bytes") \
	F(uint64_t, read_bytes, SUM, BYTES, "read by system calls") \
	F(uint64_t, write_bytes, SUM, BYTES, "written by system calls") \
	A(int64_t, part, n_parts, SUM, NS, name_of_part, "time by what the thread did; sums to its life in the second")
#define THREAD_CELL(K, F, A) THREAD_CELL_OF(PART_N, K, F, A)
#define BUILT_THREAD_CELL(K, F, A) THREAD_CELL_OF(PART_SLICE_N, K, F, A)

#define CALL_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread") \
	K(uint32_t, name, STRING, "of the system call: read, futex") \
	F(uint32_t, errors, SUM, COUNT, "calls that returned an error") \
	F(uint32_t, unpaired, SUM, COUNT, "calls that began in this second, with unknown exits") \
	F(uint32_t, unfinished, LAST, COUNT, "pending at the second's end (0 or 1)") \
	F(int64_t, busy_ns, SUM, NS, "time in it within this second") \
	F(struct hist, latency, HIST, NS, "from entry to exit, of calls that ended in this second")

/* Divides the time and the calls of a call cell by what they waited for, where the call's name does not tell: futex,
 * and plain reads. There are none of plain reads if a thread made them by two names. */
#define WAIT_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread") \
	K(uint32_t, name, STRING, "of the system call: read, futex") \
	K(uint32_t, wait, NUMBER, "enum call_wait") \
	F(uint32_t, errors, SUM, COUNT, "calls that returned an error") \
	F(int64_t, busy_ns, SUM, NS, "time in it within this second") \
	F(struct hist, latency, HIST, NS, "from entry to exit, of calls that ended in this second")

#define FILE_FIGURES(n_dirs, F, A) \
	F(uint32_t, errors, SUM, COUNT, "calls that returned an error") \
	F(uint64_t, submitted, SUM, COUNT, "requests submitted to io_uring; their files are not known") \
	A(uint32_t, untold, 2, SUM, COUNT, name_of_io, "calls that do not tell how many bytes they ask for") \
	A(uint32_t, unsized, 2, SUM, COUNT, name_of_io, "calls that transferred an unknown number of bytes") \
	A(uint64_t, bytes, 2, SUM, BYTES, name_of_io, "transferred") \
	A(uint64_t, asked, 2, SUM, BYTES, name_of_io, "asked for, by the calls that tell") \
	A(struct hist, latency, n_dirs, HIST, NS, name_of_io, "of the calls, by what they do")
#define FILE_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread") \
	K(uint32_t, file, FILE, "the file, socket or pipe") \
	F(int32_t, fd_low, MIN, ID, "least descriptor it was used by; -1: unknown") \
	F(int32_t, fd_high, MAX, ID, "greatest descriptor it was used by") \
	FILE_FIGURES(IO_DIR_N, F, A)

/* In bins, files are descriptors at an event, since the file is known only when all facts are (names.h). Cells of
 * different events stay separate. */
#define BUILT_FILE_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread") \
	K(int32_t, fd, NUMBER, "the descriptor") \
	K(uint64_t, seq, EVENT, "number of the event in the slice") \
	F(int64_t, blocked_ns, SUM, NS, "charged to the part that follows from the file's kind") \
	F(uint32_t, plain_errors, SUM, COUNT, "plain reads that returned an error") \
	F(int64_t, plain_ns, SUM, NS, "time in plain reads of it within this second") \
	FILE_FIGURES(IO_DIR_BUILT_N, F, A)

#define CPU_CELL(K, F, A) \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, cpu, NUMBER, "the CPU") \
	F(int64_t, run_ns, SUM, NS, "a thread ran") \
	F(int64_t, idle_ns, SUM, NS, "nothing ran") \
	F(int64_t, unknown_ns, SUM, NS, "unknown; running + idle + unknown is the coverage within the second") \
	F(int64_t, irq_ns, SUM, NS, "of running and idle, taken by interrupts")

#define SCHED_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread") \
	K(uint16_t, cpu, NUMBER, "the CPU") \
	K(int16_t, prio, NUMBER, "priority as the tracer records it (0: a thread of nice -20), or SCHED_PRIO_NONE") \
	F(uint32_t, switches, SUM, COUNT, "switched out there") \
	F(uint32_t, preemptions, SUM, COUNT, "of these, while it could have continued to run") \
	F(uint32_t, migrations, SUM, COUNT, "migrated to that CPU (sched_migrate_task)") \
	F(uint32_t, moves, SUM, COUNT, "seen there, after it was seen on another CPU") \
	F(struct hist, wakeup, HIST, NS, "runnable after a wakeup, until on the CPU") \
	F(struct hist, preempted, HIST, NS, "runnable after a preemption, until on the CPU")

#define RAN_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread") \
	K(uint32_t, cpu, NUMBER, "the CPU") \
	F(int64_t, time_ns, SUM, NS, "it ran there; of all threads, the CPU's running time")

#define IRQ_CELL(K, F, A) \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, cpu, NUMBER, "the CPU") \
	K(uint32_t, code, NUMBER, "distinguishes the interrupts of a host, hard ones before soft ones") \
	F(uint32_t, name, NAME, TEXT, "irq 34 ahci, softirq NET_RX") \
	F(int64_t, self_ns, SUM, NS, "in the handler, without handlers that interrupted it") \
	F(struct hist, time, HIST, NS, "from the handler's begin to its end") \
	F(struct hist, raise, HIST, NS, "of softirqs: raised, until the handler began")

#define STOLEN_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread that was interrupted") \
	K(uint32_t, code, NUMBER, "of the interrupt") \
	F(uint32_t, name, NAME, TEXT, "of the interrupt") \
	F(uint32_t, count, SUM, COUNT, "interrupts") \
	F(int64_t, self_ns, SUM, NS, "taken from the thread")

#define LOSS_CELL(K, F, A) \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, cpu, NUMBER, "the stream's CPU; UINT32_MAX: unknown") \
	K(int32_t, vpid, NUMBER, "of buffers of one process; else -1") \
	K(uint32_t, kernel, NUMBER, "1: the kernel's tracer") \
	F(uint32_t, count, SUM, COUNT, "losses, counted where they end") \
	F(uint64_t, events, SUM, COUNT, "events lost; 0: not known how many") \
	F(uint64_t, packets, SUM, COUNT, "packets lost") \
	F(int64_t, ns, SUM, NS, "of the second in which events may be lost") \
	F(uint64_t, early, SUM, COUNT, "events stamped earlier than one before them") \
	F(int64_t, back_ns, MAX, NS, "by how much at most")

#define WAKER_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread that was woken; counted when it was on the CPU") \
	K(uint32_t, waker, THREAD, "the thread that woke it; UINT32_MAX: none or unknown") \
	K(uint32_t, irq, INTERRUPT, "the interrupt that woke it, or 0") \
	K(uint32_t, idle, NUMBER, "1: the CPU of the wakeup was idle, no interrupt is known") \
	F(uint32_t, count, SUM, COUNT, "wakeups") \
	F(int64_t, total_ns, SUM, NS, "until it was on the CPU") \
	F(int64_t, max_ns, MAX, NS, "the longest")

#define COUNT_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread; UINT32_MAX: none, or unknown") \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, name, STRING, "of the event, or of the counter: cpu_instructions, thread_cache_misses") \
	K(uint16_t, kind, NUMBER, "enum count_kind") \
	K(uint16_t, idle, NUMBER, "1: the CPU's idle task") \
	K(uint32_t, cpu, NUMBER, "of user space events without a thread: the stream's CPU; else UINT32_MAX") \
	F(uint64_t, value, SUM, COUNT, "events, faults, hits, or what perf counted")

#define BLOCK_FIGURES(F, A) \
	F(uint32_t, errors, SUM, COUNT, "completions that failed") \
	A(uint32_t, requests, BLOCK_DIR_N, SUM, COUNT, name_of_block, "requests completed") \
	A(uint64_t, bytes, BLOCK_DIR_N, SUM, BYTES, name_of_block, "transferred") \
	F(struct hist, latency, HIST, NS, "from issue to completion") \
	F(struct hist, queue, HIST, NS, "from insertion to issue")
#define DEV_CELL(K, F, A) \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, dev, NUMBER, "the kernel's number: major << 20 | minor") \
	F(uint32_t, name, NAME, TEXT, "of the device; empty where it is unknown") \
	F(uint32_t, partial, SUM, COUNT, "completions that left a rest under way") \
	F(uint32_t, merges, SUM, COUNT, "requests merged with others") \
	F(uint32_t, requeues, SUM, COUNT, "requests that went back into the queue") \
	F(uint32_t, depth_max, MAX, COUNT, "most requests at the device") \
	F(uint32_t, queued_max, MAX, COUNT, "most requests waiting for it") \
	F(int64_t, busy_ns, SUM, NS, "with a request at the device") \
	F(int64_t, depth_ns, SUM, NS, "requests at it, summed over time") \
	F(int64_t, queued_ns, SUM, NS, "requests waiting for it, summed over time") \
	F(int64_t, unknown_ns, SUM, NS, "in which it is unknown how many requests there were") \
	BLOCK_FIGURES(F, A)
#define DEV_USER_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread that asked; UINT32_MAX: unknown") \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, dev, NUMBER, "the device") \
	F(uint32_t, name, NAME, TEXT, "of the device") \
	BLOCK_FIGURES(F, A)

#define NET_CELL(K, F, A) \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, name, STRING, "of the network device") \
	F(uint64_t, rx_packets, SUM, COUNT, "received") \
	F(uint64_t, rx_bytes, SUM, BYTES, "received") \
	F(uint64_t, queued_packets, SUM, COUNT, "given to the device's queue") \
	F(uint64_t, queued_bytes, SUM, BYTES, "given to the device's queue") \
	F(uint64_t, tx_packets, SUM, COUNT, "taken by the device") \
	F(uint64_t, tx_bytes, SUM, BYTES, "taken by the device") \
	F(uint64_t, tx_errors, SUM, COUNT, "refused by the device")

#define FLOW_CELL(K, F, A) \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, name, STRING, "of the network device") \
	K(struct flow, flow, NUMBER, "protocol, addresses and ports") \
	F(uint64_t, rx_packets, SUM, COUNT, "received") \
	F(uint64_t, rx_bytes, SUM, BYTES, "received") \
	F(uint64_t, tx_packets, SUM, COUNT, "queued at the device") \
	F(uint64_t, tx_bytes, SUM, BYTES, "queued at the device")

#define EVENT_CELL(K, F, A) \
	K(uint32_t, host, HOST, "the host") \
	K(uint32_t, name, STRING, "of the event") \
	F(uint64_t, count, SUM, COUNT, "events")

/*
 * Waits for locks, by who waited and who released the lock. A wait counts, with all of its time, in the second in which
 * the holder woke the waiter. What the holder did is of the time in which it is known to have had the lock: from the
 * wait's beginning or the last release before, whichever is later (.earlier_ns is what is before), to the wakeup.
 */
#define LOCK_FIGURES(F, A) \
	F(uint32_t, waits, SUM, COUNT, "waits that ended") \
	F(int64_t, total_ns, SUM, NS, "waited, until the holder woke the waiter") \
	F(int64_t, longest_at_ns, AT_MAX, NS, "when the longest wait began") \
	F(int64_t, max_ns, MAX, NS, "the longest wait") \
	F(int64_t, earlier_ns, SUM, NS, "of the time, before the holder had it: others held it") \
	F(int64_t, ran_ns, SUM, NS, "of the time, the holder ran") \
	A(int64_t, part, PART_N, SUM, NS, name_of_part, "of the time, what the holder waited for")
#define LOCK_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread that waited") \
	K(uint32_t, holder, THREAD, "the thread that released it; UINT32_MAX: unknown") \
	K(uint64_t, address, NUMBER, "of the futex; 0: a file's lock") \
	K(uint32_t, file, FILE, "of a file's lock; UINT32_MAX: none") \
	K(uint32_t, kind, NUMBER, "enum lock_kind") \
	LOCK_FIGURES(F, A)
/* In bins, files are descriptors at an event, as in BUILT_FILE_CELL: that of the lock, and one that the holder waited
 * for. */
#define BUILT_LOCK_CELL(K, F, A) \
	K(uint32_t, thread, THREAD, "the thread that waited") \
	K(uint32_t, holder, THREAD, "the thread that released it; UINT32_MAX: unknown") \
	K(uint64_t, address, NUMBER, "of the futex; 0: a file's lock") \
	K(uint64_t, kind, NUMBER, "enum lock_kind") \
	K(uint64_t, seq, EVENT, "of a file's lock: number of the waiter's call") \
	K(uint64_t, held_seq, EVENT, "number of the call in which the holder waited") \
	K(int32_t, fd, NUMBER, "of a file's lock; -1: none") \
	K(int32_t, held_fd, NUMBER, "that the holder waited for; -1: none") \
	F(int64_t, blocked_ns, SUM, NS, "charged to the part that follows from the kind of held_fd") \
	LOCK_FIGURES(F, A)

/* Kind, its array in struct second, its list, and its list in bins. */
#define CELL_KINDS(X) \
	X(thread, threads, THREAD_CELL, BUILT_THREAD_CELL) \
	X(call, calls, CALL_CELL, CALL_CELL) \
	X(wait, waits, WAIT_CELL, WAIT_CELL) \
	X(file, files, FILE_CELL, BUILT_FILE_CELL) \
	X(cpu, cpus, CPU_CELL, CPU_CELL) \
	X(sched, scheds, SCHED_CELL, SCHED_CELL) \
	X(ran, rans, RAN_CELL, RAN_CELL) \
	X(irq, irqs, IRQ_CELL, IRQ_CELL) \
	X(stolen, stolen, STOLEN_CELL, STOLEN_CELL) \
	X(loss, losses, LOSS_CELL, LOSS_CELL) \
	X(waker, wakers, WAKER_CELL, WAKER_CELL) \
	X(count, counts, COUNT_CELL, COUNT_CELL) \
	X(dev, devs, DEV_CELL, DEV_CELL) \
	X(dev_user, dev_users, DEV_USER_CELL, DEV_USER_CELL) \
	X(net, nets, NET_CELL, NET_CELL) \
	X(flow, flows, FLOW_CELL, FLOW_CELL) \
	X(event, events, EVENT_CELL, EVENT_CELL) \
	X(lock, locks, LOCK_CELL, BUILT_LOCK_CELL)

enum cell_kind {
#define CELL_ENUM(kind, array, list, built) CELL_##kind,
	CELL_KINDS(CELL_ENUM)
	CELL_KIND_N
};

/* Which cells a view reads: a set of bits. */
#define READS(kind) (1u << CELL_##kind)
#define READS_SLOW (1u << CELL_KIND_N)		/* the slowest calls: second.slow */

/* ---- the structs: struct call_cell, and its keys alone, struct call_key ---- */

#define CELL_NONE(...)
#define CELL_KEY(type, name, role, help) type name;
#define CELL_KEY_SIZE(type, name, role, help) + sizeof(type)
#define CELL_FIGURE(type, name, role, unit, help) type name;
#define CELL_FIGURES(type, name, n, role, unit, element, help) type name[n];
#define CELL_STRUCT(kind, list) \
	struct kind##_key { list(CELL_KEY, CELL_NONE, CELL_NONE) }; \
	struct kind##_cell { \
		union { \
			struct kind##_key key; \
			struct { list(CELL_KEY, CELL_NONE, CELL_NONE) }; \
		}; \
		list(CELL_NONE, CELL_FIGURE, CELL_FIGURES) \
	}; \
	/* keys are compared as memory */ \
	G_STATIC_ASSERT(sizeof(struct kind##_key) == 0 list(CELL_KEY_SIZE, CELL_NONE, CELL_NONE))
#define CELL_STRUCT_OF(kind, array, list, built) CELL_STRUCT(kind, list);
CELL_KINDS(CELL_STRUCT_OF)
CELL_STRUCT(built_thread, BUILT_THREAD_CELL);
CELL_STRUCT(built_file, BUILT_FILE_CELL);
CELL_STRUCT(built_lock, BUILT_LOCK_CELL);

/* ---- the tables ---- */

enum cell_type { FIELD_U16, FIELD_I16, FIELD_U32, FIELD_I32, FIELD_U64, FIELD_I64, FIELD_HIST, FIELD_BYTES };

enum cell_role {
	/* keys */
	CELL_IS_NUMBER, CELL_IS_THREAD, CELL_IS_HOST, CELL_IS_STRING, CELL_IS_FILE,
	CELL_IS_INTERRUPT,	/* a code in bins, then the string of its name */
	CELL_IS_EVENT,		/* number of an event in its slice */
	/* figures: how two cells of the same key are added */
	CELL_IS_SUM, CELL_IS_MAX, CELL_IS_MIN, CELL_IS_HIST,
	CELL_IS_LAST,		/* the value in the last second; not summed over time */
	CELL_IS_AT_MAX,		/* belongs to the next figure, a MAX: the value of the cell that has that */
	CELL_IS_NAME,		/* a string that is derived from the key at publication */
};

struct cell_field {
	const char *id;			/* "busy_ns" */
	uint16_t offset;
	uint8_t type, role;		/* enum cell_type, cell_role */
	uint16_t n, size;		/* elements, and bytes of one */
	enum value_kind unit;
	const char *(*element)(unsigned i);	/* name of an array's element; NULL: no array */
	const char *help;
};

struct cell_layout {
	const char *id;			/* "call" */
	uint16_t size, key_size;	/* bytes; the key comes first */
	uint8_t n_fields, n_keys, n_hists;	/* keys are the first fields, histograms the last */
	const struct cell_field *fields;
};

/* Static. */
const struct cell_layout *cell_layout(enum cell_kind kind);	/* in a published second */
const struct cell_layout *built_layout(enum cell_kind kind);	/* in a bin */

/* ---- cells of one kind ---- */

/* A hash table of cells. All zero: empty. Adding a cell may move the others. */
struct cell_table {
	char *cells;
	uint32_t n, room;		/* cells used, allocated */
	struct intmap map;		/* key -> index in cells */
	uint32_t recent[8];		/* cache of bin_cell(): indexes by some bits of the key */
};

/* The cell of the key; a new one is zero but for its key. ret_new may be NULL. */
void *cell_table_get(struct cell_table *t, const struct cell_layout *l, const void *key, bool *ret_new);
void *cell_table_find(const struct cell_table *t, const struct cell_layout *l, const void *key);	/* or NULL */
/* Allocates room for `room` cells in all. */
void cell_table_reserve(struct cell_table *t, const struct cell_layout *l, uint32_t room);
/* Appends a copy without indexing it: it is not found by its key. */
void *cell_table_append(struct cell_table *t, const struct cell_layout *l, const void *cell);
/* Adds a cell to the one of the same key. Histograms are copied; the caller still owns `cell`. */
void cell_table_add(struct cell_table *t, const struct cell_layout *l, const void *cell);
void cell_table_index(struct cell_table *t, const struct cell_layout *l);	/* rebuilds the index after keys
										 * changed */
/* Frees the cells too, with their histograms. */
void cell_table_clear(struct cell_table *t, const struct cell_layout *l);
/* Moves the cells out, as an array of *ret_n for g_free(). The table is empty afterwards. */
void *cell_table_steal(struct cell_table *t, const struct cell_layout *l, uint32_t *ret_n);

void cell_clear(const struct cell_layout *l, void *cell);		/* frees its histograms */
/*
 * Of a cell in which nothing but time was charged, without a break until its end: writes to `part` what falls in `ns`
 * that end `after_ns` before that end. What is no time belongs to the newest part (after_ns 0), which borrows the
 * histograms. False: it has nothing.
 */
bool cell_share(const struct cell_layout *l, void *part, const void *cell, int64_t after_ns, int64_t ns);
/* Packs the histograms of a stored cell. Returns their memory outside of the cell (bytes). */
size_t cell_seal(const struct cell_layout *l, void *cell);

/* Arrays that map ids to those of another slice or registry. ID_NONE stays. */
struct cell_maps {
	const uint32_t *thread, *string, *host, *file;
	uint64_t seq_add;		/* added to event numbers (CELL_IS_EVENT) */
	bool published;			/* interrupts are string ids, not codes */
};
void cell_map(const struct cell_layout *l, void *cell, const struct cell_maps *maps);

struct coder;
struct coder_ids;
/* Writes or reads the cells of a bin, or of a published second. ids: how many ids there are of each role (enum
 * cell_role); all others are any numbers. .used_strings: strings are written as code_used_id() does; or NULL. What is
 * read is not indexed. They are rows of the set (coder_row()). */
struct cell_ids { uint32_t thread, host, string, file; struct coder_ids *used_strings; };
void cell_table_code(struct coder *c, struct cell_table *t, const struct cell_layout *l, unsigned set,
		     const struct cell_ids *ids);

static inline void *cell_table_at(const struct cell_table *t, const struct cell_layout *l, uint32_t i)
{
	return t->cells + (size_t)i * l->size;
}

#endif
