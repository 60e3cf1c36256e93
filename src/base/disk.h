/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes of files. Any thread. On failure errno is set. Opening, making and removing files: base/files.h.
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
/* Reads up to n bytes. Fewer: the file ends there (errno is 0), or it cannot be read. */
size_t disk_read_some(int fd, void *bytes, size_t n, uint64_t offset);
bool disk_read_at(int fd, void *bytes, size_t n, uint64_t offset);	/* false: not all of them could be read */

#endif
