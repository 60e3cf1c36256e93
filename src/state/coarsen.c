/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seconds made one: see coarsen.h. All cells of a kind are laid side by side, sorted by
 * what they are about, and added up where that is the same.
 */
#include "state/coarsen.h"

#include "base/sort.h"
#include "base/timefmt.h"
#include "state/publish.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SLOW 64
#define WORTH 4			/* folding frees at least so much of what it takes, 1/n */

/* Who adds a field to a second or a cell adds it here. */
#if GLIB_SIZEOF_VOID_P == 8
G_STATIC_ASSERT(sizeof(struct second) == 400);
G_STATIC_ASSERT(sizeof(struct dev_cell) == 192 && sizeof(struct dev_user_cell) == 152);
G_STATIC_ASSERT(sizeof(struct file_cell) == 256 && sizeof(struct irq_cell) == 120);
G_STATIC_ASSERT(sizeof(struct loss_cell) == 48);
G_STATIC_ASSERT(sizeof(struct stolen_cell) == 24 && sizeof(struct thread_cell) == 160);
G_STATIC_ASSERT(offsetof(struct irq_cell, raise) - offsetof(struct irq_cell, time) ==
		sizeof(struct hist));
G_STATIC_ASSERT(sizeof(struct sched_cell) == 120 && sizeof(struct waker_cell) == 40);
G_STATIC_ASSERT(sizeof(struct count_cell) == 24 && sizeof(struct flow_cell) == 80);
#endif

#define ADD(field) (a->field += b->field)
#define MOST(field) (a->field = MAX(a->field, b->field))
#define ORDER(field) \
	do { \
		if (a->field != b->field) \
			return a->field < b->field ? -1 : 1; \
	} while (0)

static void add_thread(void *into, const void *from)
{
	struct thread_cell *a = into;
	const struct thread_cell *b = from;

	for (unsigned i = 0; i < PART_N; i++)
		ADD(part[i]);
	ADD(syscalls), ADD(errors), ADD(read_bytes), ADD(write_bytes);
}

static int order_thread(const void *x, const void *y)
{
	const struct thread_cell *a = x, *b = y;

	ORDER(thread);
	return 0;
}

static void add_call(void *into, const void *from)
{
	struct call_cell *a = into;
	const struct call_cell *b = from;

	ADD(errors), ADD(unfinished), ADD(busy_ns);
	hist_merge(&a->latency, &b->latency);
}

static int order_call(const void *x, const void *y)
{
	const struct call_cell *a = x, *b = y;

	ORDER(thread);
	ORDER(name);
	return 0;
}

static void add_file(void *into, const void *from)
{
	struct file_cell *a = into;
	const struct file_cell *b = from;

	for (unsigned i = 0; i < G_N_ELEMENTS(a->bytes); i++)
		ADD(bytes[i]), ADD(asked[i]), ADD(untold[i]);
	ADD(errors);
	for (unsigned i = 0; i < IO_DIR_N; i++)
		hist_merge(&a->latency[i], &b->latency[i]);
	a->fd_low = MIN(a->fd_low, b->fd_low);
	a->fd_high = MAX(a->fd_high, b->fd_high);
}

static int order_file(const void *x, const void *y)
{
	const struct file_cell *a = x, *b = y;

	ORDER(thread);
	ORDER(file);
	return 0;
}

static void add_cpu(void *into, const void *from)
{
	struct cpu_cell *a = into;
	const struct cpu_cell *b = from;

	ADD(run_ns), ADD(idle_ns), ADD(unknown_ns), ADD(irq_ns);
}

static int order_cpu(const void *x, const void *y)
{
	const struct cpu_cell *a = x, *b = y;

	ORDER(host);
	ORDER(cpu);
	return 0;
}

static void add_dev(void *into, const void *from)
{
	struct dev_cell *a = into;
	const struct dev_cell *b = from;

	for (unsigned i = 0; i < BLOCK_DIR_N; i++)
		ADD(requests[i]), ADD(bytes[i]);
	ADD(errors), ADD(partial), ADD(merges), ADD(requeues);
	MOST(depth_max), MOST(queued_max);
	ADD(busy_ns), ADD(depth_ns), ADD(queued_ns);
	a->name = b->name ? b->name : a->name;
	hist_merge(&a->latency, &b->latency);
	hist_merge(&a->queue, &b->queue);
}

static int order_dev(const void *x, const void *y)
{
	const struct dev_cell *a = x, *b = y;

	ORDER(host);
	ORDER(dev);
	return 0;
}

