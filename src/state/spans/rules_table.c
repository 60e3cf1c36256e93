/* SPDX-License-Identifier: GPL-2.0-only */
/* The subscription table with the events and fields that the installed rules need. */
#include "state/slice/slice.h"
#include "state/spans/rules_private.h"
#include "state/store/timeline.h"

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

bool rules_install(struct rules *r, GError **error)
{
	size_t n;
	rules_free(table.rules);
	table.rules = r;
	table.of = NULL;
	table.of_full = NULL;
	g_clear_pointer(&table.subs, g_array_unref);
	g_clear_pointer(&table.rows, g_array_unref);
	slice_subscriptions(&n);
	if (!table.of_full)
		return true;
	g_set_error(error, BLK_RULES_ERROR, 0, "%s:%u: [%s]: at most %d fields of an event can be read, "
		    "and the rules use more of %s", table.of_full->file, table.of_full->line,
		    table.of_full->name, BLK_MAX_FIELDS, table.full);
	rules_install(NULL, NULL);
	return false;
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

const char *rules_digest(void)
{
	return table.rules ? g_checksum_get_string(table.rules->digest) : "";
}

size_t rules_n_installed(void)
{
	return table.rules ? rules_n(table.rules) : 0;
}

char *rule_keyless_name(const struct rule *r, const struct rule_event *e, const char *field)
{
	return g_strdup_printf("(rule %s: %s without %s)", r->name, e->name, field);
}

static void add_keyless(GString *text, const struct rule *r, const struct rule_event *e, const char *field,
			const char *key, const struct timeline *tl)
{
	g_autofree char *name = rule_keyless_name(r, e, field);

	if (timeline_has_event(tl, name))
		g_string_append_printf(text, "%s%s has no %s%s of its %s", text->len ? ", " : "", e->name,
				       strcmp(field, RULE_THREAD) ? "field " : "", field, key);
}

/* Appends what of the key events did not have. */
static void add_key(GString *text, const struct rule *r, const struct rule_event *e, const struct rule_key *k,
		    const char *key, const struct timeline *tl)
{
	if (k->by_thread && !timeline_has_event(tl, "sched_switch"))
		add_keyless(text, r, e, RULE_THREAD, key, tl);
	for (guint i = 0; i < k->fields->len; i++)
		add_keyless(text, r, e, g_ptr_array_index(e->fields, g_array_index(k->fields, guint, i)), key, tl);
}

char *rules_missing_text(size_t i, const struct timeline *tl)
{
	const struct rule *r = g_ptr_array_index(table.rules->all, i);
	const struct rule_event *const events[] = { &r->begin, &r->end };
	g_autoptr(GString) text = g_string_new(NULL);

	for (size_t e = 0; e < G_N_ELEMENTS(events); e++)
		if (!timeline_has_event(tl, events[e]->name))
			g_string_append_printf(text, "%sno %s", text->len ? ", " : "", events[e]->name);
	add_key(text, r, &r->begin, &r->begin_key, "key", tl);
	add_key(text, r, &r->end, &r->end_key, "key", tl);
	if (r->parent == PARENT_RULE)
		add_key(text, r, &r->begin, &r->parent_key, "parent_key", tl);
	return text->len ? g_strdup_printf("%s:%u: [%s]: %s", r->file, r->line, r->name, text->str) : NULL;
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
	return g_array_index(table.rows, struct ruled_row, row).begun;
}

const GArray *rules_ended_by(unsigned row)
{
	return g_array_index(table.rows, struct ruled_row, row).ended;
}
