/* SPDX-License-Identifier: GPL-2.0-only */
/* Versions of descriptors that nobody can ask for any more, for runs without end. */
#include "state/names/names_private.h"
#include "state/slice/slice_state.h"

static int seq_order(gconstpointer a, gconstpointer b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

#define OVER_AFTER_NS (60 * INT64_C(1000000000))	/* facts may come late */

/* Descriptors of processes that are over, which nothing was copied from and nobody asks for. */
static void forget_dead(struct names *n, const GArray *asked)
{
	PAGES_EACH(&n->processes, i) {
		const struct process *p = names_process_at(n, i);
		if (p->info.exit_ns != TIME_UNKNOWN && p->info.exit_ns < n->s->last - OVER_AFTER_NS)
			fdtable_forget_ended(p->table, asked, p->lifetime.last_seq);
	}
}

/* Returns its id in the publisher's registry. */
static uint32_t forget_process(struct names *n, uint32_t process)
{
	const struct process *p = names_process_at(n, process);
	uint64_t key = pair(p->info.host, (uint32_t)p->info.pid);
	uint32_t id = p->id;

	if (intmap_get(&n->pid_last, key) == process)
		intmap_remove(&n->pid_last, key);
	fdtable_disown(p->table);
	pages_drop(&n->processes, process);
	return id;
}

static uint32_t forget_identity(struct names *n, const struct thread_identity *thread_identity, uint32_t thread)
{
	struct process *p = thread_identity->process == ID_NONE ? NULL : names_process_at(n, thread_identity->process);

	fdtable_disown(thread_identity->table);
	if (p && p->info.leader == thread)
		p->info.leader = ID_NONE;
	return p && --p->n_threads == 0 ? forget_process(n, thread_identity->process) : ID_NONE;
}

uint32_t names_forget_thread(struct names *n, const struct thread *t)
{
	uint64_t key = pair(t->host, (uint32_t)t->tid);
	gpointer *thread_identity = t->self < n->identities->len ? &g_ptr_array_index(n->identities, t->self) : NULL;
	uint32_t process = ID_NONE;
	if (intmap_get(&n->tid_last, key) == t->self)
		intmap_remove(&n->tid_last, key);
	for (guint i = t->tid == -1 ? n->anonymous->len : 0; i > 0; i--)
		if (g_array_index(n->anonymous, uint32_t, i - 1) == t->self)
			g_array_remove_index_fast(n->anonymous, i - 1);
	if (thread_identity && *thread_identity) {
		process = forget_identity(n, *thread_identity, t->self);
		identity_free(g_steal_pointer(thread_identity));
	}
	memset(n->seen, 0, sizeof n->seen);
	return process;
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
