/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps seconds that were decoded again to the registries of a publisher: see adopt.h. */
#include "state/publish/adopt.h"

#include "base/each.h"
#include "state/kernel/slice_state.h"
#include "state/names/names_private.h"
#include "state/publish/publisher_private.h"
#include "state/spans/spans_state.h"


struct adoption {
	struct publisher *p;
	struct publication *from, *to;
	int64_t until;			/* ns: end of the adopted range */
	uint32_t *string, *host, *thread, *process, *file;	/* the publisher's ids, by ids of .from; ID_NONE:
								 * not mapped */
};

static uint32_t *map_new(const GArray *of)
{
	uint32_t *map = g_new(uint32_t, of->len + 1);

	memset(map, 0xff, (of->len + 1) * sizeof *map);
	return map;
}

static uint32_t map_id(const uint32_t *map, uint32_t id)
{
	return id == ID_NONE ? ID_NONE : map[id];
}

/* ---- entries that are equal by value ---- */

static void map_strings(struct adoption *a)
{
	struct slice *s = a->p->s;

	a->string = map_new(a->from->strings);
	ARRAY_EACH(const struct published_string, e, a->from->strings) {
		g_assert(e->id < a->from->strings->len);	/* a finished slice publishes all ids, from 0 on */
		a->string[e->id] = strtab_add(s->strings, e->s);
	}
}

static bool map_hosts(struct adoption *a)
{
	const GArray *hosts = a->p->s->hosts;

	a->host = map_new(a->from->hosts);
	ARRAY_EACH(const struct published_host, e, a->from->hosts) {
		g_assert(e->id < a->from->hosts->len);
		for (guint k = 0; k < hosts->len; k++) {
			const struct slice_host *h = &g_array_index(hosts, struct slice_host, k);
			if (!strcmp(h->name, e->info.name) && !strcmp(h->boot, e->info.boot))
				a->host[e->id] = k;
		}
		if (a->host[e->id] == ID_NONE)
			return false;
	}
	return true;
}

static void map_files(struct adoption *a)
{
	a->file = map_new(a->from->files);
	ARRAY_EACH(const struct published_file, e, a->from->files) {
		g_assert(e->id < a->from->files->len);
		a->file[e->id] = names_file_id(a->p->names, a->host[e->info.host], e->info.kind,
					       a->string[e->info.path]);
	}
}

/* ---- threads and processes ---- */

struct time_range { int64_t start_ns, exit_ns; };	/* or TIME_UNKNOWN */

static struct time_range thread_times(const struct publisher *p, uint32_t id)
{
	const struct thread_entry *t = thread_entry(p, id);

	return (struct time_range){ t->start_ns, t->exit_ns };
}

static struct time_range process_times(const struct publisher *p, uint32_t id)
{
	const struct process_info *info = &process_entry(p, id)->info;

	return (struct time_range){ info->start_ns, info->exit_ns };
}

static bool is_before(int64_t a, int64_t b)
{
	return a != TIME_UNKNOWN && b != TIME_UNKNOWN && a < b;
}

/*
 * Finds the registry entry for a thread or process with that number and lifetime. Entries whose known lifetime does
 * not overlap are skipped. The newest entry that began before the end of the adopted range is taken. A later entry is
 * taken only if there is no other, or if the one before it ended where it began: then its start was late.
 */
static uint32_t find_owner(const struct adoption *a, const struct owners *l, uint64_t key,
			   struct time_range lifetime,
			   struct time_range (*times_of)(const struct publisher *p, uint32_t id))
{
	uint32_t later = ID_NONE, next = intmap_get(&l->newest, key);

	for (uint32_t id = next == INTMAP_NONE ? ID_NONE : next; id != ID_NONE; id = owners_before(l, id)) {
		struct time_range had = times_of(a->p, id);
		if (is_before(had.exit_ns, lifetime.start_ns) || is_before(lifetime.exit_ns, had.start_ns))
			continue;
		if (later != ID_NONE && times_of(a->p, later).start_ns == had.exit_ns)
			return later;
		if (had.start_ns == TIME_UNKNOWN || had.start_ns < a->until)
			return id;
		later = id;
	}
	return later;
}

/* The earlier known time: if a start event was late, the model has the time of its arrival. */
static int64_t earlier(int64_t a, int64_t b)
{
	return a == TIME_UNKNOWN ? b : b == TIME_UNKNOWN ? a : MIN(a, b);
}

static void map_processes(struct adoption *a)
{
	struct publisher *p = a->p;

	a->process = map_new(a->from->processes);
	ARRAY_EACH(const struct published_process, e, a->from->processes) {
		struct process_info info = e->info;
		info.host = a->host[info.host];
		uint32_t id = find_owner(a, &p->pid_owners, pair(info.host, (uint32_t)info.pid),
					(struct time_range){ info.start_ns, info.exit_ns }, process_times);
		if (id == ID_NONE) {
			id = publisher_add_process(p, info.host, info.pid);
			info.hostname = a->string[info.hostname];
			info.leader = ID_NONE;
			process_entry(p, id)->info = info;
		}
		g_assert(e->id < a->from->processes->len);
		a->process[e->id] = id;
	}
}

