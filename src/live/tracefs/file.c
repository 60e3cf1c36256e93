/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads and writes files of tracefs. */
#include "live/tracefs/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

G_DEFINE_QUARK(blk-tracefs-error-quark, tracefs_error)

char *tracefs_file_read(int dir, const char *path)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	g_autoptr(GString) s = g_string_new(NULL);
	char buffer[4096];
	ssize_t n;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0)
		g_string_append_len(s, buffer, n);
	int why = errno;
	close(fd);
	errno = why;
	return n < 0 ? NULL : g_string_free(g_steal_pointer(&s), FALSE);
}

bool tracefs_file_write(int dir, const char *path, const char *text)
{
	int fd = openat(dir, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	bool done = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	int why = errno;
	close(fd);
	errno = why;
	return done;
}

GPtrArray *tracefs_file_list(int dir, const char *path)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	g_autofree char *link = fd < 0 ? NULL : g_strdup_printf("/proc/self/fd/%d", fd);
	g_autoptr(GDir) list = link ? g_dir_open(link, 0, NULL) : NULL;
	for (const char *name; list && (name = g_dir_read_name(list));)
		g_ptr_array_add(names, g_strdup(name));
	if (fd >= 0)
		close(fd);
	return names;
}
