/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link to a stream (live/spool/stream_format.h), such as that of `ssh HOST sudo blktop record -o -`: pushes what is
 * in it to the same native_feed and spool as the links to relay daemons. It ends with the stream.
 *
 * The stream is hostile input: each number, length and relation is checked. If the reader of records does not keep up,
 * nothing is read until there is room again; the writer then leaves out packets, which are counted as lost.
 */
#ifndef BLK_LIVE_VIEWER_STREAM_LINK_H
#define BLK_LIVE_VIEWER_STREAM_LINK_H

#include "live/viewer/attach.h"

/* Makes the link; link_start() starts it. All are borrowed, also the descriptor. */
struct link *stream_link_new(struct link_owner *owner, struct attach_sink *sink, int fd);

#endif
