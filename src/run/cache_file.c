/* SPDX-License-Identifier: GPL-2.0-only */
/* The content of files of the cache: see cache_file.h. */
#include "run/cache_file.h"

#include "base/deflate.h"
#include "base/disk.h"
#include "base/each.h"
#include "base/limits.h"
#include "base/reftext.h"
#include "base/sort.h"
#include "state/store/publication_code.h"

#include <string.h>
#include <unistd.h>

/*
 * Records (a publication, the cells of a second), each compressed. At the end the table, compressed, then its length
 * and that of what it was made from (8 bytes each, little-endian), and a hash of all these (4). The table has where
 * each record is, with a hash of its bytes.
 */
#define TAIL_BYTES 20

#define DAMAGED "it is damaged"
#define ROOM_BYTES (UINT64_C(64) << 20)	/* that any record may take */

struct record {
	struct second_place place;
	uint32_t hash;			/* of the stored bytes */
};

struct stored_second {
	struct second *outline;		/* reference; .place is its record's */
	uint32_t hash;			/* of its record */
	uint32_t publication;		/* with which its first version came */
};

struct cache_table {
	uint64_t at;			/* its own offset */
	GArray *publications;		/* struct record */
	GArray *seconds;		/* struct stored_second, by time when it is written */
	GArray *host_events;		/* struct host_event */
	struct published_ids ids;	/* of all publications */
};

static void clear_second(void *second)
{
	second_unref(((struct stored_second *)second)->outline);
}

static struct cache_table table_new(void)
{
	struct cache_table t = {
		.publications = g_array_new(false, false, sizeof(struct record)),
		.seconds = g_array_new(false, true, sizeof(struct stored_second)),
		.host_events = g_array_new(false, false, sizeof(struct host_event)),
	};

	g_array_set_clear_func(t.seconds, clear_second);
	return t;
}

static void table_clear(struct cache_table *t)
{
	g_array_unref(t->publications);
	g_array_unref(t->seconds);
	g_array_unref(t->host_events);
}

static uint32_t hash_of(const void *bytes, size_t n)
{
	return reftext_hash(bytes, n);
}

/* ---- the table ---- */

static void code_record(struct coder *c, struct second_place *place, uint32_t *hash)
{
	code_u64(c, &place->at);
	code_u32(c, &place->stored);
	code_u32(c, &place->size);
	code_u32(c, hash);
	if (!coder_writes(c) && !place->stored)
		coder_refuse(c, DAMAGED);
}

static void code_seconds(struct coder *c, GArray *seconds, uint32_t n_publications)
{
	uint32_t n = code_len(c, seconds->len, 20, sizeof(struct stored_second) + sizeof(struct second));
	int64_t last = INT64_MIN;

	if (!coder_writes(c))
		g_array_set_size(seconds, n);
	for (uint32_t i = 0; i < n && !c->fault; i++) {
		struct stored_second *x = &g_array_index(seconds, struct stored_second, i);
		struct second_place place = x->outline ? x->outline->place : (struct second_place){ 0 };
		code_record(c, &place, &x->hash);
		code_id(c, &x->publication, n_publications, false);
		second_code_outline(c, &x->outline);
		if (!x->outline)
			return;
		x->outline->place = place;
		if (i && x->outline->begin_ns <= last)
			coder_refuse(c, "seconds are not in order");
		last = x->outline->begin_ns;
	}
}

static void code_table(struct coder *c, struct cache_table *t)
{
	uint32_t *const ids[] = { &t->ids.string, &t->ids.host, &t->ids.thread, &t->ids.process, &t->ids.file };
	uint64_t at = t->at;

	code_u64(c, &at);
	if (at != t->at)
		coder_refuse(c, DAMAGED);
	uint32_t n = code_len(c, t->publications->len, 4, sizeof(struct record));
	if (!coder_writes(c))
		g_array_set_size(t->publications, n);
	for (uint32_t i = 0; i < n; i++) {
		struct record *r = &g_array_index(t->publications, struct record, i);
		code_record(c, &r->place, &r->hash);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(ids); i++)
		code_u32(c, ids[i]);
	code_seconds(c, t->seconds, n);
	n = code_len(c, t->host_events->len, 2, sizeof(struct host_event));
	if (!coder_writes(c))
		g_array_set_size(t->host_events, n);
	for (uint32_t i = 0; i < n; i++) {
		struct host_event *e = &g_array_index(t->host_events, struct host_event, i);
		code_id(c, &e->host, t->ids.host, false);
		code_id(c, &e->name, t->ids.string, false);
	}
}

