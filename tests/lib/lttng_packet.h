/* SPDX-License-Identifier: GPL-2.0-only */
/* The header and context of LTTng's packets on x86, the same in all recordings of 2.13 to 2.16. */
#ifndef BLK_TEST_LTTNG_PACKET_H
#define BLK_TEST_LTTNG_PACKET_H

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* Where fields are: bytes from the packet's beginning, all little endian. */
enum lttng_field {
	LTTNG_MAGIC = 0, LTTNG_UUID = 4, LTTNG_CLASS = 20, LTTNG_INSTANCE = 24, LTTNG_BEGIN = 32, LTTNG_END = 40,
	LTTNG_CONTENT = 48, LTTNG_SIZE = 56, LTTNG_SEQUENCE = 64, LTTNG_DISCARDED = 72, LTTNG_CPU = 80,
	LTTNG_HEADER = 84,		/* bytes of all of it */
};

/* Bytes of the field. */
static inline size_t lttng_width(enum lttng_field f)
{
	return f == LTTNG_MAGIC || f == LTTNG_CLASS || f == LTTNG_CPU ? 4 : f == LTTNG_UUID ? 16 : 8;
}

static inline uint64_t lttng_get(const uint8_t *packet, enum lttng_field f)
{
	uint64_t v = 0;
	memcpy(&v, packet + f, MIN(lttng_width(f), sizeof v));
	return GUINT64_FROM_LE(v);
}

static inline void lttng_put(uint8_t *packet, enum lttng_field f, uint64_t v)
{
	v = GUINT64_TO_LE(v);
	memcpy(packet + f, &v, MIN(lttng_width(f), sizeof v));
}

#endif
