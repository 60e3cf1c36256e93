/* SPDX-License-Identifier: GPL-2.0-only */
/* Adds intervals to cells, split at the borders of seconds; see charge.h. */
#include "state/kernel/charge.h"

#include "state/kernel/bin.h"
#include "state/kernel/cell_cache.h"
#include "state/kernel/coverage.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/thread_logs.h"

#include "base/timefmt.h"

struct charge charge_pieces(const struct slice *s, int64_t from, int64_t to)
{
	return (struct charge){ .end = covered_newest(s, from, to), .to = to };
}

bool charge_next(struct slice *s, struct charge *p)
{
	p->from = p->end;
	if (p->from >= p->to)
		return false;
	p->bin = slice_bin(s, p->from);
	bool dropped = p->from < p->bin->begin || p->from >= p->bin->end;	/* slice_bin() returned another one */
	int64_t end = dropped ? time_floor(p->from, s->step) + s->step : p->bin->end;
	p->at_end = end <= p->to;
	p->end = MIN(end, p->to);
	g_assert(p->end > p->from);		/* else callers would not advance */
	return true;
}

void charge_part(struct slice *s, struct thread *t, unsigned part, int64_t from, int64_t to)
{
	struct charge p = charge_pieces(s, from, to);
	while (charge_next(s, &p))
		cell_of_thread(s, p.bin, t)->part[part] += p.end - p.from;
}

void charge_fd(struct slice *s, struct thread *t, const struct call *c, int64_t from, int64_t to)
{
	if (!slice_reads(s, CELL_file))
		return;
	struct charge p = charge_pieces(s, from, to);
	while (charge_next(s, &p))
		cell_of_file(s, p.bin, t, c)->blocked_ns += p.end - p.from;
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
	struct charge p = charge_pieces(s, c->busy_from, to);
	while (charge_next(s, &p)) {
		struct call_cell *b = cell_of_call(s, p.bin, t, c->name);
		b->busy_ns += p.end - p.from;
		charge_wait(s, p.bin, t, c, p.end - p.from);
		b->unfinished |= p.at_end;	/* pending at this second's end */
	}
	c->busy_from = MAX(c->busy_from, to);
}

void charge_cpu(struct slice *s, struct cpu *c, enum cpu_kind kind, struct thread *task, int64_t from, int64_t to)
{
	struct charge p = charge_pieces(s, from, to);
	while (charge_next(s, &p)) {
		*cpu_figure(s, p.bin, c, kind) += p.end - p.from;
		if (kind == CPU_RUN)
			*ran_figure(s, p.bin, task, c->number) += p.end - p.from;
	}
}
