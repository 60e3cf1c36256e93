/* SPDX-License-Identifier: GPL-2.0-only */
/* Sums of evicted spans: see span_sums.h. */
#include "state/store/span_sums.h"

#include "base/each.h"
#include "base/mix.h"
#include "base/timefmt.h"
#include "state/store/span_tree.h"

#include <string.h>

#define LEVELS 31			/* so many lengths: of a second, up to 34 years */
#define MOST_SUMS (1u << 17)
#define FEWEST_SUMS 512
#define SHARE 16			/* the sums, without their buckets, use at most 1/16 of the budget */
#define STEP_SHARE 4			/* a second has at most 1/4 of them, */
#define FOLDED_SHARE 2			/* several at most 1/2 */
#define NEWEST 10			/* the newest steps: folded when no older one can be */
#define FIXED 2				/* the newest of them: never folded */

static void clear_sum(struct span_sum *s)
{
	reftext_unref(s->key.service);
	reftext_unref(s->key.name);
	reftext_unref(s->key.operation_service);
	reftext_unref(s->key.operation);
	hist_clear(&s->duration);
	hist_clear(&s->gaps);
}

static void clear_step(void *data)
{
	struct sum_step *step = data;
	for (guint i = 0; i < step->n; i++)
		clear_sum(&step->sum[i]);
	g_free(step->sum);
	intmap_clear(&step->index);
}

static struct sum_step *step_at(const struct span_sums *sums, guint i)
{
	return &g_array_index(sums->steps, struct sum_step, i);
}

void span_sums_init(struct span_sums *sums, size_t memory_budget)
{
	size_t most = memory_budget / SHARE / sizeof(struct span_sum);
	*sums = (struct span_sums){
		.steps = g_array_new(false, true, sizeof(struct sum_step)), .retained_from = INT64_MAX,
		.shortest_ns = NS_PER_S,
		.most = memory_budget ? (guint)CLAMP(most, FEWEST_SUMS, MOST_SUMS) : MOST_SUMS,
	};
	g_array_set_clear_func(sums->steps, clear_step);
}

void span_sums_clear(struct span_sums *sums)
{
	g_array_unref(sums->steps);
}

/* ---- memory ---- */

/* What is seldom looked up has no index, and no room for more. */
static void pack_step(struct sum_step *step)
{
	intmap_clear(&step->index);
	step->sum = g_renew(struct span_sum, step->sum, step->n);
	step->room = step->n;
	for (guint i = 0; i < step->n; i++) {
		hist_pack(&step->sum[i].duration);
		hist_pack(&step->sum[i].gaps);
	}
}

static void weigh_step(struct sum_step *step)
{
	step->changed = false;
	step->bytes = sizeof(*step) + step->room * sizeof(*step->sum) +
		      step->index.mask * (sizeof(uint64_t) + sizeof(uint32_t));
	for (guint i = 0; i < step->n; i++) {
		const struct span_sum *s = &step->sum[i];
		step->bytes += hist_bytes(&s->duration) + hist_bytes(&s->gaps) +
			       reftext_bytes(s->key.service) + reftext_bytes(s->key.name) +
			       reftext_bytes(s->key.operation_service) + reftext_bytes(s->key.operation);
	}
}

size_t span_sums_bytes(struct span_sums *sums)
{
	size_t bytes = 0;
	for (guint i = 0; i < sums->steps->len; i++) {
		struct sum_step *step = step_at(sums, i);
		if (step->index.n && i + FIXED < sums->steps->len) {
			pack_step(step);
			step->changed = true;
		}
		if (step->changed)
			weigh_step(step);
		bytes += step->bytes;
	}
	return bytes;
}

/* ---- keys ---- */

static uint64_t hash(const struct span_sum_key *key)
{
	const uint64_t word[] = { key->of, reftext_pair(key->service, key->name), key->kind,
				  reftext_pair(key->operation_service, key->operation),
				  (uint64_t)key->top << 2 | (uint64_t)key->partial << 1 | key->failed };
	uint64_t h = 0;
	for (size_t i = 0; i < G_N_ELEMENTS(word); i++)
		h = mix(h, word[i]);
	return h;
}

static bool same_key(const struct span_sum_key *x, const struct span_sum_key *y)
{
	return x->of == y->of && x->others == y->others && x->kind == y->kind && x->top == y->top &&
	       x->partial == y->partial && x->failed == y->failed && x->service == y->service && x->name == y->name &&
	       x->operation == y->operation && x->operation_service == y->operation_service;
}

static void make_index(struct sum_step *step)
{
	for (guint i = 0; i < step->n; i++) {
		uint64_t h = hash(&step->sum[i].key);
		while (intmap_get(&step->index, h) != INTMAP_NONE)
			h++;
		intmap_set(&step->index, h, i);
	}
}

