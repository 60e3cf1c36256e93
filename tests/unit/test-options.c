/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line: what it means, and what is refused in which words.
 */
#include "cli/options.h"
#include "cli/options_table.h"

#include <string.h>

/* Splits at blanks; "^" stands for a blank inside of a word. */
static bool parse(struct options *o, const char *line, GError **error)
{
	g_autofree char *full = g_strdup_printf("blktop %s", line);
	g_auto(GStrv) words = g_strsplit(g_strchomp(full), " ", -1);
	for (char **w = words; *w; w++)
		g_strdelimit(*w, "^", ' ');
	return options_parse(o, (int)g_strv_length(words), (const char *const *)words, error);
}

static void accept(struct options *o, const char *line)
{
	g_autoptr(GError) error = NULL;
	bool ok = parse(o, line, &error);
	g_assert_no_error(error);
	g_assert_true(ok);
}

static void test_traces(void)
{
	struct options o;

	accept(&o, "a b");
	g_assert_cmpint(o.command, ==, COMMAND_SCREEN);
	g_assert_cmpstr(o.read.paths[0], ==, "a");
	g_assert_cmpstr(o.read.paths[1], ==, "b");
	g_assert_null(o.read.paths[2]);
	g_assert_false(o.read.live);
	g_assert_cmpuint(o.read.memory, ==, 512u << 20);
	g_assert_cmpint(o.read.relay.timeout_ms, ==, LIVE_DEFAULT_TIMEOUT_MS);
	options_clear(&o);

	accept(&o, "--utc --ascii --accessible --color never --memory 1.5G --timeout 2 --log x --filter y a");
	g_assert_true(o.shown.utc && o.shown.ascii && o.screen.accessible);
	g_assert_cmpint(o.screen.color, ==, UI_COLOR_NEVER);
	g_assert_cmpuint(o.read.memory, ==, 1536u << 20);
	g_assert_cmpint(o.read.relay.timeout_ms, ==, 2000);
	g_assert_cmpstr(o.log, ==, "x");
	g_assert_cmpstr(o.shown.filter, ==, "y");
	options_clear(&o);

	accept(&o, "--demo");
	g_assert_true(o.read.demo);
	g_assert_cmpuint(o.read.jobs + o.read.slices, ==, 0);
	g_assert_cmpint(o.read.reader, ==, READER_AUTO);
	options_clear(&o);

	accept(&o, "-j8 --slices 32 --reader native a");
	g_assert_cmpuint(o.read.jobs, ==, 8);
	g_assert_cmpuint(o.read.slices, ==, 32);
	g_assert_cmpint(o.read.reader, ==, READER_NATIVE);
	options_clear(&o);
	accept(&o, "-b --jobs=256 --reader babeltrace2 a");
	g_assert_cmpuint(o.read.jobs, ==, 256);
	g_assert_cmpint(o.read.reader, ==, READER_BT2);
	options_clear(&o);
}

static void test_csv(void)
{
	struct options o;

	accept(&o, "-b --format csv a");
	g_assert_cmpint(o.shown.format, ==, FORMAT_CSV);
	options_clear(&o);
	accept(&o, "-b --format csv --csv-safe a");
	g_assert_cmpint(o.shown.format, ==, FORMAT_CSV_SAFE);
	options_clear(&o);
	accept(&o, "--csv-safe a");
	g_assert_true(o.screen.csv_safe);
	options_clear(&o);
}

static void test_align(void)
{
	g_autoptr(GError) live = NULL, doctor = NULL;
	struct options o;

	accept(&o, "a");
	g_assert_false(o.read.align_hosts);
	options_clear(&o);
	accept(&o, "--align-hosts a b");
	g_assert_true(o.read.align_hosts);
	options_clear(&o);
	g_assert_false(parse(&o, "--align-hosts", &live));	/* this machine */
	g_assert_nonnull(strstr(live->message, "one clock"));
	options_clear(&o);
	g_assert_false(parse(&o, "--align-hosts --doctor a", &doctor));
	g_assert_nonnull(strstr(doctor->message, "--align-hosts needs -b"));
	options_clear(&o);
}

