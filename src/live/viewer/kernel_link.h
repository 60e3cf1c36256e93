/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A link to the kernel of this machine: captures what its own ring buffer records (live/tracefs/), and pushes the
 * packets to the same native_feed and spool as the links to relay daemons. It ends when recording has stopped and all
 * was read.
 *
 * If the reader of records does not keep up, nothing is taken from the kernel until there is room again: the kernel
 * then overwrites the oldest events, which are counted as lost.
 */
#ifndef BLK_LIVE_VIEWER_KERNEL_LINK_H
#define BLK_LIVE_VIEWER_KERNEL_LINK_H

#include "live/tracefs/handover.h"
#include "live/viewer/attach.h"

/* Makes the link; link_start() starts it. All are borrowed. */
struct link *kernel_link_new(struct link_owner *owner, struct attach_sink *sink, const struct handover *h);

#endif
