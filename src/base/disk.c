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

/* ---- inputs ---- */

static int refuse_input(GError **error, GFileError code, const char *path, const char *why)
{
	g_set_error(error, G_FILE_ERROR, (int)code, "cannot read '%s': %s", path, why);
	return -1;
}

static int refuse_errno(GError **error, const char *path, int number)
{
	return refuse_input(error, g_file_error_from_errno(number), path, g_strerror(number));
}

/* What is no regular file is not opened: to open a device can change it. */
static bool is_regular(const struct stat *st, const char *path, GError **error)
{
	if (S_ISREG(st->st_mode))
		return true;
	if (S_ISLNK(st->st_mode))
		refuse_input(error, G_FILE_ERROR_LOOP, path, "it is a link");
	else if (S_ISDIR(st->st_mode))
		refuse_input(error, G_FILE_ERROR_ISDIR, path, "it is a directory");
	else
		refuse_input(error, G_FILE_ERROR_INVAL, path, "it is not a regular file");
	return false;
}

static int open_regular(const char *path, int flags, GError **error)
{
	struct stat st;

	if (fstatat(AT_FDCWD, path, &st, flags & O_NOFOLLOW ? AT_SYMLINK_NOFOLLOW : 0) != 0)
		return refuse_errno(error, path, errno);
	if (!is_regular(&st, path, error))
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0)
		return refuse_errno(error, path, errno);
		/* Another one may have taken its place. */
	if (fstat(fd, &st) == 0 && is_regular(&st, path, error))
		return fd;
	close(fd);
	return -1;
}

int disk_open_input(const char *path, GError **error)
{
	return open_regular(path, 0, error);
}

int disk_open_unlinked(const char *path, GError **error)
{
	return open_regular(path, O_NOFOLLOW, error);
}

/* Reads up to the end, or one byte more than `most`. */
static bool read_all(int fd, GByteArray *to, size_t most)
{
	const size_t at_once = 64 << 10;

	for (;;) {
		guint have = to->len;
		size_t room = MIN(at_once, most + 1 - have);
		g_byte_array_set_size(to, have + (guint)room);
		ssize_t got = room ? read(fd, to->data + have, room) : 0;
		int number = errno;
		g_byte_array_set_size(to, have + (guint)MAX(got, 0));
		errno = number;
		if (got == 0 || (got < 0 && errno != EINTR))
			return got == 0;
	}
}

bool disk_read_input(const char *path, size_t most, char **ret_bytes, size_t *ret_n, GError **error)
{
	g_assert(most < G_MAXINT32);
	*ret_bytes = NULL;
	*ret_n = 0;
	int fd = disk_open_input(path, error);
	if (fd < 0)
		return false;
	GByteArray *bytes = g_byte_array_new();
	bool ok = read_all(fd, bytes, most);
	if (!ok) {
		refuse_errno(error, path, errno);
	} else if (bytes->len > most) {
		ok = false;
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "cannot read '%s': it is too long, at most %zu "
			    "bytes are read", path, most);
	}
	close(fd);
	*ret_n = bytes->len;
	g_byte_array_append(bytes, (const guint8 *)"", 1);
	*ret_bytes = (char *)g_byte_array_free(bytes, !ok);
	*ret_n = ok ? *ret_n : 0;
	return ok;
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
