/* SPDX-License-Identifier: GPL-2.0-only */
/* Shares of time by phase and part, and the usual ones of operations: see usual.h. */
#include "views/usual.h"

#include "views/history.h"
#include "views/path.h"

#define MOST_SPANS 100000	/* in the trees that one usual is computed from, unless the first has more */
#define FRESH 8			/* usuals are computed anew when the number of spans changed by this share (1/8) */

/* ---- shares ---- */

static uint64_t share_key(const struct share *s)
{
	return reftext_pair(s->service, s->name) * 127 + (uint64_t)s->kind * PART_N + s->part;
}

static void shares_begin(struct shares *s)
{
	*s = (struct shares){ .list = g_array_new(FALSE, FALSE, sizeof(struct share)) };
}

static void shares_add(struct shares *s, const struct share *x)
{
	uint64_t key = share_key(x);
	uint32_t at = intmap_get(&s->at, key);
	if (at == INTMAP_NONE) {
		intmap_set(&s->at, key, s->list->len);
		g_array_append_vals(s->list, x, 1);
		return;
	}
	struct share *have = &g_array_index(s->list, struct share, at);
	have->ns += x->ns;
	if (x->node_ns > have->node_ns) {
		have->node = x->node;
		have->node_ns = x->node_ns;
	}
}

static int compare_nodes(const void *va, const void *vb)
{
	const struct path_share *a = va, *b = vb;
	return a->node != b->node ? a->node - b->node : (int)a->part - (int)b->part;
}

void shares_init(struct shares *s, const struct tree *t, int node)
{
	g_autoptr(GArray) path = path_shares(t, node);
	struct path_share *p = (struct path_share *)path->data;
	shares_begin(s);
	for (guint i = 0; i < path->len; i++)
		if (p[i].part == PART_WAKEUP)
			p[i].part = PART_PREEMPTED;
	g_array_sort(path, compare_nodes);
	for (guint i = 0, next; i < path->len; i = next) {
		const struct span *span = t->nodes[p[i].node].span;
		struct share x = { .service = span->service, .name = span->name, .kind = span->kind,
				   .part = p[i].part, .node = p[i].node };
		for (next = i; next < path->len && !compare_nodes(&p[i], &p[next]); next++)
			x.ns += p[next].ns;
		x.node_ns = x.ns;
		shares_add(s, &x);
	}
}

void shares_init_alone(struct shares *s, const struct tree *t, int node)
{
	const struct span *span = t->nodes[node].span;
	shares_begin(s);
	for (unsigned p = 0; p < PART_N; p++) {
		struct share x = { .service = span->service, .name = span->name, .kind = span->kind,
				   .part = p == PART_WAKEUP ? PART_PREEMPTED : p, .node = node,
				   .ns = span->part[p], .node_ns = span->part[p] };
		if (x.ns > 0)
			shares_add(s, &x);
	}
}

void shares_clear(struct shares *s)
{
	if (s->list)
		g_array_unref(s->list);
	intmap_clear(&s->at);
}

int64_t usual_ns(const struct shares *usual, const struct share *of)
{
	uint32_t at = intmap_get(&usual->at, share_key(of));
	return at == INTMAP_NONE ? 0 : g_array_index(usual->list, struct share, at).ns;
}

/* ---- the requests nearest to the usual of each operation ---- */

struct near { int64_t off; const struct span *span; };

struct operation {
	const char *service, *name;	/* reftexts, referenced */
	int64_t ns;			/* the usual duration */
	int n;
	struct near near[USUAL_REQUESTS];	/* by .off, then in order of beginning */
	bool made;
	struct shares usual;		/* .list NULL: unknown */
};

struct usuals {
	uint64_t version;		/* of the timeline */
	size_t n_spans;
	struct intmap at;		/* operation_key() -> index in .operations */
	GArray *operations;		/* struct operation */
};

void usuals_free(struct usuals *u)
{
	if (!u)
		return;
	for (guint i = 0; i < u->operations->len; i++) {
		struct operation *op = &g_array_index(u->operations, struct operation, i);
		struct shares *usual = &op->usual;
		for (guint k = 0; usual->list && k < usual->list->len; k++) {
			reftext_unref(g_array_index(usual->list, struct share, k).service);
			reftext_unref(g_array_index(usual->list, struct share, k).name);
		}
		shares_clear(usual);
		reftext_unref(op->service);
		reftext_unref(op->name);
	}
	g_array_unref(u->operations);
	intmap_clear(&u->at);
	g_free(u);
}

static bool is_nearer(const struct near *a, const struct near *b)
{
	if (a->off != b->off)
		return a->off < b->off;
	if (a->span->begin_ns != b->span->begin_ns)
		return a->span->begin_ns < b->span->begin_ns;
	if (a->span->trace_id != b->span->trace_id)
		return a->span->trace_id < b->span->trace_id;
	return a->span->span_id < b->span->span_id;
}

static uint64_t operation_key(const struct operation_info *info)
{
	return reftext_pair(info->service, info->name) * 2 + info->server;
}

