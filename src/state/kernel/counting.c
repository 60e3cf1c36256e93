/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subscription table that counts all events by thread. It begins with rows that match nothing, as many as the
 * usual table has. The rows of the usual table follow, then one row for all other events. So the row number says how
 * an event is handled.
 */
#include "state/kernel/event_class.h"
#include "state/kernel/handlers.h"
#include "state/slice/slice.h"

static struct {
	struct blk_subscription *subs;
	size_t n;			/* rows of the usual table */
	GMutex lock;
} table;

static bool is_current(const struct blk_subscription *rows, size_t n)
{
	return table.subs && table.n == n && !memcmp(table.subs + n, rows, n * sizeof *rows);
}

static void make(const struct blk_subscription *rows, size_t n)
{
	g_free(table.subs);
	table.subs = g_new0(struct blk_subscription, 2 * n + 1);
	table.n = n;
	for (size_t i = 0; i < n; i++)
		table.subs[i].event = "";
	memcpy(table.subs + n, rows, n * sizeof *rows);
	table.subs[2 * n] = (struct blk_subscription){ "*", { BLK_COUNTERS }, NULL };
}

const struct blk_subscription *slice_subscriptions_counting(size_t *ret_n)
{
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	g_mutex_lock(&table.lock);
	if (!is_current(rows, n))
		make(rows, n);
	g_mutex_unlock(&table.lock);
	*ret_n = 2 * n + 1;
	return table.subs;
}

unsigned counting_base(unsigned row)
{
	size_t n;
	slice_subscriptions(&n);
	return row < n ? row : row - (unsigned)n;
}

bool counting_has(unsigned row)
{
	size_t n;
	slice_subscriptions(&n);
	return row >= n;
}

/* Counts the event, then calls its handler in the usual table. */
void on_counted(struct feed *f)
{
	struct blk_event ev = *f->ev;
	struct feed usual = *f;
	ev.row = (uint16_t)counting_base(ev.row);
	usual.ev = &ev;
	bool known = !counting_has(ev.row);
	counted_event(&usual, known && slice_event_kind(ev.row) == KIND_SWITCH, !known);
	if (known)
		slice_handler(ev.row)(&usual);
}
