/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline's store: seconds in a sorted array, spans in a list with an index
 * by slot and one by trace, and the registries. Applying a publication costs what
 * the publication holds; only when the memory budget is exceeded are the lists
 * walked, and then a sixteenth of the budget is made free at once.
 */
#include "state/timeline.h"

#include "base/intmap.h"
#include "state/coarsen.h"
#include "state/publish.h"

#include <string.h>

#define KEEP_SECONDS 10			/* the newest are never dropped */

const char *const file_kind_name[FILE_KIND_N] = {
	[FILE_UNKNOWN] = "unknown", [FILE_REGULAR] = "file", [FILE_SOCKET] = "socket",
	[FILE_PIPE] = "pipe", [FILE_EVENT] = "event", [FILE_TTY] = "tty",
	[FILE_OTHER] = "other",
};

/* Entries by id; ids may come in any order, what was not put yet is not there. */
struct registry {
	char *entries;
	bool *known;
	uint32_t n, alloc;
	uint32_t size;			/* bytes of an entry */
};

/* With what a walk over all spans needs, so that it stays in this array. */
struct span_entry {
	struct span *span;
	uint64_t trace_id;
	int64_t end_ns;
	size_t bytes;
	uint32_t slot;
	bool open;
};

struct trace_entry {
	uint64_t id;
	GArray *indexes;		/* of uint32_t: in spans */
};

struct timeline {
	struct registry strings;	/* char *, owned */
	struct registry hosts;		/* struct host_info */
	struct registry threads;	/* struct thread_info, names owned */
	struct registry processes;	/* struct process_info */
	struct registry files;		/* struct file_info */
	GHashTable *classes;		/* event names, a set */
	GPtrArray *seconds;		/* struct second *, by begin_ns */
	GArray *spans;			/* struct span_entry */
	struct intmap by_slot;		/* slot -> index in spans */
	struct intmap by_trace;		/* trace id -> index in traces */
	GArray *traces;			/* struct trace_entry */
	uint64_t pinned;		/* trace id, 0: none */
	GArray *held_back;		/* struct span_entry: new versions for the pinned trace */
	bool has_coverage, has_spans, has_calls;
	int64_t first_ns, last_ns;
	int64_t dropped_until;		/* seconds that began before it were dropped */
	int64_t folded_until;		/* seconds that began before it may be folded */
	uint64_t n_events, version;
	struct trust trust;
	size_t budget;
	size_t detail_bytes;		/* seconds and spans */
	size_t registry_bytes;
};

/* --- registries --- */

static void registry_grow(struct registry *r, uint32_t id)
{
	uint32_t alloc = MAX(64, r->alloc);

	while (alloc <= id)
		alloc = alloc > UINT32_MAX / 2 ? UINT32_MAX : alloc * 2;
	r->entries = g_realloc_n(r->entries, alloc, r->size);
	r->known = g_renew(bool, r->known, alloc);
	memset(r->entries + (size_t)r->alloc * r->size, 0, (size_t)(alloc - r->alloc) * r->size);
	memset(r->known + r->alloc, 0, (alloc - r->alloc) * sizeof(*r->known));
	r->alloc = alloc;
}

/* The entry of the id, zeroed if it is new. */
static void *registry_put(struct registry *r, uint32_t id)
{
	if (id >= r->alloc)
		registry_grow(r, id);
	r->n = MAX(r->n, id + 1);
	r->known[id] = true;
	return r->entries + (size_t)id * r->size;
}

static const void *registry_get(const struct registry *r, uint32_t id)
{
	return id < r->n && r->known[id] ? r->entries + (size_t)id * r->size : NULL;
}

static size_t registry_bytes(const struct registry *r)
{
	return (size_t)r->alloc * (r->size + sizeof(*r->known));
}

static void registry_clear(struct registry *r, void (*clear)(void *entry))
{
	for (uint32_t id = 0; clear && id < r->n; id++)
		clear(r->entries + (size_t)id * r->size);
	g_free(r->entries);
	g_free(r->known);
}

static void clear_pointer(void *entry)	/* a string, a host's name */
{
	g_free(*(char **)entry);
}

static void clear_thread(void *entry)
{
	g_free((void *)((struct thread_info *)entry)->names);
}

/* --- life --- */

static void clear_span_entry(void *entry)
{
	span_unref(((struct span_entry *)entry)->span);
}

