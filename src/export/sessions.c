/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints sessions as JSON: see sessions.h. */
#include "export/sessions.h"

#include "export/json.h"

char *sessions_json(const struct session_row *rows, size_t n)
{
	JsonBuilder *b = json_builder_new();
	GString *out = g_string_new(NULL);

	json_builder_begin_object(b);
	json_add_text(b, "blktop", BLKTOP_VERSION);
	json_builder_set_member_name(b, "sessions");
	json_builder_begin_array(b);
	for (size_t i = 0; i < n; i++) {
		json_builder_begin_object(b);
		json_add_text(b, "host", rows[i].host);
		json_add_text(b, "session", rows[i].session);
		json_add_int(b, "live_timer_ns", (int64_t)rows[i].timer_us * 1000);
		json_add_int(b, "streams", rows[i].streams);
		json_add_int(b, "viewers", rows[i].viewers);
		json_add_text(b, "url", rows[i].url);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	json_append(out, b);
	g_string_append_c(out, '\n');
	return g_string_free(out, FALSE);
}
