/* SPDX-License-Identifier: GPL-2.0-only */
/* Tables of rules: see lookups.h. */
#include "state/spans/lookups.h"

#include "state/kernel/rules_table.h"

#include "base/limits.h"
#include "base/mix.h"

#include <string.h>

#define DEPTH 16			/* of nested texts; rules nest LOOKUP_DEPTH times */

struct lookups {
	struct slice *s;
	GHashTable *values;		/* char * -> char *, or NULL: unknown; see key_text() */
	GQueue order;			/* its keys, oldest first; borrowed */
};

struct lookups *lookups_new(struct slice *s)
{
	struct lookups *l = g_new0(struct lookups, 1);
	l->s = s;
	l->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_queue_init(&l->order);
	return l;
}

void lookups_free(struct lookups *l)
{
	if (!l)
		return;
	g_queue_clear(&l->order);
	g_hash_table_unref(l->values);
	g_free(l);
}

static void note(struct lookups *l, const struct rule *table, const char *what)
{
	g_autofree char *name = rule_table_note(table, what);
	if (!g_hash_table_contains(l->s->classes, name))
		g_hash_table_add(l->s->classes, g_steal_pointer(&name));
}

/* Tables of processes have an entry for each process. */
static char *key_text(const struct rule *table, const struct annot *a, const char *key)
{
	return g_strdup_printf("%u %u %d %s", table->table, a->host, table->by_host ? -1 : a->vpid, key);
}

/* ---- what texts mean ---- */

struct lookup_text {
	struct lookups *l;
	const struct annot *a;
	const char *at;
	unsigned depth;
	const struct rule *missing;	/* a table that has no entry; NULL: none, or another alternative is known */
};

/* Up to the mark that ends it, or the end of the text. False: a part of it is unknown. */
static bool resolve_part(struct lookup_text *c, GString *to);

/* Behind LOOKUP_TABLE: "ID;KEY" LOOKUP_END. */
static bool resolve_table(struct lookup_text *c, GString *to)
{
	g_autoptr(GString) key = g_string_new(NULL);
	char *end;
	uint64_t id = g_ascii_strtoull(c->at, &end, 16);
	c->at = *end == ';' ? end + 1 : end;
	bool known = resolve_part(c, key);
	const struct rule *table = rules_table_of(id);
	if (!table) {			/* it is of a slice file */
		g_string_append_c(to, '?');
		return false;
	}
	g_autofree char *text = key_text(table, c->a, key->str);
	const char *value = known ? g_hash_table_lookup(c->l->values, text) : NULL;
	if (known && !value)
		c->missing = table;
	g_string_append(to, value ? value : "?");
	return value != NULL;
}

/* Behind LOOKUP_FIRST: alternatives with LOOKUP_OR between them, and LOOKUP_END. The first that is known counts. */
static bool resolve_first(struct lookup_text *c, GString *to)
{
	size_t before = to->len;
	const struct rule *missing = c->missing;
	bool known = false, goes_on = true;
	while (goes_on) {
		g_autoptr(GString) part = g_string_new(NULL);
		bool here = resolve_part(c, part);
		if (!known) {
			g_string_truncate(to, before);
			g_string_append(to, part->str);
		}
		known |= here;
		goes_on = c->at[-1] == LOOKUP_OR;
	}
	if (known)
		c->missing = missing;
	return known;
}

static bool resolve_part(struct lookup_text *c, GString *to)
{
	bool known = true;
	c->depth++;
	while (*c->at) {
		size_t n = (size_t)(strchrnul(c->at, LOOKUP_MARK) - c->at);
		g_string_append_len(to, c->at, (gssize)n);
		c->at += n;
		if (!*c->at || !*++c->at)
			break;
		char mark = *c->at++;
		if (mark == LOOKUP_END || mark == LOOKUP_OR)
			break;
		if (mark == LOOKUP_AND)
			g_string_append_c(to, LOOKUP_BETWEEN);
		else if (mark == LOOKUP_LITERAL)
			g_string_append_c(to, LOOKUP_MARK);
		else if (c->depth < DEPTH && mark == LOOKUP_TABLE)
			known &= resolve_table(c, to);
		else if (c->depth < DEPTH && mark == LOOKUP_FIRST)
			known &= resolve_first(c, to);
		else if (mark == LOOKUP_NONE) {
			g_string_append_c(to, '?');
			known = false;
		}
	}
	c->depth--;
	return known;
}

static char *resolved(struct lookups *l, const struct annot *a, uint32_t text, bool *ret_known)
{
	struct lookup_text c = { .l = l, .a = a, .at = strtab_get(l->s->texts, text) };
	GString *to = g_string_new(NULL);
	*ret_known = resolve_part(&c, to);
	if (!*ret_known && c.missing && a->mark != MARK_EVERY)	/* not each key is due again */
		note(l, c.missing, RULE_TABLE_UNKNOWN);
	return g_string_free(to, FALSE);
}

static uint32_t resolve_text(struct lookups *l, const struct annot *a, uint32_t text, size_t most)
{
	bool known;
	g_autofree char *means = resolved(l, a, text, &known);
	return strtab_add_len(l->s->texts, means, MIN(strlen(means), most));
}

static void resolve_key(struct lookups *l, struct annot *a)
{
	bool known;
	g_autofree char *key = resolved(l, a, a->val, &known);
	uint64_t *of = a->mark == MARK_LINK_OUT ? &a->address : &a->trace;
	uint64_t h = mix_text(*of, key);
	a->val = 0;
	if (*of != RULE_NO_KEY)
		*of = !known ? RULE_NO_KEY : h != RULE_NO_KEY ? h : 1;
}

void lookups_resolve(struct lookups *l, struct annot *a)
{
	if (a->looks_up & LOOKS_UP_NAME)
		a->name = resolve_text(l, a, a->name, LIMIT_RULE_TEXT_BYTES);
	if (a->looks_up & LOOKS_UP_SERVICE)
		a->service = resolve_text(l, a, a->service, LIMIT_RULE_TEXT_BYTES);
	if (a->looks_up & LOOKS_UP_VALUE)
		a->val = resolve_text(l, a, a->val, LIMIT_RULE_TEXT_BYTES);
	if (a->looks_up & LOOKS_UP_TEXT)
		a->key = resolve_text(l, a, a->key, LIMIT_TEXT_BYTES);
	if (a->looks_up & LOOKS_UP_KEY)
		resolve_key(l, a);
	a->looks_up = 0;
}

/* ---- definitions ---- */

void lookups_define(struct lookups *l, const struct annot *a)
{
	const struct rule *table = rule_at(a->rule);
	bool known = true;
	char *value = a->looks_up & LOOKS_UP_VALUE ? resolved(l, a, a->val, &known) :
		      g_strdup(strtab_get(l->s->texts, a->val));
	char *key = key_text(table, a, strtab_get(l->s->texts, a->key));

	if (!known)			/* what was before is no longer true */
		g_clear_pointer(&value, g_free);
	if (!g_hash_table_contains(l->values, key)) {
		g_queue_push_tail(&l->order, key);
		if (l->order.length > LIMIT_TABLE_ENTRIES) {
			g_hash_table_remove(l->values, g_queue_pop_head(&l->order));
			note(l, table, RULE_TABLE_FULL);
		}
	}
	g_hash_table_insert(l->values, key, value);	/* an old key stays */
}
