/* SPDX-License-Identifier: GPL-2.0-only */
/* Decides which waits were for locks, and counts them with what the holders did; see lock_cells.h. */
#include "state/publish/lock_cells.h"

#include "state/kernel/bin.h"
#include "state/kernel/locks.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/slice_state.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"

#define RETAINED_NS INT64_C(1000000)	/* releases are retained for as long: a wakeup may be noted late */

struct lock_name { uint64_t address; uint32_t process, host; };

struct lock_counter {
	GHashTable *released;	/* struct lock_name -> int64_t: when a lock was last released, of at most LIMIT_LOCKS */
};

static guint key_hash(gconstpointer p)
{
	const struct lock_name *k = p;
	uint64_t h = (k->address ^ pair(k->host, k->process)) * UINT64_C(0x9e3779b97f4a7c15);
	return (guint)(h >> 32);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct lock_name));
}

struct lock_counter *lock_counter_new(void)
{
	struct lock_counter *c = g_new0(struct lock_counter, 1);
	c->released = g_hash_table_new_full(key_hash, key_equal, g_free, g_free);
	return c;
}

void lock_counter_free(struct lock_counter *c)
{
	g_hash_table_unref(c->released);
	g_free(c);
}

/* ---- is it a wait for a lock? ---- */

enum decision { NOT_A_LOCK, IS_A_LOCK, UNDECIDED };

/* The holder of a lock, and what it did. */
struct holding {
	uint32_t holder;
	const struct vec *past;
};

static int by_wake(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct lock_wait *x = a, *y = b;
	return ORDER(x->wake, y->wake) ?: ORDER(x->wake_seq, y->wake_seq);
}

static int by_thread(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct lock_release *x = a, *y = b;
	return ORDER(x->thread, y->thread) ?: ORDER(x->end, y->end);
}

static void put_in_order(struct slice *s)
{
	ARRAY_EACH(struct lock_release, r, &s->locks.releases)
		r->thread = thread_follow(s, r->thread);
	vec_sort_many(&s->locks.waits, sizeof(struct lock_wait), by_wake, NULL);
	vec_sort_many(&s->locks.releases, sizeof(struct lock_release), by_thread, NULL);
}

/* The release by the thread that was under way at the instant; NULL: none is noted. */
static struct lock_release *release_at(const struct slice *s, uint32_t thread, int64_t at)
{
	const struct vec *all = &s->locks.releases;
	struct lock_release *each = all->data;
	size_t at_least = FIRST_INDEX(i, all->len, each[i].thread > thread ||
				      (each[i].thread == thread && each[i].end >= at));
	struct lock_release *r = at_least < all->len ? &each[at_least] : NULL;
	return r && r->thread == thread && r->begin != TS_NONE && r->begin <= at ? r : NULL;
}

/* Is the thread in a call that releases the futex, since that instant or before? */
static bool is_releasing(const struct thread *t, uint64_t futex, int64_t at)
{
	uint64_t address = 0;
	return t->st.call_state == CALL_IN && t->st.call.name && t->st.call.begin <= at &&
	       call_wakes_futex(&t->st.call, &address) && address == futex;
}

/* Is it known whether the thread calls exit at once after the release? */
static bool has_gone_on(const struct slice *s, const struct thread *t, int64_t release)
{
	return t->st.returned_ns > release || (t->st.call_state == CALL_IN && t->st.call.begin > release) ||
	       !release_is_end(release, s->last);
}

static enum decision decide_futex(const struct slice *s, const struct lock_wait *w, bool final, struct holding *ret)
{
	uint32_t waker = thread_follow(s, w->waker);
	if (waker == ID_NONE || thread_at(s, waker)->idle)
		return NOT_A_LOCK;
	const struct thread *t = thread_at(s, waker);
	const struct lock_release *r = release_at(s, waker, w->wake);
	*ret = (struct holding){ .holder = waker, .past = r ? &r->past : &t->past };
	if (!r && is_releasing(t, w->call.futex, w->wake))
		return final ? IS_A_LOCK : UNDECIDED;
	if (!r || !r->address || r->address != w->call.futex || r->ends)
		return NOT_A_LOCK;
	return final || has_gone_on(s, t, r->end) ? IS_A_LOCK : UNDECIDED;
}

