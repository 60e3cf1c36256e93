/* SPDX-License-Identifier: GPL-2.0-only */
/* Every event of one trace directory as babeltrace2 reads it, stream by stream. */
#ifndef BLK_TEST_EVENTS_BT2_H
#define BLK_TEST_EVENTS_BT2_H

#include <babeltrace2/babeltrace.h>

#include "lib/digest.h"

struct events_bt2_visitor {
	void (*stream)(void *data, const bt_stream *stream);
	/* cycles: of the stream's clock; cpu: UINT32_MAX when the packet does not say */
	void (*event)(void *data, const bt_event *event, uint64_t cycles, uint32_t cpu);
	void (*stream_end)(void *data, const char *fault);	/* NULL: whole */
};

/* False: babeltrace2 refuses the directory; *reason (new) says why. */
bool events_bt2_read(const char *dir, const struct events_bt2_visitor *v, void *data,
		     char **reason);

/* Contexts and payload of the event. */
void events_bt2_digest(const bt_event *event, struct digest *d);

/* What babeltrace2 says went wrong, as new string. */
char *events_bt2_reason(void);

#endif
