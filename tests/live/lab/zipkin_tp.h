/* SPDX-License-Identifier: GPL-2.0-only */
/* The tracepoints of BlkKin: provider zipkin. Read several times by lttng-ust. */
#ifndef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER zipkin
#endif

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./zipkin_tp.h"

#if !defined(BLK_TESTS_ZIPKIN_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BLK_TESTS_ZIPKIN_TP_H

#include <stdint.h>

#include <lttng/tracepoint.h>

#ifndef BLK_TESTS_SPAN
#define BLK_TESTS_SPAN
/* What the span's events have in common. */
struct span {
	const char *name, *service, *ip;
	int port;
	long trace_id, span_id, parent_id;
};
#endif

LTTNG_UST_TRACEPOINT_EVENT(zipkin, timestamp,
	LTTNG_UST_TP_ARGS(const struct span *, s, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, s->name)
		lttng_ust_field_string(service_name, s->service)
		lttng_ust_field_integer(int, port_no, s->port)
		lttng_ust_field_string(ip, s->ip)
		lttng_ust_field_integer(long, trace_id, s->trace_id)
		lttng_ust_field_integer(long, span_id, s->span_id)
		lttng_ust_field_integer(long, parent_span_id, s->parent_id)
		lttng_ust_field_string(event, text)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, timestamp, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(zipkin, keyval_string,
	LTTNG_UST_TP_ARGS(const struct span *, s, const char *, name, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, s->name)
		lttng_ust_field_string(service_name, s->service)
		lttng_ust_field_integer(int, port_no, s->port)
		lttng_ust_field_string(ip, s->ip)
		lttng_ust_field_integer(long, trace_id, s->trace_id)
		lttng_ust_field_integer(long, span_id, s->span_id)
		lttng_ust_field_integer(long, parent_span_id, s->parent_id)
		lttng_ust_field_string(key, name)
		lttng_ust_field_string(val, text)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, keyval_string, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

LTTNG_UST_TRACEPOINT_EVENT(zipkin, keyval_integer,
	LTTNG_UST_TP_ARGS(const struct span *, s, const char *, name, int64_t, number),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_string(trace_name, s->name)
		lttng_ust_field_string(service_name, s->service)
		lttng_ust_field_integer(int, port_no, s->port)
		lttng_ust_field_string(ip, s->ip)
		lttng_ust_field_integer(long, trace_id, s->trace_id)
		lttng_ust_field_integer(long, span_id, s->span_id)
		lttng_ust_field_integer(long, parent_span_id, s->parent_id)
		lttng_ust_field_string(key, name)
		lttng_ust_field_integer(int64_t, val, number)))
LTTNG_UST_TRACEPOINT_LOGLEVEL(zipkin, keyval_integer, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)

#endif

#include <lttng/tracepoint-event.h>
