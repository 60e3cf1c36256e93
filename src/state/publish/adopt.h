/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Adoption of seconds that were decoded again. In a live session, the model moves late events to the present, so they
 * count in the wrong second. The packets are decoded again, in order, by a slice of its own. Its result is mapped to
 * the registries of the publisher: strings, files and hosts by value, threads and processes by number and lifetime.
 * Only for src/state/.
 */
#ifndef BLK_STATE_PUBLISH_ADOPT_H
#define BLK_STATE_PUBLISH_ADOPT_H

#include "state/publish/publisher.h"

/*
 * Takes ownership of `redecoded`, the result of slice_finish() on a part of the same trace. Returns a publication of
 * its seconds that begin in [from, to) (ns), and of its complete spans that begin or end there. They replace the
 * published ones. The publisher's threads and processes get what `redecoded` knows in addition. NULL: a host is
 * unknown, or there is no such second.
 */
struct publication *publisher_adopt(struct publisher *p, struct publication *redecoded, int64_t from, int64_t to);

#endif
