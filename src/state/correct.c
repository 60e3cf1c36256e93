/* SPDX-License-Identifier: GPL-2.0-only */
/* Ids of one timeline said in those of another: see correct.h. */
#include "state/correct.h"

#include "state/publish.h"
#include "state/timeline_private.h"

#include <string.h>

/* A registry of the window: what its ids are in the timeline. */
struct ids {
	uint32_t *to;
	uint32_t n;
};

/* What the timeline's entries are found by: kept with it, since the next correction comes a
 * second later, and all strings of an hour take longer than a key may. */
struct correct_index {
	GHashTable *strings;		/* text -> id + 1, of the timeline */
	GHashTable *threads, *processes, *files;	/* struct who -> id + 1 */
	struct intmap threads_before, processes_before;	/* id -> that of who had the tid, or pid, before */
};

struct correction {
	struct timeline *tl, *from;
	struct correct_index *index;	/* the timeline's */
	int64_t to;			/* end of what is corrected */
	struct ids string_ids, host_ids, thread_ids, process_ids, file_ids;
};

/* What an entry is found by. */
struct who {
	uint32_t host, name;		/* name: of files, a string */
	int64_t number;			/* tid, pid; kind of a file */
};

static guint who_hash(gconstpointer p)
{
	const struct who *w = p;

	return w->host * 31 + w->name * 0x9e3779b1u + (guint)w->number * 0x85ebca6bu;
}

static gboolean who_equal(gconstpointer a, gconstpointer b)
{
	return !memcmp(a, b, sizeof(struct who));
}

static uint32_t map(const struct ids *ids, uint32_t id)
{
	return id < ids->n ? ids->to[id] : ID_NONE;
}

static void ids_init(struct ids *ids, uint32_t n)
{
	ids->n = n;
	ids->to = g_new(uint32_t, n + 1);
	memset(ids->to, 0xff, (n + 1) * sizeof *ids->to);
}

/* ---- what the timeline has ---- */

/* Before it is told what is new: a string's first id stays, the newest of the others wins. */
static uint32_t start_at(struct registry *r)
{
	uint32_t at = MIN(r->indexed, r->n);

	r->indexed = r->n;
	return at;
}

static void index_string(struct correction *c, uint32_t id)
{
	char *text = (char *)timeline_string(c->tl, id);

	if (!strings_is_offered(c->tl, id) && !g_hash_table_contains(c->index->strings, text))
		g_hash_table_insert(c->index->strings, text, GUINT_TO_POINTER(id + 1));
}

static void index_strings(struct correction *c)
{
	for (uint32_t i = start_at(&c->tl->strings); i < c->tl->strings.n; i++)
		index_string(c, i);
}

static void remember(GHashTable *table, struct who who, uint32_t id)
{
	g_hash_table_insert(table, g_memdup2(&who, sizeof who), GUINT_TO_POINTER(id + 1));
}

static uint32_t recall(GHashTable *table, struct who who)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(table, &who)) - 1;
}

static uint32_t recall_string(const struct correct_index *x, const char *text)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(x->strings, text)) - 1;
}

/* Of threads and processes: the newest of a tid, and from it to the older ones. */
static void remember_life(GHashTable *table, struct intmap *before, struct who who, uint32_t id)
{
	uint32_t newest = recall(table, who);

	if (newest != ID_NONE && newest != id)
		intmap_set(before, id, newest);
	remember(table, who, id);
}

struct life { int64_t start_ns, exit_ns; };	/* TIME_UNKNOWN */

static struct life thread_life(const struct timeline *tl, uint32_t id)
{
	const struct thread_info *t = timeline_thread(tl, id);

	return (struct life){ t->start_ns, t->exit_ns };
}

static struct life process_life(const struct timeline *tl, uint32_t id)
{
	const struct process_info *p = timeline_process(tl, id);

	return (struct life){ p->start_ns, p->exit_ns };
}

static bool is_before(int64_t a, int64_t b)
{
	return a != TIME_UNKNOWN && b != TIME_UNKNOWN && a < b;
}

/* Whose life was it, of all who had the tid? Not theirs who were gone before it began, or began after
 * its end. Who began behind the window only where there is nobody else, or only one whom this one ended: its
 * begin was told too late. */
static uint32_t recall_life(const struct correction *c, GHashTable *table, const struct intmap *before,
			    struct who who, struct life life,
			    struct life (*life_of)(const struct timeline *tl, uint32_t id))
{
	uint32_t later = ID_NONE;