static void test_relay(void)
{
	static const char *const lines[] = {
		"-r net://relay:5400/host/web/prod", "net://relay:5400/host/web/prod",
		"--relay=net://relay:5400/host/web/prod", "-b net://relay:5400/host/web/prod",
	};
	struct options o;

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		accept(&o, lines[i]);
		g_assert_true(o.read.live);
		g_assert_cmpstr(o.read.urls[0].host, ==, "relay");
		g_assert_cmpuint(o.read.urls[0].port, ==, 5400);
		g_assert_cmpstr(o.read.urls[0].target, ==, "web");
		g_assert_cmpstr(o.read.urls[0].session, ==, "prod");
		g_assert_null(o.read.paths[0]);
		options_clear(&o);
	}
	accept(&o, "-r relay");
	g_assert_cmpuint(o.read.urls[0].port, ==, LIVE_DEFAULT_PORT);
	g_assert_null(o.read.urls[0].session);
	options_clear(&o);
	accept(&o, "--list-sessions -r relay");
	g_assert_cmpint(o.command, ==, COMMAND_LIST_SESSIONS);
	options_clear(&o);
}

static void test_batch(void)
{
	struct options o;

	accept(&o, "-b a");
	g_assert_cmpint(o.command, ==, COMMAND_BATCH);
	g_assert_cmpstr(o.shown.view->id, ==, "processes");
	g_assert_cmpint(o.shown.format, ==, FORMAT_TEXT);
	g_assert_cmpint(o.shown.sort, ==, -1);
	options_clear(&o);

	accept(&o, "-b --view syscalls --by process --format json --from 10% --to +3s "
	       "--filter errors^>^0 --sort -max_ns --columns pid,max_ns a");
	g_assert_cmpint(o.shown.by, ==, BY_PROCESS);
	g_assert_cmpint(o.shown.format, ==, FORMAT_JSON);
	g_assert_cmpstr(o.read.from, ==, "10%");
	g_assert_cmpstr(o.read.to, ==, "+3s");
	g_assert_nonnull(o.shown.expr);
	g_assert_cmpint(o.shown.sort, ==, view_column(o.shown.view, "max_ns"));
	g_assert_cmpint(o.shown.sort_descending, !=, o.shown.view->columns[o.shown.sort].descending);
	g_assert_cmpuint(o.shown.n_columns, ==, 2);
	g_assert_cmpint((int)o.shown.columns[0], ==, view_column(o.shown.view, "pid"));
	options_clear(&o);

	accept(&o, "-b --view spans --each -n 5 a");
	g_assert_true(o.batch.each);
	g_assert_cmpuint(o.batch.n_seconds, ==, 5);
	options_clear(&o);
	accept(&o, "-b --view spans -r relay -n5");
	g_assert_cmpuint(o.batch.n_seconds, ==, 5);
	options_clear(&o);
	accept(&o, "-b --view processes --at 14:03:05 a");
	g_assert_cmpstr(o.read.at, ==, "14:03:05");
	options_clear(&o);
}

static void test_export(void)
{
	static const struct { const char *line; uint64_t span, trace; unsigned slowest; } cases[] = {
		{ "--export-span 7f8efb3a8bed4f37 a", 0x7f8efb3a8bed4f37, 0, 0 },
		{ "--export-span 0xFF a", 0xff, 0, 0 },
		{ "--export-trace ffffffffffffffff a", 0, UINT64_MAX, 0 },
		{ "--export-trace 1 --export-span 2 a", 2, 1, 0 },
		{ "--export-trace 0 a", 0, 0, 0 },
		{ "--export-slowest 3 a", 0, 0, 3 },
	};
	struct options o;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		accept(&o, cases[i].line);
		g_assert_cmpint(o.command, ==, COMMAND_EXPORT);
		g_assert_cmphex(o.spans.selection.span_id, ==, cases[i].span);
		g_assert_cmphex(o.spans.selection.trace_id, ==, cases[i].trace);
		g_assert_cmpuint(o.spans.selection.slowest, ==, cases[i].slowest);
		g_assert_cmpint(o.spans.format, ==, SPAN_ZIPKIN);
		options_clear(&o);
	}
	accept(&o, "--export-slowest 3 --format json -o x --force a");
	g_assert_cmpint(o.spans.format, ==, SPAN_JSON);
	g_assert_cmpstr(o.output.path, ==, "x");
	g_assert_true(o.output.force);
	options_clear(&o);
}

