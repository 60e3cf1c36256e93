/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads all fields of a babeltrace2 event, in the format of base/fields.h (inside src/trace/). */
#ifndef BLK_TRACE_BT2_BT2_ALL_H
#define BLK_TRACE_BT2_BT2_ALL_H

#include "base/fields.h"
#include "trace/arena.h"
#include "trace/event.h"

#include <babeltrace2/babeltrace.h>

/* Contexts and payload; the bytes are allocated in the arena. */
struct blk_text bt2_all_read(const bt_event *event, struct fields_run *run, struct arena *arena);

#endif
