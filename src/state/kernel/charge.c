/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds intervals to cells, split at the borders of seconds; see charge.h. */
#include "state/kernel/charge.h"

#include "state/kernel/bin.h"
#include "state/kernel/cell_cache.h"
#include "state/kernel/coverage.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_logs.h"

#include "base/timefmt.h"

int64_t charge_end(const struct slice *s, const struct bin *b, int64_t from, int64_t to)
{
	g_assert(from < to);			/* else callers would not advance */
	if (from >= b->begin && from < b->end)
		return MIN(b->end, to);
	return MIN(time_floor(from, s->step) + s->step, to);	/* that bin was dropped */
}

void charge_part(struct slice *s, struct thread *t, unsigned part, int64_t from, int64_t to)
{
	struct bin *b = bin_of_all(s, from, to);
	if (b) {
		cell_of_thread(s, b, t)->part[part] += to - from;
		return;
	}
	from = covered_newest(s, from, to);
	while (from < to) {
		struct bin *at = slice_bin(s, from);
		int64_t end = charge_end(s, at, from, to);
		cell_of_thread(s, at, t)->part[part] += end - from;
		from = end;
	}
}

void charge_fd(struct slice *s, struct thread *t, const struct call *c, int64_t from, int64_t to)
{
	if (!slice_reads(s, CELL_file))
		return;
	struct bin *b = from < to ? bin_of_all(s, from, to) : NULL;
	if (b) {
		cell_of_file(s, b, t, c)->blocked_ns += to - from;
		return;
	}
	from = covered_newest(s, from, to);
	while (from < to) {
		struct bin *at = slice_bin(s, from);
		int64_t end = charge_end(s, at, from, to);
		cell_of_file(s, at, t, c)->blocked_ns += end - from;
		from = end;
	}
}

/* Adds time in a call whose cell of calls does not tell what it waited for. */
static void charge_wait(struct slice *s, struct bin *b, struct thread *t, const struct call *c, int64_t ns)
{
	const struct call_info *info = info_of_call(c);
	if (info->dir == IO_DIR_PLAIN && c->fd >= 0 && slice_reads(s, CELL_file))
		cell_of_file(s, b, t, c)->plain_ns += ns;
	else if (info->dir == IO_DIR_PLAIN || info->futex_args)
		BIN_CELL(s, b, wait, .thread = t->self, .name = c->name,
			 .wait = !info->futex_args || c->restart ? CALL_NO_WAIT : call_futex_wait(c))->busy_ns += ns;
}

void charge_busy(struct slice *s, struct thread *t, struct call *c, int64_t to)
{
	int64_t from = covered_newest(s, c->busy_from, to);
	while (from < to) {
		struct bin *at = slice_bin(s, from);
		int64_t end = charge_end(s, at, from, to);
		struct call_cell *b = cell_of_call(s, at, t, c->name);
		b->busy_ns += end - from;
		charge_wait(s, at, t, c, end - from);
		if (end == charge_end(s, at, from, INT64_MAX))
			b->unfinished = 1;	/* pending at this second's end */
		from = end;
	}
	c->busy_from = MAX(c->busy_from, to);
}

static void add_cpu(struct slice *s, struct bin *b, struct cpu *c, enum cpu_kind kind, struct thread *task, int64_t ns)
{
	*cpu_figure(s, b, c, kind) += ns;
	if (kind == CPU_RUN)
		*ran_figure(s, b, task, c->number) += ns;
}

void charge_cpu(struct slice *s, struct cpu *c, enum cpu_kind kind, struct thread *task, int64_t from, int64_t to)
{
	struct bin *b = from < to ? bin_of_all(s, from, to) : NULL;
	if (b) {
		add_cpu(s, b, c, kind, task, to - from);
		return;
	}
	from = covered_newest(s, from, to);
	while (from < to) {
		struct bin *at = slice_bin(s, from);
		int64_t end = charge_end(s, at, from, to);
		add_cpu(s, at, c, kind, task, end - from);
		from = end;
	}
}
