/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event classes compiled to runs of skip and load steps (inside src/trace/).
 *
 * A class whose size is the same in every event is one addition. Others are short
 * programs of steps, run over the bits of a packet; positions are in bits from the
 * packet's begin, as CTF aligns by them. Where all wanted fields lie at offsets that
 * never change, a record points at the packet and a layout (nothing is copied); else
 * the program copies them to a row of the record's own.
 *
 * Decoders are immutable and shared by threads; what changes while an event is read is
 * in the struct ctf_run of each reader.
 */
#ifndef BLK_TRACE_CTF_CTF_PROGRAM_H
#define BLK_TRACE_CTF_CTF_PROGRAM_H

#include "base/fields.h"
#include "trace/arena.h"
#include "trace/ctf/ctf_bits.h"
#include "trace/ctf/ctf_class.h"
#include "trace/reader.h"

/* The end of a program that does not fit its data. */
#define CTF_NO_FIT UINT64_MAX

enum ctf_op {
	CTF_OP_SKIP,		/* nothing but .ahead */
	CTF_OP_ALIGN,		/* to n bits */
	CTF_OP_STRING,		/* to behind its NUL */
	CTF_OP_TAKE_STRING,	/* row[off] = the string here, and to behind its NUL; in no repetition */
	CTF_OP_REG,		/* register reg = integer here; no move */
	CTF_OP_LOAD,		/* row[off] = integer here, 8 bytes; no move */
	CTF_OP_LOAD_32,		/* the same of 32 or 64 bits at a whole byte, little endian, in no
				 * repetition */
	CTF_OP_LOAD_64,
	CTF_OP_LOAD_STRING,	/* row[off] = the string here; no move */
	CTF_OP_LOAD_ARRAY,	/* row[off] = n elements of `bits`; no move */
	CTF_OP_LOAD_SEQUENCE,	/* the same, register reg elements */
	CTF_OP_LOAD_ELEMENT,	/* row[off] = element n, if register reg is greater; no move */
	CTF_OP_LOAD_WALK,	/* row[off] = the field of .type here, as ctf_walk() reads it; no move */
	CTF_OP_LOAD_ALL,	/* row[off] = all fields of the event that begins here */
	CTF_OP_SKIP_SEQUENCE,	/* register reg elements of n bits */
	CTF_OP_REPEAT,		/* steps up to `to`, n times */
	CTF_OP_REPEAT_REG,	/* the same, register reg times */
	CTF_OP_CHOOSE,		/* option by register reg: choice[n ..]; then go to `to` */
	CTF_OP_WALK,		/* behind the field of .type, as ctf_walk() reads it; register
				 * reg = its integer */
};

/*
 * "Here" is .ahead bits behind the position: what has no need of it is skipped along with
 * the next step that moves.
 */
struct ctf_step {
	uint8_t op;
	uint8_t bits;
	uint8_t slot;
	bool big_endian : 1, is_signed : 1, is_text : 1;
	uint16_t reg;
	uint16_t off;
	uint32_t to;
	uint32_t pick;			/* loads in a repetition: only in this round, from 1 */
	uint32_t ahead;			/* bits */
	union {
		uint64_t n;
		const struct ctf_type *type;
	};
};

/* A wanted field that lies at the same byte of every event of its class. */
struct ctf_fixed {
	uint16_t at;			/* bytes behind the header */
	uint16_t off;			/* row[off] = the integer, 8 bytes, or its text */
	uint16_t size;			/* bytes; of an integer 1, 2, 4 or 8 */
	bool big_endian : 1, is_signed : 1, is_text : 1;
};

/* An option of a variant: for tags of [lo, hi] run the steps [from, to). The last one ends
 * the list: no option is selected, which is wrong but for optionals. */
struct ctf_choice {
	uint64_t lo, hi;
	bool is_signed, last, optional;
	uint32_t from, to;
};

struct ctf_class {
	uint16_t row;			/* of the subscription table; G_MAXUINT16: only counted */
	bool copies;			/* its program fills a row */
	uint32_t cls;			/* number among all names of the reader */
	uint16_t n_fixed;		/* done before the steps */
	uint32_t n_steps;		/* 0: `bits` is all there is to it */
	uint32_t row_bytes;
	uint64_t bits;			/* behind the header, when n_steps is 0 */
	const struct blk_layout *layout;
	uint32_t wanted;		/* slots that the layout has, as a mask */
	uint32_t fixed_slots;		/* those of .fixed, as a mask */
	uint32_t fixed_bits;		/* how far they reach */
	struct ctf_fixed *fixed;
	struct ctf_step *step;
	struct ctf_choice *choice;
	const struct ctf_event_class *ec;
	const struct ctf_stream_class *sc;
};

