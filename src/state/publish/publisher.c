/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes publications from a slice: see publisher.h. */
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/coverage.h"
#include "state/kernel/cpu.h"
#include "state/kernel/locks.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread.h"
#include "state/kernel/thread_logs.h"
#include "state/kernel/thread_order.h"
#include "state/kernel/threads.h"
#include "state/publish/lock_cells.h"
#include "state/publish/publisher_private.h"
#include "state/slice/slice.h"

#include "base/each.h"
#include "base/timefmt.h"

/* ---- ids ---- */

uint32_t publisher_add_thread(struct publisher *p, uint32_t host)
{
	uint32_t id = p->threads.n;
	*(struct thread_entry *)pages_put(&p->threads, id) = (struct thread_entry){
		.thread = ID_NONE, .before = ID_NONE, .host = host, .tid = -1, .process = ID_NONE,
		.published_process = ID_NONE,
		.start_ns = TS_NONE, .exit_ns = TS_NONE, .released = TIME_UNKNOWN,
	};
	return id;
}

/* In a trace without a kernel: the entry of a thread that has not ended, but was released after a long time without
 * events. It is the same thread. ID_NONE: there is none. */
static uint32_t find_silent(struct publisher *p, const struct thread *t)
{
	uint32_t id = thread_names_itself(p->s, t) ? owners_newest(&p->tid_owners, t->host, t->tid) : ID_NONE;
	const struct thread_entry *entry = id == ID_NONE ? NULL : thread_entry(p, id);
	return entry && entry->released != TIME_UNKNOWN && entry->exit_ns == TS_NONE ? id : ID_NONE;
}

uint32_t publisher_thread_id(struct publisher *p, uint32_t thread)
{
	thread = thread_follow(p->s, thread);
	g_assert(thread < p->s->threads->len);
	struct thread *t = g_ptr_array_index(p->s->threads, thread);
	if (t->id != ID_NONE)
		return t->id;
	t->id = find_silent(p, t);
	if (t->id == ID_NONE)
		t->id = publisher_add_thread(p, t->host);
	else
		g_array_append_val(p->open_threads.ids, t->id);
	struct thread_entry *entry = thread_entry(p, t->id);
	entry->thread = thread;
	entry->released = TIME_UNKNOWN;
	entry->n_comms = G_MAXUINT;	/* publish it in any case */
	return t->id;
}

static uint32_t span_thread(void *data, uint32_t thread)
{
	return publisher_thread_id(data, thread);
}

static uint32_t *before_of(const struct owners *l, uint32_t id)
{
	g_assert(pages_get(l->entries, id));	/* an entry leaves its list before it is dropped */
	return (uint32_t *)(void *)((char *)pages_get(l->entries, id) + l->at_before);
}

uint32_t owners_before(const struct owners *l, uint32_t id)
{
	return *before_of(l, id);
}

uint32_t owners_newest(const struct owners *l, uint32_t host, int32_t number)
{
	uint32_t id = intmap_get(&l->newest, pair(host, (uint32_t)number));
	return id == INTMAP_NONE ? ID_NONE : id;
}

void owners_add(struct owners *l, uint32_t host, int32_t number, uint32_t id)
{
	g_assert(owners_newest(l, host, number) != id);	/* else the list would not end */
	*before_of(l, id) = owners_newest(l, host, number);
	intmap_set(&l->newest, pair(host, (uint32_t)number), id);
}

/* Call it before the entry is dropped. */
static void owners_remove(struct owners *l, uint32_t host, int32_t number, uint32_t id)
{
	uint32_t newest = owners_newest(l, host, number), before = owners_before(l, id);
	if (newest == id && before == ID_NONE) {
		intmap_remove(&l->newest, pair(host, (uint32_t)number));
	} else if (newest == id) {
		intmap_set(&l->newest, pair(host, (uint32_t)number), before);
	} else {
		for (uint32_t i = newest; i != ID_NONE; i = owners_before(l, i))
			if (owners_before(l, i) == id)
				*before_of(l, i) = before;
	}
}

