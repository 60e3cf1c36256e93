/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of packets and of their headers, and of index files. Packets are found by their magic number. */
#include <string.h>

#include "lib/lttng_packet.h"
#include "lib/mutate.h"
#include "trace/ctf/ctf_index_write.h"

static const uint8_t magic[] = { 0xc1, 0x1f, 0xfc, 0xc1 };

GArray *mutate_packets_of(const GByteArray *bytes)
{
	GArray *out = g_array_new(FALSE, FALSE, sizeof(guint));
	for (guint at = 0; at + LTTNG_HEADER <= bytes->len; at++)
		if (bytes->data[at] == magic[0] && !memcmp(bytes->data + at, magic, sizeof magic)) {
			g_array_append_val(out, at);
			at += LTTNG_HEADER - 1;
		}
	return out;
}

/* A packet of some stream file. */
struct packet {
	struct bundle_file *file;
	guint at, size;			/* up to the next one */
};

static bool any_packet(const struct bundle *b, const struct bundle_file *of, GRand *r, struct packet *ret)
{
	ret->file = of ? (struct bundle_file *)of : mutate_file(b, MUTATE_STREAM, r);
	if (!ret->file)
		return false;
	g_autoptr(GArray) all = mutate_packets_of(ret->file->bytes);
	if (!all->len)
		return false;
	guint i = mutate_pick(r, all->len);
	ret->at = g_array_index(all, guint, i);
	ret->size = (i + 1 < all->len ? g_array_index(all, guint, i + 1) : ret->file->bytes->len) - ret->at;
	return true;
}

static uint8_t *data_of(const struct packet *p)
{
	return p->file->bytes->data + p->at;
}

/* ---- headers ---- */

static const enum lttng_field fields[] = {
	LTTNG_CLASS, LTTNG_CLASS, LTTNG_INSTANCE, LTTNG_BEGIN, LTTNG_BEGIN, LTTNG_END, LTTNG_END, LTTNG_CONTENT,
	LTTNG_SIZE, LTTNG_SEQUENCE, LTTNG_SEQUENCE, LTTNG_DISCARDED, LTTNG_DISCARDED, LTTNG_CPU, LTTNG_UUID,
	LTTNG_MAGIC,
};

void mutate_header(uint8_t *packet, const uint8_t *other, GRand *r)
{
	enum lttng_field f = fields[mutate_pick(r, G_N_ELEMENTS(fields))];
	enum lttng_field g = fields[mutate_pick(r, G_N_ELEMENTS(fields))];
	unsigned how = mutate_pick(r, 8);
	if (f == LTTNG_UUID) {
		if (other && how < 6)
			memcpy(packet + f, other + f, lttng_width(f));
		else
			packet[f + mutate_pick(r, 16)] ^= 1;
	} else if (how < 2 && other) {
		lttng_put(packet, f, lttng_get(other, f));
	} else if (how < 3) {
		lttng_put(packet, f, lttng_get(packet, g));
	} else if (how < 4 && f != LTTNG_MAGIC) {	/* a few more or fewer, as a next one has */
		lttng_put(packet, f, lttng_get(packet, f) + mutate_pick(r, 9) - 4);
	} else {
		lttng_put(packet, f, mutate_number(r, lttng_get(packet, f)));
	}
}

static void change_header(struct bundle *b, GRand *r)
{
	struct packet p, q;
	if (any_packet(b, NULL, r, &p) && any_packet(b, mutate_pick(r, 2) ? p.file : NULL, r, &q))
		mutate_header(data_of(&p), data_of(&q), r);
}

/* The same field of all packets of a stream: turned around, moved, made equal. */
static void change_column(struct bundle *b, GRand *r)
{
	struct bundle_file *f = mutate_file(b, MUTATE_STREAM, r);
	g_autoptr(GArray) all = f ? mutate_packets_of(f->bytes) : NULL;
	enum lttng_field field = fields[mutate_pick(r, G_N_ELEMENTS(fields) - 2)];
	unsigned how = mutate_pick(r, 4);
	bool with_end = field == LTTNG_BEGIN && mutate_pick(r, 4);
	if (!all || !all->len)
		return;
	guint n = all->len;
	uint8_t *first = f->bytes->data + g_array_index(all, guint, 0);
	uint64_t by = mutate_number(r, 0);
	g_autofree uint64_t *old = g_new(uint64_t, n);
	for (guint i = 0; i < n; i++)
		old[i] = lttng_get(f->bytes->data + g_array_index(all, guint, i), field);
	for (guint i = 0; i < n; i++) {
		uint8_t *p = f->bytes->data + g_array_index(all, guint, i);
		uint64_t v = how == 0 ? old[n - 1 - i] : how == 1 ? old[0] : how == 2 ? by : old[i] + by;
		if (with_end)		/* its packets stay as long as they are */
			lttng_put(p, LTTNG_END, lttng_get(p, LTTNG_END) - old[i] + v);
		lttng_put(p, field, v);
	}
	if (how == 3 && mutate_pick(r, 2))
		lttng_put(first, field, old[0]);
}

