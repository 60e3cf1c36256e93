/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of options. popt's table, the values of options, the help screens, the man page and the completions are
 * made from it.
 */
#ifndef BLK_CLI_OPTIONS_TABLE_H
#define BLK_CLI_OPTIONS_TABLE_H

#include "cli/command.h"

#include <stdio.h>

/* Domain and code of errors in options: fail(error, OPTIONS, ...). */
#define OPTIONS g_quark_from_static_string("blk-options"), 0
#define OPTION_SLOTS 160		/* rows of the table, at most */

/* Texts, as given, of options that depend on others. NULL: not given. */
struct words {
	char **relays, **threshold;
	char *view, *list_columns, *by, *format, *sort, *columns, *only, *against, *metric, *where;
	char *thresholds, *baseline, *save_baseline, *exec_on_alert, *snapshot_when, *until, *html;
	char *graphite, *listen_host, *metrics, *forward, *forward_only;
	unsigned seconds;		/* 0: not given */
	bool no_cache, no_spool;
};

/* The command line while it is read: the fields of options have their values, what depends on others is in .words. */
struct command_line {
	struct options options;
	struct words words;
	bool given[OPTION_SLOTS];	/* by number of the row; false for those that only choose a command */
	const char *const *program;	/* words after "--"; borrowed, NULL: none */
	const char *command_name;	/* the option (with dashes) or word that chose the command */
};

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

struct option_row {
	const char *name;
	char letter;
	const char *arg;		/* NULL: takes none */
	bool optional;			/* it may be left out: .take then gets NULL */
	enum group group;
	enum command command;		/* that it chooses; COMMAND_SCREEN: none */
	size_t offset;			/* of its field in struct command_line */
	/* Stores the value of a text (flags: NULL) in the field. NULL: there is no field. */
	bool (*take)(const struct option_row *r, const char *text, void *field, GError **error);
	const char *initial;		/* text of the value if it is not given; NULL: the field's own */
	unsigned most;			/* numbers: the largest; 0: a billion. Lists: the most items; 0: any */
	bool (*check)(const char *item, GError **error);	/* of each item of a list; NULL: none */
	const char *const *choices;	/* words that it takes, or some of them; NULL: no special ones */
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

/* Stores the value of the row's option, or of its .initial. */
bool option_take(struct command_line *c, const struct option_row *r, const char *text, GError **error);
/* Was it given? false for those that only choose a command. */
bool option_given(const struct command_line *c, const struct option_row *r);
/* "-n, --seconds", for messages; never freed. */
const char *option_words(const struct option_row *r);
/* Frees the texts of those fields of a struct command_line that have their offset in [from, to). */
void option_clear(void *base, size_t from, size_t to);

/* The row of a name without dashes, which must be there. */
const struct option_row *option_find(const char *name);

/* Why the first refused option is refused, as one line (g_free). NULL: none is. */
char *option_check(const struct command_line *c);

/* The word if it is a command, as the first one of the command line (a directory of that name is written "./report");
 * static. NULL: it is none. */
const char *option_command_of(const char *word, enum command *ret);

void options_print_help(FILE *out);	/* fits a screen of 80 columns */
void options_print_help_session(FILE *out);	/* the same for sessions of this machine, */
void options_print_help_send(FILE *out);	/* and for what is sent to other programs */
/* Tab-separated: -letter, --name, ARGUMENT, group, help, words that it takes; for man page and completions. */
void options_print_table(FILE *out);
void options_print_commands(FILE *out);	/* of subcommands: word, operands, help */

#endif
