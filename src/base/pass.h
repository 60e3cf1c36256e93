/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages with a descriptor, between processes of blktop: over a socket pair (SOCK_SEQPACKET). Any thread. */
#ifndef BLK_BASE_PASS_H
#define BLK_BASE_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* fd: the descriptor that goes with the message, which stays open here; -1: none. */
bool pass_send(int to, const void *bytes, size_t len, int fd);
/* Waits. Bytes of the next message; 0: the other side has ended; < 0: errno. *ret_fd: the descriptor in it, or -1. */
ssize_t pass_receive(int from, void *bytes, size_t max, int *ret_fd);

#endif
