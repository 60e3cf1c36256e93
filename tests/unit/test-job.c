/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs: a reading thread ends well, badly, on request, or never.
 */
#include "lib/sources.h"
#include "run/job.h"

#include <poll.h>
#include <string.h>

#define LONG_MS 20000		/* longer than anything takes here, even under a sanitizer */

/* Two seconds of a machine, and some. */
static const char story[] =
	"1000000000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 "
	"next_comm=\"b\" next_tid=2 next_prio=20\n"
	"1500000000 0 sched_switch prev_comm=\"b\" prev_tid=2 prev_prio=20 prev_state=1 "
	"next_comm=\"a\" next_tid=1 next_prio=20\n"
	"2500000000 0 sched_switch prev_comm=\"a\" prev_tid=1 prev_prio=20 prev_state=1 "
	"next_comm=\"b\" next_tid=2 next_prio=20\n"
	"3200000000 0 sched_switch prev_comm=\"b\" prev_tid=2 prev_prio=20 prev_state=1 "
	"next_comm=\"a\" next_tid=1 next_prio=20\n";

/* After the story comes its end, an error, silence, or a call that does not return. */
enum ending { END_WELL, END_ERROR, END_AGAIN, END_HANG, END_HANG_OPEN, END_NO_OPEN };

/* What the test and the thread share. */
struct stage {
	enum ending ending;
	GMutex lock;
	GCond changed;
	bool release;			/* hanging calls return */
	bool hangs;
	bool data_freed, source_freed;
	bool data_freed_first;
	unsigned n_again, n_cancel;
};

struct actor {
	struct source base;
	struct source *inner;
	struct stage *stage;
};

static void stage_init(struct stage *st, enum ending ending)
{
	*st = (struct stage){ .ending = ending };
	g_mutex_init(&st->lock);
	g_cond_init(&st->changed);
}

static void stage_clear(struct stage *st)
{
	g_mutex_clear(&st->lock);
	g_cond_clear(&st->changed);
}

static void stage_set(struct stage *st, bool *flag)
{
	g_mutex_lock(&st->lock);
	*flag = true;
	g_cond_broadcast(&st->changed);
	g_mutex_unlock(&st->lock);
}

static void stage_await(struct stage *st, const bool *flag)
{
	gint64 until = g_get_monotonic_time() + LONG_MS * 1000;
	g_mutex_lock(&st->lock);
	while (!*flag)
		if (!g_cond_wait_until(&st->changed, &st->lock, until))
			break;
	g_assert_true(*flag);
	g_mutex_unlock(&st->lock);
}

static void hang(struct stage *st)
{
	g_mutex_lock(&st->lock);
	st->hangs = true;
	g_cond_broadcast(&st->changed);
	while (!st->release)
		g_cond_wait(&st->changed, &st->lock);
	g_mutex_unlock(&st->lock);
}

static enum source_status actor_next(struct source *s, struct blk_batch *ret, GError **error)
{
	struct actor *a = (struct actor *)s;
	enum source_status st = source_next(a->inner, ret, error);

	if (st != SOURCE_END)
		return st;
	switch (a->stage->ending) {
	case END_ERROR:
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT, "the stage broke down");
		return SOURCE_ERROR;
	case END_AGAIN:
		g_mutex_lock(&a->stage->lock);
		a->stage->n_again++;
		g_mutex_unlock(&a->stage->lock);
		return SOURCE_AGAIN;
	case END_HANG:
		hang(a->stage);
		return SOURCE_END;
	default:
		return SOURCE_END;
	}
}

static void actor_cancel(struct source *s)
{
	struct actor *a = (struct actor *)s;
	g_mutex_lock(&a->stage->lock);
	a->stage->n_cancel++;
	g_mutex_unlock(&a->stage->lock);
}

static double actor_progress(struct source *s)
{
	(void)s;
	return 0.5;
}

static void actor_free(struct source *s)
{
	struct actor *a = (struct actor *)s;
	struct stage *st = a->stage;
	source_free(a->inner);
	g_free(a);
	stage_set(st, &st->source_freed);
}

static const struct source_ops actor_ops = {
	.next = actor_next, .cancel = actor_cancel, .progress = actor_progress, .free = actor_free,
};

