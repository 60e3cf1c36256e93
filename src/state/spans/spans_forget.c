/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs without end: what of spans, and of the logs that only they need, is not needed any more. */
#include "state/kernel/cpu_runs.h"
#include "state/kernel/thread_logs.h"
#include "state/slice/slice_state.h"
#include "state/spans/annot.h"
#include "state/spans/span_trace.h"
#include "state/store/publication.h"

#define FEW 1000		/* annotations: not worth making less room for them */
#define FORGET_EVERY_NS INT64_C(500000000)	/* all that is kept is walked for it: not at each refresh */
#define FEW_TEXTS (64u << 10)	/* bytes of texts: not worth looking for which are used */
#define HOLLOW 4	/* an array is made anew when it holds less than a quarter of before */

bool forgotten_has(const struct forgotten *f, const struct annot *a)
{
	return intmap_get(&f->ids[0], a->trace) != INTMAP_NONE ||
	       intmap_get(&f->ids[1], a->trace) != INTMAP_NONE || a->ts <= f->unknown_to;
}

static void remember(struct forgotten *f, const struct strace *t)
{
	if (f->ids[0].n >= FORGOTTEN_KEPT) {
		f->unknown_to = MAX(f->unknown_to, f->last[1]);
		intmap_clear(&f->ids[1]);
		f->ids[1] = f->ids[0];
		f->last[1] = f->last[0];
		f->ids[0] = (struct intmap){ 0 };
		f->last[0] = INT64_MIN;
	}
	intmap_set(&f->ids[0], t->id, 1);
	f->last[0] = MAX(f->last[0], t->last);
}

static void forget_trace(struct spans *sp, guint i)
{
	struct strace *last = g_ptr_array_index(sp->traces, sp->traces->len - 1);
	const struct strace *t = g_ptr_array_index(sp->traces, i);
	remember(&sp->forgotten, t);
	intmap_set(&sp->by_id, last->id, i);
	intmap_remove(&sp->by_id, t->id);
	g_ptr_array_remove_index_fast(sp->traces, i);
}

/* Drops closed traces; the first instant that those left still need. */
static int64_t forget_traces(struct spans *sp, int64_t now)
{
	int64_t needed = now;
	for (guint i = sp->traces->len; i-- > 0;) {
		const struct strace *t = g_ptr_array_index(sp->traces, i);
		if (t->dirty || (t->open && !strace_closed(t, now)))
			needed = MIN(needed, t->first);
		else
			forget_trace(sp, i);
	}
	return needed;
}

static bool is_gone(uint64_t trace, void *data)
{
	const struct spans *sp = data;
	return intmap_get(&sp->by_id, trace) == INTMAP_NONE;
}

/* What no annotation says any more: spans that were published have references of their own. */
static void forget_texts(struct spans *sp)
{
	const struct slice *s = sp->s;
	size_t bytes = strtab_bytes(s->texts);
	if (bytes <= sp->texts_kept + MAX(sp->texts_kept, FEW_TEXTS))
		return;
	g_autofree guint8 *used = g_new0(guint8, strtab_n(s->texts));
	for (unsigned i = CORE_CS; i < CORE_N; i++)
		used[sp->core[i]] = 1;
	for (guint i = 0; i < s->annots->len; i++) {
		const struct annot *a = &g_array_index(s->annots, struct annot, i);
		used[a->name] = used[a->service] = used[a->ip] = used[a->key] = used[a->val] = 1;
	}
	strtab_forget(s->texts, used);
	memset(sp->no_error, 0, sizeof sp->no_error);
	sp->texts_kept = strtab_bytes(s->texts);
}