static void test_tell(void)
{
	static const struct { const char *line; enum command command; } cases[] = {
		{ "--list-views", COMMAND_LIST_VIEWS }, { "--list-columns spans", COMMAND_LIST_COLUMNS },
		{ "--list-events", COMMAND_LIST_EVENTS }, { "--list-metrics", COMMAND_LIST_METRICS },
		{ "--recipe", COMMAND_RECIPE },
		{ "--list-limits", COMMAND_LIST_LIMITS }, { "--list-limits --format csv", COMMAND_LIST_LIMITS },
		{ "--help", COMMAND_HELP }, { "-h", COMMAND_HELP }, { "--version", COMMAND_VERSION },
		{ "--print-keys", COMMAND_PRINT_KEYS }, { "-b --help", COMMAND_HELP },
		{ "--help -b --view nonsense", COMMAND_HELP },
	};
	struct options o;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		accept(&o, cases[i].line);
		g_assert_cmpint(o.command, ==, cases[i].command);
		options_clear(&o);
	}
}

/* Sessions of this machine: without directory and relay. What is behind "--" is a program. */
static void test_here(void)
{
	struct options o;

	accept(&o, "");
	g_assert_true(o.read.local && o.read.live);
	g_assert_cmpint(o.command, ==, COMMAND_SCREEN);
	g_assert_cmpuint(o.session.timer_us, ==, 1000000);
	g_assert_cmpint(o.session.loglevel, ==, -1);
	g_assert_null(o.session.program);
	g_assert_null(o.session.snapshot);
	options_clear(&o);

	accept(&o, "record -o dir --seconds 3 --until p99^of^any^>^1s --calls-only -- server");
	g_assert_cmpint(o.command, ==, COMMAND_RECORD);
	g_assert_true(o.read.local && o.read.live);
	g_assert_cmpstr(o.record.to, ==, "dir");
	g_assert_cmpuint(o.record.n_seconds, ==, 3);
	g_assert_cmpuint(o.shown.thresholds->len, ==, 1);
	options_clear(&o);
	accept(&o, "record -o dir --last 30s --snapshot-when p99^of^any^>^1s --until count^of^any^>^9");
	g_assert_cmpint(o.record.last_ns, ==, INT64_C(30000000000));
	g_assert_cmpuint(o.shown.thresholds->len, ==, 2);
	g_assert_nonnull(o.record.snapshot_when);
	g_assert_true(o.record.snapshot_when == o.shown.thresholds->pdata[1]);
	g_assert_null(o.session.snapshot);
	options_clear(&o);
	accept(&o, "--kernel-buffer 65K");
	g_assert_cmpuint(o.session.kernel_buffer, ==, 128 << 10);
	options_clear(&o);
	accept(&o, "--kernel-buffer 4G");
	g_assert_cmpuint(o.session.kernel_buffer, ==, UINT64_C(4) << 30);
	options_clear(&o);

	accept(&o, "-b -y --keep --pid 12 --live-timer 200ms --loglevel info --session s --functions "
	       "--perf page-faults,cpu-clock --perf minor-faults --kprobe vfs_read --tracepoints ros2:*,app:go "
	       "--calls-only -n 3");
	g_assert_true(o.read.local && o.session.yes && o.session.keep && o.session.functions && o.session.calls_only);
	g_assert_cmpint(o.command, ==, COMMAND_BATCH);
	g_assert_cmpint(o.session.pid, ==, 12);
	g_assert_cmpuint(o.session.timer_us, ==, 200000);
	g_assert_cmpint(o.session.loglevel, ==, 6);
	g_assert_cmpstr(o.session.session, ==, "s");
	g_assert_cmpuint(g_strv_length(o.session.counters), ==, 3);
	g_assert_cmpstr(o.session.counters[2], ==, "minor-faults");
	g_assert_cmpstr(o.session.probes[0], ==, "vfs_read");
	g_assert_cmpstr(o.session.programs[0], ==, "ros2:*");
	g_assert_cmpstr(o.session.programs[1], ==, "app:go");
	options_clear(&o);

	accept(&o, "-y -b --view spans -- prog -n 5 --help -- net://x a");
	g_assert_true(o.read.local);
	g_assert_cmpuint(g_strv_length(o.session.program), ==, 7);
	g_assert_cmpstr(o.session.program[0], ==, "prog");
	g_assert_cmpstr(o.session.program[3], ==, "--help");
	g_assert_cmpstr(o.session.program[4], ==, "--");
	g_assert_cmpuint(o.batch.n_seconds, ==, 0);
	g_assert_null(o.read.paths[0]);
	options_clear(&o);
	accept(&o, "-- report");
	g_assert_cmpint(o.command, ==, COMMAND_SCREEN);
	g_assert_cmpstr(o.session.program[0], ==, "report");
	options_clear(&o);

	accept(&o, "--snapshot-when p99^of^x^>^3^x^usual");
	g_assert_cmpstr(o.session.snapshot, ==, "new");
	options_clear(&o);
	accept(&o, "-r relay --snapshot flight --snapshot-when max^of^any^>^1s");
	g_assert_false(o.read.local);
	g_assert_cmpstr(o.session.snapshot, ==, "flight");
	options_clear(&o);
	accept(&o, "a");
	g_assert_false(o.read.local || o.read.live);
	options_clear(&o);
}

