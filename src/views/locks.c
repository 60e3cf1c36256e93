/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks that threads waited for: one row a lock (view locks), and one row for each thread that waited for it or held it
 * (view holders). Both sum the same cells, so their figures agree.
 */
#include "base/each.h"
#include "base/sort.h"
#include "views/cell_rows.h"
#include "views/registry.h"

#include "base/each.h"
#include "base/limits.h"

#include <string.h>

struct lock_row {
	struct common c;	/* .name: the lock; .service: the role, in the view holders; .part: of its holders */
	const char *kind, *did, *with;
	struct lock_sum sum;
	int64_t avg_ns;
	int64_t ran_ns, runnable_ns, blocked_ns, unknown_ns;	/* of its holders; not of a waiter */
	uint32_t n_waiters, n_holders;
	bool held;			/* of holders: it is about what the thread held */
	/* While it is summed: thread + 1 -> struct with_thread, owned; NULL: it had no cells. */
	GHashTable *waiters, *holders;
};

/* How much of the waits was with one thread. */
struct with_thread { uint32_t thread; int64_t ns; };

#define ROW(row) ((const struct lock_row *)(row))
#define LEFT_OUT_NAME "(others)"

#define LOCK(name) MEMBER(struct lock_row, name)

#define WAITED "until it was woken by the thread that released the lock; that a thread got a lock at once is not seen"
#define DID "what the holder did during the waits, as far as it is known to have had the lock then, longest first"
#define COLUMNS_OF_WAITS \
	COLUMN_N("waits", "WAITS", VALUE_COUNT, 7, 2, "waits that ended in the range, " WAITED, LOCK(sum.waits)), \
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 8, 0, "time of the waits, of all waiters; each counts where it ended", \
		 LOCK(sum.total_ns)), \
	COLUMN_N("avg_ns", "AVG", VALUE_NS, 8, 5, "mean wait", LOCK(avg_ns)), \
	COLUMN_N("max_ns", "MAX", VALUE_NS, 8, 1, "longest wait", LOCK(sum.max_ns)), \
	{ .id = "longest_at_ns", .title = "LONGEST AT", .kind = VALUE_TIME, .width = 12, .priority = 6, \
	  .help = "when the longest wait began", .get = LOCK(sum.longest_at_ns) }
#define COLUMNS_OF_HOLDER \
	COLUMN_N("earlier_ns", "EARLIER", VALUE_NS, 0, 0, \
		 "of the time, before this holder had the lock: other threads held it", LOCK(sum.earlier_ns)), \
	COLUMN_N("holder_ran_ns", "RAN", VALUE_NS, 0, 0, "of the time, the holder was on a CPU", LOCK(ran_ns)), \
	COLUMN_N("holder_runq_ns", "RUNQ", VALUE_NS, 0, 0, "of the time, the holder waited for a CPU", \
		 LOCK(runnable_ns)), \
	COLUMN_N("holder_blocked_ns", "BLOCKED", VALUE_NS, 0, 0, \
		 "of the time, the holder was blocked: on a disk, a socket, another lock, or asleep", \
		 LOCK(blocked_ns)), \
	COLUMN_N("holder_unknown_ns", "UNKNOWN", VALUE_NS, 0, 0, \
		 "of the time, what the holder did is unknown: events were lost, or it waited too often", \
		 LOCK(unknown_ns))

static const struct column lock_columns[] = {
	COLUMN_HOST,
	COLUMN_FLEX("lock", "LOCK", 14, "address of the futex in the process, or the locked file", COMMON(name)),
	COLUMN_T("kind", "KIND", 6, 7, "futex; flock: flock(); record: fcntl() with F_SETLKW; (others): of the many "
		 "locks of a second, those beyond its limit", LOCK(kind)),
	COLUMN_ID("pid", "PID", 7, 4, "process of the waiters; null: several", COMMON(pid)),
	COLUMN_T("comm", "PROCESS", 15, 3, "its name", COMMON(comm)),
	COLUMNS_OF_WAITS,
	COLUMN_N("waiters", "WAITERS", VALUE_COUNT, 7, 5, "threads that waited", LOCK(n_waiters)),
	COLUMN_N("holders", "HOLDERS", VALUE_COUNT, 7, 6, "threads that released it and woke one of these",
		 LOCK(n_holders)),
	COLUMN_T("holder", "HELD LONGEST BY", 16, 1, "the thread that was waited for the longest", LOCK(with)),
	COLUMN_T("did", "HOLDERS DID", 20, 0, DID, LOCK(did)),
	COLUMNS_OF_HOLDER,
	COLUMN_CONTAINER,
};

