/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes that bring a terminal with 24-bit colours from what it shows to a canvas. Curses has at most 256 colours,
 * unless the description of the terminal is one of direct colours, which few systems have. Knows no terminal: it takes
 * CSI sequences for granted (CUP, CUF, EL, SGR), as all terminals with such colours have them.
 *
 *     struct painter *p = painter_new();
 *     ... the terminal is blank: painter_forget(p);
 *     painter_frame(p, canvas, scheme, styles, out);	// then write out
 */
#ifndef BLK_UI_PAINTER_H
#define BLK_UI_PAINTER_H

#include "ui/canvas.h"

struct painter;

struct painter *painter_new(void);
void painter_free(struct painter *p);		/* NULL is fine */
void painter_forget(struct painter *p);		/* the terminal is blank, with its default colours */
/* Appends the bytes for what differs from the last frame; nothing differs: none. Afterwards attributes are off, and
 * the cursor is anywhere. A frame of another size than the last clears the screen. styles: of each role. */
void painter_frame(struct painter *p, const struct canvas *c, enum scheme scheme, const struct style styles[ROLE_N],
		   GString *out);

#endif
