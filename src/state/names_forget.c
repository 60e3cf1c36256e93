/* SPDX-License-Identifier: GPL-2.0-only */
/* Versions of descriptors that nobody can ask for any more, for runs without end. */
#include "state/names_private.h"

static int seq_order(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

#define OVER_AFTER_NS (60 * INT64_C(1000000000))	/* facts may come late */

/* Descriptors of processes that are over, which nothing was copied from and nobody asks for. */
static void forget_dead(struct names *n, const GArray *asked)
{
	for (guint i = 0; i < n->tables->len; i++) {
		const struct life *l = &g_array_index(n->lives, struct life, i);
		int64_t exit_ns = g_array_index(n->processes, struct process_info, i).exit_ns;
		if (exit_ns != TIME_UNKNOWN && exit_ns < n->s->last - OVER_AFTER_NS)
			fdtable_forget_ended(g_ptr_array_index(n->tables, i), asked, l->last_seq);
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
	g_array_sort(asked, seq_order);
	fdtable_note_forks(n->all_tables);
	forget_dead(n, asked);
	fdtable_forget(n->all_tables, asked, seq);
}
