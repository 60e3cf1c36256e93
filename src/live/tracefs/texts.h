/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the kernel's own ring buffer gets what an event only points to: names of files, addresses of sockets, headers of
 * packets, descriptors. The sentences about it, for the consent page, `blktop -v` and messages.
 */
#ifndef BLK_LIVE_TRACEFS_TEXTS_H
#define BLK_LIVE_TRACEFS_TEXTS_H

#include "live/tracefs/probes.h"

struct tracefs_texts {
	bool by_kernel;			/* the kernel stores the names of files itself (Linux 7.0) */
	bool by_bpf;			/* else: programs of ours print them (bpf_names.h) */
	struct probe_kinds probes;	/* what probes of our own record */
	bool is_by_types;		/* tracefs cannot be opened: type information tells what root could use */
	bool is_unknown;		/* there is none either: all else is false */
};

/* root: directory of tracefs; -1: it is not mounted, or not open to this user; then the kernel's type information
 * tells what root could use. Changes nothing. */
struct tracefs_texts tracefs_texts_expected(int root);
/* What a kernel with this type information has; NULL: unknown. */
struct tracefs_texts tracefs_texts_of_types(const struct btf *types);

/* "names of files and addresses of sockets by event probes, ..."; g_free. NULL: nothing. */
char *tracefs_texts_known(const struct tracefs_texts *t);
/* The sentence for a word of a trace's metadata (RING_NAMES_ENV); static. NULL: no version wrote such a word. */
const char *tracefs_names_text(const char *word);
/* The line of `blktop -v` about them; g_free. */
char *tracefs_texts_line(const struct tracefs_texts *t);
/* What is not known, with what a kernel needs for it; g_free. NULL: nothing. */
char *tracefs_texts_unknown(const struct tracefs_texts *t);

#endif
