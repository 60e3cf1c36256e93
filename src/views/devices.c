/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block and network devices: requests or packets, and bytes. For block devices also the time in the queue and at the
 * device, the number of pending requests, and the processes that issued them.
 */
#include "views/common.h"
#include "views/registry.h"

struct dev_row {
	struct common c;		/* name: of the device; latency: time at the device */
	bool net;
	bool users;			/* a row of a process or thread: it has no share of the queue */
	uint32_t dev;
	uint64_t in, out, others, in_bytes, out_bytes;
	uint64_t partial, merges, requeues;
	uint32_t depth_max, queued_max;
	int64_t busy_ns, depth_ns, queued_ns, unknown_ns;
	struct hist queue;
	struct stat queue_stat;
	double seconds;
};

#define ROW(row) ((const struct dev_row *)(row))

static GETTER(get_kind)
{
	return value_text(ROW(row)->net ? "net" : "block");
}

#define AT_DEVICE (MISSING_ISSUES | MISSING_COMPLETIONS)
#define IN_QUEUE (MISSING_INSERTS | MISSING_ISSUES)

/* Null if the events that the value needs are missing: `block` for block devices, `net` for network devices. 0: such
 * devices do not have the value. */
static struct value when_recorded(const struct row *row, const struct rows *rows, unsigned block, unsigned net,
			 struct value value)
{
	unsigned needs = ROW(row)->net ? net : block;
	return needs ? unless_missing(row, rows, needs, value) : value_none();
}

static GETTER(get_in)
{
	return when_recorded(row, rows, AT_DEVICE, MISSING_RECEIVED, value_int(VALUE_COUNT, ROW(row)->in));
}

static GETTER(get_out)
{
	return when_recorded(row, rows, AT_DEVICE, MISSING_SENT, value_int(VALUE_COUNT, ROW(row)->out));
}

static GETTER(get_in_bytes)
{
	return when_recorded(row, rows, AT_DEVICE, MISSING_RECEIVED,
		    value_int(VALUE_BYTES, ROW(row)->in_bytes));
}

static GETTER(get_out_bytes)
{
	return when_recorded(row, rows, AT_DEVICE, MISSING_SENT, value_int(VALUE_BYTES, ROW(row)->out_bytes));
}

static GETTER(get_failed)
{
	return when_recorded(row, rows, AT_DEVICE, MISSING_TAKEN, get_errors(row, rows));
}

static struct value of_device(const struct row *row, const struct rows *rows, unsigned needs,
			      enum value_kind kind, int64_t n)
{
	return ROW(row)->users ? value_none() : when_recorded(row, rows, needs, 0, value_int(kind, n));
}

static GETTER(get_dev_total)
{
	return when_recorded(row, rows, AT_DEVICE, 0, value_int(VALUE_NS, ROW(row)->c.stat.total));
}

static GETTER(get_others)
{
	return when_recorded(row, rows, AT_DEVICE, 0, value_int(VALUE_COUNT, ROW(row)->others));
}

static GETTER(get_partial)
{
	return of_device(row, rows, AT_DEVICE, VALUE_COUNT, ROW(row)->partial);
}

static GETTER(get_merges)
{
	return of_device(row, rows, MISSING_MERGES, VALUE_COUNT, ROW(row)->merges);
}

static GETTER(get_requeues)
{
	return of_device(row, rows, MISSING_REQUEUES, VALUE_COUNT, ROW(row)->requeues);
}

static GETTER(get_depth_max)
{
	return of_device(row, rows, AT_DEVICE, VALUE_COUNT, ROW(row)->depth_max);
}

static GETTER(get_queued_max)
{
	return of_device(row, rows, IN_QUEUE, VALUE_COUNT, ROW(row)->queued_max);
}

/* Time during which the number of pending requests is known. */
static double known_ns(const struct row *row)
{
	return ROW(row)->seconds * 1e9 - (double)ROW(row)->unknown_ns;
}

