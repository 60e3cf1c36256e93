/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of options, and where their words are kept until they are read. options*.c only. */
#ifndef BLK_CLI_OPTIONS_TABLE_H
#define BLK_CLI_OPTIONS_TABLE_H

#include "cli/command.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define DEFAULT_MEMORY "512M"

/* The words as given, before they mean anything. Fields are named by the table. */
struct words {
	GPtrArray *relays;
	char *view, *list_columns, *by, *format, *at, *from, *to, *filter, *sort;
	char *columns, *n, *span, *trace, *slowest, *output, *memory, *color, *log, *log_level, *timeout;
	char *only, *against;
	char *jobs, *slices, *reader, *step, *worst, *config, *theme, *mouse, *spans, *late_bound;
	char *spool, *spool_size;
	char *session, *pid, *live_timer, *loglevel, *perf, *kprobe, *snapshot, *snapshot_when;
	bool no_spool, no_isolation, align_hosts, csv_safe;
	bool demo, from_beginning, wait, each, force, utc, ascii, statedump, with_kernel, fail_if_incomplete;
	bool yes, keep, spans_only, calls_only, functions;
	const char *const *program;	/* behind "--"; borrowed, NULL: none */
	enum command command;
	const char *command_name;	/* the option, with its dashes, or word that chose it */
};

enum kind { KIND_FLAG, KIND_WORD, KIND_JOINED, KIND_LIST, KIND_COMMAND };
enum group { GROUP_READ, GROUP_PRINT, GROUP_EXPORT, GROUP_SCREEN, GROUP_TELL, GROUP_HERE, GROUP_HIDDEN };

#define WORD_NONE SIZE_MAX
struct option_row {
	const char *name;
	char letter;
	const char *arg;		/* NULL: takes none */
	enum group group;
	enum kind kind;
	enum command command;		/* KIND_COMMAND */
	size_t offset;			/* in struct words; WORD_NONE */
	const char *brief;		/* on the help screen; NULL: shares the next row's line */
	const char *help;		/* one sentence, for man page and completions */
};

extern const struct option_row option_rows[];
extern const size_t option_n_rows;

/* What may be the first word of the command line. A directory of such a name is
 * "./report". */
struct subcommand {
	const char *word;
	enum command command;
	const char *operands;
	const char *help;		/* one sentence */
};

extern const struct subcommand option_subcommands[];
extern const size_t option_n_subcommands;

void options_print_help(FILE *out);	/* one screen of 80 columns */
void options_print_help_session(FILE *out);	/* the same, of sessions of this machine */
/* Tab-separated: -letter, --name, ARGUMENT, group, help; for man page and completions. */
void options_print_table(FILE *out);
void options_print_commands(FILE *out);	/* of subcommands: word, operands, help */

#endif
