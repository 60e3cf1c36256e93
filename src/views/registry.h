/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The views that view_all lists, one a file. Private to src/views/.
 */
#ifndef BLK_VIEWS_REGISTRY_H
#define BLK_VIEWS_REGISTRY_H

#include "views/compare.h"
#include "views/overview.h"
#include "views/process.h"
#include "views/waterfall.h"

extern const struct view view_traces;
extern const struct view view_phases;
extern const struct view view_processes;
extern const struct view view_syscalls;
extern const struct view view_files;
extern const struct view view_io;
extern const struct view view_spans;
extern const struct view view_path;
extern const struct view view_open;
extern const struct view view_changed;
extern const struct view view_slow_spans;
extern const struct view view_services;
extern const struct view view_events;
extern const struct view view_cpus;
extern const struct view view_devices;
extern const struct view view_peers;
extern const struct view view_slow;
extern const struct view view_scheduler;
extern const struct view view_wakers;
extern const struct view view_interrupts;
extern const struct view view_losses;
extern const struct view view_counters;

/* In .needs, which are names of events else: any system call; any perf counter, page fault,
 * hit of a probe, or one of these. */
#define NEED_WAKEUPS "sched_waking|sched_wakeup"	/* else time blocked includes waiting for a CPU */
#define NEED_SYSCALLS "syscall_*"
#define NEED_PERF "perf_*"
#define NEED_FAULTS "x86_exceptions_page_fault_user|x86_exceptions_page_fault_kernel|" \
	"exceptions_page_fault_user|exceptions_page_fault_kernel|page_fault_user|page_fault_kernel"
#define NEED_PROBES "(probe)"
#define NEED_COUNTS NEED_PERF "|" NEED_FAULTS "|" NEED_PROBES
/* Is it there? "a|b": one of them is enough. */
bool view_has_need(const struct timeline *tl, const char *need);
bool view_has_calls(const struct timeline *tl);

#endif
