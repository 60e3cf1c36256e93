/* SPDX-License-Identifier: GPL-2.0-only */
/* Growing arrays: see vec.h. */
#include "base/vec.h"
#include "base/sort.h"

#define LEAST 8
#define SMALL (1024 * 1024)	/* bytes */

void vec_grow(struct vec *v, uint32_t room, size_t size)
{
	if (room <= v->room)
		return;
	g_assert(room > v->len && v->room <= UINT32_MAX / 2);
	uint32_t by = (size_t)v->room * size < SMALL ? 4 : 2;	/* growing copies everything */
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
	g_assert(!n || from != v->data);		/* growing would move it */
	if (!n)
		return;
	vec_grow(v, v->len + n, size);
	memcpy((char *)v->data + (size_t)v->len * size, from, (size_t)n * size);
	v->len += n;
}

void vec_drop(struct vec *v, uint32_t n, size_t size)
{
	g_assert(n <= v->len);
	if (!n)
		return;
	v->len -= n;
	memmove(v->data, (char *)v->data + (size_t)n * size, (size_t)v->len * size);
}

void vec_sort_many(struct vec *v, size_t size, GCompareDataFunc compare, void *data)
{
	sort_array(v->data, v->len, size, compare, data);
}
