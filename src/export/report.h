/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A Markdown page about the worst requests of a range, for an incident: what blktop shows
 * of each on its screens, made by the same views.
 */
#ifndef BLK_EXPORT_REPORT_H
#define BLK_EXPORT_REPORT_H

#include "views/view.h"

struct report_options {
	int64_t from_ns, to_ns;		/* the range */
	const struct expr *filter;	/* over the view traces; NULL: all requests */
	int sort;			/* its column, -1: duration_ns */
	bool descending;		/* of `sort` */
	unsigned worst;			/* how many requests */
	bool utf8, utc;
	const char *label;		/* the trace's name */
	const char *reader;		/* which read it; NULL: not said */
	const char *warning;		/* what of the trace can't be read; NULL */
};

/* The page (g_free). *ret_n: how many requests it is about, fewer where there are fewer. */
char *report_markdown(const struct timeline *tl, const struct report_options *options,
		      unsigned *ret_n);

#endif
