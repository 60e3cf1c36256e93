/* SPDX-License-Identifier: GPL-2.0-only */
/* Datagrams for systemd: see notify.h. */
#include "send/notify.h"

#include "base/fd.h"
#include "base/timefmt.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int notify_open(void)
{
	const char *path = g_getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof to.sun_path)
		return -1;
	memcpy(to.sun_path, path, strlen(path));
	if (*path == '@')
		to.sun_path[0] = '\0';
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	auto_fd fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool ok = fd >= 0 && connect(fd, (const struct sockaddr *)(const void *)&to, size) == 0;
	return ok ? fd_steal(&fd) : -1;
}

/* A datagram that the service manager does not take is lost. */
static void tell(int fd, const char *text)
{
	if (fd >= 0)
		send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

void notify_ready(int fd)
{
	tell(fd, "READY=1\nSTATUS=waiting for the first second");
}

void notify_status(int fd, int64_t to_ns, const struct forward_counts *spans)
{
	char to[TIMEFMT_LEN];
	g_autoptr(GString) text = g_string_new("WATCHDOG=1\n");
	if (fd < 0)
		return;
	if (to_ns != INT64_MIN)
		g_string_append_printf(text, "STATUS=read until %s", timefmt_date(to, to_ns));
	if (to_ns != INT64_MIN && spans)
		g_string_append_printf(text, "; %" G_GUINT64_FORMAT " spans sent of %" G_GUINT64_FORMAT ", %"
				       G_GUINT64_FORMAT " dropped", spans->sent, spans->chosen, spans->dropped);
	tell(fd, text->str);
}

void notify_stopping(int fd)
{
	tell(fd, "STOPPING=1\nSTATUS=sending what waits");
}
