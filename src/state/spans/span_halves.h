/* SPDX-License-Identifier: GPL-2.0-only */
/* Splitting a span's annotations into halves: local, client, server. */
#ifndef BLK_STATE_SPANS_SPAN_HALVES_H
#define BLK_STATE_SPANS_SPAN_HALVES_H

#include "state/spans/spans_state.h"

/* Appends the halves of one span to sp->halves. ids: its annotations, in order of time; sorted by half on return.
 * There are several halves of a kind if several services begin the span. */
void spans_split(struct spans *sp, uint32_t *ids, guint n);

#endif
