/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the time of a span went, by phase and part, and where it usually goes.
 *
 * A phase is the spans of one service and name. The time is that of the critical path (path.h), so that shares sum to
 * the span's duration, spans on other threads included. Waits for a CPU, preempted or woken, are one part
 * (PART_PREEMPTED).
 *
 * The usual duration is that of history.h. The usual shares are the mean over the requests nearest to it, at most a
 * quarter of all and at most USUAL_REQUESTS. Means sum to the mean of the whole.
 */
#ifndef BLK_VIEWS_USUAL_H
#define BLK_VIEWS_USUAL_H

#include "views/history.h"

#include "base/intmap.h"
#include "state/store/span_tree.h"

#include <stdbool.h>

#define USUAL_LEAST 8		/* ended spans of an operation; with fewer the usual is unknown */
#define USUAL_REQUESTS 16

struct share {
	const char *service, *name;	/* of the phase: reftexts */
	enum span_kind kind;
	enum part part;
	int64_t ns;
	int node;			/* of the tree: the span of the phase with most of it */
	int64_t node_ns;		/* the part of .ns in that span */
};

struct shares {
	GArray *list;			/* struct share */
	struct intmap at;		/* private */
};

/* The shares of a node's span; PATH_TRACE: of the trace. Free with shares_clear(). */
void shares_init(struct shares *s, const struct tree *t, int node);
/* The span's own parts, all of its own phase: its children are not looked at. */
void shares_init_alone(struct shares *s, const struct tree *t, int node);
void shares_clear(struct shares *s);

/* The usual shares of the span's operation. NULL: unknown. Valid until the next call for a newer version of the
 * timeline. `node` of its shares is -1. */
const struct shares *usual_of(struct history *h, const struct span *s);
/* The usual time (ns) of the same phase and part; 0: it usually has none. */
int64_t usual_ns(const struct shares *usual, const struct share *of);
/* history_usual(), but -1 with fewer than USUAL_LEAST spans. */
int64_t usual_duration(const struct history *h, const struct span *s);

/* The same of a trace: how long it took (trace_duration()), and its shares (path_of_trace()). Where spans took its
 * messages, the usual is that of traces with messages and an equal root; else that of the root. */
const struct shares *usual_of_trace(struct history *h, const struct trace_info *t);
int64_t usual_trace_duration(struct history *h, const struct trace_info *t);
int64_t usual_of_any_trace(struct history *h, const struct trace_info *t);	/* as history_usual() */
double usual_x_trace(struct history *h, const struct trace_info *t);	/* as history_x_usual() */
bool usual_trace_is_slow(struct history *h, const struct trace_info *t);

/* Private to history.c. */
struct usuals;
void usuals_free(struct usuals *u);	/* NULL is fine */

#endif
