/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files and directories that the program makes for one user's eyes: 0600 and 0700,
 * never through a link, never over what is there. Any thread; errno says what failed.
 */
#ifndef BLK_BASE_DISK_H
#define BLK_BASE_DISK_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of it, or false. */
bool disk_write(int fd, const void *bytes, size_t n);
bool disk_write_at(int fd, const void *bytes, size_t n, uint64_t offset);

int disk_create(const char *path);		/* a new file for writing, or -1 */
bool disk_make_dirs(const char *path);		/* those that are missing, at any depth */
/* The same of a directory that is the user's own (settings, state). A home directory that does not exist
 * is not made. *error (G_FILE_ERROR) says why not, and of one below the home directory what names
 * another place: `instead`, such as "XDG_STATE_HOME or --spool DIR". */
bool disk_make_home_dir(const char *path, const char *instead, GError **error);
/* Is `path` itself a symbolic link, with or without slashes behind? */
bool disk_is_link(const char *path);
/* Gives it another name, and fails (EEXIST) where there is one of that name. */
bool disk_rename_new(const char *from, const char *to);
void disk_sync_dir(const char *path);		/* the names in it survive a crash now */
void disk_sync_parent(const char *path);	/* of the directory that it is in */
bool disk_sync_all(const char *path);		/* the whole file system that the directory is on */
/* Deletes what is there and all below it; follows no link. */
void disk_remove_tree(const char *path);

#endif