enum ctf_fast { CTF_FAST_NONE, CTF_FAST_COMPACT, CTF_FAST_LARGE };

/* How event headers look: LTTng's compact and large ones, a plain id + timestamp, and any
 * other, which is read by its type. */
struct ctf_header {
	const struct ctf_type *general;	/* read by its type; the fields below mean nothing */
	bool is_general;	/* .general NULL: there is no header at all */
	bool ends_on_byte;	/* whatever is in it */
	uint8_t fast;		/* enum ctf_fast: little endian and packed, the usual ones */
	bool has_variant;
	uint32_t align;		/* of the whole, bits */
	uint32_t fast_align;
	uint8_t id_bits, ts_bits;
	uint32_t id_align, ts_align;	/* ts: with its option's */
	uint64_t extended;	/* this id: the long form follows */
	uint8_t id2_bits, ts2_bits;
	uint32_t id2_align, ts2_align;	/* id2: with its option's */
	bool id_be, ts_be, id2_be, ts2_be;
	bool ts_first;		/* plain: the timestamp comes before the id */
};

struct ctf_decoder {		/* of one stream class */
	const struct ctf_stream_class *sc;
	const struct ctf_clock *clock;	/* of its timestamps */
	struct ctf_header header;
	struct ctf_class **by_id;	/* dense; NULL: no such class */
	uint64_t n_ids;
	GHashTable *by_far_id;		/* ids too big for that */
	GPtrArray *classes;		/* struct ctf_class *, owned */
};

/* What one reader of events changes. */
struct ctf_run {
	uint64_t *regs;			/* as many as the stream class uses */
	struct arena *arena;		/* rows and texts that had to be converted */
	uint8_t *row;			/* of the event being read */
	uint32_t present;		/* slots that it has, as a mask */
	uint64_t round;			/* of the repetition that goes on, from 1 */
	struct fields_run all;		/* CTF_OP_LOAD_ALL; the reader's to clear */
};

/* The number among all classes; `row` as the matcher says, `counters` as in struct blk_class. */
typedef uint32_t (*ctf_number_class)(void *data, const char *name, uint16_t row,
				     const char *counters);

/*
 * Compiles all event classes of a stream class. `layouts` (layouts.h) keeps the layouts
 * and outlives the decoder. NULL: UNSUPPORTED, named.
 */
struct ctf_decoder *ctf_decoder_new(const struct ctf_stream_class *sc,
				    const struct blk_subscription *rows,
				    const struct blk_matcher *matcher, GHashTable *layouts,
				    ctf_number_class number, void *data, GError **error);
void ctf_decoder_free(struct ctf_decoder *d);		/* NULL is fine */

/* Classes that were added to the stream class since: compiles them too (live). */
bool ctf_decoder_grow(struct ctf_decoder *d, const struct blk_subscription *rows,
		      const struct blk_matcher *matcher, GHashTable *layouts,
		      ctf_number_class number, void *data, GError **error);

struct ctf_class *ctf_decoder_far(const struct ctf_decoder *d, uint64_t id);

static inline struct ctf_class *ctf_decoder_class(const struct ctf_decoder *d, uint64_t id)
{
	return G_LIKELY(id < d->n_ids) ? d->by_id[id] : ctf_decoder_far(d, id);
}

/*
 * Runs the class's steps over the bits [pos, end) of the packet at `base`. Returns the
 * position behind the event, or CTF_NO_FIT. A class that copies needs run->row of
 * row_bytes bytes.
 */
uint64_t ctf_class_run(const struct ctf_class *c, const uint8_t *base, uint64_t pos, uint64_t end,
		       struct ctf_run *run);

/* The cycles after `now` whose lowest `bits` are `low`. */
static inline uint64_t ctf_clock_advance(uint64_t now, uint64_t low, unsigned bits)
{
	if (bits >= 64)
		return low;
	return now + ((low - now) & ((UINT64_C(1) << bits) - 1));
}

struct ctf_at { uint64_t pos, clock, id; };

bool ctf_header_read_slow(const struct ctf_header *h, const uint8_t *base, uint64_t *pos,
			  uint64_t end, uint64_t *clock, uint64_t *id, uint64_t *regs);

/*
 * Reads the event header at *pos: moves *pos and *clock. False: does not fit. `fast` is
 * the header's own, or a constant where a loop is made for each kind. Only the rare kinds
 * need their addresses: so a loop keeps all three in registers. `regs` as in struct ctf_run:
 * a general header sets those of its fields.
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
