/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines over the whole screen: a text (help, messages, details), or a list from which one line is picked; and the key
 * bar. */
#ifndef BLK_UI_POPUP_H
#define BLK_UI_POPUP_H

#include "ui/canvas.h"
#include "ui/glyphs.h"
#include "ui/keys.h"

struct popup {
	char *title;
	GPtrArray *lines;	/* char *, visible text; NULL: no popup is open */
	GPtrArray *wrapped;	/* a text's lines, wrapped to `cols`; NULL: must be made */
	unsigned cols;
	bool is_list;
	bool is_log;		/* shows the messages, and grows while it is open */
	size_t cursor, top, page;
	GString *find;		/* of a list that letters narrow: what was typed; NULL: letters are keys */
	GPtrArray *names;	/* char *: what each line is called; NULL: lines have no names */
	GPtrArray *found;	/* the lines with that text, borrowed, the best first; NULL: all */
};

/* Takes lines over (char *, freed by the array). Long lines of a text are wrapped; continuation lines are indented to
 * the line's last column of text. */
void popup_open(struct popup *p, const char *title, GPtrArray *lines, bool is_list);
void popup_close(struct popup *p);
bool popup_is_open(const struct popup *p);

/* Makes a list that is narrowed by typing: to the lines that contain all words, ignoring case. Lines with the words in
 * their names come first: as whole words, then as beginnings of words, then within them. names: one for each line;
 * taken over. */
void popup_find(struct popup *p, GPtrArray *names);
/* A key of such a list. false: it is no text; it has its usual command. */
bool popup_type(struct popup *p, int key);
/* The number of the selected line among all lines. */
size_t popup_picked(const struct popup *p);

/* Replaces the lines at the same position; if the end was visible, the new end is. */
void popup_replace(struct popup *p, GPtrArray *lines);

enum popup_result { POPUP_STAYS, POPUP_LEFT, POPUP_PICKED };
enum popup_result popup_command(struct popup *p, enum command_id command);
/* Draws on all rows but the last. Returns the row of the cursor. */
unsigned popup_draw(struct popup *p, struct canvas *c, const struct glyphs *g);
/* The key bar of keys_bar() in row y. */
void bar_draw(struct canvas *c, unsigned y, unsigned context, bool coach);

#endif
