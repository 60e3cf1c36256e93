/* SPDX-License-Identifier: GPL-2.0-only */
/* Rules over operations: which are read, in which words others are refused, when they hold. */
#include "lib/fake_timeline.h"
#include "views/rule.h"

#include <string.h>

static void test_read(void)
{
	static const char *const good[] = {
		"p99 of thumbnail > 3 x usual", "p99 of thumbnail>3x usual", "p50 of any >= 1.5 x usual",
		"max of 'resize image' > 250ms", "max of \"it's\" <= 1s for 3", "count of any < 5",
		"errors of store > 0 every 5m", "p95 of store > 10us for 2s, every 10s",
		"count of 'any' > 1",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_autoptr(GError) error = NULL;
		struct rule *r = rule_parse(good[i], &error);
		g_test_message("%s", good[i]);
		g_assert_no_error(error);
		g_assert_nonnull(r);
		rule_free(r);
	}
}

static void test_refused(void)
{
	static const struct { const char *text, *words; } bad[] = {
		{ "", "what is measured is missing" }, { "p98 of x > 1ms", "'p98'" },
		{ "p99 in x > 1ms", "'of' must follow p99" }, { "p99", "of OPERATION" },
		{ "p99 of", "operation is missing" }, { "p99 of x", "comparison" },
		{ "p99 of two words > 1ms", "quotes" }, { "p99 of x = 1ms", "'='" },
		{ "p99 of x => 1ms", "'=>'" }, { "p99 of x >", "a value is missing" },
		{ "p99 of x > 3", "x usual" }, { "p99 of x > 3 y usual", "'y'" },
		{ "p99 of x > 3 x normal", "'normal'" }, { "p99 of x > 3x", "usual" },
		{ "p99 of x > -1ms", "'-1ms'" }, { "p99 of x > soon", "'soon'" },
		{ "count of x > 1ms", "'1ms'" }, { "count of x > many", "'many'" },
		{ "count of x > 1 x usual", "'x'" },
		{ "p99 of x > 1ms for", "seconds is missing" }, { "p99 of x > 1ms for 0", "'0'" },
		{ "p99 of x > 1ms for ever", "'ever'" }, { "p99 of x > 1ms every 1ms", "'1ms'" },
		{ "p99 of x > 1ms often", "'often'" }, { "p99 of 'x > 1ms", "is not closed" },
		{ "p99 of x > 1ms 'for", "is not closed" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_test_message("%s", bad[i].text);
		g_assert_null(rule_parse(bad[i].text, &error));
		g_assert_nonnull(error);
		g_test_message("  %s", error->message);
		g_assert_nonnull(strstr(error->message, bad[i].words));
		g_assert_null(rule_parse(bad[i].text, NULL));
	}
}

/* Requests "op" of 10 ms, in second 2 one of 100 ms; "other" always 50 ms, with errors. */
static struct timeline *story(void)
{
	struct fake *f = fake_new();
	uint32_t t = fake_thread(f, 0, 100, 101, "worker");
	for (unsigned s = 0; s < 6; s++) {
		fake_cell(fake_second(f, s), t);
		for (unsigned i = 0; i < 4 && s != 4; i++) {
			int64_t begin = s * FAKE_S + i * 200 * FAKE_MS;
			int64_t ms = (s == 2 && i == 3) || s == 3 ? 100 : 10;
			fake_span(f, &(struct fake_span){ 1 + s * 8 + i, 1, 0, SPAN_SERVER, "op", "svc", t,
							  begin, begin + ms * FAKE_MS, SPAN_COMPLETE });
		}
		struct span *other = fake_span(f, &(struct fake_span){ 100 + s, 1, 0, SPAN_SERVER, "the other",
			"svc", t, s * FAKE_S, s * FAKE_S + 50 * FAKE_MS, SPAN_COMPLETE });
		other->errors = s == 5;
		/* no request of its own: never counted */
		fake_span(f, &(struct fake_span){ 100 + s, 2, 1, SPAN_LOCAL, "op", "svc", t, s * FAKE_S,
						  s * FAKE_S + 900 * FAKE_MS, SPAN_COMPLETE });
	}
	return fake_done(f);
}

/* In which seconds it holds, as "23". */
static char *held(const char *text, char **ret_cause)
{
	g_autoptr(blk_timeline) tl = story();
	GString *seconds = g_string_new(NULL);
	struct rule *r = rule_parse(text, NULL);

	g_assert_nonnull(r);
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		g_autofree char *cause = rule_check(r, tl, s);
		if (cause)
			g_string_append_printf(seconds, "%d", (int)((s->begin_ns - FAKE_T0) / FAKE_S));
		if (cause && ret_cause && !*ret_cause)
			*ret_cause = g_steal_pointer(&cause);
	}
	rule_free(r);
	return g_string_free(seconds, FALSE);
}

static void test_holds(void)
{
	static const struct { const char *rule, *seconds; } cases[] = {
		{ "p99 of op > 3 x usual every 1s", "23" }, { "p50 of op > 3 x usual every 1s", "3" },
		{ "max of op > 3 x usual", "2" }, { "p99 of op > 3x usual for 2 every 1s", "3" },
		{ "max of op >= 99ms for 3s", "" }, { "max of op > 11 x usual", "" },
		{ "max of op < 20ms every 2s", "05" }, { "count of op >= 4 every 1s", "01235" },
		{ "count of op > 4", "" }, { "errors of any > 0", "5" }, { "errors of op > 0", "" },
		{ "max of 'the other' > 40ms every 2s", "024" }, { "max of any >= 40ms every 1s", "012345" },
		{ "p99 of nosuch > 0ms", "" }, { "max of 'any' > 0ms", "" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *seconds = held(cases[i].rule, NULL);
		g_test_message("%s", cases[i].rule);
		g_assert_cmpstr(seconds, ==, cases[i].seconds);
	}
}

static void test_cause(void)
{
	g_autofree char *cause = NULL, *more = NULL, *count = NULL;
	g_free(held("max of any > 3 x usual", &cause));
	g_assert_true(g_str_has_prefix(cause, "max of op is 100ms, "));
	g_assert_nonnull(strstr(cause, " times the usual "));
	g_assert_nonnull(strstr(cause, "\nrule: max of any > 3 x usual\n"));
	g_assert_nonnull(strstr(cause, "\nsecond: "));
	g_free(held("max of any > 40ms", &more));	/* the worst of both */
	g_assert_true(g_str_has_prefix(more, "max of the other is "));
	g_free(held("count of op > 3", &count));
	g_assert_true(g_str_has_prefix(count, "count of op is 4\n"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/rule/read", test_read);
	g_test_add_func("/rule/refused", test_refused);
	g_test_add_func("/rule/holds", test_holds);
	g_test_add_func("/rule/cause", test_cause);
	return g_test_run();
}
