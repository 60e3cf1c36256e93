/* SPDX-License-Identifier: GPL-2.0-only */
/* The subscription table with the events and fields that the installed rules need; see rules_table.h. */
#include "state/kernel/rules_table.h"

#include <string.h>

#define NO_ROW G_MAXUINT16

struct ruled_row {
	unsigned base;			/* row of the handler that runs first; NO_ROW: none */
	GArray *begun, *ended;		/* guint: numbers of rules; NULL: none */
};

/* One per process: readers borrow the table for their whole lifetime. */
static struct {
	struct rules *rules;
	const struct blk_subscription *of;	/* the table without rules */
	GArray *subs;			/* struct blk_subscription */
	GArray *rows;			/* struct ruled_row, with the index of .subs */
	const char *full;		/* an event with more fields than slots; NULL: none */
	const struct rule *of_full;
	GMutex lock;
} table;

static void row_clear(gpointer p)
{
	struct ruled_row *r = p;
	g_clear_pointer(&r->begun, g_array_unref);
	g_clear_pointer(&r->ended, g_array_unref);
}

struct rules *rules_put(struct rules *r)
{
	struct rules *before = table.rules;

	table.rules = r;
	table.of = NULL;
	table.of_full = NULL;
	g_clear_pointer(&table.subs, g_array_unref);
	g_clear_pointer(&table.rows, g_array_unref);
	return before;
}

const struct rule *rules_full(const char **ret_event)
{
	*ret_event = table.full;
	return table.of_full;
}

const struct rules *rules_installed(void)
{
	return table.rules;
}

unsigned subscription_of(const struct blk_subscription *rows, size_t n, const char *event)
{
	unsigned best = NO_ROW;
	size_t most = 0;
	for (unsigned i = 0; i < n; i++) {
		size_t len = strlen(rows[i].event);
		if (g_str_equal(rows[i].event, event))
			return i;
		if (len && rows[i].event[len - 1] == '*' && !strncmp(rows[i].event, event, len - 1) &&
		    (best == NO_ROW || len > most)) {
			best = i;
			most = len;
		}
	}
	return best;
}

/* Index of the row for exactly this event; adds the row if it is missing. */
static unsigned row_of(const char *event)
{
	unsigned at = subscription_of((const struct blk_subscription *)(void *)table.subs->data, table.subs->len,
				      event);
	struct blk_subscription sub = { .event = event };
	if (at != NO_ROW)
		sub = g_array_index(table.subs, struct blk_subscription, at);
	if (at == NO_ROW || !g_str_equal(sub.event, event)) {
		struct ruled_row none = { .base = at == NO_ROW ? NO_ROW :
				g_array_index(table.rows, struct ruled_row, at).base };
		sub.event = event;
		sub.needs = NULL;
		at = table.subs->len;
		g_array_append_val(table.subs, sub);
		g_array_append_val(table.rows, none);
	}
	struct ruled_row *row = &g_array_index(table.rows, struct ruled_row, at);
	if (!row->begun) {
		row->begun = g_array_new(false, false, sizeof(guint));
		row->ended = g_array_new(false, false, sizeof(guint));
		if (!sub.needs)
			g_array_index(table.subs, struct blk_subscription, at).needs = "spans, by a rule";
	}
	return at;
}

static uint8_t slot_of(unsigned row, const char *field)
{
	static const char *const others[] = {
		"ctx.tid", "ctx.pid", "ctx.ppid", "ctx.procname", "ctx.vpid", "ctx.vtid",
	};
	const char **fields = g_array_index(table.subs, struct blk_subscription, row).fields;
	if (g_str_equal(field, "cpu"))
		return SLOT_CPU;
	for (unsigned i = 0; i < G_N_ELEMENTS(others); i++)
		if (g_str_equal(field, others[i]))
			return (uint8_t)(BLK_CTX_TID + i);
	for (unsigned i = 0; i < BLK_MAX_FIELDS; i++) {
		if (!fields[i])
			fields[i] = field;
		if (g_str_equal(fields[i], field))
			return (uint8_t)(BLK_FIELD0 + i);
	}
	return SLOT_ABSENT;
}

static void bind(const struct rule *r, struct rule_event *e, unsigned row)
{
	g_array_set_size(e->slots, 0);
	for (guint i = 0; i < e->fields->len; i++) {
		uint8_t slot = slot_of(row, g_ptr_array_index(e->fields, i));
		g_array_append_val(e->slots, slot);
		if (slot == SLOT_ABSENT) {
			table.of_full = r;
			table.full = e->name;
		}
	}
}

static void make(const struct blk_subscription *rows, size_t n)
{
	table.subs = g_array_sized_new(false, true, sizeof(struct blk_subscription), (guint)n);
	table.rows = g_array_sized_new(false, true, sizeof(struct ruled_row), (guint)n);
	g_array_set_clear_func(table.rows, row_clear);
	g_array_append_vals(table.subs, rows, (guint)n);
	for (unsigned i = 0; i < n; i++) {
		struct ruled_row same = { .base = i };
		g_array_append_val(table.rows, same);
	}
	for (guint i = 0; table.rules && i < table.rules->all->len; i++) {
		struct rule *r = g_ptr_array_index(table.rules->all, i);
		unsigned begin = row_of(r->begin.name), end = row_of(r->end.name);
		g_array_append_val(g_array_index(table.rows, struct ruled_row, begin).begun, i);
		g_array_append_val(g_array_index(table.rows, struct ruled_row, end).ended, i);
		bind(r, &r->begin, begin);
		bind(r, &r->end, end);
	}
	table.of = rows;
}

const struct blk_subscription *rules_table(const struct blk_subscription *rows, size_t n, size_t *ret_n)
{
	g_mutex_lock(&table.lock);
	if (table.of != rows)
		make(rows, n);
	g_mutex_unlock(&table.lock);
	*ret_n = table.subs->len;
	return (const struct blk_subscription *)(void *)table.subs->data;
}

char *rule_keyless_name(const struct rule *r, const struct rule_event *e, const char *field)
{
	return g_strdup_printf("(rule %s: %s without %s)", r->name, e->name, field);
}

unsigned rules_base_row(unsigned row)
{
	return table.rows && row < table.rows->len ?
		g_array_index(table.rows, struct ruled_row, row).base : row;
}

bool rules_has_row(unsigned row)
{
	return table.rules && table.rows && row < table.rows->len &&
	       g_array_index(table.rows, struct ruled_row, row).begun;
}

const GArray *rules_begun_by(unsigned row)
{
	g_assert(rules_has_row(row));
	return g_array_index(table.rows, struct ruled_row, row).begun;
}

const GArray *rules_ended_by(unsigned row)
{
	g_assert(rules_has_row(row));
	return g_array_index(table.rows, struct ruled_row, row).ended;
}
