/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block and network devices: requests or packets, and bytes. For block devices also the time in the queue and at the
 * device, the number of pending requests, and the processes that issued them.
 */
#include "base/sort.h"
#include "views/cell_rows.h"
#include "views/registry.h"

#include <string.h>

struct dev_row {
	struct common c;		/* name: of the device; latency: time at the device */
	const char *kind;		/* "block", "net" */
	bool users;			/* a row of a process or thread: it has no share of the queue */
	uint32_t host, dev;
	struct dev_sum sum;		/* network devices: packets received, sent (.requests), and refused (.errors) */
	int64_t total_ns;
	struct stat queue;
	double busy_ratio, depth_ratio, queued_ratio;	/* -1: not known */
};

#define AT_DEVICE (MISSING_ISSUES | MISSING_COMPLETIONS)
#define IN_QUEUE (MISSING_INSERTS | MISSING_ISSUES)
#define DEVICE(figure, ...) MEMBER(struct dev_row, sum.figure, __VA_ARGS__)

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_T("kind", "KIND", 5, 7, "block or net", MEMBER(struct dev_row, kind)),
	COLUMN_FLEX("device", "DEVICE", 10, "the device, or major:minor", COMMON(name)),
	COLUMN_N("reads", "READS", VALUE_COUNT, 7, 0, "requests that read; packets received",
		 DEVICE(requests[BLOCK_READ])),
	COLUMN_N("writes", "WRITES", VALUE_COUNT, 7, 0, "requests that write; packets sent",
		 DEVICE(requests[BLOCK_WRITE])),
	COLUMN_N("errors", "ERR", VALUE_COUNT, 4, 3, "requests that failed; packets refused by the device",
		 DEVICE(errors)),
	COLUMN_N("read_bytes", "READ", VALUE_BYTES, 6, 1, "bytes read or received",
		 DEVICE(bytes[BLOCK_READ])),
	COLUMN_N("write_bytes", "WRITTEN", VALUE_BYTES, 7, 1, "bytes written or sent",
		 DEVICE(bytes[BLOCK_WRITE])),
	COLUMN_N("busy_ratio", "UTIL%", VALUE_RATIO, 6, 2,
		 "share of the time in which a request was at the device; where that is not known, of the rest",
		 MEMBER(struct dev_row, busy_ratio, .none = IF_NEGATIVE, .missing = AT_DEVICE)),
	COLUMN_N("depth_ratio", "DEPTH", VALUE_RATIO, 6, 6,
		 "mean number of requests at the device; 100 % is one",
		 MEMBER(struct dev_row, depth_ratio, .none = IF_NEGATIVE, .missing = AT_DEVICE)),
	COLUMN_N("depth_max", "DMAX", VALUE_COUNT, 4, 8, "most requests at the device at once",
		 DEVICE(depth_max, .missing = AT_DEVICE)),
	COLUMN_N("queue_p50_ns", "Qp50", VALUE_NS, 0, 0, "half of them wait at most this to be issued" PERCENTILE_BOUND,
		 MEMBER(struct dev_row, queue.p50, .none = IF_NEGATIVE)),
	COLUMN_N("queue_p99_ns", "Qp99", VALUE_NS, 7, 5, "99 % of them wait at most this to be issued" PERCENTILE_BOUND,
		 MEMBER(struct dev_row, queue.p99, .none = IF_NEGATIVE)),
	COLUMN_N("total_ns", "TOTAL", VALUE_NS, 7, 4, "sum of the latencies", MEMBER(struct dev_row, total_ns)),
	COLUMNS_QUANTILES(7, "request, from issue to completion"),
	COLUMN_N("queue_total_ns", "QTOTAL", VALUE_NS, 0, 0, "sum of the times from insert to issue",
		 MEMBER(struct dev_row, queue.total, .none = IF_NEGATIVE)),
	COLUMN_N("queue_max_ns", "QMAX", VALUE_NS, 0, 0, "longest time from insert to issue",
		 MEMBER(struct dev_row, queue.max, .none = IF_NEGATIVE)),
	COLUMN_N("queued_ratio", "QUEUED", VALUE_RATIO, 0, 0,
		 "mean number of requests waiting to be issued; 100 % is one",
		 MEMBER(struct dev_row, queued_ratio, .none = IF_NEGATIVE, .missing = IN_QUEUE)),
	COLUMN_N("queued_max", "QDMAX", VALUE_COUNT, 0, 0, "most requests waiting at once",
		 DEVICE(queued_max, .missing = IN_QUEUE)),
	COLUMN_N("busy_ns", "BUSY", VALUE_NS, 0, 0, "time with a request at the device",
		 DEVICE(busy_ns, .missing = AT_DEVICE)),
	COLUMN_N("depth_ns", "DEPTHNS", VALUE_NS, 0, 0, "requests at the device, summed over time",
		 DEVICE(depth_ns, .missing = AT_DEVICE)),
	COLUMN_N("queued_ns", "QUEUEDNS", VALUE_NS, 0, 0, "requests waiting, summed over time",
		 DEVICE(queued_ns, .missing = IN_QUEUE)),
	COLUMN_N("others", "OTHERS", VALUE_COUNT, 0, 0, "requests that flush or discard",
		 DEVICE(requests[BLOCK_OTHER])),
	COLUMN_N("merges", "MERGED", VALUE_COUNT, 0, 0, "requests that became part of another",
		 DEVICE(merges, .missing = MISSING_MERGES)),
	COLUMN_N("partial", "PARTIAL", VALUE_COUNT, 0, 0, "completions that left a rest under way",
		 DEVICE(partial, .missing = AT_DEVICE)),
	COLUMN_N("requeues", "REQUEUED", VALUE_COUNT, 0, 0, "requests sent back to the queue",
		 DEVICE(requeues, .missing = MISSING_REQUEUES)),
	COLUMN_ID("pid", "PID", 7, 9, "process that requested it, with --by; null: unknown", COMMON(pid)),
	COLUMN_ID("tid", "TID", 0, 0, "thread id, with --by thread", COMMON(tid)),
	COLUMN_T("comm", "PROCESS", 14, 9, "thread that requested it; a kworker writes for other threads, and the "
		 "trace does not say for which", COMMON(comm)),
	COLUMN_CONTAINER,
};

