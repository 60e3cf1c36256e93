/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes of files: see disk.h. */
#include "base/disk.h"

#include <errno.h>
#include <glib.h>
#include <unistd.h>

enum disk_move { WRITE, WRITE_AT, READ_AT };

/* All bytes, as often as it takes. */
static bool move_all(enum disk_move how, int fd, char *at, size_t n, uint64_t offset)
{
	while (n > 0) {
		size_t most = MIN(n, (size_t)1 << 30);
		ssize_t done = how == WRITE ? write(fd, at, most) : how == WRITE_AT ?
			pwrite(fd, at, most, (off_t)offset) : pread(fd, at, most, (off_t)offset);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		at += done;
		offset += (uint64_t)done;
		n -= (size_t)done;
	}
	return true;
}

bool disk_write(int fd, const void *bytes, size_t n)
{
	return move_all(WRITE, fd, (char *)bytes, n, 0);
}

bool disk_read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
	return move_all(READ_AT, fd, bytes, n, offset);
}

bool disk_write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
	return move_all(WRITE_AT, fd, (char *)bytes, n, offset);
}
