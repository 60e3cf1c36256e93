/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Makes the cells of a second from those of a bin: maps ids of the slice to ids of the registries, and fills in what
 * depends on names. Cells that get the same key are added.
 */
#include "state/kernel/bin.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/unknown_calls.h"
#include "state/names/irq_text.h"
#include "state/names/names.h"
#include "state/publish/publisher.h"

struct second_maker {			/* state while one second is made */
	struct publisher *p;
	struct slice *s;
	struct names *names;
	struct second *second;
	struct cell_table table[CELL_KIND_N];	/* by cell_layout() */
	const struct bin *bin;	/* what it is made from */
	struct intmap irqs;	/* cache of irq_text() */
	struct intmap plain;	/* thread of the registry -> string: the name of its plain reads, or SEVERAL */
	bool has_plain;		/* .plain is made */
	bool provisional;	/* a later fact may change a cell */
};

static struct thread_cell *thread_cell(struct second_maker *m, uint32_t id)
{
	return cell_table_get(&m->table[CELL_thread], cell_layout(CELL_thread), &id, NULL);
}

/* Maps the thread of a cell to its registry id. False: it is an idle task. */
static bool resolve_thread(struct second_maker *m, uint32_t *thread)
{
	bool idle;

	*thread = publisher_thread(m->p, *thread, &idle);
	return !idle;
}

static uint32_t name_of_irq(struct second_maker *m, uint32_t host, uint32_t code)
{
	return irq_text(&m->irqs, m->s, m->names, host, code);
}

/*
 * ---- each kind ----
 *
 * Changes a bin's cell (or a copy that borrows its histograms) to one of a second. False: the cell is left out.
 */

static void add_parts(struct second_maker *m, struct thread_cell *c, uint32_t thread, const int64_t *part)
{
	int64_t all[PART_N];

	memcpy(all, part, sizeof all);
	all[PART_USER] += part[PART_UNRESOLVED_RUN] + part[PART_LOST_RUN];
	all[PART_OTHER] += part[PART_UNRESOLVED_BLOCK] + part[PART_LOST_BLOCK] + part[PART_RESTART_BLOCK];
	if (thread_at(m->s, thread_follow(m->s, thread))->tid == -1) {	/* views of CPUs do not know either what ran */
		int64_t sum = 0;
		for (unsigned i = 0; i < PART_N; i++)
			sum += all[i];
		memset(all, 0, sizeof all);
		all[PART_UNKNOWN] = sum;
	} else if (names_is_kernel(m->names, thread)) {	/* no user mode, no page faults */
		all[PART_KERNEL] += all[PART_USER] + all[PART_SYSCALL];
		all[PART_OTHER] += all[PART_FAULT];
		all[PART_USER] = all[PART_SYSCALL] = all[PART_FAULT] = 0;
	}
	parts_are_unknown(m->s, all);
	for (unsigned i = 0; i < PART_N; i++)
		c->part[i] += all[i];
}

static bool is_empty(const struct built_thread_cell *x)
{
	for (unsigned i = 0; i < PART_SLICE_N; i++)
		if (x->part[i])
			return false;
	return !x->syscalls && !x->read_bytes && !x->write_bytes;
}

static void make_thread(struct second_maker *m, const void *built)
{
	const struct built_thread_cell *x = built;
	uint32_t id = x->thread;

	bool nothing = is_empty(x) && !thread_names_itself(m->s, thread_at(m->s, x->thread));
	if (nothing || !resolve_thread(m, &id))
		return;
	struct thread_cell *c = thread_cell(m, id);
	add_parts(m, c, x->thread, x->part);
	c->syscalls += x->syscalls;
	c->errors += x->errors;
	for (unsigned d = 0; d <= IO_DIR_WRITE; d++)
		c->unsized[d] += x->unsized[d];
	c->read_bytes += x->read_bytes;
	c->write_bytes += x->write_bytes;
	m->provisional |= names_process(m->names, x->thread) == ID_NONE;
}

