/* SPDX-License-Identifier: GPL-2.0-only */
/* Escape sequences of keys: see escape.h. */
#include "ui/escape.h"

#include "ui/keys.h"

#include <string.h>

/* Sources: xterm, VT220, rxvt, the Linux console. */
static const struct {
	const char *s;
	int key;
} sequences[] = {
	{ "[A", UI_KEY_UP }, { "[B", UI_KEY_DOWN }, { "[C", UI_KEY_RIGHT }, { "[D", UI_KEY_LEFT },
	{ "OA", UI_KEY_UP }, { "OB", UI_KEY_DOWN }, { "OC", UI_KEY_RIGHT }, { "OD", UI_KEY_LEFT },
	{ "[H", UI_KEY_HOME }, { "OH", UI_KEY_HOME }, { "[1~", UI_KEY_HOME }, { "[7~", UI_KEY_HOME },
	{ "[F", UI_KEY_END }, { "OF", UI_KEY_END }, { "[4~", UI_KEY_END }, { "[8~", UI_KEY_END },
	{ "[3~", UI_KEY_DELETE }, { "[5~", UI_KEY_PGUP }, { "[6~", UI_KEY_PGDN },
	{ "[Z", UI_KEY_BACKTAB }, { "OM", UI_KEY_ENTER },
	{ "[1;2D", UI_KEY_SLEFT }, { "[d", UI_KEY_SLEFT }, { "O2D", UI_KEY_SLEFT },
	{ "[1;2C", UI_KEY_SRIGHT }, { "[c", UI_KEY_SRIGHT }, { "O2C", UI_KEY_SRIGHT },
	{ "[1;3D", UI_KEY_ALEFT }, { "[1;3C", UI_KEY_ARIGHT },
	{ "OP", UI_KEY_F(1) }, { "OQ", UI_KEY_F(2) }, { "OR", UI_KEY_F(3) }, { "OS", UI_KEY_F(4) },
	{ "[11~", UI_KEY_F(1) }, { "[12~", UI_KEY_F(2) }, { "[13~", UI_KEY_F(3) },
	{ "[14~", UI_KEY_F(4) }, { "[15~", UI_KEY_F(5) }, { "[17~", UI_KEY_F(6) },
	{ "[18~", UI_KEY_F(7) }, { "[19~", UI_KEY_F(8) }, { "[20~", UI_KEY_F(9) },
	{ "[21~", UI_KEY_F(10) }, { "[23~", UI_KEY_F(11) }, { "[24~", UI_KEY_F(12) },
	{ "[[A", UI_KEY_F(1) }, { "[[B", UI_KEY_F(2) }, { "[[C", UI_KEY_F(3) },
	{ "[[D", UI_KEY_F(4) }, { "[[E", UI_KEY_F(5) },
};

bool escape_begins(gunichar c)
{
	return c == '[' || c == 'O';
}

/* A final byte (ECMA-48) ends it; function keys of the Linux console have one more byte. */
bool escape_is_whole(const char *s)
{
	size_t len = strlen(s);
	char last = len > 1 ? s[len - 1] : 0;

	if (len >= ESCAPE_MAX)
		return true;
	return last >= 0x40 && last <= 0x7e && !(len == 2 && s[0] == '[' && last == '[');
}

int escape_key(const char *s)
{
	for (size_t i = 0; i < G_N_ELEMENTS(sequences); i++) {
		if (!strcmp(sequences[i].s, s))
			return sequences[i].key;
	}
	return UI_KEY_OTHER;
}