/* NULL: the sum does not exist; *ret_free is its free place in the index. */
static struct span_sum *find(struct sum_step *step, const struct span_sum_key *key, uint64_t *ret_free)
{
	if (!step->index.n)
		make_index(step);
	for (uint64_t h = hash(key);; h++) {
		uint32_t i = intmap_get(&step->index, h);
		*ret_free = h;
		if (i == INTMAP_NONE)
			return NULL;
		g_assert(i < step->n);
		if (same_key(&step->sum[i].key, key))
			return &step->sum[i];
	}
}

static struct span_sum *add_key(struct span_sums *sums, struct sum_step *step, const struct span_sum_key *key,
				uint64_t place)
{
	if (step->n == step->room) {
		step->room = MAX(16, step->room * 2);
		step->sum = g_renew(struct span_sum, step->sum, step->room);
	}
	reftext_ref(key->service);
	reftext_ref(key->name);
	reftext_ref(key->operation_service);
	reftext_ref(key->operation);
	intmap_set(&step->index, place, step->n);
	step->sum[step->n] = (struct span_sum){ .key = *key, .begin_ns = INT64_MAX, .end_ns = INT64_MIN };
	sums->n++;
	return &step->sum[step->n++];
}

/* The sum of this key, or .others if the step has no room for it. */
static struct span_sum *find_or_add(struct span_sums *sums, struct sum_step *step, const struct span_sum_key *key,
				    guint most)
{
	const struct span_sum_key others = { .of = key->of, .others = true };
	uint64_t place;
	struct span_sum *s = find(step, key, &place);
	step->changed = true;
	if (!s && step->n >= most && !key->others) {
		key = &others;
		s = find(step, key, &place);
	}
	return s ? s : add_key(sums, step, key, place);
}

static void add_sum(struct span_sum *to, const struct span_sum *from)
{
	to->begin_ns = MIN(to->begin_ns, from->begin_ns);
	to->end_ns = MAX(to->end_ns, from->end_ns);
	to->count += from->count;
	to->errors += from->errors;
	to->partial += from->partial;
	to->partial_ns += from->partial_ns;
	to->self_ns += from->self_ns;
	to->parents_ns += from->parents_ns;
	to->skewed += from->skewed;
	for (unsigned p = 0; p < PART_N; p++)
		to->part[p] += from->part[p];
	hist_merge(&to->duration, &from->duration);
	hist_merge(&to->gaps, &from->gaps);
}

/* ---- steps ---- */

static int64_t step_end(const struct sum_step *step)
{
	return step->begin_ns + step->length_ns;
}

/* Index of the first step that ends after the instant. */
static guint find_step(const struct span_sums *sums, int64_t at)
{
	guint n = sums->steps->len;
	if (n && step_end(step_at(sums, n - 1)) <= at)
		return n;
	return (guint)FIRST_INDEX(i, n, step_end(step_at(sums, (guint)i)) > at);
}

static struct sum_step *step_of(struct span_sums *sums, int64_t at)
{
	guint i = find_step(sums, at);
	if (i == sums->steps->len || step_at(sums, i)->begin_ns > at) {
		int64_t length = sums->shortest_ns;
		struct sum_step fresh = { .begin_ns = time_floor(at, length), .length_ns = length };
		g_array_insert_val(sums->steps, i, fresh);
	}
	return step_at(sums, i);
}

/* Merges the steps of the period, from step i on, into one. */
static void fold_steps(struct span_sums *sums, guint i, int64_t begin_ns, int64_t length_ns)
{
	struct sum_step *to = step_at(sums, i);
	guint n = 1;
	g_assert(begin_ns <= to->begin_ns && step_end(to) <= begin_ns + length_ns);
	to->begin_ns = begin_ns;
	to->length_ns = length_ns;
	for (; i + n < sums->steps->len && step_at(sums, i + n)->begin_ns < step_end(to); n++) {
		const struct sum_step *from = step_at(sums, i + n);
		sums->n -= from->n;
		for (guint k = 0; k < from->n; k++)
			add_sum(find_or_add(sums, to, &from->sum[k].key, sums->most / FOLDED_SHARE), &from->sum[k]);
	}
	pack_step(to);
	to->changed = true;
	g_array_remove_range(sums->steps, i + 1, n - 1);
}

static unsigned level_of(const struct span_sums *sums, const struct sum_step *step)
{
	return (unsigned)__builtin_ctzll((uint64_t)(step->length_ns / sums->shortest_ns));
}

/* The steps of one length, and of these the oldest: where it begins and ends when it is folded. */
struct level { guint n_sums; bool any; int64_t begin_ns, end_ns; };

