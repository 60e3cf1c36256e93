/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interned texts with reference counts: each text is in memory once and is freed with its last reference. While
 * references are held, equal texts are equal pointers. Thread safe. A text ends at its first NUL; at most
 * LIMIT_TEXT_BYTES bytes are stored.
 *
 * (GLib's g_ref_string_new_intern() may return a text whose last reference another thread is releasing, and has one
 * lock for all texts.)
 */
#ifndef BLK_BASE_REFTEXT_H
#define BLK_BASE_REFTEXT_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

const char *reftext_new(const char *s);			/* returns a reference; NULL counts as "" */
const char *reftext_new_len(const char *s, size_t len);
const char *reftext_ref(const char *text);		/* returns text; NULL is fine, here and below */
void reftext_unref(const char *text);
void reftext_ref_n(const char *text, unsigned n);	/* n references at once */
void reftext_unref_n(const char *text, unsigned n);
size_t reftext_bytes(const char *text);			/* allocated memory, about; NULL: 0 */

/* Its length in bytes, without the NUL. */
static inline size_t reftext_len(const char *text)
{
	uint32_t n;
	memcpy(&n, text - sizeof n, sizeof n);
	return n;
}

/* A map key for an ordered pair of texts. It depends on their addresses: it has no order and differs from run to
 * run. */
static inline uint64_t reftext_pair(const char *a, const char *b)
{
	uint64_t h = (uint64_t)(uintptr_t)a * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 32) * UINT64_C(0xff51afd7ed558ccd) + (uint64_t)(uintptr_t)b;
	return (h ^ h >> 29) * UINT64_C(0xc4ceb9fe1a85ec53);
}

/* A word made from fewer than 8 bytes, without a call: part of a hash. */
static inline uint64_t reftext_word(const char *s, size_t len)
{
	uint32_t low, high;

	if (len < 4)
		return len ? (uint64_t)(uint8_t)s[0] << 16 | (uint64_t)(uint8_t)s[len / 2] << 8 |
				     (uint8_t)s[len - 1]
			   : 0;
	memcpy(&low, s, 4);
	memcpy(&high, s + len - 4, 4);
	return (uint64_t)high << 32 | low;
}

/* A hash of the bytes; the same in every run. */
uint32_t reftext_hash(const char *s, size_t len);

#endif
