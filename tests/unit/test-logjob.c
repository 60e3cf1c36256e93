/* SPDX-License-Identifier: GPL-2.0-only */
/* The log's pieces, read around instants: together they are the whole, whichever way. */
#include "base/timefmt.h"
#include "run/logjob.h"
#include "views/logview.h"

#include "lib/test_traces.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct bench {
	struct logjob *job;
	int fd;
	int64_t first, end;
	GPtrArray *whole;		/* struct calllog_line *, of all */
};

static void keep_line(void *data, struct calllog_line *l)
{
	g_ptr_array_add(data, l);
}

static void open_bench(struct bench *b)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *trace = test_trace("demo/trace");
	const char *const paths[] = { trace, NULL };
	struct logsource_range range = { .from_ns = INT64_MIN, .to_ns = INT64_MAX, .hold = SIZE_MAX };
	struct logsource_result result;
	struct logsource *s = logsource_new(paths, false, &error);
	g_assert_no_error(error);
	b->whole = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
	g_assert_true(logsource_bounds(s, &b->first, &b->end, &error));
	g_assert_true(logsource_run(s, &range, keep_line, b->whole, &result, NULL, &error));
	g_assert_false(result.lost);
	logsource_free(s);
	b->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	b->job = logjob_new(paths, false, b->fd);
}

static void close_bench(struct bench *b)
{
	logjob_free(b->job);
	close(b->fd);
	g_ptr_array_unref(b->whole);
}

static struct calllog_window *answer(struct bench *b, const struct calllog_want *want)
{
	struct calllog_window *w = NULL;
	logjob_ask(b->job, want);
	while (!w) {
		struct pollfd p = { b->fd, POLLIN, 0 };
		uint64_t n;
		g_assert_cmpint(poll(&p, 1, 60000), ==, 1);
		g_assert_cmpint(read(b->fd, &n, sizeof n), ==, sizeof n);
		w = logjob_take(b->job);
	}
	g_assert_cmpstr(w->error, ==, NULL);
	return w;
}

/* All calls that are whole in both must be the same, and no other event may lack. */
static void assert_same(const struct bench *b, GPtrArray *lines, int64_t from, int64_t to)
{
	g_autoptr(GString) want = g_string_new(NULL), got = g_string_new(NULL);
	const GPtrArray *from_where[] = { b->whole, lines };
	GString *to_where[] = { want, got };
	for (int k = 0; k < 2; k++)
		for (guint i = 0; i < from_where[k]->len; i++) {
			const struct calllog_line *l = from_where[k]->pdata[i];
			bool is_call = l->kind == CALLLOG_CALL;
			bool whole = !is_call || (l->state == LINE_WHOLE && l->exit_ns < to);
			if (l->ts >= from && l->ts < to && whole)
				g_string_append_printf(to_where[k], "%" G_GINT64_FORMAT " %s %d %u\n",
						       l->ts, l->name, l->tid, l->cpu);
		}
	g_assert_cmpuint(want->len, >, 1000);
	if (strcmp(want->str, got->str))
		for (gsize i = 0; i < want->len; i++)
			if (want->str[i] != got->str[i])
				g_error("differs at %zu:\n%.300s\nand\n%.300s", i,
					want->str + (i > 100 ? i - 100 : 0), got->str + (i > 100 ? i - 100 : 0));
}

static void read_some(struct bench *b, enum calllog_ask ask, int64_t at, unsigned n_pieces)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func((GDestroyNotify)calllog_line_unref);
	int64_t from = at, to = at;
	for (unsigned i = 0; i < n_pieces; i++) {
		struct calllog_want want = { .ask = ask, .at_ns = ask == ASK_AFTER ? to : from,
					     .pid = -1, .tid = -1 };
		struct calllog_window *w = answer(b, &want);
		g_assert_cmpint(w->from_ns, <, w->to_ns);
		g_assert_cmpint(ask == ASK_AFTER ? w->from_ns : w->to_ns, ==, want.at_ns);
		from = MIN(from, w->from_ns);
		to = MAX(to, w->to_ns);
		g_ptr_array_extend_and_steal(lines, g_steal_pointer(&w->lines));
		w->lines = g_ptr_array_new();
		calllog_window_free(w);
	}
	calllog_join_lines(lines);
	assert_same(b, lines, from, to);
}

