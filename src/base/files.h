/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opens, makes and removes files, for a process that must not do so itself once it reads untrusted data.
 *
 * A process names the *places* that it needs: files and directories, each with rights. files_start_helper() then forks
 * the file helper, which has the rights of the user that started blktop. From then on each function below asks the
 * helper: it acts only in the places, follows no link below them, and passes descriptors. Before that, and without a
 * helper, the same code runs in the process itself; paths outside of all places are used as they are.
 *
 *     files_add(dir, FILES_READ, &error);			// what the command line names
 *     files_add_private(cache, "XDG_CACHE_HOME", &error);	// a directory of the user's own
 *     files_start_helper(&error);				// before the first thread
 *     fd = files_open(path, O_RDONLY);
 *
 * A place is opened once, when it is added, so what its path leads to later does not matter. Paths are absolute or
 * relative to the directory in which the process was started. Any thread, after files_start_helper(). Functions that
 * fail set errno: EACCES outside of the places, ELOOP for a link, ECONNRESET if the helper has ended.
 *
 * Everything made belongs to user_owner() (base/user.h).
 */
#ifndef BLK_BASE_FILES_H
#define BLK_BASE_FILES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

enum files_right {
	FILES_READ = 1,			/* open, list and look at everything below */
	FILES_CHANGE = 2,		/* also make, change and remove everything below */
	FILES_OUTPUT = 4,		/* the path itself can be made or replaced as an output, and read */
	FILES_NEW = 8,			/* outputs with new names can be made directly in this directory; names that
					 * begin with a dot, as settings of programs do, can not */
};

/* Adds a place; again, its rights are joined. It need not exist for FILES_OUTPUT, but its directory must. */
bool files_add(const char *path, unsigned rights, GError **error);
/* Makes a directory, such as that of settings, and its parents (0700). A missing home directory is not made. `instead`,
 * such as "XDG_CONFIG_HOME or --config FILE": what names another place, for the message; NULL: nothing does. */
bool files_make_home_dir(const char *path, const char *instead, GError **error);
/*
 * The same for a directory in which others must not be able to change anything. It must be a directory of the user (run
 * by root: or of root), no link, and not writable by group or others; nor may others be able to replace it, or a
 * directory that it is in: one that they can write must be sticky, such as /tmp. A group without other members is not
 * others.
 */
bool files_make_private(const char *path, const char *instead, GError **error);
/* The same, and adds it with FILES_CHANGE. */
bool files_add_private(const char *path, const char *instead, GError **error);
/* Why one of these was refused for a directory that contains the path; borrowed. NULL: none was. */
const char *files_why_refused(const char *path);

/* Call once, before the first thread. The helper ends with this process. */
bool files_start_helper(GError **error);

/* flags: O_RDONLY, O_WRONLY or O_RDWR, O_DIRECTORY, O_NOFOLLOW. The descriptor has O_CLOEXEC and O_NONBLOCK, which
 * matters only for pipes and devices. -1: errno. */
int files_open(const char *path, int flags);
/*
 * Inputs: files that the user or a directory names. Only regular files are opened, so neither opening nor reading
 * them waits. *error (G_FILE_ERROR) names the path and the reason; its code is that of errno, ISDIR
 * for a directory, INVAL for what is no file (pipe, device, socket), FAILED for a file that is too long.
 */
int files_open_input(const char *path, GError **error);		/* open for reading; -1: *error */
int files_open_unlinked(const char *path, GError **error);	/* the same; a link is refused (LOOP) */
/* The whole file, at most `most` bytes, with a NUL after them; the caller frees it. False: *error; *ret_bytes is
 * NULL. */
bool files_read_input(const char *path, size_t most, char **ret_bytes, size_t *ret_n, GError **error);
int files_create(const char *path);	/* a new file (0600), open for reading and writing; or -1 */
/* A link is not followed below a place, and the place itself is what it was when it was added. Outside of the places,
 * without a helper, these are stat(2) and lstat(2). */
bool files_stat(const char *path, struct stat *ret);
bool files_lstat(const char *path, struct stat *ret);
bool files_exists(const char *path);		/* of any kind, also a link that leads nowhere */
bool files_is_dir(const char *path);
bool files_is_regular(const char *path);
/* The names in a directory, sorted by bytes, at most `most`; no "." and "..". The caller owns it. NULL: errno. */
GPtrArray *files_list(const char *path, size_t most);

bool files_make_dirs(const char *path);		/* all that are missing (0700) */
bool files_remove(const char *path);		/* a file */
bool files_remove_dir(const char *path);	/* an empty directory */
void files_remove_tree(const char *path);	/* and everything below it */
bool files_rename(const char *from, const char *to, bool replace);	/* !replace: EEXIST if `to` exists */
bool files_link(const char *from, const char *to);
bool files_touch(const char *path);		/* sets the time of the last change to now */
void files_sync_dir(const char *path);		/* makes its entries survive a crash */
bool files_sync_all(const char *path);		/* writes the whole file system of the directory to disk */

/*
 * An output: a file, or a directory with files, that is made under another name beside its place and renamed when it is
 * complete. Each output that was begun is committed or discarded, which frees it.
 */
struct files_output {
	int fd;				/* of a file, open for writing; -1: a directory */
	char *path;			/* where it is made */
	uint32_t number;		/* of the helper */
};
bool files_output_begin(const char *path, mode_t mode, struct files_output *ret);	/* the umask applies to mode */
/* 0700; .path has FILES_CHANGE, and its name after the commit, too. */
bool files_output_begin_dir(const char *path, struct files_output *ret);
/* force: an existing file is replaced, but in a place with FILES_NEW only if this process made it. On failure the
 * output is discarded. EEXIST: it exists, and must not be replaced. */
bool files_output_commit(struct files_output *o, bool force);
void files_output_discard(struct files_output *o);
/* Replaces the file, or makes it. */
bool files_set_contents(const char *path, const void *bytes, size_t n, mode_t mode, GError **error);

/* A text to append to a message about a file that could not be made, with errno `number`: why the places may be the
 * cause. "": they are not. */
const char *files_hint(int number);

#endif