/* ---- writing ---- */

struct cache_writer {
	uint64_t at;			/* where the next byte will be */
	struct cache_table table;
	GHashTable *by_begin;		/* int64_t *: begin of a second (owned) -> its index in the table */
	struct intmap host_events;	/* host << 32 | string: it is in the table */
};

struct cache_writer *cache_writer_new(uint64_t at)
{
	struct cache_writer *w = g_new0(struct cache_writer, 1);

	w->at = at;
	w->table = table_new();
	w->by_begin = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return w;
}

void cache_writer_free(struct cache_writer *w)
{
	if (!w)
		return;
	table_clear(&w->table);
	g_hash_table_destroy(w->by_begin);
	intmap_clear(&w->host_events);
	g_free(w);
}

/* Appends the compressed bytes. */
static struct record add_record(struct cache_writer *w, const GByteArray *bytes, GByteArray *out)
{
	guint before = out->len;

	deflate_append(out, bytes->data, bytes->len);
	uint32_t n = out->len - before;
	struct record r = { { w->at, n, bytes->len }, hash_of(out->data + before, n) };
	w->at += n;
	return r;
}

static void note_events(struct cache_writer *w, const struct second *s)
{
	for (uint32_t i = 0; i < s->n_events; i++) {
		struct host_event e = { s->events[i].host, s->events[i].name };
		uint64_t key = (uint64_t)e.host << 32 | e.name;
		if (intmap_get(&w->host_events, key) != INTMAP_NONE)
			continue;
		intmap_set(&w->host_events, key, 1);
		g_array_append_val(w->table.host_events, e);
	}
}

/* The place in the table for the second: that of an older version, if there is one. */
static struct stored_second *entry_of(struct cache_writer *w, int64_t begin)
{
	GArray *all = w->table.seconds;
	gpointer index;

	if (!g_hash_table_lookup_extended(w->by_begin, &begin, NULL, &index)) {
		index = GUINT_TO_POINTER(all->len);
		g_hash_table_insert(w->by_begin, g_memdup2(&begin, sizeof begin), index);
		g_array_set_size(all, all->len + 1);
		g_array_index(all, struct stored_second, all->len - 1).publication = w->table.publications->len;
	}
	return &g_array_index(all, struct stored_second, GPOINTER_TO_UINT(index));
}

static const char *add_second(struct cache_writer *w, struct second *s, GByteArray *out)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct coder c = { .out = bytes };

	second_code_cells(&c, s, &w->table.ids);
	if (c.fault)
		return c.fault;
	struct stored_second *x = entry_of(w, s->begin_ns);
	struct record r = add_record(w, bytes, out);
	second_unref(x->outline);
	x->outline = second_outline(s);
	x->outline->place = r.place;
	x->hash = r.hash;
	note_events(w, s);
	return NULL;
}

const char *cache_writer_add(struct cache_writer *w, struct publication *p, GByteArray *out)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct coder c = { .out = bytes };

	publication_code(&c, p, &w->table.ids);
	coder_bound(&c, LIMIT_SLICE_BYTES);
	const char *why = c.fault;
	struct record r = add_record(w, bytes, out);
	for (guint i = 0; i < p->seconds->len && !why; i++)
		why = add_second(w, g_ptr_array_index(p->seconds, i), out);
	g_array_append_val(w->table.publications, r);
	return why;
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct stored_second *x = a, *y = b;

	return ORDER(x->outline->begin_ns, y->outline->begin_ns);
}

static void append_le(GByteArray *out, uint64_t v, guint n)
{
	v = GUINT64_TO_LE(v);
	g_byte_array_append(out, (const uint8_t *)&v, n);
}

