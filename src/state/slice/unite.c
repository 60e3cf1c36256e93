/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Merges two slices of the same time and of different machines. Nothing of one resolves anything of the other: threads,
 * CPUs and logs are moved, seconds are added. Only three things are of all machines:
 *
 *   annotations   Spans cross hosts. The order of annotations is that of a reader of all traces: by time, then by
 *                 channel (blk_stream.order).
 *   voids         Where one machine is quiet and another one is not, there is no void (coverage.h). What was charged to
 *                 the quiet one's void is divided among its steps.
 *   coverage      From when to when a host was traced depends on the other hosts (covered_from()).
 *
 * Numbers of events are not in order of time afterwards: of each host they are, and no more is needed.
 */
#include "base/each.h"
#include "base/timefmt.h"
#include "state/kernel/annot.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/coverage.h"
#include "state/slice/moving.h"
#include "state/slice/pack.h"
#include "state/slice/slice.h"

/* ---- voids ---- */

static struct bin *bin_of_void(const struct slice *s, const struct time_void *v)
{
	int64_t index = time_floor(v->begin, s->step) / s->step + 1, after = time_floor(v->end, s->step) / s->step;
	struct bin *b = g_hash_table_lookup(s->bins, &index);

	return b && b->after == after && after > index + 1 ? b : NULL;
}

static uint64_t cells_of_voids(const struct slice *s, const GArray *voids)
{
	uint64_t cells = 0;

	ARRAY_EACH(const struct time_void, v, s->voids) {
		const struct bin *b = bin_of_void(s, v);
		uint64_t n = 0, more;
		for (enum cell_kind k = 0; b && k < CELL_KIND_N; k++)
			n += b->table[k].n;
		if (__builtin_mul_overflow(n, covered_steps_outside(s, v, voids), &more) ||
		    __builtin_add_overflow(cells, more, &cells))
			return UINT64_MAX;
	}
	return cells;
}

uint64_t slice_unite_cells(const struct slice *a, const struct slice *b)
{
	g_autoptr(GArray) voids = covered_common_voids(a, b);
	uint64_t x = cells_of_voids(a, voids), y = cells_of_voids(b, voids), sum;

	return __builtin_add_overflow(x, y, &sum) ? UINT64_MAX : sum;
}

/* The slice gets the voids instead of its own, which contain them. */
static void replace_voids(struct slice *s, const GArray *voids)
{
	g_autoptr(GArray) old = s->voids;

	s->voids = g_array_copy((GArray *)voids);
	s->bin_last = NULL;
	for (guint i = 0; i < old->len; i++) {
		struct bin *b = bin_of_void(s, &g_array_index(old, struct time_void, i));
		struct time_void v;
		bool same = b && covered_void_at(s, b->index * s->step, 0, &v) &&
			v.begin == b->index * s->step && v.end == b->after * s->step;
		if (!b || same)
			continue;
		g_hash_table_steal(s->bins, &b->index);
		bin_divide(s, b);
	}
	s->bin_last = NULL;
}

/* ---- annotations ---- */

static int annot_order(const struct slice *s, uint32_t i, uint32_t k)
{
	const struct annot *x = &g_array_index(s->annots, struct annot, i);
	const struct annot *y = &g_array_index(s->annots, struct annot, k);

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return strcmp(g_array_index(s->channels.all, struct channel, x->channel).key,
		      g_array_index(s->channels.all, struct channel, y->channel).key);
}

static void renumber_rec(struct rec *r, const uint32_t *number)
{
	if ((r->type == REC_SPAN || r->type == REC_MARK) && r->id != ID_NONE)
		r->id = number[r->id];
}

static void renumber_thread(struct thread *t, const uint32_t *number)
{
	struct rec *r;
	for (guint i = 0; (r = thread_pending(t, i)); i++)
		renumber_rec(r, number);
	renumber_rec(&t->initial_exit, number);
	for (guint i = 0; t->annots && i < t->annots->len; i++) {
		uint32_t *id = &g_array_index(t->annots, uint32_t, i);
		*id = number[*id];
	}
}

/* Merges the annotations from `middle` on with those before; both are in order. */
static void merge_annots(struct slice *s, guint middle)
{
	guint n = s->annots->len, i = 0, k = middle;

	if (!middle || middle == n || annot_order(s, middle - 1, middle) <= 0)
		return;
	GArray *all = g_array_sized_new(false, true, sizeof(struct annot), n);
	g_autofree uint32_t *number = g_new(uint32_t, n);
	while (all->len < n) {
		bool left = k == n || (i < middle && annot_order(s, i, k) <= 0);
		guint from = left ? i++ : k++;
		number[from] = all->len;
		g_array_append_val(all, g_array_index(s->annots, struct annot, from));
	}
	g_array_unref(s->annots);
	s->annots = all;
	for (guint t = 0; t < s->threads->len; t++)
		renumber_thread(g_ptr_array_index(s->threads, t), number);
}

/* ---- CPUs and threads ---- */

static void move_cpus(const struct moving *m, struct slice *a, struct slice *b)
{
	for (guint i = 0; i < b->cpus->len; i++) {
		struct cpu *c = cpu_at(b, i);
		moving_cpu(m, c);
		c->self = m->cpu[i];
		c->host = m->host[c->host];
		c->start = moved_thread(m, c->start);
		c->named_seq += m->seq_add;
		c->cell_epoch = 0;
		g_assert(c->self == a->cpus->len);
		g_ptr_array_add(a->cpus, c);
		intmap_set(&a->cpu_map, pair(c->host, c->number), c->self);
	}
	g_ptr_array_set_size(b->cpus, 0);
}

struct tids { struct intmap *to; const struct moving *m; };

static void move_tid(uint64_t key, uint32_t thread, void *data)
{
	const struct tids *t = data;

	intmap_set(t->to, pair(t->m->host[key >> 32], (uint32_t)key), moved_thread(t->m, thread));
}

struct slice *slice_unite(struct slice *a, struct slice *b)
{
	struct moving m = { 0 };
	g_assert(a != b && !a->from_start && !b->from_start && a->step == b->step);
	g_assert(!a->voids->len || !packs_n(&a->packs));
	g_assert(!b->voids->len || !packs_n(&b->packs));
	g_autoptr(GArray) voids = covered_common_voids(a, b);
	slice_flush(a);
	slice_flush(b);
	memset(a->tid_cache, 0, sizeof a->tid_cache);
	replace_voids(a, voids);
	replace_voids(b, voids);
	moving_registries(&m, a, b, false);
	m.cpu = g_new(uint32_t, b->cpus->len + 1);
	m.n_runs = g_new0(uint32_t, b->cpus->len + 1);
	for (guint i = 0; i < b->cpus->len; i++)
		m.cpu[i] = a->cpus->len + i;
	moving_threads(&m, a, b);
	guint facts = a->facts->len, annots = a->annots->len;
	moving_logs(&m, a, b);
	merge_annots(a, annots);
	moving_seconds(&m, a, b);
	move_cpus(&m, a, b);
	intmap_foreach(&b->tid_first, move_tid, &(struct tids){ &a->tid_first, &m });
	intmap_foreach(&b->tid_last, move_tid, &(struct tids){ &a->tid_last, &m });
	moving_inner(&m, a);
	blocks_join(a, b, m.host, m.thread);
	blocks_sort(a->blocks);
	moving_known(a, b);
	moving_counts(a, b);
	moving_sort_facts(a, facts, a->facts->len);
	a->no_spans &= b->no_spans;
	moving_end(&m, a, b);
	return a;
}
