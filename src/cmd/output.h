/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes a text to stdout, or to the file of -o, which is written completely or not at all. */
#ifndef BLK_CMD_OUTPUT_H
#define BLK_CMD_OUTPUT_H

#include "cli/command.h"

/* The exit status after writing to stdout failed. why: errno. 128 + SIGPIPE, or EXIT_FAILED after a printed error. */
int output_code(int why);

/* Ends the text with a newline. Prints the path of a file to stderr, with `what` it has (may be NULL). Returns the
 * exit status. */
int output_write(const struct output_options *o, const char *text, const char *what);

#endif
