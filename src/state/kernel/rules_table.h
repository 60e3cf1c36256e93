/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rules for spans (state/spans/rules.h) as handlers and pairing read them, and the subscription table with the
 * events and fields that they need. One set of rules is installed in the process. Only for src/state/.
 */
#ifndef BLK_STATE_KERNEL_RULES_TABLE_H
#define BLK_STATE_KERNEL_RULES_TABLE_H

#include "base/expr.h"
#include "trace/event.h"

#define SLOT_CPU 254			/* not a slot: the event's CPU */
#define SLOT_ABSENT 255
#define RULE_NO_KEY 0			/* the event has no value for a field of its key */

/* The fields that one side of a rule reads. Slots are assigned when the rule is installed. */
struct rule_event {
	char *name;			/* NULL: not given */
	GPtrArray *fields;		/* char *: "fd", "ctx.vpid", "cpu" */
	GArray *slots;			/* uint8_t, for each field: enum blk_slot, or SLOT_CPU */
	struct expr *only_if, *error_if;	/* over columns of .fields; or NULL */
};

enum rule_parent { PARENT_NONE, PARENT_THREAD, PARENT_RULE };

struct rule_template {			/* text, field, text, field, ... text */
	GPtrArray *texts;		/* char *, one more than fields */
	GArray *fields;			/* guint: index in the begin event's fields */
};

struct rule_key {
	bool given, by_thread;
	GArray *fields;			/* guint: index in the event's fields, in order */
};

struct rule {
	char *name, *file;
	unsigned line;
	struct rule_event begin, end;
	struct rule_key begin_key, end_key, parent_key;	/* .parent_key: fields of the begin event */
	struct rule_template text, service;		/* .texts NULL: not given */
	GArray *tags;			/* guint: fields of the begin event */
	enum rule_parent parent;
	char *parent_name;		/* PARENT_RULE */
	unsigned parent_rule;
	bool nested;
};

struct rules {
	GPtrArray *all;			/* struct rule * */
	GChecksum *digest;		/* of their lines */
};

/* Installs the rules (NULL: none), and returns those before, which the caller frees. */
struct rules *rules_put(struct rules *r);
/* A rule that reads more fields of the event than rows have slots, once there is a table of the installed rules; NULL:
 * all fit. */
const struct rule *rules_full(const char **ret_event);
const struct rules *rules_installed(void);	/* NULL: no rules are installed */
static inline const struct rule *rule_at(unsigned i)
{
	return g_ptr_array_index(rules_installed()->all, i);
}

/* Stands among the names of event classes (timeline_has_event()) if an event of the rule had no value for this field of
 * its key. RULE_THREAD: no context tells its thread; the kernel's switches may. Free with g_free(). */
#define RULE_THREAD "thread"
char *rule_keyless_name(const struct rule *r, const struct rule_event *e, const char *field);

/* The table with the installed rules added; see handlers.c. */
const struct blk_subscription *rules_table(const struct blk_subscription *rows, size_t n,
					   size_t *ret_n);
/* The row that matches the event's name, with the precedence that readers use: an exact name before a prefix, a
 * longer prefix before a shorter one. G_MAXUINT16: none. */
unsigned subscription_of(const struct blk_subscription *rows, size_t n, const char *event);
/* The row that had the event before rules were added; G_MAXUINT16: none. */
unsigned rules_base_row(unsigned row);
bool rules_has_row(unsigned row);		/* do rules need its event? */
/* Rules (guint) that the row's event begins, and ends. */
const GArray *rules_begun_by(unsigned row);
const GArray *rules_ended_by(unsigned row);

#endif