static void add_dev_user(void *into, const void *from)
{
	struct dev_user_cell *a = into;
	const struct dev_user_cell *b = from;

	for (unsigned i = 0; i < BLOCK_DIR_N; i++)
		ADD(requests[i]), ADD(bytes[i]);
	ADD(errors);
	a->name = b->name ? b->name : a->name;
	hist_merge(&a->latency, &b->latency);
	hist_merge(&a->queue, &b->queue);
}

static int order_dev_user(const void *x, const void *y)
{
	const struct dev_user_cell *a = x, *b = y;

	ORDER(thread);
	ORDER(host);
	ORDER(dev);
	return 0;
}

static void add_net(void *into, const void *from)
{
	struct net_sums *a = &((struct net_cell *)into)->sums;
	const struct net_sums *b = &((const struct net_cell *)from)->sums;

	ADD(rx_packets), ADD(rx_bytes), ADD(queued_packets), ADD(queued_bytes);
	ADD(tx_packets), ADD(tx_bytes), ADD(tx_errors);
}

static int order_net(const void *x, const void *y)
{
	const struct net_cell *a = x, *b = y;

	ORDER(host);
	ORDER(name);
	return 0;
}

static void add_flow(void *into, const void *from)
{
	struct flow_sums *a = &((struct flow_cell *)into)->sums;
	const struct flow_sums *b = &((const struct flow_cell *)from)->sums;

	ADD(rx_packets), ADD(rx_bytes), ADD(tx_packets), ADD(tx_bytes);
}

static int order_flow(const void *x, const void *y)
{
	const struct flow_cell *a = x, *b = y;

	ORDER(host);
	ORDER(name);
	return memcmp(&a->flow, &b->flow, sizeof a->flow);
}

static void add_event(void *into, const void *from)
{
	struct event_cell *a = into;
	const struct event_cell *b = from;

	ADD(count);
}

static int order_event(const void *x, const void *y)
{
	const struct event_cell *a = x, *b = y;

	ORDER(host);
	ORDER(name);
	return 0;
}

static void add_sched(void *into, const void *from)
{
	struct sched_cell *a = into;
	const struct sched_cell *b = from;

	ADD(switches), ADD(preemptions), ADD(migrations), ADD(moves);
	hist_merge(&a->wakeup, &b->wakeup);
	hist_merge(&a->preempted, &b->preempted);
}

static int order_sched(const void *x, const void *y)
{
	const struct sched_cell *a = x, *b = y;

	ORDER(thread);
	ORDER(cpu);
	ORDER(prio);
	return 0;
}

static void add_waker(void *into, const void *from)
{
	struct waker_cell *a = into;
	const struct waker_cell *b = from;

	ADD(count), ADD(total_ns);
	MOST(max_ns);
}

static int order_waker(const void *x, const void *y)
{
	const struct waker_cell *a = x, *b = y;

	ORDER(thread);
	ORDER(waker);
	ORDER(irq);
	ORDER(idle);
	return 0;
}

static void add_irq(void *into, const void *from)
{
	struct irq_cell *a = into;
	const struct irq_cell *b = from;

	ADD(self_ns);
	hist_merge(&a->time, &b->time);
	hist_merge(&a->raise, &b->raise);
}

static int order_irq(const void *x, const void *y)
{
	const struct irq_cell *a = x, *b = y;

	ORDER(host);
	ORDER(cpu);
	ORDER(code);
	return 0;
}

static void add_stolen(void *into, const void *from)
{
	struct stolen_cell *a = into;
	const struct stolen_cell *b = from;

	ADD(count), ADD(self_ns);
}

static int order_stolen(const void *x, const void *y)
{
	const struct stolen_cell *a = x, *b = y;

	ORDER(thread);
	ORDER(code);
	return 0;
}

static void add_loss(void *into, const void *from)
{
	struct loss_cell *a = into;
	const struct loss_cell *b = from;

	ADD(count), ADD(events), ADD(packets), ADD(ns);
}

static int order_loss(const void *x, const void *y)
{
	const struct loss_cell *a = x, *b = y;

	ORDER(host);
	ORDER(cpu);
	ORDER(vpid);
	ORDER(kernel);
	return 0;
}

static void add_count(void *into, const void *from)
{
	struct count_cell *a = into;
	const struct count_cell *b = from;

	ADD(value);
}

static int order_count(const void *x, const void *y)
{
	const struct count_cell *a = x, *b = y;

	ORDER(thread);
	ORDER(host);
	ORDER(name);
	ORDER(kind);
	ORDER(idle);
	return 0;
}

