/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds timelines for tests piece by piece.
 */
#include "lib/fake_timeline.h"

#include "state/store/container.h"

#include <string.h>

struct fake {
	struct publication *p;
	GHashTable *strings;		/* char * -> id */
	GHashTable *processes;		/* host << 32 | pid -> id */
	GArray *threads;		/* struct fake_thread_info */
	GPtrArray *spans;
	uint32_t n_files;
	struct second **seconds;	/* n_seconds; NULL: not there */
	unsigned n_seconds;
	uint32_t n_hosts;
};

struct fake_thread_info {
	struct thread_info info;
	GArray *names;			/* struct name_at */
};

struct fake *fake_new(void)
{
	struct fake *f = g_new0(struct fake, 1);
	f->p = publication_new();
	f->strings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	f->processes = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	f->threads = g_array_new(FALSE, TRUE, sizeof(struct fake_thread_info));
	f->spans = g_ptr_array_new();
	fake_string(f, "");
	fake_host(f, "web1");
	return f;
}

uint32_t fake_string(struct fake *f, const char *s)
{
	gpointer id;
	if (g_hash_table_lookup_extended(f->strings, s, NULL, &id))
		return GPOINTER_TO_UINT(id);
	uint32_t n = g_hash_table_size(f->strings);
	g_hash_table_insert(f->strings, g_strdup(s), GUINT_TO_POINTER(n));
	publication_add_string(f->p, n, s);
	return n;
}

uint32_t fake_host(struct fake *f, const char *name)
{
	publication_add_host(f->p, f->n_hosts, name, NULL);
	return f->n_hosts++;
}

static uint32_t process_of(struct fake *f, uint32_t host, int32_t pid, uint32_t leader)
{
	int64_t key = (int64_t)host << 32 | (uint32_t)pid;
	gpointer id;
	if (g_hash_table_lookup_extended(f->processes, &key, NULL, &id))
		return GPOINTER_TO_UINT(id);
	uint32_t n = g_hash_table_size(f->processes);
	struct process_info info = {
		.host = host, .pid = pid, .ppid = pid == 1 ? -1 : 1, .leader = leader,
		.start_ns = TIME_UNKNOWN, .exit_ns = TIME_UNKNOWN,
	};
	publication_add_process(f->p, n, &info);
	g_hash_table_insert(f->processes, g_memdup2(&key, sizeof(key)), GUINT_TO_POINTER(n));
	return n;
}

uint32_t fake_thread(struct fake *f, uint32_t host, int32_t pid, int32_t tid, const char *comm)
{
	uint32_t id = f->threads->len;
	struct fake_thread_info t = {
		.info = { .host = host, .tid = tid, .start_ns = TIME_UNKNOWN,
			  .exit_ns = TIME_UNKNOWN, .process = ID_NONE },
		.names = g_array_new(FALSE, TRUE, sizeof(struct name_at)),
	};
	if (pid >= 0)
		t.info.process = process_of(f, host, pid, id);
	t.info.kernel = g_str_has_prefix(comm, "kworker");
	g_array_append_val(f->threads, t);
	fake_rename(f, id, FAKE_T0, comm);
	return id;
}

void fake_lifetime(struct fake *f, uint32_t leader, int32_t ppid, int64_t start, int64_t exit)
{
	struct thread_info *t = &g_array_index(f->threads, struct fake_thread_info, leader).info;

	t->start_ns = start < 0 ? TIME_UNKNOWN : FAKE_T0 + start;
	t->exit_ns = exit < 0 ? TIME_UNKNOWN : FAKE_T0 + exit;
	for (guint i = 0; i < f->p->processes->len; i++) {
		struct published_process *p =
			&g_array_index(f->p->processes, struct published_process, i);

		if (p->id != t->process)
			continue;
		p->info.ppid = ppid;
		p->info.start_ns = t->start_ns;
		p->info.exit_ns = t->exit_ns;
	}
}

void fake_ns(struct fake *f, uint32_t thread, uint32_t pid, uint32_t cgroup, uint32_t uts)
{
	uint32_t process = g_array_index(f->threads, struct fake_thread_info, thread).info.process;

	for (guint i = 0; i < f->p->processes->len; i++) {
		struct published_process *p =
			&g_array_index(f->p->processes, struct published_process, i);

		if (p->id == process)
			memcpy(p->info.ns, ((const uint32_t[NS_N]){ [NS_PID] = pid, [NS_CGROUP] = cgroup,
				[NS_UTS] = uts }), sizeof p->info.ns);
	}
}

void fake_hostname(struct fake *f, uint32_t thread, const char *hostname)
{
	uint32_t process = g_array_index(f->threads, struct fake_thread_info, thread).info.process;

	for (guint i = 0; i < f->p->processes->len; i++) {
		struct published_process *p =
			&g_array_index(f->p->processes, struct published_process, i);

		if (p->id != process)
			continue;
		p->info.hostname = fake_string(f, hostname);
		p->info.hostname_key = container_hostname_key(hostname, "web1");
	}
}

