/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs, the reading thread's side: opens the trace, feeds the model from one source or merges the slices of workers,
 * and posts closed seconds. See job_private.h.
 */
#include "run/job_private.h"

#include "run/cache.h"

#include <malloc.h>

#define AGAIN_PAUSE_US 5000		/* after SOURCE_AGAIN, as some sources do not wait themselves */
#define MAX_QUEUED 8			/* most posts in the queue; then the model retains its seconds */
#define PIECE_SPANS 8192		/* spans of a post, when a maker made more */
#define CATCH_UP_US 500000
#define POST_SHARE 10			/* posting takes at most a tenth of the time */
#define MOST_PAUSE_US 1000000		/* live: longest pause between posts, for the screen */
#define TRIM_EVERY_US 200000
#define TRIM_SHARE 20
#define OUTLINE_CELLS 1024
#define FIGURES_US 50000		/* longest time between two updates of the status */
#define INDEX_STEP 512			/* packets of each file that are scanned at once */
#define CORRECT_LAST_US (5 * G_USEC_PER_SEC)	/* longest wait at the end for seconds to be decoded again */
#define QUEUE_SHARE 32			/* part of the memory for spans in posts */
#define PREVIEW_SHARE 32		/* the same for a preview: half of its spans' memory */
#define PREVIEW_FIRST_US 100000		/* longest wait of the main pass for the first preview */
#define LOOK_US (1 * G_USEC_PER_SEC)	/* between two looks for slices that come later */
#define QUICK_BYTES (1 << 20)		/* slices that are read in less time than a preview */

static void set_phase(struct shared *s, enum job_phase phase, const char *message)
{
	g_mutex_lock(&s->lock);
	g_assert(s->status.phase < JOB_DONE);	/* the end is final */
	s->status.phase = phase;
	if (phase == JOB_DONE)
		s->status.pieces_done = s->status.pieces;
	if (message) {
		g_free(s->status.message);
		s->status.message = g_strdup(message);
	}
	s->ended = phase >= JOB_DONE;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
	shared_wake_owner(s);
}

static void end_phase(struct shared *s, enum source_status st, const GError *error)
{
	static const enum job_phase phase_of[] = {
		[SOURCE_END] = JOB_DONE,
		[SOURCE_CANCELLED] = JOB_CANCELLED,
		[SOURCE_ERROR] = JOB_FAILED,
	};
	const char *message = error ? error->message : "reading failed";

	g_assert(st == SOURCE_END || st == SOURCE_CANCELLED || st == SOURCE_ERROR);
	set_phase(s, phase_of[st], st == SOURCE_ERROR ? message : NULL);
}

static void set_source(struct shared *s, struct source *source)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->source = source;
}

static bool is_stopped(struct shared *s)
{
	return g_atomic_int_get(&s->stop);
}

static void update_figures(struct shared *s, double progress, uint64_t n_events, int64_t newest)
{
	double seconds = (double)(g_get_monotonic_time() - s->started_us) / 1e6;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.progress = progress;
	s->status.n_events = n_events;
	s->status.newest_ns = newest;
	s->status.events_per_s = seconds > 0 ? (double)n_events / seconds : 0;
}

/* The instant before which the timeline is final with this publication. After a stop or a failure that is as far as
 * was read. */
static int64_t closed_to(const struct model *m, bool final, enum source_status how)
{
	if (!final || how == SOURCE_END)
		return model_closed_to(m);
	return model_now(m);
}

/* Does the owner have enough posts to apply? Spans are the largest part of publications. */
static bool is_queue_full(struct shared *s)
{
	size_t most = s->options.memory / QUEUE_SHARE / 1024;
	return g_async_queue_length(s->posts) >= MAX_QUEUED ||
	       (most && (size_t)g_atomic_int_get(&s->queued_kib) > most);
}

