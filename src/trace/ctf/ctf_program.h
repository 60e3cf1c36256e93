/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event classes compiled to decode programs (inside src/trace/).
 *
 * A class with the same size in every event needs one addition. Other classes are short programs of steps that run
 * over the bits of a packet. Positions are in bits from the beginning of the packet, as alignment in CTF is relative
 * to it. If all wanted fields are at fixed offsets, a record points into the packet and nothing is copied. Otherwise
 * the program copies the fields to a row of the record.
 *
 * Decoders are immutable and shared by threads. What changes while an event is read is in struct ctf_run, one for each
 * reader.
 */
#ifndef BLK_TRACE_CTF_CTF_PROGRAM_H
#define BLK_TRACE_CTF_CTF_PROGRAM_H

#include "base/fields.h"
#include "trace/arena.h"
#include "trace/ctf/ctf_bits.h"
#include "trace/ctf/ctf_class.h"
#include "trace/reader.h"

/* Returned by a program that does not fit the data. */
#define CTF_NO_FIT UINT64_MAX

/*
 * "Here" is .ahead bits after the position: bits that no step needs are skipped together with the next step that
 * moves. "No move": the position does not change.
 */
enum ctf_op {
	CTF_OP_SKIP,		/* skips .ahead */
	CTF_OP_ALIGN,		/* to a multiple of n bits */
	CTF_OP_STRING,		/* skips the string here and its NUL */
	CTF_OP_TAKE_STRING,	/* row[off] = the string here; skips it and its NUL; never in a repetition */
	CTF_OP_REG,		/* register reg = the integer here; no move */
	CTF_OP_LOAD,		/* row[off] = the integer, or the bits of the number, here, 8 bytes; no move */
	CTF_OP_LOAD_32,		/* the same for 32 and 64 bits, little endian, at a whole byte; never in a
				 * repetition */
	CTF_OP_LOAD_64,
	CTF_OP_LOAD_STRING,	/* row[off] = the string here; no move */
	CTF_OP_LOAD_ARRAY,	/* row[off] = n elements of `bits` each; no move */
	CTF_OP_LOAD_SEQUENCE,	/* the same, with the number of elements in register reg */
	CTF_OP_LOAD_ELEMENT,	/* row[off] = element n, if register reg is greater than n; no move */
	CTF_OP_LOAD_WALK,	/* row[off] = the field of .type, read by ctf_walk(); no move */
	CTF_OP_LOAD_ALL,	/* row[off] = all fields of the event that begins here */
	CTF_OP_SKIP_SEQUENCE,	/* skips elements of n bits; their number is in register reg */
	CTF_OP_REPEAT,		/* runs the steps up to `to`, n times */
	CTF_OP_REPEAT_REG,	/* the same, the number of times in register reg */
	CTF_OP_CHOOSE,		/* runs the option that register reg selects: choice[n ..]; then continues at `to` */
	CTF_OP_WALK,		/* skips the field of .type by ctf_walk(); register reg = its integer */
};

struct ctf_step {
	uint8_t op;
	uint8_t bits;
	uint8_t slot;			/* of the layout */
	bool big_endian : 1, is_signed : 1, is_text : 1;
	uint16_t reg;
	uint16_t off;
	uint32_t to;
	uint32_t pick;			/* loads in a repetition: only this round, counted from 1 */
	uint32_t ahead;			/* bits, see enum ctf_op */
	union {
		uint64_t n;
		const struct ctf_type *type;
	};
};

/* A wanted field that is at the same byte in every event of its class. */
struct ctf_fixed {
	uint16_t at;			/* bytes after the header */
	uint16_t off;			/* row[off] = the integer as 8 bytes, or a struct blk_text */
	uint16_t size;			/* bytes; an integer has 1, 2, 4 or 8 */
	bool big_endian : 1, is_signed : 1, is_text : 1;
};

/* An option of a variant: tags in [lo, hi] run the steps [from, to). The entry with .last ends the list: no option is
 * selected, which is an error unless .optional. */
