/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The list of all views, and the names of what views need. Private to src/views/.
 */
#ifndef BLK_VIEWS_REGISTRY_H
#define BLK_VIEWS_REGISTRY_H

#include "views/view.h"

/* All views in the order of --list-views. Each view_ID is defined in a file of its own. */
#define VIEW_LIST(X) \
	X(overview) X(traces) X(phases) X(processes) X(syscalls) X(files) X(spans) X(services) \
	X(waterfall) X(events) X(cpus) X(devices) X(peers) X(io) X(slow) X(scheduler) X(wakers) \
	X(locks) X(holders) X(interrupts) X(losses) X(path) X(open) X(slow_spans) X(compare) X(changed) X(causes) \
	X(process) X(counters) X(alerts) X(heatmap) X(distribution) X(timeline) X(flame)
#define VIEW_DECLARE_(id) extern const struct view view_##id;
VIEW_LIST(VIEW_DECLARE_)

/* Words that may stand in view.needs beside names of events: any system call, any perf counter, any page
 * fault, any hit of a probe, or any of the last three. */
#define NEED_SPANS "zipkin:timestamp"		/* or any other spans, see view_has_need() */
#define NEED_WAKEUPS "sched_waking|sched_wakeup"	/* without it, blocked time includes waiting for a CPU */
#define NEED_SYSCALLS "syscall_*"
#define NEED_CALLERS "sched_switch|kernel.tid"	/* which thread made a call, so that its entry and exit are paired */
#define NEED_PERF "perf_*"
#define NEED_FAULTS "x86_exceptions_page_fault_user|x86_exceptions_page_fault_kernel|" \
	"exceptions_page_fault_user|exceptions_page_fault_kernel|page_fault_user|page_fault_kernel"
#define NEED_PROBES "(probe)"
#define NEED_COUNTS NEED_PERF "|" NEED_FAULTS "|" NEED_PROBES
/* Latencies of requests, else of calls: both of these. */
#define NEED_LATENCIES "zipkin:timestamp|" NEED_SYSCALLS
#define NEED_LATENCY_CALLERS "zipkin:timestamp|" NEED_CALLERS

#endif
