/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the gate changes in the relay's replies, for babeltrace2 2.0 to see all and
 * not to stumble (it treats some things a relay says as the end of everything):
 *
 * - new streams are announced only along with data: mend_index() also tells of them
 *   while all known streams are idle;
 * - a stream's first packet begins when its buffer was made, which may be before
 *   what was said already of other streams, and that is an error to babeltrace2:
 *   mend_packet() lets it begin at that instant;
 * - metadata of no length, after `lttng clear`, is an error too; and when a trace's
 *   first metadata comes in pieces, the trace's own description first, it crashes
 *   on the first packet: mend_metadata() gives it out whole.
 *
 * All in raw cycles of the session's one clock. One thread.
 */
#ifndef BLK_LIVE_MEND_H
#define BLK_LIVE_MEND_H

#include "live/viewer.h"

#define MEND_INDEX_SIZE 64	/* of a reply to VIEWER_NEXT_INDEX */
#define MEND_PACKET_HEAD 12	/* of one to VIEWER_PACKET, before the data */
#define MEND_METADATA_HEAD 12	/* of one to VIEWER_METADATA, before the text */
#define MEND_METADATA_MAX (8u << 20)	/* of one trace; babeltrace2 takes 50 times as much */

struct mend;
struct mend *mend_new(void);
void mend_free(struct mend *m);		/* NULL is fine */

/* Streams were handed out, by an attachment or after "new streams": how many of
 * them carry data. `reply` has `len` bytes. */
unsigned mend_streams(struct mend *m, const uint8_t *reply, size_t len);
void mend_index(struct mend *m, uint64_t stream, uint8_t reply[MEND_INDEX_SIZE]);
/* Can there be such an index, and is the packet the one that the last index of its stream
 * tells of? babeltrace2 aborts on what can't be. As they came, before they are mended. */
bool mend_is_index(const uint8_t reply[MEND_INDEX_SIZE]);
bool mend_is_packet(struct mend *m, uint64_t stream, uint64_t offset, const uint8_t *reply,
		    size_t len);
/* `len` bytes with head, from `offset` on of the stream's file. */
void mend_packet(struct mend *m, uint64_t stream, uint64_t offset, uint8_t *reply, size_t len);
/* May so many bytes come for that trace? Then they are counted. */
bool mend_may_metadata(struct mend *m, uint64_t stream, uint64_t n);
/* `reply` may grow and shrink. */
void mend_metadata(struct mend *m, uint64_t stream, GByteArray *reply);

#endif
