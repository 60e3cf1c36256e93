/* SPDX-License-Identifier: GPL-2.0-only */
/* Filter expressions: what they mean, and what is said of wrong ones. */
#include "base/expr.h"

#include <math.h>
#include <string.h>

enum { COL_COMM, COL_PID, COL_BUSY, COL_BYTES, COL_RATIO, COL_TRACE, COL_PATH, COL_NONE, COL_N };

static const char *const columns[COL_N] = {
	"comm", "pid", "busy_ns", "read_bytes", "cpu_ratio", "trace_id", "path", "exit_ns",
};

static int lookup(const char *column, const void *data)
{
	g_assert_true(data == columns);
	for (int i = 0; i < COL_N; i++) {
		if (strcmp(columns[i], column) == 0)
			return i;
	}
	return !strcmp(column, "CPU%") ? COL_RATIO : !strcmp(column, "MAX WAIT") ? COL_BUSY :
	       !strcmp(column, ">=FROM") ? COL_PID : !strcmp(column, "BEFORE") ? EXPR_SEVERAL : -1;
}

static struct text_candidate column_at(size_t i, const void *data)
{
	static const char *const meanings[COL_N] = { "name of the process", "process id", "time in it" };
	g_assert_true(data == columns);
	static const char *const titles[COL_N] = { "NAME", "PID", "BEFORE", "BEFORE", "CPU%" };
	return (struct text_candidate){ i < COL_N ? columns[i] : NULL, i < COL_N ? meanings[i] : NULL,
					i < COL_N ? titles[i] : NULL };
}

static struct value get(int column, const void *row, const void *data)
{
	g_assert_cmpint(column, >=, 0);
	g_assert_cmpint(column, <, COL_N);
	g_assert_true(data == columns);
	return ((const struct value *)row)[column];
}

static const struct value row[COL_N] = {
	[COL_COMM] = { VALUE_TEXT, .s = "Thumbd-w0" },
	[COL_PID] = { VALUE_ID, .i = 254 },
	[COL_BUSY] = { VALUE_NS, .i = 5000000 },
	[COL_BYTES] = { VALUE_BYTES, .i = 4096 },
	[COL_RATIO] = { VALUE_RATIO, .d = 0.5 },
	[COL_TRACE] = { VALUE_HEX64, .i = (int64_t)0xfe9873c20000beefu },
	[COL_PATH] = { VALUE_TEXT, .s = "/srv/caf\303\211 (1)" },
};

static bool match(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct expr *e = expr_parse(text, lookup, column_at, columns, COL_N, &error);

	g_assert_no_error(error);
	bool ret = expr_match(e, get, row, columns);
	expr_free(e);
	return ret;
}

struct expected {
	const char *text;
	bool holds;
};

static void check_table(const struct expected *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (match(table[i].text) != table[i].holds)
			g_error("'%s' is %s", table[i].text, table[i].holds ? "false" : "true");
	}
}

static void test_operators(void)
{
	static const struct expected table[] = {
		{ "pid == 254", true }, { "pid = 254", true }, { "pid==254", true },
		{ "pid != 254", false }, { "pid < 254", false }, { "pid <= 254", true },
		{ "pid > 253", true }, { "pid >= 255", false }, { "pid == \"254\"", true },
		{ "pid > -1", true }, { "pid < 254.5", true }, { "pid == 254.5", false },
		{ "pid =~ ^2", true }, { "pid !~ ^2", false },
		{ "comm == Thumbd-w0", true }, { "comm == thumbd-w0", false },
		{ "comm != x", true }, { "comm < U", true }, { "comm == \"Thumbd-w0\"", true },
		{ "comm =~ ^thumb", true }, { "comm =~ w[0-9]$", true }, { "comm !~ w1", true },
		{ "comm =~ foo|umb", true }, { "comm =~ \"^(a|t)\"", true },
		{ "comm =~ \"\\d$\"", true }, { "path =~ \"\\(1\\)$\"", true },
		{ "path == \"/srv/caf\303\211 (1)\"", true }, { "path =~ caf\303\251", true },
	};

	check_table(table, G_N_ELEMENTS(table));
}

