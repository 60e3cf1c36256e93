/* SPDX-License-Identifier: GPL-2.0-only */
/* The socket that other programs connect to. It is made before isolation, after which no socket can be. */
#ifndef BLK_SEND_LISTENER_H
#define BLK_SEND_LISTENER_H

#include <glib.h>

/* Listens on "PORT" (of 127.0.0.1), "ADDRESS:PORT" or "[V6ADDRESS]:PORT"; port 0: the kernel chooses. Returns the
 * socket; close() it. -1: *error. *ret_url (g_free): "http://127.0.0.1:9464/metrics". */
int listener_open(const char *where, char **ret_url, GError **error);

#endif
