/* SPDX-License-Identifier: GPL-2.0-only */
/* Internet addresses as text. */
#ifndef BLK_BASE_ADDRESS_H
#define BLK_BASE_ADDRESS_H

#include <stdint.h>

#define ADDRESS_MAX 64		/* bytes of the longest result, the NUL included */

/*
 * Writes "10.0.0.1:80" or "[fe80::1]:80" to `to`, which must have ADDRESS_MAX bytes. family: 4 or 6; address: 4 or 16
 * bytes in network order; port -1: no port, and no brackets. IPv6 follows RFC 5952: small letters; the longest run of
 * at least two zero groups (the first of equal ones) is "::".
 */
void address_text(char *to, unsigned family, const uint8_t *address, int port);

#endif
