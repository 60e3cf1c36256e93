/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Turns values into bytes and back. One function describes a struct for both directions: each call writes the value,
 * or reads it and checks it. The bytes are the same on every machine:
 *
 *     unsigned	7 bits a byte, the lowest first; all bytes but the last have bit 7 set (LEB128)
 *     signed	the same of the zigzag form: 0, -1, 1, -2, ...
 *     instant	the difference to the instant before (see code_ts())
 *     text	its length, then its bytes
 *
 * What is written does not change, even if it is refused. After bytes were refused, every value that is read is 0, and
 * every array is empty. So callers check .fault once, at the end. One thread at a time.
 *
 * Values that are alike compress better if they follow each other. So between coder_columns_begin() and
 * coder_columns_end(), the values of rows (coder_row()) go to columns: all first values of the rows of a set together,
 * all second ones, and so on. The bytes are:
 *
 *     unsigned	number of columns that have bytes
 *     		of each, in order: unsigned 64 * set + column; unsigned number of its bytes
 *     		values that are in no row
 *     		the columns
 */
#ifndef BLK_BASE_CODER_H
#define BLK_BASE_CODER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct coder_columns;

struct coder {
	GByteArray *out;		/* writing: what was written; NULL: reading */
	const uint8_t *at, *end;	/* reading: what is left */
	const char *fault;		/* reading: why the bytes are refused; NULL: they are fine so far. Static */
	int64_t ts;			/* the last instant */
	uint64_t seq;			/* the last number of code_seq() */
	int64_t from, to;		/* reading: instants other than 0 outside of [from, to] are refused; both 0:
					 * none is */
	int64_t first, last;		/* reading: instants of events are within [first, last] */
	uint64_t seq_end;		/* reading: code_seq() refuses numbers from this one on; 0: none */
	uint64_t *room;			/* reading: bytes of memory that what is read may still take; it becomes less.
					 * NULL: any number */
	struct coder_columns *columns;	/* private */
};

#define CODER_SETS 48u
#define CODER_COLUMNS 64u		/* values after these share the last one */

/* From begin to end, rows have columns. Reading: .at and .end are the bytes of both. Every begin needs its end, after
 * which .at is .end, or the bytes are refused. */
void coder_columns_begin(struct coder *c);
void coder_columns_end(struct coder *c);
/* The next values are those of a row of the set, 1 to CODER_SETS - 1; 0: they are in no row. */
void coder_row(struct coder *c, unsigned set);
/* The row leaves out its next value. */
void coder_skip(struct coder *c);
/* The row's other values, whose number varies, share one column. */
void coder_rest(struct coder *c);

static inline bool coder_writes(const struct coder *c)
{
	return c->out != NULL;
}

/* Refuses the bytes that are read; the first reason stays. why: static. */
void coder_refuse(struct coder *c, const char *why);
/* Writing: refuses what would become longer. Call it now and then. */
void coder_bound(struct coder *c, size_t most);

/* Plain values; a value that does not fit its type is refused. */
void code_u64(struct coder *c, uint64_t *v);
void code_u32(struct coder *c, uint32_t *v);
void code_u16(struct coder *c, uint16_t *v);
void code_u8(struct coder *c, uint8_t *v);
void code_bool(struct coder *c, bool *v);
void code_i64(struct coder *c, int64_t *v);
void code_i32(struct coder *c, int32_t *v);
void code_i16(struct coder *c, int16_t *v);

/* A value of an enum, or an index: anything from n on is refused. */
void code_below(struct coder *c, uint8_t *v, unsigned n);
/* An id below n. none: UINT32_MAX is allowed, too. */
void code_id(struct coder *c, uint32_t *v, uint32_t n, bool none);
/* Ids that are numbered anew, in the order of their first use, when they are written; 0 stays 0. So a reader needs only
 * what they stand for in that order. */
struct coder_ids {
	uint32_t *written;	/* by id: what is written for it; 0: not used yet */
	GArray *used;		/* uint32_t: the ids that were used, in order; 0 is the first */
};
void coder_ids_init(struct coder_ids *ids, uint32_t n);		/* of ids below n > 0 */
void coder_ids_clear(struct coder_ids *ids);
/* An id below n. Writing: ids is not NULL. */
void code_used_id(struct coder *c, uint32_t *v, uint32_t n, struct coder_ids *ids);
/* An instant (ns) as traces can have it (LIMIT_TIME_SECONDS), or INT64_MIN or INT64_MAX, which are a byte each. */
void code_ts(struct coder *c, int64_t *v);
/* The instant of an event; and whether one that was read can be that. */
void code_event_ts(struct coder *c, int64_t *v);
void coder_check_event(struct coder *c, int64_t ts);
/* A time (ns), shorter than CODER_NS_END, so that sums of some do not overflow. */
#define CODER_NS_END (INT64_C(1) << 55)		/* more than a year */
void code_ns(struct coder *c, int64_t *v);
/* A number that is near the last one. */
void code_seq(struct coder *c, uint64_t *v);
#define CODER_OWN_BYTES 32u	/* what a block of memory, or an entry of a table, takes beside its content, about */
/* Raw bytes. */
void code_bytes(struct coder *c, void *bytes, size_t n);
/* A text; the reader gets a new one (never NULL, without NUL bytes) instead of *text, which is not freed. */
void code_text(struct coder *c, char **text);
/* Some bytes that the reader borrows from its input. most: a longer one is refused. */
void code_slice(struct coder *c, const char **bytes, uint32_t *len, uint32_t most);
#define CODER_NO_ROOM \
	"it needs more memory than its size and --memory allow; if you trust it, name a larger --memory"
/* Reading: what comes next takes so many bytes of memory. Refused if .room has fewer: nothing must be allocated
 * then. */
void coder_take(struct coder *c, uint64_t bytes);
/* The number of elements of an array, each of which has at least `least` bytes (> 0) and takes `each` bytes of memory
 * when it is read (coder_take()). 0 if that many cannot follow, or take too much. */
uint32_t code_len(struct coder *c, size_t n, unsigned least, size_t each);

/* All elements of an array of unsigned ids below n. *a may be NULL, and is NULL when it was empty. */
void code_ids(struct coder *c, GArray **a, uint32_t n);

#endif
