/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Probes of our own in the kernel's tracer (dynamic_events). They belong to the whole machine, not to an instance, so
 * they are in a group named by process, blktop_PID, and must be removed: at the end, or by a later run.
 *
 * Each kind can be missing in a kernel. If the kernel refuses a probe, the event that it would be attached to is
 * recorded without it. Others' probes are never touched. One thread.
 */
#ifndef BLK_LIVE_TRACEFS_PROBES_H
#define BLK_LIVE_TRACEFS_PROBES_H

#include "live/tracefs/btf.h"
#include "live/tracefs/probe_text.h"

/* What probes of this kernel record, or would. */
struct probe_kinds {
	bool paths;		/* names of files, addresses of sockets: needs event probes (Linux 5.15) */
	bool packets;		/* headers of packets: needs type information (BTF), too */
	bool descriptors;	/* of pipes, socket pairs and accepted sockets: needs kprobes; their peers BTF */
};
/* What the kernel with this type information can do; without any (NULL): nothing. */
struct probe_kinds probe_kinds_of(const struct btf *types);

struct probes;
/* instance: "blktop-PID", from which the group's name is. root: directory of tracefs, borrowed. */
struct probes *probes_new(int root, const char *instance);
/* Removes them. Call it when no instance of ours is left: the kernel empties buffers in which they were enabled. The
 * names of those that stay are appended to `left` (or NULL). NULL is fine. */
void probes_free(struct probes *p, GString *left);

/* Makes a probe that records more than the event of this format, if one is wanted. Returns the text of its format
 * (g_free), which has the event's own name, and *ret_dir: its directory below events/ (g_free). NULL: none. */
char *probes_add(struct probes *p, const struct ring_format *format, char **ret_dir);
/* The same for where descriptors get their files. *ret_filter: of the event, static; NULL: none. */
char *probes_add_install(struct probes *p, char **ret_dir, const char **ret_filter);
/* Probes that the kernel refused, and why: "sys_enter_open (Invalid argument)"; NULL: none. */
const char *probes_refused(const struct probes *p);

/* Removes the groups of processes that have ended. prefix: of instances, "blktop-". Appends lines to `report`. */
void probes_sweep(int root, const char *prefix, bool (*has_ended)(int pid), GString *report);

#endif
