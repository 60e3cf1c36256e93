/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the command line. Everything that can be checked without reading a trace is checked here. The options
 * themselves are a table (options_table.h).
 */
#ifndef BLK_CLI_OPTIONS_H
#define BLK_CLI_OPTIONS_H

#include "cli/command.h"

/* false and *error: one line that says what is wrong with which option. Free with
 * options_clear() in both cases. */
bool options_parse(struct options *ret, int argc, const char *const *argv, GError **error);
void options_clear(struct options *o);

#endif
