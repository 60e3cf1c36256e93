/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of traces, which the overview shows as well. Private to src/views/.
 */
#ifndef BLK_VIEWS_TRACES_H
#define BLK_VIEWS_TRACES_H

#include "views/spans.h"
#include "views/why.h"

struct trace_row {
	union {
		struct common c;	/* of its root */
		struct span_row columns;	/* private: what the columns read; its texts
						 * are those of the whole trace */
	};
	const struct span *root;
	int64_t took_ns;		/* trace_duration() */
	int64_t usual_ns;		/* usual_trace_duration() */
	bool is_slow;			/* compared with the usual, also of few traces */
	bool has_root;
	const char *state;
	uint32_t n_spans, n_services, n_missing;
	double x_usual;			/* < 0: unknown */
	const char *why, *all_services, *all_names;	/* made at first use */
};

/* Id of the slowest trace that ended in the range, else of an open one; 0: none. */
uint64_t traces_slowest(const struct timeline *tl, const struct view_query *query);
struct rows *traces_build(const struct timeline *tl, const struct view_query *query);

#endif
