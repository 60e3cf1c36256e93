/* SPDX-License-Identifier: GPL-2.0-only */
/* What is missing from a live session: see missing.h. */
#include "base/missing.h"

#include "base/timefmt.h"

bool missing_is_any(const struct missing *m)
{
	return m->left_packets || m->ended_early || m->gave_up;
}

static void add(GString *s, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void add(GString *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (s->len)
		g_string_append(s, "; ");
	g_string_append_vprintf(s, format, args);
	va_end(args);
}

char *missing_text(const struct missing *m)
{
	char n[TIMEFMT_LEN], bytes[TIMEFMT_LEN];
	GString *s = g_string_new(NULL);

	if (!missing_is_any(m))
		return g_string_free(s, TRUE);
	if (m->gave_up)
		add(s, "%s", m->why);
	if (m->left_packets)
		add(s, "%s packet%s (%s) that the relay announced did not come", timefmt_count(n, m->left_packets),
		    m->left_packets == 1 ? "" : "s", timefmt_bytes(bytes, m->left_bytes));
	if (m->ended_early)
		add(s, "%u stream%s ended before the session did", m->ended_early, m->ended_early == 1 ? "" : "s");
	if (m->behind_ns >= 0)
		add(s, "%s behind", timefmt_duration(n, m->behind_ns));
	g_string_prepend(s, "incomplete: ");
	return g_string_free(s, FALSE);
}

char *missing_unknown_text(const struct missing *m)
{
	if (!m->ends_unknown)
		return NULL;
	return g_strdup_printf("events of processes that ended may be missing (ends_unknown: %u): with buffers per "
			       "process, a relay does not report what it dropped of a stream that was closed "
			       "before it was asked; buffers per user (lttng enable-channel --buffers-uid) do "
			       "not have this limit", m->ends_unknown);
}
