/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Results of system calls, and names of their events in all versions of LTTng. "compat" events are those of 32-bit
 * programs. The subscription table is made from the same lists.
 */
#ifndef BLK_BASE_CALL_EVENT_H
#define BLK_BASE_CALL_EVENT_H

#include <stdbool.h>
#include <stdint.h>

/* X(prefix, TODAY or OLD): the name of an event is a prefix and the name of the call. */
#define CALL_ENTRY_PREFIXES(X) \
	X("syscall_entry_", TODAY) X("compat_syscall_entry_", OLD) X("sys_", OLD) X("compat_sys_", OLD)
#define CALL_EXIT_PREFIXES(X) \
	X("syscall_exit_", TODAY) X("compat_syscall_exit_", OLD) X("exit_syscall_", OLD)
#define CALL_EXIT_NAMELESS "exit_syscall"	/* exit of the thread's current call, whichever it is */

enum call_event { CALL_EVENT_NONE, CALL_EVENT_ENTRY, CALL_EVENT_EXIT, CALL_EVENT_EXIT_NAMELESS };

/* The kind of the event. *ret_call (may be NULL): the name of the call, a part of `event`; `event` itself if it has
 * none. A pattern ("sys_*") is of the kind of the events that it matches. */
enum call_event call_event_of(const char *event, const char **ret_call);

/* Is it the event of a 32-bit program's call? For names of which call_event_of() is not CALL_EVENT_NONE. */
bool call_event_is_compat(const char *event);

/* Is the result of a system call an error number, negated? include/linux/err.h: MAX_ERRNO is 4095. */
static inline bool call_failed(int64_t ret)
{
	return (uint64_t)ret >= (uint64_t)-4095;
}

/* Did a signal interrupt the call, so that restart_syscall continues it if no handler runs? include/linux/errno.h:
 * ERESTART_RESTARTBLOCK is 516. */
static inline bool call_is_interrupted(int64_t ret)
{
	return ret == -516;
}

#endif
