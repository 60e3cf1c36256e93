/* SPDX-License-Identifier: GPL-2.0-only */
/* The relay's answers, and the network to it: see relay.h. */
#include "relay.h"
#include "sched.h"

#include "live/viewer/viewer.h"

#include <string.h>

#define FIRST_FD 1000000		/* no descriptor of the process has such a number */
#define NOTICES_US 20000		/* the relay notices a closed connection so much later */

/* What the viewer of a connection was given of a stream. */
struct given {
	struct sim_stream *stream;
	guint next;			/* packet */
	struct sim_packet *last;	/* the one that was announced last: its file is open */
	int64_t beacon_ns;
};

struct connection {
	struct sim_session *session;	/* that it is attached to; NULL: none */
	GByteArray *asked, *said;
	gsize said_at;
	GArray *given;			/* struct given */
	GHashTable *metadata;		/* struct sim_trace * -> bytes given */
	bool broken, closed;
	bool announces;			/* what is said ends with streams */
	int64_t opened_us, arrives_us;	/* what was asked last arrives at the relay */
	int64_t cut_after;		/* bytes; INT64_MAX: not */
};
static GPtrArray *connections;

/* ---- numbers ---- */

static void put_u32(GByteArray *to, uint32_t v)
{
	uint8_t p[4];
	viewer_put_u32(p, v);
	g_byte_array_append(to, p, sizeof p);
}

static void put_u64(GByteArray *to, uint64_t v)
{
	uint8_t p[8];
	viewer_put_u64(p, v);
	g_byte_array_append(to, p, sizeof p);
}

static void put_text(GByteArray *to, const char *text, guint size)
{
	guint at = to->len;
	g_byte_array_set_size(to, at + size);
	memset(to->data + at, 0, size);
	memcpy(to->data + at, text, strlen(text));
}

/* ---- sessions ---- */

static bool has_vanished(const struct sim_session *s)
{
	return sched_now() >= s->vanishes_us;
}

/* Of a session that is destroyed the relay has all before it knows so. */
static bool has_ended(const struct sim_session *s)
{
	return sched_now() >= s->closed_us;
}

static bool is_listed(const struct sim_session *s)
{
	return sched_now() >= s->begins_us && !has_ended(s) && !has_vanished(s);
}

static void say_list(struct connection *c)
{
	unsigned n = 0;

	for (guint i = 0; i < world.sessions->len; i++)
		n += is_listed(world.sessions->pdata[i]);
	put_u32(c->said, n);
	for (guint i = 0; i < world.sessions->len; i++) {
		const struct sim_session *s = world.sessions->pdata[i];
		if (!is_listed(s))
			continue;
		put_u64(c->said, s->id);
		put_u32(c->said, s->timer_us);
		put_u32(c->said, s->viewer != NULL);
		put_u32(c->said, s->streams->len);
		if (world.minor >= VIEWER_MINOR_NAMES) {
			put_u32(c->said, 4);
			put_u32(c->said, 5);
			put_u32(c->said, 0);
		}
		put_text(c->said, "web1", world.minor >= VIEWER_MINOR_NAMES ? 4 : VIEWER_HOST_SIZE);
		put_text(c->said, "spans", world.minor >= VIEWER_MINOR_NAMES ? 5 : VIEWER_NAME_SIZE);
	}
}

static bool is_given(const struct connection *c, const struct sim_stream *x)
{
	for (guint i = 0; i < c->given->len; i++)
		if (g_array_index(c->given, struct given, i).stream == x)
			return true;
	return false;
}

static void say_stream(GByteArray *to, uint64_t id, const struct sim_trace *t, bool metadata, const char *channel)
{
	g_autofree char *of_process = g_strdup_printf("ust/pid/server-%d-20261127-120000", (int)(1000 + t->uuid));
	const char *path = t->of_process ? of_process : "ust/uid/0/64-bit";

	put_u64(to, id);
	put_u64(to, t->id);
	put_u32(to, metadata);
	put_text(to, path, VIEWER_PATH_SIZE);
	put_text(to, metadata ? "metadata" : channel, VIEWER_NAME_SIZE);
}

/* The stream of a process that ended. No relay announces it to a connection that was not told of it before. */
static bool is_closed(const struct connection *c, const struct sim_stream *x)
{
	return x->trace->of_process && x->closes_us < c->session->ends_us && sched_now() >= x->gone_us;
}

