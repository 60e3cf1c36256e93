/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of blktop, and its exit statuses. */
#ifndef BLK_CLI_COMMAND_H
#define BLK_CLI_COMMAND_H

enum exit_code {
	EXIT_FINE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_LOSS = 3,		/* batch: the trace was read with loss */
	EXIT_INCOMPLETE = 4,	/* batch: the relay, the session daemon or the path gave up; not all was sent; or
				 * figures are unknown, as spans were dropped to save memory */
	EXIT_SIGNAL = 128,	/* + its number */
};

enum command {
	COMMAND_SCREEN,
	COMMAND_BATCH,
	COMMAND_LOG,			/* `blktop log` */
	COMMAND_EXPORT,
	COMMAND_REPORT,			/* blktop report */
	COMMAND_SAVE,			/* blktop save */
	COMMAND_MAP,			/* blktop map */
	COMMAND_REDUCE,			/* blktop reduce */
	COMMAND_DOCTOR,
	COMMAND_LIST_SESSIONS,		/* from here on: no trace is read */
	COMMAND_SWEEP,			/* destroys sessions that a killed blktop left */
	COMMAND_LIST_VIEWS,
	COMMAND_LIST_COLUMNS,
	COMMAND_LIST_EVENTS,
	COMMAND_LIST_METRICS,
	COMMAND_LIST_LIMITS,
	COMMAND_LIST_MACHINES,
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

#endif
