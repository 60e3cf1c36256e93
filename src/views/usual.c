/* SPDX-License-Identifier: GPL-2.0-only */
/* Shares of time by phase and part, and the usual ones of operations: see usual.h. */
#include "views/usual.h"

#include "base/each.h"
#include "base/sort.h"
#include "views/history.h"
#include "views/path.h"

#define MOST_SPANS 100000	/* in the trees that one usual is computed from, unless the first has more */
#define FRESH 8			/* usuals are computed anew when an operation has this share (1/8) of spans more */

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
	return a->node - b->node;
}

/* Adds the times of one span by part. */
static void add_parts(struct shares *s, const struct tree *t, int node, const int64_t part[PART_N])
{
	const struct span *span = t->nodes[node].span;
	for (unsigned p = 0; p < PART_N; p++) {
		struct share x = { .service = span->service, .name = span->name, .kind = span->kind,
				   .part = p == PART_WAKEUP ? PART_PREEMPTED : p, .node = node,
				   .ns = part[p], .node_ns = part[p] };
		if (x.ns > 0)
			shares_add(s, &x);
	}
}

/* A wait on a file has one part on the path, but often time of both: divides it as the span's own parts are. */
static void divide_files(const struct tree *t, int node, int64_t part[PART_N])
{
	int64_t own[PART_N], all = part[PART_DISK] + part[PART_WRITEBACK];
	if (!all)
		return;
	tree_self_parts(t, node, own);
	int64_t of = own[PART_DISK] + own[PART_WRITEBACK];
	if (!of)
		return;
	part[PART_WRITEBACK] = all == of ? own[PART_WRITEBACK] : (int64_t)((double)all * own[PART_WRITEBACK] / of);
	part[PART_DISK] = all - part[PART_WRITEBACK];
}

void shares_init(struct shares *s, const struct tree *t, int node)
{
	g_autoptr(GArray) path = path_shares(t, node);
	const struct path_share *p = (const struct path_share *)path->data;
	shares_begin(s);
	g_array_sort(path, compare_nodes);
	for (guint i = 0; i < path->len;) {
		int64_t part[PART_N] = { 0 };
		int of = p[i].node;
		for (; i < path->len && p[i].node == of; i++)
			part[p[i].part] += p[i].ns;
		divide_files(t, of, part);
		add_parts(s, t, of, part);
	}
}

void shares_init_alone(struct shares *s, const struct tree *t, int node)
{
	shares_begin(s);
	add_parts(s, t, node, t->nodes[node].span->part);
}

void shares_clear(struct shares *s)
{
	g_clear_pointer(&s->list, g_array_unref);
	intmap_clear(&s->at);
}

int64_t usual_ns(const struct shares *usual, const struct share *of)
{
	uint32_t at = intmap_get(&usual->at, share_key(of));
	return at == INTMAP_NONE ? 0 : g_array_index(usual->list, struct share, at).ns;
}

/* ---- the requests nearest to the usual of each operation ---- */

/* A span near the usual duration; by its ids, as it may be evicted before it is looked at. */
struct near { int64_t off, begin_ns; uint64_t trace_id, span_id; enum span_kind kind; };

struct operation {
	uint64_t key;			/* operation_key() */
	const char *service, *name;	/* reftexts, referenced */
	uint64_t count;			/* its spans when .near was found */
	int n;
	struct near near[USUAL_REQUESTS];	/* by .off, then in order of beginning */
	struct hist length;		/* of traces with messages; else unused, as the next one */
	int64_t p25;
	bool made;
	struct shares usual;		/* .list NULL: unknown */
};

struct usuals {
	uint64_t version;		/* of the timeline */
	struct intmap at;		/* operation_key() -> index in .operations */
	GArray *operations;		/* struct operation */
};

void usuals_free(struct usuals *u)
{
	if (!u)
		return;
	ARRAY_EACH(struct operation, op, u->operations) {
		struct shares *usual = &op->usual;
		for (guint k = 0; usual->list && k < usual->list->len; k++) {
			reftext_unref(g_array_index(usual->list, struct share, k).service);
			reftext_unref(g_array_index(usual->list, struct share, k).name);
		}
		shares_clear(usual);
		hist_clear(&op->length);
		reftext_unref(op->service);
		reftext_unref(op->name);
	}
	g_array_unref(u->operations);
	intmap_clear(&u->at);
	g_free(u);
}

