/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The log: every system call and event of a range, one line each, like strace's output. Entry
 * and exit of a call are one line; descriptors have names. A slice (slice.h) is fed with the same events. It
 * determines the running thread, the exit of each entry, and the file of each descriptor: the log has no separate
 * model.
 *
 *     struct calllog *j = calllog_new(&options, emit, data);
 *     ... calllog_feed(j, &source->tables, batch.ev, batch.n) ...
 *     calllog_finish(j);
 *     calllog_free(j);
 *
 * Sources must be opened with calllog_subscriptions(): all fields of all events. Events before options.from_ns
 * give no lines, only names and pending calls; a source with calllog_name_subscriptions() reads much less for
 * that. Memory grows with pending calls, lines held back, names of descriptors, and with processes as in the
 * model.
 *
 * Lines are emitted in order of .ts. A call is at its entry. A call that takes longer than lines are held back
 * gives two lines, as in strace: LINE_PENDING at its entry, and LINE_RESUMED, with all that is known, at its exit.
 * One thread.
 */
#ifndef BLK_STATE_CALLLOG_CALLLOG_H
#define BLK_STATE_CALLLOG_CALLLOG_H

#include "trace/event.h"

enum calllog_kind {
	CALLLOG_CALL,
	CALLLOG_EVENT,			/* any other kernel event */
	CALLLOG_USER,			/* a user-space event */
	CALLLOG_LOSS,			/* events or packets were lost */
	CALLLOG_KIND_N
};
extern const char *const calllog_kind_name[CALLLOG_KIND_N];	/* "call", ... */

/* What a line of a call contains. Every call has exactly one line of a state other than LINE_PENDING. */
enum calllog_state {
	LINE_WHOLE,			/* entry and exit */
	LINE_PENDING,			/* its entry; LINE_RESUMED or LINE_UNFINISHED follows */
	LINE_RESUMED,			/* its exit, with all of the call: the entry was emitted, or is before the
					 * range */
	LINE_UNFINISHED,		/* its entry; it has no exit in what was read */
	LINE_EXIT,			/* its exit; the entry is unknown */
	LINE_NO_RETURN,			/* it never returns: exit_group */
	LINE_STATE_N
};
extern const char *const calllog_state_name[LINE_STATE_N];

#define CALLLOG_UNKNOWN INT64_MIN	/* an unknown instant */

struct calllog_fd {			/* a descriptor among the fields of a line */
	int64_t fd;
	GRefString *name;		/* path, "socket inet 10.0.0.1:80", "pipe" */
};

struct calllog_line {
	uint8_t kind, state;
	bool has_ret;
	bool lost;			/* a call; its exit may be among lost events */
	uint8_t machine;		/* enum machine of the host */
	uint32_t cpu;			/* UINT32_MAX: unknown */
	int32_t tid, pid;		/* -1: unknown */
	int64_t ts;			/* its place in the log, ns */
	uint64_t seq;			/* ascending with ts; unique in a calllog */
	int64_t entry_ns, exit_ns;	/* of calls; CALLLOG_UNKNOWN */
	int64_t ret;
	GRefString *name;		/* of the call or event */
	GRefString *comm;		/* "" when not known */
	GRefString *host;
	GRefString *ret_name;		/* file of the descriptor that the call returned, or NULL */
	GBytes *args, *results;		/* packed fields (base/fields.h) of entry or event, and of exit; or NULL */
	GArray *fds;			/* struct calllog_fd, or NULL */
	struct blk_loss loss;
	uint64_t entry_seq;		/* the log's own, of calls: number of the entry, */
	bool emitted;			/* .entry_seq was emitted, or is before the range */
	gatomicrefcount refs;
};
struct calllog_line *calllog_line_ref(struct calllog_line *l);
void calllog_line_unref(struct calllog_line *l);	/* NULL is fine */

/* The file of descriptor fd when the line's call began; NULL: unknown. */
const char *calllog_line_fd(const struct calllog_line *l, int64_t fd);
/* Is a field with this name a descriptor? */
bool calllog_is_fd(const char *field);
/* "ENOENT" for 2; NULL: unknown number. */
const char *calllog_errno(int64_t number);

const struct blk_subscription *calllog_subscriptions(size_t *ret_n);
const struct blk_subscription *calllog_name_subscriptions(size_t *ret_n);

struct calllog_options {
	int64_t from_ns, to_ns;		/* lines with from_ns <= ts < to_ns are emitted */
	size_t hold;			/* maximum number of lines held back until a call returns; 0: 4096 */
	int64_t hold_ns;		/* maximum time (of the trace) that lines are held back; 0: 1 s */
};

/* Receives a line and owns its reference. */
typedef void (*calllog_emit)(void *data, struct calllog_line *line);

struct calllog;
struct calllog *calllog_new(const struct calllog_options *options, calllog_emit emit, void *data);
void calllog_feed(struct calllog *j, const struct blk_tables *tables, const struct blk_event *ev,
		  size_t n);
/* The next source begins with a loss in this stream. */
void calllog_begin_lost(struct calllog *j, const struct blk_tables *tables, unsigned stream,
			const struct blk_loss *loss);
/* A source has ended; the next one has later events of the same trace. */
void calllog_change_source(struct calllog *j);
void calllog_finish(struct calllog *j);		/* emits the lines held back */
void calllog_free(struct calllog *j);		/* NULL is fine */

/* The descriptors that a process has open now: struct calllog_fd by number. Empty: none known. Free with
 * g_array_unref(). */
GArray *calllog_open_fds(struct calllog *j, const char *host, int32_t pid);
/* Calls in progress now: references to their lines, as LINE_PENDING. Free with g_ptr_array_unref(). */
GPtrArray *calllog_open_calls(struct calllog *j);
struct calllog_cpu { uint32_t cpu; int32_t tid; GRefString *comm; };	/* tid -1: unknown; comm: NULL: unknown */
/* Appends the thread that runs on each CPU of the host now, as struct calllog_cpu, by CPU number. */
void calllog_all_cpus(struct calllog *j, const char *host, GArray *ret);

#endif
