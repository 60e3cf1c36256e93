/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blktop: why was this request slow, in this second?
 *
 * Wires the parts: options say what is wanted, screen.c shows it, batch.c prints it,
 * about.c tells what there is.
 */
#include "about.h"
#include "batch.h"
#include "log.h"
#include "options.h"
#include "relay.h"
#include "screen.h"

#include "base/timefmt.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>

static int run_views(const struct options *o) { (void)o; about_views(); return EXIT_FINE; }
static int run_columns(const struct options *o) { about_columns(o->view); return EXIT_FINE; }
static int run_events(const struct options *o) { (void)o; about_events(); return EXIT_FINE; }
static int run_recipe(const struct options *o) { (void)o; about_recipe(); return EXIT_FINE; }
static int run_keys(const struct options *o) { (void)o; ui_print_keys(stdout); return EXIT_FINE; }
static int run_table(const struct options *o) { (void)o; options_print_table(stdout); return EXIT_FINE; }
static int run_help(const struct options *o) { (void)o; options_print_help(stdout); return EXIT_FINE; }
static int run_version(const struct options *o) { (void)o; about_version(); return EXIT_FINE; }

static int (*const run[])(const struct options *o) = {
	[COMMAND_SCREEN] = screen_run,
	[COMMAND_BATCH] = batch_print,
	[COMMAND_EXPORT] = batch_export,
	[COMMAND_LIST_SESSIONS] = relay_list_sessions,
	[COMMAND_LIST_VIEWS] = run_views,
	[COMMAND_LIST_COLUMNS] = run_columns,
	[COMMAND_LIST_EVENTS] = run_events,
	[COMMAND_RECIPE] = run_recipe,
	[COMMAND_PRINT_KEYS] = run_keys,
	[COMMAND_PRINT_OPTIONS] = run_table,
	[COMMAND_HELP] = run_help,
	[COMMAND_VERSION] = run_version,
};

/* What was printed last may only now meet a full disk or a reader that has left. */
static int flush_output(int code)
{
	errno = 0;
	bool failed = ferror(stdout) != 0;
	if (fflush(stdout) == 0 && !failed)
		return code;
	if (code != EXIT_FINE && code != EXIT_LOSS)
		return code;		/* it was told already */
	if (errno == EPIPE)
		return EXIT_SIGNAL + SIGPIPE;
	log_error("cannot write the output: %s", g_strerror(errno ? errno : EIO));
	return EXIT_FAILED;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct options o;

	/* A reader that leaves, a relay or a session daemon that dies: told by errno. */
	signal(SIGPIPE, SIG_IGN);
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");

	bool ok = options_parse(&o, argc, (const char *const *)argv, &error);
	if (!ok) {
		log_error("%s\nTry 'blktop --help'.", error->message);
		options_clear(&o);
		return EXIT_USAGE;
	}
	timefmt_set_utc(o.utc);
	int code = EXIT_FAILED;
	if (log_open(o.log, &error))
		code = flush_output(run[o.command](&o));
	else
		log_error("%s", error->message);
	log_note("ends with %d", code);
	log_close();
	options_clear(&o);
	return code;
}
