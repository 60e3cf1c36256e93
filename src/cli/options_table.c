/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of options, and what is printed from it. */
#include "cli/options_table.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/timefmt.h"
#include "live/session/plan.h"
#include "ui/nav.h"

#include <string.h>

#define DEFAULT_MEMORY "512M"

static const char *const group_title[] = {
	[GROUP_READ] = "Read", [GROUP_PRINT] = "Print", [GROUP_EXPORT] = "Export",
	[GROUP_SCREEN] = "Screen", [GROUP_INFORM] = "Info", [GROUP_SESSION] = "Here", [GROUP_SEND] = "Send",
};

/* In the order of messages. */
static const struct command_row {
	enum command command;
	const char *word;		/* in messages */
	const char *operands;		/* NULL: it is not a first word of the command line */
	const char *help;		/* one sentence */
} command_rows[] = {
	{ COMMAND_BATCH, "-b", NULL, NULL },
	{ COMMAND_REPORT, "report", "TRACE_DIR...", "write a Markdown page about the worst requests" },
	{ COMMAND_LOG, "log", "TRACE_DIR...",
	  "print every call and event of a range, as strace does, as text or JSON lines" },
	{ COMMAND_SAVE, "save", "TRACE_DIR... -o DIR",
	  "save a range as a separate trace, which other programs can open" },
	{ COMMAND_MAP, "map", "TRACE_DIR... -o FILE",
	  "analyse a range or rotation chunks, and store the result as a slice file" },
	{ COMMAND_REDUCE, "reduce", "SLICE... -o FILE",
	  "merge slice files of neighbouring times, or of different hosts, to one" },
	{ COMMAND_RECORD, "record", "-o DIR|- [-- PROGRAM...]",
	  "record this machine into a directory, as a trace, and show nothing" },
	{ COMMAND_DOCTOR, "--doctor", NULL, NULL },
	{ COMMAND_LIST_SESSIONS, "--list-sessions", NULL, NULL },
	{ COMMAND_LIST_LIMITS, "--list-limits", NULL, NULL },
	{ COMMAND_EXPORT, "an --export option", NULL, NULL },
	{ COMMAND_SCREEN, "the screen", NULL, NULL },
};

const char *option_command_of(const char *word, enum command *ret)
{
	for (size_t i = 0; word && i < G_N_ELEMENTS(command_rows); i++)
		if (command_rows[i].operands && g_str_equal(command_rows[i].word, word)) {
			*ret = command_rows[i].command;
			return command_rows[i].word;
		}
	return NULL;
}

/* --- values --- */

#define LEAST_MEMORY (16 << 20)
#define LEAST_TIMER_NS (10 * NS_PER_MS)
#define BILLION 1000000000

const char *option_words(const struct option_row *r)
{
	const char letter[] = { '-', r->letter, ',', ' ', '\0' };
	g_autofree char *words = g_strconcat(r->letter ? letter : "", "--", r->name, NULL);
	return g_intern_string(words);
}

/* "--pid takes WHAT, not 'x'" */
static bool refuse(const struct option_row *r, const char *what, const char *text, GError **error)
{
	return fail(error, OPTIONS, "%s takes %s, not '%s'", option_words(r), what, text);
}

static bool take_flag(const struct option_row *r, const char *text, void *field, GError **error)
{
	(void)r, (void)text, (void)error;
	*(bool *)field = true;
	return true;
}

static bool take_text(const struct option_row *r, const char *text, void *field, GError **error)
{
	(void)r, (void)error;
	g_free(*(char **)field);
	*(char **)field = g_strdup(text);
	return true;
}

/* Lists grow each time that the option is given. */
static bool take_item(const struct option_row *r, const char *text, void *field, GError **error)
{
	char ***list = field;
	guint n = *list ? g_strv_length(*list) : 0;

	(void)r, (void)error;
	*list = g_renew(char *, *list, n + 2);
	(*list)[n] = g_strdup(text);
	(*list)[n + 1] = NULL;
	return true;
}

/* "a,b" */
static bool take_items(const struct option_row *r, const char *text, void *field, GError **error)
{
	g_autoptr(GError) why = NULL;
	g_auto(GStrv) items = g_strsplit(*text ? text : ",", ",", -1);
	for (char **item = items; *item; item++) {
		if (!r->check(*item, &why))
			return fail(error, OPTIONS, "--%s: %s", r->name, why->message);
		take_item(r, *item, field, error);
	}
	return !r->most || g_strv_length(*(char ***)field) <= r->most ||
	       fail(error, OPTIONS, "--%s takes %u items at most", r->name, r->most);
}

static bool check_counter(const char *name, GError **error)
{
	return plan_counter(name, error) != NULL;
}

static bool check_probe(const char *name, GError **error)
{
	g_autofree char *symbol = NULL;
	uint64_t offset;
	return plan_symbol(name, &symbol, &offset, error);
}

static bool take_count(const struct option_row *r, const char *text, void *field, GError **error)
{
	guint64 n;
	g_autofree char *range = r->most ? g_strdup_printf("1 to %u", r->most) : g_strdup("a number above 0");
	if (!g_ascii_string_to_unsigned(text, 10, 1, r->most ? r->most : BILLION, &n, NULL))
		return refuse(r, range, text, error);
	*(unsigned *)field = (unsigned)n;
	return true;
}

static bool take_choice(const struct option_row *r, const char *text, void *field, GError **error)
{
	g_autofree char *all = g_strjoinv(", ", (char **)r->choices), *range = g_strconcat("one of ", all, NULL);
	int i = 0;
	while (r->choices[i] && !g_str_equal(r->choices[i], text))
		i++;
	if (!r->choices[i])
		return refuse(r, range, text, error);
	*(int *)field = i;
	return true;
}

static bool take_size(const struct option_row *r, const char *text, void *field, GError **error)
{
	if (!timefmt_parse_bytes(text, field))
		return refuse(r, "a size such as 512M or 2G", text, error);
	return *(size_t *)field >= LEAST_MEMORY || refuse(r, "16M or more", text, error);
}

/* Both tracers take powers of two (LTTng-modules), and need some pages. */
static bool take_buffer(const struct option_row *r, const char *text, void *field, GError **error)
{
	size_t bytes, *power = field;
	if (!timefmt_parse_bytes(text, &bytes) || bytes < PLAN_LEAST_KERNEL_BUFFER || bytes > LIMIT_KERNEL_BUFFER_BYTES)
		return refuse(r, "a size from 64K to 4G", text, error);
	for (*power = PLAN_LEAST_KERNEL_BUFFER; *power < bytes; *power *= 2)
		;
	return true;
}

