/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every event of the stream files of one trace directory with our own parser and
 * index, decoded in the plainest way: packet header, event header and fields are all
 * walked by their types (ctf_walk).
 */
#ifndef BLK_TEST_EVENTS_CTF_H
#define BLK_TEST_EVENTS_CTF_H

#include "lib/digest.h"
#include "trace/ctf/ctf_index.h"

/* All files of one stream: those of one instance, else one file. */
struct events_stream {
	const struct ctf_meta *meta;
	const struct ctf_stream_class *sc;	/* NULL: no packet */
	GPtrArray *files;		/* struct ctf_index *, by their first packet's begin */
	bool taken;			/* for the caller */

	guint file;			/* where the next event is looked for */
	size_t packet_index;
	struct ctf_packet packet;
	uint8_t *bytes;			/* of the packet; events end at bit `end` */
	uint64_t capacity, pos, end, clock;
	uint64_t *regs;
};

struct events_event {
	const struct ctf_event_class *cls;
	uint64_t id, cycles, before;	/* before: the clock before it */
	uint32_t cpu;			/* UINT32_MAX: the packet does not say */
	uint64_t packet_offset;		/* where it is: byte in the file, and bits in the packet */
	uint64_t begin, fields, end;	/* of the header; of what follows; behind it */
};

struct events_trace {
	struct ctf_meta *meta;
	GPtrArray *streams;		/* struct events_stream * */
};

struct events_trace *events_trace_open(const char *dir, GError **error);
void events_trace_free(struct events_trace *t);
typedef struct events_trace blk_events_trace;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(blk_events_trace, events_trace_free)

/* The stream that has a file of this path (or, without directories, name). */
struct events_stream *events_trace_stream(const struct events_trace *t, const char *path);

/*
 * The next event. False: none, or *error. Its fields are not read yet: digest them
 * before the next is asked for. Events of packets with a fault are not told.
 */
bool events_stream_next(struct events_stream *s, struct events_event *ret, GError **error);

/* Contexts and payload; sets e->end. False: they do not fit the packet. */
bool events_stream_digest(struct events_stream *s, struct events_event *e, struct digest *d);

#endif
