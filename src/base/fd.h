/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Descriptors that close themselves:
 *
 *     auto_fd fd = open(path, O_RDONLY);	// closed at the end of its block, if it is >= 0; errno stays
 *     ...
 *     return fd_steal(&fd);			// the caller closes it
 */
#ifndef BLK_BASE_FD_H
#define BLK_BASE_FD_H

#include <errno.h>
#include <unistd.h>

#define auto_fd __attribute__((cleanup(fd_close))) int

static inline void fd_close(int *fd)
{
	int number = errno;

	if (*fd >= 0)
		close(*fd);
	errno = number;
}

static inline int fd_steal(int *fd)
{
	int stolen = *fd;

	*fd = -1;
	return stolen;
}

#endif
