/* SPDX-License-Identifier: GPL-2.0-only */
/* Handlers of events of block and network devices; see handlers.h. */
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/event_task.h"
#include "state/kernel/facts.h"
#include "state/kernel/handlers.h"
#include "state/kernel/slice_state.h"
#include "state/kernel/threads.h"

#define F(n) (BLK_FIELD0 + (n))

/* ---- block ---- */

/* Bits of rwbs; equal in all versions of the tracer. */
enum { RWBS_WRITE = 1, RWBS_DISCARD = 2, RWBS_READ = 4, RWBS_FLUSH = 256 };

static enum block_dir direction(int64_t rwbs, uint64_t bytes)
{
	if (rwbs & RWBS_WRITE)
		return BLOCK_WRITE;
	if (rwbs & RWBS_READ)
		return BLOCK_READ;
	return (rwbs & (RWBS_DISCARD | RWBS_FLUSH)) || !bytes ? BLOCK_OTHER : BLOCK_READ;
}

/* The thread that the event names; usually the current task. None in an interrupt of an idle CPU. */
static uint32_t block_task(struct fed_event *f, const struct thread *task)
{
	int32_t tid = (int32_t)blk_int_or(f->ev, F(5), -1);
	if (tid > 0 && !(task && task->task_tid == tid))
		task = slice_thread(f->s, f->host, tid);
	return task && !task->idle && tid ? task->self : ID_NONE;
}

#define SECTOR_NONE UINT64_MAX

static enum block_flush flush_of(const struct block_event *e, int64_t rwbs)
{
	bool has_place = e->sector && e->sector != SECTOR_NONE;
	if (e->sectors || e->bytes || (has_place && e->what != BLOCK_COMPLETE))
		return BLOCK_NO_FLUSH;
	if (!has_place && (rwbs & RWBS_FLUSH || e->sector == SECTOR_NONE))
		return BLOCK_FLUSH;
	return e->what == BLOCK_COMPLETE && rwbs & RWBS_WRITE ? BLOCK_FLUSH_ASKED : BLOCK_NO_FLUSH;
}

static struct block_event block_event_of(struct fed_event *f, enum block_what what)
{
	const struct thread *task = event_task(f);
	struct block_event e = {
		.ts = f->ts, .host = f->host, .what = what, .thread = ID_NONE,
		.dev = (uint32_t)blk_int(f->ev, F(0)), .sector = (uint64_t)blk_int(f->ev, F(1)),
		.sectors = (uint64_t)blk_int_or(f->ev, F(3), 0),
	};
	if (what == BLOCK_COMPLETE) {
		e.bytes = e.sectors * 512;
		e.dir = e.bytes ? direction(blk_int_or(f->ev, F(2), 0), e.bytes) : BLOCK_OTHER;
		e.error = blk_int_or(f->ev, F(4), 0) != 0;
		e.flush = flush_of(&e, blk_int_or(f->ev, F(2), 0));
		return e;
	}
	e.bytes = (uint64_t)blk_int_or(f->ev, F(4), 0);
	if (!e.bytes)
		e.bytes = e.sectors * 512;
	e.dir = direction(blk_int(f->ev, F(2)), e.bytes);
	e.flush = flush_of(&e, blk_int(f->ev, F(2)));
	if (what == BLOCK_INSERT || what == BLOCK_ISSUE)
		e.thread = block_task(f, task);
	return e;
}

void on_block(struct fed_event *f)
{
	struct block_event e = block_event_of(f, f->cls->what);
	blocks_apply(f->s, &e);
}

/* ---- network ---- */

/* The fields of PACKET_HEADERS in handlers.c that follow name and length. */
enum {
	V4_SOURCE = 2, V4_DEST, V4_PROTOCOL, V4_FRAGMENT, V4_TCP, V4_UDP = V4_TCP + 2,
	V6_SOURCE = V4_UDP + 2, V6_DEST, V6_TCP, V6_UDP = V6_TCP + 2,
};
#define FRAGMENT_OFFSET 0x1fff	/* IPv4: only the first fragment has ports */

