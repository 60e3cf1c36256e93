/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Details of one span as lines of text: ids, times, explanation, parts, waits, threads, annotations, tags, and system
 * calls with their files. Instants are relative to the beginning of the trace.
 */
#ifndef BLK_VIEWS_SPAN_DETAIL_H
#define BLK_VIEWS_SPAN_DETAIL_H

#include "views/waterfall.h"

/* Lines (char *), owned by the array, with raw bytes of the trace. Headings start in the first column, other lines with
 * blanks. */
GPtrArray *span_detail(const struct rows *rows, const struct waterfall_row *row);

/* Is the instant known at which the span ended? Else it lasted at least until end_ns. */
bool span_has_end(const struct span *s);

#endif