static struct value of_depth(const struct row *row, const struct rows *rows, unsigned needs, int64_t ns)
{
	return known_ns(row) < 1 ? value_none() : of_device(row, rows, needs, VALUE_NS, ns);
}

static GETTER(get_busy)
{
	return of_depth(row, rows, AT_DEVICE, ROW(row)->busy_ns);
}

static GETTER(get_depth_ns)
{
	return of_depth(row, rows, AT_DEVICE, ROW(row)->depth_ns);
}

static GETTER(get_queued_ns)
{
	return of_depth(row, rows, IN_QUEUE, ROW(row)->queued_ns);
}

static struct value over_time(const struct row *row, struct value ns)
{
	return ns.kind == VALUE_NONE ? ns : value_ratio((double)ns.i / known_ns(row));
}

static GETTER(get_busy_ratio)
{
	return over_time(row, get_busy(row, rows));
}

static GETTER(get_depth_ratio)
{
	return over_time(row, get_depth_ns(row, rows));
}

static GETTER(get_queued_ratio)
{
	return over_time(row, get_queued_ns(row, rows));
}

static struct value queue_ns(const struct row *row, int64_t ns)
{
	return ROW(row)->queue_stat.count ? value_int(VALUE_NS, ns) : value_none();
}

static GETTER(get_queue_total)
{
	return queue_ns(row, ROW(row)->queue_stat.total);
}

static GETTER(get_queue_p50)
{
	return queue_ns(row, ROW(row)->queue_stat.p50);
}

static GETTER(get_queue_p99)
{
	return queue_ns(row, ROW(row)->queue_stat.p99);
}

static GETTER(get_queue_max)
{
	return queue_ns(row, ROW(row)->queue_stat.max);
}

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_T("kind", "KIND", 5, 7, "block or net", get_kind),
	COLUMN_FLEX("device", "DEVICE", 10, "the device, or major:minor", COMMON(name)),
	COLUMN_N("reads", "READS", VALUE_COUNT, 7, 0, "requests that read; packets received", get_in),
	COLUMN_N("writes", "WRITES", VALUE_COUNT, 7, 0, "requests that write; packets sent", get_out),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 3, "requests that failed; packets refused by the device",
		 get_failed),
	COLUMN_N("read_bytes", "READ", VALUE_BYTES, 6, 1, "bytes read or received", get_in_bytes),
	COLUMN_N("write_bytes", "WRITTEN", VALUE_BYTES, 7, 1, "bytes written or sent", get_out_bytes),
	COLUMN_N("busy_ratio", "UTIL%", VALUE_RATIO, 6, 2,
		 "share of the time in which a request was at the device; where that is not known, of the rest",
		 get_busy_ratio),
	COLUMN_N("depth_ratio", "DEPTH", VALUE_RATIO, 6, 6,
		 "mean number of requests at the device; 100 % is one", get_depth_ratio),
	COLUMN_N("depth_max", "DMAX", VALUE_COUNT, 4, 8, "most requests at the device at once", get_depth_max),
	COLUMN_N("queue_p50_ns", "Qp50", VALUE_NS, 0, 0, "half of them wait at most this to be issued" PERCENTILE_BOUND,
		 get_queue_p50),
	COLUMN_N("queue_p99_ns", "Qp99", VALUE_NS, 7, 5, "99 % of them wait at most this to be issued" PERCENTILE_BOUND,
		 get_queue_p99),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 4, "sum of the latencies", get_dev_total),
	COLUMNS_QUANTILES(7, "request, from issue to completion"),
	COLUMN_N("queue_total_ns", "QTOTAL", VALUE_NS, 0, 0, "sum of the times from insert to issue",
		 get_queue_total),
	COLUMN_N("queue_max_ns", "QMAX", VALUE_NS, 0, 0, "longest time from insert to issue", get_queue_max),
	COLUMN_N("queued_ratio", "QUEUED", VALUE_RATIO, 0, 0,
		 "mean number of requests waiting to be issued; 100 % is one", get_queued_ratio),
	COLUMN_N("queued_max", "QDMAX", VALUE_COUNT, 0, 0, "most requests waiting at once", get_queued_max),
	COLUMN_N("busy_ns", "BUSY", VALUE_NS, 0, 0, "time with a request at the device", get_busy),
	COLUMN_N("depth_ns", "DEPTHNS", VALUE_NS, 0, 0, "requests at the device, summed over time",
		 get_depth_ns),
	COLUMN_N("queued_ns", "QUEUEDNS", VALUE_NS, 0, 0, "requests waiting, summed over time",
		 get_queued_ns),
	COLUMN_N("others", "OTHERS", VALUE_COUNT, 0, 0, "requests that flush or discard", get_others),
	COLUMN_N("merges", "MERGED", VALUE_COUNT, 0, 0, "requests that became part of another", get_merges),
	COLUMN_N("partial", "PARTIAL", VALUE_COUNT, 0, 0, "completions that left a rest under way",
		 get_partial),
	COLUMN_N("requeues", "REQUEUED", VALUE_COUNT, 0, 0, "requests sent back to the queue", get_requeues),
	COLUMN_ID("pid", "PID", 7, 9, "process that requested it, with --by; null: unknown", COMMON(pid)),
	COLUMN_ID("tid", "TID", 0, 0, "thread id, with --by thread", COMMON(tid)),
	COLUMN_T("comm", "PROCESS", 14, 9, "thread that requested it; a kworker writes for other threads, and the "
		 "trace does not say for which", COMMON(comm)),
	COLUMN_CONTAINER,
};

