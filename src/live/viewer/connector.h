/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections for a process that may make no sockets (base/isolation.h): a process of its own, forked
 * before, resolves the names of the relays that the command line named and connects to these, and to
 * nothing else; the connected sockets come over a socket pair. It reads nothing from a relay. It
 * ends when its client does, however that ends.
 */
#ifndef BLK_LIVE_VIEWER_CONNECTOR_H
#define BLK_LIVE_VIEWER_CONNECTOR_H

#include "live/live.h"
#include "live/viewer/net.h"

/* Forks it, for the relays (host, port, family) of these URLs; there must not be any other thread. Once a
 * process. */
bool connector_start(const struct live_url *urls, size_t n, GError **error);

/* net_connect(), by the connector where one was started: only to what it was started for. Any thread. */
bool connector_connect(struct net *n, const struct live_url *url, int wake_fd, int64_t deadline,
		       GError **error);

#endif
