/* SPDX-License-Identifier: GPL-2.0-only */
/* Our own client of the viewer protocol. Nothing the peer says is believed. */
#include "live/viewer.h"

#include "base/text.h"

#define MAX_SESSIONS 4096

char *viewer_relay_name(const struct live_url *url)
{
	g_autofree char *host = text_visible(url->host);
	bool v6 = strchr(host, ':');

	return g_strdup_printf("%s%s%s:%u", v6 ? "[" : "", host, v6 ? "]" : "", url->port);
}

static bool fail(const struct viewer *v, GError **error, const char *what, const GError *why)
{
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT, "cannot %s relay %s: %s", what,
		    v->relay, why->message);
	return false;
}

/* One request and the first len bytes of its reply. */
static bool ask(struct viewer *v, enum viewer_command command, const void *data, size_t size,
		void *reply, size_t len, int64_t deadline, GError **error)
{
	uint8_t request[VIEWER_HEADER + VIEWER_CONNECT_SIZE] = { 0 };

	g_assert(size <= VIEWER_CONNECT_SIZE);
	viewer_put_u64(request, size);
	viewer_put_u32(request + 8, command);
	if (size)
		memcpy(request + VIEWER_HEADER, data, size);
	return net_write(&v->net, request, VIEWER_HEADER + size, deadline, error) &&
	       net_read(&v->net, reply, len, deadline, error);
}

static bool shake_hands(struct viewer *v, int64_t deadline, GError **error)
{
	g_autoptr(GError) why = NULL;
	uint8_t hello[VIEWER_CONNECT_SIZE], reply[VIEWER_CONNECT_SIZE];
	uint32_t major;

	viewer_put_u64(hello, UINT64_MAX);
	viewer_put_u32(hello + 8, VIEWER_MAJOR);
	viewer_put_u32(hello + 12, VIEWER_MINOR);
	viewer_put_u32(hello + 16, 1);
	if (!ask(v, VIEWER_CONNECT, hello, sizeof hello, reply, sizeof reply, deadline, &why)) {
		if (g_get_monotonic_time() < deadline)
			g_prefix_error(&why, "it does not speak the viewer protocol (is this its "
				       "live port, %d by default?): ", LIVE_DEFAULT_PORT);
		return fail(v, error, "talk to", why);
	}
	major = viewer_u32(reply + 8);
	v->minor = viewer_u32(reply + 12);
	if (major == VIEWER_MAJOR)
		return true;
	g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT,
		    "cannot talk to relay %s: it speaks version %u.%u of the viewer protocol, "
		    "not %d.x (is this its live port?)", v->relay, major, v->minor, VIEWER_MAJOR);
	return false;
}

struct viewer *viewer_open(const struct live_url *url, int timeout_ms, int wake_fd, GError **error)
{
	struct viewer *v = g_new0(struct viewer, 1);
	g_autoptr(GError) why = NULL;
	int64_t deadline = net_deadline(timeout_ms);

	v->net.fd = -1;
	v->relay = viewer_relay_name(url);
	v->timeout_ms = timeout_ms;
	if (!net_connect(&v->net, url->host, url->port, url->family, wake_fd, deadline, &why))
		fail(v, error, "connect to", why);
	else if (shake_hands(v, deadline, error))
		return v;
	viewer_free(v);
	return NULL;
}

static void read_entry(const uint8_t *p, struct viewer_session *s)
{
	s->id = viewer_u64(p);
	s->timer_us = viewer_u32(p + 8);
	s->viewers = viewer_u32(p + 12);
	s->streams = viewer_u32(p + 16);
	/* the peer's strings need not be terminated; ours are one byte longer */
	memcpy(s->host, p + 20, VIEWER_HOST_SIZE);
	memcpy(s->name, p + 20 + VIEWER_HOST_SIZE, VIEWER_NAME_SIZE);
	s->host[VIEWER_HOST_SIZE] = s->name[VIEWER_NAME_SIZE] = '\0';
}

GArray *viewer_list(struct viewer *v, GError **error)
{
	g_autoptr(GArray) list = g_array_new(FALSE, TRUE, sizeof(struct viewer_session));
	g_autoptr(GError) why = NULL;
	int64_t deadline = net_deadline(v->timeout_ms);
	uint8_t count[4], entry[VIEWER_ENTRY_SIZE];

	if (!ask(v, VIEWER_LIST, NULL, 0, count, sizeof count, deadline, &why)) {
		fail(v, error, "list the sessions of", why);
		return NULL;
	}
	uint32_t n = viewer_u32(count);
	if (n > MAX_SESSIONS) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT,
			    "cannot list the sessions of relay %s: it claims to have %u", v->relay,
			    n);
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct viewer_session s;
		if (!net_read(&v->net, entry, sizeof entry, deadline, &why)) {
			fail(v, error, "list the sessions of", why);
			return NULL;
		}
		read_entry(entry, &s);
		g_array_append_val(list, s);
	}
	return g_steal_pointer(&list);
}

void viewer_free(struct viewer *v)
{
	if (!v)
		return;
	net_close(&v->net);
	g_free(v->relay);
	g_free(v);
}