static void test_units(void)
{
	static const struct expected table[] = {
		{ "busy_ns == 5ms", true }, { "busy_ns == 5000us", true }, { "busy_ns > 4.9ms", true },
		{ "busy_ns == 0.005s", true }, { "busy_ns < 1m", true }, { "busy_ns < 1h", true },
		{ "busy_ns == 5000000", true }, { "busy_ns == 5000000ns", true },
		{ "busy_ns > 5.1ms", false }, { "busy_ns == 5000\302\265s", true },
		{ "read_bytes == 4K", true }, { "read_bytes == 4k", true }, { "read_bytes < 1M", true },
		{ "read_bytes < 0.004M", true }, { "read_bytes < 1G", true }, { "pid < 1K", true },
		{ "pid > .2K", false },		/* a word: numbers begin with a digit */
		{ "pid > 0.2K", true }, { "cpu_ratio == 50%", true }, { "cpu_ratio == 0.5", true },
		{ "cpu_ratio > 49.9%", true }, { "cpu_ratio > 1", false },
		/* Units that are not the column's: as if there was no value. */
		{ "busy_ns > 1K", false }, { "busy_ns != 1K", true }, { "read_bytes > 1ms", false },
		{ "cpu_ratio > 1s", false }, { "pid > 1%", false }, { "pid == foo", false },
		{ "pid != foo", true }, { "pid > 1x", false },
		{ "trace_id == fe9873c20000beef", true }, { "trace_id == 0xFE9873C20000BEEF", true },
		{ "trace_id > 1", true }, { "trace_id =~ ^fe98", true }, { "trace_id == xyz", false },
	};

	check_table(table, G_N_ELEMENTS(table));
}

static void test_words(void)
{
	static const struct expected table[] = {
		{ "", true }, { "  ", true }, { "thumb", true }, { "THUMB", true }, { "w0", true },
		{ "w1", false }, { "\"d-W\"", true }, { "\"\"", true }, { "254", false },
		{ "caf\303\251", true }, { "CAF\303\211", true }, { "\" (1)\"", true },
		{ "\"and\"", false }, { "!w1", true }, { "not w1", true }, { "! ! w0", true },
	};

	check_table(table, G_N_ELEMENTS(table));
}

static void test_precedence(void)
{
	static const struct expected table[] = {
		{ "w0 || w1 && w2", true }, { "(w0 || w1) && w2", false }, { "w1 && w2 || w0", true },
		{ "!w1 && w0", true }, { "!(w1 && w0)", true }, { "!w0 || w0", true },
		{ "!(w0 || w0)", false }, { "w0 and not w1 or w2", true }, { "w1 or w2 and w0", false },
		{ "W0 AND w0 Or w1", true }, { "w0&&!w1", true }, { "((((w0))))", true },
		{ "pid>1&&pid<300", true }, { "not pid > 300", true }, { "comm == and || w0", true },
	};

	check_table(table, G_N_ELEMENTS(table));
}

static void test_patterns(void)
{
	static const struct expected table[] = {
		{ "comm == Thumbd*", true }, { "comm == thumbd*", false }, { "comm == *w0", true },
		{ "comm == *", true }, { "comm == Th*d-w?", true }, { "comm == Thumbd-w0?", false },
		{ "comm != Thumbd*", false }, { "comm != x*", true }, { "comm == \"Thumbd*\"", false },
		{ "comm == *d*d*", false }, { "comm == *u*-*0", true }, { "path == /srv/caf?*", true },
		{ "exit_ns == *", false },
	};

	check_table(table, G_N_ELEMENTS(table));
}

static void test_lists(void)
{
	static const struct expected table[] = {
		{ "pid in (254)", true }, { "pid in (1, 254)", true }, { "pid in (1,254,3)", true },
		{ "pid in (1 2 3)", false }, { "pid not in (1, 2)", true }, { "pid NOT IN (254)", false },
		{ "pid ! in (1)", true }, { "comm in (x, Thumb*)", true },
		{ "comm in (\"a, b\", \"Thumbd-w0\")", true },
		{ "comm in(and, or)", false }, { "busy_ns in (5ms)", true }, { "read_bytes in (4K, 1)", true },
		{ "w0 && pid in (254) && !w1", true }, { "!(pid in (254))", false }, { "exit_ns in (0, 1)", false },
		{ "exit_ns not in (0, 1)", true }, { "in", false }, { "comm == in", false }, { "not in", true },
	};

	check_table(table, G_N_ELEMENTS(table));
}

