/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes one stream of a range, event by event (inside the native reader). Packets of files are read through two
 * windows. Records point into the windows, so a window is refilled only after the batch that has such records.
 */
#ifndef BLK_TRACE_NATIVE_NATIVE_CURSOR_H
#define BLK_TRACE_NATIVE_NATIVE_CURSOR_H

#include "trace/native/native_private.h"

/* The source of a range (native_range()), and the part of a feed that merges. */
struct native_source {
	struct source source;
	struct native *native;		/* borrowed, unless it is .owned */
	struct native *owned;		/* freed with the source; or NULL */
	struct native_plan *plan;
	int64_t from, to;		/* ns: records with from <= ts < to */
	uint64_t bytes;			/* about, in the range */
	uint64_t consumed;		/* of the packets begun */
	size_t window;			/* bytes of a window */
	bool few_files;			/* there are more streams than files may be open: each file is closed after
					 * each read */
	uint32_t *cls;			/* class number in .native -> class number in .source; UINT32_MAX: not
					 * added yet */
	GHashTable *layouts;		/* of events that do not have all fields of their class */
	GArray *open;			/* struct native_loss: losses that begin before .from and end in the range */
	struct native_cursor **cursor;	/* owned; in a feed by slot, NULL: free slot */
	size_t n_cursors;
	struct merge_head *heap;	/* next record of each cursor; a cursor's rank is its number */
	size_t n_heap;
	bool primed;			/* the heap has the first records of all cursors */
	bool stalled;			/* the first cursor of the heap can only go on in a new batch */
	gint cancelled;			/* atomic */
	uint64_t batch_number;
	size_t n_batch;
	struct blk_event batch[BLK_BATCH];
};

static inline bool native_is_stopped(const struct native_source *s)
{
	return g_atomic_int_get(&s->cancelled) || source_is_stopped(&s->source);
}

/* A part of a file in memory, or the bytes of a packet. */
struct native_window {
	uint8_t *bytes;
	size_t cap, n;			/* bytes allocated, bytes valid; cap 0: the bytes are borrowed */
	uint64_t offset;		/* in the file */
	const struct native_file *file;
};

/* Records decoded at once. In short runs the loop's state stays in registers, and the records to be merged stay in
 * the cache. */
#define NATIVE_AHEAD 64

enum native_step {
	NATIVE_RECORD,			/* there is a next record */
	NATIVE_END,			/* the range or the stream has ended */
	NATIVE_STALL,			/* call again in the next batch: a window is still in use */
	NATIVE_LATER,			/* call again when packets were added to the plan (feeds only) */
};

/* How the fast path handles an event id; filled when the id is first met. */
enum native_hot_kind {
	NATIVE_HOT_UNKNOWN,		/* not met yet */
	NATIVE_HOT_RECORD,		/* a record that points into the packet */
	NATIVE_HOT_COUNT,		/* no row of the table takes it: only counted */
	NATIVE_HOT_RUN,			/* its decode program must run */
};

struct native_hot {
	union {
		const struct blk_layout *layout;	/* NATIVE_HOT_RECORD */
		uint64_t *count;			/* row G_MAXUINT16: entry of native_cursor.counts */
	};
	uint32_t bits;			/* of the event after its header; not for NATIVE_HOT_RUN */
	uint32_t kind;			/* enum native_hot_kind */
	uint32_t cls;			/* as in struct blk_event */
	uint16_t row, stream;
};

struct native_cursor {
	/* The next event: */
	const uint8_t *base;		/* of the packet; only what a window has may be read */
	uint64_t pos, end;		/* bits in the packet: the next event, the end of what may be decoded now */
	uint64_t clock;			/* cycles, of the last event */
	const struct ctf_decoder *decoder;
	struct native_clock to_ns;
	int64_t last_ts;		/* ns, of the last record or packet border; never decreases */
	int64_t event_ns;		/* the latest time of an event; INT64_MIN: none. Events beyond the end of their
					 * packet (NATIVE_OVERHANG_NS) count as that end in later packets */
	int64_t before_ns;		/* .event_ns when the packet began */
	bool went_back;			/* an event of the packet is earlier than one before it */
	bool is_ahead;			/* events are later than the packet: the clock goes back in it */
	int64_t end_ns;			/* end of the newest finished packet, or a later instant until which no
					 * event will come; INT64_MIN: none */
	int64_t second_end;		/* ns: end of the second being counted */
	uint16_t index;			/* stream number in the source's tables; G_MAXUINT16: not added yet */

	struct native_source *source;
	const struct native_stream *stream;
	const struct native_plan_stream *plan;
	const struct native_packet *packet;	/* the packet being decoded, or NULL between packets */
	size_t next;			/* index in .plan of the packet after it */
	uint64_t content_end;		/* bits in the packet: the end of its events */
	int64_t latest_ns;		/* an event at or after this instant is damage */
	bool ended;			/* native_queue_end() was called */
	bool damaged;			/* the rest of the packet cannot be decoded */
	bool loss_pending;		/* a packet was damaged before any instant was known: its loss is
						 * reported at the next one */
	uint64_t n_finished, n_damaged;	/* finished packets; damaged ones of them */
	bool use_fast_path;		/* no timestamp of the packet is clamped, nothing of it is left out */
	bool discarded_due;		/* .discarded_from must be found before the packet's first event */
	uint64_t discarded_from;	/* bits: from there on events may be missing before each event; UINT64_MAX */
	int64_t window_ns;		/* beginning of the packet's loss window, once an event in it was read;
					 * INT64_MAX */

