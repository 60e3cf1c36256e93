/* SPDX-License-Identifier: GPL-2.0-only */
/* What to do next when there is nothing to show: see next_steps.h. */
#include "app/next_steps.h"

#include "base/files.h"
#include "base/text.h"
#include "state/slice/slice_file.h"
#include "trace/native/native.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char next_steps_no_events[] = "\n"
	"Were events enabled, and was tracing started (lttng start) before the programs ran?\n"
	"'blktop --recipe' prints a script that records what blktop reads; 'blktop --demo' shows an example.";

static const char next_steps_no_trace[] =
	"looked for directories with CTF traces, at any depth (each has a file 'metadata'); files of spans (Zipkin's "
	"JSON) and slices (blktop map) are named themselves\n"
	"'blktop --demo' shows an example, 'blktop --recipe' prints a script that records a trace, and 'sudo blktop' "
	"shows this machine live.";

static const char next_steps_file[] =
	"log, save and --doctor read CTF traces, which are directories; 'blktop -b FILE' and 'blktop FILE' read files "
	"of spans (Zipkin's JSON) and slices (blktop map)";

/* Of a trace that the reader cannot open. */
static const char next_steps_unreadable[] =
	"is the copy whole, and was the session stopped or rotated before (lttng stop, lttng rotate)? 'babeltrace2 "
	"DIR' says if another reader can read it; 'blktop --doctor DIR' examines those traces below DIR that can be "
	"read";

const char next_steps_no_session[] =
	"; 'blktop --list-sessions -r RELAY' lists the sessions of a relay daemon, or says how to start one";

/* An executable file that begins like a program, or a name that PATH has and the current directory has not. */
static bool is_program(const char *path)
{
	struct stat st;
	char begin[4] = "";

	if (stat(path, &st) < 0) {
		g_autofree char *found = errno == ENOENT && !strchr(path, '/') ? g_find_program_in_path(path) : NULL;
		return found != NULL;
	}
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return false;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	ssize_t n = read(fd, begin, sizeof begin);
	close(fd);
	return n == sizeof begin && (!memcmp(begin, "\177ELF", 4) || !memcmp(begin, "#!", 2));
}

char *next_steps_program(char *const *paths)
{
	for (; paths && *paths; paths++) {
		if (!is_program(*paths))
			continue;
		g_autofree char *quoted = text_shell_quote(*paths);
		return g_strdup_printf("'%s' is a program; this runs it and shows it live: blktop -- %s", *paths,
				       quoted);
	}
	return NULL;
}

char *next_steps_paths(char *const *paths, bool needs_traces)
{
	for (; paths && *paths; paths++) {
		const char *one[] = { *paths, NULL };
		g_autoptr(GError) error = NULL;
		struct stat st;

		if (files_stat(*paths, &st) && !S_ISDIR(st.st_mode) && needs_traces && !slice_file_is(*paths))
			return g_strdup(next_steps_file);
		if (files_stat(*paths, &st) && !S_ISDIR(st.st_mode))
			continue;
		g_autoptr(GPtrArray) found = trace_find_dirs(one, NULL, &error);
		if (!found && g_error_matches(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND))
			return g_strdup(next_steps_no_trace);
		g_autoptr(blk_native) native = found ? native_open(one, NULL, 0, NULL) : NULL;
		if (found && !native)
			return g_strdup(next_steps_unreadable);
	}
	return NULL;
}

static bool is_local(const char *host)
{
	return g_ascii_strcasecmp(host, "localhost") == 0 || g_str_has_prefix(host, "127.") || g_str_equal(host, "::1");
}

char *next_steps_make_session(const struct live_url *url)
{
	g_autofree char *host = text_visible(is_local(url->host) ? "localhost" : url->host);

	return g_strdup_printf("On the machine that is to be traced, as root, this makes a session:\n"
			       "  blktop --recipe >record.sh && sh record.sh SESSION net://%s\n"
			       "or, with spans of programs only:\n"
			       "  lttng create SESSION --live --set-url=net://%s\n"
			       "  lttng enable-event -u 'zipkin:*' && lttng start", host, host);
}

