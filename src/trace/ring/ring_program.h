/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Compiles the format of an event to a program that copies its fields into LTTng's encoding, and to the declaration of
 * the event class in CTF 1.8 metadata. Running a program is the hot path of live capture.
 *
 * What is written is little-endian and aligned to bytes.
 */
#ifndef BLK_TRACE_RING_RING_PROGRAM_H
#define BLK_TRACE_RING_RING_PROGRAM_H

#include "trace/ring/ring_format.h"
#include "trace/ring/ring_headers.h"
#include "trace/ring/ring_page.h"

struct ring_program;

/* with_known: with the fields that only the transcoder knows (struct ring_run). */
struct ring_program *ring_program_new(const struct ring_format *format, struct ring_machine machine, bool with_known);
void ring_program_free(struct ring_program *p);		/* NULL is fine */
typedef struct ring_program ring_program;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ring_program, ring_program_free)

/* Appends "event { ... };" for the metadata. */
void ring_program_declare(const struct ring_program *p, GString *metadata, unsigned id, unsigned stream);

struct ring_run {
	const struct ring_event *event;
	int32_t tid;			/* common_pid */
	/* What the program needs that was made with_known: */
	int32_t parent_tgid, child_tgid; /* RING_EXTRA_TGIDS */
	const int32_t *descriptors;	/* two: RING_EXTRA_PIPE, RING_EXTRA_SOCKETS */
	const struct ring_address *peer; /* RING_EXTRA_PEER */
};

/* The most bytes that a run of this event writes. */
size_t ring_program_bound(const struct ring_program *p, const struct ring_event *event);
/* Writes the fields at `to`, which has room for the bound. Returns the bytes written; -1: the event is shorter than its
 * format says. A text that does not lie in the event is written as empty. */
ssize_t ring_program_run(const struct ring_program *p, const struct ring_run *run, uint8_t *to);

#endif
