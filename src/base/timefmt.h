/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Formats and parses instants and durations for people. Instants are ns since the epoch, durations are ns; both
 * int64_t. Times are local (TZ) unless timefmt_set_utc() was called. Functions write to the caller's buffer,
 * terminate it, and return it.
 */
#ifndef BLK_BASE_TIMEFMT_H
#define BLK_BASE_TIMEFMT_H

#include "base/limits.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define NS_PER_S INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)
#define TIMEFMT_LEN 40
/* Instants and durations are within +-TIME_MOST_NS (LIMIT_TIME_SECONDS). So the difference of two instants fits 64
 * bits, and so does the sum of an instant and a duration. */
#define TIME_MOST_NS (LIMIT_TIME_SECONDS * NS_PER_S)

/* Uses UTC instead of local time from now on (--utc, tests). Call before threads start. */
void timefmt_set_utc(bool utc);

char *timefmt_clock(char buf[TIMEFMT_LEN], int64_t ns);		/* 14:03:05 */
char *timefmt_clock_ms(char buf[TIMEFMT_LEN], int64_t ns);	/* 14:03:05.123 */
char *timefmt_clock_ns(char buf[TIMEFMT_LEN], int64_t ns);	/* 14:03:05.123456789 */
char *timefmt_date(char buf[TIMEFMT_LEN], int64_t ns);		/* 2026-11-21 14:03:05 */
char *timefmt_date_ms(char buf[TIMEFMT_LEN], int64_t ns);	/* 2026-11-21 14:03:05.123 */

/* At most 6 columns: three significant digits and a unit: 0, 850ns, 1.45us, 54.7ms, 3.20s, 12m30s, 3h05m. Negative
 * values have a '-' (7 columns). */
char *timefmt_duration(char buf[TIMEFMT_LEN], int64_t ns);
/* The same for round durations: 10ms, 1s, 10s, 1m, 1m30s. */
char *timefmt_step(char buf[TIMEFMT_LEN], int64_t ns);
/* Bytes: 0, 512, 12.0K, 4.1M, 1.2G (powers of 1024), at most 5 columns. */
char *timefmt_bytes(char buf[TIMEFMT_LEN], uint64_t bytes);
/* Counts: 0 .. 9999, 18.2k, 1.31M, at most 5 columns. */
char *timefmt_count(char buf[TIMEFMT_LEN], uint64_t n);

/* What the text of an instant refers to. */
struct time_scope {
	int64_t base;			/* "+90s" and "-2m" are relative to it */
	int64_t first, last;		/* of the trace: "start", "5%", "end" */
	int64_t after;			/* a time of day means an instant after it; INT64_MIN: any */
};
/*
 * Parses an instant: "14:03:05[.frac]", "2026-11-21 14:03:05[.frac]" (or with 'T'; 'Z' at the end is UTC); "+90s"
 * "-2m" "+15ms" (units ns us ms s m h); "5%", "start", "end"; "@NANOSECONDS", or a bare integer of at least 12 digits
 * (ns since the epoch).
 *
 * A time of day is the instant of that name inside the trace, counted from the second in which the trace begins. Of
 * several (a trace of some days; the hour that clocks repeat, also with a date) it is the first from `base` on, else
 * the first. Without one inside it is the nearest one on the days of the trace.
 *
 * The result is within +-TIME_MOST_NS, whatever the scope is. *ret_choice (may be NULL): a sentence that says which
 * instant of several is meant (g_free); NULL: there is only one. False: *error says what is wrong with which text,
 * *ret_ns and *ret_choice are not changed.
 */
bool timefmt_parse_instant(const char *text, const struct time_scope *scope, int64_t *ret_ns, char **ret_choice,
			   GError **error);
/* Parses "100ms", "1s", "1.5s", "250us", "2m"; a bare number is seconds. The result is 0 to TIME_MOST_NS. */
bool timefmt_parse_duration(const char *text, int64_t *ret_ns, GError **error);

/* Parses "512M", "2G", "65536" (powers of 1024). The result is below half of the address space. */
bool timefmt_parse_bytes(const char *text, size_t *ret);

/* floor(ns / step) * step, also for negative ns. step > 0; ns is at least INT64_MIN + step. */
static inline int64_t time_floor(int64_t ns, int64_t step)
{
	int64_t q = ns / step;
	return (q - (ns % step < 0)) * step;
}

#endif
