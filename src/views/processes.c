/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes or threads: states, calls and bytes. The latency of a row is that of its system calls.
 */
#include "base/each.h"
#include "views/processes.h"

#include "base/timefmt.h"
#include "views/counted.h"
#include "views/process_tree.h"
#include "views/registry.h"

#include <string.h>

#define ROW(row) ((const struct process_row *)(row))

static int32_t parent_of(const struct row *row)
{
	return ROW(row)->ppid;
}

static void arrange(struct rows *rows)
{
	process_tree_arrange(rows, parent_of);
}

bool processes_is_idle(const struct row *row, const struct rows *rows)
{
	static const enum part of_work[] = {
		PART_DISK, PART_WRITEBACK, PART_FAULT, PART_FUTEX, PART_SOCKET, PART_PIPE,
	};
	const struct process_row *r = ROW(row);
	int64_t ns = part_sum_cpu(r->c.part) + part_sum_runnable(r->c.part);

	for (size_t i = 0; i < G_N_ELEMENTS(of_work); i++)
		ns += r->c.part[of_work[i]];
	return get_cpu(row, rows).kind != VALUE_NONE && !ns && r->sum.syscalls <= 0 && r->sum.read_bytes <= 0 &&
	       r->sum.write_bytes <= 0 && !r->event_faults && !r->perf_faults;
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_ID("pid", "PID", 7, 0, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 3, "thread id; null where threads are summed", COMMON(tid)),
	COLUMN_ID("ppid", "PPID", 7, 8, "the parent's process id", PROCESS(ppid)),
	COLUMN_FLEX("comm", "NAME", 16, "name, as it was last in the range", COMMON(comm)),
	COLUMN_N("cpu_ns", "CPU", VALUE_NS, 0, 0, "time on a CPU: user + syscall + kernel + irq",
		 get_cpu),
	COLUMN_N("user_ns", "USR", VALUE_NS, 7, 4, part_help(USER), get_user),
	COLUMN_N("syscall_ns", "SYS", VALUE_NS, 7, 4, part_help(SYSCALL), get_syscall),
	COLUMN_N("kernel_ns", "KERN", VALUE_NS, 0, 0, part_help(KERNEL), get_kernel),
	COLUMN_N("irq_ns", "IRQ", VALUE_NS, 0, 0, part_help(IRQ), get_irq),
	COLUMN_N("runnable_ns", "RUNQ", VALUE_NS, 0, 0, "runnable, waiting for a CPU", get_runnable),
	COLUMN_N("blocked_ns", "BLOCK", VALUE_NS, 0, 0, "blocked, whatever on", get_blocked),
	COLUMN_N("unknown_ns", "UNKNOWN", VALUE_NS, 7, 10, part_help(UNKNOWN), get_unknown),
	COLUMN_N("syscalls", "SYSCALLS", VALUE_COUNT, 8, 2, "system calls finished",
		 PROCESS(sum.syscalls)),
	COLUMN_N("read_bytes", "READ", VALUE_BYTES, 6, 5, "bytes read; null: unknown for recvmmsg",
		 PROCESS(sum.read_bytes)),
	COLUMN_N("write_bytes", "WRITE", VALUE_BYTES, 6, 5,
		 "bytes written; null: unknown for sendmmsg", PROCESS(sum.write_bytes)),
	{ .id = "start_ns", .title = "START", .kind = VALUE_TIME,
	  .help = "when it began; null: before the trace", .get = COMMON(start_ns) },
	{ .id = "exit_ns", .title = "EXIT", .kind = VALUE_TIME,
	  .help = "when it ended; null: not in the trace", .get = PROCESS(exit_ns) },
	COLUMN_N("faults", "FAULTS", VALUE_COUNT, 7, 9,
		 "page faults, from their events, else from perf's counter; null: the trace has neither",
		 PROCESS(faults)),
	COLUMN_N("ipc_ratio", "IPC", VALUE_RATIO, 0, 0,
		 "instructions a cycle, by perf's counters of CPUs; 100 % is one", PROCESS_RATIO(ipc)),
	COLUMN_T("life", "LIFE", 6, 9,
		 "began, exited, short (both) in the range; gone: exited before it", PROCESS(life)),
	COLUMN_CONTAINER,
	COLUMN_ID("vpid", "VPID", 0, 0, "its pid in its own pid namespace", PROCESS(vpid)),
	COLUMN_ID("pid_ns", "PIDNS", 0, 0, "inode of its pid namespace", PROCESS(ns[NS_PID], .none = IF_ZERO)),
	COLUMN_ID("cgroup_ns", "CGNS", 0, 0, "inode of its cgroup namespace", PROCESS(ns[NS_CGROUP], .none = IF_ZERO)),
	COLUMN_ID("uts_ns", "UTSNS", 0, 0, "inode of its uts (hostname) namespace",
		 PROCESS(ns[NS_UTS], .none = IF_ZERO)),
	COLUMN_N("cpu_ratio", "CPU%", VALUE_RATIO, 6, 0, "time on a CPU, of all its threads; 100 % is one CPU",
		 PROCESS_RATIO(cpu_ratio)),
	COLUMN_N("runnable_ratio", "RUNQ%", VALUE_RATIO, 6, 1,
		 "its threads waiting for a CPU, summed; 100 % is one thread",
		 PROCESS_RATIO(runnable_ratio)),
	COLUMN_N("blocked_ratio", "BLOCK%", VALUE_RATIO, 6, 1,
		 "its threads blocked, summed; 100 % is one thread",
		 PROCESS_RATIO(blocked_ratio)),
};

