/* SPDX-License-Identifier: GPL-2.0-only */
/* POST over HTTP/1.1: see http.h. */
#include "send/http.h"

#include "base/fail.h"
#include "live/viewer/connector.h"

#include <gio/gio.h>
#include <string.h>

#define INVALID G_IO_ERROR, G_IO_ERROR_INVALID_DATA

#define REFUSAL_MS 100		/* to read an answer that was there when the request could not be written */

/* ---- URLs ---- */

static bool is_printable(const char *text)
{
	for (const char *at = text; *at; at++)
		if (*at <= ' ' || *at > '~' || *at == '#')
			return false;
	return true;
}

bool http_url_parse(const char *text, struct http_url *ret, GError **error)
{
	static const char scheme[] = "http://", form[] = "a URL is http://HOST[:PORT]/PATH";
	*ret = (struct http_url){ 0 };
	if (g_str_has_prefix(text, "https://"))
		return fail(error, INVALID, "https is not supported: name a collector or proxy of this machine");
	if (!g_str_has_prefix(text, scheme) || !is_printable(text))
		return fail(error, INVALID, "%s", form);
	const char *host = text + strlen(scheme), *path = strchr(host, '/');
	g_autofree char *server = g_strndup(host, path ? (size_t)(path - host) : strlen(host));
	g_autofree char *with_port = g_strdup_printf("%s:80", server);
	const char *colon = strrchr(server, ':'), *bracket = strrchr(server, ']');
	bool has_port = colon && (!bracket || colon > bracket);
	if (!*server || !live_url_parse(has_port ? server : with_port, &ret->server, NULL))
		return fail(error, INVALID, "%s", form);
	ret->path = g_strdup(path ? path : "/");
	return true;
}

void http_url_clear(struct http_url *url)
{
	live_url_clear(&url->server);
	g_clear_pointer(&url->path, g_free);
}

/* ---- the answer ---- */

/* The value of a header line, in *ret (g_free). False: it is not that header. */
static bool is_header(const char *line, const char *name, char **ret)
{
	size_t n = strlen(name);
	if (g_ascii_strncasecmp(line, name, n) != 0 || line[n] != ':')
		return false;
	*ret = g_strstrip(g_strdup(line + n + 1));
	return true;
}

struct http_head {
	unsigned status;
	uint64_t body;			/* bytes */
	bool has_body_length, closes;
	int64_t retry_after_s;
};

static bool parse_status(const char *line, struct http_head *ret)
{
	bool is_http = g_str_has_prefix(line, "HTTP/1.") && g_ascii_isdigit(line[7]) && line[8] == ' ';
	for (int i = 9; is_http && i < 12; i++) {
		is_http = g_ascii_isdigit(line[i]);
		ret->status = ret->status * 10 + (unsigned)g_ascii_digit_value(line[i]);
	}
	ret->closes = is_http && line[7] == '0';
	return is_http && (line[12] == ' ' || !line[12]) && ret->status >= 100 && ret->status < 600;
}

static bool parse_head(const char *text, struct http_head *ret)
{
	g_auto(GStrv) lines = g_strsplit(text, "\r\n", -1);
	*ret = (struct http_head){ .retry_after_s = -1 };
	if (!parse_status(lines[0], ret))
		return false;
	for (char **line = lines + 1; *line; line++) {
		g_autofree char *value = NULL;
		guint64 n;
		if (is_header(*line, "Content-Length", &value)) {
			ret->has_body_length = g_ascii_string_to_unsigned(value, 10, 0, G_MAXUINT32, &ret->body, NULL);
			if (!ret->has_body_length)
				return false;
		} else if (is_header(*line, "Retry-After", &value)) {
			if (g_ascii_string_to_unsigned(value, 10, 0, G_MAXINT32, &n, NULL))
				ret->retry_after_s = (int64_t)n;
		} else if (is_header(*line, "Connection", &value)) {
			ret->closes |= !g_ascii_strcasecmp(value, "close");
		} else if (is_header(*line, "Transfer-Encoding", &value)) {
			ret->closes = true;	/* its end is not looked for */
		}
	}
	if (ret->status < 200 || ret->status == 204)
		ret->has_body_length = true;
	return true;
}