static void push_publication(struct shared *s, struct publication *p, int64_t closed_to, unsigned corrected)
{
	g_assert(p);
	struct post *item = g_new(struct post, 1);
	size_t bytes = p->span_bytes;

	for (guint i = 0; s->options.model.closing_bytes && i < p->seconds->len; i++)
		bytes += ((const struct second *)g_ptr_array_index(p->seconds, i))->bytes;

	*item = (struct post){ .publication = p, .closed_to = closed_to, .corrected = corrected,
			       .kib = (int)MIN(bytes / 1024, G_MAXINT / MAX_QUEUED / 2) };
	g_atomic_int_add(&s->queued_kib, item->kib);
	g_async_queue_push(s->posts, item);
}

/* Estimated bytes held outside of the timeline. The next publication will be about as large as this one. */
static size_t beside_bytes(const struct shared *s, const struct model *m,
			   const struct publication *p)
{
	return model_bytes(m) + p->span_bytes + (s->source ? source_bytes(s->source) : 0) +
	       (s->parallel ? parallel_span_bytes(s->parallel) : 0) +
	       (s->preview ? preview_bytes(s->preview) : 0);
}

static void update_retained_from(struct shared *s, struct model *m)
{
	g_mutex_lock(&s->lock);
	int64_t ns = s->retained_from;
	g_mutex_unlock(&s->lock);
	model_set_retained_from(m, ns);
}

/* False: the owner has enough to apply. */
static bool post(struct shared *s, struct model *m, bool final, enum source_status how)
{
	if (g_atomic_int_get(&s->discard))
		return true;
	if (!final && is_queue_full(s))
		return false;
	update_retained_from(s, m);
	struct publication *p = model_publish(m, final);
	if (!p)
		return true;
	int64_t final_to = closed_to(m, final, how);
	if (!final)
		p->beside_bytes = beside_bytes(s, m, p);
	if (s->cache)
		cache_add(s->cache, p);
	push_publication(s, p, final_to, 0);
	g_mutex_lock(&s->lock);
	if (s->preview)
		preview_final_to(s->preview, final_to);
	g_mutex_unlock(&s->lock);
	shared_wake_owner(s);
	return true;
}

/* When to post: a limited number of times and share of the time, unless memory is short. Monotonic, us. */
struct schedule {
	int64_t due_us;		/* no post before */
	int64_t rest_us;	/* before it, post only when the model is full */
	int64_t trim_us;	/* no malloc_trim() before */
};

/* The first batch is posted at once; a short run never trims. */
static struct schedule schedule_begin(void)
{
	return (struct schedule){ .trim_us = g_get_monotonic_time() + TRIM_EVERY_US };
}

/* Returns free memory to the system: slices and seconds are freed on several threads, and fragment the heaps. */
static void trim(struct shared *s, struct schedule *t, int64_t now_us)
{
	if (!s->options.memory || now_us < t->trim_us)
		return;
	malloc_trim(0);
	int64_t end_us = g_get_monotonic_time();
	int64_t every_us = s->options.model.live ? TRIM_LIVE_US : TRIM_EVERY_US;
	t->trim_us = end_us + MAX(every_us, (end_us - now_us) * TRIM_SHARE);
}

/* Waits for the owner to collect posts, as long as it does so at all. */
static void wait_for_owner(struct shared *s)
{
	int64_t since = g_get_monotonic_time();
	int collected = g_atomic_int_get(&s->collected);

	while (is_queue_full(s) && !is_stopped(s) && g_get_monotonic_time() - since < CATCH_UP_US) {
		g_usleep(1000);
		if (collected == g_atomic_int_get(&s->collected))
			continue;
		collected = g_atomic_int_get(&s->collected);
		since = g_get_monotonic_time();
	}
}