static void fill(struct process_row *r, struct rows *rows, uint32_t thread)
{
	const struct thread_info *t = timeline_thread(rows->tl, thread);
	const struct process_info *p = t ? timeline_process(rows->tl, t->process) : NULL;
	group_fill(&r->c, rows, thread);
	r->group = group_key(rows->tl, rows->query.by, thread);
	r->ppid = r->vpid = -1;
	r->exit_ns = TIME_UNKNOWN;
	r->host = rows->query.by == BY_SYSTEM || rows->query.by == BY_CONTAINER || !t ? ID_NONE : t->host;
	if (rows->query.by == BY_SYSTEM || rows->query.by == BY_CONTAINER)
		return;
	if (p) {
		r->ppid = p->ppid;
		r->vpid = p->vpid;
		memcpy(r->ns, p->ns, sizeof r->ns);
		r->exit_ns = p->exit_ns;
	}
	if (rows->query.by == BY_THREAD && t)
		r->exit_ns = t->exit_ns;
	r->c.row.ended = r->exit_ns != TIME_UNKNOWN &&
		(rows->query.to_ns == 0 || r->exit_ns < rows->query.to_ns);
}

/* Adds processes that ended shortly before the range, with zeros in all columns. */
static void add_ended(struct row_map *map)
{
	const struct timeline *tl = map->rows->tl;
	const struct view_query *q = &map->rows->query;

	if (q->ended_ns <= 0 || q->by == BY_SYSTEM || q->by == BY_CONTAINER)
		return;
	for (uint32_t i = timeline_next_thread(tl, 0); i != ID_NONE; i = timeline_next_thread(tl, i + 1)) {
		const struct thread_info *t = timeline_thread(tl, i);
		const struct process_info *p = timeline_process(tl, t->process);
		int64_t exit_ns = q->by == BY_THREAD ? t->exit_ns : p ? p->exit_ns : TIME_UNKNOWN;
		bool is_new;

		if (exit_ns == TIME_UNKNOWN || exit_ns >= q->from_ns ||
		    exit_ns < q->from_ns - q->ended_ns || !query_wants_thread(q, tl, i))
			continue;
		struct process_row *r = row_map_get(map, group_key(tl, q->by, i), sizeof(*r),
						    &is_new);
		if (is_new)
			fill(r, map->rows, i);
	}
}

