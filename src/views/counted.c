/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of events and counters: see counted.h. */
#include "base/each.h"
#include "base/sort.h"
#include "views/counted.h"

#include "base/timefmt.h"

#include <math.h>
#include <string.h>

/* ---- names of counters ---- */

/* Removes the domain: "instructions" for "cpu_instructions" and "thread_instructions". */
static const char *short_name(const char *name)
{
	return g_str_has_prefix(name, "cpu_") ? name + strlen("cpu_") :
	       g_str_has_prefix(name, "thread_") ? name + strlen("thread_") : name;
}

static bool is_instructions(const char *counter)
{
	return strcmp(short_name(counter), "instructions") == 0;
}

/* perf counts the same event under both names. */
static bool is_cycles(const char *counter)
{
	const char *name = short_name(counter);
	return strcmp(name, "cycles") == 0 || strcmp(name, "cpu_cycles") == 0;
}

bool counted_is_fault(const struct timeline *tl, const struct count_cell *cell)
{
	const char *name = short_name(timeline_string(tl, cell->name));
	return cell->kind == COUNT_PERF &&
	       (strcmp(name, "page_fault") == 0 || strcmp(name, "page_faults") == 0 ||
		strcmp(name, "faults") == 0);
}

/* Adds only counters of CPUs: they include what user space reads of its own threads. */
void counted_add_ipc(struct counted_ipc *ipc, const struct timeline *tl,
		     const struct count_cell *cell)
{
	const char *name = timeline_string(tl, cell->name);
	if (cell->kind != COUNT_PERF || !g_str_has_prefix(name, "cpu_"))
		return;
	ipc->instructions += is_instructions(name) ? cell->value : 0;
	if (is_cycles(name))		/* a trace that recorded both names has the count twice */
		ipc->cycles[strcmp(name, "cpu_cycles") != 0] += cell->value;
}

double counted_ipc(uint64_t instructions, uint64_t cycles)
{
	return instructions && cycles ? (double)instructions / (double)cycles : -1;
}

static const char *words_of(enum count_kind kind, const char *name)
{
	switch (kind) {
	case COUNT_FAULT:
		return "page fault";
	case COUNT_PROBE:
		return "probe";
	case COUNT_PERF:
		return g_str_has_prefix(name, "thread_") ? "thread" : "cpu";
	default:
		return "event";
	}
}

/* ---- rows ---- */

struct counting {
	struct row_map map;
	struct intmap what;		/* name and kind -> index in .wholes */
	struct intmap seconds_of;	/* by second: index of the second and host -> number of the group */
	GArray *wholes;			/* uint64_t */
	bool events;
	const struct second *s;
	size_t index;			/* index of the second */
	double seconds;			/* duration of the range */
	GArray *steps;			/* uint64_t: counts of each row over time */
	unsigned n_steps, step;		/* 0: none; the one that .s is in */
};

#define NO_THREAD 0xc0000000u		/* | host << 1 | idle; see group_key() */

static uint32_t group_of(struct counting *k, const struct count_cell *c)
{
	enum view_by by = k->map.rows->query.by;
	if (by == BY_SECOND)
		return intmap_add(&k->seconds_of, (uint64_t)k->index << 32 | c->host, k->seconds_of.n);
	if (by == BY_SYSTEM)
		return c->host;
	if (c->thread == ID_NONE && !c->idle && by != BY_THREAD)
		return GROUP_UNKNOWN | c->host;
	if (c->thread == ID_NONE)
		return NO_THREAD | c->host << 1 | c->idle;
	return group_key(k->map.rows->tl, by, c->thread);
}

/* Gives each pair of kind and name a small number: half of a row's key has no room for both. */
static uint32_t what_of(struct counting *k, const struct count_cell *c)
{
	uint64_t key = (uint64_t)c->kind << 32 | c->name;
	uint32_t i = intmap_get(&k->what, key);
	if (i == INTMAP_NONE) {
		i = k->wholes->len;
		g_array_set_size(k->wholes, i + 1);
		intmap_set(&k->what, key, i);
	}
	return i;
}

static void fill_unattributed(struct counted_row *r, const struct count_cell *c)
{
	r->c.comm = c->idle ? "idle" : NULL;
	r->c.row.key[0] = key_int(r->c.row.key[0], c->idle);
}

static void fill(struct counting *k, struct counted_row *r, const struct count_cell *c)
{
	struct rows *rows = k->map.rows;
	const struct timeline *tl = rows->tl;
	enum view_by by = rows->query.by;
	const char *name = timeline_string(tl, c->name);
	bool by_second = by == BY_SECOND;
	bool unattributed = c->thread == ID_NONE || group_of(k, c) == (GROUP_UNKNOWN | c->host);
	if (by != BY_SYSTEM && !by_second && !unattributed)
		group_fill(&r->c, rows, c->thread);
	common_host(&r->c, rows, c->host);
	r->c.row.drill.host = c->host;
	if (unattributed && by != BY_SYSTEM && !by_second)
		fill_unattributed(r, c);
	r->c.name = c->kind == COUNT_PERF ? short_name(name) : name;
	r->kind = c->kind;
	r->what = words_of(c->kind, name);
	r->second_ns = by_second ? k->s->begin_ns : TIME_UNKNOWN;
	r->seconds = by_second ? range_seconds(rows->tl, k->s->begin_ns, k->s->end_ns) : k->seconds;
	r->group = group_of(k, c);
	r->id = what_of(k, c);
	r->c.row.key[0] = key_text(key_text(key_text(key_int(r->c.row.key[0], c->kind), r->c.host),
					    name), by_second ? "second" : NULL);
	r->steps = k->steps->len;
	g_array_set_size(k->steps, r->steps + k->n_steps);
	if (by_second)
		r->c.row.key[1] = (uint64_t)k->s->begin_ns;
}

