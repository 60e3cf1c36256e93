/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parses the address of a relay, and of a session on it, that the user gave (struct live_url in live.h). No
 * percent escapes are decoded.
 */
#include "live/live.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"

static bool refuse(GError **error, const char *text, const char *why)
{
	g_autofree char *shown = text_visible(text);

	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT,
		    "cannot use '%.200s' as a relay's address: %s", shown, why);
}

/* Parses the scheme: *rest is what follows. A text without "://" has no scheme. */
static const char *parse_scheme(const char *text, const char **rest, int *family)
{
	static const struct {
		const char *name;
		int family;
	} schemes[] = {
		{ "net://", AF_UNSPEC }, { "net4://", AF_INET }, { "net6://", AF_INET6 },
	};
	*rest = text;
	*family = AF_UNSPEC;
	if (!strstr(text, "://"))
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++) {
		if (!g_str_has_prefix(text, schemes[i].name))
			continue;
		*rest = text + strlen(schemes[i].name);
		*family = schemes[i].family;
		return NULL;
	}
	return "expected net://HOST[:PORT][/host/NAME/SESSION]";
}

static const char *parse_port(const char *text, uint16_t *port)
{
	unsigned long n = 0;

	if (!*text)
		return "the port is missing after ':'";
	for (const char *p = text; *p; p++) {
		if (!g_ascii_isdigit(*p))
			return "the port is not a number";
		n = n * 10 + (unsigned long)(*p - '0');
		if (n > 65535)
			return "the port is above 65535";
	}
	if (!n)
		return "the port is 0";
	*port = (uint16_t)n;
	return NULL;
}

/* HOST, HOST:PORT, [V6], [V6]:PORT */
static const char *parse_authority(char *text, struct live_url *url)
{
	char *host = text, *end;

	if (*text == '[') {
		host = text + 1;
		end = strchr(host, ']');
		if (!end)
			return "']' is missing after the IPv6 address";
		*end++ = '\0';
		if (!strchr(host, ':'))
			return "what is in brackets is not an IPv6 address";
		if (*end && *end != ':')
			return "only ':PORT' may follow ']'";
	} else {
		end = strchr(host, ':');
		if (end && strchr(end + 1, ':'))
			return "an IPv6 address has to be in brackets, as in [::1]:5344";
		if (!end)
			end = host + strlen(host);
	}
	url->port = LIVE_DEFAULT_PORT;
	if (*end == ':') {
		const char *why = parse_port(end + 1, &url->port);
		if (why)
			return why;
		*end = '\0';
	}
	if (!*host)
		return "the host is missing";
	if (strlen(host) > LIMIT_HOST_BYTES)
		return "the host's name is too long";
	url->host = g_strdup(host);
	return NULL;
}

/* "", "/", "/host/TARGET/SESSION[/]" */
static const char *parse_path(const char *path, struct live_url *url)
{
	if (!*path || !strcmp(path, "/"))
		return NULL;
	if (!g_str_has_prefix(path, "/host/"))
		return "after the relay comes /host/NAME/SESSION or nothing";
	g_auto(GStrv) part = g_strsplit(path + strlen("/host/"), "/", 4);
	guint n = g_strv_length(part);
	if (n == 3 && !*part[2])
		n = 2;
	if (n < 2 || !*part[1])
		return "the session's name is missing, as in /host/NAME/SESSION";
	if (n > 2)
		return "there is something after the session's name";
	if (!*part[0])
		return "the traced host's name is missing, as in /host/NAME/SESSION";
	if (strlen(part[0]) > LIMIT_TARGET_BYTES)
		return "the traced host's name is too long";
	if (strlen(part[1]) > LIMIT_SESSION_BYTES)
		return "the session's name is too long";
	url->target = g_strdup(part[0]);
	url->session = g_strdup(part[1]);
	return NULL;
}

static const char *check_bytes(const char *text)
{
	if (!*text)
		return "it is empty";
	if (strlen(text) > LIMIT_URL_BYTES)
		return "it is too long";
	for (const char *p = text; *p; p++) {
		if (g_ascii_iscntrl(*p))
			return "it has a control character";
	}
	return NULL;
}

bool live_url_parse(const char *text, struct live_url *ret, GError **error)
{
	struct live_url url = { 0 };
	const char *rest = text, *why = check_bytes(text);

	if (!why)
		why = parse_scheme(text, &rest, &url.family);
	if (why)
		return refuse(error, text, why);
	size_t len = strcspn(rest, "/");
	g_autofree char *authority = g_strndup(rest, len);
	if (strpbrk(authority, " @?#"))
		why = "the host's name has a character that does not belong there";
	if (!why)
		why = parse_authority(authority, &url);
	if (!why)
		why = parse_path(rest + len, &url);
	if (why) {
		live_url_clear(&url);
		return refuse(error, text, why);
	}
	*ret = url;
	return true;
}

char *live_url_format(const struct live_url *url)
{
	const char *scheme = url->family == AF_INET ? "net4" :
			     url->family == AF_INET6 ? "net6" : "net";
	bool v6 = strchr(url->host, ':');
	GString *s = g_string_new(NULL);

	g_string_printf(s, "%s://%s%s%s:%u", scheme, v6 ? "[" : "", url->host, v6 ? "]" : "",
			url->port);
	if (url->target && url->session)
		g_string_append_printf(s, "/host/%s/%s", url->target, url->session);
	return g_string_free(s, FALSE);
}

void live_url_clear(struct live_url *url)
{
	g_free(url->host);
	g_free(url->target);
	g_free(url->session);
	*url = (struct live_url){ 0 };
}