static void test_null(void)
{
	static const struct expected table[] = {
		{ "exit_ns == 0", false }, { "exit_ns < 5", false }, { "exit_ns >= 0", false },
		{ "exit_ns != 0", true }, { "exit_ns =~ .", false }, { "exit_ns !~ .", true },
		{ "!(exit_ns == 0)", true }, { "exit_ns =~ \"\"", false },
	};

	check_table(table, G_N_ELEMENTS(table));
}

/* Names as they are on the screen: of two words, with signs, in percent. */
static void test_titles(void)
{
	static const struct expected table[] = {
		{ "CPU% > 49", true }, { "CPU% > 50", false }, { "CPU%>=50", true }, { "CPU% > 0.49", true },
		{ "CPU% > 49%", true }, { "CPU% > 0.6%", true }, { "CPU% in (49, 50)", true },
		{ "CPU% not in (49)", true }, { "cpu_ratio > 49", false }, { "cpu_ratio < 2x", true },
		{ "MAX WAIT >= 5ms", true }, { "MAX WAIT>5ms", false }, { "!MAX WAIT > 5ms", true },
		{ "MAX WAIT in (5ms)", true }, { "MAX WAIT not in (5ms)", false }, { "\"MAX WAIT\" == 5ms", true },
		{ "w0 && MAX WAIT == 5ms && CPU% == 50", true }, { "\">=FROM\" == 254", true },
		{ "pid == 254 && \"w0\"", true }, { "(MAX WAIT > 1s || w0)", true },
	};

	check_table(table, G_N_ELEMENTS(table));
}

