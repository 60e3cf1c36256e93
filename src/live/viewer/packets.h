/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory for packets that come from relays. It goes round: who is done with a packet gives
 * it back for the next one, so that the system needs not clear pages for each anew.
 *
 * Any thread. What was handed out keeps the pool alive.
 */
#ifndef BLK_LIVE_VIEWER_PACKETS_H
#define BLK_LIVE_VIEWER_PACKETS_H

#include <glib.h>
#include <stdint.h>

struct packets;

struct packets *packets_new(void);		/* one reference */
void packets_unref(struct packets *p);		/* NULL is fine */

/* `size` bytes, of which the first `content` (<= size) are to be filled; those behind are
 * zero. NULL: there is no memory for it. */
uint8_t *packets_take(struct packets *p, size_t size, size_t content);
/* It is not needed after all; NULL is fine. */
void packets_give_back(uint8_t *packet);
/* Filled: its `size` bytes; it goes back with the last reference. */
GBytes *packets_to_bytes(uint8_t *packet, size_t size);

#endif
