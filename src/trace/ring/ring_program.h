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

/* The same without steps, for programs that only copy numbers and arrays, as nearly all do: pieces of a fixed size in
 * order of .to, each of which may end too late, where the next one goes. */
#define RING_PIECE 16			/* bytes */
#define RING_N_PIECES 8
#define RING_N_ADDS 4
struct ring_plain {
	uint32_t size;			/* bytes of the fields; up to RING_PIECE more are written */
	uint32_t need;			/* an event has at least these bytes */
	uint32_t read;			/* bytes that are read, from the payload on */
	uint16_t n_pieces, n_adds;
	struct ring_piece {
		uint16_t from, to;
	} pieces[RING_N_PIECES];
	struct ring_add {		/* to u32 numbers, after they were copied */
		uint16_t from, to;
		uint32_t add;
	} adds[RING_N_ADDS];
};
/* NULL: the program does more. It belongs to the program. */
const struct ring_plain *ring_program_plain(const struct ring_program *p);

/* Can it be used for this event? */
static inline bool ring_plain_fits(const struct ring_plain *p, const struct ring_event *e)
{
	return e->size >= p->need && e->readable >= p->read;
}

/* Writes the fields at `to`, which has room for .size + RING_PIECE. */
static inline void ring_plain_run(const struct ring_plain *p, const struct ring_event *e, uint8_t *to)
{
	for (unsigned i = 0; i < p->n_pieces; i++)
		memcpy(to + p->pieces[i].to, e->payload + p->pieces[i].from, RING_PIECE);
	for (unsigned i = 0; i < p->n_adds; i++) {
		const struct ring_add *a = &p->adds[i];
		uint32_t number;
		memcpy(&number, e->payload + a->from, 4);
		number = GUINT32_TO_LE(GUINT32_FROM_LE(number) + a->add);
		memcpy(to + a->to, &number, 4);
	}
}

#endif