	for (uint32_t id = recall(table, who); id != ID_NONE; id = intmap_get(before, id)) {
		struct life had = life_of(c->tl, id);
		if (is_before(had.exit_ns, life.start_ns) || is_before(life.exit_ns, had.start_ns))
			continue;
		if (later != ID_NONE && life_of(c->tl, later).start_ns == had.exit_ns)
			return later;
		if (had.start_ns == TIME_UNKNOWN || had.start_ns < c->to)
			return id;
		later = id;
	}
	return later;
}

static GHashTable *table_new(void)
{
	return g_hash_table_new_full(who_hash, who_equal, g_free, NULL);
}

static void index_threads(struct correction *c, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct thread_info *t = timeline_thread(c->tl, i);
		if (t)
			remember_life(c->index->threads, &c->index->threads_before,
				      (struct who){ t->host, 0, t->tid }, i);
	}
}

static void index_processes(struct correction *c, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct process_info *p = timeline_process(c->tl, i);
		if (p)
			remember_life(c->index->processes, &c->index->processes_before,
				      (struct who){ p->host, 0, p->pid }, i);
	}
}

static void index_files(struct correction *c, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		const struct file_info *f = timeline_file(c->tl, i);
		if (f)
			remember(c->index->files, (struct who){ f->host, f->path, f->kind }, i);
	}
}

static struct correct_index *index_new(struct timeline *tl)
{
	struct correct_index *x = g_new0(struct correct_index, 1);
	struct registry *all[] = { &tl->strings, &tl->threads, &tl->processes, &tl->files };

	x->strings = g_hash_table_new(g_str_hash, g_str_equal);
	x->threads = table_new();
	x->processes = table_new();
	x->files = table_new();
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		all[i]->indexed = 0;
	return x;
}

/* What came since the last correction; what a correction made is there already. Only when
 * that begins anew the timeline's own are missing, which give way to the model's. */
static void index_all(struct correction *c)
{
	static void (*const kinds[])(struct correction *, uint32_t, uint32_t) = {
		index_threads, index_processes, index_files,
	};
	struct registry *of[] = { &c->tl->threads, &c->tl->processes, &c->tl->files };
	const struct registry *own = c->tl->strings.own;
	bool anew = !c->tl->index;

	if (anew)
		c->tl->index = index_new(c->tl);
	c->index = c->tl->index;
	for (uint32_t i = 0; anew && own && i < own->n; i++)
		index_string(c, TIMELINE_OWN | i);
	index_strings(c);
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
		if (anew && of[i]->own)
			kinds[i](c, TIMELINE_OWN, TIMELINE_OWN + of[i]->own->n);
		kinds[i](c, start_at(of[i]), of[i]->n);
	}
}

void correct_forget_string(struct timeline *tl, uint32_t id)
{
	const char *text = timeline_string(tl, id);

	if (tl->index && recall_string(tl->index, text) == id)
		g_hash_table_remove(tl->index->strings, text);
}

void correct_index_free(struct correct_index *x)
{
	if (!x)
		return;
	g_hash_table_unref(x->strings);
	g_hash_table_unref(x->threads);
	g_hash_table_unref(x->processes);
	g_hash_table_unref(x->files);
	intmap_clear(&x->threads_before);
	intmap_clear(&x->processes_before);
	g_free(x);
}

size_t correct_index_bytes(const struct correct_index *x)
{
	return !x ? 0 : g_hash_table_size(x->strings) * 32 +
	       (g_hash_table_size(x->threads) + g_hash_table_size(x->processes) +
		g_hash_table_size(x->files)) * 64 +
	       (x->threads_before.n + x->processes_before.n) * 24;
}

/* ---- what the window has, in the timeline ---- */

static void map_strings(struct correction *c)
{
	ids_init(&c->string_ids, c->from->strings.n);
	for (uint32_t i = 0; i < c->from->strings.n; i++) {
		const char *text = timeline_string(c->from, i);
		uint32_t id = recall_string(c->index, text);
		if (id == ID_NONE) {
			char *taken = g_strdup(text);
			id = registry_own(&c->tl->strings);
			timeline_put_string(c->tl, id, taken);
			g_hash_table_insert(c->index->strings, taken, GUINT_TO_POINTER(id + 1));
		}
		if (!strings_is_passing(c->from, i))
			strings_stay(c->tl, id);
		c->string_ids.to[i] = id;
	}
}

