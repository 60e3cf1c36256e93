/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of options, and what is printed from it. */
#include "cli/options_table.h"

#include "export/export.h"

#include <string.h>

static const char *const group_title[] = {
	[GROUP_READ] = "Read", [GROUP_PRINT] = "Print", [GROUP_EXPORT] = "Export",
	[GROUP_SCREEN] = "Screen", [GROUP_INFORM] = "Info", [GROUP_SESSION] = "Here", [GROUP_SEND] = "Send",
};

const struct subcommand option_subcommands[] = {
	{ "report", COMMAND_REPORT, "TRACE_DIR...",
	  "write a Markdown page about the worst requests" },
	{ "log", COMMAND_LOG, "TRACE_DIR...",
	  "print every call and event of a range, as strace does, as text or JSON lines" },
	{ "save", COMMAND_SAVE, "TRACE_DIR... -o DIR",
	  "save a range as a separate trace, which other programs can open" },
	{ "map", COMMAND_MAP, "TRACE_DIR... -o FILE",
	  "analyse a range or rotation chunks, and store the result as a slice file" },
	{ "reduce", COMMAND_REDUCE, "SLICE... -o FILE",
	  "merge slice files of neighbouring times, or of different hosts, to one" },
};
const size_t option_n_subcommands = G_N_ELEMENTS(option_subcommands);

#define AT(field) offsetof(struct words, field)
#define ROW(n, l, a, g, k, c, at, b, h, ...) \
	{ .name = n, .letter = l, .arg = a, .group = g, .kind = k, .command = c, .offset = at, .brief = b, .help = h, \
	  __VA_ARGS__ }
#define WORD(n, l, a, g, field, b, h, ...) ROW(n, l, a, g, KIND_WORD, COMMAND_SCREEN, AT(field), b, h, __VA_ARGS__)
#define FLAG(n, l, g, field, b, h, ...) ROW(n, l, NULL, g, KIND_FLAG, COMMAND_SCREEN, AT(field), b, h, __VA_ARGS__)
#define LIST(n, l, a, g, field, b, h, ...) ROW(n, l, a, g, KIND_LIST, COMMAND_SCREEN, AT(field), b, h, __VA_ARGS__)
#define JOINED(n, a, g, field, b, h, ...) ROW(n, 0, a, g, KIND_JOINED, COMMAND_SCREEN, AT(field), b, h, __VA_ARGS__)
#define COMMAND(n, l, g, c, b, h, ...) ROW(n, l, NULL, g, KIND_COMMAND, c, WORD_NONE, b, h, __VA_ARGS__)
#define COMMAND_WORD(n, a, g, c, field, b, h, ...) ROW(n, 0, a, g, KIND_COMMAND, c, AT(field), b, h, __VA_ARGS__)

/* Conditions, see struct option_row. */
#define ON(command) (1u << COMMAND_##command)
#define SHOWN (ON(BATCH) | ON(SCREEN))
#define RANGED (ON(BATCH) | ON(REPORT) | ON(LOG) | ON(SAVE) | ON(MAP))
#define FOR(mask) .commands = (mask)
#define NEEDS(words) .needs = words
#define NOT_WITH(words) .excludes = words
#define OF(what) .source = SOURCE_##what

