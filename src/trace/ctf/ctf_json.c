/* SPDX-License-Identifier: GPL-2.0-only */
#include "trace/ctf/ctf_json.h"

#include "base/limits.h"

#include <string.h>

struct scan {
	const char *text, *at, *end;
	GArray *tokens;
	struct json_problem *why;
	unsigned depth;
};

GArray *json_tokens_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct json_token));
}

static bool fail(struct scan *s, const char *at, const char *why)
{
	*s->why = (struct json_problem){ why, (size_t)(at - s->text) };
	return false;
}

static inline void skip_space(struct scan *s)
{
	while (s->at < s->end && (*s->at == ' ' || *s->at == '\n' || *s->at == '\t' || *s->at == '\r'))
		s->at++;
}

static inline uint32_t add(struct scan *s, enum json_kind kind, const char *at)
{
	struct json_token t = { .kind = (uint8_t)kind, .at = (uint32_t)(at - s->text) };
	g_array_append_val(s->tokens, t);
	return s->tokens->len - 1;
}

/* Ends the current token. */
static inline void end(struct scan *s, uint32_t i, uint32_t count)
{
	struct json_token *t = &g_array_index(s->tokens, struct json_token, i);
	t->n = (uint32_t)(s->at - s->text) - t->at;
	t->next = s->tokens->len;
	t->count = count;
}

static bool is_hex(const char *s, const char *stop)
{
	for (int i = 0; i < 4; i++)
		if (s + i >= stop || !g_ascii_isxdigit(s[i]))
			return false;
	return true;
}

/* Scans a string; its opening quote was read. */
static bool scan_string(struct scan *s)
{
	const char *begin = s->at;
	uint32_t i = add(s, JSON_STRING, begin);
	bool escaped = false;
	for (; s->at < s->end && *s->at != '"'; s->at++) {
		if ((uint8_t)*s->at < 0x20)
			return fail(s, s->at, "a control character in a string");
		if (*s->at != '\\')
			continue;
		escaped = true;
		if (++s->at == s->end)
			break;
		if (*s->at == 'u' ? !is_hex(s->at + 1, s->end) : !memchr("\"\\/bfnrt", *s->at, 8))
			return fail(s, s->at - 1, "an unknown escape in a string");
	}
	if (s->at >= s->end)
		return fail(s, begin, "an unterminated string");
	end(s, i, 0);
	g_array_index(s->tokens, struct json_token, i).escaped = escaped;
	s->at++;
	return true;
}

static bool digits(struct scan *s)
{
	const char *begin = s->at;
	while (s->at < s->end && g_ascii_isdigit(*s->at))
		s->at++;
	return s->at > begin;
}

static bool scan_number(struct scan *s)
{
	const char *begin = s->at;
	uint32_t i = add(s, JSON_NUMBER, begin);
	s->at += *s->at == '-';
	if (s->at < s->end && *s->at == '0')	/* no digit may follow a leading 0 */
		s->at++;
	else if (!digits(s))
		return fail(s, begin, "not a number");
	if (s->at < s->end && *s->at == '.') {
		s->at++;
		if (!digits(s))
			return fail(s, begin, "not a number");
	}
	if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
		s->at++;
		s->at += s->at < s->end && (*s->at == '+' || *s->at == '-');
		if (!digits(s))
			return fail(s, begin, "not a number");
	}
	end(s, i, 0);
	return true;
}

static bool scan_word(struct scan *s, const char *word, enum json_kind kind)
{
	size_t n = strlen(word);
	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n))
		return fail(s, s->at, "not a JSON value");
	uint32_t i = add(s, kind, s->at);
	s->at += n;
	end(s, i, 0);
	return true;
}

static bool scan_value(struct scan *s);

static bool scan_key(struct scan *s)
{
	skip_space(s);
	if (s->at >= s->end || *s->at++ != '"')
		return fail(s, s->at, "a property name is missing");
	if (!scan_string(s))
		return false;
	skip_space(s);
	if (s->at >= s->end || *s->at++ != ':')
		return fail(s, s->at, "no ':' after a property name");
	return true;
}

