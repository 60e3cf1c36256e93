/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the tracepoints of zipkin_tp.h are defined. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "zipkin_tp.h"
