/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growing arrays for the hot path. A new element is written in place, without a call. All elements of an array have
 * the same size, which is passed to each function. Addresses change when it grows. Not thread safe. A zeroed struct
 * vec is empty.
 */
#ifndef BLK_BASE_VEC_H
#define BLK_BASE_VEC_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

struct vec {
	void *data;
	uint32_t len, room;	/* elements in use, allocated */
};

#define vec_at(v, T, i) (&((T *)(v)->data)[i])
#define vec_add(v, T) ((T *)vec_more(v, sizeof(T)))

void vec_grow(struct vec *v, uint32_t room, size_t size);	/* room for at least so many elements */
void vec_free(struct vec *v);					/* frees all; empty */
void vec_append(struct vec *v, const void *from, uint32_t n, size_t size);
void vec_drop(struct vec *v, uint32_t n, size_t size);		/* removes the first n */
/*
 * For elements sorted by an int64_t at offset `off`: the index of the first element whose value is greater than `at`;
 * .len: there is none. The search begins at index `hint` (any number), as the result is often near the one before.
 */
static inline uint32_t vec_first_after(const struct vec *v, size_t size, size_t off, int64_t at, uint32_t hint)
{
	uint32_t lo = MIN(hint, v->len), hi = lo, step = 1;
#define KEY(i) (*(const int64_t *)(const void *)((const char *)v->data + off + (size_t)(i) * size))
	for (; hi < v->len && KEY(hi) <= at; step *= 2) {
		lo = hi + 1;
		hi = v->len - hi > step ? hi + step : v->len;
	}
	for (step = 1; lo > 0 && KEY(lo - 1) > at; step *= 2) {
		hi = lo - 1;
		lo -= MIN(step, lo);
	}
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (KEY(mid) <= at)
			lo = mid + 1;
		else
			hi = mid;
	}
#undef KEY
	return lo;
}
void vec_sort_many(struct vec *v, size_t size, GCompareDataFunc compare, void *data);	/* vec_sort() for more than
											 * VEC_FEW elements */

#define VEC_FEW 24		/* up to this many are sorted by insertion: no allocation, and fast if they are
				 * almost sorted */
#define VEC_MAX_SIZE 128

/* Stable. Inline, so that `compare` is inlined, too. */
static inline G_ALWAYS_INLINE void vec_sort(struct vec *v, size_t size, GCompareDataFunc compare, void *data)
{
	char *at = v->data, one[VEC_MAX_SIZE];
	if (v->len > VEC_FEW || size > VEC_MAX_SIZE) {
		vec_sort_many(v, size, compare, data);
		return;
	}
	for (uint32_t i = 1; i < v->len; i++) {
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

/* Appends an element, which is not initialised. */
static inline void *vec_more(struct vec *v, size_t size)
{
	if (G_UNLIKELY(v->len == v->room))
		vec_grow(v, v->len + 1, size);
	return (char *)v->data + (size_t)v->len++ * size;
}

#endif
