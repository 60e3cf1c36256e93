/* SPDX-License-Identifier: GPL-2.0-only */
/* Carries out requests for files, in places: see files.h and files_private.h. */
#include "base/files_private.h"

#include "base/fail.h"
#include "base/fd.h"
#include "base/user.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXED_FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
#define RANDOM_LETTERS 6		/* of a temporary name */
#define TRIES 100			/* of temporary names */

struct served_place {
	char *path;			/* absolute, without "." and ".." */
	unsigned rights;
	int fd;				/* O_PATH; -1: it did not exist, or only FILES_OUTPUT was added */
	int parent;			/* O_PATH, of its directory, for FILES_OUTPUT; else -1 */
	int why;			/* errno, where that could not be opened */
	bool is_dir;
};

struct served_output {
	uint32_t number;
	char *path, *temporary;		/* absolute */
	char *name, *temporary_name;	/* in .dir */
	int dir;
	bool is_dir;			/* .temporary is a place, too */
	bool must_be_new;		/* the place has only FILES_NEW */
};

static GArray *places;			/* struct served_place */
static GArray *outputs;			/* struct served_output */
static GHashTable *made;		/* char *, owned: paths that were committed */
static GHashTable *refused;		/* char *, owned: paths of directories that were refused -> char *: why */
static uint32_t n_begun;

/* Where a path is: `name` in the directory `dir`; or the place itself. */
struct spot {
	int dir;
	bool opened;			/* dir is closed at the end */
	char *name;			/* NULL: the place itself */
	const struct served_place *place;	/* NULL: outside of the places */
};

/* ---- places ---- */

const char *files_start_dir(void)
{
	static char *dir;

	if (!dir)
		dir = g_get_current_dir();
	return dir;
}

static char *absolute_of(const char *path)
{
	return g_canonicalize_filename(path, files_start_dir());
}

/* The part of `path` below `dir`; "": they are equal; NULL: it is not below. */
static const char *below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (n == 1)			/* the root directory */
		return path + 1;
	return strncmp(path, dir, n) || (path[n] && path[n] != '/') ? NULL : path[n] ? path + n + 1 : path + n;
}

static struct served_place *place_at(guint i)
{
	return &g_array_index(places, struct served_place, i);
}

static struct served_place *find_exact(const char *path)
{
	for (guint i = 0; places && i < places->len; i++)
		if (g_str_equal(place_at(i)->path, path))
			return place_at(i);
	return NULL;
}

/* The innermost place of the path that has one of the rights. */
static const struct served_place *find_place(const char *path, unsigned rights, const char **ret_below)
{
	const struct served_place *found = NULL;
	size_t most = 0;

	for (guint i = 0; places && i < places->len; i++) {
		const struct served_place *p = place_at(i);
		const char *rest = p->rights & rights ? below(path, p->path) : NULL;
		if (!rest || (found && strlen(p->path) < most))
			continue;
		found = p;
		most = strlen(p->path);
		*ret_below = rest;
	}
	return found;
}

const char *files_why_refused(const char *path)
{
	g_autofree char *at = absolute_of(path);
	const char *why = NULL;

	while (refused && !(why = g_hash_table_lookup(refused, at)) && at[1]) {
		char *dir = g_path_get_dirname(at);
		g_free(at);
		at = dir;
	}
	return why;
}

static int open_parent(const char *dir, int *ret_why)
{
	int fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);

	*ret_why = fd < 0 ? errno : 0;
	return fd;
}

