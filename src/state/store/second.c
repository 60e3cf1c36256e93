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

void second_set_cells(struct second *s, struct cell_table *from, enum cell_kind kind)
{
	uint32_t *n = (uint32_t *)(void *)((char *)s + places[kind].n);

	g_assert(*n == 0);				/* else the old cells would leak */
	*(void **)(void *)((char *)s + places[kind].cells) = cell_table_steal(from, cell_layout(kind), n);
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

void second_seal(struct second *s)
{
	g_assert(s->n_slow <= LIMIT_SECOND_CALLS);
	for (uint32_t i = 1; i < s->n_slow; i++)
		g_assert(s->slow[i - 1].duration_ns >= s->slow[i].duration_ns);
	hist_pack(&s->wakeup);
	s->slow = g_renew(struct slow_call, s->slow, s->n_slow);	/* frees unused room */
	s->bytes = sizeof(*s) + hist_bytes(&s->wakeup) + s->n_slow * sizeof(*s->slow);
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		s->bytes += seal_kind(s, k);
}

struct second *second_ref(struct second *s)
{
	g_atomic_ref_count_inc(&s->refs);
	return s;
}

static void free_kind(struct second *s, enum cell_kind kind)
{
	const struct cell_layout *l = cell_layout(kind);
	uint32_t n;
	char *cells = second_cells(s, kind, &n);

	for (uint32_t i = 0; l->n_hists && i < n; i++)
		cell_clear(l, cells + (size_t)i * l->size);
	g_free(cells);
}

void second_unref(struct second *s)
{
	if (!s || !g_atomic_ref_count_dec(&s->refs))
		return;
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		free_kind(s, k);
	hist_clear(&s->wakeup);
	g_free(s->slow);
	g_free(s);
}