/* Adds counts to existing rows only: a thread with counts was also seen on a CPU. */
static void add_counts(struct row_map *map, const struct second *s)
{
	const struct rows *rows = map->rows;
	for (uint32_t i = 0; i < s->n_counts; i++) {
		const struct count_cell *c = &s->counts[i];
		uint32_t at = c->thread == ID_NONE ? INTMAP_NONE :
			intmap_get(&map->index, group_key(rows->tl, rows->query.by, c->thread));
		if (at == INTMAP_NONE || !query_wants_thread(&rows->query, rows->tl, c->thread))
			continue;
		struct process_row *r = rows->rows->pdata[at];
		r->event_faults += c->kind == COUNT_FAULT ? c->value : 0;
		r->perf_faults += counted_is_fault(rows->tl, c) ? c->value : 0;
		counted_add_ipc(&r->counted, rows->tl, c);
	}
}

/* If the range has page fault events of any thread, rows without them have 0 instead of unknown. */
static void set_faults(struct rows *rows, const struct range *range)
{
	bool faults = timeline_has_event(rows->tl, "x86_exceptions_page_fault_user"), perf = false;
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(rows->tl, i);
		for (uint32_t k = 0; k < s->n_counts; k++) {
			faults |= s->counts[k].kind == COUNT_FAULT;
			perf |= counted_is_fault(rows->tl, &s->counts[k]);
		}
	}
	PTR_EACH(struct process_row, r, rows->rows) {
		r->faults = faults ? (int64_t)r->event_faults : perf ? (int64_t)r->perf_faults : FIGURE_NONE;
	}
}

/* Is it the unnamed task of a CPU whose host has neither scheduler events nor system calls? */
static bool is_unattributed(const struct rows *rows, uint32_t thread)
{
	const unsigned both = MISSING_SWITCHES | MISSING_CALLS;
	const struct thread_info *t = timeline_thread(rows->tl, thread);
	return rows->query.by != BY_SYSTEM && t && t->tid == -1 && (rows_missing(rows, t->host) & both) == both;
}

static void add_second(struct row_map *map, const struct second *s)
{
	struct rows *rows = map->rows;
	const struct view_query *q = &rows->query;
	for (uint32_t i = 0; i < s->n_threads; i++) {
		const struct thread_cell *cell = &s->threads[i];
		bool is_new;
		if (!query_wants_thread(q, rows->tl, cell->thread) || is_unattributed(rows, cell->thread))
			continue;
		struct process_row *r = row_map_get(map, group_key(rows->tl, q->by, cell->thread),
						    sizeof(*r), &is_new);
		if (is_new)
			fill(r, rows, cell->thread);
		if (q->by == BY_PROCESS)
			group_name(&r->c, rows, cell->thread, is_new);
		cell_sum_add(CELL_thread, &r->sum, cell);
	}
	add_counts(map, s);
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct call_cell *cell = &s->calls[i];
		uint32_t at = intmap_get(&map->index, group_key(rows->tl, q->by, cell->thread));
		if (at == INTMAP_NONE || !query_wants_thread(q, rows->tl, cell->thread))
			continue;
		hist_merge(&((struct common *)rows->rows->pdata[at])->latency, &cell->latency);
	}
}

/* For each host with CPUs in the range (ID_NONE: for all): is any CPU state known? In a pause of the recording none
 * is. */
static void find_hosts_with_states(const struct timeline *tl, const struct range *range, struct intmap *known)
{
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_cpus; k++) {
			const struct cpu_cell *c = &s->cpus[k];
			bool has_states = c->run_ns + c->idle_ns + c->irq_ns > 0;
			if (has_states || intmap_get(known, c->host) == INTMAP_NONE)
				intmap_set(known, c->host, has_states);
			if (has_states || intmap_get(known, ID_NONE) == INTMAP_NONE)
				intmap_set(known, ID_NONE, has_states);
		}
	}
}

