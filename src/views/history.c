/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lookups over all retained spans: see history.h.
 */
#include "views/history.h"

#include "base/each.h"
#include "base/sort.h"
#include "views/usual.h"

/* ---- medians of operations ---- */

const struct operation_info *history_operation(const struct history *h, const struct span *s)
{
	return timeline_operation(h->tl, s);
}

int64_t history_usual(const struct history *h, const struct span *s)
{
	const struct operation_info *op = history_operation(h, s);
	return op ? op->p25 : -1;
}

double history_x_usual(const struct history *h, const struct span *s)
{
	int64_t usual = history_usual(h, s);
	return usual > 0 && s->state != SPAN_PARTIAL ? (double)span_duration(s) / usual : -1;
}

/*
 * ---- by thread ----
 *
 * All spans grouped by thread. The spans of a thread are sorted at the first lookup for it. So the index costs one
 * pass over the spans, and a lookup sorts only one group. Threads whose ids are outside the timeline's dense range
 * share one group.
 */

struct thread_span {
	int64_t begin_ns, end_ns;
	int64_t max_end;		/* greatest end of this and the preceding spans of the thread */
	const struct span *span;
};

struct thread_index {
	struct thread_span *list;
	size_t *from;			/* by thread: index of its first span; one entry more than threads */
	bool *sorted;			/* by thread */
	uint32_t n;			/* threads, and the shared group */
};

static uint32_t place_of(const struct thread_index *x, uint32_t thread)
{
	return thread % x->n;
}

static void thread_index_free(struct thread_index *x)
{
	if (!x)
		return;
	g_free(x->list);
	g_free(x->from);
	g_free(x->sorted);
	g_free(x);
}

static struct thread_index *thread_index_new(const struct timeline *tl)
{
	struct thread_index *x = g_new0(struct thread_index, 1);
	size_t n = timeline_n_spans(tl);
	x->n = (uint32_t)MIN(n, UINT32_MAX / 2) + 1;
	x->from = g_new0(size_t, x->n + 1);
	x->sorted = g_new0(bool, x->n);
	for (size_t i = 0; i < n; i++) {
		uint32_t thread = timeline_span(tl, i)->thread;
		if (thread != ID_NONE)
			x->from[place_of(x, thread) + 1]++;
	}
	for (uint32_t t = 0; t < x->n; t++)
		x->from[t + 1] += x->from[t];
	x->list = g_new(struct thread_span, x->from[x->n] + 1);
	g_autofree size_t *next = g_memdup2(x->from, (x->n + 1) * sizeof(*next));
	for (size_t i = 0; i < n; i++) {
		const struct span *s = timeline_span(tl, i);
		if (s->thread != ID_NONE)
			x->list[next[place_of(x, s->thread)]++] = (struct thread_span){
				.begin_ns = s->begin_ns, .end_ns = s->end_ns, .span = s };
	}
	return x;
}

/* By beginning; the longer span first. */
static int compare_spans(const void *va, const void *vb)
{
	const struct thread_span *a = va, *b = vb;
	return ORDER(a->begin_ns, b->begin_ns) ?: ORDER(b->end_ns, a->end_ns);
}

/* The sorted spans of the thread's group. Valid for this version of the timeline. */
static struct thread_span *spans_of_thread(struct history *h, uint32_t thread, size_t *ret_n)
{
	if (h->threads && h->version != timeline_facts(h->tl)->version)
		thread_index_free(g_steal_pointer(&h->threads));
	if (!h->threads)
		h->threads = thread_index_new(h->tl);
	h->version = timeline_facts(h->tl)->version;
	struct thread_index *x = h->threads;
	uint32_t place = place_of(x, thread);
	struct thread_span *of = &x->list[x->from[place]];
	*ret_n = x->from[place + 1] - x->from[place];
	if (!x->sorted[place]) {
		qsort(of, *ret_n, sizeof(*of), compare_spans);
		for (size_t i = 0; i < *ret_n; i++)
			of[i].max_end = i ? MAX(of[i].end_ns, of[i - 1].max_end) : of[i].end_ns;
	}
	x->sorted[place] = true;
	return of;
}

/* The number of spans that begin before `at`. */
static size_t count_before(const struct thread_span *of, size_t n, int64_t at)
{
	return FIRST_INDEX(i, n, of[i].begin_ns >= at);
}

void history_spans_of(struct history *h, uint32_t thread, int64_t from, int64_t to,
		      history_visit visit, void *data)
{
	size_t n;
	if (thread == ID_NONE)
		return;
	const struct thread_span *of = spans_of_thread(h, thread, &n);
	for (size_t i = count_before(of, n, to); i-- > 0;) {
		if (of[i].max_end <= from)
			return;
		if (of[i].end_ns > from && of[i].span->thread == thread)
			visit(of[i].span, data);
	}
}

static void keep_first(const struct span *s, void *data)
{
	const struct span **first = data;
	if (!*first)
		*first = s;
}

const struct span *history_span_at(struct history *h, uint32_t thread, int64_t at)
{
	const struct span *found = NULL;
	history_spans_of(h, thread, at, at + 1, keep_first, &found);
	return found;
}

struct shared_work { uint64_t trace_id; bool any, same; };

static void note_work(const struct span *s, void *data)
{
	struct shared_work *work = data;
	work->any = true;
	work->same |= s->trace_id == work->trace_id;
}

