/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server of /metrics: see server.h.
 *
 * Connections are accepted here and given to libsoup's server. Its own listener would stop for ever at the first
 * accept() that fails, and has neither a time limit nor a number of connections.
 */
#include "send/server.h"

#include "send/host_names.h"
#include "send/request_stream.h"
#include "send/totals_text.h"

#include "base/limits.h"

#include <libsoup/soup.h>
#include <string.h>
#include <unistd.h>

#define SWEEP_MS 250		/* how often it is looked for clients that took too long */

struct server {
	struct totals *totals;
	char **names;			/* host_names.h */
	GSocket *socket;		/* listens */
	GMainContext *context;
	GMainLoop *loop;
	GThread *thread;
	SoupServer *soup;		/* this and the following: its thread only */
	GSource *accepts;		/* NULL: until the next look, as there were too many open files */
	GQueue clients;			/* struct client *, the oldest first; without those that are ending */
	unsigned n_ending;		/* of those, libsoup has yet to notice it */
};

struct client {
	struct server *server;
	GSocketConnection *connection;
	GSocketAddress *remote;		/* libsoup's messages have the same object */
	GBytes *text;			/* that is sent to it, or NULL */
	gint64 since;			/* us, monotonic */
	bool is_ending;
};

/* libsoup ends it when the socket fails. */
static void client_end(struct client *c)
{
	g_queue_remove(&c->server->clients, c);
	c->server->n_ending++;
	c->is_ending = true;
	g_socket_shutdown(g_socket_connection_get_socket(c->connection), true, true, NULL);
}

/* libsoup is done with its stream. */
static void client_free(gpointer data, GObject *stream)
{
	struct client *c = data;
	if (c->is_ending)
		c->server->n_ending--;
	else
		g_queue_remove(&c->server->clients, c);
	g_io_stream_close(G_IO_STREAM(c->connection), NULL, NULL);
	g_object_unref(c->connection);
	g_object_unref(c->remote);
	g_clear_pointer(&c->text, g_bytes_unref);
	g_free(c);
}

static void give_to_soup(struct server *s, GSocket *accepted, GSocketAddress *local, GSocketAddress *remote)
{
	struct client *c = g_new0(struct client, 1);
	c->server = s;
	c->since = g_get_monotonic_time();
	c->remote = g_object_ref(remote);
	c->connection = g_socket_connection_factory_create_connection(accepted);
	g_queue_push_tail(&s->clients, c);
	GIOStream *both = G_IO_STREAM(c->connection);
	g_autoptr(GInputStream) request = request_stream_new(g_io_stream_get_input_stream(both));
	g_autoptr(GIOStream) stream = g_simple_io_stream_new(request, g_io_stream_get_output_stream(both));
	g_object_weak_ref(G_OBJECT(stream), client_free, c);
	/* On an error the stream ends here, and the client with it. */
	soup_server_accept_iostream(s->soup, stream, local, remote, NULL);
}

static gboolean accept_client(GSocket *socket, GIOCondition condition, gpointer data)
{
	struct server *s = data;
	g_autoptr(GError) error = NULL;
	g_autoptr(GSocket) accepted = g_socket_accept(socket, NULL, &error);
	if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TOO_MANY_OPEN_FILES)) {
		g_clear_pointer(&s->accepts, g_source_unref);
		return G_SOURCE_REMOVE;
	}
	g_autoptr(GSocketAddress) local = accepted ? g_socket_get_local_address(accepted, NULL) : NULL;
	g_autoptr(GSocketAddress) remote = accepted ? g_socket_get_remote_address(accepted, NULL) : NULL;
	if (!local || !remote || s->n_ending >= LIMIT_SCRAPERS)
		return G_SOURCE_CONTINUE;	/* it has gone already; or the new one is closed */
	if (s->clients.length >= LIMIT_SCRAPERS)
		client_end(g_queue_peek_head(&s->clients));
	g_socket_set_blocking(accepted, false);
	give_to_soup(s, accepted, local, remote);
	return G_SOURCE_CONTINUE;
}

