/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sections of a slice file (slice_file.h): each function writes or reads one, and checks what it reads. Sections
 * are read in the order of this header, since later ones refer to ids of earlier ones. doc/slices.md has the format.
 */
#ifndef BLK_STATE_SLICE_SLICE_CODE_H
#define BLK_STATE_SLICE_SLICE_CODE_H

#include "base/coder.h"
#include "state/slice/slice_state.h"

struct slice_piece;

/* How many of each the slice has, so that ids can be checked when they are read. */
struct slice_counts {
	uint32_t strings, texts, hosts, channels, cpus, threads, annots;
	struct slice_piece *piece;
};

void code_summary(struct coder *c, struct slice *s, struct slice_counts *n);
/* Hosts, channels, losses, voids, names of event classes. */
void code_hosts(struct coder *c, struct slice *s, struct slice_counts *n);
void code_strings(struct coder *c, struct slice *s, struct slice_counts *n);
void code_threads(struct coder *c, struct slice *s, struct slice_counts *n);
void code_cpus(struct coder *c, struct slice *s, struct slice_counts *n);
/* Facts, annotations, binaries, wakeups, block events. */
void code_logs(struct coder *c, struct slice *s, struct slice_counts *n);
void code_bins(struct coder *c, struct slice *s, struct slice_counts *n);

/* Of a slice that was read: does its coverage follow from its seconds? */
bool code_coverage_fits(const struct slice *s);

#endif