static void test_ways(void)
{
	struct bench b;
	open_bench(&b);
	int64_t middle = b.first + (b.end - b.first) / 2;
	read_some(&b, ASK_AFTER, middle, 5);
	read_some(&b, ASK_BEFORE, middle, 5);
	struct calllog_want want = { .ask = ASK_BEFORE, .at_ns = b.first, .pid = -1, .tid = -1 };
	struct calllog_window *w = answer(&b, &want);
	g_assert_true(w->at_begin);
	g_assert_cmpuint(w->lines->len, ==, 0);
	calllog_window_free(w);
	want = (struct calllog_want){ .ask = ASK_AFTER, .at_ns = b.end - 1, .pid = -1, .tid = -1 };
	w = answer(&b, &want);
	g_assert_true(w->at_end);
	g_assert_cmpuint(w->lines->len, >=, 1);
	calllog_window_free(w);
	close_bench(&b);
}

/* What the system did when a program told of something. */
static void test_instant(void)
{
	struct bench b;
	open_bench(&b);
	const struct calllog_line *user = NULL;
	for (guint i = b.whole->len / 2; i < b.whole->len && !user; i++) {
		const struct calllog_line *l = b.whole->pdata[i];
		user = l->kind == CALLLOG_USER && l->pid > 0 ? l : NULL;
	}
	g_assert_nonnull(user);
	struct calllog_want want = { .ask = ASK_INSTANT, .at_ns = user->ts, .pid = user->pid,
				     .tid = user->tid };
	g_strlcpy(want.host, user->host, sizeof want.host);
	struct calllog_window *w = answer(&b, &want);
	bool runs = false;
	for (guint i = 0; i < w->cpus->len; i++) {
		const struct calllog_cpu *c = &g_array_index(w->cpus, struct calllog_cpu, i);
		runs = runs || (c->cpu == user->cpu && c->tid == user->tid);
	}
	g_assert_true(runs);
	g_assert_cmpuint(w->cpus->len, ==, 2);
	g_assert_cmpuint(w->fds->len, >, 3);
	for (guint i = 0; i < w->lines->len; i++) {
		const struct calllog_line *l = w->lines->pdata[i];
		g_assert_cmpint(l->entry_ns, <=, user->ts);
		g_assert_cmpint(l->tid, !=, user->tid);		/* it is in user mode */
	}
	g_autoptr(GPtrArray) text = logview_instant(user, w);
	g_ptr_array_add(text, NULL);
	g_autofree char *all = g_strjoinv("\n", (char **)text->pdata);
	g_assert_nonnull(strstr(all, "OPEN DESCRIPTORS of process"));
	g_assert_nonnull(strstr(all, "on a CPU, in no call"));
	calllog_window_free(w);
	close_bench(&b);
}

static void test_nothing(void)
{
	const char *const paths[] = { "tests/traces/nothing-there", NULL };
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct logjob *j = logjob_new(paths, false, fd);
	struct calllog_want want = { .ask = ASK_AFTER, .pid = -1, .tid = -1 };
	struct pollfd p = { fd, POLLIN, 0 };
	logjob_ask(j, &want);
	g_assert_cmpint(poll(&p, 1, 60000), ==, 1);
	struct calllog_window *w = logjob_take(j);
	g_assert_nonnull(w->error);
	calllog_window_free(w);
	logjob_free(j);
	close(fd);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	timefmt_set_utc(true);
	g_test_add_func("/logjob/ways", test_ways);
	g_test_add_func("/logjob/instant", test_instant);
	g_test_add_func("/logjob/nothing", test_nothing);
	return g_test_run();
}
