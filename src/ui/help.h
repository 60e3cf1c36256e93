/* SPDX-License-Identifier: GPL-2.0-only */
/* The help of a screen, made from the tables of commands, keys and columns. */
#ifndef BLK_UI_HELP_H
#define BLK_UI_HELP_H

#include "ui/keys.h"
#include "views/view.h"

/* Breaks a paragraph into lines of at most `cols` columns, each after `indent`. */
void help_add_wrapped(GPtrArray *lines, const char *text, unsigned cols, const char *indent);
/* Lines (char *, freed by the array): headings begin in the first column. */
GPtrArray *help_lines(const struct view *v, enum context context, unsigned cols);

#endif
