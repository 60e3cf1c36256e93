/* SPDX-License-Identifier: GPL-2.0-only */
/* Options for what is sent to other programs. */
#ifndef BLK_CLI_OPTIONS_SEND_H
#define BLK_CLI_OPTIONS_SEND_H

#include "cli/options.h"
#include "cli/options_table.h"

/* Interprets them. False: *error says what is wrong with which option. Moves words to `ret`. */
bool options_read_send(struct send_options *ret, struct words *w, GError **error);
void send_options_clear(struct send_options *s);

#endif
