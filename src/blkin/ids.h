/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Random numbers of 64 bits. Private to libblkin. */
#ifndef BLKIN_IDS_H
#define BLKIN_IDS_H

#include <stdint.h>

/* A random id from the kernel: not 0, and different in parent and child of a fork. Any thread. Returns 0, or a
 * negative errno. */
int blkin_new_id(int64_t *ret);

#endif
