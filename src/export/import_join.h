/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Joins imported spans: merges several reports of one span, and moves waits and calls that --with-kernel exported as
 * spans back into their span. Private to src/export/.
 */
#ifndef BLK_EXPORT_IMPORT_JOIN_H
#define BLK_EXPORT_IMPORT_JOIN_H

#include "base/intmap.h"
#include "export/zipkin_read.h"

struct joined {
	struct import_names *names;
	GPtrArray *spans;		/* struct read_span, owned; .span NULL: merged into another */
	GHashTable *by_id;		/* private: a set of struct read_span, the first of each id */
	struct intmap trace_at;		/* private: by lower half of the trace ids with 32 digits */
	GArray *uppers;			/* private: uint64_t, the upper halves of these */
	unsigned without_time;		/* spans left out; valid after joined_finish() */
};

void joined_init(struct joined *j, struct import_names *names);
void joined_clear(struct joined *j);
/* Takes ownership of r. False: too many spans have this id. */
bool joined_add(struct joined *j, struct read_span *r);
/* Spans with one id, linked by .same: halves, or spans of other services. NULL: none. */
struct read_span *joined_find(const struct joined *j, uint64_t trace, uint64_t id);
/* Call it after the last joined_add(). offset: see import_align(). */
void joined_finish(struct joined *j, int64_t (*offset)(const char *clock));
/* Computes the self times of spans whose file has none; joined_finish() calls it. */
void joined_set_self(struct joined *j);

#endif
