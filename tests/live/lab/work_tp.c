/* SPDX-License-Identifier: GPL-2.0-only */
/* Defines the tracepoints of work_tp.h, for programs that use others, too. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "work_tp.h"
