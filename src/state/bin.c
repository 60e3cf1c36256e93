/* SPDX-License-Identifier: GPL-2.0-only */
/* Bins: one second under construction, and what charges into it. */
#include "state/slice_private.h"

#include "base/timefmt.h"

static struct bin *bin_new(int64_t index)
{
	struct bin *b = g_new0(struct bin, 1);
	b->index = index;
	b->threads = g_array_new(false, true, sizeof(struct bin_thread));
	b->calls = g_array_new(false, true, sizeof(struct bin_call));
	b->files = g_array_new(false, true, sizeof(struct bin_file));
	b->devs = g_array_new(false, true, sizeof(struct bin_dev));
	b->events = g_array_new(false, true, sizeof(struct bin_event));
	b->cpus = g_array_new(false, true, sizeof(struct bin_cpu));
	b->slow = g_array_new(false, true, sizeof(struct bin_slow));
	return b;
}

void bin_free(struct bin *b)
{
	for (guint i = 0; i < b->calls->len; i++)
		hist_clear(&g_array_index(b->calls, struct bin_call, i).latency);
	for (guint i = 0; i < b->files->len; i++)
		hist_clear(&g_array_index(b->files, struct bin_file, i).latency);
	for (guint i = 0; i < b->devs->len; i++)
		hist_clear(&g_array_index(b->devs, struct bin_dev, i).latency);
	hist_clear(&b->wakeup);
	g_array_unref(b->threads);
	g_array_unref(b->calls);
	g_array_unref(b->files);
	g_array_unref(b->devs);
	g_array_unref(b->events);
	g_array_unref(b->cpus);
	g_array_unref(b->slow);
	intmap_clear(&b->thread_map);
	intmap_clear(&b->call_map);
	intmap_clear(&b->file_map);
	intmap_clear(&b->dev_map);
	intmap_clear(&b->event_map);
	intmap_clear(&b->cpu_map);
	g_free(b);
}

struct bin *slice_bin(struct slice *s, int64_t ts)
{
	if (s->bin_last) {
		int64_t begin = s->bin_last->index * s->step;
		if (ts >= begin && ts - begin < s->step) {
			s->bin_last->dirty = true;
			return s->bin_last;
		}
	}
	int64_t index = time_floor(ts, s->step) / s->step;
	bool late = index < s->kept_from;
	if (late)		/* that second is final: what comes for it goes to the oldest kept */
		index = s->kept_from;
	struct bin *b = g_hash_table_lookup(s->bins, &index);
	if (!b) {
		b = bin_new(index);
		g_hash_table_insert(s->bins, &b->index, b);
	}
	b->dirty = true;
	if (late)
		b->trust.late++;
	else
		s->bin_last = b;
	return b;
}

/* The cell of `key` in an array kept with its map; NULL: *ret_new was added, zeroed. */
static void *cell(struct intmap *map, GArray *cells, guint size, uint64_t key, bool *ret_new)
{
	uint32_t i = intmap_get(map, key);
	*ret_new = i == INTMAP_NONE;
	if (*ret_new) {
		i = cells->len;
		g_array_set_size(cells, i + 1);
		intmap_set(map, key, i);
	}
	return cells->data + (gsize)i * size;
}

struct bin_thread *bin_thread(struct bin *b, uint32_t thread)
{
	bool new;
	struct bin_thread *c = cell(&b->thread_map, b->threads, sizeof *c, thread, &new);
	c->thread = thread;
	return c;
}

struct bin_call *bin_call(struct bin *b, uint32_t thread, uint32_t name)
{
	bool new;
	struct bin_call *c = cell(&b->call_map, b->calls, sizeof *c, pair(thread, name), &new);
	c->thread = thread;
	c->name = name;
	return c;
}

struct bin_dev *bin_dev(struct bin *b, uint32_t host, uint32_t dev)
{
	bool new;
	struct bin_dev *c = cell(&b->dev_map, b->devs, sizeof *c, pair(host, dev), &new);
	c->host = host;
	c->dev = dev;
	return c;
}

