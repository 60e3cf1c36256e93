/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --align-hosts: reads the trace once to learn how far its hosts' clocks are apart
 * (views/clocks.h), tells it, and has every reader from then on move them (trace/align.h).
 */
#ifndef BLK_HOSTS_H
#define BLK_HOSTS_H

#include "options.h"

/* EXIT_FINE, also where there is nothing to move, or the program's exit code after the
 * message was printed. */
int hosts_align(const struct options *o);

#endif