/* from: a descriptor of the path, or -1. */
static void place_open(struct served_place *p, const char *path, unsigned rights, int from)
{
	g_autofree char *dir = g_path_get_dirname(p->path);
	struct stat st;

	if (p->fd < 0 && rights & ~(unsigned)FILES_OUTPUT)
		p->fd = from >= 0 ? fcntl(from, F_DUPFD_CLOEXEC, 3) : open(path, O_PATH | O_CLOEXEC);
	if (p->parent < 0 && rights & FILES_OUTPUT)
		p->parent = open_parent(dir, &p->why);
	p->is_dir = p->fd >= 0 && fstat(p->fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Before there is a helper. */
static bool add_place(const char *path, unsigned rights, int from, GError **error)
{
	g_autofree char *absolute = absolute_of(path);
	struct served_place *p = find_exact(absolute);

	if (!p) {
		const struct served_place new = { .path = g_steal_pointer(&absolute), .fd = -1, .parent = -1 };
		if (!places)
			places = g_array_new(false, true, sizeof(struct served_place));
		g_array_append_val(places, new);
		p = place_at(places->len - 1);
	}
	p->rights |= rights;
	errno = 0;
	place_open(p, path, rights, from);
	if ((p->fd >= 0 || !(rights & ~(unsigned)FILES_OUTPUT)) && (p->parent >= 0 || !(rights & FILES_OUTPUT)))
		return true;
	return fail(error, G_FILE_ERROR, (int)g_file_error_from_errno(errno), "cannot open '%s': %s", path,
		    g_strerror(errno));
}

bool files_add(const char *path, unsigned rights, GError **error)
{
	g_autofree char *absolute = absolute_of(path);
	const struct served_place *p = find_exact(absolute);
	const char *why = files_why_refused(path);

	if (!files_has_helper())
		return add_place(path, rights, -1, error);
	if (p && (p->rights & rights) == rights)
		return true;
	if (why)
		g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_ACCES, why);
	else
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_ACCES, "cannot use '%s'%s", path, files_hint(EACCES));
	return false;
}

static const char movable[] = "others can replace it: they can write a directory that it is in";

/* Can others put something else in the place of the directory, or of one that it is in? */
static bool is_movable(const char *path)
{
	g_autofree char *at = absolute_of(path);
	struct stat st;

	while (at[1]) {
		char *parent = g_path_get_dirname(at);
		g_free(at);
		at = parent;
		bool exists = stat(at, &st) == 0;
		if (!exists && errno == ENOENT)
			continue;	/* it will be made */
		if (!exists || !user_is_trusted(st.st_uid))
			return true;
		if (!(st.st_mode & S_ISVTX) && (st.st_mode & S_IWOTH ||
						(st.st_mode & S_IWGRP && !user_is_alone_in(st.st_gid, st.st_uid))))
			return true;
	}
	return false;
}

/* The same for the directory that the path leads to. */
static bool is_movable_fd(int fd)
{
	g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fd);
	g_autofree char *real = g_file_read_link(link, NULL);

	return real && is_movable(real);
}

/* NULL: it is fine. */
static const char *why_not_private(int fd)
{
	struct stat st;

	if (fd < 0)
		return g_strerror(errno);
	if (fstat(fd, &st) != 0)
		return g_strerror(errno);
	if (!S_ISDIR(st.st_mode))
		return "it is no directory";
	if (!user_is_own(st.st_uid))
		return "it belongs to another user";
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return "others can write it (chmod go-w)";
	return is_movable_fd(fd) ? movable : NULL;
}

static bool is_below_home(const char *path)
{
	g_autofree char *absolute = absolute_of(path);

	return below(absolute, g_get_home_dir()) != NULL;
}

/* Frees `why`. files_why_refused() gives the message again after isolation. */
static bool refuse(GError **error, int number, const char *path, const char *instead, char *why)
{
	char *text = g_strconcat(why, instead ? "; " : "", instead ? instead : "",
				 instead ? " names another place" : "", NULL);

	if (!refused)
		refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_hash_table_replace(refused, absolute_of(path), text);
	g_set_error_literal(error, G_FILE_ERROR, (int)g_file_error_from_errno(number), text);
	g_free(why);
	return false;
}

