/* SPDX-License-Identifier: GPL-2.0-only */
/* The subscription table with the events and fields that the installed rules need; see rules_table.h. */
#include "state/kernel/rules_table.h"

#include "base/each.h"
#include "base/limits.h"
#include "base/mix.h"

#include <string.h>

#define NO_ROW G_MAXUINT16

struct ruled_row {
	unsigned base;			/* row of the handler that runs first; NO_ROW: none */
	GArray *begun, *ended;		/* struct rule_use; NULL: no rule needs the row */
};

/* One per process: readers borrow the table for their whole lifetime, so rows never move. */
static struct {
	struct rules *rules;
	unsigned generation;
	const struct blk_subscription *of;	/* the table without rules */
	struct blk_subscription *subs;	/* .capacity of them */
	struct ruled_row *rows;		/* likewise */
	size_t n, n_known, capacity;	/* rows in use; those of them that exist before any class is met */
	GHashTable *by_class;		/* "ROW EVENT" -> row + 1: classes that were met */
	GPtrArray *names;		/* char *: of events that rows made later are for */
	GHashTable *crowded;		/* number of the rule -> char *: names of events */
	const char *full;		/* an event with more fields than slots; NULL: none */
	const struct rule *of_full;
	gint looks_back;		/* atomic: see rules_look_back() */
	GMutex lock;
} table;

bool rule_takes(const struct rule_event *e)
{
	ARRAY_EACH(const struct rule_link, l, e->links)
		if (!l->out)
			return true;
	return false;
}

/* Needs its beginning, or its end, what came before it? */
static bool begin_looks_back(const struct rule *r)
{
	return rule_takes(&r->begin) || r->every.texts;
}

static bool end_looks_back(const struct rule *r)
{
	return (r->is_whole && !r->at_once) || rule_takes(&r->end);
}

static bool row_looks_back(const struct ruled_row *row)
{
	for (guint i = 0; row->ended && i < row->ended->len; i++)
		if (end_looks_back(rule_at(g_array_index(row->ended, struct rule_use, i).rule)))
			return true;
	for (guint i = 0; row->begun && i < row->begun->len; i++)
		if (begin_looks_back(rule_at(g_array_index(row->begun, struct rule_use, i).rule)))
			return true;
	return false;
}

static void use_clear(gpointer p)
{
	struct rule_use *u = p;
	g_free(u->slots);
	for (size_t i = 0; i < G_N_ELEMENTS(u->text); i++)
		g_free(u->text[i]);
}

static void clear_rows(void)
{
	for (size_t i = 0; i < table.n; i++) {
		g_clear_pointer(&table.rows[i].begun, g_array_unref);
		g_clear_pointer(&table.rows[i].ended, g_array_unref);
	}
	g_clear_pointer(&table.subs, g_free);
	g_clear_pointer(&table.rows, g_free);
	g_clear_pointer(&table.by_class, g_hash_table_unref);
	g_clear_pointer(&table.names, g_ptr_array_unref);
	g_clear_pointer(&table.crowded, g_hash_table_unref);
	table.n = table.n_known = table.capacity = 0;
}

static bool has_patterns(const struct rules *rules)
{
	for (guint i = 0; rules && i < rules->all->len; i++) {
		const struct rule *r = g_ptr_array_index(rules->all, i);
		if (r->begin.n_stars || r->end.n_stars)
			return true;
	}
	return false;
}

static bool any_looks_back(const struct rules *rules)
{
	for (guint i = 0; rules && i < rules->all->len; i++) {
		const struct rule *r = g_ptr_array_index(rules->all, i);
		if (end_looks_back(r) || begin_looks_back(r))
			return true;
	}
	return false;
}

struct rules *rules_put(struct rules *r)
{
	struct rules *before = table.rules;

	clear_rows();
	table.rules = r;
	table.generation++;
	table.of = NULL;
	table.of_full = NULL;
	g_atomic_int_set(&table.looks_back, any_looks_back(r) && !has_patterns(r));
	return before;
}

bool rules_look_back(void)
{
	return g_atomic_int_get(&table.looks_back);
}