struct publisher *publisher_new(struct slice *s)
{
	struct publisher *p = g_new0(struct publisher, 1);
	p->s = s;
	p->names = names_new(s);
	p->spans = spans_new(s, p->names, span_thread, p);
	p->locks = lock_counter_new();
	p->threads.size = sizeof(struct thread_entry);
	p->processes.size = sizeof(struct process_entry);
	p->tid_owners = (struct owners){ .entries = &p->threads, .at_before = offsetof(struct thread_entry, before) };
	p->pid_owners = (struct owners){ .entries = &p->processes,
					   .at_before = offsetof(struct process_entry, before) };
	p->released_threads = g_array_new(false, false, sizeof(struct released));
	p->released_processes = g_array_new(false, false, sizeof(struct released));
	p->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct live_ids *live_ids[] = { &p->charged, &p->open_threads, &p->open_processes };
	for (size_t i = 0; i < G_N_ELEMENTS(live_ids); i++)
		live_ids[i]->ids = g_array_new(false, false, sizeof(uint32_t));
	return p;
}

void publisher_free(struct publisher *p)
{
	if (!p)
		return;
	spans_free(p->spans);
	lock_counter_free(p->locks);
	names_free(p->names);
	pages_clear(&p->threads);
	pages_clear(&p->processes);
	g_array_unref(p->released_threads);
	g_array_unref(p->released_processes);
	intmap_clear(&p->tid_owners.newest);
	intmap_clear(&p->pid_owners.newest);
	g_array_unref(p->charged.ids);
	g_array_unref(p->open_threads.ids);
	g_array_unref(p->open_processes.ids);
	g_hash_table_unref(p->classes);
	g_free(p);
}

/* ---- entries that may change ---- */

#define LATE_AFTER_NS (60 * INT64_C(1000000000))	/* facts may be late by this much */

/* Adds ids up to n, then visits all. Those for which visit() returns false are removed, but only in live runs:
 * stitching can revive an exited thread. */
static void visit_live(struct publisher *p, struct live_ids *a, guint n,
			bool (*visit)(struct publisher *p, uint32_t id, void *data), void *data)
{
	guint left = 0;
	for (; a->n_added < n; a->n_added++)
		g_array_append_val(a->ids, a->n_added);
	for (guint i = 0; i < a->ids->len; i++) {
		uint32_t id = g_array_index(a->ids, uint32_t, i);
		if (visit(p, id, data) || !p->s->live)
			g_array_index(a->ids, uint32_t, left++) = id;
	}
	g_array_set_size(a->ids, left);
}

static bool is_settled(const struct publisher *p, int64_t exit_ns)
{
	return exit_ns != TS_NONE && exit_ns < p->s->last - LATE_AFTER_NS;
}

/* ---- registries ---- */

static uint32_t process_of(const struct publisher *p, uint32_t thread)
{
	uint32_t process = names_process(p->names, thread);
	return process == ID_NONE ? ID_NONE : names_process_at(p->names, process)->id;
}

static bool publish_thread(struct publisher *p, uint32_t id, void *pub)
{
	struct thread_entry *entry = thread_entry(p, id);
	g_assert(entry);
	if (entry->thread == ID_NONE)
		return false;
	entry->thread = thread_follow(p->s, entry->thread);
	const struct thread *t = thread_at(p->s, entry->thread);
	const GArray *comms = names_comms(p->names, entry->thread);
	if (t->tid >= 0 && t->tid != entry->tid) {
		if (entry->tid >= 0)	/* an entry is in one list at most */
			owners_remove(&p->tid_owners, entry->host, entry->tid, id);
		owners_add(&p->tid_owners, t->host, t->tid, id);
	}
	struct thread_entry now = {
		.thread = entry->thread, .before = entry->before, .host = t->host, .tid = MAX(t->tid, -1),
		.process = process_of(p, entry->thread), .released = TIME_UNKNOWN,
		.kernel = names_is_kernel(p->names, entry->thread), .n_comms = comms ? comms->len : 0,
		.start_ns = t->start_ns, .exit_ns = t->exit_ns,
	};
	if (id < p->n_published && now.process == entry->process && now.kernel == entry->kernel &&
	    now.n_comms == entry->n_comms && now.start_ns == entry->start_ns &&
	    now.exit_ns == entry->exit_ns)
		return !is_settled(p, thread_is_lost(p->s, t) ? t->st.cursor : now.exit_ns);
	now.published_process = now.process == entry->process ? entry->published_process : now.process;
	*entry = now;
	struct thread_info info = {
		.host = t->host, .tid = MAX(t->tid, -1), .process = now.published_process, .kernel = now.kernel,
		.start_ns = now.start_ns, .exit_ns = now.exit_ns,
		.names = comms ? (const struct name_at *)comms->data : NULL, .n_names = now.n_comms,
	};
	publication_add_thread(pub, id, &info);
	return true;
}

