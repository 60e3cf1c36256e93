/* SPDX-License-Identifier: GPL-2.0-only */
/* A set of rows by their keys: tagged or folded rows. It stays valid when rows are built again, also for another
 * second. */
#ifndef BLK_UI_KEYSET_H
#define BLK_UI_KEYSET_H

#include "views/view.h"

struct keyset {
	GHashTable *keys;	/* NULL: empty */
};

bool keyset_has(const struct keyset *s, const struct row *row);
void keyset_set(struct keyset *s, const struct row *row, bool in);
unsigned keyset_size(const struct keyset *s);
void keyset_clear(struct keyset *s);	/* frees all */

#endif
