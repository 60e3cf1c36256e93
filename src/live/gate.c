/* SPDX-License-Identifier: GPL-2.0-only */
/* Between babeltrace2 and the relay: see gate.h. */
#include "live/gate.h"

#include <unistd.h>

#include "live/mend.h"

#define MAX_REQUEST 4096
#define MAX_STREAMS 16384
#define ATTACH_SIZE 20		/* of a request to VIEWER_ATTACH: u64 session, u64, */
#define ATTACH_SEEK 16		/* u32 seek */

/* What the graph calls the session, whatever its real names are. */
#define FAKE_HOST "target"
#define FAKE_NAME "session"

enum { ATTACH_OK = 1, STREAMS_OK = 1, PACKET_OK = 1, PACKET_ERR = 3, PACKET_EOF = 4, METADATA_OK = 1 };

struct gate {
	struct viewer_session session;
	enum viewer_seek seek;
	struct net relay, graph;
	int listener, wake_fd, hangup_fd, timeout_ms;
	GThread *thread;
	char *url, *relay_name;
	uint8_t request[VIEWER_HEADER + MAX_REQUEST];
	size_t request_size;		/* with header */
	GByteArray *reply;
	struct mend *mend;
	gint n_streams;
	enum gate_end end;
	char *why;
};

/* -- how each reply goes on ------------------------------------------------ */

/* Checks how a reply ended up, or how long its tail is: false is the end. */
struct verb {
	uint32_t command;
	size_t head;			/* bytes of the reply that are always there */
	bool (*tail)(struct gate *g, const uint8_t *head, size_t *len);
	void (*edit)(struct gate *g, uint8_t *reply);
};

static bool finish(struct gate *g, enum gate_end end, char *why)
{
	g_free(g->why);
	g->why = why;
	g->end = end;
	return false;
}

static bool refuse(struct gate *g, const char *what)
{
	return finish(g, GATE_REFUSED, g_strdup_printf("relay %s answered nonsense: %s",
						       g->relay_name, what));
}

static bool tail_of_streams(struct gate *g, const uint8_t *head, size_t *len)
{
	uint32_t n = viewer_u32(head + 4);

	*len = 0;
	if (viewer_u32(head) != STREAMS_OK)
		return true;
	if (n > MAX_STREAMS)
		return refuse(g, "too many streams");
	*len = (size_t)n * VIEWER_STREAM_SIZE;
	return true;
}

static bool tail_of_attach(struct gate *g, const uint8_t *head, size_t *len)
{
	static const struct {
		enum gate_end end;
		const char *why;
	} ends[] = {
		[2] = { GATE_TAKEN, "another viewer is attached to the session" },
		[3] = { GATE_GONE, "the session does not exist any more" },
		[4] = { GATE_REFUSED, "the session is not a live one" },
		[5] = { GATE_REFUSED, "the relay cannot begin at the end of the session" },
		[6] = { GATE_REFUSED, "the relay has lost our connection's session" },
	};
	uint32_t status = viewer_u32(head);

	if (status == ATTACH_OK)
		return tail_of_streams(g, head, len);
	if (status >= G_N_ELEMENTS(ends) || !ends[status].why)
		return refuse(g, "an unknown status of the attachment");
	return finish(g, ends[status].end, g_strdup(ends[status].why));
}

static bool tail_of_index(struct gate *g, const uint8_t *head, size_t *len)
{
	*len = 0;
	return mend_is_index(head) || refuse(g, "an index of no packet that can be");
}

static bool tail_of_packet(struct gate *g, const uint8_t *head, size_t *len)
{
	uint32_t n = viewer_u32(head + 4);

	*len = 0;
	uint32_t status = viewer_u32(head);

	if (status == PACKET_ERR || status == PACKET_EOF)
		return true;
	if (status != PACKET_OK)
		return refuse(g, "an unknown status of a packet");
	/* babeltrace2 has room for what it asked for, and does not check; of nothing it aborts */
	if (n != viewer_u32(g->request + VIEWER_HEADER + 16))
		return refuse(g, "not as much of a packet as asked for");
	*len = n;
	return true;
}

