/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop save: see save.h. */
#include "cmd/save.h"

#include "app/messages.h"
#include "app/packets.h"
#include "cli/config.h"
#include "app/reading.h"

#include "base/timefmt.h"
#include "run/logsource.h"

#include <inttypes.h>
#include <stdio.h>

static void append_count(GString *s, uint64_t n, const char *one, const char *many)
{
	g_string_append_printf(s, "%" PRIu64 " %s", n, n == 1 ? one : many);
}

char *save_describe(const struct trace_cut *cut, const struct trace_cut_result *r)
{
	char bytes[TIMEFMT_LEN], from[TIMEFMT_LEN], to[TIMEFMT_LEN];
	GString *s = g_string_new(NULL);

	append_count(s, r->streams, "stream, ", "streams, ");
	append_count(s, r->packets, "packet, ", "packets, ");
	g_string_append_printf(s, "%s, %s to %s", timefmt_bytes(bytes, r->bytes),
			       timefmt_clock_ms(from, r->from_ns), timefmt_clock_ms(to, r->to_ns));
	if (r->has_statedump)
		g_string_append(s, ", with the state dump");
	else if (cut->statedump)
		g_string_append(s, "; no state dump was found before it");
	if (r->damaged || r->unreadable) {
		g_string_append(s, "; ");
		if (r->damaged)
			append_count(s, r->damaged, "damaged packet", "damaged packets");
		if (r->damaged && r->unreadable)
			g_string_append(s, " and ");
		if (r->unreadable)
			append_count(s, r->unreadable, "unreadable file", "unreadable files");
		g_string_append(s, r->damaged + r->unreadable == 1 ? " is left out" : " are left out");
	}
	return g_string_free(s, FALSE);
}

static int find_range(const struct packets *packets, const struct read_options *o, struct trace_cut *cut)
{
	g_autoptr(GError) error = NULL;
	int64_t first, end;
	int code = EXIT_FAILED;

	cut->from_ns = packets->from_ns;
	cut->to_ns = packets->to_ns;
	if (packets->placed)
		return EXIT_FINE;
	struct logsource *s = logsource_new(cut->paths, false, &error);
	if (s && logsource_bounds(s, &first, &end, &error))
		code = reading_place_range(o, first, end, &cut->from_ns, &cut->to_ns);
	else
		log_error("%s", error ? error->message : "no events in the trace");
	logsource_free(s);
	return code;
}

static int write_range(const struct trace_cut *cut, enum reader reader)
{
	g_autoptr(GError) error = NULL;
	struct trace_cut_result r;

	reading_catch_signals();
	if (!trace_cut_write(cut, &r, &error)) {
		int code = log_failure(error);
		return reading_caught() ? EXIT_SIGNAL + reading_caught() : code;
	}
	g_autofree char *what = save_describe(cut, &r);
	int code = r.damaged || r.unreadable ? EXIT_LOSS : EXIT_FINE;
	struct input *in = input_new_paths(cut->paths, reader, false);

	config_copy_bookmarks(in, r.path, r.from_ns, r.to_ns);
	input_unref(in);
	fprintf(stderr, "wrote %s: %s\n", r.path, what);
	g_free(r.path);
	return code;
}

int save_write(const struct read_options *read, const char *to, bool statedump)
{
	struct packets packets;
	int code = packets_find(&packets, read);
	struct trace_cut cut = {
		.paths = (const char *const *)packets.paths, .statedump = statedump, .to = to,
		.stop = reading_caught_by(),
	};

	if (code == EXIT_FINE)
		code = find_range(&packets, read, &cut);
	if (code == EXIT_FINE)
		code = write_range(&cut, read->reader);
	packets_clear(&packets);
	return code;
}
