/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bookmarks: instants of a trace that the user marked, each with a view, its narrowing and filter, the range, and a
 * note. The text form, which is stored in a file, is a first line that names the format, and a line for each bookmark:
 * fields "key=value" separated by tabs, where other characters than visible ones are %XX. Pure data.
 */
#ifndef BLK_VIEWS_BOOKMARKS_H
#define BLK_VIEWS_BOOKMARKS_H

#include "views/metric.h"

struct bookmark {
	int64_t at_ns, step_ns;		/* the beginning of the step that was shown, its length > 0 */
	int64_t a_ns, b_ns;		/* ends of the range; TIME_UNKNOWN: not set */
	int64_t cursor_ns;		/* the time cursor of waterfall, timeline and log; TIME_UNKNOWN: none */
	const struct view *view;	/* never NULL */
	enum view_by by;
	struct view_query narrow;	/* what --only can say, of which the texts are owned */
	/* Views of a metric: the metric (NULL: none), the field it is split by (-1: none), the values to which its
	 * fields are narrowed (NULL: all; owned), a duration in the selected row of a heatmap (TIME_UNKNOWN: none). */
	const struct metric *metric;
	int split;
	char *value[METRIC_FIELD_N];
	int64_t low_ns;
	uint64_t frame;			/* flame: row.key[0] of the frame as wide as the screen; 0: that of all */
	char *host;			/* name of the host that it is narrowed to; NULL: none; owned */
	char *filter, *note;		/* NULL: none; owned */
};

struct bookmark *bookmark_new(const struct view *view);		/* nothing else is set */
void bookmark_free(struct bookmark *b);		/* NULL is fine */
/* Copies what --only can say of a narrowing. false: there was more (other than the host). */
bool bookmark_narrow(struct bookmark *b, const struct view_query *q);
/* Same instant, view, host, narrowing, metric and values of its fields: one replaces the other. */
bool bookmark_is_same(const struct bookmark *a, const struct bookmark *b);
/* "pid=246, filter syscall == read": visible, "" if there is neither. Free with g_free(). */
char *bookmark_where(const struct bookmark *b);

/* The text form of an array of struct bookmark *; from_ns, to_ns: only those in [from_ns, to_ns). g_free(). */
char *bookmarks_text(const GPtrArray *bookmarks, int64_t from_ns, int64_t to_ns);
/* Parses it: struct bookmark *, by time, freed by the array. NULL and *error: the text is no such text, is damaged, or
 * has more than LIMIT_BOOKMARKS. `name` names it in the error. */
GPtrArray *bookmarks_parse(const char *name, const char *text, size_t len, GError **error);
/* Adds b (taken over), or replaces the one that is the same. false, and b is freed: there are LIMIT_BOOKMARKS. */
bool bookmarks_add(GPtrArray *bookmarks, struct bookmark *b);

#endif
