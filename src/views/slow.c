/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The slowest system calls of the range, one row each. Waits for work come last (views/waited.h), and before them calls
 * of which it is unknown whether they waited for work.
 */
#include "base/limits.h"
#include "base/sort.h"
#include "base/timefmt.h"
#include "views/common.h"
#include "views/registry.h"
#include "views/waited.h"

struct slow_row {
	struct common c;		/* name: the system call */
	const char *path;
	enum waited waited;
	uint32_t cpu;
	int64_t begin_ns, duration_ns, ret;
};


static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("pid", "PID", 7, 4, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 1, "thread id", COMMON(tid)),
	COLUMN_T("comm", "THREAD", 15, 2, "the thread's name then", COMMON(comm)),
	COLUMN_T("syscall", "SYSCALL", 16, 0, "the system call", COMMON(name)),
	{ .id = "begin_ns", .title = "BEGIN", .kind = VALUE_TIME, .width = 12, .priority = 3,
	  .help = "when it was entered", .get = MEMBER(struct slow_row, begin_ns) },
	COLUMN_N("duration_ns", "DURATION", VALUE_NS, 8, 0, "until its exit", MEMBER(struct slow_row, duration_ns)),
	COLUMN_ID("ret", "RET", 7, 5, "what it returned", MEMBER(struct slow_row, ret)),
	COLUMN_ID("cpu", "CPU", 4, 6, "where it returned", MEMBER(struct slow_row, cpu)),
	COLUMN_OPTIONAL("waited", "WAITED", VALUE_TEXT, 13, 4,
			WAITED_HELP, MEMBER(struct slow_row, waited, .words = waited_word)),
	COLUMN_FLEX("path", "ON", 16, "file, socket or pipe it worked on", MEMBER(struct slow_row, path)),
	COLUMN_CONTAINER,
};

static void add_call(struct rows *rows, struct waits *w, const struct slow_call *call)
{
	const struct timeline *tl = rows->tl;
	const struct file_info *file = timeline_file(tl, call->file);
	struct slow_row *r = common_new(rows, sizeof(*r));
	enum view_by by = rows->query.by;
	rows->query.by = BY_THREAD;	/* each call is on one thread, whatever the query says */
	group_fill(&r->c, rows, call->thread);
	rows->query.by = by;
	r->c.comm = timeline_comm(tl, call->thread, call->begin_ns + call->duration_ns);
	r->c.name = timeline_string(tl, call->name);
	r->c.row.key[0] = key_int(key_text(r->c.row.key[0], r->c.name), (uint64_t)call->begin_ns);
	r->path = file ? timeline_string(tl, file->path) : NULL;
	r->waited = waits_of_call(w, call->thread, call->wait, call->begin_ns);
	r->c.row.last = waited_rank(r->waited);
	r->cpu = call->cpu;
	r->begin_ns = call->begin_ns;
	r->duration_ns = call->duration_ns;
	r->ret = call->ret;
}

/* Waits for work last, before them those of which it is unknown; longest first, then by beginning, CPU and tid. */
static int compare(const void *va, const void *vb)
{
	const struct slow_row *a = *(const struct slow_row *const *)va;
	const struct slow_row *b = *(const struct slow_row *const *)vb;
	return ORDER(a->c.row.last, b->c.row.last) ?: ORDER(b->duration_ns, a->duration_ns) ?:
	       ORDER(a->begin_ns, b->begin_ns) ?: ORDER(a->cpu, b->cpu) ?: ORDER(a->c.tid, b->c.tid);
}

/* The number of calls of the second that pass the query. */
static uint64_t n_calls(const struct view_query *query, const struct timeline *tl, const struct second *s)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < s->n_calls; i++)
		if (query_wants_thread(query, tl, s->calls[i].thread))
			n += hist_count(&s->calls[i].latency);
	return n;
}

/* Of a second whose list has as many calls as it can have: the duration of the shortest one (ns). 0: it has all. */
static int64_t shortest_of_full(const struct second *s, enum slow_list list)
{
	uint32_t n = 0;
	int64_t shortest = 0;
	for (uint32_t i = 0; i < s->n_slow; i++)
		if (s->slow[i].list == list) {
			n++;
			shortest = s->slow[i].duration_ns;
		}
	return n == LIMIT_SECOND_CALLS ? shortest : 0;
}

/* Says how many of the calls are not listed: those of each second that are shorter than its LIMIT_SECOND_CALLS
 * longest of their kind, so none is longer than `longest`. */
static void describe_omitted(struct rows *rows, uint64_t n, int64_t longest)
{
	if (!longest || n <= rows->rows->len)
		return;
	char ns[TIMEFMT_LEN];
	g_autofree char *text = g_strdup_printf("%u of %" G_GUINT64_FORMAT " calls: all that took more than %s, and "
		"the longest of each second, waits for work last; the log has the rest, by a filter on duration_ns",
		rows->rows->len, n, timefmt_duration(ns, longest));
	rows->omitted = rows->about = rows_text(rows, text);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct rows *rows = rows_new(tl, query);
	struct range range = range_of(tl, query);
	g_autoptr(blk_waits) w = waits_new(tl);
	uint64_t n = 0;
	int64_t longest = 0;
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_slow; k++)
			if (query_wants_thread(query, tl, s->slow[k].thread))
				add_call(rows, w, &s->slow[k]);
		for (enum slow_list list = 0; list < SLOW_LIST_N; list++)
			longest = MAX(longest, shortest_of_full(s, list));
		n += n_calls(query, tl, s);
	}
	common_finish(rows, compare);
	rows->n_all = n;
	rows->all_above_ns = longest;
	describe_omitted(rows, n, longest);
	return rows;
}

static const char *const needs[] = { NEED_SYSCALLS, NEED_CALLERS, NULL };

const struct view view_slow = {
	.only = ONLY_THREADS,
	.id = "slow", .title = "Slowest calls",
	.help = "The slowest single system calls of the range: the thread, the time, and the file or "
		"socket. Of every second the 64 longest are listed, each of: calls that work, that wait for an event "
		"(poll, accept, a sleep, a signal, a child), that wait on a futex or for data of a socket, and reads; "
		"the call log has all. Calls that waited for work come last, before them those of which it is unknown.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "duration_ns", .needs = needs, .default_by = BY_THREAD,
	.on_screen = true, .build = build,
};
