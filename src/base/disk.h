/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files and directories that only the user may read: modes 0600 and 0700. No link is followed, no existing file is
 * replaced. Any thread. On failure errno is set.
 */
#ifndef BLK_BASE_DISK_H
#define BLK_BASE_DISK_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Write all bytes; false: not all were written. */
bool disk_write(int fd, const void *bytes, size_t n);
bool disk_write_at(int fd, const void *bytes, size_t n, uint64_t offset);
bool disk_read_at(int fd, void *bytes, size_t n, uint64_t offset);	/* false: not all of them could be read */

/*
 * Inputs: files that the user or a directory names. Only regular files are opened, so neither opening nor reading
 * them waits; links are followed. *error (G_FILE_ERROR) names the path and the reason; its code is that of errno, ISDIR
 * for a directory, INVAL for what is no file (pipe, device, socket), FAILED for a file that is too long.
 */
int disk_open_input(const char *path, GError **error);		/* open for reading; -1: *error */
int disk_open_unlinked(const char *path, GError **error);	/* the same; a link is refused (LOOP) */
/* The whole file, at most `most` bytes, with a NUL after them; the caller frees it. False: *error; *ret_bytes is
 * NULL. */
bool disk_read_input(const char *path, size_t most, char **ret_bytes, size_t *ret_n, GError **error);

int disk_create(const char *path);		/* a new file, open for writing; or -1 */
bool disk_make_dirs(const char *path);		/* makes all missing directories of the path */
/* The same for a directory in the user's home (settings, state). A missing home directory is not made. *error
 * (G_FILE_ERROR) says why it failed; for a directory below the home directory also what sets another place:
 * `instead`, such as "XDG_STATE_HOME or --spool DIR". */
bool disk_make_home_dir(const char *path, const char *instead, GError **error);
/* Is `path` itself a symbolic link? Slashes at its end do not matter. */
bool disk_is_link(const char *path);
/* Renames; fails with EEXIST if `to` exists. */
bool disk_rename_new(const char *from, const char *to);
void disk_sync_dir(const char *path);		/* makes its entries survive a crash */
void disk_sync_parent(const char *path);	/* the same for the directory that contains `path` */
bool disk_sync_all(const char *path);		/* writes the whole file system of `path` to disk */
/* Deletes `path` and everything below it; follows no link. */
void disk_remove_tree(const char *path);

#endif
