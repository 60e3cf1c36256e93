/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session of this machine records: exactly what the subscription table reads, as
 * channels with events, contexts and buffers. Pure: nothing is asked of a session daemon
 * here; what is known of the tracer comes in as struct plan_wish.
 *
 * No context is ever added that isn't listed here: `prio`, and hardware counters where there
 * is no PMU, crash kernels (lttng-modules 2.13.9 on Linux 6.1).
 */
#ifndef BLK_LIVE_SESSION_PLAN_H
#define BLK_LIVE_SESSION_PLAN_H

#include "trace/event.h"

enum plan_domain { PLAN_KERNEL, PLAN_UST, PLAN_DOMAINS };

/* Where an event of the table comes from. Rows without "needs" are names that other versions
 * of the tracer use: they are read, but no recipe asks for them. */
enum plan_origin { PLAN_TRACEPOINT, PLAN_SYSCALL, PLAN_SPAN, PLAN_OLD };
enum plan_origin plan_origin(const struct blk_subscription *row);

enum plan_kind { PLAN_KIND_TRACEPOINT, PLAN_KIND_SYSCALLS, PLAN_KIND_KPROBE };

struct plan_event {
	enum plan_kind kind;
	char *name;		/* the event's; may have a '*' at its end; of a kprobe: "probe_SYMBOL" */
	char *symbol;		/* of a kprobe */
	uint64_t offset;	/* in it */
};

struct plan_channel {
	bool used;
	const char *name;		/* "kernel", "spans" */
	uint64_t subbuf_bytes, n_subbufs;	/* powers of 2; for each CPU, of user space for each user */
	GPtrArray *events;		/* struct plan_event * */
	const char *const *contexts;	/* "pid", NULL-terminated, static */
	unsigned n_contexts;
	char *why_not;			/* a domain that is not used: why, with the remedy; or NULL */
};

struct plan {
	char *session;
	uint32_t timer_us;		/* 0: a snapshot session, with buffers that are overwritten */
	uint64_t file_bytes;		/* the relay's trace files: rings of so many so large */
	unsigned n_files;
	int loglevel;			/* lttng's number: events at least so severe; -1: all */
	unsigned n_counters;
	const struct plan_counter *counters[16];
	struct plan_channel channel[PLAN_DOMAINS];
};

/* Software counters only: these are in every kernel. */
struct plan_counter {
	const char *name;		/* "page-faults" */
	uint64_t config;		/* PERF_COUNT_SW_*; all are of PERF_TYPE_SOFTWARE */
	bool thread;			/* user space can have it too (perf:thread:) */
};
/* NULL and *error: not a software counter; names those that are. */
const struct plan_counter *plan_counter(const char *name, GError **error);
int plan_loglevel(const char *name);	/* "info" -> 6; -1: no such level */
/* "vfs_read", "vfs_read+0x10". */
bool plan_symbol(const char *text, char **ret_symbol, uint64_t *ret_offset, GError **error);
/* `offset`: where the session daemon says the probe is. lttng-tools 2.13.9 drops offsets: it would
 * count calls of the function under the name of a place in it. */
bool plan_probe_check(const struct plan_event *probe, uint64_t offset, GError **error);

/* As the user asked for it, and what is known of the tracer. Borrowed. */
struct plan_wish {
	const char *session;
	uint32_t timer_us;
	const struct blk_subscription *rows;
	size_t n_rows;
	bool kernel;			/* there is a kernel tracer and the right to use it */
	const char *no_kernel;		/* else: why not, and what would mend it */
	bool spans_only;		/* the kernel is not wanted */
	GHashTable *tracepoints;	/* names the kernel's tracer has; NULL: not known */
	bool calls_only;		/* of the kernel only the calls of tracked processes */
	bool functions;			/* cyg_profile */
	int loglevel;			/* -1: all */
	char **counters, **probes;	/* NULL: none. Checked by plan_counter(), plan_symbol() */
};

struct plan *plan_new(const struct plan_wish *wish);
/* The same as a flight recorder: overwritten buffers, no live timer, another name. */
struct plan *plan_new_snapshot(const struct plan_wish *wish, const char *session);
void plan_free(struct plan *p);			/* NULL is fine */

unsigned plan_count(const struct plan_channel *c, enum plan_kind kind);
/* Memory of its buffers for n_cpus, with one user's programs; disk of the relay's files. */
uint64_t plan_memory(const struct plan *p, unsigned n_cpus);
uint64_t plan_disk(const struct plan *p, unsigned n_cpus);
/* Some lines of at most 80 columns: events, contexts, buffers, timer, cost. Of a live plan. */
char *plan_describe(const struct plan *p, unsigned n_cpus);
/* Appends "  TITLE     text", broken between words. */
void plan_line(GString *s, const char *title, const char *text);

#endif
