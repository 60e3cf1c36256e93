/* SPDX-License-Identifier: GPL-2.0-only */
/* The filter of system calls (seccomp): part of isolation.h, used by isolation.c only. */
#ifndef BLK_BASE_ISOLATION_CALLS_H
#define BLK_BASE_ISOLATION_CALLS_H

#include <stdbool.h>

/* What the process does beside reading traces. Bits. */
enum isolation_role {
	ISOLATION_SCREEN = 1,		/* sets modes of the terminal; suspends the job */
	ISOLATION_SENDER = 2,		/* has connections to relays or servers (live/viewer/connector.h) */
	ISOLATION_RECEIVER = 4,		/* accepts connections */
	ISOLATION_PLUGINS = 8,		/* loads babeltrace2's plugins */
};

/* Loads the filter for `roles` (enum isolation_role) into all threads. `accepts`: the socket that may accept
 * connections, or -1. false: *ret_error is an errno value, and nothing is filtered. */
bool isolation_filter_calls(unsigned roles, int accepts, int *ret_error);

#endif