static bool same_process(const struct process_info *a, const struct process_info *b)
{
	return a->host == b->host && a->pid == b->pid && a->ppid == b->ppid &&
	       !memcmp(a->ns, b->ns, sizeof a->ns) && a->vpid == b->vpid &&
	       a->hostname == b->hostname && a->hostname_key == b->hostname_key &&
	       a->leader == b->leader && a->start_ns == b->start_ns && a->exit_ns == b->exit_ns;
}

/* As find_silent(). */
static uint32_t find_silent_process(const struct publisher *p, const struct process_info *info)
{
	bool silent = p->s->live && !slice_has_kernel(p->s, info->host);
	uint32_t id = silent ? owners_newest(&p->pid_owners, info->host, info->pid) : ID_NONE;
	const struct process_entry *entry = id == ID_NONE ? NULL : process_entry(p, id);
	return entry && entry->released != TIME_UNKNOWN && entry->info.exit_ns == TIME_UNKNOWN ? id : ID_NONE;
}

uint32_t publisher_add_process(struct publisher *p, uint32_t host, int32_t pid)
{
	uint32_t id = p->processes.n;
	*(struct process_entry *)pages_put(&p->processes, id) = (struct process_entry){
		.info.leader = ID_NONE, .process = ID_NONE, .before = ID_NONE, .released = TIME_UNKNOWN,
	};
	owners_add(&p->pid_owners, host, pid, id);
	return id;
}

static void new_process(struct publisher *p, struct process *process, uint32_t number)
{
	uint32_t id = find_silent_process(p, &process->info);
	if (id == ID_NONE)
		id = publisher_add_process(p, process->info.host, process->info.pid);
	struct process_entry *entry = process_entry(p, id);
	entry->process = number;
	entry->released = TIME_UNKNOWN;
	process->id = id;
}

static bool publish_process(struct publisher *p, uint32_t i, void *pub)
{
	struct process *process = names_process_at(p->names, i);
	if (!process)
		return false;
	struct process_info info = process->info;
	bool new = process->id == ID_NONE;
	if (new)
		new_process(p, process, i);
	struct process_info *entry = &process_entry(p, process->id)->info;
	info.leader = info.leader != ID_NONE ? publisher_thread_id(p, info.leader) : entry->leader;
	if (!new && same_process(entry, &info))
		return !is_settled(p, info.exit_ns);
	*entry = info;
	publication_add_process(pub, process->id, &info);
	return true;
}

void publisher_publish_registries(struct publisher *p, struct publication *pub)
{
	struct slice *s = p->s;
	visit_live(p, &p->open_processes, names_n_processes(p->names), publish_process, pub);
	visit_live(p, &p->open_threads, p->threads.n, publish_thread, pub);
	p->n_published = p->threads.n;
	for (; p->n_files < names_n_files(p->names); p->n_files++)
		publication_add_file(pub, p->n_files, names_file_info(p->names, p->n_files));
	for (; p->n_hosts < s->hosts->len; p->n_hosts++) {
		const struct slice_host *h = &g_array_index(s->hosts, struct slice_host, p->n_hosts);
		publication_add_host(pub, p->n_hosts, h->name, h->boot);
	}
	for (; p->n_strings < strtab_n(s->strings); p->n_strings++)
		publication_add_string(pub, p->n_strings, strtab_get(s->strings, p->n_strings));
	TABLE_EACH(each, s->classes) {
		if (g_hash_table_contains(p->classes, each.key))
			continue;
		g_hash_table_add(p->classes, g_strdup(each.key));
		g_ptr_array_add(pub->classes, g_strdup(each.key));
	}
}

