/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps rotation chunks and ranges to slices: see map.h. */
#include "run/map.h"

#include "run/pieces.h"
#include "trace/native/native.h"

#include "base/files.h"
#include "base/sort.h"

#include <string.h>

#define ERROR_QUARK g_quark_from_static_string("blk-map")

/* ---- rotation chunks ---- */

/* The number N of "20261121T060839+0000-20261121T060841+0000-N"; -1: it is not the name of a chunk. */
static int64_t chunk_number(const char *name)
{
	static const char form[] = "ddddddddTdddddd?dddd-ddddddddTdddddd?dddd-";
	char *end;

	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' ? !g_ascii_isdigit(name[i]) :
		    form[i] == '?' ? name[i] != '+' && name[i] != '-' : name[i] != form[i])
			return -1;
	name += sizeof form - 1;
	guint64 n = g_ascii_isdigit(*name) ? g_ascii_strtoull(name, &end, 10) : G_MAXUINT64;
	return n < G_MAXINT32 && !*end ? (int64_t)n : -1;
}

int64_t map_chunk_number(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	return chunk_number(name);
}

char *map_chunk_parent(const char *path)
{
	g_autofree char *absolute = g_canonicalize_filename(path, NULL);
	return map_chunk_number(absolute) < 0 ? NULL : g_path_get_dirname(absolute);
}

/* The chunk of that number in the directory; NULL: there is none. -1: NULL. */
static char *find_chunk(const char *parent, int64_t number)
{
	g_autoptr(GPtrArray) names = number >= 0 ? files_list(parent, SIZE_MAX) : NULL;

	for (guint i = 0; names && i < names->len; i++)
		if (chunk_number(g_ptr_array_index(names, i)) == number)
			return g_build_filename(parent, g_ptr_array_index(names, i), NULL);
	return NULL;
}

char *map_chunk_before(const char *path)
{
	g_autofree char *parent = map_chunk_parent(path);

	return parent ? find_chunk(parent, map_chunk_number(path) - 1) : NULL;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	return ORDER(map_chunk_number(*(char *const *)a), map_chunk_number(*(char *const *)b));
}

GPtrArray *map_chunks_of(const char *path, GError **error)
{
	g_autoptr(GPtrArray) names = files_list(path, SIZE_MAX);

	if (!names) {
		g_set_error(error, ERROR_QUARK, 0, "cannot list the directory '%s': %s", path, g_strerror(errno));
		return NULL;
	}
	GPtrArray *chunks = g_ptr_array_new_with_free_func(g_free);
	for (guint i = 0; i < names->len; i++)
		if (chunk_number(g_ptr_array_index(names, i)) >= 0)
			g_ptr_array_add(chunks, g_build_filename(path, g_ptr_array_index(names, i), NULL));
	g_ptr_array_sort(chunks, by_number);
	return chunks;
}

/* The chunks in order. All must be of one directory and follow each other. */
static GPtrArray *list_chunks(const char *const *paths, GError **error)
{
	g_autoptr(GPtrArray) chunks = g_ptr_array_new_with_free_func(g_free);

	for (; *paths; paths++)
		g_ptr_array_add(chunks, g_canonicalize_filename(*paths, NULL));
	g_ptr_array_sort(chunks, by_number);
	for (guint i = 1; i < chunks->len; i++) {
		const char *a = g_ptr_array_index(chunks, i - 1), *b = g_ptr_array_index(chunks, i);
		g_autofree char *dir = g_path_get_dirname(a), *other = g_path_get_dirname(b);
		int64_t number = map_chunk_number(a);
		if (g_str_equal(dir, other) && number >= 0 && map_chunk_number(b) == number + 1)
			continue;
		g_set_error(error, ERROR_QUARK, 0, "cannot map %s and %s together: they are not rotation chunks that "
			    "follow each other", a, b);
		return NULL;
	}
	return g_steal_pointer(&chunks);
}

/* ---- reading ---- */

static struct native *open_native(const char *const *paths, GError **error)
{
	struct native *n = pieces_open(paths, false, error);

	while (n && native_index(n, SIZE_MAX))
		;
	return n;
}

