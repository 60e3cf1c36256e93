/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes JSON as text: see json_write.h. */
#include "base/json_write.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

/* ---- strings ---- */

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

static bool is_printable(gunichar c)
{
	GUnicodeType type = g_unichar_type(c);
	return g_unichar_isprint(c) && type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR;
}

/* Appends the first character of the text, which is not plain. Returns what follows. */
static const char *append_special(struct json_out *w, const char *text)
{
	static const char letters[] = { ['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r',
					['"'] = '"', ['\\'] = '\\' };
	const char *next = g_utf8_next_char(text);
	gunichar c = g_utf8_get_char(text);
	if (c < sizeof letters && letters[c] && (c >= ' ' || !w->long_escapes))
		g_string_append_printf(w->out, "\\%c", letters[c]);
	else if (c > 0x7f && is_printable(c))
		g_string_append_len(w->out, text, next - text);
	else if (c < 0x10000)
		g_string_append_printf(w->out, "\\u%04x", c);
	else
		g_string_append_printf(w->out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
				       0xdc00 + ((c - 0x10000) & 0x3ff));
	return next;
}

char *json_valid_text(const char *text)
{
	return g_utf8_validate(text, -1, NULL) ? g_strdup(text) : text_visible(text);
}

static void append_string(struct json_out *w, const char *text)
{
	g_autofree char *valid = NULL;
	size_t n = plain_length(text);
	g_string_append_c(w->out, '"');
	if (text[n] && !g_utf8_validate(text + n, -1, NULL)) {
		text = valid = text_visible(text);
		n = plain_length(text);
	}
	for (;;) {
		g_string_append_len(w->out, text, (gssize)n);
		text += n;
		if (!*text)
			break;
		text = append_special(w, text);
		n = plain_length(text);
	}
	g_string_append_c(w->out, '"');
}

/* ---- values ---- */

static void begin_value(struct json_out *w, const char *key)
{
	if (w->follows)
		g_string_append_c(w->out, ',');
	w->follows = true;
	if (!key)
		return;
	append_string(w, key);
	g_string_append_c(w->out, ':');
}

void json_open(struct json_out *w, const char *key, char bracket)
{
	begin_value(w, key);
	g_string_append_c(w->out, bracket);
	w->follows = false;
}

void json_close(struct json_out *w, char bracket)
{
	g_string_append_c(w->out, bracket);
	w->follows = true;
}

void json_newline(struct json_out *w)
{
	g_string_append(w->out, w->follows ? ",\n" : "\n");
	w->follows = false;
}

void json_put_raw(struct json_out *w, const char *key, const char *value)
{
	begin_value(w, key);
	g_string_append(w->out, value);
}

void json_put_null(struct json_out *w, const char *key)
{
	json_put_raw(w, key, "null");
}

void json_put_bool(struct json_out *w, const char *key, bool is)
{
	json_put_raw(w, key, is ? "true" : "false");
}

void json_put_text(struct json_out *w, const char *key, const char *text)
{
	if (!text) {
		json_put_null(w, key);
		return;
	}
	begin_value(w, key);
	append_string(w, text);
}

void json_put_text_len(struct json_out *w, const char *key, const char *text, size_t len)
{
	g_autofree char *copy = NULL;
	size_t n = 0;
	while (n < len && is_plain((unsigned char)text[n]))
		n++;
	if (n < len) {
		copy = g_strndup(text, len);
		json_put_text(w, key, copy);
		return;
	}
	begin_value(w, key);
	g_string_append_c(w->out, '"');
	g_string_append_len(w->out, text, (gssize)len);
	g_string_append_c(w->out, '"');
}

void json_put_int(struct json_out *w, const char *key, int64_t n)
{
	begin_value(w, key);
	text_append_int(w->out, n);
}

void json_put_uint(struct json_out *w, const char *key, uint64_t n)
{
	char text[24];
	g_snprintf(text, sizeof text, "%" G_GUINT64_FORMAT, n);
	json_put_raw(w, key, text);
}

void json_put_known(struct json_out *w, const char *key, int64_t n, bool known)
{
	if (known)
		json_put_int(w, key, n);
	else
		json_put_null(w, key);
}

void json_put_decimal(struct json_out *w, const char *key, int64_t n)
{
	begin_value(w, key);
	g_string_append_c(w->out, '"');
	text_append_int(w->out, n);
	g_string_append_c(w->out, '"');
}

void json_put_hex(struct json_out *w, const char *key, uint64_t id)
{
	char digits[18];
	for (int i = 16; i > 0; i--, id >>= 4)
		digits[i] = "0123456789abcdef"[id & 15];
	digits[0] = digits[17] = '"';
	begin_value(w, key);
	g_string_append_len(w->out, digits, sizeof digits);
}

void json_put_real(struct json_out *w, const char *key, double d)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];
	if (!isfinite(d)) {
		json_put_null(w, key);
		return;
	}
	json_put_raw(w, key, g_ascii_dtostr(text, sizeof text, d));
	if (!strpbrk(text, ".e"))		/* 1.0 is no integer */
		g_string_append(w->out, ".0");
}
