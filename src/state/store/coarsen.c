/* SPDX-License-Identifier: GPL-2.0-only */
/* Folds seconds: see coarsen.h. Cells with the same key are added. */
#include "state/store/coarsen.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"

#include <string.h>

#define MIN_GAIN 4		/* folding must free at least 1/4 of the memory of the seconds */

/* Sets a figure that is not summed over time (CELL_IS_LAST) to its value in the last second. */
static void set_last(struct cell_table *t, const struct cell_layout *l, const struct cell_field *f,
		     const char *last, uint32_t n)
{
	for (uint32_t i = 0; i < t->n; i++)
		memset((char *)cell_table_at(t, l, i) + f->offset, 0, f->size);
	uint32_t n_cells = t->n;
	for (uint32_t i = 0; i < n; i++, last += l->size)
		memcpy((char *)cell_table_get(t, l, last, NULL) + f->offset, last + f->offset, f->size);
	g_assert(t->n == n_cells);		/* the last second's cells are part of the sum */
}

static void coarsen_kind(struct second *to, struct second *const *seconds, size_t n_seconds, enum cell_kind kind)
{
	const struct cell_layout *l = cell_layout(kind);
	struct cell_table sum = { 0 };
	const char *cells = NULL;
	uint32_t n = 0;

	for (size_t i = 0; i < n_seconds; i++) {
		cells = second_cells(seconds[i], kind, &n);
		for (uint32_t c = 0; c < n; c++)
			cell_table_add(&sum, l, cells + (size_t)c * l->size);
	}
	for (const struct cell_field *f = l->fields; f < l->fields + l->n_fields; f++)
		if (f->role == CELL_IS_LAST)
			set_last(&sum, l, f, cells, n);
	second_set_cells(to, &sum, kind);
}

static int order_slow(const void *x, const void *y)
{
	const struct slow_call *a = x, *b = y;

	return ORDER(a->list, b->list) ?: ORDER(b->duration_ns, a->duration_ns) ?: ORDER(a->begin_ns, b->begin_ns) ?:
	       ORDER(a->cpu, b->cpu);
}

static void coarsen_slow(struct second *to, struct second *const *seconds, size_t n)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct slow_call));

	for (size_t i = 0; i < n; i++)
		if (seconds[i]->n_slow)
			g_array_append_vals(all, seconds[i]->slow, seconds[i]->n_slow);
	g_array_sort(all, order_slow);
	guint n_of[SLOW_LIST_N] = { 0 }, kept = 0;
	ARRAY_EACH(const struct slow_call, c, all)
		if (n_of[c->list]++ < LIMIT_SECOND_CALLS)
			g_array_index(all, struct slow_call, kept++) = *c;
	g_array_set_size(all, kept);
	to->n_slow = all->len;
	to->slow = (struct slow_call *)(void *)g_array_free(all, FALSE);
}

struct second *second_coarsen(struct second *const *seconds, size_t n, int64_t fold_ns)
{
	g_assert(n > 0);
	for (size_t i = 1; i < n; i++)
		g_assert(seconds[i - 1]->begin_ns < seconds[i]->begin_ns);
	struct second *to = second_new(seconds[0]->begin_ns, seconds[n - 1]->end_ns);
	to->sums_end_ns = seconds[n - 1]->sums_end_ns;

	to->fold_ns = fold_ns;
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		coarsen_kind(to, seconds, n, k);
	coarsen_slow(to, seconds, n);
	for (size_t i = 0; i < n; i++) {
		const struct completeness *t = &seconds[i]->completeness;
		completeness_add(&to->completeness, t);
		to->completeness.touched += t->touched;
		to->completeness.corrected += t->corrected != 0;
		hist_merge(&to->wakeup, &seconds[i]->wakeup);
	}
	second_seal(to);
	return to;
}

/* ---- freeing memory ---- */

static const int64_t folds[] = { 10 * NS_PER_S, 60 * NS_PER_S };

static const struct second *at(const GPtrArray *seconds, size_t i)
{
	return g_ptr_array_index(seconds, i);
}

/* Finds the oldest of the first n seconds, from index *at_first on, that can be folded to that length. Sets
 * *at_first to the first of them and returns their number; 0: none. The result must end before second n begins. */
