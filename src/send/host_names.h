/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names that a request to --listen may have in Host. A page of a stranger's web site can make its own name mean an
 * address of this machine (DNS rebinding), and its reader's browser then lets it read what is served there.
 */
#ifndef BLK_SEND_HOST_NAMES_H
#define BLK_SEND_HOST_NAMES_H

#include <glib.h>
#include <stdbool.h>

/* This machine's host name, also without its domain, and those of `more` ("a,b", or NULL). g_strfreev(). NULL: *error.
 * Call it before isolation. */
char **host_names_new(const char *more, GError **error);
/* Is `host` (without its port; NULL: none was given) one of them, "localhost" or an address in digits? */
bool host_names_have(char **names, const char *host);

#endif