/* Scans members up to the closing bracket; the opening one was read. */
static bool scan_members(struct scan *s, char closing, uint32_t *ret_count)
{
	skip_space(s);
	if (s->at < s->end && *s->at == closing) {
		s->at++;
		return true;
	}
	for (;;) {
		if (closing == '}' && !scan_key(s))
			return false;
		if (!scan_value(s))
			return false;
		++*ret_count;
		skip_space(s);
		if (s->at >= s->end)
			return fail(s, s->at, "an unterminated object or array");
		char c = *s->at++;
		if (c == closing)
			return true;
		if (c != ',')
			return fail(s, s->at - 1, "no ',' between values");
	}
}

static bool scan_value(struct scan *s)
{
	skip_space(s);
	if (s->at >= s->end)
		return fail(s, s->at, "a value is missing");
	char c = *s->at;
	if (c == '"') {
		s->at++;
		return scan_string(s);
	}
	if (c == '-' || g_ascii_isdigit(c))
		return scan_number(s);
	if (c != '{' && c != '[')
		return c == 't' ? scan_word(s, "true", JSON_TRUE) :
		       c == 'f' ? scan_word(s, "false", JSON_FALSE) :
				  scan_word(s, "null", JSON_NULL);
	if (s->depth == LIMIT_JSON_DEPTH)
		return fail(s, s->at, "objects and arrays nested deeper than 200 levels");
	s->depth++;
	uint32_t i = add(s, c == '{' ? JSON_OBJECT : JSON_ARRAY, s->at++), count = 0;
	bool ok = scan_members(s, c == '{' ? '}' : ']', &count);
	end(s, i, count);
	s->depth--;
	return ok;
}

bool json_scan(const char *text, size_t n, GArray *tokens, struct json_problem *why)
{
	struct scan s = { .text = text, .at = text, .end = text + n, .tokens = tokens, .why = why };
	const char *invalid;
	g_array_set_size(tokens, 0);
	if (n > LIMIT_FRAGMENT_BYTES)
		return fail(&s, text, "more than 4 MiB");
	if (!g_utf8_validate_len(text, n, &invalid))
		return fail(&s, invalid, "bytes that are not valid UTF-8");
	if (!scan_value(&s))
		return false;
	skip_space(&s);
	return s.at == s.end || fail(&s, s.at, "text after the value");
}

/* ---- values ---- */

static unsigned hex4(const char *s)
{
	unsigned v = 0;
	for (int i = 0; i < 4; i++)
		v = v << 4 | (unsigned)g_ascii_xdigit_value(s[i]);
	return v;
}

/* Decodes "\uXXXX" at *s, or a surrogate pair, and moves after it. False: half of a pair. */
static bool unescape_unicode(const char **s, const char *stop, GString *ret)
{
	unsigned c = hex4(*s + 2);
	*s += 6;
	if (c >= 0xdc00 && c < 0xe000)
		return false;
	if (c >= 0xd800 && c < 0xdc00) {
		if (stop - *s < 6 || (*s)[0] != '\\' || (*s)[1] != 'u')
			return false;
		unsigned low = hex4(*s + 2);
		if (low < 0xdc00 || low >= 0xe000)
			return false;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
		*s += 6;
	}
	g_string_append_unichar(ret, c);
	return true;
}

bool json_string(const char *text, const struct json_token *t, GString *ret)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *s = text + t->at, *stop = s + t->n;
	g_string_truncate(ret, 0);
	if (!t->escaped) {
		g_string_append_len(ret, s, (gssize)t->n);
		return true;
	}
	while (s < stop) {
		if (*s != '\\') {
			g_string_append_c(ret, *s++);
		} else if (s[1] != 'u') {
			g_string_append_c(ret, to[strchr(from, s[1]) - from]);
			s += 2;
		} else if (!unescape_unicode(&s, stop, ret)) {
			return false;
		}
	}
	return true;
}

bool json_integer(const char *text, const struct json_token *t, bool *ret_negative, uint64_t *ret)
{
	const char *s = text + t->at, *stop = s + t->n;
	uint64_t v = 0;
	*ret_negative = *s == '-';
	for (s += *ret_negative; s < stop; s++) {
		if (!g_ascii_isdigit(*s))
			return false;
		if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return false;
	}
	*ret = v;
	*ret_negative = *ret_negative && v;
	return true;
}
