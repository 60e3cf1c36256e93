/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What events of system calls are called, in any version of the tracer; "compat" are those of 32 bit
 * programs. One table, of which the subscriptions are made, too.
 */
#ifndef BLK_BASE_CALL_EVENT_H
#define BLK_BASE_CALL_EVENT_H

/* X(prefix, TODAY or OLD): before the name of the call. */
#define CALL_ENTRY_PREFIXES(X) \
	X("syscall_entry_", TODAY) X("compat_syscall_entry_", OLD) X("sys_", OLD) X("compat_sys_", OLD)
#define CALL_EXIT_PREFIXES(X) \
	X("syscall_exit_", TODAY) X("compat_syscall_exit_", OLD) X("exit_syscall_", OLD)
#define CALL_EXIT_NAMELESS "exit_syscall"	/* of whatever call the thread is in */

enum call_event { CALL_EVENT_NONE, CALL_EVENT_ENTRY, CALL_EVENT_EXIT, CALL_EVENT_EXIT_NAMELESS };

/* *ret_call (or NULL): the name of its call, within `event`; of what has none `event`. Patterns ("sys_*")
 * are what they match. */
enum call_event call_event_of(const char *event, const char **ret_call);

#endif