static GArray *span_entries_new(void)
{
	GArray *a = g_array_new(FALSE, FALSE, sizeof(struct span_entry));

	g_array_set_clear_func(a, clear_span_entry);
	return a;
}

static void free_second(void *second)
{
	second_unref(second);
}

static void clear_trace_entry(void *entry)
{
	g_array_free(((struct trace_entry *)entry)->indexes, TRUE);
}

struct timeline *timeline_new(size_t memory_budget)
{
	struct timeline *tl = g_new0(struct timeline, 1);

	tl->strings.size = sizeof(char *);
	tl->hosts.size = sizeof(struct host_info);
	tl->threads.size = sizeof(struct thread_info);
	tl->processes.size = sizeof(struct process_info);
	tl->files.size = sizeof(struct file_info);
	tl->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	tl->seconds = g_ptr_array_new_with_free_func(free_second);
	tl->spans = span_entries_new();
	tl->held_back = span_entries_new();
	tl->traces = g_array_new(FALSE, FALSE, sizeof(struct trace_entry));
	g_array_set_clear_func(tl->traces, clear_trace_entry);
	tl->dropped_until = tl->folded_until = TIME_UNKNOWN;
	tl->budget = memory_budget;
	return tl;
}

void timeline_free(struct timeline *tl)
{
	if (!tl)
		return;
	registry_clear(&tl->strings, clear_pointer);
	registry_clear(&tl->hosts, clear_pointer);
	registry_clear(&tl->threads, clear_thread);
	registry_clear(&tl->processes, NULL);
	registry_clear(&tl->files, NULL);
	g_hash_table_destroy(tl->classes);
	g_ptr_array_free(tl->seconds, TRUE);
	g_array_free(tl->spans, TRUE);
	g_array_free(tl->held_back, TRUE);
	g_array_free(tl->traces, TRUE);
	intmap_clear(&tl->by_slot);
	intmap_clear(&tl->by_trace);
	g_free(tl);
}

/* --- what the views read --- */

bool timeline_coverage(const struct timeline *tl, int64_t *ret_first, int64_t *ret_last)
{
	if (!tl->has_coverage)
		return false;
	if (ret_first)
		*ret_first = tl->first_ns;
	if (ret_last)
		*ret_last = tl->last_ns;
	return true;
}

size_t timeline_n_seconds(const struct timeline *tl)
{
	return tl->seconds->len;
}

const struct second *timeline_second(const struct timeline *tl, size_t i)
{
	return i < tl->seconds->len ? g_ptr_array_index(tl->seconds, i) : NULL;
}

size_t timeline_find(const struct timeline *tl, int64_t at)
{
	size_t low = 0, high = tl->seconds->len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct second *s = g_ptr_array_index(tl->seconds, mid);
		if (s->end_ns > at)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

const char *timeline_string(const struct timeline *tl, uint32_t id)
{
	char *const *s = registry_get(&tl->strings, id);
	return s && *s ? *s : "";
}

const struct host_info *timeline_host(const struct timeline *tl, uint32_t id)
{
	return registry_get(&tl->hosts, id);
}

const struct thread_info *timeline_thread(const struct timeline *tl, uint32_t id)
{
	return registry_get(&tl->threads, id);
}

const struct process_info *timeline_process(const struct timeline *tl, uint32_t id)
{
	return registry_get(&tl->processes, id);
}

const struct file_info *timeline_file(const struct timeline *tl, uint32_t id)
{
	return registry_get(&tl->files, id);
}

uint32_t timeline_n_hosts(const struct timeline *tl)
{
	return tl->hosts.n;
}

uint32_t timeline_n_threads(const struct timeline *tl)
{
	return tl->threads.n;
}

uint32_t timeline_n_processes(const struct timeline *tl)
{
	return tl->processes.n;
}

const char *timeline_comm(const struct timeline *tl, uint32_t thread, int64_t until)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	uint32_t low = 0, high = t ? t->n_names : 0;

	if (high == 0)
		return "";
	while (low < high) {			/* the first one that is too late */
		uint32_t mid = low + (high - low) / 2;
		if (t->names[mid].since >= until)
			high = mid;
		else
			low = mid + 1;
	}
	return timeline_string(tl, t->names[low ? low - 1 : 0].name);
}

size_t timeline_n_spans(const struct timeline *tl)
{
	return tl->spans->len;
}

const struct span *timeline_span(const struct timeline *tl, size_t i)
{
	return i < tl->spans->len ? g_array_index(tl->spans, struct span_entry, i).span : NULL;
}

