/* SPDX-License-Identifier: GPL-2.0-only */
/* The limit of open files: see open_files.h. */
#include "base/open_files.h"

#include <glib.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <unistd.h>

#define USUAL 1024

static struct rlimit before;
static bool raised;

void open_files_reserve_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", O_RDONLY);
}

void open_files_raise(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= files.rlim_max)
		return;
	before = files;
	files.rlim_cur = files.rlim_max;
	raised = setrlimit(RLIMIT_NOFILE, &files) == 0;
}

void open_files_restore(void)
{
	if (raised)
		setrlimit(RLIMIT_NOFILE, &before);
}

size_t open_files_limit(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return USUAL;
	return (size_t)MIN(files.rlim_cur, (rlim_t)G_MAXINT);
}