static bool has_calls(const struct built_file_cell *x)
{
	for (unsigned d = 0; d < IO_DIR_BUILT_N; d++)
		if (hist_count(&x->latency[d]))
			return true;
	return false;
}

#define SEVERAL (UINT32_MAX - 1)		/* INTMAP_NONE is UINT32_MAX */

/* Which call's the plain reads of files are: cells of files do not have the name. */
static void find_plain(struct second_maker *m)
{
	const struct cell_table *calls = &m->bin->table[CELL_call];
	struct intmap names = { 0 };		/* string -> 1: of a plain read; 0: not */

	m->has_plain = true;
	for (uint32_t i = 0; i < calls->n; i++) {
		const struct call_cell *c = cell_table_at(calls, built_layout(CELL_call), i);
		uint32_t id = c->thread, is_plain = intmap_get(&names, c->name);
		if (is_plain == INTMAP_NONE) {
			is_plain = call_info(strtab_get(m->s->strings, c->name))->dir == IO_DIR_PLAIN;
			intmap_set(&names, c->name, is_plain);
		}
		if (!is_plain || (!c->busy_ns && !hist_count(&c->latency)) || !resolve_thread(m, &id))
			continue;
		uint32_t other = intmap_get(&m->plain, id);
		intmap_set(&m->plain, id, other == INTMAP_NONE || other == c->name ? c->name : SEVERAL);
	}
	intmap_clear(&names);
}

static void add_plain(struct second_maker *m, const struct built_file_cell *x, uint32_t id, uint32_t file)
{
	if (!x->plain_ns && !hist_count(&x->latency[IO_DIR_PLAIN]))
		return;
	if (!m->has_plain)
		find_plain(m);
	uint32_t name = intmap_get(&m->plain, id);
	if (name >= SEVERAL)
		return;
	const struct wait_cell w = {
		.thread = id, .name = name, .wait = names_wait_of(m->names, file), .errors = x->plain_errors,
		.busy_ns = x->plain_ns, .latency = x->latency[IO_DIR_PLAIN],
	};
	cell_table_add(&m->table[CELL_wait], cell_layout(CELL_wait), &w);
}

static void make_file(struct second_maker *m, const void *built)
{
	const struct built_file_cell *x = built;
	uint32_t id = x->thread;

	if (!resolve_thread(m, &id))
		return;
	uint32_t file = names_file(m->names, x->thread, x->fd, x->seq);
	enum file_kind kind = names_file_info(m->names, file)->kind;
	m->provisional |= kind == FILE_UNKNOWN;
	if (x->blocked_ns)
		thread_cell(m, id)->part[part_is_unknown(m->s, names_part_of(kind))] += x->blocked_ns;
	add_plain(m, x, id, file);
	if (!has_calls(x))
		return;
	struct file_cell c = { .thread = id, .file = file, .fd_low = x->fd, .fd_high = x->fd, .errors = x->errors,
				.submitted = x->submitted };
	memcpy(c.untold, x->untold, sizeof c.untold);
	memcpy(c.unsized, x->unsized, sizeof c.unsized);
	memcpy(c.bytes, x->bytes, sizeof c.bytes);
	memcpy(c.asked, x->asked, sizeof c.asked);
	memcpy(c.latency, x->latency, sizeof c.latency);
	cell_table_add(&m->table[CELL_file], cell_layout(CELL_file), &c);
	struct file_cell *made = cell_table_get(&m->table[CELL_file], cell_layout(CELL_file), &c.key, NULL);
	hist_merge(&made->latency[IO_DIR_READ], &x->latency[IO_DIR_PLAIN]);
}

