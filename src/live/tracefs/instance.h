/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An instance of the kernel's tracer (tracefs, Documentation/trace/ftrace.rst): a ring buffer of our own, with its own
 * events, clock and filters. Nothing else of the machine's tracing changes, but for probes of our own (probes.h).
 *
 *     i = tracefs_instance_new(&wish, &error);	// makes it; nothing is recorded yet
 *     ... i->info, i->cpus ...			// what a reader needs (trace/ring/ring_packets.h)
 *     tracefs_instance_start(i, &error);
 *     tracefs_instance_free(i);			// stops, and removes it
 *
 * Needs root: files of an instance are root's, with mode 0640, whatever the mount says (fs/tracefs/inode.c). If the
 * process is killed, the kernel stops recording and shrinks the buffer (option disable_on_free) once the last
 * descriptor of free_buffer is closed; the directory and the probes stay until tracefs_sweep(). One thread.
 */
#ifndef BLK_LIVE_TRACEFS_INSTANCE_H
#define BLK_LIVE_TRACEFS_INSTANCE_H

#include "live/tracefs/file.h"
#include "live/tracefs/texts.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct tracefs_wish {
	const char *name;		/* of the instance: "blktop-PID" */
	uint64_t buffer_bytes;		/* of each CPU */
	/* Is an event wanted? `event` has LTTng's name (trace/ring/ring_rules.h). */
	bool (*wants)(void *data, const char *event);
	void *data;
};

struct tracefs_cpu {
	unsigned number;
	int pages;			/* trace_pipe_raw: read(2) takes a page, and does not block */
	int statistics;			/* stats: pread(2) at 0 */
};

struct tracefs_instance;
struct tracefs_instance *tracefs_instance_new(const struct tracefs_wish *wish, GError **error);
/* Begins to record. *ret_cycles: CLOCK_MONOTONIC (ns) before the first event can be. */
bool tracefs_instance_start(struct tracefs_instance *i, uint64_t *ret_cycles, GError **error);
/* Stops recording; what is in the buffer can still be read. */
void tracefs_instance_stop(struct tracefs_instance *i);
/* Removes it. Descriptors that another process still has open delay that for up to `patience_ms`. NULL is fine. */
bool tracefs_instance_free(struct tracefs_instance *i, int patience_ms);

/* Probes that the kernel refused, and why; NULL: none. Their events are recorded as they are. */
const char *tracefs_instance_refused(const struct tracefs_instance *i);
/* What an event only points to, on this machine: what of it would be known. Changes nothing. */
struct tracefs_texts tracefs_instance_expected(void);

const struct tracefs_cpu *tracefs_instance_cpus(const struct tracefs_instance *i, size_t *n);
/* The text of events/header_page. */
const char *tracefs_instance_header(const struct tracefs_instance *i);
/* Formats of the events that are recorded: of each the system, a newline, the text, and TRACEFS_FORMAT_END. */
#define TRACEFS_FORMAT_END '\f'
const char *tracefs_instance_formats(const struct tracefs_instance *i);
/* What names that programs of ours print begin with (trace/ring/ring_printed.h). */
const char *tracefs_instance_tag(const struct tracefs_instance *i);
/* Bytes, the most of a text that the kernel stores with a call (Linux 7.0), up to RING_USER_TEXT_LONG. 0: it stores
 * none. */
unsigned tracefs_instance_user_text(const struct tracefs_instance *i);
/* System calls of these threads are not recorded, as they are those of the reader. */
bool tracefs_instance_exclude(struct tracefs_instance *i, const int *tids, size_t n, GError **error);

/* Records only events of these threads, of the threads that they create, and the wakeups of all those. Call it before
 * the start, again if there are more threads. */
bool tracefs_instance_follow(struct tracefs_instance *i, const int *tids, size_t n, GError **error);

/* ns of a clock that cannot fail: CLOCK_MONOTONIC, CLOCK_REALTIME. */
static inline uint64_t tracefs_clock(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Can this user trace the kernel with it? Changes nothing. False: *error says why not, and what to do. */
bool tracefs_is_usable(GError **error);

/* Removes instances "PREFIXpid" and probes of processes that have ended. Appends lines about them to `report`. */
void tracefs_sweep(const char *prefix, bool (*has_ended)(int pid), GString *report);

#endif
