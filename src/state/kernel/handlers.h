/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Handlers: what each event means. handlers.c has the table of events and the handlers of threads, calls and
 * interrupts; handlers_io.c, handlers_ns.c, handlers_spans.c, handlers_count.c and counting.c have the others.
 */
#ifndef BLK_STATE_KERNEL_HANDLERS_H
#define BLK_STATE_KERNEL_HANDLERS_H

#include "state/kernel/event_class.h"

#include <stddef.h>

struct thread;

/* By row of the subscription table. */
handler slice_handler(unsigned row);
handler slice_base_handler(unsigned row);	/* without rules; NULL: none */
enum event_kind slice_event_kind(unsigned row);
/* The table without rules: its rows, their handlers, and whether a row follows threads, calls and names. */
const struct blk_subscription *slice_base_subscriptions(size_t *ret_n);
handler slice_base_row_handler(size_t row);
bool slice_base_row_follows(size_t row);

/* Learns from the event's contexts. Returns the CPU's current task; NULL: unknown. */
struct thread *handler_task(struct feed *f);
/* Sets the thread's process: call it where a FACT_PID was written. */
void handler_pid(struct feed *f, struct thread *t, int64_t pid);

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
void on_ruled(struct feed *f);		/* an event of a rule */

/* handlers_count.c */
void on_page_fault(struct feed *f);
void on_probe(struct feed *f);
bool feed_is_kernel(const struct feed *f);	/* is it an event of the kernel's tracer? */
bool feed_has_kernel(const struct feed *f);	/* is its host's kernel traced? */
/* Counts the event before its handler runs. counters: its handler does not read its perf counters. */
void counted_event(struct feed *f, bool is_switch, bool counters);
/* The kernel's current task of the event's CPU; else the thread of a user space event's vtid; NULL: unknown. */
struct thread *user_thread(struct feed *f, bool *ret_by_kernel);
int32_t user_pid(const struct feed *f);		/* of an event of user space: context or buffer; -1: unknown */
void user_learn(struct feed *f, struct thread *t);	/* its name and process, if no kernel trace has them */
void counters_at_switch(struct feed *f, const struct thread *leaves);	/* NULL: unknown */
void counters_of_thread(struct feed *f, struct thread *t);	/* NULL is fine */

/* counting.c: rows of slice_subscriptions_counting() */
void on_counted(struct feed *f);
bool counting_has(unsigned row);	/* is it one of these, and not in the usual table? */
unsigned counting_base(unsigned row);	/* the usual row; one behind the last: none */

#endif
