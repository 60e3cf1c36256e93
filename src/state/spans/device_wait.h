/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waits on files: for the device, or for the kernel's own writing?
 *
 * A thread that is blocked on a file waits for the disk while a block request is outstanding that it may wait for:
 * any read; or a write by itself, its process, a kernel thread or an unknown thread. In the rest of the time it waits
 * for the kernel's own writing: for a kernel thread that has not submitted the request yet, for the journal, for a
 * lock in the file system (PART_WRITEBACK). A wait that a user thread ended was for a lock that it held, whatever was
 * outstanding meanwhile.
 */
#ifndef BLK_STATE_SPANS_DEVICE_WAIT_H
#define BLK_STATE_SPANS_DEVICE_WAIT_H

#include "state/kernel/thread_logs.h"
#include "state/spans/spans_state.h"

#include <stdbool.h>

struct device_wait {
	int64_t outstanding_ns;		/* of the interval: time with such a request */
	int64_t queue_ns;		/* of that: no such request had left the device's queue */
	bool by_device;			/* the end of a request ended the wait: an interrupt woke the thread */
	uint32_t submitter;		/* thread whose request completed last before the interval's end; ID_NONE: none,
					 * or the waiting thread */
};

/* Examines what [from, to) has of the wait. False: nothing, or the trace has no block events. */
bool device_wait(struct spans *sp, uint32_t thread, const struct wait *w, int64_t from, int64_t to,
		 struct device_wait *ret);

#endif
