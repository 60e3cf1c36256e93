/* SPDX-License-Identifier: GPL-2.0-only */
/* The limits of the command line, of files of settings, and of the output of followed programs. */
#include "base/limits.h"
#include "cli/rule_files.h"
#include "cli/options.h"
#include "lib/limit_test.h"
#include "lib/test_traces.h"
#include "live/session/helper_private.h"
#include "state/spans/presets.h"
#include "views/alerts.h"
#include "views/threshold.h"

#include <string.h>
#include <unistd.h>

/* ---- options ---- */

/* The command line, with n in it, split at blanks. */
static bool is_option(const char *format, uint64_t n, const char *words)
{
	g_autofree char *line = g_strdup_printf(format, n);
	g_auto(GStrv) argv = g_strsplit(line, " ", -1);
	g_autoptr(GError) error = NULL;
	struct options o;

	options_parse(&o, (int)g_strv_length(argv), (const char *const *)argv, &error);
	options_clear(&o);
	return limit_taken(error, words);
}

#define N G_GUINT64_FORMAT

static bool threads(uint64_t n)
{
	return is_option("blktop --jobs %" N " a", n, "--jobs takes 1 to 256");
}

static bool slices(uint64_t n)
{
	return is_option("blktop --slices %" N " a", n, "--slices takes 1 to 65536");
}

static bool report_requests(uint64_t n)
{
	return is_option("blktop report --worst %" N " a", n, "--worst takes 1 to 1000");
}

static bool screenshot_cols(uint64_t n)
{
	return is_option("blktop --screenshot a.svg --size %" N "x40 a", n, "--size takes COLSxROWS");
}

static bool screenshot_rows(uint64_t n)
{
	return is_option("blktop --screenshot a.svg --size 120x%" N " a", n, "--size takes COLSxROWS");
}

static bool kernel_buffer_bytes(uint64_t n)
{
	return is_option("blktop --kernel-buffer %" N, n, "--kernel-buffer takes a size");
}

static bool record_last_seconds(uint64_t n)
{
	return is_option("blktop record -o dir --last %" N "s", n, "--last takes 1s to 1d");
}

static bool listening_seconds(uint64_t n)
{
	return is_option("blktop --doctor -n %" N " -r relay", n, "-n takes 1 to 86400");
}

static bool timeout_seconds(uint64_t n)
{
	bool late = is_option("blktop --late-bound %" N " -r relay", n, "--late-bound takes seconds");

	g_assert_true(late == is_option("blktop --timeout %" N " -r relay", n, "--timeout takes seconds"));
	return late;
}

static bool session_name_bytes(uint64_t n)
{
	g_autofree char *name = g_strnfill(n, 'x'), *line = g_strconcat("blktop --session ", name, NULL);

	return is_option(line, 0, "--session takes a name");
}

static bool perf_counters(uint64_t n)
{
	g_autoptr(GString) line = g_string_new("blktop --perf page-faults");

	for (uint64_t i = 1; i < n; i++)
		g_string_append(line, ",page-faults");
	return is_option(line->str, 0, "--perf takes 16 items at most");
}

static bool probe_bytes(uint64_t n)
{
	g_autofree char *name = g_strnfill(n, 'x'), *line = g_strconcat("blktop --kprobe ", name, NULL);

	return is_option(line, 0, "is not a symbol of the kernel");
}

/* ---- the followed program ---- */

static bool program_output_bytes(uint64_t n)
{
	g_autofree char *bytes = g_strnfill(n, 'x');
	g_autoptr(GError) error = NULL;
	int fd;
	struct program_output *o = program_output_new(&fd, &error);

	g_assert_no_error(error);
	for (size_t at = 0; at < n;) {
		ssize_t put = write(fd, bytes + at, n - at);
		g_assert_cmpint(put, >, 0);
		at += (size_t)put;
	}
	close(fd);
	g_autofree char *text = program_output_text(o, "prog");
	program_output_free(o);
	g_assert_cmpuint(strspn(strchr(text, '\n') + 1, "x"), ==, MIN(n, LIMIT_PROGRAM_OUTPUT_BYTES));
	return !strstr(text, "bytes of the output of prog are not stored");
}

/* ---- settings ---- */

static bool settings_bytes(uint64_t n)
{
	g_autofree char *dir = test_temp_dir(), *file = g_build_filename(dir, "rules", NULL);
	g_autoptr(GString) text = g_string_new("[r]\nbegin=a\nend=b\n");
	g_autoptr(GError) error = NULL;

	while (text->len < n)
		g_string_append(text, text->len + 1 == n || text->len % 100 == 99 ? "\n" : "#");
	g_assert_true(g_file_set_contents(file, text->str, (gssize)text->len, NULL));
	rule_files_read(file, PRESETS_NONE, NULL, &error);
	rule_files_clear();
	test_remove_tree(dir);
	return limit_taken(error, "it is too long");
}

static bool presets(uint64_t n)
{
	g_autoptr(GError) error = NULL;

	for (uint64_t i = 0; i < n && !error; i++) {
		g_autofree char *text = g_strdup_printf("[preset p%" G_GUINT64_FORMAT "]\ntitle=t\nprogram=p\n"
							"detect=a:*\n[r]\nbegin=a:b\nend=a:c\n", i);
		presets_add("a.preset", text, strlen(text), false, &error);
	}
	presets_clear();
	return limit_taken(error, "there are more than");
}

static bool baseline_bytes(uint64_t n)
{
	g_autofree char *dir = test_temp_dir(), *file = g_build_filename(dir, "baseline", NULL);
	g_autoptr(GString) text = g_string_new("[call.latency p99]\n");
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) thresholds = thresholds_new();
	struct alerts *a = alerts_new(thresholds);

	while (text->len < n)
		g_string_append(text, text->len + 1 == n || text->len % 100 == 99 ? "\n" : "#");
	g_assert_true(g_file_set_contents(file, text->str, (gssize)text->len, NULL));
	alerts_load_baseline(a, file, &error);
	alerts_free(a);
	test_remove_tree(dir);
	return limit_taken(error, "it is too long");
}

int main(int argc, char **argv)
{
	static const struct limit_test tests[] = {
		{ "baseline-bytes", baseline_bytes, 0 },
		{ "threads", threads, 0 }, { "slices", slices, 0 }, { "report-requests", report_requests, 0 },
		{ "kernel-buffer-bytes", kernel_buffer_bytes, 0 }, { "record-last-seconds", record_last_seconds, 0 },
		{ "listening-seconds", listening_seconds, 0 }, { "timeout-seconds", timeout_seconds, 0 },
		{ "session-name-bytes", session_name_bytes, 0 }, { "perf-counters", perf_counters, 0 },
		{ "screenshot-cols", screenshot_cols, 0 }, { "screenshot-rows", screenshot_rows, 0 },
		{ "probe-bytes", probe_bytes, 0 }, { "settings-bytes", settings_bytes, 0 },
		{ "presets", presets, 0 },
		{ "program-output-bytes", program_output_bytes, 0 },
	};

	g_test_init(&argc, &argv, NULL);
	limit_tests_add(tests, G_N_ELEMENTS(tests));
	return g_test_run();
}
