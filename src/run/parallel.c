/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads pieces on worker threads: see parallel.h. The list of pieces is under the mutex. A worker owns what it reads
 * until its piece is done.
 */
#include "run/parallel.h"

#include "base/limits.h"
#include "base/timefmt.h"
#include "run/worker.h"
#include "state/slice/slice.h"

#define BUFFERS (6 << 20)		/* bytes, of all sources together */
#define LEAST_BUFFERS (64 << 10)	/* bytes, of one source */

/*
 * Sizes of pieces, in bytes of the trace. Each piece costs a merge, and packets that two pieces share are decoded by
 * both. So pieces are large while much is left, and get smaller towards the end, so that all threads end together.
 */
#define PIECE_BYTES (96 << 20)
#define LEAST_PIECE (16 << 20)
#define LEAST_PARALLEL (32 << 20)	/* of a whole trace: one thread reads a smaller one as fast, in less CPU time */
#define PIECES_A_THREAD 2	/* what is left is divided into this many for each thread */
/* SECOND_BYTES: estimated memory of a second in a slice, for long traces with few events. THREAD_BYTES: least bytes of
 * the trace for each thread. */
#define SECOND_BYTES (128 << 10)
#define LEAST_BYTES (4 << 10)	/* of a slice: a wrong clock can spread a few packets over years */
#define THREAD_BYTES (8 << 20)

#define SPANS_SHARE 32	/* annotations take four times their bytes in the trace */

struct range_read {
	int64_t from, to;
	uint64_t bytes;
	bool done;			/* .slice and .error are set */
	double progress;
	size_t span_bytes;		/* of spans in .slice, estimated */
	struct slice *slice;
	GError *error;
};

struct parallel {
	const struct pieces *pieces;	/* borrowed */
	struct parallel_plan plan;
	gint stop;			/* atomic */
	unsigned n;
	uint64_t bytes;
	unsigned ahead;			/* most pieces that may be started beyond the next one to take */
	GPtrArray *workers;		/* GThread * */

	GMutex lock;			/* what follows */
	GCond changed;
	struct range_read *piece;
	unsigned begun, taken;
	uint64_t n_events;
};

/* ---- the plan ---- */

static void choose_slices(struct parallel_plan *plan, uint64_t bytes, size_t memory, bool spans)
{
	uint64_t piece = PIECE_BYTES, unit = LEAST_PIECE;
	unsigned in_flight = plan->threads + 2;

	plan->slices = 1;
	if (plan->threads == 1)
		return;
	if (memory)		/* a slice takes up to half of its bytes in the trace */
		piece = MIN(piece, MAX(LEAST_PIECE, memory / in_flight * 2));
	if (memory && spans)
		unit = piece = MIN(piece, MAX(LEAST_PIECE / 16, memory / SPANS_SHARE / in_flight));
	plan->slices = (unsigned)CLAMP((bytes + unit / 2) / unit, 1, LIMIT_SLICES);
	plan->most = (unsigned)(piece / unit);
}

/* Bounds the time of a slice, too. */
static void bound_by_time(struct parallel_plan *plan, const struct pieces *p, uint64_t bytes, size_t memory)
{
	int64_t from, to, most = (int64_t)(memory / (plan->threads + 2) / SECOND_BYTES) * NS_PER_S;

	if (!memory || plan->threads == 1 || !pieces_bounds(p, &from, &to) || from >= to)
		return;
	plan->most_ns = MAX(most, NS_PER_S);
	int64_t by_bytes = (int64_t)MIN(bytes / LEAST_BYTES + 1, LIMIT_SLICES);
	unsigned before = plan->slices;
	plan->slices = (unsigned)CLAMP((to - from + most - 1) / plan->most_ns, before, MAX(by_bytes, before));
	/* Slices are so much smaller now: as many more are read as one, or weeks without packets would cost as many. */
	plan->most *= plan->slices / before;
}

