/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Losses of each stream, and the command that reduces them.
 */
#include "views/common.h"
#include "views/registry.h"
#include "views/repairs.h"

#include "base/timefmt.h"

struct loss_row {
	struct common c;
	uint32_t cpu;			/* UINT32_MAX: unknown */
	bool kernel;
	uint64_t count, events, packets;
	int64_t lost_ns;
	uint64_t early;
	int64_t back_ns;
	double seconds;
};

#define ROW(row) ((const struct loss_row *)(row))

static GETTER(get_domain)
{
	return value_text(ROW(row)->kernel ? "kernel" : "user space");
}

/* Null if packets were overwritten: the number of their events is unknown. */
static GETTER(get_lost_events)
{
	const struct loss_row *r = ROW(row);
	return r->events ? value_int(VALUE_COUNT, r->events) : value_none();
}

static GETTER(get_lost_ratio)
{
	const struct loss_row *r = ROW(row);
	return value_ratio((double)r->lost_ns / NS_PER_S / r->seconds);
}

/* The tracer discards events if the ring is full. It loses packets if it overwrites the ring, or if a reader or live
 * viewer is too slow. More and larger sub-buffers help in all cases; how large, the doctor says from the packets. */
static GETTER(get_repair)
{
	const struct loss_row *r = ROW(row);
	/* Of a gap between slices, and in the middle of a loss, nothing is counted. */
	return r->events || r->packets ? value_text(repair_for_losses()) : value_none();
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_T("domain", "DOMAIN", 10, 0, "kernel or user space", get_domain),
	COLUMN_ID("cpu", "CPU", 4, 0, "CPU of the stream", MEMBER(struct loss_row, cpu)),
	COLUMN_ID("pid", "PID", 7, 3, "process that owns the buffers; null: shared by all", COMMON(pid)),
	COLUMN_N("losses", "LOSSES", VALUE_COUNT, 7, 1, "times that something was lost",
		 MEMBER(struct loss_row, count)),
	COLUMN_N("events", "EVENTS", VALUE_COUNT, 8, 0, "events lost; null: the tracer does not say",
		 get_lost_events),
	COLUMN_N("packets", "PACKETS", VALUE_COUNT, 8, 0, "packets lost", MEMBER(struct loss_row, packets)),
	COLUMN_N("lost_ns", "DARK", VALUE_NS, 8, 2, "how long the stream is not to be trusted",
		 MEMBER(struct loss_row, lost_ns)),
	COLUMN_N("lost_ratio", "DARK%", VALUE_RATIO, 6, 2, "share of the range", get_lost_ratio),
	COLUMN_FLEX("repair", "TO LOSE LESS", 20, "what to do before the session is started again; null: no loss "
		    "of the tracer's is counted in the range", get_repair),
	COLUMN_N("early_events", "EARLY", VALUE_COUNT, 0, 0, "events stamped earlier than one before them: the clock "
		 "of the stream went back", MEMBER(struct loss_row, early)),
	COLUMN_OPTIONAL("clock_back_ns", "CLOCK BACK", VALUE_NS, 10, 1, "how far the clock of the stream went back, at "
			"most; null: it did not", MEMBER(struct loss_row, back_ns, .none = IF_ZERO)),
};

static void add_cell(struct row_map *map, const struct loss_cell *cell, double seconds)
{
	struct rows *rows = map->rows;
	const struct host_info *host = timeline_host(rows->tl, cell->host);
	uint64_t key = key_int(key_int(key_int(cell->host, cell->kernel), cell->cpu),
			       (uint64_t)cell->vpid);
	bool is_new;
	struct loss_row *r = row_map_get(map, key, sizeof(*r), &is_new);
	if (is_new) {
		r->c.host = host ? host->name : NULL;
		r->c.boot = host ? host->boot : NULL;
		r->c.pid = cell->vpid;
		r->c.row.key[0] = key_int(key_int(key_int(key_text(0, r->c.host), cell->kernel),
						  cell->cpu), (uint64_t)cell->vpid);
		r->cpu = cell->cpu;
		r->kernel = cell->kernel;
		r->seconds = seconds;
	}
	r->count += cell->count;
	r->events += cell->events;
	r->packets += cell->packets;
	r->lost_ns += cell->ns;
	r->early += cell->early;
	r->back_ns = MAX(r->back_ns, cell->back_ns);
}

static int compare(const void *va, const void *vb)
{
	const struct loss_row *a = *(const struct loss_row *const *)va;
	const struct loss_row *b = *(const struct loss_row *const *)vb;
	int order = g_strcmp0(a->c.host, b->c.host);
	if (!order)
		order = b->kernel - a->kernel;
	if (!order)
		order = (a->cpu > b->cpu) - (a->cpu < b->cpu);
	return order ? order : (a->c.pid > b->c.pid) - (a->c.pid < b->c.pid);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++) {
		const struct second *s = timeline_second(tl, i);
		for (uint32_t k = 0; k < s->n_losses; k++)
			if (query->host == ID_NONE || s->losses[k].host == query->host)
				add_cell(&map, &s->losses[k], range.seconds);
	}
	row_map_clear(&map);
	common_finish(map.rows, compare);
	return map.rows;
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
