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
uint32_t slice_event_what(unsigned row);	/* class_info.what; 0: the row has none */
/* The table without rules: its rows, their handlers, and whether a row is needed to follow threads, calls and names. */
const struct blk_subscription *slice_base_subscriptions(size_t *ret_n);
handler slice_base_row_handler(size_t row, uint32_t *ret_what);
bool slice_base_row_follows(size_t row);

/* The name of the call with that number on the event's host; or "syscall_194" in the buffer: it is unknown. */
#define NUMBER_NAME_BYTES 32
const char *handler_call_name(const struct fed_event *f, int64_t number, char buffer[NUMBER_NAME_BYTES]);

/* "what" is class_info.what. handlers_io.c: */
void on_block(struct fed_event *f);		/* what: enum block_what */
enum net_what { NET_RECEIVED, NET_QUEUED, NET_SENT };
void on_net(struct fed_event *f);		/* what: enum net_what */
/* An IPv6 address of which readers give eight numbers of 16 bits: 16 bytes in network byte order. */
void handler_copy_v6(uint8_t *to, const char *from);

/* handlers_ns.c: namespaces in the state dump, and forks */
void on_dump_ns(struct fed_event *f);		/* what: enum ns_kind */
void fork_ns(struct fed_event *f, struct thread *child);

/* handlers_spans.c */
void on_timestamp(struct fed_event *f);
void on_keyval(struct fed_event *f);		/* what: enum annot_type */
void on_function(struct fed_event *f);		/* what: enum annot_mark */
void on_binary(struct fed_event *f);
void on_ruled(struct fed_event *f);		/* an event that a rule uses */

/* handlers_count.c */
void on_counted_for_task(struct fed_event *f);	/* what: enum count_kind */
/* Counts the event before its handler runs. counters: also read its perf counters, since its handler does not. */
void counted_event(struct fed_event *f, bool is_switch, bool counters);
/* leaves: the thread switched out; NULL: unknown. */
void counters_at_switch(struct fed_event *f, const struct thread *leaves);
void counters_of_thread(struct fed_event *f, struct thread *t);	/* t may be NULL */

/* counting.c: rows of slice_subscriptions_counting() */
void on_counted(struct fed_event *f);
bool counting_has(unsigned row);	/* is it such a row, and not in the usual table? */
unsigned counting_base(unsigned row);	/* the usual table's row; number of its rows: none */

#endif
