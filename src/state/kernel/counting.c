/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The subscription tables that count events by thread: all, or those of user space. They begin with as many rows as the
 * usual table has: of events that are not counted; others match nothing. The rows of the usual table follow, for
 * events that are counted, then one row for all other events. So the row number says how an event is handled.
 */
#include "state/kernel/event_class.h"
#include "state/kernel/handlers.h"
#include "state/kernel/rules_table.h"
#include "state/kernel/subscriptions.h"

struct counted_rows {
	bool kernel;			/* events of the kernel count, too */
	struct blk_subscription *subs;
	size_t n;			/* rows that the usual table can have */
	unsigned generation;		/* of the rules in it */
};

static struct counted_rows all = { .kernel = true }, user;

static size_t place_of(const struct counted_rows *table, const char *event, size_t i)
{
	return table->kernel || strchr(event, ':') ? table->n + i : i;
}

/* The row for a class that a pattern matches, in the place that its row of the usual table has here. */
static uint16_t row_of_class(const struct counted_rows *table, const char *event, uint16_t row)
{
	size_t n;
	uint16_t usual = row < table->n ? row : row < 2 * table->n ? (uint16_t)(row - table->n) : G_MAXUINT16;
	uint16_t made = rules_row_of_class(event, usual);
	if (made == usual)
		return row;
	size_t place = place_of(table, event, made);
	table->subs[place] = slice_subscriptions(&n)[made];
	return (uint16_t)place;
}

static uint16_t row_of_class_all(const char *event, uint16_t row)
{
	return row_of_class(&all, event, row);
}

static uint16_t row_of_class_user(const char *event, uint16_t row)
{
	return row_of_class(&user, event, row);
}

static const struct blk_subscription *rows_of(struct counted_rows *table, size_t *ret_n)
{
	static GMutex lock;
	size_t n;
	const struct blk_subscription *rows = slice_subscriptions(&n);
	g_mutex_lock(&lock);
	if (!table->subs || table->generation != rules_generation()) {
		g_free(table->subs);
		table->n = rules_capacity();
		table->generation = rules_generation();
		table->subs = g_new0(struct blk_subscription, 2 * table->n + 1);
		for (size_t i = 0; i < 2 * table->n; i++)
			table->subs[i].event = "";
		for (size_t i = 0; i < n; i++) {
			struct blk_subscription *at = &table->subs[place_of(table, rows[i].event, i)];
			*at = rows[i];
			if (at->row_of_class)
				at->row_of_class = table->kernel ? row_of_class_all : row_of_class_user;
		}
		table->subs[2 * table->n] = (struct blk_subscription){ .event = table->kernel ? "*" : BLK_USER,
								       .fields = { BLK_COUNTERS } };
	}
	g_mutex_unlock(&lock);
	*ret_n = 2 * table->n + 1;
	return table->subs;
}

const struct blk_subscription *slice_subscriptions_counting(size_t *ret_n)
{
	return rows_of(&all, ret_n);
}

const struct blk_subscription *slice_subscriptions_counting_user(size_t *ret_n)
{
	return rows_of(&user, ret_n);
}

static unsigned usual_rows(void)
{
	size_t n;
	slice_subscriptions(&n);	/* makes the table, if there is none yet */
	return (unsigned)rules_capacity();
}

unsigned counting_base(unsigned row)
{
	unsigned n = usual_rows();
	return row < n ? row : row - n;
}

bool counting_has(unsigned row)
{
	return row >= usual_rows();
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
