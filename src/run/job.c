/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs, the main thread's side: starts the thread, collects posts, stops the thread, or abandons it when it hangs. See
 * job.h and job_private.h.
 */
#include "run/job_private.h"

#include "run/worker.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#define LONG_ARRAY (1 << 20)
#define HEAP_AHEAD (64u << 20)
#define HEAP_SHARE 8
#define DEFAULT_PUBLISH_NS (100 * INT64_C(1000000))
#define COLLECT_US 100000		/* longest time of job_collect(), so that the screen stays responsive */
#define TRIM_US 1000000		/* shortest time between two malloc_trim() */
#define FREE_PATIENCE_US 500000		/* how long job_free() waits for its thread */

struct job {
	struct shared *s;
	GThread *thread;
	char *message, *reader, *warning, *remark, *cache;	/* lent by the last job_get_status() */
	int64_t final_to;		/* as job_status.closed_to_ns */
	unsigned corrected;		/* seconds */
	int64_t folded, retained;		/* the timeline's counts at the last malloc_trim() */
	uint64_t evicted;		/* its evicted spans at that time */
	int64_t trimmed_us;		/* monotonic */
};

static void post_free(void *data)
{
	struct post *post = data;
	publication_free(post->publication);
	g_free(post);
}

static void redecoded_free(void *data)
{
	struct redecoded *again = data;
	publication_free(again->publication);
	g_free(again);
}

void shared_unref(struct shared *s)
{
	if (!g_atomic_ref_count_dec(&s->refs))
		return;
	g_async_queue_unref(s->posts);	/* frees posts that were not collected */
	g_async_queue_unref(s->redecoded);
	g_async_queue_unref(s->messages);
	close(s->event_fd);
	g_free(s->status.message);
	g_free(s->status.reader);
	g_free(s->status.warning);
	g_free(s->status.remark);
	g_free(s->status.cache);
	outline_unref(s->outline);
	g_mutex_clear(&s->lock);
	g_cond_clear(&s->changed);
	g_free(s);
}

void shared_wake_owner(struct shared *s)
{
	worker_ring(s->event_fd);
}

/* Grows the heap at once, in huge pages: page faults take a fifth of a short run's time. malloc_trim() returns what
 * stays unused. */
static void grow_heap_ahead(size_t memory)
{
	size_t ahead = memory ? MIN(memory / HEAP_SHARE, HEAP_AHEAD) : HEAP_AHEAD;

	mallopt(M_TRIM_THRESHOLD, (int)(2 * ahead));
	mallopt(M_TOP_PAD, (int)ahead);
	g_free(g_malloc(LONG_ARRAY / 2));	/* more than the free memory at the heap's end */
	mallopt(M_TOP_PAD, LONG_ARRAY);
	madvise((char *)sbrk(0) - ahead, ahead, MADV_HUGEPAGE);	/* it is fine if this fails */
}

static struct job *start(struct shared *s, void *data, GDestroyNotify free_data,
			 const struct job_options *options)
{
	/* A fixed threshold, so that long arrays are mapped and unmapped. By default the C library raises it, and
	 * freed arrays fragment the heaps. */
	if (options->memory)
		mallopt(M_MMAP_THRESHOLD, LONG_ARRAY);
	/* One heap for one thread, or for two: thread heaps grow by a system call, and a page fault, for each page
	 * (glibc's grow_heap()). More threads, and the screen, would contend for the heap's lock. */
	bool printed = !options->model.live && !options->preview;
	unsigned threads = options->threads ? options->threads : g_get_num_processors();
	bool one_heap = threads <= (printed ? 2 : 1);
	if (one_heap)
		mallopt(M_ARENA_MAX, 1);
	if (one_heap && printed)
		grow_heap_ahead(options->memory);
	g_atomic_ref_count_init(&s->refs);
	g_atomic_ref_count_inc(&s->refs);	/* the thread's reference */
	s->posts = g_async_queue_new_full(post_free);
	s->redecoded = g_async_queue_new_full(redecoded_free);
	s->messages = g_async_queue_new_full(g_free);
	s->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->event_fd < 0)
		g_error("no eventfd: %s", g_strerror(errno));
	s->data = data;
	s->free_data = free_data;
	s->options = *options;
	if (s->options.publish_every_ns <= 0)
		s->options.publish_every_ns = DEFAULT_PUBLISH_NS;
	s->started_us = g_get_monotonic_time();
	s->shown_range.from_ns = s->shown_range.to_ns = options->preview_ns ? options->preview_ns : TIME_UNKNOWN;
	s->status = (struct job_status){
		.phase = JOB_OPENING, .progress = -1, .newest_ns = TIME_UNKNOWN,
		.jobs = 1, .final_to_ns = TIME_UNKNOWN, .index_progress = -1,
	};
	g_mutex_init(&s->lock);
	g_cond_init(&s->changed);

	struct job *j = g_new0(struct job, 1);
	j->s = s;
	j->final_to = TIME_UNKNOWN;
	j->thread = worker_new("blk-reader", job_thread_main, s);
	return j;
}

