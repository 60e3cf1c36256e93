/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes privileges from this process before it reads untrusted data: a filter of system calls (seccomp, by
 * libseccomp) and one of files (Landlock, from Linux 5.13 on). Both apply to all threads started later and cannot be
 * undone.
 *
 *   calls    only the system calls that the roles of the process need are allowed (isolation_calls.c). Others fail with
 *            EPERM, or with ENOSYS if they are newer than Linux 5.0
 *   files    only files below the given paths can be opened, and only those for writing can be written; otherwise
 *            EACCES. None can be made or removed: base/files.h does that. Open files stay open
 *
 * A build with sanitizers has neither, as sanitizers start programs and read files themselves.
 */
#ifndef BLK_BASE_ISOLATION_H
#define BLK_BASE_ISOLATION_H

#include "base/isolation_calls.h"

#include <glib.h>

enum isolation { ISOLATION_CALLS = 1, ISOLATION_FILES = 2, ISOLATION_BOTH = 3 };

/* The filters that this kernel and this build support: bits of enum isolation. */
unsigned isolation_can(void);

/*
 * Enters both filters; call once, before the first thread. `read` and `write` contain absolute or relative paths
 * (char *) of files and directories; missing ones are skipped. Paths in `write` can be read, too. `roles`: bits of enum
 * isolation_role. `accepts`: the socket of a receiver that may accept connections, or -1. Returns the filters in force.
 * *ret_why (g_free): which filter is not in force, and why; NULL: both are.
 */
unsigned isolation_enter(const GPtrArray *read, const GPtrArray *write, unsigned roles, int accepts, char **ret_why);

/* One line, such as "system calls are filtered (seccomp), files are filtered (Landlock 3, without TCP, requests to
 * devices, signals, abstract sockets, named sockets)": what is after "without" needs a newer kernel. g_free. Before
 * isolation_enter() it says what is supported, after it what is in force. */
char *isolation_describe(void);

#endif