const char *cache_writer_end(struct cache_writer *w, GByteArray *out)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	struct coder c = { .out = bytes };
	guint from = out->len;

	g_array_sort(w->table.seconds, by_time);
	w->table.at = w->at;
	code_table(&c, &w->table);
	coder_bound(&c, LIMIT_SLICE_BYTES);
	struct record r = add_record(w, bytes, out);
	append_le(out, r.place.stored, 8);
	append_le(out, r.place.size, 8);
	append_le(out, hash_of(out->data + from, out->len - from), 4);
	return c.fault;
}

/* ---- reading ---- */

struct cell_reader {
	struct second_reader base;
	int fd;				/* owned */
	struct published_ids ids;
};

struct cache_reader {
	struct cache_table table;
	struct published_ids ids;	/* of the publications before the next one */
	guint next;			/* publication */
	guint next_second;		/* in .seconds, which are by publication now */
	struct cell_reader *cells;	/* a reference */
};

/* The memory that a record may take (bytes). */
static uint64_t room_of(const struct second_place *place)
{
	return ROOM_BYTES + (uint64_t)place->stored * LIMIT_SLICE_RATIO;
}

/* The bytes of a record as they were coded. NULL: it cannot be read, or is damaged. */
static GByteArray *read_record(int fd, const struct second_place *place)
{
	if (place->size > room_of(place))
		return NULL;
	g_autofree uint8_t *stored = g_malloc(place->stored);
	GByteArray *bytes;

	if (!disk_read_at(fd, stored, place->stored, place->at))
		return NULL;
	bytes = g_byte_array_sized_new(place->size);
	g_byte_array_set_size(bytes, place->size);
	if (deflate_restore(stored, place->stored, bytes->data, place->size))
		return bytes;
	g_byte_array_unref(bytes);
	return NULL;
}

static bool read_cells(struct second_reader *r, struct second *s)
{
	const struct cell_reader *x = (const struct cell_reader *)r;
	g_autoptr(GByteArray) bytes = read_record(x->fd, &s->place);

	if (!bytes)
		return false;
	uint64_t room = room_of(&s->place);
	struct coder c = { .at = bytes->data, .end = bytes->data + bytes->len, .room = &room };
	second_code_cells(&c, s, &x->ids);
	return !c.fault && c.at == c.end;
}

static void free_cells(struct second_reader *r)
{
	struct cell_reader *x = (struct cell_reader *)r;

	close(x->fd);
	g_free(x);
}

/* Is the record there, with the bytes that were written? */
static bool is_whole(int fd, const struct second_place *place, uint32_t hash, uint64_t from, uint64_t to)
{
	if (place->at < from || place->at > to || place->stored > to - place->at || place->size > LIMIT_SLICE_BYTES)
		return false;
	g_autofree uint8_t *bytes = g_malloc(place->stored);
	return disk_read_at(fd, bytes, place->stored, place->at) && hash_of(bytes, place->stored) == hash;
}

static bool are_whole(int fd, const struct cache_table *t, uint64_t from, uint64_t to)
{
	ARRAY_EACH(const struct record, r, t->publications)
		if (!is_whole(fd, &r->place, r->hash, from, to))
			return false;
	ARRAY_EACH(const struct stored_second, x, t->seconds)
		if (!is_whole(fd, &x->outline->place, x->hash, from, to))
			return false;
	return t->publications->len > 0;
}

static uint64_t get_le(const uint8_t *from)
{
	uint64_t v;

	memcpy(&v, from, sizeof v);
	return GUINT64_FROM_LE(v);
}

