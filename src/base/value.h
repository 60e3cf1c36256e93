/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One cell of a view: a number with its unit, a text, or nothing. What is unknown
 * is VALUE_NONE: printed as "-", in JSON null, never 0.
 */
#ifndef BLK_BASE_VALUE_H
#define BLK_BASE_VALUE_H

#include <stdint.h>

enum value_kind {
	VALUE_NONE,
	VALUE_COUNT,		/* i: a number of things */
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

static inline struct value value_ratio(double d)
{
	return (struct value){ .kind = VALUE_RATIO, .d = d };
}

static inline struct value value_text(const char *s)
{
	return s ? (struct value){ .kind = VALUE_TEXT, .s = s } : value_none();
}

/* "ns", "bytes", "count": what a column of this kind is in. */
const char *value_unit(enum value_kind kind);

/* -1, 0, 1; VALUE_NONE sorts before everything; texts by strcmp. */
int value_compare(struct value a, struct value b);

#endif
