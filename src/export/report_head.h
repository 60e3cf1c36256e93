/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says about the trace: name, hosts, time, machine, completeness. Private to src/export/. */
#ifndef BLK_EXPORT_REPORT_HEAD_H
#define BLK_EXPORT_REPORT_HEAD_H

#include "views/view.h"
#include "views/waterfall.h"

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

/* The language of the page. code() and text() escape a text of the trace; free with g_free(). */
struct report_markup {
	char *(*code)(const char *s), *(*text)(const char *s);
	const char *strong, *strong_end;
};

/* Gets each property and its value, which is in the language of the page. */
typedef void (*report_property)(void *data, const char *what, const char *value);
/* n: number of requests. */
void report_head(const struct timeline *tl, const struct report_options *options, const struct report_markup *markup,
		 const struct completeness *completeness, guint n, report_property visit, void *data);

/* A sentence about a request, in the language of the page (g_free). stress: what is wrong with it is strong. */
char *report_request(const struct waterfall *w, const struct report_markup *markup, bool stress);

/* Rows of the view traces of the range: those of the filter, sorted. Free with rows_free(). */
struct rows *report_traces(const struct timeline *tl, const struct report_options *options);

/* Gets each bookmark of the range. `where` and `note` are in the language of the page, "" where there is none. */
typedef void (*report_bookmark)(void *data, const char *clock, const char *view, const char *where, const char *note);
/* Returns the number of bookmarks. */
guint report_bookmarks(const struct report_options *options, const struct report_markup *markup, report_bookmark visit,
		       void *data);

#endif
