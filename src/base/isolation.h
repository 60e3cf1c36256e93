/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What this process may no longer do, once it is going to read what others wrote: a filter of
 * system calls (seccomp, by libseccomp) and one of files (Landlock, where the kernel has it,
 * since 5.13). Both hold for all threads that begin later and cannot be taken back.
 *
 *   calls    no program is started, no other process traced, no socket made, connected or
 *            listened on, nothing that wants privileges; each fails with EPERM
 *   files    only what is below the paths given can be opened, and made or changed only what is
 *            below those that are for writing; else EACCES. What is open already stays open
 *
 * A build with sanitizers has neither: they start programs and read files themselves.
 */
#ifndef BLK_BASE_ISOLATION_H
#define BLK_BASE_ISOLATION_H

#include <glib.h>
#include <stdbool.h>

enum isolation { ISOLATION_CALLS = 1, ISOLATION_FILES = 2, ISOLATION_BOTH = 3 };

/* What this kernel and this build can do: of enum isolation. */
unsigned isolation_can(void);

/*
 * Enters it; before the first thread, once. `read` and `write` hold absolute or relative paths (char *) of
 * files and directories; those that are not there are passed over. What may be written may be read,
 * too. Returns which of both hold now; *why (g_free, NULL: all hold): what does not, and why.
 */
unsigned isolation_enter(const GPtrArray *read, const GPtrArray *write, char **ret_why);

/* To be appended to a message about a file that errno `number` kept from being written: why the
 * filter of files may be the cause; "" where it is not. */
const char *isolation_hint(int number);

/* One line, such as "system calls are filtered, files are not (Landlock: Operation not supported)";
 * g_free. Of what can be done, before; of what holds, after isolation_enter(). */
char *isolation_describe(void);

#endif
