/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Positions of the spans of each trace in JSON files, so that they can be read trace by trace. Uses about 24 bytes
 * for each span. Private to src/export/.
 */
#ifndef BLK_EXPORT_IMPORT_SURVEY_H
#define BLK_EXPORT_IMPORT_SURVEY_H

#include "base/intmap.h"
#include "base/json_read.h"
#include "base/limits.h"
#include "export/json_items.h"

#define SURVEY_NO_TRACE 0u		/* trace number of objects without a trace id, which are not spans */

/* An object in a file. */
struct survey_item {
	uint64_t at;			/* byte offset in the file */
	uint32_t n_bytes;		/* at most LIMIT_SPAN_OBJECT_BYTES */
	uint32_t trace;			/* number of the trace; the same for all ids with the same lower 16 digits */
};

struct survey {
	GArray *items;			/* struct survey_item, in file order */
	GArray *files;			/* guint: index of the first item of each file */
	uint32_t *order;		/* items by the end of their traces, items of one trace in file order; NULL
					 * before survey_order() */
	uint64_t bytes;			/* sum over all items */
	int64_t first_ns, last_ns;	/* time of the spans, to about a microsecond; first > last: unknown */
	GArray *ends;			/* private: int64_t, end of each trace; freed by survey_order() */
	struct intmap by_id;		/* private: traces by the lower half of their ids; freed by survey_order() */
};

void survey_init(struct survey *v);
void survey_clear(struct survey *v);
void survey_begin_file(struct survey *v);
/* Adds an object that ends before the byte `end` of the file. o: JSON_NONE: it is not valid. False: there are too
 * many. */
bool survey_add(struct survey *v, struct json_value o, size_t n_bytes, uint64_t end);
/* Sorts the items; call it after the last survey_add(). */
void survey_order(struct survey *v);
size_t survey_bytes(const struct survey *v);	/* memory in use */

/* The file of an item, and its index in that file, from 0. */
void survey_place(const struct survey *v, guint item, guint *ret_file, guint *ret_nth);

#endif
