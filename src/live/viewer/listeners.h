/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which users' sockets listen on TCP ports of this machine, from the kernel's tables (/proc/net/tcp, tcp6). A peer
 * cannot change what they say about it. They are those of the network namespace of the process. Any thread.
 */
#ifndef BLK_LIVE_VIEWER_LISTENERS_H
#define BLK_LIVE_VIEWER_LISTENERS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct listener {
	uint16_t port;
	uint32_t uid;		/* of the user that made the socket */
	uint64_t inode;		/* of the socket: unique while it exists */
};

/* Appends the listening sockets of a table, on any address. false: it is not in the kernel's format; *error has the
 * reason, without the table's name. */
bool listeners_parse(FILE *table, GArray *into, GError **error);

enum listeners_owner {
	LISTENERS_UNKNOWN,	/* *error */
	LISTENERS_NONE,		/* nothing listens on one of the ports */
	LISTENERS_OURS,		/* on each port sockets of this user listen, and no others */
	LISTENERS_FOREIGN,	/* *ret_uid: a user whose socket listens on one of the ports */
};

/* Which user's sockets listen on the `n` ports, in both address families and on any address. A socket on another
 * address than the one that is meant counts too. *ret_sockets (g_free): a text that names these sockets, which changes
 * when one is closed and another one takes its place; NULL unless they are ours. */
enum listeners_owner listeners_owner(const uint16_t *ports, size_t n, char **ret_sockets, uint32_t *ret_uid,
				     GError **error);
/* The same, for `sockets` in place of those of the machine, and for the user `uid`. */
enum listeners_owner listeners_owner_of(const GArray *sockets, const uint16_t *ports, size_t n, uint32_t uid,
					char **ret_sockets, uint32_t *ret_uid);

#endif
