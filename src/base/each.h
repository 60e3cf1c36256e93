/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops over all elements of a container, as `for` loops: break and continue work. The body must not add or remove
 * elements. (Where the index is needed, write the loop.)
 *
 *     ARRAY_EACH(const struct fact, f, s->facts)
 *             if (f->ts > at)
 *                     ...
 */
#ifndef BLK_BASE_EACH_H
#define BLK_BASE_EACH_H

#include <glib.h>
#include <stdbool.h>

/* Of a GArray or struct vec of T: x is T *, and points to each. */
#define ARRAY_EACH(T, x, array) \
	for (T *x = (T *)(void *)(array)->data, *x##_end = (array)->len ? x + (array)->len : x; x < x##_end; x++)

/* Of a GPtrArray: x is T *, and is each pointer. */
#define PTR_EACH(T, x, array) \
	for (T *x, **x##_at = (T **)(void *)(array)->pdata, **x##_end = (array)->len ? x##_at + (array)->len : x##_at; \
	     x##_at < x##_end && (x = *x##_at, true); x##_at++)

/* Of a GHashTable: x.key and x.value are each entry, in no order. Only g_hash_table_iter_remove(&x.it) and
 * g_hash_table_iter_steal(&x.it) may change the table. */
#define TABLE_EACH(x, table) \
	for (struct table_at x = table_begin(table); g_hash_table_iter_next(&x.it, &x.key, &x.value);)

struct table_at {
	GHashTableIter it;
	gpointer key, value;
};

static inline struct table_at table_begin(GHashTable *table)
{
	struct table_at at = { .key = NULL };

	g_hash_table_iter_init(&at.it, table);
	return at;
}

/* The first index i in [0, n) for which `is_after` holds, an expression of i that holds for all later ones, too; n: it
 * holds for none. O(log n).
 *
 *     guint next = FIRST_INDEX(i, a->len, g_array_index(a, int64_t, i) > at);
 */
#define FIRST_INDEX(i, n, is_after) \
	({ \
		size_t low_ = 0, high_ = (n); \
		while (low_ < high_) { \
			size_t i = low_ + (high_ - low_) / 2; \
			if (is_after) \
				high_ = i; \
			else \
				low_ = i + 1; \
		} \
		low_; \
	})

#endif
