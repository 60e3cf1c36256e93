/* SPDX-License-Identifier: GPL-2.0-only */
/* Publications from a rooted slice; see publisher.h. */
#include "state/publisher_private.h"

#include "base/timefmt.h"

/* ---- ids ---- */

uint32_t publisher_thread_id(struct publisher *p, uint32_t thread)
{
	thread = thread_follow(p->s, thread);
	struct thread *t = g_ptr_array_index(p->s->threads, thread);
	if (t->id == ID_NONE) {
		struct told told = { .thread = thread, .tid = -1, .process = ID_NONE, .shown = ID_NONE,
				     .start_ns = TS_NONE, .exit_ns = TS_NONE };
		t->id = p->threads->len;
		g_array_append_val(p->threads, told);
	}
	return t->id;
}

static uint32_t span_thread(void *data, uint32_t thread)
{
	return publisher_thread_id(data, thread);
}

void lives_add(struct lives *l, uint32_t host, int32_t number, uint32_t id)
{
	uint64_t key = pair(host, (uint32_t)number);
	guint n = l->before->len;
	if (id >= n)
		g_array_set_size(l->before, id + 1);
	for (guint i = n; i < l->before->len; i++)
		g_array_index(l->before, uint32_t, i) = ID_NONE;
	uint32_t newest = intmap_get(&l->newest, key);
	g_array_index(l->before, uint32_t, id) = newest == INTMAP_NONE ? ID_NONE : newest;
	intmap_set(&l->newest, key, id);
}

struct publisher *publisher_new(struct slice *s)
{
	struct publisher *p = g_new0(struct publisher, 1);
	p->s = s;
	p->names = names_new(s);
	p->spans = spans_new(s, p->names, span_thread, p);
	p->threads = g_array_new(false, true, sizeof(struct told));
	p->processes = g_array_new(false, true, sizeof(struct process_info));
	p->process_ids = g_array_new(false, false, sizeof(uint32_t));
	p->process_names = g_array_new(false, false, sizeof(uint32_t));
	p->thread_lives.before = g_array_new(false, false, sizeof(uint32_t));
	p->process_lives.before = g_array_new(false, false, sizeof(uint32_t));
	p->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct alive *alive[] = { &p->charged, &p->told_threads, &p->told_processes };
	for (size_t i = 0; i < G_N_ELEMENTS(alive); i++)
		alive[i]->ids = g_array_new(false, false, sizeof(uint32_t));
	return p;
}

void publisher_free(struct publisher *p)
{
	if (!p)
		return;
	spans_free(p->spans);
	names_free(p->names);
	g_array_unref(p->threads);
	g_array_unref(p->processes);
	g_array_unref(p->process_ids);
	g_array_unref(p->process_names);
	g_array_unref(p->thread_lives.before);
	g_array_unref(p->process_lives.before);
	intmap_clear(&p->thread_lives.newest);
	intmap_clear(&p->process_lives.newest);
	g_array_unref(p->charged.ids);
	g_array_unref(p->told_threads.ids);
	g_array_unref(p->told_processes.ids);
	g_hash_table_unref(p->classes);
	g_free(p);
}

/* ---- who is alive ---- */

#define OVER_AFTER_NS (60 * INT64_C(1000000000))	/* names may come late */

/* Visits all below n that have not left; who is visited says whether it stays. Pieces that are
 * stitched may wake the dead: there nothing leaves. */
static void visit_alive(struct publisher *p, struct alive *a, guint n,
			bool (*visit)(struct publisher *p, uint32_t id, void *data), void *data)
{
	guint kept = 0;
	for (; a->seen < n; a->seen++)
		g_array_append_val(a->ids, a->seen);
	for (guint i = 0; i < a->ids->len; i++) {
		uint32_t id = g_array_index(a->ids, uint32_t, i);
		if (visit(p, id, data) || !p->s->live)
			g_array_index(a->ids, uint32_t, kept++) = id;
	}
	g_array_set_size(a->ids, kept);
}

static bool is_over(const struct publisher *p, int64_t exit_ns)
{
	return exit_ns != TS_NONE && exit_ns < p->s->last - OVER_AFTER_NS;
}

/* ---- registries ---- */

static uint32_t process_of(const struct publisher *p, uint32_t thread)
{
	uint32_t process = names_process(p->names, thread);
	return process == ID_NONE ? ID_NONE : g_array_index(p->process_ids, uint32_t, process);
}