/* Was it posted? */
static bool post_if_due(struct shared *s, struct model *m, struct schedule *t)
{
	int64_t begin = g_get_monotonic_time();
	bool full = model_is_full(m), due = begin >= t->rest_us || full, posted = false;

	if (full)
		wait_for_owner(s);
	if (due)
		posted = post(s, m, false, SOURCE_OK);
	if (due)
		trim(s, t, g_get_monotonic_time());
	int64_t end = g_get_monotonic_time();
	t->due_us = end + s->options.publish_every_ns / 1000;
	int64_t rest = (end - begin) * POST_SHARE;
	if (due)
		t->rest_us = end + (s->options.model.live ? MIN(rest, MOST_PAUSE_US) : rest);
	return posted;
}

/* Posts seconds that are closed in several publications, as fast as the owner takes them. */
static void post_backlog(struct shared *s, struct model *m)
{
	while (model_has_backlog(m) && !is_stopped(s)) {
		wait_for_owner(s);
		post(s, m, false, SOURCE_OK);
	}
}

/* ---- one source ---- */

/* Waits; a stop ends the wait. until: monotonic, us. */
static void pause_reading(struct shared *s, gint64 until)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	while (!is_stopped(s))
		if (!g_cond_wait_until(&s->changed, &s->lock, until))
			break;
}

/* Counts the late events of the last batch, and marks their seconds stale if packets are stored. */
static void note_late(struct shared *s, struct source *source, struct model *m)
{
	struct source_late late;

	if (!source_take_late(source, &late))
		return;
	model_add_late(m, late.at_to_ns, late.n);
	if (s->preview)
		preview_late(s->preview, &late);
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.late += late.n;
}

/* Posts the seconds that were decoded again. */
static void adopt(struct shared *s, struct model *m)
{
	struct redecoded *again;

	while ((again = g_async_queue_try_pop(s->redecoded))) {
		struct publication *p = model_adopt(m, again->publication, again->from, again->to);
		g_free(again);
		if (!p)
			continue;
		p->beside_bytes = beside_bytes(s, m, p);
		push_publication(s, p, INT64_MIN, p->seconds->len);
		shared_wake_owner(s);
	}
}

static void set_warning(struct shared *s, char *warning)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	g_free(s->status.warning);
	s->status.warning = warning;
}

/* Updates the warning from the source; a source without warnings retains the one from its opening. */
static void note_warning(struct shared *s, struct source *source)
{
	if (source->ops->warning)
		set_warning(s, source_warning(source));
}

static void note_missing(struct shared *s, struct source *source)
{
	struct missing m;
	bool known = source_missing(source, &m);

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.has_missing = known;
	s->status.missing = m;
}

/* Messages are for the log file. */
static void note_cache(struct shared *s, const struct cache *c)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	g_free(s->status.cache);
	s->status.cache = c ? cache_message(c) : NULL;
}

/* Stores what was posted. */
static void finish_cache(struct shared *s, const struct model *m, enum source_status st)
{
	if (!s->cache)
		return;
	if (st == SOURCE_END)
		cache_finish(s->cache, !model_has_forgotten(m));
	note_cache(s, s->cache);
}

static void set_parallel(struct shared *s, struct parallel *p, unsigned jobs)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->parallel = p;
	if (p) {
		s->status.jobs = jobs;
		s->status.pieces = parallel_n_slices(p);
		if (is_stopped(s))
			parallel_stop(p);
	}
}

static void count_piece(struct shared *s, const struct parallel *p)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.pieces_done = parallel_n_done(p);
}

/* ---- the loop ---- */

/* Where the model's data comes from. One of the three pointers is set. */
struct origin {
	struct source *source;			/* batches of events */
	struct parallel *parallel;		/* slices, which workers make */
	const struct job_slices *slices;	/* slices that others make */
	bool begun;				/* of .slices: one was stitched */
};

/* Feeds the next batch. SOURCE_AGAIN: there was none. */
static enum source_status feed_batch(struct shared *s, struct source *source, struct model *m, GError **error)
{
	struct blk_batch batch = { 0 };
	enum source_status st = source_next(source, &batch, error);

