/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One stream of a range, event by event (inside the native reader). The packets are read
 * through two windows of the file: records point into them, so a window is filled again
 * only when the batch is over that delivered from it.
 */
#ifndef BLK_TRACE_NATIVE_NATIVE_CURSOR_H
#define BLK_TRACE_NATIVE_NATIVE_CURSOR_H

#include "trace/native/native_private.h"

struct native_source {
	struct source source;
	struct native *native;		/* borrowed, but for .owned */
	struct native *owned;		/* to be freed with the source, or NULL */
	struct native_plan *plan;
	int64_t from, to;
	uint64_t bytes;			/* of the range, about */
	uint64_t consumed;		/* of packets begun */
	size_t window;			/* bytes of a window */
	bool few_files;			/* more streams than files may be open: each only while it is read */
	uint32_t *cls;			/* native's class -> the source's; UINT32_MAX: not yet */
	GHashTable *layouts;		/* of events that lack a field */
	GArray *open;			/* struct native_loss: open at .from */
	struct native_cursor **cursor;
	size_t n_cursors;
	struct merge_head *heap;	/* a cursor's rank is its number */
	size_t n_heap;
	bool primed, stalled;		/* stalled: the first of the heap waits for a new batch */
	gint cancelled;			/* atomic */
	uint64_t batch_number;
	size_t n_batch;
	struct blk_event batch[BLK_BATCH];
};

static inline bool native_is_stopped(const struct native_source *s)
{
	return g_atomic_int_get(&s->cancelled) || source_is_stopped(&s->source);
}

struct native_window {
	uint8_t *bytes;
	size_t cap, n;			/* cap 0: the bytes are lent */
	uint64_t offset;		/* in the file */
	const struct native_file *file;
};

/* Decoding in short runs keeps the loop's state in registers, and the records that wait
 * to be merged in the cache. */
#define NATIVE_AHEAD 64

enum native_step {
	NATIVE_RECORD,			/* there is a next one */
	NATIVE_END,
	NATIVE_STALL,			/* to be asked again in the next batch */
	NATIVE_LATER,			/* when packets were added to a plan that grows */
};

/* An event id as the plain loop needs it: learnt when it was met. */
enum native_hot_kind {
	NATIVE_HOT_UNKNOWN,
	NATIVE_HOT_RECORD,		/* a record that points into the packet */
	NATIVE_HOT_COUNT,		/* only counted */
	NATIVE_HOT_RUN,			/* its program has to be run */
};

struct native_hot {
	union {
		const struct blk_layout *layout;
		uint64_t *count;
	};
	uint32_t bits;			/* behind the header */
	uint32_t kind;			/* enum native_hot_kind */
	uint32_t cls;			/* as in struct blk_event */
	uint16_t row, stream;
};

struct native_cursor {
	/* Of the event at hand. */
	const uint8_t *base;		/* the packet's begin, as far as a window has it */
	uint64_t pos, end;		/* bits; end: of what the window has */
	uint64_t clock;			/* cycles */
	const struct ctf_decoder *decoder;
	struct native_clock to_ns;
	int64_t last_ts, second_end;
	uint16_t index;			/* in the source's tables; G_MAXUINT16: not added yet */

	struct native_source *source;
	const struct native_stream *stream;
	const struct native_plan_stream *plan;
	const struct native_packet *packet;	/* the one at hand, or NULL */
	size_t next;			/* number of the next one */
	uint64_t content_end;		/* bits */
	int64_t latest;			/* no event of the packet is that late */
	bool ended;
	bool damaged;			/* the packet's rest can't be read */
	bool owes_loss;			/* one was damaged before any time was known: told with the next */
	uint64_t n_left, n_damaged;	/* packets that were left; of them, such */
	bool plain;			/* nothing of the packet is clamped or left out */
	bool discarded_due;		/* .discarded_from is to be found before the packet's first event */
	uint64_t discarded_from;	/* bits: from there on before each event some may be missing; UINT64_MAX */
	int64_t window_ns;		/* begin of the packet's loss window, once an event of it was met; INT64_MAX */

	struct native_window window[2];
	unsigned w;
	int fd;				/* of fd_file; -1: none, or it can't be opened */
	const struct native_file *fd_file;
	uint64_t swap_batch, emit_batch;