uint32_t publisher_thread(struct publisher *p, uint32_t thread, bool *ret_idle)
{
	thread = thread_follow(p->s, thread);
	*ret_idle = thread != ID_NONE && thread_at(p->s, thread)->idle;
	return *ret_idle || thread == ID_NONE ? ID_NONE : publisher_thread_id(p, thread);
}

struct names *publisher_names(const struct publisher *p)
{
	return p->names;
}

struct slice *publisher_slice(const struct publisher *p)
{
	return p->s;
}

/* ---- seconds ---- */

static void drop_unknown(struct bin *b)
{
	for (uint32_t i = 0; i < b->table[CELL_thread].n; i++) {
		struct built_thread_cell *c = cell_table_at(&b->table[CELL_thread], built_layout(CELL_thread), i);
		c->part[PART_UNKNOWN] = 0;
	}
	for (uint32_t i = 0; i < b->table[CELL_cpu].n; i++) {
		struct cpu_cell *c = cell_table_at(&b->table[CELL_cpu], built_layout(CELL_cpu), i);
		c->unknown_ns = 0;
	}
}

/* Has it any cell but those of losses? */
static bool has_cells(const struct second *x)
{
	uint32_t n = 0;

	for (enum cell_kind k = 0; k < CELL_KIND_N && !n; k++)
		if (k != CELL_loss)
			second_cells(x, k, &n);
	return n;
}

/* NULL: there is nothing to show. */
static struct second *make_second(struct publisher *p, struct bin *b, bool open)
{
	struct slice *s = p->s;
	struct time_void v;
	bool is_void = covered_void_at(s, b->index * s->step, 0, &v);
	b->dirty = open;
	if (is_void && covered_void_at(s, b->index * s->step, COVERED_DAY_NS, &v))
		return NULL;
	if (is_void)
		drop_unknown(b);
	int64_t begin = b->index * s->step, end = b->after * s->step;
	struct second *to = second_new(MAX(begin, s->first), MIN(end, s->last + 1));
	to->sums_end_ns = MAX(MIN(end, s->last), to->begin_ns);
	to->completeness = b->completeness;
	bool provisional = publish_cells(p, b, to);
	if (is_void && !has_cells(to)) {
		second_unref(to);
		return NULL;
	}
	to->completeness.touched = (uint32_t)losses_touching(&s->losses, to->begin_ns, to->end_ns);
	to->version = open ? 0 : ++b->version;
	b->provisional = b->again = provisional;
	b->generation = p->generation;
	second_seal(to);
	return to;
}

/* ---- closing ---- */

struct charging { int64_t until; bool final; };

static bool charge_thread(struct publisher *p, uint32_t id, void *data)
{
	const struct charging *to = data;
	struct thread *t = g_ptr_array_index(p->s->threads, id);
	if (t->forward != ID_NONE)
		return false;
	if (t->only_claimed)
		return true;
	/* A thread with a tid counts from its first second on: live, too, it may be silent for hours. */
	bool young = !to->final && thread_order_is_young(t, to->until);
	if (!thread_names_itself(p->s, t) && !thread_is_known(t) && !t->idle && !young &&
	    (t->tid != -1 || (to->final && t->head.len)))
		thread_root(p->s, t);
	if (to->final)
		thread_order_finish(p->s, t);
	thread_charge(p->s, t, to->until);
	if (thread_is_lost(p->s, t))
		return false;
	return !t->resolved || t->st.run != RUN_DEAD || t->exit_ns > to->until;
}

/* Thread slots that were reused hold new threads: charges them again. */
static void revisit_reused_slots(struct publisher *p)
{
	GArray *again = p->s->slots.again;
	for (guint i = 0; i < again->len; i++)
		if (g_array_index(again, uint32_t, i) < p->charged.n_added)
			g_array_append_vals(p->charged.ids, &g_array_index(again, uint32_t, i), 1);
	g_array_set_size(again, 0);
}

