/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of files by BPF, where the kernel has neither texts nor event probes: at calls that take a name, a program of
 * some instructions prints it (trace/ring/ring_printed.h). It is loaded by bpf(2), needs no library and no compiler,
 * and ends with its descriptors, also after kill -9. Needs CAP_BPF and CAP_PERFMON, or root. Linux 5.9 (%pus) with
 * CONFIG_BPF_EVENTS.
 *
 * The kernel enables the event of such texts at the top level when a program is loaded; bpf_names_restore() puts that
 * back.
 */
#ifndef BLK_LIVE_TRACEFS_BPF_NAMES_H
#define BLK_LIVE_TRACEFS_BPF_NAMES_H

#include "trace/ring/ring_printed.h"

struct bpf_names;
/* root: directory of tracefs, borrowed. */
struct bpf_names *bpf_names_new(int root);
void bpf_names_free(struct bpf_names *b);	/* the programs end; NULL is fine */

/* Prints the name that the call takes, if it takes one. Returns the text of the format of what is printed (g_free); the
 * call's own event is then not needed. NULL: it takes none, or the kernel refuses such programs. */
char *bpf_names_add(struct bpf_names *b, const struct ring_format *format);
/* Disables the event of texts at the top level, if it was. waits: until the kernel has enabled it, a moment at most. */
void bpf_names_restore(const struct bpf_names *b, bool waits);
unsigned bpf_names_n(const struct bpf_names *b);	/* calls whose names are printed */
const char *bpf_names_tag(const struct bpf_names *b);	/* RING_PRINTED_TAG digits */
/* Can it be expected to work? Changes nothing. */
bool bpf_names_expected(int root);

#endif