/* ---- block devices ---- */

static uint64_t dev_key(const struct rows *rows, const void *cell)
{
	const struct dev_cell *c = cell;
	(void)rows;
	return key_int(key_int(0, c->host), c->dev);
}

static void fill_dev(struct rows *rows, void *row, const void *cell)
{
	struct dev_row *r = row;
	const struct dev_cell *c = cell;
	common_host(&r->c, rows, c->host);
	r->kind = "block";
	r->host = c->host;
	r->dev = c->dev;
	r->c.row.key[0] = key_int(key_text(0, r->c.host), c->dev);
}

static void fill_user(struct rows *rows, void *row, const void *cell)
{
	struct dev_row *r = row;
	const struct dev_user_cell *c = cell;
	common_host(&r->c, rows, c->host);
	group_fill(&r->c, rows, c->thread);
	r->kind = "block";
	r->users = true;
	r->host = c->host;
	r->dev = c->dev;
	r->c.row.key[0] = key_int(key_text(r->c.row.key[0], r->c.host), c->dev);
}

static void add_user(struct rows *rows, void *row, const void *cell)
{
	struct dev_row *r = row;
	const struct dev_user_cell *c = cell;
	struct dev_cell of_device = { .name = c->name, .errors = c->errors, .latency = c->latency, .queue = c->queue };
	(void)rows;
	memcpy(of_device.requests, c->requests, sizeof of_device.requests);
	memcpy(of_device.bytes, c->bytes, sizeof of_device.bytes);
	cell_sum_add(CELL_dev, &r->sum, &of_device);
}

/* ---- network devices ---- */

static uint64_t net_key(const struct rows *rows, const void *cell)
{
	const struct net_cell *c = cell;
	(void)rows;
	return key_int(key_int(2, c->host), c->name);
}

static void fill_net(struct rows *rows, void *row, const void *cell)
{
	struct dev_row *r = row;
	const struct net_cell *c = cell;
	common_host(&r->c, rows, c->host);
	r->kind = "net";
	r->c.name = timeline_string(rows->tl, c->name);
	r->c.row.key[0] = key_text(key_text(2, r->c.host), r->c.name);
}

