/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The journal: every call and event of a range, line by line, as strace would tell them.
 * Entry and exit of a call are one line; descriptors have names; what is not known is
 * said to be unknown. Who runs, which exit belongs to which entry and what a descriptor is
 * called says a slice (slice.h) that is fed with the same events: the log has no account of its own.
 *
 *     struct journal *j = journal_new(&options, tell, data);
 *     ... journal_feed(j, &source->tables, batch.ev, batch.n) ...
 *     journal_finish(j);
 *     journal_free(j);
 *
 * It reads sources that were opened with journal_subscriptions(): all fields of all
 * events. What comes before options.from_ns only teaches names and pending calls; a source
 * of journal_name_subscriptions() does that with much less to read. Memory grows with the calls that are
 * open, what is held back, the names of descriptors, and with processes as the model's does.
 *
 * Lines are told in order of .ts. A call stands where it was entered; one that takes
 * longer than lines are held back is told twice, as strace does: LINE_PENDING where it was
 * entered, LINE_RESUMED (with all that is known) where it came back. One thread.
 */
#ifndef BLK_STATE_CALLLOG_CALLLOG_H
#define BLK_STATE_CALLLOG_CALLLOG_H

#include "trace/event.h"

enum journal_kind {
	JOURNAL_CALL,
	JOURNAL_EVENT,			/* any other event of the kernel */
	JOURNAL_USER,			/* an event of a program */
	JOURNAL_LOSS,			/* events or packets were lost */
	JOURNAL_KIND_N
};
extern const char *const journal_kind_name[JOURNAL_KIND_N];	/* "call", ... */

/* What a line tells of a call. Every call has one line of a state other than PENDING. */
enum journal_state {
	LINE_WHOLE,			/* entry and exit */
	LINE_PENDING,			/* its entry; the rest comes later */
	LINE_RESUMED,			/* its exit: all of it, its entry was told or lies before */
	LINE_UNFINISHED,		/* its entry: it did not come back in what was read */
	LINE_EXIT,			/* its exit: how it began is not known */
	LINE_NO_RETURN,			/* it never comes back: exit_group */
	LINE_STATE_N
};
extern const char *const journal_state_name[LINE_STATE_N];

#define JOURNAL_UNKNOWN INT64_MIN	/* an instant that is not known */

struct journal_fd {			/* a descriptor that the line mentions */
	int64_t fd;
	GRefString *name;		/* path, "socket inet 10.0.0.1:80", "pipe" */
};

struct journal_line {
	uint8_t kind, state;
	bool has_ret;
	bool lost;			/* a call whose end may lie in a loss */
	uint32_t cpu;			/* UINT32_MAX: unknown */
	int32_t tid, pid;		/* -1: unknown */
	int64_t ts;			/* where it stands */
	uint64_t seq;			/* ascending in the order of ts; numbers within a journal */
	int64_t entry_ns, exit_ns;	/* of calls; JOURNAL_UNKNOWN */
	int64_t ret;
	GRefString *name;		/* of the call or event */
	GRefString *comm;		/* "" when not known */
	GRefString *host;
	GRefString *ret_name;		/* of the descriptor that it returned, or NULL */
	GBytes *args, *results;		/* runs of base/fields.h: of entry or event; of exit. NULL */
	GArray *fds;			/* struct journal_fd, or NULL */
	struct blk_loss loss;
	uint64_t entry_seq;		/* the journal's own, of calls: number of the entry, */
	bool told;			/* and is that told, or before the range? */
	gatomicrefcount refs;
};
struct journal_line *journal_line_ref(struct journal_line *l);
void journal_line_unref(struct journal_line *l);	/* NULL is fine */

/* What descriptor fd was when the line's call began; NULL: not known. */
const char *journal_line_fd(const struct journal_line *l, int64_t fd);
/* Is a field of this name a descriptor? */
bool journal_is_fd(const char *field);
/* "ENOENT" for 2; NULL: no such error. */
const char *journal_errno(int64_t number);

const struct blk_subscription *journal_subscriptions(size_t *ret_n);
const struct blk_subscription *journal_name_subscriptions(size_t *ret_n);

struct journal_options {
	int64_t from_ns, to_ns;		/* lines with from_ns <= ts < to_ns are told */
	size_t hold;			/* lines held back for a call's end; 0: 4096 */
	int64_t hold_ns;		/* how long in the trace's time; 0: 1 s */
};

/* Takes the line over. */
typedef void (*journal_tell)(void *data, struct journal_line *line);

struct journal;
struct journal *journal_new(const struct journal_options *options, journal_tell tell, void *data);
void journal_feed(struct journal *j, const struct blk_tables *tables, const struct blk_event *ev,
		  size_t n);
/* Another source begins with this stream in a loss. */
void journal_begin_lost(struct journal *j, const struct blk_tables *tables, unsigned stream,
			const struct blk_loss *loss);
/* A source is over, another (of the same trace, later) comes. */
void journal_change_source(struct journal *j);
void journal_finish(struct journal *j);		/* tells what was held back */
void journal_free(struct journal *j);		/* NULL is fine */

/* The open descriptors of a process as they are now: struct journal_fd by number, the
 * caller's (g_array_unref). Empty: none known. */
GArray *journal_open_fds(struct journal *j, const char *host, int32_t pid);
/* Calls that are in progress now: lines of LINE_PENDING, the caller's references. */
GPtrArray *journal_open_calls(struct journal *j);
/* Who runs on the CPUs of the host now: appends struct journal_cpu (journal_window.h), by
 * number. */
void journal_all_cpus(struct journal *j, const char *host, GArray *ret);

#endif
