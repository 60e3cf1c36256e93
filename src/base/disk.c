/* SPDX-License-Identifier: GPL-2.0-only */
/* Private files and directories: see disk.h. */
#include "base/disk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool disk_write(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t wrote = write(fd, at, MIN(n, (size_t)1 << 30));
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		at += wrote;
		n -= (size_t)wrote;
	}
	return true;
}

bool disk_read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
	char *at = bytes;

	while (n > 0) {
		ssize_t got = pread(fd, at, MIN(n, (size_t)1 << 30), (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

bool disk_write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t wrote = pwrite(fd, at, MIN(n, (size_t)1 << 30), (off_t)offset);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		at += wrote;
		offset += (uint64_t)wrote;
		n -= (size_t)wrote;
	}
	return true;
}

int disk_create(const char *path)
{
	return open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0600);
}

bool disk_make_dirs(const char *path)
{
	return g_mkdir_with_parents(path, 0700) == 0;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n > 0 && dir[n - 1] == '/')
		n--;
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || !path[n]);
}

bool disk_make_home_dir(const char *path, const char *instead, GError **error)
{
	const char *home = g_get_home_dir();
	bool below = is_below(path, home), homeless = below && !g_file_test(home, G_FILE_TEST_IS_DIR);

	if (!homeless && disk_make_dirs(path))
		return true;
	int number = homeless ? ENOENT : errno;
	g_autofree char *why = homeless ? g_strdup_printf("there is no home directory '%s'", home) :
		g_strdup_printf("cannot make '%s': %s", path, g_strerror(number));
	g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(number), "%s%s%s%s", why,
		    below ? "; " : "", below ? instead : "", below ? " names another place" : "");
	return false;
}

bool disk_is_link(const char *path)
{
	g_autofree char *name = g_strdup(path);
	struct stat st;

		/* With a slash or "/." at the end lstat() would follow the link. */
	while (strlen(name) > 1 && (g_str_has_suffix(name, "/") || g_str_has_suffix(name, "/.")))
		name[strlen(name) - 1] = '\0';
	return lstat(name, &st) == 0 && S_ISLNK(st.st_mode);
}

bool disk_rename_new(const char *from, const char *to)
{
	struct stat st;

	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
		/* This file system cannot refuse to replace a file. */
	if (lstat(to, &st) == 0) {
		errno = EEXIST;
		return false;
	}
	return rename(from, to) == 0;
}

void disk_sync_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

void disk_sync_parent(const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path);

	disk_sync_dir(dir);
}

bool disk_sync_all(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return false;
	bool ok = syncfs(fd) == 0;
	int number = errno;
	close(fd);
	errno = number;
	return ok;
}

static void remove_at(int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
		return;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_at(dirfd(dir), e->d_name);
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

void disk_remove_tree(const char *path)
{
	remove_at(AT_FDCWD, path);
}
