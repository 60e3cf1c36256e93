/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of the internet as text. */
#ifndef BLK_BASE_ADDRESS_H
#define BLK_BASE_ADDRESS_H

#include <stdint.h>

#define ADDRESS_MAX 64		/* bytes that any of them needs, its NUL included */

/*
 * "10.0.0.1:80" or "[fe80::1]:80": family 4 or 6, the address as it is sent (4 or 16 bytes).
 * Port -1: without one, and without brackets. IPv6 as RFC 5952 has it: in small letters, the longest
 * run of two or more zeros (the first of equal ones) as "::". `to` has room for ADDRESS_MAX.
 */
void address_text(char *to, unsigned family, const uint8_t *address, int port);

#endif
