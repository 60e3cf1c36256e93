/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Losses of each stream, and the command that reduces them.
 */
#include "views/cell_rows.h"
#include "views/registry.h"
#include "views/repairs.h"

#include "base/sort.h"
#include "base/timefmt.h"

struct loss_row {
	struct common c;
	uint32_t cpu;			/* UINT32_MAX: unknown */
	bool kernel;
	struct loss_sum sum;
	double ratio;
	/* The tracer discards events if the ring is full. It loses packets if it overwrites the ring, or if a reader or
	 * live viewer is too slow. More and larger sub-buffers help in all cases; how large, the doctor says from the
	 * packets. NULL: nothing is counted. */
	const char *repair;
};

static const char *const domains[] = { "user space", "kernel" };

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_T("domain", "DOMAIN", 10, 0, "kernel or user space", MEMBER(struct loss_row, kernel, .words = domains)),
	COLUMN_ID("cpu", "CPU", 4, 0, "CPU of the stream", MEMBER(struct loss_row, cpu)),
	COLUMN_ID("pid", "PID", 7, 3, "process that owns the buffers; null: shared by all", COMMON(pid)),
	COLUMN_N("losses", "LOSSES", VALUE_COUNT, 7, 1, "times that something was lost",
		 MEMBER(struct loss_row, sum.count)),
	COLUMN_N("events", "EVENTS", VALUE_COUNT, 8, 0, "events lost; null: the tracer does not say",
		 MEMBER(struct loss_row, sum.events, .none = IF_ZERO)),
	COLUMN_N("packets", "PACKETS", VALUE_COUNT, 8, 0, "packets lost", MEMBER(struct loss_row, sum.packets)),
	COLUMN_N("lost_ns", "DARK", VALUE_NS, 8, 2, "how long the stream is not to be trusted",
		 MEMBER(struct loss_row, sum.ns)),
	COLUMN_N("lost_ratio", "DARK%", VALUE_RATIO, 6, 2, "share of the range", MEMBER(struct loss_row, ratio)),
	COLUMN_FLEX("repair", "TO LOSE LESS", 20, "what to do before the session is started again; null: no loss "
		    "of the tracer's is counted in the range", MEMBER(struct loss_row, repair)),
	COLUMN_N("early_events", "EARLY", VALUE_COUNT, 0, 0, "events stamped earlier than one before them: the clock "
		 "of the stream went back", MEMBER(struct loss_row, sum.early)),
	COLUMN_OPTIONAL("clock_back_ns", "CLOCK BACK", VALUE_NS, 10, 1, "how far the clock of the stream went back, at "
			"most; null: it did not", MEMBER(struct loss_row, sum.back_ns, .none = IF_ZERO)),
};

static void fill(struct rows *rows, void *row, const void *cell)
{
	const struct loss_cell *c = cell;
	struct loss_row *r = row;

	common_host(&r->c, rows, c->host);
	r->c.pid = c->vpid;
	r->c.row.key[0] = key_int(key_int(key_int(key_text(0, r->c.host), c->kernel), c->cpu), (uint64_t)c->vpid);
	r->cpu = c->cpu;
	r->kernel = c->kernel;
}

static void end(struct rows *rows, void *row)
{
	struct loss_row *r = row;

	r->ratio = (double)r->sum.ns / NS_PER_S / rows->seconds;
	/* Of a gap between slices, and in the middle of a loss, nothing is counted. */
	r->repair = r->sum.events || r->sum.packets ? repair_for_losses() : NULL;
}

static int compare(const void *va, const void *vb)
{
	const struct loss_row *a = *(const struct loss_row *const *)va;
	const struct loss_row *b = *(const struct loss_row *const *)vb;
	return g_strcmp0(a->c.host, b->c.host) ?: b->kernel - a->kernel ?: ORDER(a->cpu, b->cpu) ?:
	       ORDER(a->c.pid, b->c.pid);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows losses = {
		.kind = CELL_loss, .size = sizeof(struct loss_row), .sum = offsetof(struct loss_row, sum),
		.fill = fill,
	};
	return cell_rows_build(tl, query, &losses, 1, end, compare);
}

const struct view view_losses = {
	.idle = "without losses",
	.only = ONLY_HOST,
	.id = "losses", .title = "Losses",
	.help = "Events and packets that the tracer lost, by stream: events that did not fit into the "
		"buffers, packets that were overwritten, how long that lasted, and the command that makes the "
		"buffers larger.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "events", .nothing = "no event of this range was lost",
	.on_screen = true, .reads = READS(loss), .build = build,
};