void fake_rename(struct fake *f, uint32_t thread, int64_t since, const char *comm)
{
	struct name_at at = { .since = since, .name = fake_string(f, comm) };
	g_array_append_val(g_array_index(f->threads, struct fake_thread_info, thread).names, at);
}

uint32_t fake_file(struct fake *f, uint32_t host, enum file_kind kind, const char *path)
{
	struct file_info info = { .host = host, .kind = kind, .path = fake_string(f, path) };
	publication_add_file(f->p, f->n_files, &info);
	return f->n_files++;
}

struct second *fake_second(struct fake *f, unsigned n)
{
	for (; f->n_seconds <= n; f->n_seconds++) {
		if (!(f->n_seconds & (f->n_seconds - 1)))	/* a day has many: room for twice as many */
			f->seconds = g_renew(struct second *, f->seconds, MAX(2 * f->n_seconds, 1));
		f->seconds[f->n_seconds] = NULL;
	}
	if (!f->seconds[n]) {
		f->seconds[n] = second_new(FAKE_T0 + n * FAKE_S, FAKE_T0 + (n + 1) * FAKE_S);
		f->seconds[n]->version = 1;
	}
	return f->seconds[n];
}

/* One more zeroed element; g_free'd by second_unref() or span_unref(). */
#define ADD(array, n) \
	((array) = g_realloc_n((array), (n) + 1, sizeof(*(array))), \
	 memset(&(array)[n], 0, sizeof(*(array))), &(array)[(n)++])

struct thread_cell *fake_cell(struct second *s, uint32_t thread)
{
	for (uint32_t i = 0; i < s->n_threads; i++)
		if (s->threads[i].thread == thread)
			return &s->threads[i];
	struct thread_cell *c = ADD(s->threads, s->n_threads);
	c->thread = thread;
	return c;
}

static struct call_cell *call_of(struct second *s, uint32_t thread, uint32_t name)
{
	for (uint32_t i = 0; i < s->n_calls; i++)
		if (s->calls[i].thread == thread && s->calls[i].name == name)
			return &s->calls[i];
	struct call_cell *c = ADD(s->calls, s->n_calls);
	c->thread = thread;
	c->name = name;
	return c;
}

struct call_cell *fake_call(struct second *s, uint32_t thread, uint32_t name, unsigned n,
			    int64_t ns)
{
	struct call_cell *c = call_of(s, thread, name);
	for (unsigned i = 0; i < n; i++)
		hist_add(&c->latency, ns);
	c->busy_ns += n * ns;
	fake_cell(s, thread)->syscalls += n;
	return c;
}

void fake_waits(struct second *s, const struct call_cell *calls, enum call_wait wait)
{
	struct wait_cell *w = ADD(s->waits, s->n_waits);
	w->thread = calls->thread;
	w->name = calls->name;
	w->wait = wait;
	w->errors = calls->errors;
	w->busy_ns = calls->busy_ns;
	hist_merge(&w->latency, &calls->latency);
}

void fake_io(struct second *s, uint32_t thread, uint32_t file, unsigned reads, unsigned writes,
	     uint64_t bytes, int64_t ns)
{
	struct file_cell *c = ADD(s->files, s->n_files);
	c->thread = thread;
	c->file = file;
	c->fd_low = c->fd_high = 3 + (int32_t)file;
	const unsigned calls[] = { reads, writes };
	for (unsigned d = 0; d <= IO_DIR_WRITE; d++) {
		c->bytes[d] = c->asked[d] = calls[d] * bytes;
		for (unsigned i = 0; i < calls[d]; i++)
			hist_add(&c->latency[d], ns);
	}
	fake_cell(s, thread)->read_bytes += c->bytes[IO_DIR_READ];
	fake_cell(s, thread)->write_bytes += c->bytes[IO_DIR_WRITE];
}

void fake_event(struct second *s, uint32_t host, uint32_t name, uint64_t count)
{
	struct event_cell *c = ADD(s->events, s->n_events);
	c->host = host;
	c->name = name;
	c->count = count;
}

void fake_ran(struct second *s, uint32_t thread, uint32_t cpu, int64_t ns)
{
	*ADD(s->rans, s->n_rans) = (struct ran_cell){ .thread = thread, .cpu = cpu, .time_ns = ns };
}

void fake_class(struct fake *f, const char *name)
{
	g_ptr_array_add(f->p->classes, g_strdup(name));
}

struct span *fake_span(struct fake *f, const struct fake_span *d)
{
	struct span *s = span_new();
	s->trace_id = d->trace;
	s->span_id = d->id;
	s->parent_id = d->parent;
	s->kind = d->kind;
	s->state = d->state;
	s->name = reftext_new(d->name);
	s->service = reftext_new(d->service);
	s->ip = reftext_new("10.0.0.7");
	s->port = 9000;
	s->thread = d->thread;
	s->tid = s->pid = -1;
	if (d->thread != ID_NONE) {
		const struct thread_info *t =
			&g_array_index(f->threads, struct fake_thread_info, d->thread).info;
		s->tid = t->tid;
		for (guint i = 0; i < f->p->processes->len; i++) {
			struct published_process *p =
				&g_array_index(f->p->processes, struct published_process, i);
			if (p->id == t->process)
				s->pid = p->info.pid;
		}
	}
	s->begin_ns = FAKE_T0 + d->begin;
	s->end_ns = FAKE_T0 + d->end;
	s->self_ns = d->end - d->begin;
	s->part[d->thread == ID_NONE ? PART_UNKNOWN : PART_USER] = d->end - d->begin;
	g_ptr_array_add(f->spans, s);
	return s;
}