static GSource *attach(struct server *s, GSource *source, GSourceFunc call)
{
	g_source_set_callback(source, call, s, NULL);
	g_source_attach(source, s->context);
	return source;
}

static void accept_clients(struct server *s)
{
	s->accepts = attach(s, g_socket_create_source(s->socket, G_IO_IN, NULL),
			    (GSourceFunc)(void (*)(void))accept_client);
}

static gboolean sweep(gpointer data)
{
	struct server *s = data;
	gint64 limit = g_get_monotonic_time() - (gint64)LIMIT_SCRAPE_SECONDS * G_USEC_PER_SEC;
	while (s->clients.head && ((struct client *)s->clients.head->data)->since < limit)
		client_end(s->clients.head->data);
	if (!s->accepts)
		accept_clients(s);
	return G_SOURCE_CONTINUE;
}

/* ---- HTTP ---- */

/* Does the first format that Accept names, the best one first, and that is known here, mean OpenMetrics? */
static bool wants_openmetrics(SoupMessageHeaders *headers)
{
	const char *accept = soup_message_headers_get_list(headers, "Accept");
	GSList *list = accept ? soup_header_parse_quality_list(accept, NULL) : NULL;
	bool found = false, openmetrics = false;
	for (GSList *at = list; at && !found; at = at->next) {
		g_auto(GStrv) parts = g_strsplit(at->data, ";", 2);
		const char *type = g_strstrip(parts[0]);
		openmetrics = !g_ascii_strcasecmp(type, "application/openmetrics-text");
		found = openmetrics || !g_ascii_strcasecmp(type, "text/plain") || !strcmp(type, "text/*") ||
			!strcmp(type, "*/*");
	}
	soup_header_free_list(list);
	return openmetrics;
}

static void set_text(SoupServerMessage *m, guint status, const char *reason, const char *text)
{
	soup_server_message_set_status(m, status, reason);
	soup_server_message_set_response(m, "text/plain; charset=utf-8", SOUP_MEMORY_STATIC, text, strlen(text));
}

/* Before a body is read. With a status other than 0 there is no answer() to the request. */
static void check(SoupServer *soup, SoupServerMessage *m, const char *path, GHashTable *query, gpointer data)
{
	struct server *s = data;
	const char *method = soup_server_message_get_method(m);
	SoupMessageHeaders *headers = soup_server_message_get_response_headers(m);
	SoupMessageHeaders *request = soup_server_message_get_request_headers(m);
	soup_message_headers_replace(headers, "Connection", "close");
	/* libsoup would answer each of any number of ranges. */
	soup_message_headers_remove(request, "Range");
	if (!host_names_have(s->names, g_uri_get_host(soup_server_message_get_uri(m)))) {
		set_text(m, SOUP_STATUS_MISDIRECTED_REQUEST, "Misdirected Request",
			 "Host is no name of this server: ask by address, or start blktop with --listen-host NAME\n");
	} else if (!g_str_equal(path, "/metrics")) {
		set_text(m, SOUP_STATUS_NOT_FOUND, NULL, "blktop has /metrics\n");
	} else if (method != SOUP_METHOD_GET && method != SOUP_METHOD_HEAD) {
		soup_message_headers_replace(headers, "Allow", "GET, HEAD");
		set_text(m, SOUP_STATUS_METHOD_NOT_ALLOWED, NULL, "read only\n");
	} else if (soup_message_headers_get_encoding(request) != SOUP_ENCODING_NONE &&
		   !(soup_message_headers_get_encoding(request) == SOUP_ENCODING_CONTENT_LENGTH &&
		     !soup_message_headers_get_content_length(request))) {
		set_text(m, SOUP_STATUS_REQUEST_ENTITY_TOO_LARGE, NULL, "a body is not read\n");
	}
}

static struct client *first_with(const struct server *s, const GBytes *text)
{
	GList *at = s->clients.head;
	while (at && ((struct client *)at->data)->text != text)
		at = at->next;
	return at ? at->data : NULL;
}

