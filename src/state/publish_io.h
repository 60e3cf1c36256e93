/* SPDX-License-Identifier: GPL-2.0-only */
/* The cells of devices, from a bin into a second. Only for the publisher. */
#ifndef BLK_STATE_PUBLISH_IO_H
#define BLK_STATE_PUBLISH_IO_H

#include "state/names.h"

struct publish_ids {
	const struct slice *s;
	const struct names *names;
	uint32_t (*thread)(void *data, uint32_t slice_thread);	/* the registry's id */
	void *data;
};

void publish_io(struct second *to, const struct bin *b, const struct publish_ids *ids);

#endif
