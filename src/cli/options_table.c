/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of options, and what is printed from it. */
#include "cli/options_table.h"

#include "export/export.h"

static const char *const group_title[] = {
	[GROUP_READ] = "Read", [GROUP_PRINT] = "Print", [GROUP_EXPORT] = "Export",
	[GROUP_SCREEN] = "Screen", [GROUP_TELL] = "Tell", [GROUP_HERE] = "Here",
};

const struct subcommand option_subcommands[] = {
	{ "report", COMMAND_REPORT, "TRACE_DIR...",
	  "write a Markdown page about the worst requests" },
	{ "log", COMMAND_LOG, "TRACE_DIR...",
	  "print every call and event of a range as strace would, as text or JSON lines" },
	{ "save", COMMAND_SAVE, "TRACE_DIR... -o DIR",
	  "save a range as a trace of its own that other programs open, too" },
};
const size_t option_n_subcommands = G_N_ELEMENTS(option_subcommands);

#define AT(field) offsetof(struct words, field)
#define WORD(name, letter, arg, group, field, brief, help) \
	{ name, letter, arg, group, KIND_WORD, COMMAND_SCREEN, AT(field), brief, help }
#define FLAG(name, letter, group, field, brief, help) \
	{ name, letter, NULL, group, KIND_FLAG, COMMAND_SCREEN, AT(field), brief, help }
#define LIST(name, letter, arg, group, field, brief, help) \
	{ name, letter, arg, group, KIND_LIST, COMMAND_SCREEN, AT(field), brief, help }
#define JOINED(name, arg, group, field, brief, help) \
	{ name, 0, arg, group, KIND_JOINED, COMMAND_SCREEN, AT(field), brief, help }
#define COMMAND(name, letter, group, command, brief, help) \
	{ name, letter, NULL, group, KIND_COMMAND, command, WORD_NONE, brief, help }
#define COMMAND_WORD(name, arg, group, command, field, brief, help) \
	{ name, 0, arg, group, KIND_COMMAND, command, AT(field), brief, help }