/* The span's operation; NULL: it has too few spans. */
static const struct operation_info *known_operation(const struct history *h, const struct span *s)
{
	const struct operation_info *info = history_operation(h, s);
	return info && hist_count(&info->duration) >= USUAL_LEAST ? info : NULL;
}

static bool is_nearer(const struct near *a, const struct near *b)
{
	if (a->off != b->off)
		return a->off < b->off;
	if (a->begin_ns != b->begin_ns)
		return a->begin_ns < b->begin_ns;
	if (a->trace_id != b->trace_id)
		return a->trace_id < b->trace_id;
	return a->span_id < b->span_id;
}

static uint64_t operation_key(const char *service, const char *name, bool server)
{
	return reftext_pair(service, name) * 2 + server;
}

static struct operation *operation_in(const struct usuals *u, uint64_t key)
{
	uint32_t at = intmap_get(&u->at, key);
	return at == INTMAP_NONE ? NULL : &g_array_index(u->operations, struct operation, at);
}

static struct operation *add_operation(struct usuals *u, const char *service, const char *name, bool server)
{
	uint64_t key = operation_key(service, name, server);
	struct operation *have = operation_in(u, key);
	if (have)
		return have;
	struct operation new = { .key = key, .service = reftext_ref(service), .name = reftext_ref(name) };
	intmap_set(&u->at, key, u->operations->len);
	g_array_append_val(u->operations, new);
	return operation_in(u, key);
}

/* off: how far the span, or its trace, is from the usual (ns). */
static void add_near(struct operation *op, const struct span *s, int64_t off)
{
	struct near x = { off, s->begin_ns, s->trace_id, s->span_id, s->kind };
	int most = (int)MIN(op->count / 4, USUAL_REQUESTS), i = op->n;
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
	u->version = timeline_facts(h->tl)->version;
	u->operations = g_array_new(FALSE, TRUE, sizeof(struct operation));
	for (size_t i = 0; i < timeline_n_spans(h->tl); i++) {
		const struct span *s = timeline_span(h->tl, i);
		const struct operation_info *info = span_has_duration(s) ? known_operation(h, s) : NULL;
		struct operation *op = info ? add_operation(u, info->service, info->name, info->server) : NULL;
		if (!op)
			continue;
		op->count = hist_count(&info->duration);
		add_near(op, s, ABS(span_duration(s) - info->p25));
	}
	return u;
}

/* ---- the usual of one operation ---- */

static int by_trace(const void *va, const void *vb)
{
	const struct near *a = va, *b = vb;
	return ORDER(a->trace_id, b->trace_id);
}