/* Before 2.15 it delivers nothing more of it, either. */
static bool withholds(const struct connection *c, const struct sim_stream *x)
{
	return world.minor < 15 && is_closed(c, x);
}

static bool is_announced(const struct connection *c, const struct sim_stream *x)
{
	return sched_now() >= x->begins_us && !is_closed(c, x);
}

/* The streams that the connection was not given yet: their number and they. */
static void say_new_streams(struct connection *c)
{
	g_autoptr(GByteArray) list = g_byte_array_new();
	unsigned n = 0;

	for (guint i = 0; i < c->session->streams->len; i++) {
		struct sim_stream *x = c->session->streams->pdata[i];
		char name[32];
		if (is_given(c, x) || !is_announced(c, x))
			continue;
		if (!g_hash_table_contains(c->metadata, x->trace)) {
			g_hash_table_insert(c->metadata, x->trace, NULL);
			say_stream(list, x->trace->metadata_id, x->trace, true, NULL);
			n++;
		}
		struct given g = { .stream = x, .beacon_ns = INT64_MIN };
		g_array_append_val(c->given, g);
		g_snprintf(name, sizeof name, "chan_%u", x->cpu);
		say_stream(list, x->id, x->trace, false, name);
		n++;
	}
	put_u32(c->said, n);
	g_byte_array_append(c->said, list->data, list->len);
	c->announces = true;
}

static bool has_new_streams(const struct connection *c)
{
	for (guint i = 0; i < c->session->streams->len; i++)
		if (!is_given(c, c->session->streams->pdata[i]) && is_announced(c, c->session->streams->pdata[i]))
			return true;
	return false;
}

static void say_attach(struct connection *c, const uint8_t *p)
{
	struct sim_session *s = NULL;

	for (guint i = 0; i < world.sessions->len; i++) {
		struct sim_session *each = world.sessions->pdata[i];
		if (each->id == viewer_u64(p) && is_listed(each))
			s = each;
	}
	if (s && s->viewer && sched_now() >= s->viewer_gone_us)
		s->viewer = NULL;
	uint32_t status = !s ? VIEWER_UNKNOWN : s->viewer ? VIEWER_TAKEN : VIEWER_ATTACHED;
	sim_say("relay: attach %s", !s ? "unknown" : s->viewer ? "taken" : "fine");
	put_u32(c->said, status);
	if (status != VIEWER_ATTACHED) {
		put_u32(c->said, 0);
		return;
	}
	s->viewer = c;
	s->viewer_gone_us = INT64_MAX;
	c->session = s;
	say_new_streams(c);
}

static void say_streams(struct connection *c)
{
	bool any = has_new_streams(c), over = has_ended(c->session);

	put_u32(c->said, any ? VIEWER_STREAMS_OK : over ? VIEWER_STREAMS_HUP : VIEWER_STREAMS_NONE);
	if (any)
		say_new_streams(c);
	else
		put_u32(c->said, 0);
}

/* ---- streams ---- */

static gsize metadata_now(const struct sim_trace *t)
{
	return sched_now() >= t->rest_us ? t->metadata->len : t->first_part;
}

static bool has_new_metadata(const struct connection *c, const struct sim_trace *t)
{
	return GPOINTER_TO_SIZE(g_hash_table_lookup(c->metadata, t)) < metadata_now(t);
}

static void put_index(struct connection *c, const struct sim_packet *p, int64_t end_ns, uint32_t status, uint32_t flags)
{
	put_u64(c->said, p ? p->offset : 0);
	put_u64(c->said, p ? UINT64_C(8) * p->bytes->len : 0);
	uint64_t bits = 0;
	if (p)
		memcpy(&bits, p->bytes->data + 48, sizeof bits);
	put_u64(c->said, GUINT64_FROM_LE(bits));
	put_u64(c->said, p ? (uint64_t)p->begin_ns : 0);
	put_u64(c->said, (uint64_t)end_ns);
	put_u64(c->said, p ? p->discarded : 0);
	put_u64(c->said, 7);
	put_u32(c->said, status);
	put_u32(c->said, flags);
}