struct ctf_choice {
	uint64_t lo, hi;
	bool is_signed, last, optional;
	uint32_t from, to;
};

/* A compiled event class. */
struct ctf_class {
	uint16_t row;			/* in the subscription table; G_MAXUINT16: only counted */
	bool copies;			/* its program fills a row */
	uint32_t cls;			/* class number, see ctf_number_class */
	uint16_t n_fixed;		/* fields in .fixed, loaded before the steps run */
	uint32_t n_steps;		/* 0: the size is always .bits */
	uint32_t row_bytes;
	uint64_t bits;			/* size after the event header, if n_steps is 0 */
	uint64_t empty_bits;		/* size after the event header, as ctf_type_empty_end() */
	const struct blk_layout *layout;
	uint32_t wanted;		/* mask of the slots in .layout */
	uint32_t fixed_slots;		/* mask of the slots in .fixed */
	uint32_t fixed_bits;		/* the end of the last field in .fixed */
	struct ctf_fixed *fixed;
	struct ctf_step *step;
	struct ctf_choice *choice;
	const struct ctf_event_class *ec;
	const struct ctf_stream_class *sc;
};

enum ctf_fast { CTF_FAST_NONE, CTF_FAST_COMPACT, CTF_FAST_LARGE };

/* The form of event headers: LTTng's compact and large ones, a plain id with timestamp, or any other form, which is
 * read by its type. */
struct ctf_header {
	const struct ctf_type *general;	/* the type of the header, if .is_general; NULL: there is no header */
	bool is_general;	/* read by type: the fields below are not used */
	bool ends_on_byte;	/* always, whatever the header contains */
	uint8_t fast;		/* enum ctf_fast: LTTng's usual forms, little endian and packed */
	bool has_variant;
	uint32_t align;		/* bits, of the whole header */
	uint32_t fast_align;
	uint8_t id_bits, ts_bits;
	uint32_t id_align, ts_align;	/* timestamp: the alignment of its option included */
	uint64_t extended;	/* the id that announces the long form */
	uint8_t id2_bits, ts2_bits;
	uint32_t id2_align, ts2_align;	/* id2: the alignment of its option included */
	bool id_be, ts_be, id2_be, ts2_be;
	bool ts_first;		/* plain form: the timestamp comes before the id */
};

struct ctf_decoder {		/* for one stream class */
	const struct ctf_stream_class *sc;
	const struct ctf_clock *clock;	/* of the timestamps */
	struct ctf_header header;
	struct ctf_class **by_id;	/* n_ids entries; NULL: no such class */
	uint64_t n_ids;
	struct ctf_contexts *contexts;	/* ctf_wanted.h */
	GHashTable *by_far_id;		/* uint64_t * -> struct ctf_class *: ids above the limit of .by_id */
	GPtrArray *classes;		/* struct ctf_class *, owned */
	size_t bytes;			/* of memory that the classes take */
	uint64_t header_most;		/* bits of the largest event header */
	uint64_t largest_fixed, largest_open;	/* largest .empty_bits of classes without and with texts or sequences */
};

/* The state of one reader of events. */
struct ctf_run {
	uint64_t *regs;			/* size: the stream class's n_regs */
	struct arena *arena;		/* for rows and converted texts */
	uint8_t *row;			/* of the current event */
	uint32_t present;		/* mask of the slots that it has */
	uint64_t round;			/* number of the element in the current repetition, from 1 */
	struct fields_run all;		/* for CTF_OP_LOAD_ALL; the reader must clear it */
};

/* Returns the class's number; `row` is from the matcher, `counters` as in struct blk_class. UINT32_MAX: there are too
 * many. */
typedef uint32_t (*ctf_number_class)(void *data, const char *name, uint16_t row,
				     const char *counters);

/*
 * Compiles all event classes of a stream class. `layouts` (layouts.h) owns the layouts and must outlive the decoder.
 * NULL: UNSUPPORTED, with the reason.
 */