static void test_errors(void)
{
	static const struct { const char *text, *message; } table[] = {
		{ "foo == 1", "filter 'foo == 1': no column 'foo' at character 1" },
		{ "w0 && fo > 1", "no column 'fo' at character 7" },
		{ "pid >", "expected a value, not the end, at character 6" },
		{ "pid > )", "expected a value, not ')', at character 7" },
		{ "pid > > 1", "expected a value, not '>', at character 7" },
		{ "(pid > 1", "expected ')', '&&' or '||', not the end, at character 9" },
		{ "pid > 1)", "expected '&&' or '||', not ')', at character 8" },
		{ "w0 w1", "expected '&&' or '||', not 'w1', at character 4" },
		{ "w0 &&", "expected a column, a word or '(', not the end, at character 6" },
		{ "&& w0", "not '&&', at character 1" }, { "()", "not ')', at character 2" },
		{ "!", "not the end, at character 2" }, { "== 1", "not '==', at character 1" },
		{ "\"pit\" > 1", "expected '&&' or '||', not '>', at character 7" },
		{ "\303\251 \"abc", "a string that is not closed at character 3" },
		{ "\"abc\\\"", "a string that is not closed at character 1" },
		{ "comm =~ [", "regular expression '[': " }, { "comm =~ [", "at character 9" },
		{ "com == 1", "no column 'com' (did you mean comm?) at character 1" },
		{ "w0 || bsuy_ns > 1", "no column 'bsuy_ns' (did you mean busy_ns?) at character 7" },
		{ "name == x", "no column 'name' (did you mean comm?)" }, { "am == x", "no column 'am' at" },
		{ "BEFORE > 1", "several columns are called 'BEFORE' (busy_ns, read_bytes) at character 1" },
		{ "CPU > 1", "no column 'CPU' (did you mean cpu_ratio?)" },
		{ "na MAX > 1", "expected '&&' or '||', not 'MAX', at character 4" },
		{ "n in (x)", "no column 'n' at" }, { "pid in ()", "expected a value, not ')', at character 9" },
		{ "pid in (,)", "expected a value, not ')', at character 10" },
		{ "pid in (1", "expected a value or ')', not the end, at character 10" },
		{ "pid in (1 || 2)", "expected a value or ')', not '||', at character 11" },
		{ "a\377", "filter: not valid UTF-8 at byte 2" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(expr_parse(table[i].text, lookup, column_at, columns, COL_N, &error));
		g_assert_error(error, BLK_EXPR_ERROR, 0);
		if (!strstr(error->message, table[i].message))
			g_error("'%s' is not in: %s", table[i].message, error->message);
		g_assert_null(expr_parse(table[i].text, lookup, column_at, columns, COL_N, NULL));
	}
}

static enum value_kind kind_of(int column, const void *data)
{
	g_assert_true(data == columns);
	return column == COL_NONE ? VALUE_NS : row[column].kind;
}

/* What can never be true is told to who typed it. */
static void test_check(void)
{
	static const struct { const char *text, *message; } table[] = {
		{ "busy_ns > 5msec", "filter 'busy_ns > 5msec': '5msec' is not a duration "
				     "(ns us ms s m h) at character 11" },
		{ "busy_ns > 1K", "'1K' is not a duration" }, { "busy_ns == \"\"", "'' is not a duration" },
		{ "exit_ns != soon", "'soon' is not a duration" },
		{ "read_bytes > 5MB", "'5MB' is not a number of bytes (K M G)" },
		{ "read_bytes > 1ms", "'1ms' is not a number of bytes" },
		{ "pid == foo", "'foo' is not a number at" }, { "pid > 1%", "'1%' is not a number at" },
		{ "cpu_ratio > 1s", "'1s' is not a ratio (0.5 or 50%)" },
		{ "trace_id == xyz", "'xyz' is not a hexadecimal id" },
		{ "w0 || !(w0 && (pid < x))", "'x' is not a number at character 22" },
		{ "\303\251 || pid < x", "'x' is not a number at character 12" },
		{ "busy_ns > 5ms && pid < 1K && read_bytes < 1G && cpu_ratio < 5%", NULL },
		{ "busy_ns == 5 && pid == \"254\" && cpu_ratio > 1 && trace_id == 0xab", NULL },
		{ "busy_ns =~ x && pid !~ ms && comm == 5ms && comm < 3x && w0 && !w1", NULL },
		{ "", NULL },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autoptr(GError) error = NULL;
		struct expr *e = expr_parse(table[i].text, lookup, column_at, columns, COL_N, NULL);
		g_assert_cmpint(expr_check(e, kind_of, columns, &error), ==, !table[i].message);
		if (!table[i].message)
			g_assert_no_error(error);
		else if (!strstr(error->message, table[i].message))
			g_error("'%s' is not in: %s", table[i].message, error->message);
		expr_free(e);
	}
}

static char *nested(const char *open, const char *close, int depth)
{
	GString *s = g_string_new(NULL);

	for (int i = 0; i < depth; i++)
		g_string_append(s, open);
	g_string_append(s, "w0");
	for (int i = 0; i < depth; i++)
		g_string_append(s, close);
	return g_string_free(s, FALSE);
}

static void test_bounds(void)
{
	g_autofree char *fine = nested("(", ")", 64);
	g_autofree char *deep = nested("(", ")", 65);
	g_autofree char *nots = nested("!", "", 4000);
	g_autofree char *mixed = nested("(!", ")", 40);
	g_autofree char *wide = nested("w1||", "", 1000);	/* long is not deep */
	g_autofree char *large = g_strnfill(4097, 'a');
	const char *const bad[] = { deep, nots, mixed, large };

	g_assert_true(match(fine));
	g_assert_true(match(wide));
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_null(expr_parse(bad[i], lookup, column_at, columns, COL_N, &error));
		g_assert_error(error, BLK_EXPR_ERROR, 0);
	}
	g_assert_true(match("(w0) && (w0) && ((w0)) && !w1 && !w1"));	/* depth comes back */
	expr_free(NULL);
}

/* Names from traces need not be UTF-8. */
static void test_hostile_rows(void)
{
	struct value hostile[COL_N] = { { VALUE_TEXT, .s = "\377bad\033" } };
	static const char *const texts[] = { "bad", "comm =~ bad", "\303\251 || comm =~ ^.bad" };

	for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct expr *e = expr_parse(texts[i], lookup, column_at, columns, COL_N, NULL);
		g_assert_true(expr_match(e, get, hostile, columns));
		expr_free(e);
	}
}

