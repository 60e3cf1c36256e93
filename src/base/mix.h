/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hashes of values that follow each other. A result is the same in every run and on every machine: ids and keys
 * that slices exchange are made of them. Against chosen inputs, begin with a random number (hash_key() of
 * state/store/schema.c).
 */
#ifndef BLK_BASE_MIX_H
#define BLK_BASE_MIX_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static inline uint64_t mix_bytes(uint64_t h, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		h = mix(h, (uint8_t)bytes[i]);
	return h;
}

/* Without its end: texts that follow each other need something between them. */
static inline uint64_t mix_text(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = mix(h, (uint8_t)*text);
	return h;
}

#endif
