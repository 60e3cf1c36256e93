/* SPDX-License-Identifier: GPL-2.0-only */
/* Growing arrays: see vec.h. */
#include "base/vec.h"

#include <string.h>

#define LEAST 8
#define FEW 24		/* sorted by insertion: without memory, and what is in order costs nothing */
#define MOST_SIZE 128
#define SMALL (64 * 1024)	/* bytes */

void vec_grow(struct vec *v, uint32_t room, size_t size)
{
	if (room <= v->room)
		return;
	g_assert(room > v->len && v->room <= UINT32_MAX / 2);
	uint32_t by = (size_t)v->room * size < SMALL ? 4 : 2;	/* each time all is copied */
	v->room = MAX(MAX(room, LEAST), v->room * by);
	v->data = g_realloc_n(v->data, v->room, size);
}

void vec_free(struct vec *v)
{
	g_free(v->data);
	*v = (struct vec){ 0 };
}

void vec_append(struct vec *v, const void *from, uint32_t n, size_t size)
{
	g_assert(n < UINT32_MAX - v->len);
	if (!n)
		return;
	vec_grow(v, v->len + n, size);
	memcpy((char *)v->data + (size_t)v->len * size, from, (size_t)n * size);
	v->len += n;
}

void vec_drop(struct vec *v, uint32_t n, size_t size)
{
	if (!n)
		return;
	v->len -= n;
	memmove(v->data, (char *)v->data + (size_t)n * size, (size_t)v->len * size);
}

static void insert_all(char *at, uint32_t n, size_t size, GCompareDataFunc compare, void *data)
{
	char one[MOST_SIZE];
	for (uint32_t i = 1; i < n; i++) {
		uint32_t k = i;
		while (k > 0 && compare(at + (k - 1) * size, at + i * size, data) > 0)
			k--;
		if (k == i)
			continue;
		memcpy(one, at + i * size, size);
		memmove(at + (k + 1) * size, at + k * size, (i - k) * size);
		memcpy(at + k * size, one, size);
	}
}

void vec_sort(struct vec *v, size_t size, GCompareDataFunc compare, void *data)
{
	if (v->len <= FEW && size <= MOST_SIZE)
		insert_all(v->data, v->len, size, compare, data);
	else
		g_qsort_with_data(v->data, (gint)v->len, size, compare, data);
}
