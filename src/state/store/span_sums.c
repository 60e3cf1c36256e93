/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of evicted spans: see span_sums.h. A hash table with open addressing; its entries are in a list. */
#include "state/store/span_sums.h"

#include "base/timefmt.h"
#include "state/store/span_tree.h"

#include <string.h>

#define WIDEST_STEP ((INT64_C(1) << 17) * NS_PER_S)	/* 36 hours */
#define MOST_SUMS 32768
#define FEWEST_SUMS 128
#define SHARE 32			/* the sums, without their buckets, use at most 1/32 of the budget */

static void clear_sum(void *data)
{
	struct span_sum *s = data;
	reftext_unref(s->key.service);
	reftext_unref(s->key.name);
	reftext_unref(s->key.operation_service);
	reftext_unref(s->key.operation);
	hist_clear(&s->duration);
	hist_clear(&s->gaps);
}

static GArray *list_new(void)
{
	GArray *a = g_array_new(false, true, sizeof(struct span_sum));
	g_array_set_clear_func(a, clear_sum);
	return a;
}

void span_sums_init(struct span_sums *sums, size_t memory_budget)
{
	size_t most = memory_budget / SHARE / sizeof(struct span_sum);
	*sums = (struct span_sums){ .list = list_new(), .step_ns = NS_PER_S,
		.most = memory_budget ? (guint)CLAMP(most, FEWEST_SUMS, MOST_SUMS) : MOST_SUMS };
}

void span_sums_clear(struct span_sums *sums)
{
	g_array_unref(sums->list);
	intmap_clear(&sums->index);
}

size_t span_sums_bytes(const struct span_sums *sums)
{
	size_t bytes = sums->index.mask * (sizeof(uint64_t) + sizeof(uint32_t));
	for (guint i = 0; i < sums->list->len; i++) {
		const struct span_sum *s = &g_array_index(sums->list, struct span_sum, i);
		bytes += sizeof(*s) + hist_bytes(&s->duration) + hist_bytes(&s->gaps) +
			 reftext_bytes(s->key.service) + reftext_bytes(s->key.name) +
			 reftext_bytes(s->key.operation_service) + reftext_bytes(s->key.operation);
	}
	return bytes;
}

