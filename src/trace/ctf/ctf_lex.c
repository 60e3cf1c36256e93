/* SPDX-License-Identifier: GPL-2.0-only */
/* The lexer of CTF 1.8 metadata: see ctf_lex.h. */
#include "trace/ctf/ctf_lex.h"
#include "trace/reader.h"

#include <string.h>

#define SHOWN 64		/* characters of a token shown in a message */

/* Keywords by first letter, in the order of enum ctf_word. */
#define LONGEST_WORD 14
static const char words[][LONGEST_WORD + 1] = {
	"", "align", "callsite", "char", "clock", "const", "double", "enum", "env", "event",
	"float", "floating_point", "int", "integer", "long", "short", "signed", "stream",
	"string", "struct", "trace", "typealias", "typedef", "unsigned", "variant", "void",
};
static const uint8_t first_word[256] = {
	['a'] = CTF_WORD_ALIGN, ['c'] = CTF_WORD_CALLSITE, ['d'] = CTF_WORD_DOUBLE,
	['e'] = CTF_WORD_ENUM, ['f'] = CTF_WORD_FLOAT, ['i'] = CTF_WORD_INT,
	['l'] = CTF_WORD_LONG, ['s'] = CTF_WORD_SHORT, ['t'] = CTF_WORD_TRACE,
	['u'] = CTF_WORD_UNSIGNED, ['v'] = CTF_WORD_VARIANT,
};

