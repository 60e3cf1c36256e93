/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes, moves, and decodes packs: see pack.h. */
#include "state/slice/pack.h"

#include "base/deflate.h"
#include "base/disk.h"
#include "base/each.h"
#include "base/fail.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/limits.h"
#include "state/kernel/bin.h"
#include "state/kernel/block.h"
#include "state/kernel/facts.h"
#include "state/kernel/unknown_calls.h"
#include "state/slice/moving.h"
#include "state/slice/slice.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define ERROR_QUARK g_quark_from_static_string("blk-pack")
#define SIZES UINT64_C(4)	/* all packs together, decoded, are at most so many times a file's limit */
#define LENGTH_BYTES 4u		/* the length of the strings, little-endian, comes first */

static struct pack *pack_new(void)
{
	struct pack *p = g_new0(struct pack, 1);

	p->hosts = g_array_new(false, false, sizeof(uint32_t));
	p->cpus = g_array_new(false, false, sizeof(uint32_t));
	p->notes = g_array_new(false, true, sizeof(struct resolved));
	return p;
}

void pack_free(struct pack *p)
{
	if (!p)
		return;
	g_clear_pointer(&p->path, g_ref_string_release);
	g_clear_pointer(&p->bytes, g_byte_array_unref);
	g_array_unref(p->hosts);
	g_array_unref(p->cpus);
	g_array_unref(p->notes);
	g_free(p);
}

static void free_pack(gpointer p)
{
	pack_free(p);
}

void packs_clear(struct packs *p)
{
	g_clear_pointer(&p->all, g_ptr_array_unref);
	g_clear_pointer(&p->pending, g_array_unref);
	g_clear_pointer(&p->resolved, g_array_unref);
	intmap_clear(&p->by_thread);
}

/* The slice owns the pack from now on. */
static void packs_add(struct packs *p, struct pack *x)
{
	if (!p->all) {
		p->all = g_ptr_array_new_with_free_func(free_pack);
		p->pending = g_array_new(false, true, sizeof(struct pack_pending));
		p->resolved = g_array_new(false, true, sizeof(struct resolved));
	}
	g_ptr_array_add(p->all, x);
}

static struct pack_pending *pending_at(const struct packs *p, uint32_t i)
{
	return &g_array_index(p->pending, struct pack_pending, i);
}

/* x: .next is not set. There is a pack already. */
static void packs_add_pending(struct packs *p, struct pack_pending x)
{
	x.next = intmap_get(&p->by_thread, x.thread);
	intmap_set(&p->by_thread, x.thread, p->pending->len);
	g_array_append_val(p->pending, x);
}

/* Notes in the packs what became of a thread's unresolved time. */
static void note_one(struct packs *all, const struct resolved *what)
{
	enum unresolved stays = what->by_fd ? UNRESOLVED_N : unresolved_of(what->part);
	unsigned bit = 1u << what->from;
	uint32_t i = intmap_get(&all->by_thread, what->thread);

	while (i != INTMAP_NONE) {
		struct pack_pending *x = pending_at(all, i);
		i = x->next;
		if (!(x->parts & bit))
			continue;
		struct pack *p = pack_at(all, x->pack);
		struct resolved note = *what;
		note.thread -= p->thread_add;
		note.seq -= what->by_fd ? p->seq_add : 0;
		g_array_append_val(p->notes, note);
		x->parts = (uint8_t)((x->parts & ~bit) | (stays == UNRESOLVED_N ? 0 : 1u << stays));
	}
}

/* The same for all that was resolved since the last call. Before packs are added, written or decoded. */
static void note_resolved(struct packs *all)
{
	for (guint i = 0; all->resolved && i < all->resolved->len; i++)
		note_one(all, &g_array_index(all->resolved, struct resolved, i));
	if (all->resolved)
		g_array_set_size(all->resolved, 0);
}

uint64_t packs_n_bins(const struct packs *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < packs_n(p); i++)
		n += pack_at(p, i)->n_bins;
	return n;
}

/* ---- bytes ---- */