const struct option_row option_rows[] = {
	LIST("relay", 'r', "RELAY", GROUP_READ, relays,
	     NULL,
	     "show a live session of a relay daemon: HOST[:PORT] or net://HOST[:PORT]/host/NAME/SESSION; "
	     "can be repeated"),
	FLAG("from-beginning", 0, GROUP_READ, from_beginning, NULL,
	     "live: start with the oldest data that the relay has, not the newest",
	     OF(RELAY)),
	FLAG("wait", 0, GROUP_READ, wait, "live: HOST[:PORT] or the URL",
	     "live: wait until the relay and the session exist, also after they ended",
	     OF(RELAY)),
	COMMAND("list-sessions", 0, GROUP_READ, COMMAND_LIST_SESSIONS, NULL,
		"print the live sessions of the relay"),
	WORD("timeout", 0, "S", GROUP_READ, timeout, NULL, "seconds to wait for the relay (10)"),
	WORD("late-bound", 0, "S", GROUP_READ, late_bound, NULL,
	     "live: seconds to wait for a stream that lags behind (two live timers + 1)",
	     OF(RELAY)),
	WORD("user", 0, "NAME", GROUP_READ, user, "time limits",
	     "run by root: read traces and relays as this user (who called sudo, or nobody)"),
	FLAG("demo", 0, GROUP_READ, demo, NULL, "show the bundled recording, with a line of hints"),
	FLAG("align-hosts", 0, GROUP_READ, align_hosts, NULL,
	     "correct the clocks of several hosts by the calls between these hosts",
	     FOR(SHOWN | ON(LOG) | ON(EXPORT) | ON(REPORT) | ON(SAVE) | ON(MAP) | ON(REDUCE)), NOT_WITH("watch")),
	WORD("machine", 0, "NAME", GROUP_READ, machine, NULL,
	     "machine of traces that do not tell theirs, to name system calls by number (see --list-machines)"),
	WORD("spans", 0, "FILE", GROUP_READ, spans, NULL,
	     "file of rules that make spans from any two events"),
	LIST("chunks", 0, "DIR", GROUP_READ, chunks, "rules",
	     "slice files: where the chunks that they were made from are, for log, save and steps below a second; can "
	     "be repeated",
	     FOR(SHOWN | ON(LOG) | ON(SAVE))),
	WORD("jobs", 'j', "THREADS", GROUP_READ, jobs, NULL,
	     "number of threads that read a recorded trace (one for each core)",
	     OF(RECORDED)),
	WORD("slices", 0, "N", GROUP_READ, slices, NULL,
	     "number of pieces in which a recorded trace is read (depends on its size)",
	     OF(RECORDED)),
	FLAG("no-cache", 0, GROUP_READ, no_cache, NULL,
	     "do not store what took long to read for the next time, nor use what is stored (XDG_CACHE_HOME/blktop)",
	     FOR(SHOWN | ON(REPORT) | ON(EXPORT)), OF(RECORDED), NOT_WITH("cache-size")),
	WORD("reader", 0, "WHICH", GROUP_READ, reader, "babeltrace2",
	     "native (auto is the same), or babeltrace2: its library, on one thread, not hardened"),
	COMMAND("batch", 'b', GROUP_PRINT, COMMAND_BATCH, NULL,
		"print a view instead of opening the screen"),
	FLAG("fail-if-incomplete", 0, GROUP_PRINT, fail_if_incomplete, NULL,
	     "exit with 1 instead of 3 or 4, if anything is missing"),
	WORD("view", 0, "VIEW", GROUP_PRINT, view, NULL,
	     "the view to print, or the first one on the screen",
	     FOR(SHOWN)),
	WORD("by", 0, "BY", GROUP_PRINT, by, "process cpu ...",
	     "sum by system, process, thread, cpu, priority, name, second, container, cause; a metric by its fields"),
	WORD("format", 0, "FORMAT", GROUP_PRINT, format, NULL,
	     "of rows:" ROWS_FORMAT_WORDS "; of view flame also:" ROWS_FORMAT_PATH_WORDS
	     "; of exported spans:" SPAN_FORMAT_WORDS,
	     FOR(ON(BATCH) | ON(LOG) | ON(EXPORT) | ON(DOCTOR) | ON(LIST_SESSIONS) | ON(LIST_LIMITS))),
	FLAG("csv-safe", 0, GROUP_PRINT, csv_safe, &(ROWS_FORMAT_WORDS "," SPAN_FORMAT_WORDS)[1],
	     "CSV for spreadsheets: quote texts; put an apostrophe before those that could be formulas"),
	WORD("at", 0, "T", GROUP_PRINT, at, NULL, "count only the second that contains this instant",
	     FOR(RANGED | ON(SCREEN)), OF(RECORDED), NOT_WITH("from to each")),
	WORD("from", 0, "T", GROUP_PRINT, from, NULL, "beginning of the range (start)",
	     FOR(RANGED), OF(RECORDED)),
	WORD("to", 0, "T", GROUP_PRINT, to, NULL, "end of the range (end)",
	     FOR(RANGED), OF(RECORDED)),
	FLAG("with-statedump", 0, GROUP_PRINT, statedump, NULL,
	     "save: add the kernel's state dump, which names processes and descriptors",
	     FOR(ON(SAVE))),
	FLAG("with-spans", 0, GROUP_PRINT, keep_spans, "14:03:05, +90s",
	     "map: also store what only spans need, where this part of the trace has no spans but other parts do",
	     FOR(ON(MAP))),
	FLAG("watch", 0, GROUP_PRINT, watch, NULL,
	     "show what appears in a directory: slice files, or rotation chunks when the next one follows; "
	     "map: map each chunk, to a file in -o DIR",
	     FOR(SHOWN | ON(MAP))),
	FLAG("delete-mapped", 0, GROUP_PRINT, delete_mapped, NULL,
	     "map --watch: delete a chunk when its slice file was read back and the next chunk is mapped",
	     FOR(ON(MAP)), NEEDS("watch")),
	WORD("thin", 0, "AGE", GROUP_PRINT, thin, NULL,
	     "map --watch: fold slices that are older than this (2h, 7d) to history in DIR/history, and delete them",
	     FOR(ON(MAP)), NEEDS("watch")),
	WORD("step", 0, "S", GROUP_PRINT, step, NULL,
	     "length of a step of --each, --at and the screen: 1ms, 10ms, 100ms, 1s, 10s, 1m or 10m",
	     FOR(SHOWN | ON(MAP))),
	FLAG("each", 0, GROUP_PRINT, each, NULL, "print a block for each second",
	     FOR(ON(BATCH))),
	WORD("seconds", 'n', "N", GROUP_PRINT, n, "",
	     "end after this number of seconds",
	     FOR(ON(BATCH) | ON(DOCTOR))),
	WORD("metric", 0, "METRIC", GROUP_PRINT, metric, NULL,
	     "a metric, or its heatmap or distribution (also on the screen), split --by its fields (--list-metrics)",
	     FOR(SHOWN)),
	WORD("where", 0, "EXPR", GROUP_PRINT, where, NULL,
	     "of the metric, count only what has these values: an expression over its fields",
	     FOR(ON(BATCH)), NEEDS("metric")),
	WORD("only", 0, "WHAT", GROUP_PRINT, only, NULL,
	     "narrow to trace=ID, span=ID, pid=N, tid=N, service=NAME, operation=NAME; commas join several",
	     FOR(ON(BATCH))),
	WORD("filter", 0, "EXPR", GROUP_PRINT, filter, "comm == sshd",
	     "show only rows for which the expression over columns is true",
	     FOR(SHOWN | ON(REPORT) | ON(LOG) | ON(EXPORT))),
	LIST("threshold", 0, "RULE", GROUP_PRINT, threshold, NULL,
	     "what must not be reached, as 'p99 of any > 3 x usual for 5s'; view alerts shows when it was; can be "
	     "repeated",
	     FOR(SHOWN)),
	WORD("thresholds", 0, "FILE", GROUP_PRINT, thresholds, NULL, "file of thresholds, one in a line",
	     FOR(SHOWN)),
	FLAG("check", 0, GROUP_PRINT, check, NULL,
	     "batch: print one line about the thresholds, and exit as a Nagios plugin: 0 OK, 1 warning, 2 critical, "
	     "3 unknown",
	     FOR(ON(BATCH)), NEEDS("threshold thresholds snapshot-when"), NOT_WITH("view metric")),
	WORD("baseline", 0, "NAME", GROUP_PRINT, baseline, "alerts",
	     "what is usual for thresholds: as --save-baseline stored it under this name",
	     NEEDS("threshold thresholds snapshot-when")),
	WORD("save-baseline", 0, "NAME", GROUP_PRINT, save_baseline, NULL,
	     "batch: store what is usual in the range, for each threshold and value (XDG_STATE_HOME/blktop/baselines)",
	     FOR(ON(BATCH)), NEEDS("threshold thresholds snapshot-when")),
	WORD("against", 0, "WHAT", GROUP_PRINT, against, NULL,
	     "compare: usual or TRACE[:SPAN]; changed: before, quiet, history; a metric: before, history, FROM..TO",
	     FOR(ON(BATCH))),
	WORD("sort", 0, "COL", GROUP_PRINT, sort, NULL,
	     "sort rows by this column; -COL reverses the order",
	     FOR(SHOWN | ON(REPORT))),
	WORD("columns", 0, "A,B", GROUP_PRINT, columns, "-COL",
	     "show or print only these columns, in this order",
	     FOR(SHOWN)),
	COMMAND_WORD("export-span", "ID", GROUP_EXPORT, COMMAND_EXPORT, span, NULL,
		     "write this span and its descendants"),
	COMMAND_WORD("export-trace", "ID", GROUP_EXPORT, COMMAND_EXPORT, trace, NULL,
		     "write all spans of this trace"),
	COMMAND_WORD("export-slowest", "N", GROUP_EXPORT, COMMAND_EXPORT, slowest, NULL,
		     "write the N slowest traces",
	     NOT_WITH("export-span export-trace")),
	FLAG("with-kernel", 0, GROUP_EXPORT, with_kernel, "",
	     "export waits and long system calls as child spans, too",
	     FOR(ON(EXPORT))),
	FLAG("history", 0, GROUP_EXPORT, history, NULL,
	     "reduce: fold seconds to minutes, and retain only the slowest traces of each",
	     FOR(ON(REDUCE))),
	WORD("worst", 0, "N", GROUP_EXPORT, worst, NULL, "report: number of requests (5)",
	     FOR(ON(REPORT))),
	WORD("html", 0, "FILE", GROUP_EXPORT, html, NULL, "report: write an HTML page with graphics (-: to stdout)",
	     FOR(ON(REPORT)), NOT_WITH("output")),
	WORD("output", 'o', "FILE", GROUP_EXPORT, output, NULL, "write to this file, not to stdout",
	     FOR(ON(REPORT) | ON(SAVE) | ON(MAP) | ON(REDUCE) | ON(DOCTOR) | ON(EXPORT))),
	FLAG("force", 0, GROUP_EXPORT, force, "N: 5",
	     "overwrite an existing file",
	     FOR(ON(REPORT) | ON(SAVE) | ON(MAP) | ON(REDUCE) | ON(DOCTOR) | ON(EXPORT) | ON(SCREEN))),
	WORD("memory", 0, "SIZE", GROUP_SCREEN, memory, NULL,
	     "memory for the retained part of the trace (" DEFAULT_MEMORY ")"),
	WORD("spool", 0, "DIR", GROUP_SCREEN, spool, NULL,
	     "live: store received packets there, as a trace (XDG_STATE_HOME/blktop/spool)",
	     OF(LIVE), NOT_WITH("watch")),
	WORD("spool-size", 0, "SIZE", GROUP_SCREEN, spool_size, NULL,
	     "live: size limit of the stored packets (1G)",
	     OF(LIVE), NOT_WITH("watch")),
	FLAG("no-spool", 0, GROUP_SCREEN, no_spool, NULL,
	     "live: store no packets, so there is no log and no saved range",
	     OF(LIVE), NOT_WITH("watch spool spool-size")),
	FLAG("no-isolation", 0, GROUP_SCREEN, no_isolation, "",
	     "read traces and relays without the filters for system calls and files (see --doctor)"),
	WORD("log", 0, "FILE", GROUP_SCREEN, log, NULL,
	     "append messages to this file"),
	WORD("log-level", 0, "LEVEL", GROUP_SCREEN, log_level, NULL,
	     "level of these messages: error, note or debug (note)"),
	FLAG("utc", 0, GROUP_SCREEN, utc, NULL, "show times in UTC, not in local time"),
	FLAG("ascii", 0, GROUP_SCREEN, ascii, NULL, "draw with ASCII only"),
	FLAG("accessible", 0, GROUP_SCREEN, accessible, NULL,
	     "text for screen readers: one fact a line, the cursor on the selected row"),
	WORD("color", 0, "WHEN", GROUP_SCREEN, color, "",
	     "colours: auto, never, always, 256 or truecolor"),
	WORD("config", 0, "FILE", GROUP_SCREEN, config, NULL,
	     "file that settings are read from and written to; none: no file"),
	WORD("theme", 0, "NAME", GROUP_SCREEN, theme, NULL,
	     "colours for the terminal's background: auto, dark, light, mono"),
	WORD("mouse", 0, "ON", GROUP_SCREEN, mouse, NULL,
	     "on or off; off leaves the mouse to the terminal, to copy text"),
	WORD("screenshot", 0, "FILE", GROUP_SCREEN, screenshot, NULL,
	     "write a picture of the first screen to this file, as SVG, and exit; needs no terminal",
	     FOR(ON(SCREEN)), OF(RECORDED)),
	WORD("size", 0, "SIZE", GROUP_SCREEN, size, "",
	     "size of the --screenshot, COLSxROWS (120x40)",
	     NEEDS("screenshot")),
	COMMAND("list-views", 0, GROUP_INFORM, COMMAND_LIST_VIEWS, NULL, "print the views"),
	COMMAND_WORD("list-columns", "VIEW", GROUP_INFORM, COMMAND_LIST_COLUMNS, list_columns,
		     NULL, "print the columns of a view"),
	COMMAND("list-events", 0, GROUP_INFORM, COMMAND_LIST_EVENTS, NULL,
		"print the events that blktop reads, and what each is used for"),
	COMMAND("list-metrics", 0, GROUP_INFORM, COMMAND_LIST_METRICS, "tables",
		"print the metrics: unit, the fields that they can be split by, and the events that they need"),
	COMMAND("recipe", 0, GROUP_INFORM, COMMAND_RECIPE, NULL,
		"print a shell script that records everything blktop reads"),
	COMMAND("list-limits", 0, GROUP_INFORM, COMMAND_LIST_LIMITS, NULL,
		"print all limits for untrusted input, and what happens above each"),
	COMMAND("list-machines", 0, GROUP_INFORM, COMMAND_LIST_MACHINES, NULL,
		"print the machines that --machine can name, and their other names"),
	COMMAND("doctor", 0, GROUP_INFORM, COMMAND_DOCTOR, NULL,
		"report what a trace or session cannot answer, and the commands that repair it"),
	FLAG("suggest-rules", 0, GROUP_INFORM, suggest_rules, "",
	     "print rules for spans (--spans) that the user-space events suggest, with their counts; live: until the "
	     "session ends, or of -n seconds",
	     FOR(ON(BATCH)), NOT_WITH("view metric watch no-spool")),
	COMMAND("help", 'h', GROUP_INFORM, COMMAND_HELP, NULL, "print the options"),
	COMMAND("help-here", 0, GROUP_INFORM, COMMAND_HELP_SESSION, NULL,
		"print the options for live sessions of this machine"),
	COMMAND("help-send", 0, GROUP_INFORM, COMMAND_HELP_SEND, NULL,
		"print the options for sending metrics to other programs"),
	COMMAND("version", 'v', GROUP_INFORM, COMMAND_VERSION, "all: man blktop",
		"print the versions of blktop and its libraries, and how it is isolated"),
	FLAG("yes", 'y', GROUP_SESSION, yes, "do not wait for Enter",
	     "make the session without waiting for Enter"),
	WORD("pid", 0, "PID", GROUP_SESSION, pid, "follow only it and its children",
	     "follow this process and its children"),
	FLAG("spans-only", 0, GROUP_SESSION, spans_only, "no kernel events",
	     "record spans of programs, and no kernel events",
	     NOT_WITH("calls-only kprobe")),
	FLAG("calls-only", 0, GROUP_SESSION, calls_only, "no kernel events but their system calls",
	     "of all kernel events, record only the system calls of the followed processes"),
	WORD("live-timer", 0, "T", GROUP_SESSION, live_timer, "how often data is sent (1s): 10ms to 10s",
	     "how often the tracers send data, 10ms to 10s (1s)"),
	WORD("loglevel", 0, "LEVEL", GROUP_SESSION, loglevel, "only spans that severe: emerg ... debug",
	     "record only events of programs with at least this severity, emerg to debug"),
	FLAG("functions", 0, GROUP_SESSION, functions, "entries and exits (cyg_profile)",
	     "record function entries and exits of programs built with -finstrument-functions"),
	JOINED("tracepoints", "NAME,...", GROUP_SESSION, tracepoints, "of programs, as 'ros2:*'",
	       "record these tracepoints of programs, too: PROVIDER:NAME, or PROVIDER:* (spans: zipkin:*)"),
	JOINED("perf", "COUNTER,...", GROUP_SESSION, perf, "page-faults, context-switches, ...",
	     "add software counters to the events: page-faults, context-switches, minor-faults, ..."),
	JOINED("kprobe", "SYMBOL,...", GROUP_SESSION, kprobe, "probe these functions of the kernel",
	     "probe these functions of the kernel, SYMBOL or SYMBOL+OFFSET"),
	WORD("session", 0, "NAME", GROUP_SESSION, session, "its name (blktop-PID)",
	     "name of the session that is made (blktop-PID)"),
	FLAG("keep", 0, GROUP_SESSION, keep, "leave it, and print how to destroy it",
	     "leave the session at the end, and print how to attach to it and how to destroy it"),
	COMMAND("sweep", 0, GROUP_SESSION, COMMAND_SWEEP, "remove what killed blktops left",
		"remove what killed blktops left: sessions, relay daemons, followed programs"),
	WORD("snapshot", 0, "SESSION", GROUP_SESSION, snapshot, "session that P records; new: make one",
	     "the snapshot session of this machine that P and rules record; new: make one"),
	WORD("exec-on-alert", 0, "COMMAND", GROUP_SESSION, exec_on_alert, "if --threshold is reached",
	     "live: run this program, without a shell, when a --threshold is reached; $BLKTOP_ALERT has the reason",
	     OF(LIVE), NEEDS("threshold thresholds snapshot-when")),
	WORD("snapshot-when", 0, "RULE", GROUP_SESSION, snapshot_when, "'p99 of thumbnail > 3 x usual'",
	     "record a snapshot when the rule is true for a second: 'p99 of thumbnail > 3 x usual'"),
	WORD("listen", 0, "WHERE", GROUP_SEND, listen, "/metrics on PORT or ADDRESS:PORT",
	     "serve /metrics to Prometheus on PORT of 127.0.0.1, ADDRESS:PORT or [ADDRESS]:PORT; of a recorded trace "
	     "until SIGTERM",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	WORD("listen-host", 0, "NAMES", GROUP_SEND, listen_host, "further names in a URL of --listen",
	     "names, separated by commas, by which clients may ask --listen, beside addresses in digits, localhost and "
	     "this machine's host name",
	     NEEDS("listen")),
	WORD("metrics-file", 0, "FILE", GROUP_SEND, metrics_file, "for node_exporter's textfile collector",
	     "write the same text to this file, whole or not at all; live each second, of a recorded trace at its end",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	WORD("graphite", 0, "HOST[:PORT]", GROUP_SEND, graphite, "plaintext of each second, over TCP",
	     "send each second's values to this Graphite server, plaintext over TCP (port 2003)",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	WORD("datacenter", 0, "NAME", GROUP_SEND, datacenter, "in names of Graphite (local)",
	     "what $datacenter in names of Graphite is (local)",
	     NEEDS("graphite")),
	WORD("graphite-name", 0, "NAME", GROUP_SEND, graphite_name, "'x.$host.$metric.$values.$figure'",
	     "names for Graphite: $metric, $by, $values, $figure, $datacenter, $host and other fields "
	     "(1min.lttng.$by.$values.$datacenter.$host)",
	     NEEDS("graphite")),
	WORD("forward", 0, "URL", GROUP_SEND, forward, ".../api/v2/spans or .../v1/traces",
	     "send finished requests to http://HOST:PORT/api/v2/spans (Zipkin) or http://HOST:PORT/v1/traces (OTLP)",
	     FOR(ON(BATCH)), NOT_WITH("check")),
	WORD("forward-only", 0, "RULE", GROUP_SEND, forward_only, "'slow 100ms; failed; 1 in 100'",
	     "forward only requests that are 'slow DURATION', 'failed', or '1 in N' by trace id; separated by ';'",
	     NEEDS("forward")),
	FLAG("forward-kernel", 0, GROUP_SEND, forward_kernel, "with waits and calls as child spans",
	     "forward waits and long system calls as child spans",
	     NEEDS("forward")),
	WORD("metrics", 0, "LIST", GROUP_SEND, metrics, "'call.latency by call; cpu.irq by cpu'",
	     "metrics that are sent: METRIC by FIELD,FIELD; separated by ';' (--list-metrics)",
	     NEEDS("listen metrics-file graphite")),
	WORD("most-values", 0, "N", GROUP_SEND, most_values, "of each metric kept apart (1000)",
	     "values of its fields that each metric distinguishes; further ones are summed as (other) (1000)",
	     NEEDS("listen metrics-file graphite")),
	WORD("cache-after", 0, "MS", GROUP_HIDDEN, cache_after, "",
	     "store what takes this many ms to read (1000)"),
	WORD("cache-size", 0, "SIZE", GROUP_HIDDEN, cache_size, "", "size limit of what is stored (1G)",
	     FOR(SHOWN | ON(REPORT) | ON(EXPORT)), OF(RECORDED)),
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

/* --- conditions --- */

/* How messages name each command, in their order. */
static const struct { enum command command; const char *words; } command_words[] = {
	{ COMMAND_BATCH, "-b" }, { COMMAND_REPORT, "report" }, { COMMAND_LOG, "log" }, { COMMAND_SAVE, "save" },
	{ COMMAND_MAP, "map" }, { COMMAND_REDUCE, "reduce" }, { COMMAND_DOCTOR, "--doctor" },
	{ COMMAND_LIST_SESSIONS, "--list-sessions" }, { COMMAND_LIST_LIMITS, "--list-limits" },
	{ COMMAND_EXPORT, "an --export option" }, { COMMAND_SCREEN, "the screen" },
};

bool option_given(const struct words *w, const struct option_row *r)
{
	const char *at = (const char *)w + r->offset;

	if (r->offset == WORD_NONE)
		return false;
	if (r->kind == KIND_FLAG)
		return *(const bool *)at;
	return r->kind == KIND_LIST ? (*(GPtrArray *const *)at)->len > 0 : *(char *const *)at != NULL;
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
static const struct option_row *first_given(const struct words *w, const char *names)
{
	const struct option_row *r;
	while ((r = next_name(&names)))
		if (option_given(w, r))
			return r;
	return NULL;
}

/* "-n, --seconds needs ": the beginning of a message. */
static GString *say_row(const struct option_row *r, const char *rest)
{
	GString *s = g_string_new(NULL);
	if (r->letter)
		g_string_printf(s, "-%c, ", r->letter);
	g_string_append_printf(s, "--%s%s", r->name, rest);
	return s;
}

/* "--view needs a, b or c" */
static char *say_needs(const struct option_row *r, const GPtrArray *choices)
{
	GString *s = say_row(r, " needs ");

	for (guint i = 0; i < choices->len; i++)
		g_string_append_printf(s, "%s%s", i == 0 ? "" : i + 1 < choices->len ? ", " : " or ",
				       (char *)choices->pdata[i]);
	return g_string_free(s, FALSE);
}

static char *say_commands(const struct option_row *r)
{
	g_autoptr(GPtrArray) choices = g_ptr_array_new();
	for (size_t i = 0; i < G_N_ELEMENTS(command_words); i++)
		if (r->commands & 1u << command_words[i].command)
			g_ptr_array_add(choices, (char *)command_words[i].words);
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
static char *check_row(const struct words *w, const struct option_row *r, bool live)
{
	static const char *const sources[] = {
		[SOURCE_RECORDED] = "a recorded trace", [SOURCE_LIVE] = "a live session",
		[SOURCE_RELAY] = "a live session of a relay (-r)",
	};
	const bool there[] = { true, !live, live, w->relays->len > 0 };
	const struct option_row *other = first_given(w, r->excludes);

	if (r->commands && !(r->commands & 1u << w->command))
		return say_commands(r);
	if (!there[r->source])
		return g_string_free(g_string_append(say_row(r, " needs "), sources[r->source]), FALSE);
	if (r->needs && !first_given(w, r->needs))
		return say_options(r);
	return other ? g_strdup_printf("--%s and --%s cannot be combined", r->name, other->name) : NULL;
}

char *option_check(const struct words *w, bool live)
{
	char *wrong = NULL;
	for (size_t i = 0; i < option_n_rows && !wrong; i++)
		if (option_given(w, &option_rows[i]))
			wrong = check_row(w, &option_rows[i], live);
	return wrong;
}

/* --- help --- */

static void append_option(GString *s, const struct option_row *r)
{
	g_autoptr(GString) row = say_row(r, "");
	g_string_append_printf(s, "%s%s%s%s", s->len > 0 ? ", " : "", row->str, r->arg ? " " : "",
			       r->arg ? r->arg : "");
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
	fputs("Usage: blktop TRACE_DIR... | SPANS.json...                a recorded trace\n"
	      "       blktop -r HOST[:PORT] | net://HOST/host/NAME/SESSION           live\n"
	      "       blktop [-- PROGRAM ARG...]       live, of this machine: --help-here\n"
	      "       blktop -b --view VIEW | report | log | save [OPTION...] SOURCE    print\n", out);
	print_groups(out, GROUP_READ, GROUP_INFORM);
	fputs("Exit   0 success, 1 failure, 2 usage, 3 losses, 4 incomplete, 128 + N signal N\n", out);
}

void options_print_help_session(FILE *out)
{
	fputs("Usage: blktop [OPTION...]                 makes a live session here, shows it,\n"
	      "                                          and destroys it at the end\n"
	      "       blktop [OPTION...] -- PROGRAM ARG...   the same for a program it runs\n"
	      "       blktop -b [OPTION...] [-- PROGRAM ARG...]                       printed\n", out);
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
		fprintf(out, "%s\t--%s\t%s\t%s\t%s\n", letter, r->name, r->arg ? r->arg : "",
			group_title[r->group], r->help);
	}
}

void options_print_commands(FILE *out)
{
	for (size_t i = 0; i < option_n_subcommands; i++)
		fprintf(out, "%s\t%s\t%s\n", option_subcommands[i].word, option_subcommands[i].operands,
			option_subcommands[i].help);
}
