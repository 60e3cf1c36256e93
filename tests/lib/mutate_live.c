/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of what a relay says: see mutate_live.h. */
#include <string.h>

#include "lib/lttng_packet.h"
#include "lib/mutate.h"
#include "lib/mutate_live.h"
#include "live/viewer/viewer.h"

#define HEAD 6				/* bytes of a reply before its own */
#define INDEX_STATUS 56			/* in the reply to VIEWER_NEXT_INDEX; flags behind it */

/* ---- as bytes ---- */

void reply_free(void *p)
{
	struct reply *r = p;
	if (!r)
		return;
	g_byte_array_unref(r->bytes);
	g_free(r);
}

static struct reply *reply_new(unsigned command, bool raw, unsigned stream, const void *bytes, size_t n)
{
	struct reply *r = g_new0(struct reply, 1);
	*r = (struct reply){ (uint8_t)command, (uint8_t)stream, raw, g_byte_array_sized_new((guint)n) };
	g_byte_array_append(r->bytes, bytes, (guint)n);
	return r;
}

static struct reply *reply_copy(const struct reply *r)
{
	return reply_new(r->command, r->raw, r->stream, r->bytes->data, r->bytes->len);
}

GPtrArray *replies_parse(const uint8_t *data, size_t size)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(reply_free);
	while (size >= HEAD) {
		uint32_t n;
		memcpy(&n, data + 2, sizeof n);
		n = (uint32_t)MIN(GUINT32_FROM_LE(n), size - HEAD);
		unsigned command = CLAMP(data[0] & ~REPLY_RAW, VIEWER_CONNECT, VIEWER_DETACH);
		g_ptr_array_add(all, reply_new(command, data[0] & REPLY_RAW, data[1], data + HEAD, n));
		data += HEAD + n;
		size -= HEAD + n;
	}
	return all;
}

GByteArray *replies_serialise(const GPtrArray *replies)
{
	GByteArray *out = g_byte_array_new();
	for (guint i = 0; i < replies->len; i++) {
		const struct reply *r = g_ptr_array_index(replies, i);
		uint8_t head[HEAD] = { r->command | (r->raw ? REPLY_RAW : 0), r->stream };
		uint32_t n = GUINT32_TO_LE(r->bytes->len);
		memcpy(head + 2, &n, sizeof n);
		g_byte_array_append(out, head, sizeof head);
		g_byte_array_append(out, r->bytes->data, r->bytes->len);
	}
	return out;
}

/* ---- which ---- */

struct talk {
	GPtrArray *replies;
	GRand *r;
};

static struct reply *at(const struct talk *t, guint i)
{
	return g_ptr_array_index(t->replies, i);
}

/* One to that command, of any with 0; its number, or -1: there is none. */
static int any_reply(const struct talk *t, unsigned command)
{
	int found = -1;
	unsigned n = 0;
	for (guint i = 0; i < t->replies->len; i++)
		if ((!command || at(t, i)->command == command) && !mutate_pick(t->r, ++n))
			found = (int)i;
	return found;
}

/* ---- order ---- */

static void move_reply(struct talk *t)
{
	int from = any_reply(t, mutate_pick(t->r, 2) ? VIEWER_NEXT_INDEX : mutate_pick(t->r, VIEWER_DETACH + 1));
	guint to = mutate_pick(t->r, t->replies->len + 1);
	if (from < 0)
		return;
	struct reply *r = at(t, (guint)from), *moved;
	switch (mutate_pick(t->r, 4)) {
	case 0:
		g_ptr_array_remove_index(t->replies, (guint)from);
		break;
	case 1:				/* it comes once more */
		g_ptr_array_insert(t->replies, (int)to, reply_copy(r));
		break;
	case 2:
		moved = g_ptr_array_steal_index(t->replies, (guint)from);
		g_ptr_array_insert(t->replies, (int)MIN(to, t->replies->len), moved);
		break;
	default:
		at(t, (guint)from)->stream = at(t, mutate_pick(t->r, t->replies->len))->stream;
	}
}

/* Replies to one command change places with those of another stream. */
static void swap_streams(struct talk *t)
{
	static const unsigned commands[] = { VIEWER_PACKET, VIEWER_PACKET, VIEWER_NEXT_INDEX, VIEWER_METADATA };
	unsigned command = commands[mutate_pick(t->r, G_N_ELEMENTS(commands))];
	int one = any_reply(t, command), two = any_reply(t, command);
	if (one < 0)
		return;
	uint8_t a = at(t, (guint)one)->stream, b = at(t, (guint)two)->stream;
	for (guint i = 0; i < t->replies->len; i++) {
		struct reply *r = at(t, i);
		if (r->command == command && (r->stream == a || r->stream == b))
			r->stream = r->stream == a ? b : a;
	}
}