bool pack_read_at(int fd, void *to, size_t n, uint64_t offset, GError **error)
{
	errno = 0;
	if (disk_read_at(fd, to, n, offset))
		return true;
	return fail(error, ERROR_QUARK, 0, "%s: %s", errno ? "cannot read it" : "not a slice that can be read",
		    errno ? g_strerror(errno) : "it is cut off");
}

uint32_t pack_checksum(const uint8_t *bytes, size_t n)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize len = sizeof digest;
	uint32_t first;

	g_checksum_update(sum, bytes, (gssize)n);
	g_checksum_get_digest(sum, digest, &len);
	memcpy(&first, digest, sizeof first);
	return GUINT32_FROM_LE(first);
}

void pack_compress(GByteArray *out, const uint8_t *bytes, size_t n)
{
	guint at = out->len;

	deflate_append(out, bytes, n);
	if (out->len - at < n)
		return;
	g_byte_array_set_size(out, at);
	g_byte_array_append(out, bytes, (guint)n);
}

uint8_t *pack_restore(uint8_t *stored, size_t n, size_t size)
{
	if (n == size)
		return stored;
	uint8_t *all = g_malloc(size + 1);
	bool ok = deflate_restore(stored, n, all, size);
	g_free(stored);
	if (ok)
		return all;
	g_free(all);
	return NULL;
}

static bool read_stored(const struct pack *p, uint8_t *to, GError **error)
{
	if (p->bytes)
		memcpy(to, p->bytes->data, p->stored);
	if (p->bytes || !p->path)
		return p->bytes || pack_read_at(p->fd, to, p->stored, p->offset, error);
	auto_fd fd = files_open_input(p->path, error);
	bool ok = fd >= 0 && pack_read_at(fd, to, p->stored, p->offset, error);
	if (fd >= 0 && !ok)
		g_prefix_error(error, "%s: ", p->path);
	return ok;
}

uint8_t *pack_read(const struct pack *p, GError **error)
{
	g_autofree uint8_t *bytes = g_malloc(p->stored + 1);
	bool ok = read_stored(p, bytes, error);

	if (ok && pack_checksum(bytes, p->stored) == p->checksum)
		return g_steal_pointer(&bytes);
	if (ok)
		g_set_error(error, ERROR_QUARK, 0, "%s%sthe checksum of a part is another one", p->path ? p->path : "",
			    p->path ? ": " : "");
	return NULL;
}

/* ---- making a pack ---- */

/* Which threads have unresolved time in the slice's seconds, in order. */
static GArray *find_pending(const struct slice *s)
{
	GArray *all = g_array_new(false, true, sizeof(struct pack_pending));
	g_autofree uint8_t *parts = g_malloc0(s->threads->len + 1u);

	TABLE_EACH(each, s->bins) {
		const struct cell_table *t = &((const struct bin *)each.value)->table[CELL_thread];
		for (uint32_t i = 0; i < t->n; i++) {
			const struct built_thread_cell *c = cell_table_at(t, built_layout(CELL_thread), i);
			for (unsigned p = PART_N; p < PART_SLICE_N; p++)
				if (c->part[p])
					parts[c->thread] |= (uint8_t)(1u << unresolved_of(p));
		}
	}
	for (uint32_t i = 0; i < s->threads->len; i++) {
		const struct pack_pending x = { .thread = i, .parts = parts[i] };
		if (x.parts)
			g_array_append_val(all, x);
	}
	return all;
}

static void all_ids(GArray *ids, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		g_array_append_val(ids, i);
}

static struct pack *pack_begin(const struct slice *s)
{
	struct pack *p = pack_new();

	p->n_bins = g_hash_table_size(s->bins);
	p->first = s->first;
	p->last = s->last;
	p->n_threads = s->threads->len;
	p->n_events = s->seq;
	all_ids(p->hosts, s->hosts->len);
	all_ids(p->cpus, s->cpus->len);
	return p;
}

