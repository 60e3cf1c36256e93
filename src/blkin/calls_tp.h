/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The tracepoints; classes_tp.h defines the fields of their events. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zipkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./calls_tp.h"

#if !defined(BLKIN_CALLS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BLKIN_CALLS_TP_H

#include "blkin.h"

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(zipkin, timestamp,
	LTTNG_UST_TP_ARGS(
		int, level, const char *, span, const char *, service, int, port, const char *, ip,
		const struct blkin_trace_info *, info, const char *, event),
	LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT(zipkin, keyval_string,
	LTTNG_UST_TP_ARGS(
		int, level, const char *, span, const char *, service, int, port, const char *, ip,
		const struct blkin_trace_info *, info, const char *, key, const char *, val),
	LTTNG_UST_TP_FIELDS())

LTTNG_UST_TRACEPOINT_EVENT(zipkin, keyval_integer,
	LTTNG_UST_TP_ARGS(
		int, level, const char *, span, const char *, service, int, port, const char *, ip,
		const struct blkin_trace_info *, info, const char *, key, int64_t, val),
	LTTNG_UST_TP_FIELDS())


#endif

#include <lttng/tracepoint-event.h>
