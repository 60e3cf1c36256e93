/* SPDX-License-Identifier: GPL-2.0-only */
/* Addresses of relays and sessions. */
#include <sys/socket.h>

#include "live/live.h"

static const struct {
	const char *text, *host;
	unsigned port;
	const char *target, *session;
	int family;
	const char *formatted;
} good[] = {
	{ "relay", "relay", 5344, NULL, NULL, AF_UNSPEC, "net://relay:5344" },
	{ "relay:1", "relay", 1, NULL, NULL, AF_UNSPEC, "net://relay:1" },
	{ "relay/", "relay", 5344, NULL, NULL, AF_UNSPEC, "net://relay:5344" },
	{ "[::1]", "::1", 5344, NULL, NULL, AF_UNSPEC, "net://[::1]:5344" },
	{ "[fe80::1%eth0]:65535", "fe80::1%eth0", 65535, NULL, NULL, AF_UNSPEC,
	  "net://[fe80::1%eth0]:65535" },
	{ "net://10.0.0.1", "10.0.0.1", 5344, NULL, NULL, AF_UNSPEC, "net://10.0.0.1:5344" },
	{ "net4://r:5344/", "r", 5344, NULL, NULL, AF_INET, "net4://r:5344" },
	{ "net6://r", "r", 5344, NULL, NULL, AF_INET6, "net6://r:5344" },
	{ "net://r/host/web-1/spans", "r", 5344, "web-1", "spans", AF_UNSPEC,
	  "net://r:5344/host/web-1/spans" },
	{ "net://r:99/host/h/a b%20c/", "r", 99, "h", "a b%20c", AF_UNSPEC,
	  "net://r:99/host/h/a b%20c" },
	{ "net6://[::1]:7/host/h/s", "::1", 7, "h", "s", AF_INET6, "net6://[::1]:7/host/h/s" },
};

static void test_good(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		g_autoptr(GError) error = NULL;
		struct live_url url;
		g_test_message("case %zu", i);
		g_assert_true(live_url_parse(good[i].text, &url, &error));
		g_assert_no_error(error);
		g_assert_cmpstr(url.host, ==, good[i].host);
		g_assert_cmpuint(url.port, ==, good[i].port);
		g_assert_cmpstr(url.target, ==, good[i].target);
		g_assert_cmpstr(url.session, ==, good[i].session);
		g_assert_cmpint(url.family, ==, good[i].family);
		g_autofree char *text = live_url_format(&url);
		g_assert_cmpstr(text, ==, good[i].formatted);
		live_url_clear(&url);
		g_assert_null(url.host);
	}
}

/* What is formatted is read as the same. */
static void test_round_trip(void)
{
	for (size_t i = 0; i < G_N_ELEMENTS(good); i++) {
		struct live_url url;
		g_assert_true(live_url_parse(good[i].formatted, &url, NULL));
		g_autofree char *text = live_url_format(&url);
		g_assert_cmpstr(text, ==, good[i].formatted);
		live_url_clear(&url);
	}
}

static void test_bad(void)
{
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "empty" },
		{ "r\nx", "control character" },
		{ "\033[2J", "control character" },
		{ "tcp://r", "expected net://" },
		{ "http://r:5344/host/a/b", "expected net://" },
		{ "://r", "expected net://" },
		{ "net://", "host is missing" },
		{ ":5344", "host is missing" },
		{ "net:///host/a/b", "host is missing" },
		{ "r:", "port is missing" },
		{ "r:0", "port is 0" },
		{ "r:65536", "above 65535" },
		{ "r:99999999999999999999999", "above 65535" },
		{ "r:-1", "not a number" },
		{ "r:53x", "not a number" },
		{ "::1", "in brackets" },
		{ "fe80::1:5344", "in brackets" },
		{ "[::1", "']' is missing" },
		{ "[relay]:1", "not an IPv6 address" },
		{ "[::1]x", "may follow" },
		{ "[::1]:", "port is missing" },
		{ "user@r", "does not belong" },
		{ "r s", "does not belong" },
		{ "r?x", "does not belong" },
		{ "net://r/spans", "/host/NAME/SESSION" },
		{ "net://r/host", "/host/NAME/SESSION" },
		{ "net://r/host/", "session's name is missing" },
		{ "net://r/host/a", "session's name is missing" },
		{ "net://r/host/a/", "session's name is missing" },
		{ "net://r/host//b", "traced host's name is missing" },
		{ "net://r/host/a/b/c", "something after" },
		{ "net://r/host/a/b//", "something after" },
	};
	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		struct live_url url = { 0 };
		g_test_message("case %zu: %s", i, bad[i].why);
		g_assert_false(live_url_parse(bad[i].text, &url, &error));
		g_assert_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT);
		g_assert_nonnull(strstr(error->message, bad[i].why));
		g_assert_null(strchr(error->message, '\033'));
		g_assert_null(url.host);
	}
}

static void check_length(const char *before, size_t n, const char *after, bool ok)
{
	g_autofree char *middle = g_strnfill(n, 'x');
	g_autofree char *text = g_strconcat(before, middle, after, NULL);
	g_autoptr(GError) error = NULL;
	struct live_url url;

	g_assert_true(live_url_parse(text, &url, &error) == ok);
	if (ok)
		live_url_clear(&url);
	else
		g_assert_nonnull(strstr(error->message, "too long"));
}

static void test_lengths(void)
{
	check_length("", 255, "", true);
	check_length("", 256, ":1", false);
	check_length("net://r/host/", 63, "/s", true);
	check_length("net://r/host/", 64, "/s", false);
	check_length("net://r/host/h/", 254, "", true);
	check_length("net://r/host/h/", 255, "", false);
	check_length("", 100000, "", false);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/live-url/good", test_good);
	g_test_add_func("/live-url/round-trip", test_round_trip);
	g_test_add_func("/live-url/bad", test_bad);
	g_test_add_func("/live-url/lengths", test_lengths);
	return g_test_run();
}