/* The strings, after their length, then the rest. Returns why it cannot be written; NULL: it is in `out`. */
static const char *encode(struct slice *s, GByteArray *out)
{
	g_autoptr(GByteArray) strings = g_byte_array_new(), rest = g_byte_array_new();
	struct coder_ids used;
	struct slice_counts n = { .used_strings = &used };
	struct coder c = { .out = rest }, names = { .out = strings };

	count_ids(s, &n);
	coder_ids_init(&used, n.strings);
	coder_columns_begin(&c);
	code_pack(&c, s, &n);
	coder_columns_end(&c);
	uint32_t n_strings = used.used->len;
	code_u32(&names, &n_strings);
	code_pack_strings(&names, s, n_strings, &used);
	coder_ids_clear(&used);
	uint32_t length = GUINT32_TO_LE(strings->len);
	g_byte_array_append(out, (const guint8 *)&length, LENGTH_BYTES);
	g_byte_array_append(out, strings->data, strings->len);
	if (!c.fault && rest->len > LIMIT_SLICE_BYTES - out->len)
		return "it is too large";
	g_byte_array_append(out, rest->data, rest->len);
	return c.fault ? c.fault : names.fault;
}

struct pack *pack_of(struct slice *s, GArray **ret_pending, GError **error)
{
	if (!g_hash_table_size(s->bins) && !s->facts->len && !blocks_n_stored(s->blocks))
		return NULL;
	g_autoptr(GByteArray) all = g_byte_array_new();
	const char *fault = encode(s, all);
	if (fault) {
		g_set_error(error, ERROR_QUARK, 0, "the slice cannot be written: %s", fault);
		return NULL;
	}
	struct pack *p = pack_begin(s);
	p->bytes = g_byte_array_new();
	pack_compress(p->bytes, all->data, all->len);
	p->stored = p->bytes->len;
	p->size = all->len;
	p->checksum = pack_checksum(p->bytes->data, p->bytes->len);
	*ret_pending = find_pending(s);
	return p;
}

static size_t bytes_outside(const struct slice *s)
{
	size_t bytes = s->facts->len * sizeof(struct fact);

	TABLE_EACH(each, s->bins) {
		const struct bin *b = each.value;
		bytes += sizeof *b;
		for (enum cell_kind k = 0; k < CELL_KIND_N; k++)
			bytes += (size_t)b->table[k].room * built_layout(k)->size;
	}
	return bytes;
}

bool packs_shrink(struct slice *s, size_t bytes, GError **error)
{
	g_autoptr(GArray) pending = NULL;
	GError *why = NULL;

	if (!packs_n(&s->packs) || bytes_outside(s) <= bytes)
		return true;
	struct pack *p = pack_of(s, &pending, &why);
	if (why)
		g_propagate_error(error, why);
	if (!p)
		return !why;
	note_resolved(&s->packs);
	ARRAY_EACH(struct pack_pending, x, pending) {
		x->pack = packs_n(&s->packs);
		packs_add_pending(&s->packs, *x);
	}
	packs_add(&s->packs, p);
	slice_drop_seconds(s);
	g_array_set_size(s->facts, 0);
	s->facts_sorted = 0;
	blocks_drop_stored(s->blocks);
	return true;
}

/* ---- merging ---- */

static void map_ids(GArray *ids, const uint32_t *map)
{
	for (guint i = 0; i < ids->len; i++)
		g_array_index(ids, uint32_t, i) = map[g_array_index(ids, uint32_t, i)];
}

void packs_join(struct slice *a, struct slice *b, const struct moving *m)
{
	uint32_t before = packs_n(&a->packs);

	note_resolved(&a->packs);
	note_resolved(&b->packs);
	for (uint32_t i = 0; i < packs_n(&b->packs); i++) {
		struct pack *p = pack_at(&b->packs, i);
		p->thread_add += m->n_threads ? m->thread[0] : 0;
		p->seq_add += m->seq_add;
		map_ids(p->hosts, m->host);
		map_ids(p->cpus, m->cpu);
		packs_add(&a->packs, p);
	}
	for (guint i = 0; b->packs.pending && i < b->packs.pending->len; i++) {
		struct pack_pending x = *pending_at(&b->packs, i);
		x.thread = moved_thread(m, x.thread);
		x.pack += before;
		if (x.parts)
			packs_add_pending(&a->packs, x);
	}
	if (b->packs.all)
		g_ptr_array_set_free_func(b->packs.all, NULL);
	packs_clear(&b->packs);
}

