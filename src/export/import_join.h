/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spans that were read, joined: several reports of one span are one, and the waits and
 * calls that --with-kernel exports as spans are those of the span they were in. Private to
 * src/export/.
 */
#ifndef BLK_EXPORT_IMPORT_JOIN_H
#define BLK_EXPORT_IMPORT_JOIN_H

#include "base/intmap.h"
#include "export/zipkin_read.h"

struct joined {
	struct import_names *names;
	GPtrArray *spans;		/* struct read_span, owned; .span NULL: it is part of another */
	GHashTable *by_id;		/* private: a set of struct read_span, the first of each id */
	struct intmap trace_at;		/* private: trace ids of 32 digits, by their lower half */
	GArray *uppers;			/* private: uint64_t, of these */
	unsigned without_time;		/* were left out: after joined_finish() */
};

void joined_init(struct joined *j, struct import_names *names);
void joined_clear(struct joined *j);
/* Takes it over. False: there are too many of that id already. */
bool joined_add(struct joined *j, struct read_span *r);
/* Spans of one id, by .same: halves, and of other services. NULL: there is none. */
struct read_span *joined_find(const struct joined *j, uint64_t trace, uint64_t id);
/* All are there. */
void joined_finish(struct joined *j);
/* The self times of those that do not tell them; joined_finish() calls it. */
void joined_set_self(struct joined *j);

#endif
