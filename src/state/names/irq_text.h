/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of interrupts for the screen: "irq 34 nvme0q1", "softirq NET_RX". */
#ifndef BLK_STATE_NAMES_IRQ_TEXT_H
#define BLK_STATE_NAMES_IRQ_TEXT_H

#include <stdint.h>

struct intmap;
struct names;
struct slice;

/* A string of the slice. cache: initially empty texts by code; clear it when names may have changed. */
uint32_t irq_text(struct intmap *cache, struct slice *s, const struct names *names, uint32_t host, uint32_t code);

#endif
