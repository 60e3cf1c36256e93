/* SPDX-License-Identifier: GPL-2.0-only */
/* By which way a recording has names of files: a word in its metadata. */
#ifndef BLK_TRACE_RING_RING_NAMES_H
#define BLK_TRACE_RING_RING_NAMES_H

#include <glib.h>

#define RING_NAMES_ENV "names_of_files"	/* in the metadata's env; its values: */
#define RING_NAMES_KERNEL "kernel"	/* the kernel stores them (Linux 7.0) */
#define RING_NAMES_PROBES "probes"	/* event probes of ours */
#define RING_NAMES_BPF "bpf"		/* programs of ours, of some calls (ring_printed.h) */
#define RING_NAMES_NONE "none"

/* The word for what these formats (struct ring_format *) have; static. NULL: they have no call that takes a name. */
const char *ring_names_of(const GPtrArray *formats);

#endif
