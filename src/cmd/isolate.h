/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Restricts the process to what the command line asks for. It may read the traces, the relay connections, and system
 * files that its libraries open, and accept connections from the socket of --listen. It may write the outputs that
 * options name, its state and settings, and with the screen below the current directory and the directory for temporary
 * files. See doc/security.md.
 */
#ifndef BLK_CMD_ISOLATE_H
#define BLK_CMD_ISOLATE_H

#include "cli/command.h"

/* Call it before the first thread, and after forking processes that need more rights (live/session/helper.h). Starts
 * the process that connects to relay daemons. false: that failed, which was printed. If the kernel cannot isolate,
 * that is written to the log file, and shown when the screen starts. Does nothing with --no-isolation. */
bool isolate(const struct options *o);

/* One line: which filters are in force, and what this kernel cannot filter; g_free. */
char *isolate_describe(void);

#endif