static bool take_seconds(const struct option_row *r, const char *text, void *field, GError **error)
{
	int64_t *ns = field;
	return (timefmt_parse_duration(text, ns, NULL) && *ns >= 0 && *ns <= LIMIT_TIMEOUT_SECONDS * NS_PER_S) ||
	       refuse(r, "seconds", text, error);
}

static bool take_timeout(const struct option_row *r, const char *text, void *field, GError **error)
{
	int64_t ns;
	if (!take_seconds(r, text, &ns, error))
		return false;
	*(int *)field = (int)(ns / NS_PER_MS);
	return ns >= NS_PER_MS || refuse(r, "seconds", text, error);
}

static bool take_cache_after(const struct option_row *r, const char *text, void *field, GError **error)
{
	guint64 ms;
	if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT32, &ms, NULL))
		return refuse(r, "milliseconds", text, error);
	*(int64_t *)field = (int64_t)ms * NS_PER_MS;
	return true;
}

/* Checks the syntax only: what it is relative to is known when the trace is read. */
static bool take_instant(const struct option_row *r, const char *text, void *field, GError **error)
{
	g_autoptr(GError) why = NULL;
	const struct time_scope scope = { .last = NS_PER_S, .after = INT64_MIN };
	int64_t ns;
	if (!timefmt_parse_instant(text, &scope, &ns, NULL, &why))
		return fail(error, OPTIONS, "--%s: %s", r->name, why->message);
	return take_text(r, text, field, error);
}

static bool take_step(const struct option_row *r, const char *text, void *field, GError **error)
{
	int64_t *ns = field;
	return (timefmt_parse_duration(text, ns, NULL) && nav_is_step(*ns)) ||
	       refuse(r, "1ms, 10ms, 100ms, 1s, 10s, 1m or 10m", text, error);
}

/* "90s", "2h", "7d" */
static bool take_age(const struct option_row *r, const char *text, void *field, GError **error)
{
	static const struct { char unit; int64_t ns; } units[] = {
		{ 's', NS_PER_S }, { 'm', 60 * NS_PER_S }, { 'h', 3600 * NS_PER_S }, { 'd', 86400 * NS_PER_S },
	};
	char *end;
	guint64 n = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;

	for (size_t i = 0; n && n <= LIMIT_THIN_AGE && i < G_N_ELEMENTS(units); i++)
		if (*end == units[i].unit && !end[1]) {
			*(int64_t *)field = (int64_t)n * units[i].ns;
			return true;
		}
	return refuse(r, "an age such as 90s, 30m, 2h or 7d", text, error);
}

static bool take_machine(const struct option_row *r, const char *text, void *field, GError **error)
{
	*(enum machine *)field = machine_by_name(text);
	return *(enum machine *)field != MACHINE_UNKNOWN ||
	       fail(error, OPTIONS, "--%s: unknown machine '%s' (see --list-machines)", r->name, text);
}

/* "120x40" */
static bool take_screen_size(const struct option_row *r, const char *text, void *field, GError **error)
{
	g_autofree char *range = g_strdup_printf("COLSxROWS from %dx%d to %dx%d", APP_MIN_COLS, APP_MIN_ROWS,
						 LIMIT_SCREENSHOT_COLS, LIMIT_SCREENSHOT_ROWS);
	g_auto(GStrv) parts = g_strsplit(text, "x", -1);
	guint64 cols, rows;

	if (g_strv_length(parts) != 2 ||
	    !g_ascii_string_to_unsigned(parts[0], 10, APP_MIN_COLS, LIMIT_SCREENSHOT_COLS, &cols, NULL) ||
	    !g_ascii_string_to_unsigned(parts[1], 10, APP_MIN_ROWS, LIMIT_SCREENSHOT_ROWS, &rows, NULL))
		return refuse(r, range, text, error);
	*(struct screen_size *)field = (struct screen_size){ (unsigned)cols, (unsigned)rows };
	return true;
}

static bool take_id(const struct option_row *r, const char *text, unsigned most, uint64_t *ret, GError **error)
{
	g_autofree char *range = g_strdup_printf("1 to %u hex digits", most);
	return text_parse_id(text, most, ret) || refuse(r, range, text, error);
}

static bool take_span(const struct option_row *r, const char *text, void *field, GError **error)
{
	return take_id(r, text, TEXT_ID, field, error) &&
	       (*(uint64_t *)field || fail(error, OPTIONS, "--%s takes no span of the id 0", r->name));
}

static bool take_trace(const struct option_row *r, const char *text, void *field, GError **error)
{
	struct span_selection *selection = field;
	selection->trace_upper = text_id_upper(text);
	if (!take_id(r, text, TEXT_TRACE_ID, &selection->trace_id, error))
		return false;
	selection->trace_zero = !selection->trace_id;
	return true;
}

static bool take_timer(const struct option_row *r, const char *text, void *field, GError **error)
{
	int64_t ns;
	if (!timefmt_parse_duration(text, &ns, NULL) || ns < LEAST_TIMER_NS || ns > LIMIT_LIVE_TIMER_SECONDS * NS_PER_S)
		return refuse(r, "10ms to 10s", text, error);
	*(unsigned *)field = (unsigned)(ns / NS_PER_US);
	return true;
}

static bool take_last(const struct option_row *r, const char *text, void *field, GError **error)
{
	int64_t *ns = field;
	bool ok = timefmt_parse_duration(text, ns, NULL) && *ns >= NS_PER_S;
	return (ok && *ns <= LIMIT_RECORD_LAST_SECONDS * NS_PER_S) || refuse(r, "1s to 1d", text, error);
}

static bool take_loglevel(const struct option_row *r, const char *text, void *field, GError **error)
{
	*(int *)field = plan_loglevel(text);
	return *(int *)field >= 0 || refuse(r, "emerg, alert, crit, err, warning, notice, info, "
					    "debug-system ... debug-line or debug", text, error);
}

static bool take_session_name(const struct option_row *r, const char *text, void *field, GError **error)
{
	static const char allowed[] = G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._-";
	size_t n = strlen(text);
	if (!n || n > LIMIT_SESSION_NAME_BYTES || strspn(text, allowed) != n || *text == '-' || *text == '.')
		return refuse(r, "a name of letters, digits, '.', '_' and '-'", text, error);
	return take_text(r, text, field, error);
}

