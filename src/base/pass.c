/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages with a descriptor: see pass.h. */
#include "base/pass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

union room {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

bool pass_send(int to, const void *bytes, size_t len, int fd)
{
	union room room = { 0 };
	struct iovec data = { .iov_base = (void *)bytes, .iov_len = len };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1 };

	if (fd >= 0) {
		m.msg_control = room.bytes;
		m.msg_controllen = sizeof room.bytes;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof fd);
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	ssize_t n;
	do {
		n = sendmsg(to, &m, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)len;
}

ssize_t pass_receive(int from, void *bytes, size_t max, int *ret_fd)
{
	union room room = { 0 };
	struct iovec data = { .iov_base = bytes, .iov_len = max };
	struct msghdr m = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = room.bytes,
			    .msg_controllen = sizeof room.bytes };
	ssize_t n;

	*ret_fd = -1;
	do {
		n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	struct cmsghdr *c = n < 0 ? NULL : CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof *ret_fd))
		memcpy(ret_fd, CMSG_DATA(c), sizeof *ret_fd);
	return n;
}
