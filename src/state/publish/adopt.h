/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Seconds that were read again. What a live session's model was told too late (it moves such events to
 * the present) stands in the wrong second; the packets, read again in their own order, tell what was. The
 * model takes such a reading over into its own registries: strings, files and hosts are known by what they
 * are, threads and processes by their number and when they lived. Only for src/state/.
 */
#ifndef BLK_STATE_PUBLISH_ADOPT_H
#define BLK_STATE_PUBLISH_ADOPT_H

#include "state/publish/publisher.h"

/*
 * Of `again`, a finished account of the same trace (slice_finish(); taken over): seconds that begin in [from, to), and
 * complete spans that begin or end there, to take the place of those published. What it knows better of
 * threads and processes the publisher learns. NULL: of a host that is not known, or nothing is there.
 */
struct publication *publisher_adopt(struct publisher *p, struct publication *again, int64_t from, int64_t to);

#endif
