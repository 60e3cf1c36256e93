/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Event classes without events: probes.c makes an event of each class for every log level. The arguments must be
 * the same as in calls_tp.h. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER blkin

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./classes_tp.h"

#if !defined(BLKIN_CLASSES_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BLKIN_CLASSES_TP_H

#include "blkin.h"

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT_CLASS(blkin, timestamp,
	LTTNG_UST_TP_ARGS(
		int, level, const char *, span, const char *, service, int, port, const char *, ip,
		const struct blkin_trace_info *, info, const char *, event),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, span)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, ip)
		lttng_ust_field_integer(long, trace_id, info->trace_id)
		lttng_ust_field_integer(long, span_id, info->span_id)
		lttng_ust_field_integer(long, parent_span_id, info->parent_span_id)
		lttng_ust_field_string(event, event)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(blkin, keyval_string,
	LTTNG_UST_TP_ARGS(
		int, level, const char *, span, const char *, service, int, port, const char *, ip,
		const struct blkin_trace_info *, info, const char *, key, const char *, val),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, span)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, ip)
		lttng_ust_field_integer(long, trace_id, info->trace_id)
		lttng_ust_field_integer(long, span_id, info->span_id)
		lttng_ust_field_integer(long, parent_span_id, info->parent_span_id)
		lttng_ust_field_string(key, key)
		lttng_ust_field_string(val, val)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(blkin, keyval_integer,
	LTTNG_UST_TP_ARGS(
		int, level, const char *, span, const char *, service, int, port, const char *, ip,
		const struct blkin_trace_info *, info, const char *, key, int64_t, val),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, span)
		lttng_ust_field_string(service_name, service)
		lttng_ust_field_integer(int, port_no, port)
		lttng_ust_field_string(ip, ip)
		lttng_ust_field_integer(long, trace_id, info->trace_id)
		lttng_ust_field_integer(long, span_id, info->span_id)
		lttng_ust_field_integer(long, parent_span_id, info->parent_span_id)
		lttng_ust_field_string(key, key)
		lttng_ust_field_integer(int64_t, val, val)))


#endif

#include <lttng/tracepoint-event.h>
