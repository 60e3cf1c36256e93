/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a stream for the live source. */
#include "live/viewer/stream_link.h"

#include "live/spool/stream_format.h"

#include "base/fail.h"
#include "base/limits.h"
#include "base/text.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define TIMER_US 1000000		/* of the sessions that are streamed, at most that by default */
#define ROOM_MS 10			/* how often room is looked for */
#define NAME_BYTES 4096			/* bytes; longer names are cut */
#define ENDED UINT_MAX
#define STREAM_ERRORS BLK_TRACE_ERROR, BLK_TRACE_ERROR_CORRUPT

struct stream_record {
	uint32_t kind, number;
	uint64_t length;
};

struct stream_link {
	struct link link;		/* first member: a link is cast to it */
	struct attach_sink *sink;
	int fd;
	GArray *traces, *streams;	/* unsigned, by the stream's numbers: those of the feed and spool, or ENDED */
	bool ended;			/* END came */
};

/* ---- reading ---- */

/* Waits for input, or until the link is to stop. */
static bool wait_for(const struct stream_link *k)
{
	struct pollfd p[] = { { .fd = k->fd, .events = POLLIN }, { .fd = k->link.wake_fd, .events = POLLIN } };
	poll(p, G_N_ELEMENTS(p), -1);
	return !(p[1].revents & POLLIN);
}

/* False: *error, or without it the link is to stop. *ret_none (or NULL): the stream ended before the first byte. */
static bool read_bytes(const struct stream_link *k, void *to, size_t n, bool *ret_none, GError **error)
{
	for (size_t at = 0; at < n;) {
		if (!wait_for(k))
			return false;
		ssize_t got = read(k->fd, (char *)to + at, n - at);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got < 0)
			return fail(error, STREAM_ERRORS, "cannot read the stream: %s", g_strerror(errno));
		if (got == 0 && at == 0 && ret_none)
			*ret_none = true;
		if (got == 0)
			return fail(error, STREAM_ERRORS, "the stream ends within a record: what sent it was ended, or "
				    "the connection broke; what came before is shown");
		at += (size_t)got;
	}
	return true;
}

/* The payload, with a NUL behind it (g_free). NULL as above. */
static char *read_payload(const struct stream_link *k, const struct stream_record *r, GError **error)
{
	char *bytes = g_try_malloc(r->length + 1);
	if (!bytes) {
		fail(error, STREAM_ERRORS, "no memory for a record of %" G_GUINT64_FORMAT " bytes", r->length);
		return NULL;
	}
	bytes[r->length] = '\0';
	if (read_bytes(k, bytes, r->length, NULL, error))
		return bytes;
	g_free(bytes);
	return NULL;
}

/* ---- records ---- */

static bool refuse(const struct stream_record *r, const char *why, GError **error)
{
	return fail(error, STREAM_ERRORS, "the stream is damaged: record of kind %u, number %u, %" G_GUINT64_FORMAT
		    " bytes: %s", r->kind, r->number, r->length, why);
}

static bool find(const GArray *all, const struct stream_record *r, unsigned *ret, GError **error)
{
	*ret = r->number < all->len ? g_array_index(all, unsigned, r->number) : ENDED;
	return *ret != ENDED || refuse(r, "there is nothing of this number", error);
}

static bool add_trace(struct stream_link *k, const struct stream_record *r, const char *name, GError **error)
{
	g_autofree char *visible = text_visible(name);
	if (r->number != k->traces->len || r->number >= LIMIT_RELAY_TRACES)
		return refuse(r, "it is not the next trace, or there are too many", error);
	unsigned number = native_feed_add_trace(k->sink->feed, visible);
	if (k->sink->spool)
		spool_add_trace(k->sink->spool, visible);
	g_array_append_val(k->traces, number);
	return true;
}

static bool add_stream(struct stream_link *k, const struct stream_record *r, const char *bytes, GError **error)
{
	uint32_t in;
	unsigned trace;
	if (r->number != k->streams->len || r->number >= LIMIT_RELAY_STREAMS || r->length < sizeof in)
		return refuse(r, "it is not the next stream, or there are too many", error);
	memcpy(&in, bytes, sizeof in);
	const struct stream_record of = { r->kind, GUINT32_FROM_LE(in), r->length };
	if (!find(k->traces, &of, &trace, error))
		return false;
	g_autofree char *visible = text_visible(bytes + sizeof in);
	int64_t late_us = k->sink->late_us >= 0 ? k->sink->late_us : link_patience(&k->link);
	if (k->sink->spool)
		spool_add_stream(k->sink->spool, trace, visible);
	unsigned number = native_feed_add_stream(k->sink->feed, trace, visible, late_us);
	g_array_append_val(k->streams, number);
	return true;
}

