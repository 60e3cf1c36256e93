/* SPDX-License-Identifier: GPL-2.0-only */
/* Closed seconds: creation and memory. Arrays of cells are g_malloc'd and owned by the second. */
#include "state/store/second.h"

#include "base/limits.h"

#include <stddef.h>

#define MALLOC_BYTES 16		/* overhead of an allocation, approximate */

/* Offsets of the cells of each kind, and of their number, in struct second. */
static const struct { size_t cells, n; } places[CELL_KIND_N] = {
#define PLACE(kind, array, list, built) \
	[CELL_##kind] = { offsetof(struct second, array), offsetof(struct second, n_##array) },
	CELL_KINDS(PLACE)
};

char *second_cells(const struct second *s, enum cell_kind kind, uint32_t *ret_n)
{
	g_assert(kind < CELL_KIND_N);
	*ret_n = *(const uint32_t *)(const void *)((const char *)s + places[kind].n);
	return *(char *const *)(const void *)((const char *)s + places[kind].cells);
}

static void set_array(struct second *s, enum cell_kind kind, void *cells, uint32_t n)
{
	*(void **)(void *)((char *)s + places[kind].cells) = cells;
	*(uint32_t *)(void *)((char *)s + places[kind].n) = n;
}

void second_set_cells(struct second *s, struct cell_table *from, enum cell_kind kind)
{
	uint32_t n;

	second_cells(s, kind, &n);
	g_assert(n == 0);				/* else the old cells would leak */
	void *cells = cell_table_steal(from, cell_layout(kind), &n);
	set_array(s, kind, cells, n);
}

struct second *second_new(int64_t begin_ns, int64_t end_ns)
{
	g_assert(begin_ns <= end_ns);
	struct second *s = g_new0(struct second, 1);

	s->begin_ns = begin_ns;
	s->end_ns = s->sums_end_ns = end_ns;
	s->version = 1;
	g_atomic_ref_count_init(&s->refs);
	return s;
}

/* Returns the memory of the cells (bytes). */
static size_t seal_kind(struct second *s, enum cell_kind kind)
{
	const struct cell_layout *l = cell_layout(kind);
	uint32_t n;
	char *cells = second_cells(s, kind, &n);
	size_t bytes = n ? MALLOC_BYTES + (size_t)n * l->size : 0;

	for (uint32_t i = 0; l->n_hists && i < n; i++)
		bytes += cell_seal(l, cells + (size_t)i * l->size);
	return bytes;
}

static void sum_up(struct second *s)
{
	struct second_totals *t = &s->totals;
	struct hist disk = { 0 };

	*t = (struct second_totals){ .has_calls = s->n_calls > 0, .slowest_call_ns = -1 };
	for (uint32_t i = 0; i < s->n_cpus; i++) {
		t->run_ns += s->cpus[i].run_ns;
		t->known_ns += s->cpus[i].run_ns + s->cpus[i].idle_ns;
		t->unknown_ns += s->cpus[i].unknown_ns;
	}
	for (uint32_t i = 0; i < s->n_calls; i++)
		t->has_unpaired |= s->calls[i].unpaired > 0;
	for (uint32_t i = 0; i < s->n_devs; i++)
		hist_merge(&disk, &s->devs[i].latency);
	for (uint32_t i = 0; i < s->n_threads; i++)
		t->waiting_ns += part_sum_runnable(s->threads[i].part) + s->threads[i].part[PART_DISK];
	for (uint32_t i = 0; i < s->n_counts; i++)
		t->counts |= (uint8_t)(1u << s->counts[i].kind);
	t->wakeup_p99_ns = hist_quantile(&s->wakeup, 0.99);
	t->disk_p99_ns = hist_quantile(&disk, 0.99);
	for (uint32_t i = 0; i < s->n_slow; i++)
		if (s->slow[i].wait == CALL_NO_WAIT || s->slow[i].wait == CALL_WAITS_LOCK)
			t->slowest_call_ns = MAX(t->slowest_call_ns, s->slow[i].duration_ns);
	hist_clear(&disk);
}

void second_seal(struct second *s)
{
	g_assert(s->n_slow <= SLOW_LIST_N * LIMIT_SECOND_CALLS);
	for (uint32_t i = 1; i < s->n_slow; i++)
		g_assert(slow_call_precedes(&s->slow[i - 1], &s->slow[i]));
	hist_pack(&s->wakeup);
	s->slow = g_renew(struct slow_call, s->slow, s->n_slow);	/* frees unused room */
	s->bytes = sizeof(*s) + hist_bytes(&s->wakeup) + s->n_slow * sizeof(*s->slow);
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		s->bytes += seal_kind(s, k);
	sum_up(s);
}

struct second *second_outline(const struct second *of)
{
	struct second *s = second_new(of->begin_ns, of->end_ns);

	s->sums_end_ns = of->sums_end_ns;
	s->version = of->version;
	s->fold_ns = of->fold_ns;
	s->completeness = of->completeness;
	s->totals = of->totals;
	s->bytes = of->bytes;
	s->place = of->place;
	s->is_outline = true;
	return s;
}

void second_fill(struct second *s)
{
	s->is_outline = false;
	second_seal(s);
}

struct second_reader *second_reader_ref(struct second_reader *r)
{
	if (r)
		g_atomic_ref_count_inc(&r->refs);
	return r;
}

void second_reader_unref(struct second_reader *r)
{
	if (r && g_atomic_ref_count_dec(&r->refs))
		r->free(r);
}

struct second *second_ref(struct second *s)
{
	g_atomic_ref_count_inc(&s->refs);
	return s;
}

static void free_kind(struct second *s, enum cell_kind kind)
{
	const struct cell_layout *l = cell_layout(kind);
	struct cell_table t = { 0 };

	t.cells = second_cells(s, kind, &t.n);
	cell_table_clear(&t, l);
	set_array(s, kind, NULL, 0);
}

void second_empty(struct second *s)
{
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		free_kind(s, k);
	hist_clear(&s->wakeup);
	g_clear_pointer(&s->slow, g_free);
	s->n_slow = 0;
	s->is_outline = true;
}

void second_unref(struct second *s)
{
	if (!s || !g_atomic_ref_count_dec(&s->refs))
		return;
	second_empty(s);
	g_free(s);
}
