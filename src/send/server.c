/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The server of /metrics: see server.h.
 *
 * A client's request is received here, up to a bound, and only then given to libsoup, which has no bounds of its own.
 * libsoup reads it from memory and writes its answer to the socket.
 */
#include "send/server.h"

#include <gio/gio.h>
#include <unistd.h>

#ifdef BLK_HAVE_SOUP

#include "send/totals_text.h"

#include "base/limits.h"

#include <libsoup/soup.h>
#include <string.h>

#define SWEEP_MS 250		/* how often it is looked for clients that took too long */

struct server {
	struct totals *totals;
	GSocket *socket;		/* listens */
	GMainContext *context;
	GMainLoop *loop;
	GThread *thread;
	SoupServer *soup;		/* this and the clients: its thread only */
	GQueue clients;			/* struct client *, the oldest first */
};

struct client {
	struct server *server;
	GSocketConnection *connection;
	GSocketAddress *local, *remote;
	GSource *source;		/* waits for more of the request; NULL: it is complete */
	gint64 since;			/* us, monotonic */
	gsize n;			/* bytes of the request so far */
	char request[LIMIT_REQUEST_BYTES + 1];
};

static void client_free(struct client *c)
{
	g_queue_remove(&c->server->clients, c);
	if (c->source) {
		g_source_destroy(c->source);
		g_source_unref(c->source);
	}
	g_io_stream_close(G_IO_STREAM(c->connection), NULL, NULL);
	g_object_unref(c->connection);
	g_clear_object(&c->local);
	g_clear_object(&c->remote);
	g_free(c);
}

/* Once libsoup has the client, it ends it when the socket fails. */
static void client_end(struct client *c)
{
	if (c->source)
		client_free(c);
	else
		g_socket_shutdown(g_socket_connection_get_socket(c->connection), true, true, NULL);
}

static void answered(gpointer data, GObject *stream)
{
	client_free(data);
}

static void give_to_soup(struct client *c)
{
	g_autoptr(GInputStream) in = g_memory_input_stream_new_from_data(g_memdup2(c->request, c->n), (gssize)c->n,
									 g_free);
	GOutputStream *out = g_io_stream_get_output_stream(G_IO_STREAM(c->connection));
	g_autoptr(GIOStream) stream = g_simple_io_stream_new(in, out);
	g_clear_pointer(&c->source, g_source_unref);
	g_object_weak_ref(G_OBJECT(stream), answered, c);
	/* On an error the stream ends here, and the client with it. */
	soup_server_accept_iostream(c->server->soup, stream, c->local, c->remote, NULL);
}

/* A refusal that needs no libsoup. The client may not read it. */
static void refuse(struct client *c)
{
	static const char text[] = "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n"
				   "Content-Length: 0\r\n\r\n";
	g_socket_send(g_socket_connection_get_socket(c->connection), text, sizeof text - 1, NULL, NULL);
	client_free(c);
}