const struct option_row option_rows[] = {
	LIST("relay", 'r', "RELAY", GROUP_READ, relays,
	     NULL,
	     "follow a relay daemon live: HOST[:PORT] or net://HOST[:PORT]/host/NAME/SESSION; several on one timeline"),
	FLAG("from-beginning", 0, GROUP_READ, from_beginning, NULL,
	     "live: begin with the oldest data that the relay has, not the newest"),
	FLAG("wait", 0, GROUP_READ, wait, "live: HOST[:PORT] or the URL",
	     "live: wait for a relay and a session that are not there yet, or any more"),
	COMMAND("list-sessions", 0, GROUP_READ, COMMAND_LIST_SESSIONS, NULL,
		"print the live sessions of the relay"),
	WORD("timeout", 0, "S", GROUP_READ, timeout, NULL, "seconds to wait for the relay (10)"),
	WORD("late-bound", 0, "S", GROUP_READ, late_bound, "what it has; for how long",
	     "live: seconds that a stream which lags behind is waited for (two live timers and 1)"),
	FLAG("demo", 0, GROUP_READ, demo, NULL, "show the bundled recording, with a line of hints"),
	FLAG("align-hosts", 0, GROUP_READ, align_hosts, NULL,
	     "move the clocks of several hosts to where their calls of each other agree"),
	WORD("spans", 0, "FILE", GROUP_READ, spans, "a recording; hosts; rules for spans",
	     "rules that make spans of any two events"),
	WORD("jobs", 'j', "THREADS", GROUP_READ, jobs, NULL,
	     "threads that read a recorded trace (one a core)"),
	WORD("slices", 0, "N", GROUP_READ, slices, NULL,
	     "pieces that a recorded trace is read in (chosen by its size)"),
	WORD("reader", 0, "WHICH", GROUP_READ, reader, "auto, native, babeltrace2",
	     "native (auto is the same), or babeltrace2's library: on one thread, not hardened"),
	COMMAND("batch", 'b', GROUP_PRINT, COMMAND_BATCH, NULL,
		"print a view instead of opening the screen"),
	FLAG("fail-if-incomplete", 0, GROUP_PRINT, fail_if_incomplete, NULL,
	     "exit with 1 instead of 3 or 4: what is printed counts only where nothing is missing"),
	WORD("view", 0, "VIEW", GROUP_PRINT, view, NULL,
	     "the view to print, or the first one on the screen"),
	WORD("by", 0, "BY", GROUP_PRINT, by, "process cpu ...",
	     "sum rows by system, process, thread, cpu, priority, name, second or container"),
	WORD("format", 0, "FORMAT", GROUP_PRINT, format, NULL,
	     "text, csv or json; of exported spans:" SPAN_FORMAT_WORDS),
	FLAG("csv-safe", 0, GROUP_PRINT, csv_safe, "text csv json," SPAN_FORMAT_WORDS,
	     "CSV for spreadsheets: text is quoted, and after an apostrophe where it could be a formula"),
	WORD("at", 0, "T", GROUP_PRINT, at, NULL, "the second of this instant"),
	WORD("from", 0, "T", GROUP_PRINT, from, NULL, "begin of the range (start)"),
	WORD("to", 0, "T", GROUP_PRINT, to, NULL, "end of the range (end)"),
	FLAG("with-statedump", 0, GROUP_PRINT, statedump, "14:03:05, +90s, 5%, end, @NS",
	     "save: with what names processes and descriptors, from before the range"),
	WORD("step", 0, "STEP", GROUP_PRINT, step, NULL,
	     "length of a second: 1ms, 10ms, 100ms, 1s, 10s, 1m or 10m, for --each, --at, the screen"),
	FLAG("each", 0, GROUP_PRINT, each, NULL, "a block for each second"),
	WORD("seconds", 'n', "SECONDS", GROUP_PRINT, n, "1ms to 10m; a block each",
	     "end after so many seconds"),
	WORD("only", 0, "WHAT", GROUP_PRINT, only, NULL,
	     "only trace=ID, span=ID, pid=N, tid=N, service=NAME, operation=NAME; several by commas"),
	WORD("filter", 0, "EXPR", GROUP_PRINT, filter, "such as 'comm =~ nginx && syscalls > 10'",
	     "show only rows for which the expression over columns is true"),
	WORD("against", 0, "WHAT", GROUP_PRINT, against, NULL,
	     "compare, changed: with usual, before, history, or TRACE[:SPAN]"),
	WORD("sort", 0, "COLUMN", GROUP_PRINT, sort, NULL,
	     "order of the rows; -COLUMN turns it round"),
	WORD("columns", 0, "A,B", GROUP_PRINT, columns, "-COLUMN: the other way",
	     "show or print only these columns, in this order"),
	COMMAND_WORD("export-span", "ID", GROUP_EXPORT, COMMAND_EXPORT, span, NULL,
		     "write this span and what is below it"),
	COMMAND_WORD("export-trace", "ID", GROUP_EXPORT, COMMAND_EXPORT, trace, NULL,
		     "write all spans of this trace"),
	COMMAND_WORD("export-slowest", "N", GROUP_EXPORT, COMMAND_EXPORT, slowest, "hex",
		     "write the N slowest traces"),
	FLAG("with-kernel", 0, GROUP_EXPORT, with_kernel, NULL,
	     "of exported spans: waits and long system calls as child spans, too"),
	WORD("worst", 0, "N", GROUP_EXPORT, worst, NULL, "report: of how many requests (5)"),
	WORD("output", 'o', "FILE", GROUP_EXPORT, output, NULL, "write there, not to stdout"),
	FLAG("force", 0, GROUP_EXPORT, force, "report: of how many",
	     "write over an old file"),
	WORD("memory", 0, "SIZE", GROUP_SCREEN, memory, NULL,
	     "memory for what is kept of the trace (" DEFAULT_MEMORY ")"),
	WORD("spool", 0, "DIR", GROUP_SCREEN, spool, NULL,
	     "live: keep what comes there, as a trace (XDG_STATE_HOME/blktop/spool)"),
	WORD("spool-size", 0, "SIZE", GROUP_SCREEN, spool_size, NULL,
	     "live: at most so much of it (1G)"),
	FLAG("no-spool", 0, GROUP_SCREEN, no_spool, "what is kept",
	     "live: keep nothing on disk: no log, no saved range"),
	FLAG("no-isolation", 0, GROUP_SCREEN, no_isolation, NULL,
	     "read traces and relays without the filters of system calls and files (see --doctor)"),
	WORD("log", 0, "FILE", GROUP_SCREEN, log, NULL,
	     "append what happens to this file"),
	WORD("log-level", 0, "LEVEL", GROUP_SCREEN, log_level, NULL,
	     "how much of it: error, note or debug (note)"),
	FLAG("utc", 0, GROUP_SCREEN, utc, NULL, "instants in UTC, not local time"),
	FLAG("ascii", 0, GROUP_SCREEN, ascii, "less safe", "draw with ASCII only"),
	WORD("color", 0, "WHEN", GROUP_SCREEN, color, NULL,
	     "colours: auto, always or never"),
	WORD("config", 0, "FILE", GROUP_SCREEN, config, NULL,
	     "settings are read from this file, and written there; none: from nowhere"),
	WORD("theme", 0, "NAME", GROUP_SCREEN, theme, NULL,
	     "colours for a background: auto, dark, light, mono"),
	WORD("mouse", 0, "ON", GROUP_SCREEN, mouse, "dark light; on off",
	     "on or off; off leaves it to the terminal, to copy text"),
	COMMAND("list-views", 0, GROUP_TELL, COMMAND_LIST_VIEWS, NULL, "print the views"),
	COMMAND_WORD("list-columns", "VIEW", GROUP_TELL, COMMAND_LIST_COLUMNS, list_columns,
		     NULL, "print the columns of a view"),
	COMMAND("list-events", 0, GROUP_TELL, COMMAND_LIST_EVENTS, NULL,
		"print the events that are read, and what for"),
	COMMAND("list-metrics", 0, GROUP_TELL, COMMAND_LIST_METRICS, "tables",
		"print the figures of a second: unit, fields, events that they need"),
	COMMAND("recipe", 0, GROUP_TELL, COMMAND_RECIPE, NULL,
		"print a shell script that records everything blktop reads"),
	COMMAND("list-limits", 0, GROUP_TELL, COMMAND_LIST_LIMITS, NULL,
		"print how much of hostile input is taken, and what happens above it"),
	COMMAND("doctor", 0, GROUP_TELL, COMMAND_DOCTOR, "what to record; what lacks",
		"tell what a trace or session can't answer, and the commands that repair it"),
	COMMAND("help", 'h', GROUP_TELL, COMMAND_HELP, NULL, "print the options"),
	COMMAND("help-here", 0, GROUP_TELL, COMMAND_HELP_HERE, NULL,
		"print the options of sessions that are made on this machine"),
	COMMAND("version", 'v', GROUP_TELL, COMMAND_VERSION, "this; libraries, isolation",
		"print the versions of the program and its libraries, and how it is isolated"),
	FLAG("yes", 'y', GROUP_HERE, yes, "begin at once",
	     "make the session at once, without waiting for Enter"),
	WORD("pid", 0, "PID", GROUP_HERE, pid, "follow only it and its children",
	     "follow this process and its children"),
	FLAG("spans-only", 0, GROUP_HERE, spans_only, "not the kernel",
	     "record spans of programs, and nothing of the kernel"),
	FLAG("calls-only", 0, GROUP_HERE, calls_only, "of the kernel: only their system calls",
	     "record of the kernel only the system calls of the followed processes"),
	WORD("live-timer", 0, "T", GROUP_HERE, live_timer, "how often data comes (1s): 10ms to 10s",
	     "how often the tracers hand data over, 10ms to 10s (1s)"),
	WORD("loglevel", 0, "LEVEL", GROUP_HERE, loglevel, "of spans: emerg ... info ... debug",
	     "record only events of programs that are at least so severe, emerg to debug"),
	FLAG("functions", 0, GROUP_HERE, functions, "of programs built for it (cyg_profile)",
	     "record function entries and exits of programs built with -finstrument-functions"),
	JOINED("perf", "COUNTER,...", GROUP_HERE, perf, "page-faults, context-switches, ...",
	     "add software counters to the events: page-faults, context-switches, minor-faults, ..."),
	JOINED("kprobe", "SYMBOL,...", GROUP_HERE, kprobe, "probe these functions of the kernel",
	     "probe these functions of the kernel, SYMBOL or SYMBOL+OFFSET"),
	WORD("session", 0, "NAME", GROUP_HERE, session, "its name (blktop-PID)",
	     "name of the session that is made (blktop-PID)"),
	FLAG("keep", 0, GROUP_HERE, keep, "leave it there, and say how to end it",
	     "leave the session at the end, and say how to attach to it and destroy it"),
	COMMAND("sweep", 0, GROUP_HERE, COMMAND_SWEEP, "destroy what a killed blktop left",
		"end what killed blktops left: sessions, relay daemons, programs that they followed"),
	WORD("snapshot", 0, "SESSION", GROUP_HERE, snapshot, "what P records; new: one of its own",
	     "the snapshot session of this machine that is recorded by P and rules; new: make one"),
	WORD("snapshot-when", 0, "RULE", GROUP_HERE, snapshot_when, "'p99 of thumbnail > 3 x usual'",
	     "record a snapshot when the rule is true of a second: 'p99 of thumbnail > 3 x usual'"),
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

/* --- help --- */

static void append_option(GString *s, const struct option_row *r)
{
	if (s->len > 0)
		g_string_append(s, ", ");
	if (r->letter)
		g_string_append_printf(s, "-%c, ", r->letter);
	g_string_append_printf(s, "--%s", r->name);
	if (r->arg)
		g_string_append_printf(s, " %s", r->arg);
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
		fprintf(out, "%-7s%-31s  %s\n", r->group != group ? group_title[r->group] : "",
			left->str, r->brief);
		group = r->group;
		g_string_truncate(left, 0);
	}
}

