/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes files completely or not at all. A temporary file is written in the same directory and synced. It is then
 * linked to the target's name, which never replaces a file, or (force) renamed.
 */
#include "export/export.h"

#include "base/disk.h"
#include "base/isolation.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(GError **error, const char *what, const char *path, int number)
{
	g_set_error(error, G_IO_ERROR, g_io_error_from_errno(number), "cannot %s %s: %s%s", what, path,
		    g_strerror(number), isolation_hint(number));
	return false;
}

static bool put_in_place(const char *temporary, const char *path, bool force, GError **error)
{
	if (force)
		return rename(temporary, path) == 0 || fail(error, "replace", path, errno);
	if (link(temporary, path) == 0)
		return true;
	if (errno == EEXIST) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS, "%s already exists", path);
		return false;
	}
	/* File systems without hard links: renameat2() can refuse to replace a file. */
	if (renameat2(AT_FDCWD, temporary, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
		return true;
	return fail(error, "make", path, errno);
}

static bool write_beside(const char *path, export_writer write, void *data, bool force, GError **error)
{
	g_autofree char *temporary = g_strconcat(path, ".XXXXXX", NULL);
	int fd = g_mkstemp_full(temporary, O_RDWR | O_CLOEXEC, 0666);	/* the umask applies */
	if (fd < 0)
		return fail(error, "make", path, errno);
	GError *why = NULL;
	bool written = write(fd, data, &why) && fsync(fd) == 0;
	int number = errno;
	if (close(fd) < 0 && written) {
		written = false;
		number = errno;
	}
	if (why)
		g_propagate_prefixed_error(error, why, "cannot write %s: ", path);
	bool ok = written ? put_in_place(temporary, path, force, error) :
		!why && fail(error, "write", path, number);
	g_unlink(temporary);
	return ok;
}

/* May the path be replaced? Only a regular file or a symbolic link may: root could replace a device by a file. */
static bool may_replace(const char *path, bool force, GError **error)
{
	struct stat st, target;
	if (lstat(path, &st) != 0)
		return true;
	if (!force) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_EXISTS, "%s already exists", path);
		return false;
	}
	bool dangling = S_ISLNK(st.st_mode) && stat(path, &target) != 0;
	if (dangling || S_ISREG(S_ISLNK(st.st_mode) ? target.st_mode : st.st_mode))
		return true;
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
		    "cannot replace %s: it is not a regular file", path);
	return false;
}

bool export_write_by(const char *path, export_writer write, void *data, bool force, char **ret_absolute, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	if (!may_replace(absolute, force, error) || !write_beside(absolute, write, data, force, error))
		return false;
	disk_sync_parent(absolute);
	if (ret_absolute)
		*ret_absolute = g_steal_pointer(&absolute);
	return true;
}

struct text { const char *text; size_t len; };

static bool write_text(int fd, void *data, GError **error)
{
	const struct text *t = data;
	(void)error;
	return disk_write(fd, t->text, t->len);
}

bool export_write_file(const char *path, const char *text, size_t len, bool force,
		       char **ret_absolute, GError **error)
{
	struct text t = { text, len };
	return export_write_by(path, write_text, &t, force, ret_absolute, error);
}