static void add_metadata(struct stream_link *k, unsigned trace, char *bytes, size_t n)
{
	GBytes *text = g_bytes_new_take(bytes, n);
	if (k->sink->spool)
		spool_metadata(k->sink->spool, trace, g_bytes_ref(text));
	native_feed_metadata(k->sink->feed, trace, text);
}

static void restart_metadata(struct stream_link *k, unsigned trace)
{
	if (k->sink->spool)
		spool_metadata_restart(k->sink->spool, trace);
	native_feed_metadata_restart(k->sink->feed, trace);
}

static void end_trace(struct stream_link *k, uint32_t number, unsigned trace)
{
	if (k->sink->spool)
		spool_end_trace(k->sink->spool, trace);
	native_feed_end_trace(k->sink->feed, trace);
	g_array_index(k->traces, unsigned, number) = ENDED;
}

static void add_packet(struct stream_link *k, unsigned stream, char *bytes, size_t n)
{
	GBytes *packet = g_bytes_new_take(bytes, n);
	if (k->sink->spool)
		spool_packet(k->sink->spool, stream, g_bytes_ref(packet));
	native_feed_packet(k->sink->feed, stream, packet, NULL);
}

static void add_beacon(struct stream_link *k, unsigned stream, const char *bytes)
{
	uint64_t of[2];
	memcpy(of, bytes, sizeof of);
	native_feed_beacon(k->sink->feed, stream, GUINT64_FROM_LE(of[0]), GUINT64_FROM_LE(of[1]));
}

static void end_stream(struct stream_link *k, uint32_t number, unsigned stream)
{
	native_feed_end_stream(k->sink->feed, stream);
	g_array_index(k->streams, unsigned, number) = ENDED;
}

/* Bytes that a record of the kind may have. What is not known is skipped, up to the same bound. */
static bool check_length(const struct stream_record *r, GError **error)
{
	static const struct { uint64_t least, most; } of[] = {
		[STREAM_TRACE] = { 0, NAME_BYTES }, [STREAM_METADATA] = { 1, LIMIT_METADATA_BYTES },
		[STREAM_RESTART] = { 0, 0 }, [STREAM_STREAM] = { sizeof(uint32_t), NAME_BYTES },
		[STREAM_PACKET] = { 1, LIMIT_PACKET_BYTES }, [STREAM_BEACON] = { 16, 16 },
		[STREAM_END_STREAM] = { 0, 0 }, [STREAM_END_TRACE] = { 0, 0 }, [STREAM_END] = { 0, 0 },
	};
	bool is_known = r->kind && r->kind < G_N_ELEMENTS(of);
	return (r->length >= (is_known ? of[r->kind].least : 0) &&
		r->length <= (is_known ? of[r->kind].most : LIMIT_PACKET_BYTES)) ||
	       refuse(r, "no such record has this length", error);
}

/* Takes over the bytes. Pushing. */
static bool take(struct stream_link *k, const struct stream_record *r, char *taken, GError **error)
{
	g_autofree char *bytes = taken;
	bool is_trace = r->kind == STREAM_METADATA || r->kind == STREAM_RESTART || r->kind == STREAM_END_TRACE;
	bool is_stream = r->kind == STREAM_PACKET || r->kind == STREAM_BEACON || r->kind == STREAM_END_STREAM;
	unsigned number = 0;
	if ((is_trace && !find(k->traces, r, &number, error)) || (is_stream && !find(k->streams, r, &number, error)))
		return false;
	switch (r->kind) {
	case STREAM_TRACE: return add_trace(k, r, bytes, error);
	case STREAM_STREAM: return add_stream(k, r, bytes, error);
	case STREAM_METADATA: add_metadata(k, number, g_steal_pointer(&bytes), r->length); break;
	case STREAM_RESTART: restart_metadata(k, number); break;
	case STREAM_END_TRACE: end_trace(k, r->number, number); break;
	case STREAM_PACKET: add_packet(k, number, g_steal_pointer(&bytes), r->length); break;
	case STREAM_BEACON: add_beacon(k, number, bytes); break;
	case STREAM_END_STREAM: end_stream(k, r->number, number); break;
	case STREAM_END: k->ended = true; break;
	default: break;			/* of a later version */
	}
	return true;
}

