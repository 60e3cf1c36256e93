/* SPDX-License-Identifier: GPL-2.0-only */
/* blktop log: see log.h. */
#include "cmd/log.h"

#include "app/messages.h"
#include "cmd/output.h"
#include "app/packets.h"
#include "app/reading.h"

#include "export/log_json.h"
#include "run/logsource.h"
#include "views/logline.h"

#include <errno.h>

struct printer {
	bool json;
	struct logfilter *filter;	/* NULL: all */
	GString *line;
	int broken;			/* errno, once output failed */
	int stop;
	bool any;			/* a line came, whether it passed the filter or not */
};

static void print_line(void *data, struct calllog_line *l)
{
	struct printer *p = data;
	p->any = true;
	if (reading_caught() || p->broken)
		g_atomic_int_set(&p->stop, 1);
	else if (!p->filter || logfilter_match(p->filter, l)) {
		if (p->json) {
			g_string_truncate(p->line, 0);
			log_json(p->line, l);
		} else {
			g_autofree char *text = logline_text(l);
			g_string_assign(p->line, text);
		}
		g_string_append_c(p->line, '\n');
		errno = 0;
		if (fwrite(p->line->str, 1, p->line->len, stdout) != p->line->len)
			p->broken = errno ? errno : EIO;
	}
	calllog_line_unref(l);
}

static int find_range(struct logsource *s, const struct packets *packets, const struct read_options *o,
		      struct logsource_range *ret)
{
	g_autoptr(GError) error = NULL;
	int64_t first, end;
	*ret = (struct logsource_range){ .from_ns = INT64_MIN, .to_ns = INT64_MAX };
	if (packets->placed) {
		ret->from_ns = packets->from_ns;
		ret->to_ns = packets->to_ns;
	}
	if (packets->placed || (!o->at && !o->from && !o->to))
		return EXIT_FINE;
	bool known = logsource_bounds(s, &first, &end, &error);
	if (reading_caught())
		return EXIT_SIGNAL + reading_caught();
	if (!known) {
		log_error("%s", error ? error->message : "no events in the trace");
		return EXIT_FAILED;
	}
	return reading_place_range(o, first, end, &ret->from_ns, &ret->to_ns);
}

static int report_end(const struct printer *p, const struct logsource_result *r, const char *warning,
		      const char *remark)
{
	if (p->broken)
		return output_code(p->broken);
	if (reading_caught())
		return EXIT_SIGNAL + reading_caught();
	if (remark)
		log_error("%s", remark);
	if (warning)
		log_error("%s: left out", warning);
	if (r->damaged)
		log_error("parts of the trace cannot be read, or lost an unknown number of events before the "
			  "trace begins; the rest was read");
	return r->lost || r->damaged || warning ? EXIT_LOSS : EXIT_FINE;
}

/* Did the trace have no events at all? */
static bool is_empty(const struct printer *p, struct logsource *s)
{
	int64_t first, end;
	return !p->any && !p->broken && !reading_caught() && !logsource_bounds(s, &first, &end, NULL);
}

static int print_packets(const struct read_options *read, const struct shown_options *o, const struct packets *packets)
{
	g_autoptr(GError) error = NULL;
	struct printer p = { .json = o->format == FORMAT_JSON, .line = g_string_new(NULL) };
	struct logsource_result result = { 0 };
	struct logsource_range range;
	reading_catch_signals();
	struct logsource *s = logsource_new((const char *const *)packets->paths, read->reader == READER_BT2, &error);
	if (s)
		logsource_stop_by(s, reading_caught_by());
	int code = s ? find_range(s, packets, read, &range) : EXIT_FAILED;
	if (s && code == EXIT_FINE && o->filter)
		p.filter = logfilter_new(o->filter, &error);
	if (s && code == EXIT_FINE && !error) {
		log_note("the log is read by %s", logsource_reader_name(s));
		range.stop = &p.stop;
		logsource_run(s, &range, print_line, &p, &result, NULL, &error);
		if (fflush(stdout) != 0 && !p.broken)
			p.broken = errno ? errno : EIO;
		g_autofree char *remark = logsource_remark(s);
		code = report_end(&p, &result, logsource_warning(s), remark);
		if (code == EXIT_FINE && !error && is_empty(&p, s)) {
			log_error("no events in the trace");
			code = EXIT_FAILED;
		}
	}
	if (error && !p.broken)
		code = log_failure(error);
	reading_release_signals();
	logsource_free(s);
	logfilter_free(p.filter);
	g_string_free(p.line, TRUE);
	return code;
}

int log_print(const struct read_options *read, const struct shown_options *o)
{
	struct packets packets;
	int code = packets_find(&packets, read);

	if (code == EXIT_FINE)
		code = print_packets(read, o, &packets);
	packets_clear(&packets);
	return code;
}

bool log_each_line(const struct read_options *read, calllog_emit emit, void *data)
{
	g_autoptr(GError) error = NULL;
	struct logsource_result result = { 0 };
	struct packets packets;
	bool found = packets_find(&packets, read) == EXIT_FINE;
	const struct logsource_range all = {
		.from_ns = packets.placed ? packets.from_ns : INT64_MIN,
		.to_ns = packets.placed ? packets.to_ns : INT64_MAX,
	};
	struct logsource *s = found ? logsource_new((const char *const *)packets.paths, read->reader == READER_BT2,
						    &error) : NULL;
	if (s)
		logsource_run(s, &all, emit, data, &result, NULL, &error);
	logsource_free(s);
	packets_clear(&packets);
	if (error)
		log_error("%s", error->message);
	return found && !error;
}
