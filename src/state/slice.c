/* SPDX-License-Identifier: GPL-2.0-only */
/* A slice: life, registries, and the way of a batch into it. */
#include "state/slice_private.h"

#include <stdlib.h>

static void host_clear(gpointer p)
{
	struct slice_host *h = p;
	g_free(h->name);
	g_free(h->boot);
	g_free(h->release);
}

static void bin_free_value(gpointer p)
{
	bin_free(p);
}

static guint request_hash(gconstpointer p)
{
	const struct request *r = p;
	return intmap_hash(r->key_hi * 31 + r->key_lo);
}

static gboolean request_equal(gconstpointer a, gconstpointer b)
{
	const struct request *x = a, *y = b;
	return x->key_hi == y->key_hi && x->key_lo == y->key_lo;
}

struct slice *slice_new(bool rooted, int64_t step_ns)
{
	struct slice *s = g_new0(struct slice, 1);
	s->rooted = rooted;
	s->step = step_ns;
	s->first = INT64_MAX;
	s->last = s->kept_from = INT64_MIN;
	s->strings = strtab_new();
	s->hosts = g_array_new(false, true, sizeof(struct slice_host));
	g_array_set_clear_func(s->hosts, host_clear);
	s->threads = g_ptr_array_new();
	s->cpus = g_ptr_array_new();
	s->bins = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, bin_free_value);
	s->facts = g_array_new(false, true, sizeof(struct fact));
	s->losses = g_array_new(false, true, sizeof(struct loss));
	s->annots = g_array_new(false, true, sizeof(struct annot));
	s->requests = g_hash_table_new_full(request_hash, request_equal, g_free, NULL);
	s->early = g_array_new(false, true, sizeof(struct request));
	s->classes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	s->streams = g_array_new(false, true, sizeof(struct stream_info));
	s->class_infos = g_array_new(false, true, sizeof(struct class_info));
	return s;
}

void slice_free(struct slice *s)
{
	if (!s)
		return;
	for (guint i = 0; i < s->threads->len; i++)
		thread_free(g_ptr_array_index(s->threads, i));
	for (guint i = 0; i < s->cpus->len; i++)
		cpu_free(g_ptr_array_index(s->cpus, i));
	g_ptr_array_unref(s->threads);
	g_ptr_array_unref(s->cpus);
	g_hash_table_unref(s->bins);
	g_hash_table_unref(s->requests);
	g_hash_table_unref(s->classes);
	g_array_unref(s->hosts);
	g_array_unref(s->facts);
	g_array_unref(s->losses);
	g_array_unref(s->annots);
	g_array_unref(s->early);
	g_array_unref(s->streams);
	g_array_unref(s->class_infos);
	intmap_clear(&s->tid_last);
	intmap_clear(&s->tid_first);
	intmap_clear(&s->cpu_map);
	intmap_clear(&s->irq_named);
	strtab_free(s->strings);
	g_free(s);
}

uint64_t slice_n_events(const struct slice *s)
{
	return s->n_events;
}

int64_t slice_first(const struct slice *s)
{
	return s->first;
}

int64_t slice_last(const struct slice *s)
{
	return s->last;
}

uint32_t slice_string(struct slice *s, struct blk_text t)
{
	return strtab_add_len(s->strings, t.str, t.len);
}

struct fact *slice_fact(struct slice *s, enum fact_kind kind, uint32_t thread, int64_t ts,
			uint64_t seq)
{
	struct fact f = {
		.ts = ts, .seq = seq, .kind = kind, .thread = thread, .other = ID_NONE,
		.host = thread == ID_NONE ? 0 : thread_at(s, thread)->host,
	};
	g_array_append_val(s->facts, f);
	return &g_array_index(s->facts, struct fact, s->facts->len - 1);
}

void slice_add_loss(struct slice *s, const struct loss *loss)
{
	struct loss new = *loss;
	new.max_end = new.end;
	for (guint i = s->losses->len; i > 0; i--) {
		const struct loss *l = &g_array_index(s->losses, struct loss, i - 1);
		if (i == s->losses->len)
			new.max_end = MAX(new.max_end, l->max_end);
		if (l->max_end < new.end)
			break;
		if (l->begin == new.begin && l->end == new.end && l->host == new.host &&
		    l->stream_cpu == new.stream_cpu && l->kernel == new.kernel)
			return;
	}
	g_array_append_val(s->losses, new);
}

bool slice_find_loss(const struct slice *s, uint32_t host, int64_t from, int64_t to,
		     int64_t *ret_begin)
{
	bool found = false;
	for (guint i = s->losses->len; i > 0; i--) {
		const struct loss *l = &g_array_index(s->losses, struct loss, i - 1);
		if (l->max_end <= from)
			break;
		if (!l->kernel || l->host != host || l->end <= from || l->begin >= to)
			continue;
		int64_t begin = MAX(l->begin, from);
		if (!found || begin < *ret_begin)
			*ret_begin = begin;
		found = true;
	}
	return found;
}