static const struct column holder_columns[] = {
	COLUMN_HOST,
	COLUMN_T("role", "ROLE", 6, 0, "held: it released the lock and woke a waiting thread; waited: it was woken so",
		 COMMON(service)),
	COLUMN_ID("pid", "PID", 7, 5, "process id", COMMON(pid)),
	COLUMN_ID("tid", "TID", 7, 3, "thread id", COMMON(tid)),
	COLUMN_T("comm", "THREAD", 15, 0, "the thread's name", COMMON(comm)),
	COLUMNS_OF_WAITS,
	COLUMN_T("with", "MOST WITH", 16, 2, "of a holder: who waited for it the longest; of a waiter: who held the "
		 "lock then", LOCK(with)),
	COLUMN_FLEX("did", "DID", 20, "of a holder: " DID, LOCK(did)),
	COLUMN_T("lock", "LOCK", 14, 4, "address of the futex in the process, or the locked file", COMMON(name)),
	COLUMN_T("kind", "KIND", 6, 7, "futex; flock: flock(); record: fcntl() with F_SETLKW", LOCK(kind)),
	COLUMNS_OF_HOLDER,
	COLUMN_CONTAINER,
};

/* ---- building ---- */

struct building {
	struct rows *rows;
	struct row_map map;
	struct cell_table cells;	/* struct lock_cell: of the range */
};

static bool wanted(const struct building *b, const struct lock_cell *c)
{
	const struct view_query *q = &b->rows->query;
	return query_wants_thread(q, b->rows->tl, c->thread) ||
	       (c->holder != ID_NONE && query_wants_thread(q, b->rows->tl, c->holder));
}

static void add_seconds(struct building *b)
{
	struct range range = range_of(b->rows->tl, &b->rows->query);
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(b->rows->tl, i);
		for (uint32_t k = 0; k < s->n_locks; k++)
			if (wanted(b, &s->locks[k]))
				cell_table_add(&b->cells, cell_layout(CELL_lock), &s->locks[k]);
	}
}

static const char *kind_word(uint32_t kind)
{
	static const char *const words[] = {
		[LOCK_FUTEX] = "futex", [LOCK_FLOCK] = "flock", [LOCK_RECORD] = "record",
		[LOCK_LEFT_OUT] = LEFT_OUT_NAME,
	};
	return kind < G_N_ELEMENTS(words) ? words[kind] : NULL;
}

static const char *lock_word(struct rows *rows, const struct lock_cell *c)
{
	const struct file_info *f = timeline_file(rows->tl, c->file);
	g_autofree char *address = g_strdup_printf("0x%" G_GINT64_MODIFIER "x", c->address);
	if (c->kind == LOCK_LEFT_OUT)
		return LEFT_OUT_NAME;
	return c->kind == LOCK_FUTEX ? rows_text(rows, address) : f ? timeline_string(rows->tl, f->path) : NULL;
}

/* A futex is one of the process. */
static uint64_t lock_key_of(const struct timeline *tl, const struct lock_cell *c)
{
	uint64_t key = key_int(key_int(0, c->kind), c->address);
	bool file = lock_is_of_file(c->kind);
	return key_int(key, file ? c->file : group_key(tl, BY_PROCESS, c->thread));
}

static void add_other(GHashTable **all, uint32_t thread, int64_t ns)
{
	if (!*all)
		*all = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	struct with_thread *o = g_hash_table_lookup(*all, GUINT_TO_POINTER(thread + 1));
	if (!o) {
		o = g_new0(struct with_thread, 1);
		o->thread = thread;
		g_hash_table_insert(*all, GUINT_TO_POINTER(thread + 1), o);
	}
	o->ns += ns;
}

static void add_cell(struct lock_row *r, const struct lock_cell *c)
{
	cell_sum_add(CELL_lock, &r->sum, c);
	add_other(&r->waiters, c->thread, c->total_ns);
	add_other(&r->holders, c->holder, c->total_ns);
}