static gboolean receive(GSocket *socket, GIOCondition condition, gpointer data)
{
	struct client *c = data;
	g_autoptr(GError) error = NULL;
	gssize got = g_socket_receive(socket, c->request + c->n, LIMIT_REQUEST_BYTES - c->n, NULL, &error);
	if (got < 0 && g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
		return G_SOURCE_CONTINUE;
	if (got <= 0) {
		client_free(c);
		return G_SOURCE_REMOVE;
	}
	c->n += (gsize)got;
	/* A request has text only. What follows its end is not read: it would be a body. */
	char *end = memchr(c->request, '\0', c->n) ? NULL : strstr(c->request, "\r\n\r\n");
	if (end) {
		c->n = (gsize)(end + 4 - c->request);
		give_to_soup(c);
		return G_SOURCE_REMOVE;
	}
	if (c->n < LIMIT_REQUEST_BYTES)
		return G_SOURCE_CONTINUE;
	refuse(c);
	return G_SOURCE_REMOVE;
}

static gboolean accept_client(GSocket *socket, GIOCondition condition, gpointer data)
{
	struct server *s = data;
	g_autoptr(GSocket) accepted = g_socket_accept(socket, NULL, NULL);
	g_autoptr(GSocketAddress) local = accepted ? g_socket_get_local_address(accepted, NULL) : NULL;
	g_autoptr(GSocketAddress) remote = accepted ? g_socket_get_remote_address(accepted, NULL) : NULL;
	if (!local || !remote)
		return G_SOURCE_CONTINUE;	/* it has gone already */
	if (s->clients.length >= LIMIT_SCRAPERS)
		client_end(g_queue_peek_head(&s->clients));
	if (s->clients.length >= LIMIT_SCRAPERS)
		return G_SOURCE_CONTINUE;	/* its answer is still on its way: the new one is closed */
	struct client *c = g_new0(struct client, 1);
	c->server = s;
	c->local = g_steal_pointer(&local);
	c->remote = g_steal_pointer(&remote);
	c->since = g_get_monotonic_time();
	c->connection = g_socket_connection_factory_create_connection(accepted);
	g_socket_set_blocking(accepted, false);
	c->source = g_socket_create_source(accepted, G_IO_IN, NULL);
	g_source_set_callback(c->source, (GSourceFunc)(void (*)(void))receive, c, NULL);
	g_source_attach(c->source, s->context);
	g_queue_push_tail(&s->clients, c);
	return G_SOURCE_CONTINUE;
}

static gboolean end_late(gpointer data)
{
	struct server *s = data;
	gint64 limit = g_get_monotonic_time() - (gint64)LIMIT_SCRAPE_SECONDS * G_USEC_PER_SEC;
	for (GList *at = s->clients.head, *next; at; at = next) {
		struct client *c = at->data;
		next = at->next;
		if (c->since < limit)
			client_end(c);
	}
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

static void set_text(SoupServerMessage *m, guint status, const char *text)
{
	soup_server_message_set_status(m, status, NULL);
	soup_server_message_set_response(m, "text/plain; charset=utf-8", SOUP_MEMORY_STATIC, text, strlen(text));
}

/* Before a body is read. */
static void check_method(SoupServer *soup, SoupServerMessage *m, const char *path, GHashTable *query, gpointer data)
{
	const char *method = soup_server_message_get_method(m);
	SoupMessageHeaders *headers = soup_server_message_get_response_headers(m);
	soup_message_headers_replace(headers, "Connection", "close");
	if (method == SOUP_METHOD_GET || method == SOUP_METHOD_HEAD)
		return;
	soup_message_headers_replace(headers, "Allow", "GET, HEAD");
	set_text(m, SOUP_STATUS_METHOD_NOT_ALLOWED, "read only\n");
}

static void answer(SoupServer *soup, SoupServerMessage *m, const char *path, GHashTable *query, gpointer data)
{
	struct server *s = data;
	if (!g_str_equal(path, "/metrics")) {
		set_text(m, SOUP_STATUS_NOT_FOUND, "blktop has /metrics\n");
		return;
	}
	bool openmetrics = wants_openmetrics(soup_server_message_get_request_headers(m));
	g_autoptr(GBytes) text = totals_text(s->totals, openmetrics);
	soup_server_message_set_status(m, SOUP_STATUS_OK, NULL);
	soup_message_headers_replace(soup_server_message_get_response_headers(m), "Content-Type",
				     totals_text_type(openmetrics));
	soup_message_headers_replace(soup_server_message_get_response_headers(m), "Vary", "Accept");
	soup_message_body_append_bytes(soup_server_message_get_response_body(m), text);
}

/* ---- the thread ---- */

static GSource *attach(struct server *s, GSource *source, GSourceFunc call)
{
	g_source_set_callback(source, call, s, NULL);
	g_source_attach(source, s->context);
	return source;
}

static gpointer serve(gpointer data)
{
	struct server *s = data;
	g_main_context_push_thread_default(s->context);
	s->soup = soup_server_new("server-header", "blktop", NULL);
	soup_server_add_early_handler(s->soup, NULL, check_method, s, NULL);
	soup_server_add_handler(s->soup, NULL, answer, s, NULL);
	GSource *accepts = attach(s, g_socket_create_source(s->socket, G_IO_IN, NULL),
				  (GSourceFunc)(void (*)(void))accept_client);
	GSource *sweeps = attach(s, g_timeout_source_new(SWEEP_MS), end_late);
	g_main_loop_run(s->loop);
	g_source_destroy(accepts);
	g_source_unref(accepts);
	g_source_destroy(sweeps);
	g_source_unref(sweeps);
	soup_server_disconnect(s->soup);
	g_object_unref(s->soup);
	while (g_main_context_iteration(s->context, false))
		;			/* what libsoup has yet to free */
	while (s->clients.head && ((struct client *)s->clients.head->data)->source)
		client_free(s->clients.head->data);
	g_main_context_pop_thread_default(s->context);
	return NULL;
}

struct server *server_start(int fd, struct totals *totals, GError **error)
{
	GSocket *socket = g_socket_new_from_fd(fd, error);
	if (!socket) {
		close(fd);
		return NULL;
	}
	struct server *s = g_new0(struct server, 1);
	s->totals = totals;
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

#else

struct server *server_start(int fd, struct totals *totals, GError **error)
{
	close(fd);
	g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED, "blktop was built without libsoup 3");
	return NULL;
}

void server_stop(struct server *s)
{
}

#endif