/* Figures of a cell in a bin, or of two, as one cell of the second. */
static void make_lock(struct second_maker *m, const void *built)
{
	const struct built_lock_cell *x = built;
	struct lock_cell c = {
		.thread = x->thread, .holder = x->holder, .address = x->address, .file = ID_NONE,
		.kind = (uint32_t)x->kind,
		.waits = x->waits, .total_ns = x->total_ns, .longest_at_ns = x->longest_at_ns, .max_ns = x->max_ns,
		.earlier_ns = x->earlier_ns, .ran_ns = x->ran_ns,
	};

	memcpy(c.part, x->part, sizeof c.part);
	if (!resolve_thread(m, &c.thread) || !resolve_thread(m, &c.holder))
		return;
	if (x->fd >= 0) {
		c.file = names_file(m->names, x->thread, x->fd, x->seq);
		m->provisional |= names_file_info(m->names, c.file)->kind == FILE_UNKNOWN;
	}
	if (x->held_fd >= 0) {
		uint32_t file = names_file(m->names, x->holder, x->held_fd, x->held_seq);
		enum file_kind kind = names_file_info(m->names, file)->kind;
		c.part[names_part_of(kind)] += x->blocked_ns;
		m->provisional |= kind == FILE_UNKNOWN;
	} else {
		c.part[PART_OTHER] += x->blocked_ns;
	}
	cell_table_add(&m->table[CELL_lock], cell_layout(CELL_lock), &c);
}

static bool make_of_thread(struct second_maker *m, void *cell)
{
	return resolve_thread(m, cell);	/* the first field is the thread */
}

static bool make_cpu(struct second_maker *m, void *cell)
{
	struct cpu_cell *c = cell;

	if (!m->s->has_switches) {	/* contexts show which thread ran, but not until when */
		c->unknown_ns += c->run_ns + c->idle_ns;
		c->run_ns = c->idle_ns = c->irq_ns = 0;
	}
	return c->run_ns || c->idle_ns || c->unknown_ns || c->irq_ns;
}

static bool make_ran(struct second_maker *m, void *cell)
{
	return m->s->has_switches && make_of_thread(m, cell);
}

static bool make_sched(struct second_maker *m, void *cell)
{
	const struct sched_cell *c = cell;

	if (!make_of_thread(m, cell))
		return false;
	hist_merge(&m->second->wakeup, &c->wakeup);
	return true;
}

static bool make_irq(struct second_maker *m, void *cell)
{
	struct irq_cell *c = cell;

	c->name = name_of_irq(m, c->host, c->code);
	return true;
}

static bool make_stolen(struct second_maker *m, void *cell)
{
	struct stolen_cell *c = cell;

	c->name = name_of_irq(m, thread_at(m->s, c->thread)->host, c->code);
	return make_of_thread(m, cell);
}

static bool make_waker(struct second_maker *m, void *cell)
{
	struct waker_cell *c = cell;
	uint32_t host = thread_at(m->s, c->thread)->host;

	if (!make_of_thread(m, cell))
		return false;
	c->idle = !resolve_thread(m, &c->waker);
	c->irq = c->irq ? name_of_irq(m, host, c->irq) : 0;
	return true;
}

static bool make_count(struct second_maker *m, void *cell)
{
	struct count_cell *c = cell;

	c->idle = !resolve_thread(m, &c->thread);
	return true;
}

static bool make_dev(struct second_maker *m, void *cell)
{
	struct dev_cell *c = cell;

	c->name = names_dev(m->names, c->host, c->dev);
	return true;
}

static bool make_dev_user(struct second_maker *m, void *cell)
{
	struct dev_user_cell *c = cell;

	resolve_thread(m, &c->thread);	/* an idle task issues no requests of its own: the thread is unknown */
	c->name = names_dev(m->names, c->host, c->dev);
	return true;
}

/* ---- all kinds ---- */

/* A cell of any kind. */
union any_cell {
#define ANY_CELL(kind, array, list, built) struct kind##_cell kind;
	CELL_KINDS(ANY_CELL)
};

