/* SPDX-License-Identifier: GPL-2.0-only */
/* Creates and frees a slice; its options and figures. */
#include "state/slice/slice.h"

#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu.h"
#include "state/kernel/facts.h"
#include "state/kernel/irq.h"
#include "state/kernel/locks.h"
#include "state/kernel/sched.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/threads.h"
#include "state/slice/pack.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"

static void host_clear(gpointer p)
{
	struct slice_host *h = p;
	g_free(h->name);
	g_free(h->boot);
	g_free(h->release);
}

static void bin_free_value(gpointer p)
{
	bin_free(p);
}

struct slice *slice_new(bool from_start, int64_t step_ns)
{
	g_assert(step_ns > 0);
	struct slice *s = g_new0(struct slice, 1);
	s->from_start = from_start;
	s->step = step_ns;
	s->seq = 1;		/* 0 is no event */
	s->first = INT64_MAX;
	s->last = s->retained_from = s->horizon = s->window_from = INT64_MIN;
	s->window_to = s->traced_from = INT64_MAX;
	s->traced_to = INT64_MIN;
	s->strings = strtab_new();
	s->texts = strtab_new_reftexts();
	s->hosts = g_array_new(false, true, sizeof(struct slice_host));
	g_array_set_clear_func(s->hosts, host_clear);
	s->threads = g_ptr_array_new();
	s->cpus = g_ptr_array_new();
	s->bins = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, bin_free_value);
	s->facts = g_array_new(false, true, sizeof(struct fact));
	losses_init(&s->losses);
	channels_init(&s->channels);
	s->voids = g_array_new(false, true, sizeof(struct time_void));
	s->annots = g_array_new(false, true, sizeof(struct annot));
	thread_slots_init(&s->slots);
	s->binaries = g_array_new(false, true, sizeof(struct binary));
	s->blocks = blocks_new();
	s->provisional_wakes = g_array_new(false, true, sizeof(struct provisional_wake));
	s->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->streams = g_array_new(false, true, sizeof(struct stream_info));
	s->class_infos = g_array_new(false, true, sizeof(struct class_info));
	return s;
}

/* ---- memory of what was read from files ---- */

static gssize most_memory = G_MAXSSIZE;		/* bytes */
static gssize all_taken;			/* atomic: what all slices take, without what their files allow */

void slice_bound_memory(size_t bytes)
{
	most_memory = (gssize)MIN(bytes, (size_t)G_MAXSSIZE);
}

void slice_take(struct slice *s, gssize bytes)
{
	s->taken += bytes;
	g_atomic_pointer_add(&all_taken, bytes);
}

uint64_t slice_room(void)
{
	gssize taken = g_atomic_pointer_add(&all_taken, 0);

	return taken < 0 ? (uint64_t)most_memory + (uint64_t)-taken : (uint64_t)MAX(most_memory - taken, 0);
}

void slice_free(struct slice *s)
{
	if (!s)
		return;
	slice_take(s, -s->taken);
	for (guint i = 0; i < s->threads->len; i++)
		thread_free(g_ptr_array_index(s->threads, i));
	for (guint i = 0; i < s->cpus->len; i++)
		cpu_free(g_ptr_array_index(s->cpus, i));
	g_ptr_array_unref(s->threads);
	g_ptr_array_unref(s->cpus);
	g_hash_table_unref(s->bins);
	packs_clear(&s->packs);
	blocks_free(s->blocks);
	g_hash_table_unref(s->classes);
	g_array_unref(s->hosts);
	g_array_unref(s->facts);
	losses_clear(&s->losses);
	channels_clear(&s->channels);
	g_array_unref(s->voids);
	g_array_unref(s->annots);
	slab_clear(&s->snaps);
	thread_slots_clear(&s->slots);
	g_array_unref(s->binaries);
	g_array_unref(s->provisional_wakes);
	vec_free(&s->stops);
	lock_log_clear(&s->locks);
	g_array_unref(s->streams);
	g_array_unref(s->class_infos);
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		cell_table_clear(&s->unread[k], built_layout(k));
	intmap_clear(&s->tid_last);
	intmap_clear(&s->inner_last);
	intmap_clear(&s->tid_first);
	intmap_clear(&s->cpu_map);
	intmap_clear(&s->irq_named);
	strtab_free(s->strings);
	strtab_free(s->texts);
	g_free(s);
}

void slice_window(struct slice *s, int64_t from, int64_t to)
{
	g_assert(from <= to);
	s->window_from = time_floor(from, s->step) / s->step - 1;
	s->window_to = time_floor(to, s->step) / s->step;
}

void slice_live(struct slice *s)
{
	s->live = true;
}

void slice_bound_paths(struct slice *s, size_t bytes)
{
	s->path_room = bytes;
}

void slice_without_spans(struct slice *s)
{
	s->no_spans = true;
}

bool slice_is_without_spans(const struct slice *s)
{
	return s->no_spans;
}

void slice_read_cells(struct slice *s, uint32_t kinds)
{
	static const char no_key[sizeof(struct flow_key)] = { 0 };
	const uint32_t always = READS(thread) | READS(event) | READS(cpu) | READS(loss);

	s->unread_kinds = kinds ? ~(kinds | always) : 0;
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		if (!slice_reads(s, k))
			cell_table_get(&s->unread[k], built_layout(k), no_key, NULL);
}

void slice_without_fast_path(struct slice *s)
{
	s->no_fast_path = true;
}

int slice_bin_order(const void *a, const void *b)
{
	return ORDER((*(struct bin *const *)a)->index, (*(struct bin *const *)b)->index);
}

GPtrArray *slice_bins_in_order(const struct slice *s)
{
	GPtrArray *bins = g_ptr_array_new();

	TABLE_EACH(each, s->bins)
		g_ptr_array_add(bins, each.value);
	g_ptr_array_sort(bins, slice_bin_order);
	return bins;
}

uint64_t slice_n_events(const struct slice *s)
{
	return s->n_events;
}

int64_t slice_step(const struct slice *s)
{
	return s->step;
}

size_t slice_span_bytes(const struct slice *s)
{
	return s->annots->len * sizeof(struct annot) + strtab_bytes(s->texts);
}

int64_t slice_first(const struct slice *s)
{
	return s->first;
}

int64_t slice_last(const struct slice *s)
{
	return s->last;
}