struct parallel_plan parallel_choose(const struct pieces *p, unsigned threads, unsigned slices,
				     size_t memory)
{
	struct parallel_plan plan = { .threads = threads, .slices = slices };
	uint64_t bytes = p->ops->bytes_between(p->native, INT64_MIN, INT64_MAX);

	if (!plan.threads)
		plan.threads = bytes < LEAST_PARALLEL && !slices ? 1 : g_get_num_processors();
	if (!threads && memory)
		plan.threads = MIN(plan.threads, MAX(1, memory / THREAD_BYTES));
	plan.threads = CLAMP(plan.threads, 1, LIMIT_THREADS);
	if (!plan.slices) {
		choose_slices(&plan, bytes, memory, !pieces_are_without_spans(p));
		bound_by_time(&plan, p, bytes, memory);
	}
	plan.slices = MIN(plan.slices, LIMIT_SLICES);
	plan.threads = MIN(plan.threads, plan.slices);
	return plan;
}

size_t parallel_buffers(unsigned n_sources)
{
	return MAX(LEAST_BUFFERS, BUFFERS / MAX(1, n_sources));
}

/* Removes cuts within one piece; returns the number of remaining cuts. */
static size_t join_slices(const struct parallel_plan *plan, int64_t from, int64_t *cuts, size_t n_cuts)
{
	size_t at = 0, n_left = 0, n = n_cuts + 1;

	while (at < n) {
		size_t take = 1, most = CLAMP((n - at) / plan->threads / PIECES_A_THREAD, 1, MAX(1, plan->most));
		while (take < most &&
		       (!plan->most_ns || at + take >= n_cuts || cuts[at + take] - from <= plan->most_ns))
			take++;
		at += take;
		if (at < n)
			from = cuts[n_left++] = cuts[at - 1];
	}
	return n_left;
}

static void cut(struct parallel *p)
{
	const struct pieces *t = p->pieces;
	size_t n_cuts = 0;
	g_autofree int64_t *cuts = g_new(int64_t, p->plan.slices + 1);
	int64_t from, to;

	if (p->plan.slices > 1 && pieces_bounds(t, &from, &to))
		n_cuts = join_slices(&p->plan, from, cuts,
				     t->ops->cuts(t->native, from, to, p->plan.slices, cuts));
	p->n = (unsigned)n_cuts + 1;
	p->piece = g_new0(struct range_read, p->n);
	for (unsigned i = 0; i < p->n; i++) {
		struct range_read *x = &p->piece[i];
		x->from = i ? cuts[i - 1] : INT64_MIN;
		x->to = i + 1 < p->n ? cuts[i] : INT64_MAX;
		g_assert(x->from < x->to);
		x->bytes = t->ops->bytes_between(t->native, x->from, x->to);
		p->bytes += x->bytes;
	}
}

/* ---- the workers ---- */

/* Takes the next piece to read: its number, or -1. */
static int begin_piece(struct parallel *p)
{
	int i = -1;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	g_assert(p->taken <= p->begun && p->begun <= p->n);
	while (!g_atomic_int_get(&p->stop) && p->begun < p->n && p->begun >= p->taken + p->ahead)
		g_cond_wait(&p->changed, &p->lock);
	if (!g_atomic_int_get(&p->stop) && p->begun < p->n)
		i = (int)p->begun++;
	return i;
}

static void report_progress(struct parallel *p, struct range_read *x, const struct slice *s,
			  double progress, uint64_t new_events)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	if (progress >= 0)
		x->progress = progress;
	x->span_bytes = slice_span_bytes(s);
	p->n_events += new_events;
}

#define REPORT_EVERY 64		/* batches */

static enum source_status read_piece(struct parallel *p, struct range_read *x, struct slice *s,
				     struct source *source, GError **error)
{
	enum source_status st = SOURCE_CANCELLED;
	struct blk_batch batch;
	uint64_t counted = 0;

	for (unsigned i = 1; !g_atomic_int_get(&p->stop); i++) {
		st = source_next(source, &batch, error);
		if (st != SOURCE_OK)
			break;
		slice_feed(s, &source->tables, batch.ev, batch.n);
		if (i % REPORT_EVERY)
			continue;
		report_progress(p, x, s, source_progress(source), slice_n_events(s) - counted);
		counted = slice_n_events(s);
	}
	report_progress(p, x, s, 1, slice_n_events(s) - counted);
	return st;
}

static void finish_piece(struct parallel *p, struct range_read *x, struct slice *s, enum source_status st,
			 GError *error)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	x->slice = s;
	x->error = error;
	if (st == SOURCE_ERROR && !error)
		x->error = g_error_new_literal(BLK_TRACE_ERROR, BLK_TRACE_ERROR_INTERNAL,
					       "reading failed");
	x->done = st == SOURCE_END || st == SOURCE_ERROR;	/* otherwise it was stopped before its end */
	g_cond_broadcast(&p->changed);
}

