/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of the log: see log_rows.h. Two tables with the same numbers: all events of a range; and what
 * names descriptors, for the time before a range. Rows that one of them does not have match nothing.
 */
#include "state/calllog/calllog_rows.h"

#include "state/calllog/calllog.h"
#include "state/kernel/handlers.h"
#include "state/spans/rules_private.h"

#include "base/call_event.h"

static struct {
	GArray *all, *names;		/* struct blk_subscription */
	GArray *rows;			/* struct log_row, of each */
	GPtrArray *texts;		/* of .names */
} tables;

static const struct blk_subscription nothing = { .event = "" };

static void add(const struct blk_subscription *of, const char *event, handler on, bool to_all, bool to_names)
{
	struct blk_subscription sub = { .event = event, .needs = of->needs };
	struct log_row row = { .on = on };
	unsigned n = 0;
	for (; n + 1 < BLK_MAX_FIELDS && of->fields[n] && strcmp(of->fields[n], BLK_COUNTERS); n++)
		sub.fields[n] = of->fields[n];
	sub.fields[n] = "*";
	row.all = (uint8_t)(BLK_FIELD0 + n);
	g_array_append_vals(tables.all, to_all ? &sub : &nothing, 1);
	g_array_append_vals(tables.names, to_names ? &sub : &nothing, 1);
	g_array_append_val(tables.rows, row);
}

/* Is it the row of all calls, most of which name nothing? */
static bool is_every_call(const char *event)
{
#define EVERY_TODAY(prefix) prefix "*",
#define EVERY_OLD(prefix)
#define EVERY(prefix, when) EVERY_##when(prefix)
	static const char *const every[] = { CALL_ENTRY_PREFIXES(EVERY) CALL_EXIT_PREFIXES(EVERY) NULL };
	return g_strv_contains(every, event);
}

/* A row of its own for the call, as the account's table has it, to be read before a range. */
static void add_call(const char *prefix, const struct call_info *call)
{
	size_t n;
	const struct blk_subscription *base = slice_base_subscriptions(&n);
	char *event = g_strconcat(prefix, call->name, NULL);
	unsigned row = subscription_of(base, n, event);
	g_ptr_array_add(tables.texts, event);
	if (!g_str_equal(base[row].event, event))	/* else it is there */
		add(&base[row], event, slice_base_row_handler(row), false, true);
}

static void fill(void)
{
	static const char *const today[] = {
#define TODAY(prefix) prefix,
#define OLD(prefix)
#define PREFIX(prefix, when) when(prefix)
		CALL_ENTRY_PREFIXES(PREFIX) CALL_EXIT_PREFIXES(PREFIX)
	};
	size_t n;
	const struct blk_subscription *base = slice_base_subscriptions(&n);
	for (size_t i = 0; i < n; i++)
		if (slice_base_row_follows(i))
			add(&base[i], base[i].event, slice_base_row_handler(i), true, !is_every_call(base[i].event));
	const struct call_info *call;
	for (size_t i = 0; (call = call_info_at(i)); i++)
		for (size_t k = 0; call->fdop && k < G_N_ELEMENTS(today); k++)
			add_call(today[k], call);
	add(&nothing, "*", NULL, true, false);
}

static void make(void)
{
	static gsize once;
	if (!g_once_init_enter(&once))
		return;
	tables.all = g_array_new(false, true, sizeof(struct blk_subscription));
	tables.names = g_array_new(false, true, sizeof(struct blk_subscription));
	tables.rows = g_array_new(false, true, sizeof(struct log_row));
	tables.texts = g_ptr_array_new();
	fill();
	g_once_init_leave(&once, 1);
}

const struct log_row *log_row(unsigned row)
{
	make();
	return &g_array_index(tables.rows, struct log_row, row);
}

const struct blk_subscription *journal_subscriptions(size_t *ret_n)
{
	make();
	*ret_n = tables.all->len;
	return (const struct blk_subscription *)(void *)tables.all->data;
}

const struct blk_subscription *journal_name_subscriptions(size_t *ret_n)
{
	make();
	*ret_n = tables.names->len;
	return (const struct blk_subscription *)(void *)tables.names->data;
}
