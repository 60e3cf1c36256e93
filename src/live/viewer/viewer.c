/* SPDX-License-Identifier: GPL-2.0-only */
/* A client of the viewer protocol: see viewer.h. */
#include "live/viewer/viewer.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"
#include "live/viewer/connector.h"

char *viewer_relay_name(const struct live_url *url)
{
	g_autofree char *host = text_visible(url->host);
	bool v6 = strchr(host, ':');

	return g_strdup_printf("%s%s%s:%u", v6 ? "[" : "", host, v6 ? "]" : "", url->port);
}

static bool cannot(const struct viewer *v, GError **error, const char *what, const GError *why)
{
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT, "cannot %s relay %s: %s", what,
		    v->relay, why->message);
}

/* -- requests ---------------------------------------------------------------- */

static void ask(struct viewer *v, enum viewer_command command, const void *data, size_t size)
{
	uint8_t head[VIEWER_HEADER] = { 0 };

	viewer_put_u64(head, size);
	viewer_put_u32(head + 8, command);
	g_byte_array_append(v->requests, head, sizeof head);
	if (size)
		g_byte_array_append(v->requests, data, (guint)size);
}

static void ask_of(struct viewer *v, enum viewer_command command, uint64_t id)
{
	uint8_t data[8];

	viewer_put_u64(data, id);
	ask(v, command, data, sizeof data);
}

void viewer_ask_index(struct viewer *v, uint64_t stream)
{
	ask_of(v, VIEWER_NEXT_INDEX, stream);
}

void viewer_ask_metadata(struct viewer *v, uint64_t stream)
{
	ask_of(v, VIEWER_METADATA, stream);
}

void viewer_ask_streams(struct viewer *v, uint64_t session)
{
	ask_of(v, VIEWER_NEW_STREAMS, session);
}

void viewer_ask_packet(struct viewer *v, uint64_t stream, uint64_t offset, uint32_t len)
{
	uint8_t data[20];

	viewer_put_u64(data, stream);
	viewer_put_u64(data + 8, offset);
	viewer_put_u32(data + 16, len);
	ask(v, VIEWER_PACKET, data, sizeof data);
}

static bool flush_until(struct viewer *v, int64_t deadline, GError **error)
{
	bool ok = net_write(&v->net, v->requests->data, v->requests->len, deadline, error);

	g_byte_array_set_size(v->requests, 0);
	return ok;
}

bool viewer_flush(struct viewer *v, GError **error)
{
	g_autoptr(GError) why = NULL;

	return flush_until(v, net_deadline(v->timeout_ms), &why) || cannot(v, error, "ask", why);
}

/* -- replies ----------------------------------------------------------------- */

static bool read_until(struct viewer *v, void *buf, size_t len, int64_t deadline, GError **error)
{
	uint8_t *to = buf;

	while (len > 0) {
		g_assert(v->ahead_at <= v->ahead_n);
		size_t n = MIN(len, v->ahead_n - v->ahead_at);
		memcpy(to, v->ahead + v->ahead_at, n);
		v->ahead_at += n;
		to += n;
		len -= n;
		if (len >= sizeof v->ahead)
			return net_read(&v->net, to, len, deadline, error);
		if (!len)
			return true;
		v->ahead_at = 0;
		v->ahead_n = net_read_some(&v->net, v->ahead, sizeof v->ahead, deadline, error);
		if (!v->ahead_n)
			return false;
	}
	return true;
}

static bool get(struct viewer *v, void *buf, size_t len, GError **error)
{
	g_autoptr(GError) why = NULL;

	return read_until(v, buf, len, net_deadline(v->timeout_ms), &why) ||
	       cannot(v, error, "read from", why);
}

