/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads what an instance of the kernel's tracer records (instance.h), and writes it as CTF packets. The process that
 * captures needs no rights: it gets descriptors and a setup from the one that made the instance.
 *
 *     c = capture_new(&setup, cpus, n_cpus, &sink, data, &error);
 *     each 20 to 50 ms: passed = capture_round(c);
 *     capture_free(c);
 *
 * Reading never waits, and no writer ever wakes the reader. One thread.
 */
#ifndef BLK_LIVE_TRACEFS_CAPTURE_H
#define BLK_LIVE_TRACEFS_CAPTURE_H

#include "base/coder.h"
#include "live/tracefs/instance.h"
#include "trace/ring/ring_packets.h"

#define CAPTURE_PERIOD_US 30000

/* What the reader must know, beside descriptors. */
struct capture_setup {
	char *header_page;		/* text of events/header_page */
	char *hostname, *kernel_release, *kernel_version, *boot_id;
	bool big_endian;
	uint8_t user_text;		/* tracefs_instance_user_text() */
	int64_t clock_offset;		/* ns from the epoch to CLOCK_MONOTONIC's 0 */
	uint64_t start;			/* CLOCK_MONOTONIC (ns): nothing was recorded before */
	uint8_t uuid[16];		/* of the trace to be written */
	int32_t own[2];			/* processes whose calls are left out, with those that they make; 0: none */
	char *formats;			/* tracefs_instance_formats() */
	char *tag;			/* tracefs_instance_tag() */
};
/* Fills in all but .start: of this machine, for this instance. */
void capture_setup_init(struct capture_setup *s, const struct tracefs_instance *i);
void capture_setup_clear(struct capture_setup *s);
/* To or from bytes. */
void code_capture_setup(struct coder *c, struct capture_setup *s);

struct capture;
/* The descriptors are borrowed. The sink's .overwritten is set by this. */
struct capture *capture_new(const struct capture_setup *setup, const struct tracefs_cpu *cpus, size_t n_cpus,
			    const struct ring_sink *sink, void *data, GError **error);
void capture_free(struct capture *c);			/* NULL is fine */

/* Reads what is in the buffers of all CPUs, and gives it to the sink. Returns an instant (cycles) that all CPUs have
 * passed: no older event will come. *ret_pages (or NULL): how many pages there were. */
uint64_t capture_round(struct capture *c, size_t *ret_pages);
struct ring_packets *capture_packets(struct capture *c);

#endif