/* node: or PATH_TRACE. */
static void add_request(struct shares *usual, const struct tree *t, int node)
{
	struct shares one;
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

static void make_usual(const struct history *h, struct operation *op, bool of_traces)
{
	g_autoptr(blk_tree) t = NULL;
	uint32_t spans = 0;
	int n = 0;
	op->made = true;
	shares_begin(&op->usual);
	qsort(op->near, (size_t)op->n, sizeof *op->near, by_trace);
	for (int i = 0; i < op->n && (!n || spans <= MOST_SPANS); i++) {
		const struct near *x = &op->near[i];
		if (!t || t->trace_id != x->trace_id) {
			tree_free(t);
			t = timeline_tree_new(h->tl, x->trace_id);
			spans += (uint32_t)t->n;
		}
		int node = tree_find(t, x->span_id, (int)x->kind);
		if (node >= 0)
			add_request(&op->usual, t, of_traces ? PATH_TRACE : node);
		n += node >= 0;
	}
	for (guint i = 0; i < op->usual.list->len; i++)
		g_array_index(op->usual.list, struct share, i).ns /= n;
	if (!n)
		shares_clear(&op->usual);
}

/* NULL: no span of the operation is stored. */
static struct operation *find_operation(struct history *h, const struct operation_info *info)
{
	struct usuals *u = h->usuals;
	struct operation *op = u ? operation_in(u, operation_key(info->service, info->name, info->server)) : NULL;
	if (u && u->version == timeline_facts(h->tl)->version)
		return op;
	if (op && (hist_count(&info->duration) - op->count) * FRESH < op->count)
		return op;
	usuals_free(u);
	h->usuals = usuals_new(h);
	return find_operation(h, info);
}

const struct shares *usual_of(struct history *h, const struct span *s)
{
	const struct operation_info *info = known_operation(h, s);
	struct operation *op = info ? find_operation(h, info) : NULL;
	if (!op)
		return NULL;
	if (!op->made)
		make_usual(h, op, false);
	return op->usual.list ? &op->usual : NULL;
}

int64_t usual_duration(const struct history *h, const struct span *s)
{
	const struct operation_info *info = known_operation(h, s);
	return info ? info->p25 : -1;
}

/* ---- traces with messages ---- */

/* Are its duration and its root known? */
static bool counts(const struct trace_info *t)
{
	return trace_has_messages(t) && t->has_root && !t->open && span_has_duration(t->root);
}

static uint64_t key_of_root(const struct span *root)
{
	return operation_key(root->service, root->name, root->kind == SPAN_SERVER);
}

/* The shares stay until there are an eighth more traces, as they need the trees of some. */
static void take_made(struct operation *to, struct operation *from)
{
	if (!from || !from->made || (to->count - from->count) * FRESH >= from->count)
		return;
	to->made = true;
	to->usual = from->usual;
	from->usual = (struct shares){ 0 };
}

static struct usuals *usual_traces_new(const struct history *h)
{
	struct usuals *u = g_new0(struct usuals, 1);
	u->version = timeline_facts(h->tl)->version;
	u->operations = g_array_new(FALSE, TRUE, sizeof(struct operation));
	for (size_t i = 0; i < timeline_n_traces(h->tl); i++) {
		const struct trace_info *t = timeline_trace(h->tl, i);
		const struct span *r = t->root;
		if (counts(t))
			hist_add(&add_operation(u, r->service, r->name, r->kind == SPAN_SERVER)->length,
				 trace_duration(t));
	}
	ARRAY_EACH(struct operation, op, u->operations) {
		op->count = hist_count(&op->length);
		op->p25 = hist_quantile(&op->length, 0.25);
	}
	for (size_t i = 0; u->operations->len && i < timeline_n_traces(h->tl); i++) {
		const struct trace_info *t = timeline_trace(h->tl, i);
		struct operation *op = counts(t) ? operation_in(u, key_of_root(t->root)) : NULL;
		if (op && op->count >= USUAL_LEAST)
			add_near(op, t->root, ABS(trace_duration(t) - op->p25));
	}
	return u;
}

/* NULL: no trace with messages and such a root is known. */
static struct operation *traces_like(struct history *h, const struct trace_info *t)
{
	struct usuals *before = h->usual_traces;
	if (!before || before->version != timeline_facts(h->tl)->version) {
		h->usual_traces = usual_traces_new(h);
		ARRAY_EACH(struct operation, op, h->usual_traces->operations)
			take_made(op, before ? operation_in(before, op->key) : NULL);
		usuals_free(before);
	}
	return operation_in(h->usual_traces, key_of_root(t->root));
}

const struct shares *usual_of_trace(struct history *h, const struct trace_info *t)
{
	struct operation *op = trace_has_messages(t) ? traces_like(h, t) : NULL;
	if (!trace_has_messages(t))
		return usual_of(h, t->root);
	if (!op || op->count < USUAL_LEAST)
		return NULL;
	if (!op->made)
		make_usual(h, op, true);
	return op->usual.list ? &op->usual : NULL;
}

int64_t usual_trace_duration(struct history *h, const struct trace_info *t)
{
	const struct operation *op = trace_has_messages(t) ? traces_like(h, t) : NULL;
	if (!trace_has_messages(t))
		return usual_duration(h, t->root);
	return op && op->count >= USUAL_LEAST ? op->p25 : -1;
}

int64_t usual_of_any_trace(struct history *h, const struct trace_info *t)
{
	const struct operation *op = trace_has_messages(t) ? traces_like(h, t) : NULL;
	return !trace_has_messages(t) ? history_usual(h, t->root) : op ? op->p25 : -1;
}

double usual_x_trace(struct history *h, const struct trace_info *t)
{
	int64_t usual = usual_of_any_trace(h, t);
	return usual > 0 && t->root->state != SPAN_PARTIAL ? (double)trace_duration(t) / (double)usual : -1;
}

bool usual_trace_is_slow(struct history *h, const struct trace_info *t)
{
	return usual_is_slow(usual_of_any_trace(h, t), trace_duration(t));
}