static void test_refusals(void)
{
	static const struct { const char *line, *words; } cases[] = {
		{ "--nonsense a", "--nonsense" },
		{ "--view", "--view" }, { "--view nonsense a", "'nonsense'" },
		{ "-b --view nonsense a", "'nonsense'" }, { "--list-columns nonsense", "'nonsense'" },
		{ "-b --by colour a", "'colour'" },
		{ "-b --view files --by cpu a", "--by cpu" }, { "--by thread a", "--by" },
		{ "-b --view spans --by thread a", "--by" },
		{ "-b --format xml a", "'xml'" }, { "--format json a", "--format" },
		{ "--export-slowest 1 --format csv a", "'csv'" },
		{ "-b --csv-safe a", "--format csv" }, { "-b --csv-safe --format json a", "--format csv" },
		{ "log --csv-safe a", "--csv-safe" },
		{ "-b --at nonsense a", "nonsense" }, { "-b --at 1 --from 2 a", "--at" },
		{ "-b --from x a", "--from" }, { "-b --to x a", "--to" }, { "--from start a", "--from" },
		{ "-b --at start --each a", "--each" }, { "-b --at start -r relay", "--at" },
		{ "-b -n 5 a", "-n" }, { "-b --each -n 0 a", "'0'" }, { "-b --each -n x a", "'x'" },
		{ "-b --each -n -1 a", "-n" }, { "-b --filter nonsense==1 a", "nonsense" },
		{ "-b --filter ( a", "--filter" },
		{ "-b --sort nonsense a", "'nonsense'" }, { "-b --columns pid,nonsense a", "'nonsense'" },
		{ "-b --columns , a", "''" }, { "--sort pid a", "--sort" },
		{ "--export-span xyz a", "'xyz'" }, { "--export-span 0 a", "0" },
		{ "--export-span 0x a", "'0x'" }, { "--export-span 12345678901234567 a", "hex" },
		{ "--export-trace= a", "''" }, { "--export-slowest 0 a", "'0'" },
		{ "--export-slowest 1 --export-span 1 a", "--export-slowest" },
		{ "--export-slowest 1", "no trace directory" }, { "--export-slowest 1 -r relay", "recorded" },
		{ "-b --export-slowest 1 a", "--batch" }, { "-o x a", "-o" }, { "--force a", "--force" },
		{ "-r", "-r" }, { "-r :", ":" }, { "-r relay a", "combined" }, { "--demo a", "combined" },
		{ "--doctor -r a net://b", "one relay" }, { "--list-sessions -r a -r b", "one relay" },
		{ "-r a --wait", "--wait" }, { "--from-beginning a", "--from-beginning" },
		{ "-r a --late-bound x", "'x'" }, { "--late-bound 1 a", "--late-bound" },
		{ "net://", "net://" }, { "--list-sessions", "-r" }, { "--list-views a", "'a'" },
		{ "--memory x a", "'x'" }, { "--memory 1 a", "16M" }, { "--memory 5Q a", "'5Q'" },
		{ "--memory 99999999T a", "" }, { "--memory nan a", "" },
		{ "--timeout x a", "'x'" }, { "--timeout 0 a", "'0'" }, { "--timeout -1 a", "--timeout" },
		{ "-j 0 a", "'0'" }, { "-j 257 a", "1 to 256" }, { "--jobs x a", "--jobs" },
		{ "--slices -1 a", "--slices" }, { "--slices 65537 a", "1 to 65536" },
		{ "--reader perf a", "'perf'" }, { "--reader babeltrace2 -r relay", "recorded traces" },
		{ "--reader babeltrace2 net://h", "recorded traces" }, { "--reader babeltrace2", "recorded traces" },
		{ "--reader babeltrace2 -- b", "recorded traces" }, { "-j 2 -r relay", "recorded" },
		{ "--color pink a", "'pink'" }, { "--utc=yes a", "--utc" },
		{ "--pid 5 a", "--pid" }, { "-y -r relay", "--yes" }, { "--demo --keep", "--keep" },
		{ "--pid x", "'x'" }, { "--pid 0", "'0'" }, { "--pid 99999999999", "--pid" },
		{ "--kernel-buffer 63K", "64K to 4G" }, { "--live-timer 1ms", "'1ms'" }, { "--live-timer 1h", "'1h'" },
		{ "--loglevel loud", "'loud'" }, { "--perf cycles", "'cycles'" },
		{ "--perf page-faults,", "''" }, { "--kprobe a^b", "'a b'" }, { "--kprobe 1", "'1'" },
		{ "--tracepoints a:b,:x", "':x'" }, { "-b --suggest-rules -r relay --no-spool", "--no-spool" },
		{ "--session a/b", "'a/b'" }, { "--session -a", "'-a'" }, { "--session .", "'.'" },
		{ "--", "program" }, { "a -- b", "-- PROGRAM" }, { "-r relay -- b", "-- PROGRAM" },
		{ "--pid 1 -- b", "combined" }, { "--calls-only", "--pid" }, { "--program-only", "--pid" },
		{ "--spans-only --kprobe x", "combined" }, { "--spans-only --calls-only -- x", "combined" },
		{ "--threshold p99^of^x a", "comparison" },
		{ "--threshold losses^>^0 --demo --save-baseline x", "-b" },
		{ "-b --check a", "needs --threshold" },
		{ "-b --check --view traces --threshold losses^>^0 a", "--check and --view cannot be combined" },
		{ "report --threshold losses^>^0 a", "-b or the screen" },
		{ "-b --threshold losses^>^0 --baseline ../x a", "'../x'" },
		{ "--check --threshold losses^>^0 a", "-b" },
		{ "-b --threshold losses^>^0 --save-baseline .x a", "'.x'" },
		{ "--thresholds /nonexistent a", "/nonexistent" },
		{ "--snapshot-when nonsense", "comparison" }, { "--snapshot x a", "--snapshot" },
		{ "-r relay --snapshot-when count^of^any^>^1", "--snapshot SESSION" },
		{ "-b --keep -- x", "-n" }, { "log -- x", "no trace directory" },
		{ "--doctor --keep", "no trace directory" }, { "--sweep --keep", "--keep" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct options o;
		if (g_test_verbose())
			g_printerr("# %s\n", cases[i].line);
		g_assert_false(parse(&o, cases[i].line, &error));
		g_assert_nonnull(error);
		if (g_test_verbose())
			g_printerr("#   %s\n", error->message);
		g_assert_nonnull(strstr(error->message, cases[i].words));
		g_assert_null(strchr(error->message, '\n'));
		options_clear(&o);
	}
}

/* Conditions name options that exist; each is refused by its words, and taken where they hold. */
static void test_conditions(void)
{
	static const struct { const char *line, *words; } cases[] = {
		{ "-b --datacenter x a", "--datacenter needs --graphite" },
		{ "record", "record needs -o DIR" }, { "record -o - --last 3s", "--last needs -o DIR" },
		{ "log -", "log does not read a stream" }, { "- a", "cannot be combined" },
		{ "record -o d a", "it records this machine" }, { "record -o d -r relay", "it records this machine" },
		{ "record -o d --until x", "--until" }, { "--until count^of^any^>^1", "--until needs record" },
		{ "record -o d --snapshot new", "--snapshot needs -b or the screen" },
		{ "record -o d --snapshot-when count^of^any^>^9", "record --snapshot-when needs --last" },
		{ "record -o d --last 0.5s", "--last takes 1s to 1d" }, { "--last 3s", "--last needs record" },
		{ "record -o d --keep", "--keep needs -b or the screen" },
		{ "-b --metrics cpu.irq a", "--metrics needs --listen, --metrics-file or --graphite" },
		{ "-n 3 a", "-n, --seconds needs -b, record or --doctor" },
		{ "log --theme dark --columns pid a", "--columns needs -b or the screen" },
		{ "-b --no-cache --cache-size 1G a", "--no-cache and --cache-size cannot be combined" },
		{ "-b --no-cache -r relay", "--no-cache needs a recorded trace" },
		{ "--no-spool a", "--no-spool needs a live session" },
		{ "--no-spool --spool x -r relay", "--no-spool and --spool cannot be combined" },
		{ "--wait a", "--wait needs a live session of a relay (-r)" },
		{ "-b --thin 2h a", "--thin needs map" }, { "map --thin 2h a -o x", "--thin needs --watch" },
		{ "--export-slowest 1 --export-trace 2 a", "--export-slowest and --export-trace cannot be combined" },
	};

	for (size_t i = 0; i < option_n_rows; i++) {
		const struct option_row *r = &option_rows[i];
		g_autofree char *names = g_strjoin(" ", r->needs ? r->needs : "", r->excludes ? r->excludes : "", NULL);
		g_auto(GStrv) each = g_strsplit(names, " ", -1);
		for (char **name = each; *name; name++)
			g_assert_true(!**name || (option_find(*name) != r && option_find(*name)->take));
		g_assert_cmpint(r->commands >> (COMMAND_VERSION + 1), ==, 0);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		struct options o;
		g_assert_false(parse(&o, cases[i].line, &error));
		g_assert_nonnull(strstr(error->message, cases[i].words));
		options_clear(&o);
	}
}

static char *printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	print(out);
	fclose(out);
	return text;
}