	if (st == SOURCE_OK)
		model_feed(m, &source->tables, batch.ev, batch.n);
	else if (st == SOURCE_AGAIN)
		pause_reading(s, g_get_monotonic_time() + AGAIN_PAUSE_US);
	else
		return st;
	note_late(s, source, m);
	post_backlog(s, m);
	return st;
}

/* Stitches the next slice of the workers. SOURCE_AGAIN: there was none for a while. */
static enum source_status stitch_piece(struct shared *s, struct parallel *p, struct model *m, GError **error)
{
	static const enum source_status all[] = {
		[PARALLEL_SLICE] = SOURCE_OK, [PARALLEL_LATER] = SOURCE_AGAIN, [PARALLEL_END] = SOURCE_END,
		[PARALLEL_STOPPED] = SOURCE_CANCELLED, [PARALLEL_ERROR] = SOURCE_ERROR,
	};
	struct slice *slice;
	enum parallel_status st = parallel_next(p, &slice, g_get_monotonic_time() + FIGURES_US, error);

	if (slice) {
		model_stitch(m, slice);
		count_piece(s, p);
	}
	return all[st];
}

/* Stitches the next slice that others made. unposted: there is something to post, so waiting ends earlier. */
static enum source_status stitch_slice(struct shared *s, struct origin *from, struct model *m, bool unposted)
{
	const struct job_slices *slices = from->slices;
	bool more = true;
	struct slice *slice = slices->next(slices->self, &more);

	if (slice && !from->begun && slice_is_without_spans(slice))
		model_without_spans(m);
	from->begun |= slice != NULL;
	if (slice)
		model_stitch(m, slice);
	for (char *line; (line = slices->message(slices->self));)
		g_async_queue_push(s->messages, line);
	if (!slice && more)
		pause_reading(s, g_get_monotonic_time() + (unposted ? s->options.publish_every_ns / 1000 : LOOK_US));
	return !more ? SOURCE_END : slice ? SOURCE_OK : SOURCE_AGAIN;
}

static void update_origin(struct shared *s, const struct origin *from, const struct model *m, bool final)
{
	double progress = from->source ? source_progress(from->source) :
		from->parallel ? parallel_progress(from->parallel) : -1;
	uint64_t n_events = from->parallel && !final ? parallel_n_events(from->parallel) : model_n_events(m);

	update_figures(s, progress, n_events, model_now(m));
	if (from->source) {
		note_warning(s, from->source);
		note_missing(s, from->source);
	}
}

/* Is it time to post? A source is asked more often than the clock. */
static bool is_due(const struct origin *from, const struct model *m, const struct schedule *t)
{
	return g_get_monotonic_time() >= t->due_us || (from->source ? model_has_many_spans(m) : model_is_full(m));
}

/* Feeds the model to the end, and posts meanwhile. */
static enum source_status feed_all(struct shared *s, struct origin *from, struct model *m, GError **error)
{
	struct schedule schedule = schedule_begin();
	bool unposted = false;

	while (!is_stopped(s)) {
		enum source_status st = from->source ? feed_batch(s, from->source, m, error) :
			from->parallel ? stitch_piece(s, from->parallel, m, error) :
			stitch_slice(s, from, m, unposted);
		if (st != SOURCE_OK && st != SOURCE_AGAIN)
			return st;
		unposted |= st == SOURCE_OK || from->source;	/* a source's clock goes on without events, too */
		bool due = is_due(from, m, &schedule);
		if (from->source && !due)
			continue;
		update_origin(s, from, m, false);
		adopt(s, m);
		if (unposted && due)
			unposted = !post_if_due(s, m, &schedule);
	}
	return SOURCE_CANCELLED;
}