/* ---- the thread ---- */

static bool read_header(struct stream_link *k, GError **error)
{
	char magic[STREAM_MAGIC_BYTES + 1] = "";
	bool is_empty = false;
	static const char any_version[] = "BLKTOP STREAM ";
	if (!read_bytes(k, magic, STREAM_MAGIC_BYTES, &is_empty, error)) {
		if (!is_empty)
			return false;
		g_clear_error(error);
		return fail(error, STREAM_ERRORS, "nothing came from standard input: the command that should write the "
			    "stream (blktop record -o -) has ended");
	}
	if (!memcmp(magic, STREAM_MAGIC, STREAM_MAGIC_BYTES))
		return true;
	if (!memcmp(magic, STREAM_MAGIC, STREAM_MAGIC_BYTES - 1) && magic[STREAM_MAGIC_BYTES - 1] == '\r')
		return fail(error, STREAM_ERRORS, "a terminal has changed the stream: use ssh without -t");
	g_autofree char *visible = text_visible(magic);
	if (g_str_has_prefix(magic, any_version))
		return fail(error, STREAM_ERRORS, "the stream has version %s, and this blktop reads version 1: use the "
			    "same version on both machines", visible + strlen(any_version));
	return fail(error, STREAM_ERRORS, "standard input is no stream of 'blktop record -o -': it begins with '%s'",
		    visible);
}

static bool read_record(struct stream_link *k, GError **error)
{
	struct stream_record r;
	G_STATIC_ASSERT(sizeof r == STREAM_RECORD_BYTES);
	if (!read_bytes(k, &r, sizeof r, NULL, error))
		return false;
	r = (struct stream_record){ GUINT32_FROM_LE(r.kind), GUINT32_FROM_LE(r.number), GUINT64_FROM_LE(r.length) };
	if (!check_length(&r, error))
		return false;
	while (r.length && attach_room(k->sink) == ATTACH_FULL && !link_stopped(&k->link))
		g_usleep(ROOM_MS * 1000);
	char *bytes = read_payload(k, &r, error);
	if (!bytes)
		return false;
	g_mutex_lock(&k->sink->push);
	bool is_good = take(k, &r, bytes, error);
	g_mutex_unlock(&k->sink->push);
	return is_good;
}

/* Streams and traces that have not ended end now. */
static void end_all(struct stream_link *k)
{
	g_mutex_lock(&k->sink->push);
	for (guint i = 0; i < k->streams->len; i++)
		if (g_array_index(k->streams, unsigned, i) != ENDED)
			end_stream(k, i, g_array_index(k->streams, unsigned, i));
	for (guint i = 0; i < k->traces->len; i++)
		if (g_array_index(k->traces, unsigned, i) != ENDED)
			end_trace(k, i, g_array_index(k->traces, unsigned, i));
	g_mutex_unlock(&k->sink->push);
}

static enum link_end run(struct link *link, char **why)
{
	struct stream_link *k = (struct stream_link *)link;
	g_autoptr(GError) error = NULL;
	if (read_header(k, &error)) {
		link_set_attached(link);
		while (!k->ended && !link_stopped(link) && read_record(k, &error))
			;
	}
	end_all(k);
	*why = error ? g_strdup(error->message) : NULL;
	return error ? LINK_BROKEN : LINK_SESSION_ENDED;
}

static void free_link(struct link *link)
{
	struct stream_link *k = (struct stream_link *)link;
	g_array_unref(k->traces);
	g_array_unref(k->streams);
	g_free(k);
}

struct link *stream_link_new(struct link_owner *owner, struct attach_sink *sink, int fd)
{
	static const struct link_ops ops = { .run = run, .free = free_link };
	static const struct live_url there = { .host = (char *)"stream" };
	struct stream_link *k = g_new0(struct stream_link, 1);
	link_init(&k->link, &ops, owner, &there, &(struct viewer_session){ .timer_us = TIMER_US });
	k->sink = sink;
	k->fd = fd;
	k->traces = g_array_new(FALSE, FALSE, sizeof(unsigned));
	k->streams = g_array_new(FALSE, FALSE, sizeof(unsigned));
	return &k->link;
}
