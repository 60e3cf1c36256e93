/* SPDX-License-Identifier: GPL-2.0-only */
/* Which events a lane has, in words: see lane_events.h. */
#include "views/lane_events.h"

#include "base/sort.h"
#include "base/timefmt.h"

#include <string.h>

#define NAMED 4				/* most names of events */

struct named { const char *name; uint64_t n; };

bool lane_counts(const struct timeline *tl, const struct view_query *q, const struct count_cell *cell)
{
	if (cell->kind != COUNT_EVENT || cell->idle || (q->host != ID_NONE && q->host != cell->host))
		return false;
	return cell->thread == ID_NONE ? q->pid < 0 && q->tid < 0 && !q->container :
		query_wants_thread(q, tl, cell->thread);
}

static void add(GArray *all, const char *name, uint64_t n)
{
	for (guint i = 0; i < all->len; i++)
		if (!strcmp(g_array_index(all, struct named, i).name, name)) {
			g_array_index(all, struct named, i).n += n;
			return;
		}
	g_array_append_val(all, ((struct named){ name, n }));
}

static int most_first(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;
	return ORDER(b->n, a->n) ?: strcmp(a->name, b->name);
}

void lane_events_text(GString *text, const struct rows *rows, const struct lane_events *of)
{
	g_autoptr(GArray) all = g_array_new(false, false, sizeof(struct named));
	struct range range = range_of(rows->tl, &rows->query);
	uint64_t sum = 0, named = 0;
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(rows->tl, i);
		for (uint32_t k = 0; k < s->n_counts; k++) {
			const struct count_cell *c = &s->counts[k];
			if (!lane_counts(rows->tl, of->query, c) || of->by_cpu != (c->thread == ID_NONE) ||
			    (of->by_cpu && c->cpu != of->cpu))
				continue;
			add(all, timeline_string(rows->tl, c->name), c->value);
			sum += c->value;
		}
	}
	g_array_sort(all, most_first);
	if (sum)
		g_string_append_printf(text, "%" G_GUINT64_FORMAT " event%s", sum, sum == 1 ? "" : "s");
	else
		g_string_append(text, "no event");
	for (guint i = 0; i < MIN(all->len, NAMED); i++) {
		const struct named *x = &g_array_index(all, struct named, i);
		g_string_append_printf(text, "%s%s", i ? ", " : ": ", x->name);
		if (all->len > 1)
			g_string_append_printf(text, " %" G_GUINT64_FORMAT, x->n);
		named += x->n;
	}
	if (sum > named)
		g_string_append_printf(text, ", %" G_GUINT64_FORMAT " others", sum - named);
}
