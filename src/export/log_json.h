/* SPDX-License-Identifier: GPL-2.0-only */
/* Lines of the journal as JSON, an object a line. */
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
 * Events have "args" and "context" alone; losses "lost_events", "lost_packets", "to_ns".
 * What is not known is null. Numbers beyond 2^53 stay whole numbers. Bytes that are no
 * UTF-8 are \xNN.
 */
void log_json(GString *out, const struct journal_line *l);

#endif
