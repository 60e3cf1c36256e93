/* SPDX-License-Identifier: GPL-2.0-only */
/* Prints sessions as JSON: see sessions.h. */
#include "export/sessions.h"

#include "base/json_write.h"


char *sessions_json(const struct session_row *rows, size_t n)
{
	GString *out = g_string_new(NULL);
	struct json_out w = { .out = out }, *b = &w;

	json_open(b, NULL, '{');
	json_put_text(b, "blktop", BLKTOP_VERSION);
	json_open(b, "sessions", '[');
	for (size_t i = 0; i < n; i++) {
		json_open(b, NULL, '{');
		json_put_text(b, "host", rows[i].host);
		json_put_text(b, "session", rows[i].session);
		json_put_int(b, "live_timer_ns", (int64_t)rows[i].timer_us * 1000);
		json_put_int(b, "streams", rows[i].streams);
		json_put_int(b, "viewers", rows[i].viewers);
		json_put_text(b, "url", rows[i].url);
		json_close(b, '}');
	}
	json_close(b, ']');
	json_close(b, '}');
	g_string_append_c(out, '\n');
	return g_string_free(out, FALSE);
}