/* The thread with the most time; of equal ones the first by name. */
static const char *most(struct rows *rows, GHashTable *all)
{
	int64_t until = rows->query.to_ns ? rows->query.to_ns : INT64_MAX, ns = -1;
	const char *name = NULL;
	TABLE_EACH(each, all) {
		const struct with_thread *o = each.value;
		if (o->ns < ns)
			continue;
		const char *label = o->thread == ID_NONE ? "unknown" : thread_label(rows, o->thread, until);
		if (o->ns > ns || strcmp(label, name) < 0)
			name = label;
		ns = o->ns;
	}
	return name;
}

struct deed { const char *word; int64_t ns; };

static int compare_deeds(const void *va, const void *vb)
{
	const struct deed *a = va, *b = vb;
	return ORDER(b->ns, a->ns) ?: strcmp(a->word, b->word);
}

#define DEEDS 3		/* words of the longest ones */

/* "disk 61%, ran 30%, preempted 9%" */
static const char *did(struct rows *rows, const struct lock_row *r)
{
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct deed));
	g_autoptr(GString) text = g_string_new(NULL);
	struct deed d = { "ran", r->sum.ran_ns };
	int64_t sum = r->sum.ran_ns;
	g_array_append_val(all, d);
	for (enum part p = 0; p < PART_N; p++) {
		d = (struct deed){ part_word_of_threads(r->c.row.missing, p), r->sum.part[p] };
		g_array_append_val(all, d);
		sum += r->sum.part[p];
	}
	g_array_sort(all, compare_deeds);
	for (guint i = 0; i < DEEDS && sum > 0; i++) {
		d = g_array_index(all, struct deed, i);
		int percent = (int)(100.0 * (double)d.ns / (double)sum + 0.5);
		if (percent > 0)
			g_string_append_printf(text, "%s%s %d%%", text->len ? ", " : "", d.word, percent);
	}
	return text->len ? rows_text(rows, text->str) : NULL;
}

/* Locks of files may be of several processes. */
static void name_process(struct lock_row *r, const struct building *b, const struct lock_cell *c)
{
	const struct thread_info *t = timeline_thread(b->rows->tl, c->thread);
	const struct process_info *p = t ? timeline_process(b->rows->tl, t->process) : NULL;
	if (p && p->pid == r->c.pid)
		return;
	r->c.pid = r->c.row.drill.pid = -1;
	r->c.comm = r->c.container = NULL;
}

static struct lock_row *row_of(struct building *b, uint64_t key, const struct lock_cell *c, uint32_t thread)
{
	bool is_new, of_file = lock_is_of_file(c->kind);
	struct lock_row *r = row_map_get(&b->map, key, sizeof *r, &is_new);
	if (!is_new) {
		if (of_file && b->rows->query.by == BY_PROCESS)
			name_process(r, b, c);
		return r;
	}
	group_fill(&r->c, b->rows, thread);
	r->c.name = lock_word(b->rows, c);
	r->kind = kind_word(c->kind);
	uint64_t names = of_file && b->rows->query.by == BY_PROCESS ? key_text(0, r->c.host) : r->c.row.key[0];
	r->c.row.key[0] = key_text(key_text(names, r->c.name), r->kind);
	return r;
}

static void end_row(struct building *b, struct lock_row *r, bool by_holder)
{
	r->n_waiters = g_hash_table_size(r->waiters);
	r->n_holders = g_hash_table_size(r->holders);
	r->with = most(b->rows, by_holder ? r->holders : r->waiters);
	r->did = did(b->rows, r);
	r->avg_ns = r->sum.waits ? r->sum.total_ns / r->sum.waits : FIGURE_NONE;
	r->ran_ns = r->sum.ran_ns;
	r->runnable_ns = part_sum_runnable(r->sum.part);
	r->blocked_ns = part_sum_blocked(r->sum.part);
	r->unknown_ns = r->sum.part[PART_UNKNOWN];
	memcpy(r->c.part, r->sum.part, sizeof r->c.part);
	g_clear_pointer(&r->waiters, g_hash_table_unref);
	g_clear_pointer(&r->holders, g_hash_table_unref);
}

