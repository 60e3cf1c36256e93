/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Annotations without a trace: as many of BlkKin's events as a test asks for, fed to a
 * model one by one. For traces that would be too long as scripts.
 */
#ifndef BLK_TESTS_SPAN_FEED_H
#define BLK_TESTS_SPAN_FEED_H

#include "state/publish/model.h"

struct span_mark {
	int64_t ts;
	uint64_t trace, span, parent;
	const char *event;		/* "sr" */
	const char *name, *service;	/* NULL: "op", "svc" */
	int32_t vtid;			/* and vpid */
	unsigned host;			/* 0 or 1 */
};

struct span_feed;
struct span_feed *span_feed_new(struct model *m);	/* the model is the caller's */
void span_feed_free(struct span_feed *f);
void span_feed_mark(struct span_feed *f, const struct span_mark *m);

#endif