/* Kernel threads hold no locks: they do it for others, as of a file of another machine. */
static enum decision decide_file(const struct slice *s, const struct names *n, const struct lock_wait *w, bool final,
				 struct holding *ret)
{
	const struct thread *t = thread_at(s, w->thread);
	uint32_t waker = thread_follow(s, w->waker);
	bool open = t->st.call_state == CALL_IN && t->st.call.seq == w->call.seq;
	bool dropped = time_floor(w->wake, s->step) / s->step < s->retained_from;	/* its second */
	bool known = waker != ID_NONE && !thread_at(s, waker)->idle && !names_is_kernel(n, waker);
	struct lock_release *r = known ? release_at(s, waker, w->wake) : NULL;
	*ret = (struct holding){ .holder = known ? waker : ID_NONE,
				 .past = r ? &r->past : known ? &thread_at(s, waker)->past : NULL };
	if (w->got || w->failed || final || !open || dropped)
		return w->got ? IS_A_LOCK : NOT_A_LOCK;
	if (r)
		r->needed = true;
	return UNDECIDED;
}

static enum decision decide(const struct slice *s, const struct names *n, const struct lock_wait *w, bool final,
			    struct holding *ret)
{
	if (w->kind == LOCK_NONE || w->in_initial_call || w->in_restart)
		return NOT_A_LOCK;
	return w->kind == LOCK_FUTEX ? decide_futex(s, w, final, ret) : decide_file(s, n, w, final, ret);
}

/* ---- counting ---- */

struct lock_counting {		/* one wait */
	struct slice *s;
	struct bin *bin;
	struct built_lock_key key;
	int64_t from, to;	/* ns: when the holder is known to have had the lock */
	int64_t left_ns;	/* of that time, what is not counted yet: the holder ran */
};

static struct built_lock_cell *cell_of(const struct lock_counting *c, const struct built_lock_key *key)
{
	return bin_cell(c->s, c->bin, CELL_lock, key, sizeof *key, sizeof(struct built_lock_cell));
}

static void add_part(struct lock_counting *c, enum part part, int64_t begin, int64_t end)
{
	int64_t ns = MIN(end, c->to) - MAX(begin, c->from);
	if (ns <= 0)
		return;
	cell_of(c, &c->key)->part[part] += ns;
	c->left_ns -= ns;
}

static void add_on_file(struct lock_counting *c, const struct past_wait *w)
{
	int64_t ns = MIN(w->wake, c->to) - MAX(w->begin, c->from);
	struct built_lock_key key = c->key;
	if (ns <= 0)
		return;
	key.held_fd = w->fd;
	key.held_seq = w->seq;
	cell_of(c, &key)->blocked_ns += ns;
	c->left_ns -= ns;
}

/* What it did before its newest waits is unknown. */
static void add_past(struct lock_counting *c, const struct vec *past)
{
	uint32_t n = 0;
	for (uint32_t i = past->len; i > 0; i--) {
		const struct past_wait *w = vec_at(past, struct past_wait, i - 1);
		if (w->begin >= c->to)
			continue;
		if (w->end <= c->from)
			return;
		if (n++ == LIMIT_HOLDER_WAITS) {
			add_part(c, PART_UNKNOWN, c->from, w->end);
			return;
		}
		if (w->cause == WAIT_FD)
			add_on_file(c, w);
		else
			add_part(c, w->cause == WAIT_PART ? (enum part)w->part : PART_OTHER, w->begin, w->wake);
		add_part(c, PART_WAKEUP, w->wake, w->end);
	}
}

static void add_holder(struct lock_counting *c, const struct holding *h)
{
	const struct thread *t = h->holder == ID_NONE ? NULL : thread_at(c->s, h->holder);
	int64_t lost;
	c->left_ns = c->to - c->from;
	if (!t || slice_lost_between(c->s, t->host, c->from, c->to, &lost)) {
		add_part(c, PART_UNKNOWN, c->from, c->to);
		return;
	}
	if (t->known_from == TS_NONE || t->known_from > c->from) {
		int64_t known = t->known_from == TS_NONE ? c->to : MIN(t->known_from, c->to);
		add_part(c, PART_UNKNOWN, c->from, known);
		c->from = known;
	}
	add_past(c, h->past);
	if (c->left_ns > 0)
		cell_of(c, &c->key)->ran_ns += c->left_ns;
}

