/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Channels of a slice: from when to when all streams (CPUs) of a channel were recorded. Streams of a snapshot, or of a
 * rotation chunk alone, begin and end at different instants. Between them nothing proves that an event did not happen.
 */
#ifndef BLK_STATE_KERNEL_CHANNELS_H
#define BLK_STATE_KERNEL_CHANNELS_H

#include "trace/event.h"

struct channel {
	char *key;		/* blk_stream.order without the stream; NULL: the slot is free */
	int64_t from, to;	/* ns; INT64_MIN, INT64_MAX: from the beginning, to the end */
	uint32_t n_open;	/* live: streams that have not ended */
};

struct channels {
	GArray *all;		/* struct channel, by number */
	GHashTable *by_key;	/* key, borrowed -> number + 1 */
	GArray *free;		/* uint32_t: free slots */
};

void channels_init(struct channels *c);
void channels_clear(struct channels *c);
/* Adds the stream to its channel, and returns the channel's number. live: channels_end() sets until when the stream is
 * recorded. */
uint32_t channels_add(struct channels *c, const struct blk_stream *s, bool live);
/* Live: a stream of the channel has begun. */
void channels_begin(struct channels *c, uint32_t channel);
/* Live: a stream of the channel has ended; its blk_stream.recorded_to is known. */
void channels_end(struct channels *c, uint32_t channel, const struct blk_stream *s);
/* Adds the channels of `from`, a slice of the same time as c's, or one that follows it. Returns their numbers in c, an
 * array to be freed with g_free(). */
uint32_t *channels_join(struct channels *c, const struct channels *from, bool follows);
/* The end of the longest interval that begins at `from`, ends at `to` at the latest, and in which all streams of the
 * channel were recorded; `from`: there is none. Losses are not considered: see losses.h. */
int64_t channels_known_until(const struct channels *c, uint32_t channel, int64_t from, int64_t to);
/* Live: frees the slots of channels whose streams have all ended and that are not in `used`. */
void channels_forget(struct channels *c, const guint8 *used);

#endif
