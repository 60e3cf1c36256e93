/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * blktop: shows why a request was slow, from an LTTng trace.
 *
 * Reads options and settings, enters isolation, and runs the command.
 */
#include "cli/lists.h"
#include "cmd/batch.h"
#include "cli/config.h"
#include "cli/rule_files.h"
#include "cmd/doctor/doctor.h"
#include "app/host_clocks.h"
#include "app/input.h"
#include "cmd/isolate.h"
#include "app/converted.h"
#include "app/next_steps.h"
#include "cmd/local.h"
#include "app/messages.h"
#include "cli/options.h"
#include "cli/options_table.h"
#include "cmd/log.h"
#include "cmd/map.h"
#include "app/relay.h"
#include "cmd/record.h"
#include "cmd/report.h"
#include "cmd/save.h"
#include "cmd/screen.h"
#include "cmd/sending.h"
#include "cmd/thresholds.h"

#include "base/machine.h"
#include "base/fail.h"
#include "base/open_files.h"
#include "base/sanitized.h"
#include "base/timefmt.h"
#include "base/user.h"
#include "export/limits_print.h"
#include "state/slice/slice.h"
#include "state/spans/presets.h"
#include "state/spans/rules.h"
#include "ui/rc.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

/* A command gets what it reads, and its own options. */
static int run_screen(const struct options *o)
{
	return screen_run(&o->read, &o->shown, &o->screen);
}

static int run_batch(const struct options *o)
{
	return batch_print(&o->read, &o->shown, &o->batch);
}

static int run_log(const struct options *o)
{
	return log_print(&o->read, &o->shown);
}

static int run_export(const struct options *o)
{
	return batch_export(&o->read, &o->output, &o->spans);
}

static int run_report(const struct options *o)
{
	return report_write(&o->read, &o->shown, &o->output, &o->page);
}

static int run_save(const struct options *o)
{
	return save_write(&o->read, o->output.path, o->save_statedump);
}

static int run_map(const struct options *o)
{
	return map_write(&o->read, &o->output, &o->map);
}

static int run_reduce(const struct options *o)
{
	return map_reduce(&o->read, &o->output, o->reduce_to_history);
}

static int run_record(const struct options *o)
{
	return record_run(&o->read, &o->shown, &o->record);
}

static int run_doctor(const struct options *o)
{
	return doctor_run(&o->read, o->shown.format, &o->output, o->doctor_seconds);
}

static int print_columns(const struct options *o)
{
	about_columns(stdout, o->shown.view);
	return EXIT_FINE;
}

static int list_sessions(const struct options *o)
{
	return relay_list_sessions(&o->read, o->shown.format == FORMAT_JSON);
}

/* These read the files of presets, and install no rules. */
static bool lists_presets(const struct options *o)
{
	return o->command == COMMAND_LIST_PRESETS || (o->command == COMMAND_RECIPE && o->preset);
}

static int print_recipe(const struct options *o)
{
	const struct preset *p = o->preset ? presets_find(o->preset) : NULL;

	if (o->preset && !p) {
		log_error("there is no preset '%s': blktop --list-presets", o->preset);
		return EXIT_USAGE;
	}
	about_recipe(stdout, p);
	return EXIT_FINE;
}

static int print_limits(const struct options *o)
{
	limits_print(stdout, o->shown.format);
	return EXIT_FINE;
}