struct job *job_start(job_open open, void *data, GDestroyNotify free_data,
		      const struct job_options *options)
{
	struct shared *s = g_new0(struct shared, 1);
	s->retained_from = TIME_UNKNOWN;
	s->open = open;
	return start(s, data, free_data, options);
}

int job_fd(const struct job *j)
{
	return j->s->event_fd;
}

/* Returns free memory to the system. Seconds are made on several threads and freed on this one, so free memory is
 * spread over all heaps, and only malloc_trim() returns it. */
static void trim_heap(struct job *j, const struct timeline *tl)
{
	int64_t folded = timeline_facts(tl)->folded_until, retained = timeline_retained_from(tl);
	int64_t now = g_get_monotonic_time();
	uint64_t traces, evicted;

	timeline_evicted(tl, &traces, &evicted);
	if (folded == TIME_UNKNOWN && !evicted)
		return;
	if ((folded == j->folded && retained == j->retained && evicted == j->evicted) ||
	    now - j->trimmed_us < (j->s->options.model.live ? TRIM_LIVE_US : TRIM_US))
		return;
	malloc_trim(0);
	j->evicted = evicted;
	j->folded = folded;
	j->retained = retained;
	j->trimmed_us = now;
}

static bool is_posted(struct job *j)
{
	return g_async_queue_length(j->s->posts) > 0;
}

static void apply(struct job *j, struct timeline *tl, struct post *post)
{
	g_assert(post->publication && g_atomic_int_get(&j->s->queued_kib) >= post->kib);
	g_atomic_int_add(&j->s->queued_kib, -post->kib);
	timeline_apply(tl, g_steal_pointer(&post->publication));
	g_atomic_int_inc(&j->s->collected);
	j->final_to = MAX(j->final_to, post->closed_to);
	j->corrected += post->corrected;
}

/* Tells the thread which instants the timeline retains: the model may drop threads and processes that ended before. */
static void set_retained_from(struct job *j, const struct timeline *tl)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&j->s->lock);
	j->s->retained_from = timeline_retained_from(tl);
}

static void collect_missing(struct job *j, struct timeline *tl)
{
	struct shared *s = j->s;

	g_mutex_lock(&s->lock);
	bool known = s->status.has_missing;
	struct missing m = s->status.missing;
	g_mutex_unlock(&s->lock);
	if (known)
		timeline_set_missing(tl, &m);
}

bool job_collect(struct job *j, struct timeline *tl)
{
	struct post *post;
	uint64_t count;
	bool any = false;
	int64_t until = g_get_monotonic_time() + COLLECT_US;

	/* cleared first, so that later posts make it readable again */
	ssize_t n = read(j->s->event_fd, &count, sizeof count);
	(void)n;
	while ((!any || g_get_monotonic_time() < until) &&
	       (post = g_async_queue_try_pop(j->s->posts))) {
		apply(j, tl, post);
		post_free(post);
		any = true;
	}
	collect_missing(j, tl);
	if (is_posted(j))
		shared_wake_owner(j->s);	/* the rest in the next call, so that the screen stays responsive */
	if (any) {
		set_retained_from(j, tl);
		trim_heap(j, tl);
	}
	return any;
}

