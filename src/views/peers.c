/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Network traffic by flow or by remote machine, from packet headers. Headers do not name a process: the owner of a
 * flow is found by the names of sockets.
 */
#include "base/address.h"
#include "base/each.h"
#include "state/store/container.h"
#include "views/cell_rows.h"
#include "views/registry.h"

#include <string.h>

struct peer_row {
	struct common c;		/* name: the peer; comm: the owner of the socket */
	struct flow flow;
	const char *device, *local;
	uint64_t flows;			/* by name; else 0 */
	struct flow_sum sum;
	uint32_t host;
	uint32_t process;		/* owner; ID_NONE: unknown, or several */
};

#define ROW(row) ((const struct peer_row *)(row))

static GETTER(get_protocol)
{
	static const struct { uint8_t number; const char *name; } names[] = {
		{ 1, "icmp" }, { 2, "igmp" }, { FLOW_TCP, "tcp" }, { FLOW_UDP, "udp" },
		{ 41, "ipv6" }, { 47, "gre" }, { 50, "esp" }, { 132, "sctp" },
	};
	char number[16];
	unsigned is = ROW(row)->flow.protocol;
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].number == is)
			return value_text(names[i].name);
	if (is == FLOW_OTHER)
		return value_none();
	g_snprintf(number, sizeof number, "%u", is);
	return value_text(g_string_chunk_insert_const(rows->text, number));
}

static GETTER(get_bytes)
{
	return value_int(VALUE_BYTES, ROW(row)->sum.rx_bytes + ROW(row)->sum.tx_bytes);
}

#define PEER(name, ...) MEMBER(struct peer_row, name, __VA_ARGS__)

static const struct column columns[] = {
	COLUMN_HOST,
	COLUMN_OPTIONAL("device", "DEVICE", VALUE_TEXT, 8, 5, "network device that the packets passed",
			PEER(device)),
	COLUMN_T("protocol", "PROTO", 5, 5, "tcp, udp, icmp, or its number; null: unknown",
		 get_protocol),
	COLUMN_OPTIONAL("local", "LOCAL", VALUE_TEXT, 21, 4, "address and port on this side: source of what is sent, "
		 "destination of what is received; null: several", PEER(local)),
	COLUMN_FLEX("peer", "PEER", 21, "address and port of the other side", COMMON(name)),
	{ .id = "flows", .title = "FLOWS", .kind = VALUE_COUNT, .width = 6, .priority = 4, .optional = true,
	  .descending = true, .help = "pairs of address and port that are summed here, by name",
	  .get = PEER(flows, .none = IF_ZERO) },
	COLUMN_N("rx_packets", "IN", VALUE_COUNT, 6, 2, "packets received",
		 PEER(sum.rx_packets, .missing = MISSING_HEADERS_IN)),
	COLUMN_N("tx_packets", "OUT", VALUE_COUNT, 6, 2, "packets given to the device",
		 PEER(sum.tx_packets, .missing = MISSING_HEADERS_OUT)),
	COLUMN_N("rx_bytes", "RECVD", VALUE_BYTES, 6, 0, "bytes received, without the device's own header",
		 PEER(sum.rx_bytes, .missing = MISSING_HEADERS_IN)),
	COLUMN_N("tx_bytes", "SENT", VALUE_BYTES, 6, 0, "bytes given to the device, with its header",
		 PEER(sum.tx_bytes, .missing = MISSING_HEADERS_OUT)),
	COLUMN_N("total_bytes", "BYTES", VALUE_BYTES, 6, 3, "bytes received and sent, as far as known",
		 get_bytes),
	COLUMN_OPTIONAL("pid", "PID", VALUE_ID, 7, 6,
			"the only process that moved bytes to this peer, by sockets whose connect, accept "
			"or bind is in the trace; null: none, or several", COMMON(pid)),
	COLUMN_OPTIONAL("comm", "PROCESS", VALUE_TEXT, 14, 1,
			"its name; a connection to this peer from before the trace may belong to another process",
			COMMON(comm)),
};

static int compare(const void *va, const void *vb)
{
	const struct peer_row *a = *(const struct peer_row *const *)va;
	const struct peer_row *b = *(const struct peer_row *const *)vb;
	/* what follows .boot is, by name, of any of the row's flows */
	return common_compare(&a->c, &b->c) ?: g_strcmp0(a->c.boot, b->c.boot) ?: g_strcmp0(a->device, b->device) ?:
	       g_strcmp0(a->local, b->local) ?: memcmp(&a->flow, &b->flow, sizeof a->flow);
}

/* ---- owners of sockets ---- */

/* By address such as "10.0.0.1:80": the only process that moved bytes through a socket of that name. */
struct address_owners {
	const struct timeline *tl;
	GHashTable *by_address;		/* struct owner_key -> process + 1; 0: several */
	GHashTable *locals;		/* struct owner_key: addresses on this side of a flow */
};

