/* SPDX-License-Identifier: GPL-2.0-only */
/* Printing views (-b) and exporting spans. No terminal is needed. */
#ifndef BLK_CMD_BATCH_H
#define BLK_CMD_BATCH_H

#include "cli/options.h"

/* Both return the exit status. */
int batch_print(const struct options *o);
int batch_export(const struct options *o);

#endif