/* The newest tick of the live timer of which the relay knows that there was nothing between. INT64_MIN: none. */
static int64_t beacon_of(const struct connection *c, const struct given *g)
{
	int64_t timer_ns = (int64_t)c->session->timer_us * 1000;
	int64_t tick = (sched_now() - 30000) * 1000 / timer_ns * timer_ns;
	const struct sim_packet *next = g->next < g->stream->packets->len ? g->stream->packets->pdata[g->next] : NULL;

	if ((next && next->begin_ns <= tick) || tick <= g->beacon_ns || tick < g->stream->begins_us * 1000 ||
	    (g->last && tick <= g->last->end_ns) || sched_now() >= g->stream->gone_us)
		return INT64_MIN;
	return tick;
}

static struct given *find_given(struct connection *c, uint64_t id)
{
	for (guint i = 0; i < c->given->len; i++) {
		struct given *g = &g_array_index(c->given, struct given, i);
		if (g->stream->id == id)
			return g;
	}
	return NULL;
}

static void say_index(struct connection *c, const uint8_t *payload)
{
	struct given *g = find_given(c, viewer_u64(payload));
	g_assert_nonnull(g);
	struct sim_stream *x = g->stream;
	bool closed = sched_now() >= x->gone_us;
	uint32_t flags = (has_new_metadata(c, x->trace) ? VIEWER_FLAG_METADATA : 0) |
		(has_new_streams(c) ? VIEWER_FLAG_STREAMS : 0);

	if (withholds(c, x)) {
		put_index(c, NULL, 0, VIEWER_INDEX_HUP, 0);
		return;
	}
	while (g->next < x->packets->len && ((struct sim_packet *)x->packets->pdata[g->next])->overwritten)
		g->next++;
	struct sim_packet *p = g->next < x->packets->len ? x->packets->pdata[g->next] : NULL;
	if (p && p->at_us <= sched_now()) {
		g->next++;
		g->last = p;
		p->announced = true;
		put_index(c, p, p->end_ns, VIEWER_INDEX_OK, flags);
		return;
	}
	int64_t beacon = beacon_of(c, g);
	if (!p && closed) {
		put_index(c, NULL, 0, VIEWER_INDEX_HUP, 0);
	} else if (beacon != INT64_MIN) {
		g->beacon_ns = beacon;
		put_index(c, NULL, beacon, VIEWER_INDEX_INACTIVE, flags);
	} else {
		put_index(c, NULL, 0, VIEWER_INDEX_RETRY, flags);
	}
}

/* Of the file that is open: that of the packet which was announced last. */
static void say_packet(struct connection *c, const uint8_t *payload)
{
	const struct given *g = find_given(c, viewer_u64(payload));
	uint64_t at = viewer_u64(payload + 8);
	uint32_t len = viewer_u32(payload + 16);
	g_assert_true(g && g->last);
	const struct sim_packet *p = NULL;

	for (guint i = 0; i < g->next; i++) {
		const struct sim_packet *each = g->stream->packets->pdata[i];
		if (each->file == g->last->file && at >= each->offset && at + len <= each->offset + each->bytes->len)
			p = each;
	}
	bool fine = p && !p->refused;
	if (!p)
		sim_fail("bytes are asked for that the open file does not have");
	put_u32(c->said, fine ? VIEWER_PACKET_OK : VIEWER_PACKET_ERR);
	put_u32(c->said, fine ? len : 0);
	put_u32(c->said, 0);
	if (fine)
		g_byte_array_append(c->said, p->bytes->data + (at - p->offset), len);
}

static void say_metadata(struct connection *c, const uint8_t *payload)
{
	GHashTableIter it;
	gpointer key, value;
	const struct sim_trace *t = NULL;
	gsize given = 0;

	g_hash_table_iter_init(&it, c->metadata);
	while (g_hash_table_iter_next(&it, &key, &value))
		if (((struct sim_trace *)key)->metadata_id == viewer_u64(payload)) {
			t = key;
			given = GPOINTER_TO_SIZE(value);
		}
	g_assert_nonnull(t);
	gsize n = metadata_now(t) - given;
	n = n && sim_one_of(4) ? 1 + sim_below(n) : n;
	put_u64(c->said, n);
	put_u32(c->said, n ? VIEWER_METADATA_OK : VIEWER_METADATA_NONE);
	g_byte_array_append(c->said, (const guint8 *)t->metadata->str + given, (guint)n);
	g_hash_table_insert(c->metadata, (gpointer)t, GSIZE_TO_POINTER(given + n));
}

