/* SPDX-License-Identifier: GPL-2.0-only */
/* Bins: one second under construction; see charge.c for what goes into it. */
#include "state/cells.h"

#include "base/timefmt.h"

#define MAX_CELLS_LIKE 65536u

/* As many cells as in the second before: it will not grow, most likely. */
static GArray *cells_like(const GArray *before, guint size)
{
	return g_array_sized_new(false, true, size, before ? MIN(before->len, MAX_CELLS_LIKE) : 0);
}

static void new_epochs(struct slice *s, struct bin *b)
{
	b->thread_epoch = ++s->epochs;
	b->call_epoch = ++s->epochs;
	b->file_epoch = ++s->epochs;
	b->cpu_epoch = ++s->epochs;
	bin_kernel_epochs(s, &b->kernel);
}

static struct bin *bin_new(struct slice *s, int64_t index)
{
	struct bin *b = g_new0(struct bin, 1);
	b->index = index;
	b->begin = index * s->step;
	if (__builtin_add_overflow(b->begin, s->step, &b->end))
		b->end = INT64_MAX;
	if (index == s->window_from)		/* all before the window, and all behind it */
		b->begin = INT64_MIN;
	if (index == s->window_to)
		b->end = INT64_MAX;
	bin_kernel_init(s, &b->kernel);
	new_epochs(s, b);
	const struct bin *like = s->bin_last;
	b->threads = cells_like(like ? like->threads : NULL, sizeof(struct bin_thread));
	b->calls = cells_like(like ? like->calls : NULL, sizeof(struct bin_call));
	b->files = cells_like(like ? like->files : NULL, sizeof(struct bin_file));
	bin_io_init(b);
	b->events = g_array_new(false, true, sizeof(struct bin_event));
	b->cpus = g_array_new(false, true, sizeof(struct bin_cpu));
	b->slow = g_array_new(false, true, sizeof(struct bin_slow));
	return b;
}

void bin_free(struct bin *b)
{
	for (guint i = 0; i < b->calls->len; i++)
		hist_log_clear(&g_array_index(b->calls, struct bin_call, i).latency);
	for (guint i = 0; i < b->files->len; i++)
		for (unsigned d = 0; d < IO_DIR_N; d++)
			hist_log_clear(&g_array_index(b->files, struct bin_file, i).latency[d]);
	bin_io_free(b);
	bin_kernel_clear(&b->kernel);
	g_array_unref(b->threads);
	g_array_unref(b->calls);
	g_array_unref(b->files);
	g_array_unref(b->events);
	g_array_unref(b->cpus);
	g_array_unref(b->slow);
	intmap_clear(&b->thread_map);
	intmap_clear(&b->call_map);
	intmap_clear(&b->file_map);
	intmap_clear(&b->event_map);
	intmap_clear(&b->cpu_map);
	g_free(b);
}

struct bin *slice_bin(struct slice *s, int64_t ts)
{
	if (s->bin_last && ts >= s->bin_last->begin && ts < s->bin_last->end) {
		s->bin_last->dirty = true;
		return s->bin_last;
	}
	int64_t index = time_floor(ts, s->step) / s->step;
	index = CLAMP(index, s->window_from, s->window_to);
	bool late = index < s->kept_from;
	if (late)		/* that second is final: what comes for it goes to the oldest kept */
		index = s->kept_from;
	struct bin *b = g_hash_table_lookup(s->bins, &index);
	if (!b) {
		b = bin_new(s, index);
		g_hash_table_insert(s->bins, &b->index, b);
	}
	b->dirty = true;
	if (late)
		b->trust.late++;
	else
		s->bin_last = b;
	return b;
}

