/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All fields of an event, encoded as bytes (a "run"). Readers deliver this for the field "*" of a subscription
 * (trace/event.h).
 *
 *     struct fields_cursor c = fields_of(bytes, n);
 *     struct field f;
 *     while (fields_next(&c, &f)) ...
 *
 * A structure, array or variant is a FIELD_BEGIN, its content, and a FIELD_END. Names and texts are hostile. The
 * length field of a sequence ("_buf_length") is left out, as the sequence has its length.
 */
#ifndef BLK_BASE_FIELDS_H
#define BLK_BASE_FIELDS_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum field_kind {
	FIELD_SIGNED, FIELD_UNSIGNED,	/* .value; an enumeration has a .text, too */
	FIELD_REAL,			/* .real */
	FIELD_TEXT,			/* .text, .len bytes */
	FIELD_BEGIN,			/* .value: number of fields inside; .is_list: they have no names */
	FIELD_END,
	FIELD_MORE,			/* the run was cut off here; .value: bytes of all values that are left out */
};

enum field_scope { FIELD_COMMON, FIELD_SPECIFIC, FIELD_PAYLOAD };

struct field {
	uint8_t kind;			/* enum field_kind */
	uint8_t scope;			/* enum field_scope */
	uint8_t base;			/* of integers, as the trace wants them shown: 8, 10, 16 */
	bool is_list;
	const char *name;		/* NUL-terminated; "" for elements */
	uint64_t value;			/* signed values are stored as their bits */
	double real;
	const char *text;		/* not NUL-terminated; NULL: none */
	uint32_t len;
	uint32_t bytes;			/* for fields_put(), of numbers: size in the trace (8 if it varies) */
};

/* A run that is being made. Above LIMIT_LOG_EVENT_BYTES it is cut off with a FIELD_MORE. */
struct fields_run {
	GByteArray *bytes;		/* NULL until the first fields_begin() */
	bool full;
	guint more;			/* full: place of the FIELD_MORE */
};
void fields_begin(struct fields_run *r);	/* empties the run */
void fields_put(struct fields_run *r, const struct field *f);
void fields_clear(struct fields_run *r);

struct fields_cursor {
	const uint8_t *at, *end;
};

static inline struct fields_cursor fields_of(const void *bytes, size_t n)
{
	return (struct fields_cursor){ bytes, (const uint8_t *)bytes + n };
}

bool fields_next(struct fields_cursor *c, struct field *ret);

/* Finds the first field of this name and scope that is not inside a structure. */
bool fields_find(const void *bytes, size_t n, enum field_scope scope, const char *name,
		 struct field *ret);

/* Is this the name of a sequence's length field, which the tracer writes before the sequence? */
bool fields_is_length(const char *name);

#endif