/* Sets values to unknown instead of 0: states without scheduler events, counts without system call events, and both
 * where nothing was recorded. */
static void set_unknown(struct rows *rows, const struct range *range)
{
	bool states = timeline_has_event(rows->tl, "sched_switch"), calls = timeline_facts(rows->tl)->has_calls;
	struct intmap hosts = { 0 };
	find_hosts_with_states(rows->tl, range, &hosts);
	PTR_EACH(struct process_row, r, rows->rows) {
		struct thread_sum *s = &r->sum;
		int64_t total;
		part_largest(s->part, NULL, &total);
		bool dark = intmap_get(&hosts, r->host) == false && total > 0;
		bool known = states && !(r->c.row.missing & MISSING_SWITCHES) && !dark;
		r->c.parts_unknown = !known && total == s->part[PART_UNKNOWN];
		if (!calls || r->c.row.missing & MISSING_CALLS || (dark && !s->syscalls))
			s->syscalls = s->read_bytes = s->write_bytes = FIGURE_NONE;
		s->read_bytes = s->unsized[IO_DIR_READ] ? FIGURE_NONE : s->read_bytes;
		s->write_bytes = s->unsized[IO_DIR_WRITE] ? FIGURE_NONE : s->write_bytes;
	}
	intmap_clear(&hosts);
}

/* Whether it began or ended in the range. */
static const char *life_of(const struct process_row *r, const struct view_query *q)
{
	bool began = r->c.start_ns != TIME_UNKNOWN && r->c.start_ns >= q->from_ns && r->c.start_ns < q->to_ns;

	if (r->c.row.ended)
		return r->exit_ns < q->from_ns ? "gone" : began ? "short" : "exited";
	return began ? "began" : NULL;
}

static void end(struct process_row *r, const struct rows *rows)
{
	const double range_ns = rows->seconds * NS_PER_S;
	const int64_t *part = r->c.part;
	struct value cpu, runnable, blocked;

	memcpy(r->c.part, r->sum.part, sizeof r->c.part);
	r->c.of_threads = r->sum.n_cells > 0;
	cpu = get_cpu(&r->c.row, rows);
	runnable = get_runnable(&r->c.row, rows);
	blocked = get_blocked(&r->c.row, rows);
	r->cpu_ratio = cpu.kind == VALUE_NONE ? -1 : (double)cpu.i / range_ns;
	r->runnable_ratio = runnable.kind == VALUE_NONE ? -1 : (double)runnable.i / range_ns;
	r->blocked_ratio = blocked.kind == VALUE_NONE ? -1 : (double)blocked.i / range_ns;
	r->disk_ratio = r->lock_ratio = r->net_ratio = r->sleep_ratio = -1;
	if (blocked.kind != VALUE_NONE) {
		r->disk_ratio = (double)(part[PART_DISK] + part[PART_WRITEBACK] + part[PART_FAULT]) / range_ns;
		r->lock_ratio = (double)part[PART_FUTEX] / range_ns;
		r->net_ratio = (double)(part[PART_SOCKET] + part[PART_PIPE] + part[PART_POLL]) / range_ns;
		r->sleep_ratio = (double)(part[PART_TIMER] + part[PART_STOPPED]) / range_ns;
	}
	r->calls_rate = r->sum.syscalls == FIGURE_NONE ? FIGURE_NONE :
			(int64_t)((double)r->sum.syscalls / rows->seconds + 0.5);
	r->ipc = counted_ipc(r->counted.instructions, MAX(r->counted.cycles[0], r->counted.cycles[1]));
	r->life = life_of(r, &rows->query);
}