/* ---- packets ---- */

static void swap_packets(struct bundle *b, GRand *r)
{
	struct packet p, q;
	if (!any_packet(b, NULL, r, &p) || !any_packet(b, mutate_pick(r, 4) ? p.file : NULL, r, &q))
		return;
	if (p.file == q.file && p.at == q.at)
		return;
	if (p.file == q.file && p.at < q.at) {
		struct packet swap = p;
		p = q;
		q = swap;
	}
	/* p is behind q, or elsewhere */
	g_autofree uint8_t *one = g_memdup2(data_of(&p), p.size), *two = g_memdup2(data_of(&q), q.size);
	mutate_splice(p.file->bytes, p.at, p.size, two, q.size);
	mutate_splice(q.file->bytes, q.at, q.size, one, p.size);
}

/* Once more, here or there; or elsewhere instead. */
static void copy_packet(struct bundle *b, GRand *r)
{
	struct packet p, q;
	bool is_moved = mutate_pick(r, 3) == 0;
	if (!any_packet(b, NULL, r, &p) || !any_packet(b, mutate_pick(r, 2) ? p.file : NULL, r, &q))
		return;
	g_autofree uint8_t *bytes = g_memdup2(data_of(&p), p.size);
	bool is_same = p.file == q.file;
	guint to = mutate_pick(r, 2) ? q.at : q.at + q.size;
	mutate_splice(q.file->bytes, to, 0, bytes, p.size);
	if (is_moved)
		mutate_splice(p.file->bytes, is_same && p.at >= to ? p.at + p.size : p.at, p.size, NULL, 0);
}

static void lose_packet(struct bundle *b, GRand *r)
{
	struct packet p;
	if (any_packet(b, NULL, r, &p))
		mutate_splice(p.file->bytes, p.at, p.size, NULL, 0);
}

/* More or fewer bytes, of which its header knows or does not. */
static void resize_packet(struct bundle *b, GRand *r)
{
	struct packet p;
	if (!any_packet(b, NULL, r, &p))
		return;
	uint8_t bytes[64];
	guint n = mutate_pick(r, sizeof bytes), at = p.at + (mutate_pick(r, 2) ? p.size : mutate_pick(r, p.size));
	memset(bytes, mutate_pick(r, 2) ? 0 : (int)mutate_pick(r, 256), sizeof bytes);
	bool grows = mutate_pick(r, 2);
	uint64_t bits = n * 8;
	if (mutate_pick(r, 2) && at >= p.at + LTTNG_HEADER) {
		uint8_t *h = data_of(&p);
		lttng_put(h, LTTNG_SIZE, lttng_get(h, LTTNG_SIZE) + (grows ? bits : -bits));
		if (mutate_pick(r, 2))
			lttng_put(h, LTTNG_CONTENT, lttng_get(h, LTTNG_CONTENT) + (grows ? bits : -bits));
	}
	mutate_splice(p.file->bytes, at, grows ? 0 : n, bytes, grows ? n : 0);
}

/* The packet is empty, or ends with its content, as those of a busy or a quiet stream. */
static void shape_packet(struct bundle *b, GRand *r)
{
	struct packet p;
	if (!any_packet(b, NULL, r, &p))
		return;
	uint8_t *h = data_of(&p);
	switch (mutate_pick(r, 4)) {
	case 0:
		lttng_put(h, LTTNG_CONTENT, LTTNG_HEADER * 8);
		break;
	case 1:
		lttng_put(h, LTTNG_CONTENT, lttng_get(h, LTTNG_SIZE));
		break;
	case 2:
		lttng_put(h, LTTNG_CONTENT, 0);
		lttng_put(h, LTTNG_SIZE, 0);
		break;
	default:
		lttng_put(h, LTTNG_CONTENT, MIN(lttng_get(h, LTTNG_CONTENT), (uint64_t)mutate_pick(r, p.size) * 8));
	}
}