/* False: the connection is closed instead. */
static bool answer(struct connection *c, uint32_t command, const uint8_t *payload)
{
	if (c->session && has_vanished(c->session))
		return false;
	if (command == VIEWER_CONNECT) {
		put_u64(c->said, 1);
		put_u32(c->said, 2);
		put_u32(c->said, world.minor);
		put_u32(c->said, 1);
	} else if (command == VIEWER_CREATE || command == VIEWER_DETACH) {
		put_u32(c->said, 1);
	} else if (command == VIEWER_LIST) {
		say_list(c);
	} else if (command == VIEWER_ATTACH) {
		say_attach(c, payload);
	} else if (command == VIEWER_NEW_STREAMS) {
		say_streams(c);
	} else if (command == VIEWER_NEXT_INDEX) {
		say_index(c, payload);
	} else if (command == VIEWER_PACKET) {
		say_packet(c, payload);
	} else {
		say_metadata(c, payload);
	}
	return true;
}

/* ---- the network ---- */

static const struct sim_fault *fault_now(void)
{
	for (guint i = 0; i < world.faults->len; i++) {
		const struct sim_fault *f = &g_array_index(world.faults, struct sim_fault, i);
		if (sched_now() >= f->from_us && sched_now() < f->to_us)
			return f;
	}
	return NULL;
}

/* Was there a cut since? */
static bool was_cut(int64_t since_us)
{
	for (guint i = 0; i < world.faults->len; i++) {
		const struct sim_fault *f = &g_array_index(world.faults, struct sim_fault, i);
		if (f->cuts && f->from_us >= since_us && f->from_us <= sched_now())
			return true;
	}
	return false;
}

/* The relay frees the viewer's place, sooner or later. */
static void let_go(struct connection *c, int64_t after_us)
{
	if (c->session && c->session->viewer == c)
		c->session->viewer_gone_us = MIN(c->session->viewer_gone_us, sched_now() + after_us);
}

static void break_connection(struct connection *c, const char *why)
{
	if (!c->broken)
		sim_say("a connection%s breaks: %s", c->session ? " to a session" : "", why);
	c->broken = true;
	world.session_cut |= c->session != NULL;
	let_go(c, sim_between(1000, 4000000));
}

static void forget_stream(struct sim_stream *x)
{
	x->known = false;
	for (guint i = 0; i < x->packets->len; i++)
		((struct sim_packet *)x->packets->pdata[i])->announced = false;
}

void world_drop_viewers(void)
{
	for (guint i = 0; connections && i < connections->len; i++)
		let_go(connections->pdata[i], NOTICES_US);
	for (guint i = 0; i < world.sessions->len; i++) {
		const struct sim_session *s = world.sessions->pdata[i];
		for (guint k = 0; k < s->streams->len; k++)
			forget_stream(s->streams->pdata[k]);
	}
}

static bool fail(GError **error, const char *why)
{
	g_set_error_literal(error, BLK_TRACE_ERROR, BLK_TRACE_ERROR_CONNECT, why);
	return false;
}

static struct connection *of(const struct net *n)
{
	g_assert_true(n->fd >= FIRST_FD && (guint)(n->fd - FIRST_FD) < connections->len);
	return connections->pdata[n->fd - FIRST_FD];
}

bool __wrap_net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd, int64_t deadline,
			GError **error);
size_t __wrap_net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error);
bool __wrap_net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error);
bool __wrap_net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error);
void __wrap_net_close(struct net *n);
int __wrap_net_leave(struct net *n);
void __wrap_net_abort(int fd);

bool __wrap_net_connect(struct net *n, const char *host, uint16_t port, int family, int wake_fd, int64_t deadline,
			GError **error)
{
	*n = (struct net){ .fd = -1, .wake_fd = wake_fd };
	if (sched_wait(sched_now() + sim_between(10, world.most_delay_us), wake_fd))
		return fail(error, "stopped");
	for (const struct sim_fault *f; (f = fault_now());) {
		if (f->cuts)
			return fail(error, "connection refused");
		if (sched_wait(MIN(f->to_us, deadline), wake_fd))
			return fail(error, "stopped");
		if (sched_now() >= deadline)
			return fail(error, "no answer in time");
	}
	struct connection *c = g_new0(struct connection, 1);
	c->asked = g_byte_array_new();
	c->said = g_byte_array_new();
	c->given = g_array_new(false, false, sizeof(struct given));
	c->metadata = g_hash_table_new(NULL, NULL);
	c->opened_us = sched_now();
	c->cut_after = INT64_MAX;
	if (!connections)
		connections = g_ptr_array_new();
	g_ptr_array_add(connections, c);
	n->fd = FIRST_FD + (int)connections->len - 1;
	return true;
}