static void lend(char **lent, const char *text)
{
	if (g_strcmp0(*lent, text) == 0)
		return;
	g_free(*lent);
	*lent = g_strdup(text);
}

void job_get_status(struct job *j, struct job_status *ret)
{
	struct shared *s = j->s;

	g_mutex_lock(&s->lock);
	*ret = s->status;
	lend(&j->message, s->status.message);
	lend(&j->reader, s->status.reader);
	lend(&j->warning, s->status.warning);
	lend(&j->remark, s->status.remark);
	lend(&j->cache, s->status.cache);
	g_mutex_unlock(&s->lock);
	ret->message = j->message;
	ret->reader = j->reader;
	ret->warning = j->warning;
	ret->remark = j->remark;
	ret->cache = j->cache;
	ret->closed_to_ns = j->final_to;
	ret->corrected = j->corrected;
	ret->final_to_ns = ret->pieces ? j->final_to : TIME_UNKNOWN;
	if (ret->phase >= JOB_DONE && is_posted(j))
		ret->phase = JOB_LOADING;	/* some posts are not collected yet */
}

char *job_take_message(struct job *j)
{
	return g_async_queue_try_pop(j->s->messages);
}

/* ---- outline and preview ---- */

struct outline *job_outline(struct job *j)
{
	struct shared *s = j->s;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	return s->outline ? outline_ref(s->outline) : NULL;
}

void job_show_range(struct job *j, const struct view_range *shown_range)
{
	struct shared *s = j->s;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->shown_range = *shown_range;
	if (s->preview)
		preview_show_range(s->preview, shown_range);
}

struct timeline *job_take_preview(struct job *j, struct decoded_range *ret)
{
	struct shared *s = j->s;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	return s->preview ? preview_take(s->preview, ret) : NULL;
}

/* ---- the end ---- */

void job_cancel(struct job *j)
{
	struct shared *s = j->s;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	g_atomic_int_set(&s->stop, 1);
	if (s->source)
		source_cancel(s->source);
	if (s->parallel)
		parallel_stop(s->parallel);
	g_cond_broadcast(&s->changed);
}

/* No more previews are wanted: the thread may end. */
static void end_previews(struct shared *s)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->previews_ended = true;
	if (s->preview)
		preview_stop(s->preview);
	g_cond_broadcast(&s->changed);
}

static bool job_ended(struct job *j)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&j->s->lock);
	bool ended = j->s->ended;
	return ended;
}

bool job_wait(struct job *j, struct timeline *tl, int timeout_ms)
{
	gint64 until = g_get_monotonic_time() + (gint64)timeout_ms * 1000;

	for (;;) {
		bool ended = job_ended(j);	/* read before collecting: nothing is posted after the end */
		job_collect(j, tl);
		if (ended && !is_posted(j))
			return true;
		gint64 left_ms = -1;
		if (timeout_ms >= 0) {
			left_ms = (until - g_get_monotonic_time() + 999) / 1000;
			if (left_ms <= 0)
				return false;
		}
		struct pollfd pfd = { .fd = j->s->event_fd, .events = POLLIN };
		if (poll(&pfd, 1, (int)left_ms) < 0 && errno == EINTR && timeout_ms >= 0)
			return false;		/* a signal: the caller handles it */
	}
}

/* Waits for the end of the thread; false: not within FREE_PATIENCE_US. */
static bool wait_thread_done(struct shared *s)
{
	gint64 until = g_get_monotonic_time() + FREE_PATIENCE_US;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	while (!s->thread_done)
		if (!g_cond_wait_until(&s->changed, &s->lock, until))
			break;
	return s->thread_done;
}

void job_free(struct job *j)
{
	if (!j)
		return;
	g_atomic_int_set(&j->s->discard, 1);
	job_cancel(j);
	end_previews(j->s);
	if (wait_thread_done(j->s))
		g_thread_join(j->thread);
	else
		g_thread_unref(j->thread);
	shared_unref(j->s);
	g_free(j->message);
	g_free(j->reader);
	g_free(j->warning);
	g_free(j->remark);
	g_free(j->cache);
	g_free(j);
}
