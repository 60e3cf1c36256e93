/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plans what a session of this machine records: the events that the subscription table reads, as channels with
 * contexts and buffers. It does not contact a session daemon; struct plan_wish has what is known about the tracer.
 *
 * Do not add contexts other than those listed in plan.c: `prio`, and hardware counters on a machine without a PMU,
 * crash the kernel (lttng-modules 2.13.9 on Linux 6.1).
 */
#ifndef BLK_LIVE_SESSION_PLAN_H
#define BLK_LIVE_SESSION_PLAN_H

#include "trace/event.h"

enum plan_domain { PLAN_KERNEL, PLAN_UST, PLAN_DOMAINS };

/* The source of an event in the subscription table. PLAN_OLD: a row without "needs", a name in other versions of the
 * tracer. Such events are read, but not requested. */
enum plan_origin { PLAN_TRACEPOINT, PLAN_SYSCALL, PLAN_SPAN, PLAN_OLD };
enum plan_origin plan_origin(const struct blk_subscription *row);

enum plan_kind { PLAN_KIND_TRACEPOINT, PLAN_KIND_SYSCALLS, PLAN_KIND_KPROBE };

struct plan_event {
	enum plan_kind kind;
	char *name;		/* of the event; may end with '*'; of a kprobe: "probe_SYMBOL" */
	char *symbol;		/* of a kprobe; else NULL */
	uint64_t offset;	/* bytes from the symbol */
	bool of_preset;		/* described with others, not by name */
};

/* What records the kernel. PLAN_ANY_TRACER: LTTng's modules if they are there, else the kernel's own ring buffer. */
enum plan_tracer { PLAN_ANY_TRACER, PLAN_LTTNG, PLAN_TRACEFS, PLAN_NO_TRACER };
extern const char *const plan_tracer_words[];	/* "auto", "lttng", ...; NULL-terminated */

struct plan_channel {
	bool used;
	bool by_tracefs;		/* of the kernel: by its own ring buffer (live/tracefs/), not by LTTng */
	const char *name;		/* "kernel", "spans" */
	uint64_t subbuf_bytes, n_subbufs;	/* powers of 2; per CPU, in user space per CPU and user */
	GPtrArray *events;		/* struct plan_event * */
	const char *const *contexts;	/* "pid", NULL-terminated, static */
	unsigned n_contexts;
	char *why_not;			/* if not used: the reason and what to do; or NULL */
	char *known, *unknown;		/* .by_tracefs: as in struct plan_wish */
};

struct plan {
	char *session;
	uint32_t timer_us;		/* live timer; 0: a snapshot session, whose buffers are overwritten */
	uint64_t file_bytes;		/* size of the relay's trace files, a ring of .n_files for each stream */
	unsigned n_files;
	int loglevel;			/* LTTng's number: only events at least this severe; -1: all */
	unsigned n_counters;
	const struct plan_counter *counters[16];
	struct plan_channel channel[PLAN_DOMAINS];
};

/* A perf counter. Software counters only, as every kernel has these. */
struct plan_counter {
	const char *name;		/* "page-faults" */
	uint64_t config;		/* PERF_COUNT_SW_*; all are of PERF_TYPE_SOFTWARE */
	bool thread;			/* available in user space, too (perf:thread:) */
};
/* NULL: no counter has this name; *error lists the software counters. */
const struct plan_counter *plan_counter(const char *name, GError **error);
int plan_loglevel(const char *name);	/* "info" -> 6; -1: no such level */
/* Can it be events of programs, as "ros2:*" or "app:work_start"? */
bool plan_tracepoint_check(const char *pattern, GError **error);
/* Parses "vfs_read" or "vfs_read+0x10". *ret_symbol: g_free(). */
bool plan_symbol(const char *text, char **ret_symbol, uint64_t *ret_offset, GError **error);
/* Checks the offset that the session daemon reports for a probe. lttng-tools 2.13.9 drops offsets, so the probe would
 * count calls of the function instead. */
bool plan_probe_check(const struct plan_event *probe, uint64_t offset, GError **error);

#define PLAN_LEAST_KERNEL_BUFFER (UINT64_C(64) << 10)	/* 16 sub-buffers of a page, as LTTng-modules needs */

/* The user's request, and what is known about the tracer. Borrowed. */
struct plan_wish {
	const char *session;
	uint32_t timer_us;
	const struct blk_subscription *rows;
	size_t n_rows;
	bool kernel;			/* there is a kernel tracer that the user may use */
	bool by_tracefs;		/* it is the kernel's own ring buffer */
	const char *known, *unknown;	/* then: what events only point to, as texts of live/tracefs/texts.h; or NULL */
	const char *no_kernel;		/* if not .kernel: the reason and what to do */
	const char *no_programs;	/* why programs cannot be traced, and what to do; NULL: they can */
	bool spans_only;		/* do not record the kernel */
	uint64_t kernel_buffer;		/* bytes of each CPU, a power of 2, PLAN_LEAST_KERNEL_BUFFER to
					 * LIMIT_KERNEL_BUFFER_BYTES; 0: the usual */
	GHashTable *tracepoints;	/* set of the kernel tracer's events; NULL: unknown */
	bool calls_only;		/* of the kernel only system calls of tracked processes */
	bool functions;			/* entries and exits of functions (cyg_profile) */
	int loglevel;			/* -1: all */
	char **counters, **probes;	/* NULL: none. Valid for plan_counter(), plan_symbol(), */
	char **programs, **presets;	/* and for plan_tracepoint_check(); .presets: events of presets */
};

struct plan *plan_new(const struct plan_wish *wish);
/* The same as a snapshot session: buffers that are overwritten, no live timer. */
struct plan *plan_new_snapshot(const struct plan_wish *wish, const char *session);
void plan_free(struct plan *p);			/* NULL is fine */

/* Is it a channel of LTTng? */
static inline bool plan_is_lttng(const struct plan_channel *c)
{
	return c->used && !c->by_tracefs;
}
/* Does the channel record events with LTTng's name `event`? */
bool plan_records(const struct plan_channel *c, const char *event);
unsigned plan_count(const struct plan_channel *c, enum plan_kind kind);
/* Bytes: memory of its buffers for n_cpus, with programs of one user; disk space of the relay's files. */
uint64_t plan_memory(const struct plan *p, unsigned n_cpus);
uint64_t plan_disk(const struct plan *p, unsigned n_cpus);
/* Lines of at most 80 columns for the user: events, contexts, buffers, timer, what will not be seen, cost. Live plans
 * only. */
char *plan_describe(const struct plan *p, unsigned n_cpus);
/* Appends "  TITLE     text", wrapped between words. */
void plan_line(GString *s, const char *title, const char *text);

#endif