unsigned rules_generation(void)
{
	return table.generation;
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

/* ---- rules of slice files ---- */

static GArray *absent;			/* uint64_t: ids */
static GMutex absent_lock;

bool rule_is_installed(uint32_t number)
{
	return table.rules && number < table.rules->all->len;
}

uint64_t rule_id(uint32_t number)
{
	if (rule_is_installed(number))
		return rule_at(number)->id;
	g_mutex_lock(&absent_lock);
	bool known = absent && number >= RULE_ABSENT && number - RULE_ABSENT < absent->len;
	uint64_t id = known ? g_array_index(absent, uint64_t, number - RULE_ABSENT) : 0;
	g_mutex_unlock(&absent_lock);
	return id;
}

uint32_t rule_number(uint64_t id)
{
	for (guint i = 0; table.rules && i < table.rules->all->len; i++)
		if (rule_at(i)->id == id)
			return i;
	g_mutex_lock(&absent_lock);
	absent = absent ? absent : g_array_new(false, false, sizeof id);
	guint at = 0;
	while (at < absent->len && g_array_index(absent, uint64_t, at) != id)
		at++;
	if (at == absent->len && at < LIMIT_RULES)	/* further ones have no id any more */
		g_array_append_val(absent, id);
	g_mutex_unlock(&absent_lock);
	return RULE_ABSENT + at;
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

/* ---- patterns ---- */

/* Each literal between stars is searched from the left, the last one at the end: if any division matches, this does. */
bool rule_event_matches(const struct rule_event *e, const char *event, char *ret_texts[RULE_STARS])
{
	const char *text[RULE_STARS], *glob = e->glob, *at = event;
	size_t len[RULE_STARS];
	size_t head = glob ? strcspn(glob, "*") : 0;

	if (ret_texts)
		memset(ret_texts, 0, RULE_STARS * sizeof *ret_texts);
	if (!glob || strncmp(glob, event, head))
		return false;
	at += head;
	for (unsigned i = 0; i < e->n_stars; i++) {
		glob += head + (i > 0);		/* at a star */
		head = strcspn(glob + 1, "*");
		g_autofree char *literal = g_strndup(glob + 1, head);
		size_t left = strlen(at);
		const char *found = i + 1 == e->n_stars ? (left < head ? NULL : at + left - head) : strstr(at, literal);
		if (!found || strncmp(found, literal, head))
			return false;
		text[i] = at;
		len[i] = (size_t)(found - at);
		at = found + head;
	}
	for (unsigned i = 0; ret_texts && i < e->n_stars; i++)
		if (e->star[i])
			ret_texts[e->star[i] - 1] = g_strndup(text[i], len[i]);
	return !*at;
}

/* ---- rows ---- */

static size_t add_row(const struct blk_subscription *sub, unsigned base)
{
	g_assert(table.n < table.capacity);
	table.subs[table.n] = *sub;
	table.rows[table.n] = (struct ruled_row){ .base = base };
	return table.n++;
}

/* Index of the row for exactly this event; adds the row if it is missing. */
static size_t row_of(const char *event)
{
	unsigned at = subscription_of(table.subs, table.n, event);
	struct blk_subscription sub = { .event = event };
	if (at != NO_ROW && g_str_equal(table.subs[at].event, event))
		return at;
	if (at != NO_ROW)
		sub = table.subs[at];
	sub.event = event;
	sub.needs = NULL;
	sub.row_of_class = NULL;
	return add_row(&sub, at == NO_ROW ? NO_ROW : table.rows[at].base);
}

static uint8_t slot_of(size_t row, const char *field)
{
	static const char *const others[] = {
		"ctx.tid", "ctx.pid", "ctx.ppid", "ctx.procname", "ctx.vpid", "ctx.vtid",
	};
	const char **fields = table.subs[row].fields;
	if (g_str_equal(field, "cpu"))
		return SLOT_CPU;
	if (g_str_equal(field, "event"))
		return SLOT_EVENT;
	if (g_ascii_isdigit(*field))
		return (uint8_t)(SLOT_STAR1 + *field - '1');
	for (unsigned i = 0; i < G_N_ELEMENTS(others); i++)
		if (g_str_equal(field, others[i]))
			return (uint8_t)(BLK_CTX_TID + i);
	field += g_str_has_prefix(field, RULE_PAYLOAD) ? strlen(RULE_PAYLOAD) : 0;
	for (unsigned i = 0; i < BLK_MAX_FIELDS; i++) {
		if (!fields[i])
			fields[i] = field;
		if (g_str_equal(fields[i], field))
			return (uint8_t)(BLK_FIELD0 + i);
	}
	return SLOT_ABSENT;
}

/* In the order of the numbers, as begin and end may have them in different orders. */
static uint64_t pair_of(const struct rule *r, char *const texts[RULE_STARS])
{
	uint64_t pair = 0;
	for (uint8_t number = 1; number <= RULE_STARS; number++) {
		if (!memchr(r->end.star, number, r->end.n_stars))
			continue;
		pair = mix(mix_text(mix(pair, number), texts[number - 1]), 0);
	}
	return pair;
}

/* Texts: owned by the use from now on. False: a field has no room. */
static bool add_use(size_t row, guint number, bool begins, const char *event, char *texts[RULE_STARS])
{
	const struct rule *r = rule_at(number);
	const struct rule_event *e = begins ? &r->begin : &r->end;
	const char *colon = strrchr(event, ':');
	struct ruled_row *ruled = &table.rows[row];
	struct rule_use u = { .rule = number, .pair = pair_of(r, texts), .slots = g_new(uint8_t, e->fields->len + 1) };
	bool fits = true;

	u.text[0] = g_strdup(colon ? colon + 1 : event);
	memcpy(u.text + 1, texts, RULE_STARS * sizeof *texts);
	for (guint i = 0; i < e->fields->len; i++) {
		u.slots[i] = slot_of(row, g_ptr_array_index(e->fields, i));
		fits &= u.slots[i] != SLOT_ABSENT;
	}
	if (!ruled->begun) {
		ruled->begun = g_array_new(false, false, sizeof u);
		ruled->ended = g_array_new(false, false, sizeof u);
		g_array_set_clear_func(ruled->begun, use_clear);
		g_array_set_clear_func(ruled->ended, use_clear);
	}
	if (!table.subs[row].needs && !r->preset)	/* events of presets are read where they are, and not missed */
		table.subs[row].needs = RULE_NEEDS;
	g_array_append_val(begins ? ruled->begun : ruled->ended, u);
	return fits;
}

static void note_crowded(guint rule, const char *event)
{
	const char *before = g_hash_table_lookup(table.crowded, GUINT_TO_POINTER(rule));
	if (!before)
		g_hash_table_insert(table.crowded, GUINT_TO_POINTER(rule), g_strdup(event));
	else if (!g_str_equal(before, event) && !g_str_has_suffix(before, " and others"))
		g_hash_table_insert(table.crowded, GUINT_TO_POINTER(rule), g_strconcat(before, " and others", NULL));
}

/* Adds to the row all that rules say about this event. */
static void bind(size_t row, const char *event)
{
	for (guint i = 0; i < table.rules->all->len; i++)
		for (int end = 0; end < 2; end++) {
			const struct rule *r = rule_at(i);
			char *texts[RULE_STARS];
			if (!rule_event_matches(end ? &r->end : &r->begin, event, texts))
				continue;
			if (add_use(row, i, !end, event, texts))
				continue;
			if ((end ? r->end : r->begin).n_stars) {
				note_crowded(i, event);
				continue;
			}
			table.full = event;
			table.of_full = r;
		}
}

/* A row of this name calls rules_row_of_class() where patterns need no other row. */
#define PATTERNS "(patterns)"

/* The row that stands for a pattern in lists of events. It takes no event; its fields show whether there is room. */
static void add_pattern(const struct rule *r, const struct rule_event *e)
{
	size_t row = table.n;
	for (size_t i = 0; i < table.n; i++)
		if (g_str_equal(table.subs[i].event, e->glob))
			row = table.subs[i].row_of_class ? i : NO_ROW;
	const struct blk_subscription pattern = { .event = row == NO_ROW ? PATTERNS : e->glob,
						  .needs = row == NO_ROW || r->preset ? NULL : RULE_NEEDS,
						  .row_of_class = rules_row_of_class };
	if (row == NO_ROW || row == table.n)
		row = add_row(&pattern, NO_ROW);
	for (guint i = 0; i < e->fields->len; i++)
		if (slot_of(row, g_ptr_array_index(e->fields, i)) == SLOT_ABSENT) {
			table.of_full = r;
			table.full = e->name;
		}
}

static void make(const struct blk_subscription *rows, size_t n)
{
	size_t n_rules = table.rules ? table.rules->all->len : 0;

	clear_rows();
	table.capacity = n + 2 * n_rules;
	table.capacity += has_patterns(table.rules) ? LIMIT_RULE_CLASSES : 0;
	table.subs = g_new0(struct blk_subscription, table.capacity);
	table.rows = g_new0(struct ruled_row, table.capacity);
	table.by_class = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	table.names = g_ptr_array_new_with_free_func(g_free);
	table.crowded = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	for (unsigned i = 0; i < n; i++)
		add_row(&rows[i], i);
	for (guint i = 0; i < n_rules; i++) {
		const struct rule *r = rule_at(i);
		const struct rule_event *const events[] = { &r->begin, &r->end };
		for (size_t k = 0; k < G_N_ELEMENTS(events); k++)
			if (events[k]->glob && !events[k]->n_stars)
				row_of(events[k]->glob);
	}
	for (size_t row = 0; n_rules && row < table.n; row++)
		if (!strpbrk(table.subs[row].event, "*("))
			bind(row, table.subs[row].event);
	for (guint i = 0; i < n_rules; i++) {
		const struct rule *r = rule_at(i);
		if (r->begin.n_stars)
			add_pattern(r, &r->begin);
		if (r->end.n_stars)
			add_pattern(r, &r->end);
	}
	table.n_known = table.n;
	table.of = rows;
}

const struct blk_subscription *rules_table(const struct blk_subscription *rows, size_t n, size_t *ret_n)
{
	g_mutex_lock(&table.lock);
	if (table.of != rows)
		make(rows, n);
	g_mutex_unlock(&table.lock);
	*ret_n = table.n_known;
	return table.subs;
}

size_t rules_capacity(void)
{
	return table.capacity;
}

/* ---- classes that are met ---- */

static bool any_pattern_matches(const char *event)
{
	for (guint i = 0; i < table.rules->all->len; i++) {
		const struct rule *r = rule_at(i);
		if ((r->begin.n_stars && rule_event_matches(&r->begin, event, NULL)) ||
		    (r->end.n_stars && rule_event_matches(&r->end, event, NULL)))
			return true;
	}
	return false;
}

static void note_all_crowded(const char *event)
{
	for (guint i = 0; i < table.rules->all->len; i++) {
		const struct rule *r = rule_at(i);
		if (rule_event_matches(&r->begin, event, NULL) || rule_event_matches(&r->end, event, NULL))
			note_crowded(i, event);
	}
}

static uint16_t make_class_row(const char *event, uint16_t row)
{
	if (!any_pattern_matches(event))
		return row;
	if (table.n - table.n_known >= LIMIT_RULE_CLASSES) {
		note_all_crowded(event);
		return row;
	}
	char *name = g_strdup(event);
	g_ptr_array_add(table.names, name);
	struct blk_subscription sub = { 0 };
	if (row != NO_ROW)
		sub = table.subs[row];
	sub.event = name;
	sub.needs = NULL;
	size_t made = add_row(&sub, row == NO_ROW ? NO_ROW : table.rows[row].base);
	bind(made, event);
	if (row_looks_back(&table.rows[made]))
		g_atomic_int_set(&table.looks_back, true);
	return (uint16_t)made;
}

uint16_t rules_row_of_class(const char *event, uint16_t row)
{
	if (row != NO_ROW && rules_has_row(row)) {	/* patterns that match it were bound with it */
		if (row_looks_back(&table.rows[row]))
			g_atomic_int_set(&table.looks_back, true);
		return row;
	}
	g_autofree char *key = g_strdup_printf("%u %s", row, event);
	g_mutex_lock(&table.lock);
	size_t made = GPOINTER_TO_SIZE(g_hash_table_lookup(table.by_class, key));
	if (!made) {
		made = (size_t)make_class_row(event, row) + 1;
		if (g_hash_table_size(table.by_class) < LIMIT_ALL_EVENT_CLASSES)
			g_hash_table_insert(table.by_class, g_steal_pointer(&key), GSIZE_TO_POINTER(made));
	}
	g_mutex_unlock(&table.lock);
	return (uint16_t)(made - 1);
}

char *rules_crowded(unsigned i)
{
	g_mutex_lock(&table.lock);
	char *names = table.crowded ? g_strdup(g_hash_table_lookup(table.crowded, GUINT_TO_POINTER(i))) : NULL;
	g_mutex_unlock(&table.lock);
	return names;
}

const struct rule *rules_table_of(uint64_t id)
{
	for (guint i = 0; table.rules && i < table.rules->tables->len; i++) {
		const struct rule_table *t = &g_array_index(table.rules->tables, struct rule_table, i);
		if (t->id == id)
			return t->rule;
	}
	return NULL;
}

char *rule_table_note(const struct rule *of, const char *what)
{
	return g_strdup_printf("(table %s %" G_GINT64_MODIFIER "x: %s)", of->name, of->id, what);
}

char *rule_keyless_name(const struct rule *r, const struct rule_event *e, const char *field)
{
	return g_strdup_printf("(rule %s: %s without %s)", r->name, e->name, field);
}

unsigned rules_base_row(unsigned row)
{
	return table.rules && row < table.capacity ? table.rows[row].base : row;
}

bool rules_has_row(unsigned row)
{
	return table.rules && row < table.capacity && table.rows[row].begun;
}

bool rules_only_annotate(unsigned row)
{
	if (!rules_has_row(row) || table.rows[row].base != NO_ROW)
		return false;
	ARRAY_EACH(const struct rule_use, u, table.rows[row].begun)
		if (!rule_at(u->rule)->annotates)
			return false;
	return !table.rows[row].ended->len;
}

const GArray *rules_begun_by(unsigned row)
{
	g_assert(rules_has_row(row));
	return table.rows[row].begun;
}

const GArray *rules_ended_by(unsigned row)
{
	g_assert(rules_has_row(row));
	return table.rows[row].ended;
}