void *bin_cell(struct slice *s, struct intmap *map, GArray *cells, guint size, uint64_t key,
	       uint32_t *epoch)
{
	uint32_t i = intmap_get(map, key);
	if (i == INTMAP_NONE) {
		const char *before = cells->data;
		i = cells->len;
		g_array_set_size(cells, i + 1);
		intmap_set(map, key, i);
		if (cells->data != before && epoch)
			*epoch = ++s->epochs;
	}
	return cells->data + (gsize)i * size;
}

struct bin_thread *bin_thread(struct slice *s, struct bin *b, uint32_t thread)
{
	struct bin_thread *c = bin_cell(s, &b->thread_map, b->threads, sizeof *c, thread,
				    &b->thread_epoch);
	c->thread = thread;
	return c;
}

struct bin_call *bin_call(struct slice *s, struct bin *b, uint32_t thread, uint32_t name)
{
	struct bin_call *c = bin_cell(s, &b->call_map, b->calls, sizeof *c, pair(thread, name),
				  &b->call_epoch);
	c->thread = thread;
	c->name = name;
	return c;
}

struct bin_cpu *bin_cpu(struct slice *s, struct bin *b, uint32_t cpu)
{
	struct bin_cpu *c = bin_cell(s, &b->cpu_map, b->cpus, sizeof *c, cpu, &b->cpu_epoch);
	c->cpu = cpu;
	return c;
}

void bin_event(struct bin *b, uint32_t host, uint32_t name, uint64_t count)
{
	struct bin_event *c = bin_cell(NULL, &b->event_map, b->events, sizeof *c, pair(host, name), NULL);
	c->host = host;
	c->name = name;
	c->count += count;
}

/* The newest cell of (thread, fd), unless the descriptor may have changed since. */
struct bin_file *bin_file(struct slice *s, struct bin *b, const struct thread *t,
			  const struct call *call)
{
	uint64_t key = pair(t->self, (uint32_t)call->fd);
	uint32_t i = intmap_get(&b->file_map, key);
	if (i != INTMAP_NONE) {
		struct bin_file *c = &g_array_index(b->files, struct bin_file, i);
		uint64_t lo = MIN(c->seq, call->seq), hi = MAX(c->seq, call->seq);
		uint64_t op = fdop_last(&s->fdops, t, call->fd);
		if (op <= lo || lo == hi)
			return c;
	}
	intmap_set(&b->file_map, key, b->files->len);
	struct bin_file c = { .thread = t->self, .fd = call->fd, .ts = call->begin, .seq = call->seq };
	const char *before = b->files->data;
	g_array_append_val(b->files, c);
	if (b->files->data != before)
		b->file_epoch = ++s->epochs;
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
	if (a->len == SLOW_PER_SECOND)
		b->slow_from = g_array_index(a, struct bin_slow, a->len - 1).duration;
}

/* ---- merging, when slices are stitched ---- */

static void merge_threads(struct slice *s, struct bin *into, struct bin *from, const struct bin_maps *maps)
{
	for (guint i = 0; i < from->threads->len; i++) {
		const struct bin_thread *x = &g_array_index(from->threads, struct bin_thread, i);
		struct bin_thread *t = bin_thread(s, into, maps->thread[x->thread]);
		t->syscalls += x->syscalls;
		t->errors += x->errors;
		t->read_bytes += x->read_bytes;
		t->write_bytes += x->write_bytes;
		for (unsigned p = 0; p < PART_SLICE_N; p++)
			t->part[p] += x->part[p];
	}
	for (guint i = 0; i < from->calls->len; i++) {
		const struct bin_call *x = &g_array_index(from->calls, struct bin_call, i);
		struct bin_call *c = bin_call(s, into, maps->thread[x->thread], maps->string[x->name]);
		c->errors += x->errors;
		c->unfinished |= x->unfinished;
		c->busy_ns += x->busy_ns;
		hist_log_merge(&c->latency, &x->latency);
	}
	for (guint i = 0; i < from->files->len; i++) {
		struct bin_file *x = &g_array_index(from->files, struct bin_file, i);
		struct bin_file f = *x;
		f.thread = maps->thread[x->thread];
		f.seq += maps->seq_add;
		memset(x->latency, 0, sizeof x->latency);
		/* Never summed here: what the descriptor was is not known yet. */
		g_array_append_val(into->files, f);
	}
	into->file_epoch = ++s->epochs;
	for (guint i = 0; i < from->slow->len; i++) {
		struct bin_slow c = g_array_index(from->slow, struct bin_slow, i);
		c.thread = maps->thread[c.thread];
		c.name = maps->string[c.name];
		c.seq += maps->seq_add;
		bin_slow(into, &c);
	}
}

