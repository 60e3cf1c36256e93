/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sorting of plain arrays with GLib's stable sort, whose name depends on the version:
 * g_qsort_with_data() is deprecated since 2.82, where g_sort_array() replaces it.
 */
#ifndef BLK_BASE_SORT_H
#define BLK_BASE_SORT_H

#include <glib.h>

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