/* Answers the next request. False: *error; or nothing came yet. */
static bool answer_next(struct connection *c, GError **error)
{
	if (c->asked->len < VIEWER_HEADER)
		return true;
	uint64_t size = viewer_u64(c->asked->data);
	g_assert_cmpuint(size, <=, c->asked->len - VIEWER_HEADER);
	g_byte_array_set_size(c->said, 0);
	c->said_at = 0;
	c->announces = false;
	if (!answer(c, viewer_u32(c->asked->data + 8), c->asked->data + VIEWER_HEADER)) {
		break_connection(c, "the relay ended");
		return fail(error, "the connection was closed");
	}
	g_byte_array_remove_range(c->asked, 0, (guint)(VIEWER_HEADER + size));
	if (world.cut_every && sim_one_of(world.cut_every))
		c->cut_after = (int64_t)sim_below(c->said->len + 1);
	return true;
}

/* The viewer has read all of it. */
static void note_announced(struct connection *c)
{
	for (guint i = 0; i < c->given->len; i++)
		g_array_index(c->given, struct given, i).stream->known = true;
	for (guint i = 0; i < c->session->streams->len; i++) {
		struct sim_stream *x = c->session->streams->pdata[i];
		x->known |= !x->trace->of_process;
	}
	c->announces = false;
}

size_t __wrap_net_read_some(struct net *n, void *buf, size_t max, int64_t deadline, GError **error)
{
	struct connection *c = of(n);

	for (;;) {
		if (was_cut(c->opened_us) || c->cut_after == 0)
			break_connection(c, "cut");
		if (c->broken)
			return fail(error, "Connection reset by peer");
		const struct sim_fault *f = fault_now();
		if (!f && c->said_at < c->said->len)
			break;
		int64_t until = f ? f->to_us : INT64_MAX;
		if (!f && c->asked->len)
			until = MAX(c->arrives_us, sched_now() + sim_between(5, 200));
		if (sched_wait(MIN(until, deadline), n->wake_fd))
			return fail(error, "stopped");
		if (!f && c->asked->len && !answer_next(c, error))
			return 0;
		if (sched_now() >= deadline && (f || c->said_at == c->said->len))
			return fail(error, "no answer in time");
	}
	size_t got = MIN(max, c->said->len - c->said_at);
	got = sim_one_of(8) ? 1 + sim_below(got) : got;
	got = (size_t)MIN((int64_t)got, c->cut_after);
	memcpy(buf, c->said->data + c->said_at, got);
	c->said_at += got;
	if (c->said_at == c->said->len && c->announces)
		note_announced(c);
	c->cut_after -= c->cut_after == INT64_MAX ? 0 : (int64_t)got;
	if (n->bytes_at)
		g_atomic_int_set(n->bytes_at, (gint)(sched_now() / G_USEC_PER_SEC));
	return got;
}

bool __wrap_net_read(struct net *n, void *buf, size_t len, int64_t deadline, GError **error)
{
	for (size_t got; len > 0; buf = (char *)buf + got, len -= got) {
		got = __wrap_net_read_some(n, buf, len, deadline, error);
		if (!got)
			return false;
	}
	return true;
}

bool __wrap_net_write(struct net *n, const void *buf, size_t len, int64_t deadline, GError **error)
{
	struct connection *c = of(n);

	if (c->broken)
		return fail(error, "Broken pipe");
	if (!c->asked->len)
		c->arrives_us = sched_now() + sim_between(5, world.most_delay_us);
	g_byte_array_append(c->asked, buf, (guint)len);
	return true;
}

static void close_connection(int fd)
{
	struct connection *c = connections->pdata[fd - FIRST_FD];

	c->closed = c->broken = true;
	let_go(c, NOTICES_US);
}

void __wrap_net_close(struct net *n)
{
	if (n->fd >= 0)
		close_connection(n->fd);
	n->fd = -1;
}

int __wrap_net_leave(struct net *n)
{
	int fd = n->fd;

	if (fd >= 0)
		break_connection(of(n), "left");
	n->fd = -1;
	return fd;
}

void __wrap_net_abort(int fd)
{
	close_connection(fd);
}