/* A command is a function that returns the exit status, or one that prints and cannot fail. */
static const struct {
	int (*run)(const struct options *o);
	void (*print)(FILE *out);
} commands[] = {
	[COMMAND_SCREEN] = { .run = run_screen },
	[COMMAND_BATCH] = { .run = run_batch },
	[COMMAND_LOG] = { .run = run_log },
	[COMMAND_EXPORT] = { .run = run_export },
	[COMMAND_REPORT] = { .run = run_report },
	[COMMAND_SAVE] = { .run = run_save },
	[COMMAND_MAP] = { .run = run_map },
	[COMMAND_REDUCE] = { .run = run_reduce },
	[COMMAND_RECORD] = { .run = run_record },
	[COMMAND_DOCTOR] = { .run = run_doctor },
	[COMMAND_LIST_SESSIONS] = { .run = list_sessions },
	[COMMAND_SWEEP] = { .run = local_sweep },
	[COMMAND_LIST_VIEWS] = { .print = about_views },
	[COMMAND_LIST_COLUMNS] = { .run = print_columns },
	[COMMAND_LIST_EVENTS] = { .print = about_events },
	[COMMAND_LIST_METRICS] = { .print = about_metrics },
	[COMMAND_LIST_LIMITS] = { .run = print_limits },
	[COMMAND_LIST_MACHINES] = { .print = about_machines },
	[COMMAND_LIST_PRESETS] = { .print = about_presets },
	[COMMAND_RECIPE] = { .run = print_recipe },
	[COMMAND_PRINT_KEYS] = { .print = ui_print_keys },
	[COMMAND_PRINT_BINDINGS] = { .print = ui_print_bindings },
	[COMMAND_PRINT_SETTINGS] = { .print = ui_print_settings },
	[COMMAND_PRINT_OPTIONS] = { .print = options_print_table },
	[COMMAND_PRINT_COMMANDS] = { .print = options_print_commands },
	[COMMAND_HELP] = { .print = options_print_help },
	[COMMAND_HELP_SESSION] = { .print = options_print_help_session },
	[COMMAND_HELP_SEND] = { .print = options_print_help_send },
	[COMMAND_VERSION] = { .print = about_version },
};

/* Settings of blktoprc are for the screen only, so that scripts get the same output everywhere. */
static void take_settings(struct options *o)
{
	if (o->command != COMMAND_SCREEN)
		return;
	struct prefs *p = o->screen.prefs = config_load(o);
	o->shown.ascii = p->ascii;
	if (p->memory)
		o->read.memory = p->memory;
	timefmt_set_utc(p->utc);
}

/* Files of rules are read before isolation, and rules installed before anything is opened. */
static bool take_rules(const struct options *o, GError **error)
{
	bool reads = o->command < COMMAND_LIST_SESSIONS;

	if (!reads && !o->rules && !lists_presets(o))
		return true;
	const char *presets = reads || lists_presets(o) ? o->presets : PRESETS_NONE;
	return rule_files_read(o->rules, presets, o->screen.prefs, error) &&
	       (lists_presets(o) || rule_files_install(NULL, error));
}

/* The recording of --demo is a path like others. */
static bool find_demo(struct options *o, GError **error)
{
	if (!o->read.demo || o->command > COMMAND_DOCTOR)
		return true;
	o->read.paths = g_renew(char *, o->read.paths, 2);
	o->read.paths[0] = input_find_demo(error);
	o->read.paths[1] = NULL;
	return o->read.paths[0] != NULL;
}

/* A stream comes from standard input; keys then come from the terminal. */
static bool take_stream(struct options *o, GError **error)
{
	if (!o->read.stream)
		return true;
	if (isatty(STDIN_FILENO))
		return fail(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "standard input is a terminal: blktop - reads a "
			    "stream, as in 'ssh HOST sudo blktop record -o - | blktop -'");
	int stream = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int keys = open(o->command == COMMAND_SCREEN && !o->screen.screenshot ? "/dev/tty" : "/dev/null", O_RDWR);
	if (stream < 0 || keys < 0)
		return fail(error, G_FILE_ERROR, g_file_error_from_errno(errno), "the screen needs a terminal for "
			    "keys: cannot open /dev/tty: %s; 'blktop -b --view VIEW -' prints without one",
			    g_strerror(errno));
	dup2(keys, STDIN_FILENO);
	close(keys);
	o->read.relay.stream = stream;
	return true;
}

/* Part of --memory for packets of relay daemons that wait to be decoded, within these bounds in bytes. */
#define QUEUE_SHARE 16
#define LEAST_QUEUE (8u << 20)
#define MOST_QUEUE (64u << 20)

/* Enters isolation: from here on hostile input is read. */
static int run_isolated(const struct options *o)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) paths = NULL;
	struct options with = *o;
	bool open = !with.batch.send.any || sending_open(&with.batch.send);
	bool converts = converted_any(o->read.paths);
	open = open && (!converts || converted_add_place(&error));
	int code = open && isolate(&with) ? EXIT_FINE : EXIT_FAILED;
	if (code == EXIT_FINE && converts) {
		with.read.paths = paths = converted_paths(o->read.paths, &error);
		code = paths ? EXIT_FINE : EXIT_FAILED;
	}
	if (error)
		log_error("%s", error->message);
	if (code == EXIT_FINE && !o->read.live && !with.read.step_ns && o->read.paths[0])
		input_history_step(o->read.paths[0], &with.read.step_ns);
	if (code == EXIT_FINE && o->read.align_hosts)
		code = hosts_align(&o->read, o->command > COMMAND_BATCH);
	if (code == EXIT_FINE)
		code = commands[o->command].run(&with);
	g_free(with.batch.send.url);
	if (converts)
		converted_remove();
	return code;
}

