/* SPDX-License-Identifier: GPL-2.0-only */
/* babeltrace2's errors as GError values: see bt2_error.h. */
#include "trace/bt2/bt2_error.h"

#include <babeltrace2/babeltrace.h>
#include <string.h>

/* The message without babeltrace2's list of values: "Invalid size: msg-it-addr=0x55, packet-size=4" -> "Invalid
 * size". */
static char *human_part(const char *message)
{
	/* Messages that mislead, or whose cause is only logged, are replaced. */
	static const struct { const char *theirs, *ours; } words[] = {
		{ "Cannot create trace for", "its metadata does not make sense" },
		{ "No event class with ID", "an event class that the metadata does not have" },
		{ "User function returned EOF", "it ends within a packet" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_str_has_prefix(message, words[i].theirs))
			return g_strdup(words[i].ours);
	g_autoptr(GRegex) values = g_regex_new(":\\s+[a-z]+(-[a-z]+)*=.*", G_REGEX_DOTALL | G_REGEX_RAW,
					       0, NULL);
	char *text = g_regex_replace_literal(values, message, -1, 0, "", 0, NULL);
	if (!text)
		return g_strdup(message);
	for (size_t n = strlen(text); n && strchr(".:\n ", text[n - 1]); n--)
		text[n - 1] = '\0';
	return text;
}

/* Causes come innermost first. The first one has the problem, the second often the object; the others are
 * babeltrace2's call chain. */
static char *error_reason(const bt_error *e)
{
	GString *text = g_string_new(NULL);
	uint64_t n = bt_error_get_cause_count(e);
	for (uint64_t i = 0; i < n && i < 2; i++) {
		const bt_error_cause *cause = bt_error_borrow_cause_by_index(e, i);
		g_autofree char *part = human_part(bt_error_cause_get_message(cause));
		if (i && (!strpbrk(part, "`'\"") || strpbrk(text->str, "`'\"")))
			break;
		g_string_append_printf(text, "%s%s", text->len ? "; " : "", part);
	}
	return g_string_free(text, FALSE);
}

void bt2_set_error(GError **error, enum blk_trace_error code, const char *what)
{
	const bt_error *e = bt_current_thread_take_error();
	if (!e) {
		g_set_error(error, BLK_TRACE_ERROR, code, "%s: babeltrace2 gives no reason", what);
		return;
	}
	g_autofree char *reason = error_reason(e);
	bt_error_release(e);
	g_set_error(error, BLK_TRACE_ERROR, code, "%s: %s", what, reason);
}
