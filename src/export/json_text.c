/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON as text: see json_text.h. */
#include "export/json_text.h"

#include "export/json.h"

#include <string.h>

static void append_escape(GString *out, unsigned char c)
{
	static const char letters[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
					['"'] = '"', ['\\'] = '\\' };
	if (c < sizeof letters && letters[c]) {
		g_string_append_c(out, '\\');
		g_string_append_c(out, letters[c]);
	} else {
		g_string_append_printf(out, "\\u%04x", c);
	}
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* The number of bytes that need no escape. */
static size_t plain_length(const char *text)
{
	size_t n = 0;
	while (is_plain((unsigned char)text[n]))
		n++;
	return n;
}

static void append_string(GString *out, const char *text)
{
	g_autofree char *valid = NULL;
	size_t n = plain_length(text);
	g_string_append_c(out, '"');
	if (text[n] && !g_utf8_validate(text + n, -1, NULL)) {
		text = valid = json_valid_text(text);
		n = plain_length(text);
	}
	for (;;) {
		g_string_append_len(out, text, (gssize)n);
		text += n;
		if (!*text)
			break;
		if ((unsigned char)*text < 0x80)
			append_escape(out, (unsigned char)*text++);
		else
			text = json_append_printable(out, text);
		n = plain_length(text);
	}
	g_string_append_c(out, '"');
}

static void begin_value(struct json_text *t, const char *key)
{
	if (t->follows)
		g_string_append_c(t->out, ',');
	t->follows = true;
	if (!key)
		return;
	append_string(t->out, key);
	g_string_append_c(t->out, ':');
}

void json_text_open(struct json_text *t, const char *key, char bracket)
{
	begin_value(t, key);
	g_string_append_c(t->out, bracket);
	t->follows = false;
}

void json_text_close(struct json_text *t, char bracket)
{
	g_string_append_c(t->out, bracket);
	t->follows = true;
}

void json_text_string(struct json_text *t, const char *key, const char *text)
{
	begin_value(t, key);
	append_string(t->out, text);
}

static void append_int(GString *out, int64_t n)
{
	char digits[20];
	size_t at = sizeof digits;
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	do {
		digits[--at] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (n < 0)
		g_string_append_c(out, '-');
	g_string_append_len(out, digits + at, (gssize)(sizeof digits - at));
}

void json_text_int(struct json_text *t, const char *key, int64_t n)
{
	begin_value(t, key);
	append_int(t->out, n);
}

void json_text_decimal(struct json_text *t, const char *key, int64_t n)
{
	begin_value(t, key);
	g_string_append_c(t->out, '"');
	append_int(t->out, n);
	g_string_append_c(t->out, '"');
}

void json_text_hex(struct json_text *t, const char *key, uint64_t id)
{
	char digits[18];
	for (int i = 16; i > 0; i--, id >>= 4)
		digits[i] = "0123456789abcdef"[id & 15];
	digits[0] = digits[17] = '"';
	begin_value(t, key);
	g_string_append_len(t->out, digits, sizeof digits);
}

void json_text_true(struct json_text *t, const char *key)
{
	begin_value(t, key);
	g_string_append(t->out, "true");
}
