/* SPDX-License-Identifier: GPL-2.0-only */
/* babeltrace2's errors as GError values (inside src/trace/). */
#ifndef BLK_TRACE_BT2_BT2_ERROR_H
#define BLK_TRACE_BT2_BT2_ERROR_H

#include "trace/reader.h"

/*
 * Takes this thread's babeltrace2 error and makes a GError of it: `what` ("cannot
 * read 'DIR'") and the innermost causes. The domain is BLK_TRACE_ERROR.
 */
void bt2_set_error(GError **error, enum blk_trace_error code, const char *what);

#endif
