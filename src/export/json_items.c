/* SPDX-License-Identifier: GPL-2.0-only */
/* Splits a JSON text into its objects: see json_items.h. It does not parse the objects. */
#include "export/json_items.h"

#include "base/limits.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define WINDOW (256u << 10)		/* initial size in bytes; grows to hold the longest object */

void json_items_open(struct json_items *j, int fd)
{
	*j = (struct json_items){ .fd = fd, .room = WINDOW };
	j->text = j->window = g_malloc(WINDOW);
}

void json_items_clear(struct json_items *j)
{
	g_clear_pointer(&j->window, g_free);
	*j = (struct json_items){ .fd = -1 };
}

uint64_t json_items_at(const struct json_items *j)
{
	return j->passed + j->at;
}

const char *json_items_failed(const struct json_items *j, size_t *ret_len)
{
	*ret_len = j->len - j->at;
	return j->text + j->at;
}

/* Discards the consumed part of the window and reads more. False: end of file, or an error (.error). */
static bool read_more(struct json_items *j)
{
	ssize_t n;

	if (j->fd < 0)
		return false;
	g_assert(j->at <= j->len && j->len <= j->room);
	memmove(j->window, j->window + j->at, j->len - j->at);
	j->passed += j->at;
	j->len -= j->at;
	j->at = 0;
	if (j->len == j->room)
		j->window = g_realloc(j->window, j->room *= 2);
	j->text = j->window;
	do
		n = read(j->fd, j->window + j->len, j->room - j->len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		j->error = g_strerror(errno);
	if (n <= 0)
		j->fd = -1;
	j->len += n > 0 ? (size_t)n : 0;
	return n > 0;
}

static const struct { const char *bytes; size_t n; const char *why; } marks[] = {
	{ "\xef\xbb\xbf", 3, NULL },	/* UTF-8: skipped */
	{ "\x1f\x8b", 2, "it is compressed by gzip: unpack it first" },
	{ "\x28\xb5\x2f\xfd", 4, "it is compressed by zstd: unpack it first" },
	{ "\xff\xfe", 2, "it is in UTF-16, JSON is UTF-8: iconv -f UTF-16 -t UTF-8" },
	{ "\xfe\xff", 2, "it is in UTF-16, JSON is UTF-8: iconv -f UTF-16 -t UTF-8" },
};

/* Skips a byte order mark; sets an error if the file begins like another format. */
static void skip_mark(struct json_items *j)
{
	while (!json_items_at(j) && j->len < 4 && read_more(j)) {
	}
	for (size_t i = 0; !json_items_at(j) && i < G_N_ELEMENTS(marks); i++) {
		if (j->len < marks[i].n || memcmp(j->text, marks[i].bytes, marks[i].n) != 0)
			continue;
		if (marks[i].why)
			j->error = marks[i].why;
		else
			j->at = marks[i].n;
		return;
	}
}

static bool refuse(struct json_items *j, const char *why)
{
	j->error = why;
	return false;
}

/* Index after the string that begins at `at`; 0: it has no end. */
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

/* Index after the object that begins at .at; 0: it is not an object (.error), or its end is not in the window. */
static size_t find_end(struct json_items *j)
{
	unsigned depth = 0;
	size_t i = j->at;

	while (i < j->len && i - j->at <= LIMIT_SPAN_OBJECT_BYTES) {
		char c = j->text[i];
		if (c == '"') {
			i = string_end(j, i);
			if (!i)
				break;
			continue;
		}
		i++;
		if (c == '{' || c == '[') {
			if (++depth > LIMIT_SPAN_OBJECT_DEPTH) {
				j->error = "nested too deeply";
				return 0;
			}
		} else if ((c == '}' || c == ']') && --depth == 0) {
			break;
		}
	}
	if (i && depth == 0 && i - j->at <= LIMIT_SPAN_OBJECT_BYTES)
		return i;
	if (j->len - j->at > LIMIT_SPAN_OBJECT_BYTES)
		j->error = "a span that is too long";
	return 0;
}

static size_t object_end(struct json_items *j)
{
	size_t end = find_end(j);
	while (!end && !j->error && read_more(j))
		end = find_end(j);
	if (!end && !j->error)
		j->error = "it ends inside of a span";
	return end;
}

static bool open_list(struct json_items *j)
{
	if (j->lists && j->comma)
		return refuse(j, "a comma is missing");
	if (++j->lists > LIMIT_SPAN_LISTS)
		return refuse(j, "lists are nested too deep");
	j->comma = false;
	j->at++;
	return true;
}

static bool close_list(struct json_items *j)
{
	if (!j->lists)
		return refuse(j, "a list ends without a beginning");
	j->lists--;
	j->comma = true;
	j->at++;
	return true;
}

bool json_items_next(struct json_items *j, const char **ret_text, size_t *ret_len)
{
	skip_mark(j);
	while (!j->error && (j->at < j->len || read_more(j))) {
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
				return refuse(j, j->error ? j->error : "a comma is missing");
			*ret_text = j->text + j->at;
			*ret_len = end - j->at;
			j->at = end;
			j->comma = true;
			return true;
		} else {
			return refuse(j, "no list of spans");
		}
	}
	if (!j->error && j->lists)
		j->error = "it ends inside of a list";
	return false;
}
