/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints the table of limits (base/limits.h) as text, CSV and JSON. */
#ifndef BLK_EXPORT_LIMITS_PRINT_H
#define BLK_EXPORT_LIMITS_PRINT_H

#include "export/export.h"

/*
 * Text: a title for each group, then one line for each limit: "  ID  VALUE UNIT  WHAT; more: WHAT HAPPENS (WHY)".
 * CSV: id, value, unit, group, limits, above, why. JSON: one object on a line, {"blktop":VERSION,"limits":[
 * {"id":TEXT,"value":N, ...}]}. Output errors are in the stream's error indicator.
 */
void limits_print(FILE *out, enum rows_format format);

#endif