/* What came of metadata comes again, from its beginning. */
static void repeat_metadata(struct talk *t)
{
	int one = any_reply(t, VIEWER_METADATA);
	for (guint i = 0, n = t->replies->len; one >= 0 && i < n; i++) {
		const struct reply *r = at(t, i);
		if (r->command == VIEWER_METADATA && r->stream == at(t, (guint)one)->stream)
			g_ptr_array_add(t->replies, reply_copy(r));
	}
}

/* ---- what they say ---- */

static void put_be32(GByteArray *b, guint where, uint32_t v)
{
	if (where + 4 <= b->len)
		viewer_put_u32(b->data + where, v);
}

static void change_index(struct talk *t)
{
	int one = any_reply(t, VIEWER_NEXT_INDEX), two = any_reply(t, VIEWER_NEXT_INDEX);
	if (one < 0 || at(t, (guint)one)->bytes->len < VIEWER_INDEX_SIZE)
		return;
	GByteArray *b = at(t, (guint)one)->bytes, *other = at(t, (guint)two)->bytes;
	guint field = mutate_pick(t->r, 7) * 8;
	switch (mutate_pick(t->r, 6)) {
	case 0:
		put_be32(b, INDEX_STATUS, mutate_pick(t->r, 8));
		break;
	case 1:
		put_be32(b, INDEX_STATUS + 4, mutate_pick(t->r, 4));
		break;
	case 2:
		if (other->len >= VIEWER_INDEX_SIZE)
			memcpy(b->data + field, other->data + field, 8);
		break;
	case 3:
		memcpy(b->data + field, b->data + mutate_pick(t->r, 7) * 8, 8);
		break;
	default:
		viewer_put_u64(b->data + field, mutate_number(t->r, viewer_u64(b->data + field)));
	}
}

/* A beacon, an end, a question put off, in between. */
static void add_index(struct talk *t)
{
	int one = any_reply(t, VIEWER_NEXT_INDEX);
	if (one < 0)
		return;
	struct reply *r = reply_copy(at(t, (guint)one));
	r->raw = false;
	put_be32(r->bytes, INDEX_STATUS, VIEWER_INDEX_RETRY + mutate_pick(t->r, 5));
	put_be32(r->bytes, INDEX_STATUS + 4, mutate_pick(t->r, 3) ? 0 : mutate_pick(t->r, 4));
	g_ptr_array_insert(t->replies, one, r);
}

/* The index says what the packet behind it says, or the other way round. */
static void change_packet(struct talk *t)
{
	int one = any_reply(t, VIEWER_PACKET), two = any_reply(t, VIEWER_PACKET);
	if (one < 0 || at(t, (guint)one)->bytes->len < VIEWER_PACKET_HEAD + LTTNG_HEADER)
		return;
	GByteArray *b = at(t, (guint)one)->bytes, *other = at(t, (guint)two)->bytes;
	int metadata = any_reply(t, VIEWER_METADATA);
	bool whole = other->len >= VIEWER_PACKET_HEAD + LTTNG_HEADER;
	switch (mutate_pick(t->r, 8)) {
	case 0:
		put_be32(b, 0, mutate_pick(t->r, 6));
		break;
	case 1:
		put_be32(b, 8, mutate_pick(t->r, 4));
		break;
	case 2:
		g_byte_array_set_size(b, VIEWER_PACKET_HEAD + mutate_pick(t->r, b->len - VIEWER_PACKET_HEAD));
		break;
	case 3:
	case 4:
		mutate_events(b, VIEWER_PACKET_HEAD, b->len - VIEWER_PACKET_HEAD,
			      metadata < 0 ? NULL : at(t, (guint)metadata)->bytes, t->r);
		break;
	default:
		mutate_header(b->data + VIEWER_PACKET_HEAD, whole ? other->data + VIEWER_PACKET_HEAD : NULL, t->r);
	}
}

static void change_metadata(struct talk *t)
{
	int one = any_reply(t, VIEWER_METADATA), two = any_reply(t, VIEWER_METADATA);
	if (one < 0 || at(t, (guint)one)->bytes->len < VIEWER_METADATA_HEAD)
		return;
	GByteArray *b = at(t, (guint)one)->bytes, *other = at(t, (guint)two)->bytes;
	g_autoptr(GByteArray) text = g_byte_array_new(), more = g_byte_array_new();
	guint cut = VIEWER_METADATA_HEAD + mutate_pick(t->r, b->len - VIEWER_METADATA_HEAD + 1);
	switch (mutate_pick(t->r, 5)) {
	case 0:
		put_be32(b, 8, mutate_pick(t->r, 5));
		break;
	case 1:				/* in two pieces, cut anywhere */
		g_ptr_array_insert(t->replies, one + 1, reply_copy(at(t, (guint)one)));
		mutate_splice(at(t, (guint)one + 1)->bytes, VIEWER_METADATA_HEAD, cut - VIEWER_METADATA_HEAD, NULL, 0);
		g_byte_array_set_size(b, cut);
		break;
	default:
		g_byte_array_append(text, b->data + VIEWER_METADATA_HEAD, b->len - VIEWER_METADATA_HEAD);
		if (other->len > VIEWER_METADATA_HEAD)
			g_byte_array_append(more, other->data + VIEWER_METADATA_HEAD,
					    other->len - VIEWER_METADATA_HEAD);
		mutate_metadata(text, more->len ? more : NULL, t->r);
		mutate_splice(b, VIEWER_METADATA_HEAD, b->len - VIEWER_METADATA_HEAD, text->data, text->len);
	}
}