bool map_bounds(const char *const *paths, int64_t *ret_from, int64_t *ret_to, GError **error)
{
	g_autoptr(blk_native) n = open_native(paths, error);

	if (n && native_bounds(n, ret_from, ret_to)) {
		(*ret_to)++;		/* the last event may be at the packet's end */
		return true;
	}
	if (n)
		g_set_error(error, ERROR_QUARK, 0, "no events in %s", paths[0]);
	return false;
}

/* Where the chunk begins (ns): its slice begins there, and that of the chunk before it ends. */
static bool chunk_begins(const char *path, int64_t *ret, GError **error)
{
	const char *const paths[] = { path, NULL };
	int64_t to;

	return map_bounds(paths, ret, &to, error);
}

static struct slice *read_range(struct native *n, const struct map_plan *plan, int64_t from, int64_t to, GError **error)
{
	struct pieces p = pieces_native(n);
	struct source *source = native_range(n, from, to, 0);
	enum source_status st;
	struct blk_batch batch;

	source_stop_by(source, plan->stop);
	p.with_spans = plan->with_spans;
	struct slice *s = pieces_begin_slice(&p, source, false, plan->step_ns);
	slice_learn_hosts(s, &source->tables);	/* also those without records in the range */
	while ((st = source_next(source, &batch, error)) == SOURCE_OK)
		slice_feed(s, &source->tables, batch.ev, batch.n);
	source_free(source);
	if (st == SOURCE_END)
		return s;
	slice_free(s);
	return NULL;
}

/* Adds the chunk before the first one and that after the last one, if they are there, and sets the piece's ends. */
static bool add_neighbours(GPtrArray *chunks, struct slice_piece *piece, GError **error)
{
	const char *first = g_ptr_array_index(chunks, 0), *last = g_ptr_array_index(chunks, chunks->len - 1);
	g_autofree char *parent = map_chunk_parent(first);

	if (!parent)
		return true;
	char *before = find_chunk(parent, map_chunk_number(first) - 1);
	char *after = find_chunk(parent, map_chunk_number(last) + 1);
	bool ok = (!before || chunk_begins(first, &piece->from, error)) &&
		(!after || chunk_begins(after, &piece->to, error));
	if (before)
		g_ptr_array_insert(chunks, 0, before);
	if (after)
		g_ptr_array_add(chunks, after);
	return ok;
}

/* Chunks may be moved together: their names identify them. */
static void add_source(struct slice_piece *piece, const char *path)
{
	g_autofree char *name = map_chunk_number(path) < 0 ? g_strdup(path) : g_path_get_basename(path);
	slice_piece_add(piece, name, piece->from, piece->to);
}

struct slice *map_read(const struct map_plan *plan, struct slice_piece *ret_piece, char **ret_warning,
		       char **ret_remark, GError **error)
{
	struct slice_piece piece = { .from = plan->from, .to = plan->to };
	g_autoptr(GPtrArray) chunks = list_chunks(plan->paths, error);

	if (!chunks)
		return NULL;
	guint n_sources = chunks->len;
	g_autofree char **names = g_new0(char *, n_sources + 1);
	for (guint i = 0; i < n_sources; i++)
		names[i] = g_ptr_array_index(chunks, i);	/* owned by `chunks` */
	bool ok = piece.from != INT64_MIN || piece.to != INT64_MAX || add_neighbours(chunks, &piece, error);
	for (guint i = 0; i < n_sources; i++)
		add_source(&piece, names[i]);
	g_ptr_array_add(chunks, NULL);
	g_autoptr(blk_native) n = ok ? open_native((const char *const *)chunks->pdata, error) : NULL;
	struct slice *s = n ? read_range(n, plan, piece.from, piece.to, error) : NULL;
	*ret_warning = n ? native_left_out(n) : NULL;
	if (ret_remark)
		*ret_remark = n ? native_remark(n) : NULL;
	if (s && piece.from == INT64_MIN)
		slice_begins_trace(s);
	if (s)
		*ret_piece = piece;
	else
		slice_piece_clear(&piece);
	return s;
}
