/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions that add cells to sums, one for each kind, made from the lists of schema.h. */
#include "state/store/cell_sum.h"

/* How a figure is added, by its role. `first`: the sum has no cell yet. Hostile sums wrap around. */
#define ADD_SUM(to, from) to = (int64_t)((uint64_t)to + (uint64_t)from);
#define ADD_MAX(to, from) to = first ? (int64_t)from : MAX(to, (int64_t)from);
#define ADD_MIN(to, from) to = first ? (int64_t)from : MIN(to, (int64_t)from);
/* Belongs to .max_ns, the next figure: see at_max_field() in schema.c. */
#define ADD_AT_MAX(to, from) \
	if (first || cell->max_ns > sum->max_ns || (cell->max_ns == sum->max_ns && from < to)) \
		to = from;
#define ADD_NAME(to, from) to = from ? from : to;
#define ADD_HIST(to, from) hist_merge(&to, &from);

#define ADD_FIGURE(type, name, role, unit, help) ADD_##role(sum->name, cell->name)
#define ADD_FIGURES(type, name, n, role, unit, element, help) \
	for (unsigned i = 0; i < (n); i++) { \
		ADD_##role(sum->name[i], cell->name[i]) \
	}
#define ADD_FUNCTION(kind, list) \
	static void add_##kind(void *to, const void *from) \
	{ \
		struct kind##_sum *sum = to; \
		const struct kind##_cell *cell = from; \
		bool first G_GNUC_UNUSED = !sum->n_cells++; \
		list(CELL_NONE, ADD_FIGURE, ADD_FIGURES) \
	}
CELL_SUMS(ADD_FUNCTION)

void cell_sum_add(enum cell_kind kind, void *sum, const void *cell)
{
	static void (*const adds[CELL_KIND_N])(void *, const void *) = {
#define ADD_AT(kind, list) [CELL_##kind] = add_##kind,
		CELL_SUMS(ADD_AT)
	};
	adds[kind](sum, cell);
}
