/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of options, from which popt's table, the help screens, the man page and the completions are made; and the
 * words of the command line before they are interpreted.
 */
#ifndef BLK_CLI_OPTIONS_TABLE_H
#define BLK_CLI_OPTIONS_TABLE_H

#include "cli/command.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DEFAULT_MEMORY "512M"

/* Domain and code of errors in options: fail(error, OPTIONS, ...). */
#define OPTIONS g_quark_from_static_string("blk-options"), 0

/* The words as given. The table has the offset of each field. */
struct words {
	GPtrArray *relays, *threshold, *chunks;
	char *view, *list_columns, *by, *format, *at, *from, *to, *filter, *sort;
	char *columns, *n, *span, *trace, *slowest, *output, *memory, *color, *log, *log_level, *timeout;
	char *only, *against, *metric, *where, *thresholds, *baseline, *save_baseline, *exec_on_alert;
	char *jobs, *slices, *reader, *machine, *step, *worst, *config, *theme, *mouse, *spans, *late_bound;
	char *spool, *spool_size, *user;
	char *screenshot, *size, *html;
	char *thin;
	char *session, *pid, *live_timer, *loglevel, *perf, *kprobe, *tracepoints, *snapshot, *snapshot_when;
	char *listen, *listen_host, *metrics, *metrics_file, *most_values, *graphite, *graphite_name, *datacenter;
	char *cache_size, *cache_after;
	bool no_spool, no_cache, no_isolation, align_hosts, csv_safe;
	char *forward, *forward_only;
	bool forward_kernel;
	bool check;
	bool demo, from_beginning, wait, each, force, statedump, with_kernel, fail_if_incomplete, suggest_rules;
	bool utc, ascii, accessible, keep_spans, watch, delete_mapped, history;
	bool yes, keep, spans_only, calls_only, functions;
	const char *const *program;	/* words after "--"; borrowed, NULL: none */
	enum command command;
	const char *command_name;	/* the option (with dashes) or word that chose the command */
};

enum kind { KIND_FLAG, KIND_WORD, KIND_JOINED, KIND_LIST, KIND_COMMAND };
enum group {
	GROUP_READ, GROUP_PRINT, GROUP_EXPORT, GROUP_SCREEN, GROUP_INFORM, GROUP_SESSION, GROUP_SEND, GROUP_HIDDEN
};

/* What an option needs the events to come from. */
enum option_source {
	SOURCE_ANY,
	SOURCE_RECORDED,
	SOURCE_LIVE,
	SOURCE_RELAY,
};

#define WORD_NONE SIZE_MAX
struct option_row {
	const char *name;
	char letter;
	const char *arg;		/* NULL: takes none */
	enum group group;
	enum kind kind;
	enum command command;		/* KIND_COMMAND */
	size_t offset;			/* in struct words; WORD_NONE */
	const char *brief;		/* for the help screen; NULL: on one line with the next row */
	const char *help;		/* one sentence, for man page and completions */
	/* When it is refused, whatever its value; checked by option_check(): */
	uint32_t commands;		/* 1 << enum command of those that take it; 0: all */
	enum option_source source;
	const char *needs;		/* names of options, of which one must be given: "listen graphite" */
	const char *excludes;		/* the same, of which none may be given */
};

extern const struct option_row option_rows[];
extern const size_t option_n_rows;

/* Was it given? false for those that only choose a command. */
bool option_given(const struct words *w, const struct option_row *r);

/* The row of a name without dashes, which must be there. */
const struct option_row *option_find(const char *name);

/* Why the first refused option is refused, as one line (g_free). NULL: none is. `live`: the events come while blktop
 * runs. */
char *option_check(const struct words *w, bool live);

/* Subcommands: the first word of the command line. A directory of that name is written "./report". */
struct subcommand {
	const char *word;
	enum command command;
	const char *operands;
	const char *help;		/* one sentence */
};

extern const struct subcommand option_subcommands[];
extern const size_t option_n_subcommands;

void options_print_help(FILE *out);	/* fits a screen of 80 columns */
void options_print_help_session(FILE *out);	/* the same for sessions of this machine, */
void options_print_help_send(FILE *out);	/* and for what is sent to other programs */
/* Tab-separated: -letter, --name, ARGUMENT, group, help; for man page and completions. */
void options_print_table(FILE *out);
void options_print_commands(FILE *out);	/* of subcommands: word, operands, help */

#endif