/* Keeps only the annotations of traces that are left; `map`: old to new number. */
static void compact_annots(struct spans *sp, uint32_t *map)
{
	GArray *all = sp->s->annots;
	guint kept = 0, done = 0;
	for (guint i = 0; i < all->len; i++) {
		struct annot *a = &g_array_index(all, struct annot, i);
		bool keep = i >= sp->done || intmap_get(&sp->by_id, a->trace) != INTMAP_NONE;
		map[i] = keep ? kept : ID_NONE;
		if (!keep) {
			slab_put(&sp->s->snaps, a->snap);
			continue;
		}
		done += i < sp->done;
		g_array_index(all, struct annot, kept++) = *a;
	}
	if (all->len > FEW && kept < all->len / HOLLOW) {
		sp->s->annots = g_array_sized_new(false, true, sizeof(struct annot), kept + 1);
		g_array_append_vals(sp->s->annots, all->data, kept);
		g_array_unref(all);
	} else {
		g_array_set_size(all, kept);
	}
	for (guint i = 0; i < done; i++) {
		struct annot *a = &g_array_index(sp->s->annots, struct annot, i);
		a->next = a->next == ID_NONE ? ID_NONE : map[a->next];
	}
	for (guint i = 0; i < sp->traces->len; i++) {
		struct strace *t = g_ptr_array_index(sp->traces, i);
		t->first_annot = map[t->first_annot];
		t->last_annot = map[t->last_annot];
	}
	sp->done = done;
}

/* An array keeps the room of its longest time; threads that are over would do so for ever. */
static void free_logs(struct thread *t)
{
	GArray **logs[] = { &t->annots, &t->open };
	if (!t->waits.len)
		vec_free(&t->waits);
	if (!t->calls.len)
		vec_free(&t->calls);
	for (size_t k = 0; k < G_N_ELEMENTS(logs); k++)
		if (*logs[k] && !(*logs[k])->len)
			g_clear_pointer(logs[k], g_array_unref);
}

static void trim_thread(struct thread *t, const uint32_t *map, int64_t needed)
{
	guint n = 0, kept = 0;
	for (guint i = 0; t->annots && i < t->annots->len; i++) {
		uint32_t id = map[g_array_index(t->annots, uint32_t, i)];
		if (id != ID_NONE)
			g_array_index(t->annots, uint32_t, kept++) = id;
	}
	if (t->annots)
		g_array_set_size(t->annots, kept);
	for (guint i = 0; i < t->head.len; i++) {
		struct rec *r = vec_at(&t->head, struct rec, i);
		if ((r->type == REC_SPAN || r->type == REC_MARK) && r->who != ID_NONE)
			r->who = map[r->who];
	}
	while (n < t->waits.len && vec_at(&t->waits, struct wait, n)->end < needed)
		n++;
	vec_drop(&t->waits, n, sizeof(struct wait));
	t->waits_base += n;
	for (n = 0; n < t->calls.len && vec_at(&t->calls, struct done_call, n)->end < needed;)
		n++;
	vec_drop(&t->calls, n, sizeof(struct done_call));
	for (n = kept = 0; t->open && n < t->open->len; n++)
		if (g_array_index(t->open, struct open_span, n).since >= needed)
			g_array_index(t->open, struct open_span, kept++) =
				g_array_index(t->open, struct open_span, n);
	if (t->open)
		g_array_set_size(t->open, kept);
	free_logs(t);
}

void spans_forget(struct spans *sp, int64_t now)
{
	bool crowded = sp->room && sp->s->annots->len > spans_most(sp);
	if (sp->forgot_at != INT64_MIN && now - sp->forgot_at < FORGET_EVERY_NS && !crowded)
		return;
	sp->forgot_at = now;
	int64_t needed = forget_traces(sp, now) - JUST_OUT_NS;
	g_autofree uint32_t *map = g_new(uint32_t, sp->s->annots->len + 1);
	compact_annots(sp, map);
	forget_texts(sp);
	pairs_forget(sp->pairs, is_gone, sp);
	runs_forget(sp->s, needed);
	for (guint i = 0; i < sp->s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(sp->s->threads, i);
		if (t->forward == ID_NONE)
			trim_thread(t, map, needed);
	}
}
