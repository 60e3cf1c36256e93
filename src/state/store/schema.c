/* SPDX-License-Identifier: GPL-2.0-only */
/* The tables made from the lists of schema.h, and the operations on cells of any kind. */
#include "state/store/schema.h"

#include "base/coder.h"
#include "base/mix.h"

#include <stddef.h>
#include <string.h>

#define FIRST_ROOM 8

/* ---- the tables ---- */

static const char *name_of_part(unsigned i)
{
	return i < PART_N ? part_info[i].id : "unresolved";
}

static const char *name_of_io(unsigned i)
{
	static const char *const names[IO_DIR_BUILT_N] = {
		[IO_DIR_READ] = "read", [IO_DIR_WRITE] = "write", [IO_DIR_SYNC] = "sync", [IO_DIR_OTHER] = "other",
		[IO_DIR_PLAIN] = "plain read",
	};
	return names[i];
}

static const char *name_of_block(unsigned i)
{
	static const char *const names[BLOCK_DIR_N] = {
		[BLOCK_READ] = "read", [BLOCK_WRITE] = "write", [BLOCK_OTHER] = "other",
	};
	return names[i];
}

#define TYPE_OF(value) _Generic((value), \
	uint16_t: FIELD_U16, int16_t: FIELD_I16, uint32_t: FIELD_U32, int32_t: FIELD_I32, uint64_t: FIELD_U64, \
	int64_t: FIELD_I64, struct hist: FIELD_HIST, struct flow: FIELD_BYTES)
/* CELL is the cell's struct, by a typedef in the function that contains the table. */
#define FIELD(name_, value, n_, role_, unit_, element_, help_) \
	{ .id = #name_, .offset = offsetof(CELL, name_), .type = TYPE_OF(value), .role = CELL_IS_##role_, .n = n_, \
	  .size = sizeof(value), .unit = unit_, .element = element_, .help = help_ },
