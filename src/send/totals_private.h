/* SPDX-License-Identifier: GPL-2.0-only */
/* What totals.c stores and totals_text.c writes. All of it is read and written under .lock. */
#ifndef BLK_SEND_TOTALS_PRIVATE_H
#define BLK_SEND_TOTALS_PRIVATE_H

#include "send/totals.h"

/* Buckets of a distribution: values of at most 2^b - 1 for the bits b of [FIRST, LAST], 1 us to 34 s, and all
 * others. */
#define TOTALS_FIRST_BITS 10
#define TOTALS_LAST_BITS 35
#define TOTALS_BUCKETS (TOTALS_LAST_BITS - TOTALS_FIRST_BITS + 2)

struct exemplar {			/* a span */
	uint64_t trace_id, span_id;	/* 0: there is none */
	int64_t ns, end_ns;
};

struct series {				/* the sums of one value of the fields */
	uint64_t count;			/* of a distribution */
	int64_t sum;			/* in the metric's unit; saturates */
	uint64_t *buckets;		/* TOTALS_BUCKETS, not cumulated; NULL: no distribution */
	struct exemplar *exemplars;	/* the newest of each bucket; NULL: not of spans */
};

struct family {
	const struct send_metric *m;
	GHashTable *series;		/* labels as they are written -> struct series */
	uint64_t n_left_out;		/* values that went to (other) */
	uint64_t n_evicted;		/* spans that were evicted and are not counted */
	int64_t counted_to_ns;
};

enum totals_format { TOTALS_TEXT, TOTALS_OPENMETRICS, TOTALS_FORMAT_N };

struct totals {
	GMutex lock;
	struct family *families;
	guint n;
	unsigned most;
	bool live;
	uint64_t n_seconds;
	struct { bool are_forwarded; uint64_t chosen, sent, dropped; } spans;
	int64_t counted_to_ns;		/* INT64_MIN: nothing */
	GBytes *text[TOTALS_FORMAT_N];	/* of these sums, if it was asked for; or NULL */
};

#endif
