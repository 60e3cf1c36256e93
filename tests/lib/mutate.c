/* SPDX-License-Identifier: GPL-2.0-only */
/* Changes of traces: numbers, files, and how many changes are made of what. See mutate.h. */
#include <string.h>

#include "lib/lttng_packet.h"
#include "lib/mutate.h"

/* ---- numbers and bytes ---- */

unsigned mutate_pick(GRand *r, unsigned n)
{
	return n > 1 ? g_rand_int(r) % n : 0;
}

uint64_t mutate_number(GRand *r, uint64_t old)
{
	unsigned bit = mutate_pick(r, 64);
	switch (mutate_pick(r, 12)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return old + 1;
	case 3:
		return old - 1;
	case 4:
		return UINT64_C(1) << bit;
	case 5:
		return (UINT64_C(1) << bit) - 1;
	case 6:
		return old ^ UINT64_C(1) << bit;
	case 7:
		return old * 2;
	case 8:
		return old / 2;
	case 9:
		return mutate_pick(r, 256);
	case 10:
		return old + (mutate_pick(r, 2) ? 1 : -1) * ((int64_t)mutate_pick(r, 1000) << mutate_pick(r, 32));
	default:
		return (uint64_t)g_rand_int(r) << 32 | g_rand_int(r);
	}
}

void mutate_splice(GByteArray *to, guint at, guint n, const void *bytes, guint n_bytes)
{
	at = MIN(at, to->len);
	n = MIN(n, to->len - at);
	g_autofree uint8_t *copy = g_memdup2(bytes, n_bytes);	/* it may be a part of `to` */
	guint behind = to->len - at - n;
	if (n_bytes > n)
		g_byte_array_set_size(to, to->len + n_bytes - n);
	if (behind)
		memmove(to->data + at + n_bytes, to->data + at + n, behind);
	if (n_bytes)
		memcpy(to->data + at, copy, n_bytes);
	g_byte_array_set_size(to, at + n_bytes + behind);
}

/* ---- which file ---- */

static enum mutate_kind kind_of(const char *path)
{
	const char *name = strrchr(path, '/');
	if (!strcmp(name ? name + 1 : path, "metadata"))
		return MUTATE_METADATA;
	return g_str_has_suffix(path, ".idx") ? MUTATE_INDEX : MUTATE_STREAM;
}

struct bundle_file *mutate_file(const struct bundle *b, enum mutate_kind kind, GRand *r)
{
	struct bundle_file *found = NULL;
	unsigned n = 0;
	for (guint i = 0; i < b->files->len; i++) {
		struct bundle_file *f = g_ptr_array_index(b->files, i);
		if ((kind == MUTATE_ANY || kind_of(f->path) == kind) && !mutate_pick(r, ++n))
			found = f;
	}
	return found;
}

struct bundle_file *mutate_metadata_of(const struct bundle *b, const struct bundle_file *f)
{
	g_autofree char *dir = g_path_get_dirname(f->path);
	g_autofree char *path = strcmp(dir, ".") ? g_strconcat(dir, "/metadata", NULL) : g_strdup("metadata");
	return bundle_find(b, path);
}

/* ---- files ---- */

static void swap_files(struct bundle *b, GRand *r)
{
	enum mutate_kind kind = mutate_pick(r, 4) ? mutate_pick(r, MUTATE_ANY) : MUTATE_ANY;
	struct bundle_file *f = mutate_file(b, kind, r), *g = mutate_file(b, kind, r);
	if (f)
		g = g ? g : f;
	if (f && mutate_pick(r, 2)) {
		GByteArray *bytes = f->bytes;
		f->bytes = g->bytes;
		g->bytes = bytes;
	} else if (f && f != g) {
		mutate_splice(f->bytes, 0, f->bytes->len, g->bytes->data, g->bytes->len);
	}
}

/* A file once more, under another name, here or in another directory. */
static void copy_file(struct bundle *b, GRand *r)
{
	const struct bundle_file *f = mutate_file(b, MUTATE_STREAM, r), *there = mutate_file(b, MUTATE_STREAM, r);
	if (!f)
		return;
	g_autofree char *dir = g_path_get_dirname(there->path), *name = g_path_get_basename(f->path);
	g_autofree char *path = mutate_pick(r, 2) ? g_strdup_printf("%s/%s", dir, name)
						  : g_strdup_printf("%s/x%u", dir, mutate_pick(r, 3));
	bundle_add(b, g_str_has_prefix(path, "./") ? path + 2 : path, f->bytes->data, f->bytes->len);
}

/* All files once more below another directory: another chunk of the same trace. */
static void copy_all(struct bundle *b, GRand *r)
{
	unsigned where = mutate_pick(r, 3);
	for (guint i = 0, n = b->files->len; i < n; i++) {
		const struct bundle_file *f = g_ptr_array_index(b->files, i);
		g_autofree char *path = g_strdup_printf("c%u/%s", where, f->path);
		bundle_add(b, path, f->bytes->data, f->bytes->len);
	}
}

static void lose_file(struct bundle *b, GRand *r)
{
	struct bundle_file *f = mutate_file(b, mutate_pick(r, MUTATE_ANY + 1), r);
	if (!f)
		return;
	switch (mutate_pick(r, 4)) {
	case 0:
		bundle_remove(b, f);
		break;
	case 1:
		g_byte_array_set_size(f->bytes, 0);
		break;
	default:
		g_byte_array_set_size(f->bytes, mutate_pick(r, f->bytes->len));
	}
}

