/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes of files: see disk.h. */
#include "base/disk.h"

#include <errno.h>
#include <glib.h>
#include <unistd.h>

bool disk_write(int fd, const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t wrote = write(fd, at, MIN(n, (size_t)1 << 30));
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		at += wrote;
		n -= (size_t)wrote;
	}
	return true;
}

bool disk_read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
	char *at = bytes;

	while (n > 0) {
		ssize_t got = pread(fd, at, MIN(n, (size_t)1 << 30), (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		offset += (uint64_t)got;
		n -= (size_t)got;
	}
	return true;
}

bool disk_write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
	const char *at = bytes;

	while (n > 0) {
		ssize_t wrote = pwrite(fd, at, MIN(n, (size_t)1 << 30), (off_t)offset);
		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return false;
		at += wrote;
		offset += (uint64_t)wrote;
		n -= (size_t)wrote;
	}
	return true;
}
