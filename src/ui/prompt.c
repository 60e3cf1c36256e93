/* SPDX-License-Identifier: GPL-2.0-only */
/* The line editor: see prompt.h. */
#include "ui/prompt.h"

#include "base/limits.h"
#include "base/text.h"
#include "views/rows_format.h"

#include <string.h>

#define PROMPT_MAX (LIMIT_TYPED_BYTES - 6)	/* bytes of a line */

static const char *const labels[PROMPT_N] = {
	[PROMPT_NONE] = "",
	[PROMPT_SEARCH] = "/",
	[PROMPT_FILTER] = "filter: ",
	[PROMPT_GOTO] = "Go to time (e.g. 14:03:05, +90s, -2m, end, worst, since): ",
	[PROMPT_SAVE] = "save as" ROWS_SUFFIXES ": ",
	[PROMPT_SCREENSHOT] = "save the screen as (.svg): ",
	[PROMPT_RULES] = "save the rules as (for --spans): ",
	[PROMPT_TRACE] = "save as trace ([statedump] DIR): ",
	[PROMPT_BOOKMARK] = "Bookmark, note (optional; - removes it): ",
	[PROMPT_EXPORT] = "export to (empty: a new file here): ",
};

/* Names of the kinds in the history file. */
static const char *const kinds[PROMPT_N] = {
	[PROMPT_SEARCH] = "search", [PROMPT_FILTER] = "filter", [PROMPT_GOTO] = "goto",
	[PROMPT_EXPORT] = "export-file", [PROMPT_BOOKMARK] = "bookmark",
};

static const char *kind_of(const struct prompt *p)
{
	return kinds[p->kind] ? kinds[p->kind] : "other";
}

static void set_text(struct prompt *p, const char *text)
{
	g_string_assign(p->text, text ? text : "");
	p->at = p->text->len;
}

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text)
{
	g_assert(kind > PROMPT_NONE && kind < PROMPT_N);
	p->kind = kind;
	if (!p->text)
		p->text = g_string_new(NULL);
	if (!p->history) {
		p->history = prompt_history_new();
		p->own_history = true;
	}
	p->back = 0;
	set_text(p, text);
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
	if (p->own_history)
		prompt_history_free(p->history);
	p->history = NULL;
	g_clear_pointer(&p->typed, g_free);
	g_clear_pointer(&p->error, g_free);
}

void prompt_set_error(struct prompt *p, const char *error)
{
	/* The typed text is visible beside the error: the error need not repeat it. */
	static const char *const repeats[] = { "filter", "time" };
	size_t skip = 0;

	for (size_t i = 0; error && p->text && i < G_N_ELEMENTS(repeats); i++) {
		g_autofree char *text = g_strstrip(g_strdup(p->text->str));
		g_autofree char *typed = g_strdup_printf("%s '%s': ", repeats[i], text);

		if (g_str_has_prefix(error, typed))
			skip = strlen(typed);
	}
	g_free(p->error);
	p->error = error ? g_strdup(error + skip) : NULL;
}

/* Is this a combining character? It is moved and erased with the character before it. */
static bool combines(const char *s)
{
	return *s && g_unichar_iszerowidth(g_utf8_get_char(s));
}

static size_t char_before(const struct prompt *p)
{
	const char *s = g_utf8_prev_char(p->text->str + p->at);

	while (s > p->text->str && combines(s))
		s = g_utf8_prev_char(s);
	return (size_t)(s - p->text->str);
}

static size_t char_after(const struct prompt *p)
{
	const char *s = g_utf8_next_char(p->text->str + p->at);

	while (combines(s))
		s = g_utf8_next_char(s);
	return (size_t)(s - p->text->str);
}

