/* SPDX-License-Identifier: GPL-2.0-only */
/* Tells systemd that the service is ready and what it does: datagrams to $NOTIFY_SOCKET, as sd_notify(3) sends them.
 * Main thread. */
#ifndef BLK_SEND_NOTIFY_H
#define BLK_SEND_NOTIFY_H

#include "send/forward.h"

/* Before isolation, after which no socket can be made. Returns the socket; -1: there is no NOTIFY_SOCKET. */
int notify_open(void);
void notify_ready(int fd);
/* A status line, and that the service is alive (WatchdogSec=). `to_ns`: end of the last second; INT64_MIN: none.
 * `spans`: of --forward, or NULL. */
void notify_status(int fd, int64_t to_ns, const struct forward_counts *spans);
void notify_stopping(int fd);

#endif
