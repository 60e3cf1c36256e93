/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sums seconds into rows about threads, processes and the machine.
 */
#include "views/common.h"

#include "base/each.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "state/store/container.h"

#include <string.h>

struct stat stat_of(const struct hist *h)
{
	struct stat s = { .count = hist_count(h), .min = -1, .avg = -1, .p50 = -1, .p95 = -1,
			  .p99 = -1, .max = -1 };
	if (!s.count)
		return s;
	s.total = hist_sum(h);
	s.min = hist_min(h);
	s.max = hist_max(h);
	s.avg = s.total / (int64_t)s.count;
	s.p50 = hist_quantile(h, 0.50);
	s.p95 = hist_quantile(h, 0.95);
	s.p99 = hist_quantile(h, 0.99);
	return s;
}

struct stat stat_take(struct hist *h)
{
	struct stat s = stat_of(h);
	hist_clear(h);
	return s;
}

void *common_new(struct rows *rows, size_t size)
{
	struct common *c = g_malloc0(size);
	c->pid = c->tid = -1;
	c->start_ns = TIME_UNKNOWN;
	c->row.drill = rows->query;
	g_ptr_array_add(rows->rows, c);
	return c;
}

void common_host(struct common *c, const struct rows *rows, uint32_t id)
{
	const struct host_info *host = timeline_host(rows->tl, id);
	c->host = host ? host->name : NULL;
	c->boot = host ? host->boot : NULL;
	c->row.missing = rows_missing(rows, id);
}

/* The name of the same device in another timeline of the trace; "": unknown. */
static const char *device_elsewhere(const struct timeline *tl, const char *host, uint32_t dev)
{
	for (size_t i = 0; i < timeline_n_seconds(tl); i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_devs; k++) {
			const struct host_info *of = timeline_host(tl, s->devs[k].host);
			const char *name = timeline_string(tl, s->devs[k].name);
			if (s->devs[k].dev == dev && *name && of && !strcmp(of->name, host))
				return name;
		}
	}
	return "";
}

const char *common_device(struct rows *rows, uint32_t host, uint32_t dev, uint32_t name)
{
	const char *text = timeline_string(rows->tl, name);
	const struct host_info *of = timeline_host(rows->tl, host);
	const struct timeline *names = rows->query.names;
	if (*text)
		return text;
	if (names && names != rows->tl && of && *(text = device_elsewhere(names, of->name, dev)))
		return rows_text(rows, text);
	return rows_take_text(rows, g_strdup_printf("%u:%u", dev >> 20, dev & 0xfffff));
}

static int compare_text(const char *a, const char *b)
{
	return a == b ? 0 : g_strcmp0(a, b);	/* names are mostly identical pointers into the timeline */
}

int common_compare(const struct common *a, const struct common *b)
{
	return compare_text(a->host, b->host) ?: ORDER(a->pid, b->pid) ?: ORDER(a->tid, b->tid) ?:
	       ORDER(a->start_ns, b->start_ns) ?: compare_text(a->service, b->service) ?:
	       compare_text(a->name, b->name) ?: compare_text(a->comm, b->comm) ?:
	       compare_text(a->container, b->container);
}

/* Rows with the same names and ids, as those of several tasks without a name, are ordered by their figures: in which
 * order they were added depends on how the trace was divided. */
static int compare_figures(const struct common *a, const struct common *b)
{
	int order = 0;

	for (unsigned p = 0; p < PART_N && !order; p++)
		order = ORDER(b->part[p], a->part[p]);
	return order ?: ORDER(b->stat.count, a->stat.count) ?: ORDER(b->stat.total, a->stat.total);
}

static int compare_rows(const void *pa, const void *pb, void *compare)
{
	const struct common *a = *(const struct common *const *)pa, *b = *(const struct common *const *)pb;
	int order = compare ? (*(GCompareFunc *)compare)(pa, pb) : common_compare(a, b);

	return order ?: compare_text(a->boot, b->boot) ?: compare_figures(a, b);
}

/* Makes equal keys unique by the order of the rows. Rows have equal keys if they share a name and their beginning is
 * not in the trace: tasks without a name, reused ids. */
static void keys_apart(const struct rows *rows)
{
	struct intmap seen = { 0 };
	intmap_reserve(&seen, rows->rows->len);
	PTR_EACH(struct row, row, rows->rows) {
		uint64_t both = key_int(row->key[0], row->key[1]);
		uint32_t before = seen.n, n = intmap_add(&seen, both, 0);
		if (seen.n > before)
			continue;
		intmap_set(&seen, both, ++n);
		row->key[1] = key_int(both, n);
	}
	intmap_clear(&seen);
}

void common_finish(struct rows *rows, GCompareFunc compare)
{
	PTR_EACH(struct common, c, rows->rows)
		c->stat = stat_take(&c->latency);
	g_ptr_array_sort_with_data(rows->rows, compare_rows, compare ? &compare : NULL);
	rows->n_before_filter = rows->rows->len;
	keys_apart(rows);
}

