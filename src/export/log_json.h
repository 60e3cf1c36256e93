/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints lines of the call log as JSON, one object for each line. */
#ifndef BLK_EXPORT_LOG_JSON_H
#define BLK_EXPORT_LOG_JSON_H

#include "state/calllog/calllog.h"

/*
 * Appends one object, without a newline:
 *
 *   {"time_ns":..,"kind":"call","host":..,"cpu":..,"pid":..,"tid":..,"comm":..,"name":"read",
 *    "state":"whole","entry_ns":..,"exit_ns":..,"ret":64,"error":null,
 *    "args":{"fd":5,"count":64},"results":{"buf":..},"fds":{"5":"assets/big_buck_bunny.avi"}}
 *
 * Calls and events have "context"; of the members after "name", events have only "args". Losses have "lost_events",
 * "lost_packets" and "to_ns". Unknown values are null. Numbers beyond 2^53 remain integers. Bytes that are not valid
 * UTF-8 become \xNN. Of an event above LIMIT_LOG_EVENT_BYTES the last fields are left out; "args" or "context" then
 * ends with the member "...": how many bytes their texts and numbers have in the trace.
 */
void log_json(GString *out, const struct calllog_line *l);

#endif