/* ---- decoding ---- */

/* To the part that the note says. */
static void apply_note(struct bin *b, struct built_thread_cell *c, const struct resolved *v)
{
	unsigned run = unresolved_run(v->from), block = unresolved_block(v->from);
	int64_t ran = c->part[run], blocked = c->part[block];

	c->part[run] = c->part[block] = 0;
	c->part[v->run_part] += ran;
	if (!v->by_fd) {
		c->part[v->part] += blocked;
	} else if (blocked) {
		const struct built_file_cell f = {
			.thread = v->thread, .fd = v->fd, .seq = v->seq, .blocked_ns = blocked,
		};
		cell_table_append(&b->table[CELL_file], built_layout(CELL_file), &f);
	}
}

#define NOTES_A_THREAD 4u	/* at most: each kind of unresolved time, and what one kind became */

/* The notes of each thread: thread * NOTES_A_THREAD + 0, 1, ... -> index of the note. */
static void index_notes(const struct pack *p, struct intmap *ret)
{
	for (guint i = 0; i < p->notes->len; i++) {
		uint64_t key = (uint64_t)g_array_index(p->notes, struct resolved, i).thread * NOTES_A_THREAD;
		for (unsigned k = 0; k < NOTES_A_THREAD && intmap_add(ret, key + k, i) != i; k++)
			;
	}
}

static void apply_notes(struct slice *t, const struct pack *p)
{
	struct intmap notes = { 0 };

	index_notes(p, &notes);
	TABLE_EACH(each, t->bins) {
		struct bin *b = each.value;
		const struct cell_table *threads = &b->table[CELL_thread];
		for (uint32_t i = 0; i < threads->n; i++) {
			struct built_thread_cell *c = cell_table_at(threads, built_layout(CELL_thread), i);
			uint64_t key = (uint64_t)c->thread * NOTES_A_THREAD;
			for (unsigned k = 0; k < NOTES_A_THREAD; k++) {
				uint32_t at = intmap_get(&notes, key + k);
				if (at == INTMAP_NONE)
					break;
				apply_note(b, c, &g_array_index(p->notes, struct resolved, at));
			}
		}
	}
	intmap_clear(&notes);
}

/* A pack as a slice of its own, with only what packs have. NULL: *error. */
static struct slice *decode(struct slice *s, const struct pack *p, GError **error)
{
	uint64_t before = slice_room(), room = before;
	if (p->size > room) {
		g_set_error(error, ERROR_QUARK, 0, "not a slice that can be read: %s", CODER_NO_ROOM);
		return NULL;
	}
	uint8_t *stored = pack_read(p, error);
	g_autofree uint8_t *bytes = stored ? pack_restore(stored, p->stored, p->size) : NULL;
	struct slice_counts n = {
		.hosts = p->hosts->len, .cpus = p->cpus->len, .threads = p->n_threads,
	};
	uint32_t length = 0;

	if (!stored)
		return NULL;
	if (bytes && p->size >= LENGTH_BYTES)
		memcpy(&length, bytes, LENGTH_BYTES);
	length = GUINT32_FROM_LE(length);
	if (!bytes || p->size < LENGTH_BYTES || length > p->size - LENGTH_BYTES) {
		g_set_error(error, ERROR_QUARK, 0, "seconds are not compressed as they should be");
		return NULL;
	}
	struct slice *t = slice_new(false, s->step);
	const uint8_t *middle = bytes + LENGTH_BYTES + length;
	struct coder names = { .at = bytes + LENGTH_BYTES, .end = middle, .room = &room };
	struct coder c = {
		.at = middle, .end = bytes + p->size, .first = p->first, .last = p->last, .seq_end = p->n_events + 1,
		.room = &room,
	};
	code_bounds(&c);
	t->first = p->first;
	t->last = p->last;
	code_u32(&names, &n.strings);
	code_pack_strings(&names, t, n.strings, NULL);
	n.strings = strtab_n(t->strings);
	coder_columns_begin(&c);
	code_pack(&c, t, &n);
	coder_columns_end(&c);
	slice_take(s, (gssize)(before - room));
	if (names.at != names.end || c.at != c.end || g_hash_table_size(t->bins) != p->n_bins)
		coder_refuse(&c, "it is too long");
	if (!names.fault && !c.fault)
		return t;
	g_set_error(error, ERROR_QUARK, 0, "not a slice that can be read: %s",
		    names.fault ? names.fault : c.fault);
	slice_free(t);
	return NULL;
}

