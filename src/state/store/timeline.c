/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The timeline's store: seconds in an array sorted by time, spans in a list with indexes by slot and by trace, and the
 * registries. The cost of applying a publication is proportional to its size. Whole lists are walked only when
 * the budget is exceeded; then at least a sixteenth of it becomes free at once.
 */
#include "state/store/timeline_private.h"

#include "base/call_event.h"
#include "base/each.h"
#include "state/store/container.h"
#include "state/store/publication.h"

#include <string.h>

/* --- registries --- */

static void clear_host(void *entry)
{
	host_info_clear(entry);
}

static void clear_pointer(void *entry)	/* a string */
{
	g_free(*(char **)entry);
}

static void clear_thread(void *entry)
{
	g_free((void *)((struct thread_info *)entry)->names);
}

static void registry_clear(struct pages *r, void (*clear)(void *entry))
{
	if (clear)
		PAGES_EACH(r, id)
			clear(pages_get(r, id));
	pages_clear(r);
}

/* --- creation --- */

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

struct timeline *timeline_new(size_t memory_budget)
{
	struct timeline *tl = g_new0(struct timeline, 1);

	tl->strings.size = sizeof(char *);
	tl->hosts.size = sizeof(struct host_info);
	tl->threads.size = sizeof(struct thread_info);
	tl->processes.size = sizeof(struct process_info);
	tl->files.size = sizeof(struct file_info);
	tl->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	tl->host_events = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	tl->seconds = g_ptr_array_new_with_free_func(free_second);
	tl->spans = span_entries_new();
	tl->span_times = g_array_new(FALSE, FALSE, sizeof(struct block_times));
	tl->held_back = span_entries_new();
	tl->evicted_slots = g_byte_array_new();
	tl->ended_threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	tl->ended_processes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	traces_init(tl);
	tl->containers = g_array_new(FALSE, FALSE, sizeof(struct container_entry));
	tl->seconds_from = INT64_MAX;
	tl->dropped_until = tl->facts.folded_until = tl->facts.requests_from = TIME_UNKNOWN;
	span_sums_init(&tl->sums, memory_budget);
	tl->facts.budget = memory_budget;
	return tl;
}