static struct dev_row *row_of(struct row_map *map, uint64_t key, uint32_t host_id, double seconds)
{
	bool is_new;
	struct dev_row *r = row_map_get(map, key, sizeof(*r), &is_new);
	common_host(&r->c, map->rows, host_id);
	r->seconds = seconds;
	return r;
}

static void add_dev(struct row_map *map, const struct dev_cell *cell, double seconds)
{
	uint64_t key = key_int(key_int(0, cell->host), cell->dev);
	struct dev_row *r = row_of(map, key, cell->host, seconds);
	r->c.name = common_device(map->rows, cell->host, cell->dev, cell->name);
	r->c.row.key[0] = key_int(key_text(0, r->c.host), cell->dev);
	r->dev = cell->dev;
	r->in += cell->requests[BLOCK_READ];
	r->out += cell->requests[BLOCK_WRITE];
	r->others += cell->requests[BLOCK_OTHER];
	r->in_bytes += cell->bytes[BLOCK_READ];
	r->out_bytes += cell->bytes[BLOCK_WRITE];
	r->c.errors += cell->errors;
	r->partial += cell->partial;
	r->merges += cell->merges;
	r->requeues += cell->requeues;
	r->depth_max = MAX(r->depth_max, cell->depth_max);
	r->queued_max = MAX(r->queued_max, cell->queued_max);
	r->busy_ns += cell->busy_ns;
	r->depth_ns += cell->depth_ns;
	r->queued_ns += cell->queued_ns;
	r->unknown_ns += cell->unknown_ns;
	hist_merge(&r->c.latency, &cell->latency);
	hist_merge(&r->queue, &cell->queue);
}

static void add_user(struct row_map *map, const struct dev_user_cell *cell, double seconds)
{
	struct rows *rows = map->rows;
	const struct view_query *q = &rows->query;
	if (!query_wants_thread(q, rows->tl, cell->thread))
		return;
	uint64_t key = key_int(key_int(key_int(1, group_key(rows->tl, q->by, cell->thread)), cell->host),
			       cell->dev);
	struct dev_row *r = row_of(map, key, cell->host, seconds);
	if (!r->users) {
		group_fill(&r->c, rows, cell->thread);
		r->c.name = common_device(rows, cell->host, cell->dev, cell->name);
		r->c.row.key[0] = key_int(key_text(r->c.row.key[0], r->c.host), cell->dev);
		r->users = true;
	}
	r->dev = cell->dev;
	r->in += cell->requests[BLOCK_READ];
	r->out += cell->requests[BLOCK_WRITE];
	r->others += cell->requests[BLOCK_OTHER];
	r->in_bytes += cell->bytes[BLOCK_READ];
	r->out_bytes += cell->bytes[BLOCK_WRITE];
	r->c.errors += cell->errors;
	hist_merge(&r->c.latency, &cell->latency);
	hist_merge(&r->queue, &cell->queue);
}

