/* SPDX-License-Identifier: GPL-2.0-only */
/* What the gate changes in the relay's replies: see mend.h. */
#include "live/mend.h"

#define CHECK_US 20000		/* how often new streams are asked for at least */
#define HOLD_US 300000		/* how long a trace's metadata may stay without events */
#define LATEST (UINT64_C(1) << 62)	/* cycles */
#define PACKET_MAX (256u << 20)	/* bytes */
#define METADATA_MAGIC 0x75d11d57u

enum { STATUS_OK = 1, STATUS_RETRY = 2, STATUS_HUP = 3, STATUS_INACTIVE = 5, STATUS_EOF = 6 };
enum { FLAG_NEW_STREAM = 2 };
enum { METADATA_OK = 1, METADATA_NONE = 2 };

/* In a reply to VIEWER_NEXT_INDEX. */
enum { AT_OFFSET = 0, AT_PACKET_SIZE = 8, AT_CONTENT_SIZE = 16, AT_BEGIN = 24, AT_END = 32, AT_CLASS = 48,
       AT_STATUS = 56, AT_FLAGS = 60 };

/* In a packet as LTTng writes it: magic, uuid, two stream ids, then its context. */
enum { PACKET_INSTANCE = 24, PACKET_BEGIN = 32, PACKET_END = 40, PACKET_NEEDED = 48, PACKET_SIZE = 56 };

struct stream {
	uint64_t id, trace, class;	/* class: UINT64_MAX until an index told */
	uint64_t said;			/* told of up to here; 0: nothing yet */
	uint64_t floor;			/* its first packet may not begin before */
	uint64_t offset, begin;		/* of its first packet, */
	uint64_t last_offset;		/* of its newest packet, and what the index says of it: */
	uint64_t last[4];		/* begin, end, content, size */
	uint64_t instance;		/* as its packets say */
	bool has_instance;
	bool first;			/* which is to be asked for next */
	bool has_data, over;
};

/* A trace's metadata, until its first piece may be given out. */
struct metadata {
	uint64_t id;
	GByteArray *held;
	uint64_t bytes;			/* that came */
	int64_t since;			/* monotonic, us: of the last piece */
	bool begun;
};

struct mend {
	GHashTable *streams;		/* id -> struct stream */
	GHashTable *metadata;		/* id -> struct metadata */
	uint64_t asked_beacon;		/* newest beacon seen */
	uint64_t checked_beacon;	/* new streams were asked for since this one */
	int64_t checked_at;		/* monotonic, us */
};

static void metadata_free(gpointer p)
{
	struct metadata *md = p;

	g_byte_array_unref(md->held);
	g_free(md);
}

struct mend *mend_new(void)
{
	struct mend *m = g_new0(struct mend, 1);

	m->streams = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	m->metadata = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, metadata_free);
	return m;
}

void mend_free(struct mend *m)
{
	if (!m)
		return;
	g_hash_table_unref(m->streams);
	g_hash_table_unref(m->metadata);
	g_free(m);
}

/* Up to where babeltrace2 may have gone on: it waits for the slowest stream. */
static uint64_t told(const struct mend *m)
{
	uint64_t min = UINT64_MAX;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, m->streams);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct stream *st = value;
		if (st->said && !st->over)
			min = MIN(min, st->said);
	}
	return min == UINT64_MAX ? 0 : min;
}

static void add_stream(struct mend *m, uint64_t id, uint64_t trace, uint64_t floor)
{
	struct stream *st = g_new0(struct stream, 1);

	st->id = id;
	st->trace = trace;
	st->last_offset = UINT64_MAX;
	st->class = UINT64_MAX;
	st->floor = floor;
	g_hash_table_replace(m->streams, &st->id, st);
}

unsigned mend_streams(struct mend *m, const uint8_t *reply, size_t len)
{
	uint64_t floor = told(m);
	unsigned n = 0;

	for (size_t at = 8; at + VIEWER_STREAM_SIZE <= len; at += VIEWER_STREAM_SIZE) {
		if (viewer_u32(reply + at + 16))
			continue;	/* metadata */
		add_stream(m, viewer_u64(reply + at), viewer_u64(reply + at + 8), floor);
		n++;
	}
	m->checked_beacon = m->asked_beacon;
	m->checked_at = g_get_monotonic_time();
	return n;
}

/* An index of data: what it says of the stream. */
static void note_data(struct stream *st, const uint8_t *reply)
{
	st->first = !st->has_data;
	st->has_data = true;
	st->offset = viewer_u64(reply + AT_OFFSET);
	st->begin = viewer_u64(reply + AT_BEGIN);
	st->said = MAX(st->said, viewer_u64(reply + AT_END));
	st->last_offset = st->offset;
	st->last[0] = st->begin;
	st->last[1] = viewer_u64(reply + AT_END);
	st->last[2] = viewer_u64(reply + AT_CONTENT_SIZE);
	st->last[3] = viewer_u64(reply + AT_PACKET_SIZE);
}

