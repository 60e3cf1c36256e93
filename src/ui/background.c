/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers of the terminal about its background: see background.h. */
#include "ui/background.h"

#include <string.h>

#define ESC 0x1b
#define BEL 0x07

void background_asked(struct background *b)
{
	b->asked = true;
}

static void open_answer(struct background *b, int kind)
{
	b->open = kind;
	b->len = 0;
	b->text[0] = '\0';
	b->too_long = false;
}

bool background_begins(struct background *b, gunichar first, gunichar c)
{
	if (!b->asked)
		return false;
	if (!first && c == ']')
		open_answer(b, BACKGROUND_OSC);
	else if (first == '[' && c == '?')
		open_answer(b, BACKGROUND_CSI);
	else
		return false;
	return true;
}

bool background_is_open(const struct background *b)
{
	return b->open != BACKGROUND_NONE;
}

void background_abort(struct background *b)
{
	b->open = BACKGROUND_NONE;
}

/* One to four hex digits, as a share of the largest number of so many digits. */
static bool read_part(const char *s, size_t len, double *ret)
{
	unsigned value = 0;

	if (len < 1 || len > 4)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!g_ascii_isxdigit(s[i]))
			return false;
		value = value * 16 + (unsigned)g_ascii_xdigit_value(s[i]);
	}
	*ret = (double)value / (double)((1u << 4 * len) - 1);
	return true;
}

/* "rgb:ffff/ffff/ffff"; "rgba:" has a fourth part. */
static bool read_slashes(const char *s, unsigned n, double rgb[4])
{
	for (unsigned i = 0; i < n; i++) {
		size_t len = strcspn(s, "/");

		if (!read_part(s, len, &rgb[i]) || (i + 1 < n) != (s[len] == '/'))
			return false;
		s += len + 1;
	}
	return true;
}

/* "#fff", "#ffffff" and so on. */
static bool read_hash(const char *s, double rgb[4])
{
	size_t len = strlen(s) / 3;

	return strlen(s) % 3 == 0 && read_part(s, len, &rgb[0]) && read_part(s + len, len, &rgb[1]) &&
	       read_part(s + 2 * len, len, &rgb[2]);
}

/* Light is what black text has more contrast on. Squares are near enough to the luminance of sRGB. */
static enum theme_background read_color(const char *s)
{
	double c[4];
	bool known = g_str_has_prefix(s, "11;rgb:") ? read_slashes(s + strlen("11;rgb:"), 3, c) :
		g_str_has_prefix(s, "11;rgba:") ? read_slashes(s + strlen("11;rgba:"), 4, c) :
		g_str_has_prefix(s, "11;#") && read_hash(s + strlen("11;#"), c);

	if (!known)
		return BACKGROUND_UNKNOWN;
	return 0.2126 * c[0] * c[0] + 0.7152 * c[1] * c[1] + 0.0722 * c[2] * c[2] > 0.2 ? BACKGROUND_LIGHT :
		BACKGROUND_DARK;
}

static enum background_taken finish(struct background *b)
{
	enum theme_background color = b->too_long ? BACKGROUND_UNKNOWN : read_color(b->text);

	if (color != BACKGROUND_UNKNOWN)
		b->color = color;
	background_abort(b);
	return BACKGROUND_MINE;
}

static enum background_taken take_osc(struct background *b, int c)
{
	if (c == BEL)
		return finish(b);
	if (c == ESC) {
		b->open = BACKGROUND_OSC_ESC;
		return BACKGROUND_MINE;
	}
	if (c < ' ') {
		background_abort(b);
		return BACKGROUND_KEY;
	}
	if (c > '~' || b->len == LIMIT_TERMINAL_ANSWER_BYTES) {
		b->too_long = true;
		return BACKGROUND_MINE;
	}
	b->text[b->len++] = (char)c;
	b->text[b->len] = '\0';
	return BACKGROUND_MINE;
}

enum background_taken background_take(struct background *b, int c)
{
	g_assert(background_is_open(b));
	if (b->open == BACKGROUND_OSC)
		return take_osc(b, c);
	if (b->open == BACKGROUND_OSC_ESC) {
		if (c == '\\')
			return finish(b);
		background_abort(b);
		return BACKGROUND_ESC_KEY;
	}
	if (c >= ' ' && c < '@')
		return BACKGROUND_MINE;
	background_abort(b);
	b->has_kind |= c == 'c';
	return c >= '@' && c <= '~' ? BACKGROUND_MINE : BACKGROUND_KEY;
}