const GArray *timeline_trace_spans(const struct timeline *tl, uint64_t trace_id)
{
	uint32_t i = intmap_get(&tl->by_trace, trace_id);
	if (i == INTMAP_NONE)
		return NULL;
	return g_array_index(tl->traces, struct trace_entry, i).indexes;
}

void timeline_pin(struct timeline *tl, uint64_t trace_id)
{
	tl->pinned = trace_id;
}

bool timeline_has_event(const struct timeline *tl, const char *name)
{
	return g_hash_table_contains(tl->classes, name);
}

bool timeline_has_spans(const struct timeline *tl)
{
	return tl->has_spans;
}

bool timeline_has_calls(const struct timeline *tl)
{
	return tl->has_calls;
}

struct trust timeline_trust(const struct timeline *tl)
{
	return tl->trust;
}

uint64_t timeline_n_events(const struct timeline *tl)
{
	return tl->n_events;
}

size_t timeline_bytes(const struct timeline *tl)
{
	return sizeof(*tl) + tl->detail_bytes + tl->registry_bytes +
	       registry_bytes(&tl->strings) + registry_bytes(&tl->hosts) +
	       registry_bytes(&tl->threads) + registry_bytes(&tl->processes) +
	       registry_bytes(&tl->files) + tl->seconds->len * sizeof(void *) +
	       tl->spans->len * (sizeof(struct span_entry) + sizeof(uint32_t)) +
	       (tl->by_slot.mask + tl->by_trace.mask) * (sizeof(uint64_t) + sizeof(uint32_t)) +
	       tl->traces->len * (sizeof(struct trace_entry) + sizeof(GArray));
}

size_t timeline_budget(const struct timeline *tl)
{
	return tl->budget;
}

int64_t timeline_kept_from(const struct timeline *tl)
{
	if (tl->dropped_until != TIME_UNKNOWN)
		return tl->dropped_until;
	return tl->has_coverage ? tl->first_ns : TIME_UNKNOWN;
}

int64_t timeline_folded_until(const struct timeline *tl)
{
	return tl->folded_until;
}

uint64_t timeline_version(const struct timeline *tl)
{
	return tl->version;
}

/* --- applying --- */

static void apply_strings(struct timeline *tl, GArray *strings)
{
	for (unsigned i = 0; i < strings->len; i++) {
		struct published_string *p = &g_array_index(strings, struct published_string, i);
		char **entry = registry_put(&tl->strings, p->id);
		if (*entry)
			tl->registry_bytes -= strlen(*entry) + 1;
		g_free(*entry);
		*entry = g_steal_pointer(&p->s);
		tl->registry_bytes += strlen(*entry) + 1;
	}
}

static void apply_hosts(struct timeline *tl, GArray *hosts)
{
	for (unsigned i = 0; i < hosts->len; i++) {
		struct published_host *p = &g_array_index(hosts, struct published_host, i);
		struct host_info *entry = registry_put(&tl->hosts, p->id);
		g_free(entry->name);
		entry->name = g_steal_pointer(&p->name);
	}
}

static void apply_threads(struct timeline *tl, GArray *threads)
{
	for (unsigned i = 0; i < threads->len; i++) {
		struct published_thread *p = &g_array_index(threads, struct published_thread, i);
		struct thread_info *entry = registry_put(&tl->threads, p->id);
		tl->registry_bytes -= entry->n_names * sizeof(*entry->names);
		clear_thread(entry);
		*entry = p->info;
		entry->names = g_steal_pointer(&p->names);
		tl->registry_bytes += entry->n_names * sizeof(*entry->names);
	}
}

static bool is_call_class(const char *name)
{
	const char *plain = g_str_has_prefix(name, "compat_") ? name + strlen("compat_") : name;

	return g_str_has_prefix(plain, "syscall_entry_") || g_str_has_prefix(plain, "sys_");
}

static void apply_registries(struct timeline *tl, struct publication *p)
{
	apply_strings(tl, p->strings);
	apply_hosts(tl, p->hosts);
	apply_threads(tl, p->threads);
	for (unsigned i = 0; i < p->processes->len; i++) {
		struct published_process *e =
			&g_array_index(p->processes, struct published_process, i);
		*(struct process_info *)registry_put(&tl->processes, e->id) = e->info;
	}
	for (unsigned i = 0; i < p->files->len; i++) {
		struct published_file *e = &g_array_index(p->files, struct published_file, i);
		*(struct file_info *)registry_put(&tl->files, e->id) = e->info;
	}
	for (unsigned i = 0; i < p->classes->len; i++) {
		char **name = (char **)&g_ptr_array_index(p->classes, i);
		tl->has_calls |= is_call_class(*name);
		g_hash_table_add(tl->classes, g_steal_pointer(name));
	}
}

