/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of blktop, and their options. A command gets the struct with its own, what it reads
 * (app/read_options.h), and what it shares with others.
 */
#ifndef BLK_CLI_COMMAND_H
#define BLK_CLI_COMMAND_H

#include "export/export.h"
#include "app/narrow.h"
#include "app/exit_code.h"
#include "app/reading.h"
#include "base/machine.h"
#include "send/forward.h"
#include "send/send_metrics.h"
#include "ui/prefs.h"
#include "ui/ui.h"
#include "views/metric.h"

enum command {
	COMMAND_SCREEN,
	COMMAND_BATCH,
	COMMAND_LOG,			/* `blktop log` */
	COMMAND_EXPORT,
	COMMAND_REPORT,			/* blktop report */
	COMMAND_SAVE,			/* blktop save */
	COMMAND_MAP,			/* blktop map */
	COMMAND_REDUCE,			/* blktop reduce */
	COMMAND_RECORD,			/* blktop record */
	COMMAND_DOCTOR,
	COMMAND_LIST_SESSIONS,		/* from here on: no trace is read */
	COMMAND_SWEEP,			/* destroys sessions that a killed blktop left */
	COMMAND_LIST_VIEWS,
	COMMAND_LIST_COLUMNS,
	COMMAND_LIST_EVENTS,
	COMMAND_LIST_METRICS,
	COMMAND_LIST_LIMITS,
	COMMAND_LIST_MACHINES,
	COMMAND_LIST_PRESETS,
	COMMAND_RECIPE,
	COMMAND_PRINT_KEYS,
	COMMAND_PRINT_BINDINGS,
	COMMAND_PRINT_SETTINGS,
	COMMAND_PRINT_OPTIONS,
	COMMAND_PRINT_COMMANDS,
	COMMAND_HELP,
	COMMAND_HELP_SESSION,
	COMMAND_HELP_SEND,
	COMMAND_VERSION,
};

/* ---- shared by commands ---- */

/* What is shown on the screen or printed, and how. */
struct shown_options {
	const struct view *view;	/* --view, --list-columns, the command's own; NULL: not given */
	const struct view *otherwise;	/* batch, if no view was chosen: printed of a recorded trace from whose events
					 * .view has no figures; else NULL */
	struct metric_query metric;	/* --metric, --by, --where: what .view prints then; .metric NULL: not given.
					 * Its instants are not set: they are read_options.against_from and _to */
	struct view *metric_view;	/* then also .view; owned */
	enum view_by by;		/* --by, else the view's own */
	struct view_query narrow;	/* --only, --against */
	bool narrowed;			/* one of them was given */
	int sort;			/* column of the view, or -1 */
	bool sort_descending;
	unsigned *columns;		/* --columns: numbers of the view's columns, or NULL */
	size_t n_columns;
	char *filter;			/* as given, or NULL */
	struct expr *expr;		/* --filter against --view; NULL: all, or no view */
	enum rows_format format;
	bool utc, ascii;
	GPtrArray *thresholds;		/* struct threshold *: --threshold, --thresholds, --snapshot-when; NULL: none */
	char *baseline;			/* path of --baseline, or NULL */
};

/* Where a text or file is written. */
struct output_options {
	char *path;			/* --output, --html; NULL: stdout */
	bool force;
};

/* A session of this machine. */
struct session_options {
	bool yes, keep, spans_only, calls_only, program_only, functions;
	int kernel;			/* enum plan_tracer */
	size_t kernel_buffer;		/* bytes for each CPU; 0: the usual */
	char *session;			/* NULL: blktop-PID */
	unsigned timer_us;
	int loglevel;			/* -1: all */
	unsigned pid;			/* process to follow; 0: none */
	char **counters, **probes, **programs;	/* or NULL; .programs: --tracepoints */
	char **program;			/* with its arguments, or NULL */
	char *snapshot;			/* session, "new", or NULL */
	char **exec_on_alert;		/* program and arguments, or NULL */
};

/* ---- of one command ---- */

/* What is sent to other programs. */
struct send_options {
	GPtrArray *metrics;		/* struct send_metric *; NULL: none is sent */
	unsigned most_values;
	char *listen, *metrics_file;	/* as given, or NULL */
	char **hosts;			/* with .listen: host_names.h */
	bool any;			/* something is sent */
	bool only;			/* nothing is printed: neither --view nor --metric was given */
	int fd;				/* the socket of .listen, set by the caller of isolate(); -1: none */
	int notify_fd;			/* likewise, of systemd; -1: none */
	char *url;			/* of .fd's socket, likewise; the caller of isolate() frees it */
	struct live_url graphite;	/* .host NULL: not given */
	char *graphite_name;		/* a template, or NULL: those of lttng-graph */
	char *datacenter;
	struct http_url forward;	/* .path NULL: not given */
	enum span_format forward_format;
	struct forward_rule forward_rule;
	bool forward_kernel;
};

struct batch_options {
	bool each, suggest_rules;	/* .suggest_rules: prints rules instead of a view */
	bool check;			/* prints one line about the thresholds, and exits as a Nagios plugin */
	unsigned n_seconds;		/* 0: no bound */
	char *save_baseline;		/* path, or NULL */
	struct send_options send;
};

struct screen_options {
	enum ui_color color;
	int theme, mouse;		/* enum theme; on 1, off 0; -1: not given */
	bool accessible;
	bool csv_safe;			/* save CSV as FORMAT_CSV_SAFE; batch: shown_options.format has it already */
	bool memory_given;		/* --memory: the setting in blktoprc does not count */
	char *screenshot;		/* path, or NULL */
	struct screen_size { unsigned cols, rows; } size;	/* of it */
	bool force;			/* overwrites it */
	struct prefs *prefs;		/* settings; main()'s, NULL: none */
};

struct export_options {
	struct span_selection selection;
	enum span_format format;
};

struct page_options {			/* of report */
	unsigned worst;
	bool html;
};

struct map_options {
	bool keep_spans, delete_mapped;
	int64_t thin_after_ns;		/* 0: not given */
};

struct record_options {
	char *to;			/* directory; options.output.path, borrowed */
	unsigned n_seconds;		/* 0: no bound */
	int64_t last_ns;		/* --last: only this much is stored, for snapshots; 0: everything */
	const struct threshold *snapshot_when;	/* in options.shown.thresholds, or NULL */
};

/* ---- all ---- */

struct options {
	enum command command;
	struct read_options read;	/* what is read, and which range of it */
	struct session_options session;
	struct shown_options shown;
	struct output_options output;
	struct batch_options batch;
	struct screen_options screen;
	struct export_options spans;
	struct page_options page;
	struct map_options map;
	struct record_options record;
	bool save_statedump;		/* save: --with-statedump */
	bool reduce_to_history;		/* reduce: --history */
	unsigned doctor_seconds;	/* how long a live session is listened to */
	/* Of the process: */
	char *user;			/* of --user, or NULL */
	bool no_isolation;
	bool fail_if_incomplete;	/* EXIT_FAILED instead of _LOSS and _INCOMPLETE */
	enum machine machine;		/* --machine; MACHINE_UNKNOWN: not given */
	int log_level;			/* enum log_level; -1: not given */
	char *log, *config, *rules;	/* paths: --log, --config, --spans; or NULL */
	char *presets;			/* --presets; NULL: not given */
	char *preset;			/* --recipe=PRESET; NULL: that of everything */
};

#endif
