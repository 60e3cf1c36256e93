/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop map: makes a slice file of a part of a trace. blktop reduce: merges slice files to one. */
#ifndef BLK_CMD_MAP_H
#define BLK_CMD_MAP_H

#include "cli/options.h"

int map_write(const struct options *o);
int map_reduce(const struct options *o);

#endif