struct bin_cpu *bin_cpu(struct bin *b, uint32_t cpu)
{
	bool new;
	struct bin_cpu *c = cell(&b->cpu_map, b->cpus, sizeof *c, cpu, &new);
	c->cpu = cpu;
	return c;
}

void bin_event(struct bin *b, uint32_t host, uint32_t name, uint64_t count)
{
	bool new;
	struct bin_event *c = cell(&b->event_map, b->events, sizeof *c, pair(host, name), &new);
	c->host = host;
	c->name = name;
	c->count += count;
}

/* The newest cell of (thread, fd), unless the descriptor may have changed since. */
struct bin_file *bin_file(struct slice *s, struct bin *b, uint32_t thread, const struct call *call)
{
	uint64_t key = pair(thread, (uint32_t)call->fd);
	uint32_t i = intmap_get(&b->file_map, key);
	if (i != INTMAP_NONE) {
		struct bin_file *c = &g_array_index(b->files, struct bin_file, i);
		uint64_t lo = MIN(c->seq, call->seq), hi = MAX(c->seq, call->seq);
		uint64_t op = MAX(s->fdop_seq[(uint32_t)call->fd % FDOP_SLOTS], s->fdop_all);
		if (op <= lo || lo == hi)
			return c;
	}
	intmap_set(&b->file_map, key, b->files->len);
	struct bin_file c = { .thread = thread, .fd = call->fd, .ts = call->begin, .seq = call->seq };
	g_array_append_val(b->files, c);
	return &g_array_index(b->files, struct bin_file, b->files->len - 1);
}

/* Total order: longest first, then begin, cpu. */
static int slow_compare(gconstpointer pa, gconstpointer pb)
{
	const struct bin_slow *a = pa, *b = pb;
	if (a->duration != b->duration)
		return a->duration > b->duration ? -1 : 1;
	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return (a->cpu > b->cpu) - (a->cpu < b->cpu);
}

void bin_slow(struct bin *b, const struct bin_slow *c)
{
	GArray *a = b->slow;
	if (a->len == SLOW_PER_SECOND &&
	    slow_compare(c, &g_array_index(a, struct bin_slow, a->len - 1)) >= 0)
		return;
	guint at = a->len;
	while (at > 0 && slow_compare(c, &g_array_index(a, struct bin_slow, at - 1)) < 0)
		at--;
	g_array_insert_vals(a, at, c, 1);
	if (a->len > SLOW_PER_SECOND)
		g_array_set_size(a, SLOW_PER_SECOND);
}

/* ---- merging, when slices are stitched ---- */

static void merge_threads(struct bin *into, struct bin *from, const struct bin_maps *maps)
{
	for (guint i = 0; i < from->threads->len; i++) {
		const struct bin_thread *x = &g_array_index(from->threads, struct bin_thread, i);
		struct bin_thread *t = bin_thread(into, maps->thread[x->thread]);
		t->syscalls += x->syscalls;
		t->errors += x->errors;
		t->read_bytes += x->read_bytes;
		t->write_bytes += x->write_bytes;
		for (unsigned p = 0; p < PART_SLICE_N; p++)
			t->part[p] += x->part[p];
	}
	for (guint i = 0; i < from->calls->len; i++) {
		const struct bin_call *x = &g_array_index(from->calls, struct bin_call, i);
		struct bin_call *c = bin_call(into, maps->thread[x->thread], maps->string[x->name]);
		c->errors += x->errors;
		c->unfinished |= x->unfinished;
		c->busy_ns += x->busy_ns;
		hist_merge(&c->latency, &x->latency);
	}
	for (guint i = 0; i < from->files->len; i++) {
		struct bin_file *x = &g_array_index(from->files, struct bin_file, i);
		struct bin_file f = *x;
		f.thread = maps->thread[x->thread];
		f.seq += maps->seq_add;
		memset(&x->latency, 0, sizeof x->latency);
		/* Never summed here: what the descriptor was is not known yet. */
		intmap_set(&into->file_map, pair(f.thread, (uint32_t)f.fd), into->files->len);
		g_array_append_val(into->files, f);
	}
	for (guint i = 0; i < from->slow->len; i++) {
		struct bin_slow c = g_array_index(from->slow, struct bin_slow, i);
		c.thread = maps->thread[c.thread];
		c.name = maps->string[c.name];
		c.seq += maps->seq_add;
		bin_slow(into, &c);
	}
}