/* Charges all open intervals up to that time (ns), so that the seconds before it are complete. */
static void charge_all(struct publisher *p, int64_t until, bool final)
{
	struct slice *s = p->s;
	revisit_reused_slots(p);
	visit_live(p, &p->charged, s->threads->len, charge_thread,
		    &(struct charging){ until, final });
	if (final)
		blocks_finish(s);
	blocks_charge(s, until);
	for (guint i = 0; i < s->cpus->len; i++) {
		struct cpu *c = cpu_at(s, i);
		if (!final) {
			cpu_charge(s, c, until);
			continue;
		}
		cpu_no_irq(c);
		cpu_finish(s, c, until);
	}
}

/* When names or threads changed, provisional seconds must be published again. */
static void update_generation(struct publisher *p)
{
	const struct slice *s = p->s;
	bool kernel = s->has_switches, calls = s->has_calls;
	p->generation = names_generation(p->names) + s->generation + kernel + calls;
}

static bool is_due(const struct publisher *p, const struct bin *b)
{
	return b->dirty || (b->provisional && b->again && b->generation != p->generation);
}

static void publish_seconds(struct publisher *p, struct publication *pub, int64_t border,
			    enum publish_what what)
{
	bool final = what == PUBLISH_FINAL;
	g_autoptr(GPtrArray) due = g_ptr_array_new();
	TABLE_EACH(each, p->s->bins) {
		struct bin *b = each.value;
		/* a window may lie after the last event; what a damaged slice charges may lie before the first */
		bool covered = b->index * p->s->step <= p->s->last && b->after * p->s->step >= p->s->first;
		if (covered && is_due(p, b) && (what != PUBLISH_CLOSED || b->after * p->s->step <= border))
			g_ptr_array_add(due, b);
	}
	g_ptr_array_sort(due, slice_bin_order);
	PTR_EACH(struct bin, b, due) {
		bool open = !final && b->after * p->s->step > border;
		struct second *second = make_second(p, b, open);
		if (second)
			g_ptr_array_add(pub->seconds, second);
		if (final)
			bin_drop_cells(p->s, b);	/* the next seconds reuse the memory */
	}
}

static struct completeness total_completeness(const struct publisher *p)
{
	struct completeness t = p->s->forgotten;
	TABLE_EACH(each, p->s->bins) {
		const struct bin *b = each.value;
		completeness_add(&t, &b->completeness);
	}
	t.touched = (uint32_t)losses_touching(&p->s->losses, INT64_MIN, INT64_MAX);
	return t;
}

void publisher_totals(const struct publisher *p, struct publication *pub)
{
	pub->has_coverage = true;
	pub->first_ns = p->s->first;
	pub->last_ns = p->s->last;
	pub->n_events = p->s->n_events;
	pub->n_thinned = p->s->n_thinned;
	pub->completeness = total_completeness(p);
	pub->notes = spans_left_out(p->spans);
}

void publisher_bound_spans(struct publisher *p, size_t bytes)
{
	spans_bound(p->spans, bytes);
}

void publisher_update(struct publisher *p, bool final)
{
	names_update(p->names);
	lock_counter_add(p->locks, p->s, p->names, final);
}

struct publication *publisher_publish(struct publisher *p, int64_t border, int64_t now,
				      enum publish_what what)
{
	bool final = what == PUBLISH_FINAL;
	struct slice *s = p->s;
	if (s->first == INT64_MAX)
		return NULL;
	struct publication *pub = publication_new();
	slice_flush(s);
	charge_all(p, final ? s->last : MIN(border, s->last), final);
	publisher_update(p, final);
	update_generation(p);
	publish_seconds(p, pub, border, what);
	spans_publish(p->spans, pub, now, final);
	publisher_publish_registries(p, pub);
	publisher_totals(p, pub);
	return pub;
}