static void do_piece(struct parallel *p, unsigned i)
{
	struct range_read *x = &p->piece[i];
	g_assert(!x->done && !x->slice);
	GError *error = NULL;
	struct source *source = p->pieces->ops->range(p->pieces->native, x->from, x->to,
						     parallel_buffers(p->plan.threads));
	source_stop_by(source, &p->stop);
	struct slice *s = pieces_begin_slice(p->pieces, source, i == 0, p->plan.step_ns);

	enum source_status st = read_piece(p, x, s, source, &error);
	source_free(source);
	finish_piece(p, x, s, st, error);
}

static void *worker_main(void *data)
{
	struct parallel *p = data;

	if (p->plan.background)
		worker_background();
	for (int i; (i = begin_piece(p)) >= 0;)
		do_piece(p, (unsigned)i);
	return NULL;
}

/* ---- the caller's side ---- */

struct parallel *parallel_start(const struct pieces *pieces, const struct parallel_plan *plan)
{
	struct parallel *p = g_new0(struct parallel, 1);

	p->pieces = pieces;
	p->plan = *plan;
	g_mutex_init(&p->lock);
	g_cond_init(&p->changed);
	cut(p);
	g_assert(p->n);
	unsigned n = CLAMP(plan->threads, 1, p->n);
	p->ahead = n + MAX(1, n / 2);
	p->workers = g_ptr_array_new();
	for (unsigned i = 0; i < n; i++)
		g_ptr_array_add(p->workers, worker_new("blk-slice", worker_main, p));
	return p;
}

void parallel_stop(struct parallel *p)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	g_atomic_int_set(&p->stop, 1);
	g_cond_broadcast(&p->changed);
}

void parallel_free(struct parallel *p)
{
	if (!p)
		return;
	parallel_stop(p);
	for (guint i = 0; i < p->workers->len; i++)
		g_thread_join(g_ptr_array_index(p->workers, i));
	g_ptr_array_unref(p->workers);
	for (unsigned i = 0; i < p->n; i++) {
		slice_free(p->piece[i].slice);
		g_clear_error(&p->piece[i].error);
	}
	g_free(p->piece);
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->changed);
	g_free(p);
}

/* Lock held. */
static enum parallel_status take(struct parallel *p, struct slice **ret, GError **error)
{
	struct range_read *x = &p->piece[p->taken];

	g_assert(p->taken < p->begun && x->done && x->slice);
	*ret = g_steal_pointer(&x->slice);
	p->taken++;
	g_cond_broadcast(&p->changed);
	if (!x->error)
		return PARALLEL_SLICE;
	g_propagate_error(error, g_steal_pointer(&x->error));
	return PARALLEL_ERROR;
}

enum parallel_status parallel_next(struct parallel *p, struct slice **ret, int64_t until_us,
				   GError **error)
{
	enum parallel_status st = PARALLEL_LATER;

	*ret = NULL;
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	for (;;) {
		if (g_atomic_int_get(&p->stop))
			st = PARALLEL_STOPPED;
		else if (p->taken == p->n)
			st = PARALLEL_END;
		else if (p->piece[p->taken].done)
			st = take(p, ret, error);
		else if (g_cond_wait_until(&p->changed, &p->lock, until_us))
			continue;
		break;
	}
	return st;
}

/* ---- figures ---- */

unsigned parallel_n_slices(const struct parallel *p)
{
	return p->n;
}

unsigned parallel_n_done(const struct parallel *p)
{
	return p->taken;
}

double parallel_progress(struct parallel *p)
{
	double done = 0;

	g_mutex_lock(&p->lock);
	for (unsigned i = 0; i < p->begun; i++)
		done += p->piece[i].progress * (double)p->piece[i].bytes;
	g_mutex_unlock(&p->lock);
	return p->bytes ? MIN(done / (double)p->bytes, 1) : -1;
}

uint64_t parallel_n_events(struct parallel *p)
{
	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	return p->n_events;
}

size_t parallel_span_bytes(struct parallel *p)
{
	size_t sum = 0;

	G_GNUC_UNUSED g_autoptr(GMutexLocker) locked = g_mutex_locker_new(&p->lock);
	for (unsigned i = p->taken; i < p->begun; i++)
		sum += p->piece[i].span_bytes;
	return sum;
}