static void take(struct slice *s, const struct pack *p, struct slice *t)
{
	g_autofree uint32_t *threads = g_new(uint32_t, p->n_threads + 1u);
	struct moving m = {
		.host = (uint32_t *)(void *)p->hosts->data, .cpu = (uint32_t *)(void *)p->cpus->data, .thread = threads,
		.n_threads = p->n_threads, .seq_add = p->seq_add,
	};

	for (uint32_t i = 0; i < p->n_threads; i++)
		threads[i] = p->thread_add + i;
	apply_notes(t, p);
	m.string = moving_strings(s->strings, t->strings);
	bool first = !s->facts->len;
	moving_logs(&m, s, t);
	s->facts_sorted = first ? t->facts_sorted : 0;
	moving_seconds(&m, s, t);
	blocks_join(s, t, m.host, m.thread);
	g_free(m.string);
	slice_free(t);
}

bool slice_unpack(struct slice *s, GError **error)
{
	note_resolved(&s->packs);
	struct packs packs = s->packs;
	GArray *own = s->facts;		/* they were written when the packs were merged: they come after theirs */
	bool ok = true, sort = packs_n(&packs) > 1 || own->len || blocks_n_stored(s->blocks);

	if (!packs_n(&packs))
		return true;
	s->packs = (struct packs){ 0 };
	s->facts = g_array_new(false, true, sizeof(struct fact));
	s->facts_sorted = 0;
	for (uint32_t i = 0; i < packs_n(&packs) && ok; i++) {
		struct slice *t = decode(s, pack_at(&packs, i), error);
		ok = t != NULL;
		if (t)
			take(s, pack_at(&packs, i), t);
	}
	packs_clear(&packs);
	g_array_append_vals(s->facts, own->data, own->len);
	g_array_unref(own);
	s->bin_last = NULL;
	if (ok && sort) {
		s->facts_sorted = 0;
		moving_sort_facts(s, s->facts->len, s->facts->len);
		blocks_sort(s->blocks);
	}
	return ok;
}

bool packs_before_unite(struct slice *a, struct slice *b, GError **error)
{
	return (!a->voids->len && !b->voids->len) || (slice_unpack(a, error) && slice_unpack(b, error));
}

/* ---- as bytes ---- */

static void code_note(struct coder *c, void *element, const struct slice_counts *n)
{
	struct resolved *v = element;

	code_id(c, &v->thread, n->threads, false);
	code_below(c, &v->from, UNRESOLVED_N);
	code_below(c, &v->run_part, PART_SLICE_N);
	code_bool(c, &v->by_fd);
	code_below(c, &v->part, PART_SLICE_N);
	v->fd = v->by_fd ? v->fd : NO_FD;
	if (!v->by_fd)
		return;
	int64_t seq = (int64_t)v->seq;
	code_i32(c, &v->fd);
	code_i64(c, &seq);
	v->seq = (uint64_t)seq;
}

/* Are the numbers of the pack within the slice's? */
static bool is_inside(const struct slice *s, const struct pack *p, const struct slice_counts *n)
{
	bool empty = p->first == INT64_MAX && p->last == INT64_MIN;

	return p->thread_add <= n->threads && p->n_threads <= n->threads - p->thread_add && p->seq_add <= s->seq &&
		p->n_events <= s->seq - p->seq_add && p->size >= p->stored &&
		p->size / DEFLATE_RATIO <= p->stored && p->size <= LIMIT_SLICE_BYTES && p->n_bins <= p->size &&
		(empty || (p->first <= p->last && p->first >= s->first && p->last <= s->last));
}

