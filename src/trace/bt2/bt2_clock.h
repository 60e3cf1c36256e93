/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts cycles of a babeltrace2 clock to ns since the epoch (inside src/trace/). */
#ifndef BLK_TRACE_BT2_BT2_CLOCK_H
#define BLK_TRACE_BT2_BT2_CLOCK_H

#include "trace/bt2/bt2_mip.h"

#include <babeltrace2/babeltrace.h>
#include <glib.h>
#include <stdint.h>

struct bt2_offset {
	int64_t seconds;
	uint64_t cycles;
};

struct bt2_clock {
	struct bt2_offset offset;
	uint64_t freq;			/* Hz, > 0 */
	int64_t base_ns;		/* ns at cycle 0, with align.h's offset; with the cycles of .offset if freq
					 * is 1e9 */
	char uuid[BT2_UUID_TEXT];	/* "": it has none */
};

/*
 * `pinned`: the clock offset of each host boot (char *: clock UUID -> struct bt2_offset *, both freed with the table),
 * so that streams of one boot compare by raw cycles. It is the offset of the boot's first trace, unless
 * bt2_convert_pin_clocks() chose another one before. NULL: the clock's own offset is used.
 */
void bt2_clock_init(struct bt2_clock *ret, const bt_clock_class *cc, GHashTable *pinned);

static inline int64_t bt2_clock_ns(const struct bt2_clock *k, uint64_t cycles)
{
	if (G_LIKELY(k->freq == 1000000000))
		return (int64_t)((uint64_t)k->base_ns + cycles);
	unsigned __int128 all = (unsigned __int128)cycles + k->offset.cycles;
	return (int64_t)((uint64_t)k->base_ns + (uint64_t)(all * 1000000000u / k->freq));
}

#endif
