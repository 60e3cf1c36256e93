/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subscription tables that count events by thread: all, or those of user space. They begin with as many rows as the
 * usual table has: of events that are not counted; others match nothing. The rows of the usual table follow, for
 * events that are counted, then one row for all other events. So the row number says how an event is handled.
 */
#include "state/kernel/event_class.h"
#include "state/kernel/handlers.h"
#include "state/kernel/subscriptions.h"

struct counted_rows {
	bool kernel;			/* events of the kernel count, too */
	struct blk_subscription *subs;
	size_t n;			/* rows of the usual table */
};

static size_t place_of(const struct counted_rows *table, const struct blk_subscription *row, size_t i)
{
	return table->kernel || strchr(row->event, ':') ? table->n + i : i;
}

static bool is_current(const struct counted_rows *table, const struct blk_subscription *rows, size_t n)
{
	for (size_t i = 0; i < n && table->n == n; i++)
		if (memcmp(&table->subs[place_of(table, &rows[i], i)], &rows[i], sizeof *rows))
			return false;
	return table->subs && table->n == n;
}

static const struct blk_subscription *rows_of(struct counted_rows *table, size_t *ret_n)
{
	static GMutex lock;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	g_mutex_lock(&lock);
	if (!is_current(table, rows, n)) {
		g_free(table->subs);
		table->subs = g_new0(struct blk_subscription, 2 * n + 1);
		table->n = n;
		for (size_t i = 0; i < 2 * n; i++)
			table->subs[i].event = "";
		for (size_t i = 0; i < n; i++)
			table->subs[place_of(table, &rows[i], i)] = rows[i];
		table->subs[2 * n] = (struct blk_subscription){ table->kernel ? "*" : BLK_USER, { BLK_COUNTERS },
								NULL };
	}
	g_mutex_unlock(&lock);
	*ret_n = 2 * n + 1;
	return table->subs;
}

const struct blk_subscription *slice_subscriptions_counting(size_t *ret_n)
{
	static struct counted_rows all = { .kernel = true };
	return rows_of(&all, ret_n);
}

const struct blk_subscription *slice_subscriptions_counting_user(size_t *ret_n)
{
	static struct counted_rows user;
	return rows_of(&user, ret_n);
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
void on_counted(struct fed_event *f)
{
	struct blk_event ev = *f->ev;
	struct fed_event usual = *f;
	ev.row = (uint16_t)counting_base(ev.row);
	usual.ev = &ev;
	bool known = !counting_has(ev.row);
	counted_event(&usual, known && slice_event_kind(ev.row) == KIND_SWITCH, !known);
	if (known)
		slice_handler(ev.row)(&usual);
}
