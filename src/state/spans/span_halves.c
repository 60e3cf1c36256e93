/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Halves of a span: client and server share a span id. Several services may begin it: a request to two servers, or an
 * id that is used twice. Then each service has its own half.
 */
#include "state/spans/span_halves.h"

#include "base/limits.h"

/* The service and thread of a half, from its first core annotation. .end: its last core annotation. */
struct owner { uint32_t service, thread, host; bool server; int64_t begin, end; };
struct half_owners { struct owner of[LIMIT_SPAN_HALVES]; guint n; };

static bool is_server(enum core c)
{
	return c == CORE_SR || c == CORE_SS;
}

static bool is_client(enum core c)
{
	return c == CORE_CS || c == CORE_CR;
}

static void add_half(struct spans *sp, const uint32_t *ids, guint n, enum span_kind kind, guint nth)
{
	G_STATIC_ASSERT(LIMIT_SPAN_HALVES <= UINT8_MAX);	/* .nth */
	g_assert(n > 0);
	const struct annot *first = &g_array_index(sp->s->annots, struct annot, ids[0]);
	struct half h = {
		.annots = ids, .n_annots = n, .kind = kind, .nth = (uint8_t)nth, .id = first->span,
		.thread = ID_NONE, .service = first->service,
	};
	for (guint i = 0; i < n && !h.parent; i++) {
		const struct annot *a = &g_array_index(sp->s->annots, struct annot, ids[i]);
		h.parent = a->mark == MARK_LINK_IN ? 0 : a->parent;	/* a link's is another span */
	}
	*vec_add(&sp->halves, struct half) = h;
}

/* Finds the owners of one kind: the services that begin the span; if there are none, the services that end it. */
static void find_owners(const struct spans *sp, const uint32_t *ids, guint n, bool server, struct half_owners *to)
{
	guint before = to->n, most = server ? LIMIT_SPAN_HALVES : LIMIT_SPAN_HALVES / 2;
	for (int begins = 1; begins >= 0 && to->n == before; begins--)
		for (guint i = 0; i < n && to->n < most; i++) {
			const struct annot *a = &g_array_index(sp->s->annots, struct annot, ids[i]);
			enum core c = spans_core(sp, a);
			bool known = server ? !is_server(c) : !is_client(c);
			known |= core_is_end(c) == begins || (!begins && to->n > before);
			for (guint k = before; k < to->n && !known; k++)
				known = to->of[k].service == a->service;
			if (!known)
				to->of[to->n++] = (struct owner){ a->service, a->thread, a->host, server, a->ts,
								  a->ts };
		}
}

/* The owner of an annotation: as span_fit(), the one of its service, of its thread, the one that was open then, a
 * server, the first. A core annotation belongs to an owner of its kind. */
static guint owner_of(const struct half_owners *o, const struct annot *a, enum core c)
{
	bool core = is_client(c) || is_server(c);
	guint best = 0, best_fit = 0;
	for (guint i = 0; i < o->n; i++) {
		if (core && o->of[i].server != is_server(c))
			continue;
		bool thread = a->thread != ID_NONE && o->of[i].thread == a->thread;
		bool open = o->of[i].host == a->host && a->ts >= o->of[i].begin && a->ts <= o->of[i].end;
		guint fit = 1 + 8 * (o->of[i].service == a->service) + 4 * thread + 2 * open;
		fit += !core && open && o->of[i].server;
		if (fit > best_fit) {
			best_fit = fit;
			best = i;
		}
	}
	return best;
}

/* Sets .end of the owners. A half without an end is open until the last annotation. */
static void find_ends(const struct spans *sp, const uint32_t *ids, guint n, struct half_owners *o)
{
	bool ended[LIMIT_SPAN_HALVES] = { false };
	for (guint i = 0; i < n; i++) {
		const struct annot *a = &g_array_index(sp->s->annots, struct annot, ids[i]);
		enum core c = spans_core(sp, a);
		guint k = core_is_end(c) && (is_client(c) || is_server(c)) ? owner_of(o, a, c) : o->n;
		if (k == o->n)
			continue;
		o->of[k].end = MAX(o->of[k].end, a->ts);
		ended[k] = true;
	}
	for (guint k = 0; k < o->n; k++)
		o->of[k].end = ended[k] ? o->of[k].end : INT64_MAX;
}

/* Sorts annotations by half; their order within a half is retained. at[i]: where the i-th half begins. */
static void sort_by_owner(struct spans *sp, const struct half_owners *o, uint32_t *ids, guint n, guint *at)
{
	g_assert(o->n > 0 && o->n <= LIMIT_SPAN_HALVES);
	g_autofree uint32_t *before = g_memdup2(ids, n * sizeof *ids);
	g_autofree guint8 *owner = g_new(guint8, n);
	guint to[LIMIT_SPAN_HALVES], count[LIMIT_SPAN_HALVES] = { 0 };

	for (guint i = 0; i < n; i++) {
		const struct annot *a = &g_array_index(sp->s->annots, struct annot, ids[i]);
		owner[i] = (guint8)owner_of(o, a, spans_core(sp, a));
		count[owner[i]]++;
	}
	at[0] = 0;
	for (guint k = 0; k < o->n; k++) {
		to[k] = at[k];
		at[k + 1] = at[k] + count[k];
	}
	for (guint i = 0; i < n; i++)
		ids[to[owner[i]]++] = before[i];
	g_assert(at[o->n] == n);		/* each annotation has a half */
}

static void split(struct spans *sp, uint32_t *ids, guint n)
{
	uint64_t parent = g_array_index(sp->s->annots, struct annot, ids[0]).parent;
	guint at[LIMIT_SPAN_HALVES + 1], nth[2] = { 0 }, first = sp->halves.len;
	struct half_owners o = { .n = 0 };

	find_owners(sp, ids, n, false, &o);
	find_owners(sp, ids, n, true, &o);
	find_ends(sp, ids, n, &o);
	sort_by_owner(sp, &o, ids, n, at);
	for (guint k = 0; k < o.n; k++)
		if (at[k + 1] > at[k])
			add_half(sp, ids + at[k], at[k + 1] - at[k],
				 o.of[k].server ? SPAN_SERVER : SPAN_CLIENT, nth[o.of[k].server]++);
	for (guint i = first; i < sp->halves.len; i++)
		if (!half_at(sp, i)->parent)
			half_at(sp, i)->parent = parent;
}

void spans_split(struct spans *sp, uint32_t *ids, guint n)
{
	const struct annot *annots = (const struct annot *)sp->s->annots->data;
	const struct annot *begun[2] = { NULL };	/* the first annotation that begins the client's half, and
							 * the server's */
	bool has[2] = { false }, several = false;

	for (guint i = 0; i < n; i++) {
		const struct annot *a = &annots[ids[i]];
		enum core c = spans_core(sp, a);
		if (!is_client(c) && !is_server(c))
			continue;
		has[is_server(c)] = true;
		const struct annot **first = &begun[is_server(c)];
		if (core_is_end(c))
			continue;
		several |= *first && (*first)->service != a->service;
		*first = *first ? *first : a;
	}
	if (several || (has[0] && has[1]))
		split(sp, ids, n);
	else
		add_half(sp, ids, n, has[0] ? SPAN_CLIENT : has[1] ? SPAN_SERVER : SPAN_LOCAL, 0);
}
