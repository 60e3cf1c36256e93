/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A page about the worst requests of a range, for an incident report, as Markdown or as HTML. The views of the screen
 * supply its data.
 */
#ifndef BLK_EXPORT_REPORT_H
#define BLK_EXPORT_REPORT_H

#include "views/view.h"

struct report_options {
	int64_t from_ns, to_ns;		/* the range */
	const struct expr *filter;	/* on the view traces; NULL: all requests */
	int sort;			/* column of the view traces; -1: duration_ns */
	bool descending;		/* of `sort` */
	unsigned worst;			/* number of requests */
	bool utf8, utc;
	const char *label;		/* name of the trace */
	const char *reader;		/* the reader of the trace; NULL: not mentioned */
	const GPtrArray *bookmarks;	/* struct bookmark * (views/bookmarks.h), of any time; NULL: none */
	const char *warning;		/* unreadable parts of the trace; NULL: none */
};

/* The page; free it with g_free(). *ret_n: number of requests on it, which may be less than .worst. */
char *report_markdown(const struct timeline *tl, const struct report_options *options,
		      unsigned *ret_n);

/* The same as an HTML page with graphics, which needs no other file, no network and no script; also of a range without
 * requests. Free it with g_free(). */
char *report_html(const struct timeline *tl, const struct report_options *options);

#endif