static void test_compare(void)
{
	struct value order[] = {
		value_none(), value_int(VALUE_NS, INT64_MIN), value_int(VALUE_COUNT, -1),
		value_int(VALUE_ID, 0), value_int(VALUE_BYTES, INT64_MAX), value_int(VALUE_HEX64, 1),
		value_int(VALUE_HEX64, -1), value_ratio(NAN), value_ratio(-INFINITY), value_ratio(0.5),
		value_text(""), value_text("a"), value_text("b"),
	};

	for (int i = 0; i < (int)G_N_ELEMENTS(order); i++) {
		for (int k = 0; k < (int)G_N_ELEMENTS(order); k++)
			g_assert_cmpint(value_compare(order[i], order[k]), ==, (i > k) - (i < k));
	}
	g_assert_cmpint(value_text(NULL).kind, ==, VALUE_NONE);
}

/* Random expressions with && || ! and parentheses, against their own evaluation. */
static bool build(GRand *rand, GString *s, int depth)
{
	int kind = depth > 0 ? g_rand_int_range(rand, 0, 4) : 0;

	if (kind == 0) {
		bool holds = g_rand_boolean(rand);
		g_string_append(s, holds ? "pid > 1" : "w1");
		return holds;
	}
	if (kind == 1) {
		g_string_append(s, g_rand_boolean(rand) ? "!(" : "not (");
		bool inner = build(rand, s, depth - 1);
		g_string_append(s, ")");
		return !inner;
	}
	bool or = kind == 2;
	g_string_append(s, or ? "(" : "");
	bool left = build(rand, s, or ? depth - 1 : 0);
	g_string_append(s, or ? " || " : " && ");
	bool right = build(rand, s, or ? depth - 1 : 0);
	g_string_append(s, or ? ")" : "");
	return or ? left || right : left && right;
}

static void test_random(void)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (int i = 0; i < 5000; i++) {
		g_autoptr(GString) s = g_string_new(NULL);
		bool expected = build(rand, s, 6);
		g_assert_true(match(s->str) == expected);
	}
}

static void test_garbage(void)
{
	static const char *const bits[] = {
		"(", ")", "!", "&&", "||", "==", "=~", "!~", "<", ">=", "\"", "\\", "pid", "comm",
		"busy_ns", "5ms", "50%", "1e9", "-1", "and", "or", "not", " ", "*", "[a-z]", "\303\251",
		"1e999", "0x", "trace_id", "path", "cpu_ratio", "exit_ns", "999999999999999999999",
	};
	g_autoptr(GRand) rand = g_rand_new_with_seed((guint32)g_test_rand_int());

	for (int i = 0; i < 30000; i++) {
		g_autoptr(GString) s = g_string_new(NULL);
		for (int n = g_rand_int_range(rand, 0, 12); n > 0; n--) {
			if (g_rand_int_range(rand, 0, 20))
				g_string_append(s, bits[g_rand_int_range(rand, 0, G_N_ELEMENTS(bits))]);
			else
				g_string_append_c(s, (char)g_rand_int_range(rand, 1, 256));
		}
		g_autoptr(GError) error = NULL;
		struct expr *e = expr_parse(s->str, lookup, column_at, columns, COL_N, &error);
		g_assert_true(!e == !!error);
		if (e)
			expr_match(e, get, row, columns);
		expr_free(e);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/expr/operators", test_operators);
	g_test_add_func("/expr/units", test_units);
	g_test_add_func("/expr/titles", test_titles);
	g_test_add_func("/expr/words", test_words);
	g_test_add_func("/expr/precedence", test_precedence);
	g_test_add_func("/expr/patterns", test_patterns);
	g_test_add_func("/expr/lists", test_lists);
	g_test_add_func("/expr/null", test_null);
	g_test_add_func("/expr/errors", test_errors);
	g_test_add_func("/expr/check", test_check);
	g_test_add_func("/expr/bounds", test_bounds);
	g_test_add_func("/expr/hostile-rows", test_hostile_rows);
	g_test_add_func("/expr/compare", test_compare);
	g_test_add_func("/expr/random", test_random);
	g_test_add_func("/expr/garbage", test_garbage);
	return g_test_run();
}