/* Events at which the cells of the bin need descriptors. */
static void add_needed_by_bin(GArray *needed, const struct bin *b)
{
	const struct cell_table *files = &b->table[CELL_file];
	for (uint32_t i = 0; i < files->n; i++) {
		const struct built_file_cell *c = cell_table_at(files, built_layout(CELL_file), i);
		g_array_append_val(needed, c->seq);
	}
	for (uint32_t i = 0; i < b->table[CELL_lock].n; i++) {
		const struct built_lock_cell *c = cell_table_at(&b->table[CELL_lock], built_layout(CELL_lock), i);
		g_array_append_val(needed, c->seq);
		g_array_append_val(needed, c->held_seq);
	}
	BIN_EACH_SLOW(b, x)
		g_array_append_val(needed, x->seq);
}

/* Events at which the thread's pending call, its past calls and its waits need descriptors; spans refer to them. */
static void add_needed_by_thread(GArray *needed, const struct thread *t)
{
	if (t->st.call_state == CALL_IN)
		g_array_append_val(needed, t->st.call.seq);
	const struct rec *r;
	for (guint i = 0; (r = thread_pending(t, i)); i++)
		g_array_append_val(needed, r->seq);
	for (uint32_t i = 0; i < t->calls.len; i++)
		if (!vec_at(&t->calls, struct done_call, i)->futex)
			g_array_append_val(needed, vec_at(&t->calls, struct done_call, i)->seq);
	for (uint32_t i = 0; i < t->past.len; i++)
		g_array_append_val(needed, vec_at(&t->past, struct past_wait, i)->seq);
	for (uint32_t i = 0; i < t->waits.len; i++)
		if (vec_at(&t->waits, struct wait, i)->call.fd >= 0)
			g_array_append_val(needed, vec_at(&t->waits, struct wait, i)->call.seq);
}

/* Only bins, open spans and pending calls refer to descriptors at past events. */
static void forget_names(struct publisher *p)
{
	const struct slice *s = p->s;
	g_autoptr(GArray) needed = g_array_new(false, false, sizeof(uint64_t));

	if (!names_may_forget(p->names))
		return;
	TABLE_EACH(each, s->bins)
		add_needed_by_bin(needed, each.value);
	PTR_EACH(const struct thread, t, s->threads)
		if (t->forward == ID_NONE)
			add_needed_by_thread(needed, t);
	lock_log_each_event(&s->locks, needed);
	names_forget(p->names, needed);
}

static void mark_visited(const struct publisher *p, guint8 *used, uint32_t thread, int64_t before)
{
	if (thread == ID_NONE || thread_is_silent(p->s, thread_at(p->s, thread), before))
		return;
	used[thread] = used[thread_follow(p->s, thread)] = 1;
}

/* Marks threads that are charged or may be published again, except silent threads. */
static void mark_all_visited(const struct publisher *p, guint8 *used, int64_t before)
{
	for (guint i = 0; i < p->charged.ids->len; i++)
		mark_visited(p, used, g_array_index(p->charged.ids, uint32_t, i), before);
	for (guint i = 0; i < p->open_threads.ids->len; i++) {
		const struct thread_entry *entry = thread_entry(p, g_array_index(p->open_threads.ids, uint32_t, i));
		mark_visited(p, used, entry->thread, before);
	}
}

static void release_process(struct publisher *p, uint32_t id)
{
	struct process_entry *entry = process_entry(p, id);
	entry->process = ID_NONE;
	entry->released = p->s->last;
	g_assert(!p->released_processes->len || g_array_index(p->released_processes, struct released,
				p->released_processes->len - 1).at <= entry->released);	/* drop_released() */
	g_array_append_val(p->released_processes, ((struct released){ entry->released, id }));
}

static void release_thread(struct thread *t, void *publisher)
{
	struct publisher *p = publisher;
	uint32_t process = names_forget_thread(p->names, t);
	if (process != ID_NONE)
		release_process(p, process);
	if (t->id == ID_NONE)
		return;
	struct thread_entry *entry = thread_entry(p, t->id);
	entry->thread = ID_NONE;
	entry->released = p->s->last;
	g_assert(!p->released_threads->len || g_array_index(p->released_threads, struct released,
				p->released_threads->len - 1).at <= entry->released);	/* drop_released() */
	g_array_append_val(p->released_threads, ((struct released){ entry->released, t->id }));
}

