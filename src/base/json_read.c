/* SPDX-License-Identifier: GPL-2.0-only */
/* Scans JSON: see json_read.h. */
#include "base/json_read.h"

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

static bool refuse(struct scan *s, const char *at, const char *why)
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
			return refuse(s, s->at, "a control character in a string");
		if (*s->at != '\\')
			continue;
		escaped = true;
		if (++s->at == s->end)
			break;
		if (*s->at == 'u' ? !is_hex(s->at + 1, s->end) : !memchr("\"\\/bfnrt", *s->at, 8))
			return refuse(s, s->at - 1, "an unknown escape in a string");
	}
	if (s->at >= s->end)
		return refuse(s, begin, "an unterminated string");
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
		return refuse(s, begin, "not a number");
	if (s->at < s->end && *s->at == '.') {
		s->at++;
		if (!digits(s))
			return refuse(s, begin, "not a number");
	}
	if (s->at < s->end && (*s->at == 'e' || *s->at == 'E')) {
		s->at++;
		s->at += s->at < s->end && (*s->at == '+' || *s->at == '-');
		if (!digits(s))
			return refuse(s, begin, "not a number");
	}
	end(s, i, 0);
	return true;
}

static bool scan_word(struct scan *s, const char *word, enum json_kind kind)
{
	size_t n = strlen(word);
	if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n))
		return refuse(s, s->at, "not a JSON value");
	uint32_t i = add(s, kind, s->at);
	s->at += n;
	end(s, i, 0);
	return true;
}

static bool scan_value(struct scan *s);

static bool scan_key(struct scan *s)
{
	skip_space(s);
	if (s->at >= s->end || *s->at != '"')
		return refuse(s, s->at, "a property name is missing");
	s->at++;
	if (!scan_string(s))
		return false;
	skip_space(s);
	if (s->at >= s->end || *s->at != ':')
		return refuse(s, s->at, "no ':' after a property name");
	s->at++;
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
			return refuse(s, s->at, "an unterminated object or array");
		char c = *s->at++;
		if (c == closing)
			return true;
		if (c != ',')
			return refuse(s, s->at - 1, "no ',' between values");
	}
}

static bool scan_value(struct scan *s)
{
	skip_space(s);
	if (s->at >= s->end)
		return refuse(s, s->at, "a value is missing");
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
		return refuse(s, s->at, "objects and arrays nested deeper than 200 levels");
	uint32_t i = add(s, c == '{' ? JSON_OBJECT : JSON_ARRAY, s->at++), count = 0;
	s->depth++;
	bool ok = scan_members(s, c == '{' ? '}' : ']', &count);
	s->depth--;
	end(s, i, count);
	return ok;
}

bool json_scan(const char *text, size_t n, GArray *tokens, struct json_problem *why)
{
	struct scan s = { .text = text, .at = text, .end = text + n, .tokens = tokens, .why = why };
	const char *invalid;
	g_array_set_size(tokens, 0);
	if (n > LIMIT_FRAGMENT_BYTES)
		return refuse(&s, text, "more than 4 MiB");
	if (!g_utf8_validate_len(text, n, &invalid))
		return refuse(&s, invalid, "bytes that are not valid UTF-8");
	if (!scan_value(&s))
		return false;
	skip_space(&s);
	return s.at == s.end || refuse(&s, s.at, "text after the value");
}

void json_scan_beginning(const char *text, size_t n, GArray *tokens)
{
	struct json_problem why;
	const char *end;
	g_utf8_validate_len(text, MIN(n, LIMIT_FRAGMENT_BYTES), &end);
	json_scan(text, (size_t)(end - text), tokens, &why);
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

/* ---- values by name ---- */

const struct json_token *json_token(struct json_value v)
{
	return v.tokens && v.i < v.tokens->len ? &g_array_index(v.tokens, struct json_token, v.i) : NULL;
}

bool json_is(struct json_value v, enum json_kind kind)
{
	const struct json_token *t = json_token(v);
	return t && t->kind == kind;
}

/* The token after a value; what a scan did not finish is the last one. */
static uint32_t next_of(struct json_value v)
{
	const struct json_token *t = json_token(v);
	return t && t->next > v.i ? t->next : UINT32_MAX;
}

bool json_next(struct json_value outer, struct json_value *at)
{
	const struct json_token *t = json_token(outer);
	uint32_t i = at->tokens ? next_of(*at) : outer.i + 1;
	*at = (struct json_value){ outer.text, outer.tokens, i };
	if (!t || (t->kind != JSON_OBJECT && t->kind != JSON_ARRAY) || (t->next > outer.i && i >= t->next))
		return false;
	return json_token(*at);
}

bool json_next_member(struct json_value object, struct json_value *key, struct json_value *at)
{
	if (!json_is(object, JSON_OBJECT) || !json_next(object, at))
		return false;
	*key = *at;
	at->i++;
	return json_token(*at);
}

static bool is_key(struct json_value key, const char *name, size_t n)
{
	const struct json_token *t = json_token(key);
	if (!t->escaped)
		return t->n == n && !memcmp(key.text + t->at, name, n);
	g_autoptr(GString) text = g_string_new(NULL);
	return json_string(key.text, t, text) && text->len == n && !memcmp(text->str, name, n);
}

struct json_value json_member(struct json_value object, const char *name)
{
	struct json_value found = JSON_NONE, key, at = JSON_NONE;
	size_t n = strlen(name);
	while (json_next_member(object, &key, &at))
		if (is_key(key, name, n))
			found = at;
	return found;
}

char *json_text(struct json_value v)
{
	g_autoptr(GString) text = NULL;
	if (!json_is(v, JSON_STRING))
		return NULL;
	if (!json_token(v)->escaped)
		return g_strndup(v.text + json_token(v)->at, json_token(v)->n);
	text = g_string_new(NULL);
	return json_string(v.text, json_token(v), text) ? g_strdup(text->str) : NULL;
}

char *json_text_member(struct json_value object, const char *name)
{
	return json_text(json_member(object, name));
}

bool json_int(struct json_value v, int64_t *ret)
{
	bool negative;
	uint64_t n;
	if (!json_is(v, JSON_NUMBER) || !json_integer(v.text, json_token(v), &negative, &n) ||
	    n > (uint64_t)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)-n : (int64_t)n;
	return true;
}

bool json_real(struct json_value v, double *ret)
{
	const struct json_token *t = json_token(v);
	char text[512];
	if (!json_is(v, JSON_NUMBER) || t->n >= sizeof text)
		return false;
	memcpy(text, v.text + t->at, t->n);
	text[t->n] = '\0';
	*ret = g_ascii_strtod(text, NULL);
	return true;
}