static bool tell_thread(struct publisher *p, uint32_t id, void *pub)
{
	struct told *told = &g_array_index(p->threads, struct told, id);
	if (told->thread == ID_NONE)
		return false;
	told->thread = thread_follow(p->s, told->thread);
	const struct thread *t = thread_at(p->s, told->thread);
	const GArray *comms = names_comms(p->names, told->thread);
	if (t->tid >= 0 && t->tid != told->tid)
		lives_add(&p->thread_lives, t->host, t->tid, id);
	struct told now = {
		.thread = told->thread, .tid = MAX(t->tid, -1), .process = process_of(p, told->thread),
		.kernel = names_is_kernel(p->names, told->thread), .n_comms = comms ? comms->len : 0,
		.start_ns = t->start_ns, .exit_ns = t->exit_ns,
	};
	if (id < p->threads_told && now.process == told->process && now.kernel == told->kernel &&
	    now.n_comms == told->n_comms && now.start_ns == told->start_ns &&
	    now.exit_ns == told->exit_ns)
		return !is_over(p, spare_is_lost(p->s, t) ? t->st.cursor : now.exit_ns);
	now.shown = now.process == told->process ? told->shown : now.process;
	*told = now;
	struct thread_info info = {
		.host = t->host, .tid = MAX(t->tid, -1), .process = now.shown, .kernel = now.kernel,
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

static bool tell_process(struct publisher *p, uint32_t i, void *pub)
{
	struct process_info info = *names_process_info(p->names, i);
	bool new = i >= p->process_ids->len;
	if (info.leader != ID_NONE)
		info.leader = publisher_thread_id(p, info.leader);
	if (new) {
		g_array_append_val(p->process_ids, p->processes->len);
		g_array_append_val(p->process_names, i);
		lives_add(&p->process_lives, info.host, info.pid, p->processes->len);
		g_array_append_val(p->processes, info);
	}
	uint32_t id = g_array_index(p->process_ids, uint32_t, i);
	struct process_info *told = &g_array_index(p->processes, struct process_info, id);
	if (!new && same_process(told, &info))
		return !is_over(p, info.exit_ns);
	*told = info;
	publication_add_process(pub, id, &info);
	return true;
}

static void tell_string(const struct slice *s, struct publication *pub, uint32_t id)
{
	if (strtab_is_passing(s->strings, id))
		publication_add_passing(pub, id, strtab_get(s->strings, id));
	else
		publication_add_string(pub, id, strtab_get(s->strings, id));
}

/* Ids that meant forgotten ones. */
static void tell_given_again(const struct slice *s, struct publication *pub)
{
	GArray *ids = strtab_given_again(s->strings);
	for (guint i = 0; i < ids->len; i++)
		tell_string(s, pub, g_array_index(ids, uint32_t, i));
	g_array_set_size(ids, 0);
}

void publisher_tell(struct publisher *p, struct publication *pub)
{
	struct slice *s = p->s;
	GHashTableIter it;
	gpointer name;
	visit_alive(p, &p->told_processes, names_n_processes(p->names), tell_process, pub);
	visit_alive(p, &p->told_threads, p->threads->len, tell_thread, pub);
	p->threads_told = p->threads->len;
	for (; p->n_files < names_n_files(p->names); p->n_files++)
		publication_add_file(pub, p->n_files, names_file_info(p->names, p->n_files));
	for (; p->n_hosts < s->hosts->len; p->n_hosts++) {
		const struct slice_host *h = &g_array_index(s->hosts, struct slice_host, p->n_hosts);
		publication_add_host(pub, p->n_hosts, h->name, h->boot);
	}
	for (; p->n_strings < strtab_n(s->strings); p->n_strings++)
		tell_string(s, pub, p->n_strings);
	tell_given_again(s, pub);
	g_hash_table_iter_init(&it, s->classes);
	while (g_hash_table_iter_next(&it, &name, NULL)) {
		if (g_hash_table_contains(p->classes, name))
			continue;
		g_hash_table_add(p->classes, g_strdup(name));
		g_ptr_array_add(pub->classes, g_strdup(name));
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

static struct second *make_second(struct publisher *p, struct bin *b, bool open)
{
	struct slice *s = p->s;
	int64_t begin = b->index * s->step, end = b->after * s->step;
	struct second *to = second_new(MAX(begin, s->first), MIN(end, s->last + 1));
	bool soft = publish_cells(p, b, to);
	to->trust = b->trust;
	to->trust.touched = (uint32_t)losses_touching(&s->losses, to->begin_ns, to->end_ns);
	to->version = open ? 0 : ++b->version;
	b->dirty = open;
	b->soft = b->again = soft;
	b->news = p->news;
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
	if (to->final && !thread_tells_itself(p->s, t) && !t->hard && !t->idle && (t->tid != -1 || t->head.len))
		thread_root(p->s, t);
	thread_charge(p->s, t, to->until);
	if (spare_is_lost(p->s, t))
		return false;
	return !t->hard || t->st.run != RUN_DEAD || t->exit_ns > to->until;
}

/* Those whose places were given again are others. */
static void look_again(struct publisher *p)
{
	GArray *again = p->s->spare.again;
	for (guint i = 0; i < again->len; i++)
		if (g_array_index(again, uint32_t, i) < p->charged.seen)
			g_array_append_vals(p->charged.ids, &g_array_index(again, uint32_t, i), 1);
	g_array_set_size(again, 0);
}

/* Charges what is open up to the instant, so that the seconds before it are whole. */
static void charge_all(struct publisher *p, int64_t until, bool final)
{
	struct slice *s = p->s;
	look_again(p);
	visit_alive(p, &p->charged, s->threads->len, charge_thread,
		    &(struct charging){ until, final });
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

static int bin_order(gconstpointer a, gconstpointer b)
{
	const struct bin *x = *(struct bin *const *)a, *y = *(struct bin *const *)b;
	return (x->index > y->index) - (x->index < y->index);
}

/* What names and threads are has changed, and all that was made may be made otherwise. */
static void look_for_news(struct publisher *p)
{
	const struct slice *s = p->s;
	bool kernel = s->has_switches, calls = s->has_calls;
	p->news = names_news(p->names) + s->news + kernel + calls;
}

static bool is_due(const struct publisher *p, const struct bin *b)
{
	return b->dirty || (b->soft && b->again && b->news != p->news);
}

static void publish_seconds(struct publisher *p, struct publication *pub, int64_t border,
			    enum publish_what what)
{
	bool final = what == PUBLISH_FINAL;
	g_autoptr(GPtrArray) due = g_ptr_array_new();
	GHashTableIter it;
	gpointer value;
	g_hash_table_iter_init(&it, p->s->bins);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		struct bin *b = value;
		if (is_due(p, b) && (what != PUBLISH_CLOSED || b->after * p->s->step <= border))
			g_ptr_array_add(due, b);
	}
	g_ptr_array_sort(due, bin_order);
	for (guint i = 0; i < due->len; i++) {
		struct bin *b = g_ptr_array_index(due, i);
		bool open = !final && b->after * p->s->step > border;
		g_ptr_array_add(pub->seconds, make_second(p, b, open));
		if (final)
			bin_drop_cells(p->s, b);	/* the next ones are made where they were */
	}
}

static struct trust total_trust(const struct publisher *p)
{
	struct trust t = p->s->forgotten;
	GHashTableIter it;
	gpointer value;
	g_hash_table_iter_init(&it, p->s->bins);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		const struct bin *b = value;
		trust_add(&t, &b->trust);
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
	pub->trust = total_trust(p);
}

void publisher_bound_spans(struct publisher *p, size_t bytes)
{
	spans_bound(p->spans, bytes);
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
	names_update(p->names);
	look_for_news(p);
	publish_seconds(p, pub, border, what);
	spans_publish(p->spans, pub, now, final);
	publisher_tell(p, pub);
	publisher_totals(p, pub);
	return pub;
}

static void ask_for_bin(GArray *asked, const struct bin *b)
{
	const struct cell_table *files = &b->table[CELL_file];
	for (uint32_t i = 0; i < files->n; i++) {
		const struct built_file_cell *c = cell_table_at(files, built_layout(CELL_file), i);
		g_array_append_val(asked, c->seq);
	}
	for (guint i = 0; i < b->slow->len; i++)
		g_array_append_val(asked, g_array_index(b->slow, struct bin_slow, i).seq);
}

/* Its pending call; those it was in, and waited in, which spans may ask for. */
static void ask_for_thread(GArray *asked, const struct thread *t)
{
	if (t->st.call_state == CALL_IN)
		g_array_append_val(asked, t->st.call.seq);
	for (guint i = 0; i < t->head.len; i++)
		g_array_append_val(asked, vec_at(&t->head, struct rec, i)->seq);
	for (uint32_t i = 0; i < t->calls.len; i++)
		g_array_append_val(asked, vec_at(&t->calls, struct done_call, i)->seq);
	for (uint32_t i = 0; i < t->waits.len; i++)
		if (vec_at(&t->waits, struct wait, i)->call.fd >= 0)
			g_array_append_val(asked, vec_at(&t->waits, struct wait, i)->call.seq);
}

/* Only seconds, spans that are not over and pending calls ask about what was before. */
static void forget_names(struct publisher *p)
{
	const struct slice *s = p->s;
	g_autoptr(GArray) asked = g_array_new(false, false, sizeof(uint64_t));
	GHashTableIter it;
	gpointer value;

	if (!names_may_forget(p->names))
		return;
	g_hash_table_iter_init(&it, s->bins);
	while (g_hash_table_iter_next(&it, NULL, &value))
		ask_for_bin(asked, value);
	for (guint i = 0; i < s->threads->len; i++) {
		const struct thread *t = g_ptr_array_index(s->threads, i);
		if (t->forward == ID_NONE)
			ask_for_thread(asked, t);
	}
	names_forget(p->names, asked);
}

/* Who is alive is visited; who is told as alive, or as a process's leader, may be told again. */
static void mark_visited(const struct publisher *p, guint8 *used)
{
	for (guint i = 0; i < p->charged.ids->len; i++)
		used[g_array_index(p->charged.ids, uint32_t, i)] = 1;
	for (guint i = 0; i < p->told_threads.ids->len; i++) {
		uint32_t id = g_array_index(p->told_threads.ids, uint32_t, i);
		uint32_t thread = g_array_index(p->threads, struct told, id).thread;
		if (thread == ID_NONE)
			continue;
		used[thread] = used[thread_follow(p->s, thread)] = 1;
	}
	for (guint i = 0; i < p->told_processes.ids->len; i++) {
		uint32_t id = g_array_index(p->told_processes.ids, uint32_t, i);
		uint32_t leader = names_process_info(p->names, id)->leader;
		if (leader != ID_NONE)
			used[thread_follow(p->s, leader)] = 1;
	}
}

/* Gives the places of threads free that are over, and that nothing which is kept names. */
static void spare_threads(struct publisher *p, int64_t before)
{
	struct slice *s = p->s;
	if (!spare_is_due(s))
		return;
	g_autofree guint8 *used = g_malloc0(s->threads->len);
	spare_follow(s);
	spare_mark(s, used);
	mark_visited(p, used);
	for (guint i = 0; i < s->threads->len; i++) {
		struct thread *t = g_ptr_array_index(s->threads, i);
		if (used[i] || !spare_is_over(s, t, before))
			continue;
		names_forget_thread(p->names, t);
		slice_thread_spare(s, t);
	}
	spare_drop_aliases(s);
	s->spare.kept = s->threads->len - s->spare.free->len;
}

void publisher_forget(struct publisher *p, int64_t before, int64_t now)
{
	struct slice *s = p->s;
	slice_flush(s);
	spans_forget(p->spans, now);
	GHashTableIter it;
	gpointer value;
	g_hash_table_iter_init(&it, s->bins);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		struct bin *b = value;
		if (b->after * s->step > before)
			continue;
		trust_add(&s->forgotten, &b->trust);
		if (s->bin_last == b)
			s->bin_last = NULL;
		g_hash_table_iter_remove(&it);
	}
	s->kept_from = MAX(s->kept_from, time_floor(before, s->step) / s->step);
	losses_forget(&s->losses, s->kept_from * s->step);
	forget_names(p);
	spare_threads(p, MIN(s->last - 2 * OVER_AFTER_NS, s->kept_from * s->step));
}

struct publication *slice_finish(struct slice *s)
{
	struct publisher *p = publisher_new(s);
	struct publication *pub = publisher_publish(p, INT64_MAX, s->last, PUBLISH_FINAL);
	publisher_free(p);
	return pub ? pub : publication_new();
}

struct publication *slice_finish_at(struct slice *s, int64_t until)
{
	if (s->first != INT64_MAX)
		s->last = MAX(s->last, until);
	return slice_finish(s);
}