/* Fills in unknown fields, also in the process of names.h, so that later publications agree. */
static void learn_process(struct process_info *info, const struct process_info *redecoded, uint32_t hostname)
{
	info->ppid = redecoded->ppid >= 0 ? redecoded->ppid : info->ppid;
	info->start_ns = earlier(info->start_ns, redecoded->start_ns);
	info->exit_ns = earlier(info->exit_ns, redecoded->exit_ns);
	for (unsigned i = 0; i < NS_N; i++)
		info->ns[i] = info->ns[i] ? info->ns[i] : redecoded->ns[i];
	info->vpid = info->vpid < 0 ? redecoded->vpid : info->vpid;
	if (!info->hostname_key) {
		info->hostname = hostname;
		info->hostname_key = redecoded->hostname_key;
	}
}

static void learn_processes(struct adoption *a)
{
	struct publisher *p = a->p;

	ARRAY_EACH(const struct published_process, e, a->from->processes) {
		uint32_t id = a->process[e->id], hostname = a->string[e->info.hostname];
		struct process_entry *entry = process_entry(p, id);
		learn_process(&entry->info, &e->info, hostname);
		if (entry->process != ID_NONE)
			learn_process(&names_process_at(p->names, entry->process)->info, &e->info, hostname);
		else if (entry->info.leader == ID_NONE)
			entry->info.leader = map_id(a->thread, e->info.leader);
		publication_add_process(a->to, id, &entry->info);
	}
}

/* Takes the names of the decoded range; later names stay. */
static void learn_names(const struct adoption *a, GArray *names, const struct thread_info *redecoded)
{
	g_autoptr(GArray) had = g_array_copy(names);

	if (!redecoded->n_names)
		return;
	g_array_set_size(names, 0);
	for (uint32_t i = 0; i < redecoded->n_names; i++) {
		struct name_at n = { redecoded->names[i].since, a->string[redecoded->names[i].name] };
		g_array_append_val(names, n);
	}
	for (guint i = 0; i < had->len; i++)
		if (g_array_index(had, struct name_at, i).since >=
		    MAX(a->until, redecoded->names[redecoded->n_names - 1].since + 1))
			g_array_append_vals(names, &g_array_index(had, struct name_at, i), 1);
}

/* The slice's thread of an entry; NULL: released. */
static struct thread *known_thread(const struct publisher *p, uint32_t id)
{
	uint32_t thread = thread_entry(p, id)->thread;
	struct thread *t = thread == ID_NONE ? NULL : thread_at(p->s, thread_follow(p->s, thread));

	return t && t->id == id ? t : NULL;
}

static void learn_thread(struct adoption *a, uint32_t id, const struct thread_info *redecoded)
{
	struct thread_entry *entry = thread_entry(a->p, id);
	struct thread *t = known_thread(a->p, id);
	g_autoptr(GArray) own = g_array_new(false, false, sizeof(struct name_at));
	GArray *comms = t ? (GArray *)names_comms(a->p->names, t->self) : NULL;

	if (!t && (entry->thread != ID_NONE || entry->released != TIME_UNKNOWN))
		return;			/* released: the entry is complete */
	learn_names(a, comms ? comms : own, redecoded);
	comms = comms ? comms : own;
	if (redecoded->process != ID_NONE)
		entry->published_process = a->process[redecoded->process];
	entry->n_comms = comms->len;
	entry->start_ns = earlier(entry->start_ns, redecoded->start_ns);
	entry->exit_ns = earlier(entry->exit_ns, redecoded->exit_ns);
	if (t) {
		t->start_ns = entry->start_ns;
		t->exit_ns = entry->exit_ns;
	}
	struct thread_info info = {
		.host = a->host[redecoded->host], .tid = redecoded->tid, .process = entry->published_process,
		.kernel = entry->kernel || redecoded->kernel,
		.start_ns = entry->start_ns, .exit_ns = entry->exit_ns,
		.names = (const struct name_at *)(void *)comms->data, .n_names = comms->len,
	};
	publication_add_thread(a->to, id, &info);
}

static void map_threads(struct adoption *a)
{
	struct publisher *p = a->p;

	a->thread = map_new(a->from->threads);
	ARRAY_EACH(const struct published_thread, e, a->from->threads) {
		uint32_t host = a->host[e->info.host];
		uint32_t id = find_owner(a, &p->tid_owners, pair(host, (uint32_t)e->info.tid),
					(struct time_range){ e->info.start_ns, e->info.exit_ns }, thread_times);
		if (id == ID_NONE) {
			id = publisher_add_thread(p, host);
			thread_entry(p, id)->tid = e->info.tid;
			owners_add(&p->tid_owners, host, e->info.tid, id);
		}
		learn_thread(a, id, &e->info);
		g_assert(e->id < a->from->threads->len);
		a->thread[e->id] = id;
	}
}

