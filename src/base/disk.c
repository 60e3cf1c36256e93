/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes of files: see disk.h. */
#include "base/disk.h"

#include <errno.h>
#include <unistd.h>

enum disk_move { WRITE, WRITE_AT, READ_AT };

/* All bytes, as often as it takes. Returns how many; if fewer, errno is 0 at the end of the file. */
static size_t move_all(enum disk_move how, int fd, char *at, size_t n, uint64_t offset)
{
	size_t done = 0;

	n = offset < G_MAXINT64 ? MIN(n, (uint64_t)G_MAXINT64 - offset) : 0;
	errno = 0;
	while (done < n) {
		size_t most = MIN(n - done, (size_t)1 << 30);
		off_t here = (off_t)(offset + done);
		ssize_t moved = how == WRITE ? write(fd, at + done, most) : how == WRITE_AT ?
			pwrite(fd, at + done, most, here) : pread(fd, at + done, most, here);
		if (moved < 0 && errno == EINTR)
			continue;
		if (moved < 0)
			break;
		errno = 0;
		if (moved == 0)
			break;
		done += (size_t)moved;
	}
	return done;
}

bool disk_write(int fd, const void *bytes, size_t n)
{
	return move_all(WRITE, fd, (char *)bytes, n, 0) == n;
}

bool disk_write_at(int fd, const void *bytes, size_t n, uint64_t offset)
{
	return move_all(WRITE_AT, fd, (char *)bytes, n, offset) == n;
}

size_t disk_read_some(int fd, void *bytes, size_t n, uint64_t offset)
{
	return move_all(READ_AT, fd, bytes, n, offset);
}

bool disk_read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
	return move_all(READ_AT, fd, bytes, n, offset) == n;
}
