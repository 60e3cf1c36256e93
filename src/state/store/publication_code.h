/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Publications as bytes, for the cache (run/cache.h): each function writes or reads, and checks what it reads
 * (base/coder.h). Seconds are apart: an outline (second.h) is small, its cells are read when they are looked at.
 */
#ifndef BLK_STATE_STORE_PUBLICATION_CODE_H
#define BLK_STATE_STORE_PUBLICATION_CODE_H

#include "base/coder.h"
#include "state/store/publication.h"

/* How many ids of each registry were published so far. All zero at the beginning. */
struct published_ids { uint32_t string, host, thread, process, file; };

/* All of a publication but its seconds, and but the threads and processes that ended, which stay. An empty one is
 * filled. `ids` grows. */
void publication_code(struct coder *c, struct publication *p, struct published_ids *ids);

/* The outline of a second; reading: *s is a new one, or NULL if the bytes are refused. */
void second_code_outline(struct coder *c, struct second **s);
/* The rest of it. Reading: fills an outline, which has no cells any more if the bytes are refused. */
void second_code_cells(struct coder *c, struct second *s, const struct published_ids *ids);

#endif