static void change_bytes(struct bundle *b, GRand *r)
{
	struct bundle_file *f = mutate_file(b, MUTATE_ANY, r);
	for (unsigned n = 1 + mutate_pick(r, 8); f && f->bytes->len && n > 0; n--) {
		guint at = mutate_pick(r, mutate_pick(r, 2) ? MIN(f->bytes->len, 128) : f->bytes->len);
		f->bytes->data[at] = (uint8_t)mutate_number(r, f->bytes->data[at]);
	}
}

static void change_files(struct bundle *b, GRand *r)
{
	static void (*const changes[])(struct bundle *, GRand *) = {
		swap_files, copy_file, copy_all, lose_file, change_bytes,
	};
	changes[mutate_pick(r, G_N_ELEMENTS(changes))](b, r);
}

/* ---- one to some changes ---- */

static void change_metadata(struct bundle *b, GRand *r)
{
	struct bundle_file *f = mutate_file(b, MUTATE_METADATA, r), *other = mutate_file(b, MUTATE_METADATA, r);
	if (f)
		mutate_metadata(f->bytes, other == f ? NULL : other->bytes, r);
}

static void change_events(struct bundle *b, GRand *r)
{
	struct bundle_file *f = mutate_file(b, MUTATE_STREAM, r);
	struct bundle_file *metadata = f ? mutate_metadata_of(b, f) : NULL;
	g_autoptr(GArray) packets = f ? mutate_packets_of(f->bytes) : NULL;
	if (!packets || !packets->len)
		return;
	guint i = mutate_pick(r, packets->len), at = g_array_index(packets, guint, i);
	guint end = i + 1 < packets->len ? g_array_index(packets, guint, i + 1) : f->bytes->len;
	mutate_events(f->bytes, at, end - at, metadata ? metadata->bytes : NULL, r);
}

/* Index files that do not fit are forgotten at once: what packets say counts then. */
static void change_indexes(struct bundle *b, GRand *r)
{
	unsigned how = mutate_pick(r, 3);
	for (guint i = b->files->len; how < 2 && i-- > 0;) {
		struct bundle_file *f = g_ptr_array_index(b->files, i);
		if (how == 0 && kind_of(f->path) == MUTATE_INDEX)
			bundle_remove(b, f);
	}
	for (guint i = 0, n = b->files->len; how == 1 && i < n; i++) {
		const struct bundle_file *f = g_ptr_array_index(b->files, i);
		if (kind_of(f->path) == MUTATE_STREAM)
			mutate_rebuild_index(b, f);
	}
}

void mutate_trace(struct bundle *b, GRand *r)
{
	static const struct {
		unsigned weight;
		void (*change)(struct bundle *, GRand *);
	} kinds[] = {
		{ 10, mutate_packets }, { 9, change_events }, { 4, mutate_index }, { 6, change_metadata },
		{ 3, change_files },
	};
	unsigned sum = 0, most = mutate_pick(r, 4) ? 3 : 12;
	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		sum += kinds[i].weight;
	for (unsigned n = 1 + mutate_pick(r, most); n > 0; n--) {
		unsigned at = mutate_pick(r, sum);
		size_t i = 0;
		while (at >= kinds[i].weight)
			at -= kinds[i++].weight;
		kinds[i].change(b, r);
	}
	change_indexes(b, r);
}

/* ---- as the fuzzer wants it ---- */

/* Files that have no place are left out, the last ones first. */
static size_t put_out(struct bundle *b, uint8_t *data, size_t max_size)
{
	for (;;) {
		g_autoptr(GByteArray) out = bundle_serialise(b);
		if (out->len <= max_size) {
			if (out->len)
				memcpy(data, out->data, out->len);
			return out->len;
		}
		g_ptr_array_remove_index(b->files, b->files->len - 1);
	}
}

size_t mutate_bundle_input(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	g_autoptr(blk_bundle) b = bundle_parse(data, size);
	mutate_trace(b, r);
	return put_out(b, data, max_size);
}

size_t mutate_bundle_cross(const uint8_t *one, size_t n_one, const uint8_t *two, size_t n_two, uint8_t *out,
			   size_t max_size, unsigned seed)
{
	g_autoptr(GRand) r = g_rand_new_with_seed(seed);
	g_autoptr(blk_bundle) b = bundle_parse(one, n_one);
	g_autoptr(blk_bundle) from = bundle_parse(two, n_two);
	for (unsigned n = 1 + mutate_pick(r, 4); n > 0; n--) {
		enum mutate_kind kind = mutate_pick(r, MUTATE_ANY);
		const struct bundle_file *there = mutate_file(from, kind, r);
		struct bundle_file *f = mutate_file(b, kind, r);
		if (!there)
			continue;
		if (f && mutate_pick(r, 2)) {
			mutate_splice(f->bytes, 0, f->bytes->len, there->bytes->data, there->bytes->len);
			continue;
		}
		g_autofree char *path = g_strconcat("o/", there->path, NULL);
		bundle_add(b, mutate_pick(r, 2) ? path : there->path, there->bytes->data, there->bytes->len);
	}
	return put_out(b, out, max_size);
}
