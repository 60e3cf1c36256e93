/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of the table of limits: see limit_test.h. */
#include "lib/limit_test.h"

#include "base/limits.h"

#include <string.h>

static const struct limit *find(const char *id)
{
	const struct limit *l;
	size_t i = 0;

	while ((l = limits_at(i++)) && strcmp(l->id, id))
		;
	if (!l)
		g_error("there is no limit '%s'", id);
	return l;
}

static void run(const void *data)
{
	const struct limit_test *t = data;
	uint64_t limit = find(t->id)->value, above = t->above ? t->above : limit + 1;

	g_assert_cmpuint(above, >, limit);
	g_assert_true(t->takes(limit));
	g_assert_false(t->takes(above));
}

void limit_tests_add(const struct limit_test *tests, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		g_autofree char *path = g_strconcat("/limit/", tests[i].id, NULL);
		g_test_add_data_func(path, &tests[i], run);
	}
}

bool limit_taken(const GError *error, const char *words)
{
	if (!error)
		return true;
	if (!strstr(error->message, words))
		g_error("'%s' is not about '%s'", error->message, words);
	return false;
}