/* Makes the model, and posts all of it. */
static void run_origin(struct shared *s, struct origin *from, bool without_spans)
{
	g_autoptr(GError) error = NULL;
	struct model *m = model_new(&s->options.model);

	if (without_spans)
		model_without_spans(m);
	enum source_status st = feed_all(s, from, m, &error);
	if (from->parallel)
		parallel_stop(from->parallel);
	post(s, m, true, st);
	update_origin(s, from, m, true);
	if (s->preview && from->source && st == SOURCE_END)
		preview_finish(s->preview, CORRECT_LAST_US);
	adopt(s, m);
	finish_cache(s, m, st);
	end_phase(s, st, error);
	if (!s->options.skip_free)
		model_free(m);
}

static void run_source(struct shared *s, struct source *source, bool without_spans)
{
	struct origin from = { .source = source };

	set_source(s, source);
	run_origin(s, &from, without_spans || s->options.without_spans);
	set_source(s, NULL);
}

static void run_whole(struct shared *s, const struct pieces *pieces)
{
	struct source *source = pieces->ops->range(pieces->native, INT64_MIN, INT64_MAX, parallel_buffers(1));

	g_mutex_lock(&s->lock);
	s->status.pieces = 1;
	g_mutex_unlock(&s->lock);
	run_source(s, source, pieces_are_without_spans(pieces));
	source_free(source);
}

static void run_parallel(struct shared *s, const struct pieces *pieces, const struct parallel_plan *plan)
{
	struct origin from = { .parallel = parallel_start(pieces, plan) };

	set_parallel(s, from.parallel, plan->threads);
	run_origin(s, &from, pieces_are_without_spans(pieces));
	set_parallel(s, NULL, 0);
	parallel_free(from.parallel);
}

static void run_slices(struct shared *s, const struct job_slices *slices)
{
	struct origin from = { .slices = slices };

	s->options.model.cells = 0;	/* slices have all kinds */
	run_origin(s, &from, false);
}

/* ---- a trace in pieces ---- */

static void ring(void *data, void *unused)
{
	(void)unused;
	shared_wake_owner(data);
}

static void post_outline(struct shared *s, const struct pieces *p)
{
	struct outline *o = p->ops->outline(p->native, OUTLINE_CELLS);
	double progress = p->ops->index_progress(p->native);

	g_mutex_lock(&s->lock);
	outline_unref(s->outline);
	s->outline = o;
	s->status.index_progress = progress;
	g_mutex_unlock(&s->lock);
	shared_wake_owner(s);
}

/* Scans files without index; meanwhile makes previews of what is indexed. */
static void walk_index(struct shared *s, const struct pieces *p, struct preview *pv)
{
	int64_t every_us = s->options.publish_every_ns / 1000;
	int64_t due_us = g_get_monotonic_time() + every_us;

	if (p->ops->indexed(p->native))
		return;
	while (!is_stopped(s) && p->ops->index(p->native, INDEX_STEP)) {
		if (pv)
			preview_step(pv);
		if (g_get_monotonic_time() < due_us)
			continue;
		post_outline(s, p);
		due_us = g_get_monotonic_time() + every_us;
	}
	post_outline(s, p);
}

static void set_preview(struct shared *s, struct preview *pv)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->preview = pv;
	if (pv)
		preview_show_range(pv, &s->shown_range);
	if (pv && s->previews_ended)
		preview_stop(pv);
}

/* After reading: keeps the trace open for previews until the job is freed. */
static void serve_previews(struct shared *s)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	while (!s->previews_ended)
		g_cond_wait(&s->changed, &s->lock);
}

static void note_remark(struct shared *s, const struct pieces *p)
{
	char *remark = p->ops->remark(p->native);

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.remark = remark;
}

/* Is the trace in the cache, with all that is wanted? If not, what is posted will be. */
static bool find_cached(struct shared *s, struct cache *c, const struct pieces *p)
{
	struct pieces with_all = *p;
	with_all.cells = 0;
	with_all.without_spans = false;
	size_t memory = s->options.model.memory_budget;
	const struct cache_variant own = { p->cells, pieces_are_without_spans(p), memory };
	const struct cache_variant all = { 0, pieces_are_without_spans(&with_all), memory };
	bool narrow = p->cells || p->without_spans;
	bool found = cache_find(c, &own) || (narrow && cache_find(c, &all));

	if (!found) {
		cache_begin(c, &own);
		s->cache = c;
	}
	note_cache(s, c);
	return found;
}

