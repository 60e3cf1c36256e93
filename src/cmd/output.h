/* SPDX-License-Identifier: GPL-2.0-only */
/* Where a text goes: stdout, or the file of -o, whole or not at all. */
#ifndef BLK_CMD_OUTPUT_H
#define BLK_CMD_OUTPUT_H

#include "cli/options.h"

/* What became of stdout: EXIT_FINE, 128 + SIGPIPE (quietly), or EXIT_FAILED. */
int output_code(int why);

/* Ends the text with a newline; says on stderr where the file is, and `what` it holds
 * (NULL: nothing). The program's exit code. */
int output_write(const struct options *o, const char *text, const char *what);

#endif
