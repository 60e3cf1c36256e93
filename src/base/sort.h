/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Orders of values, and sorting of plain arrays with GLib's stable sort, whose name depends on the version:
 * g_qsort_with_data() is deprecated since 2.82, where g_sort_array() replaces it.
 */
#ifndef BLK_BASE_SORT_H
#define BLK_BASE_SORT_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* -1, 0 or 1, as functions that compare return it. What decides first comes first:
 *
 *     return ORDER(x->begin, y->begin) ?: ORDER(y->end, x->end) ?: strcmp(x->name, y->name);
 */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* Of elements of arrays: values, and texts (char *). */
static inline int order_u32(const void *a, const void *b)
{
	return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

static inline int order_u64(const void *a, const void *b)
{
	return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int order_i64(const void *a, const void *b)
{
	return ORDER(*(const int64_t *)a, *(const int64_t *)b);
}

static inline int order_texts(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts `n` elements of `size` bytes. Stable: equal elements keep their order. `array` may be
 * NULL when `n` is 0. `n` is at most G_MAXINT, the limit of older versions of GLib. */
static inline void sort_array(void *array, size_t n, size_t size, GCompareDataFunc compare, void *data)
{
	g_assert(n <= G_MAXINT);
	if (n < 2)
		return;
#if GLIB_CHECK_VERSION(2, 82, 0)
	g_sort_array(array, n, size, compare, data);
#else
	g_qsort_with_data(array, (gint)n, size, compare, data);
#endif
}

#endif