static bool map_hosts(struct correction *c)
{
	ids_init(&c->host_ids, c->from->hosts.n);
	for (uint32_t i = 0; i < c->from->hosts.n; i++) {
		const struct host_info *w = timeline_host(c->from, i);
		for (uint32_t k = 0; w && k < timeline_n_hosts(c->tl); k++) {
			const struct host_info *h = timeline_host(c->tl, k);
			if (h && !g_strcmp0(h->name, w->name) && !g_strcmp0(h->boot, w->boot))
				c->host_ids.to[i] = k;
		}
		if (w && c->host_ids.to[i] == ID_NONE)
			return false;
	}
	return true;
}

/* What began too late for the model began when it was told of it. */
static int64_t earlier(int64_t a, int64_t b)
{
	return a == TIME_UNKNOWN ? b : b == TIME_UNKNOWN ? a : MIN(a, b);
}

/* The one there was, with what the window knows better. */
static void learn_process(struct correction *c, uint32_t id, const struct process_info *from)
{
	struct process_info p = *timeline_process(c->tl, id);

	p.ppid = from->ppid >= 0 ? from->ppid : p.ppid;
	p.start_ns = earlier(p.start_ns, from->start_ns);
	p.exit_ns = earlier(p.exit_ns, from->exit_ns);
	for (unsigned i = 0; i < NS_N; i++)
		p.ns[i] = p.ns[i] ? p.ns[i] : from->ns[i];
	p.vpid = p.vpid < 0 ? from->vpid : p.vpid;
	if (!p.hostname_key) {
		p.hostname = map(&c->string_ids, from->hostname);
		p.hostname_key = from->hostname_key;
	}
	timeline_put_process(c->tl, id, &p);
}

static void map_processes(struct correction *c)
{
	ids_init(&c->process_ids, c->from->processes.n);
	for (uint32_t i = 0; i < c->from->processes.n; i++) {
		const struct process_info *p = timeline_process(c->from, i);
		if (!p)
			continue;
		struct process_info info = *p;
		info.host = map(&c->host_ids, p->host);
		struct who who = { info.host, 0, p->pid };
		uint32_t id = recall_life(c, c->index->processes, &c->index->processes_before, who,
					  (struct life){ p->start_ns, p->exit_ns }, process_life);
		if (id == ID_NONE) {
			id = registry_own(&c->tl->processes);
			info.hostname = map(&c->string_ids, p->hostname);
			info.leader = ID_NONE;		/* its threads are not known yet */
			timeline_put_process(c->tl, id, &info);
			remember_life(c->index->processes, &c->index->processes_before, who, id);
		} else {
			learn_process(c, id, p);
		}
		c->process_ids.to[i] = id;
	}
	if (c->tl->has_hostnames)
		containers_name(c->tl);
}

/* The window's names, and behind the window those there were. */
static void learn_names(struct correction *c, struct thread_info *mine, const struct thread_info *t)
{
	GArray *names = g_array_new(FALSE, FALSE, sizeof(struct name_at));

	if (!t->n_names) {
		g_array_unref(names);
		return;
	}
	for (uint32_t i = 0; i < t->n_names; i++) {
		struct name_at n = { t->names[i].since, map(&c->string_ids, t->names[i].name) };
		g_array_append_val(names, n);
	}
	for (uint32_t i = 0; i < mine->n_names; i++)
		if (mine->names[i].since >= MAX(c->to, t->names[t->n_names - 1].since + 1))
			g_array_append_val(names, mine->names[i]);
	c->tl->registry_bytes -= mine->n_names * sizeof *mine->names;
	g_free((void *)mine->names);
	mine->n_names = names->len;
	mine->names = (struct name_at *)(void *)g_array_free(names, FALSE);
	c->tl->registry_bytes += mine->n_names * sizeof *mine->names;
}

static void learn_thread(struct correction *c, uint32_t id, const struct thread_info *t)
{
	struct thread_info *mine = registry_put(&c->tl->threads, id);
	uint32_t process = map(&c->process_ids, t->process);

	learn_names(c, mine, t);
	mine->start_ns = earlier(mine->start_ns, t->start_ns);
	mine->exit_ns = earlier(mine->exit_ns, t->exit_ns);
	mine->kernel |= t->kernel;
	mine->process = process == ID_NONE ? mine->process : process;
}