#define MEMBER(name) (((CELL *)NULL)->name)
#define ROW_KEY(type, name, role, help) FIELD(name, MEMBER(name), 1, role, VALUE_NONE, NULL, help)
#define ROW_FIGURE(type, name, role, unit, help) FIELD(name, MEMBER(name), 1, role, VALUE_##unit, NULL, help)
#define ROW_FIGURES(type, name, n, role, unit, element, help) \
	FIELD(name, MEMBER(name)[0], n, role, VALUE_##unit, element, help)
#define ONE(...) + 1
#define IS_HIST(type, name, role, ...) + (CELL_IS_##role == CELL_IS_HIST)
#define ARE_HISTS(type, name, n, role, ...) + (CELL_IS_##role == CELL_IS_HIST)

#define LAYOUT(kind, name, list) \
	static const struct cell_layout *kind##_layout(void) \
	{ \
		typedef struct kind##_cell CELL; \
		G_STATIC_ASSERT(sizeof(struct kind##_key) % sizeof(uint32_t) == 0);	/* hash_key() */ \
		static const struct cell_field fields[] = { list(ROW_KEY, ROW_FIGURE, ROW_FIGURES) }; \
		static const struct cell_layout layout = { \
			.id = name, .size = sizeof(CELL), .key_size = sizeof(struct kind##_key), \
			.n_fields = G_N_ELEMENTS(fields), .n_keys = 0 list(ONE, CELL_NONE, CELL_NONE), \
			.n_hists = 0 list(CELL_NONE, IS_HIST, ARE_HISTS), .fields = fields, \
		}; \
		return &layout; \
	}
#define LAYOUT_OF(kind, array, list, built) LAYOUT(kind, #kind, list)
CELL_KINDS(LAYOUT_OF)
LAYOUT(built_thread, "thread", BUILT_THREAD_CELL)
LAYOUT(built_file, "file", BUILT_FILE_CELL)
LAYOUT(built_lock, "lock", BUILT_LOCK_CELL)

const struct cell_layout *cell_layout(enum cell_kind kind)
{
	switch (kind) {
#define LAYOUT_AT(kind, array, list, built) case CELL_##kind: return kind##_layout();
		CELL_KINDS(LAYOUT_AT)
	default:
		g_assert_not_reached();
	}
}

const struct cell_layout *built_layout(enum cell_kind kind)
{
	if (kind == CELL_thread)
		return built_thread_layout();
	if (kind == CELL_lock)
		return built_lock_layout();
	return kind == CELL_file ? built_file_layout() : cell_layout(kind);
}

/* ---- one cell ---- */

static struct hist *hists_of(const struct cell_field *f, const void *cell)
{
	return (struct hist *)(void *)((char *)cell + f->offset);
}

static const struct cell_field *first_hist(const struct cell_layout *l)
{
	g_assert(!l->n_hists || l->fields[l->n_fields - l->n_hists].role == CELL_IS_HIST);	/* they come last */
	return l->fields + l->n_fields - l->n_hists;
}

static const struct cell_field *fields_end(const struct cell_layout *l)
{
	return l->fields + l->n_fields;
}

#define COMBINE(type, how) \
	do { \
		type *a = (type *)(void *)to; \
		const type *b = (const type *)(const void *)from; \
		for (unsigned i = 0; i < f->n; i++) \
			a[i] = (type)(how); \
	} while (0)
#define COMBINE_ANY(how) \
	switch (f->type) { \
	case FIELD_U32: COMBINE(uint32_t, how); break; \
	case FIELD_I32: COMBINE(int32_t, how); break; \
	case FIELD_U64: COMBINE(uint64_t, how); break; \
	default: COMBINE(int64_t, how); break; \
	}

static void sum_field(const struct cell_field *f, char *to, const char *from)
{
	COMBINE_ANY(a[i] + b[i])
}

static void max_field(const struct cell_field *f, char *to, const char *from)
{
	COMBINE_ANY(MAX(a[i], b[i]))
}

static void min_field(const struct cell_field *f, char *to, const char *from)
{
	COMBINE_ANY(MIN(a[i], b[i]))
}

/* The next field, which has the maximum, is not added yet. Of equal ones the earlier value stays. */
static void at_max_field(const struct cell_field *f, char *to, const char *from)
{
	g_assert(f->type == FIELD_I64 && f[1].role == CELL_IS_MAX && f[1].type == FIELD_I64);
	ptrdiff_t next = f[1].offset - f->offset;
	int64_t *at = (int64_t *)(void *)to, *max = (int64_t *)(void *)(to + next);
	int64_t new_at = *(const int64_t *)(const void *)from, new_max = *(const int64_t *)(const void *)(from + next);

	if (new_max > *max || (new_max == *max && new_at < *at))
		*at = new_at;
}

static void name_field(const struct cell_field *f, char *to, const char *from)
{
	COMBINE(uint32_t, b[i] ? b[i] : a[i]);
}

static void hist_field(const struct cell_field *f, char *to, const char *from)
{
	struct hist *a = (struct hist *)(void *)to;
	const struct hist *b = (const struct hist *)(const void *)from;

	for (unsigned i = 0; i < f->n; i++)
		hist_merge(&a[i], &b[i]);
}

static void cell_add(const struct cell_layout *l, void *into, const void *from)
{
	static void (*const adds[])(const struct cell_field *, char *, const char *) = {
		[CELL_IS_SUM] = sum_field, [CELL_IS_LAST] = max_field, [CELL_IS_MAX] = max_field,
		[CELL_IS_MIN] = min_field, [CELL_IS_NAME] = name_field, [CELL_IS_HIST] = hist_field,
		[CELL_IS_AT_MAX] = at_max_field,
	};
	for (const struct cell_field *f = l->fields + l->n_keys; f < fields_end(l); f++)
		adds[f->role](f, (char *)into + f->offset, (const char *)from + f->offset);
}

/* Copies a cell with its histograms. */
static void cell_copy(const struct cell_layout *l, void *to, const void *from)
{
	memcpy(to, from, l->size);
	for (const struct cell_field *f = first_hist(l); f < fields_end(l); f++)
		for (unsigned i = 0; i < f->n; i++)
			hist_unshare(&hists_of(f, to)[i]);
}

void cell_clear(const struct cell_layout *l, void *cell)
{
	for (const struct cell_field *f = first_hist(l); f < fields_end(l); f++)
		for (unsigned i = 0; i < f->n; i++)
			hist_clear(&hists_of(f, cell)[i]);
}

size_t cell_seal(const struct cell_layout *l, void *cell)
{
	size_t bytes = 0;

	for (const struct cell_field *f = first_hist(l); f < fields_end(l); f++)
		for (unsigned i = 0; i < f->n; i++) {
			hist_pack(&hists_of(f, cell)[i]);
			bytes += hist_bytes(&hists_of(f, cell)[i]);
		}
	return bytes;
}

bool cell_share(const struct cell_layout *l, void *part, const void *cell, int64_t after_ns, int64_t ns)
{
	bool any = !after_ns;

	memcpy(part, cell, l->size);
	for (const struct cell_field *f = l->fields + l->n_keys; f < fields_end(l); f++) {
		char *at = (char *)part + f->offset;
		if (f->role == CELL_IS_SUM && f->unit == VALUE_NS) {
			g_assert(f->type == FIELD_I64);
			for (unsigned i = 0; i < f->n; i++) {
				int64_t *v = (int64_t *)(void *)at + i;
				*v = CLAMP(*v - after_ns, 0, ns);
				any |= *v > 0;
			}
		} else if (after_ns && f->role != CELL_IS_LAST && f->role != CELL_IS_MAX &&
			   f->role != CELL_IS_AT_MAX) {
			memset(at, 0, (size_t)f->n * f->size);
		}
	}
	return any;
}

/* The array that maps a field's ids; NULL: the field is no id. */
static const uint32_t *map_of(const struct cell_field *f, const struct cell_maps *maps)
{
	const uint32_t *const ids[] = {
		[CELL_IS_THREAD] = maps->thread, [CELL_IS_HOST] = maps->host, [CELL_IS_STRING] = maps->string,
		[CELL_IS_FILE] = maps->file,
	};

	if (f->role == CELL_IS_INTERRUPT || f->role == CELL_IS_NAME)
		return maps->published ? maps->string : NULL;
	return f->role >= CELL_IS_THREAD && f->role <= CELL_IS_FILE ? ids[f->role] : NULL;
}

void cell_map(const struct cell_layout *l, void *cell, const struct cell_maps *maps)
{
	for (const struct cell_field *f = l->fields; f < fields_end(l); f++) {
		void *at = (char *)cell + f->offset;
		const uint32_t *ids = map_of(f, maps);
		uint32_t *id = at;
		if (ids && *id != ID_NONE)
			*id = ids[*id];
		else if (f->role == CELL_IS_EVENT)
			*(uint64_t *)at += maps->seq_add;
	}
}

/* ---- tables of cells ---- */

/* Keys contain network addresses: the random seed prevents an attacker from choosing keys that collide. */
static uint64_t hash_key(const void *key, size_t size)
{
	static uint64_t seed;
	static gsize once;
	const char *at = key;
	uint64_t word;

	if (g_once_init_enter(&once)) {
		seed = (uint64_t)g_random_int() << 32 | g_random_int();
		g_once_init_leave(&once, 1);
	}
	uint64_t h = seed;
	for (; size >= sizeof word; size -= sizeof word, at += sizeof word) {
		memcpy(&word, at, sizeof word);
		h = mix(h, word);
	}
	uint32_t half = 0;
	if (size)
		memcpy(&half, at, sizeof half);
	return (h ^ half) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The key in the map: the cell's key itself if it has at most eight bytes, else its hash. */
static inline uint64_t map_key(const struct cell_layout *l, const void *key)
{
	uint64_t word;
	uint32_t half;

	switch (l->key_size) {
	case sizeof half:
		memcpy(&half, key, sizeof half);
		return half;
	case sizeof word:
		memcpy(&word, key, sizeof word);
		return word;
	default:
		return hash_key(key, l->key_size);
	}
}

static inline bool is_key(const struct cell_layout *l, const void *cell, const void *key)
{
	const uint32_t *a = cell, *b = key;

	for (unsigned i = 0; i < l->key_size / sizeof *a; i++)
		if (a[i] != b[i])
			return false;
	return true;
}

/* The index of the key's cell, or INTMAP_NONE. *ret: its key in the map, or the one for a new cell. */
static inline uint32_t find(const struct cell_table *t, const struct cell_layout *l, const void *key, uint64_t *ret)
{
	uint32_t i;

	for (*ret = map_key(l, key); (i = intmap_get(&t->map, *ret)) != INTMAP_NONE; ++*ret)
		if (l->key_size <= sizeof *ret || is_key(l, cell_table_at(t, l, i), key))
			return i;
	return INTMAP_NONE;
}

void *cell_table_find(const struct cell_table *t, const struct cell_layout *l, const void *key)
{
	uint64_t place;
	uint32_t i = find(t, l, key, &place);

	return i == INTMAP_NONE ? NULL : cell_table_at(t, l, i);
}

static void resize(struct cell_table *t, const struct cell_layout *l, uint32_t room)
{
	t->room = room;
	t->cells = g_realloc_n(t->cells, room, l->size);
}

void cell_table_reserve(struct cell_table *t, const struct cell_layout *l, uint32_t room)
{
	if (room <= t->room)
		return;
	resize(t, l, room);
	intmap_reserve(&t->map, room);
}

/* Appends an uninitialised cell. */
static void *more(struct cell_table *t, const struct cell_layout *l)
{
	if (t->n == t->room)
		resize(t, l, t->room ? t->room * 2 : FIRST_ROOM);
	return cell_table_at(t, l, t->n++);
}

/* Index of the key's cell; .n: the cell does not exist yet, and the caller must append it. */
static uint32_t place_of(struct cell_table *t, const struct cell_layout *l, const void *key)
{
	uint64_t place;

	if (l->key_size <= sizeof place)
		return intmap_add(&t->map, map_key(l, key), t->n);
	uint32_t i = find(t, l, key, &place);
	if (i != INTMAP_NONE)
		return i;
	intmap_set(&t->map, place, t->n);
	return t->n;
}

void *cell_table_get(struct cell_table *t, const struct cell_layout *l, const void *key, bool *ret_new)
{
	uint32_t i = place_of(t, l, key);

	if (ret_new)
		*ret_new = i == t->n;
	if (i < t->n)
		return cell_table_at(t, l, i);
	g_assert(i == t->n);			/* the map has no index beyond the cells */
	char *cell = more(t, l);
	memcpy(cell, key, l->key_size);
	memset(cell + l->key_size, 0, l->size - l->key_size);
	return cell;
}

void *cell_table_append(struct cell_table *t, const struct cell_layout *l, const void *cell)
{
	return memcpy(more(t, l), cell, l->size);
}

void cell_table_add(struct cell_table *t, const struct cell_layout *l, const void *cell)
{
	uint32_t i = place_of(t, l, cell);

	if (i == t->n)
		cell_copy(l, more(t, l), cell);
	else
		cell_add(l, cell_table_at(t, l, i), cell);
}

void cell_table_index(struct cell_table *t, const struct cell_layout *l)
{
	uint64_t place;

	intmap_clear(&t->map);
	memset(t->recent, 0, sizeof t->recent);
	for (uint32_t i = 0; i < t->n; i++)
		if (find(t, l, cell_table_at(t, l, i), &place) == INTMAP_NONE)
			intmap_set(&t->map, place, i);
}

void cell_table_clear(struct cell_table *t, const struct cell_layout *l)
{
	for (uint32_t i = 0; l->n_hists && i < t->n; i++)
		cell_clear(l, cell_table_at(t, l, i));
	g_free(t->cells);
	intmap_clear(&t->map);
	*t = (struct cell_table){ 0 };
}

void *cell_table_steal(struct cell_table *t, const struct cell_layout *l, uint32_t *ret_n)
{
	void *cells = g_realloc_n(t->cells, t->n, l->size);

	*ret_n = t->n;
	intmap_clear(&t->map);
	*t = (struct cell_table){ 0 };
	return cells;
}

/* ---- as bytes ---- */

static void code_element(struct coder *c, unsigned type, void *v)
{
	switch ((enum cell_type)type) {
	case FIELD_U16: code_u16(c, v); break;
	case FIELD_I16: code_i16(c, v); break;
	case FIELD_U32: code_u32(c, v); break;
	case FIELD_I32: code_i32(c, v); break;
	case FIELD_U64: code_u64(c, v); break;
	case FIELD_I64: code_ns(c, v); break;
	case FIELD_HIST:
	case FIELD_BYTES: g_assert_not_reached();
	}
}

/* May the thread of the cell be unknown? See the lists. */
static bool thread_is_optional(const struct cell_layout *l, const struct cell_field *f)
{
	return f != l->fields || l == cell_layout(CELL_count) || l == cell_layout(CELL_dev_user);
}

/* Its ports are little-endian in a file. */
static void code_flow(struct coder *c, struct flow *f)
{
	struct flow x = *f;

	x.local_port = GUINT16_TO_LE(x.local_port);
	x.peer_port = GUINT16_TO_LE(x.peer_port);
	code_bytes(c, &x, sizeof x);
	if (coder_writes(c))
		return;
	x.local_port = GUINT16_FROM_LE(x.local_port);
	x.peer_port = GUINT16_FROM_LE(x.peer_port);
	*f = x;
}

static void code_string(struct coder *c, uint32_t *id, const struct cell_ids *ids)
{
	if (ids->used_strings)
		code_used_id(c, id, ids->string, ids->used_strings);
	else
		code_id(c, id, ids->string, false);
}

static void code_key(struct coder *c, const struct cell_layout *l, const struct cell_field *f, void *key,
		     const struct cell_ids *ids)
{
	switch ((enum cell_role)f->role) {
	case CELL_IS_THREAD: code_id(c, key, ids->thread, thread_is_optional(l, f)); break;
	case CELL_IS_HOST: code_id(c, key, ids->host, false); break;
	case CELL_IS_STRING: code_string(c, key, ids); break;
	case CELL_IS_FILE: code_id(c, key, ids->file, true); break;
	case CELL_IS_EVENT: code_seq(c, key); break;
	default:
		if (f->type == FIELD_BYTES)
			code_flow(c, key);
		else
			code_element(c, f->type, key);
	}
}

static bool is_zero(const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Most figures are 0: which ones are not comes first, as bits. Histograms, the last figures, follow. */
static void code_figures(struct coder *c, const struct cell_layout *l, char *cell)
{
	const struct cell_field *end = first_hist(l);
	uint64_t set = 0, bit = 1;

	for (const struct cell_field *f = l->fields + l->n_keys; coder_writes(c) && f < end; f++)
		for (unsigned i = 0; i < f->n; i++, bit <<= 1)
			if (!is_zero(cell + f->offset + i * f->size, f->size))
				set |= bit;
	code_u64(c, &set);
	bit = 1;
	for (const struct cell_field *f = l->fields + l->n_keys; f < end; f++)
		for (unsigned i = 0; i < f->n; i++, bit <<= 1)
			if (!(set & bit))
				coder_skip(c);
			else if (f->role == CELL_IS_AT_MAX)
				code_ts(c, (int64_t *)(void *)(cell + f->offset));
			else
				code_element(c, f->type, cell + f->offset + i * f->size);
	coder_rest(c);
	for (const struct cell_field *f = end; f < fields_end(l); f++)
		for (unsigned i = 0; i < f->n; i++)
			hist_code(c, hists_of(f, cell) + i);
}

void cell_table_code(struct coder *c, struct cell_table *t, const struct cell_layout *l, unsigned set,
		     const struct cell_ids *ids)
{
	uint32_t n = code_len(c, t->n, l->n_keys + 1u, l->size + CODER_OWN_BYTES);
	g_autofree char *fresh = g_malloc0(l->size);

	if (!coder_writes(c) && n > t->room)
		resize(t, l, n);
	for (uint32_t i = 0; i < n && !c->fault; i++) {
		char *cell = coder_writes(c) ? cell_table_at(t, l, i) : cell_table_append(t, l, fresh);
		coder_row(c, set);
		for (unsigned k = 0; k < l->n_keys; k++)
			code_key(c, l, &l->fields[k], cell + l->fields[k].offset, ids);
		code_figures(c, l, cell);
	}
	coder_row(c, 0);
}