/* Publishes all new entries, and threads of the decoded range to which no published second refers yet. */
static void publish_unpublished(struct adoption *a)
{
	struct slice *s = a->p->s;

	ARRAY_EACH(const struct published_thread, e, a->from->threads) {
		uint32_t t = intmap_get(&s->tid_last, pair(a->host[e->info.host], (uint32_t)e->info.tid));
		if (t != INTMAP_NONE)
			publisher_thread_id(a->p, t);
	}
	publisher_publish_registries(a->p, a->to);
}

static void map_registries(struct adoption *a)
{
	map_strings(a);
	map_files(a);
	publish_unpublished(a);
	map_processes(a);
	map_threads(a);
	learn_processes(a);
}

/* ---- seconds and spans: changed in place, as no other thread can access them ---- */

static void map_id_in_place(enum span_id kind, uint32_t *id, void *adoption)
{
	const struct adoption *a = adoption;
	const uint32_t *const maps[] = {
		[SPAN_ID_STRING] = a->string, [SPAN_ID_HOST] = a->host, [SPAN_ID_THREAD] = a->thread,
		[SPAN_ID_FILE] = a->file,
	};

	*id = map_id(maps[kind], *id);
}

static void map_second(const struct adoption *a, struct second *s)
{
	const struct cell_maps maps = { .thread = a->thread, .string = a->string,
					.host = a->host, .file = a->file, .published = true };
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		const struct cell_layout *l = cell_layout(k);
		uint32_t n;
		char *cells = second_cells(s, k, &n);
		for (uint32_t i = 0; i < n; i++)
			cell_map(l, cells + (size_t)i * l->size, &maps);
	}
	for (uint32_t i = 0; i < s->n_slow; i++) {
		s->slow[i].thread = map_id(a->thread, s->slow[i].thread);
		s->slow[i].name = map_id(a->string, s->slow[i].name);
		s->slow[i].file = map_id(a->file, s->slow[i].file);
	}
}

static bool is_between(int64_t ts, int64_t from, int64_t to)
{
	return ts >= from && ts < to;
}

static bool has_seconds(const struct publication *p, int64_t from, int64_t to)
{
	for (guint i = 0; i < p->seconds->len; i++)
		if (is_between(((struct second *)g_ptr_array_index(p->seconds, i))->begin_ns, from, to))
			return true;
	return false;
}

static void move_seconds(struct adoption *a, int64_t from, int64_t to)
{
	PTR_EACH(struct second, s, a->from->seconds) {
		if (!is_between(s->begin_ns, from, to))
			continue;
		map_second(a, s);
		s->completeness.corrected = 1;
		g_ptr_array_add(a->to->seconds, second_ref(s));
	}
}

/* Key of spans of the same trace, id and kind: several such halves differ by service. */
static uint64_t half_key(const struct span *s)
{
	return (s->span_id * UINT64_C(0x9e3779b97f4a7c15)) ^ s->trace_id ^ (uint64_t)s->kind << 62;
}

static void move_spans(struct adoption *a, int64_t from, int64_t to)
{
	struct intmap halves = { 0 };

	for (guint i = 0; i < a->from->spans->len; i++) {
		uint64_t key = half_key(g_array_index(a->from->spans, struct published_span, i).span);
		uint32_t n = intmap_get(&halves, key);
		intmap_set(&halves, key, n == INTMAP_NONE ? 1 : n + 1);
	}
	for (guint i = 0; i < a->from->spans->len; i++) {
		struct span *s = g_array_index(a->from->spans, struct published_span, i).span;
		if (s->state != SPAN_COMPLETE ||
		    !(is_between(s->begin_ns, from, to) || is_between(s->end_ns, from, to)))
			continue;
		span_each_id(s, map_id_in_place, a);
		publication_add_span(a->to, a->p->spans->n_slots++, span_ref(s));
		struct published_span *p = &g_array_index(a->to->spans, struct published_span, a->to->spans->len - 1);
		p->correction = intmap_get(&halves, half_key(s)) == 1 ? SPAN_CORRECTED : SPAN_HALF_CORRECTED;
	}
	intmap_clear(&halves);
}

static void clear(struct adoption *a)
{
	g_free(a->string);
	g_free(a->host);
	g_free(a->thread);
	g_free(a->process);
	g_free(a->file);
	publication_free(a->from);
}

struct publication *publisher_adopt(struct publisher *p, struct publication *redecoded, int64_t from, int64_t to)
{
	struct adoption a = { .p = p, .from = redecoded, .to = publication_new(), .until = to };

	if (has_seconds(redecoded, from, to) && map_hosts(&a)) {
		map_registries(&a);
		move_seconds(&a, from, to);
		move_spans(&a, from, to);
		publisher_publish_registries(p, a.to);	/* entries that are new since publish_unpublished() */
		publisher_totals(p, a.to);
	} else {
		g_clear_pointer(&a.to, publication_free);
	}
	clear(&a);
	return a.to;
}