/* Each kind of cells: where a second has them, and the histograms in them. */
static const struct kind {
	size_t cells, n, size;		/* offsets in struct second; bytes of a cell */
	size_t hist;			/* offset in a cell of the first of n_hists, side by side */
	unsigned n_hists;
	int (*order)(const void *a, const void *b);
	void (*add)(void *into, const void *from);
} kinds[] = {
#define HISTS(type, first, n) offsetof(struct type, first), n
#define CELLS(array, type) \
	offsetof(struct second, array), offsetof(struct second, n_##array), sizeof(struct type)
	{ CELLS(threads, thread_cell), 0, 0, order_thread, add_thread },
	{ CELLS(calls, call_cell), HISTS(call_cell, latency, 1), order_call, add_call },
	{ CELLS(files, file_cell), HISTS(file_cell, latency, IO_DIR_N), order_file, add_file },
	{ CELLS(cpus, cpu_cell), 0, 0, order_cpu, add_cpu },
	{ CELLS(devs, dev_cell), HISTS(dev_cell, latency, 2), order_dev, add_dev },
	{ CELLS(dev_users, dev_user_cell), HISTS(dev_user_cell, latency, 2), order_dev_user,
	  add_dev_user },
	{ CELLS(nets, net_cell), 0, 0, order_net, add_net },
	{ CELLS(flows, flow_cell), 0, 0, order_flow, add_flow },
	{ CELLS(events, event_cell), 0, 0, order_event, add_event },
	{ CELLS(scheds, sched_cell), HISTS(sched_cell, wakeup, 2), order_sched, add_sched },
	{ CELLS(irqs, irq_cell), HISTS(irq_cell, time, 2), order_irq, add_irq },
	{ CELLS(stolen, stolen_cell), 0, 0, order_stolen, add_stolen },
	{ CELLS(losses, loss_cell), 0, 0, order_loss, add_loss },
	{ CELLS(wakers, waker_cell), 0, 0, order_waker, add_waker },
	{ CELLS(counts, count_cell), 0, 0, order_count, add_count },
};

static const char *cells_of(const struct second *s, const struct kind *k, uint32_t *ret_n)
{
	*ret_n = *(const uint32_t *)(const void *)((const char *)s + k->n);
	return *(char *const *)(const void *)((const char *)s + k->cells);
}

/* A cell of its own: with copies of the histograms. */
static void begin_cell(const struct kind *k, char *to, const char *from)
{
	memcpy(to, from, k->size);
	struct hist *into = (struct hist *)(void *)(to + k->hist);
	const struct hist *had = (const struct hist *)(const void *)(from + k->hist);
	for (unsigned i = 0; i < k->n_hists; i++) {
		into[i] = (struct hist){ 0 };
		hist_merge(&into[i], &had[i]);
	}
}

static int order_pointers(gconstpointer x, gconstpointer y, gpointer kind)
{
	const struct kind *k = kind;

	return k->order(*(const char *const *)x, *(const char *const *)y);
}

static void coarsen_kind(struct second *to, struct second *const *seconds, size_t n,
			 const struct kind *k)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	uint32_t n_cells, kept = 0;

	for (size_t i = 0; i < n; i++) {
		const char *cells = cells_of(seconds[i], k, &n_cells);
		for (uint32_t c = 0; c < n_cells; c++)
			g_ptr_array_add(all, (char *)cells + c * k->size);
	}
	if (all->len)
		sort_array(all->pdata, all->len, sizeof(void *), order_pointers,
			   (gpointer)k);
	char *cells = g_malloc_n(all->len, k->size);
	for (guint i = 0; i < all->len; i++) {
		const char *from = all->pdata[i];
		if (i && !k->order(all->pdata[i - 1], from))
			k->add(cells + (kept - 1) * k->size, from);
		else
			begin_cell(k, cells + kept++ * k->size, from);
	}
	*(char **)(void *)((char *)to + k->cells) = g_realloc_n(cells, kept, k->size);
	*(uint32_t *)(void *)((char *)to + k->n) = kept;
}

/* Pending at the end: only of the last second. Cells of the sum are in order. */
static void set_unfinished(struct second *to, const struct second *last)
{
	for (uint32_t i = 0; i < to->n_calls; i++)
		to->calls[i].unfinished = 0;
	for (uint32_t k = 0; k < last->n_calls; k++) {
		const struct call_cell *c = &last->calls[k];
		struct call_cell *sum = !c->unfinished ? NULL :
			bsearch(c, to->calls, to->n_calls, sizeof *c, order_call);
		if (sum)
			sum->unfinished = c->unfinished;
	}
}

