/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds trace directories below the given paths: directories with a `metadata` file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/reader.h"

#include "base/fail.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/sort.h"

#define MAX_LOOKS 4	/* files of a directory without metadata that are checked */

struct directory_walk {
	GPtrArray *found;
	GHashTable *seen;	/* "dev:ino" of directories visited */
	GPtrArray *without;	/* directories with streams and no metadata; or NULL */
	bool again;		/* a directory was met that another path had already */
};

static bool cannot_read(GError **error, const char *path, int code)
{
	bool access = code == EACCES || code == EPERM;
	return fail(error, BLK_TRACE_ERROR,
		    access ? BLK_TRACE_ERROR_ACCESS : BLK_TRACE_ERROR_NOT_FOUND,
		    "cannot read '%s': %s", path, g_strerror(code));
}

static bool visit(struct directory_walk *w, const char *path, int depth, GError **error);

/* Does the file begin like a CTF packet, in either byte order? */
static bool is_stream(const char *path)
{
	static const uint8_t magic[2][4] = { { 0xc1, 0x1f, 0xfc, 0xc1 }, { 0xc1, 0xfc, 0x1f, 0xc1 } };
	uint8_t begin[4];
	auto_fd fd = files_open(path, O_RDONLY | O_NOFOLLOW);
	return fd >= 0 && read(fd, begin, sizeof begin) == sizeof begin &&
		(!memcmp(begin, magic[0], 4) || !memcmp(begin, magic[1], 4));
}

/* Visits the directories in `path`, without links. */
static bool visit_children(struct directory_walk *w, const char *path, int depth, GError **error)
{
	g_autoptr(GPtrArray) names = files_list(path, SIZE_MAX);
	g_autoptr(GPtrArray) dirs = g_ptr_array_new_with_free_func(g_free);
	unsigned looks = MAX_LOOKS;
	bool has_streams = false;

	if (!names)
		return cannot_read(error, path, errno);
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *child = g_build_filename(path, g_ptr_array_index(names, i), NULL);
		struct stat st;
		if (!files_stat(child, &st))
			continue;
		if (S_ISREG(st.st_mode) && looks && !has_streams) {
			looks--;
			has_streams = is_stream(child);
		}
		if (S_ISDIR(st.st_mode))
			g_ptr_array_add(dirs, g_steal_pointer(&child));
	}
	if (has_streams && w->without)
		g_ptr_array_add(w->without, g_strdup(path));
	for (guint i = 0; i < dirs->len; i++)
		if (!visit(w, g_ptr_array_index(dirs, i), depth + 1, error))
			return false;
	return true;
}

static bool visit(struct directory_walk *w, const char *path, int depth, GError **error)
{
	struct stat st;
	if (!files_stat(path, &st))
		return cannot_read(error, path, errno);
	if (!S_ISDIR(st.st_mode))
		return cannot_read(error, path, ENOTDIR);
	g_autofree char *id = g_strdup_printf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	if (!g_hash_table_add(w->seen, g_steal_pointer(&id))) {
		w->again = true;
		return true;
	}
	if (g_hash_table_size(w->seen) > LIMIT_DIRECTORIES)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
			    "cannot read '%s': there are more than %d directories; name fewer", path,
			    LIMIT_DIRECTORIES);
	g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
	if (files_stat(metadata, &st) && S_ISREG(st.st_mode)) {
		g_ptr_array_add(w->found, g_strdup(path));
		return true;
	}
	if (errno == EACCES)
		return cannot_read(error, path, EACCES);
	return depth >= LIMIT_DIRECTORY_DEPTH || visit_children(w, path, depth, error);
}

/* "a//b/" becomes "a/b", so that equal paths are equal texts. */
static char *tidy(const char *path)
{
	GString *s = g_string_new(NULL);
	for (const char *p = path; *p; p++)
		if (*p != '/' || !s->len || s->str[s->len - 1] != '/')
			g_string_append_c(s, *p);
	if (s->len > 1 && s->str[s->len - 1] == '/')
		g_string_truncate(s, s->len - 1);
	return g_string_free(s, FALSE);
}

GPtrArray *trace_find_dirs(const char *const *paths, GPtrArray *without, GError **error)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct directory_walk w = { .found = found, .seen = seen, .without = without };
	for (size_t i = 0; paths[i]; i++) {
		g_autofree char *path = tidy(paths[i]);
		guint before = found->len + (without ? without->len : 0);
		w.again = false;
		errno = 0;
		if (!visit(&w, path, 0, error))
			return NULL;
		if (found->len + (without ? without->len : 0) == before && !w.again) {
			g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND,
				    "no trace in '%s': no directory there has a 'metadata' file",
				    paths[i]);
			return NULL;
		}
	}
	if (!found->len && !(without && without->len)) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_NOT_FOUND,
			    "no trace directory was given");
		return NULL;
	}
	g_ptr_array_sort(found, order_texts);
	return g_steal_pointer(&found);
}