static bool are_dirs(char *const *paths)
{
	while (*paths && g_file_test(*paths, G_FILE_TEST_IS_DIR))
		paths++;
	return !*paths;
}

/* After a failure about what should be read, says what to do next. */
static int run_with_hints(const struct options *o)
{
	g_autofree char *program = are_dirs(o->read.paths) ? NULL : next_steps_program(o->read.paths);
	int code = run_isolated(o);
	g_autofree char *next = code != EXIT_FAILED ? NULL : program ? g_steal_pointer(&program) :
		next_steps_paths(o->read.paths, o->command == COMMAND_LOG || o->command == COMMAND_SAVE ||
				 o->command == COMMAND_DOCTOR);

	if (next)
		log_error("%s", next);
	return code;
}

static int run_command(const struct options *o)
{
	static char list[1 << 20];	/* more than any has */

	if (o->command == COMMAND_RECORD && !record_prepare(o->record.to))
		return EXIT_FAILED;
	if (o->read.local || o->session.snapshot || o->session.exec_on_alert)
		return local_run(o, run_isolated);
	if (o->command <= COMMAND_LIST_SESSIONS)
		return run_with_hints(o);
	/* A list is written at once, so that the reason why that failed is known. */
	setvbuf(stdout, list, _IOFBF, sizeof list);
	if (commands[o->command].run)
		return commands[o->command].run(o);
	commands[o->command].print(stdout);
	return EXIT_FINE;
}

/* Buffered output can fail only now: a full disk, or a closed pipe. */
static int flush_output(const struct options *o, int code)
{
	errno = 0;
	bool failed = ferror(stdout) != 0;
	if (fflush(stdout) == 0 && !failed)
		return code;
	if (!o->batch.check && code != EXIT_FINE && code != EXIT_LOSS && code != EXIT_INCOMPLETE)
		return code;		/* an error was printed already */
	if (errno == EPIPE)
		return EXIT_SIGNAL + SIGPIPE;
	log_error("cannot write the output: %s", g_strerror(errno ? errno : EIO));
	return o->batch.check ? CHECK_UNKNOWN : EXIT_FAILED;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	struct options o;

	/* Closed pipes and sockets are reported by errno instead. */
	signal(SIGPIPE, SIG_IGN);
	open_files_reserve_standard();
	open_files_raise();
	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");

	bool ok = options_parse(&o, argc, (const char *const *)argv, &error);
	if (!ok) {
		log_error("%s\nTry 'blktop --help'.", error->message);
		int code = o.batch.check ? CHECK_UNKNOWN : EXIT_USAGE;
		options_clear(&o);
		return code;
	}
	timefmt_set_utc(o.shown.utc);
	if (o.config)
		config_choose(o.config);
	machine_learn_here();
	machine_assume(o.machine);
	int code = EXIT_FAILED;
	if (find_demo(&o, &error) && take_stream(&o, &error) &&
	    user_choose(o.user, !o.no_isolation && !SANITIZED, &error) &&
	    log_open(o.log, o.log_level, &error)) {
		take_settings(&o);
		if (o.read.memory)
			slice_bound_memory(o.read.memory);
		o.read.relay.queue = o.read.memory ? CLAMP(o.read.memory / QUEUE_SHARE, LEAST_QUEUE, MOST_QUEUE) : 0;
		if (take_rules(&o, &error))
			code = flush_output(&o, run_command(&o));
	}
	if (o.fail_if_incomplete && (code == EXIT_LOSS || code == EXIT_INCOMPLETE))
		code = EXIT_FAILED;
	if (error)
		log_error("%s", error->message);
	if (o.screen.prefs)
		config_save_history(o.screen.prefs);
	log_note("ends with %d", code);
	rules_install(NULL, NULL);
	rule_files_clear();
	log_close();
	prefs_free(o.screen.prefs);
	options_clear(&o);
	return code;
}