bool option_take(struct command_line *c, const struct option_row *r, const char *text, GError **error)
{
	return !r->take || r->take(r, text, (char *)c + r->offset, error);
}

void option_clear(void *base, size_t from, size_t to)
{
	for (size_t i = 0; i < option_n_rows; i++) {
		const struct option_row *r = &option_rows[i];
		void *field = (char *)base + r->offset;
		if (r->offset < from || r->offset >= to)
			continue;
		if (r->take == take_text || r->take == take_instant || r->take == take_session_name)
			g_clear_pointer((char **)field, g_free);
		else if (r->take == take_item || r->take == take_items)
			g_clear_pointer((char ***)field, g_strfreev);
	}
}

/* --- the table --- */

static const char *const reader_words[] = { "auto", "native", "babeltrace2", NULL };
static const char *const color_words[] = { "auto", "never", "always", "256", "truecolor", NULL };
static const char *const switch_words[] = { "off", "on", NULL };
static const char *const level_words[] = { "error", "note", "debug", NULL };
/* Only offered: */
static const char *const step_words[] = { "1ms", "10ms", "100ms", "1s", "10s", "1m", "10m", NULL };
static const char *const instant_words[] = { "start", "end", NULL };
static const char *const size_words[] = { "80x24", "120x40", "140x45", "200x50", NULL };
static const char *const only_words[] = { "trace=", "span=", "pid=", "tid=", "service=", "operation=", NULL };
static const char *const against_words[] = { "usual", "before", "quiet", "history", NULL };
static const char *const severity_words[] = {
	"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug", NULL
};
static const char *const snapshot_words[] = { "new", NULL };

#define AT(field) offsetof(struct command_line, field)
#define VALUE(n, l, a, g, field, how, b, h, ...) \
	{ .name = n, .letter = l, .arg = a, .group = g, .offset = AT(field), .take = how, .brief = b, .help = h, \
	  __VA_ARGS__ }
#define TEXT(n, l, a, g, field, b, h, ...) VALUE(n, l, a, g, field, take_text, b, h, __VA_ARGS__)
#define FLAG(n, l, g, field, b, h, ...) VALUE(n, l, NULL, g, field, take_flag, b, h, __VA_ARGS__)
#define COMMAND(n, l, g, c, b, h, ...) \
	{ .name = n, .letter = l, .group = g, .command = c, .brief = b, .help = h, __VA_ARGS__ }
#define COMMAND_VALUE(n, a, g, c, field, how, b, h, ...) \
	VALUE(n, 0, a, g, field, how, b, h, .command = c, __VA_ARGS__)

/* Conditions, see struct option_row. */
#define ON(command) (1u << COMMAND_##command)
#define SHOWN (ON(BATCH) | ON(SCREEN))
#define RANGED (ON(BATCH) | ON(REPORT) | ON(LOG) | ON(SAVE) | ON(MAP))
#define FOR(mask) .commands = (mask)
#define NEEDS(words) .needs = words
#define NOT_WITH(words) .excludes = words
#define OF(what) .source = SOURCE_##what

