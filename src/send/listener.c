/* SPDX-License-Identifier: GPL-2.0-only */
/* The socket of --listen: see listener.h. */
#include "send/listener.h"

#include "base/fd.h"
#include "base/limits.h"

#include <errno.h>
#include <gio/gio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DEFAULT_ADDRESS "127.0.0.1"

static GSocketAddress *parse(const char *where, GError **error)
{
	const char *colon = strrchr(where, ':'), *digits = colon ? colon + 1 : where;
	g_autofree char *address = colon && colon > where ? g_strndup(where, (gsize)(colon - where)) :
				   g_strdup(DEFAULT_ADDRESS);
	guint64 port;
	size_t n = strlen(address);
	bool is_bracketed = n > 2 && address[0] == '[' && address[n - 1] == ']';
	if (is_bracketed) {
		memmove(address, address + 1, n - 2);
		address[n - 2] = '\0';
	}
	GSocketAddress *found = NULL;
	bool is_v6 = strchr(address, ':') != NULL;
	if (g_ascii_string_to_unsigned(digits, 10, 0, G_MAXUINT16, &port, NULL) && is_v6 == is_bracketed)
		found = g_inet_socket_address_new_from_string(address, (guint)port);
	if (!found)
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
			    "'%s' is not PORT, ADDRESS:PORT or [ADDRESS]:PORT, with an address in digits", where);
	return found;
}

static char *url_of(int fd)
{
	struct sockaddr_storage at = { 0 };
	socklen_t len = sizeof at;
	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		return g_strdup("http://");
	g_autoptr(GSocketAddress) address = g_socket_address_new_from_native(&at, len);
	g_autofree char *text = g_inet_address_to_string(
		g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address)));
	bool is_v6 = strchr(text, ':') != NULL;
	return g_strdup_printf(is_v6 ? "http://[%s]:%u/metrics" : "http://%s:%u/metrics", text,
			       g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(address)));
}

int listener_open(const char *where, char **ret_url, GError **error)
{
	struct sockaddr_storage at = { 0 };
	g_autoptr(GSocketAddress) address = parse(where, error);
	int one = 1;
	if (!address || !g_socket_address_to_native(address, &at, sizeof at, error))
		return -1;
	auto_fd fd = socket(at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, (socklen_t)g_socket_address_get_native_size(address)) < 0 ||
	    listen(fd, LIMIT_SCRAPERS) < 0) {
		g_set_error(error, G_IO_ERROR, g_io_error_from_errno(errno), "cannot listen on %s: %s", where,
			    g_strerror(errno));
		return -1;
	}
	*ret_url = url_of(fd);
	return fd_steal(&fd);
}