static int order_slow(const void *x, const void *y)
{
	const struct slow_call *a = x, *b = y;

	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	ORDER(begin_ns);
	ORDER(cpu);
	return 0;
}

static void coarsen_slow(struct second *to, struct second *const *seconds, size_t n)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct slow_call));

	for (size_t i = 0; i < n; i++)
		if (seconds[i]->n_slow)
			g_array_append_vals(all, seconds[i]->slow, seconds[i]->n_slow);
	g_array_sort(all, order_slow);
	to->n_slow = MIN(all->len, MOST_SLOW);
	to->slow = (struct slow_call *)(void *)g_array_free(all, FALSE);
}

struct second *second_coarsen(struct second *const *seconds, size_t n, int64_t fold_ns)
{
	struct second *to = second_new(seconds[0]->begin_ns, seconds[n - 1]->end_ns);

	to->fold_ns = fold_ns;
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		coarsen_kind(to, seconds, n, &kinds[i]);
	set_unfinished(to, seconds[n - 1]);
	coarsen_slow(to, seconds, n);
	for (size_t i = 0; i < n; i++) {
		const struct trust *t = &seconds[i]->trust;
		trust_add(&to->trust, t);
		to->trust.touched += t->touched;
		to->trust.corrected += t->corrected != 0;
		hist_merge(&to->wakeup, &seconds[i]->wakeup);
	}
	second_seal(to);
	return to;
}

/* ---- making room ---- */

static const int64_t folds[] = { 10 * NS_PER_S, 60 * NS_PER_S };

static const struct second *at(const GPtrArray *seconds, size_t i)
{
	return g_ptr_array_index(seconds, i);
}

/* The oldest of the first n seconds that make one of that length: from *ret_first on so
 * many, 0: none. Only whole ones, that end before the seconds which stay. */
static size_t find_block(const GPtrArray *seconds, size_t n, int64_t fold_ns, size_t *ret_first)
{
	int64_t stays = at(seconds, n)->begin_ns;

	for (size_t i = 0, last; i < n; i = MAX(last, i + 1)) {
		int64_t end = time_floor(at(seconds, i)->begin_ns, fold_ns) + fold_ns;
		if (end > stays)
			return 0;
		for (last = i; last < n && at(seconds, last)->begin_ns < end &&
		     at(seconds, last)->fold_ns < fold_ns; last++)
			;
		*ret_first = i;
		if (last - i > 1)
			return last - i;
	}
	return 0;
}

/* Returns by how much less is held; 0, and nothing was done, when the seconds have so
 * little in common that it is not worth their resolution. */
static size_t fold_block(GPtrArray *seconds, size_t first, size_t n, int64_t fold_ns)
{
	struct second *const *from = (struct second *const *)(void *)&seconds->pdata[first];
	struct second *s = second_coarsen(from, n, fold_ns);
	size_t had = 0;

	for (size_t i = 0; i < n; i++)
		had += from[i]->bytes;
	if (s->bytes > had - had / WORTH) {
		second_unref(s);
		return 0;
	}
	g_ptr_array_remove_range(seconds, (guint)first, (guint)n);
	g_ptr_array_insert(seconds, (gint)first, s);
	return had - s->bytes;
}

static void weigh_levels(const GPtrArray *seconds, size_t bytes[3])
{
	bytes[0] = bytes[1] = bytes[2] = 0;
	for (size_t i = 0; i < seconds->len; i++) {
		const struct second *s = at(seconds, i);
		bytes[!s->fold_ns ? 0 : s->fold_ns < folds[1] ? 1 : 2] += s->bytes;
	}
}

size_t seconds_fold(GPtrArray *seconds, size_t keep, size_t excess, int64_t *folded_until)
{
	size_t bytes[3], first, freed = 0;

	while (freed < excess && seconds->len > keep) {
		weigh_levels(seconds, bytes);
		if (bytes[2] > bytes[0] + bytes[1])
			break;			/* it is the oldest minutes' turn to go */
		int level = bytes[1] > bytes[0] / 2;
		size_t n = find_block(seconds, seconds->len - keep, folds[level], &first);
		if (!n)
			n = find_block(seconds, seconds->len - keep, folds[level = !level], &first);
		if (!n)
			break;
		size_t less = fold_block(seconds, first, n, folds[level]);
		if (!less)
			break;
		freed += less;
		*folded_until = MAX(*folded_until, at(seconds, first)->end_ns);
	}
	return freed;
}