static struct publication *next_cached(void *cache, GError **error)
{
	return cache_next(cache, error);
}

static char *no_warning(void *cache)
{
	(void)cache;
	return NULL;
}

static void read_pieces(struct shared *s, struct pieces *p, bool background)
{
	const struct job_options *o = &s->options;
	struct parallel_plan plan = parallel_choose(p, o->threads, o->slices, o->memory);

	plan.step_ns = o->model.step_ns > 0 ? o->model.step_ns : INT64_C(1000000000);
	plan.background = background;
	s->options.model.cells = p->cells;
	if (plan.slices <= 1)
		run_whole(s, p);
	else
		run_parallel(s, p, &plan);
}

/* ---- a live source whose packets are stored ---- */

static void post_redecoded(void *data, struct publication *publication, int64_t from, int64_t to)
{
	struct shared *s = data;
	struct redecoded *again = g_new(struct redecoded, 1);

	*again = (struct redecoded){ publication, from, to };
	g_async_queue_push(s->redecoded, again);
}

/* The preview's thread makes windows, and decodes seconds with late events again. */
static void run_spooled(struct shared *s, struct source *source, struct pieces *spooled)
{
	int64_t step = s->options.model.step_ns > 0 ? s->options.model.step_ns : INT64_C(1000000000);
	struct preview *pv = preview_new(spooled, step, ring, s);

	preview_bound_spans(pv, s->options.memory / PREVIEW_SHARE);
	preview_correct(pv, post_redecoded, s);
	g_mutex_lock(&s->lock);
	s->status.corrects = true;
	g_mutex_unlock(&s->lock);
	set_preview(s, pv);
	preview_start(pv);
	run_source(s, source, false);
	if (s->options.preview)
		serve_previews(s);
	set_preview(s, NULL);
	preview_free(pv);
}

/* ---- a maker ---- */

static bool on_progress(void *data, double progress, uint64_t n)
{
	struct shared *s = data;

	if (s->status.phase == JOB_OPENING)	/* only this thread sets it */
		set_phase(s, JOB_LOADING, NULL);
	update_figures(s, progress, n, TIME_UNKNOWN);
	return !is_stopped(s);
}

static void post_piece(struct shared *s, struct publication *p)
{
	while (is_queue_full(s) && !g_atomic_int_get(&s->discard))
		g_usleep(1000);
	push_publication(s, p, INT64_MAX, 0);
	shared_wake_owner(s);
}

/* Posts it in pieces, so that the timeline can keep within its memory between them. */
static void post_made(struct shared *s, struct publication *made)
{
	g_autoptr(GPtrArray) tails = g_ptr_array_new();
	struct publication *tail;

	while ((tail = publication_split(made, PIECE_SPANS)))
		g_ptr_array_add(tails, tail);
	post_piece(s, made);
	while (tails->len)
		post_piece(s, g_ptr_array_steal_index(tails, tails->len - 1));
}

static void run_maker(struct shared *s, const struct job_maker *maker)
{
	g_autoptr(GError) error = NULL;
	struct publication *made;
	uint64_t n_events = 0;
	int64_t newest = TIME_UNKNOWN;
	bool last;

	do {
		last = is_stopped(s);
		made = maker->next(maker->self, &error);
		if (made) {
			n_events = made->n_events;
			newest = made->last_ns;
			post_made(s, made);
		}
	} while (made && !last);
	if (!is_stopped(s) && !error)
		update_figures(s, 1, n_events, newest);
	char *warning = maker->warning(maker->self);
	if (warning)
		set_warning(s, warning);
	set_phase(s, is_stopped(s) ? JOB_CANCELLED : error ? JOB_FAILED : JOB_DONE,
		  error && !is_stopped(s) ? error->message : NULL);
}

