/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds members of an object without parsing the others: see json_peek.h. */
#include "export/json_peek.h"

#include <string.h>

/* In all of these, `at` is an index into the text. They return the index after the skipped element, or `len`. */

static size_t skip_space(const char *text, size_t len, size_t at)
{
	while (at < len && strchr(" \t\r\n", text[at]) && text[at])
		at++;
	return at;
}

static size_t skip_string(const char *text, size_t len, size_t at, bool *ret_escaped)
{
	*ret_escaped = false;
	for (at++; at < len && text[at] != '"'; at++)
		if (text[at] == '\\') {
			*ret_escaped = true;
			at++;
		}
	return MIN(at + 1, len);
}

static size_t skip_value(const char *text, size_t len, size_t at)
{
	unsigned depth = 0;
	bool escaped;

	while (at < len) {
		char c = text[at];
		if (!depth && (c == ',' || c == '}' || g_ascii_isspace(c)))
			return at;
		at = c == '"' ? skip_string(text, len, at, &escaped) : at + 1;
		depth += c == '{' || c == '[';
		depth -= depth && (c == '}' || c == ']');
		if (!depth && (c == '"' || c == '}' || c == ']'))
			return at;
	}
	return len;
}

static void note(const char *key, size_t n_key, struct json_slice value, const char *const *keys,
		 struct json_slice *ret, size_t n)
{
	for (size_t k = 0; k < n; k++)
		if (strlen(keys[k]) == n_key && memcmp(keys[k], key, n_key) == 0)
			ret[k] = value;
}

bool json_peek(const char *text, size_t len, const char *const *keys, struct json_slice *ret, size_t n)
{
	size_t at = skip_space(text, len, 0);

	memset(ret, 0, n * sizeof *ret);
	if (at == len || text[at++] != '{')
		return false;
	while ((at = skip_space(text, len, at)) < len && text[at] == '"') {
		bool escaped;
		size_t key = at + 1, key_end = skip_string(text, len, at, &escaped);
		at = skip_space(text, len, key_end);
		if (escaped || at == len || text[at++] != ':')
			return false;
		size_t value = skip_space(text, len, at);
		at = skip_value(text, len, value);
		note(text + key, key_end - key - 1, (struct json_slice){ text + value, at - value }, keys, ret, n);
		at = skip_space(text, len, at);
		if (at < len && text[at] == ',')
			at++;
	}
	return at < len && text[at] == '}';
}