struct owner_key {
	uint32_t host;
	const char *address;		/* owned by the timeline or the rows */
};

static guint owner_hash(gconstpointer p)
{
	const struct owner_key *k = p;
	return g_str_hash(k->address) ^ k->host;
}

static gboolean owner_equal(gconstpointer va, gconstpointer vb)
{
	const struct owner_key *a = va, *b = vb;
	return a->host == b->host && !strcmp(a->address, b->address);
}

static void add_owner(struct address_owners *o, const struct file_cell *cell)
{
	const struct file_info *f = timeline_file(o->tl, cell->file);
	const struct thread_info *t = timeline_thread(o->tl, cell->thread);
	if (!f || f->kind != FILE_SOCKET || !t || !(cell->bytes[0] || cell->bytes[1]))
		return;
	const char *name = timeline_string(o->tl, f->path), *address = strrchr(name, ' ');
	if (!g_str_has_prefix(name, "socket inet") || !strchr(address, ':'))
		return;
	struct owner_key key = { f->host, address + 1 };
	gpointer was;
	bool known = g_hash_table_lookup_extended(o->by_address, &key, NULL, &was);
	if (known && was == GUINT_TO_POINTER(t->process + 1))
		return;
	bool one = !known && t->process != ID_NONE;
	g_hash_table_insert(o->by_address, g_memdup2(&key, sizeof key),
			    GUINT_TO_POINTER(one ? t->process + 1 : 0));
}

static uint32_t owner_of(const struct address_owners *o, uint32_t host, const char *address)
{
	struct owner_key key = { host, address };
	return GPOINTER_TO_UINT(g_hash_table_lookup(o->by_address, &key)) - 1;
}

static bool has_ports(const struct flow *f)
{
	return f->local_port || f->peer_port;
}

/* Finds the process that owns the flow. A connected or accepted socket has its peer's name; a socket that is only
 * bound has its own. */
static void find_owner(const struct address_owners *o, struct rows *rows, struct peer_row *r)
{
	struct owner_key peer = { r->host, r->c.name };
	bool is_local = g_hash_table_contains(o->locals, &peer);
	if (!has_ports(&r->flow) || (is_local && r->flow.protocol != FLOW_TCP))
		return;			/* the name may be that of either end's socket */
	r->process = owner_of(o, r->host, r->c.name);
	if (r->process == ID_NONE && r->flow.protocol == FLOW_UDP)
		r->process = owner_of(o, r->host, r->local);
	const struct process_info *p = timeline_process(o->tl, r->process);
	if (!p)
		return;
	int64_t until = rows->query.to_ns ? rows->query.to_ns : INT64_MAX;
	r->c.pid = r->c.row.drill.pid = p->pid;
	if (p->leader != ID_NONE)
		r->c.comm = timeline_comm(o->tl, p->leader, until);
}

static void find_owners(struct rows *rows, const struct range *range)
{
	struct address_owners o = { .tl = rows->tl };
	if (rows->query.by == BY_NAME || !rows->rows->len)
		return;
	o.locals = g_hash_table_new_full(owner_hash, owner_equal, g_free, NULL);
	PTR_EACH(const struct peer_row, r, rows->rows) {
		struct owner_key key = { r->host, r->local };
		g_hash_table_add(o.locals, g_memdup2(&key, sizeof key));
	}
	o.by_address = g_hash_table_new_full(owner_hash, owner_equal, g_free, NULL);
	for (size_t i = range->first; i < range->end; i++) {
		const struct second *s = timeline_second(o.tl, i);
		for (uint32_t k = 0; k < s->n_files; k++)
			add_owner(&o, &s->files[k]);
	}
	for (guint i = 0; i < rows->rows->len; i++)
		find_owner(&o, rows, rows->rows->pdata[i]);
	g_hash_table_unref(o.by_address);
	g_hash_table_unref(o.locals);
}

/* ---- rows ---- */

static uint64_t key_of(enum view_by by, uint32_t host, uint32_t device, const struct flow *f)
{
	uint64_t key = key_int(key_int(f->family, f->protocol), host);
	if (by != BY_NAME)
		key = key_int(key, (uint64_t)device << 32 | (uint32_t)f->local_port << 16 | f->peer_port);
	for (unsigned i = 0; i < 16; i += 8) {
		uint64_t local, peer;
		memcpy(&local, f->local + i, 8);
		memcpy(&peer, f->peer + i, 8);
		key = key_int(by == BY_NAME ? key : key_int(key, local), peer);
	}
	return key;
}

static const char *address(struct rows *rows, const struct flow *f, const uint8_t *a, int port)
{
	char text[ADDRESS_MAX];
	address_text(text, f->family, a, port);
	return rows_text(rows, text);
}

static uint64_t row_key(const struct rows *rows, const void *flow)
{
	const struct flow_cell *cell = flow;
	return key_of(rows->query.by, cell->host, cell->name, &cell->flow);
}

