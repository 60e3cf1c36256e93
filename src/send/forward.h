/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forwards finished requests to a server of spans, as Zipkin v2 JSON or OTLP/JSON over HTTP (poster.h), in the form
 * that they are exported in. A trace is chosen whole, and sent once: when its root has ended and nothing more will come
 * by the trace's own clock; of a recorded trace when all was read, since the usual must be known. Main thread.
 */
#ifndef BLK_SEND_FORWARD_H
#define BLK_SEND_FORWARD_H

#include "export/export.h"
#include "send/poster.h"

/* Which traces are sent: those that one part of the rule holds for; without a rule all. */
struct forward_rule {
	bool is_given, failed;
	int64_t slow_ns;		/* INT64_MAX: not given */
	uint64_t one_in;		/* by the trace's id; 0: not given */
};
/* Parses "slow 100ms; failed; 1 in 100". */
bool forward_rule_parse(const char *text, struct forward_rule *ret, GError **error);
/* Parses a URL and finds the format by the end of its path: /api/v2/spans or /v1/traces. */
bool forward_url_parse(const char *text, struct http_url *ret, enum span_format *ret_format, GError **error);

struct forward_options {		/* borrowed */
	struct http_url url;
	enum span_format format;
	struct forward_rule rule;
	bool with_kernel, live;
	/* Of a recorded trace: waits a moment for room. False: do not wait for it. */
	bool (*wait)(void *data);
	void *data;
};

struct forward_counts {			/* spans, with those of waits and calls */
	uint64_t chosen, sent, dropped;
};

struct forward;
struct forward *forward_start(const struct forward_options *o);
/* Sends the traces that ended in [from_ns, to_ns) and were not sent yet. `closed_ns`: all that happened before is in
 * the timeline; INT64_MAX: all that will ever be. False: not all are sent, as options.wait said. */
bool forward_update(struct forward *f, const struct timeline *tl, int64_t closed_ns, int64_t from_ns, int64_t to_ns);
/* The same for traces that are about to be evicted (timeline_on_evicting()). */
bool forward_evicting(struct forward *f, const struct timeline *tl, const uint64_t *trace_ids, size_t n,
		      int64_t from_ns, int64_t to_ns);
struct outbox *forward_outbox(struct forward *f);	/* borrowed, until forward_free() */
struct forward_counts forward_count(const struct forward *f);
struct forward_counts forward_free(struct forward *f);	/* drops what waits */

#endif
