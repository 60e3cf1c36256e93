/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The value of one cell of a table: a number with its unit, a text, or unknown. Unknown is VALUE_NONE, which is
 * printed as "-" (in JSON null), never as 0.
 */
#ifndef BLK_BASE_VALUE_H
#define BLK_BASE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum value_kind {
	VALUE_NONE,
	VALUE_COUNT,		/* i: a number of something */
	VALUE_BYTES,		/* i */
	VALUE_NS,		/* i: a duration */
	VALUE_TIME,		/* i: an instant, ns since the epoch */
	VALUE_ID,		/* i: a pid, a port: never scaled */
	VALUE_RATIO,		/* d: 1.0 is 100 % */
	VALUE_HEX64,		/* i: 16 lower-case hex digits (trace and span ids) */
	VALUE_TEXT,		/* s: borrowed from the row */
};

struct value {
	enum value_kind kind;
	bool at_least;		/* a lower bound: shown as ">20.0ms"; raw output has a column of its own for that */
	union {
		int64_t i;
		double d;
		const char *s;
	};
};

static inline struct value value_none(void)
{
	return (struct value){ .kind = VALUE_NONE };
}

static inline struct value value_int(enum value_kind kind, int64_t i)
{
	return (struct value){ .kind = kind, .i = i };
}

static inline struct value value_bound(enum value_kind kind, int64_t i, bool at_least)
{
	return (struct value){ .kind = kind, .at_least = at_least, .i = i };
}

static inline struct value value_ratio(double d)
{
	return (struct value){ .kind = VALUE_RATIO, .d = d };
}

static inline struct value value_text(const char *s)
{
	return s ? (struct value){ .kind = VALUE_TEXT, .s = s } : value_none();
}

/* A count, a size, a time span or a share; not a name, an id or an instant. */
static inline bool value_is_figure(struct value v)
{
	return v.kind == VALUE_COUNT || v.kind == VALUE_BYTES || v.kind == VALUE_NS || v.kind == VALUE_RATIO;
}

/* The unit of a kind: "ns", "bytes", "count". */
const char *value_unit(enum value_kind kind);

/* An id in 8 hexadecimal digits ("%08x"): its first ones, or the last ones of an id below 2^32, which has no others. */
static inline unsigned value_short_id(uint64_t id)
{
	return (unsigned)(id >> 32 ? id >> 32 : id);
}

/* -1, 0 or 1. VALUE_NONE comes first; texts are compared by strcmp(). */
int value_compare(struct value a, struct value b);

#endif
