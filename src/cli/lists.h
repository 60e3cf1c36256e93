/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists that are printed from the program's tables: views, columns, events, metrics, presets, the recipe, versions. */
#ifndef BLK_CLI_LISTS_H
#define BLK_CLI_LISTS_H

#include "views/view.h"

#include <stdio.h>

void about_views(FILE *out);
void about_columns(FILE *out, const struct view *v);
void about_events(FILE *out);
void about_machines(FILE *out);	/* name, other names */
void about_metrics(FILE *out);	/* the figures of state/store/schema.h */
void about_presets(FILE *out);
struct preset;
/* A shell script for the traced machine. preset: also what it needs; NULL: none. */
void about_recipe(FILE *out, const struct preset *preset);
void about_version(FILE *out);

#endif
