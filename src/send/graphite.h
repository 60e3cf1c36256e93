/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sends metrics of closed seconds to a Graphite server (carbon.h): for each second, value and figure a line with the
 * second's own time. Names are made from a template; by default they are those of lttng-graph. Main thread.
 */
#ifndef BLK_SEND_GRAPHITE_H
#define BLK_SEND_GRAPHITE_H

#include "send/carbon.h"
#include "send/send_metrics.h"

#define GRAPHITE_PORT 2003
#define GRAPHITE_DEFAULT_METRICS "ran.time by process,host; event.count by event,host"

struct graphite_options {		/* borrowed */
	struct live_url server;
	const GPtrArray *metrics;	/* struct send_metric * */
	const char *name;		/* a template, or NULL: 1min.lttng.$by.$values.$datacenter.$host */
	const char *datacenter;
	unsigned most;			/* values of each metric; further ones are summed as _other_ */
	bool live;
};

/* Is it a template of known variables? False: *error. They are metric, by, values, figure, datacenter, host, hostname,
 * procname and the fields of metrics. A metric of durations has several figures: .$figure is appended if it is
 * missing. */
bool graphite_check_name(const char *name, GError **error);

struct graphite;
struct graphite *graphite_start(const struct graphite_options *o);
/* Sends those of the timeline's first `end` seconds that were not sent yet and begin in [from_ns, to_ns); they must be
 * closed. Of a recorded trace as many as there is room for. True: all of them. */
bool graphite_update(struct graphite *g, const struct timeline *tl, size_t end, int64_t from_ns, int64_t to_ns);
/* The server takes nothing: from now on the values of a recorded trace do not wait for room. The oldest are dropped,
 * and so all that are not sent are counted. */
void graphite_stop_waiting(struct graphite *g);
struct outbox *graphite_outbox(struct graphite *g);		/* borrowed, until graphite_free() */
/* Spans that were dropped to save memory: the values of their seconds are not sent, as they are not known. */
uint64_t graphite_left_out(const struct graphite *g);
uint64_t graphite_free(struct graphite *g);	/* as outbox_free() */

#endif