/* Streams: who is of which trace, what is metadata, who is announced twice, or not. */
static void change_streams(struct talk *t)
{
	int one = any_reply(t, mutate_pick(t->r, 2) ? VIEWER_ATTACH : VIEWER_NEW_STREAMS);
	GByteArray *b = one < 0 ? NULL : at(t, (guint)one)->bytes;
	if (!b || b->len < 4 + REPLY_STREAM) {
		if (b && b->len >= 4)
			put_be32(b, 0, mutate_pick(t->r, 6));
		return;
	}
	guint n = (b->len - 4) / REPLY_STREAM;
	uint8_t *s = b->data + 4 + mutate_pick(t->r, n) * REPLY_STREAM;
	const uint8_t *other = b->data + 4 + mutate_pick(t->r, n) * REPLY_STREAM;
	switch (mutate_pick(t->r, 8)) {
	case 0:
		put_be32(b, 0, mutate_pick(t->r, 6));
		break;
	case 1:
		memcpy(s, other, 8);
		break;
	case 2:
		memcpy(s + 8, other + 8, 8);
		break;
	case 3:
		s[19] ^= 1;
		break;
	case 4:
		s[20] = (uint8_t)mutate_pick(t->r, 8);
		break;
	case 5:
		mutate_splice(b, (guint)(s - b->data), REPLY_STREAM, NULL, 0);
		break;
	case 6:
		mutate_splice(b, (guint)(s - b->data), 0, other, REPLY_STREAM);
		break;
	default:
		viewer_put_u64(s + 8 * mutate_pick(t->r, 2), mutate_number(t->r, viewer_u64(s)));
	}
}

static void change_bytes(struct talk *t)
{
	int one = any_reply(t, 0);
	if (one < 0 || !at(t, (guint)one)->bytes->len)
		return;
	struct reply *r = at(t, (guint)one);
	if (!mutate_pick(t->r, 4))
		r->raw = !r->raw;
	else
		r->bytes->data[mutate_pick(t->r, MIN(r->bytes->len, 64))] ^= (uint8_t)(1 << mutate_pick(t->r, 8));
}

/* ---- all of it ---- */

static size_t put_out(const GPtrArray *replies, uint8_t *data, size_t max_size)
{
	g_autoptr(GByteArray) out = replies_serialise(replies);
	size_t size = MIN(out->len, max_size);
	if (size)
		memcpy(data, out->data, size);
	return size;
}

size_t mutate_live_input(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	static void (*const changes[])(struct talk *) = {
		move_reply, move_reply, swap_streams, repeat_metadata, change_index, change_index, change_index,
		add_index, add_index, change_packet, change_packet, change_packet, change_metadata, change_metadata,
		change_streams, change_streams, change_bytes,
	};
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	g_autoptr(GPtrArray) replies = replies_parse(data, size);
	struct talk t = { replies, r };
	for (unsigned n = 1 + mutate_pick(r, mutate_pick(r, 4) ? 4 : 16); n > 0; n--)
		changes[mutate_pick(r, G_N_ELEMENTS(changes))](&t);
	return put_out(replies, data, max_size);
}

/* Replies to some commands are those of the other one; or both talk at once. */
size_t mutate_live_cross(const uint8_t *one, size_t n_one, const uint8_t *two, size_t n_two, uint8_t *out,
			 size_t max_size, unsigned seed)
{
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	g_autoptr(GPtrArray) a = replies_parse(one, n_one), b = replies_parse(two, n_two);
	unsigned command = mutate_pick(r, 2) ? VIEWER_METADATA : mutate_pick(r, 2) ? VIEWER_PACKET : 0;
	unsigned by = mutate_pick(r, 2) ? 0 : mutate_pick(r, 4);
	for (guint i = 0; command && i < a->len; i++) {
		struct reply *x = g_ptr_array_index(a, i);
		if (x->command == command)
			x->stream = 255;	/* nobody asks */
	}
	for (guint i = 0; i < b->len; i++) {
		struct reply *x = g_ptr_array_index(b, i);
		x->stream = (uint8_t)(x->stream + by);
		if (!command || x->command == command)
			g_ptr_array_add(a, reply_copy(x));
	}
	return put_out(a, out, max_size);
}
