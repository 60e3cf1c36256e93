/* SPDX-License-Identifier: GPL-2.0-only */
/* The line editor: see prompt.h. */
#include "ui/prompt.h"

#include "base/text.h"

#include <string.h>

#define PROMPT_MAX 4000		/* bytes of a line */

static const char *const labels[PROMPT_N] = {
	[PROMPT_NONE] = "",
	[PROMPT_SEARCH] = "/",
	[PROMPT_FILTER] = "filter: ",
	[PROMPT_GOTO] = "go to (14:03:05 +90s -2m 5% start end worst): ",
	[PROMPT_EXPORT] = "export ([zipkin|json] [trace|span] [FILE]): ",
};

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text)
{
	p->kind = kind;
	if (!p->text)
		p->text = g_string_new(NULL);
	g_string_assign(p->text, text ? text : "");
	p->at = p->text->len;
	prompt_set_error(p, NULL);
}

void prompt_close(struct prompt *p)
{
	p->kind = PROMPT_NONE;
	prompt_set_error(p, NULL);
}

void prompt_clear(struct prompt *p)
{
	if (p->text)
		g_string_free(p->text, TRUE);
	p->text = NULL;
	for (int i = 0; i < PROMPT_N; i++)
		g_clear_pointer(&p->last[i], g_free);
	g_clear_pointer(&p->error, g_free);
}

void prompt_set_error(struct prompt *p, const char *error)
{
	g_free(p->error);
	p->error = g_strdup(error);
}

static size_t char_before(const struct prompt *p)
{
	return (size_t)(g_utf8_prev_char(p->text->str + p->at) - p->text->str);
}

static size_t char_after(const struct prompt *p)
{
	return (size_t)(g_utf8_next_char(p->text->str + p->at) - p->text->str);
}

static void erase(struct prompt *p, size_t from, size_t to)
{
	g_string_erase(p->text, (gssize)from, (gssize)(to - from));
	p->at = from;
}

static void erase_word(struct prompt *p)
{
	size_t to = p->at, from = to;

	while (from > 0 && p->text->str[from - 1] == ' ')
		from--;
	while (from > 0 && p->text->str[from - 1] != ' ')
		from--;
	erase(p, from, to);
}

static void edit(struct prompt *p, enum command_id command)
{
	switch (command) {
	case CMD_CHAR_LEFT:
		p->at = p->at > 0 ? char_before(p) : 0;
		break;
	case CMD_CHAR_RIGHT:
		p->at = p->at < p->text->len ? char_after(p) : p->at;
		break;
	case CMD_LINE_BEGIN:
		p->at = 0;
		break;
	case CMD_LINE_END:
		p->at = p->text->len;
		break;
	case CMD_ERASE:
		if (p->at > 0)
			erase(p, char_before(p), p->at);
		break;
	case CMD_ERASE_RIGHT:
		if (p->at < p->text->len)
			erase(p, p->at, char_after(p));
		break;
	case CMD_ERASE_WORD:
		erase_word(p);
		break;
	case CMD_ERASE_LINE:
		erase(p, 0, p->at);
		break;
	case CMD_HISTORY:
		if (p->last[p->kind])
			prompt_open(p, p->kind, p->last[p->kind]);
		break;
	default:
		break;
	}
}

enum prompt_result prompt_key(struct prompt *p, int key)
{
	enum command_id command = keys_find(CTX_PROMPT, key);
	char utf8[6];

	prompt_set_error(p, NULL);
	if (command == CMD_CANCEL)
		return PROMPT_CANCELLED;
	if (command == CMD_ACCEPT) {
		if (p->text->len) {
			g_free(p->last[p->kind]);
			p->last[p->kind] = g_strdup(p->text->str);
		}
		return PROMPT_ACCEPTED;
	}
	/* Erasing in an empty line leaves it, as in vi and less. */
	if (command == CMD_ERASE && !p->text->len)
		return PROMPT_CANCELLED;
	if (command != CMD_NONE) {
		edit(p, command);
	} else if (key >= 32 && key < UI_KEY_SPECIAL && g_unichar_validate((gunichar)key) &&
		   !g_unichar_iscntrl((gunichar)key) && p->text->len < PROMPT_MAX) {
		int n = g_unichar_to_utf8((gunichar)key, utf8);

		g_string_insert_len(p->text, (gssize)p->at, utf8, n);
		p->at += (size_t)n;
	}
	return PROMPT_EDITING;
}

unsigned prompt_draw(const struct prompt *p, struct canvas *c, unsigned y)
{
	g_autofree char *before = g_strndup(p->text->str, p->at);
	unsigned cols = c->cols, used, error_cols = p->error ? MIN(text_width(p->error), cols / 2) : 0;
	unsigned label = text_width(labels[p->kind]) < cols / 2 ? text_width(labels[p->kind]) : 0;
	unsigned room = cols - label - (error_cols ? error_cols + 2 : 0);
	const char *shown = p->text->str;
	unsigned at = text_width(before);

	canvas_fill(c, y, 0, cols, ROLE_TEXT, " ");
	if (label)
		canvas_put(c, y, 0, label, ROLE_KEY, labels[p->kind]);
	while (at >= room && *shown) {		/* the cursor stays visible */
		char *next = g_utf8_next_char(shown);
		g_autofree char *one = g_strndup(shown, (gsize)(next - shown));

		at -= MIN(text_width(one), at);
		shown = next;
	}
	used = label + canvas_put(c, y, label, room, ROLE_TEXT, shown);
	if (error_cols)
		canvas_put(c, y, MAX(used + 2, cols - error_cols), error_cols, ROLE_ERROR, p->error);
	return label + at;
}