/* Calls and files are not found any more: what still comes for them gets cells of its
 * own, which the publisher adds to these. */
static void map_cells(struct bin *b, const struct bin_maps *maps)
{
	for (guint i = 0; i < b->threads->len; i++) {
		struct bin_thread *c = &g_array_index(b->threads, struct bin_thread, i);
		c->thread = maps->thread[c->thread];
		intmap_set(&b->thread_map, c->thread, i);
	}
	for (guint i = 0; i < b->calls->len; i++) {
		struct bin_call *c = &g_array_index(b->calls, struct bin_call, i);
		c->thread = maps->thread[c->thread];
		c->name = maps->string[c->name];
	}
	for (guint i = 0; i < b->files->len; i++) {
		struct bin_file *c = &g_array_index(b->files, struct bin_file, i);
		c->thread = maps->thread[c->thread];
		c->seq += maps->seq_add;
	}
	for (guint i = 0; i < b->slow->len; i++) {
		struct bin_slow *c = &g_array_index(b->slow, struct bin_slow, i);
		c->thread = maps->thread[c->thread];
		c->name = maps->string[c->name];
		c->seq += maps->seq_add;
	}
}

/* The ids of another slice become this one's; the cells stay where they are. */
void bin_adopt(struct slice *s, struct bin *b, const struct bin_maps *maps)
{
	struct intmap *const all[] = {
		&b->thread_map, &b->call_map, &b->file_map, &b->event_map, &b->cpu_map,
	};
	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		intmap_clear(all[i]);
	map_cells(b, maps);
	bin_io_adopt(b, maps);
	for (guint i = 0; i < b->events->len; i++) {
		struct bin_event *c = &g_array_index(b->events, struct bin_event, i);
		c->host = maps->host[c->host];
		c->name = maps->string[c->name];
		intmap_set(&b->event_map, pair(c->host, c->name), i);
	}
	for (guint i = 0; i < b->cpus->len; i++) {
		struct bin_cpu *c = &g_array_index(b->cpus, struct bin_cpu, i);
		c->cpu = maps->cpu[c->cpu];
		intmap_set(&b->cpu_map, c->cpu, i);
	}
	bin_kernel_adopt(&b->kernel, maps);
	new_epochs(s, b);
	b->dirty = true;
	g_hash_table_insert(s->bins, &b->index, b);
}

void bin_merge(struct slice *s, struct bin *into, struct bin *from, const struct bin_maps *maps)
{
	merge_threads(s, into, from, maps);
	bin_io_merge(into, from, maps);
	for (guint i = 0; i < from->events->len; i++) {
		const struct bin_event *x = &g_array_index(from->events, struct bin_event, i);
		bin_event(into, maps->host[x->host], maps->string[x->name], x->count);
	}
	for (guint i = 0; i < from->cpus->len; i++) {
		const struct bin_cpu *x = &g_array_index(from->cpus, struct bin_cpu, i);
		struct bin_cpu *c = bin_cpu(s, into, maps->cpu[x->cpu]);
		for (unsigned k = 0; k < CPU_KIND_N; k++)
			c->ns[k] += x->ns[k];
	}
	bin_kernel_merge(s, into, &from->kernel, maps);
	trust_add(&into->trust, &from->trust);
	into->dirty = true;
	bin_free(from);
}