void common_add_parts(struct common *c, const int64_t part[PART_N])
{
	for (int p = 0; p < PART_N; p++)
		c->part[p] += part[p];
}

void common_add_duration(struct common *c, bool is_known, int64_t ns, const int64_t part[PART_N])
{
	if (!is_known) {
		c->partial++;
		return;
	}
	hist_add(&c->latency, ns);
	common_add_parts(c, part);
}

void common_add_sum(struct common *c, const struct span_sum *s)
{
	c->errors += s->errors;
	c->partial += s->partial;
	hist_merge(&c->latency, &s->duration);
	common_add_parts(c, s->part);
}

enum part part_largest(const int64_t part[PART_N], int64_t *ret_ns, int64_t *ret_total)
{
	enum part largest = PART_UNKNOWN;
	int64_t total = 0;
	for (int p = 0; p < PART_N; p++) {
		total += part[p];
		if (part[p] > part[largest])
			largest = p;
	}
	if (ret_ns)
		*ret_ns = part[largest];
	if (ret_total)
		*ret_total = total;
	return largest;
}

const char *part_share(struct rows *rows, unsigned missing, const int64_t part[PART_N])
{
	int64_t ns, total;
	enum part p = part_largest(part, &ns, &total);
	if (total <= 0)
		return NULL;
	return rows_take_text(rows, g_strdup_printf("%s %d%%", part_word(missing, p),
						    (int)(100.0 * (double)ns / (double)total + 0.5)));
}

/* Events that are needed to attribute time to this part. What a thread was blocked on mostly follows from its system
 * call. */
static unsigned needs_of_part(enum part p)
{
	static const unsigned others[PART_N] = {
		[PART_USER] = MISSING_CALLS, [PART_SYSCALL] = MISSING_CALLS, [PART_KERNEL] = MISSING_TASKS,
		[PART_IRQ] = MISSING_INTERRUPTS, [PART_WAKEUP] = MISSING_WAKINGS,
		[PART_WRITEBACK] = MISSING_ISSUES | MISSING_COMPLETIONS | MISSING_WAKINGS,
	};
	if (p == PART_HANDOFF || p == PART_UNKNOWN)
		return 0;
	bool by_call = part_is_blocked(p) && p != PART_OTHER && p != PART_STOPPED;
	return MISSING_SWITCHES | others[p] | (by_call ? MISSING_CALLS : 0);
}

unsigned row_missing(const struct row *row, const struct rows *rows)
{
	return rows->missing | row->missing;
}

bool part_is_known(unsigned missing, enum part part, int64_t ns)
{
	unsigned needed = missing & needs_of_part(part);

	/* Some kernel threads are known without a state dump. */
	return !needed || (needed == MISSING_TASKS && ns);
}

const char *part_word(unsigned missing, enum part part)
{
	bool on_cpu = part == PART_USER || part == PART_SYSCALL;

	return on_cpu && missing & MISSING_CALLS ? "cpu" : part_info[part].id;
}

bool part_is_two_of_spans(unsigned missing, enum part part)
{
	return part == PART_DISK && part_is_known(missing, PART_WRITEBACK, 0);
}

const char *part_word_of_threads(unsigned missing, enum part part)
{
	return part_is_two_of_spans(missing, part) ? "file" : part_word(missing, part);
}

struct range range_of(const struct timeline *tl, const struct view_query *q)
{
	size_t n = timeline_n_seconds(tl);
	bool all = q->from_ns == 0 && q->to_ns == 0;
	struct range r = { .first = all ? 0 : timeline_find(tl, q->from_ns) };
	r.end = r.first;
	while (r.end < n && (all || timeline_outline(tl, r.end)->begin_ns < q->to_ns))
		r.end++;
	r.from_ns = q->from_ns;
	r.to_ns = q->to_ns;
	if (r.end > r.first) {
		r.from_ns = timeline_outline(tl, r.first)->begin_ns;
		r.to_ns = timeline_outline(tl, r.end - 1)->end_ns;
	}
	/* Rates are per whole second, since whole seconds are summed. The first and the last may be traced in part. */
	r.seconds = r.end > r.first ? range_seconds(tl, r.from_ns, r.to_ns) :
		MAX((double)r.to_ns - (double)r.from_ns, 1) / NS_PER_S;
	return r;
}

bool range_has_span(const struct range *r, const struct span *s)
{
	if (r->end == r->first)
		return false;
	if (s->state == SPAN_OPEN)
		return s->begin_ns < r->to_ns && s->end_ns >= r->from_ns;
	return s->end_ns >= r->from_ns && s->end_ns < r->to_ns;
}

bool query_wants_thread(const struct view_query *q, const struct timeline *tl, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	if (!t)
		return q->host == ID_NONE && q->pid < 0 && q->tid < 0 && !q->container;
	if (q->host != ID_NONE && t->host != q->host)
		return false;
	if (q->tid >= 0 && t->tid != q->tid)
		return false;
	if (q->pid < 0 && !q->container)
		return true;
	const struct process_info *p = timeline_process(tl, t->process);
	if (q->container && container_of(p) != q->container)
		return false;
	return q->pid < 0 || (p && p->pid == q->pid);
}

