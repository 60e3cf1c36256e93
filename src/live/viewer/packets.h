/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pool of memory for packets that relays send. Released packets are reused, so that the kernel need not clear
 * new pages for each packet. Any thread. Packets in use hold a reference to the pool.
 */
#ifndef BLK_LIVE_VIEWER_PACKETS_H
#define BLK_LIVE_VIEWER_PACKETS_H

#include <glib.h>
#include <stdint.h>

struct packet_pool;

struct packet_pool *packets_new(void);		/* one reference */
void packets_unref(struct packet_pool *p);		/* NULL is fine */

/* `size` bytes: the caller fills the first `content` (<= size) of them, the others are zero. NULL: out of
 * memory. */
uint8_t *packets_take(struct packet_pool *p, size_t size, size_t content);
/* Releases a packet that is not needed; NULL is fine. */
void packets_recycle(uint8_t *packet);
/* Takes ownership of a filled packet of `size` bytes; the last reference releases it. */
GBytes *packets_to_bytes(uint8_t *packet, size_t size);

#endif
