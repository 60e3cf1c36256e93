/* SPDX-License-Identifier: GPL-2.0-only */
/* The labels of a series: process="mysqld",part="disk". Values are escaped: none can end its quotes or its line. */
#ifndef BLK_SEND_LABELS_H
#define BLK_SEND_LABELS_H

#include "views/metric.h"

/* `by` has query.n_by values. What is unknown is the empty text, which Prometheus takes for no label. Control
 * characters and invalid bytes are made visible. Free with g_free(). */
char *labels_of(const struct metric_query *q, const struct value *by);
char *labels_of_others(const struct metric_query *q);	/* each is "(other)" */
/* A text on one line, as in a HELP line. */
void labels_append_escaped(GString *s, const char *text);

#endif