static void map_threads(struct correction *c)
{
	ids_init(&c->thread_ids, c->from->threads.n);
	for (uint32_t i = 0; i < c->from->threads.n; i++) {
		const struct thread_info *t = timeline_thread(c->from, i);
		if (!t)
			continue;
		struct who who = { map(&c->host_ids, t->host), 0, t->tid };
		uint32_t id = recall_life(c, c->index->threads, &c->index->threads_before, who,
					  (struct life){ t->start_ns, t->exit_ns }, thread_life);
		if (id == ID_NONE) {
			id = registry_own(&c->tl->threads);
			*(struct thread_info *)registry_put(&c->tl->threads, id) = (struct thread_info){
				.host = who.host, .tid = t->tid, .process = ID_NONE,
				.start_ns = TIME_UNKNOWN, .exit_ns = TIME_UNKNOWN,
			};
			remember_life(c->index->threads, &c->index->threads_before, who, id);
		}
		learn_thread(c, id, t);
		c->thread_ids.to[i] = id;
	}
}

static void map_files(struct correction *c)
{
	ids_init(&c->file_ids, c->from->files.n);
	for (uint32_t i = 0; i < c->from->files.n; i++) {
		const struct file_info *f = timeline_file(c->from, i);
		if (!f)
			continue;
		struct who who = { map(&c->host_ids, f->host), map(&c->string_ids, f->path), f->kind };
		uint32_t id = recall(c->index->files, who);
		if (id == ID_NONE) {
			id = registry_own(&c->tl->files);
			*(struct file_info *)registry_put(&c->tl->files, id) =
				(struct file_info){ who.host, f->kind, who.name };
			remember(c->index->files, who, id);
		}
		c->file_ids.to[i] = id;
	}
}

static bool map_registries(struct correction *c)
{
	if (!map_hosts(c))
		return false;
	index_all(c);
	map_strings(c);
	map_processes(c);
	map_threads(c);
	map_files(c);
	return true;
}

/* ---- cells and spans, in place: they are the window's, which nobody else has ---- */

/* Which fields of a cell are ids. */
enum id_kind { ID_STRING, ID_HOST, ID_THREAD, ID_FILE };

struct id_field {
	enum id_kind kind;
	size_t at;
};

#define FIELD(kind, type, field) { kind, offsetof(struct type, field) }
static const struct id_field wait_ids[] = {
	FIELD(ID_THREAD, span_wait, thread), FIELD(ID_STRING, span_wait, call),
	FIELD(ID_FILE, span_wait, file), FIELD(ID_THREAD, span_wait, waker),
	FIELD(ID_STRING, span_wait, waker_irq), FIELD(ID_STRING, span_wait, waker_call),
	FIELD(ID_THREAD, span_wait, behind),
};
static const struct id_field hop_ids[] = {
	FIELD(ID_THREAD, span_hop, thread), FIELD(ID_STRING, span_hop, call),
	FIELD(ID_FILE, span_hop, file), FIELD(ID_THREAD, span_hop, waker),
	FIELD(ID_STRING, span_hop, waker_irq), FIELD(ID_THREAD, span_hop, behind),
};
static const struct id_field call_ids[] = {
	FIELD(ID_STRING, span_call, name), FIELD(ID_FILE, span_call, file),
};
static const struct id_field slow_ids[] = {
	FIELD(ID_STRING, span_slow_call, name), FIELD(ID_FILE, span_slow_call, file),
	FIELD(ID_THREAD, span_slow_call, thread),
};
static const struct id_field annotation_ids[] = {
	FIELD(ID_STRING, span_annotation, event), FIELD(ID_THREAD, span_annotation, thread),
};
static const struct id_field tag_ids[] = {
	FIELD(ID_STRING, span_tag, key), FIELD(ID_STRING, span_tag, val),
};
static const struct id_field neighbour_ids[] = {
	FIELD(ID_THREAD, span_neighbour, thread),
};
static const struct id_field span_ids[] = {
	FIELD(ID_STRING, span, name), FIELD(ID_STRING, span, service), FIELD(ID_STRING, span, ip),
	FIELD(ID_HOST, span, host), FIELD(ID_THREAD, span, thread),
};

static void map_field(const struct correction *c, void *of, const struct id_field *f)
{
	const struct ids *ids[] = {
		[ID_STRING] = &c->string_ids, [ID_HOST] = &c->host_ids,
		[ID_THREAD] = &c->thread_ids, [ID_FILE] = &c->file_ids,
	};
	uint32_t *id = (uint32_t *)(void *)((char *)of + f->at);

	*id = map(ids[f->kind], *id);
}

static void map_each(const struct correction *c, void *array, size_t n, size_t size,
		     const struct id_field *fields, size_t n_fields)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n_fields && (!k || fields[k].at); k++)
			map_field(c, (char *)array + i * size, &fields[k]);
}