/* Reads the table. *ret_end: where it begins. NULL: fine. */
static const char *read_table(int fd, uint64_t from, uint64_t to, struct cache_table *t, uint64_t *ret_end)
{
	uint8_t tail[TAIL_BYTES];
	uint32_t hash;

	if (to < from || to - from < TAIL_BYTES || !disk_read_at(fd, tail, sizeof tail, to - TAIL_BYTES))
		return DAMAGED;
	uint64_t stored = get_le(tail), size = get_le(tail + 8);
	if (!stored || stored > to - from - TAIL_BYTES || stored > LIMIT_SLICE_BYTES || size > LIMIT_SLICE_BYTES)
		return DAMAGED;
	*ret_end = to - TAIL_BYTES - stored;
	g_autofree uint8_t *bytes = g_malloc(stored + 16);
	if (!disk_read_at(fd, bytes, stored + 16, *ret_end))
		return DAMAGED;
	memcpy(&hash, tail + 16, sizeof hash);
	if (GUINT32_FROM_LE(hash) != hash_of(bytes, stored + 16))
		return DAMAGED;
	const struct second_place place = { *ret_end, (uint32_t)stored, (uint32_t)size };
	g_autoptr(GByteArray) coded = read_record(fd, &place);
	if (!coded)
		return DAMAGED;
	uint64_t room = room_of(&place);
	struct coder c = { .at = coded->data, .end = coded->data + coded->len, .room = &room };
	t->at = *ret_end;
	code_table(&c, t);
	return c.fault ? c.fault : c.at == c.end ? NULL : DAMAGED;
}

static int by_publication(gconstpointer a, gconstpointer b)
{
	const struct stored_second *x = a, *y = b;

	if (x->publication == y->publication)
		return by_time(a, b);
	return x->publication > y->publication ? 1 : -1;
}

struct cache_reader *cache_reader_open(int fd, uint64_t from, uint64_t to, const char **ret_why)
{
	struct cache_table t = table_new();
	uint64_t end = from;
	int own;

	*ret_why = read_table(fd, from, to, &t, &end);
	if (!*ret_why && !are_whole(fd, &t, from, end))
		*ret_why = DAMAGED;
	if (*ret_why || (own = dup(fd)) < 0) {
		*ret_why = *ret_why ? *ret_why : "there are too many open files";
		table_clear(&t);
		return NULL;
	}
	struct cache_reader *r = g_new0(struct cache_reader, 1);
	r->table = t;
	g_array_sort(t.seconds, by_publication);
	r->cells = g_new0(struct cell_reader, 1);
	*r->cells = (struct cell_reader){ .base = { .read = read_cells, .free = free_cells }, .fd = own, .ids = t.ids };
	g_atomic_ref_count_init(&r->cells->base.refs);
	return r;
}

void cache_reader_free(struct cache_reader *r)
{
	if (!r)
		return;
	table_clear(&r->table);
	second_reader_unref(&r->cells->base);
	g_free(r);
}

uint64_t cache_reader_bytes(const struct cache_reader *r)
{
	uint64_t sum = 0;

	for (guint i = 0; i < r->table.publications->len; i++)
		sum += g_array_index(r->table.publications, struct record, i).place.stored;
	return sum;
}

/* The seconds that came first with the publication, and with the last one what they do not list. */
static void add_seconds(struct cache_reader *r, struct publication *p)
{
	const struct cache_table *t = &r->table;

	for (; r->next_second < t->seconds->len; r->next_second++) {
		const struct stored_second *x = &g_array_index(t->seconds, struct stored_second, r->next_second);
		if (x->publication != r->next)
			break;
		g_ptr_array_add(p->seconds, second_ref(x->outline));
	}
	if (r->next == 0)
		p->reader = second_reader_ref(&r->cells->base);
	if (r->next + 1 == t->publications->len)
		g_array_append_vals(p->host_events, t->host_events->data, t->host_events->len);
}

struct publication *cache_reader_next(struct cache_reader *r, const char **ret_why)
{
	*ret_why = NULL;
	if (r->next == r->table.publications->len)
		return NULL;
	const struct record *x = &g_array_index(r->table.publications, struct record, r->next);
	g_autoptr(GByteArray) bytes = read_record(r->cells->fd, &x->place);
	if (!bytes) {
		*ret_why = DAMAGED;
		return NULL;
	}
	struct publication *p = publication_new();
	uint64_t room = room_of(&x->place);
	struct coder c = { .at = bytes->data, .end = bytes->data + bytes->len, .room = &room };
	publication_code(&c, p, &r->ids);
	if (c.fault || c.at != c.end) {
		*ret_why = c.fault ? c.fault : DAMAGED;
		publication_free(p);
		return NULL;
	}
	add_seconds(r, p);
	r->next++;
	return p;
}