/* ---- a trace in pieces, or what is made of it and previews from its packets ---- */

static void run_made(struct shared *s, const struct job_maker *maker, struct preview *pv)
{
	g_mutex_lock(&s->lock);
	s->status.pieces = 1;
	if (pv)
		preview_final_to(pv, INT64_MAX);
	g_mutex_unlock(&s->lock);
	run_maker(s, maker);
}

/* maker: what makes the publications instead of reading; or .self NULL. cache: where they may be, or NULL. */
static void run_pieces(struct shared *s, struct pieces *p, const struct job_maker *maker, struct cache *cache)
{
	const struct job_maker cached = { .next = next_cached, .warning = no_warning, .self = cache };
	const struct job_options *o = &s->options;
	int64_t step = o->model.step_ns > 0 ? o->model.step_ns : INT64_C(1000000000);
	struct preview *pv = o->preview ? preview_new(p, step, ring, s) : NULL;

	if (pv)
		preview_bound_spans(pv, o->memory / PREVIEW_SHARE);
	set_preview(s, pv);
	post_outline(s, p);
	walk_index(s, p, pv);
	note_remark(s, p);
	if (cache && find_cached(s, cache, p))
		maker = &cached;
	bool quick = maker->self && !(maker == &cached && cache_bytes(cache) >= QUICK_BYTES);
	bool previews = pv && p->ops->indexed(p->native);
	if (previews && !quick) {
		preview_start(pv);
		preview_wait(pv, g_get_monotonic_time() + PREVIEW_FIRST_US);
	}
	if (is_stopped(s))
		set_phase(s, JOB_CANCELLED, NULL);
	else if (maker->self)
		run_made(s, maker, pv);
	else
		read_pieces(s, p, pv && !quick);
	if (previews && quick)
		preview_start(pv);
	if (pv)
		serve_previews(s);
	set_preview(s, NULL);
	preview_free(pv);
}

/* ---- the thread ---- */

static void set_reader(struct shared *s, const struct job_trace *t)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&s->lock);
	s->status.reader = t->reader;
	s->status.warning = t->warning;
}

void *job_thread_main(void *shared)
{
	struct shared *s = shared;
	const struct watch watch = { on_progress, s };
	struct job_trace t = { .watch = &watch, .stop = &s->stop };
	g_autoptr(GError) error = NULL;

	if (!s->open(s->data, &t, &error)) {
		set_phase(s, is_stopped(s) ? JOB_CANCELLED : JOB_FAILED,
			  error ? error->message : "the source cannot be opened");
	} else {
		g_assert(t.maker.self || t.slices.self || t.source || t.pieces.ops);
		t.pieces.without_spans = s->options.without_spans;
		t.pieces.cells = s->options.model.cells;
		set_reader(s, &t);
		set_source(s, t.source);	/* before the phase: a caller that sees LOADING may cancel the source */
		set_phase(s, JOB_LOADING, NULL);
		if (t.slices.self)
			run_slices(s, &t.slices);
		else if (t.maker.self && !t.pieces.ops)
			run_maker(s, &t.maker);
		else if (t.source && t.pieces.ops)
			run_spooled(s, t.source, &t.pieces);
		else if (t.source)
			run_source(s, t.source, false);
		else
			run_pieces(s, &t.pieces, &t.maker, t.cache);
	}
	if (s->free_data)
		s->free_data(s->data);	/* before the source: see job.h */
	if (t.maker.self)
		t.maker.free(t.maker.self);
	if (t.slices.self)
		t.slices.free(t.slices.self);
	source_free(t.source);		/* may hang, as any call into a library */
	pieces_free(&t.pieces);
	cache_free(t.cache);
	g_mutex_lock(&s->lock);
	s->thread_done = true;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
	shared_unref(s);
	return NULL;
}
