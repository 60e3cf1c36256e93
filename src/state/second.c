/* SPDX-License-Identifier: GPL-2.0-only */
/* Closed seconds: life and memory. The cells' arrays are g_malloc'd and owned. */
#include "state/publish.h"

struct second *second_new(int64_t begin_ns, int64_t end_ns)
{
	struct second *s = g_new0(struct second, 1);

	s->begin_ns = begin_ns;
	s->end_ns = end_ns;
	s->version = 1;
	g_atomic_ref_count_init(&s->refs);
	return s;
}

#define CHUNK 16		/* what malloc adds to a piece of memory, about */

/* Cells come from arrays that may have grown beyond them. */
static void shrink(struct second *s)
{
	s->threads = g_renew(struct thread_cell, s->threads, s->n_threads);
	s->calls = g_renew(struct call_cell, s->calls, s->n_calls);
	s->files = g_renew(struct file_cell, s->files, s->n_files);
	s->slow = g_renew(struct slow_call, s->slow, s->n_slow);
}

/* What a sealed histogram takes beside its cell. */
static size_t seal_hist(struct hist *h)
{
	hist_pack(h);
	return hist_bytes(h);
}

void second_seal(struct second *s)
{
	size_t bytes = sizeof(*s) + 8 * CHUNK + seal_hist(&s->wakeup);

	shrink(s);
	bytes += s->n_threads * sizeof(*s->threads) + s->n_cpus * sizeof(*s->cpus) +
		 s->n_calls * sizeof(*s->calls) + s->n_files * sizeof(*s->files) +
		 s->n_devs * sizeof(*s->devs) + s->n_events * sizeof(*s->events) +
		 s->n_slow * sizeof(*s->slow) + s->n_scheds * sizeof(*s->scheds) +
		 s->n_wakers * sizeof(*s->wakers) + s->n_irqs * sizeof(*s->irqs) +
		 s->n_stolen * sizeof(*s->stolen) + s->n_losses * sizeof(*s->losses) +
		 s->n_counts * sizeof(*s->counts);
	for (uint32_t i = 0; i < s->n_calls; i++)
		bytes += seal_hist(&s->calls[i].latency);
	for (uint32_t i = 0; i < s->n_files; i++)
		for (unsigned d = 0; d < IO_DIR_N; d++)
			bytes += seal_hist(&s->files[i].latency[d]);
	for (uint32_t i = 0; i < s->n_devs; i++)
		bytes += seal_hist(&s->devs[i].latency) + seal_hist(&s->devs[i].queue);
	for (uint32_t i = 0; i < s->n_dev_users; i++)
		bytes += seal_hist(&s->dev_users[i].latency) + seal_hist(&s->dev_users[i].queue);
	bytes += s->n_dev_users * sizeof(*s->dev_users) + s->n_nets * sizeof(*s->nets);
	bytes += s->n_flows * sizeof(*s->flows);
	for (uint32_t i = 0; i < s->n_scheds; i++)
		bytes += seal_hist(&s->scheds[i].wakeup) + seal_hist(&s->scheds[i].preempted);
	for (uint32_t i = 0; i < s->n_irqs; i++)
		bytes += seal_hist(&s->irqs[i].time) + seal_hist(&s->irqs[i].raise);
	s->bytes = bytes;
}

struct second *second_ref(struct second *s)
{
	g_atomic_ref_count_inc(&s->refs);
	return s;
}

void second_unref(struct second *s)
{
	if (!s || !g_atomic_ref_count_dec(&s->refs))
		return;
	for (uint32_t i = 0; i < s->n_calls; i++)
		hist_clear(&s->calls[i].latency);
	for (uint32_t i = 0; i < s->n_files; i++)
		for (unsigned d = 0; d < IO_DIR_N; d++)
			hist_clear(&s->files[i].latency[d]);
	for (uint32_t i = 0; i < s->n_devs; i++) {
		hist_clear(&s->devs[i].latency);
		hist_clear(&s->devs[i].queue);
	}
	for (uint32_t i = 0; i < s->n_dev_users; i++) {
		hist_clear(&s->dev_users[i].latency);
		hist_clear(&s->dev_users[i].queue);
	}
	for (uint32_t i = 0; i < s->n_scheds; i++) {
		hist_clear(&s->scheds[i].wakeup);
		hist_clear(&s->scheds[i].preempted);
	}
	hist_clear(&s->wakeup);
	for (uint32_t i = 0; i < s->n_irqs; i++) {
		hist_clear(&s->irqs[i].time);
		hist_clear(&s->irqs[i].raise);
	}
	g_free(s->irqs);
	g_free(s->stolen);
	g_free(s->losses);
	g_free(s->scheds);
	g_free(s->wakers);
	g_free(s->counts);
	g_free(s->threads);
	g_free(s->calls);
	g_free(s->files);
	g_free(s->cpus);
	g_free(s->devs);
	g_free(s->dev_users);
	g_free(s->nets);
	g_free(s->flows);
	g_free(s->events);
	g_free(s->slow);
	g_free(s);
}
