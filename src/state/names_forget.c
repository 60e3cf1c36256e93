/* SPDX-License-Identifier: GPL-2.0-only */
/* Versions of descriptors that nobody can ask for any more, for runs without end. */
#include "state/names_private.h"

static int seq_order(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* What copies of the table ask for: how it was when they were made. */
static void note_forks(struct names *n)
{
	for (guint i = 0; i < n->all_tables->len; i++) {
		const struct table *t = g_ptr_array_index(n->all_tables, i);
		struct table *parent = t->merged ? NULL : table_real(t->parent);
		if (!parent)
			continue;
		if (!parent->forks)
			parent->forks = g_array_new(false, false, sizeof(uint64_t));
		g_array_append_val(parent->forks, t->parent_seq);
	}
}

/* Is one of the (sorted) instants in [from, to)? */
static bool any_between(const GArray *instants, uint64_t from, uint64_t to)
{
	guint lo = 0, hi = instants ? instants->len : 0, n = hi;

	while (lo < hi) {
		guint mid = (lo + hi) / 2;
		if (g_array_index(instants, uint64_t, mid) < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && g_array_index(instants, uint64_t, lo) < to;
}

/* A version is asked for from its own instant up to the next one's. */
static void forget_versions(GArray *list, const GArray *forks, const GArray *asked, uint64_t seq)
{
	guint kept = 0;

	for (guint i = 0; i < list->len; i++) {
		struct version v = g_array_index(list, struct version, i);
		uint64_t next = i + 1 < list->len ? g_array_index(list, struct version, i + 1).seq
						  : UINT64_MAX;
		bool first = i == 0 && v.dumped;	/* tells of all that was before it, too */
		if (next > seq || first || any_between(asked, v.seq, next) ||
		    any_between(forks, v.seq, next))
			g_array_index(list, struct version, kept++) = v;
	}
	g_array_set_size(list, kept);
}

#define OVER_AFTER_NS (60 * INT64_C(1000000000))	/* facts may come late */

/* Descriptors of processes that are over, which nothing was copied from and nobody asks for. */
static void forget_dead(struct names *n, const GArray *asked)
{
	for (guint i = 0; i < n->tables->len; i++) {
		const struct life *l = &g_array_index(n->lives, struct life, i);
		struct table *t = table_real(g_ptr_array_index(n->tables, i));
		int64_t exit_ns = g_array_index(n->processes, struct process_info, i).exit_ns;
		if (exit_ns == TIME_UNKNOWN || exit_ns >= n->s->last - OVER_AFTER_NS || !t || t->forks ||
		    !(t->lists->len || t->parent) || any_between(asked, t->parent_seq, l->last_seq + 1))
			continue;
		intmap_clear(&t->fds);
		g_ptr_array_set_size(t->lists, 0);
		g_array_set_size(t->execs, 0);
		t->parent = NULL;
	}
}

void names_forget_thread(struct names *n, const struct thread *t)
{
	uint64_t key = pair(t->host, (uint32_t)t->tid);
	gpointer *person = t->self < n->persons->len ? &g_ptr_array_index(n->persons, t->self) : NULL;
	if (intmap_get(&n->tid_last, key) == t->self)
		intmap_remove(&n->tid_last, key);
	for (guint i = t->tid == -1 ? n->anonymous->len : 0; i > 0; i--)
		if (g_array_index(n->anonymous, uint32_t, i - 1) == t->self)
			g_array_remove_index_fast(n->anonymous, i - 1);
	if (person)
		person_free(g_steal_pointer(person));
	memset(n->seen, 0, sizeof n->seen);
}

#define FORGET_EVERY 16384	/* facts */

bool names_may_forget(const struct names *n)
{
	return n->n_facts >= FORGET_EVERY;
}

void names_forget(struct names *n, GArray *asked)
{
	uint64_t seq = n->s->seq;

	n->n_facts = 0;
	memset(n->seen, 0, sizeof n->seen);
	note_forks(n);
	g_array_sort(asked, seq_order);
	forget_dead(n, asked);
	for (guint i = 0; i < n->all_tables->len; i++) {
		struct table *t = g_ptr_array_index(n->all_tables, i);
		if (t->forks)
			g_array_sort(t->forks, seq_order);
		for (guint k = 0; k < t->lists->len; k++)
			forget_versions(g_ptr_array_index(t->lists, k), t->forks, asked, seq);
		g_clear_pointer(&t->forks, g_array_unref);
	}
}
