/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Texts of rules with fields and with entries of tables: "open ${filename}", "${symbol[callback]|callback}". Only for
 * rules.c.
 */
#ifndef BLK_STATE_SPANS_RULE_TEXT_H
#define BLK_STATE_SPANS_RULE_TEXT_H

#include "state/kernel/rules_table.h"

/* Where names in a text are looked for. Borrowed. */
struct rule_names {
	struct rules *rules;
	const struct preset *preset;	/* that the names of tables belong to; NULL: none */
	struct rule_event *event;	/* gets the fields that the text needs */
	const char *file;		/* for messages */
};

/* Mixes the text of n bytes, which a NUL follows, into h: for ids that stay the same from run to run. */
uint64_t rule_hash(uint64_t h, const char *text, size_t n);
/* Index of the field in .fields of the event, added if it is new; -1: it is not the name of a field. */
int rule_field(struct rule_event *e, const char *name);
/* The number of the table; it is added if it is new, and need not be defined yet. */
guint rule_table_number(struct rules *rules, const struct preset *preset, const char *name, const char *file);

void rule_template_clear(struct rule_template *t);
/* Fills the template, which is cleared first. Why the text is wrong (g_free()); NULL: it is fine. */
char *rule_template_read(const struct rule_names *n, struct rule_template *t, const char *text);

/* Does the part of a list name an entry of a table ("topic[publisher]"), and not a field ("args[0]")? */
bool rule_is_lookup(const char *text);
/* Appends the entry to a template that is a part of a key. The same as above. */
char *rule_template_add(const struct rule_names *n, struct rule_template *t, const char *entry);
/* Splits at commas that are not within brackets. g_strfreev(). */
char **rule_list(const char *text);

#endif