/* Frees the slots of threads that ended and to which nothing refers. */
static void free_ended_threads(struct publisher *p, int64_t before)
{
	guint n_charged = 0, n_open = 0;
	if (!thread_slots_are_due(p->s))
		return;
	g_autofree guint8 *used = thread_slots_mark_used(p->s);
	mark_all_visited(p, used, before);
	thread_slots_free_ended(p->s, used, before, release_thread, p);
	for (guint i = 0; i < p->charged.ids->len; i++) {
		uint32_t id = g_array_index(p->charged.ids, uint32_t, i);
		if (used[id] != THREAD_SLOT_FREED)
			g_array_index(p->charged.ids, uint32_t, n_charged++) = id;
	}
	for (guint i = 0; i < p->open_threads.ids->len; i++) {
		uint32_t id = g_array_index(p->open_threads.ids, uint32_t, i);
		if (thread_entry(p, id)->released == TIME_UNKNOWN)
			g_array_index(p->open_threads.ids, uint32_t, n_open++) = id;
	}
	g_array_set_size(p->charged.ids, n_charged);
	g_array_set_size(p->open_threads.ids, n_open);
}

#define THREAD_BYTES 512	/* a thread's logs, names and share of a descriptor table, approximate */

size_t publisher_registry_bytes(const struct publisher *p)
{
	size_t entries = p->tid_owners.newest.mask + p->pid_owners.newest.mask + p->s->tid_last.mask +
			 p->s->tid_first.mask + p->names->pid_last.mask + p->names->tid_last.mask;
	return p->s->threads->len * (sizeof(struct thread) + THREAD_BYTES) + pages_bytes(&p->names->processes) +
	       pages_bytes(&p->threads) + pages_bytes(&p->processes) +
	       entries * (sizeof(uint64_t) + sizeof(uint32_t));
}

static void drop_thread(struct publisher *p, struct publication *pub, const struct released *r)
{
	const struct thread_entry *entry = thread_entry(p, r->id);
	if (!entry || entry->released != r->at)
		return;			/* it has had events since, and is used again */
	if (entry->tid >= 0)
		owners_remove(&p->tid_owners, entry->host, entry->tid, r->id);
	pages_drop(&p->threads, r->id);
	g_array_append_val(pub->ended_threads, r->id);
}

static void drop_process(struct publisher *p, struct publication *pub, const struct released *r)
{
	const struct process_entry *entry = process_entry(p, r->id);
	if (!entry || entry->released != r->at)
		return;
	owners_remove(&p->pid_owners, entry->info.host, entry->info.pid, r->id);
	pages_drop(&p->processes, r->id);
	g_array_append_val(pub->ended_processes, r->id);
}

/* Drops entries released before that time (ns); they come first in the array. */
static void drop_released(struct publisher *p, struct publication *pub, GArray *all, int64_t before,
			  void (*drop)(struct publisher *p, struct publication *pub, const struct released *r))
{
	guint n = 0;
	while (n < all->len && g_array_index(all, struct released, n).at < before)
		drop(p, pub, &g_array_index(all, struct released, n++));
	g_array_remove_range(all, 0, n);
}

void publisher_drop(struct publisher *p, struct publication *pub, int64_t before)
{
	drop_released(p, pub, p->released_threads, before, drop_thread);
	drop_released(p, pub, p->released_processes, before, drop_process);
}

void publisher_forget(struct publisher *p, int64_t before, int64_t now)
{
	struct slice *s = p->s;
	slice_flush(s);
	spans_forget(p->spans, now);
	TABLE_EACH(each, s->bins) {
		struct bin *b = each.value;
		g_assert(b != s->count_bin);	/* slice_flush() */
		if (b->after * s->step > before)
			continue;
		completeness_add(&s->forgotten, &b->completeness);
		if (s->bin_last == b)
			s->bin_last = NULL;
		g_hash_table_iter_remove(&each.it);
	}
	s->retained_from = MAX(s->retained_from, time_floor(before, s->step) / s->step);
	losses_forget(&s->losses, s->retained_from * s->step);
	forget_names(p);
	free_ended_threads(p, MIN(s->last - 2 * LATE_AFTER_NS, s->retained_from * s->step));
}