static bool open_actor(void *data, struct job_trace *ret, GError **error)
{
	struct stage *st = data;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);

	if (st->ending == END_HANG_OPEN)
		hang(st);
	if (st->ending == END_NO_OPEN || st->ending == END_HANG_OPEN) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND, "no stage here");
		return false;
	}
	struct actor *a = g_new0(struct actor, 1);
	a->stage = st;
	a->inner = source_open_script(story, rows, n, error);
	g_assert_nonnull(a->inner);
	a->base.ops = &actor_ops;
	a->base.tables = a->inner->tables;
	ret->source = &a->base;
	return true;
}

static void free_data(void *data)
{
	struct stage *st = data;
	g_mutex_lock(&st->lock);
	st->data_freed_first = !st->source_freed;
	g_mutex_unlock(&st->lock);
	stage_set(st, &st->data_freed);
}

static struct job *start(struct stage *st, enum ending ending)
{
	struct job_options options = { .publish_every_ns = 1000000 };
	stage_init(st, ending);
	return job_start(open_actor, st, free_data, &options);
}

static void test_end(void)
{
	struct stage st;
	struct job *j = start(&st, END_WELL);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status status;
	int64_t first, last;

	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &status);
	g_assert_cmpint(status.phase, ==, JOB_DONE);
	g_assert_null(status.message);
	g_assert_cmpuint(status.n_events, ==, 4);
	g_assert_cmpfloat(status.progress, ==, 0.5);
	g_assert_cmpint(status.newest_ns, ==, 3200000000);
	g_assert_true(timeline_coverage(tl, &first, &last));
	g_assert_cmpint(first, ==, 1000000000);
	g_assert_cmpint(last, ==, 3200000000);
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 3);
	g_assert_false(job_collect(j, tl));
	job_free(j);
	g_assert_true(st.data_freed && st.source_freed && st.data_freed_first);
	stage_clear(&st);
}

static void test_no_open(void)
{
	struct stage st;
	struct job *j = start(&st, END_NO_OPEN);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status status;

	g_assert_true(job_wait(j, tl, -1));
	job_get_status(j, &status);
	g_assert_cmpint(status.phase, ==, JOB_FAILED);
	g_assert_cmpstr(status.message, ==, "no stage here");
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 0);
	job_free(j);
	g_assert_true(st.data_freed && !st.source_freed);
	stage_clear(&st);
}

static void test_error(void)
{
	struct stage st;
	struct job *j = start(&st, END_ERROR);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status status;

	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &status);
	g_assert_cmpint(status.phase, ==, JOB_FAILED);
	g_assert_cmpstr(status.message, ==, "the stage broke down");
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 3);	/* what was read is there */
	job_free(j);
	stage_clear(&st);
}

static void test_cancel(void)
{
	struct stage st;
	struct job *j = start(&st, END_AGAIN);
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_status status;

	/* It goes on for ever, and its descriptor says when to look. */
	struct pollfd pfd = { .fd = job_fd(j), .events = POLLIN };
	while (timeline_n_seconds(tl) < 2) {
		g_assert_cmpint(poll(&pfd, 1, LONG_MS), ==, 1);
		job_collect(j, tl);
	}
	job_get_status(j, &status);
	g_assert_cmpint(status.phase, ==, JOB_LOADING);
	job_cancel(j);
	g_assert_true(job_wait(j, tl, LONG_MS));
	job_get_status(j, &status);
	g_assert_cmpint(status.phase, ==, JOB_CANCELLED);
	g_assert_null(status.message);
	g_assert_cmpuint(timeline_n_seconds(tl), ==, 3);	/* the open one was closed */
	g_assert_cmpuint(st.n_cancel, ==, 1);
	job_free(j);
	stage_clear(&st);
}

/* A source that has nothing is not asked without a pause. */
static void test_again(void)
{
	struct stage st;
	struct job *j = start(&st, END_AGAIN);
	g_autoptr(blk_timeline) tl = timeline_new(0);

	g_assert_false(job_wait(j, tl, 100));
	g_mutex_lock(&st.lock);
	g_assert_cmpuint(st.n_again, <=, 60);
	g_mutex_unlock(&st.lock);
	job_free(j);
	g_assert_true(st.source_freed);
	stage_clear(&st);
}

