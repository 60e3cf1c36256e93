/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A conversation with a relay as an input of fuzz-live: its replies, in the order in which they are given
 * out, each to one question about one stream. A reply is a byte with the command (and REPLY_RAW), one with
 * the stream (the lowest byte of its number; 0 where it is about none), 32 bits (little endian) with the
 * length of its bytes, and these: what the protocol has, but that streams (attach, new streams) are the
 * status, then 21 bytes each: two numbers, whether it is metadata, all big endian, and the number of its
 * path. Lengths within replies are set when they are said, unless they are raw.
 */
#ifndef BLK_TEST_MUTATE_LIVE_H
#define BLK_TEST_MUTATE_LIVE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define REPLY_RAW 0x80
#define REPLY_STREAM 21			/* bytes of a stream */

struct reply {
	uint8_t command, stream;	/* command: enum viewer_command */
	bool raw;
	GByteArray *bytes;
};

void reply_free(void *reply);		/* NULL is fine */

/* struct reply *, freed with the array. Any bytes. */
GPtrArray *replies_parse(const uint8_t *data, size_t size);
GByteArray *replies_serialise(const GPtrArray *replies);

/* Some changes: of replies, of their order, of packets and metadata. As the fuzzer wants it. */
size_t mutate_live_input(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t mutate_live_cross(const uint8_t *one, size_t n_one, const uint8_t *two, size_t n_two, uint8_t *out,
			 size_t max_size, unsigned seed);

#endif
