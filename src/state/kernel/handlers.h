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

/* handlers_ns.c: namespaces in the state dump, and forks */
void on_dump_pid_ns(struct feed *f);
void on_dump_cgroup_ns(struct feed *f);
void on_dump_uts_ns(struct feed *f);
void fork_ns(struct feed *f, uint32_t child);

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
/* Counts the event before its handler runs. counters: also read its perf counters, since its handler does not. */
void counted_event(struct feed *f, bool is_switch, bool counters);
void counters_at_switch(struct feed *f, const struct thread *leaves);	/* leaves: the thread switched out; NULL:
									 * unknown */
void counters_of_thread(struct feed *f, struct thread *t);	/* t may be NULL */

/* counting.c: rows of slice_subscriptions_counting() */
void on_counted(struct feed *f);
bool counting_has(unsigned row);	/* is it such a row, and not in the usual table? */
unsigned counting_base(unsigned row);	/* the usual table's row; number of its rows: none */

#endif