static size_t find_block(const GPtrArray *seconds, size_t n, int64_t fold_ns, size_t *at_first)
{
	g_assert(n < seconds->len);			/* at least one second remains */
	int64_t stays = at(seconds, n)->begin_ns;

	for (size_t i = *at_first, last; i < n; i = MAX(last, i + 1)) {
		int64_t end = time_floor(at(seconds, i)->begin_ns, fold_ns) + fold_ns;
		if (end > stays)
			return 0;
		for (last = i; last < n && at(seconds, last)->begin_ns < end && at(seconds, last)->end_ns <= end &&
		     at(seconds, last)->fold_ns < fold_ns; last++)
			;
		*at_first = i;
		if (last - i > 1)
			return last - i;
	}
	return 0;
}

/* Returns the number of freed bytes. 0: nothing was changed, since the seconds have few keys in common and folding
 * would free too little. */
static size_t fold_block(GPtrArray *seconds, size_t first, size_t n, int64_t fold_ns)
{
	g_assert(n > 1 && first + n <= seconds->len);
	struct second *const *from = (struct second *const *)(void *)&seconds->pdata[first];
	struct second *s = second_coarsen(from, n, fold_ns);
	size_t had = 0;

	for (size_t i = 0; i < n; i++)
		had += from[i]->bytes;
	if (s->bytes > had - had / MIN_GAIN) {
		second_unref(s);
		return 0;
	}
	g_ptr_array_remove_range(seconds, (guint)first, (guint)n);
	g_ptr_array_insert(seconds, (gint)first, s);
	return had - s->bytes;
}

/* 0: not folded; 1: to less than a minute; 2: to a minute. */
static int level_of(const struct second *s)
{
	return !s->fold_ns ? 0 : s->fold_ns < folds[1] ? 1 : 2;
}

static void weigh_levels(const GPtrArray *seconds, size_t bytes[3])
{
	bytes[0] = bytes[1] = bytes[2] = 0;
	for (size_t i = 0; i < seconds->len; i++)
		bytes[level_of(at(seconds, i))] += at(seconds, i)->bytes;
}

/* State of seconds_fold(). Each search begins where the last one of the same level ended; else the total time would
 * be quadratic. */
struct folding {
	GPtrArray *seconds;
	size_t keep;			/* number of newest seconds that are not folded */
	size_t bytes[3];		/* memory by level_of() */
	size_t first[2];		/* where to search next, by level of the seconds to fold */
};

static size_t next_block(struct folding *f, int level)
{
	return find_block(f->seconds, f->seconds->len - f->keep, folds[level], &f->first[level]);
}

/* Folds the n seconds that next_block() found. Returns the number of freed bytes; 0: nothing was changed. */
static size_t fold_found(struct folding *f, int level, size_t n, int64_t *folded_until)
{
	size_t first = f->first[level], had[3] = { 0 };

	for (size_t i = first; i < first + n; i++)
		had[level_of(at(f->seconds, i))] += at(f->seconds, i)->bytes;
	size_t less = fold_block(f->seconds, first, n, folds[level]);
	if (!less)
		return 0;
	for (int i = 0; i < 3; i++) {
		g_assert(f->bytes[i] >= had[i]);
		f->bytes[i] -= had[i];
	}
	f->bytes[level + 1] += at(f->seconds, first)->bytes;
	if (f->first[!level] > first)
		f->first[!level] -= MIN(f->first[!level] - first, n - 1);
	*folded_until = MAX(*folded_until, at(f->seconds, first)->end_ns);
	return less;
}

size_t seconds_fold(GPtrArray *seconds, size_t keep, size_t excess, int64_t *folded_until)
{
	struct folding f = { .seconds = seconds, .keep = keep };
	size_t freed = 0;

	weigh_levels(seconds, f.bytes);
	while (freed < excess && seconds->len > keep) {
		if (f.bytes[2] > f.bytes[0] + f.bytes[1])
			break;			/* from here on it is better to drop the oldest minutes */
		int level = f.bytes[1] > f.bytes[0] / 2;
		size_t n = next_block(&f, level);
		if (!n)
			n = next_block(&f, level = !level);
		size_t less = n ? fold_found(&f, level, n, folded_until) : 0;
		if (!less)
			break;
		freed += less;
	}
	return freed;
}
