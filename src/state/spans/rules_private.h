/* SPDX-License-Identifier: GPL-2.0-only */
/* The inside of rules: what handlers and pairing read. Only for src/state/. */
#ifndef BLK_STATE_SPANS_RULES_PRIVATE_H
#define BLK_STATE_SPANS_RULES_PRIVATE_H

#include "base/expr.h"
#include "state/spans/rules.h"
#include "trace/event.h"

#define SLOT_CPU 254			/* what is no slot of an event */
#define SLOT_ABSENT 255
#define RULE_NO_KEY 0			/* of an event that lacks a field of its key */

/* The fields that one side of a rule reads. Slots are known once it is installed. */
struct rule_event {
	char *name;			/* NULL: not told */
	GPtrArray *fields;		/* char *: "fd", "ctx.vpid", "cpu" */
	GArray *slots;			/* uint8_t, of them: enum blk_slot, SLOT_CPU */
	struct expr *only_if, *error_if;	/* over columns of .fields; or NULL */
};

enum rule_parent { PARENT_NONE, PARENT_THREAD, PARENT_RULE };

struct rule_template {			/* text, field, text, field, ... text */
	GPtrArray *texts;		/* char *, one more than fields */
	GArray *fields;			/* guint: in the begin's */
};

struct rule_key {
	bool given, by_thread;
	GArray *fields;			/* guint: in the event's, in order */
};

struct rule {
	char *name, *file;
	unsigned line;
	struct rule_event begin, end;
	struct rule_key begin_key, end_key, parent_key;	/* the parent's: of the begin event */
	struct rule_template text, service;		/* .texts NULL: not told */
	GArray *tags;			/* guint: of the begin */
	enum rule_parent parent;
	char *parent_name;		/* PARENT_RULE */
	unsigned parent_rule;
	bool nested;
};

struct rules {
	GPtrArray *all;			/* struct rule * */
};

const struct rules *rules_installed(void);	/* NULL: none */
static inline const struct rule *rule_at(unsigned i)
{
	return g_ptr_array_index(rules_installed()->all, i);
}

/* The table that rules are part of; see handlers.c. */
const struct blk_subscription *rules_table(const struct blk_subscription *rows, size_t n,
					   size_t *ret_n);
/* The row that takes events of that name, as readers choose it: exact before prefix, the longer prefix
 * before the shorter. G_MAXUINT16: none. */
unsigned subscription_of(const struct blk_subscription *rows, size_t n, const char *event);
/* Of a row of that table: the row that had the event before, G_MAXUINT16: none. */
unsigned rules_base_row(unsigned row);
bool rules_has_row(unsigned row);		/* do rules want its event? */
/* Rules that the row's event begins, and ends: guint. */
const GArray *rules_begun_by(unsigned row);
const GArray *rules_ended_by(unsigned row);

#endif
