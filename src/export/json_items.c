/* SPDX-License-Identifier: GPL-2.0-only */
/* The objects of a JSON text: see json_items.h. What is inside is the parser's. */
#include "export/json_items.h"

#include <string.h>

void json_items_init(struct json_items *j, const char *text, size_t len)
{
	*j = (struct json_items){ .text = text, .len = len };
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		j->at = 3;
}

static bool fail(struct json_items *j, const char *why)
{
	j->error = why;
	return false;
}

/* One past the string that begins at `at`; 0: it has no end. */
static size_t string_end(const struct json_items *j, size_t at)
{
	for (at++; at < j->len; at++) {
		if (j->text[at] == '\\')
			at++;
		else if (j->text[at] == '"')
			return at + 1;
	}
	return 0;
}

/* One past the object that begins at .at. */
static size_t object_end(struct json_items *j)
{
	unsigned depth = 0;
	size_t i = j->at;

	while (i < j->len && i - j->at <= JSON_MAX_ITEM) {
		char c = j->text[i];
		if (c == '"') {
			i = string_end(j, i);
			if (!i)
				break;
			continue;
		}
		i++;
		if (c == '{' || c == '[') {
			if (++depth > JSON_MAX_DEPTH) {
				j->error = "nested too deeply";
				return 0;
			}
		} else if ((c == '}' || c == ']') && --depth == 0) {
			break;
		}
	}
	if (i && depth == 0 && i - j->at <= JSON_MAX_ITEM)
		return i;
	j->error = i && i < j->len ? "a span that is too long" : "it ends inside of a span";
	return 0;
}

static bool open_list(struct json_items *j)
{
	if (j->lists && j->comma)
		return fail(j, "a comma is missing");
	if (++j->lists > JSON_MAX_LISTS)
		return fail(j, "too many lists inside one another");
	j->comma = false;
	j->at++;
	return true;
}

static bool close_list(struct json_items *j)
{
	if (!j->lists)
		return fail(j, "a list ends that has not begun");
	j->lists--;
	j->comma = true;
	j->at++;
	return true;
}

bool json_items_next(struct json_items *j, const char **ret_text, size_t *ret_len)
{
	while (!j->error && j->at < j->len) {
		char c = j->text[j->at];
		if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
			j->at++;
		} else if (c == '[') {
			if (!open_list(j))
				return false;
		} else if (c == ']') {
			if (!close_list(j))
				return false;
		} else if (c == ',' && j->lists && j->comma) {
			j->comma = false;
			j->at++;
		} else if (c == '{') {
			size_t end = j->lists && j->comma ? 0 : object_end(j);
			if (!end)
				return fail(j, j->error ? j->error : "a comma is missing");
			*ret_text = j->text + j->at;
			*ret_len = end - j->at;
			j->at = end;
			j->comma = true;
			return true;
		} else {
			return fail(j, "no list of spans");
		}
	}
	if (!j->error && j->lists)
		j->error = "it ends inside of a list";
	return false;
}
