/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections for a process that must not create sockets (base/isolation.h). The connector is a process that was
 * forked before. It resolves the names of the relays on the command line, connects only to these, and sends the
 * connected sockets over a socket pair. It reads nothing from a relay. It ends when its client ends.
 */
#ifndef BLK_LIVE_VIEWER_CONNECTOR_H
#define BLK_LIVE_VIEWER_CONNECTOR_H

#include "live/live.h"
#include "live/viewer/net.h"

/* Forks the connector for the relays (host, port, family) of these URLs, which stay borrowed. Call it once in a
 * process, before the first thread. */
bool connector_start(const struct live_url *urls, size_t n, GError **error);

/* As net_connect(), through the connector if one was started; then only to its relays. Any thread. */
bool connector_connect(struct net *n, const struct live_url *url, int wake_fd, int64_t deadline,
		       GError **error);

#endif
