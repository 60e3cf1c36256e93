/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: one table of options, from which popt's table, the help screen
 * and (--print-options) the man page's section and the completions are made.
 * Everything that can be checked without reading a trace is checked here.
 */
#ifndef BLK_CLI_OPTIONS_H
#define BLK_CLI_OPTIONS_H

#include "export/export.h"
#include "cli/command.h"
#include "cli/filters.h"
#include "app/input.h"
#include "ui/prefs.h"
#include "ui/ui.h"

/* A session of this machine: options_here.c reads it. */
struct here {
	bool yes, keep, spans_only, calls_only, functions;
	char *session;			/* NULL: blktop-PID */
	unsigned timer_us;
	int loglevel;			/* -1: all */
	int pid;			/* to be followed; 0: none */
	char **counters, **probes;	/* or NULL */
	char **program;			/* with its arguments, or NULL */
	char *snapshot;			/* session, "new", or NULL */
	char *snapshot_when;		/* a rule that was read; or NULL */
};

struct options {
	enum command command;
	char **paths;			/* trace directories, NULL-terminated; may be empty */
	bool live;			/* `urls` are where to read */
	struct live_url *urls;
	size_t n_urls;
	struct live_options relay;	/* how */
	bool local;			/* live, of a session that is to be made: no urls yet */
	struct here here;
	struct local *running;		/* local.h: while there is one; the caller's */
	bool demo;
	const struct view *view;	/* --view, --list-columns; NULL: not given */
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
	bool each, force, utc, ascii;
	bool align_hosts;
	bool csv_safe;			/* screen: CSV is CSV_SAFE; else `format` has it */
	bool statedump;			/* save: --with-statedump */
	bool fail_if_incomplete;	/* EXIT_FAILED instead of _LOSS and _INCOMPLETE */
	bool no_spool;
	bool no_isolation;
	/* Set by the caller of reading_start(): */
	bool without_spans;		/* make no spans */
	uint32_t cells;			/* the cells of a second that are read, as view.reads */
	bool skip_free;			/* the program exits after reading: do not free what was read */
	size_t spool_size;		/* bytes */
	unsigned n_seconds;		/* -n; 0: no bound (doctor: 5) */
	unsigned worst;			/* report: --worst */
	size_t memory;			/* bytes */
	bool memory_given;
	int theme, mouse;		/* enum theme; on 1, off 0; -1: not given */
	struct prefs *prefs;		/* the screen's settings; the caller's, NULL: none */
	unsigned jobs, slices;		/* 0: chosen */
	enum reader reader;
	int64_t step_ns;		/* --step: 1 ms to 10 min; 0: not given */
	enum ui_color color;
	/* As given, or NULL. */
	int log_level;			/* log.h; -1: not said */
	char *at, *from, *to, *filter, *output, *log, *config, *spans, *spool;
};

/* false and *error: one line that says what is wrong with which option. Free with
 * options_clear() in both cases. */
bool options_parse(struct options *ret, int argc, const char *const *argv, GError **error);
void options_clear(struct options *o);

/* The length of a "second". */
/* Does the view show, by what was asked, what has to be counted while the trace is read? */
static inline bool options_count_threads(const struct options *o)
{
	return o->view && (o->view->counts_all || (o->view->counted_by & 1u << o->by));
}

static inline int64_t options_step(const struct options *o)
{
	return o->step_ns ? o->step_ns : INT64_C(1000000000);
}

#endif