bool history_works_for(struct history *h, const struct span *s, uint32_t thread, int64_t from, int64_t to)
{
	struct shared_work work = { .trace_id = s->trace_id };
	if (thread == ID_NONE)
		return false;
	history_spans_of(h, thread, from, to, note_work, &work);
	if (work.any)
		return work.same;
	for (uint32_t i = 0; i < s->n_waits; i++) {
		const struct span_wait *w = &s->waits[i];
		if (w->waker == thread && (w->part == PART_SOCKET || w->part == PART_PIPE))
			return true;
	}
	return false;
}

/* ---- locks ---- */

/* A wait for a lock. A lock is a futex of a process. */
struct past_lock_wait {
	uint32_t process, thread, waker;
	uint64_t lock;
	int64_t begin_ns, wake_ns;
};

/* All retained waits for locks: once by lock and beginning, once by waker. */
struct lock_waits {
	uint64_t version;
	GArray *by_lock, *by_waker;	/* struct past_lock_wait */
};

static int compare_locks(const void *va, const void *vb)
{
	const struct past_lock_wait *a = va, *b = vb;
	return ORDER(a->process, b->process) ?: ORDER(a->lock, b->lock) ?: ORDER(a->begin_ns, b->begin_ns);
}

static int compare_wakers(const void *va, const void *vb)
{
	const struct past_lock_wait *a = va, *b = vb;
	return ORDER(a->waker, b->waker);
}

static void lock_waits_free(struct lock_waits *l)
{
	if (!l)
		return;
	g_array_unref(l->by_lock);
	g_array_unref(l->by_waker);
	g_free(l);
}

static struct lock_waits *lock_waits_new(const struct timeline *tl)
{
	struct lock_waits *l = g_new0(struct lock_waits, 1);
	l->version = timeline_facts(tl)->version;
	l->by_lock = g_array_new(FALSE, FALSE, sizeof(struct past_lock_wait));
	for (size_t i = 0; i < timeline_n_spans(tl); i++) {
		const struct span *s = timeline_span(tl, i);
		for (uint32_t k = 0; k < s->n_waits; k++) {
			const struct span_wait *w = &s->waits[k];
			const struct thread_info *t = w->lock ? timeline_thread(tl, w->thread) : NULL;
			struct past_lock_wait x = { t ? t->process : ID_NONE, w->thread, w->waker, w->arg,
					       w->begin_ns, w->wake_ns };
			if (t)
				g_array_append_val(l->by_lock, x);
		}
	}
	l->by_waker = g_array_copy(l->by_lock);
	g_array_sort(l->by_lock, compare_locks);
	g_array_sort(l->by_waker, compare_wakers);
	return l;
}

/* The first entry that is not before `x`. */
static guint first_lock(const GArray *list, const struct past_lock_wait *x, int (*compare)(const void *, const void *))
{
	return (guint)FIRST_INDEX(i, list->len, compare(&g_array_index(list, struct past_lock_wait, i), x) >= 0);
}

/* Adds the threads that waited for the lock before the release and after `from`. Waits of other spans on the same
 * thread are the same wait. */
static void add_waiting(const struct lock_waits *l, const struct past_lock_wait *released, uint32_t holder,
			int64_t from, GHashTable *threads)
{
	struct past_lock_wait first = { .process = released->process, .lock = released->lock, .begin_ns = INT64_MIN };
	for (guint i = first_lock(l->by_lock, &first, compare_locks); i < l->by_lock->len; i++) {
		const struct past_lock_wait *x = &g_array_index(l->by_lock, struct past_lock_wait, i);
		if (x->process != first.process || x->lock != first.lock || x->begin_ns >= released->wake_ns)
			return;
		if (x->wake_ns > from && x->thread != holder)
			g_hash_table_add(threads, GUINT_TO_POINTER(x->thread));
	}
}

unsigned history_held_up(struct history *h, uint32_t thread, int64_t from, int64_t to)
{
	g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);
	struct past_lock_wait first = { .waker = thread };
	if (h->locks && h->locks->version != timeline_facts(h->tl)->version)
		lock_waits_free(g_steal_pointer(&h->locks));
	if (!h->locks)
		h->locks = lock_waits_new(h->tl);
	const GArray *list = h->locks->by_waker;
	for (guint i = first_lock(list, &first, compare_wakers); i < list->len; i++) {
		const struct past_lock_wait *x = &g_array_index(list, struct past_lock_wait, i);
		if (x->waker != thread)
			break;
		if (x->begin_ns < to && x->wake_ns >= to)
			add_waiting(h->locks, x, thread, from, threads);
	}
	return g_hash_table_size(threads);
}

/* ---- life ---- */

/* The two histories used last. A screen builds several views of one version, and shows a preview beside the
 * timeline. */
static struct history *latest[2];

struct history *history_new(const struct timeline *tl)
{
	uint64_t serial = timeline_facts(tl)->serial;
	if (latest[1] && latest[1]->serial == serial) {
		struct history *h = latest[0];
		latest[0] = latest[1];
		latest[1] = h;
	}
	if (!latest[0] || latest[0]->serial != serial) {
		history_free(latest[1]);
		latest[1] = latest[0];
		latest[0] = g_new0(struct history, 1);
		*latest[0] = (struct history){ .tl = tl, .serial = serial, .refs = 1 };
	}
	latest[0]->refs++;
	return latest[0];
}

void history_free(struct history *h)
{
	if (!h || --h->refs)
		return;
	thread_index_free(h->threads);
	lock_waits_free(h->locks);
	usuals_free(h->usuals);
	usuals_free(h->usual_traces);
	g_free(h);
}
