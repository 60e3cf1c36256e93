/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Severities of annotations, on the scale of OpenTelemetry's logs data model ("SeverityNumber"): 1 to 24, a greater
 * number is more severe. The levels of log libraries are mapped as its appendix does.
 * https://opentelemetry.io/docs/specs/otel/logs/data-model
 */
#ifndef BLK_STATE_STORE_SEVERITY_H
#define BLK_STATE_STORE_SEVERITY_H

#include <stdbool.h>
#include <stdint.h>

#define SEVERITY_NONE 0		/* it has none, or one that its scale does not know */
#define SEVERITY_WARNING 13
#define SEVERITY_ERROR 17
#define SEVERITY_END 25		/* greater than any */

/* The library that counts the levels. */
enum severity_scale {
	SEVERITY_JUL,		/* java.util.logging.Level: 1000 is SEVERE */
	SEVERITY_LOG4J2,	/* org.apache.logging.log4j.spi.StandardLevel: 200 is ERROR */
	SEVERITY_PYTHON,	/* Python's logging: 40 is ERROR */
	SEVERITY_LTTNG,		/* enum lttng_ust_loglevel: 3 is ERR */
	SEVERITY_SYSLOG,	/* syslog(3), RFC 5424: 3 is err */
	SEVERITY_SCALES
};

/* The scale's name in rules: "jul", "lttng". */
extern const char *const severity_scale_name[SEVERITY_SCALES];

/* A level of the scale. Libraries allow levels of their own between those of the scale: they are as severe as the next
 * less severe one. SEVERITY_NONE: it is no level. */
uint8_t severity_of(enum severity_scale scale, int64_t level);
/* The same by the level's name, whatever the case. Names of LTTng's tracelog events have one of two prefixes, by its
 * version: "ERR", "TRACE_ERR", "LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR". len: bytes. */
uint8_t severity_of_name(enum severity_scale scale, const char *name, uint32_t len);

/* "error", "warning", ...; NULL: SEVERITY_NONE. */
const char *severity_word(uint8_t severity);

#endif
