/* SPDX-License-Identifier: GPL-2.0-only */
/* Which user listens on a port: the kernel's tables, real sockets, and those of another user (as root only). */
#include "live/viewer/listeners.h"
#include "live/viewer/net.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define HEAD6 "  sl  local_address                         remote_address                        " \
	"st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
#define REST " 00000000:00000000 00:00000000 00000000 "
#define TAIL " 1 0000000000000000 100 0 0 10 0\n"
#define V4(port, state, uid, inode) "   0: 0100007F:" port " 00000000:0000 " state REST uid "        0 " inode TAIL
#define V6(address, port, state, uid, inode) "  17: " address ":" port " 00000000000000000000000000000000:0000 " state \
	REST uid "        0 " inode TAIL
#define ANY6 "00000000000000000000000000000000"
#define MAPPED6 "0000000000000000FFFF00000100007F"

static bool take(const char *text, size_t n, GArray *into)
{
	g_autoptr(GError) error = NULL;
	FILE *f = tmpfile();

	g_assert_nonnull(f);
	g_assert_cmpuint(fwrite(text, 1, n, f), ==, n);
	rewind(f);
	bool ok = listeners_parse(f, into, &error);
	g_assert_true(ok == (error == NULL));
	fclose(f);
	return ok;
}

static GArray *parse(const char *text)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(struct listener));
	g_assert_true(take(text, strlen(text), all));
	return all;
}

static void test_tables(void)
{
	g_autoptr(GArray) v4 = parse(HEAD V4("14E0", "0A", " 1000", "4711") V4("14E0", "01", "    7", "4712")
		V4("FFFF", "0A", "4294967295", "18446744073709551615")
		" 1234567: 00000000:0000 00000000:0000 0a" REST "    0        0 9 extra columns\n");
	static const struct listener wanted[] = {
		{ 5344, 1000, 4711 }, { 65535, UINT32_MAX, UINT64_MAX }, { 0, 0, 9 },
	};

	g_assert_cmpuint(v4->len, ==, G_N_ELEMENTS(wanted));
	for (guint i = 0; i < v4->len; i++) {
		const struct listener *l = &g_array_index(v4, struct listener, i);
		g_assert_cmpuint(l->port, ==, wanted[i].port);
		g_assert_cmpuint(l->uid, ==, wanted[i].uid);
		g_assert_cmpuint(l->inode, ==, wanted[i].inode);
	}
	g_autoptr(GArray) v6 = parse(HEAD6 V6(ANY6, "14DE", "0A", " 1000", "5")
				     V6(MAPPED6, "14DF", "0A", " 1000", "6"));
	g_assert_cmpuint(v6->len, ==, 2);
	g_autoptr(GArray) none = parse(HEAD);
	g_assert_cmpuint(none->len, ==, 0);
}

/* A row that is not understood may be the one that matters: the whole table is refused. */
static void test_damaged_tables(void)
{
	static const char *const bad[] = {
		"", "\n", "x", V4("14E0", "0A", "1000", "1"), HEAD HEAD, HEAD "\n",
		HEAD "   0: 0100007F:14E0 00000000:0000 0A",
		HEAD V4("14E00", "0A", "1000", "1"), HEAD V4("4E0", "0A", "1000", "1"),
		HEAD V4("-4E0", "0A", "1000", "1"), HEAD V4("14E0", "A", "1000", "1"),
		HEAD V4("14E0", "00A", "1000", "1"), HEAD V4("14E0", "0A", "-1", "1"),
		HEAD V4("14E0", "0A", "4294967296", "1"), HEAD V4("14E0", "0A", "10000000000000", "1"),
		HEAD V4("14E0", "0A", "1000", "18446744073709551616"), HEAD V4("14E0", "0A", "1000", "-1"),
		HEAD V4("14E0", "0A", "root", "1"), HEAD V6("0100007F0100007F", "14E0", "0A", "1000", "1"),
		HEAD6 V6(ANY6 "0", "14E0", "0A", "1000", "1"), HEAD V4("14E0", "0A", "1000", "1") "   1: half",
		HEAD "   0: 0100007F:14E0 00000000:0000 0A" REST " 1000        0 1",	/* cut: its inode may be, too */
	};
	static const char zero[] = HEAD "   0: 0100007F:14E0 00000000:0000 0A" REST "\0 1000        0 1\n";
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(struct listener));

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
		if (take(bad[i], strlen(bad[i]), all))
			g_error("taken: %s", bad[i]);
	g_assert_false(take(zero, sizeof zero - 1, all));
}

static const uint16_t three[] = { 5342, 5343, 5344 };

static enum listeners_owner owner(const char *text, uint32_t uid, char **ret_sockets, uint32_t *ret_other)
{
	g_autoptr(GArray) all = parse(text);
	return listeners_owner_of(all, three, G_N_ELEMENTS(three), uid, ret_sockets, ret_other);
}

