/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts: statements about a name at an instant (opened, forked, renamed), by thread. Handlers write them with
 * slice_fact(); names.c applies them in order of time. And ids of texts.
 */
#ifndef BLK_STATE_KERNEL_FACTS_H
#define BLK_STATE_KERNEL_FACTS_H

#include "trace/event.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define PATH_UNKNOWN "?"	/* a file whose open has no entry event */

enum fact_kind {
	FACT_COMM,		/* thread has the name .text */
	FACT_PID,		/* thread belongs to process .a (ppid .b or -1) */
	FACT_FORK,		/* thread forked .other; the child's pid is .a, the parent's .b */
	FACT_CLONE,		/* thread is about to fork with the flags .a (CLONE_*); -1: unknown */
	FACT_UNSHARE,		/* thread gets a copy of its descriptor table */
	FACT_EXEC,		/* close-on-exec files close; .other: the thread before exec, or ID_NONE */
	FACT_EXIT,		/* .a: 1: last thread of the process, 0: not the last, -1: unknown */
	FACT_KERNEL,		/* thread is a kernel thread */
	FACT_OPEN,		/* fd .a is the file .text below dirfd .b; kind .file_kind, cloexec .flag */
	FACT_NAME,		/* fd .a is a socket with the peer .text */
	FACT_CLOSE,		/* fds .a to .b are closed */
	FACT_DUP,		/* fd .a is duplicated as .b; cloexec .flag */
	FACT_CLOEXEC,		/* fds .a to .b: cloexec = .flag */
	FACT_DUMP_TABLE,	/* thread's table has the address .a */
	FACT_DUMP_FD,		/* fd .b of the table at address .a (.flag), or of pid .a, is .text; .c: flags */
	FACT_IRQ,		/* irq code .a has the name .text */
	FACT_DEV,		/* device .a has the name .text */
	FACT_NS,		/* thread's process is in namespace .b of kind .a; its pid there is .c or -1 */
	FACT_USER,		/* thread made a system call: it is not a kernel thread */
	FACT_CONTEXT,		/* contexts of thread's events: .b or .text of kind .a; .flag: see .c in contexts.h */
	FACT_LOST,		/* a loss of kernel events of .host begins or ends: anything may have changed unseen */
};

struct fact {
	int64_t ts;
	uint64_t seq;		/* number of its event */
	uint8_t kind;		/* enum fact_kind */
	uint8_t file_kind;	/* enum file_kind */
	uint8_t level;		/* FACT_NS: of the pid namespace */
	bool flag;
	uint32_t host;
	uint32_t thread, other;	/* or ID_NONE */
	uint32_t text;		/* string */
	int64_t a, b, c;
};

struct fed_event;
struct slice;
struct thread;

/* Ids of texts: of any string; of a path or peer, within slice_bound_paths(); of an annotation's text. */
uint32_t slice_string(struct slice *s, struct blk_text t);
uint32_t slice_path(struct slice *s, struct blk_text t);
uint32_t slice_text(struct slice *s, struct blk_text t);
/* Appends what an event states about the thread; ID_NONE: about none. Sets .ts, .seq, .thread, and .host if there is a
 * thread. `what` has the other fields of its kind. */
void slice_fact(struct slice *s, uint32_t thread, int64_t ts, uint64_t seq, const struct fact *what);
/* The same for the event that is handled; NULL: it states something about its host. */
void event_fact(const struct fed_event *f, const struct thread *t, const struct fact *what);
/* Puts the facts [from, to) in order of their events. Those of records that were held come late (thread_order.h). */
void slice_sort_facts(struct slice *s, guint from, guint to);

#endif