/* When the lock was released before; it is released at that time (ns) now. */
static int64_t released_before(struct lock_counter *c, const struct slice *s, const struct names *n,
			       const struct lock_wait *w)
{
	struct lock_name key = { w->call.futex, names_process(n, w->thread), thread_at(s, w->thread)->host };
	int64_t *at = g_hash_table_lookup(c->released, &key), before = at ? *at : INT64_MIN;
	if (at) {
		*at = w->wake;
		return before;
	}
	if (g_hash_table_size(c->released) >= LIMIT_LOCKS)
		g_hash_table_remove_all(c->released);
	g_hash_table_insert(c->released, g_memdup2(&key, sizeof key), g_memdup2(&w->wake, sizeof w->wake));
	return before;
}

static void count(struct lock_counter *c, struct slice *s, const struct names *n, const struct lock_wait *w,
		  const struct holding *h)
{
	bool futex = w->kind == LOCK_FUTEX;
	int64_t before = futex ? released_before(c, s, n, w) : INT64_MIN;
	struct lock_counting x = {
		.s = s, .bin = slice_bin(s, w->wake), .from = MAX(w->begin, before), .to = w->wake,
		.key = { .thread = thread_follow(s, w->thread), .holder = h->holder, .kind = w->kind, .held_fd = -1,
			 .fd = futex ? -1 : w->call.fd, .seq = futex ? 0 : w->call.seq,
			 .address = futex ? w->call.futex : 0 },
	};
	const struct cell_table *table = &x.bin->table[CELL_lock];
	bool full = table->n >= LIMIT_SECOND_LOCKS && !cell_table_find(table, built_layout(CELL_lock), &x.key);
	if (full)
		x.key = (struct built_lock_key){ .thread = x.key.thread, .holder = ID_NONE, .kind = LOCK_LEFT_OUT,
						 .fd = -1, .held_fd = -1 };
	struct built_lock_cell *cell = cell_of(&x, &x.key);
	int64_t ns = w->wake - w->begin;
	cell->waits++;
	cell->total_ns += ns;
	cell->earlier_ns += x.from - w->begin;
	if (ns > cell->max_ns || (ns == cell->max_ns && w->begin < cell->longest_at_ns))
		cell->longest_at_ns = w->begin;
	cell->max_ns = MAX(cell->max_ns, ns);
	if (full)
		add_part(&x, PART_UNKNOWN, x.from, x.to);
	else
		add_holder(&x, h);
}

/* Drops releases that no wait from that instant on needs, and no undecided one for a file's lock. */
static void forget_releases(struct slice *s, int64_t needed)
{
	struct vec *all = &s->locks.releases;
	uint32_t left = 0;
	needed = MIN(needed, s->last - RETAINED_NS);
	ARRAY_EACH(struct lock_release, r, all) {
		bool retained = r->end >= needed || r->needed;
		r->needed = false;
		if (retained)
			*vec_at(all, struct lock_release, left++) = *r;
		else
			vec_free(&r->past);
	}
	all->len = left;
}

void lock_counter_add(struct lock_counter *c, struct slice *s, const struct names *n, bool final)
{
	struct vec *waits = &s->locks.waits;
	int64_t held_from = INT64_MAX;		/* the first wait for a futex that is not decided, and later ones */
	uint32_t left = 0;
	if (!slice_counts_locks(s) || (!waits->len && !s->locks.releases.len))
		return;
	put_in_order(s);
	ARRAY_EACH(const struct lock_wait, w, waits) {
		bool futex = w->kind == LOCK_FUTEX;
		struct holding h;
		enum decision d = futex && held_from != INT64_MAX ? UNDECIDED : decide(s, n, w, final, &h);
		g_assert(d != UNDECIDED || !final);
		if (d == UNDECIDED && futex)
			held_from = MIN(held_from, w->wake);
		if (d == UNDECIDED)
			*vec_at(waits, struct lock_wait, left++) = *w;
		else if (d == IS_A_LOCK)
			count(c, s, n, w, &h);
	}
	waits->len = left;
	forget_releases(s, held_from);
}