void options_print_help(FILE *out)
{
	fputs("Usage: blktop TRACE_DIR... | SPANS.json...                a recorded trace\n"
	      "       blktop -r HOST[:PORT] | net://HOST/host/NAME/SESSION           live\n"
	      "       blktop [-- PROGRAM ARG...]       live, of this machine: --help-here\n"
	      "       blktop -b --view VIEW [OPTION...] TRACE_DIR | -r RELAY        print\n"
	      "       blktop report | log | save [OPTION...] TRACE_DIR   page; calls; piece\n", out);
	print_groups(out, GROUP_READ, GROUP_TELL);
	fputs("Exit   0 fine, 1 failed, 2 usage, 3 read with loss, 4 incomplete, 128 + signal\n", out);
}

void options_print_help_session(FILE *out)
{
	fputs("Usage: blktop [OPTION...]                 makes a live session here, shows it,\n"
	      "                                          and destroys it at the end\n"
	      "       blktop [OPTION...] -- PROGRAM ARG...   the same of a program that it runs\n"
	      "       blktop -b [OPTION...] [-- PROGRAM ARG...]                       printed\n", out);
	print_groups(out, GROUP_HERE, GROUP_HERE);
	fputs("Exit   as of blktop --help; with a program that ended by itself: its own\n", out);
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
