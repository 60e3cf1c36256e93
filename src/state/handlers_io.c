/* SPDX-License-Identifier: GPL-2.0-only */
/* What events of block and network devices mean to a slice; their rows are in handlers.c. */
#include "state/slice_private.h"

#define F(n) (BLK_FIELD0 + (n))

/* ---- block ---- */

/* Bits of rwbs, in all versions of the tracer. */
enum { RWBS_WRITE = 1, RWBS_DISCARD = 2, RWBS_READ = 4, RWBS_FLUSH = 256 };

static enum block_dir direction(int64_t rwbs, uint64_t bytes)
{
	if (rwbs & RWBS_WRITE)
		return BLOCK_WRITE;
	if (rwbs & RWBS_READ)
		return BLOCK_READ;
	return (rwbs & (RWBS_DISCARD | RWBS_FLUSH)) || !bytes ? BLOCK_OTHER : BLOCK_READ;
}

/* The task that the event names; it is the current one, mostly. None in an interrupt of an
 * idle CPU. */
static uint32_t block_task(struct feed *f, const struct thread *task)
{
	int32_t tid = (int32_t)blk_int_or(f->ev, F(5), -1);
	if (tid > 0 && !(task && task->task_tid == tid))
		task = slice_thread(f->s, f->host, tid);
	return task && !task->idle && tid ? task->self : ID_NONE;
}

static struct block_event block_event_of(struct feed *f, enum block_what what)
{
	const struct thread *task = handler_task(f);
	struct block_event e = {
		.ts = f->ts, .host = f->host, .what = what, .thread = ID_NONE,
		.dev = (uint32_t)blk_int(f->ev, F(0)), .sector = (uint64_t)blk_int(f->ev, F(1)),
		.sectors = (uint64_t)blk_int_or(f->ev, F(3), 0),
	};
	if (what == BLOCK_COMPLETE)
		return e;
	e.bytes = (uint64_t)blk_int_or(f->ev, F(4), 0);
	if (!e.bytes)
		e.bytes = e.sectors * 512;
	e.dir = direction(blk_int(f->ev, F(2)), e.bytes);
	if (what == BLOCK_INSERT || what == BLOCK_ISSUE)
		e.thread = block_task(f, task);
	return e;
}

static void tell(struct feed *f, enum block_what what)
{
	struct block_event e = block_event_of(f, what);
	block_tell(f->s, &e);
}

void on_block_insert(struct feed *f)
{
	tell(f, BLOCK_INSERT);
}

void on_block_issue(struct feed *f)
{
	tell(f, BLOCK_ISSUE);
}

void on_block_complete(struct feed *f)
{
	struct block_event e = block_event_of(f, BLOCK_COMPLETE);
	e.error = blk_int_or(f->ev, F(4), 0) != 0;
	block_tell(f->s, &e);
}

void on_block_requeue(struct feed *f)
{
	tell(f, BLOCK_REQUEUE);
}

void on_block_merge(struct feed *f)
{
	tell(f, BLOCK_MERGE);
}

void on_block_backmerge(struct feed *f)
{
	tell(f, BLOCK_BACKMERGE);
}

void on_block_frontmerge(struct feed *f)
{
	tell(f, BLOCK_FRONTMERGE);
}

/* ---- network ---- */

static struct net_sums *packet(struct feed *f, uint64_t *ret_bytes)
{
	handler_task(f);
	*ret_bytes = (uint64_t)blk_int_or(f->ev, F(1), 0);
	uint32_t name = slice_string(f->s, blk_text(f->ev, F(0)));
	return &bin_net(slice_bin(f->s, f->ts), f->host, name)->sums;
}

void on_net_receive(struct feed *f)
{
	uint64_t bytes;
	struct net_sums *sums = packet(f, &bytes);
	sums->rx_packets++;
	sums->rx_bytes += bytes;
}

void on_net_queue(struct feed *f)
{
	uint64_t bytes;
	struct net_sums *sums = packet(f, &bytes);
	sums->queued_packets++;
	sums->queued_bytes += bytes;
}

void on_net_send(struct feed *f)
{
	uint64_t bytes;
	struct net_sums *sums = packet(f, &bytes);
	if (blk_int_or(f->ev, F(2), 0)) {
		sums->tx_errors++;
		return;
	}
	sums->tx_packets++;
	sums->tx_bytes += bytes;
}