static void add_cell(struct counting *k, const struct count_cell *c)
{
	const struct view_query *q = &k->map.rows->query;
	bool is_new;
	if ((c->kind == COUNT_EVENT) != k->events || (q->host != ID_NONE && c->host != q->host) ||
	    ((q->pid >= 0 || q->tid >= 0 || q->container) && !query_wants_thread(q, k->map.rows->tl, c->thread)))
		return;
	uint32_t what = what_of(k, c);
	uint64_t key = (uint64_t)group_of(k, c) << 32 | what;
	struct counted_row *r = row_map_get(&k->map, key, sizeof(*r), &is_new);
	if (is_new)
		fill(k, r, c);
	if (q->by == BY_PROCESS && c->thread != ID_NONE)
		group_name(&r->c, k->map.rows, c->thread, is_new);
	r->value += c->value;
	if (k->n_steps)
		g_array_index(k->steps, uint64_t, r->steps + k->step) += c->value;
	g_array_index(k->wholes, uint64_t, what) += c->value;
}

/* Counts of events for the whole host, without threads. */
static void add_events(struct counting *k)
{
	for (uint32_t i = 0; i < k->s->n_events; i++) {
		const struct event_cell *e = &k->s->events[i];
		add_cell(k, &(struct count_cell){
			.thread = ID_NONE, .host = e->host, .name = e->name, .kind = COUNT_EVENT,
			.value = e->count,
		});
	}
}

/* Which of the steps a second is in. */
static void place_second(struct counting *k, const struct range *range)
{
	if (k->n_steps)
		k->step = (unsigned)((k->index - range->first) * k->n_steps / (range->end - range->first));
}

/* Counts over time as digits, in shares of the row's largest one, rounded up. */
static void draw_steps(const struct counting *k, struct counted_row *r)
{
	const uint64_t *n = &g_array_index(k->steps, uint64_t, r->steps);
	char digits[COUNTED_STEPS + 1] = "";
	uint64_t most = 1;

	for (unsigned i = 0; i < k->n_steps; i++)
		most = MAX(most, n[i]);
	for (unsigned i = 0; i < k->n_steps; i++)
		digits[i] = (char)('0' + (int)ceil((double)n[i] * 8 / (double)most));
	r->over_time = rows_text(k->map.rows, digits);
}

static int compare(const void *va, const void *vb)
{
	const struct counted_row *a = *(const struct counted_row *const *)va;
	const struct counted_row *b = *(const struct counted_row *const *)vb;
	return ORDER(a->second_ns, b->second_ns) ?: common_compare(&a->c, &b->c) ?: ORDER(a->kind, b->kind) ?:
	       strcmp(a->what, b->what);
}

/* Pairs the cycles of a thread, process, ... with its row of instructions. */
static void set_ipc(struct rows *rows)
{
	struct intmap cycles = { 0 };
	for (guint i = 0; i < rows->rows->len; i++) {
		const struct counted_row *r = rows->rows->pdata[i];
		if (r->kind == COUNT_PERF && is_cycles(r->c.name))
			intmap_set(&cycles, r->group << 1 | (*r->what == 'c'), i);
	}
	PTR_EACH(struct counted_row, r, rows->rows) {
		if (r->kind != COUNT_PERF || !is_instructions(r->c.name))
			continue;
		uint32_t at = intmap_get(&cycles, r->group << 1 | (*r->what == 'c'));
		if (at != INTMAP_NONE)
			r->ipc = counted_ipc(r->value, ((const struct counted_row *)rows->rows->pdata[at])->value);
	}
	intmap_clear(&cycles);
}

struct rows *counted_build(const struct timeline *tl, const struct view_query *query, bool events)
{
	struct counting k = { .map.rows = rows_new(tl, query), .events = events,
			      .wholes = g_array_new(false, true, sizeof(uint64_t)),
			      .steps = g_array_new(false, true, sizeof(uint64_t)) };
	struct range range = range_of(tl, query);
	uint64_t of_all = 0;
	enum view_by by = query->by;
	k.seconds = range.seconds;
	if (events && by != BY_SECOND && range.end > range.first + 1)
		k.n_steps = (unsigned)MIN(range.end - range.first, COUNTED_STEPS);
	for (size_t i = range.first; i < range.end; i++) {
		k.s = timeline_second(tl, i);
		k.index = i;
		place_second(&k, &range);
		if (events && (by == BY_SYSTEM || by == BY_SECOND)) {
			add_events(&k);
			continue;
		}
		for (uint32_t c = 0; c < k.s->n_counts; c++)
			add_cell(&k, &k.s->counts[c]);
	}
	/* In rows of hosts, `whole` is the sum over all events. */
	for (guint i = 0; events && query->by == BY_SYSTEM && i < k.wholes->len; i++)
		of_all += g_array_index(k.wholes, uint64_t, i);
	PTR_EACH(struct counted_row, r, k.map.rows->rows) {
		if (k.n_steps)
			draw_steps(&k, r);
		uint64_t whole = of_all ? of_all : g_array_index(k.wholes, uint64_t, r->id);
		r->rate = (int64_t)((double)r->value / r->seconds + 0.5);
		r->share = whole ? (double)r->value / (double)whole : -1;
		r->ipc = -1;
	}
	row_map_clear(&k.map);
	set_ipc(k.map.rows);
	intmap_clear(&k.what);
	intmap_clear(&k.seconds_of);
	g_array_unref(k.wholes);
	g_array_unref(k.steps);
	common_finish(k.map.rows, compare);
	return k.map.rows;
}
