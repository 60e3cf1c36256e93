/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the program tells about itself, from its tables: views, columns, events, how
 * to record them, versions.
 */
#ifndef BLK_ABOUT_H
#define BLK_ABOUT_H

#include "views/view.h"

void about_views(void);
void about_columns(const struct view *v);
void about_events(void);
void about_recipe(void);	/* a shell script for the traced machine */
void about_version(void);

#endif
