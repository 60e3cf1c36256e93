/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of durations: see latency_rows.h. */
#include "views/latency_rows.h"

#include <glib.h>

/* 2^bits rows an octave; below 2^bits ns one row for each value. */
static unsigned fine_row(unsigned bits, int64_t ns)
{
	if (ns < INT64_C(1) << bits)
		return (unsigned)ns;
	unsigned octave = 63 - (unsigned)__builtin_clzll((uint64_t)ns) - bits;
	return ((octave + 1) << bits) + ((unsigned)(ns >> octave) & ((1u << bits) - 1));
}

static int64_t fine_low(unsigned bits, unsigned row)
{
	if (row < 1u << bits)
		return row;
	return (int64_t)((1u << bits) + (row & ((1u << bits) - 1))) << ((row >> bits) - 1);
}

unsigned latency_row(int bits, int64_t ns)
{
	g_assert(bits >= LATENCY_COARSEST && bits <= LATENCY_FINEST);
	ns = CLAMP(ns, 0, (INT64_C(1) << HIST_MAX_BITS) - 1);
	if (bits >= 0)
		return fine_row((unsigned)bits, ns);
	return ns ? 1 + ((fine_row(0, ns) - 1) >> -bits) : 0;
}

int64_t latency_row_low(int bits, unsigned row)
{
	if (bits >= 0)
		return fine_low((unsigned)bits, row);
	return row ? fine_low(0, 1 + ((row - 1) << -bits)) : 0;
}

int64_t latency_row_high(int bits, unsigned row)
{
	int64_t end = latency_row_low(bits, row + 1);
	return end >= INT64_C(1) << HIST_MAX_BITS ? INT64_MAX : end - 1;
}

int latency_rows_fit(int64_t from_ns, int64_t to_ns, unsigned most)
{
	int bits = LATENCY_FINEST;
	while (bits > LATENCY_COARSEST && latency_row(bits, to_ns) - latency_row(bits, from_ns) >= most)
		bits--;
	return bits;
}