/* Folds the oldest step of the length that has most sums, but none of the `newest` ones. False: there is none. */
static bool fold_one(struct span_sums *sums, guint newest)
{
	struct level levels[LEVELS] = { 0 };
	const struct level *best = NULL;
	if (sums->steps->len <= newest)
		return false;
	int64_t stays = MIN(step_at(sums, sums->steps->len - newest)->begin_ns, sums->retained_from);
	for (guint i = 0; i + newest < sums->steps->len; i++) {
		const struct sum_step *step = step_at(sums, i);
		struct level *l = &levels[level_of(sums, step)];
		int64_t twice = 2 * step->length_ns;
		if (!l->any)
			l->begin_ns = time_floor(step->begin_ns, twice);
		l->any = true;
		l->end_ns = l->begin_ns + twice;
		l->n_sums += step->n;
	}
	for (unsigned l = 0; l < LEVELS - 1; l++)
		if (levels[l].any && levels[l].end_ns <= stays && (!best || levels[l].n_sums > best->n_sums))
			best = &levels[l];
	if (best)
		fold_steps(sums, find_step(sums, best->begin_ns), best->begin_ns, best->end_ns - best->begin_ns);
	return best;
}

/* Adds a sum that the step of `at` does not have. Makes room for it first. */
static struct span_sum *add_at(struct span_sums *sums, const struct span_sum_key *key, int64_t at)
{
	bool may_fold = sums->retained_from > INT64_MIN;
	while (may_fold && sums->n >= sums->most && (fold_one(sums, NEWEST) || fold_one(sums, FIXED)))
		;
	bool is_full = sums->n >= sums->most && sums->retained_from == INT64_MAX;
	return find_or_add(sums, step_of(sums, at), key, is_full ? 0 : sums->most / STEP_SHARE);
}

/* The sum for a span that ended at `at` (ns). Valid until the next call. */
static struct span_sum *sum_at(struct span_sums *sums, const struct span_sum_key *key, int64_t at)
{
	uint64_t place;
	struct sum_step *step = step_of(sums, at);
	struct span_sum *s = find(step, key, &place);
	step->changed = true;
	if (!s)
		s = add_at(sums, key, at);
	s->begin_ns = MIN(s->begin_ns, at);
	s->end_ns = MAX(s->end_ns, at + 1);
	return s;
}

/* ---- looking ---- */

static void skip_ended(const struct span_sums *sums, struct sum_place *at)
{
	while (at->step < sums->steps->len && at->i >= step_at(sums, at->step)->n) {
		at->step++;
		at->i = 0;
	}
	bool is_there = at->step < sums->steps->len && step_at(sums, at->step)->begin_ns < at->to_ns;
	at->sum = is_there ? &step_at(sums, at->step)->sum[at->i] : NULL;
}

struct sum_place span_sums_first(const struct span_sums *sums, int64_t from_ns, int64_t to_ns)
{
	struct sum_place at = { .step = find_step(sums, from_ns), .to_ns = to_ns };
	skip_ended(sums, &at);
	return at;
}

void span_sums_next(const struct span_sums *sums, struct sum_place *at)
{
	at->i++;
	skip_ended(sums, at);
}

/* ---- adding ---- */

/* measured: the span whose duration it is. */
static void add_duration(struct span_sum *to, const struct span *measured, const int64_t part[PART_N], int64_t ns)
{
	if (!span_has_duration(measured)) {
		to->partial++;
		to->partial_ns += ns;
		return;
	}
	to->count++;
	for (unsigned p = 0; p < PART_N; p++)
		to->part[p] += part[p];
	hist_add(&to->duration, ns);
}

static void add_span(struct span_sums *sums, const struct span *s)
{
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_SPAN, .service = s->service, .name = s->name, .kind = s->kind,
		.top = span_is_request(s), .partial = !span_has_duration(s),
		.failed = s->errors > 0 }, s->end_ns);
	add_duration(to, s, s->part, span_duration(s));
	to->errors += s->errors;
	to->self_ns += span_has_duration(s) ? s->self_ns : 0;
}

static void add_call(struct span_sums *sums, const struct tree *t, int i)
{
	const struct span *s = t->nodes[i].span, *caller;
	int64_t gap;
	if (!tree_is_call(t, i, &caller))
		return;
	const struct span *measured = tree_call_span(caller, s);
	struct span_sum *to = sum_at(sums, &(struct span_sum_key){
		.of = SUM_CALL, .service = s->service,
		.operation_service = caller ? caller->service : NULL }, s->end_ns);
	add_duration(to, measured, s->part, span_duration(measured));
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
	add_duration(to, s, part, span_duration(s));
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
	add_duration(to, s, s->part, span_duration(s));
	to->errors += s->errors;
	to->self_ns += span_has_duration(s) ? s->self_ns : 0;
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
	add_duration(to, top, part, top->self_ns);
	to->self_ns += span_has_duration(top) ? top->self_ns : 0;
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
		.top = !root->parent_id, .partial = !span_has_duration(root), .failed = root->errors > 0 },
		root->end_ns);
	add_duration(to, root, root->part, span_duration(root));
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
