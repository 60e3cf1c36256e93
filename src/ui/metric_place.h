/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of places of the views heatmap and distribution: the metric, and in a heatmap what was counted, the
 * selected cell and the rectangle. Main thread only.
 */
#ifndef BLK_UI_METRIC_PLACE_H
#define BLK_UI_METRIC_PLACE_H

#include "ui/nav.h"
#include "views/heatmap.h"

/* "call == fsync": one field of the metric has this value. */
struct metric_condition { enum metric_field field; char *text; bool number; };

struct metric_place {
	struct metric_query query;	/* .where is of the conditions; .metric NULL: not chosen yet */
	GArray *conditions;		/* struct metric_condition */
	struct metric_query other;	/* distribution: the second side; .metric NULL: none */
	char *name, *other_name;	/* visible, of the sides: "thumbnail"; "": all */
	/* heatmap: */
	struct heatmap *heatmap;	/* NULL: nothing was counted */
	int64_t low_ns;			/* the selected row has this duration; -1: none was selected */
	enum { RECTANGLE_NONE, RECTANGLE_OPEN, RECTANGLE_CLOSED } rectangle;
	/* Two corners: instant and duration; of an open one the second is the selected cell. */
	struct { int64_t at_ns, low_ns; } corner[2];
	char *difference;		/* of the closed rectangle; NULL: not made */
};

/* That of a place of these views. */
struct metric_place *place_metric(struct place *p);
/* Replaces it. Takes it over. */
void place_take_metric(struct place *p, struct metric_place *m);

struct metric_place *metric_place_new(const struct metric *m);
/* The same, split by the first of n_by fields. */
struct metric_place *metric_place_by(const struct metric *m, const enum metric_field *by, unsigned n_by);
void metric_place_free(struct metric_place *m);		/* NULL is fine */
struct metric_place *metric_place_copy(const struct metric_place *m);	/* the metric and its conditions */
/* Adds a condition; unknown values, fields that the metric does not have, and texts too long for an
 * expression are left out. */
void metric_place_where(struct metric_place *m, enum metric_field field, struct value value);
/* Splits by the next field of those that seconds have, or by none. Returns its number; -1: none. */
int metric_place_next_by(struct metric_place *m);
/* The conditions as a filter of the log, or of traces and spans ("" : none): what such a filter cannot say is left
 * out. Free with g_free(). */
char *metric_place_log_filter(const struct metric_place *m);
/* "request.latency of thumbnail": visible. Free with g_free(). */
char *metric_place_title(const struct metric_place *m);

#endif
