/* SPDX-License-Identifier: GPL-2.0-only */
/* A line the user types in: after / \ b E. Knows commands, no terminal. */
#ifndef BLK_UI_PROMPT_H
#define BLK_UI_PROMPT_H

#include "ui/canvas.h"
#include "ui/keys.h"
#include "ui/recall.h"

enum prompt_kind { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_GOTO, PROMPT_EXPORT, PROMPT_SAVE,
	PROMPT_TRACE, PROMPT_N };

struct prompt {
	enum prompt_kind kind;
	GString *text;
	size_t at;			/* byte the cursor is on */
	struct recall *recall;		/* lines taken before; the caller's, or its own */
	bool own_recall;
	size_t back;			/* how far back in them it is; 0: at what is typed */
	char *typed;			/* that, while one of them is shown */
	char *words;			/* before its label: what can be said; or NULL */
	char *error;			/* why the line was not taken, or NULL */
};

enum prompt_result { PROMPT_EDITING, PROMPT_ACCEPTED, PROMPT_CANCELLED };

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text);
void prompt_set_words(struct prompt *p, const char *words);	/* of this line alone */
void prompt_close(struct prompt *p);
void prompt_clear(struct prompt *p);		/* frees all */
enum prompt_result prompt_key(struct prompt *p, int key);
void prompt_set_error(struct prompt *p, const char *error);
/* Draws the line; returns the column of the cursor. */
unsigned prompt_draw(const struct prompt *p, struct canvas *c, unsigned y);

#endif