static void code_list(struct coder *c, GArray **ids, uint32_t n)
{
	if (!coder_writes(c))
		g_clear_pointer(ids, g_array_unref);
	code_ids(c, ids, n);
	if (!*ids)
		*ids = g_array_new(false, false, sizeof(uint32_t));
}

static void code_one(struct coder *c, const struct slice *s, struct pack *p, const struct slice_counts *n)
{
	code_u64(c, &p->stored);
	code_u64(c, &p->size);
	code_u32(c, &p->checksum);
	code_u32(c, &p->n_bins);
	code_ts(c, &p->first);
	code_ts(c, &p->last);
	code_u32(c, &p->thread_add);
	code_u32(c, &p->n_threads);
	code_u64(c, &p->seq_add);
	code_u64(c, &p->n_events);
	if (!coder_writes(c) && !is_inside(s, p, n))
		coder_refuse(c, "seconds are not in order");
	code_list(c, &p->hosts, n->hosts);
	code_list(c, &p->cpus, n->cpus);
}

/* Sets of rows. */
enum { ROW_PACK = 1, ROW_NOTE, ROW_PENDING };

/* Those that are still unresolved; of_last: those of the last pack. */
static GArray *pending_to_write(const struct packs *all, const GArray *of_last, uint32_t last)
{
	GArray *list = g_array_new(false, true, sizeof(struct pack_pending));

	for (guint i = 0; all->pending && i < all->pending->len; i++)
		if (pending_at(all, i)->parts)
			g_array_append_val(list, *pending_at(all, i));
	for (guint i = 0; of_last && i < of_last->len; i++) {
		struct pack_pending x = g_array_index(of_last, struct pack_pending, i);
		x.pack = last;
		g_array_append_val(list, x);
	}
	return list;
}

/* list: what is written; NULL: reading. */
static void code_pending(struct coder *c, struct packs *all, const GArray *list, uint32_t n_packs, uint32_t n_threads)
{
	uint32_t len = code_len(c, list ? list->len : 0, 3, sizeof(struct pack_pending));

	for (uint32_t i = 0; i < len && !c->fault; i++) {
		struct pack_pending x = { 0 };
		if (list)
			x = g_array_index(list, struct pack_pending, i);
		coder_row(c, ROW_PENDING);
		code_id(c, &x.thread, n_threads, false);
		code_id(c, &x.pack, n_packs, false);
		code_below(c, &x.parts, 1u << UNRESOLVED_N);
		if (list || c->fault)
			continue;
		const struct pack *p = pack_at(all, x.pack);
		if (x.thread < p->thread_add || x.thread - p->thread_add >= p->n_threads)
			coder_refuse(c, "an unresolved thread is not there");
		packs_add_pending(all, x);
	}
	coder_row(c, 0);
}

void packs_code(struct coder *c, struct slice *s, struct slice_counts *n)
{
	uint32_t n_packs = packs_n(&s->packs), len = code_len(c, n_packs + (n->last != NULL), 12,
							      sizeof(struct pack) + 3 * CODER_OWN_BYTES);
	uint64_t size = 0;

	note_resolved(&s->packs);
	for (uint32_t i = 0; i < len && !c->fault; i++) {
		struct pack *p = !coder_writes(c) ? pack_new() : i < n_packs ? pack_at(&s->packs, i) : n->last;
		if (!coder_writes(c))
			packs_add(&s->packs, p);
		coder_row(c, ROW_PACK);
		code_one(c, s, p, n);
		coder_row(c, 0);
		size += p->size;
		if (size > SIZES * LIMIT_SLICE_BYTES)
			coder_refuse(c, "it is too large");
		code_array(c, &p->notes, sizeof(struct resolved), ROW_NOTE, 5, code_note,
			   &(struct slice_counts){ .threads = p->n_threads });
	}
	g_autoptr(GArray) list = coder_writes(c) ? pending_to_write(&s->packs, n->pending, n_packs) : NULL;
	code_pending(c, &s->packs, list, len, n->threads);
}
