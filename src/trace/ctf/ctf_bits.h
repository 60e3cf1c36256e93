/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Integers at any bit of a CTF packet (CTF 1.8, section 4.1.5). Bits of a little endian integer are counted from the
 * least significant bit of a byte. Bits of a big endian integer are counted from the most significant bit. The caller
 * must check that [pos, pos + bits) is in the data.
 */
#ifndef BLK_TRACE_CTF_CTF_BITS_H
#define BLK_TRACE_CTF_CTF_BITS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Any position and any number of bits from 1 to 64. */
static G_NO_INLINE G_GNUC_UNUSED uint64_t ctf_bits_slow(const uint8_t *base, uint64_t pos, unsigned bits, bool be)
{
	uint64_t v = 0;
	for (unsigned done = 0; done < bits;) {
		unsigned in_byte = (pos + done) & 7, left = bits - done;
		unsigned take = MIN(8 - in_byte, left);
		unsigned byte = base[(pos + done) >> 3], mask = (1u << take) - 1;
		if (be)
			v = v << take | (byte >> (8 - in_byte - take) & mask);
		else
			v |= (uint64_t)(byte >> in_byte & mask) << done;
		done += take;
	}
	return v;
}

/* `bits` 1..64 at bit `pos` of base, unsigned. */
static inline G_ALWAYS_INLINE uint64_t ctf_bits(const uint8_t *base, uint64_t pos, unsigned bits, bool be)
{
	const uint8_t *p = base + (pos >> 3);
	if (G_LIKELY(!(pos & 7))) {
		if (bits == 32) {
			uint32_t v;
			memcpy(&v, p, 4);
			return be ? GUINT32_FROM_BE(v) : GUINT32_FROM_LE(v);
		}
		if (bits == 64) {
			uint64_t v;
			memcpy(&v, p, 8);
			return be ? GUINT64_FROM_BE(v) : GUINT64_FROM_LE(v);
		}
		if (bits == 16) {
			uint16_t v;
			memcpy(&v, p, 2);
			return be ? GUINT16_FROM_BE(v) : GUINT16_FROM_LE(v);
		}
		if (bits == 8)
			return *p;
	}
	return ctf_bits_slow(base, pos, bits, be);
}

/* The lowest `bits` (1..64) of v as a signed number. */
static inline int64_t ctf_sign_extend(uint64_t v, unsigned bits)
{
	unsigned shift = 64 - bits;
	return (int64_t)(v << shift) >> shift;
}

/* pos rounded up to a multiple of `align`, a power of two. */
static inline uint64_t ctf_align(uint64_t pos, uint64_t align)
{
	return (pos + align - 1) & ~(align - 1);
}

/* The first value of the clock from `now` on whose lowest `bits` bits are `low`. */
static inline uint64_t ctf_clock_advance(uint64_t now, uint64_t low, unsigned bits)
{
	if (bits >= 64)
		return low;
	return now + ((low - now) & ((UINT64_C(1) << bits) - 1));
}

#endif