/* How many different texts are being sent? *ret_first: to whom, the oldest of the connections; NULL: none is. */
static unsigned count_texts(const struct server *s, struct client **ret_first)
{
	unsigned n = 0;
	*ret_first = NULL;
	for (GList *at = s->clients.head; at; at = at->next) {
		struct client *c = at->data;
		if (c->text && !n)
			*ret_first = c;
		n += c->text && first_with(s, c->text) == c;
	}
	return n;
}

/* Those who read slowly must not make many states of the totals stay in memory. */
static void note_text(struct server *s, GSocketAddress *remote, GBytes *text)
{
	struct client *first;
	for (GList *at = s->clients.head; at; at = at->next) {
		struct client *c = at->data;
		if (c->remote == remote && !c->text)
			c->text = g_bytes_ref(text);
	}
	while (count_texts(s, &first) > LIMIT_SCRAPED_TEXTS)
		client_end(first);
}

static void answer(SoupServer *soup, SoupServerMessage *m, const char *path, GHashTable *query, gpointer data)
{
	struct server *s = data;
	SoupMessageHeaders *headers = soup_server_message_get_response_headers(m);
	bool openmetrics = wants_openmetrics(soup_server_message_get_request_headers(m));
	g_autoptr(GBytes) text = totals_text(s->totals, openmetrics);
	soup_server_message_set_status(m, SOUP_STATUS_OK, NULL);
	soup_message_headers_replace(headers, "Content-Type", totals_text_type(openmetrics));
	soup_message_headers_replace(headers, "Vary", "Accept");
	soup_message_body_append_bytes(soup_server_message_get_response_body(m), text);
	note_text(s, soup_server_message_get_remote_address(m), text);
}

/* ---- the thread ---- */

static gpointer serve(gpointer data)
{
	struct server *s = data;
	g_main_context_push_thread_default(s->context);
	s->soup = soup_server_new("server-header", "blktop", NULL);
	soup_server_add_early_handler(s->soup, NULL, check, s, NULL);
	soup_server_add_handler(s->soup, NULL, answer, s, NULL);
	accept_clients(s);
	GSource *sweeps = attach(s, g_timeout_source_new(SWEEP_MS), sweep);
	g_main_loop_run(s->loop);
	if (s->accepts)
		g_source_destroy(s->accepts);
	g_clear_pointer(&s->accepts, g_source_unref);
	g_source_destroy(sweeps);
	g_source_unref(sweeps);
	soup_server_disconnect(s->soup);
	g_object_unref(s->soup);
	while (g_main_context_iteration(s->context, false))
		;			/* what libsoup has yet to free */
	g_main_context_pop_thread_default(s->context);
	return NULL;
}

struct server *server_start(int fd, char **names, struct totals *totals, GError **error)
{
	GSocket *socket = g_socket_new_from_fd(fd, error);
	if (!socket) {
		close(fd);
		return NULL;
	}
	struct server *s = g_new0(struct server, 1);
	s->totals = totals;
	s->names = names;
	s->socket = socket;
	g_socket_set_blocking(socket, false);
	s->context = g_main_context_new();
	s->loop = g_main_loop_new(s->context, false);
	s->thread = g_thread_new("blk-server", serve, s);
	return s;
}

static gboolean quit(gpointer data)
{
	g_main_loop_quit(data);
	return G_SOURCE_REMOVE;
}

void server_stop(struct server *s)
{
	if (!s)
		return;
	/* The loop may not run yet: g_main_loop_quit() would do nothing then. */
	GSource *source = g_idle_source_new();
	g_source_set_callback(source, quit, s->loop, NULL);
	g_source_attach(source, s->context);
	g_source_unref(source);
	g_thread_join(s->thread);
	g_socket_close(s->socket, NULL);
	g_object_unref(s->socket);
	g_main_loop_unref(s->loop);
	g_main_context_unref(s->context);
	g_free(s);
}