static bool tail_of_metadata(struct gate *g, const uint8_t *head, size_t *len)
{
	uint64_t n = viewer_u64(head);

	*len = 0;
	if (viewer_u32(head + 8) != METADATA_OK)
		return true;
	if (n > MEND_METADATA_MAX ||
	    !mend_may_metadata(g->mend, viewer_u64(g->request + VIEWER_HEADER), n))
		return refuse(g, "too much metadata");
	*len = (size_t)n;
	return true;
}

static void edit_streams(struct gate *g, uint8_t *reply)
{
	g_atomic_int_add(&g->n_streams, (gint)mend_streams(g->mend, reply, g->reply->len));
}

static void edit_index(struct gate *g, uint8_t *reply)
{
	mend_index(g->mend, viewer_u64(g->request + VIEWER_HEADER), reply);
}

static void edit_packet(struct gate *g, uint8_t *reply)
{
	mend_packet(g->mend, viewer_u64(g->request + VIEWER_HEADER),
		    viewer_u64(g->request + VIEWER_HEADER + 8), reply, g->reply->len);
}

static void edit_metadata(struct gate *g, G_GNUC_UNUSED uint8_t *reply)
{
	mend_metadata(g->mend, viewer_u64(g->request + VIEWER_HEADER), g->reply);
}

static const struct verb verbs[] = {
	{ VIEWER_CONNECT, VIEWER_CONNECT_SIZE, NULL, NULL },
	{ VIEWER_CREATE, 4, NULL, NULL },
	{ VIEWER_ATTACH, 8, tail_of_attach, edit_streams },
	{ VIEWER_NEXT_INDEX, MEND_INDEX_SIZE, tail_of_index, edit_index },
	{ VIEWER_PACKET, MEND_PACKET_HEAD, tail_of_packet, edit_packet },
	{ VIEWER_METADATA, MEND_METADATA_HEAD, tail_of_metadata, edit_metadata },
	{ VIEWER_NEW_STREAMS, 8, tail_of_streams, edit_streams },
	{ VIEWER_DETACH, 4, NULL, NULL },
};

/* -- passing --------------------------------------------------------------- */

static bool lost(struct gate *g, const GError *error)
{
	return finish(g, GATE_LOST, g_strdup_printf("relay %s: %s", g->relay_name, error->message));
}

/* The answer to "which sessions are there?": this one. */
static void make_list(struct gate *g)
{
	const struct viewer_session *s = &g->session;
	uint8_t *p;

	g_byte_array_set_size(g->reply, 4 + VIEWER_ENTRY_SIZE);
	p = g->reply->data;
	memset(p, 0, g->reply->len);
	viewer_put_u32(p, 1);
	viewer_put_u64(p + 4, s->id);
	viewer_put_u32(p + 12, s->timer_us);
	viewer_put_u32(p + 20, s->streams);
	memcpy(p + 24, FAKE_HOST, sizeof FAKE_HOST);
	memcpy(p + 24 + VIEWER_HOST_SIZE, FAKE_NAME, sizeof FAKE_NAME);
}

static bool read_request(struct gate *g)
{
	uint64_t size;

	if (!net_read(&g->graph, g->request, VIEWER_HEADER, NET_FOREVER, NULL))
		return finish(g, GATE_CLOSED, NULL);
	size = viewer_u64(g->request);
	if (size > MAX_REQUEST ||
	    !net_read(&g->graph, g->request + VIEWER_HEADER, size, NET_FOREVER, NULL))
		return finish(g, GATE_CLOSED, NULL);
	g->request_size = VIEWER_HEADER + size;
	return true;
}

static bool fetch_reply(struct gate *g, const struct verb *v)
{
	g_autoptr(GError) error = NULL;
	int64_t deadline = net_deadline(g->timeout_ms);
	size_t tail = 0;

	g_byte_array_set_size(g->reply, (guint)v->head);
	if (!net_write(&g->relay, g->request, g->request_size, deadline, &error) ||
	    !net_read(&g->relay, g->reply->data, v->head, deadline, &error))
		return lost(g, error);
	if (v->tail && !v->tail(g, g->reply->data, &tail))
		return false;
	g_byte_array_set_size(g->reply, (guint)(v->head + tail));
	if (tail && !net_read(&g->relay, g->reply->data + v->head, tail, deadline, &error))
		return lost(g, error);
	if (v->command == VIEWER_PACKET &&
	    !mend_is_packet(g->mend, viewer_u64(g->request + VIEWER_HEADER),
			    viewer_u64(g->request + VIEWER_HEADER + 8), g->reply->data, g->reply->len))
		return refuse(g, "a packet that is not the one its index tells of");
	if (v->edit)
		v->edit(g, g->reply->data);
	return true;
}