/* Shows the line before (1) or after (-1) the one shown, of the lines that were typed earlier. */
static void go_back(struct prompt *p, int by)
{
	size_t to = p->back + (size_t)by;
	const char *line;

	if (by < 0 && p->back == 0)
		return;
	line = to ? prompt_history_get(p->history, kind_of(p), to - 1) : p->typed;
	if (!line)
		return;
	if (p->back == 0) {
		g_free(p->typed);
		p->typed = g_strdup(p->text->str);
	}
	p->back = to;
	set_text(p, line);
}

static void erase(struct prompt *p, size_t from, size_t to)
{
	g_assert(from <= to && to <= p->text->len);
	g_string_erase(p->text, (gssize)from, (gssize)(to - from));
	p->at = from;
}

void prompt_complete(struct prompt *p, size_t from, const char *with)
{
	if (p->text->len + strlen(with) > PROMPT_MAX)
		return;
	erase(p, from, p->at);
	g_string_insert(p->text, (gssize)p->at, with);
	p->at += strlen(with);
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
		go_back(p, 1);
		break;
	case CMD_HISTORY_NEWER:
		go_back(p, -1);
		break;
	default:
		break;
	}
}

/* A paste can have any character. Those that change how others are displayed are refused. */
static bool can_be_typed(gunichar u)
{
	return g_unichar_validate(u) && (g_unichar_isprint(u) || g_unichar_iszerowidth(u)) &&
	       g_unichar_type(u) != G_UNICODE_FORMAT;
}

enum prompt_result prompt_key(struct prompt *p, int key)
{
	g_assert(p->text && p->at <= p->text->len);
	enum command_id command = keys_find(CTX_PROMPT, key);
	char utf8[6];

	prompt_set_error(p, NULL);
	if (command == CMD_CANCEL)
		return PROMPT_CANCELLED;
	if (command == CMD_ACCEPT) {
		prompt_history_add(p->history, kind_of(p), p->text->str);
		return PROMPT_ACCEPTED;
	}
	/* Erasing in an empty line closes the prompt, as in vi and less. */
	if (command == CMD_ERASE && !p->text->len)
		return PROMPT_CANCELLED;
	if (command != CMD_NONE) {
		edit(p, command);
	} else if (key >= 32 && key < UI_KEY_SPECIAL &&
		   can_be_typed((gunichar)key) && p->text->len < PROMPT_MAX) {
		int n = g_unichar_to_utf8((gunichar)key, utf8);

		g_string_insert_len(p->text, (gssize)p->at, utf8, n);
		p->at += (size_t)n;
	}
	return PROMPT_EDITING;
}

#define TYPING_ROOM 16

unsigned prompt_draw(const struct prompt *p, struct canvas *c, unsigned y, const char **ret_above)
{
	g_autofree char *before = g_strndup(p->text->str, p->at);
	const char *words = labels[p->kind];
	unsigned cols = c->cols, used, label = text_width(words);
	unsigned error_cols = p->error ? text_width(p->error) : 0;
	const char *shown = p->text->str;
	unsigned at = text_width(before), room;

	*ret_above = NULL;
	if (error_cols && label + text_width(shown) + 3 + error_cols > cols) {
		*ret_above = p->error;
		error_cols = 0;
	}
	/* The label is left out when there is no room to type. */
	label = error_cols || label + TYPING_ROOM <= cols ? label : 0;
	room = cols - label - (error_cols ? error_cols + 2 : 0);
	canvas_fill(c, y, 0, cols, ROLE_TEXT, " ");
	if (label)
		canvas_put(c, y, 0, label, ROLE_KEY, words);
	while (at >= room && *shown) {		/* scrolls until the cursor is visible */
		const char *next = g_utf8_next_char(shown);
		g_autofree char *one = g_strndup(shown, (gsize)(next - shown));

		at -= MIN(text_width(one), at);
		shown = next;
	}
	used = label + canvas_put(c, y, label, room, ROLE_TEXT, shown);
	if (error_cols)
		canvas_put(c, y, MAX(used + 2, cols - error_cols), error_cols, ROLE_ERROR, p->error);
	return label + at;
}