bool files_make_home_dir(const char *path, const char *instead, GError **error)
{
	const char *home = g_get_home_dir();

	if (is_below_home(path) && !g_file_test(home, G_FILE_TEST_IS_DIR))
		return refuse(error, ENOENT, path, instead, g_strdup_printf("there is no home directory '%s'", home));
	if (files_make_dirs(path))
		return true;
	int number = errno;
	return refuse(error, number, path, instead, g_strdup_printf("cannot make '%s': %s", path, g_strerror(number)));
}

/* Opens it (O_PATH). -1: *error. */
static int open_private(const char *path, const char *instead, GError **error)
{
	g_autofree char *tidy = g_strdup(path);
	struct stat st;

	/* With a slash at its end a link would be followed. */
	while (strlen(tidy) > 1 && (g_str_has_suffix(tidy, "/") || g_str_has_suffix(tidy, "/.")))
		tidy[strlen(tidy) - 1] = '\0';
	if (lstat(tidy, &st) == 0 && S_ISLNK(st.st_mode)) {
		refuse(error, ELOOP, path, instead,
		       g_strdup_printf("'%s' is a link; name the directory that it leads to", path));
		return -1;
	}
	bool moves = is_movable(tidy);		/* then nothing is made there */
	if (!moves && !files_make_home_dir(tidy, instead, error))
		return -1;
	auto_fd fd = moves ? -1 : open(tidy, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	const char *why = moves ? movable : why_not_private(fd);
	if (!why)
		return fd_steal(&fd);
	refuse(error, EACCES, path, instead, g_strdup_printf("cannot use '%s': %s", path, why));
	return -1;
}

bool files_make_private(const char *path, const char *instead, GError **error)
{
	if (files_has_helper())		/* it was made and looked at before */
		return true;
	auto_fd fd = open_private(path, instead, error);
	return fd >= 0;
}

bool files_add_private(const char *path, const char *instead, GError **error)
{
	if (files_has_helper())
		return files_add(path, FILES_CHANGE, error);
	auto_fd fd = open_private(path, instead, error);
	return fd >= 0 && add_place(path, FILES_CHANGE, fd, error);
}

/* ---- from a path to a directory and a name ---- */

/* *below becomes the directory of that name in *below, or in `dir` if that is -1; the one before is closed. Follows no
 * link. */
static bool go_down(int dir, int *below, const char *name, size_t len)
{
	g_autofree char *one = g_strndup(name, len);
	auto_fd from = fd_steal(below);

	*below = openat(from < 0 ? dir : from, one, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *below >= 0;
}

/* Goes down from `dir` to the directory that contains the last name of `path`. Follows no link. -1: errno. */
static int descend(int dir, const char *path, const char **ret_name)
{
	auto_fd below = -1;

	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1)
		if (!go_down(dir, &below, path, (size_t)(slash - path)))
			return -1;
	*ret_name = path;
	return below < 0 ? dir : fd_steal(&below);
}

static bool spot_of(const char *path, unsigned rights, bool only_places, struct spot *ret)
{
	g_autofree char *absolute = *path ? absolute_of(path) : NULL;
	const char *rest = NULL, *name;

	*ret = (struct spot){ .dir = AT_FDCWD };
	errno = ENOENT;
	if (!absolute)
		return false;
	const struct served_place *p = find_place(absolute, rights, &rest);
	ret->place = p;
	errno = EACCES;
	if (!p && only_places)
		return false;
	if (!p) {
		ret->name = g_strdup(path);
		return true;
	}
	if (!*rest && p->fd < 0 && p->parent >= 0) {
		ret->dir = p->parent;
		ret->name = g_path_get_basename(p->path);
		return true;
	}
	errno = ENOENT;
	if (!*rest || p->fd < 0)
		return p->fd >= 0;
	ret->dir = descend(p->fd, rest, &name);
	if (ret->dir < 0)
		return false;
	ret->opened = ret->dir != p->fd;
	ret->name = g_strdup(name);
	return true;
}

static void spot_clear(struct spot *s)
{
	if (s->opened)
		fd_close(&s->dir);
	g_free(s->name);
}

/* ---- the requests ---- */

static int reopen(const struct served_place *p, int flags)
{
	char path[64];

	if (p->is_dir)
		return openat(p->fd, ".", flags);
	g_snprintf(path, sizeof path, "/proc/self/fd/%d", p->fd);
	return open(path, flags);
}

static bool give(int fd)
{
	uid_t owner = user_owner();

	return owner == (uid_t)-1 || fchown(fd, owner, user_owner_group()) == 0;
}

static int serve_open(const struct files_request *r, bool only_places)
{
	const bool makes = r->flags & O_CREAT, writes = (r->flags & O_ACCMODE) != O_RDONLY;
	const int known = O_ACCMODE | O_CREAT | O_EXCL | O_DIRECTORY | O_NOFOLLOW;
	const unsigned rights = makes || writes ? FILES_CHANGE : FILES_READ | FILES_CHANGE | FILES_OUTPUT;
	struct spot s;

	errno = EINVAL;
	if (r->flags & ~known || makes != !!(r->flags & O_EXCL) || (r->flags & O_ACCMODE) == O_ACCMODE)
		return -1;
	if (!spot_of(r->path, rights, only_places, &s))
		return -1;
	int flags = r->flags | FIXED_FLAGS, fd;
	if (s.name)
		fd = openat(s.dir, s.name, flags | (s.place || makes ? O_NOFOLLOW : 0), r->mode & 0666);
	else
		fd = reopen(s.place, flags);
	if (fd >= 0 && makes && !give(fd)) {
		unlinkat(s.dir, s.name, 0);
		close(fd);
		fd = -1;
	}
	spot_clear(&s);
	return fd;
}

static bool serve_stat(const struct files_request *r, bool only_places, struct stat *ret)
{
	struct spot s;

	if (!spot_of(r->path, FILES_READ | FILES_CHANGE | FILES_OUTPUT | FILES_NEW, only_places, &s))
		return false;
	int rc = s.name ? fstatat(s.dir, s.name, ret, s.place ? AT_SYMLINK_NOFOLLOW : r->flags & AT_SYMLINK_NOFOLLOW) :
		fstat(s.place->fd, ret);
	bool removed = rc == 0 && ret->st_nlink == 0;
	/* Of a directory for new outputs only the names in it matter. */
	bool deeper = s.opened && !(s.place->rights & (FILES_READ | FILES_CHANGE | FILES_OUTPUT));
	errno = deeper ? EACCES : removed ? ENOENT : errno;
	spot_clear(&s);
	return rc == 0 && !removed && !deeper;
}

/* Makes one directory. An existing one is fine. */
static bool make_dir(int dir, const char *name)
{
	struct stat st;

	bool ok = mkdirat(dir, name, 0700) == 0;
	if (!ok && errno == EEXIST && fstatat(dir, name, &st, 0) == 0) {
		errno = ENOTDIR;
		return S_ISDIR(st.st_mode);
	}
	if (!ok)
		return false;
	/* By descriptor: another user may have put a link in its place. */
	auto_fd fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 && give(fd);
}

static bool make_dirs_in(int dir, const char *path)
{
	for (const char *end = path; *end; end++) {
		end += strcspn(end + 1, "/");
		g_autofree char *part = g_strndup(path, (gsize)(end + 1 - path));
		if (!make_dir(dir, part))
			return false;
	}
	return true;
}

/* Makes all directories of a path below a place, one after the other, and follows no link. */
static bool make_dirs_below(const struct served_place *p, const char *path)
{
	auto_fd below = -1;

	for (const char *rest = path; *rest;) {
		size_t n = strcspn(rest, "/");
		g_autofree char *name = g_strndup(rest, n);
		if (!make_dir(below < 0 ? p->fd : below, name) || !go_down(p->fd, &below, rest, n))
			return false;
		rest += n + (rest[n] == '/');
	}
	return true;
}

static bool serve_make_dirs(const struct files_request *r, bool only_places)
{
	g_autofree char *absolute = *r->path ? absolute_of(r->path) : NULL;
	const char *rest = NULL;
	const struct served_place *p = absolute ? find_place(absolute, FILES_CHANGE, &rest) : NULL;

	errno = absolute ? EACCES : ENOENT;
	if (!absolute || (!p && only_places))
		return false;
	return p ? p->fd >= 0 && make_dirs_below(p, rest) : make_dirs_in(AT_FDCWD, r->path);
}

static void remove_tree_at(int parent, const char *name)
{
	if (unlinkat(parent, name, 0) == 0 || (errno != EISDIR && errno != EPERM))
		return;
	auto_fd fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return;
	fd_steal(&fd);
	for (struct dirent *e; (e = readdir(dir));)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			remove_tree_at(dirfd(dir), e->d_name);
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

/* The requests that change one name. */
static bool serve_change(const struct files_request *r, bool only_places)
{
	struct spot s;
	bool ok = true;

	if (!spot_of(r->path, FILES_CHANGE, only_places, &s))
		return false;
	if (!s.name) {
		errno = EACCES;		/* the place itself stays */
		return false;
	}
	if (r->op == FILES_OP_REMOVE_TREE)
		remove_tree_at(s.dir, s.name);
	else if (r->op == FILES_OP_TOUCH)
		ok = utimensat(s.dir, s.name, NULL, AT_SYMLINK_NOFOLLOW) == 0;
	else
		ok = unlinkat(s.dir, s.name, r->op == FILES_OP_REMOVE_DIR ? AT_REMOVEDIR : 0) == 0;
	spot_clear(&s);
	return ok;
}

/* Renames; fails with EEXIST if `to` exists. */
static bool rename_new(int from_dir, const char *from, int to_dir, const char *to)
{
	struct stat st;

	if (renameat2(from_dir, from, to_dir, to, RENAME_NOREPLACE) == 0)
		return true;
	if (errno != EINVAL && errno != ENOSYS)
		return false;
	/* This file system cannot refuse to replace a file. */
	if (fstatat(to_dir, to, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return false;
	}
	return renameat(from_dir, from, to_dir, to) == 0;
}

static bool serve_pair(const struct files_request *r, bool only_places)
{
	struct spot from, to;
	bool ok = false;

	if (!spot_of(r->path, FILES_CHANGE, only_places, &from))
		return false;
	if (!spot_of(r->to, FILES_CHANGE, only_places, &to)) {
		spot_clear(&from);
		return false;
	}
	errno = EACCES;
	if (!from.name || !to.name)
		ok = false;
	else if (r->op == FILES_OP_LINK)
		ok = linkat(from.dir, from.name, to.dir, to.name, 0) == 0;
	else if (r->flags)
		ok = renameat(from.dir, from.name, to.dir, to.name) == 0;
	else
		ok = rename_new(from.dir, from.name, to.dir, to.name);
	spot_clear(&from);
	spot_clear(&to);
	return ok;
}

/* ---- outputs ---- */

static void output_clear(struct served_output *o)
{
	struct served_place *p = o->is_dir ? find_exact(o->temporary) : NULL;

	if (p) {
		fd_close(&p->fd);
		g_free(p->path);
		g_array_remove_index_fast(places, (guint)(p - place_at(0)));
	}
	fd_close(&o->dir);
	g_free(o->path);
	g_free(o->temporary);
	g_free(o->name);
	g_free(o->temporary_name);
}

/* Deeper below a directory for new outputs none can be made. ENOENT: a directory is missing; else EACCES. */
static int why_not_new(const char *path)
{
	const char *rest, *name;
	const struct served_place *p = find_place(path, FILES_NEW, &rest);
	int dir = p && strchr(rest, '/') ? descend(p->fd, rest, &name) : -1, number = errno;

	if (dir >= 0 && dir != p->fd)
		close(dir);
	return p && strchr(rest, '/') && dir < 0 && number == ENOENT ? ENOENT : EACCES;
}

/* Can the output be made, and where? */
static bool find_output(const char *path, bool only_places, struct served_output *ret)
{
	g_autofree char *absolute = *path ? absolute_of(path) : NULL;
	g_autofree char *dir = absolute ? g_path_get_dirname(absolute) : NULL;
	const struct served_place *exact = absolute ? find_exact(absolute) : NULL;
	const struct served_place *new = dir ? find_exact(dir) : NULL;
	struct spot s = { 0 };

	errno = EISDIR;
	if (!absolute || g_str_equal(absolute, "/"))
		return false;
	bool inside = spot_of(absolute, FILES_CHANGE, true, &s) && s.name;
	errno = exact && exact->rights & FILES_OUTPUT && exact->parent < 0 ? exact->why : why_not_new(absolute);
	*ret = (struct served_output){ .dir = -1, .name = g_path_get_basename(absolute) };
	if (exact && exact->rights & FILES_OUTPUT && exact->parent >= 0) {
		ret->dir = fcntl(exact->parent, F_DUPFD_CLOEXEC, 3);
	} else if (inside) {
		ret->dir = fcntl(s.dir, F_DUPFD_CLOEXEC, 3);
	} else if (new && new->rights & FILES_NEW && new->fd >= 0 && ret->name[0] != '.') {
		ret->dir = fcntl(new->fd, F_DUPFD_CLOEXEC, 3);
		ret->must_be_new = true;
	} else if (!only_places) {
		ret->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	spot_clear(&s);
	ret->path = g_steal_pointer(&absolute);
	if (ret->dir >= 0)
		return true;
	output_clear(ret);
	return false;
}

static char *temporary_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	GString *s = g_string_new(name);

	g_string_append_c(s, '.');
	for (int i = 0; i < RANDOM_LETTERS; i++)
		g_string_append_c(s, letters[g_random_int_range(0, sizeof letters - 1)]);
	return g_string_free(s, false);
}

/* Makes it under a temporary name. Returns a descriptor, or -1. */
static int make_temporary(struct served_output *o, mode_t mode)
{
	for (int i = 0; i < TRIES; i++) {
		g_free(o->temporary_name);
		o->temporary_name = temporary_name(o->name);
		if (o->is_dir && mkdirat(o->dir, o->temporary_name, 0700) == 0)
			return openat(o->dir, o->temporary_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		int fd = o->is_dir ? -1 : openat(o->dir, o->temporary_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
						 O_CLOEXEC | O_NOCTTY, mode);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static void remove_temporary(const struct served_output *o)
{
	int number = errno;

	remove_tree_at(o->dir, o->temporary_name);
	errno = number;
}

static int serve_begin(const struct files_request *r, bool only_places, struct files_answer *ret)
{
	struct served_output o;

	if (!find_output(r->path, only_places, &o))
		return -1;
	o.is_dir = r->op == FILES_OP_BEGIN_DIR;
	auto_fd fd = make_temporary(&o, r->mode & 0666);
	bool ok = fd >= 0 && give(fd);
	g_autofree char *dir = g_path_get_dirname(o.path);
	o.temporary = g_build_filename(dir, o.temporary_name, NULL);
	ok = ok && g_strlcpy(ret->path, o.temporary, sizeof ret->path) < sizeof ret->path;
	if (ok && o.is_dir) {
		const struct served_place p = { .path = g_strdup(o.temporary), .rights = FILES_CHANGE, .fd = fd,
						.parent = -1, .is_dir = true };
		if (!places)
			places = g_array_new(false, true, sizeof(struct served_place));
		g_array_append_val(places, p);
		fd_steal(&fd);
	}
	if (!ok) {
		if (fd >= 0)
			remove_temporary(&o);
		o.is_dir = false;	/* it is no place */
		output_clear(&o);
		return -1;
	}
	o.number = ret->number = ++n_begun;
	if (!outputs)
		outputs = g_array_new(false, true, sizeof(struct served_output));
	g_array_append_val(outputs, o);
	return fd_steal(&fd);
}

/* Gives the output its name. */
static bool put_in_place(const struct served_output *o, bool force)
{
	if (!made)
		made = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	if (o->is_dir)
		return rename_new(o->dir, o->temporary_name, o->dir, o->name);
	if (force && (!o->must_be_new || g_hash_table_contains(made, o->path)))
		return renameat(o->dir, o->temporary_name, o->dir, o->name) == 0;
	/* File systems without hard links can often refuse to replace a file. */
	bool ok = linkat(o->dir, o->temporary_name, o->dir, o->name, 0) == 0 ||
		(errno != EEXIST && rename_new(o->dir, o->temporary_name, o->dir, o->name));
	if (!ok && errno == EEXIST && force)
		errno = EACCES;
	return ok;
}

static void sync_dir(int dir)
{
	auto_fd fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		fsync(fd);
}

/* A directory that was made stays a place, under its name. */
static void note_committed(struct served_output *o)
{
	struct served_place *p = o->is_dir ? find_exact(o->temporary) : NULL, *old = p ? find_exact(o->path) : NULL;

	g_hash_table_add(made, g_strdup(o->path));
	sync_dir(o->dir);
	if (old) {			/* named as an output, or of a directory that was removed */
		old->rights |= p->rights;
		old->is_dir = true;
		int fd = old->fd;
		old->fd = p->fd;
		p->fd = fd;
	} else if (p) {
		g_free(p->path);
		p->path = g_strdup(o->path);
	}
}

static bool serve_end(const struct files_request *r)
{
	bool ok = true;

	for (guint i = 0; outputs && i < outputs->len; i++) {
		struct served_output *o = &g_array_index(outputs, struct served_output, i);
		if (o->number != r->number)
			continue;
		bool commits = r->op == FILES_OP_COMMIT;
		ok = !commits || put_in_place(o, r->flags);
		if (commits && ok)
			note_committed(o);
		if (!ok || !o->is_dir || !commits)
			remove_temporary(o);
		int number = errno;
		output_clear(o);
		g_array_remove_index_fast(outputs, i);
		errno = number;
		return ok;
	}
	errno = EINVAL;
	return false;
}

void files_serve_end(void)
{
	while (outputs && outputs->len) {
		const struct files_request r = { .op = FILES_OP_DISCARD,
						 .number = g_array_index(outputs, struct served_output, 0).number };
		serve_end(&r);
	}
}

/* ---- all of them ---- */

int files_serve(const struct files_request *r, bool only_places, struct files_answer *ret)
{
	bool ok = true;
	int fd = -1;

	*ret = (struct files_answer){ .error = EINVAL };
	if (r->op >= FILES_OPS || !memchr(r->path, '\0', sizeof r->path) || !memchr(r->to, '\0', sizeof r->to))
		return -1;
	switch ((enum files_op)r->op) {
	case FILES_OP_OPEN:
		fd = serve_open(r, only_places);
		ok = fd >= 0;
		break;
	case FILES_OP_STAT:
		ok = serve_stat(r, only_places, &ret->stat);
		break;
	case FILES_OP_MAKE_DIRS:
		ok = serve_make_dirs(r, only_places);
		break;
	case FILES_OP_REMOVE:
	case FILES_OP_REMOVE_DIR:
	case FILES_OP_REMOVE_TREE:
	case FILES_OP_TOUCH:
		ok = serve_change(r, only_places);
		break;
	case FILES_OP_RENAME:
	case FILES_OP_LINK:
		ok = serve_pair(r, only_places);
		break;
	case FILES_OP_BEGIN:
	case FILES_OP_BEGIN_DIR:
		fd = serve_begin(r, only_places, ret);
		ok = ret->number != 0;
		break;
	case FILES_OP_COMMIT:
	case FILES_OP_DISCARD:
		ok = serve_end(r);
		break;
	case FILES_OPS:
		break;
	}
	ret->error = ok ? 0 : errno ? errno : EIO;
	return fd;
}