struct rows *processes_build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++)
		add_second(&map, timeline_second(tl, i));
	add_ended(&map);
	map.rows->seconds = range.seconds;
	set_unknown(map.rows, &range);
	set_faults(map.rows, &range);
	PTR_EACH(struct process_row, r, map.rows->rows)
		end(r, map.rows);
	row_map_clear(&map);
	common_finish(map.rows, NULL);
	const unsigned both = MISSING_SWITCHES | MISSING_CALLS;
	if (map.rows->rows->len && (map.rows->missing & both) == both)
		map.rows->about = "The trace has no kernel events: nothing is known of what they did.";
	return map.rows;
}

/* Adds the time on a CPU of each process in the second to ns[row]. */
static void sum_cpu(const struct rows *rows, const struct intmap *index, const struct second *s, int64_t *ns)
{
	for (uint32_t i = 0; i < s->n_threads; i++) {
		const struct thread_cell *c = &s->threads[i];
		uint32_t at = intmap_get(index, group_key(rows->tl, BY_PROCESS, c->thread));
		if (at != INTMAP_NONE)
			ns[at] = MAX(ns[at], 0) + part_sum_cpu(c->part);
	}
}

void processes_add_sparks(struct rows *rows, unsigned n)
{
	struct range range = range_of(rows->tl, &rows->query);
	size_t first = range.end > n ? range.end - n : 0, len = rows->rows->len;
	struct intmap index = { 0 };
	g_autofree char *digits = g_malloc(MAX(len, 1) * (n + 1));
	g_autofree int64_t *ns = g_new(int64_t, len + 1);
	if (!timeline_has_event(rows->tl, "sched_switch"))
		return;
	for (uint32_t i = 0; i < len; i++) {
		const struct process_row *r = rows->rows->pdata[i];
		intmap_set(&index, r->group, i);
		memset(digits + i * (n + 1), ' ', n);
		digits[i * (n + 1) + n] = '\0';
	}
	for (size_t k = first; k < range.end; k++) {
		const struct second *s = timeline_second(rows->tl, k);
		int64_t whole = MAX(s->sums_end_ns - s->begin_ns, 1);
		for (size_t i = 0; i < len; i++)
			ns[i] = -1;
		sum_cpu(rows, &index, s, ns);
		for (size_t i = 0; i < len; i++)
			if (ns[i] >= 0)
				digits[i * (n + 1) + n - (range.end - k)] =
					(char)('0' + MIN((ns[i] * 8 + whole - 1) / whole, 8));
	}
	for (size_t i = 0; i < len; i++)
		((struct process_row *)rows->rows->pdata[i])->sparks = rows_text(rows, digits + i * (n + 1));
	intmap_clear(&index);
}

bool processes_has_named(const char *name)
{
	return common_has_named(name) || !strcmp(name, NAMED_IDLE);
}

struct value processes_get_named(const void *row, const struct rows *rows, const char *name)
{
	struct value cpu = get_cpu(row, rows);
	if (strcmp(name, NAMED_IDLE) != 0)
		return common_get_named(row, rows, name);
	return cpu.kind == VALUE_NONE ? value_none() : value_int(VALUE_ID, !cpu.i && ROW(row)->sum.syscalls <= 0);
}

static const char *const needs[] = { "sched_switch", NEED_WAKEUPS, NEED_SYSCALLS, NULL };

const struct view view_processes = {
	.idle = "idle", .is_idle = processes_is_idle,
	.only = ONLY_THREADS,
	.id = "processes", .title = "Processes",
	.help = "Processes (or threads, containers, each host as a whole) with their time on a CPU, in the "
		"run queue and blocked, their system calls and the bytes they moved.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "cpu_ratio", .drill = "process", .needs = needs,
	.default_by = BY_PROCESS, .by_values = BY_THREADS | 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS(thread) | READS(file) | READS(call) | READS(count) | READS(cpu),
	.build = processes_build,
	.arrange = arrange,
	.has_named = processes_has_named, .get_named = processes_get_named,
};