/* Says what is left out where there were too many. */
static void describe(struct rows *rows)
{
	for (guint i = 0; i < rows->rows->len && !rows->about; i++)
		if (!g_strcmp0(ROW(rows->rows->pdata[i])->kind, LEFT_OUT_NAME))
			rows->about = rows_text(rows, "A second had more locks, waiters and holders than are told "
						"apart: " LEFT_OUT_NAME " has the waits of the rest");
}

static struct rows *finish(struct building *b)
{
	row_map_clear(&b->map);
	cell_table_clear(&b->cells, cell_layout(CELL_lock));
	common_finish(b->rows, NULL);
	describe(b->rows);
	return b->rows;
}

static struct building begin(const struct timeline *tl, const struct view_query *query, enum view_by by)
{
	struct building b = { .rows = rows_new(tl, query) };
	b.rows->query.by = by;
	b.map.rows = b.rows;
	add_seconds(&b);
	return b;
}

static struct rows *build_locks(const struct timeline *tl, const struct view_query *query)
{
	struct building b = begin(tl, query, BY_PROCESS);
	for (uint32_t i = 0; i < b.cells.n; i++) {
		const struct lock_cell *c = cell_table_at(&b.cells, cell_layout(CELL_lock), i);
		add_cell(row_of(&b, lock_key_of(tl, c), c, c->thread), c);
	}
	PTR_EACH(struct lock_row, r, b.rows->rows)
		end_row(&b, r, true);
	return finish(&b);
}

static void add_role(struct building *b, const struct lock_cell *c, uint32_t thread, bool held)
{
	uint64_t key = key_int(key_int(lock_key_of(b->rows->tl, c), thread), held);
	struct lock_row *r = row_of(b, key, c, thread);
	r->c.service = held ? "held" : "waited";
	r->held = held;
	add_cell(r, c);
}

static struct rows *build_holders(const struct timeline *tl, const struct view_query *query)
{
	struct building b = begin(tl, query, BY_THREAD);
	for (uint32_t i = 0; i < b.cells.n; i++) {
		const struct lock_cell *c = cell_table_at(&b.cells, cell_layout(CELL_lock), i);
		add_role(&b, c, c->thread, false);
		if (c->holder != ID_NONE)
			add_role(&b, c, c->holder, true);
	}
	PTR_EACH(struct lock_row, r, b.rows->rows) {
		end_row(&b, r, !r->held);
		if (!r->held) {		/* what a waiter did is in other views */
			r->did = NULL;
			r->ran_ns = r->runnable_ns = r->blocked_ns = r->unknown_ns = FIGURE_NONE;
		}
		r->c.row.key[0] = key_text(r->c.row.key[0], r->c.service);
		r->c.row.drill.from_ns = r->sum.longest_at_ns;
		r->c.row.drill.to_ns = r->sum.longest_at_ns + r->sum.max_ns;
	}
	return finish(&b);
}

static const char *const needs[] = { "sched_switch", NEED_WAKEUPS, NEED_SYSCALLS, NEED_CALLERS, NULL };

const struct view view_locks = {
	.only = ONLY_THREADS,
	.id = "locks", .title = "Locks",
	.help = "Locks that threads waited for, futexes and locks of files: how often, how long, who held them, and "
		"what the holders did meanwhile. A wait on a futex counts if the waker released it as a lock; waits "
		"for a condition, a semaphore or a thread's end do not. A wait counts in the second in which it "
		"ended. That a thread got a lock without a wait is not seen.",
	.columns = lock_columns, .n_columns = G_N_ELEMENTS(lock_columns),
	.default_sort = "total_ns", .nothing = "no thread waited for a lock in this range", .drill = "holders",
	.needs = needs, .default_by = BY_PROCESS, .on_screen = true, .reads = READS(lock), .build = build_locks,
};

const struct view view_holders = {
	.only = ONLY_THREADS,
	.id = "holders", .title = "Lock holders",
	.help = "Threads that held locks while others waited, and those that waited, one row for each thread and lock. "
		"Enter goes to the longest wait: to the request of the thread, else to its timeline.",
	.columns = holder_columns, .n_columns = G_N_ELEMENTS(holder_columns),
	.default_sort = "total_ns", .nothing = "no thread waited for a lock in this range",
	.needs = needs, .default_by = BY_THREAD, .on_screen = true, .reads = READS(lock), .build = build_holders,
};