void timeline_free(struct timeline *tl)
{
	if (!tl)
		return;
	registry_clear(&tl->strings, clear_pointer);
	registry_clear(&tl->hosts, clear_host);
	registry_clear(&tl->threads, clear_thread);
	registry_clear(&tl->processes, NULL);
	registry_clear(&tl->files, NULL);
	g_hash_table_destroy(tl->classes);
	g_hash_table_destroy(tl->host_events);
	intmap_clear(&tl->by_host_event);
	g_ptr_array_free(tl->seconds, TRUE);
	if (tl->stored)
		second_reader_unref(tl->stored->reader);
	g_free(tl->stored);
	g_array_free(tl->spans, TRUE);
	g_array_free(tl->span_times, TRUE);
	g_array_free(tl->held_back, TRUE);
	g_byte_array_unref(tl->evicted_slots);
	g_array_unref(tl->ended_threads);
	g_array_unref(tl->ended_processes);
	traces_clear(tl);
	intmap_clear(&tl->by_slot);
	intmap_clear(&tl->by_container);
	intmap_clear(&tl->span_threads);
	intmap_clear(&tl->span_processes);
	g_array_free(tl->containers, TRUE);
	span_sums_clear(&tl->sums);
	intmap_clear(&tl->long_texts);
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

/* Reads the second, if it is an outline. What cannot be read is damaged, and is not tried again. */
static void look_at(struct stored_seconds *stored, struct second *s)
{
	s->used = ++stored->now;
	if (!s->is_outline)
		return;
	if (stored->reader->read(stored->reader, s)) {
		stored->held += s->bytes;
	} else {
		s->is_outline = false;
		s->bytes = sizeof *s;
		s->place.stored = 0;
		s->completeness.damaged++;
	}
}

const struct second *timeline_outline(const struct timeline *tl, size_t i)
{
	return second_at(tl, i);
}

const struct second *timeline_second(const struct timeline *tl, size_t i)
{
	struct second *s = i < tl->seconds->len ? g_ptr_array_index(tl->seconds, i) : NULL;

	if (s && s->place.stored)
		look_at(tl->stored, s);
	return s;
}

size_t timeline_find(const struct timeline *tl, int64_t at)
{
	return FIRST_INDEX(i, tl->seconds->len, second_at(tl, i)->end_ns > at);
}

const char *timeline_string(const struct timeline *tl, uint32_t id)
{
	char *const *s = pages_get(&tl->strings, id);
	return s && *s ? *s : "";
}

const struct host_info *timeline_host(const struct timeline *tl, uint32_t id)
{
	return pages_get(&tl->hosts, id);
}

const struct thread_info *timeline_thread(const struct timeline *tl, uint32_t id)
{
	return pages_get(&tl->threads, id);
}

const struct process_info *timeline_process(const struct timeline *tl, uint32_t id)
{
	return pages_get(&tl->processes, id);
}

const struct file_info *timeline_file(const struct timeline *tl, uint32_t id)
{
	return pages_get(&tl->files, id);
}

uint32_t timeline_n_hosts(const struct timeline *tl)
{
	return tl->hosts.n;
}

uint32_t timeline_next_thread(const struct timeline *tl, uint32_t from)
{
	return pages_next(&tl->threads, from);
}

const char *timeline_comm(const struct timeline *tl, uint32_t thread, int64_t until)
{
	const struct thread_info *t = timeline_thread(tl, thread);

	if (!t || !t->n_names)
		return "";
	size_t next = FIRST_INDEX(i, t->n_names, t->names[i].since >= until);
	return timeline_string(tl, t->names[next ? next - 1 : 0].name);
}

/* ---- times of spans and traces ---- */

void times_widen(GArray *blocks, size_t i, int64_t begin, int64_t end)
{
	const struct block_times none = { INT64_MAX, INT64_MIN };

	while (blocks->len <= i / TIMES_BLOCK)
		g_array_append_val(blocks, none);
	struct block_times *b = &g_array_index(blocks, struct block_times, i / TIMES_BLOCK);
	b->begin = MIN(b->begin, begin);
	b->end = MAX(b->end, end);
}

size_t times_skip(const GArray *blocks, size_t i, size_t n, int64_t from, int64_t to)
{
	while (i < n) {
		const struct block_times *b = &g_array_index(blocks, struct block_times, i / TIMES_BLOCK);
		if (b->begin < to && b->end >= from)
			return i;
		i = (i / TIMES_BLOCK + 1) * TIMES_BLOCK;
	}
	return n;
}

size_t timeline_next_span(const struct timeline *tl, size_t i, int64_t from, int64_t to)
{
	size_t n = tl->spans->len;

	while ((i = times_skip(tl->span_times, i, n, from, to)) < n) {
		const struct span_entry *e = &g_array_index(tl->spans, struct span_entry, i);
		if (e->begin_ns < to && e->end_ns >= from)
			break;
		i++;
	}
	return i;
}

size_t timeline_n_spans(const struct timeline *tl)
{
	return tl->spans->len;
}

const struct span *timeline_span(const struct timeline *tl, size_t i)
{
	return i < tl->spans->len ? g_array_index(tl->spans, struct span_entry, i).span : NULL;
}

void timeline_retain_seconds_from(struct timeline *tl, int64_t from_ns)
{
	tl->seconds_from = from_ns;
}

void timeline_retain_seconds(struct timeline *tl)
{
	tl->retain_seconds = true;
}

void timeline_on_evicting(struct timeline *tl, timeline_evicting call, void *data)
{
	tl->on_evicting = call;
	tl->evicting_data = data;
}

void timeline_retain_range(struct timeline *tl, int64_t from_ns, int64_t to_ns, timeline_dropping call, void *data)
{
	tl->retains_range = true;
	tl->retained_begin = from_ns;
	tl->retained_end = to_ns;
	tl->on_dropping = call;
	tl->dropping_data = data;
}

void timeline_on_beginning(struct timeline *tl, timeline_beginning call, void *data)
{
	tl->on_beginning = call;
	tl->beginning_data = data;
}

void timeline_prefer_range(struct timeline *tl, int64_t from_ns, int64_t to_ns)
{
	tl->preferred_from = from_ns;
	tl->preferred_to = to_ns;
}

void timeline_retain_traces(struct timeline *tl, const uint64_t *trace_ids, size_t n)
{
	for (size_t i = 0; i < TIMELINE_RETAINED; i++)
		tl->retained[i] = i < n ? trace_ids[i] : 0;
}

void timeline_pin(struct timeline *tl, uint64_t trace_id)
{
	tl->pinned = trace_id;
}

bool timeline_has_event(const struct timeline *tl, const char *name)
{
	return g_hash_table_contains(tl->classes, name);
}

bool timeline_any_event(const struct timeline *tl, bool (*has)(const char *name, const void *data), const void *data)
{
	TABLE_EACH(each, tl->classes)
		if (*(const char *)each.key != '(' && has(each.key, data))
			return true;
	return false;
}

/* Pseudo event of a host: any system call. */
#define ANY_CALL "(call)"

bool timeline_host_has_event(const struct timeline *tl, uint32_t host, const char *name)
{
	g_autofree char *key = g_strdup_printf("%u %s", host, name);
	return g_hash_table_contains(tl->host_events, key);
}

bool timeline_host_has_calls(const struct timeline *tl, uint32_t host)
{
	return timeline_host_has_event(tl, host, ANY_CALL);
}

bool timeline_has_spans_of(const struct timeline *tl, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(tl, thread);

	return t && t->process != ID_NONE ? intmap_get(&tl->span_processes, t->process) != INTMAP_NONE :
	       intmap_get(&tl->span_threads, thread) != INTMAP_NONE;
}

char **timeline_event_names(const struct timeline *tl)
{
	g_autofree char **borrowed = (char **)g_hash_table_get_keys_as_array(tl->classes, NULL);
	return g_strdupv(borrowed);
}

size_t timeline_n_event_names(const struct timeline *tl)
{
	return g_hash_table_size(tl->classes);
}

bool timeline_has_events(const struct timeline *tl)
{
	return timeline_n_event_names(tl) > 0;
}

const struct timeline_facts *timeline_facts(const struct timeline *tl)
{
	return &tl->facts;
}

const struct missing *timeline_missing(const struct timeline *tl)
{
	return tl->has_missing ? &tl->missing : NULL;
}

void timeline_set_missing(struct timeline *tl, const struct missing *m)
{
	tl->missing = *m;
	tl->has_missing = true;
}

int64_t timeline_retained_from(const struct timeline *tl)
{
	if (tl->dropped_until != TIME_UNKNOWN)
		return tl->dropped_until;
	return tl->has_coverage ? tl->first_ns : TIME_UNKNOWN;
}

/* --- applying --- */

static void apply_strings(struct timeline *tl, const GArray *strings)
{
	ARRAY_EACH(struct published_string, s, strings) {
		char **entry = pages_put(&tl->strings, s->id);
		if (*entry) {
			g_assert(tl->registry_bytes > strlen(*entry));
			tl->registry_bytes -= strlen(*entry) + 1;
		}
		g_free(*entry);
		*entry = g_steal_pointer(&s->s);
		tl->registry_bytes += strlen(*entry) + 1;
	}
}

static void apply_hosts(struct timeline *tl, GArray *hosts)
{
	ARRAY_EACH(struct published_host, p, hosts) {
		struct host_info *entry = pages_put(&tl->hosts, p->id);
		host_info_clear(entry);
		entry->name = g_steal_pointer(&p->info.name);
		entry->boot = g_steal_pointer(&p->info.boot);
	}
}

static void apply_threads(struct timeline *tl, GArray *threads)
{
	ARRAY_EACH(struct published_thread, p, threads) {
		struct thread_info *entry = pages_put(&tl->threads, p->id);
		g_assert(tl->registry_bytes >= entry->n_names * sizeof(*entry->names));
		tl->registry_bytes -= entry->n_names * sizeof(*entry->names);
		clear_thread(entry);
		*entry = p->info;
		entry->names = g_steal_pointer(&p->names);
		tl->registry_bytes += entry->n_names * sizeof(*entry->names);
		if (entry->process != ID_NONE && intmap_get(&tl->span_threads, p->id) != INTMAP_NONE)
			intmap_set(&tl->span_processes, entry->process, 1);
	}
}

static void put_process(struct timeline *tl, uint32_t id, const struct process_info *info)
{
	struct process_info *p = pages_put(&tl->processes, id);

	*p = *info;
	p->container = containers_id(tl, p);
	tl->has_hostnames |= p->hostname_key > HOSTNAME_OF_HOST;
}

static void apply_registries(struct timeline *tl, struct publication *p)
{
	apply_strings(tl, p->strings);
	apply_hosts(tl, p->hosts);
	apply_threads(tl, p->threads);
	g_array_append_vals(tl->ended_threads, p->ended_threads->data, p->ended_threads->len);
	g_array_append_vals(tl->ended_processes, p->ended_processes->data, p->ended_processes->len);
	ARRAY_EACH(struct published_process, e, p->processes)
		put_process(tl, e->id, &e->info);
	if (p->processes->len && tl->has_hostnames)
		containers_name(tl);
	ARRAY_EACH(struct published_file, e, p->files) {
		*(struct file_info *)pages_put(&tl->files, e->id) = e->info;
	}
	for (unsigned i = 0; i < p->classes->len; i++) {
		char **name = (char **)&g_ptr_array_index(p->classes, i);
		tl->facts.has_calls |= call_event_of(*name, NULL) == CALL_EVENT_ENTRY;
		g_hash_table_add(tl->classes, g_steal_pointer(name));
	}
}

size_t timeline_first_from(const struct timeline *tl, int64_t begin_ns)
{
	size_t n = tl->seconds->len;

	if (n && second_at(tl, n - 1)->begin_ns < begin_ns)
		return n;			/* the usual case: it is the newest */
	return FIRST_INDEX(i, n, second_at(tl, i)->begin_ns >= begin_ns);
}

static bool is_folded(const struct timeline *tl, int64_t at)
{
	const struct second *s = at < tl->facts.folded_until ? second_at(tl, timeline_find(tl, at)) :
				 NULL;

	return s && s->fold_ns && s->begin_ns <= at;
}

/* Is there a version that was decoded again more often than `by`? Then `by` is ignored. */
static bool has_better_second(const struct timeline *tl, const struct second *by)
{
	const struct second *s = second_at(tl, timeline_first_from(tl, by->begin_ns));

	return s && s->begin_ns == by->begin_ns && s->completeness.corrected > by->completeness.corrected;
}

static void note_event(struct timeline *tl, uint32_t host, uint32_t event)
{
	uint64_t key = (uint64_t)host << 32 | event;
	if (intmap_get(&tl->by_host_event, key) != INTMAP_NONE)
		return;
	const char *name = timeline_string(tl, event);
	intmap_set(&tl->by_host_event, key, 1);
	g_hash_table_add(tl->host_events, g_strdup_printf("%u %s", host, name));
	if (call_event_of(name, NULL) == CALL_EVENT_ENTRY)
		g_hash_table_add(tl->host_events, g_strdup_printf("%u " ANY_CALL, host));
}

/* Gives a corrected second the borders of the one that it replaces: coverage may have cut them differently. */
static void correct_second(const struct timeline *tl, struct second *s)
{
	const struct second *old = second_at(tl, timeline_find(tl, s->begin_ns));

	if (!old || old->begin_ns > s->begin_ns || old->fold_ns)
		return;
	s->begin_ns = old->begin_ns;
	s->end_ns = MAX(s->end_ns, old->end_ns);
	s->sums_end_ns = MAX(s->sums_end_ns, old->sums_end_ns);
	s->version = old->version + 1;
	s->completeness.corrected += old->completeness.corrected;
}

static void add_reader(struct timeline *tl, struct second_reader *reader)
{
	if (!reader)
		return;
	g_assert(!tl->stored);
	tl->stored = g_new0(struct stored_seconds, 1);
	tl->stored->reader = second_reader_ref(reader);
}

static void put_second(struct timeline *tl, struct second *s)
{
	if (s->completeness.corrected)
		correct_second(tl, s);
	bool dropped = s->begin_ns < tl->dropped_until && !is_in_retained_range(tl, s);
	if (dropped || is_folded(tl, s->begin_ns) || has_better_second(tl, s)) {
		second_unref(s);		/* it was dropped, folded or corrected since */
		return;
	}
	size_t at = timeline_first_from(tl, s->begin_ns);
	tl->facts.has_calls |= s->totals.has_calls;
	tl->facts.has_unpaired |= s->totals.has_unpaired;
	for (uint32_t i = 0; i < s->n_events; i++)
		note_event(tl, s->events[i].host, s->events[i].name);
	if (s->fold_ns)
		tl->facts.folded_until = MAX(tl->facts.folded_until, s->end_ns);
	g_assert(!at || second_at(tl, at - 1)->begin_ns < s->begin_ns);
	const struct second *old = second_at(tl, at);
	tl->second_bytes += second_held(s);
	if (old && old->begin_ns == s->begin_ns) {
		g_assert(tl->second_bytes >= second_held(old));
		tl->second_bytes -= second_held(old);
		if (old->place.stored && !old->is_outline)
			tl->stored->held -= old->bytes;
		second_unref(g_ptr_array_index(tl->seconds, at));
		g_ptr_array_index(tl->seconds, at) = s;
	} else {
		g_ptr_array_insert(tl->seconds, (int)at, s);
	}
}

static struct span_entry entry_of(struct span *span, uint32_t slot)
{
	g_assert(span->bytes > 0 && span->begin_ns <= span->end_ns);	/* sealed */
	return (struct span_entry){
		.span = span, .trace_id = span->trace_id, .begin_ns = span->begin_ns, .end_ns = span->end_ns,
		.bytes = span->bytes, .slot = slot, .open = span->state == SPAN_OPEN,
	};
}

static void count_text(const char *text, void *data)
{
	struct timeline *tl = data;
	uint64_t key = (uint64_t)(uintptr_t)text;

	if (reftext_len(text) < SPAN_LONG_TEXT)
		return;
	uint32_t n = intmap_get(&tl->long_texts, key);
	tl->text_bytes += n == INTMAP_NONE ? reftext_bytes(text) : 0;
	intmap_set(&tl->long_texts, key, n == INTMAP_NONE ? 1 : n + 1);
}

static void uncount_text(const char *text, void *data)
{
	struct timeline *tl = data;
	uint64_t key = (uint64_t)(uintptr_t)text;

	if (reftext_len(text) < SPAN_LONG_TEXT)
		return;
	uint32_t n = intmap_get(&tl->long_texts, key);
	g_assert(n != INTMAP_NONE);		/* count_text() was called for the same text */
	if (n > 1) {
		intmap_set(&tl->long_texts, key, n - 1);
		return;
	}
	intmap_remove(&tl->long_texts, key);
	tl->text_bytes -= reftext_bytes(text);
}

static void count_span(struct timeline *tl, const struct span_entry *entry)
{
	tl->span_bytes += entry->bytes;
	if (entry->span->has_long_text)
		span_each_text(entry->span, count_text, tl);
}

void timeline_uncount_span(struct timeline *tl, const struct span_entry *entry)
{
	g_assert(tl->span_bytes >= entry->bytes);
	tl->span_bytes -= entry->bytes;
	if (entry->span->has_long_text)
		span_each_text(entry->span, uncount_text, tl);
}

static void note_thread(struct timeline *tl, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(tl, thread);

	if (thread == ID_NONE)
		return;
	intmap_set(&tl->span_threads, thread, 1);
	if (t && t->process != ID_NONE)
		intmap_set(&tl->span_processes, t->process, 1);
}

static void add_span(struct timeline *tl, struct span_entry entry)
{
	g_assert(intmap_get(&tl->by_slot, entry.slot) == INTMAP_NONE);
	tl->facts.has_spans = true;
	note_thread(tl, entry.span->thread);
	tl->facts.has_hostless |= entry.span->host == ID_NONE;
	/* A late version of a dropped span is ignored. */
	if (!entry.open && entry.end_ns < tl->dropped_until && entry.trace_id != tl->pinned) {
		span_unref(entry.span);
		return;
	}
	g_assert(!timeline_is_evicted(tl, entry.slot));	/* its sums would count it twice */
	uint32_t index = tl->spans->len;
	g_array_append_val(tl->spans, entry);
	times_widen(tl->span_times, index, entry.begin_ns, entry.end_ns);
	intmap_set(&tl->by_slot, entry.slot, index);
	traces_add(tl, &entry, index);
	count_span(tl, &entry);
}

static void replace_span(struct timeline *tl, uint32_t index, struct span_entry entry)
{
	struct span_entry *old = &g_array_index(tl->spans, struct span_entry, index);

	g_assert(old->slot == entry.slot);
	traces_replace(tl, old, &entry, index);
	note_thread(tl, entry.span->thread);
	count_span(tl, &entry);
	timeline_uncount_span(tl, old);
	span_unref(old->span);
	*old = entry;
	times_widen(tl->span_times, index, entry.begin_ns, entry.end_ns);
}

/* Holds back a new version of a pinned span; a slot has only the newest one. */
static void hold_back(struct timeline *tl, struct span_entry entry)
{
	ARRAY_EACH(struct span_entry, held, tl->held_back) {
		if (held->slot == entry.slot) {
			span_unref(held->span);
			*held = entry;
			return;
		}
	}
	g_array_append_val(tl->held_back, entry);
}

/* The stored span of the same trace, id and kind, preferably of the same service; NULL: none.
 * *ret_n: the number of such spans of any service. */
static const struct span_entry *find_entry(const struct timeline *tl, const struct span *s, unsigned *ret_n)
{
	const GArray *indexes = timeline_trace_spans(tl, s->trace_id);
	const struct span_entry *any = NULL, *same = NULL;

	*ret_n = 0;
	for (guint i = 0; indexes && i < indexes->len; i++) {
		const struct span_entry *e = &g_array_index(tl->spans, struct span_entry,
							    g_array_index(indexes, uint32_t, i));
		if (e->span->span_id != s->span_id || e->span->kind != s->kind)
			continue;
		++*ret_n;
		any = e;
		if (e->span->service == s->service)
			same = e;
	}
	return same ? same : any;
}

/* Is the stored span a corrected version? The model's own version has late events at the wrong time. */
static bool is_superseded(const struct timeline *tl, const struct span_entry *entry)
{
	unsigned n;

	if (!tl->has_corrected || entry->corrected)
		return false;
	const struct span_entry *have = find_entry(tl, entry->span, &n);
	return have && have->corrected &&
	       (have->span->service == entry->span->service || have->slot == entry->slot);
}

static void apply_span(struct timeline *tl, struct span_entry entry)
{
	uint32_t index = intmap_get(&tl->by_slot, entry.slot);

	/* The sums count an evicted span already: a later version would count twice. */
	if (is_superseded(tl, &entry) || timeline_is_evicted(tl, entry.slot)) {
		span_unref(entry.span);
		return;
	}
	if (index == INTMAP_NONE) {
		add_span(tl, entry);
		return;
	}
	g_assert(index < tl->spans->len);
	const struct span_entry *old = &g_array_index(tl->spans, struct span_entry, index);
	if (tl->pinned && old->trace_id == tl->pinned && !old->open)
		hold_back(tl, entry);
	else
		replace_span(tl, index, entry);
}

/* A span that was decoded again replaces the stored version. */
static void correct_span(struct timeline *tl, struct span_entry entry, enum span_correction correction)
{
	unsigned n;
	const struct span_entry *old = find_entry(tl, entry.span, &n);

	/* The sums of evicted spans may count it already. */
	if (!old && entry.end_ns < tl->facts.requests_from) {
		span_unref(entry.span);
		return;
	}
	if (old && (old->span->service == entry.span->service || (n == 1 && correction == SPAN_CORRECTED)))
		entry.slot = old->slot;
	entry.corrected = tl->has_corrected = true;
	apply_span(tl, entry);
}

/* Applies the versions that were held back while their trace was pinned. If it is still pinned, they are held back
 * again. Returns whether any was applied. */
static bool release_held_back(struct timeline *tl)
{
	GArray *held = tl->held_back;
	bool any = false;

	if (held->len == 0)
		return false;
	tl->held_back = span_entries_new();
	ARRAY_EACH(struct span_entry, entry, held) {
		struct span_entry released = *entry;
		unsigned before = tl->held_back->len;
		entry->span = NULL;
		apply_span(tl, released);
		any |= tl->held_back->len == before;
	}
	g_array_free(held, TRUE);
	return any;
}

static bool same_completeness(const struct completeness *a, const struct completeness *b)
{
	return a->lost_events == b->lost_events && a->lost_packets == b->lost_packets &&
	       a->damaged == b->damaged && a->provisional == b->provisional &&
	       a->late == b->late && a->touched == b->touched && a->reordered_pairs == b->reordered_pairs;
}

static bool apply_totals(struct timeline *tl, const struct publication *p)
{
	bool changed = tl->n_events != p->n_events || tl->facts.notes.alone != p->notes.alone ||
		       tl->facts.notes.over != p->notes.over ||
		       !same_completeness(&tl->facts.completeness, &p->completeness);

	tl->n_events = p->n_events;
	tl->facts.n_thinned = p->n_thinned;
	tl->facts.notes = p->notes;
	tl->facts.completeness = p->completeness;
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
	return p->strings->len || p->hosts->len || p->threads->len || p->processes->len || p->files->len ||
	       p->seconds->len || p->spans->len || p->classes->len;
}

static void report_beginning(struct timeline *tl)
{
	timeline_beginning call = tl->on_beginning;

	if (!call || !tl->has_coverage)
		return;
	tl->on_beginning = NULL;
	call(tl->beginning_data);
}

void timeline_apply(struct timeline *tl, struct publication *p)
{
	bool changed = has_entries(p);

	timeline_unload(tl);
	changed |= release_held_back(tl);
	changed |= apply_totals(tl, p);
	report_beginning(tl);
	apply_registries(tl, p);
	add_reader(tl, p->reader);
	ARRAY_EACH(const struct host_event, e, p->host_events)
		note_event(tl, e->host, e->name);
	for (unsigned i = 0; i < p->seconds->len; i++) {
		struct second **s = (struct second **)&g_ptr_array_index(p->seconds, i);
		put_second(tl, g_steal_pointer(s));
	}
	ARRAY_EACH(struct published_span, e, p->spans) {
		struct span_entry entry = entry_of(g_steal_pointer(&e->span), e->slot);
		e->correction ? correct_span(tl, entry, e->correction) : apply_span(tl, entry);
	}
	tl->beside_bytes = p->beside_bytes;
	publication_free(p);
	traces_settle(tl);
	timeline_drop_ended(tl);
	timeline_enforce_budget(tl);
	if (changed)
		tl->facts.version++;
}
