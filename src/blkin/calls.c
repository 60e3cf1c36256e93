/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracepoints, as a table that libblkin calls. */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
#include "calls_tp.h"

#include "provider.h"

static void timestamp(int level, const struct blkin_where *w, const char *event)
{
	lttng_ust_tracepoint(zipkin, timestamp, level, w->span, w->service, w->port, w->ip,
			     w->info, event);
}

static void keyval_string(int level, const struct blkin_where *w, const char *key, const char *val)
{
	lttng_ust_tracepoint(zipkin, keyval_string, level, w->span, w->service, w->port, w->ip,
			     w->info, key, val);
}

static void keyval_integer(int level, const struct blkin_where *w, const char *key, int64_t val)
{
	lttng_ust_tracepoint(zipkin, keyval_integer, level, w->span, w->service, w->port, w->ip,
			     w->info, key, val);
}

const struct blkin_provider blkin_provider_0 = { timestamp, keyval_string, keyval_integer };
