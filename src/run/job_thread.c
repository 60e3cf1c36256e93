/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs, the reading thread's side: opens the trace, feeds the model from one source or
 * stitches what workers made of its pieces, and posts what is closed.
 */
#include "run/job_private.h"

#include <malloc.h>

#define AGAIN_PAUSE_US 5000		/* after SOURCE_AGAIN, should the source not wait itself */
#define MAX_QUEUED 8			/* posts nobody has collected; then the model keeps them */
#define PIECE_SPANS 8192		/* of what a maker made, at a time */
#define CATCH_UP_US 500000
#define POST_SHARE 10			/* of the time, at most a tenth goes into posting */
#define MOST_REST_US 1000000		/* live: what waits costs no less later, and is looked at */
#define TRIM_EVERY_US 200000
#define TRIM_SHARE 20
#define OUTLINE_CELLS 1024
#define FIGURES_US 50000		/* how old figures may be while nothing is stitched */
#define INDEX_STEP 512			/* packets of each file at once */
#define CORRECT_LAST_US (5 * G_USEC_PER_SEC)	/* at the end, for seconds that are to be corrected */
#define QUEUE_SHARE 32			/* of the memory: spans that wait for the owner, and */
#define PREVIEW_SHARE 32		/* what a preview's spans are made of, which is half of them */
#define PREVIEW_FIRST_US 100000		/* so long the main pass waits for the first preview */

static void set_phase(struct shared *s, enum job_phase phase, const char *message)
{
	g_mutex_lock(&s->lock);
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
	set_phase(s, phase_of[st], st == SOURCE_ERROR ? message : NULL);
}

static void set_source(struct shared *s, struct source *source)
{
	g_mutex_lock(&s->lock);
	s->source = source;
	g_mutex_unlock(&s->lock);
}

static bool is_stopped(struct shared *s)
{
	return g_atomic_int_get(&s->stop);
}

static void update_figures(struct shared *s, double progress, uint64_t n_events, int64_t newest)
{
	double seconds = (double)(g_get_monotonic_time() - s->started_us) / 1e6;

	g_mutex_lock(&s->lock);
	s->status.progress = progress;
	s->status.n_events = n_events;
	s->status.newest_ns = newest;
	s->status.events_per_s = seconds > 0 ? (double)n_events / seconds : 0;
	g_mutex_unlock(&s->lock);
}

/* Up to where the timeline is final with this publication: what was stopped within, or
 * failed, only as far as it was read. */
static int64_t closed_to(const struct model *m, bool final, enum source_status how)
{
	if (!final || how == SOURCE_END)
		return model_closed_to(m);
	return model_now(m);
}

/* Does the owner have enough to apply? Spans are what publications are large by. */
static bool is_queue_full(struct shared *s)
{
	size_t most = s->options.memory / QUEUE_SHARE / 1024;
	return g_async_queue_length(s->posts) >= MAX_QUEUED ||
	       (most && (size_t)g_atomic_int_get(&s->queued_kib) > most);
}

static void push_publication(struct shared *s, struct publication *p, int64_t closed_to, unsigned corrected)
{
	struct post *item = g_new(struct post, 1);

	*item = (struct post){ .publication = p, .closed_to = closed_to, .corrected = corrected,
			       .kib = (int)MIN(p->span_bytes / 1024, G_MAXINT / MAX_QUEUED / 2) };
	g_atomic_int_add(&s->queued_kib, item->kib);
	g_async_queue_push(s->posts, item);
}

/* What is held beside the timeline while spans come. The next publication, too, will be about
 * as large as this one. */
static size_t beside_bytes(const struct shared *s, const struct model *m,
			   const struct publication *p)
{
	return model_bytes(m) + p->span_bytes +
	       (s->parallel ? parallel_span_bytes(s->parallel) : 0) +
	       (s->preview ? preview_bytes(s->preview) : 0);
}

static void learn_kept_from(struct shared *s, struct model *m)
{
	g_mutex_lock(&s->lock);
	int64_t ns = s->kept_from;
	g_mutex_unlock(&s->lock);
	model_kept_from(m, ns);
}

static void post(struct shared *s, struct model *m, bool final, enum source_status how)
{
	if (g_atomic_int_get(&s->discard))
		return;
	if (!final && is_queue_full(s))
		return;
	learn_kept_from(s, m);
	struct publication *p = model_publish(m, final);
	if (!p)
		return;
	int64_t final_to = closed_to(m, final, how);
	if (!final)
		p->beside_bytes = beside_bytes(s, m, p);
	push_publication(s, p, final_to, 0);
	g_mutex_lock(&s->lock);
	if (s->preview)
		preview_final_to(s->preview, final_to);
	g_mutex_unlock(&s->lock);
	shared_wake_owner(s);
}

