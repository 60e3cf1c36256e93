/* SPDX-License-Identifier: GPL-2.0-only */
/* Glyph sets for bars, marks and sparklines: UTF-8 and ASCII. */
#ifndef BLK_UI_GLYPHS_H
#define BLK_UI_GLYPHS_H

#include <stdbool.h>

struct glyphs {
	bool utf8;
	const char *cursor;		/* before the selected row */
	const char *expanded, *collapsed;
	const char *critical;		/* beside a span on the critical path */
	const char *sort_up, *sort_down;
	const char *more_up, *more_down;	/* rows hidden above, below */
	const char *crumb;		/* between breadcrumbs */
	const char *edge;		/* both ends of an axis or strip */
	const char *spark[9];		/* nothing .. full */
	const char *unread[5];		/* of seconds not read yet, nothing .. full */
	const char *provisional;		/* provisional: in the strip, and before figures */
	const char *tag;		/* before a tagged row */
	const char *ended;		/* before a process or thread that exited */
	const char *bar;		/* histogram bars */
	const char *eighth[9];		/* a cell that is filled from the left; nothing .. full */
	const char *annotation;		/* on a bar */
	const char *message;		/* on its way to a span */
};

const struct glyphs *glyphs_get(bool utf8);

#endif