static void take_ports(struct fed_event *f, unsigned tcp, unsigned udp, bool sent, struct flow *flow)
{
	unsigned at = blk_has(f->ev, F(tcp)) ? tcp : udp;
	if (!blk_has(f->ev, F(at)))
		return;
	uint16_t source = (uint16_t)blk_int(f->ev, F(at)), dest = (uint16_t)blk_int(f->ev, F(at + 1));
	flow->protocol = at == tcp ? FLOW_TCP : FLOW_UDP;
	flow->local_port = sent ? source : dest;
	flow->peer_port = sent ? dest : source;
}

static bool take_v4(struct fed_event *f, bool sent, struct flow *flow)
{
	struct blk_text local = blk_text(f->ev, F(sent ? V4_SOURCE : V4_DEST));
	struct blk_text peer = blk_text(f->ev, F(sent ? V4_DEST : V4_SOURCE));
	if (local.len < 4 || peer.len < 4)
		return false;
	flow->family = 4;
	flow->protocol = (uint8_t)blk_int_or(f->ev, F(V4_PROTOCOL), FLOW_OTHER);
	memcpy(flow->local, local.str, 4);
	memcpy(flow->peer, peer.str, 4);
	if (!(blk_int(f->ev, F(V4_FRAGMENT)) & FRAGMENT_OFFSET))
		take_ports(f, V4_TCP, V4_UDP, sent, flow);
	return true;
}

void handler_copy_v6(uint8_t *to, const char *from)
{
	for (unsigned i = 0; i < 16; i++)
		to[i] = (uint8_t)from[i ^ 1];
}

static bool take_v6(struct fed_event *f, bool sent, struct flow *flow)
{
	struct blk_text local = blk_text(f->ev, F(sent ? V6_SOURCE : V6_DEST));
	struct blk_text peer = blk_text(f->ev, F(sent ? V6_DEST : V6_SOURCE));
	if (local.len < 16 || peer.len < 16)
		return false;
	flow->family = 6;
	flow->protocol = FLOW_OTHER;
	handler_copy_v6(flow->local, local.str);
	handler_copy_v6(flow->peer, peer.str);
	take_ports(f, V6_TCP, V6_UDP, sent, flow);
	return true;
}

/* The packet's flow; NULL: it has no IP header, or the event has no headers. */
static struct flow_cell *flow_of(struct fed_event *f, bool sent)
{
	struct flow flow = { 0 };
	if (!take_v4(f, sent, &flow) && !take_v6(f, sent, &flow))
		return NULL;
	uint32_t name = slice_string(f->s, blk_text(f->ev, F(0)));
	return BIN_CELL(f->s, slice_bin(f->s, f->ts), flow, .host = f->host, .name = name, .flow = flow);
}

void on_net(struct fed_event *f)
{
	enum net_what what = f->cls->what;
	g_assert(what <= NET_SENT);
	event_task(f);
	uint64_t bytes = (uint64_t)blk_int_or(f->ev, F(1), 0);
	uint32_t name = slice_string(f->s, blk_text(f->ev, F(0)));
	struct net_cell *net = BIN_CELL(f->s, slice_bin(f->s, f->ts), net, .host = f->host, .name = name);
	if (what == NET_SENT) {
		bool failed = blk_int_or(f->ev, F(2), 0);
		net->tx_errors += failed;
		net->tx_packets += !failed;
		net->tx_bytes += failed ? 0 : bytes;
		return;
	}
	*(what == NET_QUEUED ? &net->queued_packets : &net->rx_packets) += 1;
	*(what == NET_QUEUED ? &net->queued_bytes : &net->rx_bytes) += bytes;
	struct flow_cell *flow = flow_of(f, what == NET_QUEUED);
	if (!flow)
		return;
	*(what == NET_QUEUED ? &flow->tx_packets : &flow->rx_packets) += 1;
	*(what == NET_QUEUED ? &flow->tx_bytes : &flow->rx_bytes) += bytes;
}