/* ---- threads ---- */

struct thread *slice_thread_new(struct slice *s, uint32_t host, int32_t tid)
{
	struct thread *t = g_new0(struct thread, 1);
	t->self = s->threads->len;
	t->host = host;
	t->tid = tid;
	t->forward = ID_NONE;
	t->id = ID_NONE;
	t->start_ns = t->exit_ns = TS_NONE;
	t->soft_from[0] = t->soft_from[1] = INT64_MAX;
	t->st.cursor = TS_NONE;
	t->st.waker = ID_NONE;
	t->st.cpu = ID_NONE;
	t->head = g_array_new(false, false, sizeof(struct rec));
	g_ptr_array_add(s->threads, t);
	return t;
}

static void thread_register(struct slice *s, const struct thread *t)
{
	uint64_t key = pair(t->host, (uint32_t)t->tid);
	intmap_set(&s->tid_last, key, t->self);
	if (intmap_get(&s->tid_first, key) == INTMAP_NONE)
		intmap_set(&s->tid_first, key, t->self);
}

struct thread *slice_thread(struct slice *s, uint32_t host, int32_t tid)
{
	uint32_t id = intmap_get(&s->tid_last, pair(host, (uint32_t)tid));
	struct thread *t = NULL;
	if (id != INTMAP_NONE) {
		t = thread_at(s, id);
		if (!(t->hard && t->st.run == RUN_DEAD))
			return t;
	}
	bool again = t;
	t = slice_thread_new(s, host, tid);
	t->fresh = again;	/* a dead tid that lives again was born here, unseen */
	thread_register(s, t);
	if (again)
		thread_root(s, t);
	return t;
}

struct thread *slice_thread_born(struct slice *s, uint32_t host, int32_t tid, int64_t ts)
{
	struct thread *t = slice_thread_new(s, host, tid);
	/* Before: that tid, if it is used here, was another thread. */
	thread_register(s, t);
	thread_born(t, ts);
	return t;
}

struct thread *slice_anonymous(struct slice *s, struct cpu *c)
{
	struct thread *t = slice_thread_new(s, c->host, -1);
	t->start_cpu = c->self;
	return t;
}

/* Idle tasks have tid 0 on every CPU: keyed by CPU beside the real tids. */
struct thread *slice_idle(struct slice *s, struct cpu *c)
{
	uint32_t key = UINT32_C(0x80000000) | c->number;
	uint32_t id = intmap_get(&s->tid_last, pair(c->host, key));
	if (id != INTMAP_NONE)
		return g_ptr_array_index(s->threads, id);
	struct thread *t = slice_thread_new(s, c->host, (int32_t)key);
	t->idle = true;
	t->hard = true;
	t->start_cpu = c->self;
	thread_register(s, t);
	return t;
}

/* ---- CPUs ---- */

uint32_t slice_cpu(struct slice *s, uint32_t host, uint32_t number)
{
	uint32_t i = intmap_get(&s->cpu_map, pair(host, number));
	if (i != INTMAP_NONE)
		return i;
	struct cpu *c = g_new0(struct cpu, 1);
	c->self = i = s->cpus->len;
	c->host = host;
	c->number = number;
	c->cursor = s->rooted ? s->first : TS_NONE;
	c->irq_since = c->named_ns = TS_NONE;
	c->kernel_from = INT64_MAX;
	c->kernel_to = INT64_MIN;
	c->irq_head = g_array_new(false, false, sizeof(struct irq_note));
	c->irq_known = s->rooted;
	g_ptr_array_add(s->cpus, c);
	intmap_set(&s->cpu_map, pair(host, number), i);
	c->task = slice_anonymous(s, c);
	c->start = c->task->self;
	if (s->rooted && s->first != INT64_MAX)
		thread_record(s, c->task, &(struct rec){ .type = REC_SINCE, .ts = s->first,
							 .cpu = i, .who = ID_NONE });
	return i;
}

/* ---- what a source's indexes mean here ---- */

static uint32_t preempt_flag(const char *release)
{
	static const struct { int major, minor; uint32_t flag; } by_version[] = {
		/* include/trace/events/sched.h: TASK_REPORT_MAX, earlier TASK_STATE_MAX */
		{ 4, 14, 256 }, { 4, 8, 4096 }, { 4, 2, 2048 }, { 3, 9, 1024 }, { 1, 0, 512 },
	};
	char *end;
	long major = strtol(release, &end, 10);
	long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	for (size_t i = 0; i < G_N_ELEMENTS(by_version); i++)
		if (major > by_version[i].major ||
		    (major == by_version[i].major && minor >= by_version[i].minor))
			return by_version[i].flag;
	return 256 | 512 | 1024 | 2048 | 4096;
}