static uint64_t hash(const struct span_sum_key *key, int64_t slot)
{
	const uint64_t word[] = { key->of, reftext_pair(key->service, key->name), key->kind,
				  reftext_pair(key->operation_service, key->operation), key->top };
	uint64_t h = (uint64_t)slot;
	for (size_t i = 0; i < G_N_ELEMENTS(word); i++)
		h = (h ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ h >> 29;
	return h;
}

static bool same_key(const struct span_sum_key *x, const struct span_sum_key *y)
{
	return x->of == y->of && x->others == y->others && x->kind == y->kind && x->top == y->top &&
	       x->service == y->service && x->name == y->name && x->operation == y->operation &&
	       x->operation_service == y->operation_service;
}

/* NULL: the sum does not exist; *ret_free is its free slot. */
static struct span_sum *find(const struct span_sums *sums, const struct span_sum_key *key,
			     int64_t slot, uint64_t *ret_free)
{
	for (uint64_t h = hash(key, slot);; h++) {
		uint32_t i = intmap_get(&sums->index, h);
		*ret_free = h;
		if (i == INTMAP_NONE)
			return NULL;
		g_assert(i < sums->list->len);
		struct span_sum *s = &g_array_index(sums->list, struct span_sum, i);
		if (s->slot == slot && same_key(&s->key, key))
			return s;
	}
}

static struct span_sum *find_or_add(struct span_sums *sums, const struct span_sum_key *key,
				    int64_t slot)
{
	uint64_t place;
	struct span_sum *have = find(sums, key, slot, &place);
	struct span_sum fresh = { .key = *key, .slot = slot, .begin_ns = INT64_MAX,
				  .end_ns = INT64_MIN };
	if (have)
		return have;
	reftext_ref(key->service);
	reftext_ref(key->name);
	reftext_ref(key->operation_service);
	reftext_ref(key->operation);
	intmap_set(&sums->index, place, sums->list->len);
	g_array_append_val(sums->list, fresh);
	return &g_array_index(sums->list, struct span_sum, sums->list->len - 1);
}

static void add_sum(struct span_sum *to, const struct span_sum *from)
{
	to->begin_ns = MIN(to->begin_ns, from->begin_ns);
	to->end_ns = MAX(to->end_ns, from->end_ns);
	to->count += from->count;
	to->errors += from->errors;
	to->self_ns += from->self_ns;
	to->parents_ns += from->parents_ns;
	to->skewed += from->skewed;
	for (unsigned p = 0; p < PART_N; p++)
		to->part[p] += from->part[p];
	hist_merge(&to->duration, &from->duration);
	hist_merge(&to->gaps, &from->gaps);
}

/* Doubles the time step and merges the sums accordingly. */
static void fold(struct span_sums *sums)
{
	g_assert(sums->step_ns < WIDEST_STEP);
	g_autoptr(GArray) old = sums->list;
	sums->list = list_new();
	intmap_clear(&sums->index);
	sums->step_ns *= 2;
	for (guint i = 0; i < old->len; i++) {
		const struct span_sum *s = &g_array_index(old, struct span_sum, i);
		int64_t slot = time_floor(s->slot, sums->step_ns);
		add_sum(find_or_add(sums, &s->key, slot), s);
	}
}

/* The sum for a span that ended at `at` (ns); adds one, or makes room. Valid until the next call. */
static struct span_sum *sum_at(struct span_sums *sums, const struct span_sum_key *key, int64_t at)
{
	struct span_sum_key others = { .of = key->of, .others = true };
	uint64_t place;
	struct span_sum *s = find(sums, key, time_floor(at, sums->step_ns), &place);
	while (!s && sums->list->len >= sums->most && sums->step_ns < WIDEST_STEP) {
		fold(sums);
		s = find(sums, key, time_floor(at, sums->step_ns), &place);
	}
	if (!s && sums->list->len >= sums->most)
		s = find_or_add(sums, &others, 0);
	else if (!s)
		s = find_or_add(sums, key, time_floor(at, sums->step_ns));
	g_assert(sums->list->len <= sums->most + SUM_TRACE + 1);	/* .others: one of each kind */
	s->begin_ns = MIN(s->begin_ns, at);
	s->end_ns = MAX(s->end_ns, at + 1);
	return s;
}

static void add_duration(struct span_sum *to, const int64_t part[PART_N], int64_t ns)
{
	to->count++;
	for (unsigned p = 0; p < PART_N; p++)
		to->part[p] += part[p];
	hist_add(&to->duration, ns);
}

static void add_span(struct span_sums *sums, const struct span *s)
{
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_SPAN, .service = s->service, .name = s->name, .kind = s->kind,
		.top = span_is_request(s) }, s->end_ns);
	add_duration(to, s->part, span_duration(s));
	to->errors += s->errors;
	to->self_ns += s->self_ns;
}

static void add_call(struct span_sums *sums, const struct tree *t, int i)
{
	const struct span *s = t->nodes[i].span, *caller;
	int64_t gap;
	if (!tree_is_call(t, i, &caller))
		return;
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_CALL, .service = s->service,
		.operation_service = caller ? caller->service : NULL }, s->end_ns);
	add_duration(to, s->part, tree_call_ns(caller, s));
	to->errors += s->errors;
	if (!tree_call_gap(caller, s, &gap))
		return;
	if (gap < 0)
		to->skewed++;
	else
		hist_add(&to->gaps, gap);
}

/* A call to an untraced service: all its time is unknown. */
static void add_call_outside(struct span_sums *sums, const struct tree *t, int i)
{
	const struct span *s = t->nodes[i].span;
	const char *service = tree_called_outside(t, i);
	if (!service)
		return;
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_CALL, .service = service, .operation_service = s->service }, s->end_ns);
	const int64_t part[PART_N] = { [PART_UNKNOWN] = span_duration(s) };
	add_duration(to, part, span_duration(s));
	to->errors += s->errors;
}

