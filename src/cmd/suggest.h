/* SPDX-License-Identifier: GPL-2.0-only */
/* -b --suggest-rules: prints rules for spans that the events of a trace suggest. */
#ifndef BLK_CMD_SUGGEST_H
#define BLK_CMD_SUGGEST_H

#include "app/read_options.h"

/* Of a session, at most n_seconds (0: all). EXIT_FAILED after a printed message: no events look like the beginning and
 * end of spans. */
int suggest_print(const struct read_options *o, unsigned n_seconds);

#endif
