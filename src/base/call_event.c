/* SPDX-License-Identifier: GPL-2.0-only */
/* Recognises the events of system calls by name: see call_event.h. */
#include "base/call_event.h"

#include <glib.h>
#include <string.h>

#define ENTRY(prefix, when) { prefix, sizeof(prefix) - 1, CALL_EVENT_ENTRY },
#define EXIT(prefix, when) { prefix, sizeof(prefix) - 1, CALL_EVENT_EXIT },

static const struct { const char *prefix; size_t len; enum call_event what; } prefixes[] = {
	CALL_ENTRY_PREFIXES(ENTRY) CALL_EXIT_PREFIXES(EXIT)
};

enum call_event call_event_of(const char *event, const char **ret_call)
{
	const char *call = event;
	enum call_event what = strcmp(event, CALL_EXIT_NAMELESS) ? CALL_EVENT_NONE : CALL_EVENT_EXIT_NAMELESS;

	for (size_t i = 0; i < G_N_ELEMENTS(prefixes) && what == CALL_EVENT_NONE; i++)
		if (!strncmp(event, prefixes[i].prefix, prefixes[i].len)) {
			call = event + prefixes[i].len;
			what = prefixes[i].what;
		}
	if (ret_call)
		*ret_call = call;
	return what;
}

bool call_event_is_compat(const char *event)
{
	return g_str_has_prefix(event, "compat_");
}