static bool pass_one(struct gate *g)
{
	const struct verb *v = NULL;

	if (!read_request(g))
		return false;
	uint32_t command = viewer_u32(g->request + 8);
	if (command == VIEWER_ATTACH && g->request_size == VIEWER_HEADER + ATTACH_SIZE)
		viewer_put_u32(g->request + VIEWER_HEADER + ATTACH_SEEK, g->seek);
	for (size_t i = 0; !v && i < G_N_ELEMENTS(verbs); i++) {
		if (verbs[i].command == command)
			v = &verbs[i];
	}
	if (command == VIEWER_LIST)
		make_list(g);
	else if (!v)
		return finish(g, GATE_REFUSED, g_strdup("babeltrace2 asked for something unknown"));
	else if (!fetch_reply(g, v))
		return false;
	if (!net_write(&g->graph, g->reply->data, g->reply->len, NET_FOREVER, NULL))
		return finish(g, GATE_CLOSED, NULL);
	return true;
}

static gpointer gate_thread(gpointer data)
{
	struct gate *g = data;

	if (net_accept_own(g->listener, &g->graph, g->wake_fd, NET_FOREVER, NULL)) {
		while (pass_one(g))
			;
	} else {
		finish(g, GATE_CLOSED, NULL);
	}
	/* the graph's next request fails at once; the relay forgets us */
	net_close(&g->graph);
	net_close(&g->relay);
	close(g->listener);
	g->listener = -1;
	return NULL;
}

struct gate *gate_open(const struct live_url *relay, const struct viewer_session *session,
		       enum viewer_seek seek, int timeout_ms, int wake_fd, GError **error)
{
	struct gate *g = g_new0(struct gate, 1);
	g_autoptr(GError) why = NULL;
	uint16_t port = 0;

	*g = (struct gate){ .session = *session, .seek = seek, .relay.fd = -1, .graph.fd = -1, .listener = -1,
			    .wake_fd = wake_fd, .timeout_ms = timeout_ms };
	g->relay_name = viewer_relay_name(relay);
	if (!net_connect(&g->relay, relay->host, relay->port, relay->family, wake_fd,
			 net_deadline(timeout_ms), &why)) {
		g_set_error(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT,
			    "cannot connect to relay %s: %s", g->relay_name, why->message);
		gate_free(g);
		return NULL;
	}
	g->listener = net_listen_local(&port, error);
	if (g->listener < 0) {
		gate_free(g);
		return NULL;
	}
	g->url = g_strdup_printf("net://127.0.0.1:%u/host/" FAKE_HOST "/" FAKE_NAME, port);
	g->reply = g_byte_array_new();
	g->mend = mend_new();
	g->thread = g_thread_new("blk-gate", gate_thread, g);
	return g;
}

const char *gate_url(const struct gate *g)
{
	return g->url;
}

unsigned gate_streams(struct gate *g)
{
	return (unsigned)g_atomic_int_get(&g->n_streams);
}

enum gate_end gate_close(struct gate *g, char **ret_why)
{
	if (g->thread) {
		net_wake(g->wake_fd);
		g_thread_join(g->thread);
		g->thread = NULL;
	}
	if (ret_why)
		*ret_why = g_steal_pointer(&g->why);
	return g->end;
}

void gate_free(struct gate *g)
{
	if (!g)
		return;
	gate_close(g, NULL);
	net_close(&g->relay);
	if (g->listener >= 0)
		close(g->listener);
	if (g->reply)
		g_byte_array_unref(g->reply);
	mend_free(g->mend);
	g_free(g->url);
	g_free(g->relay_name);
	g_free(g->why);
	g_free(g);
}
