/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the command line asks for is all that the program may do from here on: reads the trace, the
 * relays' connections, and the few files of the system that its libraries open; writes where options
 * say, its state and settings, and on the screen below the directory it was started in and the
 * one for temporary files. doc/security.md has the whole.
 */
#ifndef BLK_APP_ISOLATE_H
#define BLK_APP_ISOLATE_H

#include "cli/options.h"

/* Before the first thread, after processes that have to do more (live/session/helper.h). Starts the one that
 * connects to the relays. false: it can't be started; told. Where the kernel can't isolate, that is
 * noted in the log. Nothing with --no-isolation. */
bool isolate(const struct options *o);

#endif
