/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages of the kernel's ring buffer to a CTF 1.8 trace as lttng-modules would have written it: metadata and packets,
 * one stream for each CPU. Live capture, recordings and files of trace-cmd use the same functions.
 *
 *     struct ring_packets *p = ring_packets_new(&layout, &trace, &sink, data);
 *     ring_packets_add_format(p, format);		// of each event that may occur
 *     ring_packets_start(p, cpu, cycles);
 *     ring_packets_pages(p, pages, n);		// again and again: what was read from all CPUs
 *     ring_packets_flush(p, cpu, cycles);		// the packet so far; no older event of this CPU will come
 *     ring_packets_free(p);
 *
 * Losses: the kernel overwrites the oldest page when a buffer is full, and marks the next page. Where that was, an
 * empty packet has the number in events_discarded, so that readers see exactly which time is missing.
 *
 * Threads: one at a time. Pages and formats are hostile input; what cannot be read is a loss.
 */
#ifndef BLK_TRACE_RING_RING_PACKETS_H
#define BLK_TRACE_RING_RING_PACKETS_H

#include "trace/ring/ring_format.h"
#include "trace/ring/ring_page.h"

/* Stream classes: of CPUs, whose instance is the CPU's number; of the state of the machine (ring_dump.h). */
enum { RING_STREAM_CPU = 0, RING_STREAM_STATE = 1 };

/* What the metadata says of the trace. Texts are borrowed until ring_packets_new() returns; NULL: unknown, left out. */
struct ring_trace {
	const char *hostname, *kernel_release, *kernel_version;
	const char *tracer;		/* "ftrace", "trace-cmd" */
	const char *names;		/* ring_names_of() */
	const char *clock_name;		/* a C identifier: "monotonic" */
	const char *clock_uuid;		/* the boot id, if clocks of other traces of this boot are the same */
	uint64_t clock_frequency;	/* Hz */
	int64_t clock_offset;		/* cycles from the epoch to the clock's 0 */
	uint8_t uuid[16];
};

/* Takes what is written. `metadata`: text that follows what was given before; it comes before the first packet that
 * needs it. `packet`: a whole packet of a stream, in its order, from begin to end (cycles). The bytes are the sink's.
 */
struct ring_sink {
	void (*metadata)(void *data, const char *text, size_t len);
	void (*packet)(void *data, unsigned stream_class, unsigned instance, GBytes *packet, uint64_t begin,
		       uint64_t end);
	/* All events that the kernel overwrote on this CPU since the trace began. Asked where a page does not say how
	 * many there were before it. NULL: not known; then such a loss counts as one event. */
	uint64_t (*overwritten)(void *data, unsigned cpu);
};

struct ring_packets;
struct ring_packets *ring_packets_new(const struct ring_layout *layout, const struct ring_trace *trace,
				      const struct ring_sink *sink, void *data);
void ring_packets_free(struct ring_packets *p);		/* NULL is fine; does not flush */
typedef struct ring_packets ring_packets;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ring_packets, ring_packets_free)

/* Takes over the format. One that has an id that was added before replaces it. */
void ring_packets_add_format(struct ring_packets *p, struct ring_format *format);
/* Declares the events so far, but for system calls, also if none occurs: what is in the metadata was recorded. */
void ring_packets_declare_events(struct ring_packets *p);
/* The process of a thread, as far as the caller knows it (from /proc). Forks are followed from there. */
void ring_packets_set_process(struct ring_packets *p, int32_t tid, int32_t tgid);
bool ring_packets_has_process(const struct ring_packets *p, int32_t tid);	/* is the thread's process known? */

/* Texts that begin with this are calls (ring_printed.h): RING_PRINTED_TAG digits. For pages of this machine. */
void ring_packets_set_tag(struct ring_packets *p, const char *tag);

/* System calls of this process, and of those that it makes from now on, are left out: those of the reader itself. */
void ring_packets_exclude_calls(struct ring_packets *p, int32_t pid);

/* Recording began at this time: what is lost before the CPU's first event counts. Without it, it does not. */
void ring_packets_start(struct ring_packets *p, unsigned cpu, uint64_t cycles);

struct ring_read {
	unsigned cpu;
	const uint8_t *bytes;
	size_t n;		/* of one page */
};
/* Pages of any CPUs; those of one CPU are in order. What the kernel knew at the same time should be in one call: the
 * an event on another CPU may say which process a thread belongs to. */
void ring_packets_pages(struct ring_packets *p, const struct ring_read *pages, size_t n);

/* Gives the CPU's events so far to the sink, in a packet that lasts until `until` (cycles; 0: until its last event). */
void ring_packets_flush(struct ring_packets *p, unsigned cpu, uint64_t until);
void ring_packets_flush_all(struct ring_packets *p, uint64_t until);

struct ring_counts {
	uint64_t events;	/* written */
	uint64_t lost;		/* events_discarded of all CPUs */
	uint64_t unknown;	/* events without a format: left out */
	uint64_t damaged;	/* pages that could not be read to their end */
};
struct ring_counts ring_packets_counts(const struct ring_packets *p);

/* ---- for ring_dump.h ---- */

void ring_packets_put_state(struct ring_packets *p, GBytes *packet, uint64_t begin, uint64_t end);
struct ring_stream *ring_packets_state(struct ring_packets *p);	/* its stream; borrowed */
void ring_packets_declare(struct ring_packets *p, const char *text);	/* more metadata */

#endif