/*
 * "Idle until T" and "retry" say nothing of new streams, so babeltrace2 would not
 * learn of a process that starts while the others are idle (nor of one that comes
 * and goes between two beacons); and would pass T on, though the new stream may
 * have older events. Thus, before a newer T gets through, and every now and then,
 * it is told of a packet of no bytes, which it skips, with the flag "new streams":
 * it asks for them, then for the index again.
 */
static bool check_streams(struct mend *m, const struct stream *st, uint64_t beacon, uint8_t *reply)
{
	if (beacon <= m->checked_beacon && g_get_monotonic_time() - m->checked_at < CHECK_US)
		return false;
	m->asked_beacon = MAX(m->asked_beacon, beacon);
	memset(reply, 0, AT_BEGIN);
	viewer_put_u64(reply + AT_CLASS, st->class);
	viewer_put_u32(reply + AT_STATUS, STATUS_OK);
	viewer_put_u32(reply + AT_FLAGS, FLAG_NEW_STREAM);
	return true;
}

void mend_index(struct mend *m, uint64_t stream, uint8_t reply[MEND_INDEX_SIZE])
{
	struct stream *st = g_hash_table_lookup(m->streams, &stream);
	uint32_t status = viewer_u32(reply + AT_STATUS);
	uint64_t beacon = 0;

	if (!st)
		return;
	if (status == STATUS_OK || status == STATUS_INACTIVE)
		st->class = viewer_u64(reply + AT_CLASS);
	if (status == STATUS_INACTIVE)
		beacon = viewer_u64(reply + AT_END);
	if (status == STATUS_OK)
		note_data(st, reply);
	else if (status == STATUS_HUP)
		st->over = true;
	else if ((status == STATUS_INACTIVE || status == STATUS_RETRY) &&
		 !check_streams(m, st, beacon, reply) && beacon) {
		st->said = MAX(st->said, beacon);
		st->floor = MAX(st->floor, beacon);
	}
}

bool mend_is_index(const uint8_t reply[MEND_INDEX_SIZE])
{
	uint32_t status = viewer_u32(reply + AT_STATUS);
	uint64_t begin = viewer_u64(reply + AT_BEGIN), end = viewer_u64(reply + AT_END);
	uint64_t size = viewer_u64(reply + AT_PACKET_SIZE), content = viewer_u64(reply + AT_CONTENT_SIZE);

	if (status < STATUS_OK || status > STATUS_EOF)
		return false;
	if (status == STATUS_INACTIVE)
		return end < LATEST;
	return status != STATUS_OK ||
	       (begin <= end && end < LATEST && size % 8 == 0 && content <= size &&
		size / 8 <= PACKET_MAX && viewer_u64(reply + AT_OFFSET) <= INT64_MAX - PACKET_MAX);
}

static uint64_t read_u64(const uint8_t *p, bool big_endian)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return big_endian ? GUINT64_FROM_BE(v) : GUINT64_FROM_LE(v);
}

/* Another stream's, if it says so. */
static bool is_taken(const struct mend *m, const struct stream *own, uint64_t instance)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, m->streams);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct stream *st = value;
		if (st != own && st->has_instance && st->trace == own->trace && st->class == own->class &&
		    st->instance == instance)
			return true;
	}
	return false;
}

bool mend_is_packet(struct mend *m, uint64_t stream, uint64_t offset, const uint8_t *reply,
		    size_t len)
{
	struct stream *st = g_hash_table_lookup(m->streams, &stream);
	const uint8_t *packet = reply + MEND_PACKET_HEAD;

	if (!st || st->last_offset != offset || len < MEND_PACKET_HEAD + PACKET_SIZE + 8)
		return true;
	bool be = packet[1] == 0xfc;	/* of c1fc1fc1 */
	for (size_t i = 0; i < G_N_ELEMENTS(st->last); i++)
		if (read_u64(packet + PACKET_BEGIN + 8 * i, be) != st->last[i])
			return false;
	uint64_t instance = read_u64(packet + PACKET_INSTANCE, be);
	if (st->has_instance ? st->instance != instance : is_taken(m, st, instance))
		return false;
	st->instance = instance;
	st->has_instance = true;
	return true;
}