void mutate_packets(struct bundle *b, GRand *r)
{
	static void (*const changes[])(struct bundle *, GRand *) = {
		change_header, change_header, change_header, change_header, change_column, swap_packets, copy_packet,
		lose_packet, resize_packet, shape_packet,
	};
	changes[mutate_pick(r, G_N_ELEMENTS(changes))](b, r);
}

/* ---- index files ---- */

void mutate_rebuild_index(struct bundle *b, const struct bundle_file *stream)
{
	g_autofree char *dir = g_path_get_dirname(stream->path), *name = g_path_get_basename(stream->path);
	g_autofree char *path = g_strdup_printf("%s/index/%s.idx", dir, name);
	const char *at = g_str_has_prefix(path, "./") ? path + 2 : path;
	g_autoptr(GArray) all = mutate_packets_of(stream->bytes);
	uint8_t entry[CTF_INDEX_MOST], header[CTF_INDEX_HEADER];
	struct bundle_file *f = bundle_find(b, at);
	if (!f)
		f = bundle_add(b, at, NULL, 0);
	if (!f)
		return;
	g_byte_array_set_size(f->bytes, 0);
	ctf_index_put_header(header, sizeof entry);
	g_byte_array_append(f->bytes, header, sizeof header);
	for (guint i = 0; i < all->len; i++) {
		guint offset = g_array_index(all, guint, i);
		const uint8_t *h = stream->bytes->data + offset;
		struct ctf_packet p = {
			.offset = offset, .packet_bits = lttng_get(h, LTTNG_SIZE),
			.content_bits = lttng_get(h, LTTNG_CONTENT), .begin = lttng_get(h, LTTNG_BEGIN),
			.end = lttng_get(h, LTTNG_END), .discarded = lttng_get(h, LTTNG_DISCARDED),
			.stream_id = lttng_get(h, LTTNG_CLASS), .instance = lttng_get(h, LTTNG_INSTANCE),
			.seq = lttng_get(h, LTTNG_SEQUENCE), .has_seq = true, .has_instance = true,
		};
		ctf_index_put_entry(entry, sizeof entry, &p);
		g_byte_array_append(f->bytes, entry, sizeof entry);
	}
}

static uint64_t get_be(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof v);
	return GUINT64_FROM_BE(v);
}

static void put_be(uint8_t *p, uint64_t v)
{
	v = GUINT64_TO_BE(v);
	memcpy(p, &v, sizeof v);
}

static void change_entry(GByteArray *x, guint entry, guint n, GRand *r)
{
	guint field = mutate_pick(r, entry / 8) * 8;
	uint8_t *p = x->data + CTF_INDEX_HEADER + mutate_pick(r, n) * entry + field;
	const uint8_t *other = x->data + CTF_INDEX_HEADER + mutate_pick(r, n) * entry + field;
	put_be(p, mutate_pick(r, 3) ? mutate_number(r, get_be(p)) : get_be(other));
}

static void move_entry(GByteArray *x, guint entry, guint n, GRand *r)
{
	guint from = CTF_INDEX_HEADER + mutate_pick(r, n) * entry, to = CTF_INDEX_HEADER + mutate_pick(r, n) * entry;
	g_autofree uint8_t *bytes = g_memdup2(x->data + from, entry);
	switch (mutate_pick(r, 3)) {
	case 0:
		mutate_splice(x, to, 0, bytes, entry);
		break;
	case 1:
		mutate_splice(x, from, entry, NULL, 0);
		break;
	default:
		memcpy(x->data + from, x->data + to, entry);
		memcpy(x->data + to, bytes, entry);
	}
}

void mutate_index(struct bundle *b, GRand *r)
{
	struct bundle_file *f = mutate_file(b, MUTATE_INDEX, r), *other = mutate_file(b, MUTATE_INDEX, r);
	if (!f)
		return;
	guint entry = CTF_INDEX_MOST, n = f->bytes->len / entry;
	switch (n ? mutate_pick(r, 8) : 7) {
	case 0:
		f->bytes->data[mutate_pick(r, CTF_INDEX_HEADER)] ^= (uint8_t)(1 << mutate_pick(r, 8));
		break;
	case 1:
		g_byte_array_set_size(f->bytes, mutate_pick(r, f->bytes->len));
		break;
	case 2:
	case 3:
		move_entry(f->bytes, entry, n, r);
		break;
	case 7:
		mutate_splice(f->bytes, 0, f->bytes->len, other->bytes->data, other->bytes->len);
		break;
	default:
		change_entry(f->bytes, entry, n, r);
	}
}
