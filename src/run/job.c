/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs: the thread that reads a source and feeds a model.
 *
 * What both threads touch is `struct shared`, which each of them holds a reference
 * to: a thread that hangs in a library keeps its part alive when the job itself is
 * long gone. Publications cross by a GAsyncQueue, wake-ups by an eventfd, everything
 * else is under the mutex.
 */
#include "run/job.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define DEFAULT_PUBLISH_NS (100 * INT64_C(1000000))
#define AGAIN_PAUSE_US 5000		/* after SOURCE_AGAIN, should the source not wait itself */
#define FREE_PATIENCE_US 500000		/* how long job_free() waits for its thread */
#define MAX_QUEUED 8			/* posts nobody has collected; then the model keeps them */

struct shared {
	gatomicrefcount refs;
	GAsyncQueue *posts;		/* struct publication * */
	int event_fd;
	int stop;			/* atomic: end soon */
	int discard;			/* atomic: nobody collects any more */

	/* Only the thread's. */
	job_open open;
	void *data;
	GDestroyNotify free_data;
	struct job_options options;
	int64_t started_us;

	GMutex lock;			/* what follows */
	GCond changed;			/* the phase, or stop */
	struct source *source;		/* to cancel it; NULL while there is none */
	struct job_status status;	/* .message owned */
	bool ended;			/* everything is posted */
	bool gone;			/* the thread only has to return */
};

struct job {
	struct shared *s;
	GThread *thread;
	char *message;			/* what the last job_get_status() lent */
};

static void shared_unref(struct shared *s)
{
	if (!g_atomic_ref_count_dec(&s->refs))
		return;
	g_async_queue_unref(s->posts);	/* frees what was never collected */
	close(s->event_fd);
	g_free(s->status.message);
	g_mutex_clear(&s->lock);
	g_cond_clear(&s->changed);
	g_free(s);
}

static void wake_owner(struct shared *s)
{
	const uint64_t one = 1;
	ssize_t n = write(s->event_fd, &one, sizeof one);
	(void)n;			/* EAGAIN: it is awake already */
}

static void set_phase(struct shared *s, enum job_phase phase, const char *message)
{
	g_mutex_lock(&s->lock);
	s->status.phase = phase;
	if (message) {
		g_free(s->status.message);
		s->status.message = g_strdup(message);
	}
	s->ended = phase >= JOB_DONE;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
	wake_owner(s);
}

static void set_source(struct shared *s, struct source *source)
{
	g_mutex_lock(&s->lock);
	s->source = source;
	g_mutex_unlock(&s->lock);
}

static void update_figures(struct shared *s, struct source *source, const struct model *m)
{
	double progress = source_progress(source);
	uint64_t n = model_n_events(m);
	int64_t now = model_now(m);
	double seconds = (double)(g_get_monotonic_time() - s->started_us) / 1e6;

	g_mutex_lock(&s->lock);
	s->status.progress = progress;
	s->status.n_events = n;
	s->status.newest_ns = now;
	s->status.events_per_s = seconds > 0 ? (double)n / seconds : 0;
	g_mutex_unlock(&s->lock);
}

static void post(struct shared *s, struct model *m, bool final)
{
	if (g_atomic_int_get(&s->discard))
		return;
	if (!final && g_async_queue_length(s->posts) >= MAX_QUEUED)
		return;
	struct publication *p = model_publish(m, final);
	if (!p)
		return;
	g_async_queue_push(s->posts, p);
	wake_owner(s);
}

/* Between two questions to a source that has nothing now; stop ends it early. */
static void pause_reading(struct shared *s)
{
	gint64 until = g_get_monotonic_time() + AGAIN_PAUSE_US;
	g_mutex_lock(&s->lock);
	while (!g_atomic_int_get(&s->stop))
		if (!g_cond_wait_until(&s->changed, &s->lock, until))
			break;
	g_mutex_unlock(&s->lock);
}

static enum source_status read_source(struct shared *s, struct source *source, struct model *m,
				      GError **error)
{
	int64_t every_us = s->options.publish_every_ns / 1000;
	int64_t due_us = g_get_monotonic_time();	/* the first batch is posted at once */

	while (!g_atomic_int_get(&s->stop)) {
		struct blk_batch batch = { 0 };
		enum source_status st = source_next(source, &batch, error);
		if (st == SOURCE_OK)
			model_feed(m, &source->tables, batch.ev, batch.n);
		else if (st == SOURCE_AGAIN)
			pause_reading(s);
		else
			return st;
		int64_t now_us = g_get_monotonic_time();
		if (now_us < due_us)
			continue;
		post(s, m, false);
		update_figures(s, source, m);
		due_us = g_get_monotonic_time() + every_us;
	}
	return SOURCE_CANCELLED;
}

static void run_model(struct shared *s, struct source *source)
{
	static const enum job_phase phase_of[] = {
		[SOURCE_END] = JOB_DONE,
		[SOURCE_CANCELLED] = JOB_CANCELLED,
		[SOURCE_ERROR] = JOB_FAILED,
	};
	g_autoptr(GError) error = NULL;
	struct model *m = model_new(&s->options.model);
	enum source_status st = read_source(s, source, m, &error);

	post(s, m, true);
	update_figures(s, source, m);
	if (st == SOURCE_ERROR)
		set_phase(s, JOB_FAILED, error ? error->message : "reading failed");
	else
		set_phase(s, phase_of[st], NULL);
	model_free(m);
}