/* When to post: not too often, and not most of the time, unless memory asks for it. */
struct turn {
	int64_t due_us;		/* not before */
	int64_t rest_us;	/* only when full before */
	int64_t trim_us;	/* holes are not given back to the system before */
};

/* The first batch is posted at once; of a short run nothing is given back. */
static struct turn turn_begin(void)
{
	return (struct turn){ .trim_us = g_get_monotonic_time() + TRIM_EVERY_US };
}

/* Slices and seconds come and go on several threads, and leave holes between those
 * that stay. */
static void trim(struct shared *s, struct turn *t, int64_t now_us)
{
	if (!s->options.memory || now_us < t->trim_us)
		return;
	malloc_trim(0);
	int64_t end_us = g_get_monotonic_time();
	t->trim_us = end_us + MAX(TRIM_EVERY_US, (end_us - now_us) * TRIM_SHARE);
}

/* The owner is asked to catch up, as long as it does collect: it may not at all. */
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

static bool post_in_turn(struct shared *s, struct model *m, struct turn *t)
{
	int64_t begin = g_get_monotonic_time();
	bool full = model_is_full(m), due = begin >= t->rest_us || full;

	if (full)
		wait_for_owner(s);
	if (due)
		post(s, m, false, SOURCE_OK);
	if (due)
		trim(s, t, g_get_monotonic_time());
	int64_t end = g_get_monotonic_time();
	t->due_us = end + s->options.publish_every_ns / 1000;
	int64_t rest = (end - begin) * POST_SHARE;
	if (due)
		t->rest_us = end + (s->options.model.live ? MIN(rest, MOST_REST_US) : rest);
	return due;
}

/* ---- one source ---- */

/* Between two questions to a source that has nothing now; stop ends it early. */
static void pause_reading(struct shared *s)
{
	gint64 until = g_get_monotonic_time() + AGAIN_PAUSE_US;
	g_mutex_lock(&s->lock);
	while (!is_stopped(s))
		if (!g_cond_wait_until(&s->changed, &s->lock, until))
			break;
	g_mutex_unlock(&s->lock);
}

/* What came too late: told to the user, and noted to be made again where it is kept. */
static void note_late(struct shared *s, struct source *source)
{
	struct source_late late;

	if (!source_take_late(source, &late))
		return;
	if (s->preview)
		preview_late(s->preview, &late);
	g_mutex_lock(&s->lock);
	s->status.late += late.n;
	g_mutex_unlock(&s->lock);
}