/* Data of any length at any speed: the time limit restarts whenever bytes arrive. */
static bool get_data(struct viewer *v, uint8_t *into, size_t len, GError **error)
{
	g_autoptr(GError) why = NULL;
	size_t n = MIN(len, v->ahead_n - v->ahead_at);

	memcpy(into, v->ahead + v->ahead_at, n);
	v->ahead_at += n;
	for (size_t got; n < len; n += got) {
		got = net_read_some(&v->net, into + n, len - n, net_deadline(v->timeout_ms), &why);
		if (!got)
			return cannot(v, error, "read from", why);
	}
	return true;
}

static bool fail_invalid(const struct viewer *v, GError **error, const char *what)
{
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
		    "relay %s sent an invalid answer: %s", v->relay, what);
}

bool viewer_get_index(struct viewer *v, struct viewer_index *ret, GError **error)
{
	uint8_t p[VIEWER_INDEX_SIZE];

	if (!get(v, p, sizeof p, error))
		return false;
	*ret = (struct viewer_index){
		.offset = viewer_u64(p), .packet_bits = viewer_u64(p + 8),
		.content_bits = viewer_u64(p + 16), .begin = viewer_u64(p + 24),
		.end = viewer_u64(p + 32), .discarded = viewer_u64(p + 40),
		.class = viewer_u64(p + 48), .status = viewer_u32(p + 56),
		.flags = viewer_u32(p + 60),
	};
	if (ret->status < VIEWER_INDEX_OK || ret->status > VIEWER_INDEX_EOF)
		return fail_invalid(v, error, "an index with an unknown status");
	if (ret->status != VIEWER_INDEX_OK && (ret->packet_bits || ret->content_bits))
		return fail_invalid(v, error, "a packet where it says that there is none");
	return true;
}

bool viewer_get_packet(struct viewer *v, uint8_t *into, uint32_t len, struct viewer_answer *ret,
		       GError **error)
{
	uint8_t p[VIEWER_PACKET_HEAD];

	if (!get(v, p, sizeof p, error))
		return false;
	*ret = (struct viewer_answer){ viewer_u32(p), viewer_u32(p + 8) };
	if (ret->status < VIEWER_PACKET_OK || ret->status > VIEWER_PACKET_EOF)
		return fail_invalid(v, error, "a packet with an unknown status");
	if (ret->status != VIEWER_PACKET_OK)
		return true;
	if (viewer_u32(p + 4) != len)
		return fail_invalid(v, error, "fewer or more bytes of a packet than requested");
	return get_data(v, into, len, error);
}

bool viewer_get_metadata(struct viewer *v, GByteArray *into, uint32_t *ret_status, GError **error)
{
	uint8_t p[VIEWER_METADATA_HEAD];
	guint had = into->len;

	if (!get(v, p, sizeof p, error))
		return false;
	uint64_t len = viewer_u64(p);
	*ret_status = viewer_u32(p + 8);
	if (*ret_status < VIEWER_METADATA_OK || *ret_status > VIEWER_METADATA_ERR)
		return fail_invalid(v, error, "metadata with an unknown status");
	if (*ret_status != VIEWER_METADATA_OK)
		return true;
	if (len > LIMIT_METADATA_BYTES)
		return fail_invalid(v, error, "too much metadata");
	/* in pieces, so that a length alone does not allocate memory */
	while (len > 0) {
		guint piece = (guint)MIN(len, 1u << 20);
		g_byte_array_set_size(into, into->len + piece);
		if (!get_data(v, into->data + into->len - piece, piece, error)) {
			g_byte_array_set_size(into, had);
			return false;
		}
		len -= piece;
	}
	return true;
}

void viewer_stream_free(gpointer stream)
{
	struct viewer_stream *s = stream;

	g_free(s->name);
	g_free(s);
}

#define SHOWN_NAME 160
static struct viewer_stream *read_stream(const uint8_t *p)
{
	struct viewer_stream *s = g_new0(struct viewer_stream, 1);
	const char *path = (const char *)p + 20, *channel = path + VIEWER_PATH_SIZE;
	int path_len = (int)strnlen(path, VIEWER_PATH_SIZE);
	int over = MAX(path_len - SHOWN_NAME, 0);	/* retain the end of the path: it names the buffers */