const struct option_row option_rows[] = {
	VALUE("relay", 'r', "RELAY", GROUP_READ, words.relays, take_item, NULL,
	      "show a live session of a relay daemon: HOST[:PORT] or net://HOST[:PORT]/host/NAME/SESSION; "
	      "can be repeated"),
	FLAG("from-beginning", 0, GROUP_READ, options.read.relay.from_beginning, NULL,
	     "live: start with the oldest data that the relay has, not the newest",
	     OF(RELAY)),
	FLAG("wait", 0, GROUP_READ, options.read.relay.wait, "live: HOST[:PORT] or the URL",
	     "live: wait until the relay and the session exist, also after they ended",
	     OF(RELAY)),
	COMMAND("list-sessions", 0, GROUP_READ, COMMAND_LIST_SESSIONS, NULL,
		"print the live sessions of the relay"),
	VALUE("timeout", 0, "S", GROUP_READ, options.read.relay.timeout_ms, take_timeout, NULL,
	      "seconds to wait for the relay (10)"),
	VALUE("late-bound", 0, "S", GROUP_READ, options.read.relay.late_ns, take_seconds, NULL,
	      "live: seconds to wait for a stream that lags behind (two live timers + 1)",
	      OF(RELAY)),
	TEXT("user", 0, "NAME", GROUP_READ, options.user, "time limits",
	     "run by root: read traces and relays as this user (who called sudo, or nobody)"),
	FLAG("demo", 0, GROUP_READ, options.read.demo, NULL,
	     "show the bundled recording, with a line of hints"),
	FLAG("align-hosts", 0, GROUP_READ, options.read.align_hosts, NULL,
	     "correct the clocks of several hosts by the calls between these hosts",
	     FOR(SHOWN | ON(LOG) | ON(EXPORT) | ON(REPORT) | ON(SAVE) | ON(MAP) | ON(REDUCE)), NOT_WITH("watch")),
	VALUE("machine", 0, "NAME", GROUP_READ, options.machine, take_machine, NULL,
	      "machine of traces that do not tell theirs, to name system calls by number (see --list-machines)"),
	TEXT("spans", 0, "FILE", GROUP_READ, options.rules, NULL,
	     "file of rules that make spans from any two events"),
	TEXT("presets", 0, "LIST", GROUP_READ, options.presets, "",
	     "presets that make spans: auto (those whose program's events a trace has), none, or names; auto,pthread: "
	     "both (--list-presets)"),
	VALUE("chunks", 0, "DIR", GROUP_READ, options.read.chunks, take_item, NULL,
	      "slice files: where the chunks that they were made from are, for log, save and steps below a second; can "
	      "be repeated",
	      FOR(SHOWN | ON(LOG) | ON(SAVE))),
	VALUE("jobs", 'j', "THREADS", GROUP_READ, options.read.jobs, take_count, NULL,
	      "number of threads that read a recorded trace (one for each core; one for a trace below 32 MB)",
	      OF(RECORDED), .most = LIMIT_THREADS),
	VALUE("slices", 0, "N", GROUP_READ, options.read.slices, take_count, NULL,
	      "number of pieces in which a recorded trace is read (depends on its size)",
	      OF(RECORDED), .most = LIMIT_SLICES),
	FLAG("no-cache", 0, GROUP_READ, words.no_cache, NULL,
	     "do not store what took long to read for the next time, nor use what is stored (XDG_CACHE_HOME/blktop)",
	     FOR(SHOWN | ON(REPORT) | ON(EXPORT)), OF(RECORDED), NOT_WITH("cache-size")),
	VALUE("reader", 0, "WHICH", GROUP_READ, options.read.reader, take_choice, "",
	      "native (auto is the same), or babeltrace2: its library, on one thread, not hardened",
	      .choices = reader_words),
	COMMAND("batch", 'b', GROUP_PRINT, COMMAND_BATCH, NULL,
		"print a view instead of opening the screen"),
	FLAG("fail-if-incomplete", 0, GROUP_PRINT, options.fail_if_incomplete, NULL,
	     "exit with 1 instead of 3 or 4, if anything is missing"),
	TEXT("view", 0, "VIEW", GROUP_PRINT, words.view, NULL,
	     "the view to print, or the first one on the screen",
	     FOR(SHOWN)),
	TEXT("by", 0, "BY", GROUP_PRINT, words.by, "process cpu ...",
	     "sum by system, process, thread, cpu, priority, name, second, container, cause; a metric by its fields",
	     .choices = view_by_words),
	TEXT("format", 0, "FORMAT", GROUP_PRINT, words.format, NULL,
	     "of rows:" ROWS_FORMAT_WORDS "; of view flame also:" ROWS_FORMAT_PATH_WORDS
	     "; of exported spans:" SPAN_FORMAT_WORDS,
	     FOR(ON(BATCH) | ON(LOG) | ON(EXPORT) | ON(DOCTOR) | ON(LIST_SESSIONS) | ON(LIST_LIMITS))),
	FLAG("csv-safe", 0, GROUP_PRINT, options.screen.csv_safe, &(ROWS_FORMAT_WORDS "," SPAN_FORMAT_WORDS)[1],
	     "CSV for spreadsheets: quote texts; put an apostrophe before those that could be formulas"),
	VALUE("at", 0, "T", GROUP_PRINT, options.read.at, take_instant, NULL,
	      "count only the second that contains this instant",
	      FOR(RANGED | ON(SCREEN)), OF(RECORDED), NOT_WITH("from to each"), .choices = instant_words),
	VALUE("from", 0, "T", GROUP_PRINT, options.read.from, take_instant, NULL,
	      "beginning of the range (start)",
	      FOR(RANGED), OF(RECORDED), .choices = instant_words),
	VALUE("to", 0, "T", GROUP_PRINT, options.read.to, take_instant, NULL,
	      "end of the range (end)",
	      FOR(RANGED), OF(RECORDED), .choices = instant_words),
	FLAG("with-statedump", 0, GROUP_PRINT, options.save_statedump, NULL,
	     "save: add the kernel's state dump, which names processes and descriptors",
	     FOR(ON(SAVE))),
	FLAG("with-spans", 0, GROUP_PRINT, options.map.keep_spans, "14:03:05, +90s",
	     "map: also store what only spans need, where this part of the trace has no spans but other parts do",
	     FOR(ON(MAP))),
	FLAG("watch", 0, GROUP_PRINT, options.read.watch, NULL,
	     "show what appears in a directory: slice files, or rotation chunks when the next one follows; "
	     "map: map each chunk, to a file in -o DIR",
	     FOR(SHOWN | ON(MAP))),
	FLAG("delete-mapped", 0, GROUP_PRINT, options.map.delete_mapped, NULL,
	     "map --watch: delete a chunk when its slice file was read back and the next chunk is mapped",
	     FOR(ON(MAP)), NEEDS("watch")),
	VALUE("thin", 0, "AGE", GROUP_PRINT, options.map.thin_after_ns, take_age, NULL,
	      "map --watch: fold slices that are older than this (2h, 7d) to history in DIR/history, and delete them",
	      FOR(ON(MAP)), NEEDS("watch")),
	VALUE("step", 0, "S", GROUP_PRINT, options.read.step_ns, take_step, NULL,
	      "length of a step of --each, --at and the screen: 1ms, 10ms, 100ms, 1s, 10s, 1m or 10m",
	      FOR(SHOWN | ON(MAP)), .choices = step_words),
	FLAG("each", 0, GROUP_PRINT, options.batch.each, NULL,
	     "print a block for each second",
	     FOR(ON(BATCH))),
	VALUE("seconds", 'n', "N", GROUP_PRINT, words.seconds, take_count, "",
	      "end after this number of seconds",
	      FOR(ON(BATCH) | ON(RECORD) | ON(DOCTOR))),
	TEXT("metric", 0, "METRIC", GROUP_PRINT, words.metric, NULL,
	     "a metric, or its heatmap or distribution (also on the screen), split --by its fields (--list-metrics)",
	     FOR(SHOWN)),
	TEXT("where", 0, "EXPR", GROUP_PRINT, words.where, NULL,
	     "of the metric, count only what has these values: an expression over its fields",
	     FOR(ON(BATCH)), NEEDS("metric")),
	TEXT("only", 0, "WHAT", GROUP_PRINT, words.only, NULL,
	     "narrow to trace=ID, span=ID, pid=N, tid=N, service=NAME, operation=NAME; commas join several",
	     FOR(ON(BATCH)), .choices = only_words),
	TEXT("filter", 0, "EXPR", GROUP_PRINT, options.shown.filter, "comm == sshd",
	     "show only rows for which the expression over columns is true",
	     FOR(SHOWN | ON(REPORT) | ON(LOG) | ON(EXPORT))),
	VALUE("threshold", 0, "RULE", GROUP_PRINT, words.threshold, take_item, NULL,
	      "what must not be reached, as 'p99 of any > 3 x usual for 5s'; view alerts shows when it was; can be "
	      "repeated",
	      FOR(SHOWN)),
	TEXT("thresholds", 0, "FILE", GROUP_PRINT, words.thresholds, NULL,
	     "file of thresholds, one in a line",
	     FOR(SHOWN)),
	FLAG("check", 0, GROUP_PRINT, options.batch.check, NULL,
	     "batch: print one line about the thresholds, and exit as a Nagios plugin: 0 OK, 1 warning, 2 critical, "
	     "3 unknown",
	     FOR(ON(BATCH)), NEEDS("threshold thresholds snapshot-when"), NOT_WITH("view metric")),
	TEXT("baseline", 0, "NAME", GROUP_PRINT, words.baseline, "alerts",
	     "what is usual for thresholds: as --save-baseline stored it under this name",
	     NEEDS("threshold thresholds snapshot-when")),
	TEXT("save-baseline", 0, "NAME", GROUP_PRINT, words.save_baseline, NULL,
	     "batch: store what is usual in the range, for each threshold and value (XDG_STATE_HOME/blktop/baselines)",
	     FOR(ON(BATCH)), NEEDS("threshold thresholds snapshot-when")),
	TEXT("against", 0, "WHAT", GROUP_PRINT, words.against, NULL,
	     "compare: usual or TRACE[:SPAN]; changed: before, quiet, history; a metric: before, history, FROM..TO",
	     FOR(ON(BATCH)), .choices = against_words),
	TEXT("sort", 0, "COL", GROUP_PRINT, words.sort, NULL,
	     "sort rows by this column; -COL reverses the order",
	     FOR(SHOWN | ON(REPORT))),
	TEXT("columns", 0, "A,B", GROUP_PRINT, words.columns, "-COL",
	     "show or print only these columns, in this order",
	     FOR(SHOWN)),
	COMMAND_VALUE("export-span", "ID", GROUP_EXPORT, COMMAND_EXPORT, options.spans.selection.span_id, take_span,
	              NULL,
	              "write this span and its descendants"),
	COMMAND_VALUE("export-trace", "ID", GROUP_EXPORT, COMMAND_EXPORT, options.spans.selection, take_trace, NULL,
	              "write all spans of this trace"),
	COMMAND_VALUE("export-slowest", "N", GROUP_EXPORT, COMMAND_EXPORT, options.spans.selection.slowest, take_count,
	              NULL,
	              "write the N slowest traces",
	              NOT_WITH("export-span export-trace")),
	FLAG("with-kernel", 0, GROUP_EXPORT, options.spans.selection.with_kernel, "",
	     "export waits and long system calls as child spans, too",
	     FOR(ON(EXPORT))),
	FLAG("history", 0, GROUP_EXPORT, options.reduce_to_history, NULL,
	     "reduce: fold seconds to minutes, and retain only the slowest traces of each",
	     FOR(ON(REDUCE))),
	VALUE("worst", 0, "N", GROUP_EXPORT, options.page.worst, take_count, NULL,
	      "report: number of requests (5)",
	      FOR(ON(REPORT)), .most = LIMIT_REPORT_REQUESTS, .initial = "5"),
	TEXT("html", 0, "FILE", GROUP_EXPORT, words.html, NULL,
	     "report: write an HTML page with graphics (-: to stdout)",
	     FOR(ON(REPORT)), NOT_WITH("output")),
	TEXT("output", 'o', "FILE", GROUP_EXPORT, options.output.path, NULL,
	     "write to this file, not to stdout",
	     FOR(ON(REPORT) | ON(SAVE) | ON(MAP) | ON(REDUCE) | ON(RECORD) | ON(DOCTOR) | ON(EXPORT))),
	FLAG("force", 0, GROUP_EXPORT, options.output.force, "N: 5",
	     "overwrite an existing file",
	     FOR(ON(REPORT) | ON(SAVE) | ON(MAP) | ON(REDUCE) | ON(DOCTOR) | ON(EXPORT) | ON(SCREEN))),
	VALUE("memory", 0, "SIZE", GROUP_SCREEN, options.read.memory, take_size, NULL,
	      "memory for the retained part of the trace (" DEFAULT_MEMORY ")",
	      .initial = DEFAULT_MEMORY),
	TEXT("spool", 0, "DIR", GROUP_SCREEN, options.read.spool, NULL,
	     "live: store received packets there, as a trace (XDG_STATE_HOME/blktop/spool)",
	     OF(LIVE), NOT_WITH("watch")),
	VALUE("spool-size", 0, "SIZE", GROUP_SCREEN, options.read.spool_size, take_size, NULL,
	      "live: size limit of the stored packets (1G)",
	      OF(LIVE), NOT_WITH("watch"), .initial = "1G"),
	FLAG("no-spool", 0, GROUP_SCREEN, words.no_spool, NULL,
	     "live: store no packets, so there is no log and no saved range",
	     OF(LIVE), NOT_WITH("watch spool spool-size")),
	FLAG("no-isolation", 0, GROUP_SCREEN, options.no_isolation, "",
	     "read traces and relays without the filters for system calls and files (see --doctor)"),
	TEXT("log", 0, "FILE", GROUP_SCREEN, options.log, NULL,
	     "append messages to this file"),
	VALUE("log-level", 0, "LEVEL", GROUP_SCREEN, options.log_level, take_choice, NULL,
	      "level of these messages: error, note or debug (note)",
	      .choices = level_words),
	FLAG("utc", 0, GROUP_SCREEN, options.shown.utc, NULL,
	     "show times in UTC, not in local time"),
	FLAG("ascii", 0, GROUP_SCREEN, options.shown.ascii, NULL,
	     "draw with ASCII only"),
	FLAG("accessible", 0, GROUP_SCREEN, options.screen.accessible, NULL,
	     "text for screen readers: one fact a line, the cursor on the selected row"),
	VALUE("color", 0, "WHEN", GROUP_SCREEN, options.screen.color, take_choice, "",
	      "colours: auto, never, always, 256 or truecolor",
	      .choices = color_words),
	TEXT("config", 0, "FILE", GROUP_SCREEN, options.config, NULL,
	     "file that settings are read from and written to; none: no file"),
	VALUE("theme", 0, "NAME", GROUP_SCREEN, options.screen.theme, take_choice, NULL,
	      "colours for the terminal's background: auto, dark, light, mono",
	      .choices = theme_ids),
	VALUE("mouse", 0, "ON", GROUP_SCREEN, options.screen.mouse, take_choice, NULL,
	      "on or off; off leaves the mouse to the terminal, to copy text",
	      .choices = switch_words),
	TEXT("screenshot", 0, "FILE", GROUP_SCREEN, options.screen.screenshot, NULL,
	     "write a picture of the first screen to this file, as SVG, and exit; needs no terminal",
	     FOR(ON(SCREEN)), OF(RECORDED)),
	VALUE("size", 0, "SIZE", GROUP_SCREEN, options.screen.size, take_screen_size, "",
	      "size of the --screenshot, COLSxROWS (120x40)",
	      NEEDS("screenshot"), .initial = "120x40", .choices = size_words),
	COMMAND("list-views", 0, GROUP_INFORM, COMMAND_LIST_VIEWS, NULL, "print the views"),
	COMMAND_VALUE("list-columns", "VIEW", GROUP_INFORM, COMMAND_LIST_COLUMNS, words.list_columns, take_text, NULL,
	              "print the columns of a view"),
	COMMAND("list-events", 0, GROUP_INFORM, COMMAND_LIST_EVENTS, NULL,
		"print the events that blktop reads, and what each is used for"),
	COMMAND("list-metrics", 0, GROUP_INFORM, COMMAND_LIST_METRICS, "",
		"print the metrics: unit, the fields that they can be split by, and the events that they need"),
	COMMAND("list-presets", 0, GROUP_INFORM, COMMAND_LIST_PRESETS, NULL,
		"print the presets: rules for spans of well-known programs"),
	COMMAND_VALUE("recipe", "NAME", GROUP_INFORM, COMMAND_RECIPE, options.preset, take_text, NULL,
		      "print a shell script that records everything blktop reads, and the events of a preset",
		      .optional = true),
	COMMAND("list-limits", 0, GROUP_INFORM, COMMAND_LIST_LIMITS, NULL,
		"print all limits for untrusted input, and what happens above each"),
	COMMAND("list-machines", 0, GROUP_INFORM, COMMAND_LIST_MACHINES, NULL,
		"print the machines that --machine can name, and their other names"),
	COMMAND("doctor", 0, GROUP_INFORM, COMMAND_DOCTOR, "",
		"report what a trace or session cannot answer, and the commands that repair it"),
	FLAG("suggest-rules", 0, GROUP_INFORM, options.batch.suggest_rules, NULL,
	     "print rules for spans (--spans) that the user-space events suggest, with their counts; live: until the "
	     "session ends, or of -n seconds",
	     FOR(ON(BATCH)), NOT_WITH("view metric watch no-spool")),
	COMMAND("help", 'h', GROUP_INFORM, COMMAND_HELP, NULL, "print the options"),
	COMMAND("help-here", 0, GROUP_INFORM, COMMAND_HELP_SESSION, NULL,
		"print the options for live sessions of this machine"),
	COMMAND("help-send", 0, GROUP_INFORM, COMMAND_HELP_SEND, NULL,
		"print the options for sending metrics to other programs"),
	COMMAND("version", 'v', GROUP_INFORM, COMMAND_VERSION, "",
		"print the versions of blktop and its libraries, and how it is isolated"),
	FLAG("yes", 'y', GROUP_SESSION, options.session.yes, "do not wait for Enter",
	     "make the session without waiting for Enter"),
	VALUE("pid", 0, "PID", GROUP_SESSION, options.session.pid, take_count, "follow only it and its children",
	      "follow this process and its children"),
	VALUE("kernel", 0, "TRACER", GROUP_SESSION, options.session.kernel, take_choice,
	      "lttng, tracefs (its own buffer), none",
	      "record kernel events by the modules of LTTng (lttng), by the kernel's own ring buffer (tracefs), or not "
	      "(none); auto: lttng, else tracefs",
	      NOT_WITH("spans-only"), .choices = plan_tracer_words),
	VALUE("kernel-buffer", 0, "SIZE", GROUP_SESSION, options.session.kernel_buffer, take_buffer,
	      "of each CPU (16M): 64K to 4G",
	      "memory for kernel events of each CPU until they are read, 64K to 4G, rounded up to a power of 2 (16M)",
	      NOT_WITH("spans-only")),
	FLAG("spans-only", 0, GROUP_SESSION, options.session.spans_only, "the same as --kernel none",
	     "record spans of programs, and no kernel events",
	     NOT_WITH("calls-only kprobe")),
	FLAG("calls-only", 0, GROUP_SESSION, options.session.calls_only, NULL,
	     "of all kernel events, record only the system calls of the followed processes"),
	FLAG("program-only", 0, GROUP_SESSION, options.session.program_only,
	     "of the kernel: their calls; their events",
	     "record kernel events of the followed processes only, and what wakes them: not what ran instead",
	     NOT_WITH("calls-only spans-only")),
	VALUE("live-timer", 0, "T", GROUP_SESSION, options.session.timer_us, take_timer,
	      "how often data is sent (1s): 10ms to 10s",
	      "how often the tracers send data, 10ms to 10s (1s)",
	      .initial = "1s"),
	VALUE("loglevel", 0, "LEVEL", GROUP_SESSION, options.session.loglevel, take_loglevel,
	      "only spans that severe: emerg ... debug",
	      "record only events of programs with at least this severity, emerg to debug",
	      .choices = severity_words),
	FLAG("functions", 0, GROUP_SESSION, options.session.functions, "entries and exits (cyg_profile)",
	     "record function entries and exits of programs built with -finstrument-functions"),
	VALUE("tracepoints", 0, "NAME,...", GROUP_SESSION, options.session.programs, take_items,
	      "of programs, as 'ros2:*'",
	      "record these tracepoints of programs, too: PROVIDER:NAME, or PROVIDER:* (spans: zipkin:*)",
	      .check = plan_tracepoint_check),
	VALUE("perf", 0, "COUNTER,...", GROUP_SESSION, options.session.counters, take_items,
	      "page-faults, context-switches, ...",
	      "add software counters to the events: page-faults, context-switches, minor-faults, ...",
	      .check = check_counter, .most = LIMIT_PERF_COUNTERS),
	VALUE("kprobe", 0, "SYMBOL,...", GROUP_SESSION, options.session.probes, take_items,
	      "probe these functions of the kernel",
	      "probe these functions of the kernel, SYMBOL or SYMBOL+OFFSET",
	      .check = check_probe),
	VALUE("session", 0, "NAME", GROUP_SESSION, options.session.session, take_session_name,
	      NULL,
	      "name of the session that is made (blktop-PID)"),
	FLAG("keep", 0, GROUP_SESSION, options.session.keep, "its name; leave it at the end",
	     "leave the session at the end, and print how to attach to it and how to destroy it",
	     FOR(SHOWN)),
	VALUE("last", 0, "T", GROUP_SESSION, options.record.last_ns, take_last, NULL,
	      "record: store only what is not older, and write it at the end, on SIGUSR1 and for --snapshot-when",
	      FOR(ON(RECORD))),
	TEXT("until", 0, "RULE", GROUP_SESSION, words.until, "record: 'p99 of any > 3 x usual'",
	     "record: end when the rule is true for a second: 'p99 of thumbnail > 3 x usual'",
	     FOR(ON(RECORD))),
	COMMAND("sweep", 0, GROUP_SESSION, COMMAND_SWEEP, "remove what killed blktops left",
		"remove what killed blktops left: sessions, relay daemons, followed programs"),
	TEXT("snapshot", 0, "SESSION", GROUP_SESSION, options.session.snapshot,
	     "session that P records; new: make one",
	     "the snapshot session of this machine that P and rules record; new: make one",
	     FOR(SHOWN), .choices = snapshot_words),
	TEXT("exec-on-alert", 0, "COMMAND", GROUP_SESSION, words.exec_on_alert, "if --threshold is reached",
	     "live: run this program, without a shell, when a --threshold is reached; $BLKTOP_ALERT has the reason",
	     OF(LIVE), NEEDS("threshold thresholds snapshot-when until")),
	TEXT("snapshot-when", 0, "RULE", GROUP_SESSION, words.snapshot_when, "'p99 of thumbnail > 3 x usual'",
	     "record a snapshot when the rule is true for a second: 'p99 of thumbnail > 3 x usual'",
	     FOR(SHOWN | ON(RECORD))),
	TEXT("listen", 0, "WHERE", GROUP_SEND, options.batch.send.listen, "/metrics on PORT or ADDRESS:PORT",
	     "serve /metrics to Prometheus on PORT of 127.0.0.1, ADDRESS:PORT or [ADDRESS]:PORT; of a recorded trace "
	     "until SIGTERM",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	TEXT("listen-host", 0, "NAMES", GROUP_SEND, words.listen_host, "further names in a URL of --listen",
	     "names, separated by commas, by which clients may ask --listen, beside addresses in digits, localhost and "
	     "this machine's host name",
	     NEEDS("listen")),
	TEXT("metrics-file", 0, "FILE", GROUP_SEND, options.batch.send.metrics_file,
	     "for node_exporter's textfile collector",
	     "write the same text to this file, whole or not at all; live each second, of a recorded trace at its end",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	TEXT("graphite", 0, "HOST[:PORT]", GROUP_SEND, words.graphite, "plaintext of each second, over TCP",
	     "send each second's values to this Graphite server, plaintext over TCP (port 2003)",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	TEXT("datacenter", 0, "NAME", GROUP_SEND, options.batch.send.datacenter, "in names of Graphite (local)",
	     "what $datacenter in names of Graphite is (local)",
	     NEEDS("graphite"), .initial = "local"),
	TEXT("graphite-name", 0, "NAME", GROUP_SEND, options.batch.send.graphite_name,
	     "'x.$host.$metric.$values.$figure'",
	     "names for Graphite: $metric, $by, $values, $figure, $datacenter, $host and other fields "
	     "(1min.lttng.$by.$values.$datacenter.$host)",
	     NEEDS("graphite")),
	TEXT("forward", 0, "URL", GROUP_SEND, words.forward, ".../api/v2/spans or .../v1/traces",
	     "send finished requests to http://HOST:PORT/api/v2/spans (Zipkin) or http://HOST:PORT/v1/traces (OTLP)",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	TEXT("forward-only", 0, "RULE", GROUP_SEND, words.forward_only, "'slow 100ms; failed; 1 in 100'",
	     "forward only requests that are 'slow DURATION', 'failed', or '1 in N' by trace id; separated by ';'",
	     NEEDS("forward")),
	FLAG("forward-kernel", 0, GROUP_SEND, options.batch.send.forward_kernel,
	     "with waits and calls as child spans",
	     "forward waits and long system calls as child spans",
	     NEEDS("forward")),
	TEXT("metrics", 0, "LIST", GROUP_SEND, words.metrics, "'call.latency by call; cpu.irq by cpu'",
	     "metrics that are sent: METRIC by FIELD,FIELD; separated by ';' (--list-metrics)",
	     NEEDS("listen metrics-file graphite")),
	VALUE("most-values", 0, "N", GROUP_SEND, options.batch.send.most_values, take_count,
	      "of each metric kept apart (1000)",
	      "values of its fields that each metric distinguishes; further ones are summed as (other) (1000)",
	      NEEDS("listen metrics-file graphite"), .most = LIMIT_SENT_VALUES, .initial = "1000"),
	VALUE("cache-after", 0, "MS", GROUP_HIDDEN, options.read.cache_after_ns, take_cache_after, "",
	      "store what takes this many ms to read (1000)",
	      .initial = "1000"),
	VALUE("cache-size", 0, "SIZE", GROUP_HIDDEN, options.read.cache_size, take_size, "",
	      "size limit of what is stored (1G)",
	      FOR(SHOWN | ON(REPORT) | ON(EXPORT)), OF(RECORDED), .initial = "1G"),
	COMMAND("print-keys", 0, GROUP_HIDDEN, COMMAND_PRINT_KEYS, "", "print the key table"),
	COMMAND("print-bindings", 0, GROUP_HIDDEN, COMMAND_PRINT_BINDINGS, "",
		"print what each key does where"),
	COMMAND("print-settings", 0, GROUP_HIDDEN, COMMAND_PRINT_SETTINGS, "",
		"print the settings of blktoprc"),
	COMMAND("print-options", 0, GROUP_HIDDEN, COMMAND_PRINT_OPTIONS, "", "print this table"),
	COMMAND("print-commands", 0, GROUP_HIDDEN, COMMAND_PRINT_COMMANDS, "",
		"print the subcommands"),
};
const size_t option_n_rows = G_N_ELEMENTS(option_rows);
G_STATIC_ASSERT(G_N_ELEMENTS(option_rows) <= OPTION_SLOTS);

/* --- conditions --- */

bool option_given(const struct command_line *c, const struct option_row *r)
{
	return c->given[r - option_rows];
}

const struct option_row *option_find(const char *name)
{
	size_t i = 0;
	while (!g_str_equal(option_rows[i].name, name))
		g_assert(++i < option_n_rows);
	return &option_rows[i];
}

/* Moves *names on behind the first one, which is returned; NULL: none is left. */
static const struct option_row *next_name(const char **names)
{
	const char *first = *names;
	if (!first || !*first)
		return NULL;
	gsize n = strcspn(first, " ");
	*names = first[n] ? first + n + 1 : NULL;
	g_autofree char *name = g_strndup(first, n);
	return option_find(name);
}

/* The first option of the names that was given; NULL: none. */
static const struct option_row *first_given(const struct command_line *c, const char *names)
{
	const struct option_row *r;
	while ((r = next_name(&names)))
		if (option_given(c, r))
			return r;
	return NULL;
}

/* "--view needs a, b or c" */
static char *say_needs(const struct option_row *r, const GPtrArray *choices)
{
	GString *s = g_string_new(option_words(r));

	g_string_append(s, " needs ");
	for (guint i = 0; i < choices->len; i++)
		g_string_append_printf(s, "%s%s", i == 0 ? "" : i + 1 < choices->len ? ", " : " or ",
				       (char *)choices->pdata[i]);
	return g_string_free(s, FALSE);
}

static char *say_commands(const struct option_row *r)
{
	g_autoptr(GPtrArray) choices = g_ptr_array_new();
	for (size_t i = 0; i < G_N_ELEMENTS(command_rows); i++)
		if (r->commands & 1u << command_rows[i].command)
			g_ptr_array_add(choices, (char *)command_rows[i].word);
	return say_needs(r, choices);
}

static char *say_options(const struct option_row *r)
{
	g_autoptr(GPtrArray) choices = g_ptr_array_new_with_free_func(g_free);
	const char *names = r->needs;
	const struct option_row *other;
	while ((other = next_name(&names)))
		g_ptr_array_add(choices, g_strconcat("--", other->name, NULL));
	return say_needs(r, choices);
}

/* Why the option of a row is refused, as one line (g_free). NULL: it is not. */
static char *check_row(const struct command_line *c, const struct option_row *r)
{
	static const char *const sources[] = {
		[SOURCE_RECORDED] = "a recorded trace", [SOURCE_LIVE] = "a live session",
		[SOURCE_RELAY] = "a live session of a relay (-r)",
	};
	bool live = c->options.read.live;
	const bool there[] = { true, !live, live, c->options.read.n_urls > 0 };
	const struct option_row *other = first_given(c, r->excludes);

	if (r->commands && !(r->commands & 1u << c->options.command))
		return say_commands(r);
	if (!there[r->source])
		return g_strdup_printf("%s needs %s", option_words(r), sources[r->source]);
	if (r->needs && !first_given(c, r->needs))
		return say_options(r);
	return other ? g_strdup_printf("--%s and --%s cannot be combined", r->name, other->name) : NULL;
}

char *option_check(const struct command_line *c)
{
	char *wrong = NULL;
	for (size_t i = 0; i < option_n_rows && !wrong; i++)
		if (option_given(c, &option_rows[i]))
			wrong = check_row(c, &option_rows[i]);
	return wrong;
}

/* --- help --- */

static void append_option(GString *s, const struct option_row *r)
{
	g_string_append_printf(s, "%s%s%s%s%s", s->len > 0 ? ", " : "", option_words(r), !r->arg ? "" : r->optional ?
			       "[=" : " ", r->arg ? r->arg : "", r->optional ? "]" : "");
}

static void print_groups(FILE *out, enum group first, enum group last)
{
	enum group group = GROUP_HIDDEN;
	g_autoptr(GString) left = g_string_new(NULL);

	for (size_t i = 0; i < option_n_rows; i++) {
		const struct option_row *r = &option_rows[i];
		if (r->group < first || r->group > last)
			continue;
		append_option(left, r);
		if (!r->brief)
			continue;
		fprintf(out, *r->brief ? "%-7s%-31s  %s\n" : "%-7s%s%s\n",
			r->group != group ? group_title[r->group] : "", left->str, r->brief);
		group = r->group;
		g_string_truncate(left, 0);
	}
}

void options_print_help(FILE *out)
{
	fputs("Usage: blktop TRACE_DIR... | SPANS.json...     a recorded trace; all: man blktop\n"
	      "       blktop -r HOST[:PORT] | net://HOST/host/NAME/SESSION           live\n"
	      "       blktop [-- PROGRAM ARG...]       live, of this machine: --help-here\n"
	      "       blktop -b --view VIEW", out);
	for (size_t i = 0; i < G_N_ELEMENTS(command_rows); i++)
		if (command_rows[i].operands)
			fprintf(out, "|%s", command_rows[i].word);
	fputs(" OPTION... SOURCE\n", out);
	print_groups(out, GROUP_READ, GROUP_INFORM);
	fputs("Exit   0 success, 1 failure, 2 usage, 3 losses, 4 incomplete, 128 + N signal N\n", out);
}

void options_print_help_session(FILE *out)
{
	fputs("Usage: blktop [OPTION...]                 makes a live session here, shows it,\n"
	      "                                          and destroys it at the end\n"
	      "       blktop [OPTION...] -- PROGRAM ARG...   the same for a program it runs\n"
	      "       blktop -b|record -o DIR [OPTION...] [-- PROGRAM...]  prints, or records\n", out);
	print_groups(out, GROUP_SESSION, GROUP_SESSION);
	fputs("Exit   as of blktop --help; with a program that ended by itself: its own\n", out);
}

void options_print_help_send(FILE *out)
{
	fputs("Usage: blktop -b [OPTION...] SOURCE     sends metrics to other programs;\n"
	      "                                       prints what --view or --metric names\n", out);
	print_groups(out, GROUP_SEND, GROUP_SEND);
	fputs("Exit   as of blktop --help; 4: values or spans were dropped: a server\n"
	      "       did not acknowledge or take them (limits: --list-limits)\n", out);
}

void options_print_table(FILE *out)
{
	for (size_t i = 0; i < option_n_rows && option_rows[i].group != GROUP_HIDDEN; i++) {
		const struct option_row *r = &option_rows[i];
		char letter[] = { r->letter ? '-' : '\0', r->letter, '\0' };
		g_autofree char *words = r->choices ? g_strjoinv(" ", (char **)r->choices) : g_strdup("");
		fprintf(out, "%s\t--%s\t%s\t%s\t%s\t%s\n", letter, r->name, r->arg ? r->arg : "",
			group_title[r->group], r->help, words);
	}
}

void options_print_commands(FILE *out)
{
	for (size_t i = 0; i < G_N_ELEMENTS(command_rows); i++)
		if (command_rows[i].operands)
			fprintf(out, "%s\t%s\t%s\n", command_rows[i].word, command_rows[i].operands,
				command_rows[i].help);
}