static void fill(struct rows *rows, void *row, const void *flow)
{
	struct peer_row *r = row;
	const struct flow_cell *cell = flow;
	bool whole = rows->query.by != BY_NAME, ports = whole && has_ports(&cell->flow);
	common_host(&r->c, rows, cell->host);
	r->flow = cell->flow;
	r->host = r->c.row.drill.host = cell->host;
	r->process = ID_NONE;
	r->c.name = address(rows, &cell->flow, cell->flow.peer, ports ? cell->flow.peer_port : -1);
	uint64_t key = key_int(key_text(key_text(rows->query.by, r->c.host), r->c.name),
			       cell->flow.protocol);
	if (whole) {
		r->device = timeline_string(rows->tl, cell->name);
		r->local = address(rows, &cell->flow, cell->flow.local,
				   ports ? cell->flow.local_port : -1);
		key = key_text(key_text(key, r->device), r->local);
	}
	r->c.row.key[0] = key;
}

/* Flows that were counted: one row by name may contain the same flow on several devices and in several seconds. */
struct counted { uint32_t host; struct flow flow; };

static guint counted_hash(gconstpointer p)
{
	const struct counted *c = p;
	return (guint)key_of(BY_SYSTEM, c->host, 0, &c->flow);
}

static gboolean counted_equal(gconstpointer va, gconstpointer vb)
{
	const struct counted *a = va, *b = vb;
	return a->host == b->host && !memcmp(&a->flow, &b->flow, sizeof a->flow);
}

static void free_counted(void *seen)
{
	g_hash_table_unref(seen);
}

static void count_flow(struct rows *rows, void *row, const void *flow)
{
	const struct flow_cell *cell = flow;
	struct counted c = { cell->host, cell->flow };
	if (rows->query.by != BY_NAME)
		return;
	if (!rows->extra) {
		rows->extra = g_hash_table_new_full(counted_hash, counted_equal, g_free, NULL);
		rows->free_extra = free_counted;
	}
	((struct peer_row *)row)->flows += g_hash_table_add(rows->extra, g_memdup2(&c, sizeof c));
}

/* If the query names a process or container, only flows that are known to belong to it remain. */
static bool is_asked(const struct peer_row *r, const struct rows *rows)
{
	const struct view_query *q = &rows->query;
	const struct process_info *p = timeline_process(rows->tl, r->process);
	return p && (q->pid < 0 || p->pid == q->pid) && (!q->container || container_of(p) == q->container);
}

static void keep_asked(struct rows *rows)
{
	if (rows->query.pid < 0 && !rows->query.container)
		return;
	g_autofree bool *keep = g_new(bool, rows->rows->len + 1);
	for (guint i = 0; i < rows->rows->len; i++)
		keep[i] = is_asked(rows->rows->pdata[i], rows);
	rows_keep(rows, keep);
}

/* Tracers before LTTng 2.8 record only device and length of a packet. */
static void describe_headerless(struct rows *rows, const struct range *range)
{
	bool packets = false;
	for (size_t i = range->first; i < range->end && !rows->rows->len; i++)
		packets |= timeline_second(rows->tl, i)->n_nets > 0;
	if (packets)
		rows->about = "The packets of this range tell no addresses: the tracer records headers of "
			      "IP since LTTng 2.8, with net_dev_queue and net_if_receive_skb.";
}

static struct rows *build(const struct timeline *tl, const struct view_query *query)
{
	static const struct cell_rows flows = {
		.kind = CELL_flow, .size = sizeof(struct peer_row), .sum = offsetof(struct peer_row, sum),
		.key = row_key, .fill = fill, .each = count_flow,
	};
	struct range range = range_of(tl, query);
	struct view_query q = *query;
	if (!view_has_by(&view_peers, query->by))	/* the query may come from a view with other values of `by` */
		q.by = BY_SYSTEM;
	struct rows *rows = cell_rows_sum(tl, &q, &flows, 1);
	describe_headerless(rows, &range);
	find_owners(rows, &range);
	keep_asked(rows);
	common_finish(rows, compare);
	return rows;
}

static const char *const needs[] = { "net_dev_queue", "net_if_receive_skb", NULL };

const struct view view_peers = {
	.idle = "idle",
	.only = ONLY_THREADS & ~ONLY_TID,
	.id = "peers", .title = "Peers",
	.help = "Network traffic by peer, from the headers of packets, also of connections from before "
		"the trace. Rows are pairs of address and port at a network device, or other machines (by "
		"name). On the loopback device both ends have a row. For forwarded packets neither address is "
		"this machine. The process of a flow is known from sockets that were connected, accepted or "
		"bound in the trace and moved bytes in the range.",
	.columns = columns, .n_columns = G_N_ELEMENTS(columns),
	.default_sort = "total_bytes", .drill = "process", .needs = needs,
	.default_by = BY_SYSTEM, .by_values = 1 << BY_SYSTEM | 1 << BY_NAME, .on_screen = true, .build = build,
};
