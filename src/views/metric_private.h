/* SPDX-License-Identifier: GPL-2.0-only */
/* What the list of metrics (metric_list.c) and their decomposition (metric.c) share. */
#ifndef BLK_VIEWS_METRIC_PRIVATE_H
#define BLK_VIEWS_METRIC_PRIVATE_H

#include "views/metric.h"

#define FIELD(id) (UINT32_C(1) << METRIC_BY_##id)
#define OF_THREAD (FIELD(container) | FIELD(process) | FIELD(pid) | FIELD(thread) | FIELD(tid))
#define OF_CALLS (FIELD(file) | FIELD(errno) | FIELD(cpu))
#define OF_SPANS (-1)
#define OF_EVENTS (-2)

/* metric.figure, if its kind is OF_SPANS. */
enum span_figure { REQUEST_LATENCY, REQUEST_TIME, SPAN_LATENCY, SPAN_SELF, SPAN_TIME };

/* The field of this id; NULL: there is none. */
const struct cell_field *metric_cell_field(const struct cell_layout *l, const char *id);
/* The cells' field that a metric's field means; NULL: none. */
const struct cell_field *metric_meant(enum cell_kind kind, enum metric_field field);

#endif
