/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits the memory of a timeline to its budget; see the table of stores at the end. Whole traces are evicted. Seconds
 * are folded, then dropped.
 */
#include "state/store/timeline_private.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "state/store/coarsen.h"
#include "state/store/span_tree.h"

#define DROPPED_SHARE 16		/* part of the budget for seconds outside of a retained range */
#define NEWEST_SECONDS 10		/* the newest seconds: never folded or dropped */
#define SLOWEST_RETAINED 16		/* the slowest traces of each operation, evicted last */
/* Bound on timeline.evicted_slots: a share of the budget, with a minimum in bytes. */
#define EVICTED_SHARE 16
#define EVICTED_BYTES_MIN (64u << 10)
#define SETTLES_NS (3 * NS_PER_S)	/* traces are final 2 s after their root's end, and published soon after */

void timeline_evicted(const struct timeline *tl, uint64_t *ret_traces, uint64_t *ret_spans)
{
	*ret_traces = tl->evicted_traces;
	*ret_spans = tl->evicted_spans;
}

struct sum_place timeline_first_sum(const struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	return span_sums_first(&tl->sums, from_ns, to_ns);
}

void timeline_next_sum(const struct timeline *tl, struct sum_place *at)
{
	span_sums_next(&tl->sums, at);
}

void timeline_retain_sums(struct timeline *tl, int64_t from_ns)
{
	tl->sums.retained_from = from_ns;
}

void timeline_set_step(struct timeline *tl, int64_t step_ns)
{
	g_assert(step_ns > 0 && !tl->sums.n);
	tl->sums.shortest_ns = step_ns % NS_PER_S ? step_ns : NS_PER_S;
}

/* ---- traces ---- */

/* A trace that may be evicted. */
struct candidate {
	uint32_t trace;			/* index in traces */
	const char *service, *name;	/* of its root; reftexts */
	uint32_t rank;			/* among those of its operation; 0: the slowest */
	int64_t duration, end;
	size_t bytes;
	bool evictable;			/* closed, and neither pinned nor retained */
	bool preferred;			/* in the preferred range: evicted late */
};

static bool is_retained(const struct timeline *tl, uint64_t trace_id)
{
	bool retained = trace_id == tl->pinned;
	for (size_t i = 0; i < TIMELINE_RETAINED; i++)
		retained = retained || trace_id == tl->retained[i];
	return trace_id && retained;
}

static struct candidate weigh_trace(const struct timeline *tl, uint32_t i)
{
	const struct trace_entry *t = &g_array_index(tl->traces, struct trace_entry, i);
	g_assert(!t->stale && t->info.root);	/* traces_settle() was called */
	const struct span *root = t->info.root;

	return (struct candidate){
		.trace = i, .evictable = !is_retained(tl, t->info.trace_id) && !t->info.may_end,
		.preferred = t->info.begin_ns < tl->preferred_to && t->info.end_ns >= tl->preferred_from,
		.end = t->info.end_ns, .service = root->service, .name = root->name,
		.duration = span_duration(root),
		.bytes = t->bytes + t->indexes->len * sizeof(struct span_entry),
	};
}

/* Groups by operation, then the slowest first. The order of the groups does not matter. */
static int by_operation(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;
	return ORDER(x->service, y->service) ?: ORDER(x->name, y->name) ?: ORDER(y->duration, x->duration) ?:
	       ORDER(y->end, x->end);
}

static bool is_slow(const struct candidate *c)
{
	return c->rank < SLOWEST_RETAINED;
}

