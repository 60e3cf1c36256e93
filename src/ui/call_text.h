/* SPDX-License-Identifier: GPL-2.0-only */
/* The colours of a line of the log: the name of the call or event, quoted texts, errors. */
#ifndef BLK_UI_CALL_TEXT_H
#define BLK_UI_CALL_TEXT_H

#include "ui/canvas.h"

/* Sets the roles of a text (logline_what()) that was drawn at (y, x) without its first `skip` columns. part: letter of
 * the part whose hue the name gets; 0: none. */
void call_text_colour(struct canvas *c, unsigned y, unsigned x, unsigned width, const char *text, unsigned skip,
		      char part);

#endif
