/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Subscription tables that ask for everything a trace has: one row an event name, its
 * fields ten at a time; members of structures, elements, and options of variants too.
 */
#ifndef BLK_TEST_WIDE_TABLE_H
#define BLK_TEST_WIDE_TABLE_H

#include "trace/ctf/ctf_meta.h"
#include "trace/event.h"

struct wide_table {
	struct blk_subscription *rows;
	size_t n_rows;
	GPtrArray *strings;
};

struct wide_names;

struct wide_names *wide_names_new(void);
void wide_names_add(struct wide_names *w, const struct ctf_meta *m);	/* any number of them */
void wide_names_free(struct wide_names *w);

/* How many tables it takes, at most `max`. */
unsigned wide_names_tables(const struct wide_names *w, unsigned max);
void wide_table_init(struct wide_table *t, const struct wide_names *w, unsigned number);
void wide_table_clear(struct wide_table *t);

#endif
