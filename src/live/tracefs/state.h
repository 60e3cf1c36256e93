/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of this machine from /proc and /sys: threads, descriptors, namespaces, interrupts, disks. The process that
 * has the rights reads it into bytes; the process that writes the trace takes it from there.
 *
 * Any thread. Processes that begin or end meanwhile may be missing.
 */
#ifndef BLK_LIVE_TRACEFS_STATE_H
#define BLK_LIVE_TRACEFS_STATE_H

#include "trace/ring/ring_packets.h"

/* Appends the state of the machine. root: "", or in tests a directory that has proc/ and sys/. */
void tracefs_state_read(const char *root, GByteArray *to);

/* Writes it as a state dump of the trace, and tells p the processes of threads that it does not know. cycles: when it
 * was read, begin and end (CLOCK_MONOTONIC, ns). False: the bytes are something else; what came before is written. */
bool tracefs_state_put(struct ring_packets *p, const uint8_t *bytes, size_t n, uint64_t begin, uint64_t end,
		       GError **error);

#endif