/* The slowest traces come last, the slowest of all at the very end. The others come first, by age. */
static int by_order_of_eviction(gconstpointer a, gconstpointer b)
{
	const struct candidate *x = a, *y = b;
	if (is_slow(x) != is_slow(y))
		return is_slow(x) ? 1 : -1;
	if (is_slow(x) && x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return ORDER(x->end, y->end) ?: ORDER(x->trace, y->trace);
}

static GArray *weigh_traces(const struct timeline *tl)
{
	GArray *all = g_array_sized_new(false, false, sizeof(struct candidate), tl->traces->len);
	for (uint32_t i = 0; i < tl->traces->len; i++) {
		struct candidate c = weigh_trace(tl, i);
		g_array_append_val(all, c);
	}
	g_array_sort(all, by_operation);
	for (guint i = 1; i < all->len; i++) {
		struct candidate *c = &g_array_index(all, struct candidate, i);
		if (c->service == c[-1].service && c->name == c[-1].name)
			c->rank = c[-1].rank + 1;
	}
	g_array_sort(all, by_order_of_eviction);
	return all;
}

static void mark_evicted(struct timeline *tl, uint32_t slot)
{
	if (slot < tl->evicted_from)
		return;
	guint at = (slot - tl->evicted_from) / 8, have = tl->evicted_slots->len;
	guint most = (guint)CLAMP(tl->facts.budget / EVICTED_SHARE, EVICTED_BYTES_MIN, G_MAXINT);
	if (at >= most) {
		guint shift = at - most / 2;
		g_byte_array_remove_range(tl->evicted_slots, 0, MIN(shift, have));
		tl->evicted_from += shift * 8;
		at -= shift;
		have = tl->evicted_slots->len;
	}
	if (at >= have) {
		g_byte_array_set_size(tl->evicted_slots, at + 1 + at / 8);
		memset(tl->evicted_slots->data + have, 0, tl->evicted_slots->len - have);
	}
	g_assert(at < tl->evicted_slots->len && at < most);
	tl->evicted_slots->data[at] |= (guint8)(1 << slot % 8);
}

bool timeline_is_evicted(const struct timeline *tl, uint32_t slot)
{
	if (slot < tl->evicted_from)
		return intmap_get(&tl->by_slot, slot) == INTMAP_NONE;
	guint at = (slot - tl->evicted_from) / 8;
	return at < tl->evicted_slots->len && tl->evicted_slots->data[at] >> slot % 8 & 1;
}

/* Removes the spans with drop_span[i] from the list. Returns the new index for each old one, or ID_NONE. */
static uint32_t *compact_spans(struct timeline *tl, const bool *drop_span)
{
	struct span_entry *entries = (struct span_entry *)(void *)tl->spans->data;
	uint32_t *moved = g_new(uint32_t, tl->spans->len + 1);
	uint32_t n_left = 0;

	for (uint32_t i = 0; i < tl->spans->len; i++) {
		struct span_entry *e = &entries[i];
		g_assert(e->span && intmap_get(&tl->by_slot, e->slot) == i);
		if (drop_span[i]) {
			moved[i] = ID_NONE;
			intmap_remove(&tl->by_slot, e->slot);
			timeline_uncount_span(tl, e);
			tl->evicted_spans++;
			traces_count_evicted(tl, e->span);
			if (e->span->state != SPAN_OPEN) {
				mark_evicted(tl, e->slot);
				tl->facts.requests_from = MAX(tl->facts.requests_from, e->end_ns + 1);
			}
			span_unref(e->span);
			continue;
		}
		moved[i] = n_left;
		entries[n_left++] = *e;
	}
	for (uint32_t i = n_left; i < tl->spans->len; i++)
		entries[i].span = NULL;		/* it was moved or freed */
	g_array_set_size(tl->spans, n_left);
	g_array_set_size(tl->span_times, 0);
	for (uint32_t i = 0; i < n_left; i++)
		times_widen(tl->span_times, i, entries[i].begin_ns, entries[i].end_ns);
	return moved;
}

static void add_to_sums(struct timeline *tl, const bool *drop_span)
{
	ARRAY_EACH(const struct trace_entry, e, tl->traces) {
		g_assert(e->indexes->len > 0);
		if (!drop_span[g_array_index(e->indexes, uint32_t, 0)])
			continue;
		g_autoptr(blk_tree) t = timeline_tree_new(tl, e->info.trace_id);
		span_sums_add(&tl->sums, t);
	}
	tl->sum_bytes = span_sums_bytes(&tl->sums);
}

/* drop_span: by index; it contains all spans of a trace, or none. */
static void drop_spans(struct timeline *tl, const bool *drop_span)
{
	add_to_sums(tl, drop_span);
	g_autofree uint32_t *moved = compact_spans(tl, drop_span);
	struct intmap *slots = &tl->by_slot;

	for (uint32_t i = 0; slots->mask && i <= slots->mask; i++) {
		if (slots->values[i] != INTMAP_NONE)
			slots->values[i] = moved[slots->values[i]];
	}
	for (uint32_t t = 0; t < tl->traces->len; t++) {
		GArray *indexes = g_array_index(tl->traces, struct trace_entry, t).indexes;
		unsigned n_left = 0;
		for (unsigned i = 0; i < indexes->len; i++) {
			uint32_t to = moved[g_array_index(indexes, uint32_t, i)];
			if (to != ID_NONE)
				g_array_index(indexes, uint32_t, n_left++) = to;
		}
		g_assert(n_left == 0 || n_left == indexes->len);	/* a trace is dropped whole */
		g_array_set_size(indexes, n_left);
		tl->evicted_traces += n_left == 0;
	}
	traces_compact(tl);
}

/* Adds its id to trace_ids. */
static void mark_trace(const struct timeline *tl, uint32_t trace, bool *drop_span, GArray *trace_ids)
{
	const GArray *indexes = g_array_index(tl->traces, struct trace_entry, trace).indexes;
	g_array_append_val(trace_ids, g_array_index(tl->traces, struct trace_entry, trace).info.trace_id);
	for (guint k = 0; k < indexes->len; k++)
		drop_span[g_array_index(indexes, uint32_t, k)] = true;
}

/* The new version number shows views that spans they refer to may be evicted. */
static void report_evicting(struct timeline *tl, GArray *trace_ids)
{
	if (tl->on_evicting && trace_ids->len)
		tl->on_evicting(tl->evicting_data, (const uint64_t *)(void *)trace_ids->data, trace_ids->len);
	tl->facts.version++;
}

/* The pass in which a trace is evicted: traces that may still change come after settled ones, preferred ones last. */
static int eviction_pass(const struct candidate *c, int64_t settled)
{
	return 2 * c->preferred + (c->end > settled);
}

static void evict_traces(struct timeline *tl, size_t excess)
{
	g_autoptr(GArray) all = weigh_traces(tl);
	g_autofree bool *drop_span = g_new0(bool, tl->spans->len + 1);
	g_autoptr(GArray) trace_ids = g_array_new(false, false, sizeof(uint64_t));
	int64_t settled = tl->last_ns - SETTLES_NS;
	size_t freed = 0;
	for (int turn = 0; turn < 4; turn++)
		for (guint i = 0; i < all->len && freed < excess; i++) {
			const struct candidate *c = &g_array_index(all, struct candidate, i);
			if (!c->evictable || turn != eviction_pass(c, settled))
				continue;
			mark_trace(tl, c->trace, drop_span, trace_ids);
			freed += c->bytes;
		}
	if (!freed)
		return;
	report_evicting(tl, trace_ids);
	drop_spans(tl, drop_span);
}

/* ---- seconds, and the traces that ended in them ---- */

static int compare_ends(gconstpointer a, gconstpointer b)
{
	return ORDER(((const struct candidate *)a)->end, ((const struct candidate *)b)->end);
}

static bool may_drop(const struct candidate *c, int64_t until, bool open_too,
		     const struct timeline *tl)
{
	uint64_t id = g_array_index(tl->traces, struct trace_entry, c->trace).info.trace_id;
	return c->end < until && (c->evictable || (open_too && !is_retained(tl, id)));
}

/* Bytes freed by dropping each of the first `n` seconds: its own, and those of traces that ended in it. */
static size_t *weigh_seconds(const struct timeline *tl, const GArray *traces, size_t n)
{
	size_t *bytes = g_new(size_t, n);
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		bytes[i] = second_held(second_at(tl, i)) + sizeof(void *);
	for (guint i = 0; i < traces->len; i++) {
		const struct candidate *c = &g_array_index(traces, struct candidate, i);
		g_assert(i == 0 || c[-1].end <= c->end);
		while (at < n && second_at(tl, at)->end_ns <= c->end)
			at++;
		if (at == n)
			break;
		if (c->evictable)
			bytes[at] += c->bytes;
	}
	return bytes;
}

/* How many of the newest seconds stay as they are. */
static size_t n_staying(const struct timeline *tl)
{
	size_t first = tl->seconds_from == INT64_MAX ? tl->seconds->len : timeline_first_from(tl, tl->seconds_from);
	return MAX(NEWEST_SECONDS, tl->seconds->len - first);
}

static void drop_seconds(struct timeline *tl, size_t excess)
{
	size_t staying = n_staying(tl);
	g_assert(excess > 0 && tl->seconds->len > staying);
	size_t limit = tl->seconds->len - staying, freed = 0, n = 0;
	g_autoptr(GArray) traces = weigh_traces(tl);
	g_array_sort(traces, compare_ends);
	g_autofree size_t *bytes = weigh_seconds(tl, traces, limit);
	while (n < limit && freed < excess)
		freed += bytes[n++];
	g_assert(n > 0);				/* as excess > 0 */
	tl->dropped_until = second_at(tl, n - 1)->end_ns;
	g_autofree bool *drop_span = g_new0(bool, tl->spans->len + 1);
	g_autoptr(GArray) trace_ids = g_array_new(false, false, sizeof(uint64_t));
	ARRAY_EACH(const struct candidate, c, traces)
		if (may_drop(c, tl->dropped_until, freed < excess, tl))
			mark_trace(tl, c->trace, drop_span, trace_ids);
	report_evicting(tl, trace_ids);
	for (size_t i = 0; i < n; i++) {
		g_assert(tl->second_bytes >= second_held(second_at(tl, i)));
		tl->second_bytes -= second_held(second_at(tl, i));
	}
	g_ptr_array_remove_range(tl->seconds, 0, (unsigned)n);
	drop_spans(tl, drop_span);
}

/* ---- threads and processes that no later publication refers to ---- */

#define FEW_ENDED 1024			/* fewer ended ids are not worth a walk over all spans */

static void use_thread(enum span_id kind, uint32_t *id, void *used)
{
	if (kind == SPAN_ID_THREAD && *id != ID_NONE)
		intmap_set(used, *id, 1);
}

static void use_all_threads(struct intmap *used, const GArray *entries)
{
	for (guint i = 0; i < entries->len; i++)
		span_each_id(g_array_index(entries, struct span_entry, i).span, use_thread, used);
}

static void drop_thread(struct timeline *tl, uint32_t id)
{
	struct thread_info *t = pages_get(&tl->threads, id);

	if (!t)
		return;
	g_assert(tl->registry_bytes >= t->n_names * sizeof(*t->names));
	tl->registry_bytes -= t->n_names * sizeof(*t->names);
	g_free((void *)t->names);
	intmap_remove(&tl->span_threads, id);
	pages_drop(&tl->threads, id);
}

/* Drops unused ids. Used ones stay in the list. */
static void drop_unused(struct timeline *tl, GArray *ids, const struct intmap *used,
			void (*drop)(struct timeline *tl, uint32_t id))
{
	guint n_left = 0;

	for (guint i = 0; i < ids->len; i++) {
		uint32_t id = g_array_index(ids, uint32_t, i);
		if (intmap_get(used, id) == INTMAP_NONE)
			drop(tl, id);
		else
			g_array_index(ids, uint32_t, n_left++) = id;
	}
	g_array_set_size(ids, n_left);
}

static void drop_process(struct timeline *tl, uint32_t id)
{
	intmap_remove(&tl->span_processes, id);
	pages_drop(&tl->processes, id);
}

void timeline_drop_ended(struct timeline *tl)
{
	struct intmap threads = { 0 }, processes = { 0 };

	if (tl->ended_threads->len + tl->ended_processes->len <= 2 * tl->ended_left + FEW_ENDED)
		return;
	use_all_threads(&threads, tl->spans);
	use_all_threads(&threads, tl->held_back);
	drop_unused(tl, tl->ended_threads, &threads, drop_thread);
	for (guint i = 0; i < tl->ended_threads->len; i++) {
		const struct thread_info *t = timeline_thread(tl, g_array_index(tl->ended_threads, uint32_t, i));
		if (t && t->process != ID_NONE)
			intmap_set(&processes, t->process, 1);
	}
	drop_unused(tl, tl->ended_processes, &processes, drop_process);
	tl->ended_left = tl->ended_threads->len + tl->ended_processes->len;
	intmap_clear(&threads);
	intmap_clear(&processes);
}

/* ---- the stores ---- */

#define MAP_BYTES (sizeof(uint64_t) + sizeof(uint32_t))	/* memory of a slot of an intmap */

/* Spans with their texts, traces and operations. */
static size_t bytes_of_spans(const struct timeline *tl)
{
	return tl->span_bytes + tl->text_bytes + traces_bytes(tl) + tl->evicted_slots->len +
	       tl->spans->len * (sizeof(struct span_entry) + sizeof(uint32_t)) +
	       (tl->by_slot.mask + tl->long_texts.mask) * MAP_BYTES;
}

static void drop_of_spans(struct timeline *tl, size_t bytes)
{
	evict_traces(tl, (size_t)((double)bytes / (double)bytes_of_spans(tl) * (double)tl->span_bytes));
}

static size_t bytes_of_seconds(const struct timeline *tl)
{
	return tl->second_bytes + tl->seconds->len * sizeof(void *) + (tl->stored ? tl->stored->held : 0);
}

static gint looked_at_first(gconstpointer a, gconstpointer b)
{
	const struct second *x = *(struct second *const *)a, *y = *(struct second *const *)b;
	return ORDER(x->used, y->used);
}

void timeline_unload(struct timeline *tl)
{
	if (!tl->stored || !tl->facts.budget || tl->stored->held <= tl->facts.budget / 2)
		return;
	g_autoptr(GPtrArray) there = g_ptr_array_new();
	PTR_EACH(struct second, s, tl->seconds)
		if (s->place.stored && !s->is_outline && g_atomic_ref_count_compare(&s->refs, 1))
			g_ptr_array_add(there, s);
	g_ptr_array_sort(there, looked_at_first);
	tl->facts.version++;
	for (guint i = 0; i < there->len && tl->stored->held > tl->facts.budget / 4; i++) {
		struct second *s = g_ptr_array_index(there, i);
		g_assert(tl->stored->held >= s->bytes);
		tl->stored->held -= s->bytes;
		second_empty(s);
	}
}

/* Folds the oldest seconds, then drops them. */
static void drop_of_seconds(struct timeline *tl, size_t bytes)
{
	size_t staying = n_staying(tl);
	if (tl->retain_seconds || tl->retains_range || tl->stored || tl->seconds->len <= staying)
		return;
	size_t freed = seconds_fold(tl->seconds, staying, bytes, &tl->facts.folded_until);

	g_assert(tl->second_bytes >= freed);
	tl->second_bytes -= freed;
	if (freed < bytes && tl->seconds->len > n_staying(tl))
		drop_seconds(tl, bytes - freed);
}

static size_t held_by(const struct timeline *tl, size_t from, size_t to)
{
	size_t bytes = 0;

	for (size_t i = from; i < to; i++)
		bytes += second_held(second_at(tl, i));
	return bytes;
}

/* See timeline_retain_range(). */
static void drop_outside_of_range(struct timeline *tl)
{
	size_t n = tl->seconds->len > NEWEST_SECONDS ? tl->seconds->len - NEWEST_SECONDS : 0;
	if (!tl->retains_range || tl->second_bytes <= tl->facts.budget / DROPPED_SHARE)
		return;
	size_t first = MIN(timeline_first_from(tl, tl->retained_begin), n);
	size_t last = CLAMP(timeline_first_from(tl, tl->retained_end), first, n);	/* retained: [first, last) */
	size_t bytes = held_by(tl, 0, first) + held_by(tl, last, n);
	if (bytes <= tl->facts.budget / DROPPED_SHARE)
		return;
	int64_t until = second_at(tl, n - 1)->end_ns;
	if (tl->on_dropping)
		tl->on_dropping(tl->dropping_data, until);
	g_ptr_array_remove_range(tl->seconds, (guint)last, (guint)(n - last));
	g_ptr_array_remove_range(tl->seconds, 0, (guint)first);
	tl->dropped_until = until;
	tl->second_bytes -= bytes;
	tl->facts.version++;
}

static size_t bytes_of_sums(const struct timeline *tl)
{
	return tl->sum_bytes;
}

static size_t bytes_of_names(const struct timeline *tl)
{
	return sizeof *tl + tl->registry_bytes + pages_bytes(&tl->strings) + pages_bytes(&tl->hosts) +
	       pages_bytes(&tl->threads) + pages_bytes(&tl->processes) + pages_bytes(&tl->files) +
	       (tl->by_container.mask + tl->span_threads.mask + tl->span_processes.mask) * MAP_BYTES +
	       tl->containers->len * sizeof(struct container_entry);
}

/*
 * The stores, in the order in which they free memory. Numbers are sixteenths of the room. A store may always use its
 * `share`. If it uses more than share + slack, it frees memory until all stores together use `aim`. That is less than
 * the room, so that lists are not walked at each call. With retain_seconds, shares are a third.
 */
static const struct store {
	size_t (*bytes)(const struct timeline *tl);
	void (*drop)(struct timeline *tl, size_t bytes);	/* frees about `bytes`; NULL: freed with what refers
								 * to it */
	unsigned share, slack, aim;
} stores[] = {
	{ bytes_of_spans, drop_of_spans, 6, 2, 13 },
	{ bytes_of_seconds, drop_of_seconds, 0, 0, 15 },
	{ bytes_of_sums, NULL, 0, 0, 0 },
	{ bytes_of_names, NULL, 0, 0, 0 },
};

size_t timeline_bytes(const struct timeline *tl)
{
	size_t bytes = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(stores); i++)
		bytes += stores[i].bytes(tl);
	return bytes;
}

/* The budget minus the memory that the worker uses; at least half of the budget. */
static size_t room_of(const struct timeline *tl)
{
	return tl->facts.budget - MIN(tl->beside_bytes, tl->facts.budget / 2);
}

void timeline_enforce_budget(struct timeline *tl)
{
	size_t room = room_of(tl), held;

	if (!tl->facts.budget)
		return;
	drop_outside_of_range(tl);
	for (const struct store *s = stores; s->drop && (held = timeline_bytes(tl)) > room; s++) {
		size_t own = s->bytes(tl), share = room / 16 * (tl->retain_seconds ? s->share / 3 : s->share);
		if (own > share + room / 16 * s->slack)
			s->drop(tl, MIN(own - share, held - room / 16 * s->aim));
	}
}
