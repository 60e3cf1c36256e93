/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes files completely or not at all (base/files.h).
 */
#include "export/export.h"

#include "base/disk.h"
#include "base/fail.h"
#include "base/files.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool cannot(GError **error, const char *what, const char *path, int number)
{
	return fail(error, G_IO_ERROR, g_io_error_from_errno(number), "cannot %s %s: %s%s", what, path,
		    g_strerror(number), files_hint(number));
}

static bool put_in_place(struct files_output *o, const char *path, bool force, GError **error)
{
	if (files_output_commit(o, force))
		return true;
	if (errno != EEXIST)
		return cannot(error, force ? "replace" : "make", path, errno);
	return fail(error, G_IO_ERROR, G_IO_ERROR_EXISTS, "%s already exists", path);
}

static bool write_beside(const char *path, export_writer write, void *data, bool force, GError **error)
{
	struct files_output o;
	GError *why = NULL;

	if (!files_output_begin(path, 0666, &o))	/* the umask applies */
		return cannot(error, "make", path, errno);
	errno = 0;
	if (write(o.fd, data, &why) && fsync(o.fd) == 0)
		return put_in_place(&o, path, force, error);
	files_output_discard(&o);
	if (!why)
		return cannot(error, "write", path, errno);
	g_propagate_prefixed_error(error, why, "cannot write %s: ", path);
	return false;
}

/* May the path be replaced? Only a regular file or a symbolic link may: root could replace a device by a file. */
static bool may_replace(const char *path, bool force, GError **error)
{
	struct stat st, target;
	if (!files_lstat(path, &st))
		return true;
	if (!force)
		return fail(error, G_IO_ERROR, G_IO_ERROR_EXISTS, "%s already exists", path);
	/* A link is replaced, and not what it leads to, which is not looked at below a place. */
	if (S_ISLNK(st.st_mode) && files_stat(path, &target))
		st = target;
	if (S_ISLNK(st.st_mode) || S_ISREG(st.st_mode))
		return true;
	return fail(error, G_IO_ERROR, G_IO_ERROR_NOT_REGULAR_FILE,
		    "cannot replace %s: it is not a regular file", path);
}

bool export_write_by(const char *path, export_writer write, void *data, bool force, char **ret_absolute, GError **error)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	if (!may_replace(absolute, force, error) || !write_beside(absolute, write, data, force, error))
		return false;
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
