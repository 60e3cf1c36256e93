/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that is known of one span, as lines of text: ids, times, the verdict, what its time
 * was, waits, the threads it was on, annotations, tags, system calls with their files.
 * Instants are relative to the begin of the trace.
 */
#ifndef BLK_VIEWS_SPAN_DETAIL_H
#define BLK_VIEWS_SPAN_DETAIL_H

#include "views/waterfall.h"

/* char *, as the trace has them, freed with the array. Headings begin in the first column,
 * what is below them with blanks. */
GPtrArray *span_detail(const struct rows *rows, const struct waterfall_row *row);

#endif
