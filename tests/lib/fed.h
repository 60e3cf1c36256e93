/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as a relay would deliver it: metadata, and the packets of each stream (of all
 * rotation chunks, in order), to be pushed into a native_feed.
 */
#ifndef BLK_TEST_FED_H
#define BLK_TEST_FED_H

#include "trace/native/native_feed.h"

struct fed_packet {
	GBytes *bytes;
	uint64_t begin, end;		/* cycles; end 0: not known */
	uint64_t seq, discarded;
	bool has_seq;
};

struct fed_stream {
	unsigned trace;			/* in .traces */
	char *key;
	uint64_t class_id;
	GArray *packets;		/* struct fed_packet */
	guint at;			/* pushed so far */
	bool ended;
	unsigned id;			/* in the feed, once it was added */
};

struct fed {
	GPtrArray *traces;		/* GBytes *: metadata, one for each uuid */
	GArray *trace_at;		/* gsize: bytes of it pushed so far */
	GPtrArray *uuids;		/* char * */
	GPtrArray *streams;		/* struct fed_stream * */
};

struct fed *fed_open(const char *dir);	/* asserts that it can be read */
void fed_free(struct fed *f);

/* From the beginning once more. */
void fed_rewind(struct fed *d);

/* Adds traces and streams to the feed, in this order. */
void fed_add(struct fed *d, struct native_feed *f);
void fed_push_metadata(struct fed *d, struct native_feed *f, unsigned trace, gsize n);
/* The stream's next packet, or its end; false: it has ended. */
bool fed_push_next(struct native_feed *f, struct fed_stream *s);
/* All of it, stream by stream, and the end. */
void fed_push_all(struct fed *d, struct native_feed *f);

#endif
