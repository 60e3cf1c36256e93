/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of files by BPF, where the kernel has neither texts nor event probes: a program looks at each system call, and
 * prints the names of those that take some (trace/ring/ring_printed.h). It is loaded by bpf(2), needs no library and no
 * compiler, and ends with its descriptors, also after kill -9. Needs CAP_BPF and CAP_PERFMON, or root. Linux 5.13 (two
 * names) with CONFIG_BPF_EVENTS, on x86-64 and arm64, whose registers it knows.
 *
 * The kernel enables the event of such texts at the top level when the program is loaded; bpf_names_restore() puts that
 * back.
 */
#ifndef BLK_LIVE_TRACEFS_BPF_NAMES_H
#define BLK_LIVE_TRACEFS_BPF_NAMES_H

#include "trace/ring/ring_printed.h"

struct bpf_names;
/* root: directory of tracefs, borrowed. */
struct bpf_names *bpf_names_new(int root);
void bpf_names_free(struct bpf_names *b);	/* the program ends; NULL is fine */

/* The program will print the names that the call takes. Returns the text of the format of what is printed (g_free); the
 * call's own event is not needed if bpf_names_start() succeeds. NULL: it takes none, or its number is unknown. */
char *bpf_names_add(struct bpf_names *b, const struct ring_format *format);
/* Starts it. False: no call was added, or the kernel refuses the program. */
bool bpf_names_start(struct bpf_names *b);
/* Disables the event of texts at the top level, if it was. waits: until the kernel has enabled it, a moment at most. */
void bpf_names_restore(const struct bpf_names *b, bool waits);
const char *bpf_names_tag(const struct bpf_names *b);	/* RING_PRINTED_TAG digits */
bool bpf_names_fit_here(void);	/* this machine and its kernel's version */
/* Can it be expected to work? Changes nothing. */
bool bpf_names_expected(int root);

#endif
