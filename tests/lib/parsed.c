/* SPDX-License-Identifier: GPL-2.0-only */
/* JSON that blktop wrote: see parsed.h. */
#include "lib/parsed.h"

#include <string.h>

struct json_value parsed(const char *text)
{
	static GPtrArray *retained;
	struct json_value root = { .text = g_strdup(text), .tokens = json_tokens_new() };
	struct json_problem why;
	if (!retained)
		retained = g_ptr_array_new();
	g_ptr_array_add(retained, (gpointer)root.text);
	g_ptr_array_add(retained, (gpointer)root.tokens);
	if (!json_scan(root.text, strlen(text), (GArray *)root.tokens, &why))
		g_error("byte %" G_GSIZE_FORMAT ": %s: %.100s", why.at, why.text, text + why.at);
	return root;
}

const char *parsed_text(struct json_value o, const char *key)
{
	g_autofree char *text = json_text_member(o, key);
	g_assert_nonnull(text);
	return g_intern_string(text);
}

int64_t parsed_int(struct json_value o, const char *key)
{
	int64_t n = 0;
	g_assert_true(json_int(json_member(o, key), &n));
	return n;
}

static struct json_value of_kind(struct json_value o, const char *key, enum json_kind kind)
{
	struct json_value v = json_member(o, key);
	g_assert_true(json_is(v, kind));
	return v;
}

struct json_value parsed_list(struct json_value o, const char *key)
{
	return of_kind(o, key, JSON_ARRAY);
}

struct json_value parsed_object(struct json_value o, const char *key)
{
	return of_kind(o, key, JSON_OBJECT);
}

struct json_value parsed_at(struct json_value list, unsigned i)
{
	struct json_value at = JSON_NONE;
	g_assert_true(json_is(list, JSON_ARRAY));
	for (unsigned n = 0; n <= i; n++)
		g_assert_true(json_next(list, &at));
	return at;
}

bool parsed_has(struct json_value o, const char *key)
{
	return json_token(json_member(o, key));
}

bool parsed_is_null(struct json_value o, const char *key)
{
	return json_is(json_member(o, key), JSON_NULL);
}

unsigned parsed_count(struct json_value v)
{
	g_assert_nonnull(json_token(v));
	return json_token(v)->count;
}

static bool same_members(struct json_value a, struct json_value b)
{
	struct json_value key, at = JSON_NONE;
	while (json_next_member(a, &key, &at)) {
		g_autofree char *name = json_text(key);
		if (!parsed_equal(at, json_member(b, name)))
			return false;
	}
	return true;
}

bool parsed_equal(struct json_value a, struct json_value b)
{
	const struct json_token *x = json_token(a), *y = json_token(b);
	if (!x || !y || x->kind != y->kind || x->count != y->count)
		return false;
	if (x->kind == JSON_OBJECT)
		return same_members(a, b);
	if (x->kind != JSON_ARRAY)
		return x->n == y->n && !memcmp(a.text + x->at, b.text + y->at, x->n);
	struct json_value i = JSON_NONE, k = JSON_NONE;
	while (json_next(a, &i) && json_next(b, &k))
		if (!parsed_equal(i, k))
			return false;
	return true;
}