/* Reads until there are `most` bytes, or `until` is there, from `begin` on. *n: bytes so far. */
static bool read_until(struct http *h, struct http_answer *a, size_t begin, size_t *n, const char *until, size_t most,
		       int64_t deadline, GError **error)
{
	while (*n < most && !(until && strstr(a->bytes + begin, until))) {
		size_t got = net_read_some(&h->net, a->bytes + *n, most - *n, deadline, error);
		if (!got)
			return false;
		if (memchr(a->bytes + *n, '\0', got))
			return fail(error, INVALID, "the answer is not HTTP");
		*n += got;
		a->bytes[*n] = '\0';
	}
	return true;
}

static bool read_answer(struct http *h, struct http_answer *a, int64_t deadline, GError **error)
{
	struct http_head head = { 0 };
	size_t n = 0, begin = 0;
	a->bytes[0] = '\0';
	do {				/* 100 Continue may come first; all heads have room for LIMIT_ANSWER_BYTES */
		if (!read_until(h, a, begin, &n, "\r\n\r\n", LIMIT_ANSWER_BYTES, deadline, error))
			return false;
		char *end = strstr(a->bytes + begin, "\r\n\r\n");
		if (!end)
			return fail(error, INVALID, "the answer is not HTTP, or too long");
		*end = '\0';
		if (!parse_head(a->bytes + begin, &head))
			return fail(error, INVALID, "the answer is not HTTP");
		begin = (size_t)(end - a->bytes) + 4;
	} while (head.status < 200);
	a->status = head.status;
	a->retry_after_s = head.retry_after_s;
	/* What is longer, or of unknown length, is not read: the connection ends. */
	bool whole = head.has_body_length && head.body <= LIMIT_ANSWER_BYTES - begin && n <= begin + head.body &&
		     read_until(h, a, begin, &n, NULL, begin + head.body, deadline, NULL);
	a->body = a->bytes + (whole ? begin : n);	/* or "" */
	if (!whole || head.closes)
		net_close(&h->net);
	return true;
}

/* ---- the request ---- */

enum http_result http_post(struct http *h, const char *body, size_t size, int cancel, struct http_answer *ret,
			   GError **error)
{
	const struct live_url *u = &h->url->server;
	int64_t deadline = net_deadline(LIMIT_ANSWER_SECONDS * 1000);
	if (h->net.fd >= 0 && net_is_stale(&h->net))
		net_close(&h->net);
	if (h->net.fd < 0 && !connector_connect(&h->net, u, cancel, deadline, error))
		return HTTP_NOT_CONNECTED;
	g_autofree char *head = g_strdup_printf(strchr(u->host, ':') ?
		"POST %s HTTP/1.1\r\nHost: [%s]:%u\r\nUser-Agent: blktop/" BLKTOP_VERSION "\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n" :
		"POST %s HTTP/1.1\r\nHost: %s:%u\r\nUser-Agent: blktop/" BLKTOP_VERSION "\r\n"
		"Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n", h->url->path, u->host, u->port, size);
	g_autoptr(GError) why = NULL;
	bool wrote = net_write(&h->net, head, strlen(head), deadline, &why) &&
		     net_write(&h->net, body, size, deadline, &why);
	/* A server may refuse a body that it did not read. Its answer has come already. */
	if (read_answer(h, ret, wrote ? deadline : net_deadline(REFUSAL_MS), why ? NULL : &why))
		return HTTP_ANSWERED;
	net_close(&h->net);
	g_propagate_error(error, g_steal_pointer(&why));
	return HTTP_NO_ANSWER;
}