	struct native_window window[2];
	unsigned w;			/* the current window; the other one may have records of this batch */
	int fd;				/* open file .fd_file; -1: none, or it cannot be opened */
	const struct native_file *fd_file;
	uint64_t swap_batch, emit_batch;	/* batch number: when .w changed, when records were delivered */

	struct native_hot *hot;		/* by event id, n_hot entries, valid for .hot_decoder */
	const struct ctf_decoder *hot_decoder;
	uint64_t n_hot;

	struct ctf_run run;
	struct arena arena[2];		/* rows of records; see native_arena() */
	unsigned turn;			/* the arena in use */
	uint64_t turn_batch;		/* the batch in which .turn changed */

	int64_t second;			/* s since the epoch: the second that .counts is of */
	uint64_t *counts;		/* events without a row, by native's class number */
	size_t n_counts, n_regs;
	GArray *counted;		/* uint32_t: classes whose count is not 0 */
	int64_t tally_last;		/* ns, of the newest event counted */
	bool tally_reported;		/* the first event counted was reported at once (struct blk_tally) */

	struct blk_event ahead[NATIVE_AHEAD];	/* decoded records; those from ahead_at on are not delivered */
	unsigned ahead_at, ahead_n;
	struct blk_event head;		/* the record decoded last */

	struct blk_event *queue;	/* records to be delivered before the next event: losses, tallies, streams */
	size_t queue_at, queue_n, queue_cap;
};

void native_cursor_init(struct native_cursor *k, struct native_source *s,
			const struct native_stream *stream, const struct native_plan_stream *plan);
void native_cursor_clear(struct native_cursor *k);
/* To be called when the native has more classes, or the stream more registers. */
void native_cursor_grow(struct native_cursor *k);

/*
 * Decodes the next records into .ahead[0 .. ahead_n - 1]. All records of the last call must have been delivered.
 * NATIVE_RECORD: there is at least one.
 */
enum native_step native_cursor_refill(struct native_cursor *k);

/* native_source.c: copies records to the batch, from the first cursor of the heap for as long as no other one has an
 * earlier record. True: the first cursor has no decoded record left; false: the batch is full. */
bool native_take_runs(struct native_source *s);
void native_source_clear(struct native_source *s);

/* native_fast_path.c: appends records to .ahead; stops before an event that needs cursor_step(). */
void native_run_fast(struct native_cursor *k);
/* Skips events before the range, within the current window and while the fast path applies. */
void native_skip_fast(struct native_cursor *k);

/* Runs the class's decode program, into a new row if it copies. Returns the same as ctf_class_run(). */
uint64_t native_run_class(struct native_cursor *k, const struct ctf_class *c, uint64_t pos);
/* Fills the record of an event after its program was run; `cls` is the source's class number. */
void native_fill(struct native_cursor *k, struct blk_event *e, const struct ctf_class *c,
		 int64_t ts, const uint8_t *body, uint32_t cls);

/* native_window.c: access to files. NATIVE_SHORT: the file has less; NATIVE_WAIT: call again in the next batch. */
enum native_fill { NATIVE_FILLED, NATIVE_SHORT, NATIVE_WAIT };

/* Makes [offset, offset + need) of the file readable in the current window. */
enum native_fill native_window_have(struct native_cursor *k, const struct native_file *f,
				    uint64_t offset, size_t need);
/* Closes the file; the next native_window_have() opens it again. */
void native_window_close(struct native_cursor *k);

/* Copies up to n bytes of the file; fewer at its end or on an error. */
size_t native_window_read(struct native_cursor *k, const struct native_file *f, uint64_t offset, uint8_t *to, size_t n);

/* native_discard.c: sets .discarded_from of the packet that was just entered. False: the class of an event in it is not
 * known yet, call again when it is. */
bool native_find_discarded(struct native_cursor *k);

/* The event at .pos, stamped ts, is later than its packet: is that because the clock went back after it? Then the rest
 * of the packet can be decoded. */
bool native_goes_back(struct native_cursor *k, int64_t ts);

/* Makes the bytes of a packet from memory the current window. */
static inline void native_window_borrow(struct native_cursor *k, const struct native_packet *x)
{
	k->window[k->w] = (struct native_window){
		.bytes = (uint8_t *)(uintptr_t)x->bytes, .n = x->p.packet_bits / 8, .file = x->file,
	};
}

static inline const struct native_window *native_window_now(const struct native_cursor *k)
{
	return &k->window[k->w];
}

/* native_records.c: records other than events. */
void native_queue_event(struct native_cursor *k, const struct blk_event *e);
/* Does nothing outside the range. */
void native_queue_loss(struct native_cursor *k, const struct blk_loss *loss);
void native_queue_end(struct native_cursor *k, bool stream_ends);
/* Adds the stream to the source's tables, once, with a STREAM_ADD at `ts`. */
void native_ensure_added(struct native_cursor *k, int64_t ts);
/* Queues the counts of the current second, and begins the second of `ts`. */
void native_next_second(struct native_cursor *k, int64_t ts);
void native_end_second(struct native_cursor *k);	/* the same before the next event is known */
void native_tally_first(struct native_cursor *k);
/* The arena for rows of this batch. Two are used in turns, as records of the last batch may still be in use. */
struct arena *native_arena(struct native_cursor *k);

#endif