static void test_owner(void)
{
	static const struct { const char *text; enum listeners_owner wanted; } cases[] = {
		{ HEAD, LISTENERS_NONE },
		{ HEAD V4("14DE", "0A", "1000", "1") V4("14DF", "0A", "1000", "2"), LISTENERS_NONE },
		{ HEAD V4("14DE", "0A", "1000", "1") V4("14DF", "0A", "1000", "2") V4("14E0", "0A", "1000", "3"),
		  LISTENERS_OURS },
		{ HEAD V4("14DE", "0A", "1000", "1") V4("14DF", "0A", "1000", "2") V4("14E0", "0A", "0", "3"),
		  LISTENERS_FOREIGN },
		{ HEAD V4("14DE", "0A", "1001", "1"), LISTENERS_FOREIGN },		/* one is enough */
		{ HEAD V4("14DE", "01", "1001", "1"), LISTENERS_NONE },			/* it does not listen */
		{ HEAD V4("14DE", "0A", "1000", "1") V4("14DF", "0A", "1000", "2") V4("14E0", "0A", "1000", "3")
		  V6(ANY6, "14DF", "0A", "1001", "9"), LISTENERS_FOREIGN },		/* the other family */
		{ HEAD V4("14DE", "0A", "1000", "1") V6(MAPPED6, "14DF", "0A", "1000", "2")
		  V6(ANY6, "14E0", "0A", "1000", "3") V4("14E1", "0A", "1001", "4"), LISTENERS_OURS },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *sockets = NULL;
		uint32_t other = 1000;
		g_assert_cmpint(owner(cases[i].text, 1000, &sockets, &other), ==, cases[i].wanted);
		g_assert_true((sockets != NULL) == (cases[i].wanted == LISTENERS_OURS));
		g_assert_true((other != 1000) == (cases[i].wanted == LISTENERS_FOREIGN));
	}
}

/* The order of a table says nothing; another inode, or one more, is another daemon. */
static void test_sockets(void)
{
	uint32_t other;
	g_autofree char *a = NULL, *same = NULL, *reopened = NULL, *more = NULL;

	owner(HEAD V4("14DE", "0A", "5", "1") V4("14DF", "0A", "5", "2") V4("14E0", "0A", "5", "3"), 5, &a, &other);
	owner(HEAD V4("14E0", "0A", "5", "3") V4("14DF", "0A", "5", "2") V4("14DE", "0A", "5", "1")
	      V4("0016", "0A", "0", "7"), 5, &same, &other);
	owner(HEAD V4("14DE", "0A", "5", "1") V4("14DF", "0A", "5", "2") V4("14E0", "0A", "5", "4"), 5, &reopened,
	      &other);
	owner(HEAD V4("14DE", "0A", "5", "1") V4("14DF", "0A", "5", "2") V4("14E0", "0A", "5", "3")
	      V6(ANY6, "14E0", "0A", "5", "4"), 5, &more, &other);
	g_assert_cmpstr(a, ==, same);
	g_assert_cmpstr(a, !=, reopened);
	g_assert_cmpstr(a, !=, more);
}

/* ---- this machine ---- */

static int listen6(uint16_t *ret_port)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6, .sin6_addr = in6addr_any };
	socklen_t len = sizeof a;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) || listen(fd, 1) ||
	    getsockname(fd, (struct sockaddr *)&a, &len)) {
		close(fd);
		return -1;
	}
	*ret_port = ntohs(a.sin6_port);
	return fd;
}

static enum listeners_owner owner_here(uint16_t port, char **ret_sockets, uint32_t *ret_uid)
{
	g_autoptr(GError) error = NULL;
	enum listeners_owner o = listeners_owner(&port, 1, ret_sockets, ret_uid, &error);
	g_assert_no_error(error);
	return o;
}

static void check_here(uint16_t port, int fd)
{
	g_autofree char *first = NULL, *again = NULL, *none = NULL;
	uint32_t uid;

	g_assert_cmpint(owner_here(port, &first, &uid), ==, LISTENERS_OURS);
	g_assert_cmpint(owner_here(port, &again, &uid), ==, LISTENERS_OURS);
	g_assert_cmpstr(first, ==, again);
	close(fd);
	g_assert_cmpint(owner_here(port, &none, &uid), ==, LISTENERS_NONE);
}

static void test_here(void)
{
	g_autoptr(GError) error = NULL;
	uint16_t port;
	int fd = net_listen_local(&port, &error);

	g_assert_no_error(error);
	check_here(port, fd);
	fd = listen6(&port);
	if (fd < 0)
		g_test_skip("no IPv6");
	else
		check_here(port, fd);
}

static void test_other_user(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *sockets = NULL;
	uint16_t port;
	uint32_t uid = 0;

	if (geteuid() || seteuid(35002)) {
		g_test_skip("only root can take another user's place");
		return;
	}
	int fd = net_listen_local(&port, &error);
	g_assert_no_errno(seteuid(0));
	g_assert_no_error(error);
	g_assert_cmpint(owner_here(port, &sockets, &uid), ==, LISTENERS_FOREIGN);
	g_assert_cmpuint(uid, ==, 35002);
	/* and root's, for that user */
	close(fd);
	fd = net_listen_local(&port, &error);
	g_assert_no_errno(seteuid(35002));
	g_assert_cmpint(owner_here(port, &sockets, &uid), ==, LISTENERS_FOREIGN);
	g_assert_no_errno(seteuid(0));
	g_assert_cmpuint(uid, ==, 0);
	close(fd);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/listeners/tables", test_tables);
	g_test_add_func("/listeners/damaged-tables", test_damaged_tables);
	g_test_add_func("/listeners/owner", test_owner);
	g_test_add_func("/listeners/sockets", test_sockets);
	g_test_add_func("/listeners/this-machine", test_here);
	g_test_add_func("/listeners/other-user", test_other_user);
	return g_test_run();
}