static void add_near(struct usuals *u, const struct operation_info *info, const struct span *s)
{
	uint64_t key = operation_key(info);
	uint32_t at = intmap_get(&u->at, key);
	if (at == INTMAP_NONE) {
		at = u->operations->len;
		intmap_set(&u->at, key, at);
		g_array_set_size(u->operations, at + 1);
		struct operation *new = &g_array_index(u->operations, struct operation, at);
		new->service = reftext_ref(info->service);
		new->name = reftext_ref(info->name);
		new->ns = hist_quantile(&info->duration, 0.25);
	}
	struct operation *op = &g_array_index(u->operations, struct operation, at);
	struct near x = { ABS(span_duration(s) - op->ns), s };
	int most = (int)MIN(hist_count(&info->duration) / 4, USUAL_REQUESTS), i = op->n;
	if (i == most && !is_nearer(&x, &op->near[i - 1]))
		return;
	i -= i == most;
	op->n = i + 1;
	for (; i > 0 && is_nearer(&x, &op->near[i - 1]); i--)
		op->near[i] = op->near[i - 1];
	op->near[i] = x;
}

static struct usuals *usuals_new(const struct history *h)
{
	struct usuals *u = g_new0(struct usuals, 1);
	u->version = timeline_version(h->tl);
	u->n_spans = timeline_n_spans(h->tl);
	u->operations = g_array_new(FALSE, TRUE, sizeof(struct operation));
	for (size_t i = 0; i < u->n_spans; i++) {
		const struct span *s = timeline_span(h->tl, i);
		const struct operation_info *info = s->state == SPAN_COMPLETE ? history_operation(h, s) : NULL;
		if (info && hist_count(&info->duration) >= USUAL_LEAST)
			add_near(u, info, s);
	}
	return u;
}

/* ---- the usual of one operation ---- */

static int by_trace(const void *va, const void *vb)
{
	const struct near *a = va, *b = vb;
	return (a->span->trace_id > b->span->trace_id) - (a->span->trace_id < b->span->trace_id);
}

static void add_request(struct shares *usual, const struct tree *t, const struct span *s)
{
	struct shares one;
	int node = tree_find(t, s->span_id, (int)s->kind);
	if (node < 0)
		return;
	shares_init(&one, t, node);
	for (guint i = 0; i < one.list->len; i++) {
		struct share x = g_array_index(one.list, struct share, i);
		guint n = usual->list->len;
		x.node = -1;
		x.node_ns = 0;
		shares_add(usual, &x);
		if (usual->list->len > n) {	/* the usual outlives the spans */
			reftext_ref(x.service);
			reftext_ref(x.name);
		}
	}
	shares_clear(&one);
}

static void make_usual(const struct history *h, struct operation *op)
{
	g_autoptr(blk_tree) t = NULL;
	int n = 0;
	op->made = true;
	if (!op->n)
		return;
	shares_begin(&op->usual);
	qsort(op->near, (size_t)op->n, sizeof *op->near, by_trace);
	for (uint32_t spans = 0; n < op->n && (!n || spans <= MOST_SPANS); n++) {
		const struct span *s = op->near[n].span;
		if (!t || t->trace_id != s->trace_id) {
			tree_free(t);
			t = timeline_tree_new(h->tl, s->trace_id);
			spans += (uint32_t)t->n;
		}
		add_request(&op->usual, t, s);
	}
	for (guint i = 0; i < op->usual.list->len; i++)
		g_array_index(op->usual.list, struct share, i).ns /= n;
}

/* The operation. shares: its usual shares are made, or its nearest spans are still stored. NULL: no span of it is
 * stored. */
static struct operation *find_operation(struct history *h, const struct operation_info *info, bool shares)
{
	struct usuals *u = h->usuals;
	bool current = u && u->version == timeline_version(h->tl);
	size_t n = timeline_n_spans(h->tl), more = u ? MAX(n, u->n_spans) - MIN(n, u->n_spans) : 0;
	uint32_t at = u ? intmap_get(&u->at, operation_key(info)) : INTMAP_NONE;
	struct operation *op = at == INTMAP_NONE ? NULL : &g_array_index(u->operations, struct operation, at);
	if (current || (op && (op->made || !shares) && more * FRESH < u->n_spans))
		return op;
	usuals_free(u);
	h->usuals = usuals_new(h);
	return find_operation(h, info, shares);
}

static struct operation *operation_of(struct history *h, const struct span *s, bool shares)
{
	const struct operation_info *info = history_operation(h, s);
	return info && hist_count(&info->duration) >= USUAL_LEAST ? find_operation(h, info, shares) : NULL;
}

const struct shares *usual_of(struct history *h, const struct span *s)
{
	struct operation *op = operation_of(h, s, true);
	if (!op)
		return NULL;
	if (!op->made)
		make_usual(h, op);
	return op->usual.list ? &op->usual : NULL;
}

int64_t usual_duration(struct history *h, const struct span *s)
{
	const struct operation *op = operation_of(h, s, false);
	return op ? op->ns : -1;
}