static const struct id_field slow_call_ids[] = {
	FIELD(ID_THREAD, slow_call, thread), FIELD(ID_STRING, slow_call, name), FIELD(ID_FILE, slow_call, file),
};

static void map_second(const struct correction *c, struct second *s)
{
	const struct cell_maps maps = { .thread = c->thread_ids.to, .string = c->string_ids.to,
					.host = c->host_ids.to, .file = c->file_ids.to, .published = true };
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++) {
		const struct cell_layout *l = cell_layout(k);
		uint32_t n;
		char *cells = second_cells(s, k, &n);
		for (uint32_t i = 0; i < n; i++)
			cell_map(l, cells + (size_t)i * l->size, &maps);
	}
	map_each(c, s->slow, s->n_slow, sizeof *s->slow, slow_call_ids, G_N_ELEMENTS(slow_call_ids));
}

#define MAP(array, n, ids) map_each(c, array, n, sizeof *(array), ids, G_N_ELEMENTS(ids))

static void map_span(const struct correction *c, struct span *s)
{
	MAP(s, 1, span_ids);
	MAP(s->annotations, s->n_annotations, annotation_ids);
	MAP(s->tags, s->n_tags, tag_ids);
	MAP(s->waits, s->n_waits, wait_ids);
	MAP(s->calls, s->n_calls, call_ids);
	MAP(s->slow, s->n_slow, slow_ids);
	MAP(s->hops, s->n_hops, hop_ids);
	if (s->behind)
		MAP(s->behind->top, s->behind->n, neighbour_ids);
}

/* ---- putting in place ---- */

/* The second of the timeline that `s` replaces; NULL: none, or several that are folded into one. */
static const struct second *find_replaced(const struct timeline *tl, const struct second *s)
{
	const struct second *old = timeline_second(tl, timeline_find(tl, s->begin_ns));

	return old && old->begin_ns <= s->begin_ns && !old->fold_ns ? old : NULL;
}

static unsigned put_seconds(struct correction *c, int64_t from, int64_t to)
{
	unsigned n = 0;

	for (guint i = 0; i < c->from->seconds->len; i++) {
		struct second *s = g_ptr_array_index(c->from->seconds, i);
		if (s->begin_ns < from || s->begin_ns >= to)
			continue;
		const struct second *old = find_replaced(c->tl, s);
		s->version = 1;
		s->trust.corrected = 1;
		if (old) {	/* the first and last may be cut elsewhere */
			s->begin_ns = old->begin_ns;
			s->end_ns = MAX(s->end_ns, old->end_ns);
			s->version += old->version;
			s->trust.corrected += old->trust.corrected;
		}
		map_second(c, s);
		timeline_put_second(c->tl, second_ref(s));
		n++;
	}
	return n;
}

static bool is_between(int64_t ts, int64_t from, int64_t to)
{
	return ts >= from && ts < to;
}

static void put_spans(struct correction *c, int64_t from, int64_t to)
{
	uint32_t own = TIMELINE_OWN | c->tl->spans->len;

	for (guint i = 0; i < c->from->spans->len; i++) {
		struct span *s = g_array_index(c->from->spans, struct span_entry, i).span;
		if (s->state != SPAN_COMPLETE ||
		    !(is_between(s->begin_ns, from, to) || is_between(s->end_ns, from, to)))
			continue;
		unsigned of_window, of_own;
		timeline_find_entry(c->from, s, &of_window);
		map_span(c, s);
		const struct span_entry *old = timeline_find_entry(c->tl, s, &of_own);
		if (old && old->span->service != s->service && (of_own > 1 || of_window > 1))
			old = NULL;	/* another service's half of that id */
		uint32_t slot = old ? old->slot : own;
		while (!old && intmap_get(&c->tl->by_slot, slot) != INTMAP_NONE)
			slot = own = own + 1;
		timeline_put_span(c->tl, slot, span_ref(s));
	}
}

static void clear(struct correction *c)
{
	g_free(c->string_ids.to);
	g_free(c->host_ids.to);
	g_free(c->thread_ids.to);
	g_free(c->process_ids.to);
	g_free(c->file_ids.to);
	timeline_free(c->from);
}

unsigned timeline_correct(struct timeline *tl, struct timeline *window, int64_t from, int64_t to)
{
	struct correction c = { .tl = tl, .from = window, .to = to };
	unsigned n = 0;

	if (map_registries(&c))
		n = put_seconds(&c, from, to);
	if (n) {
		put_spans(&c, from, to);
		traces_settle(tl);
		timeline_keep_budget(tl);
		tl->version++;
	}
	clear(&c);
	return n;
}
