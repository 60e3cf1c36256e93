/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of limits (base/limits.h) for people and programs. */
#ifndef BLK_EXPORT_LIMITS_PRINT_H
#define BLK_EXPORT_LIMITS_PRINT_H

#include "export/export.h"

/*
 * Text: a title for each group, then a row a line: "  ID  VALUE UNIT  WHAT; more: WHAT HAPPENS (WHY)".
 * CSV: id, value, unit, group, limits, above, why. JSON: one object on a line, {"blktop":VERSION,"limits":[
 * {"id":TEXT,"value":N, ...}]}. Errors of output are the stream's.
 */
void limits_print(FILE *out, enum rows_format format);

#endif