	s->id = viewer_u64(p);
	s->trace = viewer_u64(p + 8);
	s->metadata = viewer_u32(p + 16) != 0;
	g_autofree char *raw = g_strdup_printf("%.*s/%.*s", path_len - over, path + over,
		(int)strnlen(channel, VIEWER_NAME_SIZE), channel);
	s->name = text_visible(raw);
	return s;
}

/* Reads `n` streams, the end of a reply. */
static bool read_streams(struct viewer *v, uint32_t n, GPtrArray *streams, GError **error)
{
	uint8_t p[VIEWER_STREAM_SIZE];

	if (n > LIMIT_RELAY_STREAMS)
		return fail_invalid(v, error, "too many streams");
	for (uint32_t i = 0; i < n; i++) {
		if (!get(v, p, sizeof p, error))
			return false;
		g_ptr_array_add(streams, read_stream(p));
	}
	return true;
}

bool viewer_get_streams(struct viewer *v, uint32_t *ret_status, GPtrArray *streams, GError **error)
{
	uint8_t p[8];

	if (!get(v, p, sizeof p, error))
		return false;
	*ret_status = viewer_u32(p);
	if (*ret_status < VIEWER_STREAMS_OK || *ret_status > VIEWER_STREAMS_HUP)
		return fail_invalid(v, error, "new streams with an unknown status");
	if (*ret_status != VIEWER_STREAMS_OK)
		return true;
	return read_streams(v, viewer_u32(p + 4), streams, error);
}

/* -- attaching --------------------------------------------------------------- */

static bool create(struct viewer *v, GError **error)
{
	uint8_t status[4];

	ask(v, VIEWER_CREATE, NULL, 0);
	if (!viewer_flush(v, error) || !get(v, status, sizeof status, error))
		return false;
	return viewer_u32(status) == 1 || fail_invalid(v, error, "it creates no viewer session");
}

bool viewer_attach(struct viewer *v, uint64_t session, enum viewer_seek seek, uint32_t *ret_status,
		   GPtrArray *streams, GError **error)
{
	uint8_t data[20] = { 0 }, p[8];

	if (!create(v, error))
		return false;
	viewer_put_u64(data, session);
	viewer_put_u32(data + 16, seek);
	ask(v, VIEWER_ATTACH, data, sizeof data);
	if (!viewer_flush(v, error) || !get(v, p, sizeof p, error))
		return false;
	*ret_status = viewer_u32(p);
	if (*ret_status < VIEWER_ATTACHED || *ret_status > VIEWER_NO_VIEWER_SESSION)
		return fail_invalid(v, error, "an attachment with an unknown status");
	if (*ret_status != VIEWER_ATTACHED)
		return true;
	return read_streams(v, viewer_u32(p + 4), streams, error);
}

bool viewer_detach(struct viewer *v, uint64_t session, GError **error)
{
	uint8_t status[4];

	ask_of(v, VIEWER_DETACH, session);
	return viewer_flush(v, error) && get(v, status, sizeof status, error);
}

/* -- connecting -------------------------------------------------------------- */

static bool shake_hands(struct viewer *v, int64_t deadline, GError **error)
{
	g_autoptr(GError) why = NULL;
	uint8_t hello[VIEWER_CONNECT_SIZE], reply[VIEWER_CONNECT_SIZE];
	uint32_t major, minor;

	viewer_put_u64(hello, UINT64_MAX);
	viewer_put_u32(hello + 8, VIEWER_MAJOR);
	viewer_put_u32(hello + 12, VIEWER_MINOR);
	viewer_put_u32(hello + 16, 1);
	ask(v, VIEWER_CONNECT, hello, sizeof hello);
	if (!flush_until(v, deadline, &why) ||
	    !read_until(v, reply, sizeof reply, deadline, &why)) {
		if (g_get_monotonic_time() < deadline)
			g_prefix_error(&why, "it does not speak the viewer protocol (is this its "
				       "live port, %d by default?): ", LIVE_DEFAULT_PORT);
		return cannot(v, error, "talk to", why);
	}
	major = viewer_u32(reply + 8);
	minor = viewer_u32(reply + 12);
	v->minor = MIN(minor, VIEWER_MINOR);
	if (major == VIEWER_MAJOR)
		return true;
	return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT,
		    "cannot talk to relay %s: it speaks version %u.%u of the viewer protocol, "
		    "not %d.x (is this its live port?)", v->relay, major, minor, VIEWER_MAJOR);
}

