/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines over the whole screen: a text to read (help, messages, details), or a list
 * to pick one from. Knows no terminal. */
#ifndef BLK_UI_POPUP_H
#define BLK_UI_POPUP_H

#include "ui/canvas.h"
#include "ui/glyphs.h"
#include "ui/keys.h"

struct popup {
	char *title;
	GPtrArray *lines;	/* char *, visible text; NULL: no popup is open */
	GPtrArray *wrapped;	/* of a text to read: these, as long as the screen is wide */
	unsigned cols;		/* it was wrapped for */
	bool is_list;
	bool is_log;		/* of the messages: grows while it is open */
	size_t cursor, top, page;
};

/* Takes lines over (char *, freed by the array). Those of a text may be of any length: what
 * goes on below is as far in as what the line's last column of text began with. */
void popup_open(struct popup *p, const char *title, GPtrArray *lines, bool is_list);
void popup_close(struct popup *p);
bool popup_is_open(const struct popup *p);

/* Other lines, at the same place; where the end was seen, at the new end. */
void popup_replace(struct popup *p, GPtrArray *lines);

enum popup_result { POPUP_STAYS, POPUP_LEFT, POPUP_PICKED };
enum popup_result popup_command(struct popup *p, enum command_id command);
/* Draws it on the whole canvas but the last row; returns the row of the cursor. */
unsigned popup_draw(struct popup *p, struct canvas *c, const struct glyphs *g);
/* The key bar of a context in row y. */
void bar_draw(struct canvas *c, unsigned y, enum context context, bool coach);

#endif