/* Raises an instant in a packet's context, of either byte order, to the floor. */
static void lift(uint8_t *p, uint64_t floor, bool big_endian)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	v = big_endian ? GUINT64_FROM_BE(v) : GUINT64_FROM_LE(v);
	v = MAX(v, floor);
	v = big_endian ? GUINT64_TO_BE(v) : GUINT64_TO_LE(v);
	memcpy(p, &v, sizeof v);
}

void mend_packet(struct mend *m, uint64_t stream, uint64_t offset, uint8_t *reply, size_t len)
{
	struct stream *st = g_hash_table_lookup(m->streams, &stream);
	uint8_t *packet = reply + MEND_PACKET_HEAD;
	uint64_t le, be;

	if (!st || !st->first || st->offset != offset || len < MEND_PACKET_HEAD + PACKET_NEEDED)
		return;
	st->first = false;
	if (st->begin >= st->floor)
		return;
	/* only what is laid out as expected is touched: the index has the same instant */
	le = GUINT64_TO_LE(st->begin);
	be = GUINT64_TO_BE(st->begin);
	bool is_le = !memcmp(packet + PACKET_BEGIN, &le, sizeof le);
	if (!is_le && memcmp(packet + PACKET_BEGIN, &be, sizeof be))
		return;
	lift(packet + PACKET_BEGIN, st->floor, !is_le);
	lift(packet + PACKET_END, st->floor, !is_le);
}

/* -- metadata ---------------------------------------------------------------- */

/* Does the packetized metadata describe a stream and an event? */
static bool is_whole(const GByteArray *held)
{
	enum { HEADER = 37, AT_CONTENT_BITS = 24, AT_PACKET_BITS = 28 };
	g_autoptr(GString) text = g_string_new("\n");

	for (size_t at = 0; at + HEADER <= held->len;) {
		const uint8_t *p = held->data + at;
		uint32_t magic, content, packet;
		memcpy(&magic, p, sizeof magic);
		memcpy(&content, p + AT_CONTENT_BITS, sizeof content);
		memcpy(&packet, p + AT_PACKET_BITS, sizeof packet);
		if (magic == GUINT32_SWAP_LE_BE(METADATA_MAGIC)) {
			content = GUINT32_SWAP_LE_BE(content);
			packet = GUINT32_SWAP_LE_BE(packet);
		} else if (magic != METADATA_MAGIC) {
			return true;	/* of a kind we do not know */
		}
		content /= 8;
		packet /= 8;
		if (content < HEADER || packet < content || packet > held->len - at)
			return true;
		g_string_append_len(text, (const char *)p + HEADER, content - HEADER);
		at += packet;
	}
	return strstr(text->str, "\nstream {") && strstr(text->str, "\nevent {");
}

static struct metadata *find_metadata(struct mend *m, uint64_t id)
{
	struct metadata *md = g_hash_table_lookup(m->metadata, &id);

	if (!md) {
		md = g_new0(struct metadata, 1);
		md->id = id;
		md->held = g_byte_array_new();
		g_hash_table_insert(m->metadata, &md->id, md);
	}
	return md;
}

bool mend_may_metadata(struct mend *m, uint64_t stream, uint64_t n)
{
	struct metadata *md = find_metadata(m, stream);

	md->bytes += MIN(n, MEND_METADATA_MAX + 1);
	return md->bytes <= MEND_METADATA_MAX;
}

/* Gives out what was held back. */
static void release(struct metadata *md, GByteArray *reply)
{
	g_byte_array_set_size(reply, MEND_METADATA_HEAD);
	viewer_put_u64(reply->data, md->held->len);
	viewer_put_u32(reply->data + 8, METADATA_OK);
	g_byte_array_append(reply, md->held->data, md->held->len);
	g_byte_array_set_size(md->held, 0);
	md->begun = true;
}

void mend_metadata(struct mend *m, uint64_t stream, GByteArray *reply)
{
	struct metadata *md = find_metadata(m, stream);
	int64_t now = g_get_monotonic_time();

	if (viewer_u32(reply->data + 8) == METADATA_OK && reply->len == MEND_METADATA_HEAD)
		viewer_put_u32(reply->data + 8, METADATA_NONE);
	if (md->begun)
		return;
	if (viewer_u32(reply->data + 8) == METADATA_OK) {
		g_byte_array_append(md->held, reply->data + MEND_METADATA_HEAD,
				    reply->len - MEND_METADATA_HEAD);
		md->since = now;
		g_byte_array_set_size(reply, MEND_METADATA_HEAD);
		viewer_put_u64(reply->data, 0);
		viewer_put_u32(reply->data + 8, METADATA_NONE);
		if (md->held->len > MEND_METADATA_MAX)
			release(md, reply);
	} else if (md->held->len && (is_whole(md->held) || now - md->since > HOLD_US)) {
		release(md, reply);
	}
}
