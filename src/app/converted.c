/* SPDX-License-Identifier: GPL-2.0-only */
/* Converts files of trace-cmd before they are read. */
#include "app/converted.h"

#include "app/messages.h"

#include "base/fail.h"
#include "base/files.h"
#include "run/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#define PREFIX "converted-"
#define LOCK "lock"		/* in the directory: locked by the program that made it, as long as it runs */

static char *place;		/* the directory; NULL: none was needed */
static int lock_fd = -1;

/* Removes a directory whose program has ended: it holds no lock. */
static void sweep_one(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL), *lock = g_build_filename(path, LOCK, NULL);
	int fd = files_open_unlinked(lock, NULL);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		files_remove_tree(path);
	if (fd >= 0)
		close(fd);
}

static void sweep(const char *dir)
{
	g_autoptr(GPtrArray) names = files_list(dir, SIZE_MAX);
	for (guint i = 0; names && i < names->len; i++)
		if (g_str_has_prefix(names->pdata[i], PREFIX))
			sweep_one(dir, names->pdata[i]);
}

static bool make_dir(const char *dir, GError **error)
{
	return files_make_dirs(dir) || fail(error, g_quark_from_static_string("blk-converted"), 0,
					    "cannot make '%s': %s", dir, g_strerror(errno));
}

bool converted_add_place(GError **error)
{
	g_autofree char *cache = cache_default_dir();
	if (!cache_make_dir(cache, error))
		return false;
	sweep(cache);
	g_autofree char *dir = g_strdup_printf("%s/" PREFIX "%d", cache, (int)getpid());
	g_autofree char *lock = g_build_filename(dir, LOCK, NULL);
	if (!make_dir(dir, error))
		return false;
	place = g_steal_pointer(&dir);
	lock_fd = files_create(lock);
	if (lock_fd >= 0)
		flock(lock_fd, LOCK_EX | LOCK_NB);
	return true;
}

/* The name of the file is that of the trace on the screen. */
static char *convert(const char *path, unsigned number, GError **error)
{
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *dir = g_strdup_printf("%s/%u/%s", place, number, name), *warning = NULL;
	if (!make_dir(dir, error) || !dat_convert(path, dir, &warning, error))
		return NULL;
	if (warning)
		log_error("'%s': %s", path, warning);
	return g_steal_pointer(&dir);
}

char **converted_paths(char **paths, GError **error)
{
	g_autoptr(GStrvBuilder) all = g_strv_builder_new();
	for (unsigned i = 0; paths[i]; i++) {
		bool is_file = place && dat_is_file(paths[i]);
		g_autofree char *path = is_file ? convert(paths[i], i, error) : g_strdup(paths[i]);
		if (!path)
			return NULL;
		g_strv_builder_add(all, path);
	}
	return g_strv_builder_end(all);
}

void converted_remove(void)
{
	if (place)
		files_remove_tree(place);
	g_clear_pointer(&place, g_free);
	if (lock_fd >= 0)
		close(lock_fd);
	lock_fd = -1;
}
