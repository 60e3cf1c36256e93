/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All fields of an event as one run of bytes: what a reader delivers for the field "*"
 * of a subscription (trace/event.h), and what takes it apart again.
 *
 *     struct fields_cursor c = fields_of(bytes, n);
 *     struct field f;
 *     while (fields_next(&c, &f)) ...
 *
 * Structures, arrays and variants are a FIELD_BEGIN, what is inside, and a FIELD_END.
 * Names and texts are hostile. Lengths of sequences ("_buf_length") are left out: the
 * sequence has them.
 */
#ifndef BLK_BASE_FIELDS_H
#define BLK_BASE_FIELDS_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum field_kind {
	FIELD_SIGNED, FIELD_UNSIGNED,	/* .value; an enumeration's has a .text, too */
	FIELD_REAL,			/* .real */
	FIELD_TEXT,			/* .text, .len bytes */
	FIELD_BEGIN,			/* .value: how many are inside; .is_list: without names */
	FIELD_END,
	FIELD_MORE,			/* there was more than is kept: the run ends here */
};

enum field_scope { FIELD_COMMON, FIELD_SPECIFIC, FIELD_PAYLOAD };

struct field {
	uint8_t kind;			/* enum field_kind */
	uint8_t scope;			/* enum field_scope */
	uint8_t base;			/* of integers as the trace wants them shown: 8, 10, 16 */
	bool is_list;
	const char *name;		/* NUL-terminated; "" for elements */
	uint64_t value;			/* signed ones by their bits */
	double real;
	const char *text;		/* not NUL-terminated; NULL: none */
	uint32_t len;
};

/* A run that is made. It ends at LIMIT_LOG_EVENT_BYTES: what is behind is left out, and FIELD_MORE says
 * so. */
struct fields_run {
	GByteArray *bytes;		/* NULL: made by the first fields_begin() */
	bool full;
};
void fields_begin(struct fields_run *r);	/* empty again */
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

/* The first field of this name and scope that is in no structure. */
bool fields_find(const void *bytes, size_t n, enum field_scope scope, const char *name,
		 struct field *ret);

/* Is it the length of a sequence, which the tracer writes before it? */
bool fields_is_length(const char *name);

#endif