struct ctf_decoder *ctf_decoder_new(const struct ctf_stream_class *sc,
				    const struct blk_subscription *rows,
				    const struct blk_matcher *matcher, GHashTable *layouts,
				    ctf_number_class number, void *data, GError **error);
void ctf_decoder_free(struct ctf_decoder *d);		/* NULL is fine */
size_t ctf_decoder_bytes(const struct ctf_decoder *d);	/* estimated memory; O(1) */

/* Compiles the classes that were added to the stream class (live). */
bool ctf_decoder_grow(struct ctf_decoder *d, const struct blk_subscription *rows,
		      const struct blk_matcher *matcher, GHashTable *layouts,
		      ctf_number_class number, void *data, GError **error);

struct ctf_class *ctf_decoder_far(const struct ctf_decoder *d, uint64_t id);

static inline struct ctf_class *ctf_decoder_class(const struct ctf_decoder *d, uint64_t id)
{
	return G_LIKELY(id < d->n_ids) ? d->by_id[id] : ctf_decoder_far(d, id);
}

/*
 * Runs the class's steps over the bits [pos, end) of the packet at `base`. Returns the position after the event, or
 * CTF_NO_FIT. If the class copies, run->row must have row_bytes bytes.
 */
uint64_t ctf_class_run(const struct ctf_class *c, const uint8_t *base, uint64_t pos, uint64_t end,
		       struct ctf_run *run);

struct ctf_at { uint64_t pos, clock, id; };

bool ctf_header_read_slow(const struct ctf_header *h, const uint8_t *base, uint64_t *pos,
			  uint64_t end, uint64_t *clock, uint64_t *id, uint64_t *regs);

/*
 * Reads the event header at *pos; moves *pos and *clock. False: it does not fit. `fast` is the header's own, or a
 * constant in a loop for one form. Only rare forms need the addresses of the three, so a loop has them in CPU
 * registers. `regs` as in struct ctf_run: a general header sets the registers of its fields.
 */
static inline G_ALWAYS_INLINE bool ctf_header_read_as(const struct ctf_header *h,
						      enum ctf_fast fast, const uint8_t *base,
						      uint64_t *pos, uint64_t end,
						      uint64_t *clock, uint64_t *id,
						      uint64_t *regs)
{
	uint64_t at = ctf_align(*pos, h->fast_align);
	const uint8_t *p = base + (at >> 3);
	uint32_t low;
	if (fast == CTF_FAST_LARGE && G_LIKELY(at + 48 <= end)) {
		uint16_t short_id;
		memcpy(&short_id, p, sizeof short_id);
		memcpy(&low, p + 2, sizeof low);
		short_id = GUINT16_FROM_LE(short_id);
		if (G_LIKELY(short_id != UINT16_MAX)) {
			*id = short_id;
			*clock = ctf_clock_advance(*clock, GUINT32_FROM_LE(low), 32);
			*pos = at + 48;
			return true;
		}
	} else if (fast == CTF_FAST_COMPACT && G_LIKELY(at + 32 <= end)) {
		memcpy(&low, p, sizeof low);
		low = GUINT32_FROM_LE(low);
		if (G_LIKELY((low & 31) != 31)) {
			*id = low & 31;
			*clock = ctf_clock_advance(*clock, low >> 5, 27);
			*pos = at + 32;
			return true;
		}
	}
	struct ctf_at x = { *pos, *clock, 0 };
	bool fits = ctf_header_read_slow(h, base, &x.pos, end, &x.clock, &x.id, regs);
	*pos = x.pos;
	*clock = x.clock;
	*id = x.id;
	return fits;
}

static inline bool ctf_header_read(const struct ctf_header *h, const uint8_t *base, uint64_t *pos,
				   uint64_t end, uint64_t *clock, uint64_t *id, uint64_t *regs)
{
	return ctf_header_read_as(h, (enum ctf_fast)h->fast, base, pos, end, clock, id, regs);
}

#endif
