/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A run without end in which processes come and go: what it remembers of them does not grow, and it
 * tells of each second what a model tells that forgets nothing.
 */
#include "lib/inspect.h"
#include "lib/sources.h"
#include "lib/report.h"
#include "lib/traces.h"

#include "state/publish/model.h"

#define STEP INT64_C(1000000000)
#define MS INT64_C(1000000)
#define EVERY_MS 200
#define SECONDS 1000
#define FIRST_TID 1000
#define N_TIDS 700		/* given again after more than two minutes */

/* One that runs, reads a file and ends; every third one has a thread; every tenth is not seen to end. */
static void add_lifetime(GString *script, int n)
{
	int64_t at = (1000 + (int64_t)n * EVERY_MS) * MS;
	int tid = FIRST_TID + n % N_TIDS, thread = tid + N_TIDS;
	bool threaded = n % 3 == 0, unseen = n % 10 == 9;

	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 sched_process_fork parent_tid=5 child_tid=%d "
		"parent_pid=5 child_pid=%d child_comm=\"sh\"\n", at, tid, tid);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 sched_switch prev_tid=5 prev_state=1 next_tid=%d "
		"prev_comm=\"sh\" next_comm=\"c%d\"\n", at + 1 * MS, tid, n % 7);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_entry_openat ctx.tid=%d dfd=-100 "
		"filename=\"/f%d\" flags=0 mode=0\n", at + 2 * MS, tid, n % 5);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_exit_openat ctx.tid=%d ret=3\n",
		at + 3 * MS, tid);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_entry_read ctx.tid=%d fd=3 count=10\n",
		at + 4 * MS, tid);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 syscall_exit_read ctx.tid=%d ret=%d\n",
		at + (5 + n % 9) * MS, tid, n % 10);
	if (threaded)
		g_string_append_printf(script,
			"%" G_GINT64_FORMAT " 0 sched_process_fork parent_tid=%d child_tid=%d parent_pid=%d "
			"child_pid=%d child_comm=\"t\"\n"
			"%" G_GINT64_FORMAT " 1 sched_switch prev_tid=0 prev_state=0 next_tid=%d "
			"prev_comm=\"swapper/1\" next_comm=\"t\"\n"
			"%" G_GINT64_FORMAT " 1 sched_process_exit ctx.tid=%d tid=%d comm=\"t\"\n"
			"%" G_GINT64_FORMAT " 1 sched_switch prev_tid=%d prev_state=16 next_tid=0 prev_comm=\"t\" "
			"next_comm=\"swapper/1\"\n",
			at + 20 * MS, tid, thread, tid, tid, at + 21 * MS, thread, at + 22 * MS, thread, thread,
			at + 23 * MS, thread);
	if (!unseen)
		g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 sched_process_exit ctx.tid=%d tid=%d "
			"comm=\"c%d\"\n", at + 30 * MS, tid, tid, n % 7);
	g_string_append_printf(script, "%" G_GINT64_FORMAT " 0 sched_switch prev_tid=%d prev_state=%d next_tid=5 "
		"prev_comm=\"c%d\" next_comm=\"sh\"\n", at + 31 * MS, tid, unseen ? 1 : 16, n % 7);
}

static char *make_script(void)
{
	GString *script = g_string_new(
		"1000 0 lttng_statedump_process_state tid=5 pid=5 ppid=1 name=\"sh\" type=0\n"
		"2000 0 sched_switch prev_tid=0 prev_state=0 next_tid=5 prev_comm=\"swapper/0\" next_comm=\"sh\"\n");
	for (int n = 0; n < SECONDS * 1000 / EVERY_MS; n++)
		add_lifetime(script, n);
	return g_string_free(script, FALSE);
}

/* What a model tells of the script; *ret_most: of how many threads it knew at most in each half. */
static char *run(const char *script, const struct model_options *options, size_t ret_most[2])
{
	g_autoptr(GError) error = NULL;
	size_t n;
	const struct blk_subscription *subs = slice_subscriptions(&n);
	blk_source *s = source_open_script(script, subs, n, &error);
	g_assert_no_error(error);
	struct model *m = model_new(options);
	struct timeline *tl = timeline_new(0);
	struct blk_batch batch;
	ret_most[0] = ret_most[1] = 0;
	while (source_next(s, &batch, &error) == SOURCE_OK)
		for (size_t i = 0; i < batch.n; i++) {
			size_t *most = &ret_most[batch.ev[i].ts > SECONDS / 2 * STEP];
			model_feed(m, &s->tables, &batch.ev[i], 1);
			struct publication *p = model_publish(m, false);
			if (p)
				timeline_apply(tl, p);
			*most = MAX(*most, model_n_threads(m));
		}
	timeline_apply(tl, model_publish(m, true));
	model_free(m);
	source_free(s);
	char *text = report_of_timeline(tl);
	timeline_free(tl);
	return text;
}

static void test_come_and_go(void)
{
	static const struct model_options recorded = { 0 };
	static const struct model_options live = { .live = true, .memory_budget = 1 << 20, .provisional = true };
	g_autofree char *script = make_script();
	size_t all[2], kept[2];
	g_autofree char *want = run(script, &recorded, all);
	g_autofree char *got = run(script, &live, kept);

	report_assert_equal("live", want, got);
	g_assert_cmpuint(all[1], >, SECONDS * 1000 / EVERY_MS);
	g_test_message("threads known at most: %zu, then %zu of %zu", kept[0], kept[1], all[1]);
	g_assert_cmpuint(kept[1], <=, kept[0] + kept[0] / 4);
	g_assert_cmpuint(kept[1], <, all[1] / 2);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/spare/come-and-go", test_come_and_go);
	return g_test_run();
}