enum { BLANK = 1, LETTER = 2, DIGIT = 4 };
static const uint8_t char_class[256] = {
	[' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK, ['\r'] = BLANK, ['\f'] = BLANK,
	['\v'] = BLANK, ['_'] = LETTER,
	['0' ... '9'] = DIGIT, ['a' ... 'z'] = LETTER, ['A' ... 'Z'] = LETTER,
};

static inline bool is_word_char(char c)
{
	return char_class[(uint8_t)c] & (LETTER | DIGIT);
}

static int word_of(const char *s, size_t n)
{
	if (n > LONGEST_WORD)
		return CTF_WORD_NAME;
	for (size_t i = first_word[(uint8_t)s[0]]; i && i < G_N_ELEMENTS(words); i++) {
		if (words[i][0] != s[0])
			break;
		if (words[i][n - 1] == s[n - 1] && !strncmp(words[i], s, n) && !words[i][n])
			return (int)i;
	}
	return CTF_WORD_NAME;
}

/* ---- errors ---- */

static void locate(const struct ctf_lexer *x, const char *at, uint64_t *line, uint64_t *column)
{
	*line = x->line;
	*column = x->column;
	/* In an earlier text: the beginning of this one is the nearest known place. */
	if ((uintptr_t)at < (uintptr_t)x->text || (uintptr_t)at > (uintptr_t)x->end)
		at = x->text;
	for (const char *s = x->text; s < at; s++) {
		if (*s == '\n') {
			++*line;
			*column = 1;
		} else {
			++*column;
		}
	}
}

char *ctf_lex_place(const struct ctf_lexer *x, const char *at)
{
	uint64_t line, column;
	locate(x, at, &line, &column);
	return g_strdup_printf("%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT, line, column);
}

void *ctf_lex_fail(struct ctf_lexer *x, const char *at, int code, const char *format, ...)
{
	if (x->error)
		return NULL;
	va_list args;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *place = ctf_lex_place(x, at);
	x->is_limit = code == CTF_LEX_OURS;
	code = x->is_limit ? BLK_TRACE_ERROR_UNSUPPORTED : code;
	g_set_error(&x->error, BLK_TRACE_ERROR, code, "%s: %s", place, what);
	return NULL;
}

static const char *const named_signs[] = {
	[CTF_TOKEN_IS_TYPE - CTF_TOKEN_END] = ":=",
	[CTF_TOKEN_TO - CTF_TOKEN_END] = "...",
	[CTF_TOKEN_ARROW - CTF_TOKEN_END] = "->",
};

static char *describe_kind(int kind)
{
	if (kind < CTF_TOKEN_END)
		return g_strdup_printf("'%c'", kind);
	if (kind == CTF_TOKEN_END)
		return g_strdup("the end");
	if (kind == CTF_TOKEN_WORD)
		return g_strdup("a name");
	if (kind == CTF_TOKEN_NUMBER)
		return g_strdup("a number");
	if (kind == CTF_TOKEN_STRING)
		return g_strdup("a string");
	return g_strdup_printf("'%s'", named_signs[kind - CTF_TOKEN_END]);
}

void *ctf_lex_unexpected(struct ctf_lexer *x, const char *what)
{
	if (x->error)
		return NULL;
	const struct ctf_token *t = &x->tok;
	g_autofree char *is = t->kind == CTF_TOKEN_WORD || t->kind == CTF_TOKEN_NUMBER
		? g_strdup_printf("'%.*s'", (int)MIN(t->n, SHOWN), t->s) : describe_kind(t->kind);
	/* babeltrace2 may understand it, unless the text just ends. */
	return ctf_lex_fail(x, t->at, t->kind == CTF_TOKEN_END ? BLK_TRACE_ERROR_CORRUPT
							       : BLK_TRACE_ERROR_UNSUPPORTED,
			    "expected %s, not %s", what, is);
}

static void bad(struct ctf_lexer *x, const char *at, int code, const char *why)
{
	ctf_lex_fail(x, at, code, "%s", why);
	x->tok = (struct ctf_token){ .kind = CTF_TOKEN_BAD, .at = at, .s = at };
}

/* ---- tokens ---- */

/* Skips white space and comments. False: a comment does not end. */
static bool skip_blanks(struct ctf_lexer *x)
{
	for (; x->at < x->end; x->at++) {
		char c = *x->at;
		if (char_class[(uint8_t)c] & BLANK)
			continue;
		if (c != '/' || x->end - x->at < 2)
			return true;
		const char *s = x->at + 2;
		if (x->at[1] == '*') {
			do
				s = memchr(s, '*', (size_t)(x->end - s));
			while (s && ++s < x->end && *s != '/');
			if (!s || s >= x->end) {
				bad(x, x->at, BLK_TRACE_ERROR_CORRUPT, "a comment without end");
				return false;
			}
		} else if (x->at[1] == '/') {
			s = memchr(s, '\n', (size_t)(x->end - s));
			if (!s)
				s = x->end - 1;
		} else {
			return true;
		}
		x->at = s;
	}
	return true;
}

static unsigned digit_of(char c)
{
	return g_ascii_isxdigit(c) ? (unsigned)g_ascii_xdigit_value(c) : 255;
}

/* Skips C's integer suffixes, which have no meaning here. */
static const char *skip_suffix(const char *s, const char *end)
{
	while (s < end && strchr("uUlL", *s) && *s)
		s++;
	return s;
}

static void lex_number(struct ctf_lexer *x)
{
	const char *begin = x->at, *s = begin;
	unsigned base = 10;
	if (*s == '0' && x->end - s > 1 && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
	} else if (*s == '0') {
		base = 8;
	}
	const char *digits = s;
	uint64_t v = 0;
	for (; s < x->end && digit_of(*s) < base; s++)
		if (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit_of(*s), &v)) {
			bad(x, begin, BLK_TRACE_ERROR_CORRUPT, "a number of more than 64 bits");
			return;
		}
	bool empty = s == digits;
	s = skip_suffix(s, x->end);
	if (empty || (s < x->end && is_word_char(*s))) {
		bad(x, begin, BLK_TRACE_ERROR_UNSUPPORTED, "not a number");
		return;
	}
	x->tok = (struct ctf_token){ .kind = CTF_TOKEN_NUMBER, .at = begin,
				     .s = begin, .n = (size_t)(s - begin), .number = v };
	x->at = s;
}

static void lex_string(struct ctf_lexer *x)
{
	const char *begin = x->at + 1, *s = begin;
	for (; s < x->end && *s != '"'; s++) {
		if (!*s)
			break;
		if (*s == '\\' && x->end - s > 1)
			s++;
	}
	if (s >= x->end || *s != '"') {
		bad(x, x->at, BLK_TRACE_ERROR_CORRUPT, "an unterminated string");
		return;
	}
	x->tok = (struct ctf_token){ .kind = CTF_TOKEN_STRING, .at = begin - 1,
				     .s = begin, .n = (size_t)(s - begin) };
	x->at = s + 1;
}

/* Tokens of several characters, by their first. */
static const struct { const char *s; uint8_t n; uint16_t kind; } longer[] = {
	{ ":=", 2, CTF_TOKEN_IS_TYPE }, { "...", 3, CTF_TOKEN_TO }, { "->", 2, CTF_TOKEN_ARROW },
};
/* 1: a token of one character; 2: it may also begin a longer one. */
static const uint8_t signs[256] = {
	['{'] = 1, ['}'] = 1, ['['] = 1, [']'] = 1, ['('] = 1, [')'] = 1, ['<'] = 1, ['>'] = 1,
	[';'] = 1, [','] = 1, ['='] = 1, ['*'] = 1, ['+'] = 1, [':'] = 2, ['.'] = 2, ['-'] = 2,
};

static void lex_sign(struct ctf_lexer *x)
{
	const char *s = x->at;
	uint8_t sign = signs[(uint8_t)*s];
	size_t left = (size_t)(x->end - s);
	for (size_t i = 0; sign == 2 && i < G_N_ELEMENTS(longer); i++)
		if (longer[i].n <= left && !memcmp(s, longer[i].s, longer[i].n)) {
			x->tok = (struct ctf_token){ .kind = longer[i].kind, .at = s, .s = s,
						     .n = longer[i].n };
			x->at += longer[i].n;
			return;
		}
	if (*s == '\'') {
		bad(x, s, CTF_LEX_OURS, "a character constant");
		return;
	}
	if (!sign) {
		g_autofree char *why = g_strdup_printf("byte 0x%02x where none can be", (uint8_t)*s);
		bad(x, s, g_ascii_isprint(*s) ? BLK_TRACE_ERROR_UNSUPPORTED
					      : BLK_TRACE_ERROR_CORRUPT, why);
		return;
	}
	x->tok = (struct ctf_token){ .kind = *s, .at = s, .s = s, .n = 1 };
	x->at++;
}

void ctf_lex_next(struct ctf_lexer *x)
{
	if (x->tok.kind == CTF_TOKEN_BAD || !skip_blanks(x))
		return;
	const char *s = x->at;
	if (s >= x->end) {
		x->tok = (struct ctf_token){ .kind = CTF_TOKEN_END, .at = x->end, .s = x->end };
	} else if (char_class[(uint8_t)*s] & LETTER) {
		do
			s++;
		while (s < x->end && is_word_char(*s));
		x->tok = (struct ctf_token){ .kind = CTF_TOKEN_WORD, .at = x->at,
					     .s = x->at, .n = (size_t)(s - x->at) };
		x->tok.word = word_of(x->at, x->tok.n);
		x->at = s;
	} else if (g_ascii_isdigit(*s)) {
		lex_number(x);
	} else if (*s == '"') {
		lex_string(x);
	} else {
		lex_sign(x);
	}
}

void ctf_lex_begin(struct ctf_lexer *x, const char *text, size_t n)
{
	if (!x->text)
		x->line = x->column = 1;
	else
		locate(x, x->end, &x->line, &x->column);
	x->text = x->at = text;
	x->end = text + n;
	x->tok = (struct ctf_token){ .kind = CTF_TOKEN_END, .at = text, .s = text };
	ctf_lex_next(x);
}

bool ctf_lex_skip(struct ctf_lexer *x, int kind)
{
	if (x->tok.kind != kind)
		return false;
	ctf_lex_next(x);
	return true;
}

bool ctf_lex_expect(struct ctf_lexer *x, int kind)
{
	if (G_LIKELY(ctf_lex_skip(x, kind)))
		return true;
	g_autofree char *what = describe_kind(kind);
	return ctf_lex_unexpected(x, what);
}

/* ---- strings ---- */

/* Decodes the escape sequence after the backslash at *s; returns the character, or -1. */
static int unescape_one(const char **s, const char *end)
{
	static const char from[] = "abfnrtv\\\"'?", to[] = "\a\b\f\n\r\t\v\\\"'?";
	const char *at = *s;
	if (at >= end)
		return -1;
	unsigned base = *at == 'x' ? 16 : 8, max = *at == 'x' ? 2 : 3, v = 0, n = 0;
	const char *known = *at ? strchr(from, *at) : NULL;
	if (known) {
		++*s;
		return to[known - from];
	}
	at += base == 16;
	for (; n < max && at < end && digit_of(*at) < base; n++, at++)
		v = v * base + digit_of(*at);
	*s = at;
	return n && v && v < 256 ? (int)v : -1;
}

bool ctf_lex_unescape(struct ctf_lexer *x, const struct ctf_token *tok, char *ret)
{
	const char *s = tok->s, *end = s + tok->n;
	while (s < end) {
		if (*s != '\\') {
			*ret++ = *s++;
			continue;
		}
		const char *at = s++;
		int c = unescape_one(&s, end);
		if (c < 0)
			return ctf_lex_fail(x, at, CTF_LEX_OURS,
					    "no known escape of a string");
		*ret++ = (char)c;
	}
	*ret = '\0';
	return true;
}

const char *ctf_lex_block_end(const struct ctf_lexer *x)
{
	const char *end = memchr(x->tok.at, '}', (size_t)(x->end - x->tok.at));

	for (const char *c = x->tok.at + 1; end && c < end; c++)
		if (*c == '/' || *c == '"' || *c == '\'' || *c == '{')
			return NULL;
	return end;
}