	struct native_hot *hot;		/* by event id of hot_of, n_hot of them */
	const struct ctf_decoder *hot_of;
	uint64_t n_hot;

	struct ctf_run run;
	struct arena arena[2];
	unsigned turn;
	uint64_t turn_batch;

	int64_t second;			/* tallies */
	uint64_t *counts;		/* by native's class */
	size_t n_counts, n_regs;
	GArray *counted;		/* uint32_t */
	int64_t tally_last;
	bool tally_told;

	struct blk_event ahead[NATIVE_AHEAD];	/* decoded, from ahead_at on not delivered */
	unsigned ahead_at, ahead_n;
	struct blk_event head;		/* the one just decoded */

	struct blk_event *queue;	/* records that come before what is decoded next */
	size_t queue_at, queue_n, queue_cap;
};

void native_cursor_init(struct native_cursor *k, struct native_source *s,
			const struct native_stream *stream, const struct native_plan_stream *plan);
void native_cursor_clear(struct native_cursor *k);
/* The native has more classes now, or the stream more registers. */
void native_cursor_grow(struct native_cursor *k);

/*
 * Decodes the next records of the range into .ahead[0 .. ahead_n - 1], once those before
 * are delivered. NATIVE_RECORD: there is one at least.
 */
enum native_step native_cursor_refill(struct native_cursor *k);

/* native_source.c: copies runs of records to the batch, each what the first of the heap has
 * before any other. True: the first has none (left); false: the batch is full. */
bool native_take_runs(struct native_source *s);
void native_source_clear(struct native_source *s);

/* native_plain.c: the same for what is usual, appended to .ahead; stops before what is not. */
void native_run_plain(struct native_cursor *k);
/* Moves over what comes before the range, in the packet that its begin is in, as far as the
 * window has it and it is plain. */
void native_skip_plain(struct native_cursor *k);

/* Runs the class's program; where it copies, into a row of its own. CTF_NO_FIT: see there. */
uint64_t native_run_class(struct native_cursor *k, const struct ctf_class *c, uint64_t pos);
/* The record of an event whose program was run; cls is the source's number. */
void native_fill(struct native_cursor *k, struct blk_event *e, const struct ctf_class *c,
		 int64_t ts, const uint8_t *body, uint32_t cls);

/* native_window.c: bytes of files. Each says whether the batch has to end first. */
enum native_fill { NATIVE_FILLED, NATIVE_SHORT, NATIVE_WAIT };

/* Makes [offset, offset + need) of the file readable (SHORT: the file has less). */
/* Closes the file; the next window opens it again. */
void native_window_rest(struct native_cursor *k);
enum native_fill native_window_have(struct native_cursor *k, const struct native_file *f,
				    uint64_t offset, size_t need);

/* A copy of n bytes of the file, to be freed; NULL: it has fewer. */
uint8_t *native_window_read(struct native_cursor *k, const struct native_file *f, uint64_t offset, uint64_t n);

/* native_discard.c: sets .discarded_from of the packet that was just entered. NATIVE_LATER: the class of an event in it
 * is not known yet, ask again; else NATIVE_RECORD. */
enum native_step native_find_discarded(struct native_cursor *k);

/* Looks at the bytes of a packet that is not in a file. */
static inline void native_window_lend(struct native_cursor *k, const struct native_packet *x)
{
	k->window[k->w] = (struct native_window){
		.bytes = (uint8_t *)(uintptr_t)x->bytes, .n = x->p.packet_bits / 8, .file = x->file,
	};
}

static inline const struct native_window *native_window_now(const struct native_cursor *k)
{
	return &k->window[k->w];
}

/* native_marks.c: records that are no events. */
void native_queue_event(struct native_cursor *k, const struct blk_event *e);
void native_queue_loss(struct native_cursor *k, const struct blk_loss *loss);
void native_queue_end(struct native_cursor *k, bool stream_ends);
void native_ensure_added(struct native_cursor *k, int64_t ts);
void native_next_second(struct native_cursor *k, int64_t ts);
void native_end_second(struct native_cursor *k);	/* there was no event behind it yet */
void native_tally_first(struct native_cursor *k);
struct arena *native_arena(struct native_cursor *k);

#endif
