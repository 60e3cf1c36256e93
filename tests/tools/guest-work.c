/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * guest-work DIR: uses files, pipes and sockets in known ways, and says on one line, as JSON, which. Run where the
 * kernel is traced.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define MESSAGES 40
#define BYTES 100

static void need(int good, const char *what)
{
	if (!good) {
		perror(what);
		exit(1);
	}
}

static void pass(int from, int to)
{
	char buffer[BYTES] = "x";
	for (int i = 0; i < MESSAGES; i++) {
		need(write(from, buffer, sizeof buffer) == sizeof buffer, "write");
		for (size_t got = 0; got < sizeof buffer;) {
			ssize_t n = read(to, buffer, sizeof buffer - got);
			need(n > 0, "read");
			got += (size_t)n;
		}
	}
}

static void use_files(const char *dir)
{
	char path[512];
	for (int i = 0; i < 3; i++) {
		snprintf(path, sizeof path, "%s/file-%d%s", dir, i,
			 i ? "" : "-with-a-name-that-is-quite-a-bit-longer-than-sixty-three-bytes-for-cuts");
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		need(fd >= 0 && write(fd, path, 200) == 200 && !close(fd) && !unlink(path), path);
	}
	snprintf(path, sizeof path, "%s/folder", dir);
	need(!mkdir(path, 0700) && !rmdir(path), path);
}

/* A connection to a listening socket of our own. Returns the client's port, 0: it has none. */
static unsigned connect_to(const struct sockaddr *address, socklen_t size)
{
	struct sockaddr_storage own;
	socklen_t n = sizeof own;
	int family = address->sa_family, one = 1;
	int server = socket(family, SOCK_STREAM, 0), client = socket(family, SOCK_STREAM, 0);
	need(server >= 0 && client >= 0, "socket");
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	need(!bind(server, address, size) && !listen(server, 5), "bind");
	need(!connect(client, address, size), "connect");
	int peer = accept4(server, NULL, NULL, SOCK_CLOEXEC);
	need(peer >= 0, "accept4");
	pass(client, peer);
	need(!getsockname(client, (struct sockaddr *)&own, &n), "getsockname");
	close(client);
	close(peer);
	close(server);
	return family == AF_INET ? ntohs(((struct sockaddr_in *)&own)->sin_port) :
	       family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&own)->sin6_port) : 0;
}

static void use_datagrams(const struct sockaddr_in *address)
{
	int to = socket(AF_INET, SOCK_DGRAM, 0), from = socket(AF_INET, SOCK_DGRAM, 0);
	char buffer[BYTES] = "x";
	need(!bind(to, (const struct sockaddr *)address, sizeof *address), "bind");
	for (int i = 0; i < MESSAGES; i++)
		need(sendto(from, buffer, sizeof buffer, 0, (const struct sockaddr *)address, sizeof *address) > 0 &&
		     recv(to, buffer, sizeof buffer, 0) > 0, "sendto");
	close(to);
	close(from);
}

int main(int argc, char **argv)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(7001),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(7002), .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in datagrams = v4;
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	int pipes[2], sockets[2];
	need(argc == 2, "usage: guest-work DIR");
	use_files(argv[1]);
	unsigned v4_port = connect_to((struct sockaddr *)&v4, sizeof v4);
	unsigned v6_port = connect_to((struct sockaddr *)&v6, sizeof v6);
	snprintf(local.sun_path, sizeof local.sun_path, "%.80s/socket", argv[1]);
	connect_to((struct sockaddr *)&local, sizeof local);
	datagrams.sin_port = htons(7003);
	use_datagrams(&datagrams);
	need(!pipe2(pipes, O_CLOEXEC) && !socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), "pipe2");
	pass(pipes[1], pipes[0]);
	pass(sockets[0], sockets[1]);
	printf("{\"pid\":%d,\"v4_port\":%u,\"v6_port\":%u,\"pipe\":[%d,%d],\"sockets\":[%d,%d],\"bytes\":%d}\n", getpid(),
	       v4_port, v6_port, pipes[0], pipes[1], sockets[0], sockets[1], MESSAGES * BYTES);
	return 0;
}