char *next_steps_start_relay(const struct live_url *url)
{
	g_autofree char *host = text_visible(url->host);
	bool local = is_local(url->host);
	bool usual = url->port == LIVE_DEFAULT_PORT;
	g_autofree char *option = usual ? g_strdup("") : g_strdup_printf(" --live-port=tcp://127.0.0.1:%u", url->port);
	g_autofree char *port = usual ? g_strdup("") : g_strdup_printf(":%u", url->port);
	GString *s = g_string_new(NULL);

	if (local)
		g_string_append_printf(s, "Two commands start one, and a session that it receives:\n"
				       "  lttng-relayd --daemonize%s\n"
				       "  blktop --recipe >record.sh && sudo sh record.sh SESSION net://localhost\n"
				       "blktop without a relay does both, for this machine:\n"
				       "  sudo blktop", option);
	else
		g_string_append_printf(s, "On %s, these two commands start one, and a session that it receives:\n"
				       "  lttng-relayd --daemonize%s\n"
				       "  blktop --recipe >record.sh && sudo sh record.sh SESSION net://localhost\n"
				       "Its port for viewers listens there only. Reach it through ssh:\n"
				       "  ssh -f -N -L %u:localhost:%u %s\n"
				       "  blktop -r localhost%s", host, option, url->port, url->port, host, port);
	return g_string_free(s, FALSE);
}

char *next_steps_silent_session(const char *label, bool ended)
{
	g_autofree char *visible = text_visible(label);

	if (ended)
		return g_strdup_printf("The session %s has ended, and no event came.\n"
				       "Were events enabled, and was tracing started? A script that does it:\n"
				       "  blktop --recipe\n"
				       "An example of a recording:\n"
				       "  blktop --demo", visible);
	return g_strdup_printf("No event has come from %s so far. The first one is shown at once.\n"
			       "Is tracing started there, and are events enabled? On the traced machine:\n"
			       "  lttng list SESSION                   says if it is active, and its events\n"
			       "  lttng start SESSION\n"
			       "  lttng enable-event -s SESSION -u 'zipkin:*'            spans of programs\n"
			       "  lttng enable-event -s SESSION -k --syscall --all       system calls\n"
			       "All that blktop reads, as a script:\n"
			       "  blktop --recipe", visible);
}

char *next_steps_watched(const char *dir)
{
	g_autofree char *visible = text_visible(dir), *quoted = text_shell_quote(dir);

	return g_strdup_printf("No slice and no rotation chunk is in %s so far. The first one is shown at once.\n"
			       "Slices are made from the chunks of a rotated session, on any machine:\n"
			       "  blktop map --watch CHUNKS -o %s\n"
			       "A session writes a chunk each time that it is rotated:\n"
			       "  lttng enable-rotation --timer=10s", visible, quoted);
}

char *next_steps_silent_here(const char *program, const char *no_kernel, bool ended)
{
	g_autofree char *name = program ? text_visible(program) : NULL, *why = text_visible(no_kernel);
	GString *s = g_string_new(ended ? "The session has ended, and nothing was recorded.\n" :
				  "No event has come so far. The first one is shown at once.\n");

	if (name)
		g_string_append_printf(s, "%s %s no spans: tracepoints named zipkin:*, as libblkin has "
				       "them, or those of a preset.\n", name,
				       ended ? "recorded" : "has recorded");
	else
		g_string_append(s, "No program has recorded spans: tracepoints named zipkin:*, as libblkin has "
				"them, or those of a preset.\n");
	if (g_str_has_prefix(why, "the kernel"))
		g_string_append_printf(s, "T%s.\n", why + 1);
	else if (*why)
		g_string_append_printf(s, "The kernel is %s%s.\n",
				       g_str_has_prefix(why, "not traced") ? "" : "not traced: ", why);
	g_string_append(s, "What to do next:\n"
			"  lttng list --userspace     tracepoints of the programs that run\n"
			"  blktop --tracepoints ...   records these, too: 'PROVIDER:*'\n"
			"  blktop --list-presets      programs whose events make spans\n");
	g_string_append(s, "  blktop --recipe            a script that records, to change as needed\n"
			"  blktop --demo              an example with both\n"
			"  man blktop, section SPANS  how programs record spans");
	return g_string_free(s, FALSE);
}