void bin_merge(struct bin *into, struct bin *from, const struct bin_maps *maps)
{
	merge_threads(into, from, maps);
	for (guint i = 0; i < from->devs->len; i++) {
		const struct bin_dev *x = &g_array_index(from->devs, struct bin_dev, i);
		struct bin_dev *d = bin_dev(into, maps->host[x->host], x->dev);
		d->reads += x->reads;
		d->writes += x->writes;
		d->errors += x->errors;
		d->read_bytes += x->read_bytes;
		d->write_bytes += x->write_bytes;
		hist_merge(&d->latency, &x->latency);
	}
	for (guint i = 0; i < from->events->len; i++) {
		const struct bin_event *x = &g_array_index(from->events, struct bin_event, i);
		bin_event(into, maps->host[x->host], maps->string[x->name], x->count);
	}
	for (guint i = 0; i < from->cpus->len; i++) {
		const struct bin_cpu *x = &g_array_index(from->cpus, struct bin_cpu, i);
		struct bin_cpu *c = bin_cpu(into, maps->cpu[x->cpu]);
		c->run_ns += x->run_ns;
		c->idle_ns += x->idle_ns;
		c->unknown_ns += x->unknown_ns;
		c->irq_ns += x->irq_ns;
	}
	hist_merge(&into->wakeup, &from->wakeup);
	into->trust.lost_events += from->trust.lost_events;
	into->trust.lost_packets += from->trust.lost_packets;
	into->trust.soft += from->trust.soft;
	into->trust.late += from->trust.late;
	into->dirty = true;
	bin_free(from);
}

/* ---- charging: an interval, split at the borders of seconds ---- */

/* A clock that lies must not make bins without end: of a longer interval only the
 * newest part is charged. A million steps are eleven days of seconds. */
#define MAX_STEPS 1000000

static int64_t bounded(const struct slice *s, int64_t from, int64_t to)
{
	int64_t most = MAX_STEPS * s->step;
	return from < to - most ? to - most : from;
}

/* The end of the piece of [from, to) that lies in from's second. */
static int64_t piece_end(const struct slice *s, int64_t from, int64_t to)
{
	int64_t border = time_floor(from, s->step) + s->step;
	return MIN(border, to);
}

void charge_part(struct slice *s, uint32_t thread, unsigned part, int64_t from, int64_t to)
{
	from = bounded(s, from, to);
	while (from < to) {
		int64_t end = piece_end(s, from, to);
		bin_thread(slice_bin(s, from), thread)->part[part] += end - from;
		from = end;
	}
}

void charge_fd(struct slice *s, uint32_t thread, const struct call *c, int64_t from, int64_t to)
{
	from = bounded(s, from, to);
	while (from < to) {
		int64_t end = piece_end(s, from, to);
		bin_file(s, slice_bin(s, from), thread, c)->blocked_ns += end - from;
		from = end;
	}
}

void charge_busy(struct slice *s, uint32_t thread, struct call *c, int64_t to)
{
	int64_t from = bounded(s, c->busy_from, to);
	while (from < to) {
		int64_t end = piece_end(s, from, to);
		struct bin_call *b = bin_call(slice_bin(s, from), thread, c->name);
		b->busy_ns += end - from;
		if (end == time_floor(from, s->step) + s->step)
			b->unfinished = 1;	/* pending at this second's end */
		from = end;
	}
	c->busy_from = MAX(c->busy_from, to);
}

void charge_cpu(struct slice *s, uint32_t cpu, int kind, int64_t from, int64_t to)
{
	from = bounded(s, from, to);
	while (from < to) {
		int64_t end = piece_end(s, from, to);
		struct bin_cpu *c = bin_cpu(slice_bin(s, from), cpu);
		int64_t *const sums[] = {
			[CPU_RUN] = &c->run_ns, [CPU_IDLE] = &c->idle_ns,
			[CPU_UNKNOWN] = &c->unknown_ns, [CPU_IRQ] = &c->irq_ns,
		};
		*sums[kind] += end - from;
		from = end;
	}
}