/* What was read again of it since. */
static void adopt(struct shared *s, struct model *m)
{
	struct again *again;

	while ((again = g_async_queue_try_pop(s->again))) {
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
	g_mutex_lock(&s->lock);
	g_free(s->status.warning);
	s->status.warning = warning;
	g_mutex_unlock(&s->lock);
}

/* What the source says it leaves out. Where it says nothing, what was said when it was opened
 * holds. */
static void note_warning(struct shared *s, struct source *source)
{
	if (source->ops->warning)
		set_warning(s, source_warning(source));
}

static void note_missing(struct shared *s, struct source *source)
{
	struct missing m;
	bool known = source_missing(source, &m);

	g_mutex_lock(&s->lock);
	s->status.has_missing = known;
	s->status.missing = m;
	g_mutex_unlock(&s->lock);
}

static enum source_status read_source(struct shared *s, struct source *source, struct model *m,
				      GError **error)
{
	struct turn turn = turn_begin();

	while (!is_stopped(s)) {
		struct blk_batch batch = { 0 };
		enum source_status st = source_next(source, &batch, error);
		if (st == SOURCE_OK)
			model_feed(m, &source->tables, batch.ev, batch.n);
		else if (st == SOURCE_AGAIN)
			pause_reading(s);
		else
			return st;
		if (g_get_monotonic_time() < turn.due_us && !model_has_many_spans(m))
			continue;
		note_late(s, source);
		note_warning(s, source);
		note_missing(s, source);
		adopt(s, m);
		post_in_turn(s, m, &turn);
		update_figures(s, source_progress(source), model_n_events(m), model_now(m));
	}
	return SOURCE_CANCELLED;
}

static void run_source(struct shared *s, struct source *source, bool lacks_spans)
{
	g_autoptr(GError) error = NULL;
	struct model *m = model_new(&s->options.model);

	if (lacks_spans || s->options.without_spans)
		model_without_spans(m);
	set_source(s, source);
	enum source_status st = read_source(s, source, m, &error);
	post(s, m, true, st);
	update_figures(s, source_progress(source), model_n_events(m), model_now(m));
	note_late(s, source);
	note_warning(s, source);
	note_missing(s, source);
	if (s->preview && st == SOURCE_END)
		preview_finish(s->preview, CORRECT_LAST_US);
	adopt(s, m);
	end_phase(s, st, error);
	set_source(s, NULL);
	if (!s->options.skip_free)
		model_free(m);
}

/* ---- pieces, on several threads ---- */

static void set_parallel(struct shared *s, struct parallel *p, unsigned jobs)
{
	g_mutex_lock(&s->lock);
	s->parallel = p;
	if (p) {
		s->status.jobs = jobs;
		s->status.pieces = parallel_n_slices(p);
		if (is_stopped(s))
			parallel_stop(p);
	}
	g_mutex_unlock(&s->lock);
}

static void count_piece(struct shared *s, const struct parallel *p)
{
	g_mutex_lock(&s->lock);
	s->status.pieces_done = parallel_n_done(p);
	g_mutex_unlock(&s->lock);
}

static enum source_status stitch_pieces(struct shared *s, struct parallel *p, struct model *m,
					GError **error)
{
	static const enum source_status ends[] = {
		[PARALLEL_END] = SOURCE_END, [PARALLEL_STOPPED] = SOURCE_CANCELLED,
		[PARALLEL_ERROR] = SOURCE_ERROR,
	};
	struct turn turn = turn_begin();
	bool news = false;

	for (;;) {
		struct slice *slice;
		int64_t until_us = g_get_monotonic_time() + FIGURES_US;
		enum parallel_status st = parallel_next(p, &slice, until_us, error);
		if (slice) {
			model_stitch(m, slice);
			count_piece(s, p);
		}
		if (st > PARALLEL_LATER)
			return ends[st];
		news |= slice != NULL;
		if (news && (g_get_monotonic_time() >= turn.due_us || model_is_full(m)))
			news = !post_in_turn(s, m, &turn);
		update_figures(s, parallel_progress(p), parallel_n_events(p), model_now(m));
	}
}

static void run_parallel(struct shared *s, const struct pieces *pieces,
			 const struct parallel_plan *plan)
{
	g_autoptr(GError) error = NULL;
	struct model *m = model_new(&s->options.model);
	struct parallel *p = parallel_start(pieces, plan);

	set_parallel(s, p, plan->threads);
	enum source_status st = stitch_pieces(s, p, m, &error);
	set_parallel(s, NULL, 0);
	double progress = parallel_progress(p);
	parallel_free(p);
	post(s, m, true, st);
	update_figures(s, progress, model_n_events(m), model_now(m));
	end_phase(s, st, error);
	if (!s->options.skip_free)
		model_free(m);
}

static void run_whole(struct shared *s, const struct pieces *pieces)
{
	struct source *source = pieces->ops->range(pieces->trace, INT64_MIN, INT64_MAX,
						   parallel_buffers(1));
	g_mutex_lock(&s->lock);
	s->status.pieces = 1;
	g_mutex_unlock(&s->lock);
	run_source(s, source, pieces_lack_spans(pieces));
	source_free(source);
}

/* ---- a trace that can be read in pieces: what comes before reading it ---- */

static void ring(void *data, void *unused)
{
	(void)unused;
	shared_wake_owner(data);
}

static void post_outline(struct shared *s, const struct pieces *p)
{
	struct outline *o = p->ops->outline(p->trace, OUTLINE_CELLS);
	double progress = p->ops->index_progress(p->trace);

	g_mutex_lock(&s->lock);
	outline_unref(s->outline);
	s->outline = o;
	s->status.index_progress = progress;
	g_mutex_unlock(&s->lock);
	shared_wake_owner(s);
}

/* Walks what has no index yet; what is known meanwhile may be looked at. */
static void walk_index(struct shared *s, const struct pieces *p, struct preview *pv)
{
	int64_t every_us = s->options.publish_every_ns / 1000;
	int64_t due_us = g_get_monotonic_time() + every_us;

	if (p->ops->indexed(p->trace))
		return;
	while (!is_stopped(s) && p->ops->index(p->trace, INDEX_STEP)) {
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
	g_mutex_lock(&s->lock);
	s->preview = pv;
	if (pv)
		preview_look(pv, &s->look);
	if (pv && s->unwanted)
		preview_stop(pv);
	g_mutex_unlock(&s->lock);
}

/* All is read, or as much as was wanted: the trace stays open for who looks at what the
 * timeline can't tell. */
static void serve_looks(struct shared *s)
{
	g_mutex_lock(&s->lock);
	while (!s->unwanted)
		g_cond_wait(&s->changed, &s->lock);
	g_mutex_unlock(&s->lock);
}

static void run_pieces(struct shared *s, const struct pieces *p)
{
	const struct job_options *o = &s->options;
	int64_t step = o->model.step_ns > 0 ? o->model.step_ns : INT64_C(1000000000);
	struct preview *pv = o->preview ? preview_new(p, step, ring, s) : NULL;

	if (pv)
		preview_bound_spans(pv, o->memory / PREVIEW_SHARE);
	set_preview(s, pv);
	post_outline(s, p);
	walk_index(s, p, pv);
	if (pv && p->ops->indexed(p->trace))
		preview_start(pv);
	if (pv && !is_stopped(s)) {
		preview_wait(pv, g_get_monotonic_time() + PREVIEW_FIRST_US);
	}
	if (is_stopped(s)) {
		set_phase(s, JOB_CANCELLED, NULL);
	} else {
		struct parallel_plan plan = parallel_choose(p, o->threads, o->slices, o->memory);
		plan.step_ns = step;
		plan.background = pv != NULL;
		if (plan.slices <= 1)
			run_whole(s, p);
		else
			run_parallel(s, p, &plan);
	}
	if (pv)
		serve_looks(s);
	set_preview(s, NULL);
	preview_free(pv);
}

/* ---- what is kept while it is read ---- */

static void post_again(void *data, struct publication *publication, int64_t from, int64_t to)
{
	struct shared *s = data;
	struct again *again = g_new(struct again, 1);

	*again = (struct again){ publication, from, to };
	g_async_queue_push(s->again, again);
}

/* One thread serves looks, and reads again what events came too late for. */
static void run_kept(struct shared *s, struct source *source, const struct pieces *kept)
{
	int64_t step = s->options.model.step_ns > 0 ? s->options.model.step_ns : INT64_C(1000000000);
	struct preview *pv = preview_new(kept, step, ring, s);

	preview_bound_spans(pv, s->options.memory / PREVIEW_SHARE);
	preview_correct(pv, post_again, s);
	g_mutex_lock(&s->lock);
	s->status.corrects = true;
	g_mutex_unlock(&s->lock);
	set_preview(s, pv);
	preview_start(pv);
	run_source(s, source, false);
	if (s->options.preview)
		serve_looks(s);
	set_preview(s, NULL);
	preview_free(pv);
}

/* ---- what needs no model ---- */

static bool is_told(void *data, double progress, uint64_t n)
{
	struct shared *s = data;

	if (s->status.phase == JOB_OPENING)	/* nobody else sets it */
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

/* In pieces, so that memory's bounds hold in between. */
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

	do {
		made = maker->next(maker->self, &error);
		if (made) {
			n_events = made->n_events;
			newest = made->last_ns;
			post_made(s, made);
		}
	} while (made);
	if (!is_stopped(s) && !error)
		update_figures(s, 1, n_events, newest);
	set_warning(s, maker->warning(maker->self));
	set_phase(s, is_stopped(s) ? JOB_CANCELLED : error ? JOB_FAILED : JOB_DONE,
		  error && !is_stopped(s) ? error->message : NULL);
}

/* ---- the thread ---- */

static void tell_reader(struct shared *s, const struct job_trace *t)
{
	g_mutex_lock(&s->lock);
	s->status.reader = t->reader;
	s->status.warning = t->warning;
	g_mutex_unlock(&s->lock);
}

void *job_thread_main(void *shared)
{
	struct shared *s = shared;
	const struct watch watch = { is_told, s };
	struct job_trace t = { .watch = &watch };
	g_autoptr(GError) error = NULL;

	if (!s->open(s->data, &t, &error)) {
		set_phase(s, is_stopped(s) ? JOB_CANCELLED : JOB_FAILED,
			  error ? error->message : "the source can't be opened");
	} else {
		t.pieces.without_spans = s->options.without_spans;
		t.pieces.cells = s->options.model.cells;
		tell_reader(s, &t);
		set_source(s, t.source);	/* first: who sees the phase may cancel it */
		set_phase(s, JOB_LOADING, NULL);
		if (t.maker.self)
			run_maker(s, &t.maker);
		else if (t.source && t.pieces.ops)
			run_kept(s, t.source, &t.pieces);
		else if (t.source)
			run_source(s, t.source, false);
		else
			run_pieces(s, &t.pieces);
	}
	if (s->free_data)
		s->free_data(s->data);	/* before its source: see job.h */
	if (t.maker.self)
		t.maker.free(t.maker.self);
	source_free(t.source);		/* may hang as any call into a library */
	pieces_free(&t.pieces);
	g_mutex_lock(&s->lock);
	s->gone = true;
	g_cond_broadcast(&s->changed);
	g_mutex_unlock(&s->lock);
	shared_unref(s);
	return NULL;
}
