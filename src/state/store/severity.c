/* SPDX-License-Identifier: GPL-2.0-only */
/* Levels of log libraries as severities; see severity.h. */
#include "state/store/severity.h"

#include <glib.h>
#include <string.h>

enum { TRACE = 1, DEBUG = 5, INFO = 9, NOTICE = 10, CRITICAL = 18, ALERT = 19, FATAL = 21 };
#define WARNING SEVERITY_WARNING
#define ERROR SEVERITY_ERROR

const char *const severity_scale_name[SEVERITY_SCALES] = {
	[SEVERITY_JUL] = "jul", [SEVERITY_LOG4J2] = "log4j2", [SEVERITY_PYTHON] = "python",
	[SEVERITY_LTTNG] = "lttng", [SEVERITY_SYSLOG] = "syslog",
};

struct severity_level { int64_t level; const char *name; uint8_t severity; };

/* Each from its most severe level to its least severe one. */
static const struct severity_level jul[] = {		/* java.util.logging.Level */
	{ 1000, "SEVERE", ERROR }, { 900, "WARNING", WARNING }, { 800, "INFO", INFO }, { 700, "CONFIG", DEBUG + 2 },
	{ 500, "FINE", DEBUG + 1 }, { 400, "FINER", DEBUG }, { 300, "FINEST", TRACE },
};
static const struct severity_level log4j2[] = {		/* org.apache.logging.log4j.spi.StandardLevel */
	{ 100, "FATAL", FATAL }, { 200, "ERROR", ERROR }, { 300, "WARN", WARNING }, { 400, "INFO", INFO },
	{ 500, "DEBUG", DEBUG }, { 600, "TRACE", TRACE },
};
static const struct severity_level python[] = {		/* logging.CRITICAL and so on */
	{ 50, "CRITICAL", FATAL }, { 40, "ERROR", ERROR }, { 30, "WARNING", WARNING }, { 20, "INFO", INFO },
	{ 10, "DEBUG", DEBUG }, { 1, "", TRACE },
};
static const struct severity_level lttng[] = {		/* lttng/tracepoint-types.h: LTTNG_UST_TRACEPOINT_LOGLEVEL_* */
	{ 0, "EMERG", FATAL }, { 1, "ALERT", ALERT }, { 2, "CRIT", CRITICAL }, { 3, "ERR", ERROR },
	{ 4, "WARNING", WARNING }, { 5, "NOTICE", NOTICE }, { 6, "INFO", INFO }, { 7, "DEBUG_SYSTEM", DEBUG },
	{ 8, "DEBUG_PROGRAM", DEBUG }, { 9, "DEBUG_PROCESS", DEBUG }, { 10, "DEBUG_MODULE", DEBUG },
	{ 11, "DEBUG_UNIT", DEBUG }, { 12, "DEBUG_FUNCTION", DEBUG }, { 13, "DEBUG_LINE", DEBUG },
	{ 14, "DEBUG", DEBUG },
};
static const struct severity_level syslog_levels[] = {	/* RFC 5424, section 6.2.1 */
	{ 0, "EMERG", FATAL }, { 1, "ALERT", ALERT }, { 2, "CRIT", CRITICAL }, { 3, "ERR", ERROR },
	{ 4, "WARNING", WARNING }, { 5, "NOTICE", NOTICE }, { 6, "INFO", INFO }, { 7, "DEBUG", DEBUG },
};

static const struct scale {
	const struct severity_level *levels;
	unsigned n;
	bool open;		/* programs may have levels of their own, above 0 */
} scales[SEVERITY_SCALES] = {
	[SEVERITY_JUL] = { jul, G_N_ELEMENTS(jul), true },
	[SEVERITY_LOG4J2] = { log4j2, G_N_ELEMENTS(log4j2), true },
	[SEVERITY_PYTHON] = { python, G_N_ELEMENTS(python), true },
	[SEVERITY_LTTNG] = { lttng, G_N_ELEMENTS(lttng), false },
	[SEVERITY_SYSLOG] = { syslog_levels, G_N_ELEMENTS(syslog_levels), false },
};

uint8_t severity_of(enum severity_scale scale, int64_t level)
{
	const struct scale *s = &scales[scale];
	bool rises = s->levels[0].level > s->levels[1].level;	/* greater levels are more severe */

	if (s->open && (level <= 0 || level >= G_MAXINT32))	/* OFF, ALL and NOTSET are no levels of events */
		return SEVERITY_NONE;
	for (unsigned i = 0; i < s->n; i++) {
		const struct severity_level *l = &s->levels[i];
		if (level == l->level || (s->open && (rises ? level > l->level : level < l->level)))
			return l->severity;
	}
	return s->open ? TRACE : SEVERITY_NONE;
}

uint8_t severity_of_name(enum severity_scale scale, const char *name, uint32_t len)
{
	static const char *const prefixes[] = { "LTTNG_UST_TRACEPOINT_LOGLEVEL_", "TRACE_" };
	const struct scale *s = &scales[scale];
	size_t skip = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(prefixes) && !skip; i++)
		if (len > strlen(prefixes[i]) && !g_ascii_strncasecmp(name, prefixes[i], strlen(prefixes[i])))
			skip = strlen(prefixes[i]);
	for (unsigned i = 0; i < s->n; i++) {
		size_t n = strlen(s->levels[i].name);
		if (n && n == len - skip && !g_ascii_strncasecmp(name + skip, s->levels[i].name, n))
			return s->levels[i].severity;
	}
	return SEVERITY_NONE;
}

const char *severity_word(uint8_t severity)
{
	static const struct { uint8_t to; const char *word; } words[] = {
		{ DEBUG - 1, "trace" }, { INFO - 1, "debug" }, { INFO, "info" }, { WARNING - 1, "notice" },
		{ ERROR - 1, "warning" }, { ERROR, "error" }, { CRITICAL, "critical" }, { FATAL - 1, "alert" },
		{ SEVERITY_END - 1, "fatal" },
	};
	if (severity == SEVERITY_NONE)
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (severity <= words[i].to)
			return words[i].word;
	return NULL;
}