uint32_t group_key(const struct timeline *tl, enum view_by by, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	if (by == BY_THREAD)
		return thread;
	if (!t)
		return ID_NONE;
	if (by == BY_SYSTEM)
		return t->host;
	const struct process_info *p = timeline_process(tl, t->process);
	uint32_t group = p && by == BY_CONTAINER ? p->container : p ? t->process : ID_NONE;
	return group != ID_NONE ? group : (GROUP_UNKNOWN | t->host);
}

uint64_t key_int(uint64_t key, uint64_t n)
{
	for (int i = 0; i < 8; i++, n >>= 8)
		key = (key ^ (n & 0xff)) * UINT64_C(0x100000001b3);
	return key;
}

uint64_t key_text(uint64_t key, const char *s)
{
	key = key_int(key, s ? UINT64_C(0xcbf29ce484222325) : 0);
	for (; s && *s; s++)
		key = (key ^ (uint8_t)*s) * UINT64_C(0x100000001b3);
	return key;
}

const char *container_label(struct rows *rows, uint32_t process)
{
	const struct process_info *p = timeline_process(rows->tl, process);
	g_autofree char *name = p ? timeline_container_label_new(rows->tl, p->host, container_of(p)) : NULL;
	return rows_text(rows, name);
}

static void fill_process(struct common *c, const struct timeline *tl, const struct thread_info *t,
			 int64_t until)
{
	const struct process_info *p = timeline_process(tl, t->process);
	if (!p)
		return;
	c->pid = p->pid;
	c->start_ns = p->start_ns;
	c->row.drill.pid = p->pid;
	if (p->leader != ID_NONE)
		c->comm = timeline_comm(tl, p->leader, until);
}

void group_fill(struct common *c, struct rows *rows, uint32_t thread)
{
	const struct timeline *tl = rows->tl;
	const struct thread_info *t = timeline_thread(tl, thread);
	enum view_by by = rows->query.by;
	int64_t until = rows->query.to_ns ? rows->query.to_ns : INT64_MAX;
	c->row.key[0] = key_int(0, by);
	if (!t)
		return;
	common_host(c, rows, t->host);
	c->row.drill.host = t->host;
	c->row.key[0] = key_text(c->row.key[0], c->host);
	if (by == BY_SYSTEM)
		return;
	c->container = container_label(rows, t->process);
	if (by == BY_CONTAINER) {
		c->row.drill.container = container_of(timeline_process(tl, t->process));
		c->row.key[0] = key_text(c->row.key[0], c->container);
		return;
	}
	fill_process(c, tl, t, until);
	c->of_thread = true;
	c->kernel = t->kernel;
	if (by == BY_THREAD) {
		c->tid = t->tid;
		c->row.drill.tid = t->tid;
		c->start_ns = t->start_ns;
		c->comm = timeline_comm(tl, thread, until);
	}
	bool by_tid = by == BY_THREAD && c->tid != -1;
	c->row.key[0] = key_int(c->row.key[0], (uint64_t)(by_tid ? c->tid : by == BY_THREAD ? -2 - c->pid : c->pid));
	c->row.key[1] = (uint64_t)c->start_ns;
}

void group_name(struct common *c, const struct rows *rows, uint32_t thread, bool is_first)
{
	const struct thread_info *t = timeline_thread(rows->tl, thread);
	const struct process_info *p = t ? timeline_process(rows->tl, t->process) : NULL;
	if (!p || p->leader != ID_NONE)
		return;
	const char *name = timeline_comm(rows->tl, thread, rows->query.to_ns ? rows->query.to_ns : INT64_MAX);
	if (is_first && *name)
		c->comm = name;
	else if (c->comm && strcmp(c->comm, name) != 0)
		c->comm = NULL;
}

bool common_has_named(const char *name)
{
	return !strcmp(name, NAMED_KERNEL);
}

struct value common_get_named(const void *row, const struct rows *rows, const char *name)
{
	const struct common *c = row;
	(void)rows;
	(void)name;
	return c->of_thread ? value_int(VALUE_ID, c->kernel) : value_none();
}

void *row_map_get(struct row_map *m, uint64_t key, size_t size, bool *ret_new)
{
	uint32_t i = intmap_get(&m->index, key);
	*ret_new = i == INTMAP_NONE;
	if (!*ret_new)
		return m->rows->rows->pdata[i];
	intmap_set(&m->index, key, m->rows->rows->len);
	return common_new(m->rows, size);
}

void row_map_clear(struct row_map *m)
{
	intmap_clear(&m->index);
}

char *thread_label_new(const struct timeline *tl, uint32_t thread, int64_t at)
{
	const struct thread_info *t = timeline_thread(tl, thread);
	if (!t)
		return g_strdup("?");
	const char *comm = timeline_comm(tl, thread, at);
	return g_strdup_printf("%s/%d", *comm ? comm : "?", t->tid);
}

const char *thread_label(struct rows *rows, uint32_t thread, int64_t at)
{
	return rows_take_text(rows, thread_label_new(rows->tl, thread, at));
}