/* .make_other: for kinds whose struct in bins differs. */
static const struct {
	void (*make_other)(struct second_maker *m, const void *built);
	bool (*make)(struct second_maker *m, void *cell);
} makers[CELL_KIND_N] = {
	[CELL_thread] = { .make_other = make_thread }, [CELL_file] = { .make_other = make_file },
	[CELL_lock] = { .make_other = make_lock },
	[CELL_call] = { .make = make_of_thread }, [CELL_wait] = { .make = make_of_thread },
	[CELL_cpu] = { .make = make_cpu },
	[CELL_sched] = { .make = make_sched }, [CELL_ran] = { .make = make_ran }, [CELL_irq] = { .make = make_irq },
	[CELL_stolen] = { .make = make_stolen }, [CELL_waker] = { .make = make_waker },
	[CELL_count] = { .make = make_count }, [CELL_dev] = { .make = make_dev },
	[CELL_dev_user] = { .make = make_dev_user },
};

static void make_kind(struct second_maker *m, const struct bin *b, enum cell_kind kind)
{
	const struct cell_layout *l = built_layout(kind);
	union any_cell cell;

	if (!makers[kind].make_other)		/* nearly every cell gives one cell */
		cell_table_reserve(&m->table[kind], l, b->table[kind].n);
	for (uint32_t i = 0; i < b->table[kind].n; i++) {
		const void *built = cell_table_at(&b->table[kind], l, i);
		if (makers[kind].make_other) {
			makers[kind].make_other(m, built);
			continue;
		}
		memcpy(&cell, built, l->size);
		if (!makers[kind].make || makers[kind].make(m, &cell))
			cell_table_add(&m->table[kind], l, &cell);
	}
}

static void make_slow(struct second_maker *m, const struct bin *b)
{
	struct second *to = m->second;

	g_assert(!to->slow && !to->n_slow);
	to->slow = g_new0(struct slow_call, bin_n_slow(b));
	BIN_EACH_SLOW(b, x) {
		uint32_t id = x->thread;
		if (!resolve_thread(m, &id))
			continue;
		uint32_t file = x->fd < 0 ? ID_NONE : names_file(m->names, x->thread, x->fd, x->seq);
		enum call_wait wait = x->list != SLOW_PLAIN ? x->wait : file == ID_NONE ? CALL_NO_WAIT :
				      names_wait_of(m->names, file);
		to->slow[to->n_slow++] = (struct slow_call){
			.thread = id, .name = x->name, .cpu = x->cpu, .begin_ns = x->begin,
			.duration_ns = x->duration, .ret = x->ret, .wait = wait, .list = x->list, .file = file,
		};
	}
}

/* How much of the second each CPU's losses take, whichever second their events count in. */
static void add_lost_ns(const struct loss *loss, int64_t ns, void *maker)
{
	struct second_maker *m = maker;
	const struct loss_cell key = {
		.host = loss->host, .cpu = loss->stream_cpu, .vpid = loss->vpid, .kernel = loss->kernel,
	};
	struct loss_cell *c = cell_table_get(&m->table[CELL_loss], cell_layout(CELL_loss), &key, NULL);

	c->ns += ns;
	m->second->completeness.lost_ns += ns;
	m->second->completeness.lost_cpus |= UINT64_C(1) << loss->stream_cpu % 64;
}

bool publish_cells(struct publisher *p, const struct bin *b, struct second *to)
{
	struct second_maker m = {
		.p = p, .s = publisher_slice(p), .names = publisher_names(p), .second = to, .bin = b,
	};

	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		make_kind(&m, b, k);
	losses_each(&m.s->losses, to->begin_ns, to->end_ns, add_lost_ns, &m);
	for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
		second_set_cells(to, &m.table[k], k);
	make_slow(&m, b);
	intmap_clear(&m.irqs);
	intmap_clear(&m.plain);
	return m.provisional;
}