static uint32_t slice_host_named(struct slice *s, const struct blk_host *h)
{
	for (guint i = 0; i < s->hosts->len; i++) {
		const struct slice_host *have = &g_array_index(s->hosts, struct slice_host, i);
		if (!strcmp(have->name, h->name) && !strcmp(have->boot, h->boot))
			return i;
	}
	const char *release = h->kernel_release ? h->kernel_release : "";
	struct slice_host new = {
		.name = g_strdup(h->name), .boot = g_strdup(h->boot),
		.release = g_strdup(release), .preempt_flag = preempt_flag(release), .id = ID_NONE,
	};
	g_array_append_val(s->hosts, new);
	return s->hosts->len - 1;
}

static void learn_host(struct slice *s, uint32_t id, const struct blk_host *h,
		       const struct blk_stream *stream)
{
	struct slice_host *mine = &g_array_index(s->hosts, struct slice_host, id);
	if (stream->domain == BLK_DOMAIN_KERNEL)
		mine->has_kernel = true;
	if (!*mine->release && h->kernel_release && *h->kernel_release) {
		g_free(mine->release);
		mine->release = g_strdup(h->kernel_release);
		mine->preempt_flag = preempt_flag(mine->release);
	}
}

/* The event's name and, for system calls, the call's own name. */
static const char *call_of_event(const char *event)
{
	static const char *const prefixes[] = {
		"syscall_entry_", "syscall_exit_", "compat_syscall_entry_", "compat_syscall_exit_",
		"exit_syscall_", "sys_", "compat_sys_",
	};
	for (size_t i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (g_str_has_prefix(event, prefixes[i]))
			return event + strlen(prefixes[i]);
	return event;
}

static void learn_class(struct slice *s, const struct blk_class *c)
{
	const char *call = call_of_event(c->name);
	const struct call_info *info = call_info(call);
	struct class_info new = {
		.event = strtab_add(s->strings, c->name), .name = strtab_add(s->strings, call),
		.info = info, .row = c->row, .wants_args = info->fdop || info->cause == PART_FUTEX,
		.on = c->row == G_MAXUINT16 ? NULL : slice_handler(c->row),
	};
	g_array_append_val(s->class_infos, new);
	g_hash_table_add(s->classes, g_strdup(c->name));
}

static void learn_tables(struct slice *s, const struct blk_tables *tables)
{
	if (s->tables != tables) {
		slice_flush(s);
		g_array_set_size(s->streams, 0);
		g_array_set_size(s->class_infos, 0);
		s->tables = tables;
	}
	for (guint i = s->streams->len; i < tables->streams->len; i++) {
		const struct blk_stream *st = blk_stream(tables, i);
		struct stream_info new = {
			.host = slice_host_named(s, blk_host(tables, st->host)),
			.cpu = ID_NONE, .kernel = st->domain == BLK_DOMAIN_KERNEL,
		};
		learn_host(s, new.host, blk_host(tables, st->host), st);
		g_array_append_val(s->streams, new);
	}
	for (guint i = s->class_infos->len; i < tables->classes->len; i++)
		learn_class(s, blk_class(tables, i));
}

/* ---- counting events by class ---- */

static void count_class(struct slice *s, struct class_info *c)
{
	if (c->count)
		bin_event(s->count_bin, c->host, c->event, c->count);
	c->count = 0;
}

void slice_flush(struct slice *s)
{
	for (guint i = 0; s->count_bin && i < s->class_infos->len; i++)
		count_class(s, &g_array_index(s->class_infos, struct class_info, i));
	s->count_bin = NULL;
}

/* The first event of its second, or of another host's same class. */
static void count_slowly(struct slice *s, struct class_info *c, uint32_t host, int64_t ts)
{
	if (s->count_bin && ts >= s->count_bin->begin && ts < s->count_bin->end) {
		count_class(s, c);
	} else {
		slice_flush(s);
		struct bin *b = slice_bin(s, ts);
		if (ts < b->begin || ts >= b->end) {	/* it is late */
			bin_event(b, host, c->event, 1);
			return;
		}
		s->count_bin = b;
	}
	c->host = host;
	c->count = 1;
}

static inline void count_event(struct slice *s, struct class_info *c, uint32_t host, int64_t ts)
{
	const struct bin *b = s->count_bin;
	if (b && ts >= b->begin && ts < b->end && c->host == host)
		c->count++;
	else
		count_slowly(s, c, host, ts);
}

/* ---- feeding ---- */

static void extend_coverage(struct slice *s, int64_t ts)
{
	s->first = MIN(s->first, ts);
	s->last = MAX(s->last, ts);
}

static void feed_loss(struct feed *f, bool begin)
{
	struct slice *s = f->s;
	struct blk_loss loss;
	memcpy(&loss, f->ev->data, sizeof loss);
	const struct blk_stream *st = blk_stream(s->tables, f->ev->stream);
	bool kernel = st->domain == BLK_DOMAIN_KERNEL;
	slice_add_loss(s, &(struct loss){
		.begin = loss.begin_ns, .end = loss.end_ns, .events = loss.events,
		.packets = loss.packets, .host = f->host, .stream_cpu = st->cpu, .kernel = kernel,
	});
	if (!begin) {
		struct trust *trust = &slice_bin(s, f->ts)->trust;
		trust->lost_events += loss.events;
		trust->lost_packets += loss.packets;
	}
	if (kernel && st->cpu != UINT32_MAX)
		(begin ? cpu_lost_begin : cpu_lost_end)(s, f->c, f->ts, f->seq);
}

static void feed_tally(struct feed *f)
{
	struct blk_tally tally;
	memcpy(&tally, f->ev->data, sizeof tally);
	uint32_t name = f->cls->event;
	bin_event(slice_bin(f->s, tally.second * INT64_C(1000000000)), f->host, name, tally.count);
	f->s->n_events += tally.count;
	extend_coverage(f->s, tally.last_ns);
}

static void learn_cpu(struct slice *s, unsigned stream)
{
	struct stream_info *info = &g_array_index(s->streams, struct stream_info, stream);
	if (info->cpu == ID_NONE)
		info->cpu = slice_cpu(s, info->host, blk_stream(s->tables, stream)->cpu);
	info->c = cpu_at(s, info->cpu);
}

/* Also of no class: a loss, a tally. */
static void feed_pseudo(struct feed *f, struct stream_info *stream)
{
	if (f->ev->row == BLK_ROW_TALLY) {
		feed_tally(f);
		return;
	}
	extend_coverage(f->s, f->ts);
	if (!stream->c)
		learn_cpu(f->s, f->ev->stream);
	f->c = stream->c;
	f->cpu = stream->cpu;
	feed_loss(f, f->ev->row == BLK_ROW_LOST_BEGIN);
}

static inline void feed_one(struct slice *s, const struct blk_event *ev)
{
	struct feed f = { .s = s, .ev = ev, .ts = ev->ts, .seq = s->seq++ };
	if (ev->row == BLK_ROW_HORIZON || ev->row == BLK_ROW_STREAM_ADD ||
	    ev->row == BLK_ROW_STREAM_END)
		return;		/* a horizon has no stream */
	struct stream_info *stream = &g_array_index(s->streams, struct stream_info, ev->stream);
	struct class_info *cls = &g_array_index(s->class_infos, struct class_info, ev->cls);
	f.host = stream->host;
	f.cls = cls;
	if (ev->row >= BLK_ROW_FIRST_PSEUDO) {
		feed_pseudo(&f, stream);
		return;
	}
	extend_coverage(s, ev->ts);
	if (!stream->c)
		learn_cpu(s, ev->stream);
	f.c = stream->c;
	f.cpu = stream->cpu;
	if (stream->kernel) {
		f.c->kernel_from = MIN(f.c->kernel_from, ev->ts);
		f.c->kernel_to = ev->ts;
	}
	s->n_events++;
	count_event(s, cls, f.host, ev->ts);
	(cls->row == ev->row ? cls->on : slice_handler(ev->row))(&f);
}

void slice_feed(struct slice *s, const struct blk_tables *tables,
		const struct blk_event *ev, size_t n)
{
	learn_tables(s, tables);
	for (size_t i = 0; i < n; i++) {
		if (ev[i].row != BLK_ROW_HORIZON &&
		    (ev[i].stream >= s->streams->len || ev[i].cls >= s->class_infos->len))
			learn_tables(s, tables);	/* grew within the batch */
		feed_one(s, &ev[i]);
	}
}

void slice_begin_lost(struct slice *s, const struct blk_tables *tables, unsigned stream,
		      const struct blk_loss *loss)
{
	learn_tables(s, tables);
	const struct blk_stream *st = blk_stream(tables, stream);
	const struct stream_info *info = &g_array_index(s->streams, struct stream_info, stream);
	struct loss l = {
		.begin = loss->begin_ns, .end = loss->end_ns, .events = loss->events,
		.packets = loss->packets, .host = info->host,
		.stream_cpu = st->cpu, .kernel = st->domain == BLK_DOMAIN_KERNEL,
	};
	slice_add_loss(s, &l);
	if (!l.kernel || st->cpu == UINT32_MAX)
		return;
	learn_cpu(s, stream);
	info->c->lost = info->c->irq_known = true;
	info->c->task = NULL;
}

struct slice *slice_root(struct slice *s)
{
	return s->rooted ? s : slice_stitch(slice_new(true, s->step), s);
}
