/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers interpret events. handlers.c has the table of events and the handlers of threads, calls and interrupts. The
 * other handlers are in handlers_io.c, handlers_ns.c, handlers_spans.c, handlers_count.c and counting.c.
 */
#ifndef BLK_STATE_KERNEL_HANDLERS_H
#define BLK_STATE_KERNEL_HANDLERS_H

#include "state/kernel/event_class.h"

#include <stddef.h>

struct thread;

/* The handler of a row of the subscription table. */
handler slice_handler(unsigned row);
handler slice_base_handler(unsigned row);	/* in the table without rules; NULL: none */
enum event_kind slice_event_kind(unsigned row);
/* The table without rules: its rows, their handlers, and whether a row is needed to follow threads, calls and names. */
const struct blk_subscription *slice_base_subscriptions(size_t *ret_n);
handler slice_base_row_handler(size_t row);
bool slice_base_row_follows(size_t row);

/* Applies the event's contexts. Returns the CPU's current task; NULL: unknown. */
struct thread *handler_task(struct feed *f);

/* The name of the call with that number on the event's host; or "syscall_194" in the buffer: it is unknown. */
#define NUMBER_NAME_BYTES 32
const char *handler_call_name(const struct feed *f, int64_t number, char buffer[NUMBER_NAME_BYTES]);

/* handlers_io.c */
void on_block_insert(struct feed *f);
void on_block_issue(struct feed *f);
void on_block_complete(struct feed *f);
void on_block_requeue(struct feed *f);
void on_block_merge(struct feed *f);
void on_block_backmerge(struct feed *f);
void on_block_frontmerge(struct feed *f);
void on_net_receive(struct feed *f);
void on_net_queue(struct feed *f);
void on_net_send(struct feed *f);

/* handlers_spans.c */
void on_timestamp(struct feed *f);
void on_keyval_string(struct feed *f);
void on_keyval_integer(struct feed *f);
void on_function_entry(struct feed *f);
void on_function_exit(struct feed *f);
void on_binary(struct feed *f);
void on_ruled(struct feed *f);		/* an event that a rule uses */

/* handlers_count.c */
void on_page_fault(struct feed *f);
void on_probe(struct feed *f);
bool feed_is_kernel(const struct feed *f);	/* is it an event of the kernel's tracer? */
bool feed_follows_tasks(const struct feed *f);	/* does its host's kernel trace tell which threads run? */
/* Counts the event before its handler runs. counters: also read its perf counters, since its handler does not. */
void counted_event(struct feed *f, bool is_switch, bool counters);
/* String: the hostname of the container whose session daemon recorded the user space event, beside the trace of its
 * machine's kernel; 0: none. The event's pids are of a pid namespace that is unknown. In handlers_ns.c. */
uint32_t feed_container(const struct feed *f);
/* The current task of the event's CPU, by the kernel trace; else the thread of a user space event's vtid; NULL:
 * unknown. */
struct thread *user_thread(struct feed *f, bool *ret_by_kernel);
int32_t user_pid(const struct feed *f);		/* of a user space event: from its context or its buffer; -1: unknown */
void user_learn(struct feed *f, struct thread *t);	/* its name and process, if no kernel trace provides them */
void counters_at_switch(struct feed *f, const struct thread *leaves);	/* leaves: the thread switched out; NULL:
									 * unknown */
void counters_of_thread(struct feed *f, struct thread *t);	/* t may be NULL */

/* counting.c: rows of slice_subscriptions_counting() */
void on_counted(struct feed *f);
bool counting_has(unsigned row);	/* is it such a row, and not in the usual table? */
unsigned counting_base(unsigned row);	/* the usual table's row; number of its rows: none */

#endif