static void *job_main(void *arg)
{
	struct shared *s = arg;
	g_autoptr(GError) error = NULL;
	struct source *source = s->open(s->data, &error);

	if (!source) {
		bool stopped = g_atomic_int_get(&s->stop);
		set_phase(s, stopped ? JOB_CANCELLED : JOB_FAILED,
			  error ? error->message : "the source can't be opened");
	} else {
		set_source(s, source);
		set_phase(s, JOB_LOADING, NULL);
		run_model(s, source);
		set_source(s, NULL);
	}
	if (s->free_data)
		s->free_data(s->data);	/* before its source: see job.h */
	source_free(source);		/* may hang as any call into a library */
	g_mutex_lock(&s->lock);
	s->gone = true;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
	shared_unref(s);
	return NULL;
}

/* Signals are the main thread's: the new thread (and what it starts) blocks them,
 * but for those that its own faults raise. */
static GThread *start_thread(struct shared *s)
{
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };
	sigset_t block, before;

	sigfillset(&block);
	for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
		sigdelset(&block, own[i]);
	pthread_sigmask(SIG_SETMASK, &block, &before);
	GThread *thread = g_thread_new("blk-reader", job_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

static void free_publication(void *p)
{
	publication_free(p);
}

struct job *job_start(job_open open, void *data, GDestroyNotify free_data,
		      const struct job_options *options)
{
	struct shared *s = g_new0(struct shared, 1);
	g_atomic_ref_count_init(&s->refs);
	g_atomic_ref_count_inc(&s->refs);	/* one is the thread's */
	s->posts = g_async_queue_new_full(free_publication);
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0)
		g_error("no eventfd: %s", g_strerror(errno));
	s->open = open;
	s->data = data;
	s->free_data = free_data;
	s->options = *options;
	if (s->options.publish_every_ns <= 0)
		s->options.publish_every_ns = DEFAULT_PUBLISH_NS;
	s->started_us = g_get_monotonic_time();
	s->status = (struct job_status){
		.phase = JOB_OPENING, .progress = -1, .newest_ns = TIME_UNKNOWN,
		.jobs = 1, .hard_to_ns = TIME_UNKNOWN, .index_progress = -1,
	};
	g_mutex_init(&s->lock);
	g_cond_init(&s->changed);

	struct job *j = g_new0(struct job, 1);
	j->s = s;
	j->thread = start_thread(s);
	return j;
}

int job_fd(const struct job *j)
{
	return j->s->event_fd;
}

bool job_collect(struct job *j, struct timeline *tl)
{
	struct publication *p;
	uint64_t count;
	bool any = false;

	/* Cleared first: what is posted from now on rings again. */
	ssize_t n = read(j->s->event_fd, &count, sizeof count);
	(void)n;
	while ((p = g_async_queue_try_pop(j->s->posts))) {
		timeline_apply(tl, p);
		any = true;
	}
	return any;
}

void job_get_status(struct job *j, struct job_status *ret)
{
	struct shared *s = j->s;

	g_mutex_lock(&s->lock);
	*ret = s->status;
	if (g_strcmp0(j->message, s->status.message) != 0) {
		g_free(j->message);
		j->message = g_strdup(s->status.message);
	}
	g_mutex_unlock(&s->lock);
	ret->message = j->message;
}

struct outline *job_outline(struct job *j)
{
	(void)j;
	return NULL;
}

void job_look(struct job *j, int64_t from_ns, int64_t to_ns)
{
	(void)j;
	(void)from_ns;
	(void)to_ns;
}

struct timeline *job_take_preview(struct job *j, int64_t *ret_from, int64_t *ret_to)
{
	(void)j;
	(void)ret_from;
	(void)ret_to;
	return NULL;
}

void job_cancel(struct job *j)
{
	struct shared *s = j->s;

	g_mutex_lock(&s->lock);
	g_atomic_int_set(&s->stop, 1);
	if (s->source)
		source_cancel(s->source);
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
}

static bool job_ended(struct job *j)
{
	g_mutex_lock(&j->s->lock);
	bool ended = j->s->ended;
	g_mutex_unlock(&j->s->lock);
	return ended;
}

bool job_wait(struct job *j, struct timeline *tl, int timeout_ms)
{
	gint64 until = g_get_monotonic_time() + (gint64)timeout_ms * 1000;

	for (;;) {
		bool ended = job_ended(j);	/* before collecting: nothing is posted after it */
		job_collect(j, tl);
		if (ended)
			return true;
		gint64 left_ms = -1;
		if (timeout_ms >= 0) {
			left_ms = (until - g_get_monotonic_time() + 999) / 1000;
			if (left_ms <= 0)
				return false;
		}
		struct pollfd pfd = { .fd = j->s->event_fd, .events = POLLIN };
		if (poll(&pfd, 1, (int)left_ms) < 0 && errno == EINTR && timeout_ms >= 0)
			return false;		/* a signal: the caller looks at its flag */
	}
}

/* Does the thread come to its end within the patience? */
static bool wait_gone(struct shared *s)
{
	gint64 until = g_get_monotonic_time() + FREE_PATIENCE_US;
	g_mutex_lock(&s->lock);
	while (!s->gone)
		if (!g_cond_wait_until(&s->changed, &s->lock, until))
			break;
	bool gone = s->gone;
	g_mutex_unlock(&s->lock);
	return gone;
}

void job_free(struct job *j)
{
	if (!j)
		return;
	g_atomic_int_set(&j->s->discard, 1);
	job_cancel(j);
	if (wait_gone(j->s))
		g_thread_join(j->thread);
	else
		g_thread_unref(j->thread);
	shared_unref(j->s);
	g_free(j->message);
	g_free(j);
}
