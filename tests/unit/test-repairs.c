/* SPDX-License-Identifier: GPL-2.0-only */
/* The command lines of repairs, and the questions that ask for them. */
#include "views/needs.h"
#include "views/questions.h"
#include "views/registry.h"
#include "views/repairs.h"

#include "lib/fake_timeline.h"

#include <string.h>

static void test_where(void)
{
	static const struct { const char *domain, *session, *channel, *text; } cases[] = {
		{ "kernel", NULL, NULL, "--kernel" },
		{ "ust", "s", NULL, "--userspace --session s" },
		{ "kernel", "s", "k0", "--kernel --session s --channel k0" },
		{ "kernel", "a b", "$(x)", "--kernel --session 'a b' --channel '$(x)'" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *got = repair_where(cases[i].domain, cases[i].session, cases[i].channel);
		g_assert_cmpstr(got, ==, cases[i].text);
	}
}

static void test_commands(void)
{
	static const struct { const char *need, *domain, *words, *commands; } cases[] = {
		{ "sched_waking|sched_wakeup", "kernel", "sched_waking", "enable-event W sched_waking" },
		{ NEED_SYSCALLS, "kernel", "system calls", "enable-event W --syscall --all" },
		{ "zipkin:keyval_string|zipkin:keyval", "ust", "zipkin:keyval_string",
		  "enable-event W 'zipkin:*'" },
		{ "a'b:c", "ust", "a'b:c", "enable-event W 'a'\\''b:*'" },
		{ "ust.vtid", "ust", "the context vtid (ust)", "" },
		{ NEED_FAULTS, "kernel", "page faults", "enable-event W 'x86_exceptions_page_fault_*'" },
		{ NEED_PERF, "kernel", "perf counters",
		  "add-context W --type perf:cpu:instructions --type perf:cpu:cycles --type perf:cpu:page-fault" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GPtrArray) got = repair_commands(cases[i].need, "W");
		g_autofree char *words = repair_words(cases[i].need);
		g_assert_cmpstr(words, ==, cases[i].words);
		g_assert_cmpstr(repair_domain(cases[i].need), ==, cases[i].domain);
		g_assert_cmpuint(got->len, ==, *cases[i].commands ? 1 : 0);
		if (got->len) {
			g_assert_true(g_str_has_prefix(got->pdata[0], "lttng "));
			g_assert_cmpstr((char *)got->pdata[0] + strlen("lttng "), ==, cases[i].commands);
		}
	}
}

/* What counts is what each of it is. */
static void test_counts(void)
{
	static const char *const parts[] = { NEED_PERF, NEED_FAULTS, NEED_PROBES };
	g_autoptr(GPtrArray) all = repair_commands(NEED_COUNTS, "--kernel");
	guint n = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		g_autoptr(GPtrArray) one = repair_commands(parts[i], "--kernel");
		for (guint k = 0; k < one->len; k++)
			g_assert_cmpstr(all->pdata[n++], ==, one->pdata[k]);
	}
	g_assert_cmpuint(n, ==, all->len);
	g_assert_cmpuint(n, ==, 5);
}

static void test_buffers(void)
{
	static const struct { const char *session, *channel; uint64_t bytes, n; bool discard;
			      const char *text; } cases[] = {
		{ "s", "k0", 256 << 10, 8, false,
		  "lttng enable-channel --kernel --session s --subbuf-size=256K --num-subbuf=8 k0" },
		{ NULL, NULL, 2 << 20, 16, true,
		  "lttng enable-channel --kernel --subbuf-size=2M --num-subbuf=16 --discard NAME" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *got = repair_buffers("kernel", cases[i].session, cases[i].channel,
						      cases[i].bytes, cases[i].n, cases[i].discard);
		g_assert_cmpstr(got, ==, cases[i].text);
	}
	g_autofree char *dump = repair_statedump(NULL), *named = repair_statedump("a b");
	g_assert_cmpstr(dump, ==, "lttng regenerate statedump");
	g_assert_cmpstr(named, ==, "lttng regenerate statedump --session 'a b'");
}

/* Every need of a view or a question has a repair; only one is on request. */
static void test_all(void)
{
	g_autoptr(GPtrArray) all = questions_all();
	unsigned on_request = 0;
	for (guint i = 0; i < all->len; i++) {
		const struct question *q = all->pdata[i];
		on_request += question_is_on_request(q);
		for (size_t k = 0; q->needs[k]; k++) {
			g_autoptr(GPtrArray) commands = repair_commands(q->needs[k], "W");
			g_assert_true(commands->len || repair_is_context(q->needs[k]));
		}
	}
	g_assert_cmpuint(on_request, ==, 1);
	for (size_t v = 0; view_all[v]; v++)
		for (size_t k = 0; view_all[v]->needs && view_all[v]->needs[k]; k++) {
			g_autoptr(GPtrArray) commands = repair_commands(view_all[v]->needs[k], "W");
			g_assert_cmpuint(commands->len, >, 0);
		}
}

/* Facts of the view: in a story that counts nothing, and in one that does. */
static void test_view(void)
{
	struct timeline *nothing = timeline_new(0);
	g_autoptr(GPtrArray) commands = needs_commands(view_find("counters"), nothing);
	g_autoptr(GPtrArray) needs = needs_of(view_find("counters"), nothing);
	g_autofree char *missing = view_missing_text(view_find("counters"), nothing);
	g_assert_cmpuint(commands->len, ==, 5);
	g_assert_cmpuint(needs->len, ==, 1);
	g_assert_false(((struct need *)needs->pdata[0])->there);
	g_assert_cmpstr(missing, ==, "perf counters, page faults or hits of probes");
	timeline_free(nothing);
	struct timeline *story = fake_timeline();
	g_autoptr(GPtrArray) more = needs_commands(view_find("counters"), story);
	g_assert_cmpuint(more->len, ==, 0);
	g_assert_true(view_has_need(story, NEED_PERF));
	g_assert_true(view_has_need(story, NEED_PROBES));
	timeline_free(story);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/repairs/where", test_where);
	g_test_add_func("/repairs/commands", test_commands);
	g_test_add_func("/repairs/counts", test_counts);
	g_test_add_func("/repairs/buffers", test_buffers);
	g_test_add_func("/repairs/all", test_all);
	g_test_add_func("/repairs/view", test_view);
	return g_test_run();
}
