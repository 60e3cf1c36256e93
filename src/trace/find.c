/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds trace directories below the given paths: directories with a `metadata` file. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/reader.h"

#include "base/limits.h"

#define MAX_LOOKS 4	/* files of a directory without metadata that are checked */

struct walk {
	GPtrArray *found;
	GHashTable *seen;	/* "dev:ino" of directories visited */
	GPtrArray *without;	/* directories with streams and no metadata; or NULL */
	bool again;		/* a directory was met that another path had already */
};

static bool fail(GError **error, const char *path, int code)
{
	bool access = code == EACCES || code == EPERM;
	g_set_error(error, BLK_TRACE_ERROR,
		    access ? BLK_TRACE_ERROR_ACCESS : BLK_TRACE_ERROR_NOT_FOUND,
		    "cannot read '%s': %s", path, g_strerror(code));
	return false;
}

static bool visit(struct walk *w, const char *path, int depth, GError **error);

/* Does the file begin like a CTF packet, in either byte order? */
static bool is_stream(int dir, const char *name)
{
	static const uint8_t magic[2][4] = { { 0xc1, 0x1f, 0xfc, 0xc1 }, { 0xc1, 0xfc, 0x1f, 0xc1 } };
	uint8_t begin[4];
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool ok = fd >= 0 && read(fd, begin, sizeof begin) == sizeof begin &&
		  (!memcmp(begin, magic[0], 4) || !memcmp(begin, magic[1], 4));
	if (fd >= 0)
		close(fd);
	return ok;
}

/* The directories in `dir`, without links. *ret_streams: it has stream files, too. */
static GPtrArray *list_dirs(DIR *dir, bool *ret_streams)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	unsigned looks = MAX_LOOKS;
	*ret_streams = false;
	for (struct dirent *e; (e = readdir(dir));) {
		struct stat st;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (e->d_type == DT_REG && looks && !*ret_streams) {
			looks--;
			*ret_streams = is_stream(dirfd(dir), e->d_name);
		}
		if (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN)
			continue;
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode))
			continue;
		g_ptr_array_add(names, g_strdup(e->d_name));
	}
	return names;
}

static bool visit_children(struct walk *w, const char *path, int depth, GError **error)
{
	DIR *dir = opendir(path);
	if (!dir)
		return fail(error, path, errno);
	bool has_streams;
	g_autoptr(GPtrArray) names = list_dirs(dir, &has_streams);
	closedir(dir);
	if (has_streams && w->without)
		g_ptr_array_add(w->without, g_strdup(path));
	for (guint i = 0; i < names->len; i++) {
		g_autofree char *child = g_build_filename(path, names->pdata[i], NULL);
		if (!visit(w, child, depth + 1, error))
			return false;
	}
	return true;
}

static bool visit(struct walk *w, const char *path, int depth, GError **error)
{
	struct stat st;
	if (stat(path, &st))
		return fail(error, path, errno);
	if (!S_ISDIR(st.st_mode))
		return fail(error, path, ENOTDIR);
	g_autofree char *id = g_strdup_printf("%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	if (!g_hash_table_add(w->seen, g_steal_pointer(&id))) {
		w->again = true;
		return true;
	}
	if (g_hash_table_size(w->seen) > LIMIT_DIRECTORIES) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_UNSUPPORTED,
			    "cannot read '%s': there are more than %d directories; name fewer", path,
			    LIMIT_DIRECTORIES);
		return false;
	}
	g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
	if (!stat(metadata, &st) && S_ISREG(st.st_mode)) {
		g_ptr_array_add(w->found, g_strdup(path));
		return true;
	}
	if (errno == EACCES)
		return fail(error, path, EACCES);
	return depth >= LIMIT_DIRECTORY_DEPTH || visit_children(w, path, depth, error);
}

static int compare_paths(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
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
	struct walk w = { .found = found, .seen = seen, .without = without };
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
	g_ptr_array_sort(found, compare_paths);
	return g_steal_pointer(&found);
}
