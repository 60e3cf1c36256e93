/* SPDX-License-Identifier: GPL-2.0-only */
/* Printing views (-b) and exporting spans. No terminal is needed. */
#ifndef BLK_CMD_BATCH_H
#define BLK_CMD_BATCH_H

#include "cli/command.h"

/* Both return the exit status. */
int batch_print(const struct read_options *read, const struct shown_options *shown, const struct batch_options *o);
int batch_export(const struct read_options *read, const struct output_options *output, const struct export_options *o);

#endif