struct viewer *viewer_open(const struct live_url *url, int timeout_ms, int wake_fd, GError **error)
{
	struct viewer *v = g_new0(struct viewer, 1);
	g_autoptr(GError) why = NULL;
	int64_t deadline = net_deadline(timeout_ms);

	v->net.fd = -1;
	v->relay = viewer_relay_name(url);
	v->timeout_ms = timeout_ms;
	v->requests = g_byte_array_new();
	if (!connector_connect(&v->net, url, wake_fd, deadline, &why))
		cannot(v, error, "connect to", why);
	else if (shake_hands(v, deadline, error))
		return v;
	viewer_free(v);
	return NULL;
}

void viewer_free(struct viewer *v)
{
	if (!v)
		return;
	net_close(&v->net);
	g_byte_array_unref(v->requests);
	g_free(v->relay);
	g_free(v);
}

/* -- the list ---------------------------------------------------------------- */

/* Names in fields of fixed size may lack a terminator; those of struct viewer_session are one byte longer. */
static bool read_entry(struct viewer *v, struct viewer_session *s, int64_t deadline,
		       GError **error)
{
	uint8_t p[VIEWER_ENTRY_SIZE];
	bool lengths = v->minor >= VIEWER_MINOR_NAMES;
	uint32_t host_len = VIEWER_HOST_SIZE, name_len = VIEWER_NAME_SIZE;

	if (!read_until(v, p, lengths ? VIEWER_ENTRY_NEW_SIZE : 20, deadline, error))
		return false;
	*s = (struct viewer_session){
		.id = viewer_u64(p), .timer_us = viewer_u32(p + 8),
		.viewers = viewer_u32(p + 12), .streams = viewer_u32(p + 16),
	};
	if (lengths) {
		host_len = viewer_u32(p + 20);
		name_len = viewer_u32(p + 24);
		static const enum viewer_format formats[] = { VIEWER_FORMAT_CTF1, VIEWER_FORMAT_CTF2 };
		uint32_t format = viewer_u32(p + 28);
		s->format = format < G_N_ELEMENTS(formats) ? formats[format] : VIEWER_FORMAT_UNKNOWN;
	}
	if (host_len > LIMIT_RELAY_NAME_BYTES || name_len > LIMIT_RELAY_NAME_BYTES)
		return fail(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT,
				    "a name is too long");
	return read_until(v, s->host, host_len, deadline, error) &&
	       read_until(v, s->name, name_len, deadline, error);
}

GArray *viewer_list(struct viewer *v, GError **error)
{
	g_autoptr(GArray) list = g_array_new(FALSE, TRUE, sizeof(struct viewer_session));
	g_autoptr(GError) why = NULL;
	int64_t deadline = net_deadline(v->timeout_ms);
	uint8_t count[4];

	ask(v, VIEWER_LIST, NULL, 0);
	if (!flush_until(v, deadline, &why) ||
	    !read_until(v, count, sizeof count, deadline, &why)) {
		cannot(v, error, "list the sessions of", why);
		return NULL;
	}
	uint32_t n = viewer_u32(count);
	if (n > LIMIT_RELAY_SESSIONS) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT,
			    "cannot list the sessions of relay %s: it claims to have %u", v->relay,
			    n);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct viewer_session s;
		if (!read_entry(v, &s, deadline, &why)) {
			cannot(v, error, "list the sessions of", why);
			return NULL;
		}
		g_array_append_val(list, s);
	}
	return g_steal_pointer(&list);
}
