/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints of a program that knows nothing of spans: provider app. Read several times by lttng-ust. */
#ifndef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER app
#endif

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./work_tp.h"

#if !defined(BLK_TESTS_WORK_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BLK_TESTS_WORK_TP_H

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(app, work_start,
	LTTNG_UST_TP_ARGS(long, job),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, job, job)))

LTTNG_UST_TRACEPOINT_EVENT(app, work_end,
	LTTNG_UST_TP_ARGS(long, job),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, job, job)))

LTTNG_UST_TRACEPOINT_EVENT(app, work_took,
	LTTNG_UST_TP_ARGS(long, ns),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(long, ns, ns)))

#endif

#include <lttng/tracepoint-event.h>