/* Sent packets are those that the device accepted. If the trace has no such events, they are those queued for it. */
static void add_net(struct row_map *map, const struct net_cell *cell)
{
	bool taken = !(rows_missing(map->rows, cell->host) & MISSING_TAKEN);
	uint64_t key = key_int(key_int(2, cell->host), cell->name);
	struct dev_row *r = row_of(map, key, cell->host, 1);
	r->net = true;
	r->c.name = timeline_string(map->rows->tl, cell->name);
	r->c.row.key[0] = key_text(key_text(2, r->c.host), r->c.name);
	r->in += cell->rx_packets;
	r->in_bytes += cell->rx_bytes;
	r->out += taken ? cell->tx_packets : cell->queued_packets;
	r->out_bytes += taken ? cell->tx_bytes : cell->queued_bytes;
	r->c.errors += cell->tx_errors;
}

static void add_second(struct row_map *map, const struct second *s, double seconds)
{
	const struct view_query *q = &map->rows->query;
	bool users = q->by != BY_SYSTEM || q->pid >= 0 || q->tid >= 0 || q->container;
	for (uint32_t i = 0; users && i < s->n_dev_users; i++)
		add_user(map, &s->dev_users[i], seconds);
	for (uint32_t i = 0; !users && i < s->n_devs; i++)
		if (q->host == ID_NONE || s->devs[i].host == q->host)
			add_dev(map, &s->devs[i], seconds);
	for (uint32_t i = 0; !users && i < s->n_nets; i++)
		if (q->host == ID_NONE || s->nets[i].host == q->host)
			add_net(map, &s->nets[i]);
}

static int compare(const void *va, const void *vb)
{
	const struct dev_row *a = *(const struct dev_row *const *)va;
	const struct dev_row *b = *(const struct dev_row *const *)vb;
	int order = common_compare(&a->c, &b->c);
	return order ? order : (a->dev > b->dev) - (a->dev < b->dev);
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	struct row_map map = { .rows = rows_new(tl, query) };
	struct range range = range_of(tl, query);
	for (size_t i = range.first; i < range.end; i++)
		add_second(&map, timeline_second(tl, i), range.seconds);
	for (guint i = 0; i < map.rows->rows->len; i++) {
		struct dev_row *r = map.rows->rows->pdata[i];
		r->queue_stat = stat_of(&r->queue);
		hist_clear(&r->queue);
	}
	row_map_clear(&map);
	common_finish(map.rows, compare);
	return map.rows;
}

static const char *const needs[] = {
	"block_rq_issue", "block_rq_complete", "block_rq_insert",
	"net_dev_xmit|net_dev_queue", "net_if_receive_skb|netif_receive_skb", NULL
};

const struct view view_devices = {
	.idle = "idle",
	.only = ONLY_THREADS,
	.id = "devices", .title = "Devices",
	.help = "Disks and other block devices: requests and bytes, time in the queue and at the device, how many "
		"requests were there. Network devices: packets and bytes. Rows are devices; by process, "
		"thread or container also the task that requested it (writes to files are mostly requested by kernel "
		"threads, and the trace does not say for which task).",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_ns", .needs = needs,
	.default_by = BY_SYSTEM, .by_values = BY_THREADS | 1 << BY_CONTAINER, .on_screen = true,
	.reads = READS(dev) | READS(dev_user) | READS(net), .build = build,
};
