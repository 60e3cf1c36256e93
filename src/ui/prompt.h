/* SPDX-License-Identifier: GPL-2.0-only */
/* A line that the user types in the status row, for search (/), filter (\), time (b), export (E), saving and
 * bookmarks (m). */
#ifndef BLK_UI_PROMPT_H
#define BLK_UI_PROMPT_H

#include "ui/canvas.h"
#include "ui/keys.h"
#include "ui/prompt_history.h"

enum prompt_kind { PROMPT_NONE, PROMPT_SEARCH, PROMPT_FILTER, PROMPT_GOTO, PROMPT_EXPORT, PROMPT_SAVE,
	PROMPT_TRACE, PROMPT_SCREENSHOT, PROMPT_RULES, PROMPT_BOOKMARK, PROMPT_N };

struct prompt {
	enum prompt_kind kind;
	GString *text;
	size_t at;			/* cursor: offset in bytes, at a character's first byte */
	struct prompt_history *history;	/* lines that were typed before; the caller's unless own_history */
	bool own_history;
	size_t back;			/* 0: the user's own line is shown; n: the n-th newest of recall */
	char *typed;			/* the user's own line, while one of recall is shown */
	char *error;			/* why the line was refused, or NULL */
};

enum prompt_result { PROMPT_EDITING, PROMPT_ACCEPTED, PROMPT_CANCELLED };

/* text: the line to begin with; NULL: empty. */
void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text);
void prompt_close(struct prompt *p);
void prompt_clear(struct prompt *p);		/* frees what it owns */
enum prompt_result prompt_key(struct prompt *p, int key);
void prompt_set_error(struct prompt *p, const char *error);
/* Replaces the text from `from` to the cursor. */
void prompt_complete(struct prompt *p, size_t from, const char *with);
/* Draws the line; returns the column of the cursor. *ret_above: the error if it does not fit beside the text, for the
 * rows above; else NULL. */
unsigned prompt_draw(const struct prompt *p, struct canvas *c, unsigned y, const char **ret_above);

#endif
