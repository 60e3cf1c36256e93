/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages and the log file: see messages.h. Main thread only. */
#include "app/messages.h"

#include "app/exit_code.h"
#include "base/fail.h"
#include "base/text.h"
#include "base/user.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int log_fd = -1;
static int log_file_level = LOG_LEVEL_NOTE;

/* Refuses to append to anything but a log file of blktop's: a mistyped name could damage a file, and blktop may run
 * as root. */
static bool check_log(int fd, const char *path, GError **error)
{
	char begin[26] = "";		/* "2026-11-23T17:11:56.123Z 1" */
	struct stat st;
	bool is_log = !fstat(fd, &st) && (S_ISCHR(st.st_mode) || (S_ISREG(st.st_mode) && !st.st_size));
	if (!is_log && S_ISREG(st.st_mode) && pread(fd, begin, sizeof begin, 0) == sizeof begin)
		is_log = begin[4] == '-' && begin[10] == 'T' && begin[19] == '.' && begin[23] == 'Z' &&
			 begin[24] == ' ' && g_ascii_isdigit(begin[25]);
	if (!is_log)
		g_set_error(error, g_quark_from_static_string("blk-log"), 0,
			    "cannot open log '%s': it exists and is not a log of blktop", path);
	return is_log;
}

/* A new one belongs to the user (base/user.h). */
static int open_log(const char *path)
{
	const int flags = O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	int fd = open(path, flags | O_EXCL, 0666);

	if (fd < 0 && errno == EEXIST)
		return open(path, flags, 0666);
	if (fd >= 0 && user_owner() != (uid_t)-1 && fchown(fd, user_owner(), user_owner_group()) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

bool log_open(const char *path, int level, GError **error)
{
	const char *wanted = g_getenv("BLKTOP_DEBUG");
	if (wanted && !*wanted)
		wanted = NULL;
	log_file_level = level >= 0 ? level : wanted ? LOG_LEVEL_DEBUG : LOG_LEVEL_NOTE;
	path = path ? path : wanted;
	if (!path)
		return true;
	int fd = open_log(path);
	if (fd < 0)
		return fail(error, g_quark_from_static_string("blk-log"), 0, "cannot open log '%s': %s",
			    path, errno == ELOOP ? "it is a link" : g_strerror(errno));
	if (!check_log(fd, path, error)) {
		close(fd);
		return false;
	}
	log_fd = fd;
	return true;
}

bool log_is_debug(void)
{
	return log_fd >= 0 && log_file_level >= LOG_LEVEL_DEBUG;
}

void log_close(void)
{
	if (log_fd >= 0)
		close(log_fd);
	log_fd = -1;
}

/* Escapes all control characters except newlines. */
static char *make_visible(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		char *visible = text_visible(*line);
		g_free(*line);
		*line = visible;
	}
	return g_strjoinv("\n", lines);
}

static void write_line(const char *visible)
{
	if (log_fd < 0)
		return;
	g_autoptr(GDateTime) now = g_date_time_new_now_utc();
	g_autofree char *stamp = g_date_time_format(now, "%Y-%m-%dT%H:%M:%S.%f");
	g_autofree char *line = g_strdup_printf("%.23sZ %d %s\n", stamp, (int)getpid(), visible);
	ssize_t n = write(log_fd, line, strlen(line));
	(void)n;			/* a full disk is ignored */
}

void log_error(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *visible = make_visible(text);
	fprintf(stderr, "blktop: %s\n", visible);
	write_line(visible);
}

int log_failure(const GError *error)
{
	log_error("%s", error->message);
	return EXIT_FAILED;
}

void log_write(enum log_level level, const char *format, ...)
{
	va_list args;

	if (log_fd < 0 || (int)level > log_file_level)
		return;
	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	g_autofree char *visible = make_visible(text);
	write_line(visible);
}