/* Index of the first second that begins at `begin` or later. */
static size_t lower_bound(const struct timeline *tl, int64_t begin)
{
	size_t low = 0, high = tl->seconds->len;

	if (high && ((struct second *)g_ptr_array_index(tl->seconds, high - 1))->begin_ns < begin)
		return high;			/* nearly always: the newest */
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct second *s = g_ptr_array_index(tl->seconds, mid);
		if (s->begin_ns >= begin)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static bool is_folded(const struct timeline *tl, int64_t at)
{
	const struct second *s = at < tl->folded_until ? timeline_second(tl, timeline_find(tl, at)) :
				 NULL;

	return s && s->fold_ns && s->begin_ns <= at;
}

static void apply_second(struct timeline *tl, struct second *s)
{
	if (s->begin_ns < tl->dropped_until || is_folded(tl, s->begin_ns)) {
		second_unref(s);		/* a new version of what is no longer kept */
		return;
	}
	size_t at = lower_bound(tl, s->begin_ns);
	tl->has_calls |= s->n_calls > 0;
	if (s->fold_ns)
		tl->folded_until = MAX(tl->folded_until, s->end_ns);
	const struct second *old = timeline_second(tl, at);
	tl->detail_bytes += s->bytes;
	if (old && old->begin_ns == s->begin_ns) {
		tl->detail_bytes -= old->bytes;
		second_unref(g_ptr_array_index(tl->seconds, at));
		g_ptr_array_index(tl->seconds, at) = s;
	} else {
		g_ptr_array_insert(tl->seconds, (int)at, s);
	}
}

static struct span_entry entry_of(struct span *span, uint32_t slot)
{
	return (struct span_entry){
		.span = span, .trace_id = span->trace_id, .end_ns = span->end_ns,
		.bytes = span->bytes, .slot = slot, .open = span->state == SPAN_OPEN,
	};
}

static void index_span(struct timeline *tl, uint64_t trace_id, uint32_t index)
{
	uint32_t i = intmap_get(&tl->by_trace, trace_id);

	if (i == INTMAP_NONE) {
		struct trace_entry entry = {
			trace_id, g_array_new(FALSE, FALSE, sizeof(uint32_t)),
		};
		i = tl->traces->len;
		g_array_append_val(tl->traces, entry);
		intmap_set(&tl->by_trace, trace_id, i);
	}
	g_array_append_val(g_array_index(tl->traces, struct trace_entry, i).indexes, index);
}

/* A trace without spans: the last one takes its place. */
static void forget_trace(struct timeline *tl, uint32_t i)
{
	uint32_t last = tl->traces->len - 1;

	intmap_remove(&tl->by_trace, g_array_index(tl->traces, struct trace_entry, i).id);
	if (i != last)
		intmap_set(&tl->by_trace,
			   g_array_index(tl->traces, struct trace_entry, last).id, i);
	g_array_remove_index_fast(tl->traces, i);
}

static void unindex_span(struct timeline *tl, uint64_t trace_id, uint32_t index)
{
	uint32_t trace = intmap_get(&tl->by_trace, trace_id);
	GArray *indexes = g_array_index(tl->traces, struct trace_entry, trace).indexes;

	for (unsigned i = 0; i < indexes->len; i++) {
		if (g_array_index(indexes, uint32_t, i) == index) {
			g_array_remove_index_fast(indexes, i);
			break;
		}
	}
	if (indexes->len == 0)
		forget_trace(tl, trace);
}

static void add_span(struct timeline *tl, struct span_entry entry)
{
	tl->has_spans = true;
	/* A late version of a span that was dropped does not come back. */
	if (!entry.open && entry.end_ns < tl->dropped_until && entry.trace_id != tl->pinned) {
		span_unref(entry.span);
		return;
	}
	uint32_t index = tl->spans->len;
	g_array_append_val(tl->spans, entry);
	intmap_set(&tl->by_slot, entry.slot, index);
	index_span(tl, entry.trace_id, index);
	tl->detail_bytes += entry.bytes;
}

static void replace_span(struct timeline *tl, uint32_t index, struct span_entry entry)
{
	struct span_entry *old = &g_array_index(tl->spans, struct span_entry, index);

	if (old->trace_id != entry.trace_id) {
		unindex_span(tl, old->trace_id, index);
		index_span(tl, entry.trace_id, index);
	}
	tl->detail_bytes += entry.bytes;
	tl->detail_bytes -= old->bytes;
	span_unref(old->span);
	*old = entry;
}

/* Of one slot only the newest version is worth keeping. */
static void hold_back(struct timeline *tl, struct span_entry entry)
{
	for (unsigned i = 0; i < tl->held_back->len; i++) {
		struct span_entry *held = &g_array_index(tl->held_back, struct span_entry, i);
		if (held->slot == entry.slot) {
			span_unref(held->span);
			*held = entry;
			return;
		}
	}
	g_array_append_val(tl->held_back, entry);
}

static void apply_span(struct timeline *tl, struct span_entry entry)
{
	uint32_t index = intmap_get(&tl->by_slot, entry.slot);

	if (index == INTMAP_NONE) {
		add_span(tl, entry);
		return;
	}
	const struct span_entry *old = &g_array_index(tl->spans, struct span_entry, index);
	if (tl->pinned && old->trace_id == tl->pinned && !old->open)
		hold_back(tl, entry);
	else
		replace_span(tl, index, entry);
}

/* What was held back while its trace was pinned. What still is gets held back again. */
static bool release_held_back(struct timeline *tl)
{
	GArray *held = tl->held_back;
	bool any = false;

	if (held->len == 0)
		return false;
	tl->held_back = span_entries_new();
	for (unsigned i = 0; i < held->len; i++) {
		struct span_entry *entry = &g_array_index(held, struct span_entry, i);
		unsigned before = tl->held_back->len;
		apply_span(tl, entry_of(g_steal_pointer(&entry->span), entry->slot));
		any |= tl->held_back->len == before;
	}
	g_array_free(held, TRUE);
	return any;
}

static bool same_trust(const struct trust *a, const struct trust *b)
{
	return a->lost_events == b->lost_events && a->lost_packets == b->lost_packets &&
	       a->soft == b->soft && a->late == b->late && a->touched == b->touched;
}

static bool apply_totals(struct timeline *tl, const struct publication *p)
{
	bool changed = tl->n_events != p->n_events || !same_trust(&tl->trust, &p->trust);

	tl->n_events = p->n_events;
	tl->trust = p->trust;
	if (p->has_coverage) {
		changed |= !tl->has_coverage || tl->first_ns != p->first_ns ||
			   tl->last_ns != p->last_ns;
		tl->has_coverage = true;
		tl->first_ns = p->first_ns;
		tl->last_ns = p->last_ns;
	}
	return changed;
}

static bool has_entries(const struct publication *p)
{
	return p->strings->len || p->hosts->len || p->threads->len || p->processes->len ||
	       p->files->len || p->seconds->len || p->spans->len || p->classes->len;
}

/* --- the memory budget --- */

static bool may_drop(const struct timeline *tl, const struct span_entry *e, int64_t until,
		     bool open_too)
{
	return e->end_ns < until && (open_too || !e->open) &&
	       (!tl->pinned || e->trace_id != tl->pinned);
}

/* Does the span that ended at `at` go with second i, and not with an earlier one? */
static bool goes_with(const struct timeline *tl, int64_t at, size_t i)
{
	return timeline_second(tl, i)->end_ns > at &&
	       (i == 0 || timeline_second(tl, i - 1)->end_ns <= at);
}

/* Bytes that become free with each of the first `n` seconds: its own, and those of
 * the spans that ended before its end. */
static size_t *weigh_seconds(const struct timeline *tl, size_t n)
{
	size_t *bytes = g_new(size_t, n);
	int64_t until = timeline_second(tl, n - 1)->end_ns;
	size_t at = 0;

	for (size_t i = 0; i < n; i++)
		bytes[i] = timeline_second(tl, i)->bytes + sizeof(void *);
	for (unsigned i = 0; i < tl->spans->len; i++) {
		const struct span_entry *e = &g_array_index(tl->spans, struct span_entry, i);
		if (!may_drop(tl, e, until, false))
			continue;
		if (!goes_with(tl, e->end_ns, at))	/* most are in order of their ends */
			at = timeline_find(tl, e->end_ns);
		bytes[at] += e->bytes + sizeof(*e);
	}
	return bytes;
}

/* How many of the oldest `limit` seconds have to go to make `excess` bytes free;
 * *ret_enough: does that do? */
static size_t count_seconds_to_drop(const struct timeline *tl, size_t excess, size_t limit,
				    bool *ret_enough)
{
	g_autofree size_t *bytes = weigh_seconds(tl, limit);
	size_t freed = 0, n = 0;

	while (n < limit && freed < excess)
		freed += bytes[n++];
	*ret_enough = freed >= excess;
	return n;
}

/* Takes the spans to drop out of the list; returns each old index's new one, or
 * ID_NONE. */
static uint32_t *compact_spans(struct timeline *tl, int64_t until, bool open_too)
{
	struct span_entry *entries = (struct span_entry *)(void *)tl->spans->data;
	uint32_t *moved = g_new(uint32_t, tl->spans->len);
	uint32_t kept = 0;

	for (uint32_t i = 0; i < tl->spans->len; i++) {
		struct span_entry *e = &entries[i];
		if (may_drop(tl, e, until, open_too)) {
			moved[i] = ID_NONE;
			intmap_remove(&tl->by_slot, e->slot);
			tl->detail_bytes -= e->bytes;
			span_unref(e->span);
			continue;
		}
		moved[i] = kept;
		entries[kept++] = *e;
	}
	for (uint32_t i = kept; i < tl->spans->len; i++)
		entries[i].span = NULL;		/* moved or freed already */
	g_array_set_size(tl->spans, kept);
	return moved;
}

static void drop_spans(struct timeline *tl, int64_t until, bool open_too)
{
	g_autofree uint32_t *moved = compact_spans(tl, until, open_too);
	struct intmap *slots = &tl->by_slot;

	for (uint32_t i = 0; slots->mask && i <= slots->mask; i++) {
		if (slots->values[i] != INTMAP_NONE)
			slots->values[i] = moved[slots->values[i]];
	}
	for (uint32_t t = tl->traces->len; t-- > 0;) {
		GArray *indexes = g_array_index(tl->traces, struct trace_entry, t).indexes;
		unsigned kept = 0;
		for (unsigned i = 0; i < indexes->len; i++) {
			uint32_t to = moved[g_array_index(indexes, uint32_t, i)];
			if (to != ID_NONE)
				g_array_index(indexes, uint32_t, kept++) = to;
		}
		g_array_set_size(indexes, kept);
		if (kept == 0)
			forget_trace(tl, t);
	}
}

static void keep_budget(struct timeline *tl)
{
	size_t held = timeline_bytes(tl);
	bool enough;

	if (!tl->budget || held <= tl->budget || tl->seconds->len <= KEEP_SECONDS)
		return;
	/* Some more than needed at once, not to walk the lists at every call. */
	size_t excess = held - (tl->budget - tl->budget / 16);
	size_t freed = seconds_fold(tl->seconds, KEEP_SECONDS, excess, &tl->folded_until);
	tl->detail_bytes -= freed;
	if (freed >= excess || tl->seconds->len <= KEEP_SECONDS)
		return;
	excess -= freed;
	size_t n = count_seconds_to_drop(tl, excess, tl->seconds->len - KEEP_SECONDS, &enough);

	tl->dropped_until = timeline_second(tl, n - 1)->end_ns;
	for (size_t i = 0; i < n; i++)
		tl->detail_bytes -= timeline_second(tl, i)->bytes;
	g_ptr_array_remove_range(tl->seconds, 0, (unsigned)n);
	drop_spans(tl, tl->dropped_until, !enough);
}

void timeline_apply(struct timeline *tl, struct publication *p)
{
	bool changed = has_entries(p);

	changed |= release_held_back(tl);
	changed |= apply_totals(tl, p);
	apply_registries(tl, p);
	for (unsigned i = 0; i < p->seconds->len; i++) {
		struct second **s = (struct second **)&g_ptr_array_index(p->seconds, i);
		apply_second(tl, g_steal_pointer(s));
	}
	for (unsigned i = 0; i < p->spans->len; i++) {
		struct published_span *e = &g_array_index(p->spans, struct published_span, i);
		apply_span(tl, entry_of(g_steal_pointer(&e->span), e->slot));
	}
	publication_free(p);
	keep_budget(tl);
	if (changed)
		tl->version++;
}