void fake_part(struct span *s, enum part part, int64_t ns)
{
	s->part[PART_USER] -= ns;
	s->part[part] += ns;
}

struct span_wait *fake_wait(struct span *s, enum part part, int64_t begin, int64_t end,
			    int64_t wakeup, uint32_t waker, uint32_t call)
{
	struct span_wait *w = ADD(s->waits, s->n_waits);
	w->begin_ns = FAKE_T0 + begin;
	w->end_ns = FAKE_T0 + end;
	w->wake_ns = w->end_ns - wakeup;
	w->part = part;
	w->lock = part == PART_FUTEX;
	w->thread = s->thread;
	w->call = call;
	w->file = ID_NONE;
	w->waker = waker;
	w->cpu_holder = w->stopper = ID_NONE;
	w->cpu = 0;
	fake_part(s, part, end - begin - wakeup);
	fake_part(s, PART_WAKEUP, wakeup);
	return w;
}

struct chain_link *fake_link(struct span *s, uint32_t thread, enum part part, int64_t begin, int64_t end)
{
	struct chain_link *h = ADD(s->chain, s->n_chain);
	*h = (struct chain_link){
		.begin_ns = FAKE_T0 + begin, .end_ns = FAKE_T0 + end, .thread = thread, .depth = 1,
		.part = part == PART_N ? PART_UNKNOWN : part, .on_cpu = part == PART_N,
		.file = ID_NONE, .waker = ID_NONE, .cpu_holder = ID_NONE };
	return h;
}

void fake_cpu_holder(struct span *s, uint32_t thread, int64_t ns)
{
	uint32_t n = s->runqueue ? s->runqueue->n : 0;
	s->runqueue = g_realloc(s->runqueue, sizeof *s->runqueue + (n + 1) * sizeof s->runqueue->top[0]);
	if (!n)
		*s->runqueue = (struct span_runqueue){ .unknown_ns = part_sum_runnable(s->part) };
	s->runqueue->top[s->runqueue->n++] = (struct span_neighbour){ thread, ns };
	s->runqueue->unknown_ns -= ns;
}

void fake_tag(struct span *s, const char *key, const char *val)
{
	struct span_tag *t = ADD(s->tags, s->n_tags);
	t->ts = s->begin_ns;
	t->key = reftext_new(key);
	t->val = reftext_new(val);
}

void fake_annotate(struct span *s, int64_t at, const char *event)
{
	struct span_annotation *a = ADD(s->annotations, s->n_annotations);
	a->ts = FAKE_T0 + at;
	a->event = reftext_new(event);
	a->thread = s->thread;
}

static void ref_text(const char *text, void *unused)
{
	reftext_ref(text);
}

struct span *fake_copy(const struct span *s)
{
	span_each_text(s, ref_text, NULL);
	return span_pack(s);
}

static void publish_threads(struct fake *f)
{
	for (guint i = 0; i < f->threads->len; i++) {
		struct fake_thread_info *t = &g_array_index(f->threads, struct fake_thread_info, i);
		t->info.names = (const struct name_at *)(void *)t->names->data;
		t->info.n_names = t->names->len;
		publication_add_thread(f->p, i, &t->info);
		g_array_unref(t->names);
	}
}

static void publish_seconds(struct fake *f)
{
	struct publication *p = f->p;
	for (unsigned i = 0; i < f->n_seconds; i++) {
		struct second *s = f->seconds[i];
		if (!s)
			continue;
		if (!p->has_coverage)
			p->first_ns = s->begin_ns;
		p->has_coverage = true;
		p->last_ns = s->end_ns;
		p->completeness.lost_events += s->completeness.lost_events;
		p->completeness.lost_packets += s->completeness.lost_packets;
		p->completeness.provisional += s->completeness.provisional;
		for (uint32_t e = 0; e < s->n_events; e++)
			p->n_events += s->events[e].count;
		second_seal(s);
		g_ptr_array_add(p->seconds, s);
	}
}

struct publication *fake_publication(struct fake *f)
{
	publish_threads(f);
	publish_seconds(f);
	for (guint i = 0; i < f->spans->len; i++) {
		struct span *s = f->spans->pdata[i];
		span_seal(s);
		publication_add_span(f->p, i, s);
	}
	struct publication *p = f->p;
	g_hash_table_unref(f->strings);
	g_hash_table_unref(f->processes);
	g_array_unref(f->threads);
	g_ptr_array_unref(f->spans);
	g_free(f->seconds);
	g_free(f);
	return p;
}

struct timeline *fake_done(struct fake *f)
{
	struct timeline *tl = timeline_new(0);
	timeline_apply(tl, fake_publication(f));
	return tl;
}
