/* SPDX-License-Identifier: GPL-2.0-only */
/* What one client may send: see request_stream.h. */
#include "send/request_stream.h"

#include "base/limits.h"

#include <stdbool.h>
#include <string.h>

static const char *const methods[] = {
	"GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "OPTIONS ", "PATCH ", "TRACE ", "CONNECT ",
};

struct _RequestStream {
	GFilterInputStream parent;
	gsize n;			/* bytes that passed */
	char first[8];			/* of them; the longest method has as many */
};

static void request_stream_pollable_init(GPollableInputStreamInterface *i);
G_DEFINE_TYPE_WITH_CODE(RequestStream, request_stream, G_TYPE_FILTER_INPUT_STREAM,
			G_IMPLEMENT_INTERFACE(G_TYPE_POLLABLE_INPUT_STREAM, request_stream_pollable_init))

static GPollableInputStream *socket_of(gpointer stream)
{
	return G_POLLABLE_INPUT_STREAM(g_filter_input_stream_get_base_stream(G_FILTER_INPUT_STREAM(stream)));
}

static bool may_be_method(const RequestStream *s)
{
	for (unsigned i = 0; i < G_N_ELEMENTS(methods); i++)
		if (!strncmp(methods[i], s->first, MIN(s->n, strlen(methods[i]))))
			return true;
	return false;
}

static gssize read_some(GInputStream *stream, void *buffer, gsize count, GCancellable *cancellable, GError **error)
{
	RequestStream *s = REQUEST_STREAM(stream);
	if (s->n == LIMIT_REQUEST_BYTES) {
		g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_NO_SPACE, "the request is too long");
		return -1;
	}
	count = MIN(count, LIMIT_REQUEST_BYTES - s->n);
	gssize got = g_pollable_input_stream_read_nonblocking(socket_of(s), buffer, count, cancellable, error);
	if (got <= 0)
		return got;
	if (s->n < sizeof s->first)
		memcpy(s->first + s->n, buffer, MIN((gsize)got, sizeof s->first - s->n));
	s->n += (gsize)got;
	if (may_be_method(s))
		return got;
	g_set_error_literal(error, G_IO_ERROR, G_IO_ERROR_INVALID_DATA, "the request begins with no method of HTTP");
	return -1;
}

static gboolean is_readable(GPollableInputStream *stream)
{
	return REQUEST_STREAM(stream)->n == LIMIT_REQUEST_BYTES ||
	       g_pollable_input_stream_is_readable(socket_of(stream));
}

static GSource *create_source(GPollableInputStream *stream, GCancellable *cancellable)
{
	GSource *of_socket = g_pollable_input_stream_create_source(socket_of(stream), NULL);
	GSource *source = g_pollable_source_new_full(stream, of_socket, cancellable);
	g_source_unref(of_socket);
	return source;
}

static void request_stream_pollable_init(GPollableInputStreamInterface *i)
{
	i->is_readable = is_readable;
	i->create_source = create_source;
}

static void request_stream_class_init(RequestStreamClass *c)
{
	G_INPUT_STREAM_CLASS(c)->read_fn = read_some;
}

static void request_stream_init(RequestStream *s)
{
}

GInputStream *request_stream_new(GInputStream *socket)
{
	return g_object_new(REQUEST_TYPE_STREAM, "base-stream", socket, NULL);
}
