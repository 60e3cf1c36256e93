/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of parsing the command line. Everything that can be checked without reading a trace is checked here. The
 * options themselves are a table (options_table.h).
 */
#ifndef BLK_CLI_OPTIONS_H
#define BLK_CLI_OPTIONS_H

#include "export/export.h"
#include "cli/command.h"
#include "app/narrow.h"
#include "cli/options_send.h"
#include "app/exit_code.h"
#include "app/reading.h"
#include "base/machine.h"
#include "ui/prefs.h"
#include "ui/ui.h"
#include "views/metric.h"

/* Options for a session of this machine. */
struct session_options {
	bool yes, keep, spans_only, calls_only, functions;
	char *session;			/* NULL: blktop-PID */
	unsigned timer_us;
	int loglevel;			/* -1: all */
	int pid;			/* process to follow; 0: none */
	char **counters, **probes, **programs;	/* or NULL; .programs: --tracepoints */
	char **program;			/* with its arguments, or NULL */
	char *snapshot;			/* session, "new", or NULL */
	char **exec_on_alert;		/* program and arguments, or NULL */
};

struct options {
	enum command command;
	struct read_options read;	/* what is read, and which range of it */
	bool local;			/* live, from a session that must be made first: no urls yet */
	struct session_options session;
	struct local *running;		/* the session of this machine (cmd/local.h), or NULL; borrowed */
	const struct view *view;	/* --view, --list-columns; NULL: not given */
	struct metric_query metric;	/* --metric, --by, --where: what .view prints then; .metric NULL: not given.
					 * Its instants are not set: they are .against_from and .against_to */
	struct view *metric_view;	/* then also .view; owned */
	GPtrArray *thresholds;		/* struct threshold *: --threshold, --thresholds, --snapshot-when; NULL: none */
	bool check;			/* --check */
	struct send_options send;
	char *baseline, *save_baseline;	/* paths of --baseline, --save-baseline; or NULL */
	enum view_by by;		/* --by, else the view's own */
	struct view_query narrow;	/* --only, --against */
	enum rows_format format;
	enum span_format span_format;
	struct span_selection selection;
	int sort;			/* column of the view, or -1 */
	bool sort_descending;
	unsigned *columns;		/* --columns: numbers of the view's columns, or NULL */
	size_t n_columns;
	struct expr *expr;		/* --filter against --view; NULL: all, or no view */
	bool each, force, utc, ascii, accessible;
	bool align_hosts;
	bool csv_safe;			/* screen: save CSV as FORMAT_CSV_SAFE; batch: `format` has it already */
	bool statedump;			/* save: --with-statedump */
	bool keep_spans;		/* map: --with-spans */
	bool delete_mapped;		/* map: --delete-mapped */
	int64_t thin_after_ns;		/* map: --thin; 0: not given */
	bool history;			/* reduce: --history */
	bool suggest_rules;		/* prints rules instead of a view */
	bool fail_if_incomplete;	/* EXIT_FAILED instead of _LOSS and _INCOMPLETE */
	char *user;			/* of --user, or NULL */
	bool no_isolation;
	unsigned n_seconds;		/* -n; 0: no bound (doctor: 5) */
	unsigned worst;			/* report: --worst */
	bool html;			/* report: --html, whose FILE is .output */
	bool memory_given;		/* --memory: the setting in blktoprc does not count */
	char *screenshot;		/* path, or NULL */
	unsigned shot_rows, shot_cols;	/* its size */
	int theme, mouse;		/* enum theme; on 1, off 0; -1: not given */
	struct prefs *prefs;		/* the screen's settings; the caller's, NULL: none */
	enum machine machine;		/* --machine; MACHINE_UNKNOWN: not given */
	enum ui_color color;
	int log_level;			/* enum log_level; -1: not given */
	char *filter, *output, *log, *config, *spans;	/* as given, or NULL */
};

/* false and *error: one line that says what is wrong with which option. Free with
 * options_clear() in both cases. */
bool options_parse(struct options *ret, int argc, const char *const *argv, GError **error);
void options_clear(struct options *o);

/* What reading is for, as far as options say it. */
struct reading_purpose options_purpose(const struct options *o);
/* Are packets of a live session stored? Printed views do it only with --spool. */
bool options_store_packets(const struct options *o);

#endif