/* Sent packets are those that the device accepted. If the trace has no such events, they are those queued for it. */
static void add_net(struct rows *rows, void *row, const void *cell)
{
	struct dev_row *r = row;
	const struct net_cell *c = cell;
	bool taken = !(row_missing(row, rows) & MISSING_TAKEN);
	r->sum.requests[BLOCK_READ] += c->rx_packets;
	r->sum.bytes[BLOCK_READ] += c->rx_bytes;
	r->sum.requests[BLOCK_WRITE] += taken ? c->tx_packets : c->queued_packets;
	r->sum.bytes[BLOCK_WRITE] += taken ? c->tx_bytes : c->queued_bytes;
	r->sum.errors += c->tx_errors;
}

/* ---- rows ---- */

/* Sets what the row does not have, and what the trace does not tell, to unknown. */
static void set_unknown(struct dev_row *r, bool net, unsigned missing)
{
	struct dev_sum *s = &r->sum;
	if (net || r->users)
		s->partial = s->merges = s->requeues = s->depth_max = s->queued_max = s->busy_ns = s->depth_ns =
			s->queued_ns = FIGURE_NONE;
	if (missing & (net ? MISSING_RECEIVED : AT_DEVICE))
		s->requests[BLOCK_READ] = s->bytes[BLOCK_READ] = FIGURE_NONE;
	if (missing & (net ? MISSING_SENT : AT_DEVICE))
		s->requests[BLOCK_WRITE] = s->bytes[BLOCK_WRITE] = FIGURE_NONE;
	if (missing & (net ? MISSING_TAKEN : AT_DEVICE))
		s->errors = FIGURE_NONE;
	if (net || missing & AT_DEVICE)
		s->requests[BLOCK_OTHER] = r->total_ns = FIGURE_NONE;
}

static double ratio(int64_t ns, double whole_ns)
{
	return ns == FIGURE_NONE ? -1 : (double)ns / whole_ns;
}

static void end(struct rows *rows, void *row)
{
	struct dev_row *r = row;
	struct dev_sum *s = &r->sum;
	bool net = g_str_equal(r->kind, "net");
	double known_ns = rows->seconds * 1e9 - (double)s->unknown_ns;	/* how many requests there were */

	if (!net)
		r->c.name = common_device(rows, r->host, r->dev, s->name);
	r->total_ns = hist_sum(&s->latency);
	r->c.latency = s->latency;
	r->queue = stat_take(&s->queue);
	if (!r->queue.count)
		r->queue.total = FIGURE_NONE;
	if (known_ns < 1)
		s->busy_ns = s->depth_ns = s->queued_ns = FIGURE_NONE;
	set_unknown(r, net, row_missing(row, rows));
	r->busy_ratio = ratio(s->busy_ns, known_ns);
	r->depth_ratio = ratio(s->depth_ns, known_ns);
	r->queued_ratio = ratio(s->queued_ns, known_ns);
}

static int compare(const void *va, const void *vb)
{
	const struct dev_row *a = *(const struct dev_row *const *)va;
	const struct dev_row *b = *(const struct dev_row *const *)vb;
	return common_compare(&a->c, &b->c) ?: ORDER(a->dev, b->dev);
}

static struct rows *build(const struct timeline *tl, const struct view_query *q)
{
	static const struct cell_rows devices[] = {
		{ .kind = CELL_dev, .size = sizeof(struct dev_row), .sum = offsetof(struct dev_row, sum),
		  .key = dev_key, .fill = fill_dev },
		{ .kind = CELL_net, .size = sizeof(struct dev_row), .key = net_key, .fill = fill_net,
		  .each = add_net },
	}, users = {
		.kind = CELL_dev_user, .size = sizeof(struct dev_row), .fill = fill_user, .each = add_user,
	};
	bool by_user = q->by != BY_SYSTEM || q->pid >= 0 || q->tid >= 0 || q->container;
	return by_user ? cell_rows_build(tl, q, &users, 1, end, compare) :
			 cell_rows_build(tl, q, devices, G_N_ELEMENTS(devices), end, compare);
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
