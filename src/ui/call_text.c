/* SPDX-License-Identifier: GPL-2.0-only */
/* The colours of a line of the log: see call_text.h. */
#include "ui/call_text.h"

#include "base/text.h"

#include <glib.h>
#include <string.h>

#define RESUMED "<... "
#define FAILED ") = -1 "

/* Where a text was drawn. */
struct drawn {
	struct canvas *c;
	unsigned y, x, width, skip;
	const char *text;
};

/* Sets the role of the bytes [from, to), as far as they were drawn. */
static void colour(const struct drawn *d, const char *from, const char *to, enum role role)
{
	g_autofree char *before = g_strndup(d->text, (gsize)(from - d->text));
	g_autofree char *part = g_strndup(from, (gsize)(to - from));
	unsigned begin = text_width(before), end = begin + text_width(part);

	begin = MAX(begin, d->skip) - d->skip;
	end = MIN(MAX(end, d->skip) - d->skip, d->width);
	if (begin < end)
		canvas_set_role(d->c, d->y, d->x + begin, end - begin, role);
}

/* The end of the quoted text that begins here. */
static const char *quoted_end(const char *quote)
{
	const char *at = quote + 1;

	while (*at && *at != '"')
		at += *at == '\\' && at[1] ? 2 : 1;
	return *at ? at + 1 : at;
}

void call_text_colour(struct canvas *c, unsigned y, unsigned x, unsigned width, const char *text, unsigned skip,
		      char part)
{
	const struct drawn d = { c, y, x, width, skip, text };
	const char *name = g_str_has_prefix(text, RESUMED) ? text + strlen(RESUMED) : text;
	const char *end = name + strcspn(name, "( ");
	bool is_call = *end == '(' || name != text;

	colour(&d, name, end, part ? theme_letter_role(part) : is_call ? ROLE_KEY : ROLE_KEYNAME);
	for (const char *quote = strchr(end, '"'); quote && *quote; quote = strchr(end, '"')) {
		end = quoted_end(quote);
		colour(&d, quote, end, ROLE_TITLE);
	}
	end = strstr(end, FAILED);
	if (end)
		colour(&d, end + strlen(") = "), end + strlen(end), ROLE_ERROR);
}