/* Phases that were counted already, by parent. */
struct seen {
	struct intmap phase[SPAN_SERVER + 1];	/* of each kind: service and name -> number */
	struct intmap pairs;	/* set of phase << 32 | parent node */
	uint32_t n;		/* phases */
};

/* Is it the first span of its phase below that parent? A parent's time counts once, even if several such children
 * exist. */
static bool is_first(struct seen *seen, const struct span *s, int parent)
{
	struct intmap *phases = &seen->phase[s->kind];
	g_assert((unsigned)s->kind < G_N_ELEMENTS(seen->phase));
	uint64_t name = reftext_pair(s->service, s->name);
	uint32_t phase = intmap_get(phases, name);
	if (phase == INTMAP_NONE) {
		phase = seen->n++;
		intmap_set(phases, name, phase);
	}
	uint64_t pair = (uint64_t)phase << 32 | (uint32_t)parent;
	if (intmap_get(&seen->pairs, pair) != INTMAP_NONE)
		return false;
	intmap_set(&seen->pairs, pair, 1);
	return true;
}

static void add_phase(struct span_sums *sums, const struct tree *t, int root, int i,
		      struct seen *seen)
{
	const struct span *s = t->nodes[i].span, *top = t->nodes[root].span;
	int parent = t->nodes[i].parent;
	if (s->state == SPAN_OPEN)
		return;
	g_assert(i == root || (parent >= root && parent < i));	/* parents come before their children */
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_PHASE, .service = s->service, .name = s->name, .kind = s->kind,
		.operation_service = top->service, .operation = top->name, .top = i == root,
		}, top->end_ns);
	add_duration(to, s->part, span_duration(s));
	to->errors += s->errors;
	to->self_ns += s->self_ns;
	if (i > root && is_first(seen, s, parent))
		to->parents_ns += span_duration(t->nodes[parent].span);
}

static void add_operation(struct span_sums *sums, const struct tree *t, int root)
{
	const struct span *top = t->nodes[root].span;
	struct seen seen = { 0 };
	int64_t part[PART_N];
	int end = tree_end(t, root);
	if (top->state == SPAN_OPEN)
		return;
	for (int i = root; i < end; i++)
		add_phase(sums, t, root, i, &seen);
	for (size_t i = 0; i < G_N_ELEMENTS(seen.phase); i++)
		intmap_clear(&seen.phase[i]);
	intmap_clear(&seen.pairs);
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_SELF, .service = top->service, .name = top->name, .kind = top->kind,
		.operation_service = top->service, .operation = top->name }, top->end_ns);
	tree_self_parts(t, root, part);
	add_duration(to, part, top->self_ns);
	to->self_ns += top->self_ns;
	to->parents_ns += span_duration(top);
}

/* One sum for each trace, as in the p99 strip of the screen. */
static void add_trace(struct span_sums *sums, const struct tree *t)
{
	const struct span *root = t->n ? t->nodes[0].span : NULL;
	for (int i = 1; i < t->n; i++)
		if (span_is_better_root(t->nodes[i].span, root))
			root = t->nodes[i].span;
	if (!root || root->state == SPAN_OPEN)
		return;
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_TRACE, .service = root->service, .name = root->name, .kind = root->kind,
		.top = !root->parent_id },
		root->end_ns);
	add_duration(to, root->part, span_duration(root));
}

void span_sums_add(struct span_sums *sums, const struct tree *t)
{
	add_trace(sums, t);
	for (int i = 0; i < t->n; i++) {
		if (t->nodes[i].span->state != SPAN_OPEN) {
			add_span(sums, t->nodes[i].span);
			add_call(sums, t, i);
			add_call_outside(sums, t, i);
		}
		if (t->nodes[i].parent < 0)
			add_operation(sums, t, i);
	}
}
