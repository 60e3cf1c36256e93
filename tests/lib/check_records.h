/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of the native reader against those of babeltrace2's. */
#ifndef BLK_TEST_CHECK_RECORDS_H
#define BLK_TEST_CHECK_RECORDS_H

#include "lib/check_events.h"
#include "trace/reader.h"

/*
 * All traces below dir, with the program's subscription table and with ones that ask
 * for everything. Prints as check_events() does; may abort as it may.
 *
 * Events come in the same order, those of one instant too; so do the records of a stream.
 * Tallies are equal as sums of a second and class. ts, row, class name, stream and all
 * slots are compared.
 */
void check_records(const char *dir, struct check_counts *ret);
extern unsigned check_records_tables;	/* how many that ask for everything, at most (4) */

/* The same of two sources, which are taken over. `what` is printed. */
struct check_pair {
	struct source *(*open[2])(void *data, GError **error);
	const char *name[2];
	void *data;
	const char *what;
};
void check_records_pair(const struct check_pair *p, struct check_counts *ret);

#endif
