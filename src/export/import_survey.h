/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the spans of each trace are in files of JSON, so that they can be read trace by trace: two
 * dozen bytes a span. Private to src/export/.
 */
#ifndef BLK_EXPORT_IMPORT_SURVEY_H
#define BLK_EXPORT_IMPORT_SURVEY_H

#include "base/intmap.h"
#include "base/limits.h"
#include "export/json_items.h"

#define SURVEY_NO_TRACE 0u		/* items without a trace id, which are no spans */

/* An object of a file. */
struct survey_item {
	uint64_t at;			/* byte */
	uint32_t n_bytes;		/* at most LIMIT_SPAN_OBJECT_BYTES */
	uint32_t trace;			/* a number; one for all ids of the same lower 16 digits */
};

struct survey {
	GArray *items;			/* struct survey_item, file by file as they come */
	GArray *files;			/* guint: each file's first item */
	uint32_t *order;		/* items by the end of their traces, each trace's as they came;
					 * NULL before survey_order() */
	uint64_t bytes;			/* of the items */
	int64_t first_ns, last_ns;	/* the spans', to a microsecond or so; first > last: not known */
	GArray *ends;			/* private: int64_t, of each trace; dropped by survey_order() */
	struct intmap by_id;		/* private: traces by the lower half of their ids; as .ends */
};

void survey_init(struct survey *v);
void survey_clear(struct survey *v);
void survey_begin_file(struct survey *v);
/* An object that ends at the byte `end` of the file. False: there are too many. */
bool survey_add(struct survey *v, const char *text, size_t n_bytes, uint64_t end);
/* Sorts the items; call it after the last survey_add(). */
void survey_order(struct survey *v);
size_t survey_bytes(const struct survey *v);	/* of memory */

/* The file of an item, and which of the file's it is, from 0. */
void survey_place(const struct survey *v, guint item, guint *ret_file, guint *ret_nth);

#endif