/* A thread that does not come back is left behind, and cleans up when it does. */
/* ---- a maker ---- */

/* It is stopped while it makes its first publication; the second one has the rest. */
struct stopped_maker { struct job *j; GCond may_go; GMutex lock; unsigned n_calls; };

static struct publication *make_while_stopped(void *data, GError **error)
{
	struct stopped_maker *m = data;
	(void)error;
	g_mutex_lock(&m->lock);
	while (!m->n_calls && !m->j)
		g_cond_wait(&m->may_go, &m->lock);
	if (!m->n_calls++)
		job_cancel(m->j);
	g_mutex_unlock(&m->lock);
	struct publication *p = m->n_calls <= 2 ? publication_new() : NULL;
	if (p)
		p->n_events = m->n_calls;
	return p;
}

static char *warn_of_nothing(void *data)
{
	(void)data;
	return NULL;
}

static void leave_maker(void *data)
{
	g_assert_cmpuint(((struct stopped_maker *)data)->n_calls, >, 0);
}

static bool open_maker(void *data, struct job_trace *ret, GError **error)
{
	(void)error;
	ret->maker = (struct job_maker){ make_while_stopped, warn_of_nothing, leave_maker, data };
	return true;
}

static void test_stopped_maker(void)
{
	struct stopped_maker m = { 0 };
	g_autoptr(blk_timeline) tl = timeline_new(0);
	struct job_options options = { .threads = 1 };
	struct job_status st;

	struct job *j = job_start(open_maker, &m, NULL, &options);
	g_mutex_lock(&m.lock);
	m.j = j;
	g_cond_signal(&m.may_go);
	g_mutex_unlock(&m.lock);
	g_assert_true(job_wait(j, tl, 20000));
	job_get_status(j, &st);
	g_assert_cmpint(st.phase, ==, JOB_CANCELLED);
	g_assert_cmpuint(m.n_calls, ==, 2);
	job_free(j);
}

static void test_hang(const void *data)
{
	struct stage st;
	struct job *j = start(&st, (enum ending)GPOINTER_TO_INT(data));
	g_autoptr(blk_timeline) tl = timeline_new(0);

	stage_await(&st, &st.hangs);
	g_assert_false(job_wait(j, tl, 0));
	gint64 begin = g_get_monotonic_time();
	job_free(j);
	g_assert_cmpint(g_get_monotonic_time() - begin, <, LONG_MS * 1000 / 2);
	g_assert_false(st.data_freed);
	stage_set(&st, &st.release);
	stage_await(&st, &st.data_freed);
	if (st.ending == END_HANG)
		stage_await(&st, &st.source_freed);
	/* The thread may still be inside of the stage's mutex; leave that alone. */
}

/* Freed at once, in whatever it is: nothing leaks, nothing is posted to nobody. */
static void test_free_early(void)
{
	for (int i = 0; i < 20; i++) {
		struct stage st;
		struct job *j = start(&st, i % 2 ? END_WELL : END_AGAIN);
		job_free(j);
		g_assert_true(st.data_freed);
		stage_clear(&st);
	}
	job_free(NULL);
}

/* Nobody collects: posts are freed with the job. */
static void test_uncollected(void)
{
	struct stage st;
	struct job *j = start(&st, END_WELL);
	stage_await(&st, &st.source_freed);
	job_free(j);
	stage_clear(&st);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/job/end", test_end);
	g_test_add_func("/job/no-open", test_no_open);
	g_test_add_func("/job/error", test_error);
	g_test_add_func("/job/cancel", test_cancel);
	g_test_add_func("/job/again", test_again);
	g_test_add_func("/job/stopped-maker", test_stopped_maker);
	g_test_add_data_func("/job/hang-open", GINT_TO_POINTER(END_HANG_OPEN), test_hang);
	g_test_add_data_func("/job/hang-next", GINT_TO_POINTER(END_HANG), test_hang);
	g_test_add_func("/job/free-early", test_free_early);
	g_test_add_func("/job/uncollected", test_uncollected);
	return g_test_run();
}
