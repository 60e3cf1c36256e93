/* SPDX-License-Identifier: GPL-2.0-only */
/* Completion of filters: columns, values, and what is hostile among them. */
#include "lib/fake_timeline.h"
#include "views/completion.h"

#include <string.h>

/* `|` in the text is the cursor. The text afterwards, and the candidates if there are several. */
static char *completed(const char *view, const char *text)
{
	const struct view *v = view_find(view);
	g_autoptr(blk_timeline) tl = fake_timeline();
	struct view_query q = VIEW_QUERY_INIT;
	q.by = v->default_by;
	struct rows *rows = v->build(tl, &q);
	const char *cursor = strchr(text, '|');
	size_t at = (size_t)(cursor - text);
	g_autoptr(GString) all = g_string_new_len(text, (gssize)at);
	g_string_append(all, cursor + 1);
	struct completion c = completion_find(v, rows, all->str, at);
	g_assert_cmpuint(c.from, <=, at);
	if (c.with) {
		g_string_erase(all, (gssize)c.from, (gssize)(at - c.from));
		g_string_insert(all, (gssize)c.from, c.with);
	}
	char *ret = g_strdup_printf("%s%s%s", all->str, c.candidates ? " ## " : "", c.candidates ? c.candidates : "");
	completion_clear(&c);
	rows_free(rows);
	return ret;
}

static void test_find(void)
{
	static const struct { const char *view, *text, *want; } cases[] = {
		{ "processes", "com|", "comm " },
		{ "processes", "syscalls > 5 && com|", "syscalls > 5 && comm " },
		{ "processes", "blo|", "blocked_ ## blocked_ns, blocked_ratio" },
		{ "processes", "nosuch|", "nosuch" },
		{ "processes", "SYS|", "SYS ## SYS, SYSCALLS" },
		{ "processes", "BLOC|", "BLOCK ## BLOCK, BLOCK%" },
		{ "processes", "CPU% |", "CPU%  ## !=, <, <=, ==, >, >=" },
		{ "processes", "NAME == th|", "NAME == thumbd " },
		{ "processes", "comm == th|", "comm == thumbd " },
		{ "processes", "comm==TH|", "comm==thumbd " },
		{ "processes", "comm == \"th|", "comm == thumbd " },
		{ "processes", "comm in (thumbd, st|", "comm in (thumbd, stored " },
		{ "processes", "comm not in (st|", "comm not in (stored " },
		{ "processes", "comm == ev|", "comm == ev" },		/* with an escape sequence */
		{ "processes", "comm == nosuch|", "comm == nosuch" },
		{ "processes", "pid == 2|", "pid == 2" },
		{ "processes", "(com|", "(comm " },
		{ "processes", "comm == thumbd) && cpu_n|", "comm == thumbd) && cpu_ns " },
		{ "processes", "com| == x", "comm  == x" },
		{ "processes", "\"com|", "\"com" },
		{ "processes", "pid |", "pid  ## !=, <, <=, ==, >, >=" },
		{ "processes", "comm i|", "comm in ( " },
		{ "processes", "comm n|", "comm not in ( " },
		{ "processes", "comm |", "comm  ## !=, !~, ==, =~, in (, not in (" },
		{ "processes", "comm == thumbd |", "comm == thumbd  ## &&, ||" },
		{ "processes", "comm == \"a b\" |", "comm == \"a b\"  ## &&, ||" },
		{ "processes", "cpu_ns > 5 && pid |", "cpu_ns > 5 && pid  ## !=, <, <=, ==, >, >=" },
		{ "processes", "not com|", "not comm " },
		{ "files", "path == /|", "path == / ## " },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *got = completed(cases[i].view, cases[i].text);
		g_test_message("%s", cases[i].text);
		if (g_str_has_suffix(cases[i].want, "## "))
			g_assert_true(g_str_has_prefix(got, "path == /"));
		else
			g_assert_cmpstr(got, ==, cases[i].want);
	}
}

/* Any text, any cursor: nothing breaks. */
static void test_random(void)
{
	static const char *const parts[] = { "comm", "==", "in", "(", ")", "\"", "\\", " ", "th", "&&", "é", "!", "," };
	for (unsigned i = 0; i < 300; i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		unsigned n = (unsigned)g_test_rand_int_range(0, 12);
		unsigned at = n ? (unsigned)g_test_rand_int_range(0, (gint32)n) : 0;
		for (unsigned k = 0; k < n; k++)
			g_string_append_printf(text, "%s%s", k == at ? "|" : "",
					       parts[g_test_rand_int_range(0, G_N_ELEMENTS(parts))]);
		if (!strchr(text->str, '|'))
			g_string_append_c(text, '|');
		g_autofree char *got = completed("processes", text->str);
		g_assert_true(g_utf8_validate(got, -1, NULL));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/completion/find", test_find);
	g_test_add_func("/completion/random", test_random);
	return g_test_run();
}
