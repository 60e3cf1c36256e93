/* SPDX-License-Identifier: GPL-2.0-only */
/* Self time: the time of a span that none of its children covers. */
#ifndef BLK_STATE_SPANS_SPAN_SELF_H
#define BLK_STATE_SPANS_SPAN_SELF_H

#include "state/spans/spans_state.h"

/* Sets self_ns of all halves. They must be sorted by span. */
void spans_set_self(struct spans *sp);

#endif