static void check_screen(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_assert_cmpuint(g_strv_length(lines) - 1, <=, 24);
	for (char **l = lines; *l; l++) {
		g_test_message("%s", *l);
		g_assert_cmpuint(strlen(*l), <=, 80);
	}
}

/* Two screens of 80x24, with every option of the table. */
static void test_help(void)
{
	char *help = printed(options_print_help), *table = printed(options_print_table);
	char *session = printed(options_print_help_session), *sent = printed(options_print_help_send);
	g_auto(GStrv) rows = g_strsplit(table, "\n", -1);

	check_screen(help);
	check_screen(session);
	check_screen(sent);
	for (char **r = rows; **r; r++) {
		g_auto(GStrv) fields = g_strsplit(*r, "\t", -1);
		g_assert_cmpuint(g_strv_length(fields), ==, 6);
		const char *page = g_str_equal(fields[3], "Here") ? session : g_str_equal(fields[3], "Send") ? sent :
				   help;
		g_assert_nonnull(strstr(page, fields[1]));
		g_assert_cmpstr(fields[4], !=, "");
	}
	free(help);
	free(session);
	free(sent);
	free(table);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/options/traces", test_traces);
	g_test_add_func("/options/csv", test_csv);
	g_test_add_func("/options/align", test_align);
	g_test_add_func("/options/relay", test_relay);
	g_test_add_func("/options/batch", test_batch);
	g_test_add_func("/options/export", test_export);
	g_test_add_func("/options/tell", test_tell);
	g_test_add_func("/options/here", test_here);
	g_test_add_func("/options/refusals", test_refusals);
	g_test_add_func("/options/conditions", test_conditions);
	g_test_add_func("/options/help", test_help);
	return g_test_run();
}
