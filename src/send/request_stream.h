/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The bytes of one client of --listen, for libsoup, which bounds neither the length of a body or of what follows it,
 * nor how long it reads without a pause; and which never frees the name of a method that it has not seen before.
 */
#ifndef BLK_SEND_REQUEST_STREAM_H
#define BLK_SEND_REQUEST_STREAM_H

#include <gio/gio.h>

#define REQUEST_TYPE_STREAM request_stream_get_type()
G_DECLARE_FINAL_TYPE(RequestStream, request_stream, REQUEST, STREAM, GFilterInputStream)

/* Passes the bytes of `socket` (pollable). Reading fails after LIMIT_REQUEST_BYTES, and if the first word is no method
 * of HTTP. Never blocks. g_object_unref(). */
GInputStream *request_stream_new(GInputStream *socket);

#endif
